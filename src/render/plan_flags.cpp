// A plan in the words of two trainers: Megatron-LM (core 0.12 and later) and torchtitan (2025).
#include <fmt/format.h>

#include "render/words.h"

namespace tilewright::render {
namespace {

class Flags {
public:
    explicit Flags(std::string prefix) : prefix_(std::move(prefix)) {}

    void add(const char* name, std::int64_t value) { list.push_back(fmt::format("--{}{} {}", prefix_, name, value)); }
    void add(const char* words) { list.push_back(fmt::format("--{}{}", prefix_, words)); }

    std::vector<std::string> list;

private:
    std::string prefix_;
};

void add_sharding(Flags& flags, int zero_stage) {
    if (zero_stage > 0) flags.add("use-distributed-optimizer");
    if (zero_stage < 2) return;
    flags.add("use-megatron-fsdp");
    flags.add(zero_stage == 2 ? "data-parallel-sharding-strategy optim_grads"
                              : "data-parallel-sharding-strategy optim_grads_params");
    flags.add("no-gradient-accumulation-fusion");
    flags.add("ckpt-format fsdp_dtensor");
}

void add_recompute(Flags& flags, Recompute recompute) {
    if (recompute == Recompute::Selective) flags.add("recompute-granularity selective");
    if (keeps_input_only(recompute))
        flags.add("recompute-granularity full --recompute-method uniform --recompute-num-layers 1");
}

}  // namespace

std::vector<std::string> megatron_flags(const Workload& work) {
    const Parallelism& p = work.parallel;
    Flags flags("");
    flags.add("tensor-model-parallel-size", p.tp);
    if (p.sequence_parallel) flags.add("sequence-parallel");
    flags.add("pipeline-model-parallel-size", p.pp);
    if (p.virtual_stages > 1) flags.add("num-virtual-stages-per-pipeline-rank", p.virtual_stages);
    if (p.cp > 1) flags.add("context-parallel-size", p.cp);
    if (p.ep > 1) flags.add("expert-model-parallel-size", p.ep);
    if (p.ep > 1 && p.tp > 1) flags.add("expert-tensor-parallel-size", std::max<std::int64_t>(1, p.etp));
    flags.add("micro-batch-size", work.batch);
    flags.add("global-batch-size", global_batch(work));
    flags.add("seq-length", work.seq);
    add_sharding(flags, p.zero_stage);
    add_recompute(flags, work.recompute);
    if (work.overlap != Overlap::None && p.dp > 1) flags.add("overlap-grad-reduce");
    if (work.overlap != Overlap::None && p.zero_stage > 0) flags.add("overlap-param-gather");
    if (work.overlap >= Overlap::All && p.tp > 1) flags.add("tp-comm-overlap");
    if (work.overlap == Overlap::Experts && p.ep > 1) flags.add("overlap-moe-expert-parallel-comm");
    flags.add(work.precision == Precision::Fp16 ? "fp16" : "bf16");
    if (work.precision == Precision::Fp8)
        flags.add(work.formats.weights ? "fp8-format e4m3 --fp8-recipe mxfp8" : "fp8-format hybrid");
    return flags.list;
}

/// torchtitan shards optimizer, gradients and, between passes, parameters together; less is replication.
std::vector<std::string> torchtitan_flags(const Workload& work) {
    const Parallelism& p = work.parallel;
    Flags flags("parallelism.");
    const bool sharded = p.zero_stage > 0;
    flags.add("tensor_parallel_degree", p.tp);
    flags.add("pipeline_parallel_degree", p.pp);
    if (p.pp > 1) {
        flags.add(p.virtual_stages > 1 ? "pipeline_parallel_schedule Interleaved1F1B"
                                       : "pipeline_parallel_schedule 1F1B");
        flags.add("pipeline_parallel_microbatch_size", work.batch);
    }
    if (p.cp > 1) flags.add("context_parallel_degree", p.cp);
    if (p.ep > 1) flags.add("expert_parallel_degree", p.ep);
    if (p.etp > 1) flags.add("expert_tensor_parallel_degree", p.etp);
    flags.add("data_parallel_shard_degree", sharded ? p.dp : 1);
    flags.add("data_parallel_replicate_degree", sharded ? 1 : p.dp);
    if (sharded)
        flags.add(p.zero_stage == 3 ? "fsdp_reshard_after_forward always" : "fsdp_reshard_after_forward never");
    Flags others("");
    others.add("training.local_batch_size", p.pp > 1 ? work.batch * work.micro_batches : work.batch);
    others.add("training.global_batch_size", global_batch(work));
    others.add("training.seq_len", work.seq);
    if (work.recompute == Recompute::None) others.add("activation_checkpoint.mode none");
    if (work.recompute == Recompute::Selective) others.add("activation_checkpoint.mode selective");
    if (keeps_input_only(work.recompute)) others.add("activation_checkpoint.mode full");
    flags.list.insert(flags.list.end(), others.list.begin(), others.list.end());
    return flags.list;
}

}  // namespace tilewright::render

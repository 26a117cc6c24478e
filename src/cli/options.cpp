// Shared flags. Dimensions come from shape.h's own table and words from names.h, so that neither can be forgotten here.
#include "cli/options.h"

#include <algorithm>

namespace tilewright::cli {
namespace {

/// What help says of each dimension; one without a line here is described by its name.
std::string dimension_help(std::string_view name) {
    static const std::map<std::string_view, const char*> lines = {
        {"hidden", "width of the residual stream"},
        {"layers", "number of layers"},
        {"heads", "query heads; head size and kv heads follow when they did before"},
        {"kv_heads", "key and value heads"},
        {"head_dim", "size of one head"},
        {"ffn", "inner width of the MLP"},
        {"vocab", "rows of the embedding, padding included"},
        {"position_rows", "rows of a learned position table"},
        {"embedding_dim", "embedding width when it is projected; 0 for hidden"},
        {"window", "sliding attention window in tokens; 0 for none"},
    };
    const auto found = lines.find(name);
    return found == lines.end() ? "sets " + std::string(name) : found->second;
}

template <class E>
void set_choice(const Arguments& arguments, std::string_view flag, E& target) {
    target = arguments.choice<E>(flag).value_or(target);
}

void set_count(const Arguments& arguments, std::string_view flag, std::int64_t& target) {
    target = arguments.count(flag).value_or(target);
}

}  // namespace

std::string flag_of(std::string_view field) {
    std::string flag = "--" + std::string(field);
    std::replace(flag.begin(), flag.end(), '_', '-');
    return flag;
}

FlagGroup device_flags() {
    return {"Device",
            {{"--gpu", "NAME", "the GPU; `tilewright devices` lists them", Kind::Text},
             {"--cluster", "NAME|FILE", "a cluster: its GPU, node and network, instead of --gpu", Kind::Text},
             {"--device-file", "FILE", "a data sheet of your own in TOML, instead of --gpu", Kind::Text}}};
}

FlagGroup workload_flags() {
    return {"Workload",
            {{"--phase", choices<Phase>(), "what is run (train)", Kind::Choice},
             {"--batch", "N", "micro-batch: sequences on one GPU at a time (4)", Kind::Count},
             {"--seq", "N", "tokens per sequence; in decode the length of the KV cache (2048)", Kind::Count},
             {"--kv-len", "N", "tokens attended to, when not as the phase implies", Kind::Count},
             {"--precision", choices<Precision>(), "of the matrix products (bf16)", Kind::Choice},
             {"--tp", "N", "tensor-parallel GPUs (1)", Kind::Count},
             {"--pp", "N", "pipeline stages (1)", Kind::Count},
             {"--dp", "N", "data-parallel replicas (1)", Kind::Count},
             {"--cp", "N", "context-parallel GPUs (1)", Kind::Count},
             {"--ep", "N", "expert-parallel GPUs, among the replicas (1)", Kind::Count},
             {"--zero", "N", "ZeRO stage of the replicas, 0 to 3 (0)", Kind::Count},
             {"--sequence-parallel", "", "tensor ranks share what lies between their products", Kind::Switch},
             {"--virtual-stages", "N", "stretches of layers of one pipeline stage (1)", Kind::Count},
             {"--micro-batches", "N", "of one step on one replica: gradient accumulation (1)", Kind::Count},
             {"--recompute", choices<Recompute>(), "what the backward pass computes again (none)", Kind::Choice},
             {"--master", choices<MasterWeights>(), "the optimizer's own copy of the parameters (none)", Kind::Choice},
             {"--overlap", choices<Overlap>(), "collectives that run beside products (data)", Kind::Choice},
             {"--runtime", choices<Runtime>(),
              "which operations share a kernel (eager in training, compiled in serving)", Kind::Choice},
             {"--attention", choices<AttentionBackend>(), "attention kernels (auto: as PyTorch picks)", Kind::Choice},
             {"--clock", choices<Clock>(), "under the power cap, or at full clock (sustained)", Kind::Choice}}};
}

FlagGroup shape_flags() {
    FlagGroup group{"Shape overrides", {}};
    for (const Dimension& dimension : dimensions()) {
        group.flags.push_back({flag_of(dimension.name), "N", dimension_help(dimension.name), Kind::Count});
    }
    group.flags.push_back({"--mlp", choices<MlpKind>(), "plain or gated MLP", Kind::Choice});
    group.flags.push_back(
        {"--block", choices<BlockForm>(), "attention and MLP one after the other or side by side", Kind::Choice});
    group.flags.push_back({"--positions", choices<Positions>(), "how positions are told", Kind::Choice});
    group.flags.push_back({"--norm", choices<NormKind>(), "kind of norm", Kind::Choice});
    group.flags.push_back({"--tied", "yes|no", "whether the head shares the embedding's weights", Kind::Choice});
    return group;
}

FlagGroup output_flags() {
    return {"Output", {{"--json", "", "the answer as JSON", Kind::Switch}, {"--help", "", "this page", Kind::Switch}}};
}

void apply_workload_flags(const Arguments& arguments, Workload& workload) {
    Phase phase = workload.phase;
    set_choice(arguments, "--phase", phase);
    workload = in_phase(workload, phase);
    set_count(arguments, "--batch", workload.batch);
    set_count(arguments, "--seq", workload.seq);
    set_count(arguments, "--kv-len", workload.kv_len);
    set_choice(arguments, "--precision", workload.precision);
    set_count(arguments, "--tp", workload.parallel.tp);
    set_count(arguments, "--pp", workload.parallel.pp);
    set_count(arguments, "--dp", workload.parallel.dp);
    set_count(arguments, "--cp", workload.parallel.cp);
    set_count(arguments, "--ep", workload.parallel.ep);
    if (const auto stage = arguments.count("--zero")) workload.parallel.zero_stage = static_cast<int>(*stage);
    workload.parallel.sequence_parallel |= arguments.has("--sequence-parallel");
    set_count(arguments, "--virtual-stages", workload.parallel.virtual_stages);
    set_count(arguments, "--micro-batches", workload.micro_batches);
    set_choice(arguments, "--recompute", workload.recompute);
    set_choice(arguments, "--master", workload.master);
    set_choice(arguments, "--overlap", workload.overlap);
    set_choice(arguments, "--runtime", workload.runtime);
    set_choice(arguments, "--attention", workload.attention);
    set_choice(arguments, "--clock", workload.clock);
}

void apply_shape_flags(const Arguments& arguments, Shape& shape) {
    const FlagGroup group = shape_flags();
    for (const Flag& flag : group.flags) {
        const auto value = arguments.text(flag.name);
        if (!value) continue;
        const bool searched = *value == "both" || value->find_first_of(",.") != std::string::npos;  // a list or a range
        if (!searched) shape.name += " " + flag.name + " " + *value;
    }
    for (const Dimension& dimension : dimensions()) {
        if (const auto value = arguments.count(flag_of(dimension.name))) set_dimension(shape, dimension.name, *value);
    }
    set_choice(arguments, "--mlp", shape.mlp);
    set_choice(arguments, "--block", shape.block);
    set_choice(arguments, "--positions", shape.positions);
    set_choice(arguments, "--norm", shape.norms.kind);
    if (const auto tied = arguments.text("--tied")) shape.tied = *tied == "yes";
}

bool overrides_shape(const Arguments& arguments) {
    const FlagGroup group = shape_flags();
    return std::any_of(group.flags.begin(), group.flags.end(),
                       [&](const Flag& flag) { return arguments.has(flag.name); });
}

Result<FoundDevice> device_of(const Arguments& arguments) {
    const auto path = arguments.text("--device-file");
    for (const char* flag : {"--device-file", "--cluster"}) {
        if (arguments.has(flag) && arguments.has("--gpu")) {
            return Problem{flag, 0, "is given beside --gpu", "give one of them"};
        }
    }
    if (const auto cluster = arguments.text("--cluster")) return find_in_cluster(*cluster);
    if (path) return read_device_file(*path);
    const auto name = arguments.text("--gpu");
    if (!name) return Problem{"--gpu", 0, "is missing", "say --gpu h200; `tilewright devices` lists them"};
    return find_gpu(*name);
}

}  // namespace tilewright::cli

// Whether a workload makes sense by itself; whether a shape can run in it is for `validate(shape, workload)`.
#include "tilewright/workload.h"

#include "shape/limits.h"
#include "tilewright/quantity.h"

namespace tilewright {
namespace {

/// Adds a problem when a product of sizes passes the limit of a single one.
void check_product(const Problem& problem, CheckedCount product, Problems& problems) {
    const auto value = product.value();
    if (!value || *value > max_size) problems.push_back(problem);
}

/// Formats are of serving, in pairs that engines have kernels for.
void check_formats(const Workload& workload, Problems& problems) {
    const Formats& formats = workload.formats;
    if (formats == Formats{}) return;
    if (workload.phase == Phase::Train) {
        if (workload.precision == Precision::Fp8 && formats == Formats{.weights = Format::Mxfp8}) return;
        const char* where = formats.weights ? "weights" : formats.activations ? "activations" : "kv";
        problems.push_back(
            {where, 0, "such a format is of serving; a step that trains runs in bf16, fp16, fp8, mxfp8, tf32 or fp32",
             "say --phase prefill or decode, or one of these"});
    }
    for (const auto& [where, format] :
         {std::pair{"weights", formats.weights}, {"activations", formats.activations}, {"kv", formats.kv}}) {
        if (!format || is_quantized(*format) || stored_bytes(*format) == storage_bytes(workload.precision)) continue;
        problems.push_back({where, 0, "is not of the precision, and not quantised",
                            "say it with --precision: products, weights and cache are then of it"});
    }
    if (formats.kv && is_quantized(*formats.kv) && *formats.kv != Format::Fp8 && *formats.kv != Format::Int8) {
        problems.push_back({"kv", 0, "no engine keeps its cache so", "use bf16, fp16, fp8 or int8"});
    }
    const Format weights = formats.weights.value_or(workload.precision == Precision::Fp8 ? Format::Fp8 : Format::Bf16);
    if (!quantization_of(weights, formats.activations)) {
        const bool alone = !formats.activations;
        problems.push_back({alone ? "weights" : "activations", 0, "no engine has kernels for this pair",
                            alone ? "use another format, or --phase train with --precision mxfp8"
                                  : "leave the activations out: they follow from the weights"});
    }
}

}  // namespace

Problems validate(const Workload& workload) {
    const Parallelism& parallel = workload.parallel;
    Problems problems;
    for (const Bounded& number : {Bounded{"batch", workload.batch},
                                  {"seq", workload.seq},
                                  {"kv_len", workload.kv_len, 0},
                                  {"prompts", workload.prompts.count, 0},
                                  {"prompt_tokens", workload.prompts.tokens, workload.prompts.count},
                                  {"prompt_cached", workload.prompts.cached, 0},
                                  {"tp", parallel.tp},
                                  {"pp", parallel.pp},
                                  {"dp", parallel.dp},
                                  {"cp", parallel.cp},
                                  {"ep", parallel.ep},
                                  {"etp", parallel.etp, 0},
                                  {"virtual_stages", parallel.virtual_stages},
                                  {"micro_batches", workload.micro_batches},
                                  {"redundant_experts", workload.redundant_experts, 0},
                                  {"zero_stage", parallel.zero_stage, 0, 3}}) {
        check(number, problems);
    }
    if (!(workload.host_scale > 0 && workload.host_scale <= 1000)) {
        problems.push_back({"host_scale", 0, "is not between 0 and 1000", "2 means a host that takes twice as long"});
    }
    if (!(workload.expert_skew >= 0 && workload.expert_skew <= 3)) {
        problems.push_back({"expert_skew", 0, "is not between 0 and 3", "0 means that every expert gets the same"});
    }
    if (workload.phase == Phase::Train && workload.redundant_experts > 0) {
        problems.push_back({"redundant_experts", 0, "is of serving; training has each expert once", "leave it out"});
    }
    check_formats(workload, problems);
    const Prompts& prompts = workload.prompts;
    if (prompts.count == 0 && prompts.tokens + prompts.cached > 0) {
        problems.push_back({"prompts", 0, "is 0 beside tokens of prompts", "say how many prompts there are"});
    }
    if (prompts.count > 0 && workload.phase != Phase::Decode) {
        problems.push_back({"prompts", 0, "are taken along by steps that decode only", "say --phase decode"});
    }
    if (!problems.empty()) return problems;
    check_product({"batch", 0, "batch * seq is more than 2^31 tokens", "make the micro-batch smaller"},
                  CheckedCount(workload.batch) * workload.seq, problems);
    check_product({"tp", 0, "tp * pp * dp * cp is more than 2^31 GPUs", "use fewer"},
                  CheckedCount(parallel.tp) * parallel.pp * parallel.dp * parallel.cp, problems);
    return problems;
}

}  // namespace tilewright

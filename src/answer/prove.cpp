#include "tilewright/answer.h"

#include <algorithm>
#include <string>
#include <utility>

namespace tilewright {
namespace {

/// What the shape has and the program does not write, named.
std::string not_written(const Shape& shape, std::int64_t seq) {
    const std::pair<bool, const char*> parts[] = {{shape.experts.has_value(), "experts"},
                                                  {shape.latent.has_value(), "latent attention"},
                                                  {shape.window > 0 && shape.window < seq, "attention windows"},
                                                  {shape.positions == Positions::Alibi, "ALiBi"},
                                                  {shape.sinks, "attention sinks"},
                                                  {shape.embedding_dim > 0, "a projected embedding"},
                                                  {shape.norms.per_layer > 2, "norms after its parts"},
                                                  {shape.norms.query_key, "norms of queries and keys"},
                                                  {shape.norms.embedding, "a norm of the embedding"}};
    std::string text;
    for (const auto& [has, name] : parts) {
        if (has) text += (text.empty() ? "" : ", ") + std::string(name);
    }
    return text;
}

}  // namespace

Problems cannot_prove(const SearchQuestion& asked) {
    const Shape& shape = asked.question.shape;
    const Workload& workload = asked.question.workload;
    const Parallelism& parallel = workload.parallel;
    Problems found;
    const auto refuse = [&](bool is, const char* where, const char* what, const char* fix) {
        if (is) found.push_back({where, 0, what, fix});
    };
    refuse(workload.phase != Phase::Train || workload.forward_only, "phase", "only training steps can be proved",
           "leave --phase out");
    refuse(workload.runtime != RuntimeId::PyTorch && workload.runtime != RuntimeId::PyTorchCompiled, "runtime",
           "the program is plain PyTorch", "say --runtime pytorch or --runtime pytorch-compiled");
    refuse(parallel.tp * parallel.pp * parallel.cp * parallel.dp * parallel.ep > 1, "tp", "the program runs on one GPU",
           "leave tp, pp, cp, dp and ep out");
    refuse(!asked.others.empty(), "gpu", "several GPUs are given", "give the one that the program will run on");
    refuse(!asked.options.tps.empty(), "tp", "the program runs on one GPU", "leave the list out");
    refuse(workload.precision != Precision::Bf16, "precision", "the program computes in bf16", "leave --precision out");
    refuse(workload.micro_batches > 1, "micro_batches", "a step of the program is one micro-batch",
           "leave --micro-batches out");
    refuse(workload.recompute != Recompute::None, "recompute", "the program computes nothing again",
           "leave --recompute out");
    refuse(workload.master != MasterWeights::None, "master", "the program's optimizer has no copy of the parameters",
           "leave --master out");
    refuse(workload.attention != AttentionBackend::Auto, "attention", "the program leaves the choice to PyTorch",
           "leave --attention out");
    refuse(workload.kv_len > 0, "kv_len", "the program attends to its own tokens", "leave --kv-len out");
    refuse(missing_positions(shape, workload) > 0, "seq", "the shape has learned positions for fewer tokens",
           "say --seq, or --position-rows");
    const std::string parts = not_written(shape, workload.seq);
    refuse(!parts.empty(), "shape", ("prove cannot write " + parts).c_str(),
           "give it a dense decoder that has none of that");
    return found;
}

Result<Proof> prove(const SearchQuestion& asked, const SearchAnswer& answer) {
    if (Problems problems = cannot_prove(asked); !problems.empty()) return problems;
    Proof proof;
    proof.compiled = asked.question.workload.runtime == RuntimeId::PyTorchCompiled;
    proof.promises.push_back({"baseline", answer.baseline, {}});
    const auto& recommended = answer.found.recommended;
    const auto add = [&](std::string_view kind, const Candidate& shown) {
        const auto same = [&](const Promise& promise) { return promise.prediction.shape == shown.shape; };
        if (std::ranges::any_of(proof.promises, same)) return;
        Question question = asked.question;
        question.shape = shown.shape;
        question.workload = shown.workload;
        proof.promises.push_back(
            {std::string(kind), predict(question), shown, recommended && recommended->shape == shown.shape});
    };
    for (const auto& [kind, list] : kinds(answer.found)) {
        if (!list.empty()) add(kind, list.front());
    }
    if (recommended) add("recommended", *recommended);  // where others of its kind are faster, at another depth
    return proof;
}

}  // namespace tilewright

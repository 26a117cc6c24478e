#include "tilewright/answer.h"

#include <algorithm>

namespace tilewright {

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
    refuse(workload.precision != Precision::Bf16, "precision", "the program computes in bf16", "leave --precision out");
    refuse(shape.experts || shape.latent || shape.window > 0 || shape.positions == Positions::Alibi ||
               shape.embedding_dim > 0 || shape.norms.per_layer > 2 || shape.norms.query_key || shape.norms.embedding,
           "shape", "has experts, latent attention, windows, ALiBi or norms that the program does not have",
           "prove a dense decoder");
    return found;
}

Result<Proof> prove(const SearchQuestion& asked, const SearchAnswer& answer) {
    if (Problems problems = cannot_prove(asked); !problems.empty()) return problems;
    Proof proof;
    proof.compiled = asked.question.workload.runtime == RuntimeId::PyTorchCompiled;
    proof.promises.push_back({"baseline", answer.baseline, {}});
    for (const auto& [kind, list] : kinds(answer.found)) {
        if (list.empty()) continue;
        const Candidate& first = list.front();
        const auto same = [&](const Promise& promise) { return promise.prediction.shape == first.shape; };
        if (std::ranges::any_of(proof.promises, same)) continue;
        Question question = asked.question;
        question.shape = first.shape;
        question.workload = first.workload;
        const auto& recommended = answer.found.recommended;
        proof.promises.push_back(
            {std::string(kind), predict(question), first, recommended && recommended->shape == first.shape});
    }
    return proof;
}

}  // namespace tilewright

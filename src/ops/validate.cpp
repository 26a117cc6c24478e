// Whether a shape can run in a workload, given that each is valid by itself. Sizes that a runtime would pad
// (vocabulary, MLP width) are no reason to refuse: they cost time, which is for lint to say.
#include <algorithm>
#include <string>

#include "tilewright/names.h"
#include "tilewright/ops.h"
#include "tilewright/runtime.h"

namespace tilewright {

namespace {

std::string text(std::int64_t value) { return std::to_string(value); }

void check_tensor_parallel(const Shape& s, std::int64_t tp, Problems& problems) {
    if (s.heads % tp != 0) {
        problems.push_back(
            {"tp", 0, text(s.heads) + " heads cannot be split over tp " + text(tp), "use a tp that divides heads"});
    }
    if (s.heads % tp == 0 && s.kv_heads % tp != 0 && tp % s.kv_heads != 0) {
        problems.push_back({"tp", 0,
                            text(s.kv_heads) + " kv_heads can be neither split over nor repeated on tp " + text(tp),
                            "use a tp that divides kv_heads or is a multiple of it"});
    }
    const std::int64_t narrowest = s.experts ? std::min(s.ffn, s.experts->ffn) : s.ffn;
    if (tp > narrowest) {
        problems.push_back(
            {"tp", 0, "an MLP " + text(narrowest) + " wide cannot be split over tp " + text(tp), "use a smaller tp"});
    }
}

void check_other_parallel(const Shape& s, const Workload& w, Problems& problems) {
    const Parallelism& p = w.parallel;
    if (p.pp > s.layers) {
        problems.push_back({"pp", 0, text(p.pp) + " pipeline stages for " + text(s.layers) + " layers",
                            "use at most as many stages as layers"});
    }
    const std::int64_t copies = w.phase == Phase::Train ? 0 : w.redundant_experts;
    if (w.redundant_experts > 0 && !s.experts) {
        problems.push_back({"redundant_experts", 0, "a model without experts has none to copy", "leave it out"});
    }
    if (p.ep > 1 && (!s.experts || (s.experts->count + copies) % p.ep != 0)) {
        const std::string experts =
            s.experts ? text(s.experts->count + copies) + " experts" : "a model without experts";
        problems.push_back({"ep", 0, experts + " cannot be split over ep " + text(p.ep),
                            s.experts ? "use an ep that divides the experts" : "leave ep out"});
    }
    if (p.etp > 0 && (!s.experts || p.tp % p.etp != 0)) {
        problems.push_back({"etp", 0,
                            s.experts ? text(p.tp) + " tensor ranks do not divide into groups of etp " + text(p.etp)
                                      : "a model without experts has none to split",
                            s.experts ? "use an etp that divides tp" : "leave etp out"});
    }
    if (w.overlap == Overlap::Experts && (!s.experts || w.phase != Phase::Train)) {
        problems.push_back({"overlap", 0, "experts' tokens move beside another micro-batch in training alone",
                            s.experts ? "use all, with which two half batches take turns in serving" : "use all"});
    }
    if (p.cp == 1) return;
    if (w.phase == Phase::Decode) {
        problems.push_back({"cp", 0, "context parallelism in decode", "leave cp out, or use another phase"});
    } else if (w.seq % (2 * p.cp) != 0) {
        problems.push_back({"cp", 0, "seq " + text(w.seq) + " is not a multiple of 2 * cp = " + text(2 * p.cp),
                            "use a cp that divides half of seq"});
    }
}

void check_lengths(const Workload& w, Problems& problems) {
    if (w.phase == Phase::Decode || w.kv_len == 0 || w.kv_len >= w.seq) return;
    problems.push_back({"kv_len", 0, "kv_len " + text(w.kv_len) + " is shorter than seq " + text(w.seq),
                        "leave kv_len out, or give the cached tokens and the new ones together"});
}

void check_attention(const Shape& s, const Workload& w, Problems& problems) {
    const std::int64_t widest = s.latent ? std::max(s.head_dim, s.latent->v_dim) : s.head_dim;
    const bool fused = w.attention != AttentionBackend::Auto && w.attention != AttentionBackend::Unfused;
    if (fused && widest > 256) {
        problems.push_back({"attention", 0,
                            std::string(name_of(w.attention)) + " has no kernel for heads of " + text(widest),
                            "use auto or unfused, or heads of at most 256"});
    }
}

void check_runtime(const Workload& w, Problems& problems) {
    if (w.phase != Phase::Train || !runtime_of(w.runtime).engine) return;
    problems.push_back({"runtime", 0, std::string(name_of(w.runtime)) + " serves and does not train",
                        "say --phase prefill or decode, or a runtime that trains"});
}

}  // namespace

Problems validate(const Shape& shape, const Workload& workload) {
    Problems problems;
    check_tensor_parallel(shape, workload.parallel.tp, problems);
    check_other_parallel(shape, workload, problems);
    check_lengths(workload, problems);
    check_attention(shape, workload, problems);
    check_runtime(workload, problems);
    return problems;
}

}  // namespace tilewright

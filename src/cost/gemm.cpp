// The price of a matrix product. The library's kernel variants (tile, split of k) are each priced from the work of a
// thread block, the blocks a unit gets, and the traffic through L2 to memory; the cheapest is the one it would take.
// docs/cost.md has the formulas in the docs' notation.
#include <algorithm>
#include <bit>
#include <cmath>

#include "cost/explain.h"
#include "tilewright/cost.h"

namespace tilewright {
namespace {

constexpr std::size_t output_role = 0;
constexpr std::size_t reduced_role = 1;

/// The ladder's step: the largest power of two of two-byte elements that divides a row of `extent` elements.
std::size_t alignment_step(std::int64_t extent, int element) {
    const auto bytes = static_cast<std::uint64_t>(extent) * static_cast<std::uint64_t>(element);
    return static_cast<std::size_t>(std::clamp(std::countr_zero(bytes) - 1, 0, 6));
}

/// A contiguous dimension of an operand and what it is to the product.
struct Row {
    std::int64_t extent;
    std::size_t role;
};

}  // namespace

/// One product on one device: what does not depend on the variant, then the time of a variant.
class GemmPricing {
public:
    GemmPricing(const Pricer& pricer, const Gemm& gemm);
    Cost price() const;

private:
    /// The times that make up a variant, in seconds.
    struct Parts {
        double split = 1.0;
        double blocks = 0.0;
        double padded = 0.0;   ///< the matrix units' time for whole tiles, spread evenly over all units
        double compute = 0.0;  ///< the same for the busiest unit
        double load = 0.0;     ///< operands, with what is read again
        double store = 0.0;
        double overhead = 0.0;  ///< prologues, epilogues, filling the memory pipeline, reducing the splits
        double total = 0.0;
        const Pricer::Variant* variant = nullptr;
    };

    void align(const Gemm& gemm);
    Parts price(const Pricer::Variant& variant, double split) const;
    double overlapped(const Parts& parts) const;
    double executed(const Parts& parts) const { return parts.padded; }
    Parts best() const;
    Cost explain(const Parts& parts) const;

    const Pricer& pricer_;
    const GemmProfile& profile_;
    double m_, n_, k_, batch_;
    double element_;
    double units_;
    double second_per_flop_;  ///< of one unit
    double slowdown_ = 1.0;   ///< of the matrix units by misaligned rows
    double load_slowdown_ = 1.0;
    double ideal_compute_;
    double ideal_load_, ideal_store_;
    double spill_;  ///< 0 when the operands of one product fit in L2, 1 when they are twice its size
};

GemmPricing::GemmPricing(const Pricer& pricer, const Gemm& gemm)
    : pricer_(pricer),
      profile_(pricer.profile_.gemm),
      m_(static_cast<double>(std::max<std::int64_t>(1, gemm.m))),
      n_(static_cast<double>(std::max<std::int64_t>(1, gemm.n))),
      k_(static_cast<double>(std::max<std::int64_t>(1, gemm.k))),
      batch_(static_cast<double>(std::max<std::int64_t>(1, gemm.batch))),
      element_(element_bytes(gemm.precision)),
      units_(static_cast<double>(pricer.device_.units)),
      second_per_flop_(pricer.seconds_per_flop_[static_cast<std::size_t>(gemm.precision)]) {
    align(gemm);
    const double operands = (m_ * k_ + k_ * n_) * element_;
    ideal_compute_ = 2.0 * m_ * n_ * k_ * batch_ * second_per_flop_ / units_;
    ideal_load_ = operands * batch_ * pricer.seconds_per_byte_;
    ideal_store_ = m_ * n_ * batch_ * std::max(2.0, element_) * pricer.seconds_per_byte_;
    spill_ = std::clamp(operands / pricer.device_.l2.value - 1.0, 0.0, 1.0);
}

void GemmPricing::align(const Gemm& gemm) {
    const Row m{gemm.m, output_role}, n{gemm.n, output_role}, k{gemm.k, reduced_role};
    const Row a = gemm.layout == Layout::NT ? m : k;
    const Row b = gemm.layout == Layout::TN ? k : n;
    const int element = element_bytes(gemm.precision);
    for (const Row& row : {a, b, n}) {
        const double slowdown = pricer_.slowdown_[row.role][alignment_step(row.extent, element)];
        slowdown_ = std::max(slowdown_, slowdown);
    }
    for (const Row& row : {a, b}) {
        const double slowdown = pricer_.load_slowdown_[row.role][alignment_step(row.extent, element)];
        load_slowdown_ = std::max(load_slowdown_, slowdown);
    }
}

/// Computing and moving memory overlap, but for part of the shorter and part of writing C.
double GemmPricing::overlapped(const Parts& parts) const {
    const double store = parts.store;
    return std::max(parts.compute + profile_.exposed_store * store, parts.load + store) +
           profile_.exposed_load * std::min(parts.compute, parts.load);
}

GemmPricing::Parts GemmPricing::price(const Pricer::Variant& variant, double split) const {
    const double step = variant.k * 2.0 / element_;
    const double depth = ceil_positive(k_ / split / step) * step;
    Parts parts;
    parts.variant = &variant;
    parts.split = split;
    parts.blocks = batch_ * ceil_positive(m_ / variant.m) * ceil_positive(n_ / variant.n) * split;
    const double per_unit = ceil_positive(parts.blocks / units_);
    const double block = variant.flops_per_k * depth * second_per_flop_ * slowdown_;
    parts.padded = parts.blocks / units_ * block;
    const double rounds = ceil_positive(per_unit / variant.resident);
    const double block_rows = std::min(m_, variant.m) + std::min(n_, variant.n);
    const double through_l2 = parts.blocks * block_rows * depth * element_ * pricer_.seconds_per_l2_byte_;
    const double stepping = rounds * depth / step * profile_.step_latency.value;
    parts.compute = std::max({per_unit * block, through_l2, stepping});

    const double reread =
        2.0 * m_ * n_ * k_ * batch_ * element_ * variant.inverse_wave_edge * pricer_.seconds_per_byte_;
    parts.load = std::max(ideal_load_ * load_slowdown_, reread * spill_);
    parts.store = ideal_store_;

    const Profile& profile = pricer_.profile_;
    parts.overhead = rounds * profile_.tile_overhead.value + profile.bandwidth_ramp.value * pricer_.seconds_per_byte_;
    if (split > 1.0) {
        parts.overhead += profile_.split_overhead.value + 8.0 * m_ * n_ * batch_ * split * pricer_.seconds_per_l2_byte_;
    }
    const double body = overlapped(parts) + parts.overhead;
    parts.total = body * throttle(profile, pricer_.clock_, parts.padded / body) + profile.kernel_gap.value;
    return parts;
}

GemmPricing::Parts GemmPricing::best() const {
    Parts best;
    best.total = HUGE_VAL;
    for (const Pricer::Variant& variant : pricer_.variants_) {
        for (double split = 1.0; split <= static_cast<double>(profile_.max_split_k); split *= 2.0) {
            const Parts parts = price(variant, split);
            if (parts.total < best.total) best = parts;
            if (parts.blocks >= units_) break;
        }
    }
    return best;
}

Cost GemmPricing::explain(const Parts& parts) const {
    const double load = ideal_load_ * load_slowdown_;
    const double padded = parts.padded;
    const double body = overlapped(parts) + parts.overhead;
    Explanation explanation;
    explanation.reach(Term::Roofline, std::max(ideal_compute_, ideal_load_ + ideal_store_));
    explanation.reach(Term::Alignment, std::max(ideal_compute_ * slowdown_, load + ideal_store_));
    explanation.reach(Term::Tile, std::max(padded, load + ideal_store_));
    explanation.reach(Term::Wave, std::max(parts.compute, load + ideal_store_));
    explanation.reach(Term::Memory, overlapped(parts));
    explanation.reach(Term::Occupancy, body);
    explanation.reach(Term::Power, parts.total - pricer_.profile_.kernel_gap.value);
    explanation.reach(Term::Launch, parts.total);

    const double waiting = parts.overhead + pricer_.profile_.kernel_gap.value;
    const Bound bound = waiting > 0.5 * parts.total                ? Bound::Latency
                        : parts.load + parts.store > parts.compute ? Bound::Memory
                                                                   : Bound::Compute;
    const Profile& profile = pricer_.profile_;
    Cost cost = explanation.finish(bound, profile.evidence, profile.gemm_interval);
    cost.tile_m = static_cast<std::int32_t>(parts.variant->m);
    cost.tile_n = static_cast<std::int32_t>(parts.variant->n);
    cost.split_k = static_cast<std::int32_t>(parts.split);
    cost.waves = parts.blocks / (units_ * parts.variant->resident);
    return cost;
}

Cost GemmPricing::price() const { return explain(best()); }

Cost Pricer::price(const Gemm& gemm) const { return GemmPricing(*this, gemm).price(); }

}  // namespace tilewright

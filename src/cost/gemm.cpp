// The price of a matrix product. The library's kernel variants (tile, split of k) are each priced from the work of a
// thread block, the blocks a unit gets, and the traffic through L2 to memory; the cheapest is the one it would take.
// docs/cost.md has the formulas in the docs' notation.
#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

#include "cost/explain.h"
#include "cost/features.h"
#include "tilewright/cost.h"

namespace tilewright {
namespace {

constexpr std::size_t output_role = 0;
constexpr std::size_t reduced_role = 1;
constexpr std::size_t whole_words = 3;  ///< the ladder's step of 16 bytes

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

/// Of A, B and C.
using Rows = std::array<Row, 3>;

Rows rows_of(const Gemm& gemm) {
    const Row m{gemm.m, output_role}, n{gemm.n, output_role}, k{gemm.k, reduced_role};
    return {gemm.layout == Layout::NT ? m : k, gemm.layout == Layout::TN ? k : n, n};
}

}  // namespace

namespace {

/// The time moved to `time` by what was learnt; intervals and the clocked part move with it.
void move_to(Cost& cost, double time) {
    const double factor = time / cost.time.value;
    cost.terms[static_cast<std::size_t>(Term::Correction)].value += time - cost.time.value;
    cost.time.value = time;
    cost.low = cost.low * factor;
    cost.high = cost.high * factor;
    cost.clocked = cost.clocked * factor;
}

}  // namespace

bool has_narrow_rows(const Gemm& gemm) {
    const int element = element_bytes(gemm.precision);
    const Rows rows = rows_of(gemm);
    // the matrix instructions of Hopper take 32-bit operands with k contiguous only (PTX ISA, wgmma)
    if (gemm.precision == Precision::Tf32 && gemm.layout != Layout::TN) return true;
    return std::any_of(rows.begin(), rows.end(),
                       [element](const Row& row) { return alignment_step(row.extent, element) < whole_words; });
}

/// One product on one device: what does not depend on the variant, then the time of a variant.
class GemmPricing {
public:
    GemmPricing(const Pricer& pricer, const Gemm& gemm);
    Cost price() const { return explain(best()); }

private:
    /// How many thread blocks share the k of one tile.
    struct Split {
        double parts = 1.0;
        double inverse = 1.0;
    };

    /// The times that make up a variant, in seconds.
    struct Parts {
        const Pricer::Variant* variant = nullptr;
        double split = 1.0;
        double blocks = 0.0;
        double compute = 0.0;   ///< the busiest unit's main loops
        double padded = 0.0;    ///< the same, spread evenly over all units
        double load = 0.0;      ///< operands, with what is read again
        double overhead = 0.0;  ///< prologues, epilogues, filling the memory pipeline, reducing the splits
        double total = HUGE_VAL;
    };

    void align(const Gemm& gemm);
    Parts price(const Pricer::Variant& variant, Split split, double limit) const;
    double overlapped(double compute, double load) const;
    bool worth_splitting(const Parts& parts) const;
    Parts best() const;
    Cost explain(const Parts& parts) const;

    const Pricer& pricer_;
    bool narrow_;  ///< rows that are not whole 16-byte words: another family of kernels
    const Pricer::Library& library_;
    const GemmProfile& profile_;
    double m_, n_, k_, batch_;
    double half_words_;  ///< k in elements of two bytes
    double units_;
    double max_split_;
    double slowdown_ = 1.0;  ///< of the matrix units by misaligned rows
    double load_slowdown_ = 1.0;
    double inverse_slowdown_;
    double launch_;
    double seconds_per_flop_byte_;  ///< of one unit, per FLOP of a column of k one byte deep
    double ideal_compute_, ideal_load_;
    double load_, store_;   ///< each operand once
    double reread_;         ///< times one over the wave's edge: what a wave reads again once L2 is too small
    double ramp_;           ///< filling the memory pipeline
    double least_rest_;     ///< what every variant takes besides its main loops
    double split_traffic_;  ///< writing and reading one part of a split k
};

GemmPricing::GemmPricing(const Pricer& pricer, const Gemm& gemm)
    : pricer_(pricer),
      narrow_(has_narrow_rows(gemm)),
      library_(narrow_ ? pricer.narrow_ : pricer.whole_words_),
      profile_(narrow_ ? pricer.profile_.narrow_gemm : pricer.profile_.gemm),
      m_(static_cast<double>(std::max<std::int64_t>(1, gemm.m))),
      n_(static_cast<double>(std::max<std::int64_t>(1, gemm.n))),
      k_(static_cast<double>(std::max<std::int64_t>(1, gemm.k))),
      batch_(static_cast<double>(std::max<std::int64_t>(1, gemm.batch))),
      half_words_(0.5 * k_ * element_bytes(gemm.precision)),
      units_(static_cast<double>(pricer.device_.units)),
      max_split_(static_cast<double>(profile_.max_split_k)) {
    align(gemm);
    inverse_slowdown_ = 1.0 / slowdown_;
    launch_ = profile_.launch.value;
    const double element = element_bytes(gemm.precision);
    const double result = m_ * n_ * batch_;
    const double operands = (m_ * k_ + k_ * n_) * element;
    const double spill = std::clamp(operands * pricer.inverse_l2_ - 1.0, 0.0, 1.0);
    const double seconds_per_flop = pricer.seconds_per_flop_[static_cast<std::size_t>(gemm.precision)];
    seconds_per_flop_byte_ = seconds_per_flop * slowdown_ / element;
    ideal_compute_ = 2.0 * result * k_ * seconds_per_flop * pricer.inverse_units_;
    ideal_load_ = operands * batch_ * pricer.seconds_per_byte_;
    load_ = ideal_load_ * load_slowdown_;
    store_ = result * std::max(2.0, element) * pricer.seconds_per_byte_;
    reread_ = 2.0 * result * k_ * element * spill * pricer.seconds_per_byte_;
    ramp_ = pricer.profile_.bandwidth_ramp.value * pricer.seconds_per_byte_;
    least_rest_ = profile_.exposed_store * store_ + library_.least_overhead + ramp_ + launch_;
    split_traffic_ = 8.0 * result * library_.seconds_per_l2_byte;  // fp32, there and back
}

void GemmPricing::align(const Gemm& gemm) {
    const int element = element_bytes(gemm.precision);
    const Rows rows = rows_of(gemm);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::size_t step = alignment_step(rows[i].extent, element);
        slowdown_ = std::max(slowdown_, library_.slowdown[rows[i].role][step]);
        const bool loaded = i < 2;
        if (loaded) load_slowdown_ = std::max(load_slowdown_, library_.load_slowdown[rows[i].role][step]);
    }
}

/// Computing and moving memory overlap, but for part of the shorter and part of writing C.
double GemmPricing::overlapped(double compute, double load) const {
    return std::max(compute + profile_.exposed_store * store_, load + store_) +
           profile_.exposed_load * std::min(compute, load);
}

GemmPricing::Parts GemmPricing::price(const Pricer::Variant& variant, Split split, double limit) const {
    const double steps = ceil_product(half_words_, variant.inverse_k * split.inverse);
    const double depth_bytes = steps * variant.k * 2.0;
    Parts parts;
    parts.variant = &variant;
    parts.split = split.parts;
    parts.blocks = batch_ * ceil_product(m_, variant.inverse_m) * ceil_product(n_, variant.inverse_n) * split.parts;
    const double per_unit = ceil_product(parts.blocks, pricer_.inverse_units_);
    const double rounds = std::max(1.0, per_unit * variant.inverse_resident);
    const double block = variant.flops_per_k * depth_bytes * seconds_per_flop_byte_;
    const double block_rows = std::min(m_, variant.m) + std::min(n_, variant.n);
    const double through_l2 = parts.blocks * block_rows * depth_bytes * library_.seconds_per_l2_byte;
    const double stepping = rounds * steps * variant.step;
    parts.compute = std::max({per_unit * block, through_l2, stepping});
    if (parts.compute + least_rest_ >= limit) return parts;

    parts.padded = parts.blocks * pricer_.inverse_units_ * block;
    parts.load = std::max(load_, reread_ * variant.inverse_wave_edge);
    parts.overhead =
        rounds * variant.overhead + ramp_ + profile_.fill.value * std::min(1.0, parts.blocks * pricer_.inverse_units_);
    if (split.parts > 1.0) parts.overhead += profile_.split_overhead.value + split.parts * split_traffic_;
    const double body = overlapped(parts.compute, parts.load) + parts.overhead;
    parts.total = body + launch_;
    return parts;
}

/// Splitting k further shortens the main loops at most to nothing, and costs more traffic, the first time its overhead.
bool GemmPricing::worth_splitting(const Parts& parts) const {
    const double gain = overlapped(parts.compute, load_) - overlapped(0.0, load_);
    return gain > parts.split * split_traffic_ + (parts.split > 1.0 ? 0.0 : profile_.split_overhead.value);
}

GemmPricing::Parts GemmPricing::best() const {
    Parts best;
    for (const Pricer::Variant& variant : library_.variants) {
        for (Split split; split.parts <= max_split_; split = {split.parts * 2.0, split.inverse * 0.5}) {
            const Parts parts = price(variant, split, best.total);
            if (parts.total < best.total) best = parts;
            if (parts.blocks >= units_ || !worth_splitting(parts)) break;
        }
    }
    assert(best.variant != nullptr);  // a profile has tiles
    return best;
}

Cost GemmPricing::explain(const Parts& parts) const {
    const Profile& profile = pricer_.profile_;
    const double gap = launch_;
    const double memory = load_ + store_;
    Explanation explanation;
    explanation.reach(Term::Roofline, std::max(ideal_compute_, ideal_load_ + store_));
    explanation.reach(Term::Alignment, std::max(ideal_compute_ * slowdown_, memory));
    explanation.reach(Term::Tile, std::max(parts.padded, memory));
    explanation.reach(Term::Wave, std::max(parts.compute, memory));
    explanation.reach(Term::Memory, overlapped(parts.compute, parts.load));
    explanation.reach(Term::Occupancy, overlapped(parts.compute, parts.load) + parts.overhead);
    explanation.reach(Term::Launch, parts.total);

    const Bound bound = parts.overhead + gap > 0.5 * parts.total ? Bound::Latency
                        : parts.load + store_ > parts.compute    ? Bound::Memory
                                                                 : Bound::Compute;
    Cost cost = explanation.finish(bound, profile.evidence, {});
    cost.clocked = {profile.power.clocked * std::min(parts.compute, parts.total)};
    cost.energy_j = profile.power.matrix.value * parts.padded * inverse_slowdown_ +
                    profile.power.memory.value * (parts.load + store_);
    cost.tile_m = static_cast<std::int32_t>(parts.variant->m);
    cost.tile_n = static_cast<std::int32_t>(parts.variant->n);
    cost.split_k = static_cast<std::int32_t>(parts.split);
    cost.waves = parts.blocks / (units_ * parts.variant->resident);
    return cost;
}

Cost Pricer::burst(const Gemm& gemm) const {
    Cost cost = GemmPricing(*this, gemm).price();
    const Interval within = interval(profile_, class_of(gemm), cost.bound);
    cost.low = cost.time * within.low;
    cost.high = cost.time * within.high;
    if (profile_.gemm_correction.trees.empty()) return cost;
    const double physics = cost.time.value;
    double time = physics * profile_.gemm_correction.factor(physics, gemm_features(gemm, physics, device_));
    if (gemm.batch > 1) {  // half the batch takes no longer, and run twice no less
        Gemm half = gemm;
        half.batch = ceil_div(gemm.batch, 2);
        const double part = burst(half).time.value;
        time = std::clamp(time, part, 2.0 * part);
    }
    move_to(cost, std::max(time, cost.term(Term::Roofline).value));
    return cost;
}

}  // namespace tilewright

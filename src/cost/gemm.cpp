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

/// A contiguous dimension of an operand and what it is to the product.
struct Row {
    std::int64_t bytes;
    std::size_t role;

    /// On the ladder: the largest power of two of two-byte elements that divides it.
    std::size_t step() const {
        return static_cast<std::size_t>(std::clamp(std::countr_zero(static_cast<std::uint64_t>(bytes)) - 1, 0, 6));
    }
};

/// The two that are contiguous: k, or m of NT, in A (and B of TN); n in C (and B of the others).
using Rows = std::array<Row, 2>;

/// C is never of less than two bytes an element.
Rows rows_of(const Gemm& gemm) {
    const int element = element_bytes(gemm.precision);
    const Row n{gemm.n * (gemm.layout == Layout::TN ? std::max(2, element) : element), output_role};
    const Row m{gemm.m * element, output_role}, k{gemm.k * element, reduced_role};
    return {gemm.layout == Layout::NT ? m : k, n};
}

}  // namespace

GemmFamily family_of(const Gemm& gemm) {
    std::size_t least = whole_words;
    for (const Row& row : rows_of(gemm)) least = std::min(least, row.step());
    if (least == whole_words) return gemm.precision == Precision::Tf32 ? GemmFamily::Tf32 : GemmFamily::Whole;
    return least == 0 ? GemmFamily::Halves : GemmFamily::Words;
}

/// One product on one device: what does not depend on the variant, then the time of a variant.
class GemmPricing {
public:
    GemmPricing(const Pricer& pricer, const Gemm& gemm, GemmFamily family);
    Cost price() const { return explain(best()); }

private:
    struct Split {
        double parts, inverse;
    };
    static constexpr Split splits[] = {{1, 1},         {2, 1.0 / 2},   {3, 1.0 / 3},   {4, 1.0 / 4},
                                       {6, 1.0 / 6},   {8, 1.0 / 8},   {12, 1.0 / 12}, {16, 1.0 / 16},
                                       {24, 1.0 / 24}, {32, 1.0 / 32}, {48, 1.0 / 48}, {64, 1.0 / 64}};

    /// The time of one variant, in seconds, and what it is made of.
    struct Parts {
        const Pricer::Variant* variant = nullptr;
        double split = 1.0;
        double blocks = 0.0;
        double padded = 0.0;    ///< whole tiles, spread evenly over the units
        double compute = 0.0;   ///< of the unit that gets most of them, or what L2 takes to feed all
        double busy = 0.0;      ///< the same with prologues, epilogues and waiting for operands
        double load = 0.0;      ///< from memory, with what is read again
        double overhead = 0.0;  ///< filling the chip and the memory pipeline, reducing the splits
        double total = HUGE_VAL;
    };

    double slowdown_of(const Gemm& gemm) const;
    Parts price(const Pricer::Variant& variant, Split split, double limit) const;
    double overlapped(double compute, double load) const;
    bool worth_splitting(const Parts& parts) const;
    Parts best() const;
    Cost explain(const Parts& parts) const;

    const Pricer& pricer_;
    GemmFamily family_;
    const Pricer::Library& library_;
    const GemmProfile& profile_;
    double m_, n_, k_, batch_;
    double half_words_;  ///< k in elements of two bytes
    double units_;
    double max_split_;
    double slowdown_;  ///< of the matrix units by misaligned rows and by layout
    double launch_;
    double seconds_per_flop_;  ///< of one unit, for elements of one byte
    double ideal_compute_, ideal_load_, ideal_store_;
    double load_, store_;   ///< each operand once, as fast as the family loads
    double reread_;         ///< times one over the wave's edge: what a wave reads again once L2 is too small
    double ramp_;           ///< filling the memory pipeline
    double least_rest_;     ///< what every variant takes besides its blocks
    double split_traffic_;  ///< writing and reading one part of a split k
};

GemmPricing::GemmPricing(const Pricer& pricer, const Gemm& gemm, GemmFamily family)
    : pricer_(pricer),
      family_(family),
      library_(pricer.libraries_[static_cast<std::size_t>(family_)]),
      profile_(pricer.profile_.kernels(family_)),
      m_(static_cast<double>(std::max<std::int64_t>(1, gemm.m))),
      n_(static_cast<double>(std::max<std::int64_t>(1, gemm.n))),
      k_(static_cast<double>(std::max<std::int64_t>(1, gemm.k))),
      batch_(static_cast<double>(std::max<std::int64_t>(1, gemm.batch))),
      half_words_(0.5 * k_ * element_bytes(gemm.precision)),
      units_(static_cast<double>(pricer.device_.units)),
      max_split_(gemm.batch > 1 && family_ != GemmFamily::Vector ? 1.0 : static_cast<double>(profile_.max_split_k)),
      slowdown_(slowdown_of(gemm)),
      launch_(profile_.launch.value) {
    const double element = element_bytes(gemm.precision);
    const double result = m_ * n_ * batch_;
    const double operands = (m_ * k_ + k_ * n_) * element;
    const double spill = std::clamp(operands * pricer.inverse_l2_ - 1.0, 0.0, 1.0);
    const double seconds_per_flop = pricer.seconds_per_flop_[static_cast<std::size_t>(gemm.precision)];
    const double slower = 1.0 / profile_.bandwidth;
    seconds_per_flop_ = seconds_per_flop * slowdown_ / element;
    ideal_compute_ = 2.0 * result * k_ * seconds_per_flop * pricer.inverse_units_;
    ideal_load_ = operands * batch_ * pricer.seconds_per_byte_;
    ideal_store_ = result * std::max(2.0, element) * pricer.seconds_per_byte_;
    load_ = ideal_load_ * slower;
    store_ = ideal_store_ * slower;
    reread_ = 2.0 * result * k_ * element * spill * pricer.seconds_per_byte_ * slower;
    ramp_ = pricer.profile_.bandwidth_ramp.value * pricer.seconds_per_byte_;
    least_rest_ = profile_.exposed_store * store_ + ramp_ + launch_;
    split_traffic_ = 8.0 * result * library_.seconds_per_split_byte;  // fp32, there and back
}

/// Narrow rows slow each by itself; of whole words the worse counts.
double GemmPricing::slowdown_of(const Gemm& gemm) const {
    double narrow = library_.layout_slowdown[static_cast<std::size_t>(gemm.layout)], whole = 1.0;
    for (const Row& row : rows_of(gemm)) {
        const double slowdown = library_.slowdown[row.role][row.step()];
        if (row.step() < whole_words) narrow *= slowdown;
        if (row.step() >= whole_words) whole = std::max(whole, slowdown);
    }
    return narrow * whole;
}

/// Computing and moving memory overlap, but for part of the shorter and part of writing C.
double GemmPricing::overlapped(double compute, double load) const {
    return std::max(compute + profile_.exposed_store * store_, load + store_) +
           profile_.exposed_load * std::min(compute, load);
}

/// Blocks that share a unit hide each other's latency: it is busy as long as its rounds of single blocks, or the work
/// of all its blocks, whichever is longer.
GemmPricing::Parts GemmPricing::price(const Pricer::Variant& variant, Split split, double limit) const {
    const double steps = ceil_product(half_words_, variant.inverse_k * split.inverse);
    const double matrix = variant.step_flops * seconds_per_flop_;
    Parts parts;
    parts.variant = &variant;
    parts.split = split.parts;
    parts.blocks = batch_ * ceil_product(m_, variant.inverse_m) * ceil_product(n_, variant.inverse_n) * split.parts;
    const double per_unit = ceil_product(parts.blocks, pricer_.inverse_units_);
    const double alone = variant.overhead + steps * std::max(variant.step * slowdown_, matrix);
    const double shared = steps * matrix + profile_.shared_overhead * variant.overhead;
    parts.busy = std::max(ceil_product(per_unit, variant.inverse_resident) * alone, per_unit * shared);
    if (parts.busy + least_rest_ >= limit) return parts;

    const double block_rows = std::min(m_, variant.m) + std::min(n_, variant.n);
    const double through_l2 = parts.blocks * block_rows * steps * variant.k * 2.0 * library_.seconds_per_l2_byte;
    parts.padded = parts.blocks * pricer_.inverse_units_ * steps * matrix;
    parts.compute = std::max(per_unit * steps * matrix, through_l2);
    parts.busy = std::max(parts.busy, through_l2 + variant.overhead);
    parts.load = std::max(load_, reread_ * variant.inverse_wave_edge);
    parts.overhead = ramp_ + profile_.fill.value * std::min(1.0, parts.blocks * pricer_.inverse_units_);
    if (split.parts > 1.0) parts.overhead += profile_.split_overhead.value + split.parts * split_traffic_;
    parts.total = overlapped(parts.busy, parts.load) + parts.overhead + launch_;
    return parts;
}

/// Splitting k further shortens the main loops at most to nothing, and costs more traffic, the first time its overhead.
bool GemmPricing::worth_splitting(const Parts& parts) const {
    const double gain = overlapped(parts.busy, load_) - overlapped(0.0, load_);
    return gain > parts.split * split_traffic_ + (parts.split > 1.0 ? 0.0 : profile_.split_overhead.value);
}

GemmPricing::Parts GemmPricing::best() const {
    Parts best;
    for (const Pricer::Variant& variant : library_.variants) {
        for (const Split& split : splits) {
            if (split.parts > max_split_) break;
            const Parts parts = price(variant, split, best.total);
            if (parts.total < best.total) best = parts;
            if (parts.blocks >= units_ * variant.resident || !worth_splitting(parts)) break;
        }
    }
    assert(best.variant != nullptr);  // a profile has tiles
    return best;
}

Cost GemmPricing::explain(const Parts& parts) const {
    const Profile& profile = pricer_.profile_;
    const double memory = load_ + store_;
    Explanation explanation;
    explanation.reach(Term::Roofline, std::max(ideal_compute_, ideal_load_ + ideal_store_));
    explanation.reach(Term::Alignment, std::max(ideal_compute_ * slowdown_, memory));
    explanation.reach(Term::Tile, std::max(parts.padded, memory));
    explanation.reach(Term::Wave, std::max(parts.compute, memory));
    explanation.reach(Term::Memory, overlapped(parts.compute, parts.load));
    explanation.reach(Term::Occupancy, parts.total - launch_);
    explanation.reach(Term::Launch, parts.total);

    const double waiting = parts.busy - parts.compute + parts.overhead + launch_;
    const Bound bound = waiting > 0.5 * parts.total           ? Bound::Latency
                        : parts.load + store_ > parts.compute ? Bound::Memory
                                                              : Bound::Compute;
    Cost cost = explanation.finish(bound, profile.evidence, {});
    cost.clocked = {profile.power.clocked * std::min(parts.busy, parts.total)};
    cost.energy_j = profile.power.matrix.value * parts.padded / slowdown_ +
                    profile.power.memory.value * (parts.load + store_) * profile_.bandwidth;
    cost.tile_m = static_cast<std::int32_t>(parts.variant->m);
    cost.tile_n = static_cast<std::int32_t>(parts.variant->n);
    cost.split_k = static_cast<std::int32_t>(parts.split);
    cost.waves = parts.blocks / (units_ * parts.variant->resident);
    return cost;
}

Cost Pricer::physics(const Gemm& gemm) const {
    const GemmFamily family = family_of(gemm);
    Cost cost = GemmPricing(*this, gemm, family).price();
    if (gemm.m != 1 || family == GemmFamily::Whole) return cost;
    const Cost vector = GemmPricing(*this, gemm, GemmFamily::Vector).price();
    return vector.time < cost.time ? vector : cost;
}

/// Half a batch takes no longer, and run twice no less: so a batch never takes more than its products one after another
/// (the library splits k of single products only). Physics grows so by itself, and is held against one product only.
Cost Pricer::as_it_is(const Gemm& gemm) const {
    Cost cost = physics(gemm);
    const Interval within = interval(profile_, class_of(gemm), cost.bound);
    cost.low = cost.time * within.low;
    cost.high = cost.time * within.high;
    const Correction& correction = profile_.gemm_corrections[has_narrow_rows(gemm) ? 1 : 0];
    const double before = cost.time.value;
    const bool learnt = !correction.trees.empty() && (gemm.batch <= 1 || correction.of_batches > 0.0);
    double time = before;
    if (learnt) time *= correction.factor(before, gemm_features(gemm, device_));
    if (gemm.batch > 1) {
        Gemm fewer = gemm;
        fewer.batch = learnt ? ceil_div(gemm.batch, 2) : 1;
        const double part = as_it_is(fewer).time.value;
        time = std::clamp(time, part, part * static_cast<double>(ceil_div(gemm.batch, fewer.batch)));
    }
    time = std::max(time, cost.term(Term::Roofline).value);
    if (time != before) move_to(cost, time);
    return cost;
}

}  // namespace tilewright

// The price of a matrix product. The library's kernel variants (tile, split of k) are each priced from the work of a
// thread block, the blocks a unit gets, and the traffic through L2 to memory; the cheapest is the one it would take.
// docs/cost.md has the formulas in the docs' notation.
#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

#include "cost/explain.h"
#include "cost/traffic.h"
#include "tilewright/cost.h"

namespace tilewright {
namespace {

/// Of numbers, or of each lane.
template <class T>
constexpr T larger(T a, T b) {
    return a < b ? b : a;
}
template <class T>
constexpr T smaller(T a, T b) {
    return b < a ? b : a;
}

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

    /// Narrow, and not within a word of a multiple of 512 bytes.
    bool is_stray() const { return step() < whole_words && (bytes + 8) % 512 >= 16; }
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

double load_of(const Row& row, const GemmProfile& profile) {
    const OperandLoads& loads = row.role == output_role ? profile.output_loads : profile.reduced_loads;
    return loads.rows[row.step()] + (row.is_stray() ? loads.stray : 0.0);
}

}  // namespace

GemmFamily family_of(const Gemm& gemm) {
    const int bytes = row_bytes(gemm);
    if (bytes >= 16) return gemm.precision == Precision::Tf32 ? GemmFamily::Tf32 : GemmFamily::Whole;
    return bytes == 2 ? GemmFamily::Halves : GemmFamily::Words;
}

KernelClass class_of(const Gemm& gemm) {
    if (gemm.precision == Precision::Fp8) return KernelClass::GemmFp8;
    if (gemm.precision == Precision::Tf32) return KernelClass::GemmTf32;
    const int bytes = row_bytes(gemm);
    const bool batched = gemm.batch > 1;
    if (bytes >= 16) return batched ? KernelClass::Batched : KernelClass::Gemm;
    if (bytes >= 4) return batched ? KernelClass::Batched8 : KernelClass::Gemm8;
    return batched ? KernelClass::Batched2 : KernelClass::Gemm2;
}

/// One product on one device: what does not depend on the variant, then the time of a variant.
class GemmPricing {
public:
    GemmPricing(const Pricer& pricer, const Gemm& gemm, GemmFamily family);
    Cost price() const { return explain(best()); }
    Pricer::Physics times() const { return {best().total, roofline()}; }

private:
    using Lanes = Pricer::Lanes;
    static constexpr Lanes both(double value) { return Lanes{value, value}; }

    struct Split {
        double parts, inverse;
    };
    static constexpr Split splits[] = {{1, 1},         {2, 1.0 / 2},   {3, 1.0 / 3},   {4, 1.0 / 4},
                                       {6, 1.0 / 6},   {8, 1.0 / 8},   {12, 1.0 / 12}, {16, 1.0 / 16},
                                       {24, 1.0 / 24}, {32, 1.0 / 32}, {48, 1.0 / 48}, {64, 1.0 / 64}};
    static constexpr std::size_t split_count = std::size(splits);

    /// The times of some variants, in seconds, and what they are made of.
    struct Parts {
        Lanes blocks;
        Lanes padded;    ///< whole tiles, spread evenly over the units
        Lanes compute;   ///< of the unit that gets most of them, or what L2 takes to feed all
        Lanes busy;      ///< the same with prologues, epilogues and waiting for operands
        Lanes load;      ///< from memory, with what is read again
        Lanes overhead;  ///< launching, filling the chip and the memory pipeline, reducing the splits
        Lanes total;
    };

    /// The variant that the library takes.
    struct Choice {
        const Pricer::Variants& variants;
        std::size_t lane;
        Split split;
        double total;
    };

    double slowdown_of(const Gemm& gemm) const;
    /// Times the arithmetic of a tile, what it takes with its operands loaded.
    Lanes loaded(const Pricer::Variants& v) const { return 1.0 + load_a_ * v.inverse_n + load_b_ * v.inverse_m; }
    Parts price(const Pricer::Variants& variants, Split split) const;
    template <class T>
    T overlapped(T compute, T load) const;
    Lanes closed(const Pricer::Variants& variants, Split split, const Parts& parts) const;
    Choice best() const;
    double roofline() const { return std::max(ideal_compute_, ideal_load_ + ideal_store_); }
    Cost explain(const Choice& choice) const;

    const Pricer& pricer_;
    GemmFamily family_;
    const Pricer::Library& library_;
    const GemmProfile& profile_;
    double m_, n_, k_, batch_;
    double half_words_;  ///< k in elements of two bytes
    double units_, inverse_units_;
    double max_split_;
    double slowdown_;  ///< of the matrix units by misaligned rows and by layout
    double load_a_, load_b_;
    double launch_;
    double seconds_per_flop_;  ///< of one unit, for elements of one byte
    double ideal_compute_, ideal_load_, ideal_store_;
    double load_, store_;    ///< each operand once, as fast as the family loads
    double reread_;          ///< times one over the wave's edge: what a wave reads again once L2 is too small
    double least_overhead_;  ///< launching, and filling the memory pipeline
    double split_traffic_;   ///< writing and reading one part of a split k
};

namespace {

/// The share that L2 does not keep of what is used again and again. Where L2 is split between two halves of the chip
/// (parts with bulk copies, and the A100), some of it is held twice. As public timings show it by their weights' size.
double missed(double bytes, const Device& device) {
    constexpr double small_unit = 160.0 * 1024;
    const bool halves = device.shared_per_unit.value > small_unit;
    const double kept = halves ? 0.65 : 1.0, until = halves ? 1.0 : 1.08;
    return std::clamp((bytes / device.l2.value - kept) / (until - kept), 0.0, 1.0);
}

}  // namespace

Traffic traffic_of(Reuse reuse, const OperandBytes& bytes, const Device& device) {
    const auto [a, b, c] = bytes;
    constexpr double most_copies = 5.0;
    switch (reuse) {
        case Reuse::Sampled:
        case Reuse::None: break;
        case Reuse::Input: return {a * missed(a, device) + b, c};
        case Reuse::Rotated: {
            const double copies = std::clamp(std::ceil(device.l2.value / b), 1.0, most_copies);
            const double again = missed(a + b + c, device);
            return {a * again + b * missed(a + copies * b + c, device), c * again};
        }
        case Reuse::All: {
            const double again = missed(a + b + c, device);
            return {(a + b) * again, c * again};
        }
    }
    return {a + b, c};
}

GemmPricing::GemmPricing(const Pricer& pricer, const Gemm& gemm, GemmFamily family)
    : pricer_(pricer),
      family_(family),
      library_(pricer.ready_->libraries[static_cast<std::size_t>(family_)]),
      profile_(pricer.profile().kernels(family_)),
      m_(static_cast<double>(std::max<std::int64_t>(1, gemm.m))),
      n_(static_cast<double>(std::max<std::int64_t>(1, gemm.n))),
      k_(static_cast<double>(std::max<std::int64_t>(1, gemm.k))),
      batch_(static_cast<double>(std::max<std::int64_t>(1, gemm.batch))),
      half_words_(0.5 * k_ * element_bytes(gemm.precision)),
      units_(static_cast<double>(pricer.device().units)),
      inverse_units_(pricer.ready_->inverse_units),
      max_split_(gemm.batch > 1 && family_ != GemmFamily::Vector ? 1.0 : static_cast<double>(profile_.max_split_k)),
      slowdown_(slowdown_of(gemm)),
      launch_(profile_.launch.value) {
    const auto [row_of_a, row_of_c] = rows_of(gemm);
    load_a_ = load_of(row_of_a, profile_);
    load_b_ = gemm.layout == Layout::TN ? load_a_ : load_of(row_of_c, profile_);
    const double element = element_bytes(gemm.precision);
    const double result = m_ * n_ * batch_;
    const double weight = weight_bytes(gemm);
    const double operands = m_ * k_ * element + k_ * n_ * weight;
    const Reuse reuse = gemm.reuse == Reuse::Sampled ? pricer.profile().reuse : gemm.reuse;
    const double written = result * std::max(2.0, element);
    const Traffic traffic =
        traffic_of(reuse, {m_ * k_ * batch_ * element, k_ * n_ * batch_ * weight, written}, pricer.device());
    const double spill = std::clamp(operands * pricer.ready_->inverse_l2 - 1.0, 0.0, 1.0);
    const double seconds_per_flop = pricer.ready_->seconds_per_flop[static_cast<std::size_t>(gemm.precision)];
    const double slower = 1.0 / profile_.bandwidth;
    seconds_per_flop_ = seconds_per_flop * slowdown_ / element;
    ideal_compute_ = 2.0 * result * k_ * seconds_per_flop * inverse_units_;
    ideal_load_ = traffic.load * pricer.ready_->seconds_per_byte;
    ideal_store_ = traffic.store * pricer.ready_->seconds_per_byte;
    load_ = ideal_load_ * slower;
    store_ = ideal_store_ * slower;
    reread_ = 2.0 * result * k_ * element * spill * pricer.ready_->seconds_per_byte * slower;
    least_overhead_ = launch_ + pricer.profile().bandwidth_ramp.value * pricer.ready_->seconds_per_byte;
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
template <class T>
T GemmPricing::overlapped(T compute, T load) const {
    return larger(compute + profile_.exposed_store * store_, load + store_) +
           profile_.exposed_load * smaller(compute, load);
}

/// Blocks that share a unit hide each other's latency: it is busy as long as its rounds of single blocks, or the work
/// of all its blocks, whichever is longer.
inline GemmPricing::Parts GemmPricing::price(const Pricer::Variants& v, Split split) const {
    const double split_time = split.parts > 1.0 ? profile_.split_overhead.value + split.parts * split_traffic_ : 0.0;
    const Lanes steps = ceil_product(both(half_words_), v.inverse_k * split.inverse);
    const Lanes matrix = steps * (v.step_flops * seconds_per_flop_) * loaded(v);
    const Lanes alone = v.overhead + larger(steps * (v.step * slowdown_), matrix);
    const Lanes block_rows = smaller(both(m_), v.m) + smaller(both(n_), v.n);
    Parts parts;
    parts.blocks = ceil_product(both(m_), v.inverse_m) * ceil_product(both(n_), v.inverse_n) * (batch_ * split.parts);
    const Lanes spread = parts.blocks * inverse_units_;
    const Lanes per_unit = ceil_product(parts.blocks, both(inverse_units_));
    const Lanes rounds = ceil_product(per_unit, v.inverse_resident);
    const Lanes through_l2 = parts.blocks * block_rows * (steps * v.l2_step);
    parts.padded = spread * matrix;
    parts.compute = larger(per_unit * matrix, through_l2);
    parts.busy = larger(larger(rounds * alone, per_unit * (matrix + v.shared_overhead)), through_l2 + v.overhead);
    parts.load = larger(both(load_), reread_ * v.inverse_wave_edge);
    parts.overhead = profile_.fill.value * smaller(spread, both(1.0)) + (least_overhead_ + split_time);
    parts.total = overlapped(parts.busy, parts.load) + parts.overhead;
    return parts;
}

/// Endless where k is not split further: no unit is idle, or the main loops, shortened to nothing, would not pay for
/// another part and, the first time, for the overhead of splitting.
GemmPricing::Lanes GemmPricing::closed(const Pricer::Variants& variants, Split split, const Parts& parts) const {
    const Lanes full = parts.blocks < units_ * variants.resident ? both(0.0) : both(HUGE_VAL);
    if (smaller(full[0], full[1]) > 0.0) return full;
    const double cost = split.parts * split_traffic_ + (split.parts > 1.0 ? 0.0 : profile_.split_overhead.value);
    const Lanes gain = overlapped(parts.busy, both(load_)) - overlapped(0.0, load_);
    return gain > both(cost) ? full : both(HUGE_VAL);
}

/// The variant of the least time, the first of equals.
GemmPricing::Choice GemmPricing::best() const {
    assert(!library_.variants.empty());  // a profile has tiles
    Lanes total = both(HUGE_VAL), picked{};
    const auto take = [&](Lanes time, Lanes number) {
        picked = time < total ? number : picked;
        total = time < total ? time : total;
    };
    Lanes first{0.0, split_count};  // each variant has as many numbers as there are splits
    for (const Pricer::Variants& variants : library_.variants) {
        Parts parts = price(variants, splits[0]);
        take(parts.total, first);
        Lanes none{};
        for (std::size_t i = 1; i < split_count && splits[i].parts <= max_split_; ++i) {
            none += closed(variants, splits[i - 1], parts);
            if (smaller(none[0], none[1]) > 0.0) break;
            parts = price(variants, splits[i]);
            take(parts.total + none, first + static_cast<double>(i));
        }
        first += 2.0 * split_count;
    }
    const bool second = total[1] < total[0] || (total[1] == total[0] && picked[1] < picked[0]);
    const std::size_t lane = second ? 1 : 0;
    const auto number = static_cast<std::size_t>(picked[lane]);
    return {library_.variants[number / (2 * split_count)], lane, splits[number % split_count], total[lane]};
}

Cost GemmPricing::explain(const Choice& choice) const {
    const Profile& profile = pricer_.profile();
    const Parts parts = price(choice.variants, choice.split);
    const std::size_t lane = choice.lane;
    const double busy = parts.busy[lane], compute = parts.compute[lane], load = parts.load[lane];
    const double memory = load_ + store_, slowdown = slowdown_ * loaded(choice.variants)[lane];
    Explanation explanation;
    explanation.reach(Term::Roofline, roofline());
    explanation.reach(Term::Alignment, std::max(ideal_compute_ * slowdown, memory));
    explanation.reach(Term::Tile, std::max(parts.padded[lane], memory));
    explanation.reach(Term::Wave, std::max(compute, memory));
    explanation.reach(Term::Memory, overlapped(compute, load));
    explanation.reach(Term::Occupancy, choice.total - launch_);
    explanation.reach(Term::Launch, choice.total);

    const double waiting = busy - compute + parts.overhead[lane];
    const Bound bound = waiting > 0.5 * choice.total ? Bound::Latency
                        : load + store_ > compute    ? Bound::Memory
                                                     : Bound::Compute;
    Cost cost = explanation.finish(bound, profile.evidence, {});
    cost.clocked = {profile.power.clocked * std::min(busy, choice.total)};
    cost.energy_j = profile.power.matrix.value * parts.padded[lane] / slowdown +
                    profile.power.memory.value * (load + store_) * profile_.bandwidth;
    cost.tile_m = static_cast<std::int32_t>(choice.variants.m[lane]);
    cost.tile_n = static_cast<std::int32_t>(choice.variants.n[lane]);
    cost.split_k = static_cast<std::int32_t>(choice.split.parts);
    cost.waves = parts.blocks[lane] / (units_ * choice.variants.resident[lane]);
    return cost;
}

namespace {

/// One row times a matrix, of odd sizes two.
bool may_be_vector(const Gemm& gemm, GemmFamily family) {
    return family != GemmFamily::Whole && gemm.m <= (family == GemmFamily::Halves ? 2 : 1);
}

}  // namespace

Cost Pricer::physics(const Gemm& gemm) const {
    const GemmFamily family = family_of(gemm);
    Cost cost = GemmPricing(*this, gemm, family).price();
    if (!may_be_vector(gemm, family)) return cost;
    const Cost vector = GemmPricing(*this, gemm, GemmFamily::Vector).price();
    return vector.time < cost.time ? vector : cost;
}

Pricer::Physics Pricer::physical_time(const Gemm& gemm) const {
    const GemmFamily family = family_of(gemm);
    Physics times = GemmPricing(*this, gemm, family).times();
    if (!may_be_vector(gemm, family)) return times;
    times.time = std::min(times.time, GemmPricing(*this, gemm, GemmFamily::Vector).times().time);
    return times;
}

}  // namespace tilewright

// What a kernel, a layer or a step costs, and why: price(Op | OpGraph, …) -> Cost.
// The price of one kernel is a sum of named terms, so that every microsecond can be explained.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "tilewright/ops.h"
#include "tilewright/profile.h"

namespace tilewright {

/// What a microsecond was spent on. `Roofline` is what a perfect kernel would take; the others are what is lost;
/// `Correction` is what was learnt beyond physics and alone may be negative.
enum class Term { Roofline, Alignment, Tile, Wave, Memory, Occupancy, Power, Launch, Correction };
inline constexpr int term_count = 9;
template <>
inline constexpr std::array<NameTable<Term>, term_count> names<Term>{{{"roofline", Term::Roofline},
                                                                      {"alignment", Term::Alignment},
                                                                      {"tile", Term::Tile},
                                                                      {"wave", Term::Wave},
                                                                      {"memory", Term::Memory},
                                                                      {"occupancy", Term::Occupancy},
                                                                      {"power", Term::Power},
                                                                      {"launch", Term::Launch},
                                                                      {"correction", Term::Correction}}};

enum class Bound { Compute, Memory, Latency, Network };
template <>
inline constexpr std::array<NameTable<Bound>, 4> names<Bound>{
    {{"compute", Bound::Compute}, {"memory", Bound::Memory}, {"latency", Bound::Latency}, {"network", Bound::Network}}};

/// The price of one launch of one kernel. The terms add up to `time`.
struct Cost {
    Seconds time;
    Seconds low;  ///< 90% interval
    Seconds high;
    std::array<Seconds, term_count> terms{};
    Bound bound = Bound::Compute;
    Evidence evidence = Evidence::Assumed;
    std::int32_t tile_m = 0;  ///< 0 where there is no tile
    std::int32_t tile_n = 0;
    std::int32_t split_k = 1;
    double waves = 0.0;     ///< thread blocks over what the chip holds at once; 0 where there is no tile
    Seconds clocked;        ///< the part of the time, at the top clock, that follows the SM clock
    double energy_j = 0.0;  ///< drawn above idle at the top clock

    constexpr Seconds term(Term which) const { return terms[static_cast<std::size_t>(which)]; }
};

/// A device and a profile made ready for the inner loop: everything that does not depend on the kernel is computed
/// once, and shared by all copies. It also knows what the device's libraries choose.
class Pricer final : public Choices {
public:
    Pricer(Device device, Profile profile, Clock clock = Clock::Sustained);

    const Device& device() const { return ready_->device; }
    const Profile& profile() const { return ready_->profile; }
    Clock clock() const { return clock_; }
    Pricer at(Clock clock) const { return {ready_, clock}; }

    Cost price(const Gemm& gemm) const;
    Cost price(const Attention& attention) const;  ///< with the kernels that `specialize` puts in
    Cost price(const Stream& stream) const;
    Cost price(const Collective& collective) const;
    Cost price(const ExpertMlp& experts) const;
    Cost price(const LatentAttention& attention) const;
    Cost price(const Exchange& exchange) const;
    Cost price(const Op& op) const;  ///< of one launch, with the kernels that `specialize` puts in

    Cost burst(const Op& op) const;   ///< the same at the top clock, whatever this pricer's
    Cost kernel(const Op& op) const;  ///< of exactly one kernel of a specialised graph, at the top clock
    /// The share of the top clock at which kernels like this one, run on and on, meet the board's power limit; 1 where
    /// they do not, or the pricer's clock is burst.
    double settled_clock(const Cost& burst) const;
    /// The same in a short run that nobody rests for, half a dozen in a row: on its way from the top to where it
    /// settles.
    double falling_clock(const Cost& burst) const;

    AttentionBackend backend(const Attention& call) const override;
    bool faster(std::span<const Op> kernels, const Op& than) const override;

    /// Data-sheet rate at which this precision runs here; a mode the part lacks runs at the next wider one.
    FlopsPerSecond peak(Precision precision) const { return ready_->peak[static_cast<std::size_t>(precision)]; }
    FlopsPerSecond peak(const Workload& workload) const;  ///< of the units that run its products
    FlopsPerSecond rate(Arithmetic arithmetic) const;     ///< of units that this part has

private:
    friend class GemmPricing;
    Cost burst(const Gemm& gemm) const;
    bool by_law(const Gemm& gemm) const;
    Cost quantized(Gemm gemm) const;       ///< by the law of its way of quantising
    Cost physics(const Gemm& gemm) const;  ///< without what was learnt beyond it

    /// Of a product, in seconds.
    struct Physics {
        double time, roofline;
    };
    Physics physical_time(const Gemm& gemm) const;  ///< as `physics`
    double learnt_time(const Gemm& gemm, const Physics& physics) const;
    Cost burst(const Attention& attention) const;
    Cost burst(const Stream& stream) const;
    Cost burst(const Collective& collective) const;
    Cost burst(const ExpertMlp& experts) const;
    Cost burst(const LatentAttention& attention) const;
    Cost burst(const Exchange& exchange) const;
    Cost settled(const Cost& burst) const;
    /// At the burst clock a product with rotated operands is one of half a dozen in a row, as those who rotate them
    /// time it; of any other it is not known how long the chip rests, so its high end is theirs.
    Cost settled(const Cost& burst, const Gemm& gemm) const;
    double energy_of(Precision precision, double arithmetic_s, double memory_s) const;
    Cost engine(const Attention& attention) const;  ///< by the serving engines' law
    Cost walk(const Attention& attention, const AttentionProfile& kernels) const;
    Cost decode(const Attention& attention, const AttentionProfile& kernels) const;

    /// Two numbers that are computed with at once, as every processor of today can.
    using Lanes [[gnu::vector_size(2 * sizeof(double))]] = double;

    /// Two kernel variants side by side, with what the inner loop would otherwise divide by. An odd one stands twice.
    struct Variants {
        Lanes m, n;                             ///< the tile
        Lanes inverse_m, inverse_n, inverse_k;  ///< k in elements of two bytes
        Lanes resident, inverse_resident;       ///< thread blocks that share one unit
        Lanes step_flops;                       ///< of a step along k over the efficiency, with elements of one byte
        Lanes overhead, shared_overhead;        ///< seconds of a block; those not hidden by others
        Lanes step, l2_step;                    ///< at least, of a step along k; of a row's share of it through L2
        Lanes inverse_wave_edge;                ///< one over the edge of the square of C that a wave of blocks covers
    };

    /// A family of kernels made ready.
    struct Library {
        std::vector<Variants> variants;
        double seconds_per_split_byte;
        std::array<AlignmentLadder, 2> slowdown;  ///< one over the profile's ladders: output, reduced
        std::array<double, 3> layout_slowdown;
    };
    static Library library_of(const GemmProfile& profile, double units);

    /// What does not change once it is made.
    struct Ready {
        Ready(Device device_, Profile profile_);
        Device device;
        Profile profile;
        std::array<FlopsPerSecond, precision_count> peak;
        std::array<double, precision_count> seconds_per_flop;  ///< of one unit at the best rate a product reaches
        double seconds_per_byte;                               ///< of a large stream
        double inverse_units, inverse_l2;
        bool fp8_by_law;  ///< the profile was not judged on fp8 products, public timings of the GPU were
        std::array<Library, gemm_family_count> libraries;
    };

    Pricer(std::shared_ptr<const Ready> ready, Clock clock);

    std::shared_ptr<const Ready> ready_;
    Clock clock_;
    double power_budget_;  ///< W above idle; infinite where there is no limit
};

/// Prices of one op after another where these resemble each other: the last few kernels are not priced again. The ways
/// that padding chooses among are then priced once, and products of neighbouring sizes that are padded to the same.
class RecentPrices final : public Choices {
public:
    explicit RecentPrices(const Pricer& pricer) : pricer_(pricer) {}

    Cost burst(const Op& op) const;                  ///< as the pricer's
    const Cost& kernel(const Op& op) const;          ///< as the pricer's; good until the next is priced
    std::vector<Op> kernels_of(const Op& op) const;  ///< what `specialize` makes of it

    AttentionBackend backend(const Attention& call) const override { return pricer_.backend(call); }
    bool faster(std::span<const Op> kernels, const Op& than) const override;

private:
    struct Known {
        decltype(Op::work) work;
        bool for_alignment;
        Cost cost;
    };
    const Pricer& pricer_;
    mutable std::array<std::optional<Known>, 8> known_;  ///< two ops' worth
    mutable std::size_t priced_ = 0;
};

/// The family of kernels that a product takes.
GemmFamily family_of(const Gemm& gemm);

/// Whether it takes another family than that for whole 16-byte words.
inline bool has_narrow_rows(const Gemm& gemm) { return family_of(gemm) != GemmFamily::Whole; }

/// The kernels by whose intervals an op is priced.
KernelClass class_of(const Gemm& gemm);
KernelClass class_of(const Attention& attention);
KernelClass class_of(const Stream& stream);

/// A burst price at a lower SM clock, a share of the top one.
Cost at_clock(const Cost& burst, double clock);

/// One kernel of a step with its price.
struct PricedOp {
    Op op;
    Cost cost;      ///< of one launch
    Seconds total;  ///< of all `op.count` launches
};

/// Of all launches of an op, what does not run alongside the product that its collective may run alongside.
Seconds left_over(std::span<const PricedOp> ops, std::size_t at);

/// The price of a whole graph: kernels one after another.
struct GraphCost {
    std::vector<PricedOp> ops;  ///< specialised: every kernel that is launched
    Flops flops;                ///< of the graph as it was lowered
    Cost sum;                   ///< times, intervals and terms of all launches added; evidence is the worst among them
    std::int64_t launches = 0;
    double clock = 1.0;  ///< share of the top clock at which all but the update settles
};

GraphCost price(const OpGraph& graph, const Pricer& pricer);

}  // namespace tilewright

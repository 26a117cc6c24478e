// From a kernel's formula to the price of an op and of a graph: what all prices on one device share, computed once; the
// kernels that an op is launched as; and the clock under the power limit. The energy of a kernel goes with the square
// of the clock (voltage follows it), its time partly with the inverse; the clock settles where energy over time meets
// what the board may draw.
#include <algorithm>
#include <cmath>

#include "cost/explain.h"
#include "tilewright/cost.h"
#include "tilewright/serving_kernels.h"

namespace tilewright {
namespace {

constexpr double lowest_clock = 0.2;  ///< of the top; no board is capped below it

std::size_t index(Precision precision) { return static_cast<std::size_t>(precision); }

/// The rate at which a precision runs: its own, or that of the mode software falls back to.
FlopsPerSecond rate_of(const Device& device, Precision precision) {
    static constexpr Precision fallbacks[] = {Precision::Bf16, Precision::Fp16, Precision::Fp32, Precision::Tf32,
                                              Precision::Fp8};
    if (const auto& own = device.peak[index(precision)]) return *own;
    const bool narrow = precision == Precision::Fp8;  // unpacked into the 16-bit matrix units; others leave them
    for (Precision other : fallbacks) {
        if (!narrow && other != Precision::Fp32) continue;
        if (const auto& rate = device.peak[index(other)]) return *rate;
    }
    const auto any = std::find_if(device.peak.begin(), device.peak.end(), [](const auto& p) { return p.has_value(); });
    return any == device.peak.end() ? FlopsPerSecond{1.0} : **any;
}

template <std::size_t Count>
std::array<double, Count> inverted(std::array<double, Count> fractions) {
    for (double& fraction : fractions) fraction = 1.0 / fraction;
    return fractions;
}

/// What most of the time is bound by.
Bound main_bound(const std::vector<PricedOp>& ops) {
    std::array<Seconds, 4> by_bound{};
    for (const PricedOp& priced : ops) by_bound[static_cast<std::size_t>(priced.cost.bound)] += priced.total;
    const auto most = std::max_element(by_bound.begin(), by_bound.end());
    return static_cast<Bound>(most - by_bound.begin());
}

bool is_update(const PricedOp& priced) { return priced.op.pass == Pass::Update; }

/// The clock at which all launches of the update, or all others, settle together: each lasts long enough by itself.
/// A collective alongside a product gives the chip no rest.
double clock_of(const std::vector<PricedOp>& ops, const Pricer& pricer, bool update) {
    Cost mix;
    for (std::size_t at = 0; at < ops.size(); ++at) {
        if (is_update(ops[at]) != update) continue;
        const double count = static_cast<double>(ops[at].op.count);
        add(mix, ops[at].cost, count);
        const Seconds rest = ops[at].op.beside_batch ? Seconds{} : left_over(ops, at);
        mix.time += rest - ops[at].cost.time * count;
    }
    return pricer.settled_clock(mix);
}

}  // namespace

Pricer::Library Pricer::library_of(const GemmProfile& profile, double units) {
    Library library;
    const std::size_t tiles = profile.tiles.size();
    library.variants.resize((tiles + 1) / 2);
    for (std::size_t i = 0; i < 2 * library.variants.size(); ++i) {
        const Tile& tile = profile.tiles[std::min(i, tiles - 1)];
        const double m = static_cast<double>(tile.m), n = static_cast<double>(tile.n), k = static_cast<double>(tile.k);
        const double resident = tile.resident, overhead = tile.overhead.value;
        Variants& to = library.variants[i / 2];
        const std::size_t lane = i % 2;
        to.m[lane] = m;
        to.n[lane] = n;
        to.inverse_m[lane] = 1.0 / m;
        to.inverse_n[lane] = 1.0 / n;
        to.inverse_k[lane] = 1.0 / k;
        to.resident[lane] = resident;
        to.inverse_resident[lane] = 1.0 / resident;
        to.step_flops[lane] = 4.0 * m * n * k / tile.efficiency;
        to.overhead[lane] = overhead;
        to.shared_overhead[lane] = profile.shared_overhead * overhead;
        to.step[lane] = tile.step.value;
        to.l2_step[lane] = 2.0 * k / profile.l2_bandwidth.value;
        to.inverse_wave_edge[lane] = 1.0 / std::sqrt(units * resident * m * n);
    }
    library.seconds_per_split_byte = 1.0 / profile.split_bandwidth.value;
    library.slowdown = {inverted(profile.output), inverted(profile.reduced)};
    library.layout_slowdown = inverted(profile.layout);
    return library;
}

Pricer::Ready::Ready(Device device_, Profile profile_) : device(std::move(device_)), profile(std::move(profile_)) {
    const double units = static_cast<double>(device.units);
    for (std::size_t p = 0; p < precision_count; ++p) {
        peak[p] = rate_of(device, static_cast<Precision>(p));
        seconds_per_flop[p] = units / (peak[p].value * profile.compute_fraction[p]);
    }
    seconds_per_byte = 1.0 / (device.bandwidth.value * profile.bandwidth_fraction);
    inverse_units = 1.0 / units;
    inverse_l2 = 1.0 / device.l2.value;
    const ProductLaw& law = serving_of(profile).products[static_cast<std::size_t>(Quantization::Fp8Static)];
    fp8_by_law = law.evidence != Evidence::Assumed &&
                 std::none_of(profile.errors.begin(), profile.errors.end(),
                              [](const ErrorLine& line) { return line.group == "fp8 gemm"; });
    for (std::size_t family = 0; family < gemm_family_count; ++family) {
        libraries[family] = library_of(profile.kernels(static_cast<GemmFamily>(family)), units);
    }
}

Pricer::Pricer(Device device, Profile profile, Clock clock)
    : Pricer(std::make_shared<const Ready>(std::move(device), std::move(profile)), clock) {}

Pricer::Pricer(std::shared_ptr<const Ready> ready, Clock clock)
    : ready_(std::move(ready)), clock_(clock), power_budget_(HUGE_VAL) {
    const PowerProfile& power = ready_->profile.power;
    if (clock == Clock::Burst || power.matrix.value <= 0.0) return;
    power_budget_ = std::max(1.0, (ready_->device.power - power.idle).value);
}

FlopsPerSecond Pricer::peak(const Workload& workload) const {
    const Arithmetic arithmetic = traits_of(runs_as(quantization_of(workload), device())).arithmetic;
    return arithmetic == Arithmetic::Half ? peak(workload.precision) : rate(arithmetic);
}

FlopsPerSecond Pricer::rate(Arithmetic arithmetic) const {
    switch (arithmetic) {
        case Arithmetic::Half: return peak(Precision::Bf16);
        case Arithmetic::Fp8: return peak(Precision::Fp8);
        case Arithmetic::Int8: return device().int8_peak.value_or(peak(Precision::Fp8));
        case Arithmetic::Fp4: return device().fp4_peak.value_or(peak(Precision::Fp8));
    }
    return peak(Precision::Bf16);
}

Cost Pricer::kernel(const Op& op) const {
    Cost cost = std::visit([this](const auto& work) { return burst(work); }, op.work);
    if (op.for_alignment) cost = for_alignment(cost);
    return cost;
}

Cost Pricer::burst(const Op& op) const { return is_open(op) ? RecentPrices(*this).burst(op) : kernel(op); }

bool Pricer::faster(std::span<const Op> kernels, const Op& than) const {
    return RecentPrices(*this).faster(kernels, than);
}

namespace {

bool is_engines(const Gemm& gemm) {
    return gemm.quantization != Quantization::None && gemm.quantization != Quantization::Mxfp8;
}

}  // namespace

// Engines' kernels by themselves are priced as the public timings of short runs have them, whatever the clock; in a
// step they slow down with the others.
Cost Pricer::price(const Gemm& gemm) const { return is_engines(gemm) ? burst(gemm) : settled(burst(gemm), gemm); }
Cost Pricer::price(const Attention& attention) const {
    Op op;
    op.work = attention;
    return price(op);
}
Cost Pricer::price(const Stream& stream) const { return settled(burst(stream)); }
Cost Pricer::price(const Collective& collective) const { return settled(burst(collective)); }
Cost Pricer::price(const ExpertMlp& experts) const { return burst(experts); }
Cost Pricer::price(const LatentAttention& attention) const { return burst(attention); }
Cost Pricer::price(const Exchange& exchange) const { return burst(exchange); }
Cost Pricer::price(const Op& op) const {
    const Gemm* gemm = std::get_if<Gemm>(&op.work);
    return gemm == nullptr ? settled(burst(op)) : settled(burst(op), *gemm);
}

Cost Pricer::settled(const Cost& burst) const { return at_clock(burst, settled_clock(burst)); }

Cost Pricer::settled(const Cost& burst, const Gemm& gemm) const {
    if (clock_ == Clock::Sustained) return settled(burst);
    if (is_engines(gemm) || by_law(gemm)) return burst;  // its law is of products in a row
    const Cost in_a_row = at_clock(burst, falling_clock(burst));
    const Reuse reuse = gemm.reuse == Reuse::Sampled ? profile().reuse : gemm.reuse;
    if (reuse == Reuse::Rotated) return in_a_row;
    Cost cost = burst;
    cost.high = std::max(cost.high, in_a_row.high);
    return cost;
}

/// The constant is that of other people's H200 timings under our profile.
double Pricer::falling_clock(const Cost& burst) const {
    constexpr double half_way_s = 3e-3;  // of one kernel
    const double way = burst.time.value / (burst.time.value + half_way_s);
    return 1.0 - way * (1.0 - at(Clock::Sustained).settled_clock(burst));
}

double Pricer::settled_clock(const Cost& burst) const {
    const bool limited = burst.energy_j > power_budget_ * burst.time.value;  // never where nothing runs: 0 of infinity
    if (!limited) return 1.0;
    // E c^3 = P (rest c + clocked), by Halley's steps from the top clock: mostly three
    const double rest = (burst.time - burst.clocked).value;
    double clock = 1.0;
    for (int step = 0; step < 12; ++step) {
        const double excess =
            burst.energy_j * clock * clock * clock - power_budget_ * (rest * clock + burst.clocked.value);
        const double slope = 3.0 * burst.energy_j * clock * clock - power_budget_ * rest;
        const double fall = excess * slope / (slope * slope - 3.0 * burst.energy_j * clock * excess);
        clock -= fall;
        if (std::abs(fall) <= 1e-5) break;  // what is left goes with its cube
    }
    return std::max(lowest_clock, clock);
}

Cost at_clock(const Cost& burst, double clock) {
    if (clock >= 1.0) return burst;
    const Seconds slower = burst.clocked * (1.0 / clock - 1.0);
    Cost cost = burst;
    cost.time += slower;
    cost.terms[static_cast<std::size_t>(Term::Power)] += slower;
    cost.low = burst.low * (cost.time / burst.time);
    cost.high = burst.high * (cost.time / burst.time);
    return cost;
}

bool RecentPrices::faster(std::span<const Op> kernels, const Op& than) const {
    Seconds time;
    for (const Op& op : kernels) time += kernel(op).time * static_cast<double>(op.count);
    return time < kernel(than).time * static_cast<double>(than.count);
}

const Cost& RecentPrices::kernel(const Op& op) const {
    for (std::size_t i = 0; i < std::min(priced_, known_.size()); ++i) {
        const Known& known = *known_[i];
        if (known.work == op.work && known.for_alignment == op.for_alignment) return known.cost;
    }
    std::optional<Known>& oldest = known_[priced_++ % known_.size()];
    return oldest.emplace(Known{op.work, op.for_alignment, pricer_.kernel(op)}).cost;
}

std::vector<Op> RecentPrices::kernels_of(const Op& op) const {
    std::vector<Op> kernels;
    kernels.reserve(5);  // as many as unfused attention has backward
    specialize(op, *this, kernels);
    return kernels;
}

/// Bound by what bounds the kernel that takes longest.
Cost RecentPrices::burst(const Op& op) const {
    if (!is_open(op)) {
        if (!op.pads) return pricer_.kernel(op);
        return kernel(op);
    }
    const std::vector<Op> kernels = kernels_of(op);
    if (kernels.size() == 1) return kernel(kernels.front());
    Cost sum;
    sum.evidence = Evidence::Measured;
    double longest = 0.0;
    for (const Op& each : kernels) {
        const Cost& cost = kernel(each);
        const double launches = static_cast<double>(each.count) / static_cast<double>(op.count);
        add(sum, cost, launches);
        if (cost.time.value * launches > longest) sum.bound = cost.bound;
        longest = std::max(longest, cost.time.value * launches);
    }
    return sum;
}

namespace {

/// Of the errors of a graph's kernels, the share that all have in common and that adds up; the rest differs from kernel
/// to kernel and evens out. Nine in ten steps of the classes of bench/measured/stopwatch*.jsonl that the GPU bounds lie
/// within; chosen on all of those classes.
constexpr double common_error = 0.3;

void take_interval(GraphCost& cost) {
    double below = 0.0, above = 0.0;
    for (const PricedOp& priced : cost.ops) {
        const double count = static_cast<double>(priced.op.count);
        const double low = count * (priced.cost.time - priced.cost.low).value;
        const double high = count * (priced.cost.high - priced.cost.time).value;
        below += low * low;
        above += high * high;
    }
    Cost& sum = cost.sum;
    sum.low = sum.time - (sum.time - sum.low) * common_error - Seconds{std::sqrt(below) * (1.0 - common_error)};
    sum.high = sum.time + (sum.high - sum.time) * common_error + Seconds{std::sqrt(above) * (1.0 - common_error)};
}

}  // namespace

GraphCost price(const OpGraph& graph, const Pricer& pricer) {
    GraphCost result;
    result.flops = total_flops(graph);
    result.sum.evidence = Evidence::Measured;
    result.ops.reserve(graph.ops.size());
    for (const Op& op : graph.ops) {
        if (!is_open(op)) {
            result.ops.push_back({op, pricer.kernel(op), {}});
            continue;
        }
        const RecentPrices prices(pricer);
        for (const Op& kernel : prices.kernels_of(op)) result.ops.push_back({kernel, prices.kernel(kernel), {}});
    }
    result.clock = clock_of(result.ops, pricer, false);
    const double update_clock = clock_of(result.ops, pricer, true);
    for (PricedOp& priced : result.ops) {
        const double count = static_cast<double>(priced.op.count);
        priced.cost = at_clock(priced.cost, is_update(priced) ? update_clock : result.clock);
        priced.total = priced.cost.time * count;
        add(result.sum, priced.cost, count);
        result.launches += priced.op.count;
    }
    take_interval(result);
    result.sum.bound = main_bound(result.ops);
    return result;
}

}  // namespace tilewright

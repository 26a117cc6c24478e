// What was learnt of a product beyond physics: a factor on its time, held between what physics allows and, for a batch,
// what its halves take; and what the trees that give it see of a product and of a stream.
#include "cost/correction.h"

#include <algorithm>
#include <cmath>

#include "cost/explain.h"
#include "tilewright/cost.h"

namespace tilewright {
namespace {

/// Tiles whose waves the trees may look at.
constexpr std::array<std::array<double, 2>, 6> wave_tiles{
    {{256, 128}, {128, 256}, {192, 192}, {128, 128}, {128, 64}, {64, 64}}};

constexpr std::int64_t residue_of = 64;
constexpr std::int64_t first_step = 64;  ///< along k: a product that ends inside takes no longer than all of it

/// bf16 and fp16 are one where the profile has one rate for both.
Precision kind_of(Precision precision, const Profile& profile) {
    const auto rate = [&](Precision of) { return profile.compute_fraction[static_cast<std::size_t>(of)]; };
    const bool alike = rate(Precision::Fp16) == rate(Precision::Bf16);
    return precision == Precision::Fp16 && alike ? Precision::Bf16 : precision;
}

}  // namespace

GemmFeatures gemm_features(const Gemm& gemm, const Pricer& pricer, double physics_s) {
    const double m = static_cast<double>(gemm.m), n = static_cast<double>(gemm.n), k = static_cast<double>(gemm.k);
    const double inverse_units = 1.0 / static_cast<double>(pricer.device().units);
    const double batch = static_cast<double>(gemm.batch);
    const auto tiles = [m, n, batch](double tile_m, double tile_n) {
        return batch * ceil_product(m, 1.0 / tile_m) * ceil_product(n, 1.0 / tile_n);
    };
    const double values[] = {m,
                             n,
                             k,
                             m * n,
                             m * k,
                             n * k,
                             m * n + m * k + n * k,
                             m * n * k,
                             tiles(128, 128),
                             tiles(64, 64),
                             batch,
                             m * n * batch};
    GemmFeatures features{};
    std::size_t at = 0;
    for (double value : values) features[at++] = static_cast<float>(value);
    for (const auto& [tile_m, tile_n] : wave_tiles) {
        features[at++] = static_cast<float>(ceil_product(tiles(tile_m, tile_n), inverse_units));
    }
    for (std::int64_t extent : {gemm.m, gemm.n, gemm.k}) {
        features[at++] = static_cast<float>(power_of_two_in(extent, residue_of));
    }
    features[at++] = static_cast<float>(gemm.m % residue_of);
    features[at++] = static_cast<float>(gemm.n % residue_of);
    features[at++] = static_cast<float>(gemm.layout);
    features[at++] = static_cast<float>(kind_of(gemm.precision, pricer.profile()));
    features[at++] = static_cast<float>(family_of(gemm));
    features[at++] = gemm.batch > 1 ? 1.0F : 0.0F;
    features[at++] = static_cast<float>(physics_s * 1e6);
    return features;
}

bool has_choices(const Gemm& gemm, const Profile& profile) {
    const bool of_others = profile.gemm_corrections[0].of_others > 0.0;
    const bool linear = gemm.layout == Layout::TN && gemm.batch <= 1 && element_bytes(gemm.precision) == 2;
    return linear && !has_narrow_rows(gemm) && (!of_others || gemm.reuse == Reuse::Rotated);
}

StreamFeatures stream_features(const Stream& stream) {
    constexpr double most_bytes = 16.0;
    const double rows = static_cast<double>(stream.rows), width = static_cast<double>(stream.width);
    const double bytes = (stream.read + stream.written).value / std::max(1.0, rows * width);
    return {static_cast<float>(rows),
            static_cast<float>(width),
            static_cast<float>(power_of_two_in(stream.width, 8)),
            static_cast<float>(stream.kind),
            static_cast<float>(std::round(std::min(most_bytes, bytes))),
            0.0F};
}

/// Half a batch takes no longer, and run twice no less: so a batch never takes more than its products one after another
/// (the library splits k of single products only). Physics grows so by itself, and is held against one product only.
double Pricer::learnt_time(const Gemm& gemm, const Physics& physics) const {
    const auto& [whole, narrow, batches] = profile().gemm_corrections;
    const bool alone = gemm.batch > 1 && gemm.reuse != Reuse::Input && !batches.trees.empty();
    const Correction& correction = has_narrow_rows(gemm) ? narrow : alone ? batches : whole;
    const bool learnt = !correction.trees.empty() && (gemm.batch <= 1 || correction.of_batches > 0.0);
    double time = physics.time;
    if (learnt) {
        const GemmFeatures features = gemm_features(gemm, *this, time);
        time *= correction.factor(time, features);
        if (!correction.choices.empty() && has_choices(gemm, profile())) time *= correction.choice(features);
    }
    if (gemm.batch > 1) {
        Gemm fewer = gemm;
        fewer.batch = learnt ? ceil_div(gemm.batch, 2) : 1;
        const double part = learnt_time(fewer, physical_time(fewer));
        time = std::clamp(time, part, part * static_cast<double>(ceil_div(gemm.batch, fewer.batch)));
    }
    const bool in_first_step = gemm.k < first_step && family_of(gemm) == GemmFamily::Whole;
    const bool seen_there = profile().top_clock.value > 0.0;  // by our own samples, and hardly by public ones
    if (learnt && in_first_step && !seen_there) {
        Gemm whole_step = gemm;
        whole_step.k = first_step;
        time = std::min(time, learnt_time(whole_step, physical_time(whole_step)));
    }
    return std::max(time, physics.roofline);
}

/// In whole words of fp8, where the law of such products rests on this GPU's timings and its profile does not.
bool Pricer::by_law(const Gemm& gemm) const {
    constexpr std::int64_t word = 16;
    return ready_->fp8_by_law && gemm.precision == Precision::Fp8 && gemm.m % word == 0 && gemm.n % word == 0 &&
           gemm.k % word == 0;
}

namespace {

/// Long weights on Volta: from 3 GB on half of them, from 4.7 GB on all run at a third of the speed (29 instead of 85
/// TFLOP/s), and no size tells which.
bool has_two_speeds(const Gemm& gemm, const Device& device) {
    return device.architecture == Architecture::Volta && gemm.layout == Layout::TN && gemm.n >= 3 * gemm.k &&
           static_cast<double>(gemm.n) * static_cast<double>(gemm.k) > 1.43 * (1 << 30);
}
constexpr double slower_speed = 2.9;

/// Intervals of fp8 products are of the library that was timed; training runs another's.
constexpr double of_another_library = 1.08;

}  // namespace

Cost Pricer::burst(const Gemm& gemm) const {
    if (gemm.quantization == Quantization::Mxfp8) {  // nobody timed such products: those of fp8 are the nearest
        Gemm plain = gemm;
        plain.quantization = Quantization::None;
        Cost cost = burst(plain);
        cost.evidence = Evidence::Assumed;
        return cost;
    }
    if (gemm.quantization != Quantization::None) return quantized(gemm);
    if (by_law(gemm)) {
        Gemm given = gemm;
        const bool sglangs = device().architecture == Architecture::Ada;  // which training does not run
        given.quantization = sglangs ? Quantization::Fp8 : Quantization::Fp8Static;
        Cost cost = quantized(given);
        cost.low = cost.low / of_another_library;
        cost.high = cost.high * of_another_library;
        keep_low(cost, 1.0);
        return cost;
    }
    Cost cost = physics(gemm);
    const Interval within = interval(profile(), class_of(gemm), cost.bound);
    cost.low = cost.time * within.low;
    cost.high = cost.time * within.high;
    const double time = learnt_time(gemm, {cost.time.value, cost.term(Term::Roofline).value});
    if (time != cost.time.value) move_to(cost, time);
    if (has_two_speeds(gemm, device())) cost.high = std::max(cost.high, cost.time * slower_speed);
    keep_low(cost, profile().bandwidth_fraction);
    return cost;
}

}  // namespace tilewright

#include "measure/policy.h"

#include <algorithm>
#include <cmath>

namespace tilewright::measure {
namespace {

constexpr double mhz = 1e6;

/// Six digits are more than any clock here resolves, and keep the files short.
double six_digits(double value) {
    if (value == 0.0 || !std::isfinite(value)) return value;
    const double unit = std::pow(10.0, 5.0 - std::floor(std::log10(std::abs(value))));
    return std::round(value * unit) / unit;
}

int launches_for(Seconds length, Seconds each) { return static_cast<int>(std::clamp(length / each, 1.0, 1e6) + 0.5); }

bool agree(Hertz a, Hertz b, double tolerance) {
    return std::abs(a.value - b.value) <= tolerance * std::max(a.value, b.value);
}

/// The spread that quick repeats are judged by: cycles stay the same while the clock drifts from repeat to repeat.
TimeStatistics cycle_statistics_of(const std::vector<Reading>& kept) {
    std::vector<double> cycles;
    for (const Reading& reading : kept) cycles.push_back(reading.clock().value * reading.each().value);
    return summarize(std::move(cycles));
}

TimeStatistics statistics_of(const std::vector<Reading>& kept) {
    std::vector<double> times;
    for (const Reading& reading : kept) times.push_back(in_microseconds(reading.each()));
    return summarize(std::move(times));
}

Timing timing_of(const std::vector<Reading>& kept, int discarded) {
    Timing timing;
    timing.time = statistics_of(kept);
    std::vector<double> clocks;
    for (const Reading& reading : kept) clocks.push_back(reading.clock().value / mhz);
    timing.clock_mhz = six_digits(summarize(std::move(clocks)).median_us);
    timing.cycles = six_digits(cycle_statistics_of(kept).median_us);
    timing.time.discarded = discarded;
    timing.time.launches = kept.back().launches;
    for (double* value : {&timing.time.median_us, &timing.time.min_us, &timing.time.mad_us, &timing.time.iqr_us}) {
        *value = six_digits(*value);
    }
    return timing;
}

Outcome<Reading> repeat(Gpu& gpu) {
    TW_TRY(gpu.start());
    return gpu.finish();
}

/// Rests, one step at least, until the clock reads near its top; false when even a long rest leaves it low.
Outcome<bool> rest_to_top(Gpu& gpu, const Policy& policy) {
    const Seconds start = gpu.now();
    double reached = 0.0;
    while (gpu.now() - start <= policy.rest_most && reached < policy.burst_clock) {
        gpu.rest(policy.rest_step);
        const Outcome<Hertz> clock = gpu.clock();
        if (!clock) return clock.fault();
        reached = *clock / gpu.top_clock();
    }
    return reached >= 1.0 - policy.burst_drop;
}

/// After a repeat in which the clock moved the chip rests for a moment and the next repeat is half as long. An op that
/// pulls the clock down from rest within one launch is given no more rests: under load the clock moves slowly. When it
/// moved in every repeat, the steadiest is kept with its doubt: leaving heavy ops out would bias what is learnt from a
/// sweep.
Outcome<Timing> time_quick(Gpu& gpu, Seconds each, const Policy& policy) {
    const Outcome<Hertz> before = gpu.clock();
    if (!before) return before.fault();
    if (before->value < policy.quick_clock * gpu.top_clock().value) {
        if (const Outcome<bool> rested = rest_to_top(gpu, policy); !rested) return rested.fault();
    }
    int launches = launches_for(policy.quick_length, each);
    TW_TRY(gpu.prepare(launches));
    std::vector<Reading> kept;
    std::optional<Reading> steadiest;
    int attempts = 0;
    while (attempts < policy.quick.attempts && !policy.quick.met(cycle_statistics_of(kept))) {
        const Outcome<Reading> reading = repeat(gpu);
        if (!reading) return reading.fault();
        ++attempts;
        if (agree(reading->before, reading->after, policy.quick_agreement)) {
            kept.push_back(*reading);
            continue;
        }
        if (!steadiest || reading->drift() < steadiest->drift()) steadiest = *reading;
        const int moved = attempts - static_cast<int>(kept.size());
        if (moved > policy.quick_rests) continue;
        const bool rests = moved < policy.quick_rests;
        launches = rests ? std::max(1, launches / 2) : launches_for(policy.quick_length, each);
        if (rests) gpu.rest(policy.rest_step);
        TW_TRY(gpu.prepare(launches));
    }
    if (!kept.empty()) return timing_of(kept, attempts - static_cast<int>(kept.size()));
    if (steadiest->drift() > policy.quick_drift) return failed("the clock moved in every repeat");
    Timing timing = timing_of({*steadiest}, attempts - 1);
    timing.doubt = "the clock moved in every repeat, by " + std::to_string(100.0 * steadiest->drift()).substr(0, 3) +
                   "% in this one";
    return timing;
}

/// A repeat whose clock fell is discarded and the next one is half as long, since the drop comes with heat and time.
Outcome<Timing> time_burst(Gpu& gpu, Seconds each, const Policy& policy) {
    int launches = launches_for(policy.burst_length, each);
    TW_TRY(gpu.prepare(launches));
    std::vector<Reading> kept;
    int attempts = 0;
    while (attempts < policy.burst.attempts && !policy.burst.met(statistics_of(kept))) {
        const Outcome<bool> rested = rest_to_top(gpu, policy);
        if (!rested) return rested.fault();
        if (!*rested) return failed("the clock did not come back to its top at rest");
        const Outcome<Reading> reading = repeat(gpu);
        if (!reading) return reading.fault();
        ++attempts;
        const bool held = reading->after.value >= (1.0 - policy.burst_drop) * gpu.top_clock().value;
        if (held || launches == 1) {
            kept.push_back(*reading);
        } else {
            launches = std::max(1, launches / 2);
            TW_TRY(gpu.prepare(launches));
        }
    }
    if (kept.empty()) return failed("the clock fell in every repeat");
    Timing timing = timing_of(kept, attempts - static_cast<int>(kept.size()));
    if (timing.clock_mhz * mhz < (1.0 - policy.burst_drop) * gpu.top_clock().value) {
        timing.doubt = "one launch is long enough for the clock to fall";
    }
    return timing;
}

/// Batches of a sustained run in order, and the energy counter where it changed.
struct Series {
    std::vector<Reading> readings;
    Seconds elapsed;
    struct EnergyMark {
        Seconds at;
        double joules;
    };
    std::vector<EnergyMark> energy;
};

/// Batches kept in flight, so that the device never waits while the host reads the energy counter. A read takes almost
/// as long as a batch; with one after each the host falls behind, the device idles and its clock climbs, so every
/// second batch does without.
constexpr int in_flight = 6;
constexpr int batches_per_energy_read = 2;

/// Takes the oldest batch in flight and queues another.
Status advance(Gpu& gpu, Series& series) {
    const Outcome<Reading> reading = gpu.finish();
    if (!reading) return reading.fault();
    TW_TRY(gpu.start());
    series.readings.push_back(*reading);
    series.elapsed += reading->total;
    if (series.readings.size() % batches_per_energy_read != 0) return Done{};
    if (const std::optional<double> joules = gpu.energy_j()) {
        if (series.energy.empty() || series.energy.back().joules != *joules)
            series.energy.push_back({gpu.now(), *joules});
    }
    return Done{};
}

/// Mean clock of the batches that ended between `from` and `to` before the end of the series; 0 when there is none.
Hertz mean_clock(const Series& series, Seconds from, Seconds to) {
    Hertz sum;
    int count = 0;
    Seconds back;
    for (auto reading = series.readings.rbegin(); reading != series.readings.rend() && back < from; ++reading) {
        if (back >= to) {
            sum += reading->clock();
            ++count;
        }
        back += reading->total;
    }
    return count == 0 ? Hertz{} : sum / count;
}

bool settled(const Series& series, Hertz top, const Policy& policy) {
    if (series.elapsed < policy.settle_least || series.readings.size() < 2) return false;
    const Seconds window = std::max(policy.settle_window, series.readings.back().total);
    const Hertz now = mean_clock(series, window, {});
    const bool capped = now / top < policy.settle_clock;
    if (capped && series.elapsed < policy.settle_capped) return false;
    return agree(now, mean_clock(series, window * 2.0, window), policy.settle_agreement);
}

/// Mean power between the counter's changes after the first third, when the chip has found its level. The counter only
/// moves every few tens of milliseconds, so whole steps are used.
double mean_power(const Series& series) {
    const std::vector<Series::EnergyMark>& marks = series.energy;
    if (marks.size() < 3) return 0.0;
    const std::size_t first = std::max<std::size_t>(1, marks.size() / 3);
    const Seconds time = marks.back().at - marks[first].at;
    return time.value > 0.0 ? (marks.back().joules - marks[first].joules) / time.value : 0.0;
}

Outcome<Timing> time_sustained(Gpu& gpu, Seconds each, const Policy& policy) {
    TW_TRY(gpu.prepare(launches_for(policy.sustained_length, each)));
    Series series;
    for (int i = 0; i < in_flight; ++i) TW_TRY(gpu.start());
    while (!settled(series, gpu.top_clock(), policy) && series.elapsed < policy.settle_most)
        TW_TRY(advance(gpu, series));
    const bool did_settle = settled(series, gpu.top_clock(), policy);
    std::vector<Reading> kept;
    while (!policy.sustained.met(statistics_of(kept))) {
        TW_TRY(advance(gpu, series));
        kept.push_back(series.readings.back());
    }
    for (int i = 0; i < in_flight; ++i) TW_TRY(gpu.finish());
    Timing timing = timing_of(kept, 0);
    timing.power_w = six_digits(mean_power(series));
    timing.energy_j = six_digits(timing.power_w * timing.time.median_us * 1e-6);
    if (!did_settle) timing.doubt = "the clock did not settle";
    return timing;
}

}  // namespace

bool StoppingRule::met(const TimeStatistics& kept) const {
    if (kept.repeats < least) return false;
    return kept.repeats >= most || kept.mad_us <= spread * kept.median_us;
}

Outcome<Timing> time_op(Gpu& gpu, ClockMode mode, const Policy& policy) {
    const Outcome<Seconds> each = gpu.warm_up();
    if (!each) return each.fault();
    if (!(each->value > 0.0)) return failed("the warm-up took no time");
    switch (mode) {
        case ClockMode::Sustained: return time_sustained(gpu, *each, policy);
        case ClockMode::Burst: return time_burst(gpu, *each, policy);
        case ClockMode::Quick: return time_quick(gpu, *each, policy);
    }
    return failed("no such clock mode");
}

}  // namespace tilewright::measure

// What the host leaves idle. Where it bounds a step, fewer layers or more work a launch make
// the step faster, other sizes do not.
#include "tilewright/host.h"
#include "lint/rules.h"

namespace tilewright::checks {
namespace {

constexpr double idle_of_host_bound = 0.1;         ///< as answers have it
constexpr std::int64_t most_times_the_batch = 64;  ///< of the micro-batch: larger ones are not tried

double idle_share(const Timeline& timeline) { return timeline.idle / timeline.time; }

}  // namespace

/// TW023. Costs are what a stopwatch shows, at equal tokens.
Findings host_bounds_the_step(const LintInput& input) {
    if (input.step.ops.empty()) return {};
    const Timeline now = schedule(input.step, input.shape, input.workload);
    if (idle_share(now) <= idle_of_host_bound) return {};
    Finding finding;
    finding.quantity = "the host bounds this step, in which the GPU idles; of the shape only fewer layers help";
    finding.cost = now.idle;
    finding.share = idle_share(now);
    for (std::int64_t factor = 2; factor <= most_times_the_batch; factor *= 2) {
        auto trial = attempt(input, "batch", input.workload.batch * factor);
        if (!trial || !fits(input, trial->change)) break;
        Workload larger = input.workload;
        larger.batch *= factor;
        const Timeline then = schedule(trial->step, input.shape, larger);
        if (idle_share(then) > idle_of_host_bound) continue;
        trial->change.step = then.time;
        trial->change.gain = now.time - then.time / static_cast<double>(factor);
        trial->change.removes = trial->change.gain;
        finding.fixes.push_back(trial->change);
        break;
    }
    return {finding};
}

}  // namespace tilewright::checks

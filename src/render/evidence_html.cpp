// Evidence is told by family of kernels, since each family has its own; the intervals are those of the step as priced.
#include <fmt/format.h>

#include <array>

#include "render/page.h"
#include "render/report.h"
#include "render/svg.h"
#include "render/units.h"
#include "render/words.h"
#include "tilewright/cost.h"
#include "tilewright/profile.h"

namespace tilewright::render {
namespace {

/// By the alternative that Op::work holds.
constexpr std::array<std::string_view, 7> families = {"matrix products",    "attention",      "kernels that move data",
                                                      "collectives",        "routed experts", "latent attention",
                                                      "exchanges of tokens"};

std::string family_table(const Prediction& prediction) {
    std::vector<std::vector<std::string>> rows;
    const auto& all = prediction.families;
    for (std::size_t i = 0; i < families.size(); ++i) {
        if (all[i].time.value <= 0) continue;
        rows.push_back({std::string(families[i]), percent_text(all[i].time / prediction.kernels.sum.time),
                        evidence_text(all[i].evidence),
                        fmt::format("{} to {}", change_text(all[i].low / all[i].time - 1.0),
                                    change_text(all[i].high / all[i].time - 1.0))});
    }
    return html_table({{"kernels"}, {"share", Align::Right}, {"evidence"}, {"90% interval", Align::Right}}, rows);
}

std::string clock_text(const Prediction& prediction) {
    if (prediction.workload.clock == Clock::Burst) return "at the top clock, as in a burst";
    if (prediction.kernels.clock >= 0.9995) return "sustained; the power limit does not lower the clock";
    return fmt::format("sustained; under {:.0f} W the clock settles at {} of the top one",
                       prediction.device.power.value, percent_text(prediction.kernels.clock));
}

std::string sources(const Prediction& prediction) {
    std::vector<std::vector<std::string>> rows = {
        {"shape", prediction.shape.source},
        {"device", fmt::format("{}; {}", prediction.device.full_name, prediction.device.source)},
        {"profile", prediction.profile_source},
        {"clock", clock_text(prediction)},
        {"launches",
         fmt::format("{} a step; issuing them one by one takes the host {}{}",
                     grouped_text(static_cast<double>(prediction.kernels.launches)), time_text(prediction.host_time),
                     prediction.host_bound ? ", and the device waits for it" : "")}};
    for (const std::string& file : prediction.used) rows.push_back({"used", file});
    return html_table({{""}, {""}}, rows);
}

/// How the errors of a profile call the families, in the same order.
constexpr std::array<std::string_view, families.size()> ops = {"gemm", "attention", "stream",  "collective",
                                                               "moe",  "mla",       "alltoall"};

/// Groups too small to say anything, and clocks, which are no property of the kernel.
bool worth_a_row(const ErrorLine& line) { return line.by != "clock" && (line.by == "all" || line.points >= 5); }

std::vector<std::string> error_row(const ErrorLine& line, std::string_view family) {
    return {line.by == "all" ? std::string(family) : "",
            line.by == "bound" ? "bound by " + line.group : line.group,
            grouped_text(static_cast<double>(line.points)),
            percent_text(line.mean),
            percent_text(line.median),
            percent_text(line.p95),
            percent_text(line.inside),
            percent_text(line.roofline)};
}

/// The errors of the families that the step has kernels of.
std::string error_table(const Prediction& prediction) {
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < families.size(); ++i) {
        for (const ErrorLine& line : prediction.errors) {
            if (line.op == ops[i] && prediction.families[i].time.value > 0 && worth_a_row(line))
                rows.push_back(error_row(line, families[i]));
        }
    }
    const std::string title = element("h3", "Errors on kernels that were held out of the fit");
    if (rows.empty()) {
        return title + element("p", "None are known: no kernel of this GPU was held out.");
    }
    return title +
           html_table({{"kernels"},
                       {"which"},
                       {"held out", Align::Right, true},
                       {"mean", Align::Right},
                       {"median", Align::Right, true},
                       {"95% within", Align::Right},
                       {"in interval", Align::Right, true},
                       {"roofline", Align::Right}},
                      rows) +
           element("p",
                   "Recorded when the profile was fitted, in parts of the measured time. In interval: the share that "
                   "lies within the 90% interval. "
                   "Roofline: the mean error of a fitted roofline with a launch time on the same kernels.");
}

constexpr std::array<std::string_view, 5> assumptions = {
    "The GPU does nothing else. A kernel starts when the one before it has ended and the host has issued it; "
    "collectives run beside products as far as --overlap says.",
    "A product may find its first operand in L2, where the kernel before has just written it; all others come from "
    "memory.",
    "The library takes the variant that the model finds fastest; it may err, and so may we.",
    "A speed-up's interval counts only the kernels that differ between the two shapes.",
    "FLOPs are those of matrix products, and of attention as its mask needs it; MFU is over the data-sheet peak."};

}  // namespace

std::string evidence_html(const Prediction& prediction) {
    std::string out = family_table(prediction) + sources(prediction) + error_table(prediction) +
                      element("h3", "Assumed throughout") + "<ul>\n";
    for (const std::string_view line : assumptions) out += element("li", line);
    return out + "</ul>\n";
}

std::string kernels_html(const Prediction& prediction) {
    std::vector<std::vector<std::string>> rows;
    const Seconds step = prediction.kernels.sum.time;
    for (const PricedOp& priced : prediction.kernels.ops) {
        const Cost& cost = priced.cost;
        rows.push_back({kernel_text(priced.op), fmt::format("{}", priced.op.count), size_text(priced.op),
                        tile_text(cost), cost.waves > 0 ? fmt::format("{:.2f}", cost.waves) : "-", time_text(cost.time),
                        fmt::format("{:+.0f} {:+.0f}%", 100.0 * (cost.low / cost.time - 1.0),
                                    100.0 * (cost.high / cost.time - 1.0)),
                        percent_text(priced.total / step), losses_text(cost.terms, cost.time, 0.05)});
    }
    return html_table({{"kernel"},
                       {"n", Align::Right},
                       {"size", Align::Left, true},
                       {"tile", Align::Right, true},
                       {"waves", Align::Right, true},
                       {"each", Align::Right},
                       {"90%", Align::Right, true},
                       {"share", Align::Right},
                       {"lost to", Align::Left, true}},
                      rows);
}

}  // namespace tilewright::render

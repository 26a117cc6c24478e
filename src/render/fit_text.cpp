// Errors by group; those held out are what the profile is judged by.
#include <fmt/format.h>

#include "render/fit.h"
#include "render/table.h"

namespace tilewright::render {

std::string fit_text(const Fit& fit, const Style& style) {
    Table table({{"kernels", Align::Left, true},
                 {"samples", Align::Left},
                 {"points", Align::Right},
                 {"mean", Align::Right},
                 {"median", Align::Right},
                 {"p95", Align::Right},
                 {"in 90%", Align::Right}});
    for (const ErrorLine& line : fit.errors) {
        const auto percent = [](double share) { return fmt::format("{:.1f}%", 100.0 * share); };
        table.row({line.group, std::string(line.held_out ? "held out" : "fitted"), fmt::format("{}", line.points),
                   percent(line.mean), percent(line.median), percent(line.p95), percent(line.inside)});
    }
    std::string out = "Errors of " + fit.profile.source + "\n";
    table.append_to(out, style);
    return out;
}

}  // namespace tilewright::render

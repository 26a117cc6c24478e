// Errors by group; those held out are what the profile is judged by.
#include <fmt/format.h>

#include "render/fit.h"
#include "render/table.h"
#include "render/units.h"

namespace tilewright::render {

void append_errors(std::string& out, const std::vector<ErrorLine>& lines, const Style& style) {
    Table table({{"op"},
                 {"kernels", Align::Left, true},
                 {"points", Align::Right},
                 {"mean", Align::Right},
                 {"median", Align::Right},
                 {"p95", Align::Right},
                 {"in 90%", Align::Right},
                 {"roofline", Align::Right},
                 {"constant", Align::Right},
                 {"sheet", Align::Right}});
    for (const ErrorLine& line : lines) {
        const Tone tone = line.by == "all" ? Tone::Strong : Tone::Plain;
        const std::string group = line.by == "bound" ? "bound by " + line.group : line.group;
        table.row({{line.op, tone},
                   {group, tone},
                   std::to_string(line.points),
                   {percent_text(line.mean), tone},
                   percent_text(line.median),
                   percent_text(line.p95),
                   percent_text(line.inside),
                   {percent_text(line.roofline), Tone::Dim},
                   {percent_text(line.constant), Tone::Dim},
                   {percent_text(line.sheet), Tone::Dim}});
    }
    table.append_to(out, style);
}

std::string fit_text(const LearntProfile& learnt, const Style& style) {
    std::string out = fmt::format("{}, from {}\n\nHeld out: never fitted to, nor used for intervals\n", learnt.device,
                                  learnt.fit.profile.source);
    append_errors(out, learnt.fit.profile.errors, style);
    out += "\nFitted to\n";
    append_errors(out, learnt.fit.fitted_errors, style);
    return out +
           "Mean errors of simple models on the same points stand on the right: a fitted roofline and launch, a "
           "constant\nshare of the peak, the data sheet's roofline.\n";
}

}  // namespace tilewright::render

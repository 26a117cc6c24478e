// The text of `search`: the shapes of equal size, fastest first, and the one to take.
#include <fmt/format.h>

#include "render/search.h"
#include "render/table.h"
#include "render/units.h"

namespace tilewright::render {

std::string changes_text(const Candidate& candidate) {
    std::string text;
    for (const std::string& change : candidate.changed) text += (text.empty() ? "" : ", ") + change;
    return text;
}

void append_candidates(std::string& out, const SearchResult& found, const Style& style) {
    if (found.candidates.empty()) return;
    Table table({{"speed-up", Align::Right},
                 {"interval"},
                 {"time", Align::Right},
                 {"params", Align::Right},
                 {"change", Align::Left, true}});
    for (const Candidate& candidate : found.candidates) {
        table.row({{speedup_text(candidate.speedup), Tone::Good},
                   speedup_interval(candidate.low, candidate.high),
                   time_text(candidate.time),
                   change_text(candidate.parameter_change),
                   changes_text(candidate)});
    }
    table.append_to(out, style);
}

std::string recommendation(const SearchResult& found) {
    constexpr double worth_a_change = 1.005;
    if (found.candidates.empty() || found.candidates.front().speedup < worth_a_change) {
        return "keep this shape; none of equal size is predicted to be faster.";
    }
    const Candidate& best = found.candidates.front();
    const bool sure = best.low > 1.0;
    return fmt::format("{} {}: {} the speed ({}), parameters {}{}", sure ? "take" : "try", changes_text(best),
                       speedup_text(best.speedup), speedup_interval(best.low, best.high),
                       change_text(best.parameter_change),
                       sure ? "." : "; the interval includes no gain, so measure before you commit to it.");
}

std::string search_text(const Prediction& baseline, const SearchResult& found, const Style& style) {
    std::string out;
    append_header(out, baseline, style);
    append_candidates(out, found, style);
    if (!found.candidates.empty()) out += "\n";
    append_paragraph(
        out,
        fmt::format("Looked at {} shapes of equal size, priced {}; baseline {}.",
                    grouped_text(static_cast<double>(found.shapes_in_space)),
                    grouped_text(static_cast<double>(found.shapes_priced)), time_text(baseline.step.sum.time)),
        2, style);
    append_evidence(out, baseline, style);
    append_paragraph(out, "Recommendation: " + recommendation(found), 2, style);
    return out;
}

}  // namespace tilewright::render

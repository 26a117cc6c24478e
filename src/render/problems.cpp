// Error text. What came from a file may hold anything, so control characters are made harmless.
#include "render/problems.h"

#include "quantity/printable.h"

namespace tilewright::render {
namespace {

std::string place(const Problem& problem) {
    if (problem.where.empty()) return "";
    return problem.where + (problem.line > 0 ? ":" + std::to_string(problem.line) : "") + ": ";
}

}  // namespace

std::string problems_text(const Problems& problems, const Style& style) {
    std::string out;
    for (const Problem& problem : problems) {
        out += paint("error:", Tone::Bad, style) + " " + printable(place(problem) + problem.what) + "\n";
        if (!problem.fix.empty()) out += "  fix: " + printable(problem.fix) + "\n";
    }
    return out;
}

std::string warning_text(std::string_view what, const Style& style) {
    return paint("warning:", Tone::Caution, style) + " " + printable(what) + "\n";
}

}  // namespace tilewright::render

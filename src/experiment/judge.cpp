// The table of predicates by name, and what several of them say together.
#include <algorithm>

#include "experiment/checks.h"

namespace tilewright {
namespace {

/// A predicate by name; one about the whole figure says nothing when too much of it is missing.
struct Named {
    std::string_view name;
    Predicate predicate;
    bool whole;
};

constexpr Named predicates[] = {
    {"rises", rises, true},     {"ladder", ladder, true},       {"plateau", plateau, true}, {"trend", trend, true},
    {"differs", differs, true}, {"transfers", transfers, true}, {"drops", drops, false},    {"order", order, false},
    {"ratio", ratio, false},    {"above", above, false},        {"flat", flat, false},      {"teeth", teeth, true},
};

constexpr double enough = 0.8;  ///< of the sweep

/// Points that went into the values of a figure.
int points_in(const Figure& figure) {
    int points = 0;
    for (const FigureCell& cell : figure.cells) points += std::max(1, cell.points);
    return points;
}

}  // namespace

std::vector<std::string> check_names() {
    std::vector<std::string> all;
    for (const Named& named : predicates) all.emplace_back(named.name);
    return all;
}

std::vector<Check> checks_for(const Experiment& experiment, std::string_view device) {
    std::vector<Check> own, general;
    for (const Check& check : experiment.checks) {
        if (check.device.empty()) general.push_back(check);
        if (!check.device.empty() && device.starts_with(check.device)) own.push_back(check);
    }
    return own.empty() ? general : own;
}

Judgement judge(const Experiment& experiment, const Figure& figure, const Figure& sweep, Coverage coverage) {
    const bool sparse = points_in(figure) < enough * points_in(sweep);
    int held = 0, failed = 0, told = 0;
    Judgement all;
    for (const Check& check : experiment.checks) {
        const auto named = std::find_if(std::begin(predicates), std::end(predicates),
                                        [&](const Named& known) { return known.name == check.kind; });
        if (named == std::end(predicates)) continue;
        if (named->whole && sparse && coverage == Coverage::Most) continue;
        const Judgement one = named->predicate({check, figure, sweep, experiment});
        if (one.verdict == Verdict::Unknown) continue;
        ++told;
        held += one.verdict == Verdict::Holds ? 1 : 0;
        failed += one.verdict == Verdict::Fails ? 1 : 0;
        all.why += (all.why.empty() ? "" : "; ") + one.why;
    }
    if (told == 0) return all;
    all.verdict = held == told ? Verdict::Holds : failed == told ? Verdict::Fails : Verdict::Partly;
    return all;
}

}  // namespace tilewright

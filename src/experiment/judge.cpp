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
    {"ratio", ratio, false},    {"above", above, false},        {"flat", flat, false},
};

constexpr double enough = 0.8;  ///< of the sweep

}  // namespace

std::vector<std::string> check_names() {
    std::vector<std::string> all;
    for (const Named& named : predicates) all.emplace_back(named.name);
    return all;
}

Judgement judge(const Experiment& experiment, const Figure& figure, const Figure& sweep, Coverage coverage) {
    const bool sparse = static_cast<double>(figure.cells.size()) < enough * static_cast<double>(sweep.cells.size());
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

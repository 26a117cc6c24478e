// The predicates that claims are made of. Each looks at a figure and says whether it holds, with the figures it saw.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tilewright/figure.h"

namespace tilewright {

/// A figure seen through a check.
struct Scene {
    const Check& check;
    const Figure& figure;
    const Figure& sweep;  ///< the figure with every point of the sweep: what comes next
    const Experiment& experiment;

    /// The cell that a check names "x" or "x|series"; an unnamed series is the first.
    const FigureCell* cell(std::string_view name) const;

    /// Those of `at`; none when one of them is missing.
    std::vector<const FigureCell*> named() const;

    /// How good a value is: a rate or a share as it is, a time inverted.
    double merit(const FigureCell& cell) const { return experiment.measure == Measure::Time ? 1.0 / cell.y : cell.y; }

    /// "h 16384, heads 32": where a cell is; words need no name before them.
    std::string place(const FigureCell& cell) const;
};

using Predicate = Judgement (*)(const Scene& scene);

Judgement rises(const Scene& scene);  ///< along x, by at least `least`, with no setback beyond `most`
Judgement drops(const Scene& scene);  ///< right after each of `at`, by at least `least`
Judgement teeth(const Scene& scene);  ///< there are falls of at least `least` from one step to the next
Judgement ladder(
    const Scene& scene);  ///< the lowest class loses at least `least`; within `most` of the best from `full` on
Judgement order(const Scene& scene);  ///< the cells of `at` go up
Judgement ratio(const Scene& scene);  ///< the first of `at` over the second is from `least` to `most`
Judgement above(const Scene& scene);  ///< the cells of `at` are at least `least`
Judgement flat(const Scene& scene);   ///< the cells of `at`, or all, differ by no more than `most`
Judgement plateau(
    const Scene& scene);  ///< from `at` on, all within `most` of the best, and the first below `least` of it
Judgement trend(const Scene& scene);      ///< the series of `at` lie "|above" or "|below" the power law through all
Judgement differs(const Scene& scene);    ///< the x from which on there is full speed is not the same for all series
Judgement transfers(const Scene& scene);  ///< series that have the second of `at` have the first, too

/// Whether all of a claim's parts hold, some or none.
Verdict verdict_of(std::size_t kept, std::size_t of);

/// "1,234", "56.7", "0.123": three digits.
std::string figure_text(double value);
std::string percent(double share);  ///< "12%"
std::string times(double factor);   ///< "1.18x"

/// ", chiefly alignment": the term of a price that grew most from one cell to the other; empty if not predicted.
std::string reason(const FigureCell& from, const FigureCell& to);

}  // namespace tilewright

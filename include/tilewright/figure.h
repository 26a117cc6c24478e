// What an experiment shows: the values of its figure, predicted, measured or published, and whether the claim holds in
// them: Points + prices -> Figure, judge(Figure) -> Judgement.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewright/cost.h"
#include "tilewright/experiment.h"

namespace tilewright {

/// What a point takes: in all, by part, and by term, each in seconds.
struct Spent {
    Seconds time, low, high;
    Flops flops;
    Evidence evidence = Evidence::Measured;
    std::array<Seconds, term_count> terms{};             ///< of a prediction
    Seconds clocked;                                     ///< of a prediction: what of the time follows the clock
    std::vector<std::pair<std::string, Seconds>> parts;  ///< "GEMM", "softmax", …
};

/// The price of a point whose rows are these kernels.
Spent predicted(const OpGraph& graph, const Pricer& pricer);

/// One value of a figure; points with equal x and series are averaged.
struct FigureCell {
    std::string x, series;
    double y = 0.0, low = 0.0, high = 0.0;
    std::array<double, term_count> terms{};  ///< seconds per FLOP (per point where y is a time); zero if not predicted
    int points = 0;
    std::string apart{};  ///< why predictions are not compared with it; empty: they are
};

/// The values of a figure, in any order; `sort` puts them in that of tables and lines.
struct Figure {
    std::vector<FigureCell> cells;

    const FigureCell* find(std::string_view x, std::string_view series) const;
    std::vector<std::string> all_series() const;
    std::vector<std::string> all_x() const;
    std::vector<const FigureCell*> line(std::string_view series) const;
};

/// The number that a label is, if it is one.
std::optional<double> number_of(std::string_view label);

/// Series by series, each along x: numbers by size, words as they came.
void sort(Figure& figure);

/// Adds a point to a figure.
void add(Figure& figure, const SweepPoint& point, const Spent& spent, Measure measure);

/// What table and claim are about: the figure, or the means of its series as a figure whose x are the series.
Figure tabled(const Experiment& experiment, const Figure& figure);

/// Gives what was measured the terms of the same prices, which say why it is as it is.
void explain(Figure& measured, const Figure& predicted);

/// What was published for a device, as a figure; empty when nothing was.
Figure published_for(const Experiment& experiment, std::string_view device);

/// How far predictions are from what was seen, over the values that both have.
struct Agreement {
    int values = 0;
    double mean_error = 0.0;  ///< absolute, as a fraction of what was seen; of shares the difference itself
    int apart = 0;            ///< values that are not compared
    std::string why;          ///< they are not
};
Agreement agreement(const Figure& predicted, const Figure& seen, Measure measure);

enum class Verdict { Holds, Partly, Fails, Unknown };
template <>
inline constexpr std::array<NameTable<Verdict>, 4> names<Verdict>{{{"holds", Verdict::Holds},
                                                                   {"holds in part", Verdict::Partly},
                                                                   {"does not hold", Verdict::Fails},
                                                                   {"cannot be told", Verdict::Unknown}}};

/// Whether a claim holds in a figure, and the figures that say so.
struct Judgement {
    Verdict verdict = Verdict::Unknown;
    std::string why;  ///< a clause without a full stop
};

/// How much of the sweep a figure must have before a claim about the whole of it is judged: published figures are taken
/// as they are.
enum class Coverage { Any, Most };

/// All checks together: the claim holds when each does, fails when none does, else in part. `sweep` is the tabled
/// figure of all points; what names cells that are not there is left out.
Judgement judge(const Experiment& experiment, const Figure& figure, const Figure& sweep, Coverage coverage);

}  // namespace tilewright

// Claims about the course of whole lines: growth, plateaus, ladders of alignment, trends.
#include <algorithm>
#include <cmath>

#include "experiment/checks.h"

namespace tilewright {
namespace {

using Line = std::vector<const FigureCell*>;

double best_of(const Scene& scene, const Line& line) {
    double best = 0.0;
    for (const FigureCell* cell : line) best = std::max(best, scene.merit(*cell));
    return best;
}

/// What a check takes for no loss, as a share of the best.
double full_speed(const Scene& scene) { return 1.0 - (scene.check.most > 0.0 ? scene.check.most : 0.05); }

/// The first cell at full speed.
const FigureCell* first_full(const Scene& scene, const Line& line) {
    const double enough = full_speed(scene) * best_of(scene, line);
    return *std::find_if(line.begin(), line.end(),
                         [&](const FigureCell* cell) { return scene.merit(*cell) >= enough; });
}

/// "class 8 loses 12%, most of it tile".
std::string loss_text(const Scene& scene, const FigureCell& cell, const FigureCell& best) {
    return "class " + cell.x + " loses " + percent(1.0 - scene.merit(cell) / scene.merit(best)) + reason(best, cell);
}

struct Climb {
    double gain = INFINITY;  ///< last over first
    double setback = 0.0;    ///< below the best so far
};

Climb climb_of(const Scene& scene, const Line& line) {
    Climb climb{scene.merit(*line.back()) / scene.merit(*line.front()), 0.0};
    double best = 0.0;
    for (const FigureCell* cell : line) {
        best = std::max(best, scene.merit(*cell));
        climb.setback = std::max(climb.setback, 1.0 - scene.merit(*cell) / best);
    }
    return climb;
}

}  // namespace

Judgement rises(const Scene& scene) {
    Climb worst;
    const FigureCell* first = nullptr;
    const FigureCell* last = nullptr;
    for (const std::string& series : scene.figure.all_series()) {
        const Line line = scene.figure.line(series);
        if (line.size() < 2) continue;
        const Climb climb = climb_of(scene, line);
        worst.setback = std::max(worst.setback, climb.setback);
        if (climb.gain >= worst.gain) continue;
        worst.gain = climb.gain;
        first = line.front();
        last = line.back();
    }
    if (first == nullptr) return {};
    const bool grows = worst.gain >= 1.0 + scene.check.least;
    const Verdict verdict = grows && worst.setback <= scene.check.most ? Verdict::Holds
                            : worst.gain > 1.0                         ? Verdict::Partly
                                                                       : Verdict::Fails;
    return {verdict, "from " + figure_text(first->y) + " at " + scene.place(*first) + " to " + figure_text(last->y) +
                         " at " + last->x + ", largest setback on the way " + percent(worst.setback) +
                         " (claimed at most " + percent(scene.check.most) + ")"};
}

Judgement plateau(const Scene& scene) {
    const FigureCell* edge = scene.check.at.empty() ? nullptr : scene.cell(scene.check.at[0]);
    if (edge == nullptr) return {};
    const Line line = scene.figure.line(edge->series);
    const Line after(std::find(line.begin(), line.end(), edge), line.end());
    const double best = best_of(scene, after);
    double lowest = best;
    for (const FigureCell* cell : after) lowest = std::min(lowest, scene.merit(*cell));
    const bool level = lowest >= (1.0 - scene.check.most) * best;
    const bool starts_low = scene.merit(*line.front()) <= scene.check.least * best;
    return {verdict_of((level ? 1 : 0) + (starts_low ? 1 : 0), 2),
            "from " + scene.place(*edge) + " on the lowest value is " + percent(lowest / best) +
                " of the best (claimed at least " + percent(1.0 - scene.check.most) + "), the first is " +
                percent(scene.merit(*line.front()) / best) + " of it"};
}

Judgement ladder(const Scene& scene) {
    const std::vector<std::string> all = scene.figure.all_series();
    const Line line = all.empty() ? Line{} : scene.figure.line(all.front());
    if (line.size() < 2) return {};
    const FigureCell& best = **std::max_element(
        line.begin(), line.end(), [&](const auto* a, const auto* b) { return scene.merit(*a) < scene.merit(*b); });
    const double lost = 1.0 - scene.merit(*line.front()) / scene.merit(best);
    const FigureCell& full = *first_full(scene, line);
    const bool same = full.x == scene.check.full;
    std::string text = loss_text(scene, *line.front(), best) + ", and " + percent(full_speed(scene)) +
                       " of the best is reached from " + full.x +
                       (same ? " on, as claimed" : " on, not " + scene.check.full);
    const FigureCell* eight = scene.figure.find("8", line.front()->series);
    if (eight != nullptr && number_of(full.x).value_or(0.0) > 8.0) text += "; " + loss_text(scene, *eight, best);
    return {lost < scene.check.least ? Verdict::Fails : same ? Verdict::Holds : Verdict::Partly, text};
}

Judgement differs(const Scene& scene) {
    std::vector<std::string> found;
    std::string text;
    for (const std::string& series : scene.figure.all_series()) {
        found.push_back(first_full(scene, scene.figure.line(series))->x);
        text += (text.empty() ? "" : ", ") + found.back() + " on " + series;
    }
    if (found.size() < 2) return {};
    const bool equal = std::all_of(found.begin(), found.end(), [&](const std::string& x) { return x == found[0]; });
    return {equal ? Verdict::Fails : Verdict::Holds,
            percent(full_speed(scene)) + " of the best is reached from " + text};
}

Judgement trend(const Scene& scene) {
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (const FigureCell& cell : scene.figure.cells) {
        const double x = std::log(number_of(cell.x).value_or(1.0)), y = std::log(cell.y);
        n += 1, sx += x, sy += y, sxx += x * x, sxy += x * y;
    }
    if (n < 3 || n * sxx <= sx * sx) return {};
    const double slope = (n * sxy - sx * sy) / (n * sxx - sx * sx);
    std::size_t kept = 0, seen = 0;
    std::string text;
    for (const std::string& claim : scene.check.at) {
        const std::size_t bar = std::min(claim.find('|'), claim.size());
        const Line line = scene.figure.line(claim.substr(0, bar));
        if (line.empty() || bar == claim.size()) continue;
        const FigureCell* cell = line.front();
        const double expected = (sy - slope * sx) / n + slope * std::log(number_of(cell->x).value_or(1.0));
        const double off = cell->y / std::exp(expected) - 1.0;
        ++seen;
        kept += (off > 0.0) == (claim.substr(bar + 1) == "above") ? 1 : 0;
        text += (text.empty() ? "" : ", ") + cell->series + " lies " + percent(std::abs(off)) +
                (off > 0.0 ? " above" : " below");
    }
    if (seen == 0) return {};
    return {verdict_of(kept, seen), text + " the power law through all (exponent " + figure_text(slope) + ")"};
}

Judgement transfers(const Scene& scene) {
    if (scene.check.at.size() != 2) return {};
    std::string stranded;
    double share = 0.0;
    int run = 0, here = 0;
    for (const std::string& series : scene.figure.all_series()) {
        const FigureCell* to = scene.figure.find(scene.check.at[0], series);
        const FigureCell* from = scene.figure.find(scene.check.at[1], series);
        if (from == nullptr) continue;
        ++here;
        if (to == nullptr) stranded += (stranded.empty() ? "" : ", ") + series;
        if (to == nullptr) continue;
        ++run;
        share += scene.merit(*to) / scene.merit(*from);
    }
    if (here == 0) return {};
    const std::string rest =
        run == 0 ? "" : "; the others reach " + times(share / run) + " their rate at " + scene.check.at[1];
    return {stranded.empty() ? Verdict::Fails : Verdict::Holds,
            std::to_string(here - run) + " of " + std::to_string(here) + " shapes that run at " + scene.check.at[1] +
                " cannot run at " + scene.check.at[0] + (stranded.empty() ? "" : " (" + stranded + ")") + rest};
}

}  // namespace tilewright

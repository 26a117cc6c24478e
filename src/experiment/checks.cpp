// Claims about single lines and pairs of cells; checks_lines.cpp has those about whole figures.
#include "experiment/checks.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "tilewright/cost.h"

namespace tilewright {
namespace {

std::string fixed(double value, int digits) {
    std::array<char, 64> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, digits);
    return {text.data(), end.ptr};
}

std::string with_name(const std::string& name, const std::string& value) {
    return number_of(value) ? name + " " + value : value;
}

/// A term as a sentence names it.
std::string in_words(Term term) {
    switch (term) {
        case Term::Roofline: return "what even a perfect kernel takes";
        case Term::Correction: return "the learnt correction";
        case Term::Tile:
        case Term::Wave: return std::string(name_of(term)) + " quantization";
        default: return std::string(name_of(term));
    }
}

}  // namespace

Verdict verdict_of(std::size_t kept, std::size_t of) {
    return kept >= of ? Verdict::Holds : kept > 0 ? Verdict::Partly : Verdict::Fails;
}

std::string figure_text(double value) {
    const double size = std::abs(value);
    return fixed(value, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

std::string percent(double share) { return fixed(100.0 * share, std::abs(share) < 0.0995 ? 1 : 0) + "%"; }

std::string times(double factor) { return fixed(factor, 2) + "×"; }

std::string reason(const FigureCell& from, const FigureCell& to) {
    std::size_t most = 0;
    for (std::size_t i = 1; i < from.terms.size(); ++i) {
        if (to.terms[i] - from.terms[i] > to.terms[most] - from.terms[most]) most = i;
    }
    if (to.terms[most] <= from.terms[most]) return "";
    return ", chiefly " + in_words(static_cast<Term>(most));
}

const FigureCell* Scene::cell(std::string_view name) const {
    const std::size_t bar = name.find('|');
    if (bar != std::string_view::npos) return figure.find(name.substr(0, bar), name.substr(bar + 1));
    const auto found =
        std::find_if(figure.cells.begin(), figure.cells.end(), [&](const FigureCell& cell) { return cell.x == name; });
    return found == figure.cells.end() ? nullptr : &*found;
}

std::string Scene::place(const FigureCell& cell) const {
    const std::string x = with_name(experiment.means ? experiment.series_label : experiment.x_label, cell.x);
    return cell.series.empty() ? x : x + ", " + with_name(experiment.series_label, cell.series);
}

std::vector<const FigureCell*> Scene::named() const {
    std::vector<const FigureCell*> cells;
    for (const std::string& name : check.at) {
        cells.push_back(cell(name));
        if (cells.back() == nullptr) return {};
    }
    return cells;
}

Judgement order(const Scene& scene) {
    const std::vector<const FigureCell*> cells = scene.named();
    if (cells.size() < 2) return {};
    const bool one_x =
        std::all_of(cells.begin(), cells.end(), [&](const auto* cell) { return cell->x == cells[0]->x; });
    const std::string& names = scene.experiment.series_label;
    std::string text = one_x ? "at " + with_name(scene.experiment.x_label, cells[0]->x) + ", " : "";
    std::size_t climbs = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const double step = i == 0 ? 1.0 : scene.merit(*cells[i]) / scene.merit(*cells[i - 1]);
        climbs += step > 1.0 ? 1 : 0;
        text += (i == 0                         ? ""
                 : std::abs(step - 1.0) < 0.005 ? " ≈ "
                 : step > 1.0                   ? " < "
                                                : " > ") +
                (one_x ? with_name(names, cells[i]->series) : scene.place(*cells[i])) + " (" +
                figure_text(cells[i]->y) + ")";
    }
    const bool ends_up = scene.merit(*cells.back()) > scene.merit(*cells.front());
    return {climbs + 1 == cells.size() ? Verdict::Holds : ends_up ? Verdict::Partly : Verdict::Fails, text};
}

Judgement ratio(const Scene& scene) {
    const std::vector<const FigureCell*> cells = scene.named();
    if (cells.size() != 2) return {};
    const FigureCell* first = cells[0];
    const FigureCell* second = cells[1];
    constexpr double noticeable = 1.005;
    const double factor = scene.merit(*first) / scene.merit(*second);
    if (!std::isfinite(factor)) return {};
    const double most = scene.check.most > 0.0 ? scene.check.most : INFINITY;
    const Verdict verdict = factor >= scene.check.least && factor <= most ? Verdict::Holds
                            : factor >= noticeable                        ? Verdict::Partly
                                                                          : Verdict::Fails;
    std::string claimed = "at least " + times(scene.check.least);
    if (scene.check.most > 0.0) claimed = times(scene.check.least) + " to " + times(scene.check.most);
    const std::string relation = scene.experiment.measure == Measure::Share ? " is " : " runs at ";
    const std::string of = scene.experiment.measure == Measure::Share ? " " : " the speed of ";
    return {verdict, scene.place(*first) + relation + times(factor) + of + scene.place(*second) + " (claimed " +
                         claimed + ")" + (factor > noticeable ? reason(*first, *second) : "")};
}

namespace {

/// A step from one cell of a line to the next.
struct Step {
    const FigureCell* from = nullptr;
    const FigureCell* to = nullptr;
    double fall = 0.0;
};

/// Steps of the sweep whose two ends are known.
std::vector<Step> steps_of(const Scene& scene, const std::string& series) {
    const std::vector<const FigureCell*> line = scene.sweep.line(series);
    std::vector<Step> steps;
    for (std::size_t i = 1; i < line.size(); ++i) {
        const FigureCell* from = scene.figure.find(line[i - 1]->x, series);
        const FigureCell* to = scene.figure.find(line[i]->x, series);
        if (from == nullptr || to == nullptr) continue;
        steps.push_back({from, to, 1.0 - scene.merit(*to) / scene.merit(*from)});
    }
    return steps;
}

void keep_deeper(Step& deepest, const Step& step) {
    if (deepest.from == nullptr || step.fall > deepest.fall) deepest = step;
}

std::string step_text(const Step& step) {
    return percent(step.fall) + " from " + step.from->x + " to " + step.to->x + reason(*step.from, *step.to);
}

}  // namespace

Judgement drops(const Scene& scene) {
    Step deepest, anywhere;
    std::size_t seen = 0, falls = 0;
    double sum = 0.0;
    for (const std::string& name : scene.check.at) {
        const FigureCell* crest = scene.cell(name);
        if (crest == nullptr) continue;
        for (const Step& step : steps_of(scene, crest->series)) {
            keep_deeper(anywhere, step);
            if (step.from != crest) continue;
            keep_deeper(deepest, step);
            ++seen;
            sum += step.fall;
            falls += step.fall >= scene.check.least ? 1 : 0;
        }
    }
    if (seen == 0) return {};
    const std::string mean = percent(sum / static_cast<double>(seen));
    std::string text = "throughput falls by at least " + percent(scene.check.least) + " right after " +
                       std::to_string(falls) + " of " + std::to_string(seen) + " published crests (on average " + mean +
                       ", at most " + step_text(deepest) + ")";
    if (anywhere.from != deepest.from && anywhere.fall > scene.check.least) {
        text += ", and the deepest step is elsewhere: " + step_text(anywhere);
    }
    return {verdict_of(falls, seen), text};
}

Judgement teeth(const Scene& scene) {
    constexpr std::size_t named = 6;  // of the places
    constexpr std::size_t several = 3;
    Step deepest;
    std::size_t seen = 0, falls = 0;
    std::string places;
    for (const std::string& series : scene.figure.all_series()) {
        for (const Step& step : steps_of(scene, series)) {
            keep_deeper(deepest, step);
            ++seen;
            if (step.fall < scene.check.least) continue;
            if (falls < named) places += (falls == 0 ? " after " : ", ") + step.from->x;
            if (falls == named) places += ", …";
            ++falls;
        }
    }
    if (seen == 0) return {};
    return {verdict_of(falls, several), "throughput falls by at least " + percent(scene.check.least) + " at " +
                                            std::to_string(falls) + " of " + std::to_string(seen) + " steps" + places +
                                            "; the deepest is " + step_text(deepest)};
}

Judgement above(const Scene& scene) {
    const std::vector<const FigureCell*> cells = scene.named();
    if (cells.empty()) return {};
    std::size_t kept = 0;
    std::string text;
    for (const FigureCell* cell : cells) {
        kept += cell->y >= scene.check.least ? 1 : 0;
        text += (text.empty() ? "" : ", ") + scene.place(*cell) + " is " + figure_text(cell->y);
    }
    return {verdict_of(kept, cells.size()), text + " (claimed at least " + figure_text(scene.check.least) + ")"};
}

Judgement flat(const Scene& scene) {
    std::vector<const FigureCell*> cells = scene.named();
    if (scene.check.at.empty()) {
        for (const FigureCell& cell : scene.figure.cells) cells.push_back(&cell);
    }
    if (cells.size() < 2) return {};
    const auto [low, high] = std::minmax_element(cells.begin(), cells.end(),
                                                 [](const FigureCell* a, const FigureCell* b) { return a->y < b->y; });
    const double spread = (*high)->y / (*low)->y - 1.0;
    return {spread <= scene.check.most ? Verdict::Holds : Verdict::Fails,
            "values differ by " + percent(spread) + " (claimed at most " + percent(scene.check.most) + "), from " +
                figure_text((*low)->y) + " at " + scene.place(**low) + " to " + figure_text((*high)->y) + " at " +
                scene.place(**high)};
}

}  // namespace tilewright

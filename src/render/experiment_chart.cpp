// The plot of an experiment: predictions as lines (bars where x is a word), what was measured and published as points.
#include <fmt/format.h>

#include <algorithm>

#include "render/experiment.h"

namespace tilewright::render {
namespace {

/// Values of x as numbers: those of the axis, or the places of its categories.
class Places {
public:
    explicit Places(const Figure& figure) : labels_(figure.all_x()) {
        words_ = std::any_of(labels_.begin(), labels_.end(), [](const auto& x) { return !number_of(x); });
    }
    bool words() const { return words_; }
    const std::vector<std::string>& labels() const { return labels_; }
    double of(const std::string& x) const {
        if (!words_) return number_of(x).value_or(0.0);
        return static_cast<double>(std::find(labels_.begin(), labels_.end(), x) - labels_.begin());
    }

private:
    std::vector<std::string> labels_;
    bool words_ = false;
};

Series line_of(const Figure& figure, const std::string& name, const Places& places, bool band) {
    Series line{.name = name, .mark = places.words() ? Mark::Bars : Mark::Line};
    for (const FigureCell* cell : figure.line(name)) {
        line.x.push_back(places.of(cell->x));
        line.y.push_back(cell->y);
        if (!band) continue;
        line.low.push_back(cell->low);
        line.high.push_back(cell->high);
    }
    return line;
}

/// All values of a figure as loose points, or as bars beside the others.
Series points_of(const Figure& figure, const std::string& name, const Places& places) {
    Series points{.name = name, .mark = places.words() ? Mark::Bars : Mark::Points};
    for (const FigureCell& cell : figure.cells) {
        points.x.push_back(places.of(cell.x));
        points.y.push_back(cell.y);
    }
    return points;
}

/// From the first to the last value of the sweep, with a little air.
void set_ends(Axis& axis, const Places& places) {
    std::vector<double> values;
    for (const std::string& label : places.labels()) values.push_back(places.of(label));
    const auto [first, last] = std::minmax_element(values.begin(), values.end());
    const double air = 0.02 * (*last - *first);
    axis.from = *first - air;
    axis.to = *last + air;
}

/// Published means lie across the whole sweep.
void add_levels(Chart& chart, const Outcome& outcome, const Places& places) {
    for (const FigureCell& cell : outcome.published.cells) {
        const bool first = &cell == &outcome.published.cells.front();
        Series level{.name = first ? "published means, " + outcome.published_device : ""};
        level.x = {places.of(places.labels().front()), places.of(places.labels().back())};
        level.y = {cell.y, cell.y};
        level.quiet = true;
        chart.series.push_back(std::move(level));
    }
}

/// Values of another GPU would only squeeze the plot; the table has them.
void add_published(Chart& chart, const Outcome& outcome, const Places& places) {
    const bool elsewhere = !outcome.device.starts_with(outcome.published_device);
    if (outcome.published.cells.empty() || elsewhere) return;
    if (outcome.experiment.means) return add_levels(chart, outcome, places);
    Series points = points_of(outcome.published, published_title(outcome), places);
    points.quiet = true;
    chart.series.push_back(std::move(points));
}

/// Series of one value each are the points of one series with their names beside them.
Series labelled(const Figure& figure, const Places& places) {
    Series points = points_of(figure, "", places);
    for (const FigureCell& cell : figure.cells) points.labels.push_back(cell.series);
    return points;
}

void add_predicted(Chart& chart, const Outcome& outcome, const Places& places) {
    const std::vector<std::string> all = outcome.predicted.all_series();
    if (all.size() > 1 && all.size() == outcome.predicted.cells.size()) {
        chart.series.push_back(labelled(outcome.predicted, places));
        return;
    }
    for (const std::string& name : all) {
        chart.series.push_back(line_of(outcome.predicted, name, places, all.size() == 1));
        if (all.size() == 1) chart.series.back().name = "predicted";
    }
}

/// Points in the colours of the lines that predict them; a sweep of one series is a line itself.
void add_measured(Chart& chart, const Outcome& outcome, const Places& places) {
    constexpr std::size_t a_sweep = 24;
    const std::vector<std::string> all = outcome.measured.all_series();
    const bool one = outcome.predicted.all_series().size() == 1;
    if (places.words() || (one && outcome.measured.cells.size() < a_sweep)) {
        if (!all.empty()) chart.series.push_back(points_of(outcome.measured, "measured", places));
        return;
    }
    for (const std::string& name : all) {
        Series series = line_of(outcome.measured, name, places, false);
        series.name = one ? "measured" : "";
        series.mark = one ? Mark::Line : Mark::Points;
        series.like = one ? "" : name;
        chart.series.push_back(std::move(series));
    }
    if (!one && !all.empty()) chart.y.label += "; lines predicted, points measured";
}

/// Bars of shares, each category as predicted and as published.
void stack(Chart& chart, const Outcome& outcome) {
    std::vector<std::string>& bars = chart.x.categories;
    std::vector<std::pair<const Figure*, std::string>> sources;
    for (const std::string& x : outcome.predicted.all_x()) {
        sources.emplace_back(&outcome.predicted, x);
        bars.push_back(x + ", " + outcome.device);
        if (outcome.published.line("GEMM").empty()) continue;
        sources.emplace_back(&outcome.published, x);
        bars.push_back(x + ", published");
    }
    for (const std::string& part : outcome.predicted.all_series()) {
        Series series{.name = part, .mark = Mark::StackedBars};
        for (std::size_t i = 0; i < sources.size(); ++i) {
            const FigureCell* cell = sources[i].first->find(sources[i].second, part);
            series.x.push_back(static_cast<double>(i));
            series.y.push_back(cell == nullptr ? 0.0 : cell->y);
        }
        chart.series.push_back(std::move(series));
    }
}

}  // namespace

std::string outcome_svg(const Outcome& outcome, ChartSize size) {
    const Experiment& experiment = outcome.experiment;
    Chart chart{.title = experiment.title + ", " + outcome.device,
                .description = experiment.claim + " " + verdict_sentence(outcome)};
    const Places places(outcome.predicted);
    chart.y.label =
        unit_of(experiment.measure) + (experiment.series_label.empty() ? "" : ", by " + experiment.series_label);
    chart.y.log = experiment.log_x && experiment.measure == Measure::Time;
    if (!chart.y.log) chart.y.from = 0.0;
    chart.x.label = places.words() ? "" : experiment.x_label;
    chart.x.log = experiment.log_x;
    if (experiment.measure == Measure::Share) {
        stack(chart, outcome);
        return svg(chart, size);
    }
    if (places.words()) chart.x.categories = places.labels();
    constexpr double largest_size = 1 << 17;  // of a matrix; larger values of x are counts
    chart.x.binary = !places.words() && places.of(places.labels().back()) <= largest_size;
    if (!places.words() && !chart.x.log) set_ends(chart.x, places);
    if (experiment.means) add_published(chart, outcome, places);  // lines lie behind, points before
    add_predicted(chart, outcome, places);
    if (!experiment.means) add_published(chart, outcome, places);
    add_measured(chart, outcome, places);
    return svg(chart, size);
}

}  // namespace tilewright::render

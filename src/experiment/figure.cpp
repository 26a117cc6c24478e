// From prices or samples of points to the values of a figure.
#include <algorithm>
#include <cmath>
#include <map>

#include "quantity/number.h"
#include "tilewright/figure.h"

namespace tilewright {

std::optional<double> number_of(std::string_view label) { return number_in<double>(label); }

namespace {

/// The parts by which figure 2 of the paper splits a layer.
std::string part_of(const Op& op) {
    if (std::holds_alternative<Gemm>(op.work)) return "GEMM";
    if (std::holds_alternative<Attention>(op.work)) return "fused attention";
    if (std::holds_alternative<Collective>(op.work)) return "communication";
    const Stream& stream = std::get<Stream>(op.work);
    if (stream.kind == StreamKind::Softmax || op.component == Component::Attention) return "softmax";
    if (kin_of(stream.kind) == StreamKind::Norm) return "norm";
    return op.component == Component::Residual ? "residual" : "other";
}

void add_part(Spent& spent, const std::string& part, Seconds time) {
    const auto found =
        std::find_if(spent.parts.begin(), spent.parts.end(), [&](const auto& known) { return known.first == part; });
    if (found == spent.parts.end()) {
        spent.parts.emplace_back(part, time);
    } else {
        found->second += time;
    }
}

/// The running mean of a cell takes in one more point.
void take(FigureCell& cell, const FigureCell& more) {
    const double share = 1.0 / (cell.points + 1);
    const auto mix = [&](double& mean, double value) { mean += (value - mean) * share; };
    mix(cell.y, more.y);
    mix(cell.low, more.low);
    mix(cell.high, more.high);
    for (std::size_t i = 0; i < cell.terms.size(); ++i) mix(cell.terms[i], more.terms[i]);
    ++cell.points;
}

void put(Figure& figure, const FigureCell& value) {
    for (FigureCell& cell : figure.cells) {
        if (cell.x == value.x && cell.series == value.series) return take(cell, value);
    }
    figure.cells.push_back(value);
    figure.cells.back().points = 1;
}

/// Rates fall as times rise, so that the low end of one is the high end of the other.
FigureCell cell_of(const SweepPoint& point, const Spent& spent, Measure measure) {
    FigureCell cell{.x = point.x, .series = point.series};
    const double flops = point.flops.value_or(spent.flops.value);
    const bool rate = measure == Measure::Rate;
    const auto shown = [&](Seconds time) { return rate ? flops / time.value * 1e-12 : in_microseconds(time); };
    cell.y = shown(spent.time);
    cell.low = shown(rate ? spent.high : spent.low);
    cell.high = shown(rate ? spent.low : spent.high);
    for (std::size_t i = 0; i < cell.terms.size(); ++i) cell.terms[i] = spent.terms[i].value / (rate ? flops : 1.0);
    return cell;
}

}  // namespace

Spent predicted(const OpGraph& graph, const Pricer& pricer) {
    const GraphCost cost = price(graph, pricer);
    Spent spent{cost.sum.time,     cost.sum.low,   cost.sum.high,    total_flops(graph),
                cost.sum.evidence, cost.sum.terms, cost.sum.clocked, {}};
    for (const PricedOp& priced : cost.ops) add_part(spent, part_of(priced.op), priced.total);
    return spent;
}

void add(Figure& figure, const SweepPoint& point, const Spent& spent, Measure measure) {
    if (measure != Measure::Share) return put(figure, cell_of(point, spent, measure));
    for (const auto& [part, time] : spent.parts) {
        const double share = 100.0 * (time / spent.time);
        put(figure, {.x = point.x, .series = part, .y = share, .low = share, .high = share});
    }
}

const FigureCell* Figure::find(std::string_view x, std::string_view series) const {
    for (const FigureCell& cell : cells) {
        if (cell.x == x && cell.series == series) return &cell;
    }
    return nullptr;
}

namespace {

std::vector<std::string> distinct(const Figure& figure, std::string FigureCell::*member) {
    std::vector<std::string> found;
    for (const FigureCell& cell : figure.cells) {
        if (std::find(found.begin(), found.end(), cell.*member) == found.end()) found.push_back(cell.*member);
    }
    return found;
}

}  // namespace

std::vector<std::string> Figure::all_series() const { return distinct(*this, &FigureCell::series); }
std::vector<std::string> Figure::all_x() const { return distinct(*this, &FigureCell::x); }

namespace {

using Ranks = std::map<std::string, std::size_t>;

/// The place of each label: numbers by size, words where they first stood.
Ranks ranks_of(std::vector<std::string> labels) {
    const auto numeric = [](const std::string& label) { return number_of(label).has_value(); };
    if (std::all_of(labels.begin(), labels.end(), numeric)) {
        std::sort(labels.begin(), labels.end(),
                  [](const std::string& a, const std::string& b) { return number_of(a) < number_of(b); });
    }
    Ranks ranks;
    for (std::size_t i = 0; i < labels.size(); ++i) ranks.emplace(labels[i], i);
    return ranks;
}

}  // namespace

void sort(Figure& figure) {
    const Ranks series = ranks_of(figure.all_series());
    const Ranks x = ranks_of(figure.all_x());
    const auto place = [&](const FigureCell& cell) { return std::pair(series.at(cell.series), x.at(cell.x)); };
    std::stable_sort(figure.cells.begin(), figure.cells.end(),
                     [&](const FigureCell& a, const FigureCell& b) { return place(a) < place(b); });
}

std::vector<const FigureCell*> Figure::line(std::string_view series) const {
    std::vector<const FigureCell*> found;
    for (const FigureCell& cell : cells) {
        if (cell.series == series) found.push_back(&cell);
    }
    return found;
}

Figure tabled(const Experiment& experiment, const Figure& figure) {
    if (!experiment.means) return figure;
    Figure means;
    for (const FigureCell& cell : figure.cells) {
        FigureCell value = cell;
        value.x = cell.series;
        value.series.clear();
        put(means, value);
    }
    sort(means);
    return means;
}

Figure published_for(const Experiment& experiment, std::string_view device) {
    Figure figure;
    for (const Published& value : experiment.published) {
        if (!device.starts_with(value.device)) continue;
        put(figure, {.x = value.x, .series = value.series, .y = value.y, .low = value.y, .high = value.y});
        figure.cells.back().apart = value.apart;
    }
    return figure;
}

void explain(Figure& measured, const Figure& predicted) {
    for (FigureCell& cell : measured.cells) {
        if (const FigureCell* same = predicted.find(cell.x, cell.series)) cell.terms = same->terms;
    }
}

Agreement agreement(const Figure& predicted, const Figure& seen, Measure measure) {
    Agreement found;
    for (const FigureCell& cell : seen.cells) {
        const FigureCell* same = predicted.find(cell.x, cell.series);
        if (same == nullptr) continue;
        if (!cell.apart.empty()) {
            ++found.apart;
            found.why = cell.apart;
            continue;
        }
        ++found.values;
        const double error = std::abs(same->y - cell.y) / (measure == Measure::Share ? 100.0 : cell.y);
        found.mean_error += (error - found.mean_error) / found.values;
    }
    return found;
}

}  // namespace tilewright

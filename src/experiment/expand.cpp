// The sweep: every case with every combination of the variables, first variable slowest.
#include "experiment/expression.h"
#include "tilewright/experiment.h"

namespace tilewright {
namespace {

/// The point where the variables have these values; empty when something does not come out whole.
std::optional<SweepPoint> point_at(const Experiment& experiment, const Fields& values, Precision precision) {
    SweepPoint point;
    for (const std::string& expression : experiment.whole) {
        if (!evaluate_number(expression, values)) return std::nullopt;
    }
    for (const Row& row : experiment.rows) {
        Row& made = point.rows.emplace_back(Row{row.kind, {}});
        for (const auto& [column, expression] : row.columns) {
            std::optional<std::string> value = evaluate(expression, values);
            if (!value || *value == "0") return std::nullopt;
            made.columns.emplace_back(column, std::move(*value));
        }
        const bool stack = row.kind == "layer" || row.kind == "model";
        made.columns.emplace_back(stack ? "precision" : "dtype", name_of(precision));
    }
    const std::optional<std::string> x = evaluate(experiment.x, values);
    const std::optional<std::string> series = evaluate(experiment.series, values);
    if (!x || !series) return std::nullopt;
    point.x = *x;
    point.series = *series;
    if (!experiment.flops.empty()) point.flops = evaluate_number(experiment.flops, values);
    return point;
}

class Sweep {
public:
    Sweep(const Experiment& experiment, Precision precision) : experiment_(experiment), precision_(precision) {}

    void walk(std::size_t variable) {
        if (variable == experiment_.variables.size()) {
            ++visited_;
            if (auto point = point_at(experiment_, values_, precision_)) points.push_back(std::move(*point));
            return;
        }
        for (const std::string& value : experiment_.variables[variable].values) {
            values_.emplace_back(experiment_.variables[variable].name, value);
            walk(variable + 1);
            values_.pop_back();
            if (visited_ >= most_points) return;
        }
    }

    void start_with(const Fields& values) {
        values_ = values;
        walk(0);
    }

    std::vector<SweepPoint> points;

private:
    const Experiment& experiment_;
    Precision precision_;
    Fields values_;
    std::size_t visited_ = 0;  ///< points, with those left out
};

}  // namespace

std::vector<SweepPoint> expand(const Experiment& experiment, Precision precision) {
    Sweep sweep(experiment, precision);
    if (experiment.cases.empty()) sweep.start_with({});
    for (const Fields& values : experiment.cases) sweep.start_with(values);
    return std::move(sweep.points);
}

}  // namespace tilewright

#include "rows.h"

#include <cmath>
#include <limits>

#include "cli/options.h"
#include "render/json.h"
#include "tilewright/quality.h"

namespace tilewright::wasm {
namespace {

struct Column {
    std::string_view name;
    double (*value)(const Prediction& prediction, const LossChange& loss);
};

double unless(bool known, double value) { return known ? value : std::numeric_limits<double>::quiet_NaN(); }

/// The time of the kernels that wait for that.
template <Bound bound>
double bound_by(const Prediction& prediction, const LossChange&) {
    Seconds sum;
    for (const PricedOp& priced : prediction.kernels.ops) {
        if (priced.cost.bound == bound) sum += priced.total;
    }
    return sum.value;
}

constexpr Column columns[] = {
    {"time_s", [](const Prediction& p, const LossChange&) { return p.time.value; }},
    {"low_s", [](const Prediction& p, const LossChange&) { return p.low.value; }},
    {"high_s", [](const Prediction& p, const LossChange&) { return p.high.value; }},
    {"gpu_busy_s", [](const Prediction& p, const LossChange&) { return p.gpu_busy.value; }},
    {"tokens_per_s", [](const Prediction& p, const LossChange&) { return p.tokens_per_s; }},
    {"mfu", [](const Prediction& p, const LossChange&) { return p.mfu; }},
    {"fits", [](const Prediction& p, const LossChange&) { return p.fits ? 1.0 : 0.0; }},
    {"memory_bytes", [](const Prediction& p, const LossChange&) { return p.memory.total.value; }},
    {"params", [](const Prediction& p, const LossChange&) { return static_cast<double>(p.params.total); }},
    {"params_inside",
     [](const Prediction& p, const LossChange&) {
         return static_cast<double>(p.params.total - p.params.embedding - p.params.head);
     }},
    {"host_bound", [](const Prediction& p, const LossChange&) { return p.host_bound ? 1.0 : 0.0; }},
    {"bound_compute", bound_by<Bound::Compute>},
    {"bound_memory", bound_by<Bound::Memory>},
    {"bound_latency", bound_by<Bound::Latency>},
    {"bound_network", bound_by<Bound::Network>},
    {"loss_reaches", [](const Prediction&, const LossChange& loss) { return loss.reaches() ? 1.0 : 0.0; }},
    {"loss_change", [](const Prediction&, const LossChange& loss) { return unless(loss.known, loss.value); }},
    {"loss_low", [](const Prediction&, const LossChange& loss) { return unless(loss.known, loss.low); }},
    {"loss_high", [](const Prediction&, const LossChange& loss) { return unless(loss.known, loss.high); }},
};

void write_row(const Prediction& prediction, const LossChange& loss, std::vector<double>& rows) {
    for (const Column& column : columns) rows.push_back(column.value(prediction, loss));
    for (const auto& [name, component] : names<Component>) rows.push_back(prediction.time_of(component).value);
}

/// The question of one place of the picture; false where it has none.
bool turn(const cli::Arguments& arguments, const Question& base, Question& question) {
    question.shape = base.shape;
    question.workload = base.workload;
    cli::apply_shape_flags(arguments, question.shape);
    cli::apply_workload_flags(arguments, question.workload);
    return validate(question.shape).empty() && validate(question.workload).empty() &&
           validate(question.shape, question.workload).empty();
}

/// The shape that loss is compared with: the one that was named, with the sizes of "heads=20,layers=32".
Shape reference(const cli::Arguments& arguments, const Shape& named, const std::string& sizes) {
    cli::Arguments own = arguments;
    for (const cli::Flag& flag : cli::shape_flags().flags) own.flags.erase(flag.name);
    for (const std::string& size : cli::split(sizes, ',')) {
        const std::size_t sign = size.find('=');
        if (sign != std::string::npos) own.flags["--" + size.substr(0, sign)] = size.substr(sign + 1);
    }
    Shape shape = named;
    cli::apply_shape_flags(own, shape);
    return validate(shape).empty() ? shape : named;
}

/// Only what a size needs: its parameters.
void write_size(const Question& question, const LossChange& loss, std::vector<double>& rows) {
    Prediction only;
    only.params = count_parameters(question.shape);
    write_row(only, loss, rows);
}

}  // namespace

Turned turned(const std::string& name, const std::string& values) {
    return {name, values.empty() ? std::vector<std::string>() : cli::split(values, ',')};
}

std::string row_columns() {
    render::JsonWriter json;
    json.array().value("first").value("second");
    for (const Column& column : columns) json.value(column.name);
    for (const auto& [name, component] : names<Component>) json.value(name);
    return json.end().take();
}

Result<std::vector<double>> price_rows(const cli::Arguments& arguments, const std::array<Turned, 2>& turned,
                                       const std::string& baseline, const cli::Session& session) {
    const Result<Question> base = cli::make_question(arguments, arguments.operands[0], session, cli::Overrides::Ignore);
    if (!base) return base.problems();
    const bool sizes_only = turned[1].name == "sizes";
    const LossLaw law(reference(arguments, base->shape, baseline));
    Question question = *base;
    std::vector<double> rows;
    cli::Arguments changed = arguments;
    const std::vector<std::string> once{""};
    const auto place = [&](const Turned& dimension, const std::string& value) {
        if (dimension.name.empty() || value.empty()) return std::nan("");
        changed.flags["--" + dimension.name] = value;
        return std::atof(value.c_str());
    };
    for (const std::string& first : turned[0].values.empty() ? once : turned[0].values) {
        for (const std::string& second : turned[1].values.empty() ? once : turned[1].values) {
            rows.push_back(place(turned[0], first));
            rows.push_back(place(turned[1], second));
            if (!turn(changed, *base, question)) {
                rows.insert(rows.end(), std::size(columns) + names<Component>.size(), std::nan(""));
            } else if (sizes_only) {
                write_size(question, law.change(question.shape), rows);
            } else {
                write_row(predict(question), law.change(question.shape), rows);
            }
        }
    }
    return rows;
}

}  // namespace tilewright::wasm

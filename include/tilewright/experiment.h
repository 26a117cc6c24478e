// An experiment of the paper as data: a sweep over kernels or layers, what a figure of it shows, what was published of
// it, and the claim it supports as a predicate over the figure (figure.h). Adding an experiment is adding a file
// (data/experiments; docs/formats.md has the form).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/names.h"
#include "tilewright/sample.h"
#include "tilewright/workload.h"

namespace tilewright {

/// What a figure has on its y axis; a share is that of each part of the point in the whole.
enum class Measure { Rate, Time, Share };
template <>
inline constexpr std::array<NameTable<Measure>, 3> names<Measure>{
    {{"tflops", Measure::Rate}, {"time_us", Measure::Time}, {"share_percent", Measure::Share}}};

/// A variable of the sweep and the values it takes: whole numbers or words.
struct Variable {
    std::string name;
    std::vector<std::string> values;
};

/// One op: its kind (gemm, attention, stream, layer, model) and the columns of its row in a bulk file. In an experiment
/// the columns are expressions in the variables, in a point their values.
struct Row {
    std::string kind;
    Fields columns;
};

/// A claim as a predicate that `judge` knows by name, with its figures.
struct Check {
    std::string kind;
    std::vector<std::string> at;  ///< cells, "x" or "x|series"
    double least = 0.0;
    double most = 0.0;
    std::string full;      ///< of a ladder: from where on there is full speed
    std::string device{};  ///< how the names of devices begin that it is about; empty: all that no check names
};

/// A value that was published, by where it stands in the experiment's table.
struct Published {
    std::string device;  ///< how the names of such devices begin: "a100"
    std::string x;
    std::string series;
    double y = 0.0;
    std::string apart{};  ///< why predictions are not compared with it; empty: they are
};

struct Experiment {
    std::string name;
    std::int64_t order = 0;  ///< its place in lists
    std::string title;
    std::string figure;  ///< where it is in the paper
    std::string claim;   ///< the paper's statement, in a sentence
    std::string source;  ///< of the published values
    std::string note;    ///< what to know when reading the figures; may be empty
    std::string x, series;
    std::string x_label, series_label;
    bool log_x = false;
    bool means = false;  ///< table and claim are about the mean of each series, which stands under x there
    Measure measure = Measure::Rate;
    std::string flops;  ///< an expression, where the published count is not that of the ops
    Clock clock = Clock::Burst;
    Precision precision = Precision::Fp16;
    std::vector<std::string> devices;  ///< compared with each other, as the series; empty: the one asked for
    std::vector<Variable> variables;   ///< every combination of their values …
    std::vector<Fields> cases;         ///< … with every case
    std::vector<std::string> whole;    ///< expressions that must come out whole
    std::vector<Row> rows;             ///< the ops of a point, one after another
    std::vector<std::string> table;    ///< the values of x that tables show; empty: all
    std::vector<Check> checks;
    std::vector<Published> published;
};

/// One point of the sweep: where it lies in the figure, and the rows that are run for it.
struct SweepPoint {
    std::string x, series;
    std::optional<double> flops;  ///< when the experiment states its own count
    std::vector<Row> rows;
};

inline constexpr std::size_t most_points = 20'000;  ///< of a sweep; what would come after is left out

/// Every point of the sweep in the precision given; those whose expressions do not come out whole are left out.
std::vector<SweepPoint> expand(const Experiment& experiment, Precision precision);

/// The checks that are about a device.
std::vector<Check> checks_for(const Experiment& experiment, std::string_view device);

/// The names of the checks there are.
std::vector<std::string> check_names();

}  // namespace tilewright

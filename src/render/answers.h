// Every answer as text and as JSON. A document names its schema: tilewright.predict/2, ….
#pragma once

#include <string>
#include <vector>

#include "render/chart.h"
#include "render/style.h"
#include "tilewright/answer.h"
#include "tilewright/captured.h"
#include "tilewright/fit.h"
#include "tilewright/report.h"
#include "tilewright/runtime.h"
#include "tilewright/served.h"

namespace tilewright::render {

std::string predict_text(const Prediction& prediction, const Style& style);
std::string predict_json(const Prediction& prediction);

/// The kernels of the step with their terms, in one unit; each row's terms add up to its time, and so do the sums.
std::string why_text(const Prediction& prediction, const Style& style);

std::string compare_text(const Comparison& comparison, const Style& style);
std::string compare_json(const Comparison& comparison);

/// Which GPU?
std::string gpus_text(const GpuComparison& comparison, const Style& style);
std::string gpus_json(const GpuComparison& comparison);

/// With the `most` modules and kernels that take longest.
inline constexpr std::size_t usually_listed = 12;
std::string captured_text(const CapturePrediction& prediction, std::size_t most, const Style& style);
std::string captured_json(const CapturePrediction& prediction);

std::string lint_text(const Lint& lint, const Style& style);
std::string lint_json(const Lint& lint);

std::string advise_text(const Advice& advice, const Style& style);  ///< one screen
std::string advise_json(const Advice& advice);

std::string search_text(const SearchAnswer& answer, const Style& style);
std::string search_json(const SearchAnswer& answer);

std::string plan_text(const PlanAnswer& answer, const Style& style);
std::string plan_json(const PlanAnswer& answer);
std::string serving_text(const ServingAnswer& answer, const Style& style);
std::string serving_json(const ServingAnswer& answer);

/// One file that needs torch alone: every shape with its promise, a decoder of any of them, its training step, a
/// stopwatch, and the table of promised against measured.
std::string prove_program(const Proof& proof);
/// What is promised; `path` is the program's, empty where it is not said how to run it.
std::string prove_text(const Proof& proof, const std::string& path, const Style& style);
std::string prove_json(const Proof& proof, const std::string& path);

std::string report_json(const std::vector<Report>& reports);

/// A catalogue entry and where it comes from: "built in", or the file that adds or overrides it.
struct ListedModel {
    Shape shape;
    ParameterCount params;
    std::string origin;
};
struct ListedDevice {
    Device device;
    Profile profile;
    std::string origin;
    std::string profile_file;  ///< the user's own; empty: built in
    double age_days = 0.0;     ///< of that file
};
struct ListedRuntime {
    Runtime runtime;
    std::string origin;
};
std::string runtimes_text(const std::vector<ListedRuntime>& runtimes, const Style& style);
std::string runtimes_json(const std::vector<ListedRuntime>& runtimes);
std::string models_text(const std::vector<ListedModel>& models, const Style& style);
std::string models_json(const std::vector<ListedModel>& models);
std::string devices_text(const std::vector<ListedDevice>& devices, const Style& style);
std::string devices_json(const std::vector<ListedDevice>& devices);

/// One fit: what was learnt, for which device, written to which file.
struct LearntProfile {
    Fit fit;
    std::string device;
    std::string output;
};
std::string fit_text(const LearntProfile& learnt, const Style& style);
std::string fit_json(const LearntProfile& learnt);

/// Several, by their errors in short.
std::string profiles_text(const std::vector<LearntProfile>& learnt, const Style& style);
std::string profiles_json(const std::vector<LearntProfile>& learnt);

/// `plan --phase serve`.
std::string served_text(const ServeAnswer& answer, const Style& style);
std::string served_json(const ServeAnswer& answer);
std::string served_html(const ServeAnswer& answer);

/// The load and its limits in words.
std::string served_words(const ServeAnswer& answer);

/// How the GPUs of one replica are split.
std::string replica_words(const Parallelism& parallel);
/// The command lines of `predict` that price a plan's usual steps; empty where it has no such step.
struct StepFlags {
    std::string decode, chunk;
};
StepFlags step_flags(const ServePlan& plan, const ServeAnswer& answer);

/// Why there is no plan within the limits, and what would be possible; empty where there is one.
std::string unmet_text(const ServeAnswer& answer);

/// What an output token of the best plan takes, and what that rests on.
std::vector<std::string> cost_words(const ServePlan& best, const ServeAnswer& answer);

/// Throughput against time per output token, where no way to serve does better in both.
Chart frontier_chart(const std::vector<FrontierPoint>& frontier);

}  // namespace tilewright::render

// What `lint` shows, as text and as JSON (schema tilewright.lint/1).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "render/json.h"
#include "render/prediction.h"
#include "tilewright/lint.h"
#include "tilewright/names.h"

namespace tilewright {

template <>
inline constexpr std::array<NameTable<Severity>, 3> names<Severity>{
    {{"info", Severity::Info}, {"warning", Severity::Warning}, {"error", Severity::Error}}};

}  // namespace tilewright

namespace tilewright::render {

/// What was linted, and what was found.
struct LintReport {
    Shape shape;
    Workload workload;
    Device device;
    Evidence evidence = Evidence::Assumed;
    std::optional<Cost> step;  ///< empty when the workload cannot run
    double min_cost = 0.01;
    std::vector<Finding> findings;  ///< costliest first
    std::vector<std::string> used;
};

std::string lint_text(const LintReport& report, const Style& style);
std::string lint_json(const LintReport& report);

/// One finding: severity, code, what is off, what it costs, its fixes.
void append_finding(std::string& out, const Finding& finding, const Style& style);
void write_findings(JsonWriter& json, const std::vector<Finding>& findings);

/// "vocab 50257 -> 50304 saves 12.1 ms, +120 k parameters".
std::string fix_text(const Fix& fix);

}  // namespace tilewright::render

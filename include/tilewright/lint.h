// Sizing rules that a shape breaks on a given device, what each costs there, and what to change: lint(…) -> Findings.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/cost.h"
#include "tilewright/shape.h"
#include "tilewright/workload.h"

namespace tilewright {

enum class Severity { Info, Warning, Error };

/// A change that removes a finding: one dimension set to another value.
struct Fix {
    std::string dimension;  ///< "vocab", "heads", "ffn", "tp", "batch", …
    std::int64_t from = 0;
    std::int64_t to = 0;
    Seconds gain;  ///< step time saved; negative when the fix costs time
    std::int64_t parameter_change = 0;
};

/// A rule that this shape breaks here.
struct Finding {
    std::string_view code;  ///< "TW001", stable
    std::string_view rule;  ///< the fault's name: "vocabulary-not-aligned"
    Severity severity = Severity::Info;
    std::string quantity;              ///< what is off: "vocab 50257 is odd; …"
    std::vector<std::string> kernels;  ///< names of the kernels it slows
    Seconds cost;                      ///< of the step, on this device
    double share = 0.0;                ///< cost over step time
    std::vector<Fix> fixes;            ///< best gain first
};

/// Everything a rule may look at. The step is priced once and shared.
struct LintInput {
    const Shape& shape;
    const Workload& workload;
    const Pricer& pricer;
    const GraphCost& step;
};

/// A rule: one file under src/lint, one page under docs/rules, one row in the table.
struct Rule {
    std::string_view code;
    std::string_view name;
    std::string_view summary;  ///< one line
    std::vector<Finding> (*check)(const LintInput& input);
};

/// Every rule, by code.
std::span<const Rule> rules();

struct LintOptions {
    double min_cost = 0.01;  ///< share of the step from which a finding is a warning
};

/// All findings, costliest first. What makes the workload impossible is an Error, a cost of at least min_cost a
/// Warning, the rest Info.
std::vector<Finding> lint(const Shape& shape, const Workload& workload, const Pricer& pricer, LintOptions options = {});

}  // namespace tilewright

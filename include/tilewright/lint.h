// Sizing rules that a shape breaks on a given device, what each costs there, and what to change: lint(…) -> Findings.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/cost.h"
#include "tilewright/names.h"
#include "tilewright/shape.h"
#include "tilewright/workload.h"

namespace tilewright {

enum class Severity { Info, Warning, Error };
template <>
inline constexpr std::array<NameTable<Severity>, 3> names<Severity>{
    {{"info", Severity::Info}, {"warning", Severity::Warning}, {"error", Severity::Error}}};

/// A change that removes a finding: one dimension set to another value.
struct Fix {
    std::string dimension;  ///< "vocab", "heads", "ffn", "tp", "batch", …
    std::int64_t from = 0;
    std::int64_t to = 0;
    Seconds gain;  ///< step time saved at equal tokens and GPUs; 0 beside an Error
    std::int64_t parameter_change = 0;
    Seconds removes{};        ///< of the finding's cost, which is at equal work; the gain may have other causes too
    Seconds step{};           ///< what the step takes once the change is made; 0 beside an Error
    bool other_work = false;  ///< the changed step does more or less work, and the gain is at equal work
};

/// A rule that this shape breaks here.
struct Finding {
    std::string_view code;  ///< "TW001", stable
    std::string_view rule;  ///< the fault's name: "vocabulary-not-aligned"
    Severity severity = Severity::Info;
    std::string quantity;              ///< what is off: "vocab 50257 is odd; …"
    std::vector<std::string> kernels;  ///< names of the kernels it slows
    Seconds cost;                      ///< the most that a fix removes of the step; 0 for an Error, which has none
    double share = 0.0;                ///< cost over step time
    std::vector<Fix> fixes;            ///< best gain first
    bool later = false;                ///< not there yet: it shows once a fix is made, which `quantity` names
};

/// Everything a rule may look at. The step is priced once and shared.
struct LintInput {
    const Shape& shape;
    const Workload& workload;
    const Pricer& pricer;
    const GraphCost& step;  ///< without kernels when the shape cannot run in the workload
    Seconds floor{};        ///< what is not worth a word, set by lint(): a fault that costs less is no finding
};

/// A rule: one check under src/lint, one page under docs/rules, one row in the table.
struct Rule {
    std::string_view code;
    std::string_view name;
    std::string_view summary;                               ///< one line
    std::vector<Finding> (*check)(const LintInput& input);  ///< leaves code, rule and share to lint()
    Severity worst = Severity::Warning;                     ///< of what can run, however much it costs
};

/// Every rule, by code.
std::span<const Rule> rules();

struct LintOptions {
    double min_cost = 0.01;  ///< share of the step from which a finding is a warning
};

/// All findings: Errors, then the costliest first. What makes the workload impossible is an Error, a cost of at least
/// min_cost a Warning, the rest Info. Shape and workload must each be valid alone; together they need not be.
/// Every fix was tried: the whole table was run on the changed shape, the finding was gone and no error had come, nor a
/// warning of the dimension that the fix moves or of kernels that it slows. What else was hidden behind the fault is
/// told as Info at no cost ("once batch is 64: …"), last. No fix takes tokens from the vocabulary or costs time, and
/// none moves a dimension against a costlier finding's best.
std::vector<Finding> lint(const Shape& shape, const Workload& workload, const Pricer& pricer, LintOptions options = {});

/// The same of a step that is priced already.
std::vector<Finding> lint(const LintInput& input, LintOptions options = {});

/// Makes the change a fix proposes.
void apply(const Fix& fix, Shape& shape, Workload& workload);

}  // namespace tilewright

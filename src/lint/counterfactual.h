// What all rules share. A fault is priced by a counterfactual: the step is lowered and priced again with one dimension
// changed, and its time, scaled to the same work, is compared with the real one. docs/rules/README.md has the
// definition.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/lint.h"

namespace tilewright::checks {

using Findings = std::vector<Finding>;

/// Shape and workload as a fix would have them.
struct Changed {
    Shape shape;
    Workload workload;
};
Changed changed_by(const LintInput& input, const Fix& fix);

/// The step as it would be with one dimension changed.
struct Trial {
    Fix change;
    GraphCost step;
    double scale = 1.0;  ///< FLOPs of the real step over FLOPs of this one
};

/// Empty when the changed shape cannot run, or the real one cannot.
std::optional<Trial> attempt(const LintInput& input, std::string_view dimension, std::int64_t value);

/// Whether the device's memory holds the step as the fix would have it.
bool fits(const LintInput& input, const Fix& fix);

/// By how many parameters the fix changes the model; it must leave a valid shape.
std::int64_t parameter_change(const LintInput& input, const Fix& fix);

/// Every other head size that fused kernels take, hidden and layers kept: by way of `heads` where they split the hidden
/// size, of `head_dim` where they do not.
std::vector<Trial> attempt_head_sizes(const LintInput& input);

/// What the real step takes longer than the changed one at equal work, the optimizer left out of both.
Seconds saved(const LintInput& input, const Trial& trial);

/// Kernels among which a cause is looked for.
enum class Part { Attention, Rest };

/// Of that, what one term of a part's kernels loses. Of products that are not aligned only the term Alignment counts.
Seconds saved(const LintInput& input, const Trial& trial, Term term, Part part);

/// Of that, all that the products save that are not aligned: whatever the family of kernels that is left to them loses
/// besides is due to it too.
Seconds saved_by_alignment(const LintInput& input, const Trial& trial);

/// The lowered op that a kernel is, or is part of.
inline std::string_view lowered_name(const Op& op) { return op.origin.empty() ? op.name : op.origin; }

/// Of what a product loses, the share of alignment from which on all of it is put down to that.
constexpr double alignment_decides = 0.1;

/// A trial and how much of the real step's time it shows to be the fault's.
struct Verdict {
    Trial trial;
    Seconds cost;
};

/// The nearest above the present value, and the nearest below, that leave nothing worth a word to be saved further on.
std::vector<Verdict> nearest_good(const LintInput& input, std::vector<Verdict> verdicts);

/// The finding those verdicts make, each a fix; none when they are not worth a word.
Findings findings(const LintInput& input, const std::vector<Verdict>& verdicts, std::string quantity);

/// The nearest multiples of `unit` below and above a value that is none itself; nothing further off than an eighth.
std::vector<std::int64_t> nearest_multiples(std::int64_t value, std::int64_t unit);

/// The present value of a dimension that a Fix can name.
std::int64_t value_of(const LintInput& input, std::string_view dimension);

/// Whether head_dim is hidden / heads, so that changing the one moves the other.
bool heads_split_hidden(const Shape& shape);

/// "vocab 50257"
std::string named_value(const LintInput& input, std::string_view dimension);

}  // namespace tilewright::checks

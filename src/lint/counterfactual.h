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
std::vector<Finding> findings(const LintInput& input, const std::vector<Verdict>& verdicts, std::string quantity);

/// The nearest multiples of `unit` below and above a value that is none itself; nothing further off than an eighth.
std::vector<std::int64_t> nearest_multiples(std::int64_t value, std::int64_t unit);

/// The present value of a dimension that a Fix can name.
std::int64_t value_of(const LintInput& input, std::string_view dimension);

/// Whether head_dim is hidden / heads, so that changing the one moves the other.
bool heads_split_hidden(const Shape& shape);

/// "vocab 50257"
std::string named_value(const LintInput& input, std::string_view dimension);

/// A dimension whose value, over `shards` GPUs, decides how fast kernels of a part read it; legal values are multiples
/// of `step`.
struct Subject {
    std::string_view dimension;
    std::int64_t shards = 1;
    std::int64_t step = 1;
    Part part = Part::Rest;
};

/// The finding for a badly aligned dimension, and the multiple its shard should have.
struct Misalignment {
    Finding finding;
    std::int64_t wanted = 0;
};

/// Tries the nearest multiples of 8, 16, 32, 64 and 128 both ways; empty when none of them is worth a word.
std::optional<Misalignment> misalignment(const LintInput& input, const Subject& subject);

/// An Error: `dimension` is not a multiple of the parallel size `divisor` ("tp", "pp"). Fixes move either of them.
Finding indivisible(const LintInput& input, std::string_view dimension, std::string_view divisor);

/// A finding when a product is past an edge whose cost the term holds, and a nearby width or batch is not.
std::vector<Finding> past_an_edge(const LintInput& input, Term term, bool (*past)(const Gemm&, const Cost&));

}  // namespace tilewright::checks

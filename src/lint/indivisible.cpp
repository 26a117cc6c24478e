// What does not divide cannot be shared out evenly. There is no step to price; the fixes are the nearest values that
// divide, both ways, of either number.
#include <algorithm>

#include "lint/counterfactual.h"

namespace tilewright::checks {
namespace {

bool divides(const LintInput& input, const Fix& fix, std::string_view dimension, std::string_view divisor) {
    Shape shape = input.shape;
    Workload workload = input.workload;
    apply(fix, shape, workload);
    if (!validate(shape).empty() || !validate(workload).empty()) return false;
    const LintInput changed{shape, workload, input.pricer, input.step, input.floor};
    return value_of(changed, dimension) % value_of(changed, divisor) == 0;
}

}  // namespace

Finding indivisible(const LintInput& input, std::string_view dimension, std::string_view divisor) {
    Finding result;
    result.severity = Severity::Error;
    result.quantity = named_value(input, dimension) + " does not divide by " + named_value(input, divisor);
    for (const std::string_view moved : {dimension, divisor}) {
        const std::int64_t from = value_of(input, moved);
        for (const std::int64_t direction : {-1, 1}) {
            // Down to one or up to twice as many: further off, it is another model.
            for (std::int64_t distance = 1; distance <= from - (direction < 0 ? 1 : 0); ++distance) {
                Fix fix{std::string(moved), from, from + direction * distance, {}, 0};
                if (!divides(input, fix, dimension, divisor)) continue;
                fix.parameter_change = parameter_change(input, fix);
                result.fixes.push_back(fix);
                break;
            }
        }
    }
    return result;
}

}  // namespace tilewright::checks

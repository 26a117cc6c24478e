// TW014. The batched products of attention have b*a/t members; it is a whole number whenever the heads divide.
#include "lint/counterfactual.h"
#include "lint/rules.h"

namespace tilewright::checks {

Findings batch_heads_not_divisible_by_tp(const LintInput& input) {
    const std::int64_t tp = input.workload.parallel.tp;
    if (input.workload.batch % tp * (input.shape.heads % tp) % tp == 0) return {};
    Finding found = indivisible(input, "heads", "tp");
    found.quantity = named_value(input, "batch") + " times " + named_value(input, "heads") + " over " +
                     named_value(input, "tp") + " is not a whole number";
    return {found};
}

}  // namespace tilewright::checks

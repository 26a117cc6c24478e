// What was learnt of a product beyond physics: a factor on its time, held between what physics allows and, for a batch,
// what its halves take.
#include <algorithm>

#include "cost/explain.h"
#include "cost/features.h"
#include "tilewright/cost.h"

namespace tilewright {

/// Half a batch takes no longer, and run twice no less: so a batch never takes more than its products one after another
/// (the library splits k of single products only). Physics grows so by itself, and is held against one product only.
double Pricer::learnt_time(const Gemm& gemm, const Physics& physics) const {
    const Correction& correction = profile().gemm_corrections[has_narrow_rows(gemm) ? 1 : 0];
    const bool learnt = !correction.trees.empty() && (gemm.batch <= 1 || correction.of_batches > 0.0);
    double time = physics.time;
    if (learnt) time *= correction.factor(time, gemm_features(gemm, device()));
    if (gemm.batch > 1) {
        Gemm fewer = gemm;
        fewer.batch = learnt ? ceil_div(gemm.batch, 2) : 1;
        const double part = learnt_time(fewer, physical_time(fewer));
        time = std::clamp(time, part, part * static_cast<double>(ceil_div(gemm.batch, fewer.batch)));
    }
    return std::max(time, physics.roofline);
}

Cost Pricer::burst(const Gemm& gemm) const {
    Cost cost = physics(gemm);
    const Interval within = interval(profile(), class_of(gemm), cost.bound);
    cost.low = cost.time * within.low;
    cost.high = cost.time * within.high;
    const double time = learnt_time(gemm, {cost.time.value, cost.term(Term::Roofline).value});
    if (time != cost.time.value) move_to(cost, time);
    return cost;
}

}  // namespace tilewright

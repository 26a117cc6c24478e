// The price of a kernel that streams memory: its bytes at the bandwidth a large copy reaches, and a ramp that small
// ones feel.
#include "cost/explain.h"
#include "tilewright/cost.h"

namespace tilewright {
namespace {

/// Rows that are not whole 8-byte words lose the vector loads of the norm kernels: 0.93 ms against 0.60 ms for a layer
/// norm of 8192 rows of about 14336 on an A100 (the paper's experiments).
double row_slowdown(const Stream& stream) {
    return stream.kind == StreamKind::Norm && stream.width % 4 != 0 ? 1.55 : 1.0;
}

}  // namespace

Cost Pricer::burst(const Stream& stream) const {
    const double memory = (stream.read + stream.written).value * seconds_per_byte_;
    const double reached = memory / profile_.stream.fraction[static_cast<std::size_t>(stream.kind)];
    const double aligned = reached * row_slowdown(stream);
    const double ramp = profile_.stream.ramp.value * seconds_per_byte_;
    const double total = aligned + ramp + profile_.stream.launch.value;

    Explanation explanation;
    explanation.reach(Term::Roofline, memory);
    explanation.reach(Term::Memory, reached);
    explanation.reach(Term::Alignment, aligned);
    explanation.reach(Term::Occupancy, aligned + ramp);
    explanation.reach(Term::Launch, total);
    const Bound bound = aligned < 0.5 * total ? Bound::Latency : Bound::Memory;
    Cost cost = explanation.finish(bound, profile_.stream_evidence, interval(profile_, KernelClass::Stream, bound));
    cost.energy_j = profile_.power.memory.value * memory;
    return cost;
}

}  // namespace tilewright

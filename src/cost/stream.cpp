// The price of a kernel that streams memory: its bytes at the bandwidth that its kind reaches, after what starting it
// takes and what one row takes the thread block that walks it.
#include "cost/explain.h"
#include "tilewright/cost.h"

namespace tilewright {
namespace {

constexpr std::int64_t whole_words = 8;  ///< elements of two bytes in 16 bytes

}  // namespace

Cost Pricer::burst(const Stream& stream) const {
    const auto& kernels = stream.form == StreamForm::Eager ? profile_.stream.eager : profile_.stream.fused;
    const StreamKernel& kernel = kernels[static_cast<std::size_t>(stream.kind)];
    const double memory = (stream.read + stream.written).value * seconds_per_byte_;
    const double reached = memory / kernel.fraction;
    const double aligned = stream.width % whole_words == 0 ? reached : reached * kernel.ragged;
    const double walked = aligned + kernel.element.value * static_cast<double>(stream.width);
    const double total = walked + kernel.launch.value;

    Explanation explanation;
    explanation.reach(Term::Roofline, memory);
    explanation.reach(Term::Memory, reached);
    explanation.reach(Term::Alignment, aligned);
    explanation.reach(Term::Occupancy, walked);
    explanation.reach(Term::Launch, total);
    const Bound bound = aligned < 0.5 * total ? Bound::Latency : Bound::Memory;
    Cost cost = explanation.finish(bound, profile_.stream_evidence, interval(profile_, KernelClass::Stream, bound));
    cost.clocked = {walked - memory};
    cost.energy_j = profile_.power.memory.value * memory;
    return cost;
}

}  // namespace tilewright

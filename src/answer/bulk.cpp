// Prices of bulk rows, whatever kind they are of.
#include "answer/priced.h"

namespace tilewright {
namespace {

struct Size {
    std::int64_t params = 0;
    Bytes memory;
};

Size size_of(const Shape& shape, const Workload& workload, const Pricer& pricer) {
    return {count_parameters(shape).total, memory(shape, workload, pricer).total};
}

/// What one more layer takes: whatever the model has besides its layers cancels out.
Size size_of_layer(Shape shape, const Workload& workload, const Pricer& pricer) {
    shape.layers = 1;
    const Size one = size_of(shape, workload, pricer);
    shape.layers = 2;
    const Size two = size_of(shape, workload, pricer);
    return {two.params - one.params, two.memory - one.memory};
}

RowPrice price_stack(const Described& row, const Pricer& pricer) {
    const auto& [shape, workload, whole] = std::get<Stack>(row.work);
    const OpGraph graph = lower(row);
    const GraphCost kernels = price(graph, pricer);
    RowPrice priced{kernels.sum, 0, total_flops(graph), {}};
    const auto takes = [&cost = priced.cost](Seconds time, Seconds low, Seconds high) {
        cost.time = time;
        cost.low = low;
        cost.high = high;
    };
    if (!whole) {
        const Interval within = interval_of(kernels.sum, spread_of(workload, shape));
        takes(kernels.sum.time, kernels.sum.time * within.low, kernels.sum.time * within.high);
    } else if (answer::is_split(workload)) {
        const Step step = price_step(shape, workload, pricer);
        takes(step.time, step.low, step.high);
    } else {
        const StepTime step = step_time(kernels, shape, workload);
        takes(step.timeline.time, step.low, step.high);
    }
    const Size size = whole ? size_of(shape, workload, pricer) : size_of_layer(shape, workload, pricer);
    priced.params = size.params;
    priced.memory = size.memory;
    return priced;
}

/// What a block's kernels are off by together, besides each alone (docs/accuracy/engines.md).
constexpr double block_widening = 1.1;

struct RowPricer {
    const Described& row;
    const Pricer& pricer;

    RowPrice operator()(const Stack&) const { return price_stack(row, pricer); }
    RowPrice operator()(const LatentCall& call) const {
        Cost cost = price(lower(row), pricer).sum;
        if (call.whole) {
            cost.low = cost.low / block_widening;
            cost.high = cost.high * block_widening;
        }
        return {cost, 0, {}, {}};
    }
    RowPrice operator()(Gemm gemm) const {
        if (gemm.precision == Precision::Fp8 && gemm.quantization == Quantization::None) {  // a layer's, from 16 bits
            gemm.quantization = Quantization::Fp8;
            gemm.quantizes = true;
        }
        return {pricer.price(gemm), 0, {}, {}};
    }
    template <class Work>
    RowPrice operator()(const Work& work) const {
        if constexpr (requires { pricer.price(work); }) {
            return {pricer.price(work), 0, {}, {}};
        } else {  // several kernels, one after another
            return {price(lower(row), pricer).sum, 0, {}, {}};
        }
    }
};

}  // namespace

RowPrice price_row(const Described& row, const Pricer& pricer) { return std::visit(RowPricer{row, pricer}, row.work); }

}  // namespace tilewright

// Prices of bulk rows. Times are in microseconds, as the columns say.
#include "cli/bulk_columns.h"

#include <array>

#include "render/csv.h"
#include "tilewright/cost.h"
#include "tilewright/host.h"
#include "tilewright/memory.h"
#include "tilewright/profile.h"

namespace tilewright::cli {
namespace {

using render::append_field;
using render::append_rounded;

constexpr std::string_view gemm_added = "predicted_us,low_us,high_us,bound,tile_m,tile_n,waves,evidence";
constexpr std::string_view attention_added = "predicted_us,low_us,high_us,bound,waves,evidence";
constexpr std::string_view stack_added = "predicted_us,low_us,high_us,params,flops,memory_bytes,evidence";

void append_times(std::string& line, const Cost& cost) {
    for (const Seconds time : {cost.time, cost.low, cost.high}) append_rounded(line, in_microseconds(time));
}

void price_gemm(const Described& row, const BulkContext& context, std::string& line) {
    Gemm gemm = std::get<Gemm>(row.work);
    if (gemm.precision == Precision::Fp8 && gemm.quantization == Quantization::None) {  // a layer's, from 16 bits
        gemm.quantization = Quantization::Fp8;
        gemm.quantizes = true;
    }
    const Cost cost = context.pricer(row.clock).price(gemm);
    append_times(line, cost);
    append_field(line, name_of(cost.bound));
    append_field(line, std::int64_t{cost.tile_m});
    append_field(line, std::int64_t{cost.tile_n});
    append_rounded(line, cost.waves);
    append_field(line, name_of(cost.evidence));
}

void price_attention(const Described& row, const BulkContext& context, std::string& line) {
    const Cost cost = context.pricer(row.clock).price(std::get<Attention>(row.work));
    append_times(line, cost);
    append_field(line, name_of(cost.bound));
    append_rounded(line, cost.waves);
    append_field(line, name_of(cost.evidence));
}

constexpr std::string_view kernel_added = "predicted_us,low_us,high_us,bound,evidence";

/// Whatever is one kernel.
template <class Work>
void price_kernel(const Described& row, const BulkContext& context, std::string& line) {
    const Cost cost = context.pricer(row.clock).price(std::get<Work>(row.work));
    append_times(line, cost);
    append_field(line, name_of(cost.bound));
    append_field(line, name_of(cost.evidence));
}

/// Latent attention's core, or the kernels of the block around it one after another.
void price_latent(const Described& row, const BulkContext& context, std::string& line) {
    const Cost cost = price(lower(row), context.pricer(row.clock)).sum;
    append_times(line, cost);
    append_field(line, name_of(cost.bound));
    append_field(line, name_of(cost.evidence));
}

/// What a layer or a model needs besides time.
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

void price_stack(const Described& row, const BulkContext& context, std::string& line) {
    const auto& [shape, workload, whole] = std::get<Stack>(row.work);
    const OpGraph graph = lower(row);
    const Pricer& pricer = context.pricer(row.clock);
    const GraphCost kernels = price(graph, pricer);
    Cost cost = kernels.sum;
    if (whole) {  // as a stopwatch shows it
        const StepTime step = step_time(kernels, shape, workload);
        cost.time = step.timeline.time;
        cost.low = step.low;
        cost.high = step.high;
    }
    const Size size = whole ? size_of(shape, workload, pricer) : size_of_layer(shape, workload, pricer);
    append_times(line, cost);
    append_field(line, size.params);
    append_field(line, total_flops(graph).value);
    append_field(line, size.memory.value);
    append_field(line, name_of(cost.evidence));
}

constexpr std::array<BulkColumns, 8> bulk_kinds = {{
    {"gemm", gemm_added, price_gemm},
    {"attention", attention_added, price_attention},
    {"layer", stack_added, price_stack},
    {"model", stack_added, price_stack},
    {"moe", kernel_added, price_kernel<ExpertMlp>},
    {"mla", kernel_added, price_latent},
    {"alltoall", kernel_added, price_kernel<Exchange>},
    {"collective", kernel_added, price_kernel<Collective>},
}};

}  // namespace

std::span<const BulkColumns> bulk_columns() { return bulk_kinds; }

}  // namespace tilewright::cli

// Prices of bulk rows. Times are in microseconds, as the columns say.
#include "cli/bulk_columns.h"

#include <array>

#include "render/csv.h"
#include "tilewright/cost_names.h"
#include "tilewright/device_names.h"

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

void price_gemm(const read::GemmRow& row, const BulkContext& context, std::string& line) {
    const Cost cost = context.pricer(row.clock).price(row.gemm);
    append_times(line, cost);
    append_field(line, name_of(cost.bound));
    append_field(line, std::int64_t{cost.tile_m});
    append_field(line, std::int64_t{cost.tile_n});
    append_rounded(line, cost.waves);
    append_field(line, name_of(cost.evidence));
}

void price_attention(const read::AttentionRow& row, const BulkContext& context, std::string& line) {
    const Cost cost = context.pricer(row.clock).price(row.attention);
    append_times(line, cost);
    append_field(line, name_of(cost.bound));
    append_rounded(line, cost.waves);
    append_field(line, name_of(cost.evidence));
}

/// What a layer or a model needs besides time.
struct Size {
    std::int64_t params = 0;
    Bytes memory;
};

Size size_of(const Shape& shape, const Workload& workload) {
    return {count_parameters(shape).total, memory(shape, workload).total};
}

/// What one more layer takes: whatever the model has besides its layers cancels out.
Size size_of_layer(Shape shape, const Workload& workload) {
    shape.layers = 1;
    const Size one = size_of(shape, workload);
    shape.layers = 2;
    const Size two = size_of(shape, workload);
    return {two.params - one.params, two.memory - one.memory};
}

void append_stack(std::string& line, const OpGraph& graph, const Pricer& pricer, const Size& size) {
    const Cost cost = price(graph, pricer).sum;
    append_times(line, cost);
    append_field(line, size.params);
    append_field(line, total_flops(graph).value);
    append_field(line, size.memory.value);
    append_field(line, name_of(cost.evidence));
}

void price_layer(const read::ModelRow& row, const BulkContext& context, std::string& line) {
    append_stack(line, lower_layer(row.shape, row.workload), context.pricer(row.workload.clock),
                 size_of_layer(row.shape, row.workload));
}

void price_model(const read::ModelRow& row, const BulkContext& context, std::string& line) {
    append_stack(line, lower(row.shape, row.workload), context.pricer(row.workload.clock),
                 size_of(row.shape, row.workload));
}

/// Reads a row with Read and prices it with Price.
template <auto Read, auto Price>
Problems read_and_price(const read::CsvTable& table, const read::CsvRow& row, const BulkContext& context,
                        std::string& line) {
    const auto value = Read(table, row, context.defaults);
    if (!value) return value.problems();
    Price(*value, context, line);
    return {};
}

constexpr std::array<BulkColumns, 4> kinds = {{
    {"gemm", read::BulkKind::Gemm, gemm_added, read_and_price<read::read_gemm_row, price_gemm>},
    {"attention", read::BulkKind::Attention, attention_added,
     read_and_price<read::read_attention_row, price_attention>},
    {"layer", read::BulkKind::Layer, stack_added, read_and_price<read::read_layer_row, price_layer>},
    {"model", read::BulkKind::Model, stack_added, read_and_price<read::read_model_row, price_model>},
}};

}  // namespace

std::span<const BulkColumns> bulk_columns() { return kinds; }

}  // namespace tilewright::cli

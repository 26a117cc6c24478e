// The columns of each kind of bulk file. Shapes are GPT style for a gelu MLP and Llama style for a swiglu one.
#include "read/bulk.h"

#include <algorithm>

#include "shape/defaults.h"
#include "tilewright/device_names.h"
#include "tilewright/quantity.h"

namespace tilewright::read {
namespace {

std::vector<std::string> required_columns(BulkKind kind) {
    switch (kind) {
        case BulkKind::Gemm: return {"layout", "m", "n", "k", "batch"};
        case BulkKind::Attention:
            return {"batch", "heads", "kv_heads", "q_len", "kv_len", "head_dim", "causal", "pass", "backend"};
        case BulkKind::Layer:
            return {"hidden", "heads", "kv_heads", "ffn",       "mlp",     "block",
                    "phase",  "batch", "seq",      "precision", "runtime", "attention"};
        case BulkKind::Collective: return {"kind", "ranks", "bytes"};
        case BulkKind::Model: break;
    }
    std::vector<std::string> columns = required_columns(BulkKind::Layer);
    columns.insert(columns.end(), {"layers", "vocab"});
    return columns;
}

template <class T>
Result<T> unless_bad(const CsvCells& cells, T value) {
    if (!cells.clean()) return cells.problems();
    return value;
}

/// No memory holds more elements than this, and a price of fewer overflows nothing.
void limit_elements(CsvCells& cells, const std::string& matrix, CheckedCount elements) {
    constexpr std::int64_t most = std::int64_t{1} << 50;
    const std::optional<std::int64_t> count = elements.value();
    if (!count || *count > most) cells.report(matrix + " has more than 2^50 elements", "make the sizes smaller");
}

Workload read_workload(CsvCells& cells, const Workload& defaults) {
    Workload workload = defaults;
    workload.phase = cells.required_word<Phase>("phase");
    workload.batch = cells.integer("batch", sizes);
    workload.seq = cells.integer("seq", sizes);
    workload.kv_len = cells.optional_integer("kv_len", sizes_or_none).value_or(0);
    workload.precision = cells.required_word<Precision>("precision");
    workload.runtime = cells.required_word<Runtime>("runtime");
    workload.attention = cells.required_word<AttentionBackend>("attention");
    workload.parallel.tp = cells.optional_integer("tp", sizes).value_or(defaults.parallel.tp);
    workload.clock = cells.word<Clock>("clock").value_or(defaults.clock);
    return workload;
}

/// Everything but layers and vocabulary.
Shape read_layer_shape(CsvCells& cells) {
    Shape shape = default_shape(cells.required_word<MlpKind>("mlp"));
    shape.hidden = cells.integer("hidden", sizes);
    shape.heads = cells.integer("heads", sizes);
    shape.kv_heads = cells.integer("kv_heads", sizes);
    shape.ffn = cells.integer("ffn", sizes);
    shape.head_dim = cells.optional_integer("head_dim", sizes_or_none).value_or(0);
    shape.block = cells.required_word<BlockForm>("block");
    shape.norms.kind = cells.word<NormKind>("norm").value_or(shape.norms.kind);
    shape.norms.per_layer = shape.block == BlockForm::Parallel ? 1 : 2;
    shape.tied = cells.flag("tied").value_or(shape.tied);
    shape.positions = cells.word<Positions>("positions").value_or(shape.positions);
    derive_sizes(shape);
    return shape;
}

/// A learned position table holds as many rows as the row at hand needs.
void finish(CsvCells& cells, ModelRow& row) {
    if (!cells.clean()) return;
    const bool learned = row.shape.positions == Positions::Learned;
    if (learned) row.shape.position_rows = std::max(row.workload.seq, row.workload.kv_len);
    cells.adopt(validate(row.shape));
    cells.adopt(validate(row.workload));
    if (cells.clean()) cells.adopt(validate(row.shape, row.workload));
}

void read_pass(CsvCells& cells, Workload& workload) {
    const std::optional<std::string> pass = cells.choice("pass", {"forward", "train"});
    if (!pass) return;
    workload.forward_only = *pass == "forward" && workload.phase == Phase::Train;
    if (*pass == "train" && workload.phase != Phase::Train) cells.refuse("pass", "forward where phase is not train");
}

}  // namespace

Result<CsvTable> read_bulk(std::string_view bytes, const std::string& where, BulkKind kind) {
    Result<CsvTable> table = read_csv(bytes, where);
    if (!table) return table;
    if (Problems missing = require_columns(*table, required_columns(kind)); !missing.empty()) return missing;
    return table;
}

Result<GemmRow> read_gemm_row(const CsvTable& table, const CsvRow& row, const Workload& defaults) {
    CsvCells cells(table, row);
    GemmRow out;
    Gemm& gemm = out.gemm;
    gemm.layout = cells.required_word<Layout>("layout");
    gemm.m = cells.integer("m", sizes);
    gemm.n = cells.integer("n", sizes);
    gemm.k = cells.integer("k", sizes);
    gemm.batch = cells.integer("batch", sizes);
    gemm.precision = cells.word<Precision>("dtype").value_or(defaults.precision);
    out.clock = cells.word<Clock>("clock").value_or(defaults.clock);
    limit_elements(cells, "A", CheckedCount(gemm.m * gemm.k) * gemm.batch);
    limit_elements(cells, "B", CheckedCount(gemm.n * gemm.k) * gemm.batch);
    limit_elements(cells, "C", CheckedCount(gemm.m * gemm.n) * gemm.batch);
    return unless_bad(cells, out);
}

Result<AttentionRow> read_attention_row(const CsvTable& table, const CsvRow& row, const Workload& defaults) {
    CsvCells cells(table, row);
    AttentionRow out;
    Attention& attention = out.attention;
    attention.batch = cells.integer("batch", sizes);
    attention.heads = cells.integer("heads", sizes);
    attention.kv_heads = cells.integer("kv_heads", sizes);
    attention.q_len = cells.integer("q_len", sizes);
    attention.kv_len = cells.integer("kv_len", sizes);
    attention.head_dim = cells.integer("head_dim", sizes);
    attention.causal = cells.required_flag("causal");
    attention.pass = cells.required_word<AttentionPass>("pass");
    attention.backend = cells.required_word<AttentionBackend>("backend");
    attention.precision = cells.word<Precision>("dtype").value_or(defaults.precision);
    out.clock = cells.word<Clock>("clock").value_or(defaults.clock);
    if (cells.clean() && attention.heads % attention.kv_heads != 0) {
        cells.refuse("kv_heads", "a divisor of heads, " + std::to_string(attention.heads));
    }
    const CheckedCount sequences = CheckedCount(attention.batch) * attention.heads;
    limit_elements(cells, "the product of queries and keys",
                   sequences * attention.q_len * std::max(attention.kv_len, attention.head_dim));
    limit_elements(cells, "the keys", sequences * attention.kv_len * attention.head_dim);
    return unless_bad(cells, out);
}

Result<Collective> read_collective_row(const CsvTable& table, const CsvRow& row) {
    CsvCells cells(table, row);
    Collective out;
    out.kind = cells.required_word<CollectiveKind>("kind");
    out.ranks = cells.integer("ranks", sizes);
    out.bytes = {cells.positive("bytes")};
    out.stride = cells.optional_integer("stride", sizes).value_or(1);
    out.direct = cells.choice("library", {"nccl", "direct"}).value_or("nccl") == "direct";
    return unless_bad(cells, out);
}

Result<ModelRow> read_layer_row(const CsvTable& table, const CsvRow& row, const Workload& defaults) {
    CsvCells cells(table, row);
    ModelRow out{read_layer_shape(cells), read_workload(cells, defaults)};
    out.shape.layers = 1;
    out.shape.vocab = out.workload.parallel.tp;  // the smallest that tensor parallelism can split
    read_pass(cells, out.workload);
    finish(cells, out);
    return unless_bad(cells, out);
}

Result<ModelRow> read_model_row(const CsvTable& table, const CsvRow& row, const Workload& defaults) {
    CsvCells cells(table, row);
    ModelRow out{read_layer_shape(cells), read_workload(cells, defaults)};
    out.shape.layers = cells.integer("layers", sizes);
    out.shape.vocab = cells.integer("vocab", sizes);
    finish(cells, out);
    return unless_bad(cells, out);
}

}  // namespace tilewright::read

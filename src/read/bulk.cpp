// The columns of each kind of bulk file. Shapes are GPT style for a gelu MLP and Llama style for a swiglu one.
#include "read/bulk.h"

#include <algorithm>

#include "read/csv.h"
#include "read/defaults.h"

namespace tilewright::read {
namespace {

using Columns = std::vector<std::string>;

/// Reads every row with `read_row`, which takes CsvCells and gives the value; what it gives counts when no problem was
/// met.
template <class T>
Result<BulkFile<T>> read_rows(std::string_view bytes, const std::string& where, const Columns& required,
                              T (*read_row)(CsvCells& cells)) {
    const Result<CsvTable> table = read_csv(bytes, where);
    if (!table) return table.problems();
    if (Problems missing = require_columns(*table, required); !missing.empty()) return missing;
    BulkFile<T> file;
    file.header = table->header;
    file.rows.reserve(table->rows.size());
    for (const CsvRow& row : table->rows) {
        CsvCells cells(*table, row);
        T value = read_row(cells);
        file.rows.push_back({row.line, row.text, cells.clean() ? Result<T>(std::move(value)) : cells.problems()});
    }
    return file;
}

GemmRow read_gemm_row(CsvCells& cells) {
    GemmRow row;
    row.gemm.layout = cells.required_word<Layout>("layout");
    row.gemm.m = cells.integer("m", sizes);
    row.gemm.n = cells.integer("n", sizes);
    row.gemm.k = cells.integer("k", sizes);
    row.gemm.batch = cells.integer("batch", sizes);
    row.gemm.precision = cells.word<Precision>("dtype").value_or(Precision::Bf16);
    row.clock = cells.word<Clock>("clock").value_or(Clock::Sustained);
    return row;
}

AttentionRow read_attention_row(CsvCells& cells) {
    AttentionRow row;
    Attention& attention = row.attention;
    attention.batch = cells.integer("batch", sizes);
    attention.heads = cells.integer("heads", sizes);
    attention.kv_heads = cells.integer("kv_heads", sizes);
    attention.q_len = cells.integer("q_len", sizes);
    attention.kv_len = cells.integer("kv_len", sizes);
    attention.head_dim = cells.integer("head_dim", sizes);
    attention.causal = cells.required_flag("causal");
    attention.pass = cells.required_word<AttentionPass>("pass");
    attention.backend = cells.required_word<AttentionBackend>("backend");
    attention.precision = cells.word<Precision>("dtype").value_or(Precision::Bf16);
    row.clock = cells.word<Clock>("clock").value_or(Clock::Sustained);
    if (cells.clean() && attention.heads % attention.kv_heads != 0) {
        cells.refuse("kv_heads", "a divisor of heads, " + std::to_string(attention.heads));
    }
    return row;
}

Workload read_workload(CsvCells& cells) {
    Workload workload;
    workload.phase = cells.required_word<Phase>("phase");
    workload.batch = cells.integer("batch", sizes);
    workload.seq = cells.integer("seq", sizes);
    workload.kv_len = cells.optional_integer("kv_len", sizes_or_none).value_or(0);
    workload.precision = cells.required_word<Precision>("precision");
    workload.runtime = cells.required_word<Runtime>("runtime");
    workload.attention = cells.required_word<AttentionBackend>("attention");
    workload.parallel.tp = cells.optional_integer("tp", sizes).value_or(1);
    workload.clock = cells.word<Clock>("clock").value_or(Clock::Sustained);
    return workload;
}

/// Everything but layers, vocabulary and positions.
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
    derive_sizes(shape);
    return shape;
}

void check_row(CsvCells& cells, ModelRow& row) {
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

ModelRow read_layer_row(CsvCells& cells) {
    ModelRow row{read_layer_shape(cells), read_workload(cells)};
    row.shape.layers = 1;
    row.shape.vocab = row.workload.parallel.tp;  // the smallest that tensor parallelism can split
    read_pass(cells, row.workload);
    check_row(cells, row);
    return row;
}

ModelRow read_model_row(CsvCells& cells) {
    ModelRow row{read_layer_shape(cells), read_workload(cells)};
    row.shape.layers = cells.integer("layers", sizes);
    row.shape.vocab = cells.integer("vocab", sizes);
    check_row(cells, row);
    return row;
}

const Columns layer_columns = {"hidden", "heads", "kv_heads", "ffn",       "mlp",     "block",
                               "phase",  "batch", "seq",      "precision", "runtime", "attention"};

}  // namespace

Result<BulkFile<GemmRow>> read_gemm_rows(std::string_view bytes, const std::string& where) {
    return read_rows(bytes, where, {"layout", "m", "n", "k", "batch"}, read_gemm_row);
}

Result<BulkFile<AttentionRow>> read_attention_rows(std::string_view bytes, const std::string& where) {
    return read_rows(bytes, where,
                     {"batch", "heads", "kv_heads", "q_len", "kv_len", "head_dim", "causal", "pass", "backend"},
                     read_attention_row);
}

Result<BulkFile<ModelRow>> read_layer_rows(std::string_view bytes, const std::string& where) {
    return read_rows(bytes, where, layer_columns, read_layer_row);
}

Result<BulkFile<ModelRow>> read_model_rows(std::string_view bytes, const std::string& where) {
    Columns columns = layer_columns;
    columns.insert(columns.end(), {"layers", "vocab"});
    return read_rows(bytes, where, columns, read_model_row);
}

}  // namespace tilewright::read

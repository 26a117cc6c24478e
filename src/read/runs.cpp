// A row is a bulk row of a whole model with its GPUs; every problem of the file is reported together.
#include "read/files.h"

#include "read/csv.h"
#include "shape/defaults.h"

namespace tilewright::read {
namespace {

Shape read_run_shape(CsvCells& cells) {
    Shape shape = default_shape(cells.word<MlpKind>("mlp").value_or(MlpKind::Plain));
    shape.hidden = cells.integer("hidden", sizes);
    shape.heads = cells.integer("heads", sizes);
    shape.layers = cells.integer("layers", sizes);
    shape.vocab = cells.integer("vocab", sizes);
    shape.kv_heads = cells.optional_integer("kv_heads", sizes_or_none).value_or(0);
    shape.ffn = cells.optional_integer("ffn", sizes_or_none).value_or(0);
    if (cells.flag("bias").value_or(true) == false) shape.bias = {};
    derive_sizes(shape);
    return shape;
}

void read_split(CsvCells& cells, PublishedRun& run) {
    constexpr Range zero_stages{0, 3};
    Parallelism& p = run.workload.parallel;
    const std::int64_t gpus = cells.integer("gpus", sizes);
    p.tp = cells.optional_integer("tp", sizes).value_or(1);
    p.pp = cells.optional_integer("pp", sizes).value_or(1);
    p.cp = cells.optional_integer("cp", sizes).value_or(1);
    p.zero_stage = static_cast<int>(cells.optional_integer("zero", zero_stages).value_or(0));
    p.sequence_parallel = cells.flag("sequence_parallel").value_or(false);
    if (!cells.clean()) return;
    const std::int64_t replica = p.tp * p.pp * p.cp;
    if (gpus % replica != 0) return cells.refuse("gpus", "a multiple of tp * pp * cp, " + std::to_string(replica));
    p.dp = gpus / replica;
}

void read_how(CsvCells& cells, PublishedRun& run) {
    Workload& work = run.workload;
    work.seq = cells.integer("seq", sizes);
    work.precision = cells.word<Precision>("precision").value_or(Precision::Bf16);
    work.runtime = cells.word<RuntimeId>("runtime").value_or(work.runtime);
    work.attention = cells.word<AttentionBackend>("attention").value_or(work.attention);
    work.overlap = cells.word<Overlap>("overlap").value_or(work.overlap);
    work.dropout = cells.flag("dropout").value_or(false);
    work.master = cells.word<MasterWeights>("master").value_or(MasterWeights::Fp32);
    run.global_batch = cells.integer("global_batch", sizes);
    if (const auto batch = cells.optional_integer("micro_batch", sizes)) run.micro_batch = {*batch};
    if (const auto stages = cells.optional_integer("virtual_stages", sizes)) run.virtual_stages = {*stages};
    if (const auto recompute = cells.word<Recompute>("recompute")) run.recompute = {*recompute};
    run.iteration_s = cells.positive("iteration_s");
}

}  // namespace

Result<std::vector<PublishedRun>> read_runs(std::string_view bytes, const std::string& where) {
    const Result<CsvTable> table = read_csv(bytes, where);
    if (!table) return table.problems();
    if (Problems missing = require_columns(*table, {"model", "cluster", "hidden", "heads", "layers", "vocab", "seq",
                                                    "gpus", "global_batch", "iteration_s"});
        !missing.empty()) {
        return missing;
    }
    std::vector<PublishedRun> runs;
    Problems problems;
    for (const CsvRow& row : table->rows) {
        CsvCells cells(*table, row);
        PublishedRun run;
        run.line = row.line;
        run.model = cells.label("model");
        run.source = cells.label("source");
        run.cluster = cells.label("cluster");
        run.shape = read_run_shape(cells);
        read_split(cells, run);
        read_how(cells, run);
        run.shape.position_rows = run.shape.positions == Positions::Learned ? run.workload.seq : 0;
        if (cells.clean()) cells.adopt(validate(run.shape));
        if (cells.clean()) cells.adopt(validate(run.workload));
        if (cells.clean()) cells.adopt(validate(run.shape, run.workload));
        problems.insert(problems.end(), cells.problems().begin(), cells.problems().end());
        runs.push_back(std::move(run));
    }
    if (!problems.empty()) return problems;
    return runs;
}

}  // namespace tilewright::read

// A row names a model, a GPU, formats, lengths, how many requests there are, the split and the metric; the engine is
// that of a column `runtime`, of the words in `software` or `source`, or the flag's.
#include "cli/bulk_serving.h"

#include "cli/options.h"
#include "render/csv.h"

namespace tilewright::cli {
namespace {

void take_runtime(read::CsvCells& cells, Workload& work) {
    if (const std::string name = cells.label("runtime"); !name.empty()) {
        const auto named = find_runtime(name);
        if (!named) return cells.refuse("runtime", "a name that tilewright runtimes lists");
        work.runtime = *named;
    } else if (const auto software = engine_in_words(cells.label("software"))) {
        work.runtime = *software;
    } else if (const auto source = engine_in_words(cells.label("source"))) {
        work.runtime = *source;
    }
}

/// 16-bit words are the precision; the rest are formats.
void take_formats(read::CsvCells& cells, Workload& work) {
    const auto weights = cells.word<Format>("weights"), activations = cells.word<Format>("activations");
    if (activations == Format::Fp16 || weights == Format::Fp16) work.precision = Precision::Fp16;
    if (weights && is_quantized(*weights)) work.formats.weights = weights;
    if (activations && is_quantized(*activations)) work.formats.activations = activations;
    if (const auto kv = cells.word<Format>("kv"); kv && is_quantized(*kv)) work.formats.kv = kv;
}

void take_split(read::CsvCells& cells, Parallelism& parallel) {
    using Ways = std::pair<const char*, std::int64_t Parallelism::*>;
    for (const auto& [column, field] : {Ways{"tp", &Parallelism::tp}, Ways{"pp", &Parallelism::pp},
                                        Ways{"dp", &Parallelism::dp}, Ways{"ep", &Parallelism::ep}}) {
        parallel.*field = cells.optional_integer(column, read::sizes).value_or(1);
    }
}

/// "64", "max throughput", "rate 16/s".
void take_batch(read::CsvCells& cells, ServingCase& asked) {
    std::string text = cells.label("batch");
    if (text == "max throughput" || text == "max" || text.empty()) return;
    if (const auto count = parse_count(text); count && *count >= 1) {
        asked.batch = *count;
        return;
    }
    if (text.starts_with("rate ")) text.erase(0, 5);
    if (text.ends_with("/s")) text.resize(text.size() - 2);
    const auto rate = parse_real(text);
    if (rate && *rate > 0) {
        asked.rate = *rate;
    } else {
        cells.refuse("batch", "a number, max throughput, or a rate such as rate 16/s");
    }
}

}  // namespace

Result<ServingRows> ServingRows::of(const read::CsvTable& table, const Arguments& arguments) {
    const Problems missing = read::require_columns(table, {"isl", "osl", "batch", "metric"});
    if (!missing.empty()) return missing;
    return ServingRows(table, arguments);
}

Result<ServingCase> ServingRows::case_of(read::CsvCells& cells) {
    ServingCase asked;
    Workload& work = asked.question.workload;
    work = in_phase(work, Phase::Decode);
    apply_workload_flags(*arguments_, work);
    work.phase = Phase::Decode;
    take_runtime(cells, work);
    take_formats(cells, work);
    take_split(cells, work.parallel);
    take_batch(cells, asked);
    asked.isl = cells.integer("isl", {1, 1 << 24});
    asked.osl = cells.integer("osl", {1, 1 << 24});
    asked.max_batch = cells.optional_integer("max_batch", read::sizes);
    asked.chunk = cells.optional_integer("chunk", read::sizes);
    asked.metric = cells.required_word<ServingMetric>("metric");
    const std::string own = cells.label("tw_model"), model = own.empty() ? cells.label("model") : own;
    const Result<FoundShape> shape = find_shape(model);
    if (!shape) return shape.problems();
    asked.question.shape = shape->file.shape;
    const std::string gpu = cells.label("gpu");
    auto device = devices_.find(gpu);
    if (device == devices_.end()) {
        const Result<FoundDevice> found = gpu.empty() ? device_of(*arguments_) : find_gpu(gpu);
        if (!found) return found.problems();
        device = devices_.emplace(gpu, *found).first;
    }
    asked.question.device = device->second.device;
    asked.question.profile = device->second.profile;
    deploy(asked.question);
    if (!arguments_->has("--host-scale")) use_own_host(asked.question);
    cells.adopt(validate(work));
    cells.adopt(validate(asked.question.shape, work));
    if (!cells.clean()) return cells.problems();
    return asked;
}

Problems ServingRows::price(const read::CsvRow& row, std::string& line) {
    read::CsvCells cells(*table_, row);
    const Result<ServingCase> asked = case_of(cells);
    if (!asked) {
        Problems problems = asked.problems();
        for (Problem& problem : problems) {
            if (problem.line == 0)
                problem = {table_->where, row.line, problem.where + ": " + problem.what, problem.fix};
        }
        return problems;
    }
    const ServingFigure figure = predict_serving(*asked);
    render::append_field(line, figure.value);
    render::append_field(line, figure.low);
    render::append_field(line, figure.high);
    render::append_field(line, name_of(figure.evidence));
    return {};
}

}  // namespace tilewright::cli

#include "cli/observations.h"

#include <algorithm>

#include "cli/files.h"
#include "read/bulk.h"
#include "read/gzip.h"
#include "tilewright/device_names.h"
#include "tilewright/sample.h"

namespace tilewright::cli {
namespace {

constexpr std::size_t largest_sample_file = std::size_t{1} << 30U;

Result<std::string> read_text(const std::string& path) {
    Result<std::string> bytes = read_whole(path, largest_sample_file);
    if (!bytes || !read::is_gzip(*bytes)) return bytes;
    return read::gunzip(*bytes, path, largest_sample_file);
}

Result<Observation> product_of(const read::CsvTable& table, const read::CsvRow& row) {
    const Result<read::GemmRow> read = read::read_gemm_row(table, row);
    if (!read) return read.problems();
    Observation seen;
    seen.op.work = read->gemm;
    seen.kin = kin_of(read->gemm);
    seen.family = std::string(name_of(read->gemm.precision)) + (read->gemm.batch > 1 ? " batched gemm" : " gemm");
    return seen;
}

Result<Observation> attention_of(const read::CsvTable& table, const read::CsvRow& row) {
    const Result<read::AttentionRow> read = read::read_attention_row(table, row);
    if (!read) return read.problems();
    Observation seen;
    seen.op.work = read->attention;
    seen.kin = kin_of(read->attention);
    seen.family = family_of(read->attention);
    return seen;
}

Result<Observation> collective_of(const read::CsvTable& table, const read::CsvRow& row) {
    const Result<Collective> read = read::read_collective_row(table, row);
    if (!read) return read.problems();
    Observation seen;
    seen.op.work = *read;
    seen.kin = kin_of(*read);
    seen.family = std::string(read->direct ? "direct " : "") + std::string(name_of(read->kind));
    return seen;
}

/// How each kind of file is told, by a column that only it has, and its rows read.
struct Form {
    std::string_view column;
    read::BulkKind kind;
    Result<Observation> (*see)(const read::CsvTable& table, const read::CsvRow& row);
};

constexpr Form forms[] = {{"q_len", read::BulkKind::Attention, attention_of},
                          {"ranks", read::BulkKind::Collective, collective_of},
                          {"layout", read::BulkKind::Gemm, product_of}};

/// Rows of a bulk file with a column latency_us. Whole shapes are held out.
Result<std::vector<Observation>> kernels_of(const std::string& bytes, const std::string& path) {
    const std::string_view header = std::string_view(bytes).substr(0, bytes.find('\n'));
    const Form* form = std::find_if(std::begin(forms), std::end(forms) - 1,
                                    [&](const Form& one) { return header.find(one.column) != std::string_view::npos; });
    const Result<read::CsvTable> table = read::read_bulk(bytes, path, form->kind);
    if (!table) return table.problems();
    if (const Problems missing = read::require_columns(*table, {"latency_us"}); !missing.empty()) return missing;
    std::vector<Observation> result;
    for (const read::CsvRow& row : table->rows) {
        Result<Observation> seen = form->see(*table, row);
        if (!seen) return seen.problems();
        read::CsvCells cells(*table, row);
        seen->time_s = cells.positive("latency_us") * 1e-6;
        seen->held_out = held_out_by_kin(seen->kin);
        if (!cells.clean()) return cells.problems();
        result.push_back(std::move(*seen));
    }
    return result;
}

/// A layer's sizes have the names of the columns of a bulk file, so they are read as one.
Result<TimedLayer> layer_of(const Sample& sample, const std::string& where) {
    std::string header, values;
    for (const auto& [name, value] : sample.sizes) {
        header += (header.empty() ? "" : ",") + name;
        values += (values.empty() ? "" : ",") + value;
    }
    const std::string text = header + "\n" + values + "\n";
    const Result<read::CsvTable> table = read::read_bulk(text, where, read::BulkKind::Layer);
    if (!table) return table.problems();
    const Result<read::ModelRow> row = read::read_layer_row(*table, table->rows.front());
    if (!row) return row.problems();
    return TimedLayer{lower_layer(row->shape, row->workload), sample.time.median_us * 1e-6, sample.clock, "", values};
}

}  // namespace

Result<std::vector<Observation>> read_observations(const std::string& path) {
    const Result<std::string> bytes = read_text(path);
    if (!bytes) return bytes.problems();
    if (path.ends_with(".csv") || path.ends_with(".csv.gz")) return kernels_of(*bytes, path);
    const Result<SampleFile> file = read_samples(*bytes, path);
    if (!file) return file.problems();
    return observe(file->samples);
}

Result<std::vector<TimedLayer>> read_layers(const std::string& path, const std::string& source) {
    const Result<std::string> bytes = read_text(path);
    if (!bytes) return bytes.problems();
    const Result<SampleFile> file = read_samples(*bytes, path);
    if (!file) return file.problems();
    std::vector<TimedLayer> result;
    for (const Sample& sample : file->samples) {
        if (sample.op != "layer" || sample.status != SampleStatus::Ok) continue;
        Result<TimedLayer> layer = layer_of(sample, path);
        if (!layer) return layer.problems();
        for (const char* word : {"runtime", "pass"}) {
            layer->kernel += ' ' + std::string(find_field(sample.sizes, word).value_or(""));
        }
        layer->kernel.insert(0, source);
        result.push_back(std::move(*layer));
    }
    return result;
}

}  // namespace tilewright::cli

#include "cli/learn.h"

#include <algorithm>

#include "cli/files.h"
#include "read/bulk.h"
#include "read/gzip.h"
#include "tilewright/profile.h"
#include "tilewright/read.h"

namespace tilewright::cli {
namespace {

constexpr std::size_t largest_sample_file = std::size_t{1} << 30U;

Result<std::string> read_text(const std::string& path) {
    Result<std::string> bytes = read_whole(path, largest_sample_file);
    if (!bytes || !read::is_gzip(*bytes)) return bytes;
    return read::gunzip(*bytes, path, largest_sample_file);
}

std::string group_of(const Gemm& gemm) {
    return std::string(name_of(gemm.precision)) + (gemm.batch > 1 ? " batched gemm" : " gemm");
}

std::string group_of(const Attention& attention) { return family_of(attention); }

std::string group_of(const Collective& collective) {
    return (collective.direct ? "direct " : "") + std::string(name_of(collective.kind));
}

template <class Work>
Observation seen_as(const Work& work) {
    Observation seen;
    seen.op.work = work;
    seen.kin = kin_of(work);
    seen.held_out = held_out_by_kin(seen.kin);
    seen.family = group_of(work);
    return seen;
}

Observation seen_as(const Described& described) {
    if (const auto* attention = std::get_if<Attention>(&described.work)) return seen_as(*attention);
    if (const auto* collective = std::get_if<Collective>(&described.work)) return seen_as(*collective);
    return seen_as(std::get<Gemm>(described.work));
}

/// The kind of a file of kernels, told by a column that only it has.
const OpKind& kind_of(std::string_view header) {
    const bool attention = header.find("q_len") != std::string_view::npos;
    const bool collective = header.find("ranks") != std::string_view::npos;
    return *find_op_kind(attention ? "attention" : collective ? "collective" : "gemm");
}

/// Rows of a bulk file with a column latency_us. Whole shapes are held out.
Result<std::vector<Observation>> kernels_of(const std::string& bytes, const std::string& path) {
    const OpKind& kind = kind_of(std::string_view(bytes).substr(0, bytes.find('\n')));
    const Result<read::BulkFile> file = read::read_bulk(bytes, path, kind);
    if (!file) return file.problems();
    if (const Problems missing = read::require_columns(file->table, {"latency_us"}); !missing.empty()) return missing;
    std::vector<Observation> result;
    for (const read::CsvRow& row : file->table.rows) {
        const Result<Described> described = read::read_row(*file, row);
        if (!described) return described.problems();
        read::CsvCells cells(file->table, row);
        Observation& seen = result.emplace_back(seen_as(*described));
        seen.time_s = cells.positive("latency_us") * 1e-6;
        seen.by_host = cells.flag("by_host").value_or(false);
        if (!cells.clean()) return cells.problems();
    }
    return result;
}

Result<TimedLayer> layer_of(const Sample& sample, const std::string& where) {
    const Result<Described> described = decode(*find_op_kind("layer"), sample.sizes, {where, 0});
    if (!described) return described.problems();
    std::string name;
    for (const auto& field : sample.sizes) name += (name.empty() ? "" : ",") + field.second;
    return TimedLayer{lower(*described), sample.time.median_us * 1e-6, sample.clock, "", name};
}

}  // namespace

Result<SampleFile> read_sample_file(const std::string& path) {
    const Result<std::string> bytes = read_text(path);
    if (!bytes) return bytes.problems();
    return read_samples(*bytes, path);
}

Result<std::vector<Observation>> read_observations(const std::string& path) {
    const Result<std::string> bytes = read_text(path);
    if (!bytes) return bytes.problems();
    if (path.ends_with(".csv") || path.ends_with(".csv.gz")) return kernels_of(*bytes, path);
    const Result<SampleFile> file = read_samples(*bytes, path);
    if (!file) return file.problems();
    return observe(file->samples);
}

Result<std::vector<TimedLayer>> read_layers(const std::string& path, const std::string& source) {
    const Result<SampleFile> file = read_sample_file(path);
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

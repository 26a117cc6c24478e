// `fit`: samples in, a profile out, with its errors in and out of the fit.
#include "tilewright/fit.h"

#include <algorithm>
#include <cstdio>
#include <memory>

#include "cli/catalogue.h"
#include "cli/files.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "read/bulk.h"
#include "render/fit.h"
#include "render/profile_json.h"
#include "tilewright/device_names.h"
#include "tilewright/read.h"
#include "tilewright/sample.h"

namespace tilewright::cli {
namespace {

constexpr std::size_t largest_sample_file = std::size_t{1} << 30U;

Result<Observation> product_of(const read::CsvTable& table, const read::CsvRow& row) {
    const Result<read::GemmRow> read = read::read_gemm_row(table, row);
    if (!read) return read.problems();
    Observation seen;
    seen.op.work = read->gemm;
    seen.held_out = held_out_by_shape(read->gemm);
    seen.family = std::string(name_of(read->gemm.precision)) + (read->gemm.batch > 1 ? " batched gemm" : " gemm");
    return seen;
}

Result<Observation> attention_of(const read::CsvTable& table, const read::CsvRow& row) {
    const Result<read::AttentionRow> read = read::read_attention_row(table, row);
    if (!read) return read.problems();
    Observation seen;
    seen.op.work = read->attention;
    seen.held_out = held_out_by_shape(read->attention);
    seen.family = family_of(read->attention);
    return seen;
}

Result<Observation> collective_of(const read::CsvTable& table, const read::CsvRow& row) {
    const Result<Collective> read = read::read_collective_row(table, row);
    if (!read) return read.problems();
    Observation seen;
    seen.op.work = *read;
    seen.held_out = held_out_by_shape(*read);
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
Problems take_csv(const std::string& bytes, const std::string& path, std::vector<Observation>& out) {
    const std::string_view header = std::string_view(bytes).substr(0, bytes.find('\n'));
    const Form* form = std::find_if(std::begin(forms), std::end(forms) - 1,
                                    [&](const Form& one) { return header.find(one.column) != std::string_view::npos; });
    const Result<read::CsvTable> table = read::read_bulk(bytes, path, form->kind);
    if (!table) return table.problems();
    if (const Problems missing = read::require_columns(*table, {"latency_us"}); !missing.empty()) return missing;
    for (const read::CsvRow& row : table->rows) {
        Result<Observation> seen = form->see(*table, row);
        if (!seen) return seen.problems();
        read::CsvCells cells(*table, row);
        seen->time_s = cells.positive("latency_us") * 1e-6;
        if (!cells.clean()) return cells.problems();
        out.push_back(std::move(*seen));
    }
    return {};
}

Problems take_file(const std::string& path, std::vector<Observation>& out) {
    const Result<std::string> bytes = read_whole(path, largest_sample_file);
    if (!bytes) return bytes.problems();
    if (path.ends_with(".csv")) return take_csv(*bytes, path, out);
    const Result<SampleFile> file = read_samples(*bytes, path);
    if (!file) return file.problems();
    const std::vector<Observation> more = observe(file->samples);
    out.insert(out.end(), more.begin(), more.end());
    return {};
}

std::string name_of_file(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

using Output = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

Problem cannot_write(const std::string& path) { return {path, 0, "cannot be written", "check the path and the disk"}; }

}  // namespace

std::vector<FlagGroup> fit_flags() {
    return {{"Samples",
             {{"--samples", "FILE", "JSON Lines of samples, or CSV of gemm, attention or collective with latency_us",
               Kind::Text},
              {"--device", "NAME", "the device they were taken on", Kind::Text},
              {"--source", "TEXT", "where they come from; the profile says it", Kind::Text},
              {"--output", "FILE", "the profile (-o)", Kind::Text},
              {"--help", "", "this page", Kind::Switch}}}};
}

Result<int> run_fit(const Arguments& arguments, Session& session) {
    std::vector<std::string> paths = arguments.operands;
    if (const auto first = arguments.text("--samples")) paths.insert(paths.begin(), *first);
    Problems problems;
    for (const char* flag : {"--device", "--output"}) {
        if (!arguments.has(flag)) problems.push_back({flag, 0, "is missing", "see `tilewright fit --help`"});
    }
    if (paths.empty()) problems.push_back({"--samples", 0, "is missing", "name the files of samples"});
    if (!problems.empty()) return problems;
    const Result<FoundDevice> device = find_gpu(*arguments.text("--device"));
    if (!device) return device.problems();

    const std::string output = *arguments.text("--output");
    std::vector<Observation> seen;
    std::string files;
    for (const std::string& path : paths) {
        if (const Problems bad = take_file(path, seen); !bad.empty()) return bad;
        files += (files.empty() ? "" : ", ") + name_of_file(path);
    }
    const std::string source =
        arguments.text("--source").value_or(files) + "; " + std::to_string(seen.size()) + " samples";
    const Result<Fit> learnt = fit(seen, device->device, source);
    if (!learnt) return learnt.problems();
    const Output file(std::fopen(output.c_str(), "wb"), std::fclose);
    const std::string text = render::profile_json(learnt->profile, device->device.name);
    if (!file || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size()) return cannot_write(output);
    session.out = render::fit_text(*learnt, session.out_style);
    return exit_fine;
}

}  // namespace tilewright::cli

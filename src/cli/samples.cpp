// `samples`: what files of samples hold, and several made one; no GPU and no CUDA are needed for that.
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include "cli/options.h"
#include "cli/verb.h"
#include "files/output.h"
#include "measure/sample_files.h"
#include "quantity/printable.h"
#include "render/json.h"

namespace tilewright::cli {
namespace {

using Files = std::vector<measure::NamedSamples>;

std::string list_json(const Files& files) {
    render::JsonWriter json;
    json.object().field("schema", "tilewright.samples/1").key("files").array();
    for (const measure::NamedSamples& named : files) {
        std::map<std::array<std::string, 3>, std::int64_t> counts;
        for (const Sample& sample : named.file.samples) {
            ++counts[{sample.op, std::string(name_of(sample.clock)), std::string(name_of(sample.status))}];
        }
        json.object().field("name", named.name).field("samples", named.file.samples.size());
        json.field("runs", named.file.runs.size()).field("torn", named.file.torn).key("counts").array();
        for (const auto& [what, count] : counts) {
            json.object().field("op", what[0]).field("clock", what[1]).field("status", what[2]);
            json.field("count", count).end();
        }
        json.end().end();
    }
    return json.end().end().take();
}

Result<int> run_list(const Files& files, const Arguments& arguments, Session& session) {
    session.out = arguments.has("--json") ? list_json(files) : measure::list_text(files);
    return exit_fine;
}

Result<int> run_show(const Files& files, const Arguments&, Session& session) {
    session.out = measure::show_text(files);
    return exit_fine;
}

Result<int> run_peaks(const Files& files, const Arguments&, Session& session) {
    for (const measure::NamedSamples& named : files) session.out += measure::peak_text(named.file.samples);
    return exit_fine;
}

Result<int> run_spread(const Files& files, const Arguments&, Session& session) {
    if (files.size() != 2) return Problem{"spread", 0, "compares two files", "give two runs of the same ops"};
    session.out = measure::spread_table(measure::spread_of(files[0].file.samples, files[1].file.samples));
    return exit_fine;
}

/// Merging a file into itself is safe: all is read before the first byte is written, beside it.
Result<int> run_merge(const Files& files, const Arguments& arguments, Session&) {
    const std::string out = arguments.text("--out").value_or("-");
    if (out.ends_with(".gz")) {
        return Problem{"--out", 0, "merge writes no compressed file", "name it .jsonl and compress it afterwards"};
    }
    const measure::Merged merged = measure::merge(files);
    if (Problems bad = files::write_file(out, merged.text); !bad.empty()) return bad;
    std::fputs(printable_lines(measure::merge_note(merged)).c_str(), stderr);
    return exit_fine;
}

struct Action {
    std::string_view name;
    Result<int> (*run)(const Files& files, const Arguments& arguments, Session& session);
};
constexpr Action actions[] = {
    {"list", run_list}, {"show", run_show}, {"peaks", run_peaks}, {"merge", run_merge}, {"spread", run_spread}};

}  // namespace

std::vector<FlagGroup> samples_flags() {
    return {{"Samples", {{"--out", "FILE", "where merge writes; - for stdout (-)", Kind::Text}}}, output_flags()};
}

Result<int> run_samples(const Arguments& arguments, Session& session) {
    const std::string& word = arguments.operands[0];
    const auto action =
        std::find_if(std::begin(actions), std::end(actions), [&](const Action& known) { return known.name == word; });
    if (action == std::end(actions)) {
        return Problem{"samples", 0, "'" + word + "' is nothing to do", "use list, show, peaks, merge or spread"};
    }
    if (arguments.has("--json") && word != "list") {
        return Problem{"--json", 0, "is for list", "leave it out; files of samples are JSON Lines themselves"};
    }
    const auto files = measure::read_sample_files({arguments.operands.begin() + 1, arguments.operands.end()});
    if (!files) return files.problems();
    for (const measure::NamedSamples& named : *files) {
        if (named.file.torn && word != "list" && word != "merge") {
            warn(session, named.name + ": the last line was cut off and is left out");
        }
    }
    return action->run(*files, arguments, session);
}

}  // namespace tilewright::cli

// What the explorer calls. Words go in through one buffer, each ended by a zero; an answer comes out as the text that
// the program would print, or as rows of numbers where a picture needs thousands of predictions.
#include <optional>

#include "cli/options.h"
#include "cli/search.h"
#include "cli/verb.h"
#include "cli/write_configs.h"
#include "kept_bytes.h"
#include "platform.h"
#include "render/answers.h"
#include "render/json.h"
#include "render/report.h"
#include "rows.h"

#define EXPORT(name) extern "C" __attribute__((export_name(#name)))

namespace tilewright {
namespace {

struct Page {
    std::string in;            ///< what the page wrote
    std::string out;           ///< the answer
    std::vector<double> rows;  ///< or its numbers
    cli::Session session = cli::open_session();
    std::optional<cli::ReadySearch> search;
    Kept kept;
};

Page& page() {
    static Page one;
    return one;
}

std::vector<std::string> words() {
    std::vector<std::string> typed;
    const std::string& in = page().in;
    for (std::size_t from = 0; from < in.size();) {
        const std::size_t to = in.find('\0', from);
        typed.push_back(in.substr(from, to - from));
        from = to + 1;
    }
    return typed;
}

/// Clears what the last call said and takes its words.
std::vector<std::string> begin() {
    wasm::said().clear();
    page().out.clear();
    page().rows.clear();
    page().session = cli::open_session();
    return words();
}

int fail(const Problems& problems) {
    cli::report(page().session, problems);
    return cli::exit_bad_input;
}

Result<Question> question_of(const cli::Arguments& arguments) {
    Result<Question> question = cli::make_question(arguments, arguments.operands[0], page().session);
    if (!question) return question;
    if (Problems problems = cli::misfit(arguments, *question); !problems.empty()) return problems;
    return question;
}

/// The page has a heading above the picture.
std::string untitled(render::Chart chart, render::ChartSize size) {
    chart.title.clear();
    return render::svg(chart, size);
}

}  // namespace

/// Room for what comes in.
EXPORT(room) char* room(std::size_t bytes) {
    page().in.assign(bytes, '\0');
    return page().in.data();
}

EXPORT(out) const char* out() { return page().out.data(); }
EXPORT(out_size) std::size_t out_size() { return page().out.size(); }
EXPORT(said) const char* said() { return wasm::said().data(); }
EXPORT(said_size) std::size_t said_size() { return wasm::said().size(); }
EXPORT(rows) const double* rows() { return page().rows.data(); }
EXPORT(rows_size) std::size_t rows_size() { return page().rows.size(); }

/// Keeps a file: its name and its bytes, two words.
EXPORT(put) void put(std::size_t name_size) {
    const std::string& in = page().in;
    wasm::files()[in.substr(0, name_size)] = in.substr(name_size);
}

/// The program itself: what was typed after its name. Its exit code.
EXPORT(ask) int ask() {
    const std::vector<std::string> typed = begin();
    const int code = cli::dispatch(typed, page().session);
    page().out = render::shown(page().session.out, page().session.out_style);
    return code;
}

/// The words that each choice of a verb takes, VERB: {"--phase": "train|prefill|decode", …}.
EXPORT(choices) int choices() {
    const std::vector<std::string> typed = begin();
    render::JsonWriter json;
    json.object();
    for (const cli::FlagGroup& group : cli::find_verb(typed[0])->flags()) {
        for (const cli::Flag& flag : group.flags) {
            if (flag.kind == cli::Kind::Choice) json.field(flag.name, flag.value);
        }
    }
    page().out = json.end().take();
    return cli::exit_fine;
}

/// Predictions along one dimension or two: NAME VALUES NAME VALUES BASELINE, then what `predict` is asked. The rows are
/// those of rows.h; their columns are named in the answer.
EXPORT(sweep) int sweep() {
    const std::vector<std::string> typed = begin();
    const std::span<const std::string> all(typed);
    const Result<cli::Arguments> arguments = cli::arguments_of(*cli::find_verb("predict"), all.subspan(5));
    if (!arguments) return fail(arguments.problems());
    const std::array<wasm::Turned, 2> turned{wasm::turned(typed[0], typed[1]), wasm::turned(typed[2], typed[3])};
    Result<std::vector<double>> found = wasm::price_rows(*arguments, turned, typed[4], page().session);
    if (!found) return fail(found.problems());
    page().rows = std::move(*found);
    page().out = wasm::row_columns();
    return cli::exit_fine;
}

/// A picture of `report` as SVG: NAME WIDTH KERNEL, then what `predict` is asked. Those of the tiles are of one kernel;
/// no answer where it is no product.
EXPORT(picture) int picture() {
    const std::vector<std::string> typed = begin();
    const std::span<const std::string> all(typed);
    const Result<cli::Arguments> arguments = cli::arguments_of(*cli::find_verb("predict"), all.subspan(3));
    if (!arguments) return fail(arguments.problems());
    const Result<Question> question = question_of(*arguments);
    if (!question) return fail(question.problems());
    const render::ChartSize size{std::atof(typed[1].c_str()), 380.0};
    if (typed[0] == "serving") {
        page().out = untitled(render::serving_chart(serve(*question).serving), size);
        return cli::exit_fine;
    }
    const GraphCost step = predict(*question).kernels;
    if (typed[0] == "roofline") {
        const Roofline found = roofline(step, question->pricer(), question->workload.precision);
        page().out = untitled(render::roofline_chart(found, question->device.name), size);
        return cli::exit_fine;
    }
    GraphCost one;
    for (const PricedOp& priced : step.ops) {
        if (priced.op.name == typed[2]) one.ops.push_back(priced);
    }
    if (const auto map = tile_map(one)) page().out = render::tile_svg(*map, size.width);
    return cli::exit_fine;
}

/// The config.json of the shape that `predict` is asked about; what it cannot say is warned about.
EXPORT(config) int config() {
    const std::vector<std::string> typed = begin();
    const Result<cli::Arguments> arguments = cli::arguments_of(*cli::find_verb("predict"), typed);
    if (!arguments) return fail(arguments.problems());
    const Result<Question> question = question_of(*arguments);
    if (!question) return fail(question.problems());
    cli::Config config = cli::config_of(question->shape);
    for (const std::string& lost : config.lost) cli::warn(page().session, "no config.json says this: " + lost);
    page().out = std::move(config.text);
    return cli::exit_fine;
}

/// A search in slices, by one module or by several: what `search` is asked; then slices; what others have kept; then
/// the answer.
EXPORT(search_begin) int search_begin() {
    const std::vector<std::string> typed = begin();
    const Result<cli::Arguments> arguments = cli::arguments_of(*cli::find_verb("search"), typed);
    if (!arguments) return fail(arguments.problems());
    Result<cli::ReadySearch> ready = cli::ready_search(*arguments, page().session);
    if (!ready) return fail(ready.problems());
    page().search.emplace(std::move(*ready));
    page().kept = {};
    return cli::exit_fine;
}

EXPORT(search_slices) std::size_t search_slices() { return page().search->prepared.slices(); }
EXPORT(search_walk) void search_walk(std::size_t slice) {
    const Search& search = page().search->prepared;
    page().kept.merge(search.walk(slice), search.keep());
}
EXPORT(search_priced) double search_priced() { return static_cast<double>(page().kept.priced); }

/// What was kept, as bytes for the module that finishes, and there merged.
EXPORT(search_kept) void search_kept() { page().out = wasm::bytes_of(page().kept); }
EXPORT(search_merge) void search_merge() {
    page().kept.merge(wasm::kept_of(page().in), page().search->prepared.keep());
}

/// The answer; whether every slice was walked is known to who shared them out.
EXPORT(search_end) void search_end(double seconds, int all) {
    const auto finish = [all](const Search& search) {
        SearchResult result = search.finish(page().kept);
        result.exhaustive = all != 0;
        if (!result.exhaustive) result.shapes_in_space = static_cast<std::int64_t>(search.size_bound());
        return result;
    };
    SearchAnswer answer = search(page().search->question, page().search->prepared, finish);
    answer.seconds = seconds;
    page().out = render::search_json(answer);
    page().search.reset();
}

}  // namespace tilewright

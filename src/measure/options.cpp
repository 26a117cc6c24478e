#include "measure/options.h"

#include <algorithm>
#include <array>

#include "measure/benches.h"
#include "measure/case.h"
#include "measure/generate.h"
#include "quantity/number.h"

namespace tilewright::measure {
namespace {

constexpr std::size_t most_values = 1000000;

std::optional<std::int64_t> number(std::string_view text) {
    const auto value = number_in<std::int64_t>(text);
    return value && *value >= 0 && *value <= (std::int64_t{1} << 40) ? value : std::nullopt;
}

/// "4..64:4" or "1..64*2"; false when it is no range.
bool append_range(std::string_view item, std::vector<std::string>& out) {
    const std::size_t dots = item.find("..");
    const std::size_t mark = item.find_first_of(":*", dots);
    const auto first = number(item.substr(0, dots));
    const auto last = number(item.substr(dots + 2, mark == std::string_view::npos ? mark : mark - dots - 2));
    const auto step = mark == std::string_view::npos ? std::optional<std::int64_t>(1) : number(item.substr(mark + 1));
    const bool doubles = mark != std::string_view::npos && item[mark] == '*';
    if (!first || !last || !step || *step < (doubles ? 2 : 1) || (doubles && *first == 0) || *first > *last)
        return false;
    for (std::int64_t value = *first; value <= *last; value = doubles ? value * *step : value + *step) {
        if (out.size() >= most_values) return false;
        out.push_back(std::to_string(value));
    }
    return true;
}

/// What is wrong with the value of a flag.
using Fault = std::optional<Problem>;

template <auto Field>
Fault set_text(Options& options, const std::string& text, const std::string&) {
    options.*Field = text;
    return std::nullopt;
}

template <auto Field>
Fault set_switch(Options& options, const std::string&, const std::string&) {
    options.*Field = true;
    return std::nullopt;
}

template <class T, auto Field>
Fault set_number(Options& options, const std::string& text, const std::string& flag) {
    const auto value = number_in<T>(text);
    if (!value || *value < T{}) return Problem{flag, 0, "'" + text + "' is no number", ""};
    options.*Field = *value;
    return std::nullopt;
}

Fault set_clocks(Options& options, const std::string& text, const std::string& flag) {
    const auto words = parse_list(text, flag);
    if (!words) return words.problems().front();
    options.clocks.clear();
    for (const std::string& word : *words) {
        const auto mode = find_named<ClockMode>(word);
        if (!mode) return Problem{flag, 0, "'" + word + "' is no clock mode", "use quick, sustained or burst"};
        options.clocks.push_back(*mode);
    }
    return std::nullopt;
}

Fault set_budget(Options& options, const std::string& text, const std::string& flag) {
    const auto seconds = parse_duration(text, flag);
    if (!seconds) return seconds.problems().front();
    options.budget_s = *seconds;
    return std::nullopt;
}

Fault set_fake(Options& options, const std::string& text, const std::string& flag) {
    options.fake = text;
    if (find_fake(text) != nullptr) return std::nullopt;
    return Problem{flag, 0, "'" + text + "' is no fake GPU", "use large or small"};
}

struct Flag {
    std::string_view name;
    std::string_view value;  ///< what stands for its value in the help; empty when it takes none
    std::string_view help;
    Fault (*set)(Options&, const std::string& text, const std::string& flag);
};

constexpr std::array flags = {
    Flag{"--from", "FILE", "take the ops from a CSV file with a column for each dimension", set_text<&Options::from>},
    Flag{"--out", "FILE", "append samples to FILE and leave out those it has; '-' is standard output",
         set_text<&Options::out>},
    Flag{"--clock", "MODES", "quick (default), sustained, burst, or several with commas", set_clocks},
    Flag{"--budget", "TIME", "stop after 90s, 10m or 1h", set_budget},
    Flag{"--shuffle", "SEED", "measure in a random order", set_number<std::uint64_t, &Options::shuffle>},
    Flag{"--retry", "", "measure again what failed in an earlier run of --out", set_switch<&Options::retry>},
    Flag{"--memory", "GIB", "device memory to take", set_number<double, &Options::arena_gib>},
    Flag{"--plan", "", "print how many samples and how long, and stop", set_switch<&Options::plan>},
    Flag{"--check", "", "compare results with double precision on the CPU instead of timing; small sizes only",
         set_switch<&Options::check>},
    Flag{"--fake", "large|small", "an invented GPU instead of a real one: what it takes follows a law", set_fake},
    Flag{"--set", "NAME", "generate: which set of shapes", set_text<&Options::set>},
    Flag{"--count", "N", "generate: how many", set_number<std::int64_t, &Options::count>},
    Flag{"--seed", "N", "generate: seed of the drawing", set_number<std::uint64_t, &Options::seed>},
    Flag{"--help", "", "print this", set_switch<&Options::help>},
};

const Flag* find_flag(std::string_view name) {
    const auto found = std::find_if(flags.begin(), flags.end(), [&](const Flag& flag) { return flag.name == name; });
    return found == flags.end() ? nullptr : &*found;
}

bool is_column(std::string_view verb, std::string_view name) {
    const CaseKind* kind = find_case_kind(verb);
    return kind != nullptr && std::any_of(kind->columns.begin(), kind->columns.end(),
                                          [&](const Column& column) { return column.name == name; });
}

/// "--kv-heads" names the column kv_heads.
std::string column_of(std::string_view flag) {
    std::string name(flag.substr(2));
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

std::string padded(std::string text, std::size_t width) {
    text.resize(std::max(text.size() + 1, width), ' ');
    return text;
}

/// What can be asked, besides a family of ops.
constexpr std::array<std::string_view, 4> other_verbs = {"peaks", "profile", "generate", "help"};

bool is_verb(std::string_view word) {
    return find_case_kind(word) != nullptr ||
           std::find(other_verbs.begin(), other_verbs.end(), word) != other_verbs.end();
}

}  // namespace

Result<std::vector<std::string>> parse_list(std::string_view text, const std::string& flag) {
    std::vector<std::string> values;
    while (true) {
        const std::size_t comma = text.find(',');
        const std::string_view item = text.substr(0, comma);
        const bool range = item.find("..") != std::string_view::npos;
        if (item.empty() || (range && !append_range(item, values))) {
            const std::string shown(item);
            return Problem{flag, 0, "'" + shown + "' is no value or range", "write 1,2,4..64:4 or 1..1024*2"};
        }
        if (!range) values.emplace_back(item);
        if (comma == std::string_view::npos) return values;
        text.remove_prefix(comma + 1);
    }
}

Result<double> parse_duration(std::string_view text, const std::string& flag) {
    double factor = 1.0;
    std::string_view digits = text;
    if (!text.empty()) {
        const char unit = text.back();
        if (unit == 'm') factor = 60.0;
        if (unit == 'h') factor = 3600.0;
        if (unit == 's' || unit == 'm' || unit == 'h') digits.remove_suffix(1);
    }
    const auto value = number(digits);
    const std::string shown(text);
    if (!value) return Problem{flag, 0, "'" + shown + "' is no duration", "write 90s, 10m or 1h"};
    return static_cast<double>(*value) * factor;
}

Result<Options> parse_options(const std::vector<std::string>& arguments) {
    Options options;
    Problems problems;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        std::string name = arguments[i];
        if (name.size() < 2 || name.compare(0, 2, "--") != 0) {
            if (!options.verb.empty()) return Problem{name, 0, "is neither a flag nor the value of one", "--help"};
            if (name == "layer") return Problem{name, 0, "is timed in PyTorch", "use bench/pytorch_layers.py"};
            if (!is_verb(name)) return Problem{name, 0, "is no verb", "--help lists them"};
            options.verb = name;
            continue;
        }
        std::optional<std::string> value;
        if (const std::size_t equals = name.find('='); equals != std::string::npos) {
            value = name.substr(equals + 1);
            name.resize(equals);
        }
        const Flag* flag = find_flag(name);
        const bool column = flag == nullptr && is_column(options.verb, column_of(name));
        if (flag == nullptr && !column) {
            problems.push_back({name, 0, "no such flag", "--help lists them"});
            continue;
        }
        if (column || !flag->value.empty()) {
            if (!value && i + 1 < arguments.size()) value = arguments[++i];
            if (!value) problems.push_back({name, 0, "needs a value", ""});
        }
        if (column)
            options.columns.emplace_back(column_of(name), value.value_or(""));
        else if (auto problem = flag->set(options, value.value_or(""), name))
            problems.push_back(*problem);
    }
    if (!problems.empty()) return problems;
    return options;
}

std::string help_text() {
    std::string text =
        "tilewright-measure: times kernels on the GPU and appends samples, one JSON object a line\n\n"
        "  tilewright-measure gemm|attention|stream|bandwidth|launch|collective [--COLUMN LIST…] [--from FILE] "
        "[--out "
        "FILE]\n"
        "  tilewright-measure peaks [--out FILE]          best products, bandwidths, launch cost\n"
        "  tilewright-measure profile --out FILE [--budget TIME]   some of everything, as `tilewright profile` asks\n"
        "  tilewright-measure generate --set NAME [--count N] [--seed N]   shapes as CSV\n"
        "`tilewright samples` tells what files of samples hold.\n\n"
        "A LIST is 1,2,4 or 4..64:4 (steps of 4) or 1..1024*2 (doubling).\n\nflags\n";
    for (const Flag& flag : flags) {
        text +=
            "  " + padded(std::string(flag.name) + " " + std::string(flag.value), 20) + std::string(flag.help) + "\n";
    }
    for (const CaseKind& kind : case_kinds()) {
        if (kind.op == "layer") continue;
        text += "\ncolumns of " + std::string(kind.op) + "\n";
        for (const Column& column : kind.columns) {
            const std::string fallback =
                column.fallback.empty() ? "" : " (default " + std::string(column.fallback) + ")";
            std::string words;
            for (const std::string_view word : column.words) words += (words.empty() ? ": " : "|") + std::string(word);
            text +=
                "  " + padded("--" + std::string(column.name), 20) + std::string(column.help) + words + fallback + "\n";
        }
    }
    std::erase(text, '`');
    text += "\nsets of generate\n";
    for (const ShapeSet& set : shape_sets()) {
        text += "  " + padded(std::string(set.name), 20) + std::string(set.help) + "\n";
    }
    return text;
}

}  // namespace tilewright::measure

// Parsing of ranges, lists, sizes with a tolerance, and names of dimensions; `options_of` (search.h) says what they
// mean together.
#include "cli/search.h"

#include <algorithm>
#include <cctype>
#include <tuple>
#include <utility>

#include "quantity/suggest.h"
#include "shape/limits.h"

namespace tilewright::cli {
namespace {

constexpr std::string_view forms = "N|A..B|A,B,...";

/// Flags that take a list besides a single value.
constexpr std::string_view listed[] = {"--hidden", "--layers", "--heads", "--kv-heads", "--head-dim", "--ffn",
                                       "--vocab",  "--mlp",    "--block", "--batch",    "--tp"};

struct Suffix {
    std::string_view word;
    double size;
};
constexpr Suffix counts[] = {{"", 1}, {"k", 1e3}, {"m", 1e6}, {"b", 1e9}, {"g", 1e9}, {"t", 1e12}};
constexpr Suffix bytes[] = {{"", 1}, {"m", 0x1p20}, {"g", 0x1p30}, {"mib", 0x1p20}, {"gib", 0x1p30}, {"gb", 1e9}};
constexpr Suffix times[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}};

/// A positive number and its unit.
std::optional<double> parse_sized(std::string_view text, std::span<const Suffix> suffixes) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
    std::string word(text.substr(end));
    std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
    const auto number = parse_real(text.substr(0, end));
    const auto suffix =
        std::find_if(suffixes.begin(), suffixes.end(), [&](const Suffix& known) { return known.word == word; });
    if (!number || *number <= 0 || suffix == suffixes.end()) return std::nullopt;
    return *number * suffix->size;
}

std::optional<std::pair<std::string, std::string>> cut(const std::string& text, std::string_view at) {
    const std::size_t place = text.find(at);
    if (place == std::string::npos) return std::nullopt;
    return std::pair{text.substr(0, place), text.substr(place + at.size())};
}

std::optional<Between> parse_between(const std::string& text) {
    const auto ends = cut(text, "..");
    const auto low = parse_real(ends ? ends->first : text), high = parse_real(ends ? ends->second : text);
    if (!low || !high || *low < 0 || *high < *low) return std::nullopt;
    return Between{*low, *high};
}

std::optional<std::pair<std::string, std::string>> cut_tolerance(const std::string& text) {
    const auto parts = cut(text, "±");
    return parts ? parts : cut(text, "+-");
}

/// "2.7b±2%" or "2.7b+-2%" as a range; `share` where the text has no tolerance of its own.
std::optional<Between> parse_about(const std::string& text, double share) {
    const auto parts = cut_tolerance(text);
    const auto size = parse_sized(parts ? parts->first : text, counts);
    if (parts) {
        if (!parts->second.ends_with('%')) return std::nullopt;
        const auto percent = parse_real(parts->second.substr(0, parts->second.size() - 1));
        if (!percent || *percent < 0 || *percent > 100) return std::nullopt;
        share = *percent / 100.0;
    }
    if (!size) return std::nullopt;
    return Between{*size * (1.0 - share), *size * (1.0 + share)};
}

/// A size as a shape may have it.
std::optional<std::int64_t> parse_size(std::string_view text) {
    const auto size = parse_count(text);
    return size && *size >= 1 && *size <= max_size ? size : std::nullopt;
}

/// "16..64".
std::optional<std::pair<std::int64_t, std::int64_t>> parse_range(const std::string& text) {
    const auto ends = cut(text, "..");
    const auto low = ends ? parse_size(ends->first) : std::nullopt;
    const auto high = ends ? parse_size(ends->second) : std::nullopt;
    if (!low || !high || *high < *low) return std::nullopt;
    return std::pair{*low, *high};
}

class KnobParser {
public:
    KnobParser(const Arguments& arguments, const Shape& shape) : arguments_(arguments), shape_(shape) {}

    Result<SearchOptions> run() {
        for (std::size_t i = 0; i < axis_count; ++i) take_axis(i);
        take_workloads("--batch", options_.batches);
        take_workloads("--tp", options_.tps);
        take_words("--mlp", options_.mlps);
        take_words("--block", options_.blocks);
        take_knobs("--fix", request_.fix);
        take_knobs("--only", request_.only);
        take_steps();
        take_guards();
        take_size();
        if (const auto keep = arguments_.count("--keep")) {
            options_.keep = static_cast<std::size_t>(std::max<std::int64_t>(0, *keep));
        }
        Result<SearchOptions> options = options_of(request_, shape_);
        if (!options) {
            for (Problem problem : options.problems()) {
                problem.where = flag_of(problem.where);
                problems_.push_back(std::move(problem));
            }
        }
        if (!problems_.empty()) return problems_;
        return options;
    }

private:
    void add(std::string where, std::string what, std::string fix) {
        problems_.push_back({std::move(where), 0, std::move(what), std::move(fix)});
    }

    void take_axis(std::size_t i) {
        const std::string flag = flag_of(knob_names[i]);
        const auto text = arguments_.text(flag);
        if (!text || parse_count(*text)) return;
        Axis& axis = options_.axes[i];
        if (const auto range = parse_range(*text)) {
            std::tie(axis.low, axis.high) = *range;
        } else {
            take_list(flag, *text, axis.values);
        }
    }

    /// A workload is priced for each value, so that a range is a list.
    void take_workloads(const std::string& flag, std::vector<std::int64_t>& values) {
        constexpr std::int64_t most = 1024;
        const auto text = arguments_.text(flag);
        if (!text || parse_count(*text)) return;
        const auto range = parse_range(*text);
        if (!range) return take_list(flag, *text, values);
        if (range->second - range->first >= most) return add(flag, "'" + *text + "' is too many", "say 1,2,4,8");
        for (std::int64_t value = range->first; value <= range->second; ++value) values.push_back(value);
    }

    void take_list(const std::string& flag, const std::string& text, std::vector<std::int64_t>& values) {
        for (const std::string& word : split(text, ',')) {
            const auto value = parse_size(word);
            if (!value) return add(flag, "'" + text + "' is no number, range or list", "say 20, 16..64 or 16,20,32");
            values.push_back(*value);
        }
    }

    template <class E>
    void take_words(const std::string& flag, std::vector<E>& values) {
        const auto text = arguments_.text(flag);
        if (!text || find_named<E>(*text)) return;
        for (const std::string& word : *text == "both" ? split(choices<E>(), '|') : split(*text, ',')) {
            const auto value = find_named<E>(word);
            if (!value) return add(flag, "'" + word + "' is not one of its values", "use " + choices<E>() + "|both");
            values.push_back(*value);
        }
    }

    /// The dimension a word names; none, with a problem, when there is none.
    std::optional<Knob> named(const std::string& flag, std::string word) {
        std::replace(word.begin(), word.end(), '-', '_');
        for (std::size_t i = 0; i < axis_count; ++i) {
            if (knob_names[i] == word) return static_cast<Knob>(i);
        }
        const std::vector<std::string> known(knob_names.begin(), knob_names.begin() + axis_count);
        const std::string near = did_you_mean(word, known);
        add(flag, "'" + word + "' is no dimension to search", near.empty() ? "use " + join_or(known) : near);
        return std::nullopt;
    }

    void take_knobs(const std::string& flag, std::vector<Knob>& knobs) {
        const auto text = arguments_.text(flag);
        for (const std::string& word : text ? split(*text, ',') : std::vector<std::string>{}) {
            if (const auto knob = named(flag, word)) knobs.push_back(*knob);
        }
    }

    void take_steps() {
        const auto text = arguments_.text("--step");
        for (const std::string& word : text ? split(*text, ',') : std::vector<std::string>{}) {
            const auto sides = cut(word, "=");
            const auto value = sides ? parse_size(sides->second) : std::nullopt;
            if (!value) return add("--step", "'" + word + "' is no step", "say --step ffn=8,hidden=64");
            if (const auto knob = named("--step", sides->first)) options_.axis(*knob).step = *value;
        }
    }

    void take_between(const std::string& flag, Between& range) {
        const auto text = arguments_.text(flag);
        const auto value = text ? parse_between(*text) : std::nullopt;
        if (text && !value) add(flag, "'" + *text + "' is no range", "say 0.5..2");
        range = value.value_or(range);
    }

    void take_guards() {
        Guards& guards = options_.guards;
        take_between("--aspect", guards.aspect);
        take_between("--mlp-ratio", guards.mlp_ratio);
        take_between("--attention-width", guards.attention_width);
        guards.max_flops = arguments_.real("--max-flops").value_or(guards.max_flops);
        guards.min_depth = arguments_.real("--min-depth").value_or(guards.min_depth);
        guards.kv = arguments_.real("--kv-bytes").value_or(guards.kv);
        request_.own_max_flops = arguments_.has("--max-flops");
        request_.tolerance = arguments_.real("--tolerance");
        options_.exact = arguments_.has("--exact");
        if (const auto word = arguments_.text("--objective")) {
            options_.objective = find_named<Objective>(*word).value_or(options_.objective);
        }
    }

    /// Guards that another way of holding the size leaves without a meaning.
    void check_size(const std::string& flag, const std::string& text) {
        const auto refuse = [&](const char* guard) {
            if (arguments_.has(guard)) add(guard, "is not held beside " + flag + " " + text, "leave one of them out");
        };
        if (flag != "--params") refuse("--max-flops");
        if (flag == "--time" || flag == "--memory" || cut_tolerance(text)) refuse("--tolerance");
    }

    /// What the size is held by; the last of these flags would win, so that only one is taken.
    void take_size() {
        std::vector<std::string> given;
        for (const char* flag : {"--params", "--flops", "--time", "--memory"}) {
            if (arguments_.has(flag)) given.emplace_back(flag);
        }
        if (given.size() > 1) return add(given[1], "is given beside " + given[0], "give one of them");
        if (given.empty()) return;
        const std::string text = *arguments_.text(given[0]);
        check_size(given[0], text);
        Budget& budget = options_.budget;
        constexpr double about = 0.01;
        if (given[0] == "--params") {
            request_.size = parse_about(text, request_.tolerance.value_or(about));
            if (!request_.size) add("--params", "'" + text + "' is no size", "say 2.7b±2% or 2.7b+-2%");
        } else if (given[0] == "--flops") {
            budget.flops_per_token = parse_about(text, request_.tolerance.value_or(about));
            if (!budget.flops_per_token) add("--flops", "'" + text + "' is no size", "say 16g±2%");
        } else if (given[0] == "--time") {
            const auto time = parse_sized(text, times);
            if (!time) return add("--time", "'" + text + "' is no time", "say 250ms");
            budget.time = Seconds{*time};
        } else {
            const auto size = parse_sized(text, bytes);
            if (!size) return add("--memory", "'" + text + "' is no size", "say 80g");
            budget.memory = Bytes{*size};
        }
    }

    const Arguments& arguments_;
    const Shape& shape_;
    SearchRequest request_;
    SearchOptions& options_ = request_.options;
    Problems problems_;
};

FlagGroup with_lists(FlagGroup group) {
    for (Flag& flag : group.flags) {
        if (std::find(std::begin(listed), std::end(listed), flag.name) == std::end(listed)) continue;
        flag.value =
            flag.kind == Kind::Count || flag.kind == Kind::Length ? std::string(forms) : flag.value + "|both,...";
        flag.kind = Kind::Text;
    }
    return group;
}

}  // namespace

std::vector<FlagGroup> search_flag_groups() {
    return {with_lists(workload_flags()),
            {"Search",
             {{"--fix", "NAMES", "dimensions that stay: layers,hidden", Kind::Text},
              {"--only", "NAMES", "dimensions that may change; all others stay", Kind::Text},
              {"--step", "NAME=N,...", "steps of a dimension (hidden=64,layers=1,head_dim=8,ffn=8)", Kind::Text},
              {"--params", "SIZE", "about that many parameters, not the baseline's: 2.7b±2% (or +-)", Kind::Text},
              {"--flops", "SIZE", "about that many FLOPs per token instead of equal parameters: 16g±2%", Kind::Text},
              {"--time", "TIME", "the largest shape whose step takes no longer: 250ms", Kind::Text},
              {"--memory", "SIZE", "the largest shape that needs no more on one GPU: 80g", Kind::Text},
              {"--objective", choices<Objective>(), "what ranks: time to the baseline's loss (training), or the step's",
               Kind::Choice},
              {"--exact", "", "the raw optimum: round sizes are not preferred within 0.3%", Kind::Switch},
              {"--keep", "N", "how many shapes of each kind to show (5)", Kind::Count},
              {"--limit", "N", "walk about so many shapes at most, in wider steps", Kind::Count},
              {"--threads", "N", "threads (as many as cores)", Kind::Count},
              {"--write", "DIR", "write each shape's Hugging Face config.json there", Kind::Text}}},
            {"Guards (docs/quality.md has their sources)",
             {{"--tolerance", "SHARE", "how far the parameter counts may move (0.0025 down, 0.01 up)", Kind::Real},
              {"--max-flops", "FACTOR", "FLOPs per token, over the baseline's (1.03)", Kind::Real},
              {"--aspect", "A..B", "hidden / layers, over the baseline's (0.5..2)", Kind::Text},
              {"--min-depth", "FACTOR", "layers, over the baseline's (0.5)", Kind::Real},
              {"--mlp-ratio", "A..B", "ffn / hidden; a gated MLP has two thirds of it (2..5.4)", Kind::Text},
              {"--attention-width", "A..B", "heads * head_dim / hidden, over the baseline's (1..1)", Kind::Text},
              {"--kv-bytes", "FACTOR", "least KV cache a token; training: width of k, v over hidden (1)", Kind::Real}}},
            with_lists(shape_flags())};
}

Result<SearchOptions> search_options(const Arguments& arguments, const Shape& shape) {
    return KnobParser(arguments, shape).run();
}

Result<std::vector<Weighted>> basket(const std::string& text) {
    std::vector<Weighted> found;
    for (const std::string& word : split(text, ',')) {
        const auto sides = cut(word, ":");
        const auto weight = sides ? parse_real(sides->second) : std::optional(1.0);
        constexpr double least = 1e-6, most = 1e6;
        if (!weight || *weight < least || *weight > most) {
            return Problem{"--gpu", 0, "'" + word + "' has no weight from 0.000001 to 1000000",
                           "say h100:0.5,a100:0.3,l40s:0.2"};
        }
        found.push_back({sides ? sides->first : word, *weight});
    }
    return found;
}

}  // namespace tilewright::cli

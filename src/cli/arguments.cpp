// Parsing of the command line against a verb's table of flags.
#include "cli/arguments.h"

#include <algorithm>
#include <cmath>

#include "quantity/number.h"
#include "quantity/suggest.h"

namespace tilewright::cli {
namespace {

class Parser {
public:
    Parser(std::span<const std::string> typed, const std::vector<FlagGroup>& groups) : typed_(typed) {
        for (const FlagGroup& group : groups) {
            for (const Flag& flag : group.flags) known_.push_back(flag);
        }
    }

    Result<Arguments> run(OperandCount operands) {
        for (; at_ < typed_.size(); ++at_) take(typed_[at_]);
        if (arguments_.has("--help")) return std::move(arguments_);
        if (!met_unknown_) check_operands(operands);
        if (!problems_.empty()) return std::move(problems_);
        return std::move(arguments_);
    }

private:
    void take(const std::string& word) {
        if (only_operands_ || word == "-" || !word.starts_with('-')) {
            arguments_.operands.push_back(word);
        } else if (word == "--") {
            only_operands_ = true;
        } else {
            take_flag(word);
        }
    }

    void take_flag(const std::string& word) {
        const std::size_t equals = word.find('=');
        std::string name = word.substr(0, equals);
        if (name == "-o") name = "--output";
        if (name == "-h") name = "--help";
        const Flag* flag = find(name);
        if (flag == nullptr) return unknown(name);
        const bool attached = equals != std::string::npos;
        if (flag->kind == Kind::Switch) {
            if (attached) add(name, "takes no value", "say " + name + " alone");
            arguments_.flags[name] = "";
            return;
        }
        const bool next_is_value = at_ + 1 < typed_.size() && !typed_[at_ + 1].starts_with("--");
        if (!attached && !next_is_value) return add(name, "needs a value", "say " + name + " " + flag->value);
        store(*flag, attached ? word.substr(equals + 1) : typed_[++at_]);
    }

    void store(const Flag& flag, const std::string& value) {
        const std::string seen = "'" + value + "' ";
        if (flag.kind == Kind::Count && !parse_count(value))
            add(flag.name, seen + "is not an integer", "give a whole number");
        const std::optional<std::int64_t> length = flag.kind == Kind::Length ? parse_length(value) : std::nullopt;
        if (flag.kind == Kind::Length && !length)
            add(flag.name, seen + "is not a length", "give a whole number, or one of 1,024s: 8k");
        if (flag.kind == Kind::Real && !parse_real(value))
            add(flag.name, seen + "is not a number", "give a number such as 0.01");
        if (flag.kind == Kind::Choice) {
            const std::vector<std::string> words = split(flag.value, '|');
            if (std::find(words.begin(), words.end(), value) == words.end()) {
                const bool load = flag.name == "--phase" && value == "serve";
                add(flag.name, seen + "is not one of its values",
                    "use " + join_or(words) + (load ? "; `tilewright plan` and `report` take a load" : ""));
            }
        }
        if (flag.kind == Kind::Text && value.empty()) add(flag.name, "is empty", "say " + flag.name + " " + flag.value);
        arguments_.flags[flag.name] = length ? std::to_string(*length) : value;
    }

    void unknown(const std::string& name) {
        met_unknown_ = true;
        std::vector<std::string> names;
        for (const Flag& flag : known_) names.push_back(flag.name);
        const std::string near = did_you_mean(name, names);
        add(name, "is not a flag of this verb", near.empty() ? "see --help" : near);
    }

    void check_operands(OperandCount allowed) {
        const std::size_t given = arguments_.operands.size();
        if (given < allowed.least) add("", "an operand is missing", "see --help");
        for (const std::string& operand : arguments_.operands) {
            if (operand.empty()) add("", "an operand is empty", "give a name or a path; see --help");
        }
        for (std::size_t i = allowed.most; i < given; ++i) {
            add("", "'" + arguments_.operands[i] + "' is one operand too many", "leave it out; see --help");
        }
    }

    const Flag* find(std::string_view name) const {
        for (const Flag& flag : known_) {
            if (flag.name == name) return &flag;
        }
        return nullptr;
    }

    void add(std::string where, std::string what, std::string fix) {
        problems_.push_back({std::move(where), 0, std::move(what), std::move(fix)});
    }

    std::span<const std::string> typed_;
    std::vector<Flag> known_;
    std::size_t at_ = 0;
    bool only_operands_ = false;
    bool met_unknown_ = false;  ///< then an operand may be its value
    Arguments arguments_;
    Problems problems_;
};

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t to = std::min(text.find(separator, from), text.size());
        parts.emplace_back(text.substr(from, to - from));
        from = to + 1;
    }
    return parts;
}

std::optional<std::int64_t> parse_count(std::string_view text) { return number_in<std::int64_t>(text); }

std::optional<std::int64_t> parse_length(std::string_view text) {
    std::int64_t unit = 1;
    if (text.ends_with('k') || text.ends_with('K')) unit = 1024;
    if (text.ends_with('M')) unit = 1024 * 1024;
    const auto count = parse_count(unit == 1 ? text : text.substr(0, text.size() - 1));
    constexpr std::int64_t most = std::int64_t{1} << 40U;  // beyond any sequence, and safe to multiply
    if (!count || *count > most || *count < -most) return std::nullopt;
    return *count * unit;
}

std::optional<double> parse_real(std::string_view text) {
    const auto value = number_in<double>(text);
    return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<std::string> Arguments::text(std::string_view flag) const {
    const auto found = flags.find(flag);
    return found == flags.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::int64_t> Arguments::count(std::string_view flag) const {
    const std::optional<std::string> value = text(flag);
    return value ? parse_count(*value) : std::nullopt;
}

std::optional<double> Arguments::real(std::string_view flag) const {
    const std::optional<std::string> value = text(flag);
    return value ? parse_real(*value) : std::nullopt;
}

Result<Arguments> parse_arguments(std::span<const std::string> typed, const std::vector<FlagGroup>& groups,
                                  OperandCount operands) {
    return Parser(typed, groups).run(operands);
}

}  // namespace tilewright::cli

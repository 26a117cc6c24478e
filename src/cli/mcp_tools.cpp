#include "cli/mcp.h"

#include <algorithm>
#include <array>

#include "cli/verb.h"
#include "quantity/suggest.h"
#include "render/json.h"

namespace tilewright::cli {
namespace {

/// What a tool takes besides flags.
enum class Takes { Shape, Shapes, Names, Rule };

struct Tool {
    std::string_view name;
    std::string_view verb;
    Takes takes;
};

constexpr std::array tools = {
    Tool{"advise", "advise", Takes::Shape},    Tool{"predict", "predict", Takes::Shape},
    Tool{"lint", "lint", Takes::Shapes},       Tool{"search", "search", Takes::Shape},
    Tool{"compare", "compare", Takes::Shapes}, Tool{"plan", "plan", Takes::Shape},
    Tool{"explain_rule", "lint", Takes::Rule}, Tool{"models", "models", Takes::Names},
    Tool{"devices", "devices", Takes::Names},  Tool{"runtimes", "runtimes", Takes::Names},
};

/// Flags that write a file, read the standard input, or are for people and CI systems alone.
constexpr std::array withheld = {"--help",     "--output",  "--report", "--write", "--write-baseline",
                                 "--baseline", "--from",    "--format", "--svg",   "--keep-going",
                                 "--threads",  "--explain", "--fail-on"};

constexpr std::string_view rule_summary = "the page of a sizing rule: what it says, why, and an example";

const Tool* find_tool(std::string_view name) {
    const auto* found = std::find_if(tools.begin(), tools.end(), [&](const Tool& tool) { return tool.name == name; });
    return found == tools.end() ? nullptr : found;
}

std::vector<Flag> flags_of(const Tool& tool) {
    std::vector<Flag> offered;
    if (tool.takes == Takes::Rule) return offered;
    for (const FlagGroup& group : find_verb(tool.verb)->flags()) {
        for (const Flag& flag : group.flags) {
            if (std::find(withheld.begin(), withheld.end(), flag.name) == withheld.end()) offered.push_back(flag);
        }
    }
    return offered;
}

/// --kv-heads -> kv_heads
std::string argument_name(const Flag& flag) {
    std::string name = flag.name.substr(2);
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

struct Operand {
    std::string_view name;
    bool several;
    bool needed;
    std::string_view help;
};

Operand operand_of(Takes takes) {
    constexpr std::string_view shape =
        "a name of the catalogue (gpt3-2.7b, meta-llama/Llama-3.1-8B), a path to a config.json, or the text of one";
    switch (takes) {
        case Takes::Shape: return {"shape", false, true, shape};
        case Takes::Shapes: return {"shapes", true, true, shape};
        case Takes::Rule: return {"rule", false, true, "its code or name: TW001, vocabulary-not-aligned"};
        case Takes::Names: break;
    }
    return {"names", true, false, "only those whose name contains one of these"};
}

std::string_view type_of(Kind kind) {
    switch (kind) {
        case Kind::Switch: return "boolean";
        case Kind::Count:
        case Kind::Length: return "integer";
        case Kind::Real: return "number";
        case Kind::Choice:
        case Kind::Text: break;
    }
    return "string";
}

void append_flag(render::JsonWriter& json, const Flag& flag) {
    json.key(argument_name(flag)).object();
    json.field("type", type_of(flag.kind)).field("description", flag.help);
    if (flag.kind == Kind::Choice) {
        json.key("enum").array();
        for (const std::string& word : split(flag.value, '|')) json.value(word);
        json.end();
    }
    json.end();
}

void append_operand(render::JsonWriter& json, const Operand& operand) {
    json.key(operand.name).object().field("type", operand.several ? "array" : "string");
    if (operand.several) json.key("items").object().field("type", "string").end();
    json.field("description", operand.help).end();
}

void append_tool(render::JsonWriter& json, const Tool& tool) {
    const Operand operand = operand_of(tool.takes);
    const std::string_view summary = tool.takes == Takes::Rule ? rule_summary : find_verb(tool.verb)->summary;
    json.object().field("name", tool.name).field("description", summary);
    json.key("inputSchema").object().field("type", "object").key("properties").object();
    append_operand(json, operand);
    for (const Flag& flag : flags_of(tool)) append_flag(json, flag);
    json.end();
    json.key("required").array();
    if (operand.needed) json.value(operand.name);
    json.end().field("additionalProperties", false).end();
    json.key("annotations").object().field("readOnlyHint", true).field("openWorldHint", false).end();
    json.end();
}

/// A scalar as the command line has it; none for anything else.
std::optional<std::string> word_of(const read::Value& value) {
    if (const auto* text = value.as<std::string>()) return *text;
    if (const auto* count = value.as<std::int64_t>()) return std::to_string(*count);
    if (const auto* number = value.as<double>()) return render::number_text(*number);
    if (const auto* truth = value.as<bool>()) return *truth ? "yes" : "no";
    return std::nullopt;
}

/// A scalar, or a list of them joined by commas.
std::optional<std::string> words_of(const read::Value& value) {
    const auto* list = value.as<read::Array>();
    if (list == nullptr) return word_of(value);
    std::string joined;
    for (const read::Value& element : *list) {
        const std::optional<std::string> word = word_of(element);
        if (!word) return std::nullopt;
        joined += (joined.empty() ? "" : ",") + *word;
    }
    return joined;
}

/// From arguments to words, and what is wrong with them.
class Translation {
public:
    explicit Translation(const Tool& tool) : tool_(tool), operand_(operand_of(tool.takes)), flags_(flags_of(tool)) {}

    Result<ToolCall> run(const read::Value* arguments) {
        call_.words.emplace_back(tool_.verb);
        if (arguments != nullptr) {
            for (const auto& [name, value] : *arguments->as<read::Object>()) take(name, value);
        }
        if (operand_.needed && operands_.empty() && problems_.empty()) {
            add(operand_.name, "is missing", "give " + std::string(operand_.help));
        }
        if (!problems_.empty()) return std::move(problems_);
        if (tool_.takes == Takes::Rule) {
            call_.words.push_back("--explain=" + operands_.front());
        } else {
            call_.words.emplace_back("--");
            call_.words.insert(call_.words.end(), operands_.begin(), operands_.end());
        }
        return std::move(call_);
    }

private:
    void take(const std::string& name, const read::Value& value) {
        if (name == operand_.name) return take_operands(value);
        const auto flag =
            std::find_if(flags_.begin(), flags_.end(), [&](const Flag& known) { return argument_name(known) == name; });
        if (flag == flags_.end()) return unknown(name);
        if (value.as<read::Null>() != nullptr) return;
        if (flag->kind == Kind::Switch) return take_switch(*flag, value);
        const std::optional<std::string> words = words_of(value);
        if (!words)
            return add(name, "is neither a value nor a list of values", "give " + std::string(type_of(flag->kind)));
        call_.words.push_back(flag->name + "=" + *words);
    }

    void take_switch(const Flag& flag, const read::Value& value) {
        const auto* on = value.as<bool>();
        if (on == nullptr) return add(argument_name(flag), "is neither true nor false", "say true, or leave it out");
        if (!*on) return;
        call_.words.push_back(flag.name);
        call_.json |= flag.name == "--json";
    }

    void take_operands(const read::Value& value) {
        const auto* list = value.as<read::Array>();
        if (list != nullptr && list->size() > 1 && !operand_.several)
            return add(operand_.name, "is several", "give one; ask again for each of the others");
        const read::Array one{value};
        for (const read::Value& element : list != nullptr ? *list : one) {
            const auto* text = element.as<std::string>();
            if (text == nullptr || text->empty() || *text == "-") {
                add(operand_.name, "is no text, or says nothing", "give " + std::string(operand_.help));
            } else if (text->substr(std::min(text->find_first_not_of(" \t\r\n"), text->size())).starts_with('{')) {
                take_text(*text);
            } else {
                operands_.push_back(*text);
            }
        }
    }

    /// The text of a config.json, which the program reads from its input.
    void take_text(const std::string& text) {
        if (!call_.input.empty()) return add(operand_.name, "gives two texts", "save one of them and give its path");
        call_.input = text;
        operands_.emplace_back("-");
    }

    void unknown(const std::string& name) {
        std::vector<std::string> known{std::string(operand_.name)};
        for (const Flag& flag : flags_) known.push_back(argument_name(flag));
        const std::string near = did_you_mean(name, known);
        add(tilewright::quoted(name), "is no argument of " + std::string(tool_.name),
            near.empty() ? "use " + join_or(known) : near);
    }

    void add(std::string_view where, std::string what, std::string fix) {
        problems_.push_back({std::string(where), 0, std::move(what), std::move(fix)});
    }

    const Tool& tool_;
    const Operand operand_;
    const std::vector<Flag> flags_;
    std::vector<std::string> operands_;
    ToolCall call_;
    Problems problems_;
};

}  // namespace

std::string tools_json() {
    render::JsonWriter json;
    json.array();
    for (const Tool& tool : tools) append_tool(json, tool);
    return json.end().take();
}

bool is_tool(std::string_view name) { return find_tool(name) != nullptr; }

Result<ToolCall> tool_call(std::string_view name, const read::Value* arguments) {
    return Translation(*find_tool(name)).run(arguments);
}

}  // namespace tilewright::cli

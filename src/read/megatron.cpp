// Megatron-LM's arguments as a script has them (--num-layers 32, values from shell variables followed) or as YAML
// (num_layers: 32). Defaults are those of megatron/training/arguments.py.
#include <algorithm>
#include <charconv>

#include "quantity/suggest.h"
#include "read/foreign.h"
#include "shape/defaults.h"
#include "tilewright/runtime.h"

namespace tilewright::read {
namespace {

struct Argument {
    std::string name;   ///< with dashes and without the leading ones
    std::string value;  ///< empty for a switch
    int line = 0;
};

struct Word {
    std::string text;
    int line = 0;
};

constexpr std::size_t most_words = 100'000;

/// Words of a script: quotes, line continuations, comments, brackets of arrays and semicolons gone.
std::vector<Word> words_of(std::string_view text) {
    std::vector<Word> words;
    int line = 1;
    bool comment = false;
    std::string word;
    const auto end = [&] {
        if (!word.empty() && words.size() < most_words) words.push_back({word, line});
        word.clear();
    };
    for (const char c : text) {
        if (c == '#' && word.empty()) comment = true;
        if (c == '\n') comment = false;
        const bool separates = std::string_view(" \t\r\n;()").find(c) != std::string_view::npos;
        if (separates || comment) end();
        if (!separates && !comment && c != '"' && c != '\'' && c != '\\') word += c;
        if (c == '\n') ++line;
    }
    end();
    return words;
}

/// NAME=value anywhere in the script.
std::map<std::string, std::string> variables_of(const std::vector<Word>& words) {
    std::map<std::string, std::string> variables;
    for (const Word& word : words) {
        const std::size_t equals = word.text.find('=');
        if (equals == std::string::npos || equals == 0 || word.text.starts_with('-')) continue;
        variables[word.text.substr(0, equals)] = word.text.substr(equals + 1);
    }
    return variables;
}

/// A value with $NAME, ${NAME} or ${NAME:-default} followed, a few times over.
std::string resolved(std::string value, const std::map<std::string, std::string>& variables) {
    for (int depth = 0; depth < 4 && value.starts_with('$'); ++depth) {
        std::string name = value.substr(1), otherwise;
        if (name.starts_with('{')) name = name.substr(1, name.find('}') - 1);
        if (const std::size_t colon = name.find(":-"); colon != std::string::npos) {
            otherwise = name.substr(colon + 2);
            name.resize(colon);
        }
        const auto found = variables.find(name);
        if (found == variables.end() && otherwise.empty()) break;
        value = found == variables.end() ? otherwise : found->second;
    }
    return value;
}

std::vector<Argument> script_arguments(std::string_view text) {
    const std::vector<Word> words = words_of(text);
    const std::map<std::string, std::string> variables = variables_of(words);
    std::vector<Argument> arguments;
    for (std::size_t i = 0; i < words.size(); ++i) {
        std::string word = words[i].text;
        if (const std::size_t at = word.find("=--"); at != word.npos && !word.starts_with('-')) word.erase(0, at + 1);
        if (!word.starts_with("--") || word.size() < 3) continue;
        const std::size_t equals = word.find('=');
        Argument argument{word.substr(2, equals == std::string::npos ? equals : equals - 2), "", words[i].line};
        if (equals != std::string::npos) argument.value = word.substr(equals + 1);
        const bool has_value =
            equals == std::string::npos && i + 1 < words.size() && !words[i + 1].text.starts_with("--");
        if (has_value) argument.value = words[i + 1].text;
        argument.value = resolved(argument.value, variables);
        arguments.push_back(std::move(argument));
    }
    return arguments;
}

std::string_view without_spaces(std::string_view text) {
    const std::size_t from = text.find_first_not_of(" \t\r");
    if (from == text.npos) return {};
    return text.substr(from, text.find_last_not_of(" \t\r") - from + 1);
}

/// `key: value` lines at any depth; a switch that is false is not there.
std::vector<Argument> yaml_arguments(std::string_view text) {
    std::vector<Argument> arguments;
    int line = 0;
    for (std::size_t from = 0; from < text.size() && arguments.size() < most_words;) {
        const std::size_t to = std::min(text.find('\n', from), text.size());
        std::string_view row = text.substr(from, to - from);
        from = to + 1;
        ++line;
        row = without_spaces(row.substr(0, row.find(" #")));
        const std::size_t colon = row.find(':');
        if (colon == row.npos || row.starts_with('#')) continue;
        Argument argument{std::string(without_spaces(row.substr(0, colon))),
                          std::string(without_spaces(row.substr(colon + 1))), line};
        std::replace(argument.name.begin(), argument.name.end(), '_', '-');
        if (argument.value == "false" || argument.value == "False" || argument.value == "null" ||
            argument.value.empty())
            continue;
        if (argument.value == "true" || argument.value == "True") argument.value.clear();
        arguments.push_back(std::move(argument));
    }
    return arguments;
}

std::vector<Argument> arguments_of(std::string_view text) {
    return text.find("--num-layers") != text.npos ? script_arguments(text) : yaml_arguments(text);
}

/// Looks arguments up by name, the last one of a name first.
class Lookup {
public:
    Lookup(std::vector<Argument> arguments, Report& report) : arguments_(std::move(arguments)), report_(report) {}

    const Argument* find(std::string_view name) {
        const auto found =
            std::find_if(arguments_.rbegin(), arguments_.rend(), [&](const auto& a) { return a.name == name; });
        if (found == arguments_.rend()) return nullptr;
        if (std::find(asked_.begin(), asked_.end(), name) == asked_.end()) tally_.take(name);
        asked_.emplace_back(name);
        return &*found;
    }
    bool has(std::string_view name) { return find(name) != nullptr; }
    bool is(std::string_view name, std::string_view value) {
        const Argument* argument = find(name);
        return argument != nullptr && argument->value == value;
    }
    std::int64_t count(std::string_view name, std::int64_t fallback) {
        const Argument* argument = find(name);
        if (argument == nullptr) return fallback;
        std::int64_t value = 0;
        const std::string& text = argument->value;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error == std::errc() && end == text.data() + text.size() && value >= 1 && value <= largest_size)
            return value;
        report_.add(argument->line, "--" + argument->name + " is " + quoted(text),
                    "it must be an integer, or a variable that the file sets to one");
        return fallback;
    }
    void require(std::string_view name, const char* fix) {
        if (!has(name)) report_.add(1, "--" + std::string(name) + " is missing", fix);
    }
    const Tally& tally() {
        for (const Argument& argument : arguments_) {
            if (std::find(asked_.begin(), asked_.end(), argument.name) != asked_.end()) continue;
            asked_.push_back(argument.name);
            tally_.ignore(argument.name);
        }
        return tally_;
    }

private:
    std::vector<Argument> arguments_;
    std::vector<std::string> asked_;
    Tally tally_;
    Report& report_;
};

/// The vocabulary as stored: padded to a multiple for each tensor-parallel rank.
std::int64_t padded_vocabulary(Lookup& given, std::int64_t tp) {
    if (const std::int64_t padded = given.count("padded-vocab-size", 0); padded > 0) return padded;
    const std::int64_t multiple = given.count("make-vocab-size-divisible-by", 128) * tp;
    const std::int64_t vocab = given.count("vocab-size", 0);
    return multiple > 0 && multiple <= largest_size ? (vocab + multiple - 1) / multiple * multiple : vocab;
}

Workload workload_of(Lookup& given) {
    Workload workload;
    workload.runtime = RuntimeId::Megatron;
    workload.master = usual_master(workload);
    workload.batch = given.count("micro-batch-size", workload.batch);
    workload.seq = given.count("seq-length", workload.seq);
    Parallelism& parallel = workload.parallel;
    parallel.tp = given.count("tensor-model-parallel-size", 1);
    parallel.pp = given.count("pipeline-model-parallel-size", 1);
    parallel.cp = given.count("context-parallel-size", 1);
    parallel.ep = given.count("expert-model-parallel-size", 1);
    if (parallel.ep > 1) parallel.etp = given.count("expert-tensor-parallel-size", parallel.tp);
    parallel.dp = std::max<std::int64_t>(given.count("data-parallel-size", 1), parallel.ep);
    parallel.sequence_parallel = given.has("sequence-parallel") && parallel.tp > 1;
    if (given.has("use-distributed-optimizer")) parallel.zero_stage = 1;
    if (given.has("fp16")) workload.precision = Precision::Fp16;
    if (given.has("bf16")) workload.precision = Precision::Bf16;
    if (given.has("fp8-format")) set_precision(workload, given.is("fp8-recipe", "mxfp8") ? "mxfp8" : "fp8");
    if (given.is("recompute-granularity", "full")) workload.recompute = Recompute::Full;
    if (given.is("recompute-granularity", "selective") || given.has("recompute-activations")) {
        workload.recompute = Recompute::Selective;
    }
    return workload;
}

void take_experts(Lookup& given, Shape& shape) {
    Experts experts;
    experts.count = given.count("num-experts", 0);
    if (experts.count == 0) return;
    experts.active = given.count("moe-router-topk", 2);
    experts.ffn = given.count("moe-ffn-hidden-size", shape.ffn);
    experts.shared_ffn = given.count("moe-shared-expert-intermediate-size", 0);
    experts.every = given.count("moe-layer-freq", 1);
    shape.experts = experts;
}

Shape shape_of(Lookup& given, std::int64_t tp) {
    Shape shape = default_shape(given.has("swiglu") ? MlpKind::Gated : MlpKind::Plain);
    shape.layers = given.count("num-layers", 0);
    shape.hidden = given.count("hidden-size", 0);
    shape.heads = given.count("num-attention-heads", 0);
    shape.head_dim = given.count("kv-channels", 0);
    const std::int64_t groups = given.count("num-query-groups", 1);
    shape.kv_heads = given.has("group-query-attention") ? groups : 0;
    const bool gated = shape.mlp == MlpKind::Gated;
    const std::int64_t usual = gated ? 8 * shape.hidden / 3 / 64 * 64 : 4 * shape.hidden;
    shape.ffn = given.count("ffn-hidden-size", usual);
    shape.vocab = padded_vocabulary(given, tp);
    shape.tied = !given.has("untie-embeddings-and-output-weights");
    const bool bias = !given.has("disable-bias-linear");
    shape.bias = {bias || given.has("add-qkv-bias"), bias, bias, false};
    shape.norms.kind = given.is("normalization", "RMSNorm") ? NormKind::Rms : NormKind::Layer;
    shape.norms.query_key = given.has("qk-layernorm");
    const bool rotary = given.is("position-embedding-type", "rope") || given.has("use-rotary-position-embeddings");
    shape.positions = rotary                                        ? Positions::Rotary
                      : given.is("position-embedding-type", "none") ? Positions::None
                                                                    : Positions::Learned;
    const std::int64_t rows = given.count("max-position-embeddings", 0);
    if (shape.positions == Positions::Learned) shape.position_rows = rows;
    take_experts(given, shape);
    return shape;
}

}  // namespace

bool looks_like_megatron(std::string_view text) {
    return (text.find("--num-layers") != text.npos && text.find("--hidden-size") != text.npos) ||
           (text.find("num_layers:") != text.npos && text.find("hidden_size:") != text.npos);
}

Workload megatron_workload(std::string_view text, Tally& tally, Report& report) {
    Lookup given(arguments_of(text), report);
    const Workload workload = workload_of(given);
    tally = given.tally();
    return workload;
}

ShapeFile read_megatron(std::string_view text, Report& report) {
    Lookup given(arguments_of(text), report);
    ShapeFile file;
    for (const char* key : {"num-layers", "hidden-size", "num-attention-heads"})
        given.require(key, "add it to the file");
    if (!given.has("padded-vocab-size")) {
        given.require("vocab-size",
                      "Megatron takes it from the tokenizer: add --padded-vocab-size with what it prints");
    }
    for (const char* key :
         {"hybrid-override-pattern", "is-hybrid-model", "hybrid-attention-ratio", "multi-latent-attention"}) {
        if (const Argument* argument = given.find(key)) {
            report.add(argument->line, "--" + argument->name + " is not understood",
                       "write the shape in the TOML form (docs/shapes.md)");
        }
    }
    file.workload = workload_of(given);
    file.shape = shape_of(given, file.workload->parallel.tp);
    derive_sizes(file.shape);
    file.assumed = given.tally().lines();
    return file;
}

}  // namespace tilewright::read

// The keys of a runtime's file. A section may state any field of the lowering; what it leaves out is as the section
// that it stands on has it: a family on [lowering], autocast on its family. A file may begin with all of another's.
#include <algorithm>
#include <charconv>

#include "ops/runtime_lines.h"
#include "quantity/suggest.h"
#include "tilewright/runtime.h"

namespace tilewright {
namespace {

template <class E>
std::string words() {
    std::vector<std::string> all;
    for (const auto& entry : names<E>) all.emplace_back(entry.first);
    return join_or(all);
}

std::optional<double> number(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !(value >= 0) || value > 1e15) return std::nullopt;
    return value;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t at = text.find(separator);
        std::string_view part = text.substr(0, at);
        while (part.starts_with(' ')) part.remove_prefix(1);
        while (part.ends_with(' ')) part.remove_suffix(1);
        if (!part.empty()) parts.push_back(part);
        if (at == std::string_view::npos) return parts;
        text.remove_prefix(at + 1);
    }
}

/// "2 pointwise 1/0.5 keep 0.5 wait": how often, the kind, units read and written, units kept, whether the host waits.
std::optional<StepKernel> kernel_of(std::string_view text) {
    const std::vector<std::string_view> words = split(text, ' ');
    StepKernel kernel;
    std::size_t next = 0;
    if (words.empty()) return std::nullopt;
    if (const auto times = number(words[0])) {
        kernel.times = static_cast<std::int64_t>(*times);
        ++next;
    }
    if (next + 1 >= words.size() || kernel.times < 1) return std::nullopt;
    const auto kind = find_named<StreamKind>(words[next++]);
    const std::string_view traffic = words[next++];
    const std::size_t slash = traffic.find('/');
    if (!kind || slash == std::string_view::npos) return std::nullopt;
    const auto reads = number(traffic.substr(0, slash)), writes = number(traffic.substr(slash + 1));
    if (!reads || !writes) return std::nullopt;
    kernel.kind = *kind;
    kernel.reads = *reads;
    kernel.writes = *writes;
    if (next + 1 < words.size() && words[next] == "keep") {
        const auto keeps = number(words[next + 1]);
        if (!keeps) return std::nullopt;
        kernel.keeps = *keeps;
        next += 2;
    }
    if (next < words.size() && words[next] == "wait") {
        kernel.waits = true;
        ++next;
    }
    if (next != words.size()) return std::nullopt;
    return kernel;
}

/// Sets one field from its text; false when the text will not do, in which case `expected` says what would.
using Set = bool (*)(RuntimeTraits& traits, std::string_view text, std::string& expected);

template <auto Field>
bool set_field(RuntimeTraits& traits, std::string_view text, std::string& expected) {
    auto& field = traits.*Field;
    using Type = std::remove_reference_t<decltype(field)>;
    if constexpr (std::is_same_v<Type, bool>) {
        expected = "true or false";
        if (text != "true" && text != "false") return false;
        field = text == "true";
    } else if constexpr (std::is_enum_v<Type>) {
        expected = words<Type>();
        const auto value = find_named<Type>(text);
        if (!value) return false;
        field = *value;
    } else if constexpr (std::is_same_v<Type, double>) {
        expected = "a factor of at least 1";
        const auto value = number(text);
        if (!value || *value < 1) return false;
        field = *value;
    } else {
        expected = "a count";
        const auto value = number(text);
        if (!value) return false;
        field = static_cast<Type>(*value);
    }
    return true;
}

struct TraitKey {
    std::string_view name;
    Set set;
};

constexpr TraitKey trait_keys[] = {
    {"form", set_field<&RuntimeTraits::form>},
    {"residual", set_field<&RuntimeTraits::residual>},
    {"gradient_sums", set_field<&RuntimeTraits::gradient_sums>},
    {"activation", set_field<&RuntimeTraits::activation>},
    {"rotary", set_field<&RuntimeTraits::rotary>},
    {"cache", set_field<&RuntimeTraits::cache>},
    {"scores", set_field<&RuntimeTraits::scores>},
    {"embedding", set_field<&RuntimeTraits::embedding>},
    {"loss", set_field<&RuntimeTraits::loss>},
    {"experts", set_field<&RuntimeTraits::experts>},
    {"norms_read_again", set_field<&RuntimeTraits::norms_read_again>},
    {"bias_gradients", set_field<&RuntimeTraits::bias_gradients>},
    {"pads_products", set_field<&RuntimeTraits::pads_products>},
    {"widens_rows", set_field<&RuntimeTraits::widens_rows>},
    {"joins_qkv", set_field<&RuntimeTraits::joins_qkv>},
    {"joins_gate", set_field<&RuntimeTraits::joins_gate>},
    {"joins_expert_gate", set_field<&RuntimeTraits::joins_expert_gate>},
    {"weights_by_input", set_field<&RuntimeTraits::weights_by_input>},
    {"dropout", set_field<&RuntimeTraits::dropout>},
    {"deepep", set_field<&RuntimeTraits::deepep>},
    {"gathers_experts", set_field<&RuntimeTraits::gathers_experts>},
    {"logits", set_field<&RuntimeTraits::logits>},
    {"attention", set_field<&RuntimeTraits::attention>},
    {"grouped_attention", set_field<&RuntimeTraits::grouped_attention>},
    {"master", set_field<&RuntimeTraits::master>},
    {"spread", set_field<&RuntimeTraits::spread>},
    {"forward_views", set_field<&RuntimeTraits::forward_views>},
    {"backward_views", set_field<&RuntimeTraits::backward_views>},
};

/// "none" leaves the step to the fields.
bool set_list(RuntimeTraits& traits, ListedStep step, bool backward, std::string_view text) {
    auto& list = traits.steps[static_cast<std::size_t>(step)];
    if (text == "none") {
        list.reset();
        return true;
    }
    std::vector<StepKernel> kernels;
    for (const std::string_view part : split(text, ',')) {
        const std::optional<StepKernel> kernel = kernel_of(part);
        if (!kernel) return false;
        kernels.push_back(*kernel);
    }
    if (!list) list.emplace();
    (backward ? list->backward : list->forward) = std::move(kernels);
    return true;
}

struct HostKey {
    std::string_view name;
    Seconds HostCosts::*cost;
};
constexpr HostKey host_keys[] = {
    {"forward_us", &HostCosts::forward},
    {"forward_view_us", &HostCosts::forward_view},
    {"backward_us", &HostCosts::backward},
    {"backward_view_us", &HostCosts::backward_view},
    {"update_tensor_us", &HostCosts::update_tensor},
    {"step_us", &HostCosts::step},
    {"prompt_us", &HostCosts::prompt},
    {"token_us", &HostCosts::token},
};

class Reader {
public:
    explicit Reader(const std::string& where) : where_(where) {}

    Result<Runtime> read(std::span<const RuntimeEntry> own, std::string_view name) {
        Runtime runtime;
        runtime.name = name;
        begin_with(own);
        known_.assign(entries_.size(), false);
        words(runtime);
        host(runtime.host);
        memory(runtime.memory);
        if (has("engine.")) engine(runtime.engine.emplace());
        apply("lowering.", runtime.traits);
        if (has("autocast.")) runtime.autocast = runtime.traits;
        if (runtime.autocast) apply("autocast.", *runtime.autocast);
        families(runtime);
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            if (!known_[i]) add(entries_[i], "is no key of a runtime", "docs/runtimes.md lists them");
        }
        if (!problems_.empty()) return problems_;
        return runtime;
    }

private:
    /// The lines of the built-in runtime that this one is like, then its own: of a key's lines the last one counts.
    void begin_with(std::span<const RuntimeEntry> own) {
        const auto like = std::find_if(own.begin(), own.end(), [](const auto& entry) { return entry.key == "like"; });
        if (like != own.end()) {
            std::vector<std::string> known;
            for (const RuntimeLines& file : runtime_lines()) {
                known.emplace_back(file.name);
                if (file.name == like->value) begin_with(file.entries);
            }
            if (entries_.empty()) {
                const WordFault fault = unknown_word(like->value, known);
                problems_.push_back({where_, like->line, "like: " + fault.what, fault.fix});
            }
        }
        entries_.insert(entries_.end(), own.begin(), own.end());
    }

    void words(Runtime& runtime) {
        const std::pair<std::string_view, std::string Runtime::*> keys[] = {{"title", &Runtime::title},
                                                                            {"version", &Runtime::version},
                                                                            {"source", &Runtime::source},
                                                                            {"rests_on", &Runtime::rests_on}};
        each("", [&](std::string_view key, const RuntimeEntry& entry) {
            for (const auto& [word, field] : keys) {
                if (word == key) return runtime.*field = entry.value, true;
            }
            return key == "like";
        });
    }

    void host(HostCosts& costs) {
        constexpr double us = 1e-6;
        each("host.", [&](std::string_view key, const RuntimeEntry& entry) {
            if (key == "waits_each_step") {
                costs.waits_each_step = entry.value == "true";
                if (entry.value != "true" && entry.value != "false") add(entry, "will not do", "use true or false");
                return true;
            }
            const auto value = number(entry.value);
            if (key == "spread") {
                if (!value || *value < 1) add(entry, "will not do", "use a factor of at least 1");
                costs.spread = value.value_or(1.0);
                return true;
            }
            for (const HostKey& known : host_keys) {
                if (known.name != key) continue;
                if (!value) add(entry, "will not do", "use microseconds");
                costs.*known.cost = {value.value_or(0) * us};
                return true;
            }
            return false;
        });
    }

    void memory(MemoryBeside& beside) {
        each("memory.", [&](std::string_view key, const RuntimeEntry& entry) {
            const auto value = number(entry.value);
            if (!value) add(entry, "will not do", "use a number");
            if (key == "context_bytes") return beside.context = {value.value_or(0)}, true;
            if (key == "workspace_bytes") return beside.workspace = {value.value_or(0)}, true;
            if (key == "slack") return beside.slack = value.value_or(0), true;
            if (key == "held") return beside.held = value.value_or(0), true;
            if (key == "prompt_cache") return beside.prompt_cache = value.value_or(1) != 0, true;
            if (key == "with_prompt") return beside.with_prompt = value.value_or(0) != 0, true;
            if (key == "wide_weights") return beside.wide_weights = value.value_or(0) != 0, true;
            return false;
        });
    }

    void engine(Engine& engine) {
        const std::pair<std::string_view, std::int64_t Engine::*> counts[] = {{"block_tokens", &Engine::block},
                                                                              {"max_batch", &Engine::max_batch},
                                                                              {"chunk_tokens", &Engine::chunk},
                                                                              {"decode_group", &Engine::decode_group},
                                                                              {"turns_beyond", &Engine::turns_beyond}};
        each("engine.", [&](std::string_view key, const RuntimeEntry& entry) {
            const double value = number(entry.value).value_or(0);
            if (key == "memory_share" || key == "free_share") {
                if (!(value > 0 && value <= 1)) add(entry, "will not do", "use a share of at most 1");
                return (key == "free_share" ? engine.free_share : engine.memory_share) = value, true;
            }
            using Wait = std::pair<std::string_view, Seconds Engine::*>;
            for (const auto& [word, field] : {Wait{"prompt_step_us", &Engine::prompt_step},
                                              Wait{"step_us", &Engine::step}, Wait{"sequence_us", &Engine::sequence}}) {
                if (word != key) continue;
                if (!(value >= 0)) add(entry, "will not do", "use microseconds");
                return engine.*field = microseconds(value), true;
            }
            if (key == "spread") {
                if (!(value >= 1)) add(entry, "will not do", "use a factor of at least 1");
                return engine.spread = value, true;
            }
            if (key == "own_sums") {
                const auto word = find_named<OwnSums>(entry.value);
                if (!word) add(entry, "will not do", "use any, one_shot or small_one_shot");
                return engine.own_sums = word.value_or(OwnSums::Any), true;
            }
            using Switch = std::pair<std::string_view, bool Engine::*>;
            for (const auto& [word, field] :
                 {Switch{"sizes_steps", &Engine::sizes_steps}, Switch{"windows", &Engine::windows},
                  Switch{"expert_launches", &Engine::expert_launches},
                  Switch{"gathers_tokens", &Engine::gathers_tokens}, Switch{"widens_cache", &Engine::widens_cache},
                  Switch{"pads_batches", &Engine::pads_batches}, Switch{"own_requests", &Engine::own_requests}}) {
                if (word != key) continue;
                if (entry.value != "true" && entry.value != "false") add(entry, "will not do", "use true or false");
                return engine.*field = entry.value == "true", true;
            }
            for (const auto& [word, field] : counts) {
                if (word != key) continue;
                if (!(value >= 1 && value <= 1e9)) add(entry, "will not do", "use a whole number of at least 1");
                return engine.*field = static_cast<std::int64_t>(value), true;
            }
            return false;
        });
    }

    void families(Runtime& runtime) {
        constexpr std::string_view prefix = "family.";
        for (const RuntimeEntry& entry : entries_) {
            if (!entry.key.starts_with(prefix)) continue;
            const std::string_view rest = entry.key.substr(prefix.size());
            const std::string name(rest.substr(0, rest.find('.')));
            const bool seen = std::any_of(runtime.families.begin(), runtime.families.end(),
                                          [&](const Runtime::Family& family) { return family.name == name; });
            if (seen) continue;
            const std::string section = std::string(prefix) + name + ".";
            Runtime::Family family{name, runtime.traits, {}};
            apply(section, family.traits);
            if (runtime.autocast || has(section + "autocast.")) family.autocast = family.traits;
            if (family.autocast) apply("autocast.", *family.autocast);
            if (family.autocast) apply(section + "autocast.", *family.autocast);
            runtime.families.push_back(std::move(family));
        }
    }

    bool has(std::string_view section) const {
        return std::any_of(entries_.begin(), entries_.end(),
                           [&](const RuntimeEntry& entry) { return entry.key.starts_with(section); });
    }

    /// The keys of a section that belong to no section within it.
    void apply(std::string_view section, RuntimeTraits& traits) {
        each(section, [&](std::string_view key, const RuntimeEntry& entry) { return set(traits, key, entry); });
    }

    bool set(RuntimeTraits& traits, std::string_view key, const RuntimeEntry& entry) {
        for (const TraitKey& known : trait_keys) {
            if (known.name != key) continue;
            std::string expected;
            if (!known.set(traits, entry.value, expected)) add(entry, "will not do", "use " + expected);
            return true;
        }
        const std::size_t dot = key.find('.');
        if (dot == std::string_view::npos) return false;
        const std::string_view pass = key.substr(0, dot);
        const std::optional<ListedStep> step = find_named<ListedStep>(key.substr(dot + 1));
        if (!step || (pass != "forward" && pass != "backward")) return false;
        if (!set_list(traits, *step, pass == "backward", entry.value)) {
            add(entry, "is no list of kernels",
                "write them as \"pointwise 1/1, 2 strided 1/0.5 keep 1\"; docs/runtimes.md");
        }
        return true;
    }

    template <class Take>
    void each(std::string_view section, Take take) {
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            const RuntimeEntry& entry = entries_[i];
            if (!entry.key.starts_with(section)) continue;
            if (take(entry.key.substr(section.size()), entry)) known_[i] = true;
        }
    }

    void add(const RuntimeEntry& entry, const std::string& what, const std::string& fix) {
        Problem problem{where_, entry.line, std::string(entry.key) + " " + what, fix};
        const auto same = [&](const Problem& other) {
            return other.line == problem.line && other.what == problem.what;
        };
        if (std::none_of(problems_.begin(), problems_.end(), same)) problems_.push_back(std::move(problem));
    }

    std::vector<RuntimeEntry> entries_;
    const std::string& where_;
    std::vector<bool> known_;
    Problems problems_;
};

}  // namespace

Result<Runtime> read_runtime(std::span<const RuntimeEntry> entries, std::string_view name, const std::string& where) {
    return Reader(where).read(entries, name);
}

}  // namespace tilewright

// The keys of a runtime's file. A section may state any field of the lowering; what it leaves out is as the section
// that it stands on has it: a family on [lowering], autocast on its family. A file may begin with all of another's.
#include <algorithm>
#include <charconv>
#include <cmath>

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

/// What a key's number may be.
struct Range {
    double least, most;
    std::string_view words;
};
constexpr Range any_number{0, 1e15, "a number"};
constexpr Range any_count{0, 1e9, "a whole number"};
constexpr Range some{1, 1e9, "a whole number of at least 1"};
constexpr Range factor{1, 1e15, "a factor of at least 1"};
constexpr Range share{1e-9, 1, "a share of at most 1"};
constexpr Range us{0, 1e15, "microseconds"};

/// Sets one field of a section from its text; false when the text will not do, in which case `expected` says what
/// would.
template <class Section>
struct Key {
    std::string_view name;
    bool (*set)(Section& section, std::string_view text, std::string& expected);
};

template <auto Field, const Range& range = any_number, class Section>
bool set_field(Section& section, std::string_view text, std::string& expected) {
    auto& field = section.*Field;
    using Type = std::remove_reference_t<decltype(field)>;
    if constexpr (std::is_same_v<Type, bool>) {
        expected = "true or false";
        field = text == "true" || text == "1";
        return field || text == "false" || text == "0";
    } else if constexpr (std::is_enum_v<Type>) {
        expected = words<Type>();
        const auto value = find_named<Type>(text);
        if (!value) return false;
        field = *value;
    } else {
        expected = range.words;
        const auto value = number(text);
        if (!value || *value < range.least || *value > range.most) return false;
        if (std::is_integral_v<Type> && *value != std::floor(*value)) return false;
        if constexpr (std::is_same_v<Type, Seconds>) {
            field = microseconds(*value);
        } else if constexpr (std::is_same_v<Type, Bytes>) {
            field = {*value};
        } else {
            field = static_cast<Type>(*value);
        }
    }
    return true;
}

constexpr Key<RuntimeTraits> trait_keys[] = {
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
    {"deepep_units", set_field<&RuntimeTraits::deepep_units, some>},
    {"asynchronous", set_field<&RuntimeTraits::asynchronous>},
    {"cache_turns", set_field<&RuntimeTraits::cache_turns>},
    {"writes_fp8", set_field<&RuntimeTraits::writes_fp8>},
    {"gathers_experts", set_field<&RuntimeTraits::gathers_experts>},
    {"logits", set_field<&RuntimeTraits::logits>},
    {"attention", set_field<&RuntimeTraits::attention>},
    {"grouped_attention", set_field<&RuntimeTraits::grouped_attention>},
    {"master", set_field<&RuntimeTraits::master>},
    {"spread", set_field<&RuntimeTraits::spread, factor>},
    {"expert_spread", set_field<&RuntimeTraits::expert_spread, factor>},
    {"forward_views", set_field<&RuntimeTraits::forward_views, any_count>},
    {"backward_views", set_field<&RuntimeTraits::backward_views, any_count>},
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

constexpr Key<HostCosts> host_keys[] = {
    {"forward_us", set_field<&HostCosts::forward, us>},
    {"forward_view_us", set_field<&HostCosts::forward_view, us>},
    {"backward_us", set_field<&HostCosts::backward, us>},
    {"backward_view_us", set_field<&HostCosts::backward_view, us>},
    {"update_tensor_us", set_field<&HostCosts::update_tensor, us>},
    {"step_us", set_field<&HostCosts::step, us>},
    {"prompt_us", set_field<&HostCosts::prompt, us>},
    {"token_us", set_field<&HostCosts::token, us>},
    {"spread", set_field<&HostCosts::spread, factor>},
    {"waits_each_step", set_field<&HostCosts::waits_each_step>},
};

constexpr Key<MemoryBeside> memory_keys[] = {
    {"context_bytes", set_field<&MemoryBeside::context>},
    {"workspace_bytes", set_field<&MemoryBeside::workspace>},
    {"slack", set_field<&MemoryBeside::slack>},
    {"held", set_field<&MemoryBeside::held>},
    {"prompt_cache", set_field<&MemoryBeside::prompt_cache>},
    {"with_prompt", set_field<&MemoryBeside::with_prompt>},
    {"wide_weights", set_field<&MemoryBeside::wide_weights>},
};

/// "llama-2-70b 4 4096/8192, llama-2-70b 4 256/8192 of 4224": model, tensor ranks, sequences and tokens of a step,
/// where it matters the tokens of a request.
bool set_bench_steps(Engine& engine, std::string_view text, std::string& expected) {
    expected = "entries such as \"llama-2-70b 4 4096/8192\" or \"llama-2-70b 4 256/8192 of 4224\"";
    engine.bench_steps.clear();
    for (const std::string_view entry : split(text, ',')) {
        const std::vector<std::string_view> words = split(entry, ' ');
        const bool of_length = words.size() == 5 && words[3] == "of";
        if (words.size() != 3 && !of_length) return false;
        const std::size_t slash = std::min(words[2].find('/'), words[2].size() - 1);
        const auto tp = number(words[1]), batch = number(words[2].substr(0, slash));
        const auto chunk = number(words[2].substr(slash + 1)), length = of_length ? number(words[4]) : 0.0;
        const auto whole = [](const std::optional<double>& value) { return value && *value == std::floor(*value); };
        if (!whole(tp) || !whole(batch) || !whole(chunk) || !whole(length)) return false;
        if (*tp < 1 || *batch < 1 || *chunk < 1) return false;
        const auto count = [](const std::optional<double>& value) { return static_cast<std::int64_t>(*value); };
        engine.bench_steps.push_back({std::string(words[0]), count(tp), count(length), count(batch), count(chunk)});
    }
    return true;
}

constexpr Key<Engine> engine_keys[] = {
    {"memory_share", set_field<&Engine::memory_share, share>},
    {"free_share", set_field<&Engine::free_share, share>},
    {"block_tokens", set_field<&Engine::block, some>},
    {"max_batch", set_field<&Engine::max_batch, some>},
    {"chunk_tokens", set_field<&Engine::chunk, some>},
    {"sizes_steps", set_field<&Engine::sizes_steps>},
    {"bench_steps", set_bench_steps},
    {"whole_prompts", set_field<&Engine::whole_prompts>},
    {"windows", set_field<&Engine::windows>},
    {"expert_launches", set_field<&Engine::expert_launches>},
    {"expert_library", set_field<&Engine::expert_library>},
    {"gathers_tokens", set_field<&Engine::gathers_tokens>},
    {"own_fp8", set_field<&Engine::own_fp8>},
    {"own_requests", set_field<&Engine::own_requests>},
    {"widens_cache", set_field<&Engine::widens_cache>},
    {"own_sums", set_field<&Engine::own_sums>},
    {"decode_group", set_field<&Engine::decode_group, any_count>},
    {"pads_batches", set_field<&Engine::pads_batches>},
    {"turns_beyond", set_field<&Engine::turns_beyond, any_count>},
    {"prompt_step_us", set_field<&Engine::prompt_step, us>},
    {"step_us", set_field<&Engine::step, us>},
    {"sequence_us", set_field<&Engine::sequence, us>},
    {"spread", set_field<&Engine::spread, factor>},
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
        take("host.", runtime.host, host_keys);
        take("memory.", runtime.memory, memory_keys);
        if (has("engine.")) take("engine.", runtime.engine.emplace(), engine_keys);
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

    template <class Section, std::size_t Count>
    void take(std::string_view prefix, Section& section, const Key<Section> (&keys)[Count]) {
        each(prefix, [&](std::string_view key, const RuntimeEntry& entry) { return set(section, keys, key, entry); });
    }

    template <class Section, std::size_t Count>
    bool set(Section& section, const Key<Section> (&keys)[Count], std::string_view key, const RuntimeEntry& entry) {
        const auto known = std::find_if(std::begin(keys), std::end(keys), [&](const auto& k) { return k.name == key; });
        if (known == std::end(keys)) return false;
        std::string expected;
        if (!known->set(section, entry.value, expected)) add(entry, "will not do", "use " + expected);
        return true;
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
        each(section,
             [&](std::string_view key, const RuntimeEntry& entry) { return set_lowering(traits, key, entry); });
    }

    bool set_lowering(RuntimeTraits& traits, std::string_view key, const RuntimeEntry& entry) {
        if (set(traits, trait_keys, key, entry)) return true;
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

// Names and sizes of a checkpoint's tensors. safetensors: eight bytes of length, then JSON of that length with the
// dtype, the shape and the place of each tensor (github.com/huggingface/safetensors, README, "Format").
#include <algorithm>
#include <set>

#include "quantity/suggest.h"
#include "read/foreign.h"

namespace tilewright::read {
namespace {

constexpr std::size_t prefix = 8;

std::uint64_t header_length(std::string_view bytes) {
    std::uint64_t length = 0;
    for (std::size_t i = prefix; i-- > 0;) length = length << 8U | static_cast<unsigned char>(bytes[i]);
    return length;
}

/// Sizes of a tensor; nothing when they are none.
std::optional<std::vector<std::int64_t>> sizes_of(const Value& entry) {
    const Value* shape = entry.find("shape");
    const Array* list = shape == nullptr ? nullptr : shape->as<Array>();
    if (list == nullptr) return std::nullopt;
    std::vector<std::int64_t> found;
    for (const Value& each : *list) {
        const auto* size = each.as<std::int64_t>();
        if (size == nullptr || *size < 0 || *size > largest_size) return std::nullopt;
        found.push_back(*size);
    }
    return found;
}

/// Tensors of one model, asked for by their name behind whatever prefix they share.
class Names {
public:
    explicit Names(const Tensors& tensors) : tensors_(tensors) {}

    /// One size of the first tensor whose name ends so; 0 when there is none or it has no such side.
    std::int64_t size(std::string_view ending, std::size_t side) const {
        const auto found = find(ending);
        return found == tensors_.end() || found->second.size() <= side ? 0 : found->second[side];
    }
    bool has(std::string_view ending) const { return find(ending) != tensors_.end(); }
    /// How many different numbers stand between `before` and the next dot.
    std::int64_t count(std::string_view before) const {
        std::set<std::string> numbers;
        for (const auto& [name, unused] : tensors_) {
            const std::size_t at = name.find(before);
            if (at == std::string::npos) continue;
            const std::string_view rest = std::string_view(name).substr(at + before.size());
            const std::string_view number = rest.substr(0, rest.find('.'));
            const bool digits = !number.empty() && number.find_first_not_of("0123456789") == number.npos;
            if (digits) numbers.emplace(number);
        }
        return static_cast<std::int64_t>(numbers.size());
    }

private:
    Tensors::const_iterator find(std::string_view ending) const {
        return std::find_if(tensors_.begin(), tensors_.end(),
                            [&](const auto& entry) { return entry.first.ends_with(ending); });
    }
    const Tensors& tensors_;
};

/// The size of a head, which a plain checkpoint does not state: that of its norm, or the usual one.
std::int64_t head_size(const Names& names, std::int64_t queries, std::int64_t keys, std::string& assumed) {
    if (const std::int64_t stated = names.size("self_attn.q_norm.weight", 0); stated > 0 && stated < queries)
        return stated;
    if (const std::int64_t half = names.size("rotary_emb.inv_freq", 0); half > 0) return 2 * half;
    for (const std::int64_t usual : {128, 64, 80, 96, 256}) {
        if (keys % usual != 0 || queries % usual != 0) continue;
        assumed = "names and sizes do not tell the size of a head: taken as " + std::to_string(usual);
        return usual;
    }
    return 0;
}

/// Llama and its relatives: q, k and v apart, a gated MLP, RMS norms.
ShapeFile llama_style(const Names& names, Report& report) {
    const std::int64_t experts = std::max(names.count("block_sparse_moe.experts."), names.count("mlp.experts."));
    const bool normed = names.has("self_attn.q_norm.weight");
    const bool biased = names.has("self_attn.q_proj.bias");
    const bool mixtral = names.has("block_sparse_moe.gate.weight");
    std::string_view family = biased ? "qwen2" : normed ? "qwen3" : "llama";
    if (experts > 0) family = mixtral ? "mixtral" : "qwen3_moe";
    Tally tally;
    ConfigDraft draft(family);
    const std::int64_t queries = names.size("self_attn.q_proj.weight", 0),
                       keys = names.size("self_attn.k_proj.weight", 0);
    std::string assumed;
    const std::int64_t head = head_size(names, queries, keys, assumed);
    if (head == 0 || queries % head != 0 || keys % head != 0) {
        report.add(0,
                   "queries of " + std::to_string(queries) + " and keys of " + std::to_string(keys) +
                       " do not divide into heads",
                   "name the config.json beside the weights");
        return {};
    }
    draft.set("hidden_size", names.size("embed_tokens.weight", 1));
    draft.set("vocab_size", names.size("embed_tokens.weight", 0));
    draft.set("num_hidden_layers", names.count("layers."));
    draft.set("num_attention_heads", queries / head);
    draft.set("num_key_value_heads", keys / head);
    draft.set("head_dim", head);
    draft.set("tie_word_embeddings", !names.has("lm_head.weight"));
    const std::int64_t wide = std::max(names.size("mlp.gate_proj.weight", 0), names.size("experts.0.w1.weight", 0));
    const std::int64_t expert = names.size("mlp.experts.0.gate_proj.weight", 0);
    draft.set("intermediate_size", mixtral ? wide : std::max(wide, expert));
    if (experts > 0) {
        draft.set(mixtral ? "num_local_experts" : "num_experts", experts);
        if (!mixtral) draft.set("moe_intermediate_size", expert);
    }
    for (const char* name : {"embed_tokens", "self_attn.q_proj", "self_attn.k_proj", "mlp", "lm_head"})
        tally.take(name);
    ShapeFile file = draft.read(tally, report);
    if (!assumed.empty()) file.assumed.push_back(assumed);
    file.assumed.push_back("the family is told by names of tensors: " + std::string(family));
    if (experts > 0)
        file.assumed.push_back("how many experts a token visits is not in a checkpoint: as transformers has it");
    return file;
}

ShapeFile gpt2_style(const Names& names, Report& report) {
    ConfigDraft draft("gpt2");
    const std::int64_t hidden = names.size("wte.weight", 1);
    draft.set("n_embd", hidden);
    draft.set("vocab_size", names.size("wte.weight", 0));
    draft.set("n_positions", names.size("wpe.weight", 0));
    draft.set("n_layer", names.count("h."));
    draft.set("n_inner", names.size("mlp.c_fc.weight", 1));
    draft.set("n_head", std::max<std::int64_t>(1, hidden / 64));
    Tally tally;
    for (const char* name : {"wte", "wpe", "mlp.c_fc"}) tally.take(name);
    ShapeFile file = draft.read(tally, report);
    file.assumed.push_back("names and sizes do not tell the size of a head: taken as 64");
    return file;
}

}  // namespace

bool looks_like_safetensors(std::string_view bytes) {
    return bytes.size() > prefix && bytes[prefix] == '{' && header_length(bytes) <= (std::uint64_t{1} << 32U) &&
           bytes.substr(0, prefix).find('\0') != bytes.npos;
}

Result<Tensors> read_safetensors(std::string_view bytes, const std::string& where) {
    const std::uint64_t length = header_length(bytes);
    if (length > max_document_bytes) {
        return Problem{where, 0, "its header of " + std::to_string(length) + " bytes (bytes 0 to 7) is too long",
                       "a header of at most 8 MiB is read; name the config.json beside it"};
    }
    if (length > bytes.size() - prefix) {
        return Problem{where, 0,
                       "ends within its header of " + std::to_string(length) + " bytes, which begins at byte 8",
                       "fetch the file again"};
    }
    const Result<Value> header = read_json(bytes.substr(prefix, static_cast<std::size_t>(length)), where);
    if (!header) return header.problems();
    Tensors tensors;
    for (const Member& member : *header->as<Object>()) {
        if (member.key == "__metadata__") continue;
        const auto found = sizes_of(member.value);
        if (!found)
            return Problem{where, member.value.line, "tensor " + quoted(member.key) + " has no sizes",
                           "fetch the file again"};
        tensors[member.key] = *found;
    }
    return tensors;
}

bool looks_like_index(const Value& root) {
    const Value* map = root.find("weight_map");
    return map != nullptr && map->as<Object>() != nullptr;
}

std::vector<std::string> shards_of(const Value& index) {
    std::set<std::string> files;
    for (const Member& member : *index.find("weight_map")->as<Object>()) {
        if (const auto* file = member.value.as<std::string>()) files.insert(*file);
    }
    return {files.begin(), files.end()};
}

ShapeFile shape_of_tensors(const Tensors& tensors, Report& report) {
    const Names names(tensors);
    if (names.has("self_attn.q_proj.weight") && names.has("embed_tokens.weight")) return llama_style(names, report);
    if (names.has("wte.weight") && names.has("mlp.c_fc.weight")) return gpt2_style(names, report);
    std::string some;
    for (const auto& [name, unused] : tensors) {
        if (some.size() < 120) some += (some.empty() ? "" : ", ") + name;
    }
    report.add(0, "its tensors have names that are not known: " + quoted(some),
               "Llama's and GPT-2's names are; name the config.json beside the weights");
    return {};
}

}  // namespace tilewright::read

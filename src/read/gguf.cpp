// GGUF (github.com/ggml-org/ggml, docs/gguf.md): magic, version, counts, metadata as typed pairs, names of tensors.
// Metadata names the architecture and its sizes; the names of tensors tell whether the head is tied.
#include <iterator>
#include <optional>
#include <set>

#include "quantity/suggest.h"
#include "read/foreign.h"
#include "read/hugging_face_steps.h"

namespace tilewright::read {
namespace {

constexpr std::uint64_t most_entries = 1'000'000;

/// Reads little-endian values one after the other; after a fault everything is empty.
class Cursor {
public:
    explicit Cursor(std::string_view bytes) : bytes_(bytes) {}

    std::uint64_t number(std::size_t width) {
        if (!good_ || bytes_.size() - at_ < width) return fail();
        std::uint64_t value = 0;
        for (std::size_t i = width; i-- > 0;) value = value << 8U | static_cast<unsigned char>(bytes_[at_ + i]);
        at_ += width;
        return value;
    }
    std::string text() {
        const std::uint64_t length = number(8);
        if (!good_ || length > bytes_.size() - at_) return fail(), std::string();
        at_ += static_cast<std::size_t>(length);
        return std::string(bytes_.substr(at_ - static_cast<std::size_t>(length), static_cast<std::size_t>(length)));
    }
    void skip(std::uint64_t count) {
        if (!good_ || count > bytes_.size() - at_) {
            fail();
        } else {
            at_ += static_cast<std::size_t>(count);
        }
    }
    std::uint64_t fail() {
        good_ = false;
        return 0;
    }
    bool good() const { return good_; }
    std::size_t at() const { return at_; }

private:
    std::string_view bytes_;
    std::size_t at_ = 0;
    bool good_ = true;
};

/// Bytes of a plain type; 0 for a string or an array, which say their own length.
std::optional<std::size_t> width_of(std::uint64_t type) {
    constexpr std::size_t widths[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    return type < std::size(widths) ? std::optional(widths[type]) : std::nullopt;
}
constexpr std::uint64_t text_type = 8, array_type = 9;

struct Metadata {
    std::map<std::string, std::int64_t> numbers;  ///< of an array, its length
    std::map<std::string, std::string> texts;
};

void read_array(Cursor& cursor, const std::string& key, Metadata& metadata) {
    const std::uint64_t type = cursor.number(4), count = cursor.number(8);
    const auto width = width_of(type);
    if (!width || type == array_type || count > (std::uint64_t{1} << 32U)) return void(cursor.fail());
    if (type == text_type) {
        for (std::uint64_t i = 0; i < count && cursor.good(); ++i) cursor.skip(cursor.number(8));
    } else {
        cursor.skip(count * *width);
    }
    metadata.numbers[key] = static_cast<std::int64_t>(count);
}

Metadata read_metadata(Cursor& cursor, std::uint64_t count) {
    Metadata metadata;
    for (std::uint64_t i = 0; i < count && cursor.good(); ++i) {
        const std::string key = cursor.text();
        const std::uint64_t type = cursor.number(4);
        const auto width = width_of(type);
        if (!width) return cursor.fail(), metadata;
        if (type == text_type) {
            metadata.texts[key] = cursor.text();
        } else if (type == array_type) {
            read_array(cursor, key, metadata);
        } else {
            metadata.numbers[key] = static_cast<std::int64_t>(cursor.number(*width));
        }
    }
    return metadata;
}

/// Whether the head has weights of its own.
bool has_output(Cursor& cursor, std::uint64_t tensors) {
    bool found = false;
    for (std::uint64_t i = 0; i < tensors && cursor.good(); ++i) {
        found = cursor.text() == "output.weight" || found;
        const std::uint64_t sides = cursor.number(4);
        if (sides > 8) return cursor.fail(), found;
        cursor.skip(8 * sides + 4 + 8);
    }
    return found;
}

struct Architecture {
    std::string_view name, model_type;
};

/// The model_type whose configuration says the same; a name that is not here is taken as it is.
constexpr Architecture architectures[] = {
    {"qwen2moe", "qwen2_moe"},
    {"qwen3moe", "qwen3_moe"},
    {"qwen2vl", "qwen2_vl"},
    {"qwen3vl", "qwen3_vl_text"},
    {"qwen3vlmoe", "qwen3_vl_moe_text"},
    {"qwen3next", "qwen3_next"},
    {"gemma3", "gemma3_text"},
    {"gptneox", "gpt_neox"},
    {"starcoder", "gpt_bigcode"},
    {"phi2", "phi"},
    {"gpt-oss", "gpt_oss"},
    {"mistral3", "ministral3"},
    {"command-r", "cohere"},
    {"chatglm", "glm"},
    {"glm4moe", "glm4_moe"},
    {"deepseek2", "deepseek_v2"},
    {"hunyuan-dense", "hunyuan_v1_dense"},
    {"hunyuan-moe", "hunyuan_v1_moe"},
    {"ernie4_5-moe", "ernie4_5_moe"},
    {"exaone-moe", "exaone_moe"},
    {"minimax-m2", "minimax_m2"},
    {"falcon-h1", "falcon_h1"},
    {"granitehybrid", "granitemoehybrid"},
};

constexpr std::int64_t sigmoid = 2;  // expert_gating_func of DeepSeek-V3

std::string family_of(const std::string& architecture, bool experts, std::int64_t gating) {
    if (architecture == "llama" && experts) return "mixtral";
    if (architecture == "deepseek2" && gating == sigmoid) return "deepseek_v3";
    for (const auto& [name, model_type] : architectures) {
        if (architecture == name) return std::string(model_type);
    }
    return architecture;
}

/// What the family calls the sizes of its experts; those of Mixtral where it is not known.
const ExpertKeys& expert_keys(const std::string& model_type) {
    if (const Family* family = find_family(model_type)) {
        for (const Step& step : family->steps) {
            if (step.keys != nullptr) return *step.keys;
        }
    }
    return mixtral_keys;
}

struct Renamed {
    std::string_view ours, theirs;
};
constexpr Renamed renamed[] = {
    {"embedding_length", "hidden_size"},
    {"attention.head_count", "num_attention_heads"},
    {"attention.head_count_kv", "num_key_value_heads"},
    {"feed_forward_length", "intermediate_size"},
    {"attention.sliding_window", "sliding_window"},
};

/// A config.json put together from the numbers of an architecture; knows which of them it took.
class Draft {
public:
    Draft(const Metadata& metadata, const std::string& architecture)
        : metadata_(metadata),
          lead_(architecture + "."),
          model_type_(family_of(architecture, has("expert_count"), number("expert_gating_func"))),
          config_(model_type_) {}

    ShapeFile read(bool tied, Report& report) {
        for (const auto& [ours, theirs] : renamed) take(ours, theirs);
        const std::int64_t further = number("nextn_predict_layers");  // counted among the blocks
        if (has("block_count")) config_.set("num_hidden_layers", number("block_count") - further);
        if (model_type_ == "gpt2" || model_type_ == "gpt_bigcode") take("context_length", "n_positions");
        has("attention.kv_lora_rank") ? take_latent() : take("attention.key_length", "head_dim");
        take_experts();
        const std::string tokens = "tokenizer.ggml.tokens";
        const std::int64_t vocab = has("vocab_size") ? number("vocab_size") : find(tokens);
        if (vocab > 0) config_.set("vocab_size", vocab);
        config_.set("tie_word_embeddings", tied);
        return config_.read(tally(), report);
    }

private:
    /// 0 where it is none.
    std::int64_t find(const std::string& key) {
        const auto found = metadata_.numbers.find(key);
        if (found == metadata_.numbers.end() || found->second < 1 || found->second > largest_size) return 0;
        used_.insert(key);
        return found->second;
    }
    std::int64_t number(std::string_view key) { return find(lead_ + std::string(key)); }
    bool has(std::string_view key) { return number(key) > 0; }
    void take(std::string_view ours, std::string_view theirs) {
        if (!theirs.empty() && has(ours)) config_.set(theirs, number(ours));
    }

    void take_experts() {
        if (!has("expert_count")) return;
        const ExpertKeys& keys = expert_keys(model_type_);
        take("expert_count", keys.count);
        take("expert_used_count", keys.active);
        take("expert_feed_forward_length", keys.width);
        take("expert_shared_count", keys.shared);
        take("expert_shared_feed_forward_length", keys.shared_width);
        if (keys.dense != "mlp_only_layers") take("leading_dense_block_count", keys.dense);
    }

    /// Lengths of a head are given as the cache has them, and again as the model has them in newer files.
    void take_latent() {
        const std::int64_t rotated = number("rope.dimension_count");
        const auto length = [&](const std::string& key) {
            return has(key + "_mla") ? number(key + "_mla") : number(key);
        };
        take("attention.kv_lora_rank", "kv_lora_rank");
        config_.set("q_lora_rank", number("attention.q_lora_rank"));
        config_.set("qk_rope_head_dim", rotated);
        config_.set("qk_nope_head_dim", length("attention.key_length") - rotated);
        config_.set("v_head_dim", length("attention.value_length"));
    }

    Tally tally() const {
        Tally tally;
        for (const std::string& key : used_) tally.take(key);
        for (const auto& [key, unused] : metadata_.numbers) {
            if (key.starts_with(lead_) && !used_.contains(key)) tally.ignore(key);
        }
        return tally;
    }

    const Metadata& metadata_;
    std::set<std::string> used_{"output.weight"};
    std::string lead_, model_type_;
    ConfigDraft config_;
};

ShapeFile shape_of(const Metadata& metadata, bool tied, Report& report) {
    const auto architecture = metadata.texts.find("general.architecture");
    if (architecture == metadata.texts.end()) {
        report.add(0, "its metadata has no general.architecture", "name the config.json of the model");
        return {};
    }
    return Draft(metadata, architecture->second).read(tied, report);
}

}  // namespace

bool looks_like_gguf(std::string_view bytes) { return bytes.starts_with("GGUF"); }

ShapeFile read_gguf(std::string_view bytes, Report& report) {
    Cursor cursor(bytes);
    cursor.skip(4);
    const std::uint64_t version = cursor.number(4), tensors = cursor.number(8), pairs = cursor.number(8);
    if (!cursor.good() || version < 2 || version > 3 || tensors > most_entries || pairs > most_entries) {
        report.add(0, "is no GGUF of version 2 or 3 (bytes 4 to 23)", "convert it again with a newer llama.cpp");
        return {};
    }
    const Metadata metadata = read_metadata(cursor, pairs);
    const bool output = has_output(cursor, tensors);
    if (!cursor.good()) {
        report.add(0, "its header is cut off or damaged at byte " + std::to_string(cursor.at()),
                   "fetch the file again");
        return {};
    }
    return shape_of(metadata, !output, report);
}

}  // namespace tilewright::read

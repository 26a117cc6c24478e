// GGUF (github.com/ggml-org/ggml, docs/gguf.md): magic, version, counts, metadata as typed pairs, names of tensors.
// Metadata names the architecture and its sizes; the names of tensors tell whether the head is tied.
#include <iterator>
#include <optional>
#include <set>

#include "quantity/suggest.h"
#include "read/foreign.h"

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

/// The model_type whose configuration says the same; a name that is not here is taken as it is.
std::string family_of(const std::string& architecture, bool experts) {
    if (architecture == "llama") return experts ? "mixtral" : "llama";
    if (architecture == "qwen3moe") return "qwen3_moe";
    if (architecture == "gemma3") return "gemma3_text";
    if (architecture == "gptneox") return "gpt_neox";
    if (architecture == "phi2") return "phi";
    if (architecture == "gpt-oss") return "gpt_oss";
    return architecture;
}

struct Renamed {
    const char* ours;
    const char* theirs;
};
constexpr Renamed renamed[] = {
    {"embedding_length", "hidden_size"},
    {"block_count", "num_hidden_layers"},
    {"attention.head_count", "num_attention_heads"},
    {"attention.head_count_kv", "num_key_value_heads"},
    {"attention.key_length", "head_dim"},
    {"feed_forward_length", "intermediate_size"},
    {"attention.sliding_window", "sliding_window"},
};

ShapeFile shape_of(const Metadata& metadata, bool tied, Report& report) {
    const auto architecture = metadata.texts.find("general.architecture");
    if (architecture == metadata.texts.end()) {
        report.add(0, "its metadata has no general.architecture", "name the config.json of the model");
        return {};
    }
    const std::string lead = architecture->second + ".";
    std::set<std::string> used{"output.weight"};
    const auto number = [&](const std::string& key) -> std::optional<std::int64_t> {
        const auto found = metadata.numbers.find(key);
        if (found == metadata.numbers.end() || found->second < 1 || found->second > largest_size) return std::nullopt;
        used.insert(key);
        return found->second;
    };
    const auto experts = number(lead + "expert_count");
    ConfigDraft draft(family_of(architecture->second, experts.has_value()));
    for (const auto& [ours, theirs] : renamed) {
        if (const auto value = number(lead + ours)) draft.set(theirs, *value);
    }
    auto vocab = number(lead + "vocab_size");
    if (!vocab) vocab = number("tokenizer.ggml.tokens");
    if (vocab) draft.set("vocab_size", *vocab);
    if (experts) draft.set(architecture->second == "llama" ? "num_local_experts" : "num_experts", *experts);
    if (const auto active = number(lead + "expert_used_count")) draft.set("num_experts_per_tok", *active);
    if (const auto width = number(lead + "expert_feed_forward_length")) draft.set("moe_intermediate_size", *width);
    draft.set("tie_word_embeddings", tied);
    Tally tally;
    for (const std::string& key : used) tally.take(key);
    for (const auto& [key, unused] : metadata.numbers) {
        if (key.starts_with(lead) && !used.contains(key)) tally.ignore(key);
    }
    return draft.read(tally, report);
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

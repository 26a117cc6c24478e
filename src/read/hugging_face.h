// Hugging Face config.json: one row and at most one small function per family, with the defaults that the transformers
// library has where a key is absent.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "read/fields.h"
#include "tilewright/read.h"

namespace tilewright::read {

/// The shape of a config.json; what it does not say and had to be assumed is in `assumed`. A model_type that is not
/// known, and keys that matter and are not understood, are problems unless the reader may assume.
ShapeFile read_hugging_face(const Value& root, Assume assume, Report& report);

/// By the quantization_config, if there is one.
Formats read_formats(const Value& root, std::int64_t layers, std::vector<std::string>& assumed);

using Keys = std::initializer_list<std::string_view>;

/// A config.json being read: values under whichever of their names, and the line each field of the shape came from.
class Config {
public:
    Config(const Value& root, Report& report) : root_(root), fields_(root, "", report), report_(report) {}

    bool has(std::string_view key) const { return fields_.has(key); }

    /// A size under the first of `keys` that is there; `fallback` when none is. A list must have the same for each
    /// layer.
    std::int64_t size(const char* field, Keys keys, std::int64_t fallback);

    /// The same where null means that there is none: gives 0.
    std::int64_t size_or_none(const char* field, Keys keys, std::int64_t fallback);

    bool flag(std::string_view key, bool fallback);
    std::string text(std::string_view key);   ///< empty when absent or null
    const Array* list(std::string_view key);  ///< null when absent or null

    /// Another config within this one, where it is there, for `read`; what was read there counts as read here.
    template <class Read>
    void within(std::string_view key, Read read) {
        const Value* part = fields_.table(key);
        if (part == nullptr) return;
        Config inner(*part, report_);
        read(inner);
        places_.insert(places_.end(), inner.places_.begin(), inner.places_.end());
    }

    void refuse(std::string_view key, std::string why);
    void refuse_type(std::string_view why);                              ///< this model_type is not covered
    void ignore(std::string_view key) { fields_.ask(key); }              ///< a key that decides nothing here
    const Value* ask(std::string_view key) { return fields_.ask(key); }  ///< null when absent

    /// Keys that are set and that nobody asked for, of structure (experts, state-space layers, patterns of layers, …)
    /// or a slip of the pen from one that was.
    std::vector<const Member*> not_understood() const;
    std::string_view meant(std::string_view key) const { return fields_.meant(key); }

    void assume(std::string line) { assumed_.push_back(std::move(line)); }
    const std::vector<std::string>& assumed() const { return assumed_; }

    int key_line(std::string_view key) const { return fields_.line_of(key); }

    /// The line a field was read from; 0 when it was not.
    int line_of(const std::string& field) const;
    const std::vector<KeyPlace>& places() const { return places_; }

private:
    /// The first of `keys` that is there; a problem when another one says something else.
    std::string_view present(const char* field, Keys keys);
    void compare(std::string_view key, std::string_view other);
    std::int64_t number(std::string_view key, Range range);

    const Value& root_;
    Fields fields_;
    Report& report_;
    std::vector<KeyPlace> places_;
    std::vector<std::string> assumed_;
};

/// Defaults of a family; 0 where the size follows from others (kv_heads, head_dim, ffn) or must be stated.
struct FamilySizes {
    std::int64_t vocab = 0;
    std::int64_t hidden = 0;
    std::int64_t layers = 0;
    std::int64_t heads = 0;
    std::int64_t kv_heads = 0;
    std::int64_t head_dim = 0;
    std::int64_t ffn = 0;
};

struct ExpertKeys;

/// One thing that sets a family apart (hugging_face_steps.h).
struct Step {
    void (*take)(Config& config, Shape& shape, const Step& step);
    std::string_view key{};  ///< that decides it; empty: it is always so
    bool usual = true;       ///< where the key is absent
    std::int64_t first = 0, second = 0, third = 0;
    const ExpertKeys* keys = nullptr;
    Experts experts{};  ///< where keys are absent
    Latent latent{};
};

/// How configs of these model_types are read: sizes first, then one step after the other.
struct Family {
    std::initializer_list<std::string_view> model_types;
    MlpKind mlp;
    bool tied;
    FamilySizes sizes;
    std::initializer_list<Step> steps;
};

/// Every family that is known by name, and the one of a model_type; null when there is none.
std::span<const Family> families();
const Family* find_family(std::string_view model_type);

/// A window that so many of the layers use, in that order, or those that layer_types names.
void read_window(Config& config, Shape& shape, std::int64_t fallback);
void spread_window(Shape& shape, std::int64_t windowed, std::int64_t every);
void spread_window(Shape& shape, const std::vector<bool>& windowed);

/// Why a model of that type has no shape here ("has state-space layers"); empty when there is no such reason.
std::string_view not_covered(std::string_view model_type);

/// The two that unknown ones are read as.
extern const Family llama_like;
extern const Family gpt_like;

}  // namespace tilewright::read

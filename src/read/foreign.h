// Files of other programs that tell a shape or a workload. Each is turned into what this project reads anyway: a
// config.json of a known family, or the values of a workload. What was taken and what was ignored is said by name.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "read/fields.h"
#include "tilewright/read.h"

namespace tilewright::read {

/// Names of what a file says: those that decided something and those that did not.
class Tally {
public:
    void take(std::string_view key) { taken_.emplace_back(key); }
    void ignore(std::string_view key) { ignored_.emplace_back(key); }
    /// "taken: a, b" and "ignored: c"; a long list is cut, with how many more there are.
    std::vector<std::string> lines() const;

private:
    std::vector<std::string> taken_, ignored_;
};

/// A config.json being put together.
class ConfigDraft {
public:
    explicit ConfigDraft(std::string_view model_type) { set("model_type", std::string(model_type)); }
    void set(std::string_view key, std::int64_t value) { add(key, value); }
    void set(std::string_view key, bool value) { add(key, value); }
    void set(std::string_view key, std::string value) { add(key, std::move(value)); }
    /// The shape that it says; the tally's lines come first among what was assumed.
    ShapeFile read(const Tally& tally, Report& report) const;

private:
    template <class T>
    void add(std::string_view key, T value) {
        Value held;
        held.line = 0;
        held.data = std::move(value);
        members_.push_back({std::string(key), std::move(held)});
    }
    Object members_;
};

/// Arguments of Megatron-LM: a script that has them, or the YAML that it saves. The sizes and the workload.
bool looks_like_megatron(std::string_view text);
ShapeFile read_megatron(std::string_view text, Report& report);
Workload megatron_workload(std::string_view text, Tally& tally, Report& report);

/// A torchtitan job in TOML: a model and its flavor, training, parallelism.
bool looks_like_torchtitan(const Value& root);
ShapeFile read_torchtitan(const Value& root, Report& report);
Workload torchtitan_workload(const Value& root, Tally& tally, Report& report);

/// params.json as Meta and Mistral ship it beside their weights.
bool looks_like_params(const Value& root);
ShapeFile read_params(const Value& root, Report& report);

/// A configuration of DeepSpeed: ZeRO, batch, precision.
bool looks_like_deepspeed(const Value& root);
void read_deepspeed(const Value& root, Workload& workload, Tally& tally, Report& report);

/// Sizes of tensors by name.
using Tensors = std::map<std::string, std::vector<std::int64_t>>;

/// The header of a safetensors file; what follows it is not looked at.
bool looks_like_safetensors(std::string_view bytes);
Result<Tensors> read_safetensors(std::string_view bytes, const std::string& where);

/// The files that model.safetensors.index.json names, each once.
bool looks_like_index(const Value& root);
std::vector<std::string> shards_of(const Value& index);

/// The shape that names and sizes of tensors tell.
ShapeFile shape_of_tensors(const Tensors& tensors, Report& report);

/// The header of a GGUF file: metadata and names of tensors.
bool looks_like_gguf(std::string_view bytes);
ShapeFile read_gguf(std::string_view bytes, Report& report);

}  // namespace tilewright::read

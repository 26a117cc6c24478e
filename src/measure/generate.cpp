#include "measure/generate.h"

#include <algorithm>
#include <array>

namespace tilewright::measure {
namespace {

constexpr std::array sets = {
    ShapeSet{"gemm-quick", "gemm", 20000,
             "products of training, prefill and decode, all alignments, batched, vocabularies", draw_gemm_quick},
    ShapeSet{"gemm-long", "gemm", 300, "products of 5 to 60 ms a launch, drawn as those of gemm-quick", draw_gemm_long},
    ShapeSet{"gemm-narrow", "gemm", 1200, "products of training up to 60 ms with rows of 2, 4 or 8 bytes",
             draw_gemm_narrow},
    ShapeSet{"gemm-batched", "gemm", 1500, "batches of experts' weights and of unfused attention", draw_gemm_batched},
    ShapeSet{"gemm-clocks", "gemm", 1500, "those of gemm-quick to be timed sustained and burst as well",
             draw_gemm_clocks},
    ShapeSet{"cliff", "gemm", 1299, "m, n and k by themselves in steps of one around 4096, each layout", draw_cliff},
    ShapeSet{"attention", "attention", 1500, "forward and backward, head sizes 16 to 256, grouped heads, decode",
             draw_attention},
    ShapeSet{"stream", "stream", 1000, "norms, activations, softmax, loss, optimizer", draw_stream},
    ShapeSet{"layer", "layer", 200, "whole layers, forward and training", draw_layer},
};

/// FNV-1a (Fowler, Noll and Vo), finished so that its low bits mix.
std::uint64_t hash(std::string_view text) {
    std::uint64_t value = 0xCBF29CE484222325ULL;
    for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
    return value ^ (value >> 29);
}

}  // namespace

std::span<const ShapeSet> shape_sets() { return sets; }

std::string_view split_of(std::string_view family) { return hash(family) % 5 == 0 ? "judge" : "fit"; }

Result<std::string> generate_csv(std::string_view set, std::int64_t count, std::uint64_t seed) {
    const auto found = std::find_if(sets.begin(), sets.end(), [&](const ShapeSet& known) { return known.name == set; });
    if (found == sets.end()) {
        std::string known;
        for (const ShapeSet& each : sets) known += (known.empty() ? "" : ", ") + std::string(each.name);
        return Problem{"--set", 0, "no set is called '" + std::string(set) + "'", "use one of " + known};
    }
    std::string text;
    for (const Column& column : find_case_kind(found->op)->columns) text += std::string(column.name) + ",";
    text += "family,split\n";
    for (const Case& what : found->draw(count > 0 ? count : found->count, seed)) {
        for (const auto& [name, value] : what.sizes) text += value + ",";
        const std::string_view family = find_field(what.tags, "family").value_or("");
        text += std::string(family) + "," + std::string(split_of(family)) + "\n";
    }
    return text;
}

}  // namespace tilewright::measure

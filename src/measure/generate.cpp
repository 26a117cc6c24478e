// Attention and streaming kernels, and the table of all sets.
#include "measure/generate.h"

#include <algorithm>
#include <array>

#include "measure/draw.h"

namespace tilewright::measure {
namespace {

std::string text(std::int64_t value) { return std::to_string(value); }

std::int64_t head_size(Draw& draw) {
    if (draw.chance(0.55)) return draw.pick({64, 80, 96, 128, 192, 256});
    if (draw.chance(0.7)) return 8 * (2 + static_cast<std::int64_t>(draw.below(31)));
    return 16 + static_cast<std::int64_t>(draw.below(241));
}

std::int64_t length(Draw& draw, double low, double high) {
    if (draw.chance(0.5))
        return std::int64_t{1} << static_cast<int>(std::log2(low) + draw.unit() * (std::log2(high / low) + 1.0));
    return rounded_to(draw.log_uniform(low, high), draw.alignment());
}

bool draw_one_attention(Draw& draw, Case& what) {
    const bool decode = draw.chance(0.15);
    const std::int64_t kv_heads = draw.pick({1, 2, 4, 8, 8, 12, 16, 20, 32, 40});
    const std::int64_t group = draw.chance(0.5) ? 1 : draw.pick({2, 3, 4, 5, 6, 7, 8});
    const std::int64_t heads = kv_heads * group;
    const std::int64_t keys = length(draw, 128, 16384);
    const std::int64_t queries = decode ? 1 : draw.chance(0.93) ? keys : length(draw, 128, 16384);
    const std::int64_t batch = decode ? draw.log_uniform(1, 129) : draw.log_uniform(1, 17);
    const std::int64_t head = head_size(draw);
    const bool causal = !decode && queries == keys && draw.chance(0.75);
    const bool backward = !decode && draw.chance(0.45);
    const auto d = [](std::int64_t value) { return static_cast<double>(value); };
    const double scores = d(batch) * d(heads) * d(queries) * d(keys);
    const double flops = scores * d(head) * (backward ? 10.0 : 4.0) * (causal ? 0.5 : 1.0);
    const double cache = 4.0 * d(batch) * d(kv_heads) * d(keys) * d(head);
    if (heads > 128 || flops > 1.2e12 || cache > 4e9) return false;
    const std::string pass = backward ? "backward" : "forward";
    what = {"attention",
            {{"batch", text(batch)},
             {"heads", text(heads)},
             {"kv_heads", text(kv_heads)},
             {"q_len", text(queries)},
             {"kv_len", text(keys)},
             {"head_dim", text(head)},
             {"causal", causal ? "1" : "0"},
             {"pass", pass},
             {"backend", "cudnn"},
             {"dtype", draw.chance(0.93) ? "bf16" : "fp16"}},
            {{"family", "cudnn-" + pass + (decode ? "-decode" : "") + "-d" + text(head) + "-k" + size_class(keys)}}};
    return true;
}

/// A kind of streaming kernel, the widths of its rows and the bytes it moves for each element, roughly.
struct StreamRange {
    std::string_view kind;
    double least_width, most_width;
    double bytes;
    std::string_view form = "eager";  ///< the one our kernel has
    bool one_row = false;
};

constexpr std::array stream_ranges = {
    StreamRange{"layernorm", 256, 16384, 4},
    StreamRange{"rmsnorm", 256, 16384, 4},
    StreamRange{"gelu", 1024, 65536, 4},
    StreamRange{"swiglu", 1024, 32768, 6, "fused"},
    StreamRange{"residual", 256, 16384, 6},
    StreamRange{"bias", 256, 65536, 4},
    StreamRange{"rotary", 256, 16384, 4, "fused"},
    StreamRange{"softmax", 32, 16384, 4},
    StreamRange{"embedding", 256, 16384, 4},
    StreamRange{"crossentropy", 8000, 256000, 4},
    StreamRange{"adamw", 10000, 5e8, 28, "fused", true},
};

bool draw_one_stream(Draw& draw, Case& what) {
    const StreamRange range = draw.pick(stream_ranges);
    const std::int64_t width = rounded_to(draw.log_uniform(range.least_width, range.most_width),
                                          draw.chance(0.85) ? draw.pick({8, 64, 128}) : draw.alignment());
    const std::int64_t rows = range.one_row ? 1 : length(draw, 1, 131072);
    const double bytes = static_cast<double>(rows) * static_cast<double>(width) * range.bytes;
    if (bytes > 1.5e10) return false;
    const std::string kind(range.kind);
    const bool backward = !range.one_row && draw.chance(0.45);
    const std::string pass = backward ? "backward" : "forward";
    const std::string form(range.form);
    what = {"stream",
            {{"kind", kind},
             {"pass", pass},
             {"form", form},
             {"rows", text(rows)},
             {"width", text(width)},
             {"dtype", draw.chance(0.95) ? "bf16" : "fp16"}},
            {{"family", kind + "-" + pass + "-" + form + "-w" + size_class(width)}}};
    return true;
}

template <bool (*draw_one)(Draw&, Case&)>
std::vector<Case> draw_all(std::int64_t count, std::uint64_t seed) {
    return draw_distinct(count, seed, draw_one);
}

}  // namespace

std::uint64_t hash_of(std::string_view text) {
    std::uint64_t value = 0xCBF29CE484222325ULL;
    for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
    return value ^ (value >> 29);
}

std::span<const ShapeSet> shape_sets() {
    static const std::vector<ShapeSet> sets = [] {
        std::vector<ShapeSet> all(gemm_sets().begin(), gemm_sets().end());
        all.push_back({"attention", "attention", 1500,
                       "forward and backward, head sizes 16 to 256, grouped heads, decode",
                       draw_all<draw_one_attention>});
        all.push_back(
            {"stream", "stream", 1000, "norms, activations, softmax, loss, optimizer", draw_all<draw_one_stream>});
        return all;
    }();
    return sets;
}

std::string_view split_of(std::string_view family) { return hash_of(family) % 5 == 0 ? "judge" : "fit"; }

Result<std::string> generate_csv(std::string_view set, std::int64_t count, std::uint64_t seed) {
    const std::span<const ShapeSet> sets = shape_sets();
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

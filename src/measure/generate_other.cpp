// Attention, streaming kernels and whole layers.
#include <algorithm>
#include <array>
#include <set>

#include "measure/draw.h"
#include "measure/generate.h"

namespace tilewright::measure {
namespace {

/// Draws until there are `count` different cases, or long enough that there may not be as many.
template <class DrawOne>
std::vector<Case> draw_distinct(std::int64_t count, std::uint64_t seed, DrawOne draw_one) {
    Draw draw(seed);
    std::vector<Case> cases;
    std::set<Fields> seen;
    for (std::int64_t tries = 0; static_cast<std::int64_t>(cases.size()) < count && tries < 200 * count; ++tries) {
        Case what;
        if (draw_one(draw, what) && seen.insert(what.sizes).second) cases.push_back(std::move(what));
    }
    return cases;
}

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
    const bool unfused = draw.chance(0.12);
    const bool causal = !decode && queries == keys && draw.chance(0.75);
    const bool backward = !decode && draw.chance(0.45);
    const auto d = [](std::int64_t value) { return static_cast<double>(value); };
    const double scores = d(batch) * d(heads) * d(queries) * d(keys);
    const double flops = scores * d(head) * (backward ? 10.0 : 4.0) * (causal ? 0.5 : 1.0);
    const double cache = 4.0 * d(batch) * d(kv_heads) * d(keys) * d(head);
    if (heads > 128 || flops > 1.2e12 || cache > 4e9 || (unfused && scores > 1e9)) return false;
    const std::string pass = backward ? "backward" : "forward";
    const std::string backend = unfused ? "unfused" : "cudnn";
    what = {
        "attention",
        {{"batch", text(batch)},
         {"heads", text(heads)},
         {"kv_heads", text(kv_heads)},
         {"q_len", text(queries)},
         {"kv_len", text(keys)},
         {"head_dim", text(head)},
         {"causal", causal ? "1" : "0"},
         {"pass", pass},
         {"backend", backend},
         {"dtype", draw.chance(0.93) ? "bf16" : "fp16"}},
        {{"family", backend + "-" + pass + (decode ? "-decode" : "") + "-d" + text(head) + "-k" + size_class(keys)}}};
    return true;
}

/// The forms in which a kind of streaming kernel exists.
enum class Forms { Both, EagerOnly, FusedForwardOnly };

/// A kind of streaming kernel, the widths of its rows and the bytes it moves for each element, roughly.
struct StreamRange {
    std::string_view kind;
    double least_width, most_width;
    double bytes;
    bool one_row = false;
    Forms forms = Forms::Both;
};

constexpr std::array stream_ranges = {
    StreamRange{"layernorm", 256, 16384, 4},
    StreamRange{"rmsnorm", 256, 16384, 4},
    StreamRange{"gelu", 1024, 65536, 4},
    StreamRange{"swiglu", 1024, 32768, 6},
    StreamRange{"residual", 256, 16384, 6, false, Forms::EagerOnly},
    StreamRange{"bias", 256, 65536, 4, false, Forms::EagerOnly},
    StreamRange{"rotary", 256, 16384, 4},
    StreamRange{"softmax", 32, 16384, 4},
    StreamRange{"embedding", 256, 16384, 4, false, Forms::EagerOnly},
    StreamRange{"crossentropy", 8000, 256000, 4, false, Forms::FusedForwardOnly},
    StreamRange{"adamw", 10000, 5e8, 28, true},
};

bool has_fused(Forms forms, bool backward) {
    return forms == Forms::Both || (forms == Forms::FusedForwardOnly && !backward);
}

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
    const std::string form = has_fused(range.forms, backward) && draw.chance(0.5) ? "fused" : "eager";
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

bool draw_one_layer(Draw& draw, Case& what) {
    const std::int64_t head =
        draw.chance(0.7) ? draw.pick({64, 80, 96, 128}) : draw.pick({32, 72, 104, 112, 160, 192, 256});
    const std::int64_t heads = std::max<std::int64_t>(2, draw.log_uniform(768, 12289) / head);
    const std::int64_t hidden = heads * head;
    const bool llama = draw.chance(0.5);
    const std::int64_t group = llama && heads % 4 == 0 && draw.chance(0.6) ? draw.pick({2, 4}) : 1;
    const double wide = static_cast<double>(hidden) * 8.0 / 3.0;
    const std::int64_t ffn =
        llama ? rounded_to(static_cast<std::int64_t>(wide), draw.pick({1, 8, 64, 128, 256})) : 4 * hidden;
    const bool decode = draw.chance(0.12);
    const std::int64_t seq = length(draw, 256, 8192);
    const std::int64_t batch = decode ? draw.log_uniform(1, 129) : draw.log_uniform(1, 9);
    const bool train = !decode && draw.chance(0.55);
    const auto d = [](std::int64_t value) { return static_cast<double>(value); };
    const double tokens = d(batch) * (decode ? 1.0 : d(seq));
    const double flops = tokens * (24.0 * d(hidden) * d(hidden) + 4.0 * d(seq) * d(hidden)) * (train ? 3.0 : 1.0);
    if (flops > 8e12 || (decode && d(batch) * d(seq) * d(hidden) > 4e9)) return false;
    const std::string pass = train ? "train" : "forward";
    const std::string phase = decode ? "decode" : train ? "train" : "prefill";
    what = {"layer",
            {{"hidden", text(hidden)},
             {"heads", text(heads)},
             {"kv_heads", text(heads / group)},
             {"head_dim", text(head)},
             {"ffn", text(ffn)},
             {"mlp", llama ? "swiglu" : "gelu"},
             {"block", draw.chance(0.85) ? "sequential" : "parallel"},
             {"norm", llama ? "rms" : "layer"},
             {"phase", phase},
             {"pass", pass},
             {"batch", text(batch)},
             {"seq", text(seq)},
             {"precision", "bf16"},
             {"runtime", draw.chance(0.6) ? "compiled" : "eager"},
             {"attention", "auto"},
             {"tp", "1"}},
            {{"family",
              std::string(llama ? "llama" : "gpt") + "-" + phase + "-d" + text(head) + "-h" + size_class(hidden)}}};
    return true;
}

}  // namespace

std::vector<Case> draw_attention(std::int64_t count, std::uint64_t seed) {
    return draw_distinct(count, seed, draw_one_attention);
}
std::vector<Case> draw_stream(std::int64_t count, std::uint64_t seed) {
    return draw_distinct(count, seed, draw_one_stream);
}
std::vector<Case> draw_layer(std::int64_t count, std::uint64_t seed) {
    return draw_distinct(count, seed, draw_one_layer);
}

}  // namespace tilewright::measure

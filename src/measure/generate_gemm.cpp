// Products as transformers launch them, and the space around those: each stratum draws one kind of shape.
#include <algorithm>
#include <array>

#include "measure/draw.h"
#include "measure/generate.h"

namespace tilewright::measure {
namespace {

struct Product {
    std::string_view layout = "TN";
    std::int64_t m = 1, n = 1, k = 1, batch = 1;
    std::string_view dtype = "bf16";
};

constexpr std::array<std::string_view, 3> layouts = {"TN", "NN", "NT"};

// Hidden sizes of published models, 0.1 to 180 billion parameters.
constexpr std::array<std::int64_t, 24> hidden_sizes = {768,  1024, 1536, 1600, 2048, 2304,  2560,  2880,
                                                       3072, 3584, 3840, 4096, 4544, 4608,  5120,  5376,
                                                       6144, 6656, 7168, 8192, 9216, 10240, 12288, 14336};

// Vocabularies of published models, padded and not.
constexpr std::array<std::int64_t, 16> vocabularies = {32000, 32768,  49152,  50257,  50304,  50432,  51200,  64000,
                                                       65024, 100352, 102400, 128256, 129280, 151936, 152064, 256000};

std::int64_t hidden_size(Draw& draw) {
    return draw.chance(0.6) ? draw.pick(hidden_sizes) : rounded_to(draw.log_uniform(512, 16384), draw.alignment());
}

std::int64_t token_count(Draw& draw) {
    if (draw.chance(0.4)) return draw.pick({1024, 2048, 4096, 8192, 16384});
    if (draw.chance(0.5)) return draw.log_uniform(16, 16384);
    return rounded_to(draw.log_uniform(128, 16384), draw.alignment());
}

/// A weight of a layer as one rank of a tensor-parallel group holds it: {outputs, inputs}.
struct Weight {
    std::int64_t out, in;
};

Weight layer_weight(Draw& draw) {
    const std::int64_t h = hidden_size(draw);
    const std::int64_t shards = draw.pick({1, 1, 1, 2, 4, 8});
    const std::int64_t ffn =
        draw.chance(0.4) ? 4 * h
                         : rounded_to(static_cast<std::int64_t>(static_cast<double>(h) * (2.0 + 2.5 * draw.unit())),
                                      draw.pick({1, 8, 64, 128, 256}));
    const auto shard = [&](std::int64_t size) { return std::max<std::int64_t>(1, size / shards); };
    switch (draw.below(6)) {
        case 0: return {shard(3 * h), h};                         // query, key and value
        case 1: return {shard(h + h / draw.pick({2, 4, 8})), h};  // the same with grouped heads
        case 2: return {h, shard(h)};                             // projection
        case 3: return {shard(ffn), h};                           // MLP up
        case 4: return {shard(2 * ffn), h};                       // gated MLP, both halves
        default: return {h, shard(ffn)};                          // MLP down
    }
}

/// Forward TN, input gradient NN, weight gradient NT of one weight over `tokens`.
Product of_weight(Draw& draw, const Weight& weight, std::int64_t tokens) {
    switch (draw.below(3)) {
        case 0: return {"TN", tokens, weight.out, weight.in};
        case 1: return {"NN", tokens, weight.in, weight.out};
        default: return {"NT", weight.out, weight.in, tokens};
    }
}

Product of_layer(Draw& draw) { return of_weight(draw, layer_weight(draw), token_count(draw)); }

Product of_decode(Draw& draw) {
    const Weight weight = layer_weight(draw);
    const std::int64_t tokens =
        draw.chance(0.5) ? 1 + static_cast<std::int64_t>(draw.below(256)) : draw.log_uniform(1, 257);
    return {"TN", tokens, weight.out, weight.in};
}

Product of_vocabulary(Draw& draw) {
    const std::int64_t vocabulary = draw.chance(0.8) ? draw.pick(vocabularies) : draw.log_uniform(8000, 300000);
    const std::int64_t shards = draw.pick({1, 1, 2, 4, 8});
    return of_weight(draw, {std::max<std::int64_t>(1, vocabulary / shards), hidden_size(draw)}, token_count(draw));
}

Product anywhere(Draw& draw) {
    const bool together = draw.chance(0.5);
    const std::int64_t common = draw.alignment();
    const auto side = [&](double low, double high) {
        return rounded_to(draw.log_uniform(low, high), together ? common : draw.alignment());
    };
    return {draw.pick(layouts), side(1, 20000), side(16, 30000), side(16, 30000)};
}

/// Large sizes whose largest power of two is exact, in one dimension, in two, or in all.
Product aligned(Draw& draw) {
    Product p{draw.pick(layouts), rounded_to(draw.log_uniform(1024, 8192), 256),
              rounded_to(draw.log_uniform(1024, 8192), 256), rounded_to(draw.log_uniform(1024, 8192), 256)};
    const std::uint64_t which = 1 + draw.below(7);
    const std::int64_t alignment = draw.alignment();
    if ((which & 1) != 0) p.m = aligned_exactly(p.m, alignment);
    if ((which & 2) != 0) p.n = aligned_exactly(p.n, alignment);
    if ((which & 4) != 0) p.k = aligned_exactly(p.k, alignment);
    return p;
}

/// Score, value and their gradients in unfused attention, one item a head.
Product of_attention(Draw& draw) {
    const std::int64_t head =
        draw.chance(0.7) ? draw.pick({32, 64, 80, 96, 112, 128, 160, 192, 256}) : draw.log_uniform(16, 257);
    const std::int64_t keys =
        draw.chance(0.5) ? draw.pick({128, 256, 512, 1024, 2048, 4096}) : draw.log_uniform(32, 8192);
    const std::int64_t queries = draw.chance(0.15) ? 1 : keys;
    const std::int64_t items = draw.log_uniform(1, 513);
    switch (draw.below(4)) {
        case 0: return {"TN", queries, keys, head, items};
        case 1: return {"NN", queries, head, keys, items};
        case 2: return {"NT", keys, head, queries, items};
        default: return {"NT", head, keys, queries, items};
    }
}

/// A weight of a training step whose outputs, inputs or both are 1, 2 or 4 times an odd number.
Product of_narrow_weight(Draw& draw) {
    Weight weight = layer_weight(draw);
    if (draw.chance(0.15)) weight = {draw.log_uniform(30000, 130000), weight.in};
    const std::int64_t alignment = draw.pick({1, 2, 4});
    const std::uint64_t which = 1 + draw.below(3);
    if ((which & 1) != 0) weight.out = aligned_exactly(weight.out, alignment);
    if ((which & 2) != 0) weight.in = aligned_exactly(weight.in, alignment);
    return of_weight(draw, weight, rounded_to(draw.log_uniform(1024, 32768), draw.pick({8, 64, 1024})));
}

/// Experts of a layer run as one batch, or unfused attention.
Product of_batch(Draw& draw) {
    if (draw.chance(0.5)) return of_attention(draw);
    Product p = of_weight(draw, layer_weight(draw), draw.log_uniform(1, 4096));
    p.batch = draw.log_uniform(2, 129);
    return p;
}

struct Stratum {
    double share;
    Product (*draw)(Draw&);
};

constexpr std::array strata = {Stratum{0.34, of_layer}, Stratum{0.12, of_decode}, Stratum{0.06, of_vocabulary},
                               Stratum{0.22, anywhere}, Stratum{0.14, aligned},   Stratum{0.12, of_attention}};

std::string_view dtype_of(Draw& draw, const Product& p) {
    const double place = draw.unit();
    if (place < 0.05 && p.layout == "TN") return "fp8";
    if (place < 0.08) return "fp16";
    if (place < 0.11) return "tf32";
    return "bf16";
}

/// Seconds one launch takes at rates typical of Hopper by alignment; only to keep a sweep's length in bounds.
double rough_seconds(const Product& p) {
    const double flops = 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) *
                         static_cast<double>(p.batch);
    const std::int64_t inner_a = p.layout == "NT" ? p.m : p.k;
    const std::int64_t inner_b = p.layout == "TN" ? p.k : p.n;
    const std::int64_t bits = inner_a | inner_b | p.n;
    const double rate = bits % 8 == 0 ? 600e12 : bits % 2 == 0 ? 220e12 : 120e12;
    return flops / (p.dtype == "tf32" ? rate / 2.0 : rate);
}

double operand_bytes(const Product& p) {
    const auto d = [](std::int64_t value) { return static_cast<double>(value); };
    return 2.0 * d(p.batch) * (d(p.m) * d(p.k) + d(p.k) * d(p.n) + d(p.m) * d(p.n));
}

bool is_short(const Product& p) { return rough_seconds(p) <= 0.005 && operand_bytes(p) <= 2e9; }
bool is_long(const Product& p) {
    return rough_seconds(p) > 0.005 && rough_seconds(p) <= 0.06 && operand_bytes(p) <= 8e9;
}

bool is_of_training(const Product& p) {
    return rough_seconds(p) > 0.0003 && rough_seconds(p) <= 0.06 && operand_bytes(p) <= 8e9;
}
bool is_short_batch(const Product& p) { return p.batch > 1 && is_short(p); }

std::string family_of(const Product& p) {
    return std::string(p.layout) + "-n" + size_class(p.n) + "-k" + size_class(p.k) + (p.batch > 1 ? "-batched" : "");
}

Case case_of(const Product& p) {
    return {"gemm",
            {{"layout", std::string(p.layout)},
             {"m", std::to_string(p.m)},
             {"n", std::to_string(p.n)},
             {"k", std::to_string(p.k)},
             {"batch", std::to_string(p.batch)},
             {"dtype", std::string(p.dtype)}},
            {{"family", family_of(p)}}};
}

Product drawn(Draw& draw) {
    double place = draw.unit();
    for (const Stratum& stratum : strata) {
        if (place < stratum.share) return stratum.draw(draw);
        place -= stratum.share;
    }
    return anywhere(draw);
}

Product of_any_precision(Draw& draw) {
    Product p = drawn(draw);
    p.dtype = dtype_of(draw, p);
    return p;
}

template <Product (*draw_product)(Draw&), bool (*wanted)(const Product&)>
std::vector<Case> draw_gemm(std::int64_t count, std::uint64_t seed) {
    return draw_distinct(count, seed, [](Draw& draw, Case& what) {
        const Product p = draw_product(draw);
        if (wanted(p)) what = case_of(p);
        return wanted(p);
    });
}

/// Mostly large products, since only those meet the power cap.
std::vector<Case> draw_gemm_clocks(std::int64_t count, std::uint64_t seed) {
    constexpr std::int64_t pool = 20000;
    constexpr double large_flops = 3e10;
    Draw draw(seed);
    std::vector<Case> chosen;
    std::vector<Case> small;
    for (Case& what : draw_gemm<of_any_precision, is_short>(std::max(pool, count), seed)) {
        (product_flops(what) >= large_flops ? chosen : small).push_back(std::move(what));
    }
    for (std::vector<Case>* part : {&chosen, &small}) {
        for (std::size_t i = part->size(); i > 1; --i) std::swap((*part)[i - 1], (*part)[draw.below(i)]);
    }
    const auto large =
        std::min<std::size_t>(chosen.size(), static_cast<std::size_t>(static_cast<double>(count) * 0.75));
    chosen.resize(large);
    small.resize(std::min(small.size(), static_cast<std::size_t>(count) - large));
    chosen.insert(chosen.end(), std::make_move_iterator(small.begin()), std::make_move_iterator(small.end()));
    return chosen;
}

std::vector<Case> draw_cliff(std::int64_t count, std::uint64_t) {
    constexpr std::int64_t centre = 4096;
    constexpr std::int64_t reach = 72;
    std::vector<Case> cases;
    for (const std::string_view layout : layouts) {
        for (std::int64_t Product::*side : {&Product::m, &Product::n, &Product::k}) {
            for (std::int64_t size = centre - reach; size <= centre + reach; ++size) {
                if (size == centre && side != &Product::m) continue;  // the same product in all three
                Product p{layout, centre, centre, centre};
                p.*side = size;
                cases.push_back(case_of(p));
            }
        }
    }
    if (static_cast<std::int64_t>(cases.size()) > count) cases.resize(static_cast<std::size_t>(count));
    return cases;
}

constexpr std::array gemm = {
    ShapeSet{"gemm-quick", "gemm", 20000,
             "products of training, prefill and decode, all alignments, batched, vocabularies",
             draw_gemm<of_any_precision, is_short>},
    ShapeSet{"gemm-long", "gemm", 300, "products of 5 to 60 ms a launch, drawn as those of gemm-quick",
             draw_gemm<of_any_precision, is_long>},
    ShapeSet{"gemm-narrow", "gemm", 1200, "products of training up to 60 ms with rows of 2, 4 or 8 bytes",
             draw_gemm<of_narrow_weight, is_of_training>},
    ShapeSet{"gemm-batched", "gemm", 1500, "batches of experts' weights and of unfused attention",
             draw_gemm<of_batch, is_short_batch>},
    ShapeSet{"gemm-clocks", "gemm", 1500, "those of gemm-quick to be timed sustained and burst as well",
             draw_gemm_clocks},
    ShapeSet{"cliff", "gemm", 1299, "m, n and k by themselves in steps of one around 4096, each layout", draw_cliff},
};

}  // namespace

std::span<const ShapeSet> gemm_sets() { return gemm; }

double product_flops(const Case& what) {
    double flops = 2.0;
    for (const char* side : {"m", "n", "k", "batch"}) flops *= static_cast<double>(what.integer(side));
    return flops;
}

}  // namespace tilewright::measure

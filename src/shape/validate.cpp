// Whether a shape makes sense. Every range is checked first; what relates several fields is checked only when each of
// them is in its range, so that one mistake is reported once.
#include <algorithm>
#include <initializer_list>

#include "shape/limits.h"
#include "shape/parameters.h"
#include "tilewright/names.h"

namespace tilewright {
namespace {

constexpr std::int64_t max_parameters = std::int64_t{1} << 62;
/// Ten times as deep as any that was trained (DeepNet, 1,000): a step is walked layer by layer.
constexpr std::int64_t max_layers = 10000;

std::string text(std::int64_t value) { return std::to_string(value); }

/// "16 or 20": the divisors of `whole` next to `part` on either side.
std::string nearest_divisors(std::int64_t whole, std::int64_t part) {
    std::int64_t below = 1;
    std::int64_t above = whole;
    for (std::int64_t i = 1; i * i <= whole; ++i) {
        if (whole % i != 0) continue;
        for (const std::int64_t divisor : {i, whole / i}) {
            if (divisor < part && divisor > below) below = divisor;
            if (divisor > part && divisor < above) above = divisor;
        }
    }
    return below == above || part > whole ? text(above) : text(below) + " or " + text(above);
}

bool check_all(std::initializer_list<Bounded> numbers, Problems& problems) {
    bool good = true;
    for (const Bounded& number : numbers) good = check(number, problems) && good;
    return good;
}

/// A head size of 0 is what remains when nobody gave one and heads does not divide hidden.
bool check_head_dim(const Shape& shape, Problems& problems) {
    const bool underived = shape.head_dim == 0 && inside({"hidden", shape.hidden}) && inside({"heads", shape.heads}) &&
                           shape.hidden % shape.heads != 0;
    if (!underived) return check({"head_dim", shape.head_dim}, problems);
    problems.push_back({"heads", 0,
                        "hidden " + text(shape.hidden) + " does not divide into " + text(shape.heads) + " heads",
                        "use " + nearest_divisors(shape.hidden, shape.heads) + " heads, or give head_dim"});
    return false;
}

bool check_sizes(const Shape& shape, Problems& problems) {
    const bool sizes = check_all({{"hidden", shape.hidden},
                                  {"layers", shape.layers, 1, max_layers},
                                  {"heads", shape.heads},
                                  {"kv_heads", shape.kv_heads},
                                  {"ffn", shape.ffn},
                                  {"vocab", shape.vocab},
                                  {"position_rows", shape.position_rows, 0},
                                  {"embedding_dim", shape.embedding_dim, 0},
                                  {"window", shape.window, 0},
                                  {"windowed_every", shape.windowed_every},
                                  {"windowed", shape.windowed}},
                                 problems);
    return check_head_dim(shape, problems) && sizes;
}

bool check_experts(const Shape& shape, Problems& problems) {
    if (!shape.experts) return true;
    const Experts& experts = *shape.experts;
    const std::int64_t count = inside({"", experts.count}) ? experts.count : max_size;
    const std::int64_t layers = inside({"", shape.layers}) ? shape.layers : max_size;
    return check_all({{"experts.count", experts.count},
                      {"experts.active", experts.active, 1, count},
                      {"experts.ffn", experts.ffn},
                      {"experts.shared_ffn", experts.shared_ffn, 0},
                      {"experts.dense_layers", experts.dense_layers, 0, layers - 1},
                      {"experts.every", experts.every}},
                     problems);
}

bool check_latent(const Shape& shape, Problems& problems) {
    if (!shape.latent) return true;
    const Latent& latent = *shape.latent;
    return check_all({{"latent.q_rank", latent.q_rank, 0},
                      {"latent.kv_rank", latent.kv_rank},
                      {"latent.nope_dim", latent.nope_dim},
                      {"latent.rope_dim", latent.rope_dim},
                      {"latent.v_dim", latent.v_dim}},
                     problems);
}

bool check_norms(const Shape& shape, Problems& problems) {
    const int count = shape.norms.per_layer;
    const bool parallel = shape.block == BlockForm::Parallel;
    const bool known = count == 2 || (parallel ? count == 1 : count == 4);
    if (!known) {
        problems.push_back(
            {"norms_per_layer", 0,
             "norms_per_layer is " + std::to_string(count) + " in a " + std::string(name_of(shape.block)) + " block",
             parallel ? "give 1 or 2" : "give 2, or 4 (before and after each half)"});
    }
    return known;
}

void check_positions(const Shape& shape, Problems& problems) {
    if (shape.positions == Positions::Learned || shape.position_rows == 0) return;
    problems.push_back({"position_rows", 0,
                        "a table of " + text(shape.position_rows) + " positions, but positions are " +
                            std::string(name_of(shape.positions)),
                        "leave position_rows out, or set positions to learned"});
}

void check_patterns(const Shape& shape, Problems& problems) {
    if (shape.windowed > shape.windowed_every) {
        problems.push_back(
            {"windowed", 0,
             text(shape.windowed) + " of every " + text(shape.windowed_every) + " layers have the window",
             "give at most as many as windowed_every"});
    }
    if (shape.experts && expert_layers(shape, shape.layers) == 0) {
        problems.push_back({"experts.every", 0,
                            "none of " + text(shape.layers) + " layers has experts: one in " +
                                text(shape.experts->every) + " after the first " + text(shape.experts->dense_layers),
                            "give more layers, or a smaller experts.every"});
    }
}

void check_attention(const Shape& shape, Problems& problems) {
    if (shape.heads % shape.kv_heads != 0) {
        problems.push_back({"kv_heads", 0,
                            "heads " + text(shape.heads) + " is not a multiple of kv_heads " + text(shape.kv_heads),
                            "use " + nearest_divisors(shape.heads, shape.kv_heads) + " kv_heads"});
    }
    const std::int64_t widest = shape.latent ? std::max(shape.head_dim, shape.latent->v_dim) : shape.head_dim;
    if (shape.heads > max_size / widest) {
        problems.push_back({"heads", 0, text(shape.heads) + " heads of " + text(widest) + " are too wide together",
                            "keep the product at or below " + text(max_size)});
    }
    if (!shape.latent) return;
    if (shape.head_dim != shape.latent->nope_dim + shape.latent->rope_dim) {
        problems.push_back({"head_dim", 0, "head_dim " + text(shape.head_dim) + " is not nope_dim + rope_dim",
                            "give " + text(shape.latent->nope_dim + shape.latent->rope_dim)});
    }
    if (shape.kv_heads != shape.heads) {
        problems.push_back({"kv_heads", 0, "latent attention has a key and a value for every head",
                            "leave kv_heads out, or give " + text(shape.heads)});
    }
}

void check_total(const Shape& shape, Problems& problems) {
    const auto total = count_checked(shape).total().value();
    if (total && *total <= max_parameters) return;
    problems.push_back({"shape", 0, "more than 2^62 parameters", "make it smaller"});
}

}  // namespace

Problems validate(const Shape& shape) {
    Problems problems;
    bool in_range = check_sizes(shape, problems);
    in_range = check_experts(shape, problems) && in_range;
    in_range = check_latent(shape, problems) && in_range;
    in_range = check_norms(shape, problems) && in_range;
    if (!in_range) return problems;
    check_positions(shape, problems);
    check_patterns(shape, problems);
    check_attention(shape, problems);
    check_total(shape, problems);
    return problems;
}

}  // namespace tilewright

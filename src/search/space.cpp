#include "search/space.h"

#include <cmath>
#include <set>

namespace tilewright::space {
namespace {

/// The baseline's head count first, then those of every head size in steps of 8 that divides the hidden size.
std::vector<Shape> with_heads(const Shape& baseline, const SearchOptions& options) {
    std::vector<Shape> found{baseline};
    if (baseline.latent || attention_width(baseline) != baseline.hidden) return found;
    const std::int64_t group = baseline.heads / baseline.kv_heads;
    for (std::int64_t size = round_up(options.min_head_dim, 8); size <= options.max_head_dim; size += 8) {
        const std::int64_t heads = baseline.hidden / size;
        if (baseline.hidden % size != 0 || heads % group != 0 || heads == baseline.heads) continue;
        Shape shape = baseline;
        shape.heads = heads;
        shape.kv_heads = heads / group;
        shape.head_dim = size;
        found.push_back(std::move(shape));
    }
    return found;
}

/// The present vocabulary and the next multiples of 8 to 128 above it: padding never takes a token away.
std::set<std::int64_t> vocabularies(const Shape& baseline) {
    std::set<std::int64_t> found{baseline.vocab};
    for (const std::int64_t unit : {8, 16, 32, 64, 128}) found.insert(round_up(baseline.vocab, unit));
    return found;
}

/// The present MLP width and the nearest multiples of 64, 128 and 256 on both sides.
std::set<std::int64_t> mlp_widths(const Shape& baseline) {
    std::set<std::int64_t> found{baseline.ffn};
    for (const std::int64_t unit : {64, 128, 256}) {
        found.insert(round_up(baseline.ffn, unit));
        if (baseline.ffn >= unit) found.insert(baseline.ffn / unit * unit);
    }
    return found;
}

bool legal(const Shape& shape, const Workload& workload) {
    return validate(shape).empty() && validate(shape, workload).empty();
}

}  // namespace

std::vector<Shape> shapes(const Shape& baseline, const Workload& workload, const SearchOptions& options) {
    const double params = static_cast<double>(count_parameters(baseline).total);
    std::vector<Shape> found;
    for (const Shape& heads : with_heads(baseline, options)) {
        for (const std::int64_t vocab : vocabularies(baseline)) {
            for (const std::int64_t ffn : mlp_widths(baseline)) {
                Shape shape = heads;
                shape.vocab = vocab;
                shape.ffn = ffn;
                if (!legal(shape, workload)) continue;
                const double change = static_cast<double>(count_parameters(shape).total) / params - 1.0;
                if (std::abs(change) <= options.parameter_tolerance) found.push_back(std::move(shape));
            }
        }
    }
    return found;
}

}  // namespace tilewright::space

// The price of attention. A fused kernel is compiled for a few head sizes and pads others up to the next; it walks the
// keys in tiles, so that a mask saves whole tiles only; a few queries (decoding) leave it bound by reading the cache.
// The unfused path is its batched products and the softmax between them.
#include <algorithm>
#include <cmath>

#include "cost/explain.h"
#include "tilewright/cost.h"

namespace tilewright {
namespace {

double real(std::int64_t value) { return static_cast<double>(std::max<std::int64_t>(1, value)); }

double rounded_up(double value, double step) { return ceil_positive(value / step) * step; }

/// The sizes of one call as the formulas use them.
struct Sizes {
    explicit Sizes(const Attention& a)
        : queries(real(a.q_len)),
          keys(real(a.kv_len)),
          sequences(real(a.batch)),
          heads(real(a.heads)),
          kv_heads(std::min(heads, real(a.kv_heads))),
          head_dim(real(a.head_dim)),
          v_dim(real(a.v_dim > 0 ? a.v_dim : a.head_dim)),
          visible(std::max(1.0, attended_pairs(a) / queries)),
          masked(a.causal || a.window > 0),
          backward(a.pass == AttentionPass::Backward) {}

    double queries, keys, sequences, heads, kv_heads, head_dim, v_dim;
    double visible;  ///< keys an average query attends to
    bool masked;
    bool backward;

    /// FLOPs per (query, key) pair: S = QK' and O = PV; backward S again, dP, dV, dQ, dK.
    double flops_per_pair(double d, double dv) const { return backward ? 6.0 * d + 4.0 * dv : 2.0 * (d + dv); }
};

const HeadKernel& kernel_for(const AttentionProfile& kernels, std::int64_t head_dim) {
    const auto found = std::find_if(kernels.kernels.begin(), kernels.kernels.end(),
                                    [head_dim](const HeadKernel& kernel) { return kernel.head_dim >= head_dim; });
    return found == kernels.kernels.end() ? kernels.kernels.back() : *found;
}

bool takes(const AttentionProfile& kernels, std::int64_t head_dim) {
    return !kernels.kernels.empty() && head_dim <= kernels.kernels.back().head_dim;
}

/// Rows of a warp group's matrix instruction: the least that a tile of queries costs (PTX ISA, wgmma).
constexpr double instruction_rows = 64.0;

/// Thread blocks of a fused kernel and the work of the busiest unit, counted in average blocks.
struct Grid {
    double blocks;
    double busiest;
    double tiled_keys;  ///< keys a tile of queries walks, in whole tiles
    double tiled_rows;  ///< query rows of all blocks, padding included
};

Grid grid(const Sizes& s, const AttentionProfile& kernels, double units) {
    const double large_tile = static_cast<double>(kernels.tile_q);
    const double tile_kv = static_cast<double>(kernels.tile_kv);
    const double packed = std::clamp(std::floor(large_tile / s.queries), 1.0, s.heads / s.kv_heads);
    const double tile_q = std::min(large_tile, rounded_up(s.queries * packed, instruction_rows));
    const double tiles = ceil_positive(s.queries * packed / tile_q) * s.sequences * s.heads / packed;
    const double diagonal = s.masked ? std::min(tile_q, s.queries) / 2.0 : 0.0;

    Grid result;
    result.tiled_keys =
        std::clamp(rounded_up(s.visible + diagonal, s.masked ? 1.0 : tile_kv), tile_kv, rounded_up(s.keys, tile_kv));
    const double parts = s.backward ? 1.0 : std::floor(std::min(units / tiles, result.tiled_keys / tile_kv));
    const double split = std::max(1.0, parts);
    result.blocks = tiles * split;
    result.tiled_rows = tiles * tile_q;
    const double even = result.blocks / units;
    const bool triangular = s.masked && s.queries > tile_q;  // long and short tiles even out, the longest last alone
    result.busiest = triangular ? std::max(even, std::min(2.0, s.keys / s.visible)) : ceil_positive(even);
    return result;
}

}  // namespace

Cost Pricer::fused(const Attention& attention, const AttentionProfile& kernels) const {
    const Sizes s(attention);
    const HeadKernel& kernel = kernel_for(kernels, attention.head_dim);
    const double v_padded = real(kernel_for(kernels, static_cast<std::int64_t>(s.v_dim)).head_dim);
    const double d_padded = real(kernel.head_dim);
    const auto precision = static_cast<std::size_t>(attention.precision);
    const double units = static_cast<double>(device_.units);
    const double best = seconds_per_flop_[precision] / units;
    const double share = (s.backward ? kernel.backward : kernel.forward) / profile_.compute_fraction[precision];

    const Grid g = grid(s, kernels, units);
    const double pairs = s.sequences * s.heads * s.queries * s.visible;
    const double tiled_pairs = std::max(pairs, g.tiled_rows * g.tiled_keys);
    const double flops = s.flops_per_pair(d_padded, v_padded);
    const double wave = std::max(1.0, g.busiest * units / g.blocks);
    const double exact = pairs * s.flops_per_pair(s.head_dim, s.v_dim) * best;
    const double padded = pairs * flops * best;
    const double tiled = tiled_pairs * flops * best;
    const double compute = tiled * wave / std::min(1.0, share);
    Op op;
    op.work = attention;
    const double ideal_memory = (bytes_read(op) + bytes_written(op)).value * seconds_per_byte_;
    const double memory = ideal_memory / kernel.memory;
    const double exposed = profile_.gemm.exposed_load * std::min(compute, memory);
    const double overhead =
        std::max(1.0, g.blocks / units) * (s.backward ? kernels.backward_overhead : kernels.overhead).value +
        profile_.bandwidth_ramp.value * seconds_per_byte_;
    const double body = std::max(compute, memory) + exposed + overhead;
    const double gap = (s.backward ? kernels.backward_launch : kernels.launch).value;

    Explanation explanation;
    explanation.reach(Term::Roofline, std::max(exact, ideal_memory));
    explanation.reach(Term::Alignment, std::max(padded, memory));
    explanation.reach(Term::Tile, std::max(tiled, memory));
    explanation.reach(Term::Wave, std::max(tiled * wave, memory));
    explanation.reach(Term::Memory, std::max(tiled * wave, memory) + exposed);
    explanation.reach(Term::Occupancy, body);  // with what the softmax between the products takes
    explanation.reach(Term::Launch, body + gap);
    const Bound bound = overhead + gap > 0.5 * (body + gap) ? Bound::Latency
                        : memory > compute                  ? Bound::Memory
                                                            : Bound::Compute;
    Cost cost = explanation.finish(bound, profile_.attention_evidence, profile_.attention_interval);
    cost.clocked = {profile_.power.clocked * std::min(compute, body)};
    cost.energy_j = profile_.power.matrix.value * tiled + profile_.power.memory.value * memory;
    return cost;
}

Cost Pricer::unfused(const Attention& a) const {
    const std::int64_t v_dim = a.v_dim > 0 ? a.v_dim : a.head_dim;
    const std::int64_t batch = std::max<std::int64_t>(1, a.batch) * std::max<std::int64_t>(1, a.heads);
    const auto product = [&](Layout layout, std::int64_t m, std::int64_t n, std::int64_t k) {
        return burst(Gemm{layout, m, n, k, batch, a.precision, false});
    };
    const double scores = static_cast<double>(batch) * real(a.q_len) * real(a.kv_len);
    const Bytes square{scores * element_bytes(a.precision)};
    Stream softmax{StreamKind::Softmax, batch * std::max<std::int64_t>(1, a.q_len), a.kv_len, square, square};
    if (a.pass == AttentionPass::Backward) softmax.read += square;

    Cost sum = burst(softmax);
    if (a.pass == AttentionPass::Forward) {
        add(sum, product(Layout::TN, a.q_len, a.kv_len, a.head_dim));
        add(sum, product(Layout::NN, a.q_len, v_dim, a.kv_len));
    } else {
        add(sum, product(Layout::NT, a.kv_len, v_dim, a.q_len));       // dV = P' dO
        add(sum, product(Layout::TN, a.q_len, a.kv_len, v_dim));       // dP = dO V'
        add(sum, product(Layout::NN, a.q_len, a.head_dim, a.kv_len));  // dQ = dS K
        add(sum, product(Layout::NT, a.kv_len, a.head_dim, a.q_len));  // dK = dS' Q
    }
    return sum;
}

Cost Pricer::burst(const Attention& attention) const {
    const AttentionBackend backend = resolve(attention.backend, device_, attention.head_dim);
    const AttentionProfile& kernels = backend == AttentionBackend::Cudnn ? profile_.cudnn : profile_.flash2;
    const std::int64_t widest = std::max(attention.head_dim, attention.v_dim);
    if (backend == AttentionBackend::Unfused || !takes(kernels, widest)) return unfused(attention);
    return fused(attention, kernels);
}

}  // namespace tilewright

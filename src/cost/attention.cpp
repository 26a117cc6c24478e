// The price of attention: which kernel runs, and the unfused path, which is its batched products and the softmax
// between them.
#include "cost/attention.h"

namespace tilewright {
namespace {

bool takes(const AttentionProfile& kernels, std::int64_t head_dim) {
    return !kernels.kernels.empty() && head_dim <= kernels.kernels.back().head_dim;
}

/// FlashAttention in Triton against its second version (Dao 2023, section 4.1): 1.3 to 1.5 forward, 2 backward. No more
/// is computed, so that it draws less power.
void slow_to_first_version(Cost& cost, AttentionPass pass) {
    const double factor = pass == AttentionPass::Forward ? 1.4 : 2.0;
    const Seconds more = cost.time * (factor - 1.0);
    cost.time += more;
    cost.clocked += more;
    cost.terms[static_cast<std::size_t>(Term::Occupancy)] += more;
    cost.low = cost.low * factor;
    cost.high = cost.high * factor;
    cost.evidence = Evidence::Assumed;
}

}  // namespace

/// Queries of the heads that share a key head lie one after another, so that they are the rows of one product.
Cost Pricer::unfused(const Attention& a) const {
    const std::int64_t v_dim = a.v_dim > 0 ? a.v_dim : a.head_dim;
    const std::int64_t kv_heads = std::clamp<std::int64_t>(a.kv_heads, 1, std::max<std::int64_t>(1, a.heads));
    const std::int64_t batch = std::max<std::int64_t>(1, a.batch) * kv_heads;
    const std::int64_t rows =
        ceil_div(std::max<std::int64_t>(1, a.heads), kv_heads) * std::max<std::int64_t>(1, a.q_len);
    const auto product = [&](Layout layout, std::int64_t m, std::int64_t n, std::int64_t k) {
        return burst(Gemm{layout, m, n, k, batch, a.precision, false});
    };
    const Bytes square{static_cast<double>(batch) * static_cast<double>(rows) * at_least_one(a.kv_len) *
                       element_bytes(a.precision)};
    Stream softmax{StreamKind::Softmax, batch * rows, a.kv_len, square, square};
    if (a.pass == AttentionPass::Backward) {
        softmax.kind = StreamKind::SoftmaxBackward;
        softmax.read += square;
    }

    Cost sum = burst(softmax);
    if (a.pass == AttentionPass::Forward) {
        add(sum, product(Layout::TN, rows, a.kv_len, a.head_dim));
        add(sum, product(Layout::NN, rows, v_dim, a.kv_len));
    } else {
        add(sum, product(Layout::NT, a.kv_len, v_dim, rows));       // dV = P' dO
        add(sum, product(Layout::TN, rows, a.kv_len, v_dim));       // dP = dO V'
        add(sum, product(Layout::NN, rows, a.head_dim, a.kv_len));  // dQ = dS K
        add(sum, product(Layout::NT, a.kv_len, a.head_dim, rows));  // dK = dS' Q
    }
    return sum;
}

/// What PyTorch does for FlashAttention-2 when rows are not whole 16-byte words: operands are copied into zeroed ones
/// that are (pad_last_dim in aten/native/transformers/attention.cpp), queries, keys and values forward, the gradient of
/// the output backward.
Cost Pricer::padding(const Attention& a) const {
    constexpr std::int64_t word = 8;
    const std::int64_t queries = a.batch * a.heads * a.q_len, keys = a.batch * a.kv_heads * a.kv_len;
    const auto bytes = [&a](std::int64_t rows, std::int64_t width) {
        return Bytes{static_cast<double>(rows) * static_cast<double>(width) * element_bytes(a.precision)};
    };
    Cost sum;
    const auto pad = [&](std::int64_t rows, double tensors) {
        const std::int64_t whole = ceil_div(a.head_dim, word) * word;
        add(sum, burst(Stream{StreamKind::Pointwise, rows, whole, {}, bytes(rows, whole)}), tensors);
        add(sum,
            burst(Stream{StreamKind::Pointwise, rows, a.head_dim, bytes(rows, a.head_dim), bytes(rows, a.head_dim)}),
            tensors);
    };
    pad(queries, 1.0);
    if (a.pass == AttentionPass::Forward) pad(keys, 2.0);
    return for_alignment(sum);
}

Cost Pricer::burst(const Attention& attention) const {
    const AttentionBackend backend = resolve(attention.backend, device(), attention.head_dim);
    const AttentionProfile& kernels = backend == AttentionBackend::Cudnn ? profile().cudnn : profile().flash2;
    const std::int64_t widest = std::max(attention.head_dim, attention.v_dim);
    if (backend == AttentionBackend::Unfused || !takes(kernels, widest)) return unfused(attention);
    const bool single = attention.q_len <= 1 && attention.pass == AttentionPass::Forward;
    Cost cost = single ? decode(attention, kernels) : walk(attention, kernels);
    if (backend == AttentionBackend::Flash1) slow_to_first_version(cost, attention.pass);
    if (attention.head_dim % 8 != 0) add(cost, padding(attention));
    return cost;
}

}  // namespace tilewright

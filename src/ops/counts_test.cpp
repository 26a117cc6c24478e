// A second opinion on the closed forms: a toy interpreter walks the loops of each kernel, counts the multiply-adds and
// remembers which elements it touched.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "ops/workload_samples.h"

namespace tilewright {
namespace {

/// What the loops did: multiply-adds, and addresses read and written in each operand.
struct Walk {
    double multiply_adds = 0;
    std::set<std::int64_t> a, b, c;
};

Walk walk(const Gemm& g) {
    Walk seen;
    for (std::int64_t i = 0; i < g.batch; ++i) {
        for (std::int64_t m = 0; m < g.m; ++m) {
            for (std::int64_t n = 0; n < g.n; ++n) {
                for (std::int64_t k = 0; k < g.k; ++k) {
                    ++seen.multiply_adds;
                    seen.a.insert(i * g.m * g.k + (g.layout == Layout::NT ? k * g.m + m : m * g.k + k));
                    seen.b.insert(i * g.n * g.k + (g.layout == Layout::TN ? n * g.k + k : k * g.n + n));
                }
                seen.c.insert((i * g.m + m) * g.n + n);
            }
        }
    }
    return seen;
}

/// Query i stands at position i + kv_len - q_len and sees no later key and at most `window` keys.
bool sees(const Attention& a, std::int64_t query, std::int64_t key) {
    const std::int64_t position = query + a.kv_len - a.q_len;
    return key <= position && (a.window == 0 || key > position - a.window);
}

/// Multiply-adds of every product of the pass; rows of K that some query sees and rows of Q, per head.
Walk walk(const Attention& a) {
    Walk seen;
    const std::int64_t dims = a.head_dim + a.v_dim + (a.pass == AttentionPass::Backward ? 2 * a.head_dim + a.v_dim : 0);
    for (std::int64_t head = 0; head < a.batch * a.heads; ++head) {
        for (std::int64_t query = 0; query < a.q_len; ++query) {
            seen.a.insert(head * a.q_len + query);
            for (std::int64_t key = 0; key < a.kv_len; ++key) {
                if (!sees(a, query, key)) continue;
                seen.b.insert(head / (a.heads / a.kv_heads) * a.kv_len + key);
                for (std::int64_t d = 0; d < dims; ++d) ++seen.multiply_adds;
            }
        }
    }
    return seen;
}

void agree(const Op& op, const Gemm& gemm) {
    const Walk seen = walk(gemm);
    const int out = gemm.precision == Precision::Fp8 ? 2 : element_bytes(gemm.precision);
    RC_ASSERT(flops(op).value == 2 * seen.multiply_adds);
    RC_ASSERT(bytes_read(op).value ==
              static_cast<double>((seen.a.size() + seen.b.size())) * element_bytes(gemm.precision));
    RC_ASSERT(bytes_written(op).value == static_cast<double>(seen.c.size()) * out);
}

void agree(const Op& op, const Attention& attention) {
    const Walk seen = walk(attention);
    const double both = static_cast<double>(attention.head_dim + attention.v_dim);
    const double query = static_cast<double>(seen.a.size());
    const double key = static_cast<double>(seen.b.size());
    const double value = static_cast<double>(attention.v_dim);
    const double head = static_cast<double>(attention.head_dim);
    const bool forward = attention.pass == AttentionPass::Forward;
    const int element = element_bytes(attention.precision);
    RC_ASSERT(flops(op).value == 2 * seen.multiply_adds);
    RC_ASSERT(bytes_read(op).value == (query * head + key * both + (forward ? 0 : 2 * query * value)) * element);
    RC_ASSERT(bytes_written(op).value == (forward ? query * value : query * head + key * both) * element);
}

RC_GTEST_PROP(Counts, AgreeWithTheLoopsOfEveryKernel, ()) {
    Shape shape = *any_small_shape();
    shape.window = any_size(0, 5);
    shape.windowed_every = static_cast<int>(any_size(1, 3));
    const OpGraph graph = lower(shape, any_small_workload());
    for (const Op& op : graph.ops) {
        if (const auto* gemm = std::get_if<Gemm>(&op.work)) agree(op, *gemm);
        if (const auto* attention = std::get_if<Attention>(&op.work)) agree(op, *attention);
    }
}

RC_GTEST_PROP(AttendedPairs, AgreeWithTheMaskWalked, ()) {
    Attention a;
    a.kv_len = any_size(1, 40);
    a.q_len = any_size(1, 40);
    a.window = any_size(0, 50);
    a.causal = true;
    double pairs = 0;
    for (std::int64_t query = 0; query < a.q_len; ++query) {
        for (std::int64_t key = 0; key < a.kv_len; ++key) pairs += sees(a, query, key) ? 1 : 0;
    }
    RC_ASSERT(attended_pairs(a) == pairs);
}

TEST(AttendedPairs, AreExactAtTheLargestSizes) {
    constexpr std::int64_t most = std::int64_t{1} << 31;
    struct Case {
        std::int64_t q_len, kv_len, window;
        bool causal;
        double pairs;
    };
    const Case cases[] = {{1, most, 0, true, 2147483648.0},
                          {most, most, 0, true, 2305843010287435776.0},
                          {most, most, 1, true, 2147483648.0},
                          {most, most, 0, false, 4611686018427387904.0},
                          {10, 20, 5, false, 50.0}};
    for (const Case& c : cases) {
        Attention a;
        a.q_len = c.q_len;
        a.kv_len = c.kv_len;
        a.window = c.window;
        a.causal = c.causal;
        EXPECT_EQ(attended_pairs(a), c.pairs) << c.q_len << " " << c.kv_len << " " << c.window;
    }
}

TEST(Counts, ADecodingQueryReadsItsWindowWithOrWithoutAMask) {
    Attention a{.batch = 2, .heads = 4, .kv_heads = 4, .q_len = 1, .kv_len = 4096, .head_dim = 64, .v_dim = 0};
    a.window = 128;
    const auto read = [&](bool causal) {
        a.causal = causal;
        return bytes_read({"", Component::Attention, Pass::Forward, 1, a, {}}).value;
    };
    EXPECT_EQ(read(false), read(true));
    EXPECT_EQ(read(true), 2.0 * 2 * 4 * 64 * (1 + 2 * 128));
}

TEST(Counts, OfAttentionBackwardAreFiveProductsToTwo) {
    Attention a{.batch = 2, .heads = 4, .kv_heads = 4, .q_len = 128, .kv_len = 128, .head_dim = 64, .v_dim = 0};
    const Op forward{"", Component::Attention, Pass::Forward, 1, a, {}};
    a.pass = AttentionPass::Backward;
    const Op backward{"", Component::Attention, Pass::Backward, 1, a, {}};
    EXPECT_EQ(2 * flops(backward).value, 5 * flops(forward).value);
}

}  // namespace
}  // namespace tilewright

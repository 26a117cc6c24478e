// The references checked against finite differences of their own forward passes, and a few values known by hand.
#include "measure/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tilewright::measure::reference {
namespace {

Vector random_vector(std::int64_t size, unsigned seed) {
    std::mt19937 engine(seed);
    std::normal_distribution<double> normal;
    Vector values(static_cast<std::size_t>(size));
    for (double& value : values) value = normal(engine);
    return values;
}

double dot(const Vector& a, const Vector& b) {
    double total = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) total += a[i] * b[i];
    return total;
}

/// How far `gradient` is from the slope of f at x along a random direction, relative to that slope's scale.
double slope_error(const std::function<double(const Vector&)>& f, const Vector& x, const Vector& gradient) {
    const Vector direction = random_vector(static_cast<std::int64_t>(x.size()), 77);
    constexpr double step = 1e-5;
    Vector up = x;
    Vector down = x;
    for (std::size_t i = 0; i < x.size(); ++i) {
        up[i] += step * direction[i];
        down[i] -= step * direction[i];
    }
    const double slope = (f(up) - f(down)) / (2.0 * step);
    return std::abs(slope - dot(gradient, direction)) / (std::abs(slope) + 1e-3);
}

constexpr double tolerance = 1e-6;

TEST(Reference, MatmulLayoutsAgree) {
    const Vector a = random_vector(5 * 7, 1);
    const Vector b = random_vector(7 * 3, 2);
    const auto flipped = [](const Vector& x, int rows, int columns) {
        Vector y(x.size());
        for (int i = 0; i < rows; ++i) {
            for (int j = 0; j < columns; ++j) {
                y[static_cast<std::size_t>(j * rows + i)] = x[static_cast<std::size_t>(i * columns + j)];
            }
        }
        return y;
    };
    const Vector nn = matmul({Layout::NN, 5, 3, 7}, a, b);
    EXPECT_NEAR(nn[4],
                a[7] * b[1] + a[8] * b[4] + a[9] * b[7] + a[10] * b[10] + a[11] * b[13] + a[12] * b[16] + a[13] * b[19],
                1e-12);
    EXPECT_LT(relative_error(matmul({Layout::TN, 5, 3, 7}, a, flipped(b, 7, 3)), nn), 1e-12);
    EXPECT_LT(relative_error(matmul({Layout::NT, 5, 3, 7}, flipped(a, 5, 7), b), nn), 1e-12);
}

TEST(Reference, RelativeErrorSeesUnwrittenValues) {
    EXPECT_TRUE(std::isinf(relative_error({1.0, NAN}, {1.0, 2.0})));
    EXPECT_NEAR(relative_error({3.0, 4.0}, {3.0, 3.0}), 1.0 / std::sqrt(18.0), 1e-12);
}

TEST(Reference, ErrorWhereTheTruthIsZero) {
    EXPECT_EQ(relative_error({0.0}, {0.0}), 0.0);
    EXPECT_LT(relative_error({2e-7, -2e-7}, {0.0, 1e-16}), 0.02);
    EXPECT_GT(relative_error({1e-3, 0.0}, {0.0, 1e-16}), 1.0);
    EXPECT_GT(relative_error({2e-7, 0.0}, {1e-7, 0.0}), 0.5);
}

TEST(Reference, NormGradients) {
    for (const NormKind kind : {NormKind::Layer, NormKind::Rms}) {
        const bool biased = kind == NormKind::Layer;
        const NormWeights weights{kind, random_vector(9, 3), biased ? random_vector(9, 4) : Vector()};
        const Vector x = random_vector(4 * 9, 5);
        const Vector g = random_vector(4 * 9, 6);
        const NormGradient grad = norm_gradient(x, weights, norm_rows(x, 9, kind), g);
        EXPECT_LT(slope_error([&](const Vector& at) { return dot(norm(at, weights), g); }, x, grad.x), tolerance);
        const auto of_gamma = [&](const Vector& at) { return dot(norm(x, {kind, at, weights.beta}), g); };
        EXPECT_LT(slope_error(of_gamma, weights.gamma, grad.gamma), tolerance);
        const auto of_beta = [&](const Vector& at) { return dot(norm(x, {kind, weights.gamma, at}), g); };
        if (!biased) continue;
        EXPECT_LT(slope_error(of_beta, weights.beta, grad.beta), tolerance);
    }
}

TEST(Reference, ActivationGradients) {
    const Vector x = random_vector(6 * 8, 7);
    const Vector g = random_vector(6 * 8, 8);
    EXPECT_LT(slope_error([&](const Vector& at) { return dot(gelu(at), g); }, x, gelu_gradient(x, g)), tolerance);
    const Vector half = random_vector(6 * 4, 9);
    EXPECT_LT(slope_error([&](const Vector& at) { return dot(swiglu(at, 4), half); }, x, swiglu_gradient(x, half, 4)),
              tolerance);
    EXPECT_NEAR(gelu({1.0})[0], 0.841192, 1e-6);
}

TEST(Reference, RotationKeepsLengthAndTurnsBack) {
    const Rotary shape{20, 2, 8, 3};
    const Vector x = random_vector(6 * 20, 10);
    const Vector turned = rotate(x, shape, 1.0);
    EXPECT_NEAR(dot(turned, turned), dot(x, x), 1e-9);
    EXPECT_LT(relative_error(rotate(turned, shape, -1.0), x), 1e-12);
    EXPECT_GT(relative_error(turned, x), 0.1);
    EXPECT_EQ(turned[20 + 17], x[20 + 17]);  // beyond the rotated heads
}

TEST(Reference, LossGradient) {
    const Vector logits = random_vector(3 * 11, 11);
    const std::vector<std::int32_t> targets = {4, 0, 10};
    const auto mean_loss = [&](const Vector& at) {
        const Loss loss = cross_entropy(at, targets, 11);
        return (loss.each[0] + loss.each[1] + loss.each[2]) / 3.0;
    };
    EXPECT_LT(slope_error(mean_loss, logits, cross_entropy(logits, targets, 11).gradient), tolerance);
}

TEST(Reference, AdamMovesAgainstTheGradient) {
    Vector p = {1.0, -1.0};
    Vector m = {0.0, 0.0};
    Vector v = {0.0, 0.0};
    Adam adam;
    adam.step = 1;
    adamw(adam, {2.0, -3.0}, p, m, v);
    EXPECT_NEAR(p[0], 1.0 - 1e-3 * (1.0 + 0.1), 1e-9);
    EXPECT_NEAR(p[1], -1.0 + 1e-3 * (1.0 + 0.1), 1e-9);
}

Attention small_attention(bool causal, std::int64_t window) {
    Attention op;
    op.batch = 2;
    op.heads = 4;
    op.kv_heads = 2;
    op.q_len = 3;
    op.kv_len = 5;
    op.head_dim = 4;
    op.causal = causal;
    op.window = window;
    return op;
}

TEST(Reference, AttentionGradients) {
    for (const Attention& op : {small_attention(false, 0), small_attention(true, 0), small_attention(true, 2)}) {
        const Vector q = random_vector(2 * 3 * 4 * 4, 12);
        const Vector k = random_vector(2 * 5 * 2 * 4, 13);
        const Vector v = random_vector(2 * 5 * 2 * 4, 14);
        const Vector g = random_vector(2 * 3 * 4 * 4, 15);
        const AttentionGradient grad = attention_gradient(op, {q, k, v}, g);
        EXPECT_LT(slope_error([&](const Vector& at) { return dot(attention(op, at, k, v), g); }, q, grad.q), tolerance);
        EXPECT_LT(slope_error([&](const Vector& at) { return dot(attention(op, q, at, v), g); }, k, grad.k), tolerance);
        EXPECT_LT(slope_error([&](const Vector& at) { return dot(attention(op, q, k, at), g); }, v, grad.v), tolerance);
    }
}

TEST(Reference, CausalMaskIsAlignedToTheLastKey) {
    const Attention op = small_attention(true, 0);
    const Vector q = random_vector(2 * 3 * 4 * 4, 16);
    const Vector k = random_vector(2 * 5 * 2 * 4, 17);
    Vector v = random_vector(2 * 5 * 2 * 4, 18);
    const Vector before = attention(op, q, k, v);
    for (std::size_t i = 0; i < 8; ++i) v[4 * 8 + i] += 1.0;  // the last key of the first sequence
    const Vector after = attention(op, q, k, v);
    for (std::size_t i = 0; i < 2 * 16; ++i) EXPECT_EQ(before[i], after[i]);
    EXPECT_NE(before[2 * 16], after[2 * 16]);
}

}  // namespace
}  // namespace tilewright::measure::reference

// Every way in which a shape can be wrong, one fault at a time, and any numbers at all: refused or counted, never
// overflowing.
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <limits>

#include "shape/shape_samples.h"

namespace tilewright {
namespace {

constexpr std::int64_t two_31 = std::int64_t{1} << 31;

struct ShapeFault {
    const char* where;
    void (*spoil)(Shape&);
};

TEST(ValidateShape, AcceptsRealShapes) {
    EXPECT_EQ(validate(gpt2()), Problems{});
    EXPECT_EQ(validate(deepseek_v2_lite()), Problems{});
}

/// Each fault is the only problem reported, at the field's name, with something to do about it.
void expect_only(const Shape& shape, const char* where) {
    SCOPED_TRACE(where);
    const Problems problems = validate(shape);
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].where, where);
    EXPECT_NE(problems[0].what, "");
    EXPECT_NE(problems[0].fix, "");
}

TEST(ValidateShape, NamesTheFault) {
    const ShapeFault faults[] = {
        {"hidden", [](Shape& s) { s.hidden = 0; }},
        {"hidden", [](Shape& s) { s.hidden = two_31 + 1; }},
        {"layers", [](Shape& s) { s.layers = -1; }},
        {"layers", [](Shape& s) { s.layers = 10001; }},
        {"heads", [](Shape& s) { s.heads = std::numeric_limits<std::int64_t>::min(); }},
        {"kv_heads", [](Shape& s) { s.kv_heads = 0; }},
        {"kv_heads", [](Shape& s) { s.kv_heads = 5; }},
        {"kv_heads", [](Shape& s) { s.kv_heads = 24; }},
        {"head_dim", [](Shape& s) { s.head_dim = -64; }},
        {"heads", [](Shape& s) { s.head_dim = 0, s.heads = 11, s.kv_heads = 11; }},
        {"heads", [](Shape& s) { s.head_dim = two_31 / 4; }},
        {"ffn", [](Shape& s) { s.ffn = 0; }},
        {"vocab", [](Shape& s) { s.vocab = std::int64_t{1} << 62; }},
        {"position_rows", [](Shape& s) { s.position_rows = -1; }},
        {"position_rows", [](Shape& s) { s.positions = Positions::Rotary; }},
        {"embedding_dim", [](Shape& s) { s.embedding_dim = -1; }},
        {"window", [](Shape& s) { s.window = -1; }},
        {"windowed_every", [](Shape& s) { s.windowed_every = 0; }},
        {"norms_per_layer", [](Shape& s) { s.norms.per_layer = 3; }},
        {"norms_per_layer", [](Shape& s) { s.norms.per_layer = 1; }},
        {"norms_per_layer", [](Shape& s) { s.norms.per_layer = 4, s.block = BlockForm::Parallel; }},
        {"shape", [](Shape& s) { s.hidden = s.ffn = two_31, s.layers = 10000; }},
    };
    for (const ShapeFault& fault : faults) {
        Shape shape = gpt2();
        fault.spoil(shape);
        expect_only(shape, fault.where);
    }
}

TEST(ValidateShape, NamesTheFaultOfExpertsAndLatentAttention) {
    const ShapeFault faults[] = {
        {"experts.count", [](Shape& s) { s.experts->count = 0; }},
        {"experts.active", [](Shape& s) { s.experts->active = 65; }},
        {"experts.active", [](Shape& s) { s.experts->active = 0; }},
        {"experts.ffn", [](Shape& s) { s.experts->ffn = 0; }},
        {"experts.shared_ffn", [](Shape& s) { s.experts->shared_ffn = -1; }},
        {"experts.dense_layers", [](Shape& s) { s.experts->dense_layers = 27; }},
        {"latent.q_rank", [](Shape& s) { s.latent->q_rank = -1; }},
        {"latent.kv_rank", [](Shape& s) { s.latent->kv_rank = 0; }},
        {"latent.nope_dim", [](Shape& s) { s.latent->nope_dim = 0; }},
        {"latent.rope_dim", [](Shape& s) { s.latent->rope_dim = 0; }},
        {"latent.v_dim", [](Shape& s) { s.latent->v_dim = 0; }},
        {"heads", [](Shape& s) { s.latent->v_dim = two_31; }},
        {"head_dim", [](Shape& s) { s.head_dim = 128; }},
        {"kv_heads", [](Shape& s) { s.kv_heads = 4; }},
    };
    for (const ShapeFault& fault : faults) {
        Shape shape = deepseek_v2_lite();
        fault.spoil(shape);
        expect_only(shape, fault.where);
    }
}

TEST(ValidateShape, LimitsTheParametersTo2To62) {
    Shape shape = gpt2();
    shape.hidden = std::int64_t{1} << 20;
    shape.ffn = two_31;
    shape.layers = (1 << 10) - 1;
    EXPECT_EQ(validate(shape), Problems{});
    shape.layers = 1 << 10;  // the MLPs alone are 2^62
    expect_only(shape, "shape");
}

TEST(ValidateShape, ReportsEveryProblemTogether) {
    Shape shape = gpt2();
    shape.hidden = 0;
    shape.vocab = -1;
    shape.norms.per_layer = 7;
    EXPECT_EQ(validate(shape).size(), 3u);
}

TEST(ValidateShape, OffersTheNearestHeads) {
    Shape shape = gpt2();
    shape.hidden = 2560;
    set_dimension(shape, "heads", 30);
    shape.head_dim = 0;
    const Problems problems = validate(shape);
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].what, "hidden 2560 does not divide into 30 heads");
    EXPECT_EQ(problems[0].fix, "use 20 or 32 heads, or give head_dim");
}

TEST(ValidateShape, OffersTheNearestKvHeads) {
    const std::pair<std::int64_t, const char*> offers[] = {
        {5, "use 4 or 6 kv_heads"}, {7, "use 6 or 12 kv_heads"}, {24, "use 12 kv_heads"}};
    for (const auto& [kv_heads, fix] : offers) {
        Shape shape = gpt2();
        shape.kv_heads = kv_heads;
        EXPECT_EQ(validate(shape).at(0).fix, fix);
    }
}

/// Powers of two to both ends of the range and their neighbours, and anything else.
std::int64_t any_number() {
    const auto power = static_cast<std::int64_t>(std::uint64_t{1} << any_size(0, 63));
    const std::vector<std::int64_t> edges{power, power / 2 + 1, -1, 0, 1, two_31, two_31 + 1};
    return any_switch() ? *rc::gen::elementOf(edges) : *rc::gen::arbitrary<std::int64_t>();
}

RC_GTEST_PROP(ValidateShapeLaw, AnyNumbersAreRefusedOrCounted, ()) {
    Shape shape = *any_small_shape();
    for (const Dimension& dimension : dimensions()) {
        if (any_size(0, 2) == 0) shape.*dimension.field = any_number();
    }
    if (shape.experts && any_switch()) shape.experts->ffn = any_number();
    if (shape.experts && any_switch()) shape.experts->count = any_number();
    if (shape.latent && any_switch()) shape.latent->kv_rank = any_number();
    if (!validate(shape).empty()) return;
    const ParameterCount count = count_parameters(shape);
    RC_ASSERT(0 < count.active && count.active <= count.total && count.total <= std::int64_t{1} << 62);
    RC_ASSERT(attention_width(shape) <= two_31);
}

}  // namespace
}  // namespace tilewright

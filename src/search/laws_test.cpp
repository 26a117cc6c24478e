// Laws of any space, workload and switch: the tables are the plain path, and every shape keeps the guards.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

#include "search/search_samples.h"

namespace tilewright {
namespace {

/// A space with every kind of workload and switch.
struct AnySpace {
    Shape shape;
    Workload workload;
    SearchOptions options;
};

AnySpace any_space() {
    AnySpace any;
    any.shape = small();
    any.shape.hidden = 64 * *rc::gen::inRange<std::int64_t>(2, 20);
    any.shape.heads = any.shape.hidden / 64;
    any.shape.kv_heads =
        any.shape.heads % 2 == 0 && *rc::gen::arbitrary<bool>() ? any.shape.heads / 2 : any.shape.heads;
    any.shape.layers = *rc::gen::inRange<std::int64_t>(2, 12);
    any.shape.ffn = *rc::gen::inRange<std::int64_t>(2 * any.shape.hidden, 4 * any.shape.hidden);
    any.shape.vocab = *rc::gen::inRange<std::int64_t>(500, 60000);
    any.shape.mlp = *rc::gen::element(MlpKind::Plain, MlpKind::Gated);
    any.shape.block = *rc::gen::element(BlockForm::Sequential, BlockForm::Parallel);
    any.shape.tied = *rc::gen::arbitrary<bool>();
    any.shape.window = *rc::gen::element<std::int64_t>(0, 0, 512);
    any.shape.bias.mlp = any.shape.bias.qkv = *rc::gen::arbitrary<bool>();
    any.workload.phase = *rc::gen::element(Phase::Train, Phase::Prefill, Phase::Decode);
    any.workload.runtime = *rc::gen::element(RuntimeId::PyTorch, RuntimeId::PyTorchCompiled, RuntimeId::Ideal);
    any.workload.attention = *rc::gen::element(AttentionBackend::Auto, AttentionBackend::Unfused);
    any.workload.parallel.tp = *rc::gen::element<std::int64_t>(1, 1, 2, 3);
    any.workload.parallel.pp = *rc::gen::element<std::int64_t>(1, 1, 2);
    any.workload.parallel.dp = *rc::gen::element<std::int64_t>(1, 8);
    any.workload.micro_batches = *rc::gen::element<std::int64_t>(1, 1, 4);
    any.workload.clock = *rc::gen::element(Clock::Sustained, Clock::Burst);
    if (*rc::gen::inRange(0, 3) == 0) {
        any.shape.experts = Experts{.count = *rc::gen::element<std::int64_t>(4, 8),
                                    .active = *rc::gen::element<std::int64_t>(1, 2),
                                    .ffn = 8 * *rc::gen::inRange<std::int64_t>(16, 64),
                                    .shared_ffn = *rc::gen::element<std::int64_t>(0, 128)};
    }
    any.options.objective = *rc::gen::element(Objective::Loss, Objective::Step);
    any.options.exact = *rc::gen::arbitrary<bool>();
    any.options.guards.params = any.options.guards.blocks = {0.9, 1.1};
    any.options.axis(Knob::Ffn).step = *rc::gen::element<std::int64_t>(1, 8, 64);
    if (*rc::gen::arbitrary<bool>()) any.options.mlps = {MlpKind::Plain, MlpKind::Gated};
    if (*rc::gen::arbitrary<bool>()) any.options.blocks = {BlockForm::Sequential, BlockForm::Parallel};
    return any;
}

/// One shape of the space, drawn; empty when there is none.
std::optional<std::pair<Shape, space::Variant>> draw(const space::Space& space) {
    std::vector<std::pair<Shape, space::Variant>> some;
    const std::int64_t stride = 1 + static_cast<std::int64_t>(space.size_bound() / 50.0);
    const std::int64_t offset = *rc::gen::inRange<std::int64_t>(0, stride);
    std::int64_t index = 0;
    list(space, [&](const Shape& shape, const space::Variant& variant) {
        if (index++ % stride == offset) some.emplace_back(shape, variant);
    });
    if (some.empty()) return std::nullopt;
    return some[*rc::gen::inRange<std::size_t>(0, some.size())];
}

TEST(Tables, EqualThePlainPath) {
    EXPECT_TRUE(rc::check([] {
        const AnySpace any = any_space();
        RC_PRE(validate(any.workload).empty());
        const std::vector<Target> targets{{*rc::gen::arbitrary<bool>() ? on(h200()) : on(a100()), 1.0}};
        const space::Space space(any.shape, any.workload, any.options);
        const auto drawn = draw(space);
        RC_PRE(drawn.has_value());
        const auto& [shape, variant] = *drawn;

        // a space of this shape alone, priced through the tables
        SearchOptions alone = only({});
        alone.guards = {.params = {0.0, 1e9},
                        .blocks = {0.0, 1e9},
                        .max_flops = 1e9,
                        .aspect = {0.0, 1e9},
                        .mlp_ratio = {0.0, 1e9}};
        alone.budget.flops_per_token = Between{0.0, 1e30};
        for (std::size_t i = 0; i < axis_count; ++i) {
            alone.axes[i].fixed = false;
            alone.axes[i].values = {shape.*dimensions()[i].field};
        }
        alone.axis(Knob::Ffn).values = {space::width_of(shape)};
        if (!space.depth_is_free()) alone.axis(Knob::Layers).fixed = true;
        alone.mlps = {variant.mlp};
        alone.blocks = {variant.block};
        alone.guards.attention_width = {0.1, 16.0};
        const space::Space one(any.shape, any.workload, alone);
        const walk::Setting setting = setting_of(one, targets);
        if (shape == any.shape) return;  // the baseline is no candidate
        const double plain = walk::relative_time(setting, shape, variant);
        for (const space::Slice& slice : one.slices()) {  // several where the experts vary
            for (const ScoredShape& point : walk::walk(setting, slice).families) {
                if (walk::shape_of(one, point) != shape) continue;
                RC_ASSERT(std::abs(point.time - plain) <= 1e-9 * plain);
                return;
            }
        }
        RC_FAIL("the shape is not in its own space");
    }));
}

TEST(Space, KeepsItsGuards) {
    EXPECT_TRUE(rc::check([] {
        const AnySpace any = any_space();
        const space::Space space(any.shape, any.workload, any.options);
        const auto drawn = draw(space);
        RC_PRE(drawn.has_value());
        const auto& [shape, variant] = *drawn;
        const auto ratio = [](std::int64_t a, std::int64_t b) {
            return static_cast<double>(a) / static_cast<double>(b);
        };
        RC_ASSERT(validate(shape).empty() && validate(shape, variant.workload).empty());
        const double params = static_cast<double>(count_parameters(shape).total) / space.baseline_params();
        RC_ASSERT(params >= 0.9 && params <= 1.1);
        const auto blocks = [](const Shape& of, std::int64_t ParameterCount::*part) {
            const ParameterCount count = count_parameters(of);
            return count.*part - count.embedding - count.head;
        };
        const LossLaw law(any.shape);
        for (const auto part : {&ParameterCount::total, &ParameterCount::active}) {
            const double change = ratio(blocks(shape, part), blocks(any.shape, part));
            RC_ASSERT(change <= 1.1 && (change >= 0.9 || law.change(shape).free()));
        }
        const double aspect = ratio(shape.hidden, shape.layers) / ratio(any.shape.hidden, any.shape.layers);
        RC_ASSERT(aspect >= 0.5 - 1e-9 && aspect <= 2.0 + 1e-9);
        RC_ASSERT(2 * shape.layers >= any.shape.layers);
        if (any.workload.phase == Phase::Train) {
            RC_ASSERT(ratio(shape.kv_heads * shape.head_dim, shape.hidden) >=
                      ratio(any.shape.kv_heads * any.shape.head_dim, any.shape.hidden) - 1e-9);
        } else {
            RC_ASSERT(rank::cache_elements(shape) >= rank::cache_elements(any.shape));
        }
        RC_ASSERT(shape.vocab >= any.shape.vocab);
        RC_ASSERT(shape.heads * shape.head_dim == shape.hidden);
        RC_ASSERT((shape.head_dim >= 64 && shape.head_dim <= 256) || shape.head_dim == any.shape.head_dim);
        if (!space.depth_is_free()) RC_ASSERT(shape.layers == any.shape.layers);
    }));
}

}  // namespace
}  // namespace tilewright

// The search keeps what it must keep, changes what it may, loses nothing by its tables, and puts the fastest first.
#include "tilewright/search.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "cost/fixtures.h"
#include "search/rank.h"
#include "shape/shape_samples.h"
#include "tilewright/memory.h"

namespace tilewright {
namespace {

/// A small one, so that its space can be listed.
Shape small() {
    Shape shape;
    shape.hidden = 512;
    shape.layers = 6;
    shape.heads = shape.kv_heads = 8;
    shape.head_dim = 64;
    shape.ffn = 2048;
    shape.vocab = 5003;
    return shape;
}

Pricer on(const Device& device) {
    Profile profile = assumed_profile(device);
    profile.power.idle = {100};  // a limit that training meets
    profile.power.matrix = {900};
    profile.power.memory = {200};
    profile.power.stream = {200};
    return {device, profile};
}

/// Without a host, so that every kernel counts.
Workload graphs() {
    Workload workload;
    workload.runtime = RuntimeId::PyTorchGraphs;
    return workload;
}

SearchOptions only(std::initializer_list<Knob> knobs) {
    SearchOptions options;
    for (Axis& axis : options.axes) axis.fixed = true;
    for (const Knob knob : knobs) options.axis(knob).fixed = false;
    return options;
}

walk::Setting setting_of(const space::Space& space, const std::vector<Target>& targets) {
    walk::Setting setting{space, targets, {}, total_flops(lower(space.baseline(), space.workload())).value / 8192.0};
    for (const Target& target : targets) {
        setting.factors.push_back(1.0 / price(lower(space.baseline(), space.workload()), target.pricer).sum.time.value);
    }
    return setting;
}

/// Every shape of the slices that passes the guard on parameters, each with its variant.
template <class Visit>
void list(const space::Space& space, Visit visit) {
    for (const space::Slice& slice : space.slices()) {
        for (std::size_t set = 0; set < slice.heads.size(); ++set) {
            for (const std::int64_t layers : slice.layers) {
                for (std::size_t words = 0; words < slice.vocab.size(); ++words) {
                    const std::int64_t count = space.count(layers);
                    const space::Range range = space.widths(slice, slice.params(set, words, count), count);
                    for (std::size_t width = range.first; width < range.last; ++width) {
                        Shape shape = slice.with(slice.heads[set]);
                        shape.layers = layers;
                        shape.vocab = slice.vocab[words];
                        shape.ffn = slice.ffn[width];
                        visit(shape, slice.variant);
                    }
                }
            }
        }
    }
}

TEST(Search, FindsFewerHeadsAndAPaddedVocabulary) {
    const SearchResult result = search(gpt3(), graphs(), on(h200()), only({Knob::Heads, Knob::HeadDim, Knob::Vocab}));
    ASSERT_FALSE(result.two_knobs.empty());
    const Candidate& best = result.two_knobs[0];
    EXPECT_EQ(best.shape.head_dim % 64, 0);
    EXPECT_EQ(best.shape.vocab % 8, 0);
    EXPECT_GT(best.speedup, 1.05);
    EXPECT_LT(best.low, best.speedup);
    EXPECT_GT(best.high, best.speedup);
    ASSERT_EQ(best.changed.size(), 2U) << "what follows from the heads is not listed";
    EXPECT_TRUE(best.changed[0].starts_with("heads 32 -> "));
    EXPECT_EQ(result.candidates[0].changed, best.changed);
    ASSERT_EQ(best.causes.size(), 2U);
    EXPECT_EQ(best.causes[0].component, Component::Attention);
    EXPECT_EQ(best.causes[1].component, Component::Head);
}

TEST(Search, SaysWhatItPriced) {
    const SearchResult result = search(gpt3(), graphs(), on(h200()));
    EXPECT_EQ(result.shapes_priced, result.shapes_in_space);
    EXPECT_GT(result.shapes_priced, 10000);
    EXPECT_TRUE(result.exhaustive);
}

TEST(Search, TheTablesLoseNothing) {
    const std::vector<Target> targets{{on(h200()), 1.0}};
    SearchOptions options;
    options.guards.params = {0.9, 1.1};
    options.guards.max_flops = 1.1;
    options.axis(Knob::Ffn).step = 64;
    const space::Space space(small(), graphs(), options);
    const walk::Setting setting = setting_of(space, targets);
    double best = HUGE_VAL;
    std::int64_t listed = 0;
    list(space, [&](const Shape& shape, const space::Variant& variant) {
        const double flops = total_flops(lower(shape, variant.workload)).value / 8192.0;
        if (flops > 1.1 * setting.baseline_flops) return;
        best = std::min(best, walk::score(setting, shape, variant));
        ++listed;
    });
    const SearchResult result = search(small(), graphs(), targets[0].pricer, options);
    EXPECT_EQ(result.shapes_in_space, listed);
    ASSERT_FALSE(result.candidates.empty());
    EXPECT_NEAR(1.0 / result.candidates[0].speedup, best, 1e-9 * best) << "of " << listed << " shapes";
}

TEST(Search, TheOrderOfMergingDoesNotMatter) {
    const Search prepared(gpt3(), graphs(), {{on(h200()), 1.0}});
    Kept forward, backward;
    for (std::size_t i = 0; i < prepared.slices(); ++i) forward.merge(prepared.walk(i), 5);
    Kept halves[2];
    for (std::size_t i = prepared.slices(); i-- > 0;) halves[i % 2].merge(prepared.walk(i), 5);
    backward.merge(halves[0], 5);
    backward.merge(halves[1], 5);
    const auto shapes = [&](const Kept& kept) {
        std::vector<Shape> found;
        const SearchResult result = prepared.finish(kept);
        for (const auto* list :
             {&result.one_knob, &result.two_knobs, &result.candidates, &result.parameter_front, &result.kv_front}) {
            for (const Candidate& candidate : *list) found.push_back(candidate.shape);
        }
        return found;
    };
    EXPECT_EQ(shapes(forward), shapes(backward));
    EXPECT_EQ(forward.priced, backward.priced);
}

TEST(Search, FrontsImproveInBothDirections) {
    const SearchResult result = search(gpt3(), graphs(), on(h200()));
    ASSERT_GT(result.parameter_front.size(), 1U);
    for (std::size_t i = 1; i < result.parameter_front.size(); ++i) {
        EXPECT_GT(result.parameter_front[i].speedup, result.parameter_front[i - 1].speedup);
    }
    ASSERT_FALSE(result.kv_front.empty());
    for (std::size_t i = 1; i < result.kv_front.size(); ++i) {
        EXPECT_GT(result.kv_front[i].speedup, result.kv_front[i - 1].speedup);
        EXPECT_GT(result.kv_front[i].kv_per_token, result.kv_front[i - 1].kv_per_token);
    }
    EXPECT_NEAR(result.parameter_front.back().speedup, result.candidates[0].speedup, 1e-12);
    EXPECT_NEAR(result.kv_front.back().speedup, result.candidates[0].speedup, 1e-12);
}

TEST(Search, FamiliesDiffer) {
    const SearchResult result = search(gpt3(), graphs(), on(h200()));
    std::set<std::array<std::int64_t, 4>> seen;
    for (const Candidate& found : result.candidates) {
        const Shape& s = found.shape;
        EXPECT_TRUE(seen.insert({s.hidden, s.heads, s.kv_heads, s.head_dim}).second);
    }
}

TEST(Search, FindsOneShapeForSeveralGpus) {
    const std::vector<Target> both{{on(h200()), 1.0}, {on(a100()), 3.0}};
    const SearchOptions options = only({Knob::Vocab, Knob::Heads, Knob::HeadDim});
    const Search prepared(gpt3(), graphs(), both, options);
    Kept kept;
    for (std::size_t i = 0; i < prepared.slices(); ++i) kept.merge(prepared.walk(i), 5);
    const SearchResult result = prepared.finish(kept);
    ASSERT_FALSE(result.candidates.empty());
    const Candidate& best = result.candidates[0];
    double weighted = 0.0;
    for (const Target& target : both) {
        const auto time = [&](const Shape& shape) { return price(lower(shape, graphs()), target.pricer).sum.time; };
        weighted += target.weight / 4.0 * (time(best.shape) / time(gpt3()));
    }
    EXPECT_NEAR(1.0 / best.speedup, weighted, 1e-9);
}

TEST(Search, HoldsTimeOrMemoryOrFlopsInstead) {
    const Pricer pricer = on(h200());
    const Seconds time = price(lower(small(), graphs()), pricer).sum.time;
    SearchOptions options;
    options.axis(Knob::Ffn).step = 64;
    options.budget.time = time * 0.9;
    const SearchResult by_time = search(small(), graphs(), pricer, options);
    ASSERT_FALSE(by_time.candidates.empty());
    for (const Candidate& found : by_time.candidates) EXPECT_LE(found.time, time * 0.9);
    EXPECT_GT(by_time.candidates[0].params, by_time.candidates.back().params - 1);

    options.budget = {};
    options.budget.memory = memory(small(), graphs(), on(h200())).total * 1.1;
    for (const Candidate& found : search(small(), graphs(), pricer, options).candidates) {
        EXPECT_LE(memory(found.shape, found.workload, pricer).total, *options.budget.memory);
        EXPECT_GT(found.parameter_change, 0.0);
    }

    options.budget = {};
    const double flops = total_flops(lower(small(), graphs())).value / 8192.0;
    options.budget.flops_per_token = Between{1.2 * flops, 1.25 * flops};
    const SearchResult by_flops = search(small(), graphs(), pricer, options);
    ASSERT_FALSE(by_flops.candidates.empty());
    for (const Candidate& found : by_flops.candidates) {
        EXPECT_GE(found.flops_change, 0.2 - 1e-9);
        EXPECT_LE(found.flops_change, 0.25 + 1e-9);
    }
}

TEST(Search, FindsTheLargestWithinAMemory) {
    SearchOptions options;
    options.axis(Knob::Ffn).step = 64;
    options.budget.memory = memory(small(), graphs(), on(h200())).total * 1.1;
    std::int64_t largest = 0;
    list(space::Space(small(), graphs(), options), [&](const Shape& shape, const space::Variant& variant) {
        if (memory(shape, variant.workload, on(h200())).total > *options.budget.memory) return;
        largest = std::max(largest, count_parameters(shape).total);
    });
    const SearchResult result = search(small(), graphs(), on(h200()), options);
    ASSERT_FALSE(result.candidates.empty());
    EXPECT_EQ(result.candidates[0].params, largest);
}

TEST(Search, PricesABaselineThatTensorParallelismDoesNotDivide) {
    Workload workload;
    workload.parallel.tp = 6;
    const SearchResult result = search(gpt3(), workload, on(h200()));
    ASSERT_FALSE(result.candidates.empty());
    for (const Candidate& found : result.candidates) EXPECT_EQ(found.shape.heads % 6, 0);
}

TEST(Search, WalksWorkloadsAtEqualTokensAndGpus) {
    SearchOptions options = only({});
    options.batches = {4, 8};
    options.tps = {1, 2};
    const SearchResult result = search(gpt3(), graphs(), on(h200()), options);
    EXPECT_EQ(result.shapes_priced, 4);
    for (const Candidate& found : result.candidates) {
        EXPECT_EQ(found.parameter_change, 0.0);
        EXPECT_NEAR(found.flops_change, 0.0, 0.02);
        EXPECT_GT(found.speedup, 0.5);
        EXPECT_LT(found.speedup, 2.0);
    }
}

TEST(Rank, LetsKernelsThatAreTheSameCancel) {
    const std::vector<Target> targets{{on(h200()), 1.0}};
    const space::Variant variant{graphs(), MlpKind::Plain, BlockForm::Sequential, 0, 1.0};
    Shape shape = gpt3();
    shape.vocab = 50304;
    const rank::Priced before = rank::priced(targets, shape, variant);
    const Candidate same = rank::compare(targets, before, before);
    EXPECT_EQ(same.speedup, 1.0);
    EXPECT_EQ(same.low, 1.0);
    EXPECT_EQ(same.high, 1.0);
    EXPECT_TRUE(same.changed.empty());

    Shape fewer_heads = shape;
    set_dimension(fewer_heads, "heads", 20);
    const Candidate fewer = rank::compare(targets, before, rank::priced(targets, fewer_heads, variant));
    const double naive = before.steps[0].sum.low / fewer.time;
    EXPECT_GT(fewer.low, naive) << "only attention may widen the interval";
    EXPECT_NEAR(fewer.speedup, before.steps[0].sum.time / fewer.time, 1e-9);

    Shape shallower = shape;
    shallower.layers = 31;
    const Candidate one_less = rank::compare(targets, before, rank::priced(targets, shallower, variant));
    EXPECT_LT(one_less.high - one_less.low, 0.05) << "31 of 32 layers are the same";
}

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
    any.workload.clock = *rc::gen::element(Clock::Sustained, Clock::Burst);
    any.options.guards.params = {0.9, 1.1};
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
        alone.guards = {.params = {0.0, 1e9}, .max_flops = 1e9, .aspect = {0.0, 1e9}, .mlp_ratio = {0.0, 1e9}};
        alone.budget.flops_per_token = Between{0.0, 1e30};
        for (std::size_t i = 0; i < axis_count; ++i) {
            alone.axes[i].fixed = false;
            alone.axes[i].values = {shape.*dimensions()[i].field};
        }
        if (!space.depth_is_free()) alone.axis(Knob::Layers).fixed = true;
        alone.mlps = {variant.mlp};
        alone.blocks = {variant.block};
        alone.guards.attention_width = {0.1, 16.0};
        const space::Space one(any.shape, any.workload, alone);
        const walk::Setting setting = setting_of(one, targets);
        RC_ASSERT(one.slices().size() == 1U);
        const Kept kept = walk::walk(setting, one.slices()[0]);
        RC_ASSERT(kept.priced == 1);
        if (shape == any.shape) return;  // the baseline is no candidate
        RC_ASSERT(kept.families.size() == 1U);
        const double plain = walk::score(setting, shape, variant);
        RC_ASSERT(std::abs(kept.families[0].score - plain) <= 1e-9 * plain);
        RC_ASSERT(walk::shape_of(one, kept.families[0]) == shape);
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
        const double aspect = ratio(shape.hidden, shape.layers) / ratio(any.shape.hidden, any.shape.layers);
        RC_ASSERT(aspect >= 0.5 - 1e-9 && aspect <= 2.0 + 1e-9);
        RC_ASSERT(2 * shape.layers >= any.shape.layers);
        RC_ASSERT(shape.kv_heads >= std::min(any.shape.kv_heads, shape.heads));
        RC_ASSERT(shape.vocab >= any.shape.vocab);
        RC_ASSERT(shape.heads * shape.head_dim == shape.hidden);
        RC_ASSERT((shape.head_dim >= 64 && shape.head_dim <= 256) || shape.head_dim == any.shape.head_dim);
        if (!space.depth_is_free()) RC_ASSERT(shape.layers == any.shape.layers);
    }));
}

}  // namespace
}  // namespace tilewright

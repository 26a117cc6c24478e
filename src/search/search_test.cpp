// The search keeps what it must keep, changes what it may, loses nothing by its tables, and puts the fastest first.
#include "tilewright/search.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "search/search_samples.h"
#include "shape/shape_samples.h"
#include "tilewright/memory.h"

namespace tilewright {
namespace {

/// Ranked by the step alone, without a preference for round sizes.
SearchOptions raw(SearchOptions options = {}) {
    options.objective = Objective::Step;
    options.exact = true;
    return options;
}

TEST(Search, FindsFewerHeadsAndAPaddedVocabulary) {
    const SearchResult result =
        search(gpt3(), graphs(), on(h200()), raw(only({Knob::Heads, Knob::HeadDim, Knob::Vocab})));
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
    EXPECT_GT(result.shapes_priced, 1000);
    EXPECT_TRUE(result.exhaustive);
}

TEST(Search, TheTablesLoseNothing) {
    const std::vector<Target> targets{{on(h200()), 1.0}};
    for (const bool by_loss : {false, true}) {
        SearchOptions options = by_loss ? SearchOptions{} : raw();
        options.guards.params = options.guards.blocks = {0.9, 1.1};
        options.guards.max_flops = 1.1;
        options.axis(Knob::Ffn).step = 64;
        const space::Space space(small(), graphs(), options);
        walk::Setting setting = setting_of(space, targets);
        setting.law = LossLaw(small());
        setting.objective = options.objective;
        double best = HUGE_VAL;
        std::int64_t listed = 0;
        list(space, [&](const Shape& shape, const space::Variant& variant) {
            const double flops = total_flops(lower(shape, variant.workload)).value / 8192.0;
            if (flops > 1.1 * setting.baseline_flops) return;
            best = std::min(best, walk::relative_time(setting, shape, variant) * walk::factor(setting, shape));
            ++listed;
        });
        const SearchResult result = search(small(), graphs(), targets[0].pricer, options);
        EXPECT_EQ(result.shapes_in_space, listed);
        ASSERT_FALSE(result.candidates.empty());
        const Candidate& first = result.candidates[0];
        EXPECT_NEAR(walk::factor(setting, first.shape) / first.speedup, best, 1e-9 * best)
            << "of " << listed << " shapes";
    }
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
    SearchOptions options = raw();
    options.guards.params = options.guards.blocks = {0.97, 1.03};
    const SearchResult result = search(gpt3(), graphs(), on(h200()), options);
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
    const SearchOptions options = raw(only({Knob::Vocab, Knob::Heads, Knob::HeadDim}));
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

TEST(Search, SearchesMixturesOfExperts) {
    Shape shape = small();
    shape.experts = Experts{.count = 16, .active = 4, .ffn = 512, .shared_ffn = 512};
    const SearchResult result = search(shape, {}, on(h200()));
    EXPECT_EQ(result.objective, Objective::Step) << "the law knows no experts";
    EXPECT_GT(result.shapes_priced, 50);
}

TEST(Search, PrefersRoundSizesThatCostNothing) {
    SearchOptions options = only({Knob::Vocab});
    options.objective = Objective::Step;
    const SearchResult rounded = search(gpt3(), {}, on(h200()), options);
    options.exact = true;
    const SearchResult exact = search(gpt3(), {}, on(h200()), options);
    ASSERT_FALSE(rounded.candidates.empty());
    EXPECT_EQ(rounded.candidates[0].shape.vocab % 128, 0);
    EXPECT_GE(rounded.candidates[0].speedup * (1.0 + walk::most_charged), exact.candidates[0].speedup);
}

TEST(Search, PrefersTheRoundestWidthWithinThreeTenthsOfAPercent) {
    SearchOptions options = only({Knob::Hidden, Knob::Layers, Knob::Heads, Knob::HeadDim, Knob::KvHeads, Knob::Ffn});
    options.objective = Objective::Step;
    options.keep = 1000;
    const SearchResult rounded = search(gpt3(), graphs(), on(h200()), options);
    options.exact = true;
    const SearchResult exact = search(gpt3(), graphs(), on(h200()), options);
    ASSERT_FALSE(rounded.candidates.empty());
    EXPECT_GE(rounded.candidates[0].speedup * (1.0 + walk::most_charged), exact.candidates[0].speedup);
    const auto round = [](const SearchResult& found) {
        return std::ranges::count_if(found.candidates, [](const Candidate& one) { return one.shape.ffn % 256 == 0; });
    };
    EXPECT_GT(round(rounded), 2 * round(exact));
    for (const Candidate& found : rounded.candidates) {
        const bool is_round = found.shape.ffn == gpt3().ffn || found.shape.ffn % 256 == 0;
        EXPECT_TRUE(is_round || found.speedup > 1.0 + walk::most_charged);
    }
}

TEST(Search, CountsTheSchedulersWaitInBothSteps) {
    const Workload decode = in_phase({}, Phase::Decode);
    const std::vector<Target> targets{{on(h200()), 1.0}};
    const double before = rank::priced(targets, gpt3(), {decode, gpt3().mlp, gpt3().block}).time(0);
    const SearchResult result = search(gpt3(), decode, targets[0].pricer);
    ASSERT_FALSE(result.candidates.empty());
    for (const Candidate& found : result.candidates) EXPECT_NEAR(found.speedup, before / found.time.value, 1e-9);
    EXPECT_GT(scheduler_wait(decode).value, 0.0);
}

TEST(Search, ShrinksBlocksOnlyWhereTheLawCallsItFree) {
    SearchOptions options;
    options.keep = 40;
    Shape gpt2 = small();
    gpt2.hidden = 768;
    gpt2.layers = gpt2.heads = gpt2.kv_heads = 12;
    gpt2.ffn = 3072;
    gpt2.vocab = 50257;
    gpt2.tied = true;
    bool fewer = false;
    for (const Candidate& found : search(gpt2, {}, on(h200()), options).candidates) {
        if (found.block_change >= options.guards.blocks.low - 1.0) continue;
        fewer = true;
        EXPECT_TRUE(found.loss.free()) << "heads included";
        EXPECT_TRUE(found.loss_beside_heads.free()) << "and not paid for by them";
        EXPECT_GE(found.parameter_change, options.guards.params.low - 1.0);
    }
    EXPECT_TRUE(fewer) << "832 x 10 has 2.5% fewer and costs no loss";
}

/// Fewer layers with wider MLPs are not known to be free by themselves, with wider heads they are.
TEST(Search, KeepsAnotherDepthWhereItsHeadsPayForIt) {
    Shape shape = small();
    shape.hidden = 1024;
    shape.layers = 24;
    shape.heads = shape.kv_heads = 16;
    shape.ffn = 4096;
    const LossLaw law(shape);
    Shape shallow = shape;
    shallow.layers = 20;
    shallow.ffn = 5376;
    const std::vector<Target> targets{{on(h200()), 1.0}};
    const space::Space space(shape, graphs(), {});
    walk::Setting setting = setting_of(space, targets);
    setting.law = law;
    EXPECT_FALSE(walk::keeps_depth(setting, shallow, space::turned(shape, shallow)));
    shallow.heads = shallow.kv_heads = 8;
    shallow.head_dim = 128;
    EXPECT_FALSE(law.change_beside_heads(loss_traits(shallow)).free());
    EXPECT_TRUE(walk::keeps_depth(setting, shallow, space::turned(shape, shallow)));
    shallow.heads = shallow.kv_heads = 2;
    shallow.head_dim = 512;
    EXPECT_FALSE(walk::keeps_depth(setting, shallow, space::turned(shape, shallow)))
        << "of such heads nothing is known";
}

/// A padded vocabulary saves the GPU half its time where the host that is assumed saves none: a faster one shows it.
TEST(Search, CountsTheGpusTimeOnFasterHosts) {
    Shape shape = small();
    shape.vocab = 50257;
    Workload eager;
    eager.batch = 3;
    const SearchResult found = search(shape, eager, on(h200()), only({Knob::Vocab}));
    ASSERT_FALSE(found.one_knob.empty());
    const Candidate& padded = found.one_knob[0];
    EXPECT_DOUBLE_EQ(padded.speedup, 1.0) << "the host bounds both";
    EXPECT_GT(padded.expected, 1.01);
    EXPECT_LT(padded.expected, padded.high);
    EXPECT_DOUBLE_EQ(padded.gain, padded.expected);
    ASSERT_TRUE(found.recommended.has_value());
}

/// Fewer heads are expected to learn better at this size, which is hope; a padded vocabulary is sure.
TEST(Search, RecommendsWhatIsSure) {
    Shape shape = small();
    shape.hidden = 768;
    shape.layers = shape.heads = shape.kv_heads = 12;
    shape.ffn = 3072;
    shape.vocab = 50257;
    const SearchResult found = search(shape, graphs(), on(h200()), only({Knob::Heads, Knob::HeadDim, Knob::Vocab}));
    ASSERT_TRUE(found.recommended.has_value());
    for (const Candidate& one : found.one_knob) {
        EXPECT_LE(one.sure_gain, found.recommended->sure_gain * 1.03);
        EXPECT_LE(one.sure_gain, one.gain + 1e-12) << "hope is no gain";
    }
}

TEST(Search, RecommendsAnotherDepthOnlyWhereTheLawCallsItFree) {
    SearchOptions options;
    options.guards.params = options.guards.blocks = {0.95, 1.05};
    const SearchResult result = search(gpt3(), {}, on(h200()), options);
    EXPECT_EQ(result.objective, Objective::Loss);
    ASSERT_TRUE(result.recommended.has_value());
    const Candidate& taken = *result.recommended;
    EXPECT_TRUE(taken.shape.layers == gpt3().layers || taken.loss_beside_heads.free() || taken.loss.free());
    ASSERT_FALSE(result.safe_depth.empty());
    EXPECT_TRUE(result.safe_depth[0].keeps_depth);
    EXPECT_LE(result.safe_depth[0].gain, result.candidates[0].gain * (1.0 + walk::most_charged));
    EXPECT_NEAR(taken.speedup_at_equal_params, taken.speedup * (1.0 + taken.parameter_change), 1e-12);
}

}  // namespace
}  // namespace tilewright

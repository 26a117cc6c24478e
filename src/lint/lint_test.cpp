// Which shapes break which rules on which devices, and the law that every fix removes its finding.
// The pages of docs/rules have an example of each rule; here are the borders and the silence.
#include "tilewright/lint.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

#include "cost/fixtures.h"
#include "shape/shape_samples.h"

namespace tilewright {
namespace {

Shape gpt(std::int64_t hidden, std::int64_t heads) { return gpt_of(hidden, 32, heads, 50304); }

Shape gated(std::int64_t ffn) {
    Shape shape = gpt(4096, 32);
    shape.mlp = MlpKind::Gated;
    shape.ffn = ffn;
    return shape;
}

std::vector<Finding> lint_on(const Device& device, const Shape& shape, const Workload& workload = {}) {
    return lint(shape, workload, Pricer(device, assumed_profile(device), workload.clock));
}

const Finding* find(const std::vector<Finding>& findings, std::string_view code) {
    const auto found = std::find_if(findings.begin(), findings.end(), [&](const auto& f) { return f.code == code; });
    return found == findings.end() ? nullptr : &*found;
}

TEST(Rules, HaveUniqueCodesAndNamesInOrder) {
    std::set<std::string_view> names;
    std::string_view last;
    for (const Rule& rule : rules()) {
        EXPECT_LT(last, rule.code);
        EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
        EXPECT_FALSE(rule.summary.empty());
        last = rule.code;
    }
}

/// One change to a well-formed GPT of hidden 4096 on an H200, and the rule it breaks; "" when it breaks none.
struct Border {
    const char* dimension;
    std::int64_t value;
    const char* code;
};

TEST(Lint, FindsWhatCostsTimeOnTheH200AndNothingElse) {
    const Border borders[] = {
        {"vocab", 50257, "TW001"}, {"vocab", 50260, "TW001"}, {"vocab", 50264, ""},   {"vocab", 50304, ""},
        {"hidden", 4128, "TW005"}, {"heads", 32, ""},         {"heads", 64, "TW008"}, {"heads", 8, "TW007"},
        {"ffn", 16381, "TW009"},   {"ffn", 16376, ""},        {"layers", 31, ""},     {"seq", 2047, ""},
        {"tp", 16, "TW017"},       {"tp", 3, "TW011"},        {"pp", 3, "TW015"},     {"batch", 1, "TW016"},
    };
    for (const Border& border : borders) {
        Shape shape = gpt(4096, 32);
        Workload workload;
        workload.batch = 8;
        apply({border.dimension, 0, border.value, {}, 0}, shape, workload);
        const auto findings = lint_on(h200(), shape, workload);
        const std::string where = std::string(border.dimension) + " = " + std::to_string(border.value);
        if (*border.code == '\0') {
            EXPECT_TRUE(findings.empty()) << where << " broke " << findings[0].rule;
        } else {
            EXPECT_NE(find(findings, border.code), nullptr) << where;
        }
    }
}

TEST(Lint, FlagsEightThirdsOfHiddenByName) {
    const auto literal = lint_on(h200(), gated(10922));
    ASSERT_NE(find(literal, "TW010"), nullptr);
    EXPECT_EQ(find(literal, "TW010")->severity, Severity::Warning);
    EXPECT_EQ(find(literal, "TW009"), nullptr);
    for (const std::int64_t ffn : {10944, 11008, 14336}) {
        const auto aligned = lint_on(h200(), gated(ffn));
        EXPECT_EQ(find(aligned, "TW009"), nullptr) << ffn;
        EXPECT_EQ(find(aligned, "TW010"), nullptr) << ffn;
    }
}

TEST(Lint, AsksForTheMultipleThatTheDeviceWants) {
    Shape shape = gpt(5120, 40);
    set_dimension(shape, "hidden", 5160);  // 8 * 645
    shape.head_dim = 128;
    EXPECT_EQ(find(lint_on(h200(), shape), "TW002"), nullptr);
    const auto on_a100 = lint_on(a100(), shape);
    const Finding* found = find(on_a100, "TW002");
    ASSERT_NE(found, nullptr);
    for (const Fix& fix : found->fixes) EXPECT_EQ(fix.to % 64, 0) << fix.to;
}

TEST(Lint, PrefersTwentyHeadsToThirtyTwoInTheShapeOfGpt3) {
    const auto findings = lint_on(h200(), gpt(2560, 32));
    for (const char* code : {"TW005", "TW008"}) {
        const Finding* found = find(findings, code);
        ASSERT_NE(found, nullptr) << code;
        EXPECT_EQ(found->severity, Severity::Warning);
        ASSERT_FALSE(found->fixes.empty());
        EXPECT_EQ(found->fixes[0].to, 20);
        EXPECT_EQ(found->fixes[0].parameter_change, 0);
        EXPECT_NE(std::find(found->kernels.begin(), found->kernels.end(), "attention"), found->kernels.end());
    }
}

TEST(Lint, LeavesTokensAloneUnlessAttentionReadsAlongThem) {
    Workload workload;
    workload.seq = 2047;
    EXPECT_EQ(find(lint_on(h200(), gpt(4096, 32), workload), "TW006"), nullptr);
    workload.attention = AttentionBackend::Unfused;
    EXPECT_NE(find(lint_on(h200(), gpt(4096, 32), workload), "TW006"), nullptr);
}

TEST(Lint, BlamesTheShardOnlyWhenTheWholeIsAligned) {
    Workload workload;
    workload.parallel.tp = 2;
    EXPECT_NE(find(lint_on(h200(), gated(10920), workload), "TW004"), nullptr);
    EXPECT_EQ(find(lint_on(h200(), gated(10920), workload), "TW009"), nullptr);
    EXPECT_EQ(find(lint_on(h200(), gated(10918), workload), "TW004"), nullptr);
    EXPECT_NE(find(lint_on(h200(), gated(10918), workload), "TW009"), nullptr);
}

TEST(Lint, CallsAnErrorWhatCannotRunAndSaysHowItCould) {
    Workload workload;
    workload.parallel.tp = 6;
    const auto findings = lint_on(h200(), gpt(4096, 32), workload);
    const Finding* found = find(findings, "TW011");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->severity, Severity::Error);
    EXPECT_FALSE(found->fixes.empty());
    EXPECT_EQ(findings[0].severity, Severity::Error) << "errors come first";
}

TEST(Lint, CallsAnErrorAFusedKernelAskedForPastItsLimit) {
    Workload workload;
    workload.attention = AttentionBackend::Cudnn;
    const auto findings = lint_on(h200(), gpt(4096, 8), workload);
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].code, "TW007");
    EXPECT_EQ(findings[0].severity, Severity::Error);
    ASSERT_EQ(findings[0].fixes.size(), 1U);
    EXPECT_EQ(findings[0].fixes[0].to, 16);
}

TEST(Lint, MovesTheLineBetweenInfoAndWarning) {
    Shape shape = gpt(2560, 32);
    const Pricer pricer(h200(), assumed_profile(h200()));
    for (const double min_cost : {0.0001, 0.01, 0.5}) {
        for (const Finding& finding : lint(shape, {}, pricer, {.min_cost = min_cost})) {
            EXPECT_EQ(finding.severity == Severity::Warning, finding.share >= min_cost) << finding.rule;
        }
    }
}

TEST(Lint, ListsTheCostliestFirst) {
    Shape shape = gpt(2560, 32);
    shape.vocab = 50257;
    const auto findings = lint_on(h200(), shape);
    ASSERT_GE(findings.size(), 2U);
    EXPECT_TRUE(std::is_sorted(findings.begin(), findings.end(),
                               [](const Finding& a, const Finding& b) { return a.cost > b.cost; }));
}

TEST(Lint, AnswersAtTheLimitsOfWhatIsValid) {
    const std::int64_t huge = (std::int64_t{1} << 31) - 1;
    for (const char* dimension : {"vocab", "ffn", "head_dim", "tp", "pp", "batch", "seq"}) {
        Shape shape = gpt(256, 1);
        Workload workload;
        workload.batch = workload.seq = 1;
        apply({dimension, 0, huge, {}, 0}, shape, workload);
        ASSERT_TRUE(validate(shape).empty() && validate(workload).empty()) << dimension;
        lint_on(h200(), shape, workload);
    }
}

/// Any number, but aligned ones often enough.
rc::Gen<std::int64_t> around(std::int64_t low, std::int64_t high) {
    return rc::gen::apply([](std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; },
                          rc::gen::inRange(low, high), rc::gen::element<std::int64_t>(1, 2, 8, 64, 128));
}

struct Case {
    Shape shape;
    Workload workload;
};

Case any_case() {
    const std::int64_t kv_heads = *rc::gen::inRange<std::int64_t>(1, 9);
    const std::int64_t group = *rc::gen::element<std::int64_t>(1, 1, 2, 4);
    Case run;
    run.shape = gpt(kv_heads * group * *around(32, 300), kv_heads * group);
    run.shape.kv_heads = kv_heads;
    run.shape.layers = *rc::gen::inRange<std::int64_t>(2, 40);
    run.shape.vocab = *around(1000, 60000);
    run.shape.mlp = *rc::gen::element(MlpKind::Plain, MlpKind::Gated);
    run.shape.ffn = *around(run.shape.hidden, 4 * run.shape.hidden);
    run.shape.tied = *rc::gen::arbitrary<bool>();
    if (*rc::gen::element(0, 0, 1) == 1) {
        run.shape.experts = Experts{.count = 8, .active = 2, .ffn = *around(256, 4000)};
    }
    run.workload.phase = *rc::gen::element(Phase::Train, Phase::Train, Phase::Prefill, Phase::Decode);
    run.workload.batch = *rc::gen::inRange<std::int64_t>(1, 9);
    run.workload.seq = *around(64, 4000);
    run.workload.parallel.tp = *rc::gen::element<std::int64_t>(1, 1, 2, 4, 6);
    run.workload.parallel.pp = *rc::gen::element<std::int64_t>(1, 1, 2, 3);
    run.workload.attention = *rc::gen::element(AttentionBackend::Auto, AttentionBackend::Unfused);
    return run;
}

TEST(Lint, OffersOnlyFixesThatRemoveTheFindingAndAddNothingWorse) {
    EXPECT_TRUE(rc::check([] {
        const Device device = *rc::gen::arbitrary<bool>() ? h200() : a100();
        const Pricer pricer(device, assumed_profile(device));
        const Case run = any_case();
        RC_PRE(validate(run.shape).empty() && validate(run.workload).empty());
        const auto told = lint(run.shape, run.workload, pricer);
        for (const Finding& finding : told) {
            RC_ASSERT(finding.severity != Severity::Info || !finding.fixes.empty() || finding.later ||
                      finding.code == "TW023");
            for (const Fix& fix : finding.fixes) {
                Case fixed = run;
                apply(fix, fixed.shape, fixed.workload);
                RC_ASSERT(validate(fixed.shape).empty());
                const auto after = lint(fixed.shape, fixed.workload, pricer);
                for (const Finding& left : after) {
                    RC_ASSERT(left.later || left.code != finding.code);
                    RC_ASSERT(left.severity < Severity::Warning || finding.severity == Severity::Error ||
                              find(told, left.code) != nullptr);
                }
            }
        }
    }));
}

TEST(Lint, StatesTheGainAndTheParametersOfAFix) {
    Shape shape = gpt(4096, 32);
    shape.vocab = 50257;
    const Pricer pricer(h200(), assumed_profile(h200()));
    const auto findings = lint(shape, {}, pricer);
    const Finding* found = find(findings, "TW001");
    ASSERT_NE(found, nullptr);
    const Seconds before = price(lower(shape, {}), pricer).sum.time;
    EXPECT_DOUBLE_EQ(found->share, found->cost / before);
    for (const Fix& fix : found->fixes) {
        Shape fixed = shape;
        fixed.vocab = fix.to;
        EXPECT_DOUBLE_EQ(fix.gain.value, (before - price(lower(fixed, {}), pricer).sum.time).value);
        EXPECT_EQ(fix.parameter_change, count_parameters(fixed).total - count_parameters(shape).total);
    }
}

TEST(Lint, CostsWhatItsFixSavesWhereTheWorkIsAboutEqual) {
    Shape shape = gpt(2560, 32);
    shape.vocab = 50257;
    const auto findings = lint_on(h200(), shape);
    const Finding* vocabulary = find(findings, "TW001");
    ASSERT_NE(vocabulary, nullptr);
    for (const Fix& fix : vocabulary->fixes) {
        EXPECT_NEAR(fix.removes / fix.gain, 1.0, 0.02) << fix.to;
        EXPECT_LE(fix.removes, vocabulary->cost);
    }
    EXPECT_EQ(find(findings, "TW018"), nullptr) << "what an unaligned product loses in tiles is alignment's";
}

TEST(Lint, DividesTheGainOfWiderHeadsBetweenPaddingAndWidth) {
    const auto findings = lint_on(h200(), gpt(2560, 32));
    const Finding* padded = find(findings, "TW005");
    const Finding* narrow = find(findings, "TW008");
    ASSERT_TRUE(padded != nullptr && narrow != nullptr);
    EXPECT_EQ(padded->fixes[0].to, narrow->fixes[0].to);
    EXPECT_NEAR((padded->fixes[0].removes + narrow->fixes[0].removes) / narrow->fixes[0].gain, 1.0, 0.02);
}

}  // namespace
}  // namespace tilewright

// One row per reason to refuse, beside its nearest neighbour that can run.
#include <gtest/gtest.h>

#include "ops/workload_samples.h"

namespace tilewright {
namespace {

TEST(ValidateTogether, RefusesWhatCannotRunAndNamesTheField) {
    const auto with = [](auto change) {
        Workload work;
        change(work);
        return work;
    };
    Shape wide = gpt2();
    wide.head_dim = 288;
    Shape grouped = gpt2();
    grouped.kv_heads = 4;
    Shape narrow = gpt2();
    narrow.ffn = 2;
    struct Case {
        Shape shape;
        Workload work;
        const char* where;  ///< "" when it can run
    };
    const Case cases[] = {
        {gpt2(), {}, ""},
        {gpt2(), with([](Workload& w) { w.runtime = RuntimeId::Vllm; }), "runtime"},
        {gpt2(), with([](Workload& w) { w.runtime = RuntimeId::Vllm, w.phase = Phase::Decode; }), ""},
        {gpt2(), with([](Workload& w) { w.parallel.tp = 4; }), ""},  // 50257 is padded to a multiple of 4
        {gpt2(), with([](Workload& w) { w.parallel.tp = 8; }), "tp"},
        {grouped, with([](Workload& w) { w.parallel.tp = 12; }), ""},
        {grouped, with([](Workload& w) { w.parallel.tp = 6; }), "tp"},
        {narrow, with([](Workload& w) { w.parallel.tp = 4; }), "tp"},
        {gpt2(), with([](Workload& w) { w.parallel.pp = 12; }), ""},
        {gpt2(), with([](Workload& w) { w.parallel.pp = 13; }), "pp"},
        {gpt2(), with([](Workload& w) { w.parallel.ep = 2; }), "ep"},
        {deepseek_v2_lite(), with([](Workload& w) { w.parallel.ep = 32; }), ""},
        {deepseek_v2_lite(), with([](Workload& w) { w.parallel.ep = 3; }), "ep"},
        {deepseek_v2_lite(), with([](Workload& w) { w.parallel.tp = 4, w.parallel.etp = 2; }), ""},
        {deepseek_v2_lite(), with([](Workload& w) { w.parallel.tp = 4, w.parallel.etp = 3; }), "etp"},
        {gpt2(), with([](Workload& w) { w.parallel.etp = 1; }), "etp"},
        {deepseek_v2_lite(), with([](Workload& w) { w.overlap = Overlap::Experts; }), ""},
        {deepseek_v2_lite(), with([](Workload& w) { w.overlap = Overlap::Experts, w.phase = Phase::Decode; }),
         "overlap"},
        {gpt2(), with([](Workload& w) { w.overlap = Overlap::Experts; }), "overlap"},
        {gpt2(), with([](Workload& w) { w.parallel.cp = 1024; }), ""},
        {gpt2(), with([](Workload& w) { w.parallel.cp = 2048; }), "cp"},
        {gpt2(), with([](Workload& w) { w.parallel.cp = 2, w.phase = Phase::Decode; }), "cp"},
        {gpt2(), with([](Workload& w) { w.kv_len = 4096; }), ""},
        {gpt2(), with([](Workload& w) { w.kv_len = 1024; }), "kv_len"},
        {gpt2(), with([](Workload& w) { w.kv_len = 1024, w.phase = Phase::Decode; }), ""},
        {wide, with([](Workload& w) { w.attention = AttentionBackend::Unfused; }), ""},
        {wide, {}, ""},
        {wide, with([](Workload& w) { w.attention = AttentionBackend::Flash2; }), "attention"},
    };
    for (const Case& c : cases) {
        const Problems problems = validate(c.shape, c.work);
        const std::string where = problems.empty() ? "" : problems.front().where;
        EXPECT_EQ(where, c.where) << (problems.empty() ? "" : problems.front().what) << &c - cases;
        EXPECT_LE(problems.size(), 1u);
        for (const Problem& problem : problems) EXPECT_FALSE(problem.fix.empty());
    }
}

}  // namespace
}  // namespace tilewright

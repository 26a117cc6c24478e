// What scripts read of a load served, and what people read where nobody can meet its limits.
#include "render/answers.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tilewright::render {
namespace {

ServeAnswer answer() {
    ServeAnswer answer;
    answer.shape.name = "a-model";
    answer.device.name = "a-gpu";
    answer.device.memory = {8e10};
    answer.load.rate = 20;
    answer.load.isl = 2000;
    answer.load.osl = 500;
    answer.limits = {Seconds{0.5}, Seconds{0.03}, 95};
    ServePlan plan;
    plan.layout.runtime = RuntimeId::Vllm;
    plan.layout.parallel.tp = 4;
    plan.gpus = 4;
    plan.within = true;
    plan.served.output_tok_s = 10000;
    plan.served.decode_step = {21, 2250, 0, 0, 0};
    plan.served.chunk_step = {21, 2250, 1, 2000, 0};
    answer.found.plans = {plan};
    answer.found.frontier = {{plan.layout.parallel, 16, 1000, {0.01}, {0.1}},
                             {plan.layout.parallel, 32, 1500, {0.02}, {0.1}}};
    answer.found.layouts = 1;
    return answer;
}

TEST(Served, JsonHasTheKeysThatScriptsRead) {
    const std::string json = served_json(answer());
    for (const char* key : {"\"plans\"", "\"tp\": 4", "\"pp\"", "\"dp\"", "\"ep\"", "\"max_batch\"", "\"chunk\"",
                            "\"output_tok_s\": 10000", "\"output_tok_s_gpu\": 2500", "\"ttft_s\"", "\"tpot_s\"",
                            "\"p50\"", "\"p95\"", "\"p99\"", "\"memory\"", "\"frontier\""}) {
        EXPECT_NE(json.find(key), std::string::npos) << key;
    }
}

TEST(Served, TextPrintsTheFlagsOfItsSteps) {
    const std::string text = served_text(answer(), {200, false, true});
    EXPECT_NE(text.find("--phase decode --batch 21 --seq 2250"), std::string::npos) << text;
    EXPECT_NE(text.find("--prompts 1 --prompt-tokens 2000"), std::string::npos) << text;
}

TEST(Served, NothingThatFitsIsSaidWithTheBytes) {
    ServeAnswer none = answer();
    none.found.plans.clear();
    none.found.too_large = 1;
    none.found.least = {1e11};
    EXPECT_NE(served_text(none, {}).find("needs 93.1 GiB"), std::string::npos) << served_text(none, {});
}

TEST(Served, TheFrontierIsALineForEachSplit) {
    const Chart chart = frontier_chart(answer().found.frontier);
    ASSERT_EQ(chart.series.size(), 1u);
    EXPECT_EQ(chart.series.front().x, (std::vector<double>{1000, 1500}));
    EXPECT_NE(served_html(answer()).find("<svg"), std::string::npos);
    ServeAnswer missed = answer();
    missed.found.plans.front().within = false;
    EXPECT_EQ(served_html(answer()).find("No layout meets"), std::string::npos);
    EXPECT_NE(served_html(missed).find("No layout meets"), std::string::npos);
}

}  // namespace
}  // namespace tilewright::render

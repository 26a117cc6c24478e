// Captured graphs: what is read, and what is refused with its line.
#include "read/capture_file.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

std::string graph(const std::string& tensors, const std::string& ops, const std::string& calls) {
    return R"({"schema": "tilewright.graph/1",
 "program": {"class": "transformers.GPT2LMHeadModel", "config": {"n_layer": 2}, "batch": 4, "seq": 128, "phase": "train"},
 "parameters": 7, "peak_bytes": 4096, "notes": ["a note"],
 "tensors": )" +
           tensors + R"(,
 "modules": ["", "layers.0"],
 "ops": )" +
           ops + R"(,
 "calls": )" +
           calls + R"(, "call_modules": [0, 1], "passes": [["forward", 1], ["backward", 1]]})";
}

const std::string one_tensor = R"([["bfloat16", [8, 64], [64, 1]]])";
const std::string one_op = R"([["aten.silu.default", ["t0", 1.5, null], {"flag": true}, ["t0"]]])";

TEST(CaptureFile, IsReadWhole) {
    const auto read = read::read_capture(graph(one_tensor, one_op, "[0, 0]"), "graph.json");
    ASSERT_TRUE(read) << read.problems()[0].what;
    EXPECT_EQ(read->program, "transformers.GPT2LMHeadModel");
    EXPECT_EQ(read->batch, 4);
    EXPECT_EQ(read->peak.value, 4096);
    ASSERT_EQ(read->calls.size(), 2u);
    EXPECT_EQ(read->calls[1].pass, Pass::Backward);
    EXPECT_EQ(read->modules[read->calls[1].module], "layers.0");
    ASSERT_EQ(read->ops[0].arguments.size(), 3u);
    EXPECT_TRUE(std::holds_alternative<TensorIndex>(read->ops[0].arguments[0].data));
    ASSERT_TRUE(read->shape) << "the family is known";
    EXPECT_EQ(read->shape->layers, 2);
}

void refuse(const std::string& text, const std::string& what, int line) {
    const auto read = read::read_capture(text, "graph.json");
    ASSERT_FALSE(read) << what;
    const Problem& problem = read.problems()[0];
    EXPECT_NE((problem.what + problem.fix).find(what), std::string::npos) << problem.what << problem.fix;
    EXPECT_EQ(problem.line, line) << problem.what;
}

TEST(CaptureFile, RefusesWhatItCannotFollow) {
    refuse("{}", "no captured graph", 1);
    refuse(graph(one_tensor, one_op, "[0, 1]"), "an index below 1", 7);
    refuse(graph(one_tensor, one_op, "[0]"), "calls has 1 entries", 1);
    refuse(graph(one_tensor, "[7]", "[0, 0]"), "an op:", 6);
    refuse(graph(R"([["bfloat16", [8, 64], [1]]])", one_op, "[0, 0]"), "as many strides", 4);
    refuse(graph(R"([["bfloat16", [-8], [1]]])", one_op, "[0, 0]"), "an integer from 0", 4);
    refuse(graph(R"([["bfloat16", [1099511627776, 1099511627776], [1, 1]]])", one_op, "[0, 0]"), "2^50", 4);
}

TEST(CaptureFile, IsAShapeWhereTheFamilyIsKnown) {
    std::string text = graph(one_tensor, one_op, "[0, 0]");
    const auto shape = read_shape(text, "graph.json");
    ASSERT_TRUE(shape);
    ASSERT_TRUE(shape->workload);
    EXPECT_EQ(shape->workload->seq, 128);
    text.replace(text.find("GPT2LMHead"), 10, "MyResearch");
    const auto unknown = read_shape(text, "graph.json");
    ASSERT_FALSE(unknown);
    EXPECT_NE(unknown.problems()[0].fix.find("predict"), std::string::npos);
}

}  // namespace
}  // namespace tilewright

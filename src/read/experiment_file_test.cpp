// Experiments as files: what is read, and what is refused with its line.
#include "read/files.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <rapidcheck.h>

namespace tilewright::read {
namespace {

const std::string head = "title = \"t\"\nfigure = \"f\"\nclaim = \"c\"\nsource = \"s\"\nx = \"m\"\n";
const std::string row = "[[row]]\nkind = \"gemm\"\nm = \"m\"\nk = 64\n";

TEST(ExperimentFile, IsReadWhole) {
    const auto read = read_experiment(head +
                                          "means = true\nmeasure = \"time_us\"\ntable = [8, \"large\"]\n"
                                          "[vary]\nm = \"32..512*2\"\nn = \"64..70:2\"\na = [8, \"word\"]\nb = 4\n" +
                                          row +
                                          "[[check]]\nkind = \"ladder\"\nat = [\"8|1\"]\nleast = 0.4\nfull = 64\n"
                                          "[[published]]\ndevice = \"a100\"\nseries = 2\nx = [8, 16]\ny = [1, 2.5]\n",
                                      "one.toml");
    ASSERT_TRUE(read) << read.problems()[0].what;
    EXPECT_EQ(read->name, "one");
    EXPECT_TRUE(read->means);
    EXPECT_EQ(read->measure, Measure::Time);
    EXPECT_EQ(read->table, (std::vector<std::string>{"8", "large"}));
    ASSERT_EQ(read->variables.size(), 4u);
    EXPECT_EQ(read->variables[0].values, (std::vector<std::string>{"32", "64", "128", "256", "512"}));
    EXPECT_EQ(read->variables[1].values, (std::vector<std::string>{"64", "66", "68", "70"}));
    EXPECT_EQ(read->variables[2].values, (std::vector<std::string>{"8", "word"}));
    EXPECT_EQ(read->rows[0].kind, "gemm");
    EXPECT_EQ(read->rows[0].columns, (tilewright::Fields{{"m", "m"}, {"k", "64"}}));
    EXPECT_EQ(read->checks[0].full, "64");
    EXPECT_EQ(read->published[1].y, 2.5);
    EXPECT_EQ(read->published[1].series, "2");
}

TEST(ExperimentFile, FaultsHaveTheirLine) {
    struct Case {
        std::string text;
        int line;
        std::string words;
    };
    const Case cases[] = {
        {"title = \"t\"\n" + row, 1, "missing"},
        {head, 1, "[[row]]"},
        {head + "[vary]\nm = \"9..3:\"\n" + row, 7, "m is"},
        {head + "[vary]\nm = \"2..8*1\"\n" + row, 7, "m is"},
        {head + "[vary]\nm = 1.5\n" + row, 7, "m is"},
        {head + "[[row]]\nkind = \"gem\"\n", 6, "kind"},
        {head + row + "[[check]]\nkind = \"laddr\"\n", 10, "laddr"},
        {head + row + "[[published]]\nx = [1, 2]\ny = [1]\n", 10, "as many"},
        {head + row + "[[published]]\nx = [1]\ny = [-1]\n", 12, "y is"},
        {head + "colour = 1\n" + row, 6, "colour"},
        {head + "row = 3\n", 6, "row is"},
    };
    for (const Case& bad : cases) {
        const auto read = read_experiment(bad.text, "bad.toml");
        ASSERT_FALSE(read) << bad.text;
        const Problems& problems = read.problems();
        EXPECT_TRUE(std::any_of(problems.begin(), problems.end(),
                                [&](const Problem& problem) {
                                    return problem.line == bad.line &&
                                           problem.what.find(bad.words) != std::string::npos;
                                }))
            << bad.text << problems[0].line << " " << problems[0].what;
    }
}

TEST(ExperimentFile, BuiltInOnesAreFoundByName) {
    EXPECT_TRUE(find_experiment("wave-quantization"));
    const auto unknown = find_experiment("wave-quantisation");
    ASSERT_FALSE(unknown);
    EXPECT_NE(unknown.problems()[0].fix.find("wave-quantization"), std::string::npos);
}

}  // namespace
}  // namespace tilewright::read

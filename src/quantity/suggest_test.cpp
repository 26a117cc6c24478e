#include "quantity/suggest.h"

#include <gtest/gtest.h>

#include "quantity/number.h"

namespace tilewright {
namespace {

TEST(Suggest, DistanceCountsEditsAndSwaps) {
    struct Row {
        const char* a;
        const char* b;
        int distance;
    };
    for (const Row& row :
         {Row{"heads", "heads", 0}, Row{"heads", "HEADS", 0}, Row{"haeds", "heads", 1}, Row{"head", "heads", 1},
          Row{"heads", "hads", 1}, Row{"heads", "beads", 1}, Row{"", "abc", 3}, Row{"kitten", "sitting", 3}}) {
        EXPECT_EQ(edit_distance(row.a, row.b, 10), row.distance) << row.a << " " << row.b;
    }
    EXPECT_EQ(edit_distance("abcdef", "uvwxyz", 2), 3);
    EXPECT_EQ(edit_distance(std::string(1'000'000, 'a'), "a", 2), 3);
}

TEST(Suggest, NearestFirstAndNothingFarAway) {
    const std::vector<std::string> known = {"gpt3-2.7b", "gpt3-6.7b", "gpt2", "llama-7b"};
    EXPECT_EQ(nearest("gpt3-2.7", known).front(), "gpt3-2.7b");
    EXPECT_EQ(nearest("gpt3", known).front(), "gpt3-2.7b") << "a name begun comes before one that looks like it";
    EXPECT_EQ(nearest("gtp2", known), std::vector<std::string>{"gpt2"});
    EXPECT_EQ(nearest("llama", known), std::vector<std::string>{"llama-7b"});
    EXPECT_TRUE(nearest("zzzz", known).empty());
    EXPECT_EQ(did_you_mean("zzzz", known), "");
    EXPECT_EQ(did_you_mean("gtp2", known), "did you mean gpt2?");
    EXPECT_EQ(join_or({"a", "b", "c"}), "a, b or c");
}

TEST(NumberIn, IsTheWholeTextOrNothing) {
    EXPECT_EQ(number_in<std::int64_t>("-12"), -12);
    EXPECT_EQ(number_in<double>("2.5e3"), 2500.0);
    for (const char* text : {"", " 1", "1 ", "1x", "x", "99999999999999999999"}) {
        EXPECT_FALSE(number_in<std::int64_t>(text)) << text;
    }
}

TEST(Joined, PutsWordsBetweenTexts) {
    EXPECT_EQ(joined(std::vector<std::string>{}), "");
    EXPECT_EQ(joined(std::vector<const char*>{"a"}), "a");
    EXPECT_EQ(joined(std::vector<std::string_view>{"a", "b"}, "|"), "a|b");
}

}  // namespace
}  // namespace tilewright

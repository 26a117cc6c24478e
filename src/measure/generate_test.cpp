#include "measure/generate.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "measure/draw.h"
#include "measure/sample_files.h"
#include "read/csv.h"
#include "tilewright/read.h"

namespace tilewright::measure {
namespace {

std::vector<Case> drawn(std::string_view name, std::int64_t count) {
    for (const ShapeSet& set : shape_sets()) {
        if (set.name == name) return set.draw(count, 1);
    }
    return {};
}

TEST(Generate, EverySetIsRepeatableDistinctAndMakesValidCases) {
    for (const ShapeSet& set : shape_sets()) {
        const auto text = generate_csv(set.name, 150, 7);
        ASSERT_TRUE(text.ok()) << set.name;
        EXPECT_EQ(*text, *generate_csv(set.name, 150, 7)) << set.name;
        const auto table = read::read_csv(*text, std::string(set.name));
        ASSERT_TRUE(table.ok());
        EXPECT_EQ(table->rows.size(), 150U) << set.name;
        std::set<Fields> seen;
        for (const read::CsvRow& row : table->rows) {
            const auto what = make_case(set.op, *read::fields_of(*table, row), "set", row.line);
            ASSERT_TRUE(what.ok()) << set.name << ": " << what.problems().front().what;
            EXPECT_TRUE(seen.insert(what->sizes).second) << set.name << " line " << row.line;
            EXPECT_EQ(find_field(what->tags, "split"), split_of(*find_field(what->tags, "family")));
        }
    }
    EXPECT_FALSE(generate_csv("no-such-set", 1, 1).ok());
}

TEST(Generate, GemmSetFillsTheSpace) {
    std::map<std::string, int> layouts;
    std::set<std::int64_t> alignments[3];
    int small_m = 0;
    int batched = 0;
    int judged = 0;
    const auto cases = drawn("gemm-quick", 5000);
    for (const Case& what : cases) {
        ++layouts[std::string(what.word("layout"))];
        const char* sides[] = {"m", "n", "k"};
        for (int i = 0; i < 3; ++i) {
            const std::int64_t size = what.integer(sides[i]);
            ASSERT_GE(size, 1);
            alignments[i].insert(std::min<std::int64_t>(256, size & -size));
        }
        small_m += what.integer("m") <= 16 ? 1 : 0;
        batched += what.integer("batch") > 1 ? 1 : 0;
        judged += split_of(*find_field(what.tags, "family")) == "judge" ? 1 : 0;
    }
    for (const char* layout : {"TN", "NN", "NT"}) EXPECT_GT(layouts[layout], 1000);
    for (const auto& seen : alignments) EXPECT_EQ(seen.size(), 9U);
    EXPECT_GT(small_m, 250);
    EXPECT_GT(batched, 250);
    EXPECT_GT(judged, 700);
    EXPECT_LT(judged, 1500);
}

TEST(Generate, NarrowAndBatchedSetsHoldWhatTheyAreNamedAfter) {
    for (const Case& what : drawn("gemm-narrow", 300)) {
        const std::int64_t rows = what.integer("n") | what.integer(what.word("layout") == "NT" ? "m" : "k");
        EXPECT_NE(rows % 8, 0);
    }
    for (const Case& what : drawn("gemm-batched", 300)) EXPECT_GT(what.integer("batch"), 1);
}

TEST(Generate, ClockSetIsPartOfTheQuickSet) {
    std::set<Fields> quick;
    for (const Case& what : drawn("gemm-quick", 20000)) quick.insert(what.sizes);
    for (const Case& what : drawn("gemm-clocks", 300)) EXPECT_EQ(quick.count(what.sizes), 1U);
}

TEST(Generate, NeighboursShareAFamily) {
    EXPECT_EQ(size_class(4095), size_class(4097));
    EXPECT_NE(size_class(4096), size_class(6144));
    EXPECT_EQ(aligned_exactly(4096, 8), 4104);
    EXPECT_EQ(aligned_exactly(3, 256), 256);
}

Sample timed(const char* m, double us, double cycles) {
    Sample sample;
    sample.op = "gemm";
    sample.sizes = {{"layout", "TN"}, {"m", m}, {"n", "8"}, {"k", "8"}, {"batch", "1"}};
    sample.device = "d";
    sample.time = summarize({us});
    sample.cycles = cycles;
    return sample;
}

TEST(Spread, ComparesByKey) {
    const auto rows = spread_of({timed("1", 10, 100), timed("2", 20, 100), timed("3", 1, 1)},
                                {timed("2", 22, 101), timed("1", 10, 100), timed("4", 1, 1)});
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].pairs, 2U);
    EXPECT_NEAR(rows[0].time.mean, 0.05, 1e-12);
    EXPECT_NEAR(rows[0].cycles.mean, 0.005, 1e-12);
    EXPECT_NE(spread_table(rows).find("5.00%"), std::string::npos);
    EXPECT_EQ(spread_of({timed("1", 10, 0)}, {timed("1", 10, 0)})[0].cycles.mean, 0.0) << "cycles were not counted";
}

NamedSamples file_of(const std::string& name, const std::string& text) {
    return {name, *read_samples(text, name), text};
}

TEST(Samples, MergeKeepsDuplicateKeysAndSaysSo) {
    const std::string run = to_line(tilewright::Run{"r", {}}) + "\n", first = to_line(timed("1", 10, 100)) + "\n";
    const NamedSamples a = file_of("a", run + first);
    const NamedSamples b = file_of("b", run + first + to_line(timed("1", 11, 100)) + "\n");
    const Merged merged = merge({a, b});
    EXPECT_EQ(merged.samples, 2U);
    EXPECT_EQ(merged.identical, 1U);
    EXPECT_EQ(merged.duplicates, 1U);
    EXPECT_EQ(read_samples(merged.text, "m")->samples.size(), 2U);
    EXPECT_NE(list_text({file_of("m", merged.text)}).find("1 have a key"), std::string::npos);
    EXPECT_NE(show_text({a}).find("m=1"), std::string::npos);
    EXPECT_EQ(show_text({a}).find("TFLOP/s"), std::string::npos) << "the sample says no FLOPs";
}

TEST(Samples, MergeKeepsWhatItDoesNotKnowAndSaysWhatIsTorn) {
    std::string later = to_line(timed("1", 10, 100));
    later.replace(later.size() - 1, 1, R"(,"humidity":0.4})");
    const Merged merged =
        merge({file_of("later", later), file_of("torn", to_line(timed("2", 1, 1)) + "\n{\"schema\":\"tile")});
    EXPECT_NE(merged.text.find(R"("humidity":0.4)"), std::string::npos);
    EXPECT_EQ(merged.samples, 2U) << "a last line without its end is whole";
    EXPECT_EQ(merged.text.back(), '\n');
    EXPECT_EQ(merged.torn, std::vector<std::string>{"torn"});
    EXPECT_NE(merge_note(merged).find("torn: the last line was cut off"), std::string::npos);
}

}  // namespace
}  // namespace tilewright::measure

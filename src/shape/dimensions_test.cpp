// What follows from changing one dimension, case by case, and two laws that hold for any shape and value.
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include "shape/shape_samples.h"

namespace tilewright {
namespace {

TEST(Dimensions, AreNamedOnceInTheOrderOfShape) {
    Shape shape;
    const std::int64_t* last = nullptr;
    for (const Dimension& dimension : dimensions()) {
        EXPECT_LT(last, &(shape.*dimension.field)) << dimension.name;
        last = &(shape.*dimension.field);
    }
    EXPECT_EQ(dimensions().size(), 10u);
}

TEST(SetDimension, UnknownNameChangesNothing) {
    Shape shape = gpt2();
    EXPECT_FALSE(set_dimension(shape, "head", 20));
    EXPECT_FALSE(set_dimension(shape, "", 20));
    EXPECT_EQ(shape, gpt2());
}

struct Sizes {
    std::int64_t hidden, heads, kv_heads, head_dim;
    friend bool operator==(const Sizes&, const Sizes&) = default;
};

struct Change {
    const char* what;
    Sizes before;
    const char* dimension;
    std::int64_t value;
    Sizes after;
};

TEST(SetDimension, CarriesWhatHangsOnIt) {
    const Change changes[] = {
        {"heads rederive the head size", {2560, 32, 32, 80}, "heads", 20, {2560, 20, 20, 128}},
        {"hidden rederives the head size", {2560, 32, 32, 80}, "hidden", 4096, {4096, 32, 32, 128}},
        {"grouped kv heads stay", {4096, 32, 8, 128}, "heads", 64, {4096, 64, 8, 64}},
        {"an explicit head size stays", {5140, 40, 40, 128}, "heads", 20, {5140, 20, 20, 128}},
        {"a quotient that is not whole is 0", {2560, 32, 32, 80}, "heads", 30, {2560, 30, 30, 0}},
        {"and comes back with the next change", {2550, 32, 32, 0}, "heads", 30, {2550, 30, 30, 85}},
        {"the head size by itself", {2560, 32, 32, 80}, "head_dim", 64, {2560, 32, 32, 64}},
        {"kv heads by themselves", {2560, 32, 32, 80}, "kv_heads", 8, {2560, 32, 8, 80}},
        {"no heads at all", {2560, 32, 32, 80}, "heads", 0, {2560, 0, 0, 0}},
        {"negative heads", {2560, 32, 32, 80}, "heads", -1, {2560, -1, -1, 0}},
    };
    for (const Change& change : changes) {
        SCOPED_TRACE(change.what);
        Shape shape;
        shape.hidden = change.before.hidden;
        shape.heads = change.before.heads;
        shape.kv_heads = change.before.kv_heads;
        shape.head_dim = change.before.head_dim;
        EXPECT_TRUE(set_dimension(shape, change.dimension, change.value));
        EXPECT_EQ((Sizes{shape.hidden, shape.heads, shape.kv_heads, shape.head_dim}), change.after);
    }
}

TEST(SetDimension, LatentHeadSizeIsNeverDerived) {
    Shape shape = deepseek_v2_lite();
    shape.hidden = 192 * shape.heads;
    ASSERT_TRUE(set_dimension(shape, "hidden", 2048));
    EXPECT_EQ(shape.head_dim, 192);
}

RC_GTEST_PROP(SetDimensionLaw, SetsItsFieldWhateverTheValue, ()) {
    Shape shape = *any_small_shape();
    const auto value = *rc::gen::arbitrary<std::int64_t>();
    const Dimension& dimension = *rc::gen::elementOf(dimensions());
    RC_ASSERT(set_dimension(shape, dimension.name, value));
    RC_ASSERT((shape.*dimension.field) == value);
}

RC_GTEST_PROP(SetDimensionLaw, SettingTheOldValueChangesNothing, ()) {
    const Shape shape = *any_small_shape();
    const Dimension& dimension = *rc::gen::elementOf(dimensions());
    Shape same = shape;
    set_dimension(same, dimension.name, shape.*dimension.field);
    RC_ASSERT(same == shape);
}

TEST(Differences, AreToldInWords) {
    Shape other = gpt2();
    EXPECT_TRUE(differences(gpt2(), other).empty());
    other.name = "another";
    other.heads = 6;
    other.tied = !other.tied;
    EXPECT_EQ(differences(gpt2(), other), (std::vector<std::string>{"heads 12", "the head's weights"}));
}

}  // namespace
}  // namespace tilewright

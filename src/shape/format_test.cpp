// What numbers take where they lie, and which pairs of formats engines multiply.
#include "tilewright/format.h"

#include <gtest/gtest.h>

#include "tilewright/names.h"

namespace tilewright {
namespace {

TEST(Format, CountsItsScales) {
    EXPECT_EQ(stored_bytes(Format::Bf16), 2.0);
    EXPECT_EQ(stored_bytes(Format::Fp8), 1.0);
    EXPECT_EQ(stored_bytes(Format::Fp8Block), 1.0 + 1.0 / 4096);
    EXPECT_EQ(stored_bytes(Format::Nvfp4), 9.0 / 16);
    EXPECT_EQ(stored_bytes(Format::Mxfp4), 17.0 / 32);
    EXPECT_GT(stored_bytes(Format::Int4), 0.5);
    EXPECT_LT(stored_bytes(Format::Int4), stored_bytes(Format::Mxfp4));
}

TEST(Quantization, FollowsFromThePair) {
    EXPECT_EQ(quantization_of(Format::Fp8, {}), Quantization::Fp8);
    EXPECT_EQ(quantization_of(Format::Fp8, Format::Bf16), Quantization::Int8Wo);
    EXPECT_EQ(quantization_of(Format::Int4, {}), Quantization::Int4Wo);
    EXPECT_EQ(quantization_of(Format::Int4, Format::Fp8), std::nullopt);
    EXPECT_EQ(quantization_of(Format::Int8, Format::Int8), Quantization::Int8Sq);
    EXPECT_EQ(quantization_of(Format::Mxfp4, Format::Mxfp8), Quantization::W4A8Mxfp4Mxfp8);
    EXPECT_EQ(quantization_of(Format::Bf16, Format::Fp8), std::nullopt);
}

TEST(Quantization, OfEveryNameIsFoundAgain) {
    for (const QuantizationTraits& traits : quantizations) {
        ASSERT_TRUE(find_quantization(traits.name));
        EXPECT_EQ(traits_of(*find_quantization(traits.name)).name, traits.name);
    }
    EXPECT_FALSE(find_quantization("int3"));
}

TEST(SetPrecision, TakesPrecisionsAndFormats) {
    Workload work;
    work.phase = Phase::Decode;
    for (const std::string_view word : precision_words) {
        set_precision(work, word);
        work.phase = word == "mxfp8" ? Phase::Train : Phase::Decode;
        EXPECT_EQ(validate(work), Problems{}) << word;
        EXPECT_EQ(precision_word(work).substr(0, 4), word.substr(0, 4));
    }
}

TEST(Workload, TrainsInMxfp8AndServesNothingSo) {
    Workload work;
    set_precision(work, "mxfp8");
    EXPECT_EQ(validate(work), Problems{});
    EXPECT_EQ(work.precision, Precision::Fp8);
    EXPECT_EQ(quantization_of(work), Quantization::Mxfp8);
    EXPECT_EQ(precision_word(work), "mxfp8");
    work.phase = Phase::Prefill;
    EXPECT_FALSE(validate(work).empty());
    work.phase = Phase::Train;
    set_precision(work, "fp8");
    EXPECT_EQ(quantization_of(work), Quantization::None);
    work.formats.weights = Format::Fp8Block;
    EXPECT_FALSE(validate(work).empty());
}

TEST(Workload, ServesItsFormats) {
    Workload work;
    work.phase = Phase::Decode;
    set_precision(work, "fp8");
    EXPECT_EQ(quantization_of(work), Quantization::Fp8);
    EXPECT_EQ(served_bytes(work), 1.0);
    EXPECT_EQ(cache_bytes(work), 2.0);
    work.formats = {Format::Int4, {}, Format::Fp8};
    EXPECT_EQ(quantization_of(work), Quantization::Int4Wo);
    EXPECT_EQ(cache_bytes(work), 1.0);
    EXPECT_EQ(validate(work), Problems{});
    work.formats = {{}, {}, Format::Fp32};  // a cache of 32 bits is of --precision fp32
    EXPECT_FALSE(validate(work).empty());
    work.formats = {Format::Int4};
    work.phase = Phase::Train;
    EXPECT_EQ(quantization_of(work), Quantization::None);
    EXPECT_FALSE(validate(work).empty());
}

}  // namespace
}  // namespace tilewright

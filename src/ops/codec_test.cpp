#include "tilewright/codec.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

namespace tilewright {
namespace {

/// A cell that the column takes, or nothing where it may be left out.
std::string drawn(const Column& column) {
    if (!column.required() && *rc::gen::inRange(0, 3) == 0) return "";
    if (column.type == ColumnType::Word)
        return std::string(*rc::gen::elementOf(std::vector(column.words.begin(), column.words.end())));
    if (column.type == ColumnType::Flag)
        return *rc::gen::elementOf(std::vector<std::string>{"0", "1", "true", "false"});
    if (column.type == ColumnType::Amount) return *rc::gen::elementOf(std::vector<std::string>{"4096", "0.1", "1e9"});
    return std::to_string(std::int64_t{1} << *rc::gen::inRange(0, 12));
}

TEST(Codec, DecodingWhatWasEncodedGivesTheSame) {
    for (const OpKind& kind : op_kinds()) {
        int described = 0;
        EXPECT_TRUE(rc::check(std::string(kind.name), [&] {
            Fields row;
            for (const Column& column : kind.columns) row.emplace_back(column.name, drawn(column));
            const auto first = decode(kind, row, {"f", 1});
            if (!first) return;  // heads that do not divide, and the like
            ++described;
            const Fields fields = encode(kind, *first);
            const auto second = decode(kind, fields, {"f", 1});
            RC_ASSERT(second.ok());
            RC_ASSERT(*second == *first);
            RC_ASSERT(encode(kind, *second) == fields);
        }));
        EXPECT_GE(described, 5) << kind.name;
    }
}

TEST(Codec, EveryBadCellIsRefusedWithItsPlace) {
    for (const OpKind& kind : op_kinds()) {
        for (const Column& column : kind.columns) {
            if (column.lenient) continue;
            const auto read = decode(kind, Fields{{std::string(column.name), "sideways"}}, {"f.csv", 7});
            ASSERT_FALSE(read.ok());
            const bool named = std::any_of(read.problems().begin(), read.problems().end(), [&](const Problem& problem) {
                return problem.where == "f.csv" && problem.line == 7 && !problem.fix.empty() &&
                       problem.what.starts_with("column " + std::string(column.name)) &&
                       problem.what.find("sideways") != std::string::npos;
            });
            EXPECT_TRUE(named) << kind.name << ": " << column.name;
        }
    }
}

TEST(Codec, WhatMustBeGivenIsMissedAndTheRestIsNot) {
    for (const OpKind& kind : op_kinds()) {
        const auto read = decode(kind, Fields{}, {"f.csv", 7});
        ASSERT_FALSE(read.ok()) << kind.name;
        const auto required = std::count_if(kind.columns.begin(), kind.columns.end(),
                                            [](const Column& column) { return column.required(); });
        EXPECT_EQ(read.problems().size(), static_cast<std::size_t>(required)) << kind.name;
    }
}

TEST(Codec, TablesAreWhole) {
    for (const OpKind& kind : op_kinds()) {
        std::set<std::string_view> names;
        for (const Column& column : kind.columns) {
            EXPECT_TRUE(names.insert(column.name).second) << kind.name << ": " << column.name << " is there twice";
            EXPECT_FALSE(column.help.empty()) << kind.name << ": " << column.name;
            EXPECT_EQ(column.words.empty(), column.type != ColumnType::Word) << kind.name << ": " << column.name;
            const bool phrase = column.fallback.find(' ') != std::string_view::npos;
            EXPECT_TRUE(column.required() || phrase || parse_cell(column, column.fallback))
                << kind.name << ": " << column.name << " is not " << column.fallback;
        }
        EXPECT_EQ(find_op_kind(kind.name), &kind);
    }
    EXPECT_EQ(find_op_kind("gem"), nullptr);
}

TEST(Codec, ARowThatSaysLittleIsAsItsFallbacksSay) {
    const Fields row = {{"kind", "gelu"}, {"rows", "8"}, {"width", "64"}};
    const OpKind& kind = *find_op_kind("stream");
    for (const auto& [name, value] : encode(kind, *decode(kind, row, {}))) {
        EXPECT_EQ(value, find_field(row, name).value_or(kind.find(name)->fallback)) << name;
    }
}

/// A cell that any kind's required column takes.
std::string plain(const Column& column) {
    if (column.type == ColumnType::Word) return std::string(column.words.front());
    return column.type == ColumnType::Flag ? "1" : "8";
}

TEST(Codec, AColumnLeftOutIsItsFallback) {
    for (const OpKind& kind : op_kinds()) {
        Fields row;
        for (const Column& column : kind.columns) {
            if (column.required()) row.emplace_back(column.name, plain(column));
        }
        const auto without = decode(kind, row, {});
        ASSERT_TRUE(without.ok()) << kind.name << ": " << without.problems().front().what;
        for (const Column& column : kind.columns) {
            if (column.required() || column.fallback.find(' ') != std::string_view::npos) continue;
            Fields with = row;
            with.emplace_back(column.name, column.fallback);
            const auto same = decode(kind, with, {});
            EXPECT_TRUE(same.ok() && *same == *without) << kind.name << ": " << column.name;
        }
    }
}

TEST(Codec, AttentionOverAnEnginesCacheIsTheEnginesWhicheverKernelIsNamed) {
    const OpKind& kind = *find_op_kind("attention");
    const auto read = [&](const char* column, const char* value, const char* backend) {
        return decode(kind,
                      Fields{{"batch", "8"},
                             {"heads", "32"},
                             {"kv_heads", "8"},
                             {"q_len", "1"},
                             {"kv_len", "4096"},
                             {"head_dim", "128"},
                             {"causal", "0"},
                             {"pass", "forward"},
                             {"dtype", "bf16"},
                             {"backend", backend},
                             {column, value}},
                      {});
    };
    for (const auto& [column, value] : {std::pair{"cache_write", "1"}, std::pair{"kv_dtype", "fp8"}}) {
        for (const char* backend : {"auto", "flash2", "cudnn"}) {
            const auto described = read(column, value, backend);
            ASSERT_TRUE(described.ok()) << column << ' ' << backend;
            EXPECT_EQ(std::get<Attention>(described->work).backend, AttentionBackend::Engine)
                << column << ' ' << backend;
        }
        for (const char* backend : {"unfused", "flash1"})
            EXPECT_FALSE(read(column, value, backend).ok()) << column << ' ' << backend;
    }
}

TEST(Codec, DescribedIsLowered) {
    const auto kernels = [](std::string_view kind, const Fields& row) {
        return lower(*decode(*find_op_kind(kind), row, {})).ops.size();
    };
    EXPECT_EQ(kernels("gemm", {{"layout", "TN"}, {"m", "8"}, {"n", "8"}, {"k", "8"}, {"batch", "1"}}), 1u);
    EXPECT_EQ(kernels("stream", {{"kind", "gelu"}, {"rows", "8"}, {"width", "64"}}), 1u);
    EXPECT_EQ(kernels("stream", {{"kind", "swiglu"}, {"rows", "8"}, {"width", "64"}}), 0u) << "two kernels when eager";
    EXPECT_EQ(kernels("launch", {{"kind", "graph"}}), 0u);
}

}  // namespace
}  // namespace tilewright

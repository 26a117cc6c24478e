// JSON and TOML as documents: kinds, order and lines are kept, and what is neither is refused.
#include <gtest/gtest.h>

#include <span>

#include "read/document.h"

namespace tilewright::read {
namespace {

/// A text that is no document: what is said of it, and of which line.
struct Bad {
    std::string text;
    int line;
    const char* says;
};

template <class Reader>
void expect_refused(std::span<const Bad> rows, Reader read) {
    for (const Bad& row : rows) {
        SCOPED_TRACE(row.text.substr(0, 40));
        const auto root = read(row.text, "file");
        ASSERT_FALSE(root.ok());
        const Problem& problem = root.problems().front();
        EXPECT_EQ(problem.where, "file");
        EXPECT_EQ(problem.line, row.line);
        EXPECT_NE(problem.what.find(row.says), std::string::npos) << problem.what;
    }
}

TEST(Json, KeepsKindsOrderAndLines) {
    const auto root = read_json("\xEF\xBB\xBF{\"b\": 1,\r\n \"a\": [true, null,\n 2.5, \"x\\u00e9\\n\"]}\n", "f");
    ASSERT_TRUE(root.ok()) << root.problems().front().what;
    const Object& members = *root->as<Object>();
    ASSERT_EQ(members.size(), 2u);
    EXPECT_EQ(members[0].key, "b");
    EXPECT_EQ(*members[0].value.as<std::int64_t>(), 1);
    EXPECT_EQ(members[1].value.line, 2);
    const Array& items = *members[1].value.as<Array>();
    EXPECT_TRUE(*items[0].as<bool>());
    EXPECT_NE(items[1].as<Null>(), nullptr);
    EXPECT_EQ(*items[2].as<double>(), 2.5);
    EXPECT_EQ(items[2].line, 3);
    EXPECT_EQ(*items[3].as<std::string>(), "x\xC3\xA9\n");
}

TEST(Json, NumbersThatAreNoIntegersAreToldApart) {
    const auto root = read_json("[9223372036854775807, 9223372036854775808, 4096.0, 1e3, -0, 0.5]", "f");
    ASSERT_TRUE(root.ok());
    const Array& items = *root->as<Array>();
    EXPECT_EQ(*items[0].as<std::int64_t>(), INT64_MAX);
    EXPECT_NE(items[1].as<double>(), nullptr);
    EXPECT_EQ(describe(items[2]), "4096.0");
    EXPECT_NE(items[3].as<double>(), nullptr);
    EXPECT_EQ(*items[4].as<std::int64_t>(), 0);
    EXPECT_EQ(describe(items[5]), "0.5");
}

TEST(Json, SurrogatePairsBecomeOneCharacter) {
    const auto root = read_json(R"("\ud83d\ude00")", "f");
    ASSERT_TRUE(root.ok());
    EXPECT_EQ(*root->as<std::string>(), "\xF0\x9F\x98\x80");
}

const Bad bad_json[] = {
    {"", 0, "nothing"},
    {" \n\t", 0, "nothing"},
    {"{", 1, "key in double quotes"},
    {"{\"a\": 1", 1, "expected ',' or '}'"},
    {"{\"a\": 1,\n}", 2, "key in double quotes"},
    {"{\"a\" 1}", 1, "expected ':'"},
    {"{'a': 1}", 1, "key in double quotes"},
    {"[1, 2", 1, "expected ',' or ']'"},
    {"[1 2]", 1, "expected ',' or ']'"},
    {"\n\n[1,]", 3, "expected a value"},
    {"nul", 1, "expected a value"},
    {"NaN", 1, "expected a value"},
    {"Infinity", 1, "expected a value"},
    {"-", 1, "expected a value"},
    {"01", 1, "expected a value"},
    {"1.", 1, "digit must follow"},
    {"1e", 1, "digit must follow"},
    {"1e999", 1, "out of range"},
    {"\"abc", 1, "not closed"},
    {"\"a\nb\"", 1, "not closed"},
    {"\"\\x\"", 1, "unknown escape"},
    {"\"\\", 1, "unknown escape"},
    {"\"\\u12\"", 1, "four hexadecimal digits"},
    {"\"\\u+123\"", 1, "four hexadecimal digits"},
    {"\"\\ud800\"", 1, "surrogate"},
    {"\"\\udc00\"", 1, "surrogate"},
    {"{} x", 1, "more after the end"},
    {"{\"a\": 1,\n\"a\": 2}", 2, "given twice"},
    {std::string("{\"a\":\0 1}", 9), 1, "not UTF-8 text"},
    {"\n\"\xFF\"", 2, "not UTF-8 text"},
    {"\"\xC0\x80\"", 1, "not UTF-8 text"},
    {"\"\xED\xA0\x80\"", 1, "not UTF-8 text"},
    {"\x89PNG\r\n\x1a\n", 1, "not UTF-8 text"},
    {std::string(100'000, '['), 1, "nested more than 64"},
    {std::string(9 << 20, ' ') + "1", 0, "bytes"},
};

TEST(Json, BadTextIsRefusedWithItsLine) { expect_refused(bad_json, read_json); }

TEST(Json, EveryTruncationIsRefused) {
    const std::string whole = R"({"a": [1, -2.5e3, {"b": "c\u00e9\n"}], "d": null, "e": true})";
    ASSERT_TRUE(read_json(whole, "f").ok());
    for (std::size_t length = 0; length < whole.size(); ++length) {
        EXPECT_FALSE(read_json(whole.substr(0, length), "f").ok()) << length;
    }
}

TEST(Json, HugeObjectsTakeNoLonger) {
    std::string text = "{";
    for (int i = 0; i < 50'000; ++i) text += "\"" + std::to_string(i) + "\":0,";
    text += "\"0\":0}";
    const auto root = read_json(text, "f");
    ASSERT_FALSE(root.ok());
    EXPECT_EQ(root.problems().size(), 1u);
    std::string values = "[0";
    for (std::size_t i = 0; i < max_document_values; ++i) values += ",0";
    EXPECT_FALSE(read_json(values + "]", "f").ok());
}

TEST(Toml, KeepsKindsOrderAndLines) {
    const auto root =
        read_toml("z = 1\na = 2.0\n\n[t]\nflag = true\ntext = \"é\"\nlist = [1, \"b\"]\nday = 2024-01-02\n", "f");
    ASSERT_TRUE(root.ok()) << root.problems().front().what;
    const Object& members = *root->as<Object>();
    ASSERT_EQ(members.size(), 3u);
    EXPECT_EQ(members[0].key, "z");
    EXPECT_EQ(members[1].key, "a");
    EXPECT_NE(members[1].value.as<double>(), nullptr);
    const Value& table = members[2].value;
    EXPECT_EQ(table.line, 4);
    EXPECT_TRUE(*table.find("flag")->as<bool>());
    EXPECT_EQ(*table.find("text")->as<std::string>(), "é");
    EXPECT_EQ(table.find("list")->as<Array>()->size(), 2u);
    EXPECT_EQ(table.find("list")->line, 7);
    EXPECT_EQ(*table.find("day")->as<std::string>(), "2024-01-02");
    EXPECT_EQ(table.find("nothing"), nullptr);
}

std::string repeated(const std::string& piece, int times) {
    std::string out;
    for (int i = 0; i < times; ++i) out += piece;
    return out;
}

const Bad bad_toml[] = {
    {"", 0, "nothing"},
    {"a", 1, "not TOML"},
    {"a = ", 1, "not TOML"},
    {"a = 1\na = 2\n", 2, "not TOML"},
    {"\n[t\n", 2, "not TOML"},
    {"a = 9223372036854775808\n", 1, "not TOML"},
    {"a = \"x\n\"\n", 1, "not TOML"},
    {std::string("a = \"\0\"", 8), 1, "not UTF-8"},
    {"a = \"\xFF\"", 1, "not UTF-8"},
    {"a = " + repeated("[", 100'000), 1, "not TOML"},
    {"a = " + repeated("[", 100) + repeated("]", 100), 1, "nested more than 64"},
    {repeated("a.", 100'000) + "a = 1", 0, "dots"},
    {repeated("a.", 1'500) + "a = 1", 1, "nested more than 64"},
    {"[" + repeated("a.", 1'500) + "a]\nb = 1", 1, "nested more than 64"},
    {"a = \"" + std::string(1 << 20, 'x') + "\"", 0, "bytes"},
};

TEST(Toml, BadTextIsRefusedWithItsLine) { expect_refused(bad_toml, read_toml); }

}  // namespace
}  // namespace tilewright::read

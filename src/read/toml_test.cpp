#include <gtest/gtest.h>

#include "read/document.h"

namespace tilewright::read {
namespace {

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

struct BadToml {
    std::string text;
    int line;
    const char* says;
};

const BadToml bad_toml[] = {
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

TEST(Toml, BadTextIsRefusedWithItsLine) {
    for (const BadToml& row : bad_toml) {
        SCOPED_TRACE(row.text.substr(0, 40));
        const auto root = read_toml(row.text, "f.toml");
        ASSERT_FALSE(root.ok());
        const Problem& problem = root.problems().front();
        EXPECT_EQ(problem.where, "f.toml");
        EXPECT_EQ(problem.line, row.line);
        EXPECT_NE(problem.what.find(row.says), std::string::npos) << problem.what;
    }
}

}  // namespace
}  // namespace tilewright::read

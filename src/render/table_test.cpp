// Layout of tables and paragraphs: alignment, fitting a width, what colour and ASCII do to it.
#include "render/table.h"

#include <gtest/gtest.h>

#include <sstream>

namespace tilewright::render {
namespace {

Style plain(int width) { return {width, false, true}; }

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

TEST(Table, AlignsByCharactersNotBytes) {
    Table table({{"name"}, {"time", Align::Right}});
    table.row({"µ", "1 µs"});
    table.row({"longer", "10 ms"});
    std::string out;
    table.append_to(out, plain(80));
    EXPECT_EQ(out,
              "  name     time\n"
              "  µ        1 µs\n"
              "  longer  10 ms\n");
}

TEST(Table, WithoutTitlesHasNoHead) {
    Table table({{""}, {""}});
    table.row({"a", "b"});
    std::string out;
    table.append_to(out, plain(80));
    EXPECT_EQ(out, "  a  b\n");
}

TEST(Table, ColumnsThatDoNotFitComeBelow) {
    Table table({{"name"}, {"one"}, {"two"}, {"what", Align::Left, true}});
    table.row({"first", "twelve chars", "twelve chars", "some words of text"});
    std::string out;
    table.append_to(out, plain(38));
    EXPECT_EQ(out,
              "  name   one           two\n"
              "  first  twelve chars  twelve chars\n"
              "  name   what\n"
              "  first  some words of text\n");
}

TEST(Table, FlexibleColumnWrapsSoThatEveryLineFits) {
    Table table({{"name"}, {"what", Align::Left, true}, {"n", Align::Right}});
    table.row({"first", "a rather long text that cannot stand on one line of a narrow terminal", "1"});
    table.row({"second", "short", "2"});
    for (const int width : {100, 80, 60, 40}) {
        std::string out;
        table.append_to(out, plain(width));
        for (const std::string& line : lines_of(out)) EXPECT_LE(display_width(line), width) << line;
    }
}

TEST(Table, ColourChangesNoColumn) {
    Table table({{"a"}, {"b", Align::Right}});
    table.row({{"x", Tone::Bad}, {"yy", Tone::Good}});
    std::string coloured;
    table.append_to(coloured, {80, true, true});
    std::string stripped;
    for (std::size_t i = 0; i < coloured.size(); ++i) {
        if (coloured[i] == '\033')
            i = coloured.find('m', i);
        else
            stripped += coloured[i];
    }
    std::string bare;
    table.append_to(bare, plain(80));
    EXPECT_NE(coloured, bare);
    EXPECT_EQ(stripped, bare);
}

TEST(Style, WrapKeepsEveryWord) {
    const std::string text = "one two three four five six seven eight";
    for (int width = 8; width < 45; ++width) {
        std::string joined;
        for (const std::string& line : wrap(text, width)) {
            EXPECT_LE(display_width(line), width);
            joined += (joined.empty() ? "" : " ") + line;
        }
        EXPECT_EQ(joined, text);
    }
}

TEST(Style, WrapCutsWordsThatAreTooLong) {
    EXPECT_EQ(wrap("abcdefghijkl", 8), (std::vector<std::string>{"abcdefgh", "ijkl"}));
}

TEST(Style, BarsGrowByEighths) {
    EXPECT_EQ(bar(0.0, 4), "");
    EXPECT_EQ(bar(0.5, 4), "██");
    EXPECT_EQ(bar(1.0 / 32, 4), "▏");
    EXPECT_EQ(bar(2.0, 4), "████");
    EXPECT_EQ(bar(0.0 / 1.0 - 1.0, 4), "");
}

TEST(Style, AsciiKeepsColumns) {
    const std::string text = "12 µs · 1.20× – … ██▍";
    EXPECT_EQ(to_ascii(text), "12 us | 1.20x - ~ ## ");
    EXPECT_EQ(display_width(to_ascii(text)), display_width(text));
}

TEST(Style, WhatDrivesATerminalIsNotShown) {
    const std::string text = "a\033[2J\tb\u009b2J \u202eevil\u2066 \x9b\r\n";
    EXPECT_EQ(shown(text, {}), "a?[2J\tb?2J ?evil? ??\n");
    EXPECT_EQ(shown(paint("x", Tone::Bad, {100, true, true}), {100, true, true}), "\033[31mx\033[0m");
    EXPECT_EQ(shown("\033[31mx\033[31;5m", {100, true, true}), "\033[31mx?[31;5m");
    EXPECT_EQ(shown("\033[31m", {}), "?[31m");
    EXPECT_EQ(shown("", {100, true, true}), "");
}

}  // namespace
}  // namespace tilewright::render

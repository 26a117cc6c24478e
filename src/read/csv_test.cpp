#include "read/csv.h"

#include <gtest/gtest.h>

#include "read/files.h"

namespace tilewright::read {
namespace {

TEST(Csv, RowsAreKeptVerbatimWithTheirLines) {
    const std::string text = "\xEF\xBB\xBFname, m ,note\r\nx,1,\"a, \"\"b\"\"\nc\"\r\n\r\ny,2,\nz,3,last";
    const auto table = read_csv(text, "f.csv");
    ASSERT_TRUE(table.ok()) << table.problems().front().what;
    EXPECT_EQ(table->header, "name, m ,note");
    EXPECT_EQ(table->columns, (std::vector<std::string>{"name", "m", "note"}));
    ASSERT_EQ(table->rows.size(), 3u);
    EXPECT_EQ(table->rows[0].text, "x,1,\"a, \"\"b\"\"\nc\"");
    EXPECT_EQ(table->rows[0].line, 2);
    EXPECT_EQ(table->rows[1].text, "y,2,");
    EXPECT_EQ(table->rows[1].line, 5);
    EXPECT_EQ(table->rows[2].line, 6);
    CsvCells cells(*table, table->rows[0]);
    EXPECT_EQ(cells.integer("m", sizes), 1);
    EXPECT_TRUE(cells.clean());
}

TEST(Csv, CellsAreTypedAndFaultsNameLineAndColumn) {
    const std::string text = "a,b,c\n1,maybe,burst\n-1, 1 ,bursty\n2.5,,\n";
    const auto table = read_csv(text, "f.csv");
    ASSERT_TRUE(table.ok());
    CsvCells first(*table, table->rows[0]);
    EXPECT_EQ(first.integer("a", sizes), 1);
    EXPECT_FALSE(first.flag("b"));
    EXPECT_EQ(first.word<Clock>("c"), Clock::Burst);
    ASSERT_EQ(first.problems().size(), 1u);
    EXPECT_EQ(first.problems().front(), (Problem{"f.csv", 2, "column b is \"maybe\"", "it must be 0 or 1"}));
    CsvCells second(*table, table->rows[1]);
    EXPECT_EQ(second.integer("a", sizes), 0);
    EXPECT_EQ(second.flag("b"), true);
    EXPECT_FALSE(second.word<Clock>("c"));
    ASSERT_EQ(second.problems().size(), 2u);
    EXPECT_EQ(second.problems()[0].what, "column a is \"-1\"");
    EXPECT_NE(second.problems()[1].fix.find("did you mean burst?"), std::string::npos);
    CsvCells third(*table, table->rows[2]);
    EXPECT_FALSE(third.optional_integer("a", sizes));
    EXPECT_FALSE(third.flag("b"));
    EXPECT_FALSE(third.word<Clock>("c"));
    EXPECT_FALSE(third.word<Clock>("no such column"));
    EXPECT_EQ(third.problems().size(), 1u);
}

TEST(Csv, RowsOfAnotherLengthAreBadRows) {
    const auto table = read_csv("a,b\n1\n1,2,3\n", "f.csv");
    ASSERT_TRUE(table.ok());
    for (const CsvRow& row : table->rows) {
        const CsvCells cells(*table, row);
        ASSERT_FALSE(cells.clean());
        EXPECT_EQ(cells.problems().front().line, row.line);
    }
}

TEST(Csv, BadFilesAreRefused) {
    EXPECT_EQ(read_csv("", "f").problems().front().what, "there is nothing in it");
    EXPECT_EQ(read_csv("a,b\n1,2\n\"x,1\n2,3\n", "f").problems().front().line, 3);
    EXPECT_NE(read_csv("a,b,a\n", "f").problems().front().what.find("\"a\" is there twice"), std::string::npos);
    EXPECT_FALSE(read_csv(std::string(5000, ','), "f").ok());
}

TEST(Csv, AMissingHeaderIsOneProblem) {
    const auto table = read_csv("TN,1,1,3,1\nTN,4,5,6,1\n", "f.csv");
    ASSERT_FALSE(table.ok());
    ASSERT_EQ(table.problems().size(), 1u);
    EXPECT_NE(table.problems()[0].what.find("no header row"), std::string::npos);
}

TEST(Csv, MissingColumnsAreAllNamed) {
    const auto table = read_csv("heads,kvheads\n1,1\n", "f");
    ASSERT_TRUE(table.ok());
    const Problems problems = require_columns(*table, {"heads", "kv_heads", "q_len"});
    ASSERT_EQ(problems.size(), 2u);
    EXPECT_NE(problems[0].fix.find("\"kvheads\""), std::string::npos);
    EXPECT_NE(problems[1].what.find("\"q_len\" is missing"), std::string::npos);
}

TEST(Arrivals, AreInOrderAndBeginAtZero) {
    const auto load = read_arrivals("osl,arrival_s,isl,cached\n10,1700000003,100,0\n20,1700000001,200,50\n", "f");
    ASSERT_TRUE(load.ok());
    EXPECT_EQ(load->front().isl, 200);
    EXPECT_EQ(load->front().cached, 50);
    EXPECT_EQ(load->front().arrival.value, 0.0);
    EXPECT_EQ(load->back().arrival.value, 2.0);
}

TEST(Arrivals, WhatNobodyCanSendIsRefusedOnce) {
    for (const char* rows :
         {"", "nan,1,1\n", "-1,1,1\n", "0,0,1\n", "0,1,0\n", "0,100000000000,1\n", "0,1,1\n1e300,1,1\n"}) {
        const auto load = read_arrivals(std::string("arrival_s,isl,osl\n") + rows, "f");
        ASSERT_FALSE(load.ok()) << rows;
        EXPECT_EQ(load.problems().size(), 1u) << rows;
    }
    EXPECT_FALSE(read_arrivals("arrival_s,isl,osl,cached\n0,5,1,5\n", "f").ok());
}

}  // namespace
}  // namespace tilewright::read

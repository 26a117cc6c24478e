// The tables of columns in docs/formats.md are those of the codec. Each stands between "<!-- columns KIND… -->" and
// "<!-- end -->"; TILEWRIGHT_UPDATE=1 rewrites them.
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "on_disk.h"
#include "tilewright/codec.h"

namespace tilewright {
namespace {

const std::string path = TILEWRIGHT_SOURCE_DIR "/docs/formats.md";

std::string value_of(const Column& column) {
    std::string words;
    for (const std::string_view word : column.words) words += (words.empty() ? "`" : ", `") + std::string(word) + "`";
    switch (column.type) {
        case ColumnType::Word: return words;
        case ColumnType::Flag: return "0 or 1";
        case ColumnType::Amount: return "number of " + std::string(column.unit);
        case ColumnType::Count: break;
    }
    return "whole number" + (column.unit.empty() ? "" : " of " + std::string(column.unit));
}

std::string fallback_of(const Column& column) {
    if (column.required()) return "";
    return parse_cell(column, column.fallback) ? "`" + std::string(column.fallback) + "`"
                                               : std::string(column.fallback);
}

/// The columns of all these kinds in one table; one that some of them lack says whose it is.
std::string table_of(const std::vector<const OpKind*>& kinds) {
    std::string text = "| column | is | default | meaning |\n|---|---|---|---|\n";
    std::set<std::string_view> written;
    for (const OpKind* kind : kinds) {
        for (const Column& column : kind->columns) {
            if (!written.insert(column.name).second) continue;
            const bool shared =
                std::all_of(kinds.begin(), kinds.end(), [&](const OpKind* one) { return one->find(column.name); });
            text += "| `" + std::string(column.name) + "` | " + value_of(column) + " | " + fallback_of(column) + " | " +
                    (shared ? "" : "of a " + std::string(kind->name) + ": ") + std::string(column.help) + " |\n";
        }
    }
    return text;
}

TEST(Formats, ThePageHasTheTablesOfTheCodec) {
    const std::string page = slurp(path);
    const std::string opening = "<!-- columns ", closing = "<!-- end -->";
    std::string wanted;
    std::set<std::string_view> documented;
    std::size_t done = 0;
    for (std::size_t at = page.find(opening); at != std::string::npos; at = page.find(opening, at + 1)) {
        const std::size_t line_end = page.find('\n', at) + 1;
        std::istringstream names(page.substr(at + opening.size(), line_end - at - opening.size()));
        std::vector<const OpKind*> kinds;
        for (std::string name; names >> name && name != "-->";) {
            kinds.push_back(find_op_kind(name));
            ASSERT_NE(kinds.back(), nullptr) << name;
            documented.insert(kinds.back()->name);
        }
        wanted += page.substr(done, line_end - done) + "\n" + table_of(kinds) + "\n";
        done = page.find(closing, line_end);
        ASSERT_NE(done, std::string::npos);
    }
    wanted += page.substr(done);
    EXPECT_EQ(documented.size(), op_kinds().size()) << "every kind has its table";
    expect_file(path, wanted);
}

}  // namespace
}  // namespace tilewright

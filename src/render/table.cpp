// Layout: natural widths first, then the flexible column gives way; narrow terminals get narrow gaps, and
// columns that still do not fit stand in a table of their own below, after the first column again.
#include "render/table.h"

#include <algorithm>
#include <numeric>

namespace tilewright::render {
namespace {

constexpr int indent = 2;
constexpr std::size_t crowd = 6;  ///< tables with more columns give up the second space between them first
constexpr int narrowest = 12;     ///< a flexible column is never squeezed below this

std::string padded(const Cell& cell, Align align, int width, const Style& style) {
    const auto fill = static_cast<std::size_t>(std::max(0, width - display_width(cell.text)));
    const std::string painted = paint(cell.text, cell.tone, style);
    return align == Align::Left ? painted + std::string(fill, ' ') : std::string(fill, ' ') + painted;
}

void append_line(std::string& out, std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
}

int total(const std::vector<int>& widths, int gap) {
    return std::accumulate(widths.begin(), widths.end(), indent) + gap * (static_cast<int>(widths.size()) - 1);
}

}  // namespace

std::vector<int> Table::natural_widths() const {
    std::vector<int> widths;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        int width = display_width(columns_[i].title);
        for (const auto& row : rows_) {
            if (i < row.size()) width = std::max(width, display_width(row[i].text));
        }
        widths.push_back(width);
    }
    return widths;
}

bool Table::fits(int width) const {
    std::vector<int> widths = natural_widths();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (columns_[i].flexible) widths[i] = std::min(widths[i], narrowest);
    }
    return total(widths, columns_.size() > crowd ? 1 : 2) <= width;
}

Table Table::part(std::size_t from, std::size_t to) const {
    Table some({columns_[0]});
    some.columns_.insert(some.columns_.end(), columns_.begin() + static_cast<std::ptrdiff_t>(from),
                         columns_.begin() + static_cast<std::ptrdiff_t>(to));
    for (const auto& row : rows_) {
        std::vector<Cell> cells{row[0]};
        for (std::size_t i = from; i < std::min(to, row.size()); ++i) cells.push_back(row[i]);
        some.row(std::move(cells));
    }
    return some;
}

void Table::append_to(std::string& out, const Style& style) const {
    if (fits(style.width)) return append_whole(out, style);
    for (std::size_t from = 1, to = 1; from < columns_.size(); from = to) {
        do ++to;
        while (to < columns_.size() && part(from, to + 1).fits(style.width));
        Table some = part(from, to);
        if (!some.fits(style.width)) some.columns_.back().flexible = true;
        some.append_whole(out, style);
    }
}

void Table::append_whole(std::string& out, const Style& style) const {
    std::vector<int> width = natural_widths();
    const bool crowded = columns_.size() > crowd && total(width, 2) > style.width;
    const std::string gap(crowded ? 1 : 2, ' ');
    const int excess = std::max(0, total(width, crowded ? 1 : 2) - style.width);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (columns_[i].flexible) width[i] = std::max(std::min(width[i], narrowest), width[i] - excess);
    }
    const auto append_row = [&](const std::vector<Cell>& cells) {
        std::vector<std::vector<std::string>> lines;
        std::size_t height = 1;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            lines.push_back(columns_[i].flexible ? wrap(cells[i].text, width[i]) : std::vector{cells[i].text});
            height = std::max(height, lines.back().size());
        }
        for (std::size_t at = 0; at < height; ++at) {
            std::string line(indent, ' ');
            for (std::size_t i = 0; i < cells.size(); ++i) {
                const Cell part(at < lines[i].size() ? lines[i][at] : "", cells[i].tone);
                line += (i == 0 ? "" : gap) + padded(part, columns_[i].align, width[i], style);
            }
            append_line(out, line);
        }
    };
    std::vector<Cell> titles;
    for (const Column& column : columns_) titles.emplace_back(column.title, Tone::Dim);
    if (std::any_of(titles.begin(), titles.end(), [](const Cell& cell) { return !cell.text.empty(); })) {
        append_row(titles);
    }
    for (const auto& row : rows_) append_row(row);
}

}  // namespace tilewright::render

// Aligned columns. One column may be flexible: it wraps so that the table fits the terminal.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "render/style.h"

namespace tilewright::render {

enum class Align { Left, Right };

struct Column {
    std::string title;
    Align align = Align::Left;
    bool flexible = false;
};

struct Cell {
    std::string text;
    Tone tone = Tone::Plain;

    Cell(std::string content, Tone painted = Tone::Plain)  // NOLINT: a text is a cell
        : text(std::move(content)), tone(painted) {}
    Cell(const char* content) : text(content) {}  // NOLINT
};

/// Rows of cells under titles; a table whose titles are all empty has no head.
class Table {
public:
    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

    void row(std::vector<Cell> cells) { rows_.push_back(std::move(cells)); }
    bool empty() const { return rows_.empty(); }

    /// Appends the table, indented by two columns, no line wider than the style: in parts where it must be.
    void append_to(std::string& out, const Style& style) const;

private:
    bool fits(int width) const;
    Table part(std::size_t from, std::size_t to) const;  ///< the first column and those
    void append_whole(std::string& out, const Style& style) const;
    std::vector<int> natural_widths() const;

    std::vector<Column> columns_;
    std::vector<std::vector<Cell>> rows_;
};

}  // namespace tilewright::render

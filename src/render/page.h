// A self-contained HTML page: its style sheet, its little script, and the pieces a body is made of. Nothing on it is
// fetched from anywhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "render/table.h"

namespace tilewright::render {

/// The whole document around a body.
std::string page(std::string_view title, std::string_view description, std::string_view body);

/// Words as HTML: escaped, an arrow as one character, which no line break parts.
std::string prose(std::string_view words);

/// `<name>words</name>`, the words as prose.
std::string element(std::string_view name, std::string_view words);

/// A section under a heading; `body` is HTML.
std::string section(std::string_view title, std::string_view body, std::string_view kind = "");

/// A column of a table; a `minor` one is left out on a telephone.
struct HtmlColumn {
    std::string title;
    Align align = Align::Left;
    bool minor = false;
};

/// A table of texts. A table whose titles are all empty has no head.
std::string html_table(const std::vector<HtmlColumn>& columns, const std::vector<std::vector<std::string>>& rows);

/// A picture with its caption: the wide SVG on a page or in print, the narrow one on a telephone.
std::string figure(std::string_view wide, std::string_view narrow, std::string_view caption);

/// The last line: the command that made the page.
std::string made_by(std::string_view command);

}  // namespace tilewright::render

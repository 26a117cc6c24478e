// How text looks on the terminal at hand: its width, whether it has colour, whether it can show more than ASCII.
// Renderers always write UTF-8 with glyphs of width one; `to_ascii` replaces them at the end where they cannot be
// shown.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tilewright/result.h"

namespace tilewright::render {

struct Style {
    int width = 100;  ///< columns that a line may take
    bool colour = false;
    bool unicode = true;
};

enum class Tone { Plain, Strong, Dim, Accent, Good, Caution, Bad };

/// The text in a tone; unchanged when the style has no colour.
std::string paint(std::string_view text, Tone tone, const Style& style);

/// Columns that UTF-8 text without control characters takes: one per code point.
int display_width(std::string_view text);

/// The text cut into lines of at most `width` columns, at spaces where there are any.
std::vector<std::string> wrap(std::string_view text, int width);

/// Appends the text wrapped to the style's width, every line after the first indented by `indent`.
void append_paragraph(std::string& out, std::string_view text, int indent, const Style& style);

/// The same of a heading.
void append_heading(std::string& out, std::string_view text, const Style& style);

/// A horizontal bar of `share` (0 … 1) of `width` columns, to an eighth of a column.
std::string bar(double share, int width);

/// Glyphs of our own output replaced by one ASCII character each, so that columns stay aligned.
std::string to_ascii(std::string_view text);

/// The one way to a terminal or a pipe: a text as it is printed, with nothing in it that drives the terminal but the
/// tones of `paint`, and in ASCII where the style asks for that.
std::string shown(std::string_view text, const Style& style);

/// Problems and warnings: where, what, and on the next line what to do. What came from a file may hold anything, so
/// control characters are made harmless.
std::string problems_text(const Problems& problems, const Style& style);  ///< "error: file:line: what" and its fix
std::string warning_text(std::string_view what, const Style& style);      ///< "warning: what"

}  // namespace tilewright::render

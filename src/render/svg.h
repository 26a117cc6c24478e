// Small pieces of SVG that every picture shares: numbers, escaping, how wide a text is, colours for light and dark.
#pragma once

#include <string>
#include <string_view>

namespace tilewright::render {

constexpr int palette_size = 8;
constexpr double text_size = 12.0;   ///< CSS pixels
constexpr double title_size = 15.0;  ///< CSS pixels

struct Point {
    double x = 0.0;
    double y = 0.0;
};

/// A rectangle on the page, y growing downwards.
struct Box {
    double left = 0.0;
    double top = 0.0;
    double right = 0.0;
    double bottom = 0.0;

    double width() const { return right - left; }
    double height() const { return bottom - top; }
    bool overlaps(const Box& other) const {
        return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
    }
    bool contains(const Box& other) const {
        return left <= other.left && other.right <= right && top <= other.top && other.bottom <= bottom;
    }
};

/// A text on the page; its point is on the base line.
struct Text {
    Point at;
    std::string words;
    std::string_view kind = "label";  ///< class of the style sheet
    std::string_view anchor = "start";
};

/// The text with & < > " and line breaks as entities, and other control characters as '?'.
std::string escape(std::string_view text);

/// A coordinate to a tenth of a pixel, in as few characters as possible.
std::string px(double value);

/// "12.5 30": a point of a path.
std::string px(Point point);

/// How wide a text stands at most in common sans-serif faces.
double text_width(std::string_view text, double size = text_size);

std::string text_element(const Text& text);

/// `<title>…</title>`, or nothing when there is nothing to say.
std::string title_element(std::string_view words);

/// The classes that pictures use, on light and dark pages.
std::string svg_style();

/// The opening tag with title and description, the style sheet and the background.
std::string open_svg(std::string_view title, std::string_view description, Box page, std::string_view attributes = "");

}  // namespace tilewright::render

// The colours are Okabe and Ito's ("Color Universal Design", 2008), ordered so that neighbours also differ in
// lightness, darkened or lightened for contrast with the page. Classes instead of CSS variables: other SVG programs
// know no others.
#include "render/svg.h"

#include <fmt/format.h>

#include <array>

namespace tilewright::render {
namespace {

/// A colour of the palette on a light and on a dark page, and that of a text upon it on a light page.
struct Colour {
    std::string_view light;
    std::string_view dark;
    std::string_view on_light;
};

constexpr std::array<Colour, palette_size> palette = {{{"#0072b2", "#4fa8e0", "#fff"},
                                                       {"#e69f00", "#f2b53f", "#111"},
                                                       {"#009e73", "#2ec79b", "#111"},
                                                       {"#cc79a7", "#e09cc2", "#111"},
                                                       {"#b34700", "#f0803c", "#fff"},
                                                       {"#56b4e9", "#9bd6f7", "#111"},
                                                       {"#5f6670", "#a3aab4", "#fff"},
                                                       {"#d8c500", "#f0e442", "#111"}}};

constexpr std::string_view common_style =
    "text{font:12px Helvetica,Arial,'Liberation Sans',sans-serif;fill:#1f2328}"
    "text.title{font-size:15px;font-weight:bold}text.tick,text.axis,text.dim{fill:#59616b}"
    ".line,.whisker{fill:none;stroke-width:1.8;stroke-linejoin:round}.whisker{stroke-width:1.2}.thin{stroke-width:1.1}"
    ".band{stroke:none;opacity:.22}.bar{stroke:#fff;stroke-width:1}.dot{stroke-width:1.6}.dots{stroke-width:3.4;fill:"
    "none}.big{stroke-width:8}"
    ".hit{fill:none;stroke:transparent;stroke-width:12;pointer-events:stroke}"
    ".paper{fill:#fff}.grid{stroke:#e3e6ea;fill:none}.rule{stroke:#8a929c;fill:none}"
    ".ink,.guide{stroke:#1f2328}.guide{stroke-dasharray:2 3;fill:none}.sq{stroke:#6b7280}.fq{fill:#6b7280}"
    ".outside{fill:#d7dce2}.gap{stroke:#fff;stroke-width:.7;fill:none}";
constexpr std::string_view dark_style =
    "text{fill:#e4e8ee}text.tick,text.axis,text.dim{fill:#a3acb8}.bar{stroke:#14171c}.paper{fill:#14171c}"
    ".grid{stroke:#2a2f37}.rule{stroke:#6c7480}.ink,.guide{stroke:#e4e8ee}.sq{stroke:#9aa3af}.fq{fill:#9aa3af}"
    ".outside{fill:#343b46}.gap{stroke:#14171c}";

/// The width of a character in an em: Helvetica's, rounded up, in four classes.
double em_width(char c) {
    constexpr std::string_view narrow = "iljtfrI.,:;'|!()[]/ ";
    constexpr std::string_view wide = "mwMW%@";
    if (narrow.find(c) != std::string_view::npos) return 0.34;
    if (wide.find(c) != std::string_view::npos) return 0.92;
    return c >= 'A' && c <= 'Z' ? 0.72 : 0.58;
}

}  // namespace

std::string svg_style() {
    std::string light(common_style);
    std::string dark(dark_style);
    for (int i = 0; i < palette_size; ++i) {
        const Colour& colour = palette[static_cast<std::size_t>(i)];
        light +=
            fmt::format(".s{0}{{stroke:{1}}}.f{0}{{fill:{1}}}text.t{0}{{fill:{2}}}", i, colour.light, colour.on_light);
        dark += fmt::format(".s{0}{{stroke:{1}}}.f{0}{{fill:{1}}}text.t{0}{{fill:#111}}", i, colour.dark);
    }
    return fmt::format("{}@media screen and (prefers-color-scheme:dark){{{}}}", light, dark);
}

std::string escape(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '\n': out += "&#10;"; break;
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            default: out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
        }
    }
    return out;
}

std::string px(double value) {
    std::string text = fmt::format("{:.1f}", value);
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
    return text == "-0" ? "0" : text;
}

std::string px(Point point) { return px(point.x) + " " + px(point.y); }

double text_width(std::string_view text, double size) {
    double em = 0.0;
    for (const char c : text) {
        const bool continues = (static_cast<unsigned char>(c) & 0xC0) == 0x80;  // of a UTF-8 character
        if (!continues) em += em_width(c);
    }
    return em * size;
}

std::string text_element(const Text& text) {
    const std::string anchor = text.anchor == "start" ? "" : fmt::format(" text-anchor=\"{}\"", text.anchor);
    return fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\"{}>{}</text>\n", text.kind, px(text.at.x), px(text.at.y),
                       anchor, escape(text.words));
}

std::string title_element(std::string_view words) {
    return words.empty() ? "" : "<title>" + escape(words) + "</title>";
}

std::string open_svg(std::string_view title, std::string_view description, Box page, std::string_view attributes) {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
        "{1}\"{2}>\n"
        "{3}<desc>{4}</desc>\n<style>{5}</style>\n<rect class=\"paper\" width=\"{0}\" height=\"{1}\"/>\n",
        px(page.width()), px(page.height()), attributes, title_element(title), escape(description), svg_style());
}

}  // namespace tilewright::render

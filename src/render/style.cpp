// Terminal text: colour sequences, widths, wrapping, bars and the way back to ASCII.
#include "render/style.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "quantity/printable.h"

namespace tilewright::render {
namespace {

constexpr std::array<std::string_view, 9> eighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};

/// Every glyph that renderers use, with its stand-in.
constexpr std::array<std::pair<std::string_view, char>, 14> ascii_table = {{{"µ", 'u'},
                                                                            {"×", 'x'},
                                                                            {"·", '|'},
                                                                            {"–", '-'},
                                                                            {"…", '~'},
                                                                            {"─", '-'},
                                                                            {"█", '#'},
                                                                            {"▉", '#'},
                                                                            {"▊", '#'},
                                                                            {"▋", '#'},
                                                                            {"▌", '#'},
                                                                            {"▍", ' '},
                                                                            {"▎", ' '},
                                                                            {"▏", ' '}}};

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

constexpr std::string_view plain_again = "\033[0m";

std::string_view sequence(Tone tone) {
    switch (tone) {
        case Tone::Plain: return "";
        case Tone::Strong: return "\033[1m";
        case Tone::Dim: return "\033[2m";
        case Tone::Accent: return "\033[36m";
        case Tone::Good: return "\033[32m";
        case Tone::Caution: return "\033[33m";
        case Tone::Bad: return "\033[31m";
    }
    return "";
}

/// Bytes of the sequence at the start that `paint` writes; 0 when there is none.
std::size_t tone_length(std::string_view text) {
    if (text.starts_with(plain_again)) return plain_again.size();
    for (const Tone tone : {Tone::Strong, Tone::Dim, Tone::Accent, Tone::Good, Tone::Caution, Tone::Bad}) {
        if (text.starts_with(sequence(tone))) return sequence(tone).size();
    }
    return 0;
}

/// Bytes of the longest prefix of at most `width` columns.
std::size_t prefix_bytes(std::string_view text, int width) {
    std::size_t end = 0;
    for (int columns = 0; end < text.size() && columns < width; ++columns) {
        ++end;
        while (end < text.size() && continues(text[end])) ++end;
    }
    return end;
}

}  // namespace

std::string paint(std::string_view text, Tone tone, const Style& style) {
    if (!style.colour || tone == Tone::Plain || text.empty()) return std::string(text);
    return std::string(sequence(tone)) + std::string(text) + std::string(plain_again);
}

int display_width(std::string_view text) {
    return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

std::vector<std::string> wrap(std::string_view text, int width) {
    width = std::max(width, 8);
    std::vector<std::string> lines;
    while (display_width(text) > width) {
        const std::size_t fits = prefix_bytes(text, width);
        std::size_t cut = text.substr(0, fits + 1).rfind(' ');
        if (cut == std::string_view::npos || cut == 0) cut = fits;
        lines.emplace_back(text.substr(0, cut));
        text.remove_prefix(cut);
        while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    }
    lines.emplace_back(text);
    return lines;
}

void append_paragraph(std::string& out, std::string_view text, int indent, const Style& style) {
    bool first = true;
    for (const std::string& line : wrap(text, style.width - indent)) {
        if (!first) out.append(static_cast<std::size_t>(indent), ' ');
        out += line + '\n';
        first = false;
    }
}

void append_heading(std::string& out, std::string_view text, const Style& style) {
    for (const std::string& line : wrap(text, style.width)) out += paint(line, Tone::Strong, style) + '\n';
}

std::string bar(double share, int width) {
    const double clamped = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0.0;
    const auto parts = static_cast<std::size_t>(std::lround(clamped * width * 8));
    std::string text;
    for (std::size_t i = 0; i < parts / 8; ++i) text += eighths[8];
    return text += eighths[parts % 8];
}

std::string to_ascii(std::string_view text) {
    std::string plain;
    plain.reserve(text.size());
    for (std::size_t i = 0; i < text.size();) {
        const auto* found = std::find_if(ascii_table.begin(), ascii_table.end(),
                                         [&](const auto& row) { return text.substr(i).starts_with(row.first); });
        plain += found == ascii_table.end() ? text[i] : found->second;
        i += found == ascii_table.end() ? 1 : found->first.size();
    }
    return plain;
}

std::string shown(std::string_view text, const Style& style) {
    std::string clean;
    while (style.colour && !text.empty()) {
        const std::size_t escape = text.find('\033');
        clean += printable_lines(text.substr(0, escape));
        text.remove_prefix(std::min(escape, text.size()));
        const std::size_t length = tone_length(text);
        clean += length > 0 ? text.substr(0, length) : std::string_view(text.empty() ? "" : "?");
        text.remove_prefix(std::min(std::max<std::size_t>(length, 1), text.size()));
    }
    clean += printable_lines(text);
    return style.unicode ? clean : to_ascii(clean);
}

namespace {

std::string place(const Problem& problem) {
    if (problem.where.empty()) return "";
    return problem.where + (problem.line > 0 ? ":" + std::to_string(problem.line) : "") + ": ";
}

}  // namespace

std::string problems_text(const Problems& problems, const Style& style) {
    std::string out;
    for (const Problem& problem : problems) {
        out += paint("error:", Tone::Bad, style) + " " + printable(place(problem) + problem.what) + "\n";
        if (!problem.fix.empty()) out += "  fix: " + printable(problem.fix) + "\n";
    }
    return out;
}

std::string warning_text(std::string_view what, const Style& style) {
    return paint("warning:", Tone::Caution, style) + " " + printable(what) + "\n";
}

}  // namespace tilewright::render

// Optimal string alignment distance over short words; the tables are small, so plain rows do.
#include "quantity/suggest.h"

#include <algorithm>

namespace tilewright {
namespace {

constexpr std::size_t longest_word = 64;  ///< longer words resemble nothing

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same(char a, char b) { return lower(a) == lower(b); }

bool starts_with(std::string_view word, std::string_view start) {
    return word.size() >= start.size() && std::equal(start.begin(), start.end(), word.begin(), same);
}

/// One is the start of the other.
bool resembles(std::string_view a, std::string_view b) {
    constexpr std::size_t shortest = 3;
    return a.size() < b.size() ? a.size() >= shortest && starts_with(b, a) : b.size() >= shortest && starts_with(a, b);
}

}  // namespace

int edit_distance(std::string_view a, std::string_view b, int limit) {
    if (a.size() > longest_word || b.size() > longest_word) return limit + 1;
    std::vector<int> two_back, previous(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = static_cast<int>(j);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = static_cast<int>(i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const int replace = previous[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
            row[j] = std::min({replace, previous[j] + 1, row[j - 1] + 1});
            const bool swapped = i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]);
            if (swapped) row[j] = std::min(row[j], two_back[j - 2] + 1);
        }
        two_back = previous;
        std::swap(previous, row);
    }
    return std::min(previous[b.size()], limit + 1);
}

std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates, std::size_t most) {
    const int limit = std::max(1, static_cast<int>(word.size()) / 3);
    std::vector<std::pair<int, std::string>> near;
    for (const std::string& candidate : candidates) {
        int distance = edit_distance(word, candidate, limit);
        if (distance > limit && resembles(word, candidate)) distance = limit;
        if (resembles(word, candidate) && starts_with(candidate, word)) distance = 0;  // typed as far as it was known
        if (distance <= limit) near.emplace_back(distance, candidate);
    }
    std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> out;
    for (std::size_t i = 0; i < near.size() && i < most; ++i) out.push_back(std::move(near[i].second));
    return out;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
    const std::vector<std::string> near = nearest(word, candidates);
    return near.empty() ? std::string() : "did you mean " + join_or(near) + "?";
}

WordFault unknown_word(std::string_view word, const std::vector<std::string>& known) {
    const std::string near = did_you_mean(word, known);
    const std::string all = "use " + join_or(known);
    return {quoted(word) + " is not known", near.empty() ? all : near + " (" + all + ")"};
}

std::string quoted(std::string_view text) {
    constexpr std::size_t longest = 48;
    std::size_t length = std::min(text.size(), longest);
    while (length < text.size() && length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) --length;
    std::string out = "\"";
    for (const char c : text.substr(0, length)) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
    return out + (length < text.size() ? "…\"" : "\"");
}

std::string join_or(const std::vector<std::string>& words) {
    std::string out;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) out += i + 1 == words.size() ? " or " : ", ";
        out += words[i];
    }
    return out;
}

}  // namespace tilewright

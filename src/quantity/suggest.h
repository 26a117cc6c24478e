// How messages show what was seen, and what they suggest instead: the known words nearest to one that is not known.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

/// Edits (insert, delete, replace, swap neighbours) that turn one word into the other, ignoring case; at most `limit`
/// + 1.
int edit_distance(std::string_view a, std::string_view b, int limit);

/// Candidates at most a third of the word away, nearest first, at most `most` of them; also those that it starts or
/// that start it.
std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates,
                                 std::size_t most = 3);

/// "did you mean a, b or c?"; empty when nothing is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

/// What is wrong with a word that is none of those known, and what to do.
struct WordFault {
    std::string what;
    std::string fix;
};
WordFault unknown_word(std::string_view word, const std::vector<std::string>& known);

/// Text as a message shows it: quoted, cut after some fifty bytes, control characters replaced.
std::string quoted(std::string_view text);

/// "a, b, c"
template <class Texts>
std::string joined(const Texts& texts, std::string_view between = ", ") {
    std::string all;
    for (const auto& text : texts) all.append(all.empty() ? std::string_view() : between).append(text);
    return all;
}

/// "a, b or c"
std::string join_or(const std::vector<std::string>& words);

}  // namespace tilewright

// The number that a text is.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace tilewright {

/// Empty where the text is anything else, or has anything else around its number.
template <class T>
std::optional<T> number_in(std::string_view text) {
    T value{};
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, value);
    return error == std::errc() && end == last ? std::optional(value) : std::nullopt;
}

}  // namespace tilewright

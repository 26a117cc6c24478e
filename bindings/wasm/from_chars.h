// Text -> floating point for a libc++ that lacks it (all before version 20). Put before every source of the WebAssembly
// build, so that none of them needs to know.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <system_error>

namespace tilewright::wasm {

/// The end of the longest decimal number that `first` begins with, as std::chars_format::general has it; `first` when
/// there is none. "inf" and "nan" are none: no reader takes them.
inline const char* end_of_number(const char* first, const char* last) {
    const auto digits = [last](const char* at) {
        while (at < last && *at >= '0' && *at <= '9') ++at;
        return at;
    };
    const char* whole = first < last && *first == '-' ? first + 1 : first;
    const char* at = digits(whole);
    auto seen = at - whole;
    if (at < last && *at == '.') {
        const char* end = digits(at + 1);
        seen += end - at - 1;
        at = end;
    }
    if (seen == 0) return first;
    if (at < last && (*at == 'e' || *at == 'E')) {
        const char* power = at + 1 < last && (at[1] == '-' || at[1] == '+') ? at + 2 : at + 1;
        const char* end = digits(power);
        if (end != power) at = end;
    }
    return at;
}

template <class Real>
std::from_chars_result read_number(const char* first, const char* last, Real& value) {
    const char* end = end_of_number(first, last);
    if (end == first) return {first, std::errc::invalid_argument};
    const std::string digits(first, end);
    Real read = 0;
    if constexpr (sizeof(Real) == sizeof(float)) {
        read = std::strtof(digits.c_str(), nullptr);
    } else {
        read = std::strtod(digits.c_str(), nullptr);
    }
    const bool vanished = read == 0 && digits.find_first_of("123456789") < digits.find_first_of("eE");
    if (std::isinf(read) || vanished) return {end, std::errc::result_out_of_range};
    value = read;
    return {end, std::errc{}};
}

}  // namespace tilewright::wasm

namespace std {
inline from_chars_result from_chars(const char* first, const char* last, double& value,
                                    chars_format = chars_format::general) {
    return tilewright::wasm::read_number(first, last, value);
}
inline from_chars_result from_chars(const char* first, const char* last, float& value,
                                    chars_format = chars_format::general) {
    return tilewright::wasm::read_number(first, last, value);
}
}  // namespace std

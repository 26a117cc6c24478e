// Just enough of UTF-8 (RFC 3629): is it, and how is one code point written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tilewright/result.h"

namespace tilewright::read {

/// A problem naming the line of the first byte that is not UTF-8 or is a NUL; empty when all is text.
Problems refuse_not_utf8(std::string_view bytes, const std::string& where);

/// Appends one code point, which is below 0x110000 and no surrogate.
void append_utf8(std::string& out, std::uint32_t code);

}  // namespace tilewright::read

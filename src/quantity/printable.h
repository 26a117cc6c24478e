// What of a text may go to a terminal. Files and their names may hold anything: codes that move the cursor, and marks
// that show a line in another order than it is written in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tilewright {

/// Bytes of the well-formed UTF-8 sequence at the start (table 3-7 of the Unicode standard); 0 when there is none.
std::size_t sequence_length(std::string_view text);

/// The code point of a well-formed sequence.
std::uint32_t code_point(std::string_view sequence);

/// Whether a code point acts on the terminal: C0, DEL, C1, separators of lines, marks and overrides of direction.
bool drives_terminal(std::uint32_t code);

/// Such code points, and bytes that are no UTF-8, replaced by '?'.
std::string printable(std::string_view text);

/// The same of a whole text, whose line ends and tabs stay.
std::string printable_lines(std::string_view text);

}  // namespace tilewright

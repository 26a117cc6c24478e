// Compressed files of samples: gzip (RFC 1952) around deflate (RFC 1951).
#pragma once

#include <string>
#include <string_view>

#include "tilewright/result.h"

namespace tilewright::read {

/// Whether the bytes begin as a gzip file does.
bool is_gzip(std::string_view bytes);

/// What was compressed, up to `limit` bytes. A damaged file is a problem: length and checksum are compared.
Result<std::string> gunzip(std::string_view bytes, const std::string& where, std::size_t limit);

}  // namespace tilewright::read

// Compressed files of samples: gzip (RFC 1952), by zlib.
#pragma once

#include <string>
#include <string_view>

#include "tilewright/result.h"

namespace tilewright::read {

/// Whether the bytes begin as a gzip file does.
bool is_gzip(std::string_view bytes);

/// What was compressed, up to `limit` bytes, of every member (`cat a.gz b.gz` is a file of two). A damaged member, or
/// anything behind the last one, is a problem.
Result<std::string> gunzip(std::string_view bytes, const std::string& where, std::size_t limit);

}  // namespace tilewright::read

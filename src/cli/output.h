// A file that an answer goes to, opened before the work starts, so that a bad path is known at once.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "tilewright/result.h"

namespace tilewright::cli {

using Output = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// Opens the file, or stdout for "-"; null, with errno set, when it cannot.
Output open_output(const std::string& path);

/// Writes and flushes; what went wrong, or nothing.
Problems write_all(const Output& output, std::string_view bytes, const std::string& path);

/// Why, by errno.
Problem cannot_write(const std::string& path);

}  // namespace tilewright::cli

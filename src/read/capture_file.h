// Captured graphs: files of tilewright_capture, schema tilewright.graph/1, compressed or not.
#pragma once

#include <string>
#include <string_view>

#include "read/fields.h"
#include "tilewright/capture.h"
#include "tilewright/read.h"

namespace tilewright::read {

/// Whether a document says that it is a captured graph.
bool is_capture(const Value& root);

/// Whether the bytes, compressed or not, begin as such a file does.
bool looks_like_capture(std::string_view bytes);

Result<Capture> read_capture(std::string_view bytes, const std::string& where);

/// The shape of a captured class and the workload it was recorded in; a problem where the family is not known.
ShapeFile shape_of_capture(const Value& root, Report& report);

}  // namespace tilewright::read

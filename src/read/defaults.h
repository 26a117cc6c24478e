// What stands in for what a file does not say, or says wrongly.
#pragma once

#include <string>

#include "tilewright/shape.h"

namespace tilewright::read {

/// The shape with harmless sizes in place of those that were refused and left at 0, so that `validate` can still check
/// how the others fit together.
Shape with_stand_ins(Shape shape);

/// A name for what was read from `where`: the file's name without folder and ending.
std::string name_from(const std::string& where);

}  // namespace tilewright::read

// Problems and warnings as people read them: where, what, and on the next line what to do.
#pragma once

#include <string>
#include <string_view>

#include "render/style.h"
#include "tilewright/result.h"

namespace tilewright::render {

std::string problems_text(const Problems& problems, const Style& style);  ///< "error: file:line: what" and its fix
std::string warning_text(std::string_view what, const Style& style);      ///< "warning: what"

}  // namespace tilewright::render

// The errors of a fit, as a table.
#pragma once

#include <string>

#include "render/style.h"
#include "tilewright/fit.h"

namespace tilewright::render {

std::string fit_text(const Fit& fit, const Style& style);

}  // namespace tilewright::render

// The answer to "which GPU?".
#pragma once

#include <string>

#include "render/style.h"
#include "tilewright/gpus.h"

namespace tilewright::render {

std::string gpus_text(const GpuComparison& comparison, const Style& style);
std::string gpus_json(const GpuComparison& comparison);

}  // namespace tilewright::render

// What `advise` shows, as text (one screen) and as JSON (schema tilewright.advise/2).
#pragma once

#include <string>
#include <vector>

#include "render/prediction.h"
#include "tilewright/lint.h"
#include "tilewright/search.h"

namespace tilewright::render {

struct Advice {
    Prediction prediction;
    std::vector<Finding> findings;  ///< costliest first
    SearchResult found;
};

std::string advise_text(const Advice& advice, const Style& style);
std::string advise_json(const Advice& advice);

}  // namespace tilewright::render

// What `fit` shows, as text and as JSON (schema tilewright.fit/1), and the errors of a profile in either form.
#pragma once

#include <string>
#include <vector>

#include "render/json.h"
#include "render/style.h"
#include "tilewright/fit.h"

namespace tilewright::render {

/// One fit: what was learnt, for which device, written to which file.
struct LearntProfile {
    Fit fit;
    std::string device;
    std::string output;
};

std::string fit_text(const LearntProfile& learnt, const Style& style);
std::string fit_json(const LearntProfile& learnt);

/// A table of errors, a group a line.
void append_errors(std::string& out, const std::vector<ErrorLine>& lines, const Style& style);

/// The same as a JSON array under `key`.
void write_errors(JsonWriter& json, std::string_view key, const std::vector<ErrorLine>& lines);

}  // namespace tilewright::render

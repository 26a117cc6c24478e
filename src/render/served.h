// The answer of `plan --phase serve` as text, JSON and a picture of its frontier.
#pragma once

#include <string>

#include "render/chart.h"
#include "render/style.h"
#include "tilewright/served.h"

namespace tilewright::render {

std::string served_text(const ServeAnswer& answer, const Style& style);
std::string served_json(const ServeAnswer& answer);

std::string served_html(const ServeAnswer& answer);

/// The load and its limits in words.
std::string served_words(const ServeAnswer& answer);

/// Throughput against time per output token, where no way to serve does better in both.
Chart frontier_chart(const std::vector<FrontierPoint>& frontier);

}  // namespace tilewright::render

// The page docs/accuracy.md and its plots as values: made from judged samples and from what profiles recorded.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/committed_samples.h"
#include "render/chart.h"

namespace tilewright::bench {

/// What profiles say of themselves, by device.
using Recorded = std::map<std::string, Profile>;

struct Page {
    std::string markdown;
    std::map<std::string, render::Chart> plots;  ///< by file name
};

Page accuracy_page(const std::vector<JudgedDevice>& judged, const Recorded& recorded);

/// The plots of one device: predicted against measured and error by size, for each op.
std::map<std::string, render::Chart> plots_of(const JudgedDevice& judged);

/// The mean error of each device beside simple models, products only.
render::Chart overview(const Recorded& recorded);

}  // namespace tilewright::bench

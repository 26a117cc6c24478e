// Points of the closed form, and those among them that nothing beats.
#include "serve/frontier.h"

#include <algorithm>

namespace tilewright::serving {

void add_frontier(const Drawn& layout, const LoadShape& load, StepTable& table, std::vector<FrontierPoint>& points) {
    constexpr std::int64_t most = 1024;
    const Parallelism& parallel = layout.work.parallel;
    const auto groups = static_cast<double>(parallel.dp * parallel.pp);
    std::vector<std::int64_t> sizes;
    for (std::int64_t batch = 1; batch <= std::min(layout.fit, most); batch *= 2) sizes.push_back(batch);
    if (layout.fit < most && sizes.back() != layout.fit) sizes.push_back(layout.fit);
    for (const std::int64_t batch : sizes) {
        const SteadyState state = steady_state(load, batch, {most, layout.chunk}, table);
        points.push_back({parallel, state.batch * static_cast<double>(parallel.pp),
                          state.output_tok_s * groups / static_cast<double>(layout.gpus), state.tpot, state.ttft});
    }
}

void trim_frontier(std::vector<FrontierPoint>& points) {
    std::sort(points.begin(), points.end(), [](const FrontierPoint& a, const FrontierPoint& b) {
        return a.tpot != b.tpot ? a.tpot < b.tpot : a.output_tok_s_gpu > b.output_tok_s_gpu;
    });
    constexpr double more = 1.01;  // throughput that is worth a point
    std::vector<FrontierPoint> kept;
    for (const FrontierPoint& point : points) {
        if (kept.empty() || point.output_tok_s_gpu > kept.back().output_tok_s_gpu * more) kept.push_back(point);
    }
    points = std::move(kept);
}

}  // namespace tilewright::serving

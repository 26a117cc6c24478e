// Every picture of a report, each twice: for a page and for a telephone.
#include <fmt/format.h>

#include "render/report.h"

namespace tilewright::render {
namespace {

constexpr double page_width = 720.0;
constexpr double telephone_width = 358.0;  ///< a telephone of 390 CSS pixels less the page's margins

Picture draw(std::string name, std::string caption, const Chart& chart) {
    const auto rows = static_cast<double>(chart.y.categories.size());
    const ChartSize large{page_width, rows > 0 ? 130.0 + 44.0 * rows : 400.0};
    const ChartSize small{telephone_width, rows > 0 ? 190.0 + 62.0 * rows : 340.0};
    return {std::move(name), std::move(caption), svg(chart, large), svg(chart, small)};
}

Picture tile_picture(const TileMap& map) {
    return {"tiles", tile_caption(map), tile_svg(map, page_width), tile_svg(map, telephone_width)};
}

Picture sweep_picture(const Sweep& sweep) {
    const std::string_view words = sweep.step == 1  ? "Every whole value is priced."
                                   : sweep.step > 1 ? "Further out: the teeth are tiles and waves filling up."
                                                    : "Every value that divides is priced.";
    return draw(sweep.name, fmt::format("{} The dotted line is the shape as it is.", words), sweep_chart(sweep));
}

Picture serving_picture(const Serving& serving) {
    return draw("serving",
                "Along a line more requests are answered at once; the numbers say how many. It ends where their KV "
                "caches fill the memory. From where computing takes over, products no longer wait for the weights to "
                "be read, and more requests at once only wait longer.",
                serving_chart(serving));
}

Picture roofline_picture(const Roofline& roofline, const std::string& device) {
    return draw(
        "roofline",
        "A kernel on the roof is as fast as the chip can be. Kernels that only move data count one operation an "
        "element, so that they have a place; collectives have none.",
        roofline_chart(roofline, device));
}

}  // namespace

Picture time_picture(const Comparison& comparison) {
    return draw(
        "time",
        "Kernels run one after another; a bar is their time in a step, without what the GPU waits for the host.",
        time_chart(comparison));
}

std::vector<std::string> fixed_pictures() { return {"time", "front", "front-kv", "serving", "tiles", "roofline"}; }

std::vector<Picture> pictures(const Report& report) {
    std::vector<Picture> all = {time_picture(report.alternatives)};
    if (report.alternatives.shapes.size() > 1) {
        all.front().caption +=
            " Beside the shape as it is: the best of equal size that turn one knob, two, or any number.";
    }
    const SearchResult& found = report.advice.found;
    const std::string_view better =
        found.objective == Objective::Loss ? "reaches the baseline's loss sooner" : "is faster";
    if (!found.parameter_front.empty()) {
        all.push_back(draw("front", fmt::format("No shape found {} with a smaller change of its size.", better),
                           front_chart(found, Against::Parameters)));
    }
    if (found.kv_front.size() > 1) {
        all.push_back(draw("front-kv", fmt::format("No shape found {} with a smaller KV cache.", better),
                           front_chart(found, Against::KvCache)));
    }
    if (!report.serving.points.empty()) all.push_back(serving_picture(report.serving));
    for (const Sweep& sweep : report.sweeps) all.push_back(sweep_picture(sweep));
    if (report.tiles) all.push_back(tile_picture(*report.tiles));
    all.push_back(roofline_picture(report.roofline, report.advice.prediction.device.name));
    return all;
}

}  // namespace tilewright::render

// The page of `compare --report`: bars and a table of every component, side by side.
#include <fmt/format.h>

#include "render/compare.h"
#include "render/evidence_html.h"
#include "render/page.h"
#include "render/report_charts.h"
#include "render/svg.h"
#include "render/units.h"
#include "tilewright/device_names.h"

namespace tilewright::render {
namespace {

using Row = std::vector<std::string>;

template <class TextOf>
Row row(std::string name, const std::vector<Prediction>& predictions, TextOf text_of) {
    Row cells = {std::move(name)};
    for (const Prediction& prediction : predictions) cells.push_back(text_of(prediction));
    return cells;
}

std::string table(const std::vector<Prediction>& predictions) {
    std::vector<HtmlColumn> columns = {{""}};
    for (const Prediction& prediction : predictions) columns.push_back({prediction.shape.name, Align::Right});
    const Seconds base = predictions.front().step.sum.time;
    std::vector<Row> rows;
    for (const Component component : components_of(predictions)) {
        rows.push_back(row(std::string(name_of(component)), predictions, [&](const Prediction& p) {
            const Seconds time = component_time(p, component);
            return time.value > 0 ? time_text(time) : std::string("-");
        }));
    }
    rows.push_back(row("step", predictions, [](const Prediction& p) { return time_text(p.step.sum.time); }));
    rows.push_back(row("90% interval", predictions,
                       [](const Prediction& p) { return interval_text(p.step.sum.low, p.step.sum.high); }));
    rows.push_back(
        row("speed", predictions, [&](const Prediction& p) { return speedup_text(base / p.step.sum.time); }));
    rows.push_back(row(throughput_unit(predictions.front().workload), predictions,
                       [](const Prediction& p) { return grouped_text(tokens_per_second(p)); }));
    rows.push_back(row("MFU", predictions, [](const Prediction& p) { return percent_text(p.mfu); }));
    rows.push_back(row("parameters", predictions,
                       [](const Prediction& p) { return count_text(static_cast<double>(p.params.total)); }));
    rows.push_back(row("memory", predictions, [](const Prediction& p) {
        return bytes_text(p.memory.total) + (fits(p) ? "" : " (too much)");
    }));
    return html_table(columns, rows);
}

}  // namespace

std::string comparison_html(const std::vector<Prediction>& predictions) {
    const Prediction& base = predictions.front();
    const Picture bars = time_picture(predictions);
    return element("h1", fmt::format("{} shapes on {}", predictions.size(), base.device.name)) +
           fmt::format("<p class=\"sub\">{} · {}</p>\n<p class=\"verdict\">{}</p>\n", escape(base.device.full_name),
                       escape(workload_text(base.workload)), escape(fastest_text(predictions))) +
           section("Where the time goes", figure(bars.wide, bars.narrow, bars.caption) + table(predictions));
}

std::string compare_html(const std::vector<Prediction>& predictions) {
    std::string names;
    for (const Prediction& prediction : predictions) names += " " + prediction.shape.name;
    const std::string& device = predictions.front().device.name;
    return page(fmt::format("{} shapes on {}", predictions.size(), device), fastest_text(predictions),
                comparison_html(predictions) + section("What the numbers rest on", evidence_html(predictions.front())) +
                    made_by(fmt::format("tilewright compare{} --gpu {}", names, device)));
}

}  // namespace tilewright::render

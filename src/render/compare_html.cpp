// The page of `compare --report`: bars and a table of every component, side by side.
#include <fmt/format.h>

#include "render/page.h"
#include "render/report.h"
#include "render/svg.h"
#include "render/units.h"
#include "render/words.h"
#include "tilewright/profile.h"

namespace tilewright::render {
namespace {

using Row = std::vector<std::string>;

template <class TextOf>
Row row(std::string name, const std::vector<Prediction>& predictions, TextOf text_of) {
    Row cells = {std::move(name)};
    for (const Prediction& prediction : predictions) cells.push_back(text_of(prediction));
    return cells;
}

Row losses(const Comparison& comparison) {
    Row cells = {"expected loss", "-"};
    for (std::size_t i = 1; i < comparison.learning.size(); ++i) {
        const std::optional<Learning>& learning = comparison.learning[i];
        cells.push_back(learning ? loss_short_text(learning->loss) : "-");
    }
    return cells;
}

std::string table(const Comparison& comparison) {
    const std::vector<Prediction>& predictions = comparison.shapes;
    std::vector<HtmlColumn> columns = {{""}};
    for (const Prediction& prediction : predictions) columns.push_back({prediction.shape.name, Align::Right});
    std::vector<Row> rows;
    for (const Component component : comparison.components) {
        rows.push_back(row(std::string(name_of(component)), predictions, [&](const Prediction& p) {
            const Seconds time = p.time_of(component);
            return time.value > 0 ? time_text(time) : std::string("-");
        }));
    }
    rows.push_back(row("step", predictions, [](const Prediction& p) { return time_text(p.time); }));
    rows.push_back(row("90% interval", predictions, [](const Prediction& p) { return interval_text(p.low, p.high); }));
    rows.push_back(
        row("speed", predictions, [&](const Prediction& p) { return speedup_text(comparison.base() / p.time); }));
    rows.push_back(row(throughput_unit(predictions.front().workload), predictions,
                       [](const Prediction& p) { return grouped_text(p.tokens_per_s); }));
    rows.push_back(row("MFU", predictions, [](const Prediction& p) { return percent_text(p.mfu); }));
    rows.push_back(row("parameters", predictions,
                       [](const Prediction& p) { return count_text(static_cast<double>(p.params.total)); }));
    rows.push_back(row("memory", predictions,
                       [](const Prediction& p) { return bytes_text(p.memory.total) + (p.fits ? "" : " (too much)"); }));
    if (!learning_text(comparison).empty()) rows.push_back(losses(comparison));
    return html_table(columns, rows);
}

}  // namespace

std::string comparison_html(const Comparison& comparison) {
    const Prediction& base = comparison.shapes.front();
    const Picture bars = time_picture(comparison);
    return element("h1", fmt::format("{} shapes on {}", comparison.shapes.size(), base.device.name)) +
           fmt::format("<p class=\"sub\">{} · {}</p>\n<p class=\"verdict\">{}</p>\n", escape(base.device.full_name),
                       escape(workload_text(base.workload)), escape(fastest_text(comparison))) +
           section("Where the time goes", figure(bars.wide, bars.narrow, bars.caption) + table(comparison) +
                                              element("p", learning_text(comparison)));
}

std::string compare_html(const Comparison& comparison) {
    std::string names;
    for (const Prediction& prediction : comparison.shapes) names += " " + prediction.shape.name;
    const std::string& device = comparison.shapes.front().device.name;
    return page(fmt::format("{} shapes on {}", comparison.shapes.size(), device), fastest_text(comparison),
                comparison_html(comparison) +
                    section("What the numbers rest on", evidence_html(comparison.shapes.front())) +
                    made_by(fmt::format("tilewright compare{} --gpu {}", names, device)));
}

}  // namespace tilewright::render

// The text of `compare`: a column of times per shape, with its speed-up over the first; wide sets come in blocks.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>

#include "render/answers.h"
#include "render/table.h"
#include "render/units.h"
#include "render/words.h"
#include "tilewright/profile.h"

namespace tilewright::render {
namespace {

std::string shown(Seconds time) { return time.value == 0.0 ? "-" : time_text(time); }

std::string ratio(Seconds base, Seconds time) {
    if (base.value == 0.0 || time.value == 0.0) return "-";
    return speedup_text(base / time);
}

Cell ratio_cell(Seconds base, Seconds time) {
    const double factor = time.value > 0 ? base / time : 1.0;
    return {ratio(base, time), factor >= 1.005 ? Tone::Good : factor <= 0.995 ? Tone::Bad : Tone::Dim};
}

using TimeOf = std::function<Seconds(const Prediction&)>;
using TextOf = std::function<std::string(const Prediction&)>;

/// One table: the baseline and some of the others.
class Block {
public:
    Block(const Comparison& comparison, std::size_t from, std::size_t many)
        : comparison_(comparison),
          base_(comparison.shapes.front()),
          others_(std::span(comparison.shapes).subspan(from, many)),
          learning_(std::span(comparison.learning).subspan(from, many)) {}

    Table table() const {
        std::vector<Column> columns = {{""}, {base_.shape.name, Align::Right}};
        for (const Prediction& other : others_) {
            columns.push_back({title_of(other), Align::Right});
            columns.push_back({"", Align::Right});
        }
        Table table(columns);
        for (const Component component : comparison_.components) {
            table.row(times(std::string(name_of(component)),
                            [component](const Prediction& p) { return p.time_of(component); }));
        }
        table.row(times({"step", Tone::Strong}, [](const Prediction& p) { return p.time; }));
        table.row(texts("90% interval", [](const Prediction& p) { return interval_text(p.low, p.high); }));
        table.row(times("layer", [](const Prediction& p) { return p.layer.sum.time; }));
        table.row(texts("tokens/s", [](const Prediction& p) { return grouped_text(p.tokens_per_s); }));
        table.row(texts("MFU", [](const Prediction& p) { return percent_text(p.mfu); }));
        table.row(
            texts("parameters", [](const Prediction& p) { return count_text(static_cast<double>(p.params.total)); }));
        table.row(texts(
            "memory", [](const Prediction& p) { return bytes_text(p.memory.total) + (p.fits ? "" : " (too much)"); }));
        if (!learning_text(comparison_).empty()) table.row(losses());
        return table;
    }

private:
    /// Many flags after the baseline's name, which the reader has just typed, would make the column too wide.
    std::string title_of(const Prediction& other) const {
        constexpr std::size_t most = 32;
        const std::string& name = other.shape.name;
        return name.size() > most && name.starts_with(base_.shape.name + " --") ? "changed" : name;
    }
    std::vector<Cell> times(Cell name, const TimeOf& time_of) const {
        const Seconds base = time_of(base_);
        std::vector<Cell> row = {std::move(name), shown(base)};
        for (const Prediction& other : others_) {
            row.emplace_back(shown(time_of(other)));
            row.push_back(ratio_cell(base, time_of(other)));
        }
        return row;
    }
    std::vector<Cell> texts(const char* name, const TextOf& text_of) const {
        std::vector<Cell> row = {name, text_of(base_)};
        for (const Prediction& other : others_) {
            row.emplace_back(text_of(other));
            row.emplace_back("");
        }
        return row;
    }

    /// The loss to expect, and beside it how much sooner the baseline's is reached.
    std::vector<Cell> losses() const {
        std::vector<Cell> row = {"expected loss", "-"};
        for (const std::optional<Learning>& learning : learning_) {
            row.emplace_back(learning ? loss_short_text(learning->loss) : "-");
            row.emplace_back(learning ? speedup_text(learning->to_loss) : "-");
        }
        return row;
    }

    const Comparison& comparison_;
    const Prediction& base_;
    std::span<const Prediction> others_;
    std::span<const std::optional<Learning>> learning_;
};

}  // namespace

std::string compare_text(const Comparison& comparison, const Style& style) {
    const std::vector<Prediction>& shapes = comparison.shapes;
    const Prediction& base = shapes.front();
    std::string out = fmt::format("On {} ({})\n", paint(base.device.name, Tone::Strong, style), base.device.full_name);
    append_paragraph(out, workload_text(base.workload), 2, style);
    const std::size_t room = style.width >= 100 ? 3 : 2;
    for (std::size_t from = 1; from < shapes.size(); from += room) {
        out += "\n";
        Block(comparison, from, std::min(room, shapes.size() - from)).table().append_to(out, style);
    }
    out += "\n";
    append_paragraph(out, fastest_text(comparison), 2, style);
    if (const std::string text = learning_text(comparison); !text.empty()) append_paragraph(out, text, 2, style);
    append_evidence(out, base, style);
    return out;
}

}  // namespace tilewright::render

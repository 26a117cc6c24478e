// One row a GPU; what does not hold the model comes last and says so.

#include <fmt/format.h>

#include <algorithm>

#include "render/answers.h"
#include "render/json.h"
#include "render/table.h"
#include "render/units.h"
#include "render/values_json.h"
#include "render/words.h"

namespace tilewright::render {
namespace {

std::string energy_text(double joules) { return fmt::format("{:.3g} mJ", joules * 1e3); }

std::string price_text(const GpuChoice& choice, const std::string& currency) {
    if (!choice.price_per_million_tokens) return "-";
    return fmt::format("{:.3g}{}", *choice.price_per_million_tokens, currency.empty() ? "" : " " + currency);
}

}  // namespace

std::string gpus_text(const GpuComparison& comparison, const Style& style) {
    const Prediction& first = comparison.gpus.front().prediction;
    std::string out =
        paint(first.shape.name, Tone::Strong, style) + fmt::format(" on {} GPUs\n", comparison.gpus.size());
    append_paragraph(out, workload_text(first.workload), 2, style);
    const bool priced = std::any_of(comparison.gpus.begin(), comparison.gpus.end(),
                                    [](const GpuChoice& choice) { return choice.price_per_hour.has_value(); });
    std::vector<Column> columns = {{"GPU"},
                                   {"step", Align::Right},
                                   {"90% interval", Align::Right},
                                   {"tokens/s", Align::Right},
                                   {"MFU", Align::Right},
                                   {"memory", Align::Right},
                                   {"fits"},
                                   {"energy/token", Align::Right},
                                   {"evidence"}};
    if (priced) columns.insert(columns.end() - 1, {"price/M tokens", Align::Right});
    Table table(columns);
    for (const GpuChoice& choice : comparison.gpus) {
        const Prediction& p = choice.prediction;
        std::vector<Cell> cells = {p.device.name,
                                   time_text(p.time),
                                   interval_text(p.low, p.high),
                                   grouped_text(p.tokens_per_s),
                                   percent_text(p.mfu),
                                   bytes_text(p.memory.total),
                                   p.fits ? Cell{"yes", Tone::Good} : Cell{"no", Tone::Bad},
                                   energy_text(choice.energy_j_per_token)};
        if (priced) cells.push_back(price_text(choice, comparison.currency));
        cells.push_back(std::string(name_of(choice.energy_evidence)));
        table.row(cells);
    }
    table.append_to(out += "\n", style);
    append_paragraph(out += "\n",
                     "Energy is of the GPUs alone: idle power through the step, and what kernels draw above it. "
                     "Evidence is that of times and of the power model.",
                     0, style);
    return out;
}

std::string gpus_json(const GpuComparison& comparison) {
    const Prediction& first = comparison.gpus.front().prediction;
    JsonWriter json;
    json.object().field("schema", "tilewright.compare-gpus/1").field("shape", first.shape.name);
    json.field("currency", comparison.currency).key("gpus").array();
    for (const GpuChoice& choice : comparison.gpus) {
        const Prediction& p = choice.prediction;
        json.object().field("device", p.device.name).field("time_s", p.time.value).field("low_s", p.low.value);
        json.field("high_s", p.high.value)
            .field("tokens_per_s", p.tokens_per_s)
            .field("mfu", p.mfu)
            .field("fits", p.fits);
        json.field("memory_bytes", p.memory.total.value).field("energy_j_per_token", choice.energy_j_per_token);
        json.field("energy_evidence", name_of(choice.energy_evidence));
        const auto optional = [&](const char* key, const std::optional<double>& value) {
            json.key(key);
            value ? json.value(*value) : json.null();
        };
        optional("price_per_hour", choice.price_per_hour);
        optional("price_per_million_tokens", choice.price_per_million_tokens);
        json.end();
    }
    json.end();
    return json.end().take();
}

}  // namespace tilewright::render

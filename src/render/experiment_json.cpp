// The JSON of `reproduce`; a value that is not known is left out.
#include "render/experiment.h"
#include "render/json.h"
#include "tilewright/profile.h"

namespace tilewright::render {
namespace {

void write_head(JsonWriter& json, const Experiment& experiment) {
    json.field("name", experiment.name).field("title", experiment.title).field("figure", experiment.figure);
    json.field("claim", experiment.claim).field("source", experiment.source);
}

void write_judgement(JsonWriter& json, std::string_view key, const Judgement& judgement) {
    if (judgement.verdict == Verdict::Unknown) return;
    json.key(key).object().field("verdict", name_of(judgement.verdict)).field("why", judgement.why).end();
}

void write_figure(JsonWriter& json, std::string_view key, const Figure& figure) {
    json.key(key).array();
    for (const FigureCell& cell : figure.cells) {
        json.object().field("x", cell.x);
        if (!cell.series.empty()) json.field("series", cell.series);
        json.field("y", cell.y);
        if (cell.low != cell.high) json.field("low", cell.low).field("high", cell.high);
        json.end();
    }
    json.end();
}

void write_agreement(JsonWriter& json, std::string_view key, const Agreement& agreement) {
    if (agreement.values == 0) return;
    json.key(key).object().field("values", agreement.values).field("mean_error", agreement.mean_error);
    json.field("values_not_compared", agreement.apart).end();
}

}  // namespace

std::string experiments_json(const std::vector<Experiment>& experiments) {
    JsonWriter json;
    json.object().field("schema", "tilewright.experiments/1").key("experiments").array();
    for (const Experiment& experiment : experiments) {
        json.object();
        write_head(json, experiment);
        json.end();
    }
    return json.end().end().take();
}

std::string outcome_json(const Outcome& outcome) {
    const Experiment& experiment = outcome.experiment;
    JsonWriter json;
    json.object().field("schema", "tilewright.reproduce/1");
    write_head(json, experiment);
    json.field("device", outcome.device).field("precision", name_of(outcome.precision));
    json.field("clock", name_of(outcome.clock)).field("evidence", name_of(outcome.evidence));
    json.field("x", experiment.x_label).field("series", experiment.series_label);
    json.field("y", name_of(experiment.measure)).field("claim_is_about_means", experiment.means);
    write_judgement(json, "by_prediction", outcome.by_prediction);
    write_judgement(json, "by_measurement", outcome.by_measurement);
    write_judgement(json, "by_publication", outcome.by_publication);
    write_agreement(json, "predicted_against_published", outcome.with_published);
    write_agreement(json, "predicted_against_measured", outcome.with_measured);
    json.field("published_device", outcome.published_device);
    write_figure(json, "published", outcome.published);
    write_figure(json, "predicted", outcome.predicted);
    write_figure(json, "measured", outcome.measured);
    return json.end().take();
}

}  // namespace tilewright::render

// The JSON of `fit`.
#include "render/fit.h"

namespace tilewright::render {

void write_errors(JsonWriter& json, std::string_view key, const std::vector<ErrorLine>& lines) {
    json.key(key).array();
    for (const ErrorLine& line : lines) {
        json.object().field("op", line.op).field("by", line.by).field("group", line.group);
        json.field("points", line.points).field("mean", line.mean).field("median", line.median);
        json.field("p95", line.p95).field("inside", line.inside).field("mean_sheet", line.sheet);
        json.field("mean_constant", line.constant).field("mean_roofline", line.roofline).end();
    }
    json.end();
}

std::string fit_json(const LearntProfile& learnt) {
    JsonWriter json;
    json.object().field("schema", "tilewright.fit/1").field("device", learnt.device);
    json.field("output", learnt.output).field("source", learnt.fit.profile.source);
    write_errors(json, "held_out_errors", learnt.fit.profile.errors);
    write_errors(json, "fitted_errors", learnt.fit.fitted_errors);
    return json.end().take();
}

}  // namespace tilewright::render

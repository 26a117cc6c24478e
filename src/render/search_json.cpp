// The JSON of `search`.
#include "render/search.h"
#include "render/values_json.h"
#include "tilewright/device_names.h"

namespace tilewright::render {

void write_candidates(JsonWriter& json, const SearchResult& found) {
    json.field("shapes_in_space", found.shapes_in_space).field("shapes_priced", found.shapes_priced);
    json.key("candidates").array();
    for (const Candidate& candidate : found.candidates) {
        json.object().field("time_s", candidate.time.value).field("speedup", candidate.speedup);
        json.field("speedup_low", candidate.low).field("speedup_high", candidate.high);
        json.field("params", candidate.params).field("parameter_change", candidate.parameter_change);
        write_texts(json, "changed", candidate.changed);
        json.key("shape").object();
        for (const Dimension& dimension : dimensions()) json.field(dimension.name, candidate.shape.*dimension.field);
        json.end().end();
    }
    json.end();
}

std::string search_json(const Prediction& baseline, const SearchResult& found) {
    JsonWriter json;
    json.object().field("schema", "tilewright.search/1").field("device", baseline.device.name);
    json.key("workload").object();
    write_workload(json, baseline.workload);
    json.end();
    json.key("baseline").object();
    write_summary(json, baseline);
    json.end();
    write_candidates(json, found);
    write_texts(json, "used", baseline.used);
    return json.end().take();
}

}  // namespace tilewright::render

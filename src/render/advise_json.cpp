// The JSON of `advise`: the summary of the baseline, findings, candidates, recommendation.
#include "render/advise.h"
#include "render/lint.h"
#include "render/search.h"
#include "render/values_json.h"

namespace tilewright::render {

std::string advise_json(const Advice& advice) {
    const Prediction& prediction = advice.prediction;
    JsonWriter json;
    json.object().field("schema", "tilewright.advise/2");
    json.key("device").object();
    write_device(json, prediction.device);
    json.end();
    json.key("workload").object();
    write_workload(json, prediction.workload);
    json.end();
    write_summary(json, prediction);
    write_findings(json, advice.findings);
    write_candidates(json, advice.found);
    json.field("recommendation", to_ascii(recommendation(advice.found)));
    write_texts(json, "used", prediction.used);
    return json.end().take();
}

}  // namespace tilewright::render

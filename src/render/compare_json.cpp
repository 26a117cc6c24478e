// The JSON of `compare`: the summary of each shape, with its speed-up over the first.
#include "render/compare.h"
#include "render/values_json.h"

namespace tilewright::render {

std::string compare_json(const std::vector<Prediction>& predictions) {
    const Prediction& base = predictions.front();
    JsonWriter json;
    json.object().field("schema", "tilewright.compare/1");
    json.key("device").object();
    write_device(json, base.device);
    json.end();
    json.key("workload").object();
    write_workload(json, base.workload);
    json.end();
    json.key("shapes").array();
    for (const Prediction& prediction : predictions) {
        json.object().field("speedup", base.step.sum.time / prediction.step.sum.time);
        write_summary(json, prediction);
        json.end();
    }
    json.end();
    write_texts(json, "used", base.used);
    return json.end().take();
}

}  // namespace tilewright::render

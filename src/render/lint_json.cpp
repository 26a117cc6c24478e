// The JSON of `lint`.
#include "render/lint.h"
#include "render/values_json.h"
#include "tilewright/device_names.h"

namespace tilewright::render {

void write_findings(JsonWriter& json, const std::vector<Finding>& findings) {
    json.key("findings").array();
    for (const Finding& finding : findings) {
        json.object().field("code", finding.code).field("rule", finding.rule);
        json.field("severity", name_of(finding.severity)).field("quantity", finding.quantity);
        json.field("cost_s", finding.cost.value).field("share", finding.share);
        write_texts(json, "kernels", finding.kernels);
        json.key("fixes").array();
        for (const Fix& fix : finding.fixes) {
            json.object().field("dimension", fix.dimension).field("from", fix.from).field("to", fix.to);
            json.field("gain_s", fix.gain.value).field("removes_s", fix.removes.value);
            json.field("parameter_change", fix.parameter_change).end();
        }
        json.end().end();
    }
    json.end();
}

std::string lint_json(const LintReport& report) {
    JsonWriter json;
    json.object().field("schema", "tilewright.lint/1").field("shape", report.shape.name);
    json.field("device", report.device.name).field("evidence", name_of(report.evidence));
    json.field("min_cost", report.min_cost);
    if (report.step) {
        json.field("time_s", report.step->time.value).field("low_s", report.step->low.value);
        json.field("high_s", report.step->high.value);
    }
    json.key("workload").object();
    write_workload(json, report.workload);
    json.end();
    write_findings(json, report.findings);
    write_texts(json, "used", report.used);
    return json.end().take();
}

}  // namespace tilewright::render

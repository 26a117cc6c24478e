// The JSON of `plan`, training and serving.
#include "render/plan.h"
#include "render/values_json.h"
#include "tilewright/cost_names.h"
#include "tilewright/device_names.h"
#include "tilewright/plan_names.h"

namespace tilewright::render {
namespace {

void write_plan(JsonWriter& json, const Plan& plan) {
    const std::int64_t global = plan.workload.batch * plan.workload.micro_batches * plan.workload.parallel.dp;
    json.object();
    json.key("workload").object();
    write_workload(json, plan.workload);
    json.end();
    write_step(json, plan.step);
    write_texts(json, "megatron_flags", megatron_flags(plan.workload, global));
    write_texts(json, "torchtitan_flags", torchtitan_flags(plan.workload, global));
    json.end();
}

void write_budget(JsonWriter& json, const PlanAnswer& answer) {
    const TrainingBudget& budget = answer.budget;
    json.key("budget").object().field("tokens", budget.tokens).field("steps", budget.steps);
    json.field("days", budget.days).field("gpu_hours", budget.gpu_hours).field("energy_kwh", budget.energy_kwh);
    if (answer.price) json.field("money", *answer.price * budget.gpu_hours);
    json.end();
}

}  // namespace

void write_step(JsonWriter& json, const Step& step) {
    json.field("step_s", step.time.value).field("low_s", step.low.value).field("high_s", step.high.value);
    json.field("evidence", name_of(step.evidence)).field("tokens_per_step", step.tokens);
    json.field("flops", step.flops.value).field("mfu", step.utilization).field("energy_j", step.energy_j);
    json.field("memory_bytes", step.memory.total.value).field("fits", step.fits);
    json.key("step_terms").object();
    for (const auto& [name, term] : names<StepTerm>) {
        json.key(name).object().field("exposed_s", step.term(term).exposed.value);
        json.field("hidden_s", step.term(term).hidden.value).end();
    }
    json.end();
}

std::string plan_json(const PlanAnswer& answer) {
    JsonWriter json;
    json.object().field("schema", "tilewright.plan/1").field("device", answer.device.name);
    json.field("cluster", answer.cluster).field("gpus", answer.gpus).field("plans_priced", answer.found.priced);
    json.field("plans_too_large", answer.found.too_large).field("pieces_priced", answer.found.pieces);
    json.key("plans").array();
    for (const Plan& plan : answer.found.plans) write_plan(json, plan);
    json.end();
    if (!answer.found.plans.empty()) write_budget(json, answer);
    return json.end().take();
}

std::string serving_json(const Shape& shape, const Device& device, const Serving& serving) {
    JsonWriter json;
    json.object().field("schema", "tilewright.serving/1").field("shape", shape.name).field("device", device.name);
    write_serving(json, serving);
    return json.end().take();
}

void write_serving(JsonWriter& json, const Serving& serving) {
    json.key("limits").array();
    for (const Serving::Limit& limit : serving.limits) {
        json.object().field("tp", limit.tp).field("cached_tokens", limit.cached_tokens);
        json.field("full_batch", limit.full_batch).field("compute_batch", limit.compute_batch).end();
    }
    json.end();
    json.key("points").array();
    for (const ServingPoint& point : serving.points) {
        json.object().field("tp", point.tp).field("batch", point.batch).field("context", point.context);
        json.field("first_token_s", point.first_token.value).field("output_token_s", point.output_token.value);
        json.field("tokens_per_s_per_gpu", point.tokens_per_s_per_gpu).field("bound", name_of(point.bound));
        json.field("memory_bytes", point.memory.total.value).end();
    }
    json.end();
}

}  // namespace tilewright::render

// JSON of a load served. Every key carries its unit; times are seconds.
#include <cmath>

#include "render/answers.h"
#include "render/json.h"
#include "render/values_json.h"

namespace tilewright::render {
namespace {

void write_quantiles(JsonWriter& json, std::string_view name, const Quantiles& of) {
    json.key(name).object().field("p50", of.p50).field("p95", of.p95).field("p99", of.p99).field("mean", of.mean);
    json.field("limit_percentile", of.asked).end();
}

void write_split(JsonWriter& json, const Parallelism& parallel) {
    json.field("tp", parallel.tp).field("pp", parallel.pp).field("dp", parallel.dp).field("ep", parallel.ep);
}

struct NamedStep {
    std::string_view name;
    const EngineStep& step;
    Seconds time;
    const std::string& flags;  ///< of `predict`
};

void write_step(JsonWriter& json, const NamedStep& of) {
    const EngineStep& step = of.step;
    json.key(of.name).object().field("sequences", step.sequences).field("context_tokens", step.context);
    json.field("prompts", step.prompts).field("prompt_tokens", step.prompt_tokens);
    json.field("prompt_cached_tokens", step.prompt_cached).field("time_s", of.time.value);
    json.field("predict", of.flags).end();
}

void write_plan(JsonWriter& json, const ServePlan& plan, const ServeAnswer& answer) {
    const Served& served = plan.served;
    json.object();
    write_split(json, plan.layout.parallel);
    json.field("gpus", plan.gpus).field("prefill_gpus", plan.prefill_gpus).field("prefill_tp", plan.prefill_tp);
    json.field("max_batch", plan.limits.max_batch).field("chunk", plan.limits.chunk);
    json.field("within_limits", plan.within).field("output_tok_s", served.output_tok_s);
    json.field("output_tok_s_gpu", served.output_tok_s / static_cast<double>(plan.gpus));
    json.field("output_tok_s_low", served.output_tok_s / served.high);
    json.field("output_tok_s_high", served.output_tok_s / served.low);
    json.field("input_tok_s", served.input_tok_s);
    write_quantiles(json, "ttft_s", served.ttft_s);
    write_quantiles(json, "tpot_s", served.tpot_s);
    json.field("requests", served.requests).field("requests_in_flight", served.in_flight);
    json.field("largest_batch", served.peak_batch).field("steps", served.steps);
    json.field("makespan_s", served.makespan.value);
    json.field("gpu_s_per_output_token", plan.gpu_s_per_output_token);
    json.field("energy_j_per_output_token", plan.energy_j_per_output_token);
    if (answer.hour_price) {
        const TokenPrices prices = token_prices(plan, *answer.hour_price);
        json.field("price_per_million_input_tokens", prices.input);
        json.field("price_per_million_output_tokens", prices.output);
    }
    json.field("cache_tokens", plan.cache_tokens);
    write_memory(json, plan.memory, answer.device);
    const StepFlags flags = step_flags(plan, answer);
    write_step(json, {"decode_step", served.decode_step, plan.decode_time, flags.decode});
    write_step(json, {"chunk_step", served.chunk_step, plan.chunk_time, flags.chunk});
    json.field("evidence", name_of(plan.evidence)).end();
}

void write_least(JsonWriter& json, std::string_view name, const std::optional<Unmet>& least) {
    if (!least) return;
    json.key(name).object().field("time_s", least->time.value);
    write_split(json, least->parallel);
    json.end();
}

}  // namespace

std::string served_json(const ServeAnswer& answer) {
    const LoadShape& load = answer.load;
    const ServeResult& found = answer.found;
    JsonWriter json;
    json.object().field("schema", "tilewright.serve/1").field("shape", answer.shape.name);
    json.field("device", answer.device.name).field("cluster", answer.cluster);
    json.field("runtime", name_of(answer.base.runtime));
    write_formats(json, answer.base);
    json.key("load").object();
    if (answer.recorded > 0) {
        json.field("recorded_requests", answer.recorded);
    } else {
        json.key("rate_per_s");
        std::isinf(load.rate) ? json.null() : json.value(load.rate);
        json.field("isl", load.isl).field("osl", load.osl).field("prefix_hits", load.prefix_hits);
        json.field("duration_s", load.duration.value).field("seed", static_cast<std::int64_t>(load.seed));
    }
    json.end().key("limits").object().field("percentile", answer.limits.percentile);
    if (answer.limits.ttft) json.field("ttft_s", answer.limits.ttft->value);
    if (answer.limits.tpot) json.field("tpot_s", answer.limits.tpot->value);
    json.end().field("layouts", found.layouts).field("layouts_too_large", found.too_large);
    json.field("layouts_pruned", found.pruned).field("plans_simulated", found.simulated);
    json.field("best_rate_per_s", found.best_rate);
    write_least(json, "least_ttft", found.least_ttft);
    write_least(json, "least_tpot", found.least_tpot);
    json.key("plans").array();
    for (const ServePlan& plan : found.plans) write_plan(json, plan, answer);
    json.end().key("frontier").array();
    for (const FrontierPoint& point : found.frontier) {
        json.object();
        write_split(json, point.parallel);
        json.field("batch", point.batch).field("output_tok_s_gpu", point.output_tok_s_gpu);
        json.field("tpot_s", point.tpot.value).field("ttft_s", point.ttft.value).end();
    }
    return json.end().end().take();
}

}  // namespace tilewright::render

// The JSON of `search`, and of `report`, which has the same candidates: the values that its page shows.
#include "render/answers.h"
#include "render/values_json.h"
#include "tilewright/cost.h"
#include "tilewright/profile.h"

namespace tilewright::render {
namespace {

void write_causes(JsonWriter& json, const Candidate& candidate) {
    json.key("causes").array();
    for (const Cause& cause : candidate.causes) {
        json.object().field("change", cause.change).field("component", name_of(cause.component));
        json.field("speedup", cause.speedup).end();
    }
    json.end();
}

/// Loss at equal tokens and time to the baseline's loss; null where no such model was trained.
void write_losses(JsonWriter& json, const Candidate& candidate) {
    write_loss(json.field("keeps_depth", candidate.keeps_depth), candidate.loss);
    json.key("time_to_loss");
    if (!candidate.loss.known) {
        json.null();
        return;
    }
    json.object().field("speedup", candidate.to_loss);
    json.field("low", candidate.to_loss_low).field("high", candidate.to_loss_high).end();
}

void write_candidate(JsonWriter& json, const Candidate& candidate, std::string_view kind, const SearchResult& found) {
    json.object().field("kind", kind).field("knobs", candidate.knobs);
    json.field("recommended", found.recommended && found.recommended->changed == candidate.changed);
    write_proposal(json, candidate);
    json.key("speedup_by_gpu").array();
    for (const double speedup : candidate.by_target) json.value(speedup);
    json.end();
    json.field("gain", candidate.gain).field("proven", candidate.proven());
    json.field("time_s", candidate.time.value).field("params", candidate.params);
    json.field("flops_change", candidate.flops_change).field("kv_bytes_per_token", candidate.kv_per_token.value);
    write_causes(json, candidate);
    json.key("shape").object();
    for (const Dimension& dimension : dimensions()) json.field(dimension.name, candidate.shape.*dimension.field);
    if (const auto& experts = candidate.shape.experts) {
        json.field("experts", experts->count).field("top_k", experts->active).field("expert_ffn", experts->ffn);
        json.field("shared_ffn", experts->shared_ffn);
    }
    json.field("mlp", name_of(candidate.shape.mlp)).field("block", name_of(candidate.shape.block));
    json.end().field("batch", candidate.workload.batch).field("tp", candidate.workload.parallel.tp).end();
}

void write_between(JsonWriter& json, std::string_view key, Between range) {
    json.key(key).array().value(range.low).value(range.high).end();
}

/// As ratios to the baseline's own value, but for the MLP's.
void write_guards(JsonWriter& json, const Guards& guards) {
    json.key("guards").object();
    write_between(json, "params", guards.params);
    write_between(json, "block_params", guards.blocks);
    json.field("max_flops", guards.max_flops).field("min_depth", guards.min_depth);
    write_between(json, "aspect", guards.aspect);
    write_between(json, "mlp_ratio", guards.mlp_ratio);
    write_between(json, "attention_width", guards.attention_width);
    json.field("kv_bytes", guards.kv).end();
}

/// What was held instead of the parameters.
void write_budget(JsonWriter& json, const Budget& budget) {
    json.key("budget").object();
    if (budget.flops_per_token) write_between(json, "flops_per_token", *budget.flops_per_token);
    if (budget.time) json.field("time_s", budget.time->value);
    if (budget.memory) json.field("memory_bytes", budget.memory->value);
    json.end();
}

void write_fronts(JsonWriter& json, const SearchResult& found) {
    for (const auto& [key, front] :
         {std::pair("parameter_front", &found.parameter_front), std::pair("kv_cache_front", &found.kv_front)}) {
        json.key(key).array();
        for (const Candidate& candidate : *front) write_candidate(json, candidate, "front", found);
        json.end();
    }
}

void write_sweep(JsonWriter& json, const Sweep& sweep) {
    json.object()
        .field("name", sweep.name)
        .field("dimension", sweep.dimension)
        .field("kept", sweep.kept)
        .field("current", sweep.current);
    json.field("kernel", sweep.kernel).key("points").array();
    for (const SweptStep& point : sweep.points) {
        json.object().field("value", point.value).field("rate_flop_per_s", point.rate.value);
        json.field("tokens_per_s", point.tokens_per_s).field("kernel_s", point.kernel.time.value);
        json.field("tile_m", point.kernel.tile_m).field("tile_n", point.kernel.tile_n);
        json.field("split_k", point.kernel.split_k).field("waves", point.kernel.waves).end();
    }
    json.end().end();
}

void write_tiles(JsonWriter& json, const TileMap& map) {
    json.key("tiles").object().field("kernel", map.kernel).field("layout", name_of(map.gemm.layout));
    json.field("m", map.gemm.m).field("n", map.gemm.n).field("k", map.gemm.k).field("batch", map.gemm.batch);
    json.field("tile_m", map.cost.tile_m).field("tile_n", map.cost.tile_n).field("split_k", map.cost.split_k);
    json.field("blocks", map.blocks).field("blocks_at_once", map.at_once).field("full_waves", map.full_waves);
    json.field("tail_blocks", map.tail).field("padding_share", map.padding).end();
}

void write_roofline(JsonWriter& json, const Roofline& roofline) {
    json.key("roofline").object().field("peak_flop_per_s", roofline.peak.value);
    json.field("bandwidth_bytes_per_s", roofline.bandwidth.value);
    json.field("reached_peak_flop_per_s", roofline.reached_peak.value);
    json.field("reached_bandwidth_bytes_per_s", roofline.reached_bandwidth.value).key("kernels").array();
    for (const RooflinePoint& point : roofline.points) {
        json.object().field("kernel", point.kernel).field("component", name_of(point.component));
        json.field("flop_per_byte", point.intensity).field("rate_flop_per_s", point.rate.value);
        json.field("nominal", !point.counted).field("share", point.share).end();
    }
    json.end().end();
}

}  // namespace

void write_proposal(JsonWriter& json, const Candidate& candidate) {
    json.field("speedup", candidate.speedup).field("low", candidate.low).field("high", candidate.high);
    json.field("speedup_at_equal_params", candidate.speedup_at_equal_params);
    json.field("parameter_change", candidate.parameter_change).field("block_parameter_change", candidate.block_change);
    write_losses(json, candidate);
    write_texts(json, "changed", candidate.changed);
}

void write_candidates(JsonWriter& json, const SearchResult& found) {
    json.field("shapes_in_space", found.shapes_in_space).field("shapes_priced", found.shapes_priced);
    json.field("exhaustive", found.exhaustive).field("objective", name_of(found.objective));
    json.key("candidates").array();
    for (const auto& [kind, list] : kinds(found)) {
        for (const Candidate& candidate : list) write_candidate(json, candidate, kind, found);
    }
    json.end();
}

std::string search_json(const SearchAnswer& answer) {
    const Prediction& baseline = answer.baseline;
    JsonWriter json;
    json.object().field("schema", "tilewright.search/3").field("device", baseline.device.name);
    json.key("gpus").array();
    for (const WeightedGpu& gpu : answer.gpus) {
        json.object().field("name", gpu.name).field("weight", gpu.weight);
        json.field("evidence", name_of(gpu.evidence)).end();
    }
    json.end().key("workload").object();
    write_workload(json, baseline.workload);
    json.end();
    write_guards(json, answer.options.guards);
    write_budget(json, answer.options.budget);
    json.key("baseline").object();
    write_summary(json, baseline);
    json.end();
    json.field("seconds", answer.seconds);
    write_candidates(json, answer.found);
    write_fronts(json, answer.found);
    write_texts(json, "used", baseline.used);
    return json.end().take();
}

std::string report_json(const std::vector<Report>& reports) {
    JsonWriter json;
    json.object().field("schema", "tilewright.report/1").key("reports").array();
    for (const Report& report : reports) {
        json.object().key("device").object();
        write_device(json, report.advice.prediction.device);
        json.end().key("workload").object();
        write_workload(json, report.advice.prediction.workload);
        json.end();
        write_summary(json, report.advice.prediction);
        write_findings(json, report.advice.findings);
        write_candidates(json, report.advice.found);
        write_fronts(json, report.advice.found);
        json.key("sweeps").array();
        for (const Sweep& sweep : report.sweeps) write_sweep(json, sweep);
        json.end();
        if (report.tiles) write_tiles(json, *report.tiles);
        write_roofline(json, report.roofline);
        json.key("serving").object();
        write_serving(json, report.serving);
        json.end();
        write_errors(json, "held_out_errors", report.advice.prediction.errors);
        write_texts(json, "used", report.advice.prediction.used);
        json.end();
    }
    return json.end().end().take();
}

}  // namespace tilewright::render

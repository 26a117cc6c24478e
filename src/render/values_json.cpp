// Keys of our TOML forms are reused where the value is the same, so that a reader learns one vocabulary.
#include "render/values_json.h"

#include <algorithm>

#include "render/words.h"
#include "tilewright/cost.h"
#include "tilewright/plan.h"
#include "tilewright/profile.h"

namespace tilewright::render {
namespace {

void write_switches(JsonWriter& json, const Shape& shape) {
    json.field("mlp", name_of(shape.mlp)).field("block", name_of(shape.block));
    json.field("positions", name_of(shape.positions)).field("tied", shape.tied);
    json.field("norm", name_of(shape.norms.kind)).field("norms_per_layer", shape.norms.per_layer);
    json.field("final_norm", shape.norms.final).field("embedding_norm", shape.norms.embedding);
    json.field("query_key_norm", shape.norms.query_key).field("windowed_every", shape.windowed_every);
    json.field("windowed", shape.windowed).field("query_key_norm_whole", shape.norms.query_key_whole);
    json.field("sinks", shape.sinks);
    json.field("bias_qkv", shape.bias.qkv).field("bias_projection", shape.bias.projection);
    json.field("bias_mlp", shape.bias.mlp).field("bias_head", shape.bias.head);
}

void write_experts(JsonWriter& json, const Experts& experts) {
    json.key("experts").object();
    json.field("count", experts.count).field("active", experts.active).field("ffn", experts.ffn);
    json.field("shared_ffn", experts.shared_ffn).field("dense_layers", experts.dense_layers);
    json.field("every", experts.every).field("router_bias", experts.router_bias).end();
}

void write_latent(JsonWriter& json, const Latent& latent) {
    json.key("latent").object();
    json.field("q_rank", latent.q_rank).field("kv_rank", latent.kv_rank).field("nope_dim", latent.nope_dim);
    json.field("rope_dim", latent.rope_dim).field("v_dim", latent.v_dim).end();
}

/// How a step is shared; nothing where it is one GPU's kernels.
void write_step_terms(JsonWriter& json, const Step& step) {
    json.key("step_terms").object();
    for (const auto& [name, term] : names<StepTerm>) {
        json.key(name).object().field("exposed_s", step.term(term).exposed.value);
        json.field("hidden_s", step.term(term).hidden.value).end();
    }
    json.end();
}

void write_layer(JsonWriter& json, const Cost& layer) {
    json.key("layer").object();
    json.field("time_s", layer.time.value).field("low_s", layer.low.value).field("high_s", layer.high.value).end();
}

}  // namespace

void write_memory(JsonWriter& json, const Memory& memory, const Device& device) {
    json.key("memory").object();
    for (const auto& [name, bytes] : memory_lines(memory)) {
        std::string key(name);
        std::replace(key.begin(), key.end(), ' ', '_');
        json.field(key + "_bytes", bytes.value);
    }
    json.field("room_bytes", room(device).value).field("device_bytes", device.memory.value).end();
}

void write_shape(JsonWriter& json, const Shape& shape, const ParameterCount& params) {
    json.field("name", shape.name).field("source", shape.source);
    json.field("params", params.total).field("params_active", params.active);
    json.field("params_embedding", params.embedding).field("params_attention", params.attention);
    json.field("params_mlp", params.mlp).field("params_norms", params.norms).field("params_head", params.head);
    for (const Dimension& dimension : dimensions()) json.field(dimension.name, shape.*dimension.field);
    write_switches(json, shape);
    if (shape.experts) write_experts(json, *shape.experts);
    if (shape.latent) write_latent(json, *shape.latent);
}

void write_formats(JsonWriter& json, const Workload& workload) {
    json.field("precision", name_of(workload.precision));
    const Formats& formats = workload.formats;
    for (const auto& [key, format] :
         {std::pair{"weights", formats.weights}, {"activations", formats.activations}, {"kv", formats.kv}}) {
        if (format) json.field(key, name_of(*format));
    }
}

void write_workload(JsonWriter& json, const Workload& workload) {
    const Parallelism& parallel = workload.parallel;
    json.field("phase", name_of(workload.phase)).field("batch", workload.batch).field("seq", workload.seq);
    json.field("kv_len", workload.kv_len);
    write_formats(json, workload);
    if (const Prompts& prompts = workload.prompts; prompts.count > 0) {
        json.field("prompts", prompts.count).field("prompt_tokens", prompts.tokens);
        json.field("prompt_cached", prompts.cached);
    }
    json.field("tp", parallel.tp).field("pp", parallel.pp).field("dp", parallel.dp).field("cp", parallel.cp);
    json.field("ep", parallel.ep).field("zero_stage", parallel.zero_stage);
    if (parallel.etp > 0) json.field("etp", parallel.etp);
    if (workload.redundant_experts > 0) json.field("redundant_experts", workload.redundant_experts);
    if (workload.expert_skew != usual_skew) json.field("expert_skew", workload.expert_skew);
    json.field("virtual_stages", parallel.virtual_stages).field("sequence_parallel", parallel.sequence_parallel);
    json.field("micro_batches", workload.micro_batches).field("recompute", name_of(workload.recompute));
    json.field("master", name_of(workload.master)).field("overlap", name_of(workload.overlap));
    json.field("runtime", name_of(workload.runtime)).field("attention", name_of(workload.attention));
    json.field("clock", name_of(workload.clock)).field("forward_only", workload.forward_only);
}

void write_device(JsonWriter& json, const Device& device) {
    json.field("name", device.name).field("full_name", device.full_name).field("source", device.source);
    json.field("architecture", name_of(device.architecture)).field("units", device.units);
    json.field("boost_clock_hz", device.boost_clock.value).field("base_clock_hz", device.base_clock.value);
    json.field("bandwidth_bytes_per_s", device.bandwidth.value).field("l2_bytes", device.l2.value);
    json.field("shared_per_unit_bytes", device.shared_per_unit.value).field("memory_bytes", device.memory.value);
    json.field("power_w", device.power.value).field("link", device.link);
    json.field("link_bandwidth_bytes_per_s", device.link_bandwidth.value).field("node_size", device.node_size);
    json.field("link_peers", device.link_peers).field("host_scale", device.host_scale);
    json.key("peak_flops_per_s").object();
    for (const auto& [word, precision] : names<Precision>) {
        const auto& peak = device.peak[static_cast<std::size_t>(precision)];
        if (peak) json.field(word, peak->value);
    }
    if (device.int8_peak) json.field("int8", device.int8_peak->value);
    if (device.fp4_peak) json.field("fp4", device.fp4_peak->value);
    json.end();
}

void write_terms(JsonWriter& json, const std::array<Seconds, term_count>& terms) {
    json.key("terms").object();
    for (const auto& [word, term] : names<Term>) {
        json.field(std::string(word) + "_s", terms[static_cast<std::size_t>(term)].value);
    }
    json.end();
}

void write_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
    json.key(key).array();
    for (const std::string& text : texts) json.value(text);
    json.end();
}

void write_summary(JsonWriter& json, const Prediction& prediction) {
    const Cost& sum = prediction.kernels.sum;
    json.key("shape").object();
    write_shape(json, prediction.shape, prediction.params);
    json.end();
    json.field("scope", prediction.scope == Scope::Layer ? "layer" : "model");
    json.field("time_s", prediction.time.value).field("low_s", prediction.low.value);
    json.field("high_s", prediction.high.value).field("gpu_busy_s", prediction.gpu_busy.value);
    json.field("idle_s", prediction.idle.value).field("host_time_s", prediction.host_time.value);
    json.field("host_bound", prediction.host_bound);
    if (prediction.host_bound) {
        json.key("host_remedies").array();
        for (const HostRemedy& remedy : prediction.remedies) {
            json.object().field("what", remedy.what).field("speedup", remedy.speedup);
            json.field("idle_share", remedy.idle_share).end();
        }
        json.end();
    }
    json.field("evidence", name_of(sum.evidence)).field("profile_source", prediction.profile_source);
    json.field("tokens_per_step", prediction.tokens_per_step).field("tokens_per_s", prediction.tokens_per_s);
    json.field("mfu", prediction.mfu).field("hfu", prediction.hfu);
    json.field("flops", prediction.flops.value).field("hardware_flops", prediction.hardware_flops.value);
    json.field("launches", prediction.kernels.launches).field("fits", prediction.fits);
    write_texts(json, "notes", prediction.notes);
    write_layer(json, prediction.layer.sum);
    write_memory(json, prediction.memory, prediction.device);
    if (prediction.split) write_step_terms(json, *prediction.split);
    write_terms(json, sum.terms);
    json.key("components").array();
    for (const ComponentCost& part : prediction.components) {
        json.object().field("component", name_of(part.component)).field("time_s", part.time.value);
        json.field("share", part.time / sum.time);
        write_terms(json, part.terms);
        json.end();
    }
    json.end();
}

void write_findings(JsonWriter& json, const std::vector<Finding>& findings) {
    json.key("findings").array();
    for (const Finding& finding : findings) {
        json.object().field("code", finding.code).field("rule", finding.rule);
        json.field("severity", name_of(finding.severity)).field("quantity", finding.quantity);
        json.field("cost_s", finding.cost.value).field("share", finding.share).field("later", finding.later);
        write_texts(json, "kernels", finding.kernels);
        json.key("fixes").array();
        for (const Fix& fix : finding.fixes) {
            json.object().field("dimension", fix.dimension).field("from", fix.from).field("to", fix.to);
            json.field("gain_s", fix.gain.value).field("removes_s", fix.removes.value);
            json.field("step_s", fix.step.value).field("gain_at_equal_work", fix.other_work);
            json.field("parameter_change", fix.parameter_change).end();
        }
        json.end().end();
    }
    json.end();
}

void write_step(JsonWriter& json, const Step& step, const Device& device) {
    json.field("time_s", step.time.value).field("low_s", step.low.value).field("high_s", step.high.value);
    json.field("evidence", name_of(step.evidence)).field("tokens_per_step", step.tokens);
    json.field("tokens_per_s", step.tokens / step.time.value).field("mfu", step.mfu).field("hfu", step.hfu);
    json.field("flops", step.flops.value).field("hardware_flops", step.hardware_flops.value);
    json.field("energy_j", step.energy_j).field("fits", step.fits);
    write_memory(json, step.memory, device);
    write_step_terms(json, step);
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
        json.field("low_s", point.low.value).field("high_s", point.high.value);
        json.field("tokens_per_s_per_gpu", point.tokens_per_s_per_gpu).field("bound", name_of(point.bound));
        json.field("memory_bytes", point.memory.total.value).end();
    }
    json.end();
}

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

void write_loss(JsonWriter& json, const LossChange& loss) {
    json.key("loss");
    if (!loss.known) {
        json.null();
        return;
    }
    json.object().field("change", loss.value).field("low", loss.low).field("high", loss.high);
    json.field("times_beyond_runs", loss.beyond).field("tried", loss.tried).field("limit", loss.limit);
    json.field("reaches", loss.reaches()).field("free", loss.free()).end();
}

}  // namespace tilewright::render

// The JSON of every answer but a search's: a summary first, then what the verb adds.
#include "render/answers.h"
#include "render/values_json.h"
#include "render/words.h"
#include "tilewright/cost.h"
#include "tilewright/profile.h"

namespace tilewright::render {
namespace {

void open_document(JsonWriter& json, std::string_view schema, const Prediction& prediction) {
    json.object().field("schema", schema);
    json.key("device").object();
    write_device(json, prediction.device);
    json.end();
    json.key("workload").object();
    write_workload(json, prediction.workload);
    json.end();
}

/// The kind of a kernel and its sizes, as fields of its object.
struct WriteWork {
    JsonWriter& json;

    void operator()(const Gemm& gemm) const {
        json.field("kind", gemm.grouped ? "grouped_gemm" : "gemm").field("layout", name_of(gemm.layout));
        json.field("m", gemm.m).field("n", gemm.n).field("k", gemm.k).field("batch", gemm.batch);
        json.field("precision", name_of(gemm.precision));
    }
    void operator()(const Attention& attention) const {
        json.field("kind", "attention").field("batch", attention.batch).field("heads", attention.heads);
        json.field("kv_heads", attention.kv_heads).field("q_len", attention.q_len).field("kv_len", attention.kv_len);
        json.field("head_dim", attention.head_dim).field("v_dim", attention.v_dim).field("window", attention.window);
        json.field("causal", attention.causal).field("attention_pass", name_of(attention.pass));
        json.field("backend", name_of(attention.backend)).field("precision", name_of(attention.precision));
    }
    void operator()(const Stream& stream) const {
        json.field("kind", name_of(stream.kind)).field("rows", stream.rows).field("width", stream.width);
    }
    void operator()(const Collective& collective) const {
        json.field("kind", name_of(collective.kind)).field("bytes", collective.bytes.value);
        json.field("ranks", collective.ranks);
    }
    void operator()(const ExpertMlp& mlp) const {
        json.field("kind", "experts").field("tokens", mlp.tokens).field("hidden", mlp.hidden).field("ffn", mlp.ffn);
        json.field("experts", mlp.experts).field("active", mlp.active).field("tp", mlp.tp).field("ranks", mlp.ranks);
        json.field("slots", std::max(mlp.slots, mlp.experts)).field("skew", mlp.skew);
        json.field("format", traits_of(mlp.quantization).name);
    }
    void operator()(const LatentAttention& attention) const {
        json.field("kind", attention.absorbed ? "latent_decode" : "latent_context").field("batch", attention.batch);
        json.field("heads", attention.heads).field("q_len", attention.q_len).field("kv_len", attention.kv_len);
        json.field("head_dim", attention.head_dim).field("v_dim", attention.v_dim);
    }
    void operator()(const Exchange& exchange) const {
        json.field("kind", exchange.combine ? "combine" : "dispatch").field("low_latency", exchange.low_latency);
        json.field("tokens", exchange.tokens).field("hidden", exchange.hidden).field("active", exchange.active);
        json.field("experts", exchange.experts).field("ranks", exchange.ranks);
    }
};

void write_plan(JsonWriter& json, const Plan& plan, const Device& device) {
    json.object();
    json.key("workload").object();
    write_workload(json, plan.workload);
    json.end();
    write_step(json, plan.step, device);
    json.field("tokens_per_s_per_gpu", plan.tokens_per_s_per_gpu).key("loses_in").object();
    for (const TermLoss& loss : plan.loses_in) json.field(name_of(loss.term), loss.share);
    json.end();
    write_texts(json, "megatron_flags", megatron_flags(plan.workload));
    write_texts(json, "torchtitan_flags", torchtitan_flags(plan.workload));
    json.end();
}

void write_budget(JsonWriter& json, const PlanAnswer& answer) {
    const TrainingBudget& budget = answer.budget;
    json.key("budget").object().field("tokens", budget.tokens).field("steps", budget.steps);
    json.field("days", budget.days).field("gpu_hours", budget.gpu_hours).field("energy_kwh", budget.energy_kwh);
    if (answer.money) json.field("money", *answer.money);
    json.end();
}

}  // namespace

void write_kernel(JsonWriter& json, const PricedOp& priced) {
    const Op& op = priced.op;
    const Cost& cost = priced.cost;
    json.field("name", op.name).field("pass", name_of(op.pass));
    if (!op.origin.empty()) json.field("part_of", op.origin);
    std::visit(WriteWork{json}, op.work);
    json.field("count", op.count).field("flops", flops(op).value);
    json.field("read_bytes", bytes_read(op).value).field("written_bytes", bytes_written(op).value);
    json.field("time_s", cost.time.value).field("low_s", cost.low.value).field("high_s", cost.high.value);
    json.field("total_s", priced.total.value).field("bound", name_of(cost.bound));
    json.field("evidence", name_of(cost.evidence)).field("tile_m", cost.tile_m).field("tile_n", cost.tile_n);
    json.field("split_k", cost.split_k).field("waves", cost.waves);
    write_terms(json, cost.terms);
}

std::string predict_json(const Prediction& prediction) {
    JsonWriter json;
    open_document(json, "tilewright.predict/2", prediction);
    write_summary(json, prediction);
    json.key("kernels").array();
    for (const PricedOp& priced : prediction.kernels.ops) {
        json.object().field("component", name_of(priced.op.component));
        write_kernel(json, priced);
        json.end();
    }
    json.end();
    write_texts(json, "used", prediction.used);
    return json.end().take();
}

std::string compare_json(const Comparison& comparison) {
    const Prediction& base = comparison.shapes.front();
    JsonWriter json;
    open_document(json, "tilewright.compare/2", base);
    json.key("shapes").array();
    for (std::size_t i = 0; i < comparison.shapes.size(); ++i) {
        const Prediction& prediction = comparison.shapes[i];
        json.object().field("speedup", comparison.base() / prediction.time);
        write_summary(json, prediction);
        if (const std::optional<Learning>& learning = comparison.learning[i]) {
            write_loss(json, learning->loss);
            json.field("speedup_to_loss", learning->to_loss);
        }
        json.end();
    }
    json.end();
    write_texts(json, "used", base.used);
    return json.end().take();
}

std::string lint_json(const Lint& lint) {
    JsonWriter json;
    json.object().field("schema", "tilewright.lint/1").field("shape", lint.shape.name);
    json.field("device", lint.device.name).field("evidence", name_of(lint.evidence));
    json.field("min_cost", lint.min_cost);
    if (lint.prediction) {
        json.field("time_s", lint.prediction->time.value).field("low_s", lint.prediction->low.value);
        json.field("high_s", lint.prediction->high.value);
    }
    json.key("workload").object();
    write_workload(json, lint.workload);
    json.end();
    write_findings(json, lint.findings);
    write_texts(json, "used", lint.used);
    return json.end().take();
}

std::string advise_json(const Advice& advice) {
    const Prediction& prediction = advice.prediction;
    JsonWriter json;
    open_document(json, "tilewright.advise/3", prediction);
    write_summary(json, prediction);
    write_findings(json, advice.findings);
    write_candidates(json, advice.found);
    json.field("recommendation", to_ascii(recommendation(advice)));
    write_texts(json, "used", prediction.used);
    return json.end().take();
}

std::string plan_json(const PlanAnswer& answer) {
    JsonWriter json;
    json.object().field("schema", "tilewright.plan/2").field("device", answer.device.name);
    json.field("cluster", answer.cluster).field("gpus", answer.gpus);
    json.field("global_batch", answer.global_batch).field("plans_priced", answer.found.priced);
    json.field("plans_too_large", answer.found.too_large).field("pieces_priced", answer.found.pieces);
    json.key("plans").array();
    for (const Plan& plan : answer.found.plans) write_plan(json, plan, answer.device);
    json.end();
    if (!answer.found.plans.empty()) write_budget(json, answer);
    return json.end().take();
}

std::string serving_json(const ServingAnswer& answer) {
    JsonWriter json;
    json.object().field("schema", "tilewright.serving/1").field("shape", answer.shape.name);
    json.field("device", answer.device.name);
    write_serving(json, answer.serving);
    return json.end().take();
}

std::string models_json(const std::vector<ListedModel>& models) {
    JsonWriter json;
    json.object().field("schema", "tilewright.models/1").key("models").array();
    for (const auto& [shape, params, origin] : models) {
        json.object();
        write_shape(json, shape, params);
        json.field("origin", origin).end();
    }
    return json.end().end().take();
}

namespace {

void write_list(JsonWriter& json, std::string_view name, const std::vector<StepKernel>& kernels) {
    if (kernels.empty()) return;
    json.key(name).array();
    for (const StepKernel& kernel : kernels) {
        json.object().field("kind", name_of(kernel.kind)).field("times", kernel.times);
        json.field("reads", kernel.reads).field("writes", kernel.writes).field("keeps", kernel.keeps);
        json.field("waits", kernel.waits).end();
    }
    json.end();
}

void write_traits(JsonWriter& json, const RuntimeTraits& traits) {
    json.field("form", name_of(traits.form)).field("residual", name_of(traits.residual));
    json.field("gradient_sums", name_of(traits.gradient_sums)).field("activation", name_of(traits.activation));
    json.field("rotary", name_of(traits.rotary)).field("cache", name_of(traits.cache));
    json.field("scores", name_of(traits.scores)).field("embedding", name_of(traits.embedding));
    json.field("loss", name_of(traits.loss)).field("experts", name_of(traits.experts));
    json.field("joins_qkv", traits.joins_qkv).field("joins_gate", traits.joins_gate);
    json.field("logits", name_of(traits.logits)).field("attention", name_of(traits.attention));
    json.field("forward_views", traits.forward_views).field("backward_views", traits.backward_views);
    json.key("steps").object();
    for (const auto& [word, step] : names<ListedStep>) {
        const StepKernels* list = traits.listed(step);
        if (list == nullptr) continue;
        json.key(word).object();
        write_list(json, "forward", list->forward);
        write_list(json, "backward", list->backward);
        json.end();
    }
    json.end();
}

void write_host(JsonWriter& json, const HostCosts& host) {
    json.key("host").object();
    json.field("forward_s", host.forward.value).field("forward_view_s", host.forward_view.value);
    json.field("backward_s", host.backward.value).field("backward_view_s", host.backward_view.value);
    json.field("update_tensor_s", host.update_tensor.value).field("step_s", host.step.value);
    json.field("prompt_s", host.prompt.value).field("token_s", host.token.value).field("spread", host.spread).end();
}

void write_engine(JsonWriter& json, const Engine& engine) {
    json.key("engine").object().field("memory_share", engine.memory_share);
    json.field("free_share", engine.free_share).field("block_tokens", engine.block);
    json.field("max_batch", engine.max_batch).field("chunk_tokens", engine.chunk);
    json.field("sizes_steps", engine.sizes_steps).field("whole_prompts", engine.whole_prompts);
    json.key("bench_steps").array();
    for (const BenchSteps& steps : engine.bench_steps) {
        json.object().field("model", steps.model).field("tp", steps.tp).field("request_tokens", steps.length);
        json.field("max_batch", steps.max_batch).field("chunk_tokens", steps.chunk).end();
    }
    json.end().field("windows", engine.windows);
    json.field("expert_library", name_of(engine.expert_library));
    json.field("expert_launches", engine.expert_launches).field("gathers_tokens", engine.gathers_tokens);
    json.field("own_fp8", engine.own_fp8).field("own_requests", engine.own_requests);
    json.field("widens_cache", engine.widens_cache).field("own_sums", name_of(engine.own_sums));
    json.field("decode_group", engine.decode_group).field("turns_beyond", engine.turns_beyond);
    json.field("pads_batches", engine.pads_batches).field("prompt_step_s", engine.prompt_step.value);
    json.field("step_s", engine.step.value).field("sequence_s", engine.sequence.value);
    json.field("spread", engine.spread).end();
}

}  // namespace

std::string runtimes_json(const std::vector<ListedRuntime>& runtimes) {
    JsonWriter json;
    json.object().field("schema", "tilewright.runtimes/1").key("runtimes").array();
    for (const auto& [runtime, origin] : runtimes) {
        json.object().field("name", runtime.name).field("title", runtime.title).field("version", runtime.version);
        json.field("source", runtime.source).field("rests_on", runtime.rests_on).field("origin", origin);
        write_host(json, runtime.host);
        json.key("memory").object().field("context_bytes", runtime.memory.context.value);
        json.field("workspace_bytes", runtime.memory.workspace.value).field("slack", runtime.memory.slack).end();
        if (runtime.engine) write_engine(json, *runtime.engine);
        json.key("lowering").object();
        write_traits(json, runtime.traits);
        json.end().key("families").object();
        for (const Runtime::Family& family : runtime.families) {
            json.key(family.name).object();
            write_traits(json, family.traits);
            json.end();
        }
        json.end().end();
    }
    return json.end().end().take();
}

std::string devices_json(const std::vector<ListedDevice>& devices) {
    JsonWriter json;
    json.object().field("schema", "tilewright.devices/1").key("devices").array();
    for (const auto& [device, profile, origin, file, age_days] : devices) {
        json.object();
        write_device(json, device);
        json.field("origin", origin).key("profile").object();
        json.field("evidence", name_of(profile.evidence));
        json.field("attention_evidence", name_of(profile.attention_evidence));
        json.field("stream_evidence", name_of(profile.stream_evidence)).field("source", profile.source);
        json.field("collective_evidence", name_of(profile.collective_evidence));
        if (!profile.carried_from.empty()) {
            json.field("carried_from", profile.carried_from).field("carried_error", profile.carried_error);
        }
        if (!profile.streams_from.empty()) json.field("streams_from", profile.streams_from);
        if (!file.empty()) json.field("file", file).field("age_days", age_days);
        write_errors(json, "held_out_errors", profile.errors);
        json.end().end();
    }
    return json.end().end().take();
}

namespace {

void write_learnt(JsonWriter& json, const LearntProfile& learnt) {
    json.field("device", learnt.device);
    json.field("output", learnt.output).field("source", learnt.fit.profile.source);
    json.field("samples_set_aside", learnt.fit.set_aside);
    write_errors(json, "held_out_errors", learnt.fit.profile.errors);
    write_errors(json, "fitted_errors", learnt.fit.fitted_errors);
    json.key("learnt_parts").array();
    for (const Gain& gain : learnt.fit.gains) {
        json.object().field("part", gain.part).field("points", gain.points).field("mean", gain.with_part);
        json.field("mean_without", gain.without).field("kept", gain.kept).end();
    }
    json.end();
}

}  // namespace

std::string fit_json(const LearntProfile& learnt) {
    JsonWriter json;
    json.object().field("schema", "tilewright.fit/1");
    write_learnt(json, learnt);
    return json.end().take();
}

std::string profiles_json(const std::vector<LearntProfile>& all) {
    JsonWriter json;
    json.object().field("schema", "tilewright.profile_run/1").key("profiles").array();
    for (const LearntProfile& learnt : all) {
        json.object();
        write_learnt(json, learnt);
        json.end();
    }
    return json.end().end().take();
}

}  // namespace tilewright::render

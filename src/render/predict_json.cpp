// The JSON of `predict`: the summary, then every kernel with its sizes, price and terms.
#include "render/plan.h"
#include "render/predict.h"
#include "render/values_json.h"
#include "tilewright/cost_names.h"
#include "tilewright/device_names.h"

namespace tilewright::render {
namespace {

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
};

void write_kernel(JsonWriter& json, const PricedOp& priced) {
    const Op& op = priced.op;
    const Cost& cost = priced.cost;
    json.object().field("name", op.name).field("component", name_of(op.component)).field("pass", name_of(op.pass));
    if (!op.origin.empty()) json.field("part_of", op.origin);
    std::visit(WriteWork{json}, op.work);
    json.field("count", op.count).field("flops", flops(op).value);
    json.field("read_bytes", bytes_read(op).value).field("written_bytes", bytes_written(op).value);
    json.field("time_s", cost.time.value).field("low_s", cost.low.value).field("high_s", cost.high.value);
    json.field("total_s", priced.total.value).field("bound", name_of(cost.bound));
    json.field("evidence", name_of(cost.evidence)).field("tile_m", cost.tile_m).field("tile_n", cost.tile_n);
    json.field("split_k", cost.split_k).field("waves", cost.waves);
    write_terms(json, cost.terms);
    json.end();
}

}  // namespace

std::string predict_json(const Prediction& prediction) {
    JsonWriter json;
    json.object().field("schema", "tilewright.predict/1");
    json.key("device").object();
    write_device(json, prediction.device);
    json.end();
    json.key("workload").object();
    write_workload(json, prediction.workload);
    json.end();
    write_summary(json, prediction);
    if (prediction.training) {
        json.key("training").object();
        write_step(json, *prediction.training);
        json.end();
    }
    json.key("kernels").array();
    for (const PricedOp& priced : prediction.step.ops) write_kernel(json, priced);
    json.end();
    write_texts(json, "used", prediction.used);
    return json.end().take();
}

}  // namespace tilewright::render

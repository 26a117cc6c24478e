#include "render/answers.h"

#include <fmt/format.h>

#include "render/table.h"
#include "render/units.h"
#include "render/values_json.h"
#include "render/words.h"

namespace tilewright::render {
namespace {

Bytes allocated(const Prediction& prediction) { return prediction.memory.allocated; }

void write_promise(JsonWriter& json, const Promise& promise) {
    const Prediction& prediction = promise.prediction;
    json.object().field("kind", promise.kind).field("recommended", promise.recommended);
    write_proposal(json, promise.proposed);
    json.field("time_s", prediction.time.value).field("low_s", prediction.low.value);
    json.field("high_s", prediction.high.value).field("allocated_bytes", allocated(prediction).value);
    json.field("batch", prediction.workload.batch).field("seq", prediction.workload.seq).key("shape").object();
    const Shape& shape = prediction.shape;
    for (const Dimension& dimension : dimensions()) json.field(dimension.name, shape.*dimension.field);
    json.field("mlp", name_of(shape.mlp))
        .field("block", name_of(shape.block))
        .field("positions", name_of(shape.positions))
        .field("tied", shape.tied);
    json.field("norm", name_of(shape.norms.kind)).field("norms_per_layer", shape.norms.per_layer);
    json.field("final_norm", shape.norms.final).field("bias_qkv", shape.bias.qkv);
    json.field("bias_projection", shape.bias.projection).field("bias_mlp", shape.bias.mlp);
    json.field("bias_head", shape.bias.head).end().end();
}

/// The members that the program and the answer share.
void write_proof(JsonWriter& json, const Proof& proof) {
    const Prediction& baseline = proof.promises.front().prediction;
    json.field("schema", "tilewright.prove/1").field("model", baseline.shape.name);
    json.field("gpu", baseline.device.name).field("compiled", proof.compiled).key("promises").array();
    for (const Promise& promise : proof.promises) write_promise(json, promise);
    json.end();
}

constexpr std::string_view before_promises = R"py(#!/usr/bin/env python3
"""Training steps that Tilewright promised, run as plain PyTorch: promised against measured.

    python3 THIS_FILE            on a machine with the GPU; needs torch alone
    python3 THIS_FILE --json     one line of JSON a shape
"""
import gc
import json
import statistics
import sys
import time

PROOF = json.loads(r''')py";

constexpr std::string_view after_promises = R"py(''')

try:
    import torch
    from torch import nn
    from torch.nn import functional as F
except ImportError:
    sys.exit("torch is not installed here; run this file where it is")

WARM_UP_S, MEASURED_S, LEAST_STEPS = 2.0, 3.0, 5


def turn(x, cosine, sine):
    first, second = x.chunk(2, dim=-1)
    return x * cosine + torch.cat((-second, first), dim=-1) * sine


def norm_of(shape):
    return (nn.RMSNorm if shape["norm"] == "rms" else nn.LayerNorm)(shape["hidden"], eps=1e-5)


class Layer(nn.Module):
    def __init__(self, shape):
        super().__init__()
        hidden, self.head = shape["hidden"], shape["head_dim"]
        self.wide, self.narrow = shape["heads"] * self.head, shape["kv_heads"] * self.head
        self.gated, self.parallel = shape["mlp"] == "swiglu", shape["block"] == "parallel"
        self.norm1 = norm_of(shape)
        self.norm2 = norm_of(shape) if shape["norms_per_layer"] > 1 else None
        self.qkv = nn.Linear(hidden, self.wide + 2 * self.narrow, bias=shape["bias_qkv"])
        self.proj = nn.Linear(self.wide, hidden, bias=shape["bias_projection"])
        self.gate = nn.Linear(hidden, shape["ffn"], bias=shape["bias_mlp"]) if self.gated else None
        self.up = nn.Linear(hidden, shape["ffn"], bias=shape["bias_mlp"])
        self.down = nn.Linear(shape["ffn"], hidden, bias=shape["bias_mlp"])

    def attend(self, x, angles):
        batch, seq, _ = x.shape
        q, k, v = self.qkv(x).split([self.wide, self.narrow, self.narrow], dim=-1)
        q, k, v = (part.view(batch, seq, -1, self.head).transpose(1, 2) for part in (q, k, v))
        if angles is not None:
            q, k = turn(q, *angles), turn(k, *angles)
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=self.wide != self.narrow)
        return self.proj(o.transpose(1, 2).reshape(batch, seq, self.wide))

    def mlp(self, x):
        if self.gated:
            return self.down(F.silu(self.gate(x)) * self.up(x))
        return self.down(F.gelu(self.up(x), approximate="tanh"))

    def forward(self, x, angles):
        n = self.norm1(x)
        if self.parallel:
            return x + self.attend(n, angles) + self.mlp(n if self.norm2 is None else self.norm2(x))
        x = x + self.attend(n, angles)
        return x + self.mlp(self.norm2(x))


class Model(nn.Module):
    def __init__(self, shape, seq, compiled):
        super().__init__()
        hidden = shape["hidden"]
        self.words = nn.Embedding(shape["vocab"], hidden)
        self.places = nn.Embedding(shape["position_rows"], hidden) if shape["positions"] == "learned" else None
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape["layers"]))
        self.norm = norm_of(shape) if shape["final_norm"] else nn.Identity()
        self.out = nn.Linear(hidden, shape["vocab"], bias=shape["bias_head"])
        if shape["tied"]:
            self.out.weight = self.words.weight
        for table in (self.words, self.places):
            if table is not None:
                nn.init.normal_(table.weight, std=0.02)
        self.angles = None
        if shape["positions"] == "rotary":
            rate = 10000.0 ** (-torch.arange(0, shape["head_dim"], 2, dtype=torch.float64) / shape["head_dim"])
            angle = torch.outer(torch.arange(seq, dtype=torch.float64), rate).repeat(1, 2)
            self.angles = (angle.cos().bfloat16(), angle.sin().bfloat16())
        if compiled:
            for layer in self.layers:
                layer.compile()
        self.loss_of = torch.compile(self.loss) if compiled else self.loss

    def loss(self, x, targets):
        return F.cross_entropy(self.out(self.norm(x)).float().flatten(0, 1), targets.flatten())

    def forward(self, tokens):
        x = self.words(tokens)
        if self.places is not None:
            x = x + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        for layer in self.layers:
            x = layer(x, self.angles)
        return self.loss_of(x, tokens)


def steps_of(promise):
    """A training step of the shape on the GPU: forward, backward, fused AdamW, in bf16."""
    torch.manual_seed(0)
    with torch.device("cuda"):
        model = Model(promise["shape"], promise["seq"], PROOF["compiled"]).to(torch.bfloat16)
        tokens = torch.randint(promise["shape"]["vocab"], (promise["batch"], promise["seq"]))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        model(tokens).backward()
        optimizer.step()

    return step


def stopwatch(step):
    """Median seconds of a step, each from an idle GPU to an idle GPU over several steps."""
    times, many = [], 1
    for seconds, kept in ((WARM_UP_S, False), (MEASURED_S, True)):
        end = time.perf_counter() + seconds
        while time.perf_counter() < end or (kept and len(times) < LEAST_STEPS):
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(many):
                step()
            torch.cuda.synchronize()
            taken = (time.perf_counter() - start) / many
            if kept:
                times.append(taken)
        many = max(1, min(10, round(0.3 / taken)))
    return statistics.median(times)


def measure(promise):
    gc.collect()
    torch.cuda.empty_cache()
    torch._dynamo.reset()
    torch.cuda.reset_peak_memory_stats()
    step = None
    try:
        step = steps_of(promise)
        return {"measured_s": stopwatch(step), "measured_bytes": torch.cuda.max_memory_allocated()}
    except torch.OutOfMemoryError:
        return {"failed": "does not fit this GPU's memory"}


def main():
    if not torch.cuda.is_available():
        sys.exit("torch sees no GPU here; run this file where it does")
    as_json = "--json" in sys.argv[1:]
    name = torch.cuda.get_device_name()
    if not as_json:
        print(f"{PROOF['model']}: promised for {PROOF['gpu']}, measured on {name}, "
              f"{'torch.compile' if PROOF['compiled'] else 'eager'}, torch {torch.__version__}")
        print(f"{'':12}{'promised':>11}{'90%':>19}{'measured':>11}{'off':>8}{'speed-up':>10}{'measured':>10}{'GiB':>8}{'measured':>10}")
    baseline = None
    for promise in PROOF["promises"]:
        line = measure(promise)
        if "failed" in line:
            print(json.dumps({"kind": promise["kind"], **line}) if as_json else f"{promise['kind']:12}{line['failed']}")
            continue
        baseline = baseline or line["measured_s"]
        line |= {"measured_speedup": baseline / line["measured_s"], "inside": promise["low_s"] <= line["measured_s"] <= promise["high_s"]}
        if as_json:
            print(json.dumps({"model": PROOF["model"], "compiled": PROOF["compiled"], "device": name, "torch": torch.__version__} | promise | line), flush=True)
            continue
        milli = [1e3 * promise[key] for key in ("time_s", "low_s", "high_s")]
        print(f"{promise['kind']:12}{milli[0]:8.2f} ms{milli[1]:9.2f}-{milli[2]:6.2f} ms{1e3 * line['measured_s']:8.2f} ms"
              f"{100 * (promise['time_s'] / line['measured_s'] - 1):+7.1f}%{promise['speedup']:9.3f}x{line['measured_speedup']:9.3f}x"
              f"{promise['allocated_bytes'] / 2**30:8.2f}{line['measured_bytes'] / 2**30:10.2f}  {', '.join(promise['changed'])}", flush=True)


if __name__ == "__main__":
    main()
)py";

}  // namespace

std::string prove_program(const Proof& proof) {
    JsonWriter json;
    json.object();
    write_proof(json, proof);
    json.end();
    return std::string(before_promises) + json.take() + std::string(after_promises);
}

std::string prove_text(const Proof& proof, const std::string& path, const Style& style) {
    std::string out;
    append_header(out, proof.promises.front().prediction, style);
    Table table({{""},
                 {"promised", Align::Right},
                 {"90% interval", Align::Right},
                 {"speed-up", Align::Right},
                 {"memory", Align::Right},
                 {"change", Align::Left, true}});
    for (const Promise& promise : proof.promises) {
        const Prediction& prediction = promise.prediction;
        table.row({promise.kind, time_text(prediction.time), interval_text(prediction.low, prediction.high),
                   speedup_text(promise.proposed.speedup), bytes_text(allocated(prediction)),
                   joined(promise.proposed.changed)});
    }
    table.append_to(out, style);
    if (path.empty()) return out;
    out += "\n";
    append_paragraph(
        out, fmt::format("Written: {}, and not run. On a machine with the GPU and torch: python3 {}", path, path), 2,
        style);
    return out;
}

std::string prove_json(const Proof& proof, const std::string& path) {
    JsonWriter json;
    json.object();
    write_proof(json, proof);
    json.field("program", path).end();
    return json.take();
}

}  // namespace tilewright::render

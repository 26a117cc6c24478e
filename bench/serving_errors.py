#!/usr/bin/env python3
"""Errors of `predict serving` on a table of published figures, by source, engine, GPU and format.

    bench/serving_errors.py PROGRAM TABLE.csv [--page] [--rows]

TABLE.csv has the input columns of docs/serving.md and `value`, the published figure. An error is |predicted / published - 1|, a bias the mean of log(predicted / published). Rows whose
(source, model) lies in the half that constants were set on are told from those that judge: the split is by a hash of both, fixed here. A plain roofline stands beside: weights and cache once
through memory at the data sheet's bandwidth, or every operation at its peak, whichever takes longer, and nothing else. --page prints the tables of docs/accuracy/serving.md, --rows every row.
"""
import collections
import csv
import hashlib
import io
import json
import math
import subprocess
import sys

BYTES = {"fp32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "int8": 1, "int4": 0.52, "mxfp4": 0.53, "nvfp4": 0.5625, "mxfp8": 1.03}


def sets_constants(row):
    """Whether the row's model and source are among those that constants were set on."""
    return hashlib.sha256((row["source"] + row["tw_model"]).encode()).digest()[0] % 2 == 0


def engine(row):
    words = (row.get("software", "") + row["source"]).lower()
    for word, name in (("trtllm", "tensorrt-llm"), ("tensorrt", "tensorrt-llm"), ("sglang", "sglang"), ("vllm", "vllm")):
        if word in words:
            return name
    return "pytorch"


class Roofline:
    """Data-sheet bandwidth and peak, the parameters that a token needs, and its share of the cache."""

    def __init__(self, program):
        def listed(what):
            return json.loads(subprocess.run([program, what, "--json"], capture_output=True, text=True, check=True).stdout)
        self.models = {m["name"]: m for m in listed("models")["models"]}
        self.devices = {d["name"]: d for d in listed("devices")["devices"]}

    def predict(self, row):
        model = self.models[row["tw_model"]]
        device = self.devices[row["gpu"].replace("gh200-96", "gh200")]
        tp, pp, dp = (int(row[k] or 1) for k in ("tp", "pp", "dp"))
        gpus = tp * pp * dp
        isl, osl = int(row["isl"]), int(row["osl"])
        weights, active = model["params"] * BYTES[row["weights"]], model["params_active"]
        per_token = 2 * model["layers"] * model["kv_heads"] * model["head_dim"] * BYTES[row["kv"]]
        peaks = device["peak_flops_per_s"]
        peak = (peaks.get("fp8") if row["activations"] not in ("bf16", "fp16") else None) or peaks.get("bf16") or 1e15
        bandwidth, ctx = device["bandwidth_bytes_per_s"], isl + osl / 2
        room = 0.9 * device["memory_bytes"] * gpus - weights * dp
        batch = int(row["batch"]) if row["batch"].isdigit() else max(1, min(2048, room / (per_token * (isl + osl))))

        def decode(b):
            return max((weights * dp + b * ctx * per_token) / (bandwidth * gpus), 2 * active * b / (peak * gpus))
        prefill = 2 * active * isl / (peak * gpus)
        metric = row["metric"]
        if row["batch"].startswith("rate"):
            rate = float(row["batch"][5:-2])
            b = 1.0
            for _ in range(50):
                b = min(batch, max(1.0, rate * osl * decode(b)))
            batch = b
        if metric == "ttft_ms":
            return 1e3 * max(prefill, weights / (bandwidth * gpus))
        if metric == "itl_ms":
            return 1e3 * decode(batch)
        if metric == "decode_tok_s_gpu":
            return batch / decode(batch) / gpus
        if metric == "prefill_tok_s_gpu":
            return isl / prefill / gpus
        time = batch * prefill + osl * decode(batch)
        if metric == "latency_s":
            return time
        rate = batch * (osl + (isl if metric == "total_tok_s" else 0)) / time
        return rate / gpus if metric == "output_tok_s_gpu" else rate


def summary(rows):
    """count, mean error, bias, share within the interval, the roofline's mean error."""
    errors = [abs(r["ratio"] - 1) for r in rows]
    inside = sum(r["low"] <= r["value"] <= r["high"] for r in rows) / len(rows)
    bias = math.exp(sum(math.log(r["ratio"]) for r in rows) / len(rows)) - 1
    roof = sum(abs(r["roofline"] / r["value"] - 1) for r in rows) / len(rows)
    return len(rows), sum(errors) / len(rows), bias, inside, roof


def table(title, rows, key):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    print(f"| {title} | rows | mean error | bias | within 90% | roofline's error |\n|---|---|---|---|---|---|")
    for name in sorted(groups):
        count, error, bias, inside, roof = summary(groups[name])
        print(f"| {name} | {count} | {100 * error:.1f}% | {100 * bias:+.1f}% | {100 * inside:.0f}% | {100 * roof:.0f}% |")
    print()


HEAD = """# Serving against published figures

Printed by `bench/serving_errors.py PROGRAM TABLE.csv --page` from a table of published figures ({total} rows of TensorRT-LLM's, vLLM's, SGLang's, Qwen's, ROCm's and gpt-fast's own pages; the table is not ours and stays out of the repository). `predict serving`
prices each row as [serving](../serving.md) says. An error is |predicted / published − 1|, a bias the mean of log(predicted / published). Constants (what an engine's host adds to a step, and the spread of its interval) were set on half of the (source, model)
pairs, chosen by a hash; the tables below the first show the other half. The roofline reads weights and cache once at the data sheet's bandwidth or computes at its peak, whichever takes longer, with as many requests as memory holds.
"""

UNKNOWN = """## What a row needs that nobody can know

| rows | not published | taken as |
|---|---|---|
| TensorRT-LLM, in-flight batching | the largest batch and the tokens of a step | what trtllm-bench estimates from the lengths and the memory (its `bench/build/tuning.py`; for MXFP4 its defaults, 2,048 and 8,192), with 0.95 of what weights leave; requests as its pages state (30,000 at 128/128 to 1,000 at 22,000 tokens) |
| TensorRT-LLM 1.0 and 1.1, DeepSeek | whether its batch was estimated as if every head kept keys, as `tuning.py` did then: 64 to 384 sequences a GPU | not: by what latent attention keeps, as later releases do |
| TensorRT-LLM 0.12 | why it is slower than 0.17; how much its logits of up to 8,192 sequences in several copies leave of the memory | 3 ms between steps, set on Mistral 7B; nothing. Batch and tokens are those of its `benchmark_config.yml` |
| TensorRT-LLM 1.0, experts | how experts and attention are split | tensor parallelism, or every GPU its own requests beside shared experts, whichever gives more |
| TensorRT-LLM 1.1, gpt-oss on Hopper | how fast Triton's kernels for MXFP4 experts are; its page names them, no timings are public | as TensorRT-LLM 1.3's own kernels, which were timed, with 16-bit activations as its source has it (W4A16 before Blackwell) |
| DeepSeek's fp8 | | in blocks of 128, as its checkpoint |
| TensorRT-LLM 1.1, DEP | how far GPUs with requests of their own wait for each other | not at all |
| TensorRT-LLM online | concurrency; lengths are means of a data set; what Triton's streaming adds | Poisson arrivals of 500 equal requests; 2.5 ms a step and 20 µs a sequence, set on its rows (`tensorrt-llm-triton`) |
| TensorRT-LLM 0.9, Falcon | how often its 29 query heads find their shared keys in the L2 cache | never |
| GH200 with tensor parallelism | the link | NVLink, as in GH200 NVL32 and DGX GH200 |
| Qwen's pages | which A100; how host and sampling were set up | SXM; one host cost for vLLM 0.6 |
| SGLang's DeepSeek rows | balance of experts, drafts | a spare expert on every GPU and the default skew, none |
| ROCm | the cache's type at `auto`; whether tokens are output or total | 16 bits; output |
| gpt-fast | the A100's power limit of 330 W, its links | 400 W, the data sheet's |
"""


def main():
    program, path = sys.argv[1:3]
    given = list(csv.DictReader(open(path)))
    out = subprocess.run([program, "predict", "serving", "--from", path, "--keep-going"], capture_output=True, text=True)
    if out.returncode != 0:
        sys.exit(out.stderr)
    roofline = Roofline(program)
    rows = []
    for row in csv.DictReader(io.StringIO(out.stdout)):
        if not row["predicted"]:
            continue
        for name in ("value", "predicted", "low", "high"):
            row[name] = float(row[name])
        row["ratio"] = row["predicted"] / row["value"]
        row["roofline"] = roofline.predict(row)
        rows.append(row)
    page = "--page" in sys.argv
    if page:
        print(HEAD.format(total=len(given)))
    print(f"{len(rows)} of {len(given)} rows predicted.\n")
    table("rows", rows, lambda r: "set constants" if sets_constants(r) else "judge")
    judging = [r for r in rows if not sets_constants(r)]
    for title, key in (("engine", engine), ("source", lambda r: r["source"]), ("GPU", lambda r: r["gpu"]), ("weights", lambda r: r["weights"]), ("metric", lambda r: r["metric"]),
                       ("model", lambda r: r["tw_model"])):
        table(title, judging if page else rows, key)
    if page:
        print(UNKNOWN, end="")
    if "--rows" in sys.argv:
        for r in sorted(rows, key=lambda r: abs(math.log(r["ratio"]))):
            print(f"{r['ratio']:.2f} {r['roofline'] / r['value']:.2f} {r['source']} {r['tw_model']} {r['gpu']} {r['weights']}/{r['kv']} {r['isl']}/{r['osl']} batch {r['batch']} tp {r['tp']} pp {r['pp']} dp {r['dp']} "
                  f"{r['metric']} {r['value']:.5g} predicted {r['predicted']:.5g}")


if __name__ == "__main__":
    main()

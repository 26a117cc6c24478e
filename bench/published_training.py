#!/usr/bin/env python3
"""published_training.py PROGRAM TABLE.csv [--cases] [--source TEXT]: published training runs against what `predict` says of them.

TABLE has a row for each run: source, tw_model (a name of the catalogue), gpu, gpus, weights (the precision), tp, pp, dp, cp, ep, vp,
fsdp, micro_batch, global_batch, seq, recompute, task, metric (tok_s_gpu, step_s, or tflops_gpu with the whole square of attention), value,
note. Prints by source and precision how far off the step is, and how much of it is the host's. Rows without a model, a micro-batch or a GPU
that is known here are counted as left out."""
import argparse
import collections
import csv
import json
import os
import subprocess
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
CLUSTERS = {"h100-sxm": "dgx-h100", "h200": "dgx-h200", "a100-80-sxm": "dgx-a100", "b200": "dgx-b200", "gb200": "gb200-nvl72",
            "b300": "dgx-b300", "gb300": "gb300-nvl72"}
PRECISIONS = {"bf16": "bf16", "fp8": "fp8", "mxfp8": "mxfp8"}
NAMES = {"nemotron-15b": "nemotron-4-15b", "nemotron-340b": "nemotron-4-340b"}
RECOMPUTE = {"": "none", "none": "none", "full": "full", "selective op": "early", "selective layer": "early"}


def device_flags(gpu, folder):
    """A cluster, or torchtitan's H100 of 96 GB with HBM2e at 500 W (its README) as a file of its own."""
    if gpu in CLUSTERS:
        return ["--cluster", CLUSTERS[gpu]]
    if gpu != "h100-96-hbm2e":
        return None
    path = os.path.join(folder, gpu + ".toml")
    with open(os.path.join(ROOT, "data", "devices", "h100-sxm.toml"), encoding="utf-8") as source, open(path, "w", encoding="utf-8") as own:
        changed = {"memory_bytes": "96000000000", "usable_memory_bytes": "94500000000", "bandwidth_bytes_per_s": "2.4e12", "power_w": "500"}
        for line in source:
            key = line.split("=")[0].strip()
            own.write(f"{key} = {changed.pop(key)}\n" if key in changed else line)
    return ["--device-file", path]


def experts_of(row):
    """Whether a recipe of Megatron Bridge sends tokens by its flex dispatcher (DeepEP, HybridEP), and whether it hides the exchange
    beside another micro-batch: `moe_flex_dispatcher_backend` and `moe_a2a_overlap` in scripts/performance/configs/{qwen3,qwen,kimi,
    deepseek}/*workload_base_configs.py; from NeMo 26.06 src/megatron/bridge/perf_recipes, `_enable_hybridep_full_iteration_mxfp8`.
    A release is the one whose configuration has the row's ranks and micro-batch."""
    release = tuple(int(part) for part in row["software"].split()[-1].split(".")) if row["source"] == "megatron-bridge" else ()
    if int(row["ep"] or 1) == 1 or release < (26,):
        return False, False
    gpu, small = row["gpu"], row["tw_model"] == "qwen3-30b-a3b"
    if not row["tw_model"].startswith("qwen3"):
        return gpu in ("gb200", "gb300") or (gpu == "h100-sxm" and "deepseek" in row["tw_model"]), gpu == "h100-sxm"
    whole_step = release >= (26, 6) and row["weights"] == "mxfp8" and gpu in ("gb200", "gb300", "b300")  # one graph
    flex = gpu in ("gb200", "gb300") or (gpu == "b300" and (small or release >= (26, 4)))
    flex = flex or (small and (gpu == "b200" and row["micro_batch"] == "4" or gpu == "h100-sxm" and row["ep"] == "16"))
    return flex, whole_step or (gpu in ("h100-sxm", "b300") and not flex)


def runtime_of(row):
    if row["source"] != "torchtitan" and experts_of(row)[0]:  # moe_flex_dispatcher_backend: only DeepSeek-V3 on H100 has DeepEP
        return "megatron-deepep" if row["gpu"] == "h100-sxm" and "deepseek" in row["tw_model"] else "megatron-hybridep"
    if row["source"] != "torchtitan":
        return "megatron"
    return "torchtitan" if "compiled" in row["note"] else "pytorch"


def overlap_of(row):
    """What runs beside products: as the recipes have it."""
    if row["source"] == "torchtitan":
        return "all" if "async" in row["note"] else "data"
    return "experts" if experts_of(row)[1] else "all"


def attention_of(row):
    """What PyTorch of torchtitan's years took, and Transformer Engine of NeMo 24.03 with context ranks ("only implemented with Flash
    Attention")."""
    return ["--attention", "flash2"] if row["source"] in ("torchtitan", "nemo-docs-long") else []


def step_of(row, answer):
    value, tokens = float(row["value"]), int(row["global_batch"]) * int(row["seq"])
    if row["metric"] == "step_s":
        return value
    if row["metric"] == "tok_s_gpu":
        return tokens / value / int(row["gpus"])
    unseen = 6 * answer["shape"]["layers"] * answer["shape"]["hidden"] * int(row["seq"]) * tokens  # half of attention, thrice
    return (answer["flops"] + unseen) / (value * 1e12) / int(row["gpus"])


def command_of(row, program, folder):
    flags = device_flags(row["gpu"], folder)
    counts = {name: int(row[name] or 1) for name in ("tp", "pp", "dp", "cp", "ep", "vp")}
    if flags is None or not row["tw_model"] or row["weights"] not in PRECISIONS or not row["micro_batch"] or row["task"] != "pretrain" \
            or row["source"] == "nemo-docs-long" and counts["cp"] == 1:  # micro-batches are not stated; long sequences come singly
        return None
    micro_batches = int(row["global_batch"]) // (counts["dp"] * int(row["micro_batch"]))
    command = [program, "predict", NAMES.get(row["tw_model"], row["tw_model"]), *flags, "--runtime", runtime_of(row), "--master", "fp32", "--precision",
               PRECISIONS[row["weights"]], "--batch", row["micro_batch"], "--seq", row["seq"], "--micro-batches", str(micro_batches),
               "--recompute", RECOMPUTE.get(row["recompute"], "none"), "--zero", "3" if int(row["fsdp"] or 0) > 0 else "1", "--json",
               "--overlap", overlap_of(row)]
    for flag, count in counts.items():
        if count > 1:
            command += ["--virtual-stages" if flag == "vp" else "--" + flag, str(count)]
    return command + attention_of(row) + (["--sequence-parallel"] if counts["tp"] > 1 else [])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("table")
    parser.add_argument("--cases", action="store_true")
    parser.add_argument("--source", default="")
    options = parser.parse_args()
    errors, left_out = collections.defaultdict(list), collections.Counter()
    with tempfile.TemporaryDirectory() as folder, open(options.table, newline="", encoding="utf-8") as table:
        for row in csv.DictReader(table):
            if options.source not in row["source"]:
                continue
            command = command_of(row, options.program, folder)
            done = subprocess.run(command, capture_output=True, text=True) if command else None
            if done is None or done.returncode != 0:
                left_out[row["source"], (done.stderr.strip().splitlines() or ["?"])[-1][:90] if done else "not asked"] += 1
                continue
            answer = json.loads(done.stdout)
            step = step_of(row, answer)
            error = answer["time_s"] / step - 1
            errors[row["source"], row["gpu"], row["weights"]].append((error, answer["low_s"] <= step <= answer["high_s"]))
            if options.cases:
                print(f"{row['source']:18} {row['model']:20} {row['gpu']:14} {row['gpus']:>5} {row['weights']:6} measured {step:8.3f} s "
                      f"predicted {answer['time_s']:8.3f} s {error:+6.1%} idle {answer['idle_s'] / answer['time_s']:5.1%}")
    for group, found in sorted(errors.items()):
        mean = sum(abs(error) for error, _ in found) / len(found)
        bias = sum(error for error, _ in found) / len(found)
        inside = sum(inside for _, inside in found) / len(found)
        print(f"{' '.join(group):44} {len(found):3} runs  mean error {mean:5.1%}  bias {bias:+6.1%}  inside 90% {inside:4.0%}")
    for (source, why), count in sorted(left_out.items()):
        print(f"left out: {source} {count} runs: {why}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Predicts every case of bench/measured/stopwatch*.jsonl from its shape alone, and prints how far off it is.

    python3 bench/stopwatch_errors.py [PROGRAM] [--cases] [--page] [--only TEXT]

A case is `tilewright predict CONFIG --gpu h200 --runtime R --phase P --batch B --seq S [--master fp32]`, with the configuration as the
stopwatch built the class from. Time is the stopwatch's, the mean where a case was taken several times; GPU busy is the profiler's.
Beside it: a roofline of the data sheet (`ideal` kernels at their rooflines) and a constant MFU, the mean of the classes that may set
constants. Classes that constants were fitted to and classes held out (bench/hf_models.py) are told apart. --page prints
docs/accuracy/stopwatch.md."""
import argparse
import collections
import csv
import glob
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile

from capture_errors import show
from hf_models import PLAIN, role

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(ROOT, "python"))
from tilewright_host import THERE  # noqa: E402
MEASURED = os.path.join(ROOT, "bench", "measured")
TYPES = {"GPT2LMHeadModel": "gpt2", "OPTForCausalLM": "opt", "GPTNeoXForCausalLM": "gpt_neox", "LlamaForCausalLM": "llama",
         "MistralForCausalLM": "mistral", "Qwen2ForCausalLM": "qwen2", "Qwen3ForCausalLM": "qwen3", "GemmaForCausalLM": "gemma",
         "Gemma2ForCausalLM": "gemma2", "PhiForCausalLM": "phi", "Phi3ForCausalLM": "phi3", "FalconForCausalLM": "falcon",
         "MixtralForCausalLM": "mixtral", "Qwen3MoeForCausalLM": "qwen3_moe"}


def lines(pattern):
    found = []
    for path in sorted(glob.glob(os.path.join(MEASURED, pattern))):
        open_it = gzip.open if path.endswith(".gz") else open
        with open_it(path, "rt", encoding="utf-8") as file:
            found += [json.loads(line) for line in file]
    return [row for row in found if row.get("status") == "ok"]


def key_of(row):
    return tuple(row[name] for name in ("model", "phase", "batch", "seq", "runtime", "master"))


def shape_file(folder, row):
    """The class's configuration as a config.json, or the plain model's shape in our own form."""
    path = os.path.join(folder, row["model"] + "-" + row["runtime"] + ".json")
    if row["runtime"] == "pytorch":
        path = path[:-5] + ".toml"
        fields = "".join(f"{name} = {json.dumps(value)}\n" for name, value in PLAIN[row["model"]].items())
        text = "[shape]\n" + fields
    else:
        text = json.dumps(row["config"] | {"model_type": TYPES[row["class"]]})
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def predict(program, path, row, runtime, more=()):
    command = [program, "predict", path, "--gpu", "h200", "--runtime", runtime, "--phase", row["phase"], "--batch", str(row["batch"]),
               "--seq", str(row["seq"]), "--json", *more]
    if row["master"] == "fp32":
        command += ["--master", "fp32"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(" ".join(command) + "\n" + done.stderr)
    return json.loads(done.stdout)


def compared(program, only):
    taken = collections.defaultdict(list)
    for row in lines("stopwatch*.jsonl"):
        taken[key_of(row)].append(row)
    busy = {key_of(row): row for row in lines("stopwatch-busy*.jsonl.gz")}
    cases = []
    with tempfile.TemporaryDirectory() as folder:
        for key, rows in taken.items():
            if only and only not in " ".join(map(str, key)):
                continue
            row = rows[0]
            path = shape_file(folder, row)
            answer = predict(program, path, row, row["runtime"])
            ideal = predict(program, path, row, "ideal")
            times = [taken_once["time_s"] for taken_once in rows]
            cases.append({"key": key, "role": role(row["model"]) if row["runtime"] != "pytorch" else "plain",
                          "times": times, "time": sum(times) / len(times), "predicted": answer["time_s"], "low": answer["low_s"],
                          "high": answer["high_s"], "busy": busy.get(key, {}).get("gpu_busy_s"), "gpu": answer["gpu_busy_s"],
                          "host": answer["host_time_s"], "flops": answer["flops"], "roofline": ideal["terms"]["roofline_s"],
                          "launches": (busy.get(key, {}).get("launches"), answer["launches"])})
    return cases


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else float("nan")


def off(predicted, measured):
    return abs(predicted / measured - 1)


def group_of(case):
    _, phase, _, _, runtime, master = case["key"]
    name = runtime + ", " + phase
    return name + (", fp32 weights" if master == "fp32" else "")


PAGE = """# How far off: the stopwatch

Written by `python3 bench/stopwatch_errors.py PROGRAM --page`; do not edit it. `--cases` prints every case.

Real classes of transformers 5.17 and the plain model of `bench/pytorch_model.py` on one H200, wall clock ([method](../stopwatch.md)), predicted from their shapes alone with the [runtime](../runtimes.md) that ran them.
*Fit* classes may set constants of a runtime (GPT-2, OPT, Llama, Gemma, Mixtral); *held out* ones only judge (GPT-NeoX, Mistral, Qwen2, Qwen3, Gemma-2, Phi, Phi-3, Falcon, Qwen3-MoE); *plain* is the plain model, whose host costs were set to these cases: its row shows a fit, not a judgement.
Errors are means of absolute errors, in parts of the measured time: of the step, and of GPU-busy time where the profiler ran. `inside 90%` is the share of measured times within the interval; a case that was taken several times counts each time there and once, by the mean, in the errors.

Beside them: a *roofline* (the `ideal` runtime's kernels at peak and bandwidth of the data sheet) and a *constant MFU*, the mean of the classes that may set constants, by phase.

The host's spread was set on the classes that may set constants, so that *held out* judges it; `huggingface-compiled`'s own was widened until its two worst cases lay inside and shows a fit.

"""

HOST = """## How well the host can be known

The host of these machines runs at two speeds, a factor of 1.5 to 2 apart, and changes within seconds. Prefill of short prompts, decode and small training steps are the host's time. `stopwatch-3.jsonl` has such cases again and again, with the ops
of `tilewright measure host` timed beside each ([method](../stopwatch.md#in-turn)). Of its {times} single times of {cases} cases:

| predicted by | fit | held out |
|---|---|---|
| another time of the same case, some minutes apart | {other_fit} | {other_held} |
| the runtime | {own_fit} | {own_held} |
| the runtime with `--host-scale` as the ops beside it say | {scaled_fit} | {scaled_held} |
"""

PLAIN_GPU = """
## Plain PyTorch, the GPU alone

Steps of `bench/measured/models.csv`, replayed as CUDA graphs: no host. None of these models was fitted.

| runtime, phase | steps | mean error | worst | inside 90% |
|---|---|---|---|---|
"""


def table(cases):
    """By runtime, phase and role: the mean error of the step, of GPU busy time, of a roofline and of a constant MFU."""
    rates = collections.defaultdict(list)
    for case in cases:
        if case["role"] != "held out":
            rates[case["key"][1]].append(case["flops"] / case["time"])
    groups = collections.defaultdict(list)
    for case in cases:
        groups[group_of(case), case["role"]].append(case)
    head = ["runtime, phase", "classes", "cases", "step", "GPU busy", "inside 90%", "roofline", "constant MFU"]
    rows = []
    for (name, kind), members in sorted(groups.items()):
        rate = mean(rates[members[0]["key"][1]])
        with_busy = [case for case in members if case["busy"]]
        inside = [case["low"] <= time <= case["high"] for case in members for time in case["times"]]
        rows.append([name, kind, str(len(members)), f"{mean(off(c['predicted'], c['time']) for c in members):.1%}",
                     f"{mean(off(c['gpu'], c['busy']) for c in with_busy):.1%}" if with_busy else "–", f"{mean(inside):.0%}",
                     f"{mean(off(c['roofline'], c['time']) for c in members):.0%}",
                     f"{mean(off(c['flops'] / rate, c['time']) for c in members):.0%}"])
    return [head] + rows


def probed_scale(row):
    """`tilewright measure host` for the moments around a time."""
    return statistics.geometric_mean(probe[op] / there for probe in row["probes_us"] for op, there in THERE.items())


def host_text(program):
    """Single times of steps that the host bounds: predicted by another one, by the runtime, and by the runtime at the host's speed beside them."""
    rows = lines("stopwatch-3.jsonl")
    by_case = collections.defaultdict(list)
    for row in rows:
        by_case[key_of(row)].append(row["time_s"])
    found = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        for row in rows:
            path, time, kind = shape_file(folder, row), row["time_s"], row["role"].split()[0]
            found["own_" + kind].append(off(predict(program, path, row, row["runtime"])["time_s"], time))
            found["scaled_" + kind].append(off(predict(program, path, row, row["runtime"], ["--host-scale", f"{probed_scale(row):.4f}"])["time_s"], time))
            found["other_" + kind] += [off(other, time) for other in by_case[key_of(row)] if other != time]
    return HOST.format(times=len(rows), cases=len(by_case), **{name: f"{mean(errors):.1%}" for name, errors in found.items()})


def plain_text(program):
    groups = collections.defaultdict(list)
    with open(os.path.join(MEASURED, "models.csv"), newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            runtime = {"eager": "pytorch-graphs", "compiled": "pytorch-compiled"}[row["runtime"]]
            command = [program, "predict", row["model"], "--gpu", "h200", "--runtime", runtime, "--phase", row["phase"], "--batch",
                       row["batch"], "--seq", row["seq"], "--json"]
            answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            time = float(row["measured_us"]) * 1e-6
            busy = answer["gpu_busy_s"]
            inside = busy * answer["layer"]["low_s"] / answer["layer"]["time_s"] <= time <= busy * answer["layer"]["high_s"] / answer["layer"]["time_s"]
            groups[runtime + ", " + row["phase"]].append((off(busy, time), inside))
    lines = [f"| {name} | {len(found)} | {mean(error for error, _ in found):.1%} | {max(error for error, _ in found):.1%} | "
             f"{mean(inside for _, inside in found):.0%} |\n" for name, found in sorted(groups.items())]
    return PLAIN_GPU + "".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs="?", default=os.path.join(ROOT, "build", "release", "tilewright"))
    parser.add_argument("--cases", action="store_true")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    cases = compared(options.program, options.only)
    for case in cases if options.cases else []:
        gpu = f"{case['busy'] * 1e3:8.2f} {case['gpu'] * 1e3:8.2f} {case['gpu'] / case['busy'] - 1:+6.1%}" if case["busy"] else " " * 24
        times = ", ".join(f"{time * 1e3:.1f}" for time in case["times"])
        print(f"{' '.join(map(str, case['key'])):58} {case['role']:8} {times:>14} {case['predicted'] * 1e3:8.2f} "
              f"{case['predicted'] / case['time'] - 1:+6.1%}  gpu {gpu}  host {case['host'] * 1e3:7.2f}  launches {case['launches']}")
    if options.page:
        print(PAGE, end="")
    show(table(cases), options.page)
    if not options.only:
        print(host_text(options.program) + plain_text(options.program), end="")


if __name__ == "__main__":
    main()

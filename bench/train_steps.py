#!/usr/bin/env python3
"""Times the shapes of bench/case_studies.json as full training steps in PyTorch: forward, cross-entropy, backward and a
fused AdamW step on a model in bf16, eager or compiled, as a CUDA graph. What does not fit the GPU is timed with a
quarter and with half of its layers and carried on to all of them. With --twice every model's baseline is timed again after its candidates,
so that a drift of the clock shows.

    python3 bench/train_steps.py --from bench/case_studies.json --out steps.jsonl [--budget 540] [--only MODEL]
    python3 bench/train_steps.py --out /dev/null --warm 1/4      only compile, the first of four parts, into the cache;
                                                                 but not what is padded
"""
import argparse
import gc
import json
import time

import torch
import torch._dynamo

from pytorch_model import train_step
from pytorch_timing import STREAM, part_of, run_line, timed_step

USABLE = 0.85  # of the memory; the rest is the context's, the allocator's and the compiler's


def time_layers(shape, layers, compiled):
    torch._dynamo.reset()
    with torch.cuda.stream(STREAM):
        step = train_step(shape, layers, compiled)
    timed = timed_step(step)
    timed["peak_bytes"] = torch.cuda.max_memory_allocated()
    del step
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    return timed


def time_step(shape, compiled):
    """The whole step where it fits, else the step of half the layers and what the others add, as the second quarter did."""
    layers = shape["layers"]
    if shape["memory_bytes"] < USABLE * torch.cuda.get_device_properties(0).total_memory:
        return time_layers(shape, layers, compiled) | {"extrapolated": False}
    quarter, half = time_layers(shape, layers // 4, compiled), time_layers(shape, layers // 2, compiled)
    each = (half["time_us"] - quarter["time_us"]) / (layers // 2 - layers // 4)
    whole = half["time_us"] + (layers - layers // 2) * each
    return half | {"time_us": round(whole, 3), "half_us": half["time_us"], "quarter_us": quarter["time_us"], "extrapolated": True}


def sample(case, kind, index):
    line = {"schema": "tilewright.step/1", "model": case["model"], "runtime": case["runtime"], "kind": kind, "round": index,
            "device": torch.cuda.get_device_name()}
    try:
        return line | {"status": "ok"} | time_step(case["shapes"][kind], case["runtime"] == "compiled")
    except Exception as error:  # one shape that PyTorch refuses must not end the run
        torch.cuda.synchronize()
        gc.collect()
        torch.cuda.empty_cache()
        return line | {"status": "failed", "reason": str(error).splitlines()[0][:200]}


def padded(shape):
    """Whether Inductor has products to pad: it times whether that pays, so nothing else may run then."""
    return any(shape[size] % 8 for size in ("hidden", "ffn", "vocab"))


def warm(cases, part):
    shapes = [shape for case in cases if case["runtime"] == "compiled" for shape in case["shapes"].values()]
    for shape in part_of([shape for shape in shapes if not padded(shape)], part):
        torch._dynamo.reset()
        train_step(shape, 1)()
        torch.cuda.synchronize()
        gc.collect()
        torch.cuda.empty_cache()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="source", default="bench/case_studies.json")
    parser.add_argument("--out", required=True)
    parser.add_argument("--budget", type=float, default=540.0, help="seconds; what is left over is not measured")
    parser.add_argument("--only", default="", help="a model's name")
    parser.add_argument("--runtime", default="", help="eager or compiled; both when not given")
    parser.add_argument("--twice", action="store_true", help="every baseline again at the end")
    parser.add_argument("--kinds", default="", help="only these beside the baseline, with commas between")
    parser.add_argument("--warm", default="", help="K/N: only compile part K of N")
    arguments = parser.parse_args()
    torch._dynamo.config.automatic_dynamic_shapes = False
    cases = [case for case in json.load(open(arguments.source))["cases"]
             if arguments.only in ("", case["model"]) and arguments.runtime in ("", case["runtime"])]
    for case in cases:
        kinds = ["baseline", *(arguments.kinds.split(",") if arguments.kinds else case["predicted"])]
        case["shapes"] = {kind: shape for kind, shape in case["shapes"].items() if kind in kinds}
    if arguments.warm:
        return warm(cases, arguments.warm)
    end = time.monotonic() + arguments.budget
    out = open(arguments.out, "a", buffering=1)
    out.write(json.dumps(run_line()[1]) + "\n")
    for case in cases:
        for index, kind in enumerate([*case["shapes"], *(["baseline"] if arguments.twice else [])]):
            if time.monotonic() > end:
                return print("the budget is spent; the rest is not measured")
            line = sample(case, kind, index)
            out.write(json.dumps(line) + "\n")
            print(f"{case['model']:24s} {case['runtime']:8s} {kind:10s} {line.get('time_us', 0) / 1e3:10.2f} ms "
                  f"{line.get('clock_mhz', 0):6.0f} MHz {line.get('reason', '')}", flush=True)


if __name__ == "__main__":
    main()

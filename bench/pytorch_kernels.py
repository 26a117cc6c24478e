#!/usr/bin/env python3
"""Takes training steps of drawn one-layer models apart into their kernels, so that what torch.compile and PyTorch's own
fused AdamW launch is timed where it runs. A step is a CUDA graph, replayed until the clock has settled, then profiled;
each line has the shape and the kernels in order with their times. bench/kernel_samples.py makes samples of them.

    python3 bench/pytorch_kernels.py --out /dev/null --warm 1/8     only compile, the first of eight parts, into the cache
    python3 bench/pytorch_kernels.py --out kernels.jsonl --budget 240 [--seed 1] [--count 40] [--runtime compiled]
"""
import argparse
import gc
import json
import random
import statistics
import time

import torch
import torch._dynamo
from torch.autograd import DeviceType

from pytorch_model import train_step
from pytorch_timing import SETTLE_S, STREAM, capture, part_of, replay_for, run_line

REPLAYS = 5  # profiled; a kernel's time is their median
MOST_FLOPS = 6e13  # of a step: about 90 ms, so that many shapes are seen


def flops(shape):
    weights = 4 * shape["hidden"] ** 2 + 3 * shape["hidden"] * shape["ffn"] + shape["hidden"] * shape["vocab"]
    return 6.0 * shape["batch"] * shape["seq"] * weights


def draw_shape(draw):
    head = draw.choice([32, 64, 64, 80, 96, 104, 128, 128, 128, 160])
    heads = draw.choice([4, 6, 8, 10, 12, 15, 16, 20, 24, 25, 32, 40, 41, 48, 64])
    gated = draw.random() < 0.45
    parallel = not gated and draw.random() < 0.35
    hidden = heads * head + (4 * draw.randint(1, 16) if draw.random() < 0.15 else 0)
    wide = round(hidden * draw.choice([2.0, 8 / 3, 3.0, 3.5, 4.0, 5.0]))
    ffn = draw.choice([wide // 128 * 128, wide // 64 * 64, 4 * hidden, wide // 2 * 2])
    seq = draw.choice([512, 1024, 2048, 2048, 4096])
    shape = {"hidden": hidden, "heads": heads, "kv_heads": heads // 4 if gated and heads % 4 == 0 and draw.random() < 0.5 else heads,
             "head_dim": head, "ffn": ffn, "vocab": draw.choice([16000, 32000, 32000, 50257, 50304, 65024, 128256]),
             "mlp": "swiglu" if gated else "gelu", "block": "parallel" if parallel else "sequential",
             "norm": "rms" if gated else "layer", "norms_per_layer": draw.choice([1, 2]) if parallel else 2,
             "positions": "rotary" if gated or draw.random() < 0.5 else "learned", "position_rows": seq,
             "tied": draw.random() < 0.5, "bias_qkv": not gated or draw.random() < 0.3, "bias_projection": not gated,
             "bias_mlp": not gated, "bias_head": False,
             "batch": max(1, draw.choice([1024, 2048, 4096, 8192, 8192, 8192, 16384, 16384, 32768]) // seq), "seq": seq}
    fits = 512 <= hidden <= 8192 and flops(shape) < MOST_FLOPS and shape["batch"] * seq * shape["vocab"] < 1.2e9
    return shape if fits else draw_shape(draw)


def kernels_of(graph, replays=REPLAYS):
    """The span of a replay, and its kernels in order, each with its name and time; all in microseconds."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        for _ in range(replays):
            graph.replay()
        torch.cuda.synchronize()
    events = [event for event in profile.events() if event.device_type == DeviceType.CUDA]
    events.sort(key=lambda event: event.time_range.start)
    count, rest = divmod(len(events), replays)
    if rest and replays > 1:
        return kernels_of(graph, 1)
    times = [event.time_range.elapsed_us() for event in events]
    kernels = [[event.name[:300], round(statistics.median(times[index::count]), 2)] for index, event in enumerate(events[:count])]
    return {"span_us": round(events[count - 1].time_range.end - events[0].time_range.start, 2), "kernels": kernels}


def take_apart(shape, runtime):
    torch._dynamo.reset()
    with torch.cuda.stream(STREAM):
        step = train_step(shape, 1, runtime == "compiled")
    graph = capture(step)
    once, _ = replay_for(graph, 1, 0.0)[-1]
    readings = replay_for(graph, max(1, int(0.02 / once)), SETTLE_S)
    settled = readings[len(readings) // 2 :]
    return {"time_us": round(1e6 * statistics.median(seconds for seconds, _ in settled), 3),
            "clock_mhz": statistics.median(clock for _, clock in settled)} | kernels_of(graph)


def forget():
    gc.collect()
    torch.cuda.empty_cache()


def warm(shapes):
    for shape in shapes:
        torch._dynamo.reset()
        try:
            train_step(shape, 1)()
        except Exception as error:  # one shape that PyTorch refuses must not end the run
            print(str(error).splitlines()[0][:150])
        torch.cuda.synchronize()
        forget()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True)
    parser.add_argument("--budget", type=float, default=240.0, help="seconds; what is left over is not measured")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=40, help="shapes")
    parser.add_argument("--runtime", default="compiled", help="eager or compiled")
    parser.add_argument("--warm", default="", help="K/N: only compile part K of N")
    arguments = parser.parse_args()
    torch._dynamo.config.automatic_dynamic_shapes = False
    draw = random.Random(f"kernels {arguments.seed}")
    shapes = [draw_shape(draw) for _ in range(arguments.count)]
    if arguments.warm:
        return warm(part_of(shapes, arguments.warm))
    end = time.monotonic() + arguments.budget
    out = open(arguments.out, "a", buffering=1)
    run, line = run_line()
    out.write(json.dumps(line) + "\n")
    for index, shape in enumerate(shapes):
        if time.monotonic() > end:
            return print(f"the budget is spent; {len(shapes) - index} shapes are not measured")
        line = {"schema": "tilewright.kernels/1", "runtime": arguments.runtime, "device": torch.cuda.get_device_name(),
                "shape": shape, "run": run}
        try:
            line |= {"status": "ok"} | take_apart(shape, arguments.runtime)
        except Exception as error:  # as above
            torch.cuda.synchronize()
            line |= {"status": "failed", "reason": str(error).splitlines()[0][:200]}
        forget()
        out.write(json.dumps(line) + "\n")
        print(f"{shape['hidden']:5d} {shape['ffn']:6d} {shape['batch'] * shape['seq']:6d} {line.get('time_us', 0):10.1f} us "
              f"{len(line.get('kernels', [])):4d} kernels {line.get('clock_mhz', 0):6.0f} MHz {line.get('reason', '')}", flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Takes steps of drawn one-layer models apart into their kernels, so that what torch.compile, PyTorch's own operators and
its fused AdamW launch is timed where it runs. A step is a CUDA graph, replayed until the clock has settled, then
profiled; each line has the shape and the kernels in order with their times. bench/kernel_samples.py makes samples of
them. Workers compile at once, then take turns on the GPU.

    TORCHINDUCTOR_COMPILE_THREADS=1 python3 bench/pytorch_kernels.py --out kernels.jsonl --workers 15 [--seed 1] [--count 40]
        [--draw any] [--runtime compiled,eager] [--compile-s 80] [--budget 60]
"""
import argparse
import gc
import json
import multiprocessing
import random
import statistics
import threading
import time

import torch
import torch._dynamo
from torch.autograd import DeviceType

from pytorch_model import decode_step, prefill_step, train_step
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


VOCABULARIES = [30522, 32003, 50254, 50257, 50257, 50265, 100277, 128256, 151665, 151936]
MOST_FLOPS_OF_ANY = 2.5e13  # of a step: products with odd rows are slow
MOST_PARAMETERS = 5e8  # models of all workers are in memory at once


def in_phase(shape, draw):
    """The shape run in its phase, for as many tokens as that has; none where that is too much."""
    if shape["phase"] == "prefill":
        prompt = draw.choice([128, 512, 2048, 8192])
        shape["seq"] = shape["position_rows"] = min(shape["seq"], prompt)
        shape["batch"] = prompt // shape["seq"]
    if shape["phase"] == "decode":
        shape["batch"] = draw.choice([1, 2, 4, 8, 16, 32, 64, 128, 256])
        shape["seq"] = shape["position_rows"] = draw.choice([128, 512, 2048]) if shape["batch"] <= 32 else 128
    tokens = shape["batch"] * (1 if shape["phase"] == "decode" else shape["seq"])
    parameters = flops(shape) / (6.0 * shape["batch"] * shape["seq"])
    fits = parameters < MOST_PARAMETERS and 6.0 * parameters * tokens < MOST_FLOPS_OF_ANY and tokens * shape["vocab"] < 6e8
    return shape if fits else None


def draw_any(draw):
    """A drawn shape with a vocabulary and often a hidden size that nobody aligned, in one of the phases."""
    shape = draw_shape(draw)
    any_vocab = draw.randint(8000, 160000)
    apart = draw.choice([0, 0, 0, 8, 4, 2, 1])
    shape |= {"vocab": draw.choice([*VOCABULARIES, any_vocab, any_vocab]), "hidden": shape["hidden"] - apart * draw.choice([1, 3, 5]),
              "phase": draw.choice(["train"] * 10 + ["prefill"] * 2 + ["decode"] * 2), "layers": 1}
    return in_phase(shape, draw) or draw_any(draw)


def draw_published(draw):
    """A drawn shape with the sizes that published models have, in one of the phases."""
    shape = draw_shape(draw)
    hidden, head = draw.choice([768, 1024, 2048, 2048, 3072, 4096, 4096, 5120, 6144]), draw.choice([64, 128])
    shape |= {"hidden": hidden, "head_dim": head, "heads": hidden // head, "layers": 1,
              "kv_heads": hidden // head // (4 if shape["kv_heads"] < shape["heads"] else 1),
              "ffn": hidden * 8 // 3 // 256 * 256 if shape["mlp"] == "swiglu" else 4 * hidden,
              "phase": draw.choice(["train", "train", "prefill", "decode", "decode"])}
    return in_phase(shape, draw) or draw_published(draw)


DRAWS = {"planned": lambda draw: draw_shape(draw) | {"phase": "train", "layers": 1}, "any": draw_any, "published": draw_published}


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


def make_step(shape, runtime):
    makers = {"train": train_step, "prefill": prefill_step, "decode": decode_step}
    with torch.cuda.stream(STREAM):
        return makers[shape["phase"]](shape, compiled=runtime == "compiled")


def take_apart(step):
    graph = capture(step)
    once, _ = replay_for(graph, 1, 0.0)[-1]
    readings = replay_for(graph, max(1, int(0.02 / once)), SETTLE_S)
    settled = readings[len(readings) // 2 :]
    return {"time_us": round(1e6 * statistics.median(seconds for seconds, _ in settled), 3),
            "clock_mhz": statistics.median(clock for _, clock in settled)} | kernels_of(graph)


def forget():
    gc.collect()
    torch.cuda.empty_cache()


def compile_steps(shapes, end):
    """The compiled step of each shape, after its first run, as far as there is time."""
    for shape in shapes:
        if time.monotonic() > end:
            return
        try:
            step = make_step(shape, "compiled")
            with torch.cuda.stream(STREAM):
                step()
            yield shape, step
        except Exception as error:  # one shape that PyTorch refuses must not end the run
            print(str(error).splitlines()[0][:150], flush=True)
        torch.cuda.synchronize()
        forget()


def line_of(shape, runtime, make):
    """What the profile of one step tells, or why there is none."""
    line = {"schema": "tilewright.kernels/1", "runtime": runtime, "device": torch.cuda.get_device_name(), "shape": shape}
    try:
        line |= {"status": "ok"} | take_apart(make())
    except Exception as error:  # as above
        torch.cuda.synchronize()
        line |= {"status": "failed", "reason": str(error).splitlines()[0][:200]}
    print(f"{shape['phase']:7s} {runtime:8s} {shape['hidden']:5d} {shape['ffn']:6d} {shape['vocab']:6d} {shape['batch']:4d} x {shape['seq']:5d} "
          f"{line.get('time_us', 0):10.1f} us {len(line.get('kernels', [])):4d} kernels {line.get('reason', '')}", flush=True)
    return line


def work(part, shapes, arguments, shared):
    """A worker: compiles its part, waits until the others have done so too, then times with them in turn."""
    compiled_by, turn, run = shared
    torch._dynamo.config.automatic_dynamic_shapes = False
    torch._dynamo.config.recompile_limit = 64
    start = time.monotonic()
    runtimes = arguments.runtime.split(",")
    mine = part_of(shapes, f"{part + 1}/{arguments.workers}")
    compiled = list(compile_steps(mine, start + arguments.compile_s)) if "compiled" in runtimes else []
    print(f"worker {part}: {len(compiled)} of {len(mine)} compiled after {time.monotonic() - start:.0f} s", flush=True)
    try:
        compiled_by.wait(max(1.0, start + arguments.compile_s + 10 - time.monotonic()))
    except threading.BrokenBarrierError:
        print(f"worker {part}: not all are compiled", flush=True)
    end = time.monotonic() + arguments.budget
    todo = [(shape, "compiled", lambda step=step: step) for shape, step in compiled]
    todo += [(shape, "eager", lambda shape=shape: make_step(shape, "eager")) for shape in mine if "eager" in runtimes]
    compiled.clear()
    for _ in range(len(todo)):
        with turn, open(arguments.out, "a") as out:
            if time.monotonic() > end:
                return print(f"worker {part}: the budget is spent", flush=True)
            out.write(json.dumps(line_of(*todo.pop(0)) | {"run": run}) + "\n")
            forget()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--compile-s", type=float, default=120.0, help="seconds after which no worker starts to compile another shape")
    parser.add_argument("--budget", type=float, default=240.0, help="seconds of timing; what is left over is not measured")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=40, help="shapes")
    parser.add_argument("--draw", default="planned", choices=DRAWS, help="training steps of planned shapes; steps of any; of published ones")
    parser.add_argument("--runtime", default="compiled", help="eager, compiled or both with a comma between")
    arguments = parser.parse_args()
    draw = random.Random(f"kernels {arguments.seed}")
    shapes = [DRAWS[arguments.draw](draw) for _ in range(arguments.count)]
    run, line = run_line()
    with open(arguments.out, "a") as out:
        out.write(json.dumps(line) + "\n")
    context = multiprocessing.get_context("spawn")
    shared = context.Barrier(arguments.workers), context.Lock(), run
    workers = [context.Process(target=work, args=(part, shapes, arguments, shared)) for part in range(arguments.workers)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Times the grouped products of routed experts on this GPU, one JSON line each: torch._grouped_mm in bf16, torch._scaled_grouped_mm
in fp8 (a scale a row), and a product for each expert in turn. A CUDA graph of each is replayed until its clock has settled; weights
are larger than L2. What fails is a line with its error; after a fault of the device a new process goes on with the next case.

    python3 bench/grouped_products.py grouped.jsonl
"""
import json
import statistics
import subprocess
import sys
import time

import torch

from pytorch_timing import STREAM, capture, replay_timed

SETTLE_S, REPEAT_S, REPEATS = 0.06, 0.01, 7
LIMIT_S = 55
# experts on this GPU, width in, width out: gate and up, then down, of DeepSeek-V3 over 8 and 32 GPUs, Qwen3-30B-A3B and Mixtral 8x7B
SHAPES = [(32, 7168, 4096), (32, 2048, 7168), (8, 7168, 4096), (8, 2048, 7168), (128, 2048, 1536), (128, 768, 2048), (8, 4096, 28672), (8, 14336, 4096)]
ROWS = [1, 8, 32, 64, 128, 256, 512, 1024]  # tokens of an expert
MOST_ROWS = 65536
FP8 = torch.float8_e4m3fn


def bf16_grouped(experts, rows, depth, width):
    tokens = torch.randn(experts * rows, depth, device="cuda", dtype=torch.bfloat16)
    weights = torch.randn(experts, width, depth, device="cuda", dtype=torch.bfloat16)
    ends = torch.arange(1, experts + 1, device="cuda", dtype=torch.int32) * rows
    return lambda: torch._grouped_mm(tokens, weights.transpose(-2, -1), offs=ends)


def bf16_loop(experts, rows, depth, width):
    tokens = torch.randn(experts, rows, depth, device="cuda", dtype=torch.bfloat16)
    weights = torch.randn(experts, width, depth, device="cuda", dtype=torch.bfloat16)
    out = torch.empty(experts, rows, width, device="cuda", dtype=torch.bfloat16)

    def run():
        for expert in range(experts):
            torch.mm(tokens[expert], weights[expert].t(), out=out[expert])
        return out

    return run


def fp8_grouped(experts, rows, depth, width):
    tokens = torch.randn(experts * rows, depth, device="cuda").to(FP8)
    weights = torch.randn(experts, width, depth, device="cuda").to(FP8)
    row_scales = torch.ones(experts * rows, device="cuda")
    column_scales = torch.ones(experts, width, device="cuda")
    ends = torch.arange(1, experts + 1, device="cuda", dtype=torch.int32) * rows
    return lambda: torch._scaled_grouped_mm(tokens, weights.transpose(-2, -1), row_scales, column_scales, offs=ends, out_dtype=torch.bfloat16)


WAYS = {"scaled_grouped_mm fp8": fp8_grouped, "mm loop bf16": bf16_loop, "grouped_mm bf16": bf16_grouped}
CASES = [(way, experts, rows, depth, width) for way in WAYS for experts, depth, width in SHAPES for rows in ROWS
         if experts * rows <= MOST_ROWS and (way != "mm loop bf16" or rows in (1, 64, 512))]


def timed(make, *sizes):
    with torch.cuda.stream(STREAM):  # the stream that warms up and captures: another would read what is not yet written
        op = make(*sizes)
    graph = capture(op)
    once = max(replay_timed(graph, 3)[0], 1e-6)
    batch = max(1, int(REPEAT_S / once))
    end = time.monotonic() + SETTLE_S
    while time.monotonic() < end:
        replay_timed(graph, batch)
    readings = [replay_timed(graph, batch) for _ in range(REPEATS)]
    times = [seconds * 1e6 for seconds, _ in readings]
    return {"time_us": round(statistics.median(times), 3), "min_us": round(min(times), 3),
            "clock_mhz": statistics.median(clock for _, clock in readings)}


def time_cases(out, first, seconds):
    """From the first on, until all are timed, time is up, or the device fails."""
    end = time.monotonic() + seconds
    torch.manual_seed(1)
    if first == 0:
        heading = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "cuda": torch.version.cuda}
        out.write(json.dumps(heading) + "\n")
    for way, experts, rows, depth, width in CASES[first:]:
        if time.monotonic() > end:
            return
        line = {"way": way, "experts": experts, "rows": rows, "k": depth, "n": width}
        try:
            line.update(timed(WAYS[way], experts, rows, depth, width))
        except Exception as error:  # of whatever kind: the line says it
            line["error"] = str(error).splitlines()[0][:200]
        out.write(json.dumps(line) + "\n")
        out.flush()
        if "CUDA error" in line.get("error", ""):
            sys.exit(1)
        torch.cuda.empty_cache()


def main():
    path, started = sys.argv[1], time.monotonic()
    if len(sys.argv) > 2:
        with open(path, "a") as out:
            return time_cases(out, int(sys.argv[2]), float(sys.argv[3]))
    open(path, "w").close()
    first = 0
    while first < len(CASES) and time.monotonic() - started < LIMIT_S:
        left = LIMIT_S - (time.monotonic() - started)
        finished = subprocess.run([sys.executable, __file__, path, str(first), str(left)]).returncode == 0
        with open(path) as lines:
            reached = max(0, sum(1 for _ in lines) - 1)
        if finished or reached == first:
            break
        first = reached


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Times the grouped products of routed experts on this GPU, one JSON line each: torch._grouped_mm in bf16, torch._scaled_grouped_mm
in fp8 (a scale a row), and a product for each expert in turn. A CUDA graph of each is replayed until its clock has settled; weights
are larger than L2. What fails is a line with its error; a fault of the device ends the run, with what was timed before it kept.

    python3 bench/grouped_products.py grouped.jsonl
"""
import json
import statistics
import sys
import time

import torch

from pytorch_timing import capture, replay_timed

SETTLE_S, REPEAT_S, REPEATS = 0.08, 0.01, 7
LIMIT_S = 85
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


WAYS = {"grouped_mm bf16": bf16_grouped, "scaled_grouped_mm fp8": fp8_grouped, "mm loop bf16": bf16_loop}


def timed(op):
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


def main():
    started = time.monotonic()
    torch.manual_seed(1)
    with open(sys.argv[1], "w") as out:
        heading = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "cuda": torch.version.cuda}
        out.write(json.dumps(heading) + "\n")
        for way, make in WAYS.items():
            for experts, depth, width in SHAPES:
                for rows in ROWS:
                    few = way != "mm loop bf16" or rows in (1, 64, 512)
                    if experts * rows > MOST_ROWS or not few or time.monotonic() - started > LIMIT_S:
                        continue
                    line = {"way": way, "experts": experts, "rows": rows, "k": depth, "n": width}
                    try:
                        line.update(timed(make(experts, rows, depth, width)))
                    except RuntimeError as error:
                        line["error"] = str(error).splitlines()[0][:200]
                    out.write(json.dumps(line) + "\n")
                    out.flush()
                    if "device-side assert" in line.get("error", ""):
                        sys.exit(f"{way}, {experts} experts of {rows} rows: {line['error']}")
                    torch.cuda.empty_cache()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""How the power limit acts on a product over two seconds, after rest and after heavy work: the time of one launch in
steps of a tenth of a second, over the shortest step seen. What docs/measuring.md says of settling comes from here.

    python3 bench/clock_settling.py [MxNxK …]
"""
import sys
import time

import torch

SHAPES = ["2176x6272x7552", "1705x32768x512", "8192x8192x8192", "1024x3456x4608"]
SECONDS, STEPS, BATCH_S = 2.0, 20, 0.01


def product(m, n, k):
    a, b = (torch.randn(rows, k, device="cuda", dtype=torch.bfloat16) for rows in (m, n))
    out = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
    return lambda: torch.mm(a, b.t(), out=out)


def keep_busy(op, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for _ in range(4):
            op()
        torch.cuda.synchronize()


def graph_of(op):
    """About a hundredth of a second of launches."""
    keep_busy(op, 0.02)
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    op()
    end.record()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(max(1, int(BATCH_S * 1e3 / start.elapsed_time(end)))):
            op()
    return graph


def batches(graph):
    """Times of the batches of SECONDS, two queued at any moment so that the device never waits."""
    events, begin = [], time.monotonic()
    while time.monotonic() - begin < SECONDS:
        events.append(torch.cuda.Event(enable_timing=True))
        events[-1].record()
        graph.replay()
        if len(events) > 2:
            events[-2].synchronize()
    torch.cuda.synchronize()
    return [a.elapsed_time(b) for a, b in zip(events, events[1:])]


def main():
    heavy = product(8192, 8192, 8192)
    for name in sys.argv[1:] or SHAPES:
        graph = graph_of(product(*(int(size) for size in name.split("x"))))
        for start in ("rest", "work"):
            time.sleep(0.5) if start == "rest" else keep_busy(heavy, 1.0)
            times = batches(graph)
            steps = [times[len(times) * i // STEPS : len(times) * (i + 1) // STEPS] for i in range(STEPS)]
            means = [sum(step) / len(step) for step in steps]
            print(f"{name:16s} after {start}", " ".join(f"{mean / min(means):.2f}" for mean in means), flush=True)


if __name__ == "__main__":
    main()

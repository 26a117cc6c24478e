"""How many times longer this machine's host takes to issue PyTorch ops than the one that runtimes were measured on.

    python3 tilewright_host.py

Prints one JSON object. `tilewright measure host` runs it and keeps the result. It needs torch and a GPU that torch can use, and takes
some seconds. Tensors are tiny, so that the GPU never holds the host up. The scale is the geometric mean over a few ops of what they take
here over what they took there: the median host of an H200 under PyTorch 2.11 (bench/measured/stopwatch-3.jsonl)."""
import json
import math
import statistics
import sys
import time

# Microseconds of one op there: without gradients, and of one step of the backward pass.
THERE = {"add": 9.73, "silu": 9.80, "linear": 18.08, "view": 2.51, "slice": 3.93, "add backward": 12.05, "linear backward": 76.49}
SAMPLES = 30
CALLS = 100  # below the 1,024 launches of a queue
CHAIN = 20   # backward passes at once


def timed(torch, call, per):
    """Microseconds of one call, the median of the samples."""
    for _ in range(3):
        call()
    values = []
    for _ in range(SAMPLES):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(CALLS // per):
            call()
        values.append((time.perf_counter() - start) / (CALLS // per) / per * 1e6)
    torch.cuda.synchronize()
    return statistics.median(values)


def chain(torch, step):
    """A call that runs the backward pass of `step`, applied over and over."""
    x = torch.randn(8, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)

    def call():
        y = x
        for _ in range(CHAIN):
            y = step(y)
        gradient = torch.ones_like(y)
        torch.cuda.synchronize()
        start = time.perf_counter()
        y.backward(gradient)
        return (time.perf_counter() - start) / CHAIN * 1e6

    call()
    return statistics.median(call() for _ in range(SAMPLES))


def measured(torch):
    linear = torch.nn.functional.linear
    x, y, weight = (torch.randn(size, 64, device="cuda", dtype=torch.bfloat16) for size in (8, 8, 64))
    trained = torch.randn(64, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    ops = {"add": lambda: x + y, "silu": lambda: torch.nn.functional.silu(x), "linear": lambda: linear(x, weight), "view": lambda: x.view(2, 4, 64),
           "slice": lambda: x[:, :32]}
    with torch.no_grad():
        here = {name: timed(torch, call, 1) for name, call in ops.items()}
    here["add backward"] = chain(torch, lambda value: value + y)
    here["linear backward"] = chain(torch, lambda value: linear(value, trained))
    return here


def main():
    try:
        import torch
    except ImportError:
        print("torch is not there", file=sys.stderr)
        return 3
    if not torch.cuda.is_available():
        print("torch sees no GPU", file=sys.stderr)
        return 3
    here = measured(torch)
    scale = math.exp(statistics.mean(math.log(here[name] / THERE[name]) for name in THERE))
    print(json.dumps({"schema": "tilewright.host_scale/1", "scale": round(scale, 4), "with": f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}",
                      "ops_us": {name: round(value, 3) for name, value in here.items()}}))
    return 0


if __name__ == "__main__":
    sys.exit(main())

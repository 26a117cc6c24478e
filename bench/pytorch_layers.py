#!/usr/bin/env python3
"""Times the layers of bench/layers.csv in PyTorch, eager and torch.compile, forward and forward + backward, and appends
sample lines; `tilewright reproduce --shapes layer` prints the layers of the paper's experiments in the same form.

    python3 bench/pytorch_layers.py --out pytorch.jsonl [--from bench/layers.csv] [--budget 420] [--eager-only]
    python3 bench/pytorch_layers.py --out /dev/null --warm 1/4    only compile, the first of four parts, into the cache
"""
import argparse
import csv
import pathlib
import time

import torch
import torch._dynamo

from pytorch_layer import Case
from pytorch_timing import Writer, part_of

SIZES = ["hidden", "heads", "kv_heads", "head_dim", "ffn", "mlp", "block", "norm", "phase", "pass", "batch", "seq",
         "precision", "runtime", "attention"]


def shapes_of(path):
    """Distinct shapes in the file's order, numbers as numbers."""
    shapes = {}
    for row in csv.DictReader(open(path)):
        shape = {name: int(value) if value.isdigit() else value for name, value in row.items()}
        key = tuple(value for name, value in row.items() if name not in ("pass", "runtime"))
        shapes.setdefault(key, shape)
    return list(shapes.values())


def measure(shape, runtime, writer):
    torch._dynamo.reset()
    case = Case(shape)
    module = torch.compile(case.module) if runtime == "compiled" else case.module
    for train in (True, False):  # the training graph first: the forward pass is then already compiled
        sizes = {name: shape[name] for name in SIZES} | {"pass": "train" if train else "forward", "runtime": runtime}
        line = writer.sample("layer", sizes, lambda: case.op(module, train), {"source": "pytorch"})
        print(f"{shape['hidden']:6d} {shape['mlp']:7s} {sizes['pass']:8s} {runtime:9s} "
              f"{line.get('time_us', 0):10.1f} us {line.get('clock_mhz', 0):6.0f} MHz {line.get('reason', '')}", flush=True)
    del case, module
    torch.cuda.empty_cache()


def warm(shapes):
    for shape in shapes:
        torch._dynamo.reset()
        case = Case(shape)
        module = torch.compile(case.module)
        for train in (True, False):
            case.op(module, train)()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="source", default=pathlib.Path(__file__).parent / "layers.csv")
    parser.add_argument("--out", required=True)
    parser.add_argument("--budget", type=float, default=480.0, help="seconds; what is left over is not measured")
    parser.add_argument("--eager-only", action="store_true")
    parser.add_argument("--warm", default="", help="K/N: only compile part K of N")
    arguments = parser.parse_args()
    torch._dynamo.config.automatic_dynamic_shapes = False
    if arguments.warm:
        return warm(part_of(shapes_of(arguments.source), arguments.warm))
    end = time.monotonic() + arguments.budget
    writer = Writer(arguments.out)
    runtimes = ["eager"] if arguments.eager_only else ["eager", "compiled"]
    for shape in shapes_of(arguments.source):
        for runtime in runtimes:
            if time.monotonic() > end:
                return print("the budget is spent; the rest is not measured")
            measure(shape, runtime, writer)


if __name__ == "__main__":
    main()

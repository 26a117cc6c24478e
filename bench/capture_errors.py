#!/usr/bin/env python3
"""Predicts every case of bench/measured/stopwatch*.jsonl that has a captured graph in data/captures, and prints how far off it is.

    python3 bench/capture_errors.py [PROGRAM] [--cases] [--kinds]
    python3 bench/capture_errors.py [PROGRAM] --page >docs/captured-steps.md
    python3 bench/capture_errors.py [PROGRAM] --check           fails where a phase is further off than BOUNDS on classes held out

Time is the stopwatch's (the mean of the machines it was taken on), GPU busy the profiler's of the same case, memory what max_memory_allocated showed. Classes that constants were
fitted to and classes held out (bench/hf_models.py) are told apart. --cases prints every case; --kinds the GPU time by kind of kernel,
predicted and profiled."""
import argparse
import collections
import gzip
import json
import os
import statistics
import subprocess
import sys

from hf_models import role

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
MEASURED = os.path.join(ROOT, "bench", "measured")
PROMPT = 36  # tokens that decode generates after its prompt (bench/stopwatch.py)


def lines(path):
    open_it = gzip.open if path.endswith(".gz") else open
    with open_it(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return [row for row in rows if row.get("status") == "ok" and row.get("runtime") == "huggingface"]


def key_of(row):
    return row["model"], row["phase"], row["batch"], row["seq"], row["master"]


def captures():
    """The graph of each case that has one."""
    found = {}
    folder = os.path.join(ROOT, "data", "captures")
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".json.gz"):
            continue
        path = os.path.join(folder, name)
        with gzip.open(path, "rt", encoding="utf-8") as file:
            program = json.load(file)["program"]
        model = name[:name.rindex("-" + program["phase"])]
        seq = program["seq"] + (PROMPT if program["phase"] == "decode" else 0)
        found[model, program["phase"], program["batch"], seq, program["master"]] = path
    return found


def predict(program, path):
    done = subprocess.run([program, "predict", path, "--gpu", "h200", "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def compared(program):
    """One row a case: what was measured and what is predicted."""
    graphs = captures()
    busy = {key_of(row): row for row in lines(os.path.join(MEASURED, "stopwatch-busy.jsonl.gz"))}
    taken = collections.defaultdict(list)  # a case may have been timed several times
    for name in ("stopwatch.jsonl", "stopwatch-2.jsonl"):
        for row in lines(os.path.join(MEASURED, name)):
            if key_of(row) in graphs:
                taken[key_of(row)].append(row)
    for key, rows in taken.items():
        profiled = busy.get(key, {})
        yield {"key": key, "role": role(key[0]), "time_s": statistics.mean(row["time_s"] for row in rows), "gpu_busy_s": profiled.get("gpu_busy_s"),
               "allocated_bytes": rows[0].get("allocated_bytes"), "kernels": profiled.get("kernels", []),
               "predicted": predict(program, graphs[key])}


def roofline(answer):
    """Seconds of the step if every kernel ran at the data sheet's peak or bandwidth and the host took none."""
    return sum(kernel["count"] * kernel["terms"]["roofline_s"] for kernel in answer["kernels"])


def constant_shares(rows):
    """The share of the matrix units' peak that the fit classes reach in each phase, as their median."""
    shares = collections.defaultdict(list)
    for row in rows:
        if row["role"] == "fit":
            shares[row["key"][1]].append(row["predicted"]["flops"] / row["time_s"])
    return {phase: statistics.median(found) for phase, found in shares.items()}


def off_text(off):
    return f"{sum(map(abs, off)) / len(off):.1%} ({sum(off) / len(off):+.1%})" if off else "-"


def errors(rows, measured, predicted):
    return [predicted(row["predicted"]) / row[measured] - 1 for row in rows if row[measured]]


COLUMNS = [("time", "time_s", lambda answer: answer["time_s"]), ("GPU busy", "gpu_busy_s", lambda answer: answer["gpu_busy_s"]),
           ("memory", "allocated_bytes", lambda answer: answer["memory"]["allocated_bytes"])]


def summary(rows):
    shares = constant_shares(rows)
    out = [["phase", "classes", "cases"] + [title for title, *_ in COLUMNS] + ["time in the interval", "roofline", "constant MFU"]]
    for phase in ("train", "prefill", "decode"):
        for classes in ("fit", "held out"):
            group = [row for row in rows if row["key"][1] == phase and row["role"] == classes]
            if not group:
                continue
            cells = [phase, classes, str(len(group))]
            for _, measured, predicted in COLUMNS:
                cells.append(off_text(errors(group, measured, predicted)))
            inside = sum(row["predicted"]["low_s"] <= row["time_s"] <= row["predicted"]["high_s"] for row in group)
            cells += [f"{inside} of {len(group)}", off_text(errors(group, "time_s", roofline)),
                      off_text(errors(group, "time_s", lambda answer: answer["flops"] / shares[phase]))]
            out.append(cells)
    return out


def cases(rows):
    out = [["model", "phase", "size", "classes", "measured ms", "predicted", "off", "busy ms", "off", "memory GB", "off"]]
    for row in rows:
        model, phase, batch, seq, master = row["key"]
        cells = [model, phase + ("" if master == "bf16" else " fp32"), f"{batch} x {seq}", row["role"], f"{row['time_s'] * 1e3:.1f}",
                 f"{row['predicted']['time_s'] * 1e3:.1f}"]
        for (_, measured, predicted), scale in zip(COLUMNS, (None, 1e3, 1e-9)):
            if scale:
                cells.append(f"{row[measured] * scale:.2f}" if row[measured] else "-")
            cells.append(f"{predicted(row['predicted']) / row[measured] - 1:+.1%}" if row[measured] else "-")
        out.append(cells)
    return out


def profiled_kind(name):
    """The kind of a kernel that the profiler saw, by its name."""
    for words, kind in (
            (("sdpa", "fmha", "flash", "cudnn::fusion", "dot_do_o", "convert_dq"), "attention"),
            (("nvjet", "gemm", "cutlass", "gemv", "splitK", "cublas", "dot_kernel"), "product"),
            (("FusedOptimizer",), "optimizer"), (("layer_norm", "LayerNorm", "GammaBeta"), "norm"),
            (("SoftMax", "softmax"), "softmax, loss"), (("embedding", "gather", "sum_and_scatter", "compute_grad_weight", "radix_sort", "index"), "look-up"),
            (("CatArray",), "strided"), (("reduce_kernel",), "reduction"),
            (("vectorized_elementwise", "Memcpy", "Memset", "Fill"), "pointwise"), (("unrolled_elementwise",), "widen"),
            (("elementwise_kernel",), "strided"), (("dropout",), "pointwise")):
        if any(word in name for word in words):
            return kind
    return "other"


KINDS = {"gemm": "product", "grouped_gemm": "product", "attention": "attention", "optimizer": "optimizer", "norm": "norm", "norm_backward": "norm",
         "rms_norm": "norm", "softmax": "softmax, loss", "softmax_backward": "softmax, loss", "loss": "softmax, loss", "loss_gradient": "softmax, loss",
         "embedding": "look-up", "embedding_backward": "look-up", "strided": "strided", "columns": "reduction", "widen": "widen"}


def kinds(rows):
    """GPU seconds of all cases of a phase by kind, predicted and profiled."""
    out = [["phase", "classes", "kind", "profiled ms", "predicted ms", "off", "of the phase"]]
    for phase in ("train", "prefill", "decode"):
        for classes in ("fit", "held out"):
            seen, priced = collections.Counter(), collections.Counter()
            for row in rows:
                if row["key"][1] != phase or row["role"] != classes or not row["kernels"]:
                    continue
                for name, _, seconds in row["kernels"]:
                    seen[profiled_kind(name)] += seconds
                for kernel in row["predicted"]["kernels"]:
                    reduces = kernel["name"] in ("sum", "mean", "argmax", "max") and kernel["kind"] == "rms_norm"
                    priced["reduction" if reduces else KINDS.get(kernel["kind"], "pointwise")] += kernel["total_s"]
            whole = sum(seen.values())
            for kind, seconds in seen.most_common():
                if seconds > 0.003 * whole or priced[kind] > 0.003 * whole:
                    out.append([phase, classes, kind, f"{seconds * 1e3:.2f}", f"{priced[kind] * 1e3:.2f}", f"{priced[kind] / seconds - 1:+.0%}",
                                f"{(priced[kind] - seconds) / whole:+.1%}"])
    return out


def show(table, markdown):
    if markdown:
        print("| " + " | ".join(table[0]) + " |\n|" + "---|" * len(table[0]))
        print("\n".join("| " + " | ".join(row) + " |" for row in table[1:]))
    else:
        widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
        print("\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in table))
    print()


# Mean error of time, of GPU busy time and of memory on classes held out; they only tighten.
BOUNDS = {"train": (0.04, 0.05, 0.01), "prefill": (0.04, 0.05, 0.01), "decode": (0.15, 0.04, 0.01)}


def broken_bounds(rows):
    for phase, bounds in BOUNDS.items():
        group = [row for row in rows if row["key"][1] == phase and row["role"] == "held out"]
        for (title, measured, predicted), bound in zip(COLUMNS, bounds):
            off = [abs(error) for error in errors(group, measured, predicted)]
            if not off or statistics.mean(off) > bound:
                yield f"{phase}, {title}: {statistics.mean(off) if off else 1:.1%} off, bound {bound:.1%}"


PAGE = """# Steps of captured graphs

Written by `python3 bench/capture_errors.py --page`; do not edit it. Every case that the [stopwatch](stopwatch.md) timed and that has a [captured graph](capture.md) in `data/captures`: what `tilewright predict GRAPH.json --gpu h200`
says against what was measured on H200s. Constants were set from classes called *fit* alone (`bench/hf_models.py`); *held out* classes judge. Errors are the mean of absolute values, with the mean in brackets; time is the mean of the machines that a
case was timed on, whose hosts differ by up to a factor of 2.1. *Roofline* is every kernel at the data sheet's rates, without a host; *constant MFU* the median rate of the fit classes in that phase.
"""


def report(about, page, compared, parts, broken_bounds):
    """A script of the command line: its flags, the parts that they ask for (a title and what makes the table of the rows), its exit code."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("program", nargs="?", default=os.path.join(ROOT, "build", "release", "tilewright"))
    for flag in [table.__name__ for title, table in parts if title] + ["page", "check"]:
        parser.add_argument("--" + flag, action="store_true")
    arguments = parser.parse_args()
    rows = list(compared(arguments.program))
    if arguments.page:
        print(page)
    for title, table in parts:
        if arguments.page and title:
            print(f"## {title}\n")
        if arguments.page or not title or getattr(arguments, table.__name__):
            show(table(rows), arguments.page)
    broken = list(broken_bounds(rows)) if arguments.check else []
    print("\n".join(broken), end="\n" if broken else "", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(report(__doc__, PAGE, compared, [("", summary), ("Cases", cases), ("GPU time by kind of kernel", kinds)], broken_bounds))

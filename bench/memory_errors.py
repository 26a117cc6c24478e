#!/usr/bin/env python3
"""Predicts the memory of every case of bench/measured/stopwatch.jsonl from its shape, and prints how far off it is.

    python3 bench/memory_errors.py [PROGRAM] [--cases] [--page] [--check]

Cases are predicted as bench/stopwatch_errors.py does. Allocated is against torch.cuda.max_memory_allocated, total against what the driver
had given away in all (the allocator's peak reservation and the context). Classes that constants were fitted to and classes held out
(bench/hf_models.py) are told apart. --page prints docs/accuracy/memory.md; --check exits 1 where a mean of allocated memory is over 5%."""
import collections
import sys
import tempfile

from capture_errors import report
from hf_models import role
from stopwatch_errors import lines, predict, shape_file


def compared(program):
    """One row a case: what was measured and what is predicted."""
    with tempfile.TemporaryDirectory() as folder:
        for row in lines("stopwatch.jsonl"):
            memory = predict(program, shape_file(folder, row), row, row["runtime"])["memory"]
            used = row["reserved_bytes"] + row["device_used_bytes"] - row["reserved_now_bytes"]
            yield {"row": row, "classes": "plain" if row["runtime"] == "pytorch" else role(row["model"]), "memory": memory,
                   "allocated": memory["allocated_bytes"] / row["allocated_bytes"] - 1, "total": memory["total_bytes"] / used - 1}


def group_of(one):
    row = one["row"]
    order = ("train", "prefill", "decode").index(row["phase"])
    return row["runtime"], order, row["phase"] + (", fp32 weights" if row["master"] == "fp32" else ""), one["classes"]


def mean_off(group, key):
    off = [one[key] for one in group]
    worst = max(off, key=abs)
    return f"{sum(map(abs, off)) / len(off):.1%}, worst {worst:+.1%}"


def summary(rows):
    groups = collections.defaultdict(list)
    for one in rows:
        groups[group_of(one)].append(one)
    out = [["runtime", "phase", "classes", "cases", "allocated", "total"]]
    for (runtime, _, phase, classes), group in sorted(groups.items()):
        out.append([runtime, phase, classes, str(len(group)), mean_off(group, "allocated"), mean_off(group, "total")])
    return out


def cases(rows):
    out = [["model", "runtime", "phase", "size", "classes", "measured GB", "predicted", "off"]]
    for one in rows:
        row = one["row"]
        out.append([row["model"], row["runtime"], group_of(one)[2], f"{row['batch']} x {row['seq']}", one["classes"],
                    f"{row['allocated_bytes'] / 1e9:.2f}", f"{one['memory']['allocated_bytes'] / 1e9:.2f}", f"{one['allocated']:+.1%}"])
    return out


PAGE = """# How far off: memory

Written by `python3 bench/memory_errors.py PROGRAM --page`; do not edit it.

Real classes of transformers 5.17 and the plain model of `bench/pytorch_model.py` on one H200 ([method](../stopwatch.md)), predicted from their shapes alone with the [runtime](../runtimes.md) that ran them. *Fit* classes may set constants, *held out* ones only judge.
*Allocated* is `memory.allocated_bytes` against `torch.cuda.max_memory_allocated`. *Total* is `memory.total_bytes` against all that the driver had given away: the allocator's peak reservation and the context. Errors are means of absolute errors, and the worst.

Cases ran one after another in a process. In prefill and decode the measured peaks contain a second workspace of 32 MiB from the training before, and what the plain model's allocator had reserved while the model was made counts in its total. [Memory](../clusters.md#memory) has the formulas.
"""
JUDGED = ("huggingface", "pytorch")
MOST = 0.05  # of allocated memory, in the mean of a group


def broken_bounds(rows):
    groups = collections.defaultdict(list)
    for one in rows:
        groups[group_of(one)].append(abs(one["allocated"]))
    for (runtime, _, phase, classes), off in sorted(groups.items()):
        if runtime in JUDGED and sum(off) / len(off) > MOST:
            yield f"{runtime}, {phase}, {classes}: allocated memory is {sum(off) / len(off):.1%} off, more than {MOST:.0%}"


if __name__ == "__main__":
    sys.exit(report(__doc__, PAGE, compared, [("", summary), ("Cases", cases)], broken_bounds))

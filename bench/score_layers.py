#!/usr/bin/env python3
"""How far predicted layers are from measured ones, and how often two of them are in the right order:
bench/score_layers.py TILEWRIGHT SAMPLES.jsonl.gz [GPU]

    bench/score_layers.py build/release/tilewright data/samples/h200/layers-pytorch.jsonl.gz
"""
import csv
import gzip
import io
import itertools
import json
import statistics
import subprocess
import sys

COLUMNS = ["hidden", "heads", "kv_heads", "head_dim", "ffn", "mlp", "norm", "block", "phase", "pass", "batch", "seq", "precision",
           "runtime", "attention", "clock", "time_us"]


def measured(path):
    for line in gzip.open(path, "rt"):
        record = json.loads(line)
        if record.get("op") == "layer" and record["status"] == "ok" and record["clock"] in ("sustained", "burst"):
            yield {**record["sizes"], "clock": record["clock"], "time_us": record["time_us"]}


def predicted(program, gpu, rows):
    table = io.StringIO()
    writer = csv.DictWriter(table, COLUMNS, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    command = [program, "predict", "layer", "--gpu", gpu, "--from", "-"]
    return list(csv.DictReader(io.StringIO(subprocess.run(command, input=table.getvalue(), text=True, check=True,
                                                          capture_output=True).stdout)))


APART = 1.03  # measured times that differ by less are not told apart


def in_order(rows):
    """Of the pairs whose measured times differ, how many are predicted in the same order, and how many there are."""
    right = pairs = 0
    for (measured_a, predicted_a), (measured_b, predicted_b) in itertools.combinations(rows, 2):
        if max(measured_a, measured_b) > APART * min(measured_a, measured_b):
            pairs += 1
            right += (measured_a < measured_b) == (predicted_a < predicted_b)
    return right, pairs


def line(group, rows):
    errors = [predicted / measured - 1 for measured, predicted in rows]
    sizes = sorted(abs(error) for error in errors)
    right, pairs = in_order(rows)
    return (f"{group:18s} {len(rows):6d} {statistics.mean(sizes):6.1%} {statistics.median(sizes):7.1%} {sizes[len(sizes) * 95 // 100]:6.1%} "
            f"{statistics.mean(errors):+7.1%} {right / max(1, pairs):9.1%} of {pairs}")


def main(program, path, gpu="h200"):
    groups = {}
    for row in predicted(program, gpu, measured(path)):
        times = float(row["time_us"]), float(row["predicted_us"])
        for group in (row["runtime"] + " " + row["pass"], "all"):
            groups.setdefault(group, []).append(times)
    print("group              layers   mean  median    p95  signed  pairs in order")
    for group, rows in sorted(groups.items()):
        print(line(group, rows))


main(*sys.argv[1:])

#!/usr/bin/env python3
"""How far predicted layers are from measured ones: bench/score_layers.py TILEWRIGHT SAMPLES.jsonl.gz [GPU]

    bench/score_layers.py build/release/tilewright data/samples/h200/layers-pytorch.jsonl.gz
"""
import csv
import gzip
import io
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


def main(program, path, gpu="h200"):
    groups = {}
    for row in predicted(program, gpu, measured(path)):
        error = float(row["predicted_us"]) / float(row["time_us"]) - 1
        for group in (row["runtime"] + " " + row["pass"], "all"):
            groups.setdefault(group, []).append(error)
    print("group              layers   mean  median  signed median")
    for group, errors in groups.items():
        sizes = [abs(error) for error in errors]
        print(f"{group:18s} {len(errors):6d} {statistics.mean(sizes):6.1%} {statistics.median(sizes):7.1%} "
              f"{statistics.median(errors):+14.1%}")


main(*sys.argv[1:])

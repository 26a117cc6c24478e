#!/usr/bin/env python3
"""Compares the law of experts (docs/engines.md: a whole call of TensorRT-LLM) with PyTorch's grouped products, gate and up and then down,
as bench/grouped_products.py timed them: by format and tokens of an expert, the mean of predicted over timed.

    python3 bench/grouped_errors.py PROGRAM [bench/measured/grouped.jsonl]
"""
import csv
import io
import json
import os
import subprocess
import sys

FORMATS = {"grouped_mm bf16": "bf16", "scaled_grouped_mm fp8": "fp8"}


def calls(lines):
    """(format, experts, rows, width, inner width) -> microseconds of both products."""
    timed = {(FORMATS[line["way"]], line["experts"], line["rows"], line["k"], line["n"]): line["time_us"] for line in lines if line.get("way") in FORMATS}
    return {(form, experts, rows, k, n // 2): us + timed[form, experts, rows, n // 2, k]
            for (form, experts, rows, k, n), us in timed.items() if (form, experts, rows, n // 2, k) in timed}


def main():
    samples = sys.argv[2] if len(sys.argv) > 2 else os.path.join(os.path.dirname(__file__), "measured", "grouped.jsonl")
    with open(samples) as file:
        timed = calls([json.loads(line) for line in file])
    table = "dtype,m,n,k,batch,topk,source\n" + "".join(
        f"{form},{experts * rows},{inner},{width},{experts},1,trtllm\n" for form, experts, rows, width, inner in timed)
    asked = subprocess.run([sys.argv[1], "predict", "moe", "--gpu", "h200", "--from", "-"], input=table, capture_output=True, text=True, check=True)
    ratios = {}
    for (form, _, rows, _, _), us, row in zip(timed, timed.values(), csv.DictReader(io.StringIO(asked.stdout))):
        ratios.setdefault((form, rows), []).append(float(row["predicted_us"]) / us)
    for form in FORMATS.values():
        every = [ratio for (name, _), some in ratios.items() if name == form for ratio in some]
        print(f"{form}: {len(every)} calls, off by {sum(abs(r - 1) for r in every) / len(every):.1%}; predicted over timed by tokens of an expert: " +
              ", ".join(f"{rows} {sum(some) / len(some):.2f}" for (name, rows), some in sorted(ratios.items()) if name == form))


if __name__ == "__main__":
    main()

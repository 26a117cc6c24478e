#!/usr/bin/env python3
"""Whole models of the catalogue in PyTorch: what a step takes and the memory it needs, against the prediction.

    python3 bench/pytorch_models.py time   --tilewright PROGRAM --out models.csv   train, prefill, decode; column measured_us
    python3 bench/pytorch_models.py memory --tilewright PROGRAM --out memory.csv   train; column measured_bytes
    python3 bench/pytorch_models.py time   --tilewright PROGRAM --warm 1/4         only compile, part 1 of 4, into the cache
    python3 bench/pytorch_models.py score FILE.csv… --tilewright PROGRAM

The program says what a model's shape is. `score` needs no GPU: it predicts every row and prints how far off it is. Memory
is torch.cuda.max_memory_allocated over two steps.
"""
import argparse
import csv
import gc
import json
import subprocess

TIMED = ["pythia-410m", "gpt3-1.3b", "gpt3-6.7b", "llama-3.2-1b", "llama-2-7b", "llama-3-8b"]
BY_MEMORY = ["gpt3-760m", "pythia-410m", "pythia-1b", "opt-1.3b", "gpt3-2.7b", "opt-6.7b", "llama-3.2-1b", "qwen2.5-1.5b",
             "llama-2-7b", "llama-3-8b"]
BATCH = {"train": 4, "prefill": 4, "decode": 16}
SEQ = 2048
SIZES = ["hidden", "layers", "heads", "kv_heads", "head_dim", "ffn", "vocab"]  # a row's own, where it has them
COLUMNS = ["model", "phase", "batch", "seq", "runtime", "measured_us", "measured_bytes", "clock_mhz", "reason"]


def predict(program, row):
    command = [program, "predict", row["model"], "--gpu", "h200", "--json"]
    for name in ["phase", "batch", "seq", "runtime", *(size for size in SIZES if row.get(size))]:
        command += ["--" + name.replace("_", "-"), str(row[name])]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def row_of(model, phase, runtime):
    return {"model": model, "phase": phase, "batch": BATCH[phase], "seq": SEQ, "runtime": runtime}


def shape_of(program, row):
    return predict(program, row)["shape"] | {"batch": row["batch"], "seq": row["seq"]}


def make_step(shape, row):
    import pytorch_model
    make = {"train": pytorch_model.train_step, "prefill": pytorch_model.prefill_step, "decode": pytorch_model.decode_step}
    return make[row["phase"]](shape, compiled=row["runtime"] == "compiled")


def take_time(shape, row):
    import torch

    from pytorch_timing import STREAM, time_sustained
    with torch.cuda.stream(STREAM):
        step = make_step(shape, row)
    timed = time_sustained(step)
    return {"measured_us": timed["time_us"], "clock_mhz": timed["clock_mhz"]}


def warm(shape, row):
    make_step(shape | {"layers": 1}, row)()
    return {}


def take_memory(shape, row):
    import torch
    torch.cuda.reset_peak_memory_stats()
    step = make_step(shape, row)
    for _ in range(2):
        step()
    torch.cuda.synchronize()
    return {"measured_bytes": torch.cuda.max_memory_allocated()}


def measure(arguments, rows, take):
    """Writes a row for each of `rows` as soon as it is taken."""
    import torch
    import torch._dynamo
    with open(arguments.out, "w", newline="", buffering=1, encoding="utf-8") as out:
        writer = csv.DictWriter(out, COLUMNS)
        writer.writeheader()
        for row in rows:
            torch._dynamo.reset()
            try:
                row |= take(shape_of(arguments.tilewright, row), row)
            except Exception as error:  # out of memory, or a graph that cannot be captured: the others go on
                row["reason"] = str(error).splitlines()[0][:200]
            writer.writerow(row)
            print(" ".join(str(value) for value in row.values()), flush=True)
            gc.collect()
            torch.cuda.empty_cache()


def score(paths, program):
    errors = []
    for row in (row for path in paths for row in csv.DictReader(open(path))):
        prediction = predict(program, row)
        for column, value in (("measured_us", prediction["time_s"] * 1e6), ("measured_bytes", prediction["memory"]["allocated_bytes"])):
            if row.get(column):
                error = value / float(row[column]) - 1
                errors.append(abs(error))
                print(f"{row['model']:14s} {row['phase']:8s} {row['runtime']:9s} {column:15s} {float(row[column]):14.4g} "
                      f"predicted {value:14.4g} {100 * error:+6.1f}%")
    if errors:
        print(f"{len(errors)} rows, mean {100 * sum(errors) / len(errors):.1f}%, worst {100 * max(errors):.1f}%")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["time", "memory", "score"])
    parser.add_argument("files", nargs="*")
    parser.add_argument("--out")
    parser.add_argument("--runtime", default="compiled", help="eager, compiled or both with a comma between")
    parser.add_argument("--tilewright", default="tilewright")
    parser.add_argument("--only", default="", help="models, with commas between")
    parser.add_argument("--warm", default="", help="K/N: only compile part K of N")
    arguments = parser.parse_args()
    if arguments.what == "score":
        return score(arguments.files, arguments.tilewright)
    chosen = arguments.only.split(",") if arguments.only else TIMED if arguments.what == "time" else BY_MEMORY
    phases = BATCH if arguments.what == "time" else ["train"]
    rows = [row_of(model, phase, runtime) for runtime in arguments.runtime.split(",") for model in chosen for phase in phases]
    if arguments.warm:
        from pytorch_timing import part_of
        arguments.out = "/dev/null"
        return measure(arguments, part_of(rows, arguments.warm), warm)
    measure(arguments, rows, take_time if arguments.what == "time" else take_memory)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Trains the shapes of bench/quality/plan.csv one after the other and writes one JSON line per run.

    python3 bench/quality/train.py --cache FOLDER --out results.jsonl --seconds 540 [--only TEXT]
    python3 bench/quality/train.py --cache FOLDER --out results.jsonl --seconds 540 --warm

Runs that --out has are not repeated, failed ones once; a run starts only when its estimated time, corrected by the speed seen so
far, fits the seconds left. --warm only compiles the shapes that would be trained, into the compiler's cache, beside the
runs. Every run of one size sees the same tokens in the same order for the same `order`; `seed` is the weights' start.
The learning rate rises over 2% of the steps and falls as a cosine to a tenth."""
import argparse
import gc
import hashlib
import json
import math
import os
import pathlib
import signal
import statistics
import sys
import time

import torch

import runs
from step import first_line, made_step
from text import Text

POINTS = 48  # of the training curve; validation at each quarter of them
WARM_UP, LAST = 0.02, 0.1
EAGER_STEPS = 3  # before the capture: libraries, the optimizer's state
GRACE_S = 3.0
MOST_FAILURES = 3


class Stopped(Exception):
    """The time is up, or a signal came; the run is not recorded. `would_take_s` is what it would have needed."""

    def __init__(self, text, would_take_s):
        super().__init__(text)
        self.would_take_s = would_take_s


def schedule(step, steps):
    warm_up = max(1, round(WARM_UP * steps))
    if step < warm_up:
        return (step + 1) / warm_up
    done = (step - warm_up) / max(1, steps - warm_up)
    return LAST + (1 - LAST) * 0.5 * (1 + math.cos(math.pi * done))


class Run:
    """One row of the plan, trained."""

    def __init__(self, row, text, device, deadline):
        self.row, self.text, self.device, self.deadline = row, text, device, deadline
        self.train_curve, self.validation_curve, self.chunk_s, self.clocks = [], [], [], []

    def train(self, compiled):
        row, start = self.row, time.monotonic()
        self.step, self.compiled = made_step(row, self.device, compiled)
        starts = self.text.order(row["order"], row["steps"] * row["batch"], self.device).split(row["batch"])
        batches = self.text.validation_batches(row["batch"])
        self.ready_s, began, self.validating_s = time.monotonic() - start, time.monotonic(), 0.0
        edges = [round(row["steps"] * point / POINTS) for point in range(POINTS + 1)]
        for point, (first, last) in enumerate(zip(edges, edges[1:]), 1):
            self.chunk(starts, first, last)
            if point % (POINTS // 4) == 0:
                asked = time.monotonic()
                trained_s = asked - began - self.validating_s
                loss = self.step.validate(batches)
                self.validating_s += time.monotonic() - asked
                self.validation_curve.append([last * self.step_tokens(), round(trained_s, 3), round(loss, 5)])
            self.stop_if_late(began, last)
        self.wall_s = time.monotonic() - start

    def step_tokens(self):
        return self.row["batch"] * self.row["sequence"]

    def chunk(self, starts, first, last):
        row, step = self.row, self.step
        asked = time.monotonic()
        for index in range(first, last):
            step.run(self.text.pieces(self.text.train, starts[index]), row["lr"] * schedule(index, row["steps"]))
            if index + 1 == EAGER_STEPS and self.device == "cuda":
                step.capture()
        self.clocks.append(sm_clock_mhz())  # while the queue is still full
        mean = float(step.loss_sum) / max(1, last - first)
        step.loss_sum.zero_()
        self.chunk_s.append((time.monotonic() - asked) / max(1, last - first))
        self.train_curve.append([last * self.step_tokens(), round(mean, 5)])
        if not math.isfinite(mean):
            raise RuntimeError(f"loss is not finite after {last} steps")

    def stop_if_late(self, began, last):
        """Ends a run that will not be done in time, once four chunks tell how fast it is."""
        if len(self.chunk_s) < 4 and not STOP.asked:
            return
        left = (self.row["steps"] - last) * statistics.median(self.chunk_s[1:] or self.chunk_s)
        would_take_s = self.ready_s + time.monotonic() - began + left
        if STOP.asked or time.monotonic() + left > self.deadline + GRACE_S:
            raise Stopped(f"stopped after {last} steps", would_take_s)
        if would_take_s > runs.LONGEST_S:
            raise RuntimeError(f"would take {would_take_s:.0f} s")

    def facts(self):
        row, step_s = self.row, statistics.median(self.chunk_s[2:] or self.chunk_s)
        weights = sum(weight.numel() for weight in self.step.model.parameters())
        return {"status": "ok", "val_loss": self.validation_curve[-1][2], "tokens": row["steps"] * self.step_tokens(),
                "params_total": weights, "tokens_per_s": round(self.step_tokens() / step_s), "step_ms": round(1e3 * step_s, 4),
                "wall_s": round(self.wall_s, 2), "ready_s": round(self.ready_s, 2), "compiled": self.compiled,
                "graph": self.step.graph is not None, "notes": self.step.notes, "clock_mhz": statistics.median(self.clocks),
                "peak_bytes": torch.cuda.max_memory_allocated() if self.device == "cuda" else 0,
                "validation": self.validation_curve, "training": self.train_curve}


class Stop:
    """Whether SIGTERM or SIGINT came."""

    asked = False

    def listen(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: setattr(self, "asked", True))


STOP = Stop()


def sm_clock_mhz():
    if not torch.cuda.is_available():
        return 0
    from pytorch_timing import NVML
    return NVML.sm_clock_mhz()


def environment(text):
    code = hashlib.sha256(b"".join((runs.HERE / name).read_bytes() for name in ("model.py", "step.py", "text.py", "train.py"))).hexdigest()
    return {"corpus": text.facts["list_sha256"], "tokenizer": text.facts["tokenizer_sha256"], "code": code,
            "train_tokens_held": len(text.train), "torch": torch.__version__, "cuda": torch.version.cuda,
            "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"}


def cleared(device):
    gc.collect()
    if device == "cuda":
        torch._dynamo.reset()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def trained(row, text, arguments, deadline):
    """The result line of a row; a run that fails has a line that says so."""
    kept = ("id", "size", "group", "name", *runs.SHAPE, *runs.KINDS, "lr", "size_lr", *runs.COUNTS, "params_outside_embeddings")
    line = {"schema": "tilewright.quality/1"} | {key: row[key] for key in kept} | environment(text)
    line["beside_compiler"] = (arguments.cache / "warming").exists()
    run = Run(row, text, arguments.device, deadline)
    try:
        run.train(arguments.device == "cuda" and not arguments.eager)
        return line | run.facts()
    except Stopped:
        raise
    except Exception as error:
        return line | {"status": "failed", "reason": first_line(error), "training": run.train_curve}


def warm(plan, arguments):
    """Compiles what would be trained; each shape once, at a depth of one: blocks share their code."""
    flag, seen = arguments.cache / "warming", set()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    flag.touch()
    for row in runs.upcoming(plan, runs.read_results(arguments.out), arguments.seconds):
        shape = tuple(row[key] for key in (*runs.SHAPE, *runs.KINDS, "batch", "sequence"))
        if shape in seen:
            continue
        seen.add(shape)
        start = time.monotonic()
        try:
            notes = made_step(row | {"layers": 1}, arguments.device, arguments.device == "cuda")[0].notes
        except Exception as error:  # the run itself will say so
            notes = [first_line(error)]
        print(f"warm: {row['size']} {row['name']} {time.monotonic() - start:.1f} s {'; '.join(notes)}", flush=True)
        cleared(arguments.device)
    flag.unlink()


def run_plan(plan, arguments):
    end = time.monotonic() + arguments.seconds
    text = Text(arguments.cache, plan[0]["sequence"], arguments.device)
    out, speeds = open(arguments.out, "a", buffering=1), []
    passed, failures = set(), 0  # rows that ran out of time or failed; failures in a row
    while not STOP.asked and failures < MOST_FAILURES:
        speed = statistics.median(speeds[-3:]) if speeds else 1.0
        left = [row for row in plan if row["position"] not in passed]
        row = runs.next_run(left, runs.read_results(arguments.out), end - time.monotonic(), speed)
        if row is None:
            return print("train: nothing left in the plan that fits the time left", flush=True)
        start = time.monotonic()
        try:
            line = trained(row, text, arguments, end)
        except Stopped as stopped:
            print(f"train: {row['id']} {stopped}", flush=True)
            passed.add(row["position"])
            speeds.append(stopped.would_take_s / runs.estimated_s(row))
            line = None
        took = time.monotonic() - start
        if line:
            out.write(json.dumps(line) + "\n")
            print(f"train: {row['id']:44s} {line.get('val_loss', line.get('reason'))} "
                  f"{line.get('tokens_per_s', 0) / 1e3:.0f} k tokens/s {took:.0f} s (estimated {runs.estimated_s(row):.0f}) "
                  f"{'; '.join(line.get('notes', []))}", flush=True)
            if line["status"] == "ok":
                speeds.append(took / runs.estimated_s(row))
                failures = 0
            else:
                passed.add(row["position"])
                failures += 1
                if "CUDA error" in line["reason"] or "CUBLAS" in line["reason"]:  # the context is lost with it
                    restart(arguments, end)
        cleared(arguments.device)


def restart(arguments, end):
    left = f"{max(0.0, end - time.monotonic()):.0f}"
    given = ["--cache", str(arguments.cache), "--out", arguments.out, "--seconds", left, "--only", arguments.only]
    os.execv(sys.executable, [sys.executable, os.path.abspath(__file__), *given])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=pathlib.Path, required=True, help="what corpus.py wrote")
    parser.add_argument("--out", required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--plan", default=runs.HERE / "plan.csv")
    parser.add_argument("--only", default="", help="only rows whose size and name contain this")
    parser.add_argument("--warm", action="store_true")
    parser.add_argument("--eager", action="store_true", help="compile nothing")
    parser.add_argument("--device", default="cuda")
    arguments = parser.parse_args()
    if not arguments.warm:
        STOP.listen()
    torch.set_float32_matmul_precision("high")
    if arguments.device == "cuda":
        sys.path.append(str(runs.HERE.parent))  # for the clock
        torch._dynamo.config.automatic_dynamic_shapes = False
        # One stream for everything: autograd runs a backward pass on the stream of its forward pass, and a capture needs its own.
        torch.cuda.set_stream(torch.cuda.Stream())
    plan = [row for row in runs.read_plan(arguments.plan) if arguments.only in f"{row['size']}-{row['name']}"]
    (warm if arguments.warm else run_plan)(plan, arguments)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The cases of bench/stopwatch.py that the host bounds, again and again in turn, with the host's own speed beside each time.

    python3 bench/stopwatch_rounds.py --out rounds.jsonl [--seconds 340] [--rounds 3] [--cores 4] [--only NAME,NAME] [--phase prefill]

The host of a lent machine changes its speed within minutes. Here all models are made first; then every case is timed once a round, so
that its times lie minutes apart, in a process that keeps to the same few cores (--cores 0: to none). A probe, the ops of
python/tilewright_host.py, runs before, between and after the windows of a case: `probes_us` holds what each op took, in order. Lines are
those of bench/stopwatch.py and have `round`, `windows_s` and `cores` as well; a line is written as soon as a case is timed."""
import argparse
import gc
import json
import os
import statistics
import sys
import time

from hf_models import FIRST, MODELS, SECOND, build, sized
from stopwatch import LONG, SHORT, Gpu, facts_of, generator, prefill_step, random_ids, run_line, throw_away, train_step, window, Subject

# The first list is taken in all rounds before the second begins.
LISTS = [[("prefill", 1, 512), ("decode", 1, 512), ("train", 1, 16)], [("prefill", 1, 16), ("decode", 16, 2048), ("train", 1, 2048)]]
SETTLE_S = 0.3
PROBE_SAMPLES = 8


def make_probe(gpu):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
    import tilewright_host
    tilewright_host.SAMPLES = PROBE_SAMPLES

    def probe():
        gpu.wait()
        start = time.perf_counter()
        for _ in range(20000):  # the interpreter alone, without torch
            pass
        python = (time.perf_counter() - start) * 1e6
        return {name: round(value, 2) for name, value in tilewright_host.measured(gpu.torch).items()} | {"python": round(python, 1)}

    return probe


def steps_in_turn(gpu, step, steps, probe):
    """Two windows with probes around them."""
    step()
    once, *_ = window(gpu, step, 2)
    window(gpu, step, max(1, int(SETTLE_S / once)))
    probes, taken = [probe()], []
    for _ in range(2):
        taken.append(window(gpu, step, steps)[0])
        probes.append(probe())
    return taken, probes


def tokens_in_turn(gpu, run, probe):
    """Pairs of a long and a short call: the difference, per token."""
    def took(tokens):
        gpu.wait()
        start = time.perf_counter()
        run(tokens)
        gpu.wait()
        return time.perf_counter() - start

    took(LONG)  # the first call of a length makes cuDNN's plans for each of its tokens: 30 to 40 ms a token
    took(SHORT)
    probes, taken = [probe()], []
    for _ in range(2):
        long = took(LONG)
        taken.append((long - took(SHORT)) / (LONG - SHORT))
        probes.append(probe())
        if long > 1.0:
            break
    return taken, probes


def measure(gpu, model, case, probe):
    model.train(case["phase"] == "train")
    facts = facts_of(model, case)
    if case["phase"] == "decode":
        prompt = case["seq"] - LONG
        facts["prompt"] = prompt
        taken, probes = tokens_in_turn(gpu, generator(model, random_ids(gpu, model, case["batch"], prompt)), probe)
    else:
        ids = random_ids(gpu, model, case["batch"], case["seq"])
        train = case["phase"] == "train"
        step = train_step(gpu, model, ids, case) if train else prefill_step(gpu, model, ids)
        taken, probes = steps_in_turn(gpu, step, 10 if train else 20, probe)
    return facts | {"time_s": statistics.median(taken), "low_s": min(taken), "high_s": max(taken), "windows_s": taken, "probes_us": probes}


def turns(arguments, models):
    for phases in LISTS:
        for number in range(1, arguments.rounds + 1):
            for name in models:
                for phase, batch, seq in phases:
                    if not arguments.phase or phase in arguments.phase.split(","):
                        yield number, sized(name, phase, batch, seq)


def made(gpu, names):
    models = {}
    for name in names:
        try:
            models[name] = build(*MODELS[name], gpu.name, gpu.torch.bfloat16)
        except Exception as error:  # the others go on
            print(f"{name}: {type(error).__name__}: {error}"[:300], flush=True)
    return models


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="rounds.jsonl")
    parser.add_argument("--seconds", type=float, default=340.0, help="no case is begun after these")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cores", type=int, default=4, help="how many the process keeps to; 0: all")
    parser.add_argument("--only", default="", help="models, with commas between")
    parser.add_argument("--phase", default="", help="train, prefill, decode")
    arguments = parser.parse_args()
    end = time.monotonic() + arguments.seconds
    if arguments.cores:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-arguments.cores:])
    gpu = Gpu(False)
    gpu.torch.set_num_threads(max(1, arguments.cores))
    probe = make_probe(gpu)
    with open(arguments.out, "a", buffering=1, encoding="utf-8") as out:
        out.write(json.dumps(run_line(gpu)) + "\n")
        throw_away(gpu, Subject(gpu), False)
        names = arguments.only.split(",") if arguments.only else [name for name in FIRST + SECOND if "without" not in name]
        models = made(gpu, names)
        gc.freeze()  # what the other models hold costs the timed one no collection
        for number, case in turns(arguments, models):
            if time.monotonic() > end:
                print("the time is spent", flush=True)
                return 0
            line = {"schema": "tilewright.stopwatch/1", **case, "round": number, "cores": arguments.cores}
            began = time.monotonic()
            try:
                line |= {"status": "ok"} | measure(gpu, models[case["model"]], case, probe)
            except Exception as error:  # out of memory, or a class that refuses: the others go on
                line |= {"status": "failed", "reason": f"{type(error).__name__}: {error}"[:600]}
                if "CUDA error" in line["reason"]:
                    end = 0.0  # the context is lost
            models[case["model"]].zero_grad(set_to_none=True)
            if case["phase"] == "train":
                gpu.clean()
            line["took_s"] = round(time.monotonic() - began, 2)
            out.write(json.dumps(line) + "\n")
            print(f"{number} {case['model']:24s} {case['phase']:8s} {case['batch']:2d} x {case['seq']:4d} {line.get('time_s', 0) * 1e3:8.2f} ms "
                  f"add {[one['add'] for one in line.get('probes_us', [])]} {line['took_s']} s {line.get('reason', '')[:100]}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

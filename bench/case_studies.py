#!/usr/bin/env python3
"""The search's proposals for some models, and the page that sets their predicted and measured speed-ups side by side.

    python3 bench/case_studies.py propose --program build/release/tilewright > bench/case_studies.json
    python3 bench/train_steps.py --from bench/case_studies.json --out steps.jsonl          # on the GPU
    python3 bench/case_studies.py predict --program … > new.json     the same shapes, as the program prices them now
    python3 bench/case_studies.py page [--steps steps.jsonl] --program … > docs/case-studies.md
"""
import argparse
import json
import statistics
import subprocess

MODELS = [["gpt3-2.7b"], ["pythia-410m"], ["opt-1.3b"], ["llama-2-7b", "--ffn", "10922"], ["gpt3-13b"], ["qwen2.5-1.5b"]]
GPU = "h200"
KINDS = ["one knob", "two knobs", "free"]
RUNTIMES = ["eager", "compiled"]
GOAL = 0.04  # of predicted and measured speed-up, for nine in ten

INTRODUCTION = """# Case studies

What the search proposes on an H200, and what those shapes take there as full PyTorch training steps: six models first, then [the ten](#the-ten) whose speed-ups count. This page is made by `bench/case_studies.py page`.

| | |
|---|---|
| a step | bf16, fused AdamW, {batch} × {seq} tokens, eagerly or with `torch.compile` ([`bench/train_steps.py`](../bench/train_steps.py)) |
| a model that does not fit | from the steps of a quarter and of half of its layers |
| a speed-up | the baseline's time over the shape's |
| the shapes | what the search proposed before the measurement ([`bench/case_studies.json`](../bench/case_studies.json)) |
| their prices | by the profile as it is now (`bench/case_studies.py predict`), whose own proposals differ a little |

Eager and compiled steps differ where a shape has odd sizes. Eagerly, an odd size takes slow kernels. `torch.compile` copies operands into padded ones first, so that little is left to gain. It decides by timing whether that pays, so what it pads must be compiled while nothing else runs: beside other processes a GPT-3 13B came out 16% slower.
"""


# Named before anything was measured under today's guards; bench/prove_ten.sh writes and runs their programs.
TEN = ["gpt2", "gpt2-xl", "gpt3-760m", "gpt3-2.7b", "gpt3-6.7b", "pythia-410m", "opt-1.3b", "tinyllama-1.1b", "qwen2.5-1.5b", "llama-2-7b"]
BATCH = 4
HEADLINE = """
## The ten

Ten published models, named before anything was measured. The speed-up that counts is the one at equal size under the guards of [quality.md](quality.md): parameters in all and outside the embeddings at most 0.25% below the baseline's, k and v no narrower, depth within half to twice.

| word | means |
|---|---|
| recommended | keeps its depth, unless the law of loss calls another one free |
| soonest | the shape that the law expects to be first at the baseline's loss under the same guards, whatever its depth: what a law that allowed it would recommend |
| promised | the speed-up that was predicted |
| measured | on an H200 by `tilewright prove MODEL --gpu h200`: eager PyTorch, 4 sequences of 2,048 tokens or as many as there are positions |
| at equal size | the measured speed-up times the parameters over the baseline's |

The goal was 1.10 on the median. Four of the ten (opt-1.3b, tinyllama-1.1b, qwen2.5-1.5b, llama-2-7b) have sizes that the GPU likes already, and more than 300 M parameters outside the embeddings. What is left there is fewer and wider layers, worth 1.00 to 1.05 at equal size in the table. The law does not call them free: it has seen heads and MLP ratios vary in models of up to 154 M, reaches twice that, and above 1 B it finds that depth pays.

The shapes and expected losses are what the search said when they were measured; the last table of this page has what it says now. The table above is older. Its shapes are from the first version's guards (one percent of the parameters either way). It says how well speed-ups are predicted, not what may be promised at equal loss.

A step of gpt2 is bounded by the host that is assumed. The host of the machine that measured it took 0.72 of that (`tilewright measure host`), so that the GPU bounds the baseline there. In gpt2 the step of 832 x 10 with 8 heads took 17.0 ms where another of as many layers took 15.2: such hosts change their speed within seconds ([stopwatch](accuracy/stopwatch.md)).

What the change does to loss was trained where a run takes minutes ([quality.md](quality.md), 75 M tokens, 16,384 words):

| recommended for | trained as | loss | seeds | time, over the baseline's |
|---|---|---|---|---|
| pythia-410m: fewer layers, MLPs 5.25 times as wide, heads of 128 | half its size: 896 x 13 with MLPs 5.4 times as wide and heads of 128, instead of 896 x 16 | -1.6% (±0.9) | 2 | 0.93 |
| gpt2: 832 x 10 with 13 heads | gpt2's blocks | -0.3% (±0.7) | 3 | equal; the baseline's vocabulary is round there |
| gpt2: 832 x 10 with 8 heads of 104 | gpt2's blocks | -1.3% (±1.2) | 1 | equal; as above |
"""


def run(program, arguments, shape=None):
    """A search's answer; `shape` is what `-` stands for."""
    command = [program, "search", *arguments, "--gpu", GPU, "--json"]
    return json.loads(subprocess.run(command, input=shape, check=True, capture_output=True, text=True).stdout)


def toml_of(shape):
    """A shape file: the members of a shape that such a file has."""
    left_out = ("name", "memory_bytes", "words", "batch", "seq")
    return "[shape]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in shape.items() if key not in left_out)


def shape_of(found, sizes, memory):
    """What train_steps.py builds: the baseline's switches with a candidate's sizes."""
    shape = dict(found["baseline"]["shape"]) | sizes | {"memory_bytes": memory, "words": found["baseline"]["shape"]["vocab"]}
    shape |= {"batch": found["workload"]["batch"], "seq": found["workload"]["seq"]}
    return {name: value for name, value in shape.items() if not name.startswith("params") and name != "source"}


def propose(program):
    cases = [case_of(program, arguments, runtime) for runtime in RUNTIMES for arguments in MODELS]
    write({"schema": "tilewright.case-studies/1", "gpu": GPU, "cases": cases})


def write(studies):
    """One case a line."""
    cases = ",\n  ".join(json.dumps(case) for case in studies["cases"])
    print(json.dumps(studies | {"cases": []}).replace("[]}", f"[\n  {cases}]}}"))


def case_of(program, arguments, runtime):
    found = run(program, [*arguments, "--runtime", runtime])
    memory = found["baseline"]["memory"]["total_bytes"]
    shapes = {"baseline": shape_of(found, {}, memory)}
    predicted = {}
    for kind in KINDS:
        best = next((candidate for candidate in found["candidates"] if candidate["kind"] == kind), None)
        if best is None:
            continue
        shapes[kind] = shape_of(found, best["shape"], memory * best["params"] / found["baseline"]["shape"]["params"])
        predicted[kind] = {name: best[name] for name in TOLD}
    return {"model": " ".join(arguments), "runtime": runtime, "time_s": found["baseline"]["time_s"], "predicted": predicted,
            "shapes": shapes}


SIZES = ("hidden", "layers", "heads", "kv_heads", "head_dim", "ffn", "vocab")
TOLD = ("speedup", "low", "high", "proven", "parameter_change", "changed")


def predict(program, source):
    """The file with its speed-ups priced anew: a search of a space that holds one shape."""
    studies = json.load(open(source))
    for case in studies["cases"]:
        base = case["shapes"]["baseline"]
        for kind, told in case["predicted"].items():
            shape = case["shapes"][kind]
            faster, case["time_s"] = only_shape(program, case["runtime"], base, shape)
            told |= {name: faster[name] for name in TOLD} if faster else slower(program, case["runtime"], base, shape)
    write(studies)


def only_shape(program, runtime, base, shape):
    """What a search finds in the space that holds one shape, none where it is no faster than its base; and its base's time."""
    only = [word for size in SIZES for word in ("--" + size.replace("_", "-"), f"{shape[size]}..{shape[size]}")]
    found = run(program, ["-", "--runtime", runtime, "--kv-bytes", "0", "--objective", "step", "--exact", "--tolerance", "0.5", "--min-depth", "0.2", "--aspect", "0.1..10", *only], toml_of(base))
    return next(iter(found["candidates"]), None), found["baseline"]["time_s"]


def slower(program, runtime, base, shape):
    """The speed-up of a shape that is slower, from the search the other way round."""
    back, _ = only_shape(program, runtime, shape, base)
    return {"speedup": 1 / back["speedup"], "low": 1 / back["high"], "high": 1 / back["low"], "proven": False}


def measured_times(path):
    """{(model, runtime, kind): seconds}, and the devices they were measured on."""
    times, devices = {}, set()
    for line in open(path) if path else []:
        step = json.loads(line)
        if step.get("schema") != "tilewright.step/1" or step["status"] != "ok":
            continue
        devices.add(step["device"])
        times.setdefault((step["model"], step["runtime"], step["kind"]), []).append(step["time_us"] * 1e-6)
    return {key: statistics.median(values) for key, values in times.items()}, devices


def speedups(times):
    """{(model, runtime, kind): speed-up} of those whose baseline was measured."""
    return {(model, runtime, kind): times[model, runtime, "baseline"] / time for (model, runtime, kind), time in times.items()
            if (model, runtime, "baseline") in times}


def step_errors(cases, times):
    """How far off the time of each measured step is."""
    predicted = {(case["model"], case["runtime"], kind): case["time_s"] / told["speedup"] for case in cases
                 for kind, told in [("baseline", {"speedup": 1.0}), *case["predicted"].items()]}
    return [predicted[key] / times[key] - 1 for key in predicted if key in times]


def row(case, kind, measured):
    predicted = case["predicted"][kind]
    seen = measured.get((case["model"], case["runtime"], kind))
    cells = [case["model"], case["runtime"], kind, "<br>".join(predicted["changed"]), f"{predicted['parameter_change']:+.1%}",
             f"{predicted['speedup']:.3f}", f"{predicted['low']:.2f}–{predicted['high']:.2f}",
             "yes" if predicted["proven"] else "no", "not measured" if seen is None else f"{seen:.3f}",
             "" if seen is None else f"{100 * (predicted['speedup'] - seen):+.1f}"]
    return "| " + " | ".join(cells) + " |"


def verdict(cases, measured):
    pairs = [(case["predicted"][kind], measured[case["model"], case["runtime"], kind]) for case in cases
             for kind in case["predicted"] if (case["model"], case["runtime"], kind) in measured]
    if not pairs:
        return "No step has been measured yet: the right-hand columns are empty, and nothing here is evidence of a speed-up."
    close = sum(abs(predicted["speedup"] - seen) <= GOAL for predicted, seen in pairs)
    slower = sum(predicted["proven"] and seen < 1 for predicted, seen in pairs)
    return (f"{close} of {len(pairs)} agree within {100 * GOAL:.0f} points (goal: nine in ten); "
            f"{slower} of those marked as proven are slower than their baseline (goal: none).")


def page(source, steps, proved, program):
    cases = json.load(open(source))["cases"]
    times, devices = measured_times(steps)
    first = cases[0]["shapes"]["baseline"]
    print(INTRODUCTION.format(batch=first["batch"], seq=first["seq"]))
    if devices:
        print("Measured on " + ", ".join(sorted(devices)) + ".\n")
    print("| model | runtime | kind | change | parameters | predicted | interval | proven | measured | points off |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for case in cases:
        for kind in case["predicted"]:
            print(row(case, kind, speedups(times)))
    print("\n" + verdict(cases, speedups(times)))
    if errors := step_errors(cases, times):
        print(f"The times of the {len(errors)} steps: {statistics.mean(map(abs, errors)):.1%} off (mean), {statistics.mean(errors):+.1%} signed.")
    print(HEADLINE)
    ten(proved)
    today(program, proved)


def proofs(path):
    """{(model, micro-batch): its promises with what was measured, the baseline first}; of what was proved again, the last time."""
    found = {}
    for line in open(path):
        promise = json.loads(line)
        if "measured_s" in promise and not promise["compiled"]:
            key = promise["model"], promise["batch"]
            if promise["kind"] == "baseline":
                found[key] = []
            found[key].append(promise)
    return found


def of_the_ten(path):
    """{model: its promises} of the ten as the headline has them."""
    found = proofs(path)
    return {model: found[model, BATCH] for model in TEN}


def chosen(promises):
    """(what it is, promise) of the recommended shape and of the one that should be first at the baseline's loss."""
    baseline, *others = promises
    recommended = next((made for made in others if made["recommended"]), baseline)
    soonest = max(promises, key=lambda made: (made["time_to_loss"] or {"speedup": 0})["speedup"])
    return [("recommended", recommended)] + ([("soonest", soonest)] if soonest is not recommended else [])


def at_equal_size(promise):
    return promise["measured_speedup"] * (1 + promise["parameter_change"])


def loss_text(promise):
    loss = promise["loss"]
    known = f"{loss['change']:+.1%} ({loss['low']:+.1%} to {loss['high']:+.1%})".replace("%", "")
    return known + ("" if loss["reaches"] else ", beyond the runs")


PROVED = """| model | | change | depth | parameters | outside embeddings | promised | measured | at equal size | expected loss, % |
|---|---|---|---|---|---|---|---|---|---|"""


def proved_rows(name, promises):
    """Prints what was recommended and what was soonest, and returns it."""
    rows = chosen(promises)
    for kind, made in rows:
        depth = "changed" if any(text.startswith("layers") for text in made["changed"]) else "kept"
        print("| " + " | ".join([name, kind, "<br>".join(made["changed"]) or "keep the baseline", depth, f"{made['parameter_change']:+.1%}",
                                 f"{made['block_parameter_change']:+.1%}", f"{made['speedup']:.3f}", f"{made['measured_speedup']:.3f}",
                                 f"{at_equal_size(made):.3f}", loss_text(made)]) + " |")
    return [made for _, made in rows]


def ten(path):
    """The headline's table, what it comes to, the same of other workloads, and how far the promises are off."""
    best = {"recommended": [], "soonest": []}
    print(PROVED)
    for model, promises in of_the_ten(path).items():
        rows = proved_rows(model, promises)
        best["recommended"].append(at_equal_size(rows[0]))
        best["soonest"].append(at_equal_size(rows[-1]))
    for kind, values in best.items():
        print(f"\nMeasured at equal size, {kind}: {statistics.median(values):.3f} on the median, {max(values):.3f} at most.")
    print("\nBesides the ten, a model of gpt2's blocks with twice the tokens, and gpt2 with four times: the more the GPU has to do, the less of an odd vocabulary the host hides.\n")
    print(PROVED)
    found = proofs(path)
    for (model, batch), promises in found.items():
        if model not in TEN or batch != BATCH:
            proved_rows(f"{model}, {batch} × {promises[0]['seq']:,} tokens", promises)
    every = [made for promises in found.values() for made in promises]
    off = [made["speedup"] - made["measured_speedup"] for made in every if made["kind"] != "baseline"]
    steps = [made["time_s"] / made["measured_s"] - 1 for made in every]
    print(f"\n{len(off)} promised speed-ups are {100 * statistics.mean(map(abs, off)):.1f} points off on the mean ({100 * statistics.mean(off):+.1f} signed), "
          f"{len(steps)} steps {statistics.mean(map(abs, steps)):.1%} ({statistics.mean(steps):+.1%}); "
          f"{sum(made['inside'] for made in every)} of them lie inside their 90% interval.")


SIZES = ["hidden", "layers", "heads", "kv_heads", "head_dim", "ffn", "vocab"]


def today(program, path):
    """What the program recommends now, and which of it was measured: a proof of the same sizes."""
    found, seen, promised = of_the_ten(path), [], []
    print("\nWhat the search recommends now, and what was measured of it:\n")
    print("| model | recommended now | depth | parameters | outside embeddings | promised | interval | measured at equal size | expected loss, % |")
    print("|---|---|---|---|---|---|---|---|---|")
    for model in TEN:
        made = next((one for one in run(program, [model])["candidates"] if one["recommended"]), found[model][0])
        same = next((one for one in found[model] if all(one["shape"][size] == made["shape"][size] for size in SIZES)), None)
        depth = "kept" if made["shape"]["layers"] == found[model][0]["shape"]["layers"] else "changed"
        print("| " + " | ".join([model, "<br>".join(made["changed"]) or "keep the baseline", depth, f"{made['parameter_change']:+.1%}", f"{made['block_parameter_change']:+.1%}",
                                 f"{made['speedup']:.3f}", f"{made['low']:.2f}–{made['high']:.2f}", f"{at_equal_size(same):.3f}" if same else "not yet", loss_text(made)]) + " |")
        seen += [at_equal_size(same)] if same else []
        promised.append(at_equal_size(same) if same else made["speedup_at_equal_params"])
    if len(seen) == len(TEN):
        print(f"\nAll of these were measured: {statistics.median(seen):.3f} on the median.")
    else:
        print(f"\n{len(seen)} of these {len(TEN)} were measured. With promises in place of what was not, the median is {statistics.median(promised):.3f}, which is a prediction.")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["propose", "predict", "page"])
    parser.add_argument("--program", default="build/release/tilewright")
    parser.add_argument("--from", dest="source", default="bench/case_studies.json")
    parser.add_argument("--steps", default="")
    parser.add_argument("--proofs", default="bench/measured/proofs.jsonl")
    arguments = parser.parse_args()
    if arguments.what == "propose":
        propose(arguments.program)
    elif arguments.what == "predict":
        predict(arguments.program, arguments.source)
    else:
        page(arguments.source, arguments.steps, arguments.proofs, arguments.program)


if __name__ == "__main__":
    main()

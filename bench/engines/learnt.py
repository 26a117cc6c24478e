"""What the laws of grouped experts, of latent attention and of DeepEP's normal mode leave over, learnt on top of the constants
that the program has built in: rows of data/engines get the intervals of kin held out (models; curves of heads and batch;
models and groups), data/kernels/DEVICE.trees the trees.

    python3 bench/engines/learnt.py PUBLIC FIT_ENGINES

after fit.py and a build. Prints the errors, of experts where each gets as many tokens and where not."""
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

import experts
import solve

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data")
TABLE, ROW = re.compile(r"(\w+) = \["), re.compile(r'    \[((?:"[^"]+", )+)(.*)\],')


def expert_rows(public, device, form, library):
    for name in ("moe_", "moe_w4_"):
        table = solve.read_rows(public, name + solve.Sheet(device).public)
        if table is None:
            continue
        ours = (table["dtype"] == form) & (np.char.find(table["source"], library) >= 0) & (table["slow"] == 0)
        table = solve.choose(table, ours & (np.char.find(table["kernel"], experts.OTHER_KERNEL) < 0))
        if experts.TILES.get((form, library)) == "default":
            table = solve.choose(table, ~experts.has_tuned_tiles(table))
        for i, distribution in enumerate(table["distribution"]):
            skew = distribution.split("_")[2] if distribution.startswith("power_law") else "0"
            sizes = [f"{table[column][i]:.0f}" for column in ("m", "n", "k", "batch", "topk", "tp", "ep")]
            yield ",".join([*sizes, skew, f"{table['gated'][i]:.0f}", f"{table['latency_us'][i]}"])


def latent_rows(public, kind, device, cache):
    table = solve.read_rows(public, "mla_" + solve.Sheet(device).public)
    table = solve.choose(table, (table["op"] == "mla_" + kind) & (table["kv_dtype"] == cache))
    for i in range(len(table["n"])):
        queries = table["m"][i] if kind == "context" else 1
        sizes = (table["heads"][i], table["batch"][i], queries, table["n"][i], table["k"][i], table["v_dim"][i])
        yield ",".join([*(f"{size:.0f}" for size in sizes), f"{table['latency_us'][i]}"])


def exchange_rows(public, device, op):
    table = solve.read_rows(public, "alltoall_" + solve.Sheet(device).public)
    table = solve.choose(table, table["op"] == op)
    for i in range(len(table["m"])):
        sizes = [f"{table[column][i]:.0f}" for column in ("m", "n", "k", "batch", "experts", "nodes", "sms")]
        yield ",".join([*sizes, f"{table['latency_us'][i]}"])


def learn(command, device, law, rows):
    """Lists of points, mean, median, low, high; the trees go into the device's file."""
    with tempfile.NamedTemporaryFile(mode="r") as trees:
        said = subprocess.run([*command, law, trees.name], input="\n".join(rows), stdout=subprocess.PIPE, text=True, check=True).stdout
        lines = trees.read()
    path = os.path.join(DATA, "kernels", f"{device}.trees")
    with open(path) as file:
        kept = [line for line in file if not line.startswith(law + " ")]
    with open(path, "w") as file:
        file.writelines([*kept, lines])
    return [[float(word) for word in line.split()] for line in said.splitlines()]


def learn_row(kind, words, public, fit_engines):
    """What is learnt of a row, and what its parts are called."""
    device = words[0]
    if kind == "experts":
        form, library = words[1:3]
        found = learn([fit_engines, kind, device, form, library], device, f"experts-{form}-{library}", expert_rows(public, device, form, library))
        return found, [("experts", f"{form} {library}"), ("experts, skewed", f"{form} {library}")]
    if kind == "exchange":
        op = words[1]
        if "normal" not in op:
            return [], []
        found = learn([fit_engines, kind, device, op.split("_")[2], "-"], device, op, exchange_rows(public, device, op))
        return found, [(op, "fp8" if "dispatch" in op else "bf16")]
    cache = words[1]
    found = learn([fit_engines, kind, device, cache, "-"], device, f"{kind}-{cache}", latent_rows(public, kind, device, cache))
    return found, [(f"mla_{kind}", f"bf16, cache {cache}")]


def main():
    public, fit_engines = sys.argv[1:3]
    print("| kernel | GPU | format | rows | mean | median |\n|---|---|---|---|---|---|")
    for name in ("experts", "latent", "exchange"):
        path, kind = os.path.join(DATA, "engines", name + ".toml"), ""
        with open(path) as file:
            lines = file.read().split("\n")
        for place, line in enumerate(lines):
            if table := TABLE.match(line):
                kind = table[1]
            if (row := ROW.match(line)) is None:
                continue
            words, cells = row[1].strip(", ").replace('"', "").split(", "), row[2].split(", ")
            found, titles = learn_row(kind, words, public, fit_engines)
            if not found:
                continue
            ends = [end for part in found for end in part[3:]]
            cells[-2 - len(ends):-1] = [solve.number(value) for value in (*ends, found[0][1])]  # intervals and error, not the samples' count
            lines[place] = f"    [{row[1]}{', '.join(cells)}],"
            for (title, form), (points, mean, median, *_) in zip(titles, found):
                print(f"| {title} | {words[0]} | {form} | {points:.0f} | {100 * mean:.1f}% | {100 * median:.1f}% |", flush=True)
        with open(path, "w") as file:
            file.write("\n".join(lines))


if __name__ == "__main__":
    main()

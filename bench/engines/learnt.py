"""What the law of grouped experts leaves over, learnt on top of the constants that the program has built in: rows of
data/engines/experts.toml get the intervals of models held out, data/kernels/DEVICE.trees the trees.

    python3 bench/engines/learnt.py PUBLIC FIT_EXPERTS

after fit.py and a build. Prints the errors: where each expert gets as many tokens, and where not."""
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

import experts
import solve

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data")
ROW = re.compile(r'    \["([^"]+)", "([^"]+)", "([^"]+)", (.*)\],')


def rows_of(public, device, form, library):
    sheet = solve.Sheet(device)
    for name in ("moe_", "moe_w4_"):
        table = solve.read_rows(public, name + sheet.public)
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


def learn(fit_experts, public, device, form, library):
    """(points, mean, median, low, high) where each expert gets as many tokens, and where not; the trees go into the device's file."""
    law = f"experts-{form}-{library}"
    with tempfile.NamedTemporaryFile(mode="r") as trees:
        command = [fit_experts, device, form, library, law, trees.name]
        said = subprocess.run(command, input="\n".join(rows_of(public, device, form, library)), stdout=subprocess.PIPE, text=True, check=True).stdout
        lines = trees.read()
    path = os.path.join(DATA, "kernels", f"{device}.trees")
    with open(path) as file:
        kept = [line for line in file if not line.startswith(law + " ")]
    with open(path, "w") as file:
        file.writelines([*kept, lines])
    return [[float(word) for word in line.split()] for line in said.splitlines()]


def main():
    public, fit_experts = sys.argv[1:3]
    path = os.path.join(DATA, "engines", "experts.toml")
    with open(path) as file:
        lines = file.read().split("\n")
    print("| kernel | GPU | format | rows | mean | median |\n|---|---|---|---|---|---|")
    for place, line in enumerate(lines):
        if (found := ROW.match(line)) is None:
            continue
        device, form, library, rest = found.groups()
        even, skewed = learn(fit_experts, public, device, form, library)
        cells = rest.split(", ")
        cells[-6:-1] = [solve.number(value) for value in (*even[3:], *skewed[3:], even[1])]  # all but the samples' count
        lines[place] = f'    ["{device}", "{form}", "{library}", {", ".join(cells)}],'
        for name, (points, mean, median, *_) in (("experts", even), ("experts, skewed", skewed)):
            print(f"| {name} | {device} | {form} {library} | {points:.0f} | {100 * mean:.1f}% | {100 * median:.1f}% |", flush=True)
    with open(path, "w") as file:
        file.write("\n".join(lines))


if __name__ == "__main__":
    main()

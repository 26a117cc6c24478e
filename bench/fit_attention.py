#!/usr/bin/env python3
"""fit_attention.py PROGRAM [--check]: cuDNN's attention of training in the profiles of GPUs whose public timings are of serving engines.

NVIDIA publishes what cuDNN takes on GB200 and GB300 (bench/published_attention.csv); the constants of heads of 128 are solved for these
times, set to the clock of a B200 and a B300, and written into their profiles. Other head sizes keep their ratio to 128: forward that of
the profile, backward that of the H200, where all were timed. An H100 is the same chip as an H200 and takes its constants as they are.
bench/fit_profiles.sh comes before it. --check only prints how far off the rows are, the H200's too, which no fit has seen."""
import argparse
import csv
import io
import math
import os
import re
import shutil
import subprocess
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PROFILES = os.path.join(ROOT, "data", "profiles")
ROWS = os.path.join(ROOT, "bench", "published_attention.csv")
LONGEST_US = 16000  # of a fit: beyond it the clock falls while ten of them run
TILES = {"forward": [(256, 128), (128, 128), (256, 64)], "backward": [(128, 128), (128, 64), (256, 64)]}
START = [0.8, 1.0, 0.1, 1.0, 6.0]  # fraction, block_us, masked, unmasked, launch_us
LEAST, MOST = [0.3, 0.05, 0.005, 0.7, 2.0], [1.0, 6.0, 3.0, 1.3, 30.0]


def rows_of(gpu, scale=1.0):
    with open(ROWS, newline="", encoding="utf-8") as table:
        return [dict(row, time=float(row["latency_us"]) * scale) for row in csv.DictReader(table) if row["gpu"] == gpu]


def ratios(program, device, rows, profile=None):
    """Predicted over measured, at the burst clock."""
    columns = ["batch", "heads", "kv_heads", "q_len", "kv_len", "head_dim", "causal", "pass", "backend"]
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as asked:
        asked.write(",".join(columns) + ",clock\n" + "".join(",".join(row[c] for c in columns) + ",burst\n" for row in rows))
        asked.flush()
        command = [program, "predict", "attention", "--gpu", device, "--from", asked.name] + (["--profile", profile] if profile else [])
        answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [float(got["predicted_us"]) / row["time"] for got, row in zip(csv.DictReader(io.StringIO(answer)), rows)]


def error(found):
    return sum(abs(math.log(ratio)) for ratio in found) / len(found)


def section_of(text):
    return re.search(r"^\[cudnn\]\n.*?(?=^\[)", text, re.M | re.S).group(0)


def table_of(section, name):
    body = re.search(rf"^{name} = \[\n#[^\n]*\n(.*?)^\]", section, re.M | re.S).group(1)
    return [[float(x) for x in line.strip(" [],").split(",")] for line in body.splitlines()]


def with_walk(section, walk, tile, constants, ratio_of):
    """The section with a pass's constants in it, those of other head sizes by their ratio to 128."""
    fraction, block, masked, unmasked, launch = constants
    lines = [[head, *tile, min(1.0, fraction * ratio_of[head] / ratio_of[128]), block, masked, unmasked, 1, 1, 1] for head in sorted(ratio_of)]
    body = "".join("  [" + ", ".join(f"{x:.4g}" for x in line) + "],\n" for line in lines)
    section = re.sub(rf"(^{walk} = \[\n#[^\n]*\n).*?(?=^\])", lambda found: found.group(1) + body, section, flags=re.M | re.S)
    key = "launch_us" if walk == "forward" else "backward_launch_us"
    return re.sub(rf"^{key} = .*$", f"{key} = {launch:.4g}", section, flags=re.M)


def solve(program, device, path, walk, rows, ratio_of):
    """The best tile and constants, by steps of falling size along one constant after another."""
    text = open(path, encoding="utf-8").read()

    def tried(tile, constants):
        with open(path, "w", encoding="utf-8") as out:
            out.write(text.replace(section_of(text), with_walk(section_of(text), walk, tile, constants, ratio_of)))
        return error(ratios(program, device, rows, path))

    best = (math.inf,)
    for tile in TILES[walk]:
        constants, least, step = list(START), tried(tile, START), 0.5
        while step > 0.01:
            moved = False
            for i in range(len(START)):
                for factor in (1 + step, 1 / (1 + step)):
                    other = list(constants)
                    other[i] = min(MOST[i], max(LEAST[i], other[i] * factor))
                    found = tried(tile, other)
                    if found < least - 1e-6:
                        constants, least, moved = other, found, True
            step = step if moved else step / 2
        best = min(best, (least, tile, constants))
    tried(best[1], best[2])
    print(f"{device} {walk}: {best[0]:.1%} off its {len(rows)} rows, tile {best[1][0]} x {best[1][1]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    with open(os.path.join(PROFILES, "h200.toml"), encoding="utf-8") as source:
        hopper = section_of(source.read())
    backward_ratios = {int(line[0]): line[3] for line in table_of(hopper, "backward")}
    if not options.check:
        replace_section("h100-sxm", hopper)
        for device, timed, scale in (("b200", "gb200", 2500 / 2250), ("b300", "gb300", 2500 / 2250)):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, device + ".toml")
                shutil.copy(os.path.join(PROFILES, device + ".toml"), path)
                shutil.copy(os.path.join(PROFILES, device + ".residual.json"), folder)
                text = open(path, encoding="utf-8").read()
                section = section_of(text)
                forward_ratios = {int(line[0]): line[3] for line in table_of(section, "forward")}
                for key, value in (("cache_copies", 0), ("exposed", 0.3), ("passes", 0.8)):  # no cache is written; the rest as assumed
                    section = re.sub(rf"^{key} = .*$", f"{key} = {value}", section, flags=re.M)
                with open(path, "w", encoding="utf-8") as out:
                    out.write(text.replace(section_of(text), section))
                rows = [row for row in rows_of(timed, scale) if row["time"] <= LONGEST_US]
                for walk, ratio_of in (("forward", forward_ratios), ("backward", backward_ratios)):
                    solve(options.program, device, path, walk, [row for row in rows if row["pass"] == walk], ratio_of)
                with open(path, encoding="utf-8") as solved:
                    replace_section(device, section_of(solved.read()))
        return
    for gpu in ("h200", "gb200", "gb300"):
        for walk in ("forward", "backward"):
            rows = [row for row in rows_of(gpu) if row["pass"] == walk]
            found = ratios(options.program, gpu, rows)
            bias = sum(ratio - 1 for ratio in found) / len(found)
            print(f"{gpu:6} {walk:8} {len(rows):2} rows  mean error {sum(abs(r - 1) for r in found) / len(found):5.1%}  bias {bias:+6.1%}")


def replace_section(device, section):
    path = os.path.join(PROFILES, device + ".toml")
    with open(path, encoding="utf-8") as source:
        text = source.read()
    with open(path + ".new", "w", encoding="utf-8") as out:
        out.write(text.replace(section_of(text), section))
    os.replace(path + ".new", path)


if __name__ == "__main__":
    main()

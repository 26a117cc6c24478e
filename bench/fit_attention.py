#!/usr/bin/env python3
"""fit_attention.py PROGRAM [--check] [DEVICE…]: attention of training in the profiles of GPUs whose public timings are of serving engines.

NVIDIA publishes what cuDNN takes on GB200 and GB300 and FlashAttention-2 on an A100 (bench/published_attention.csv); the constants of
heads of 128 are solved for these times, set to the clock of a B200 and a B300, and written into their profiles. Other head sizes keep
the ratio to 128 that the H200 has, where we timed all. An H100 is the same chip as an H200 and takes its constants as they are.
bench/fit_profiles.sh runs it last. --check only prints how far off the rows are, the H200's too, which no fit has seen."""
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
LONGEST_US = 35000  # of a fit: beyond it the clock falls while ten of them run
# Profiles, whose section is solved for whose rows, and how much longer they take than those.
SOLVED = [(["b200"], "cudnn", "gb200", 2500 / 2250), (["b300"], "cudnn", "gb300", 2500 / 2250), (["a100-80-sxm", "a100-40-sxm"], "flash2", "a100-80-pcie", 1.0)]
TILES = {"forward": [(256, 64), (128, 128), (128, 64)], "backward": [(128, 128), (128, 64), (64, 128)]}
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


def section_of(text, name):
    return re.search(rf"^\[{name}\]\n.*?(?=^\[)", text, re.M | re.S).group(0)


def fractions_of(section, walk):
    body = re.search(rf"^{walk} = \[\n#[^\n]*\n(.*?)^\]", section, re.M | re.S).group(1)
    lines = [[float(x) for x in line.strip(" [],").split(",")] for line in body.splitlines()]
    return {int(line[0]): line[3] for line in lines}


def with_walk(section, walk, tile, constants, ratio_of):
    """The section with a pass's constants in it, those of other head sizes by their ratio to 128."""
    fraction, block, masked, unmasked, launch = constants
    lines = [[head, *tile, min(1.0, fraction * ratio_of[head] / ratio_of[128]), block, masked, unmasked, 1, 1, 1] for head in sorted(ratio_of)]
    columns = [[f"{x:.4g}" for x in column] for column in zip(*lines)]
    aligned = zip(*([text.rjust(max(map(len, column))) for text in column] for column in columns))
    body = "".join("  [" + ", ".join(line) + "],\n" for line in aligned)
    section = re.sub(rf"(^{walk} = \[\n#[^\n]*\n).*?(?=^\])", lambda found: found.group(1) + body, section, flags=re.M | re.S)
    key = "launch_us" if walk == "forward" else "backward_launch_us"
    return re.sub(rf"^{key} = .*$", f"{key} = {launch:.4g}", section, flags=re.M)


def solve(tried, walk):
    """The best tile and constants, by steps of falling size along one constant after another."""
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
    return best


def solved_section(program, device, name, rows):
    """The profile's section with both passes solved for the rows; no cache is written in training, and what was not timed is as assumed."""
    with open(os.path.join(PROFILES, "h200.toml"), encoding="utf-8") as source:
        hopper = section_of(source.read(), name)
    with open(os.path.join(PROFILES, device + ".toml"), encoding="utf-8") as source:
        text = source.read()
    section = section_of(text, name)
    for key, value in (("cache_copies", 0), ("exposed", 0.3), ("passes", 0.8)):
        section = re.sub(rf"^{key} = .*$", f"{key} = {value}", section, flags=re.M)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, device + ".toml")
        shutil.copy(os.path.join(PROFILES, device + ".residual.json"), folder)
        for walk in ("forward", "backward"):
            timed = [row for row in rows if row["pass"] == walk]
            ratio_of = fractions_of(hopper, walk)

            def tried(tile, constants):
                with open(path, "w", encoding="utf-8") as out:
                    out.write(text.replace(section_of(text, name), with_walk(section, walk, tile, constants, ratio_of)))
                return error(ratios(program, device, timed, path))

            least, tile, constants = solve(tried, walk)
            section = with_walk(section, walk, tile, constants, ratio_of)
            print(f"{device} {walk}: {least:.1%} off its {len(timed)} rows, tile {tile[0]} x {tile[1]}")
    return section


def replace_section(device, name, section, origin):
    path = os.path.join(PROFILES, device + ".toml")
    with open(path, encoding="utf-8") as source:
        text = source.read()
    text = text.replace(section_of(text, name), section)
    if origin == "the H200's":
        text = text.replace('attention_evidence = "fitted"', 'attention_evidence = "transferred"')
    if origin not in text:
        text = re.sub(r'^(source = ".*); (\d+ samples")$', rf"\1; attention of training: {origin}; \2", text, flags=re.M)
    with open(path + ".new", "w", encoding="utf-8") as out:
        out.write(text)
    os.replace(path + ".new", path)


def forget_errors(device, kept):
    """Takes errors of attention that the constants no longer have out of the residual, but for the group that is kept, and signs it anew."""
    toml, path = (os.path.join(PROFILES, device + end) for end in (".toml", ".residual.json"))
    with open(path, encoding="utf-8") as source:
        text = source.read()
    block = re.compile(r'    \{\n      "op": "attention",\n[^}]*\},?\n')
    text = block.sub(lambda found: found.group(0) if f'"group": "{kept}"' in found.group(0) else "", text)
    text = re.sub(r"(\}),(\n  \])", r"\1\2", text)  # a comma before the end of the list
    digest = 0xCBF29CE484222325
    for byte in text.encode():
        digest = (digest ^ byte) * 0x100000001B3 % 2**64
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    with open(toml, encoding="utf-8") as source:
        profile = source.read()
    with open(toml, "w", encoding="utf-8") as out:
        out.write(re.sub(r"^residual_hash = .*$", f'residual_hash = "{digest:016x}"', profile, flags=re.M))


def check(program):
    for gpu in ("h200", "gb200", "gb300", "a100-80-pcie"):
        for walk in ("forward", "backward"):
            rows = [row for row in rows_of(gpu) if row["pass"] == walk]
            found = ratios(program, gpu, rows)
            bias = sum(ratio - 1 for ratio in found) / len(found)
            print(f"{gpu:12} {walk:8} {len(rows):2} rows  mean error {sum(abs(r - 1) for r in found) / len(found):5.1%}  bias {bias:+6.1%}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("devices", nargs="*", metavar="DEVICE", help="all where none is named")
    options = parser.parse_args()
    if options.check:
        return check(options.program)

    def wanted(device):
        return not options.devices or device in options.devices

    if wanted("h100-sxm"):
        with open(os.path.join(PROFILES, "h200.toml"), encoding="utf-8") as source:
            replace_section("h100-sxm", "cudnn", section_of(source.read(), "cudnn"), "the H200's")
        forget_errors("h100-sxm", "none")
    for devices, name, timed, scale in SOLVED:
        if not any(map(wanted, devices)):
            continue
        rows = [row for row in rows_of(timed, scale) if row["time"] <= LONGEST_US]
        section = solved_section(options.program, devices[0], name, rows)
        for device in filter(wanted, devices):
            replace_section(device, name, section, "NVIDIA's cudnn-frontend")
            forget_errors(device, "auto decode")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Compares layers timed by tilewright-measure with the same layers timed in PyTorch.

    python3 bench/compare_layers.py ours.jsonl pytorch.jsonl

A ratio is the faster of PyTorch's times over ours: above 1 ours is faster. Where our file has a layer in several
runtimes the fastest is taken, and named. Files may be compressed. Times compare only where both clocks had settled:
the last line tells the ratios in cycles as well."""
import gzip
import json
import statistics
import sys

IGNORED = ("runtime", "attention", "tp")
GOAL = 0.97


def best_by_shape(path):
    """{shape: {runtime: sample}} of the sustained samples; of equal keys the last."""
    found = {}
    for line in gzip.open(path, "rt") if path.endswith(".gz") else open(path):
        sample = json.loads(line)
        if sample.get("op") != "layer" or sample.get("clock") != "sustained" or sample.get("status") != "ok":
            continue
        sizes = sample["sizes"]
        key = tuple((name, str(value)) for name, value in sorted(sizes.items()) if name not in IGNORED)
        found.setdefault(key, {})[sizes["runtime"]] = sample
    return found


def named(key):
    size = dict(key)
    return (f"{size['mlp']:6s} {size['block'][:3]} h{size['hidden']:>5s} a{size['heads']}/{size['kv_heads']} d{size['head_dim']} "
            f"f{size['ffn']} {size['batch']}x{size['seq']} {size['pass']}")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    ours, theirs = best_by_shape(sys.argv[1]), best_by_shape(sys.argv[2])
    print(f"{'layer':58s} {'ours us':>10s} {'as':>9s} {'eager us':>10s} {'compile us':>10s} {'ratio':>6s} {'MHz ours/theirs':>16s}")
    ratios, in_cycles = [], []
    for key, runtimes in theirs.items():
        if key not in ours:
            print(f"{named(key):58s} {'-':>10s}")
            continue
        mine = min(ours[key].values(), key=lambda sample: sample["time_us"])
        fastest = min(runtimes.values(), key=lambda sample: sample["time_us"])
        ratio = fastest["time_us"] / mine["time_us"]
        ratios.append(ratio)
        in_cycles.append(ratio * fastest.get("clock_mhz", 0) / mine.get("clock_mhz", 1))
        times = [f"{runtimes[name]['time_us']:10.1f}" if name in runtimes else f"{'-':>10s}" for name in ("eager", "compiled")]
        clocks = f"{mine.get('clock_mhz', 0):.0f}/{fastest.get('clock_mhz', 0):.0f}"
        flag = "" if ratio >= GOAL else "  slower"
        print(f"{named(key):58s} {mine['time_us']:10.1f} {mine['sizes']['runtime']:>9s} {times[0]} {times[1]} {ratio:6.3f} {clocks:>16s}{flag}")
    if ratios:
        below = sum(ratio < GOAL for ratio in ratios)
        print(f"\n{len(ratios)} layers: least {min(ratios):.3f}, median {statistics.median(ratios):.3f}, {below} below {GOAL}; "
              f"in cycles least {min(in_cycles):.3f}, median {statistics.median(in_cycles):.3f}")


if __name__ == "__main__":
    main()

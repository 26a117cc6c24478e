#!/usr/bin/env python3
"""From results.jsonl to tables of every shape against its baseline, as Markdown.

    python3 bench/quality/analyse.py [RESULTS]

Runs are compared within a setting (equal size, tokens, order of the data and text) and in pairs: a shape with the baseline of
the same seed, each pair in brackets. The interval of their mean takes the noise of a run from all runs, as law.py finds it. Of a shape
trained at several learning rates the one with the lowest loss counts, for the baseline too."""
import argparse
import collections
import math
import statistics
import sys

import law
import runs
from law import best_rates, setting


def cells(results):
    """Runs that differ in their seed alone."""
    grouped = collections.defaultdict(list)
    for run in results:
        grouped[setting(run), run["name"]].append(run)
    return grouped


def pairs(group, base):
    """ln(loss) less the baseline's of the same seed, for each seed that both have."""
    by_seed = [collections.defaultdict(list) for _ in range(2)]
    for runs_of, side in zip((group, base), by_seed):
        for run in runs_of:
            side[run["seed"]].append(math.log(run["val_loss"]))
    return [statistics.mean(by_seed[0][seed]) - statistics.mean(by_seed[1][seed]) for seed in by_seed[0] if seed in by_seed[1]]


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


def time_s(group):
    """Seconds of training by the steady speed, from runs that had the GPU and the host to themselves where there are any."""
    alone = [run for run in group if not run["beside_compiler"]] or group
    return statistics.median([run["tokens"] / run["tokens_per_s"] for run in alone])


def comparison(grouped, noise):
    """Every shape against its setting's baseline; `noise` is of ln(loss) of a run."""
    rows = []
    for (where, name), group in sorted(grouped.items(), key=lambda item: (runs.size_rank(item[0][0][0]), item[0])):
        base = grouped.get((where, "base"))
        run, loss = group[0], statistics.mean([one["val_loss"] for one in group])
        difference = spread = relative_time = "-"
        if base:
            relative_time = f"{time_s(group) / time_s(base):.3f}"
        if base and name != "base" and (found := pairs(group, base)):
            difference = f"{100 * math.expm1(statistics.mean(found)):+.2f}%"
            if len(found) > 1:
                difference += " (" + ", ".join(f"{100 * math.expm1(one):+.1f}" for one in found) + ")"
            spread = f"±{100 * law.student(30) * noise * math.sqrt(2 / len(found)):.2f}%"
        rows.append([where[0], where[1], name, f"{run['hidden']}x{run['layers']}", f"{run['hidden'] / run['layers']:.0f}",
                     f"{run['params_outside_embeddings'] / 1e6:.2f} M", f"{run['lr']:g}", len(group), f"{loss:.4f}", difference, spread,
                     f"{time_s(group):.1f} s", relative_time])
    return rows


def rate_rows(results):
    """Shapes that were trained at several learning rates, loss by rate."""
    by_shape = collections.defaultdict(dict)
    for run in results:
        by_shape[setting(run), run["name"], run["seed"]][run["lr"]] = run["val_loss"]
    return [[where[0], name, seed, ", ".join(f"{lr:g}: {loss:.4f}" for lr, loss in sorted(rates.items()))]
            for (where, name, seed), rates in sorted(by_shape.items()) if len(rates) > 1]


def best_rate(results):
    """(0.002 over the best rate of 7 layers, its exponent with layers, ln(loss) for a squared factor e beside it): least squares over
    shapes that were trained at several rates, but for rates at which one failed. None where there are too few."""
    by_shape = collections.defaultdict(list)
    for run in results:
        by_shape[setting(run), run["name"], run["seed"]].append(run)
    rows, loss = [], []
    for group in by_shape.values():
        least = min(run["val_loss"] for run in group)
        tried = [run for run in group if run["layers"] >= law.FEWEST_LAYERS and run["val_loss"] < 1.1 * least]
        terms = [(math.log(run["lr"] / 0.002), math.log(run["layers"] / 7)) for run in tried]
        found = [(r * r, r, r * deep) for r, deep in terms]
        for line, run in zip(found, tried):  # beside the shape's own level
            rows.append([x - statistics.mean(other[i] for other in found) for i, x in enumerate(line)])
            loss.append(math.log(run["val_loss"]) - statistics.mean(math.log(other["val_loss"]) for other in tried))
    normal = [[sum(row[i] * row[j] for row in rows) + 1e-9 * (i == j) for j in range(3)] for i in range(3)]
    right = [sum(row[i] * y for row, y in zip(rows, loss)) for i in range(3)]
    curve, slope, by_depth = (sum(a * b for a, b in zip(line, right)) for line in law.inverse(normal))
    return None if curve <= 0 else (math.exp(slope / 2 / curve), -by_depth / 2 / curve, curve)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="?", default=runs.HERE / "results.jsonl")
    arguments = parser.parse_args()
    lines = runs.read_results(arguments.results)
    results = [run for run in lines if run["status"] == "ok"]
    if not results:
        sys.exit(f"{arguments.results} has no finished run")
    kept = best_rates(results)
    grouped = cells(kept)
    noise = law.Law(law.own(results)).spread["run", "ours"]
    print(f"{len(results)} runs, {len(lines) - len(results)} failed; {len(kept)} at their shape's best learning rate. "
          f"Standard deviation of a run beside its shape and seed: {100 * noise:.2f}% of the loss.\n")
    print(table(["size", "order", "shape", "h x L", "h/L", "outside embeddings", "lr", "runs", "loss", "against baseline", "90%",
                 "time", "time ratio"], comparison(grouped, noise)))
    if rows := rate_rows(results):
        print(table(["size", "shape", "seed", "loss by learning rate"], rows))
    if curve := best_rate(results):
        over, exponent, each = curve
        lost = lambda layers: 100 * each * math.log(over * (layers / 7) ** -exponent) ** 2
        print(f"By these the best rate is {0.002 / over:.4f} (layers / 7)^{exponent:.2f}. At 0.002 a model of 4 layers then loses {lost(4):.1f}% to its rate, of "
              + ", ".join(f"{layers} {lost(layers):.1f}%" for layers in (8, 12, 16)) + ".")


if __name__ == "__main__":
    main()

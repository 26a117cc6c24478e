#!/usr/bin/env python3
"""From results.jsonl to tables and a fit of relative loss against shape, as Markdown.

    python3 bench/quality/analyse.py [RESULTS] [--json FILE]

Runs are compared within a setting: equal size, tokens, order of the data and text. The difference is in percent of the
baseline's loss, where the baseline's is the mean over its seeds. Of a shape trained at several learning rates the one
with the lowest loss counts, for the baseline too.

The fit is least squares of ln(loss) on the shape's terms with a level per setting. Its intervals (90%) come from refits to losses
redrawn as the fitted ones plus what seeds differ by and what the terms leave over."""
import argparse
import collections
import json
import math
import sys

import numpy

import runs

REDRAWS, COVERED = 2000, 0.90
# Student's t for 90% by degrees of freedom: three seeds alone know their own spread badly.
STUDENT = {1: 6.314, 2: 2.920, 3: 2.353, 4: 2.132, 5: 2.015, 6: 1.943, 8: 1.860, 10: 1.812, 15: 1.753, 20: 1.725, 30: 1.697, 60: 1.671}
# A term that hardly varies within settings (the rounding of sizes), or of which the others leave less than 1/12, is not fitted.
LEAST, MOST_ALIKE = 0.05, 12.0


def effective_ratio(run):
    """MLP width over hidden, a gated one counted by its weights."""
    return run["ffn"] * (1.5 if run["mlp"] == "swiglu" else 1.0) / run["hidden"]


# Every term is zero at the usual shape: width over depth 64, heads of 64, MLP ratio 4, as many kv heads, plain, sequential.
TERMS = {
    "aspect": lambda run: math.log(run["hidden"] / run["layers"] / 64),
    "aspect^2": lambda run: math.log(run["hidden"] / run["layers"] / 64) ** 2,
    "aspect*size": lambda run: math.log(run["hidden"] / run["layers"] / 64) * math.log(run["params_outside_embeddings"] / 2e7),
    "head": lambda run: math.log(run["head_dim"] / 64),
    "head^2": lambda run: math.log(run["head_dim"] / 64) ** 2,
    "ratio": lambda run: math.log(effective_ratio(run) / 4),
    "ratio^2": lambda run: math.log(effective_ratio(run) / 4) ** 2,
    "kv_width": lambda run: math.log(run["kv_heads"] / run["heads"]),
    "gated": lambda run: float(run["mlp"] == "swiglu"),
    "parallel": lambda run: float(run["block"] == "parallel"),
    "parameters": lambda run: math.log(run["params_outside_embeddings"] / 2e7),
}


def setting(run):
    return run["size"], run["order"], run["steps"], run["corpus"][:8], run["tokenizer"][:8]


def best_rates(results):
    """Runs at the learning rate where their shape's loss is lowest; ties of several seeds go by the mean."""
    by_shape = collections.defaultdict(lambda: collections.defaultdict(list))
    for run in results:
        by_shape[setting(run), run["name"]][run["lr"]].append(run)
    kept = []
    for rates in by_shape.values():
        # Rates are compared on the seeds that all of them have.
        shared = set.intersection(*({run["seed"] for run in group} for group in rates.values()))
        score = {lr: numpy.mean([run["val_loss"] for run in group if run["seed"] in shared or not shared])
                 for lr, group in rates.items()}
        kept += rates[min(score, key=score.get)]
    return kept


def cells(results):
    """Runs that differ in their seed alone."""
    grouped = collections.defaultdict(list)
    for run in results:
        grouped[setting(run), run["name"]].append(run)
    return grouped


def seed_deviations(grouped):
    """What ln(loss) of a seed differs from its shape's mean by, widened for the mean being taken from the same runs."""
    return numpy.array([deviation * math.sqrt(len(group) / (len(group) - 1))
                        for group in grouped.values() if len(group) > 1
                        for deviation in numpy.log([run["val_loss"] for run in group])
                        - numpy.mean(numpy.log([run["val_loss"] for run in group]))])


def seed_spread(grouped):
    """Standard deviation of ln(loss) between seeds, over all shapes, and its degrees of freedom; NaN without repeats."""
    freedom = sum(len(group) - 1 for group in grouped.values())
    squares = sum(numpy.var(numpy.log([run["val_loss"] for run in group])) * len(group) for group in grouped.values())
    return (math.sqrt(squares / freedom) if freedom else math.nan), freedom


def design(results, settings, terms):
    levels = [[float(setting(run) == one) for one in settings] for run in results]
    return numpy.array([level + [TERMS[term](run) for term in terms] for level, run in zip(levels, results)])


def norm_beside(column, others):
    """How long a column is beside what the others can make of it."""
    return numpy.linalg.norm(column - others @ numpy.linalg.lstsq(others, column, rcond=None)[0])


def told_apart(results, settings):
    """The terms that vary within settings and are not made of the terms before them."""
    kept = []
    for term in TERMS:
        matrix = design(results, settings, [*kept, term])
        within, rest = (norm_beside(matrix[:, -1], others) for others in (matrix[:, : len(settings)], matrix[:, :-1]))
        if within > LEAST and rest * MOST_ALIKE > within and len(results) > matrix.shape[1]:
            kept.append(term)
    return kept


class Fit:
    def __init__(self, results, generator):
        self.settings = sorted({setting(run) for run in results})
        self.terms = told_apart(results, self.settings)
        self.results, grouped = results, cells(results)
        matrix, loss = design(results, self.settings, self.terms), numpy.log([run["val_loss"] for run in results])
        self.weights = numpy.linalg.lstsq(matrix, loss, rcond=None)[0]
        fitted = matrix @ self.weights
        self.freedom = max(1, len(results) - matrix.shape[1])
        rest = loss - fitted
        self.left_over = float(numpy.sqrt(numpy.sum(rest**2) / self.freedom))
        seeds = seed_deviations(grouped)
        pool = rest * math.sqrt(len(rest) / self.freedom)
        if len(seeds) and numpy.std(seeds) > numpy.std(pool):
            pool = seeds  # a fit through few points must not seem surer than its seeds
        draws = fitted + generator.choice(pool, (REDRAWS, len(loss)))
        self.drawn = numpy.linalg.lstsq(matrix, draws.T, rcond=None)[0]

    def rows(self):
        """Term, weight, low, high and the range of the term in the runs."""
        edges = [(1 - COVERED) / 2, (1 + COVERED) / 2]
        for index, term in enumerate(self.terms, len(self.settings)):
            low, high = numpy.quantile(self.drawn[index], edges)
            values = [TERMS[term](run) for run in self.results]
            yield term, self.weights[index], low, high, min(values), max(values)


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


def time_s(group):
    """Seconds of training by the steady speed, from runs that had the GPU and the host to themselves where there are any."""
    alone = [run for run in group if not run["beside_compiler"]] or group
    return numpy.median([run["tokens"] / run["tokens_per_s"] for run in alone])


def comparison(grouped):
    """Every shape against its setting's baseline."""
    deviation, freedom = seed_spread(grouped)
    student = STUDENT.get(max((known for known in STUDENT if known <= freedom), default=None), math.nan)
    rows = []
    for (where, name), group in sorted(grouped.items(), key=lambda item: (runs.size_rank(item[0][0][0]), item[0])):
        base = grouped.get((where, "base"))
        run, loss = group[0], numpy.mean([one["val_loss"] for one in group])
        difference = spread = relative_time = "-"
        if base:
            percent = 100 * (loss / numpy.mean([one["val_loss"] for one in base]) - 1)
            difference, relative_time = f"{percent:+.2f}%", f"{time_s(group) / time_s(base):.3f}"
            if name != "base" and not math.isnan(deviation):
                spread = f"±{100 * student * deviation * math.sqrt(1 / len(group) + 1 / len(base)):.2f}%"
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="?", default=runs.HERE / "results.jsonl")
    parser.add_argument("--json", help="writes the fit there too")
    arguments = parser.parse_args()
    lines = runs.read_results(arguments.results)
    results = [run for run in lines if run["status"] == "ok"]
    if not results:
        sys.exit(f"{arguments.results} has no finished run")
    kept = best_rates(results)
    grouped = cells(kept)
    deviation, freedom = seed_spread(grouped)
    print(f"{len(results)} runs, {len(lines) - len(results)} failed; {len(kept)} at their shape's best learning rate. "
          f"Standard deviation between seeds: {100 * deviation:.2f}% of the loss ({freedom} degrees of freedom).\n")
    print(table(["size", "order", "shape", "h x L", "h/L", "outside embeddings", "lr", "seeds", "loss", "against baseline", "90%",
                 "time", "time ratio"], comparison(grouped)))
    if rows := rate_rows(results):
        print(table(["size", "shape", "seed", "loss by learning rate"], rows))
    fit = Fit(kept, numpy.random.default_rng(1))
    print(f"ln(loss) on the shape, {len(kept)} runs, {len(fit.settings)} settings; left over {100 * fit.left_over:.2f}%.\n")
    print(table(["term", "weight", "low", "high", "from", "to"], [[term, *(f"{value:+.4f}" for value in values)]
                                                                for term, *values in fit.rows()]))
    if arguments.json:
        names = ("weight", "low", "high", "from", "to")
        with open(arguments.json, "w") as file:
            json.dump({"schema": "tilewright.quality-fit/1", "runs": len(kept), "seed_deviation": deviation, "left_over": fit.left_over,
                       "covered": COVERED, "terms": {term: dict(zip(names, values)) for term, *values in fit.rows()}}, file, indent=1)


if __name__ == "__main__":
    main()

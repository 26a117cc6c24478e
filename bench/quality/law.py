#!/usr/bin/env python3
"""The law of loss against shape, fitted to every run there is and written as data/quality/law.inc.

    python3 bench/quality/law.py            # refits; prints the terms, and puts them into docs/quality.md
    python3 bench/quality/law.py --check    # fails where law.inc is not what the runs give

ln(loss) = a level per setting + the weights times the terms below. A setting is equal size, tokens, order and text; in the
runs of Gemstones (data/quality/gemstones.csv, McLeish et al. 2025) it is equal tokens, so that they tell what size does.
Every weight starts from "nothing is known": zero, give or take PRIOR. What no run varies therefore stays there, with an
interval as wide as that. Needs the standard library alone."""
import argparse
import collections
import csv
import math
import statistics
import sys

import runs

PRIOR = 0.03  # per unit of a term: a change by a factor e moves the loss by 3%, either way
FIRST_NOISE, FIRST_FREEDOM = 0.004, 2  # what runs of one shape differ by, before there are enough to say: two of them
FEWEST_LAYERS = 3  # below, models fall off every smooth curve (12 M: 2 layers lose 22%, 4 lose nothing; Kaplan et al. say so too)
TEXT = runs.HERE.parent.parent / "data/quality/law.inc"
PAGE, BEGIN, END = runs.HERE.parent.parent / "docs/quality.md", "<!-- written by bench/quality/law.py -->\n", "<!-- end -->"
GEMSTONES, WORDS = runs.HERE.parent.parent / "data/quality/gemstones.csv", 50304  # in each of two tables
# Student's t for 90% by degrees of freedom: few seeds know their own spread badly.
STUDENT = {1: 6.314, 2: 2.920, 3: 2.353, 4: 2.132, 5: 2.015, 6: 1.943, 8: 1.860, 10: 1.812, 15: 1.753, 20: 1.725, 30: 1.697, 60: 1.671}


def student(freedom):
    return STUDENT[max(known for known in STUDENT if known <= max(1, freedom))]


def effective_ratio(run):
    """MLP width over hidden, a gated one counted by its weights."""
    return run["ffn"] * (1.5 if run["mlp"] == "swiglu" else 1.0) / run["hidden"]


def aspect(run):
    return math.log(run["hidden"] / run["layers"] / 64)


def size(run):
    return math.log(run["params_outside_embeddings"] / 2e7)


# Every term is zero at the usual shape: width over depth 64, heads of 64, MLP ratio 4, as many kv heads, plain, sequential,
# 20 M parameters outside the embeddings. src/quality/law.cpp has the same.
TERMS = {
    "aspect": aspect,
    "aspect^2": lambda run: aspect(run) ** 2,
    "aspect*size": lambda run: aspect(run) * size(run),
    "aspect^2*size": lambda run: aspect(run) ** 2 * size(run),
    "head": lambda run: math.log(run["head_dim"] / 64),
    "head^2": lambda run: math.log(run["head_dim"] / 64) ** 2,
    "ratio": lambda run: math.log(effective_ratio(run) / 4),
    "ratio^2": lambda run: math.log(effective_ratio(run) / 4) ** 2,
    "kv_width": lambda run: math.log(run["kv_heads"] / run["heads"]),
    "gated": lambda run: float(run["mlp"] == "swiglu"),
    "parallel": lambda run: float(run["block"] == "parallel"),
    "parameters": size,
    "parameters^2": lambda run: size(run) ** 2,
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
        score = {lr: statistics.mean([run["val_loss"] for run in group if run["seed"] in shared or not shared])
                 for lr, group in rates.items()}
        kept += rates[min(score, key=score.get)]
    return kept


def gemstones():
    """Their runs in the form of ours; what they do not vary is the usual shape's."""
    usual = {"head_dim": 64, "heads": 1, "kv_heads": 1, "mlp": "gelu", "block": "sequential"}
    with open(GEMSTONES, newline="") as file:
        for row in csv.DictReader(file):
            hidden = int(row["hidden"])
            yield usual | {"hidden": hidden, "layers": int(row["layers"]), "ffn": 4 * hidden, "val_loss": float(row["loss"]),
                           "params_outside_embeddings": int(row["params_total"]) - 2 * WORDS * hidden,
                           "tokens": int(row["tokens"])}


def solved(matrix, *columns):
    """Gauss and Jordan with the largest pivot: `matrix` taken to one turns `columns` into the solutions."""
    rows = [list(row) + [column[i] for column in columns] for i, row in enumerate(matrix)]
    for i in range(len(rows)):
        best = max(range(i, len(rows)), key=lambda r: abs(rows[r][i]))
        rows[i], rows[best] = rows[best], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for r, row in enumerate(rows):
            if r != i and row[i] != 0.0:
                rows[r] = [a - row[i] * b for a, b in zip(row, rows[i])]
    return [[row[len(rows) + c] for row in rows] for c in range(len(columns))]


def source(where):
    return "gemstones" if where[0] == "gemstones" else "ours"


class Law:
    """`observations`: (setting, run). Columns: the terms, what tokens do to the slopes with size and with width over
    depth (nothing at 20 tokens per parameter, for which the law is told), a level per setting."""

    def __init__(self, observations):
        self.settings = sorted({where for where, _ in observations}, key=str)
        self.sources = [source(where) for where, _ in observations]
        self.design = [self.row(where, run) for where, run in observations]
        self.loss = [math.log(run["val_loss"]) for _, run in observations]
        self.noise = dict.fromkeys(self.sources, FIRST_NOISE)
        for _ in range(30):  # what is left over decides how much runs count beside each other and the prior
            self.fit()
        width = len(TERMS)
        inverse = solved(self.normal, *[[float(i == j) for i in range(len(self.normal))] for j in range(width)])
        self.covariance = [[inverse[j][i] for j in range(width)] for i in range(width)]

    def fit(self):
        columns = range(len(self.design[0]))
        weight = [self.noise[one] ** -2 for one in self.sources]
        self.normal = [[sum(w * row[i] * row[j] for w, row in zip(weight, self.design)) + (PRIOR**-2 if i == j and i < len(TERMS) + 3 else 0.0)
                        for j in columns] for i in columns]
        (self.weights,) = solved(self.normal, [sum(w * row[i] * loss for w, row, loss in zip(weight, self.design, self.loss)) for i in columns])
        rest = [loss - sum(w * x for w, x in zip(self.weights, row)) for row, loss in zip(self.design, self.loss)]
        for one in self.noise:
            mine = [(row, r) for row, r, from_one in zip(self.design, rest, self.sources) if from_one == one]
            told = sum(sum(row[i] ** 2 for row, _ in mine) / self.noise[one] ** 2 / self.normal[i][i] for i in columns)
            freedom = max(0.0, len(mine) - told) + FIRST_FREEDOM
            self.noise[one] = math.sqrt((sum(r * r for _, r in mine) + FIRST_FREEDOM * FIRST_NOISE**2) / freedom)
            if one == "ours" or len(self.noise) == 1:
                self.student = student(freedom)

    def row(self, where, run):
        fed = math.log(run["tokens"] / run["params_outside_embeddings"] / 20)
        by_tokens = [size(run) * math.log(run["tokens"] / 33e9) if source(where) == "gemstones" else 0.0, aspect(run) * fed, aspect(run) ** 2 * fed]
        return [term(run) for term in TERMS.values()] + by_tokens + [float(where == one) for one in self.settings]

    def predicted(self, where, run):
        return sum(w * x for w, x in zip(self.weights, self.row(where, run)))

    def half_width(self, i):
        return self.student * math.sqrt(self.covariance[i][i])


# The value whose range says how far runs went, by term; a switch has none.
RANGED = {"aspect": lambda run: run["hidden"] / run["layers"], "head": lambda run: run["head_dim"],
          "ratio": effective_ratio, "kv_width": lambda run: run["kv_heads"] / run["heads"]}


def reach(observations, term):
    """From, to and the sizes from, to of the runs that vary a term within their setting."""
    levels = collections.defaultdict(list)
    for where, run in observations:
        levels[where].append(run)
    told = [run for group in levels.values() for run in group if len({round(TERMS[term](one), 2) for one in group}) > 1]
    if not told:
        return 0.0, 0.0, 0.0, 0.0
    value = RANGED.get(term, lambda run: 1.0)
    sizes = [run["params_outside_embeddings"] for run in told]
    return min(map(value, told)), max(map(value, told)), min(sizes), max(sizes)


def rendered(law, observations):
    ours = sum(source(where) == "ours" for where, _ in observations)
    lines = ["// Written by bench/quality/law.py from bench/quality/results.jsonl and data/quality/gemstones.csv.",
             f"constexpr FittedRuns fitted_runs{{{ours}, {len(observations) - ours}, {law.noise['ours']:.6f}, {law.student:.3f}}};",
             "constexpr FittedTerm fitted_terms[]{"]
    for i, name in enumerate(TERMS):
        low, high, smallest, largest = reach(observations, name.split("^")[0].split("*")[0])
        lines.append(f'    {{"{name}", {law.weights[i]:.6g}, {low:.6g}, {high:.6g}, {smallest:.6g}, {largest:.6g}}},')
    lines += ["};", "constexpr double fitted_covariance[]{"]
    lines += ["    " + ", ".join(f"{value:.6g}" for value in row) + "," for row in law.covariance]
    return "\n".join([*lines, "};"]) + "\n"


def fitted():
    """The law of all runs, and the runs."""
    results = [run for run in runs.read_results(runs.HERE / "results.jsonl") if run["status"] == "ok"]
    observations = [(setting(run), run) for run in best_rates(results) if run["layers"] >= FEWEST_LAYERS] + [(("gemstones", run["tokens"]), run) for run in gemstones()]
    return Law(observations), observations


def left_out(observations):
    """How far a shape's runs are from the law of all others: mean and worst, in ln(loss). A setting of one shape alone has no level."""
    shapes = collections.defaultdict(list)
    for where, run in observations:
        shapes[source(where), run.get("size"), run["hidden"], run["layers"], run["ffn"], run["heads"], run["kv_heads"]].append((where, run))
    off = []
    for group in shapes.values():
        rest = [one for one in observations if one not in group]
        if {where for where, _ in group} <= {where for where, _ in rest}:
            kept = Law(rest)
            off += [abs(math.log(run["val_loss"]) - kept.predicted(where, run)) for where, run in group]
    return statistics.mean(off), max(off)


def report(law, observations):
    """The terms as Markdown, ours and theirs alone beside them."""
    ours, theirs = ([one for one in observations if source(one[0]) == name] for name in ("ours", "gemstones"))
    mean, worst = left_out(observations)
    lines = [f"{len(ours)} runs of ours at their shape's best learning rate, {len(theirs)} of Gemstones; left over {100 * law.noise['ours']:.2f}% and "
             f"{100 * law.noise['gemstones']:.2f}%. A shape left out is {100 * mean:.2f}% off on the mean, {100 * worst:.2f}% at worst.\n",
             "| term | weight | 90% | ours alone | Gemstones alone |", "|---|---|---|---|---|"]
    alone = [Law(ours).weights, Law(theirs).weights]
    lines += [f"| {name} | {law.weights[i]:+.4f} | ±{law.half_width(i):.4f} | {alone[0][i]:+.4f} | {alone[1][i]:+.4f} |" for i, name in enumerate(TERMS)]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    law, observations = fitted()
    text = rendered(law, observations)
    if arguments.check:
        sys.exit(0 if TEXT.read_text() == text else f"{TEXT.name} is not what the runs give: python3 bench/quality/law.py")
    table = report(law, observations)
    print(table)
    TEXT.write_text(text)
    page = PAGE.read_text()
    begin, end = page.index(BEGIN) + len(BEGIN), page.index(END)
    PAGE.write_text(page[:begin] + table + page[end:])


if __name__ == "__main__":
    main()

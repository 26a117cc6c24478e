#!/usr/bin/env python3
"""The law of loss against shape, fitted to every run there is and written as data/quality/law.inc.

    python3 bench/quality/law.py            # refits; prints the terms, and puts them into docs/quality.md
    python3 bench/quality/law.py --check    # fails where law.inc is not what the runs give

ln(loss) = a level per setting + the weights times the terms below + what is random: how a study's own slopes differ, how far
a shape lies off the terms, which seed it was, the run itself. A setting is equal size, tokens, order and text; in published
runs (data/quality/gemstones.csv, McLeish et al. 2025; morph.csv, Bian et al. 2025) it is equal tokens. How large each random
part is follows from the runs (expectation maximization on Henderson's equations), so that seeds of one shape count as what
they are, repeats, and runs of one order and seed are compared in pairs. Every weight starts from "nothing is known": zero,
give or take PRIOR. What no run varies therefore stays there, with an interval as wide as that. Needs the standard library
alone."""
import argparse
import collections
import csv
import math
import operator
import statistics
import sys

import runs

PRIOR = 0.03  # per unit of a term: a change by a factor e moves the loss by 3%, either way
FIRST_SPREAD, FIRST_FREEDOM = 0.003, 2  # of everything random, before there are enough runs to say: two of them
FEWEST_LAYERS = 3  # below, models fall off every smooth curve (12 M: 2 layers lose 20% at the best of three rates, 4 lose nothing; Kaplan et al. say so too)
TEXT = runs.HERE.parent.parent / "data/quality/law.inc"
PAGE, BEGIN, END = runs.HERE.parent.parent / "docs/quality.md", "<!-- written by bench/quality/law.py -->\n", "<!-- end -->"
PUBLISHED = {"gemstones": 50304, "morph": 50432}  # data/quality/NAME.csv, and the words in each of two tables
# Student's t for 90% by degrees of freedom: few seeds know their own spread badly.
STUDENT = {1: 6.314, 2: 2.920, 3: 2.353, 4: 2.132, 5: 2.015, 6: 1.943, 8: 1.860, 10: 1.812, 15: 1.753, 20: 1.725, 30: 1.697, 60: 1.671}


def student(freedom):
    return STUDENT[max(known for known in STUDENT if known <= max(1, freedom))]


def effective_ratio(run):
    """MLP width over hidden, a gated one counted by its weights."""
    return run["ffn"] * (1.5 if run["mlp"] == "swiglu" else 1.0) / run["hidden"]


def aspect(run):
    return math.log(run["hidden"] / run["layers"] / 64)


def head(run):
    return math.log(run["head_dim"] / 64)


def size(run):
    return math.log(run["params_outside_embeddings"] / 2e7)


# Every term is zero at the usual shape: width over depth 64, heads of 64, MLP ratio 4, as many kv heads, plain, sequential,
# 20 M parameters outside the embeddings. src/quality/law.cpp has the same.
TERMS = {
    "aspect": aspect,
    "aspect^2": lambda run: aspect(run) ** 2,
    "aspect*size": lambda run: aspect(run) * size(run),
    "aspect^2*size": lambda run: aspect(run) ** 2 * size(run),
    "head": head,
    "head^2": lambda run: head(run) ** 2,
    "head*size": lambda run: head(run) * size(run),
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


Observation = collections.namedtuple("Observation", "source setting shape seed run")


def own(results):
    """Our runs at their shape's best learning rate."""
    return [Observation("ours", setting(run), (run["size"], run["name"]), (setting(run), run["seed"]), run) for run in best_rates(results)
            if run["layers"] >= FEWEST_LAYERS]


def published(name):
    """Runs of others in the form of ours; what they do not vary, or only with the width (Morph's heads), is the usual shape's."""
    usual = {"head_dim": 64, "heads": 1, "kv_heads": 1, "mlp": "gelu", "block": "sequential"}
    with open(TEXT.parent / f"{name}.csv", newline="") as file:
        for row in csv.DictReader(file):
            hidden, layers, tokens = int(row["hidden"]), int(row["layers"]), int(row["tokens"])
            run = usual | {"hidden": hidden, "layers": layers, "ffn": 4 * hidden, "val_loss": float(row["loss"]), "tokens": tokens,
                           "params_outside_embeddings": int(row["params_total"]) - 2 * PUBLISHED[name] * hidden}
            yield Observation(name, (name, tokens), (hidden, layers), None, run)


def fed(run):
    return math.log(run["tokens"] / run["params_outside_embeddings"] / 20)


# What tokens do to the slopes: nothing at 20 tokens per parameter, for which the law is told. Gemstones has many more than
# that in its small models, so that its slope with size is told at 33 B tokens.
BY_TOKENS = [lambda one: size(one.run) * math.log(one.run["tokens"] / 33e9) if one.source == "gemstones" else 0.0,
             lambda one: size(one.run) * fed(one.run) if one.source == "morph" else 0.0,
             lambda one: aspect(one.run) * fed(one.run), lambda one: aspect(one.run) ** 2 * fed(one.run)]
STUDY_SLOPES = ("aspect", "aspect^2")  # that differ from study to study


def inverse(matrix):
    """Of a symmetric positive matrix, by Cholesky."""
    width, lower = len(matrix), []
    for i, row in enumerate(matrix):
        line = []
        for j in range(i + 1):
            rest = row[j] - sum(map(operator.mul, line, lower[j] if j < i else line))
            line.append(math.sqrt(rest) if i == j else rest / lower[j][j])
        lower.append(line)
    columns = []  # of the inverse of the lower triangle, from their diagonal down
    for j in range(width):
        column = [1 / lower[j][j]]
        for i in range(j + 1, width):
            column.append(-sum(map(operator.mul, lower[i][j:i], column)) / lower[i][i])
        columns.append(column)
    found = [[0.0] * width for _ in range(width)]
    for i in range(width):
        for j in range(i + 1):
            found[i][j] = found[j][i] = sum(map(operator.mul, columns[i], columns[j][i - j:]))
    return found


class Law:
    """Columns: the terms, what tokens do to them, a level per setting, then what is random: `effects` names the spread of each."""

    def __init__(self, observations, spread=None):
        self.observations, self.spread = observations, spread
        self.columns, self.effects = {}, {}
        rows = [self.row(one, grow=True) for one in observations]
        self.loss = [math.log(one.run["val_loss"]) for one in observations]
        if spread is None:
            self.spread = dict.fromkeys([*self.effects.values(), *(("run", one.source) for one in observations)], FIRST_SPREAD)
            for _ in range(30):
                self.fit(rows)
                self.expect(rows)
        self.fit(rows)
        many = collections.Counter(kind for kind in self.effects.values() if kind[0] == "shape")
        self.off = math.sqrt(sum(count * self.spread[kind] ** 2 for kind, count in many.items()) / sum(many.values()))
        self.student = student(sum(many.values()) - len(self.columns) + len(self.effects))

    def row(self, one, grow=False):
        """{column: value}; a column that is new is added, or else left out."""
        terms = {name: term(one.run) for name, term in TERMS.items()}
        named = {("term", name): value for name, value in terms.items()}
        named |= {("tokens", i): by_tokens(one) for i, by_tokens in enumerate(BY_TOKENS)} | {("level", one.setting): 1.0}
        random = {("study", name, one.source): ("study",) for name in STUDY_SLOPES} | {("shape", one.source, one.shape): ("shape", one.source)}
        if one.seed:
            random[("seed", one.seed)] = ("seed",)
        named |= {name: terms[name[1]] if kind == ("study",) else 1.0 for name, kind in random.items()}
        if grow:
            for name in named:
                self.columns.setdefault(name, len(self.columns))
            self.effects |= {self.columns[name]: kind for name, kind in random.items()}
        return {self.columns[name]: value for name, value in named.items() if name in self.columns and value != 0.0}

    def fit(self, rows):
        """Henderson's equations: a weight or an effect is a column with what is known of it before on the diagonal."""
        width = len(self.columns)
        normal, right = [[0.0] * width for _ in range(width)], [0.0] * width
        for name, i in self.columns.items():
            known = self.spread[self.effects[i]] if i in self.effects else PRIOR if name[0] != "level" else 1e3
            normal[i][i] = known**-2
        for one, row, loss in zip(self.observations, rows, self.loss):
            count = self.spread["run", one.source] ** -2
            for i, x in row.items():
                right[i] += count * x * loss
                for j, y in row.items():
                    normal[i][j] += count * x * y
        self.covariance = inverse(normal)
        self.found = [sum(map(operator.mul, line, right)) for line in self.covariance]
        self.weights = [self.found[self.columns["term", name]] for name in TERMS]

    def variance(self, row):
        return sum(x * y * self.covariance[i][j] for i, x in row.items() for j, y in row.items())

    def predicted(self, row):
        return sum(self.found[i] * x for i, x in row.items())

    def expect(self, rows):
        """Every spread anew: the mean square of what it spreads, with what is not known of that."""
        squares = {kind: [FIRST_SPREAD**2] * FIRST_FREEDOM for kind in self.spread}
        for i, kind in self.effects.items():
            squares[kind].append(self.found[i] ** 2 + self.covariance[i][i])
        for one, row, loss in zip(self.observations, rows, self.loss):
            squares["run", one.source].append((loss - self.predicted(row)) ** 2 + self.variance(row))
        self.spread = {kind: math.sqrt(statistics.mean(values)) for kind, values in squares.items()}

    def half_width(self, name):
        i = self.columns["term", name]
        return self.student * math.sqrt(self.covariance[i][i])


# The value whose range says how far runs went, by term; a switch has none.
RANGED = {"aspect": lambda run: run["hidden"] / run["layers"], "head": lambda run: run["head_dim"],
          "ratio": effective_ratio, "kv_width": lambda run: run["kv_heads"] / run["heads"]}
TRIED = 0.1  # a setting tries a term that it moves by as much; less is rounding of sizes


def trying(observations, term):
    """The runs that vary a term within their setting."""
    levels = collections.defaultdict(list)
    for one in observations:
        levels[one.setting].append(one.run)
    values = {where: [TERMS[term](run) for run in group] for where, group in levels.items()}
    return [run for where, group in levels.items() for run in group if max(values[where]) - min(values[where]) > TRIED]


def sizes(observations, term):
    """From and to."""
    told = [run["params_outside_embeddings"] for run in trying(observations, term)] or [0.0]
    return min(told), max(told)


def ranges(observations):
    """(term, ln of the size over 20 M to the next whole number, from, to) of the values that were tried at about that size."""
    found = collections.defaultdict(list)
    for term, value in RANGED.items():
        for run in trying(observations, term):
            found[term, round(size(run))].append(value(run))
    return [(*key, min(values), max(values)) for key, values in sorted(found.items()) if max(values) > min(values)]


def rendered(law):
    ours = sum(one.source == "ours" for one in law.observations)
    lines = ["// Written by bench/quality/law.py from bench/quality/results.jsonl, data/quality/gemstones.csv and morph.csv.",
             f"constexpr FittedRuns fitted_runs{{{ours}, {len(law.observations) - ours}, {law.spread[('study',)]:.6f}, {law.off:.6f}, {law.student:.3f}}};",
             "constexpr FittedTerm fitted_terms[]{"]
    for name, weight in zip(TERMS, law.weights):
        smallest, largest = sizes(law.observations, name.split("^")[0].split("*")[0])
        lines.append(f'    {{"{name}", {weight:.6g}, {smallest:.6g}, {largest:.6g}}},')
    lines += ["};", "constexpr FittedRange fitted_ranges[]{"]
    lines += [f'    {{"{term}", {at}, {low:.6g}, {high:.6g}}},' for term, at, low, high in ranges(law.observations)]
    lines += ["};", "constexpr double fitted_covariance[]{"]
    places = [law.columns["term", name] for name in TERMS]
    lines += ["    " + ", ".join(f"{law.covariance[i][j]:.6g}" for j in places) + "," for i in places]
    return "\n".join([*lines, "};"]) + "\n"


def fitted():
    """The law of all runs."""
    results = [run for run in runs.read_results(runs.HERE / "results.jsonl") if run["status"] == "ok"]
    return Law([*own(results), *(one for name in PUBLISHED for one in published(name))])


def left_out(law):
    """(how far a shape's mean is off the law of all other shapes, half its 90% interval) by shape and setting, in ln(loss). A
    setting of one shape alone has no level."""
    shapes = collections.defaultdict(lambda: collections.defaultdict(list))
    for one in law.observations:
        shapes[one.source, one.shape][one.setting].append(one)
    off = []
    for group in shapes.values():
        mine = {id(one) for same in group.values() for one in same}
        rest = Law([one for one in law.observations if id(one) not in mine], law.spread)
        for where, same in group.items():
            if ("level", where) not in rest.columns:
                continue
            row = rest.row(same[0]._replace(seed=None))
            found = statistics.mean(math.log(one.run["val_loss"]) for one in same)
            once = law.spread["run", same[0].source] ** 2 + (law.spread[("seed",)] ** 2 if same[0].seed else 0.0)
            variance = rest.variance(row) + law.spread["shape", same[0].source] ** 2 + once / len(same)
            off.append((abs(found - rest.predicted(row)), law.student * math.sqrt(variance)))
    return off


def report(law):
    """The terms as Markdown, each study alone beside them."""
    counts = collections.Counter(one.source for one in law.observations)
    spread = {source: (100 * law.spread["shape", source], 100 * law.spread["run", source]) for source in counts}
    off = left_out(law)
    lines = [f"{counts['ours']} runs of ours at their shape's best learning rate, {counts['gemstones']} of Gemstones, {counts['morph']} of Morph. A shape that is left out is "
             f"{100 * statistics.mean(one for one, _ in off):.2f}% off on the mean, {100 * max(off)[0]:.2f}% at worst; {sum(one <= half for one, half in off)} of {len(off)} lie inside their 90% interval.\n",
             "| standard deviation, % of the loss | " + " | ".join(counts) + " |", "|---|" + "---|" * len(counts),
             "| a shape off the terms | " + " | ".join(f"{spread[source][0]:.2f}" for source in counts) + " |",
             "| a run off its shape | " + " | ".join(f"{spread[source][1]:.2f}" for source in counts) + " |",
             f"| a seed, in all shapes alike | {100 * law.spread[('seed',)]:.2f} | | |",
             f"| a study's slope with width over depth, for a factor e | {100 * law.spread[('study',)]:.2f} | {100 * law.spread[('study',)]:.2f} | {100 * law.spread[('study',)]:.2f} |\n",
             "| term | weight | 90% | ours alone | Gemstones alone | Morph alone |", "|---|---|---|---|---|---|"]
    alone = [Law([one for one in law.observations if one.source == source]).weights for source in counts]
    lines += [f"| {name} | {law.weights[i]:+.4f} | ±{law.half_width(name):.4f} | " + " | ".join(f"{weights[i]:+.4f}" for weights in alone) + " |"
              for i, name in enumerate(TERMS)]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    law = fitted()
    text = rendered(law)
    if arguments.check:
        sys.exit(0 if TEXT.read_text() == text else f"{TEXT.name} is not what the runs give: python3 bench/quality/law.py")
    table = report(law)
    print(table)
    TEXT.write_text(text)
    page = PAGE.read_text()
    begin, end = page.index(BEGIN) + len(BEGIN), page.index(END)
    PAGE.write_text(page[:begin] + table + page[end:])


if __name__ == "__main__":
    main()

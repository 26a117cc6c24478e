#!/usr/bin/env python3
"""Width over depth in runs that others published: data/quality/gemstones.csv (McLeish et al. 2025, arXiv 2502.06857), 20
decoders of 48 M to 2 B parameters after 11, 33 and 99 B tokens.

    python3 bench/quality/published.py

ln(loss) is fitted with a level per token count on n = ln(parameters outside embeddings / 300 M), a = ln(hidden / layers
/ 64) and t = ln(tokens / 33 B). Intervals (90%) come from refits to shapes drawn anew; the error is that of a shape left out."""
import csv
import math

import numpy

import runs
from analyse import COVERED, table

WORDS = 50304  # in each of two tables
REDRAWS = 2000
SHAPE_TERMS = {"a": lambda n, a, t: a, "a^2": lambda n, a, t: a * a, "a n": lambda n, a, t: a * n, "a t": lambda n, a, t: a * t}
SIZE_TERMS = {"n": lambda n, a, t: n, "n^2": lambda n, a, t: n * n, "n t": lambda n, a, t: n * t}
TERMS = SIZE_TERMS | SHAPE_TERMS


def read():
    """Shape, its place (n, a, t), and ln(loss) of every row."""
    with open(runs.HERE.parent.parent / "data/quality/gemstones.csv", newline="") as file:
        for row in csv.DictReader(file):
            hidden, layers, tokens = int(row["hidden"]), int(row["layers"]), int(row["tokens"])
            blocks = int(row["params_total"]) - 2 * WORDS * hidden
            place = (math.log(blocks / 3e8), math.log(hidden / layers / 64), math.log(tokens / 33e9))
            yield (hidden, layers), place, math.log(float(row["loss"]))


def design(places):
    levels = sorted({t for _, _, t in places})
    return numpy.array([[float(t == level) for level in levels] + [term(n, a, t) for term in TERMS.values()] for n, a, t in places])


def fitted(matrix, loss):
    return numpy.linalg.lstsq(matrix, loss, rcond=None)[0]


def shape_effect(weights, place):
    """ln(loss) beyond that of width over depth 64 at the same size and tokens."""
    return sum(weight * term(*place) for weight, term in zip(weights[-len(SHAPE_TERMS):], SHAPE_TERMS.values()))


def main():
    shapes, places, loss = zip(*read())
    matrix, loss = design(places), numpy.array(loss)
    weights = fitted(matrix, loss)
    index = {shape: [i for i, one in enumerate(shapes) if one == shape] for shape in sorted(set(shapes))}
    left_out = [loss[i] - matrix[i] @ fitted(numpy.delete(matrix, rows, 0), numpy.delete(loss, rows))
                for rows in index.values() for i in rows]
    generator, drawn = numpy.random.default_rng(1), []
    for _ in range(REDRAWS):
        rows = [i for one in generator.integers(len(index), size=len(index)) for i in list(index.values())[one]]
        drawn.append(fitted(matrix[rows], loss[rows]))
    edges = [(1 - COVERED) / 2, (1 + COVERED) / 2]
    low, high = numpy.quantile(drawn, edges, axis=0)
    print(f"{len(loss)} runs of {len(index)} shapes. A shape left out is {100 * numpy.mean(numpy.abs(left_out)):.2f}% off on the mean, "
          f"{100 * numpy.max(numpy.abs(left_out)):.2f}% at worst.\n")
    first = matrix.shape[1] - len(TERMS)
    print(table(["term", "weight", "low", "high"], [[term, *(f"{value:+.4f}" for value in (weights[i], low[i], high[i]))]
                                                  for i, term in enumerate(TERMS, first)]))
    rows = []
    for size in (1e8, 3e8, 1e9):
        for tokens in (11e9, 99e9):
            row = [f"{size / 1e6:.0f} M", f"{tokens / 1e9:.0f} B"]
            for aspect in (16, 32, 128, 256):
                place = (math.log(size / 3e8), math.log(aspect / 64), math.log(tokens / 33e9))
                least, most = numpy.quantile([100 * math.expm1(shape_effect(one, place)) for one in drawn], edges)
                row.append(f"{100 * math.expm1(shape_effect(weights, place)):+.2f}% ({least:+.2f} to {most:+.2f})")
            rows.append(row)
    print(table(["outside embeddings", "tokens", *(f"h/L {aspect} against 64" for aspect in (16, 32, 128, 256))], rows))


if __name__ == "__main__":
    main()

"""What the fits of engines' kernels share: rows of a gzip CSV as arrays, a damped Gauss-Newton fit of positive constants to
times, errors with whole groups of rows left out, and the table that the program reads."""
import csv
import gzip
import os

import numpy as np

SHEETS = {  # units, bytes/s, FLOP/s by arithmetic, link and adapter bytes/s one way, bytes of L2: data/devices
    "a100-80-sxm": ("a100_sxm", 108, 2.039e12, {"half": 312e12}, 300e9, 25e9, 41943040),
    "h100-sxm": ("h100_sxm", 132, 3.352e12, {"half": 989.4e12, "fp8": 1978.9e12}, 450e9, 50e9, 52428800),
    "h200": ("h200_sxm", 132, 4.8e12, {"half": 989.4e12, "fp8": 1978.9e12}, 450e9, 50e9, 62914560),
    "b200": ("b200_sxm", 148, 8.0e12, {"half": 2250e12, "fp8": 4500e12, "fp4": 9000e12}, 900e9, 50e9, 132120576),
}

PLACES, ROWS = 8, 2000  # starts that are tried, and rows that a fit looks at


class Sheet:
    def __init__(self, device):
        self.device = device
        self.public, self.units, self.bandwidth, self.peaks, self.link, self.adapter, self.l2 = SHEETS[device]

    def peak(self, arithmetic):
        return self.peaks.get(arithmetic, self.peaks["half"])


def read_rows(public, name):
    """Columns as arrays, numbers where every cell is one; None where there is no such file."""
    path = os.path.join(public, name + ".csv.gz")
    if not os.path.exists(path):
        return None
    with gzip.open(path, "rt") as file:
        rows = list(csv.DictReader(file))
    columns = {}
    for column in rows[0]:
        cells = [row[column] for row in rows]
        try:
            columns[column] = np.array([float(cell) for cell in cells])
        except ValueError:
            columns[column] = np.array(cells)
    return columns


def choose(columns, mask):
    return {name: cells[mask] for name, cells in columns.items()}


def fit(law_of, starts, columns):
    """The constants {name: (start, least, most)} of the law `law_of(columns)`, which gives seconds, by least squares of relative errors that
    count linearly beyond a tenth. Of some places around the start, the one that is best after a few steps is followed."""
    names = list(starts)
    start, least, most = (np.log([starts[name][i] for name in names]) for i in range(3))
    rows = np.random.RandomState(3).permutation(len(columns["latency_us"]))[:ROWS]
    columns = choose(columns, rows)
    law, times = law_of(columns), columns["latency_us"] * 1e-6

    def errors(at):
        return law(dict(zip(names, np.exp(at)))) / times - 1

    def loss(residual):
        return np.sum(2 * (np.sqrt(1 + (residual / 0.1) ** 2) - 1))

    places = np.clip(start + 0.5 * np.random.RandomState(2).randn(PLACES, len(names)), least, most)
    places[0] = np.clip(start, least, most)
    begun = [descend(errors, loss, place, least, most, 8) for place in places]
    place = descend(errors, loss, min(begun, key=lambda at: loss(errors(at))), least, most, 60)
    return dict(zip(names, np.exp(place)))


def descend(errors, loss, place, least, most, steps):
    residual, damping = errors(place), 1e-2
    best = loss(residual)
    for _ in range(steps):
        jacobian = np.empty((len(residual), len(place)))
        for i in range(len(place)):
            step = np.zeros(len(place))
            step[i] = 1e-4 if place[i] + 1e-4 <= most[i] else -1e-4
            jacobian[:, i] = (errors(place + step) - residual) / step[i]
        weight = 1 / np.sqrt(1 + (residual / 0.1) ** 2)
        normal = jacobian.T @ (jacobian * weight[:, None])
        slope = jacobian.T @ (residual * weight)
        gained = 0.0
        for _ in range(8):
            damped = normal + damping * np.diag(np.diag(normal) + 1e-6 * np.trace(normal))
            moved = np.clip(place - np.linalg.solve(damped, slope), least, most)
            after = errors(moved)
            if loss(after) < best:
                gained, best = best - loss(after), loss(after)
                place, residual, damping = moved, after, damping / 3
                break
            damping *= 4
        if gained < 1e-5 * best:
            break
    return place


def held_out(law_of, starts, columns, groups):
    """Seconds by constants fitted without the row's group: a fifth of the groups at a time."""
    names = sorted(set(groups))
    np.random.RandomState(1).shuffle(names)
    folds = min(5, len(names))
    predicted = np.zeros(len(groups))
    for fold in range(folds):
        out = np.isin(groups, names[fold::folds])
        constants = fit(law_of, starts, choose(columns, ~out))
        predicted[out] = law_of(choose(columns, out))(constants)
    return predicted


def mean_error(predicted, times):
    return float(np.mean(np.abs(predicted / times - 1)))


def interval(predicted, times):
    """The closest factors on the prediction between which nine in ten of the times lie: few are far too long, none far too short."""
    shares = np.linspace(0, 0.1, 21)
    ends = np.quantile(times / predicted, [shares, shares + 0.9])
    low, high = ends[:, np.argmin(ends[1] / ends[0])]
    return min(1.0, float(low)), max(1.0, float(high))


def number(value):
    return f"{value:.4g}"


def row(values):
    return "[" + ", ".join(f'"{v}"' if isinstance(v, str) else str(v) if isinstance(v, int) else number(v) for v in values) + "]"


def write_tables(path, heading, tables):
    """`heading` is text of comments; a table has a name, names of columns, and rows of texts and numbers."""
    lines = [f"# {line}" for line in heading]
    for name, columns, rows in tables:
        lines += ["", "# " + ", ".join(columns), name + " = ["]
        lines += ["    " + row(values) + "," for values in rows] + ["]"]
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")

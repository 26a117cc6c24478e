"""What the fits of engines' kernels share: rows of a gzip CSV as arrays, a damped Gauss-Newton fit of positive constants to
logarithms of times, errors with whole groups of rows left out, and the table that the program reads."""
import csv
import gzip
import os

import numpy as np

SHEETS = {  # units, bytes/s, FLOP/s by arithmetic, link and adapter bytes/s one way: data/devices
    "a100-80-sxm": ("a100_sxm", 108, 2.039e12, {"half": 312e12}, 300e9, 25e9),
    "h100-sxm": ("h100_sxm", 132, 3.352e12, {"half": 989.4e12, "fp8": 1978.9e12}, 450e9, 50e9),
    "h200": ("h200_sxm", 132, 4.8e12, {"half": 989.4e12, "fp8": 1978.9e12}, 450e9, 50e9),
    "b200": ("b200_sxm", 148, 8.0e12, {"half": 2250e12, "fp8": 4500e12, "fp4": 9000e12}, 900e9, 50e9),
}


class Sheet:
    def __init__(self, device):
        self.device = device
        self.public, self.units, self.bandwidth, self.peaks, self.link, self.adapter = SHEETS[device]

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


def fit(law, starts, times):
    """The constants {name: (start, least, most)} of `law(constants)` in seconds, by least squares of log errors that grow
    linearly beyond a tenth."""
    names = list(starts)
    start, least, most = (np.log([starts[name][i] for name in names]) for i in range(3))
    place = np.clip(start, least, most)
    target = np.log(times)

    def errors(at):
        return np.log(law(dict(zip(names, np.exp(at))))) - target

    def loss(residual):
        return np.sum(2 * (np.sqrt(1 + (residual / 0.1) ** 2) - 1))

    residual, damping = errors(place), 1e-2
    best = loss(residual)
    for _ in range(60):
        jacobian = np.empty((len(target), len(names)))
        for i in range(len(names)):
            step = np.zeros(len(names))
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
    return dict(zip(names, np.exp(place)))


def held_out(law_of, starts, columns, groups):
    """Seconds by constants fitted without the row's group: a fifth of the groups at a time. `law_of(columns)` is a law."""
    times = columns["latency_us"] * 1e-6
    names = sorted(set(groups))
    np.random.RandomState(1).shuffle(names)
    folds = min(5, len(names))
    predicted = np.zeros(len(times))
    for fold in range(folds):
        out = np.isin(groups, names[fold::folds])
        constants = fit(law_of(choose(columns, ~out)), starts, times[~out])
        predicted[out] = law_of(choose(columns, out))(constants)
    return predicted


def mean_error(predicted, times):
    return float(np.mean(np.abs(predicted / times - 1)))


def interval(predicted, times):
    """Factors on the prediction between which nine in ten of the times lie."""
    low, high = np.quantile(times / predicted, [0.05, 0.95])
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

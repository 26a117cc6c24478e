#!/usr/bin/env python3
"""The pictures of docs/quality.md from results.jsonl, published runs and the law: docs/quality-aspect.svg (loss against width over
depth, by size) and docs/quality-time-SIZE.svg (loss against seconds of training).

    python3 bench/quality/plot.py            # standard library alone"""
import collections
import math
import statistics

import law
import runs

DOCS = runs.HERE.parent.parent / "docs"
COLOURS = ["#1f6fb4", "#c8641e", "#2d8a4e", "#a03a78", "#6b6b6b", "#8a7400"]
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 790, 440, 62, 220, 46, 56


class Picture:
    """Axes with a legend at the right; x may be logarithmic."""

    def __init__(self, title, labels, x, y, logarithmic):
        self.x, self.y, self.logarithmic = x, y, logarithmic
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" font-family="sans-serif" font-size="12">',
                      f"<title>{title}</title>", f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
                      f'<text x="{LEFT}" y="22" font-size="15" fill="#222">{title}</text>',
                      f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 14}" text-anchor="middle" fill="#444">{labels[0]}</text>',
                      f'<text transform="translate(16 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle" fill="#444">{labels[1]}</text>']
        self.named = 0

    def at(self, x, y):
        along = [math.log(v) if self.logarithmic else v for v in (x, *self.x)]
        across = (along[0] - along[1]) / (along[2] - along[1])
        return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - (y - self.y[0]) / (self.y[1] - self.y[0]) * (HEIGHT - TOP - BOTTOM)

    def ticks(self, xs, ys, y_text):
        for x in xs:
            px, py = self.at(x, self.y[0])
            self.parts.append(f'<path d="M{px:.1f} {TOP}V{py:.1f}" stroke="#eee"/><text x="{px:.1f}" y="{py + 18:.1f}" text-anchor="middle" fill="#444">{x:g}</text>')
        for y in ys:
            px, py = self.at(self.x[0], y)
            self.parts.append(f'<path d="M{px:.1f} {py:.1f}H{WIDTH - RIGHT}" stroke="#eee"/><text x="{px - 8:.1f}" y="{py + 4:.1f}" text-anchor="end" fill="#444">{y_text(y)}</text>')

    def inside(self, point):
        return self.x[0] <= point[0] <= self.x[1] and self.y[0] <= point[1] <= self.y[1]

    def name(self, text, colour, hollow=False):
        y = TOP + 8 + 20 * self.named
        self.named += 1
        fill = "#fff" if hollow else colour
        self.parts.append(f'<circle cx="{WIDTH - RIGHT + 16}" cy="{y}" r="4" fill="{fill}" stroke="{colour}" stroke-width="1.5"/>'
                          f'<text x="{WIDTH - RIGHT + 27}" y="{y + 4}" fill="#222">{text}</text>')

    def points(self, points, colour, hollow=False):
        for point in filter(self.inside, points):
            px, py = self.at(*point)
            self.parts.append(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="4" fill="{"#fff" if hollow else colour}" stroke="{colour}" stroke-width="1.5"/>')

    def line(self, points, colour, dashed=False):
        inside = [self.at(*point) for point in points if self.inside(point)]
        if inside:
            dash = ' stroke-dasharray="5 4"' if dashed else ""
            path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in inside)
            self.parts.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.5"{dash}/>')

    def save(self, name):
        (DOCS / name).write_text("\n".join([*self.parts, "</svg>"]) + "\n")


def percent(y):
    return f"{y:+g}%" if y else "0"


def curve_of(change):
    """`change` of width over depth, in percent of that at 64."""
    usual = change(64)
    return [(ratio, 100 * math.expm1(change(ratio) - usual)) for ratio in (6 * 1.09**i for i in range(51))]


def law_curve(fit, millions):
    """Loss against width over depth of a model of so many parameters at 20 tokens each, as the law is told."""
    weights = dict(zip(law.TERMS, fit.weights))
    n = math.log(millions / 20)

    def change(ratio):
        a = math.log(ratio / 64)
        return a * (weights["aspect"] + n * weights["aspect*size"]) + a * a * (weights["aspect^2"] + n * weights["aspect^2*size"])

    return curve_of(change)


def reshaped(one, hidden, layers):
    """A published run with another width and depth, all else the same."""
    return one._replace(run=one.run | {"hidden": hidden, "layers": layers, "ffn": 4 * hidden}, shape=None)


def study_curve(fit, group):
    """The same with a study's own slopes, at its runs' mean size and tokens."""
    mean = lambda key: statistics.geometric_mean(one.run[key] for one in group)
    one = group[0]._replace(run=group[0].run | {key: mean(key) for key in ("params_outside_embeddings", "tokens")})
    return curve_of(lambda ratio: fit.predicted(fit.row(reshaped(one, ratio, 1))))


def aspect_picture(results):
    """Ours in percent of the size's baseline; those of others in percent of what the law gives a shape of that size at 64."""
    fit = law.fitted()
    picture = Picture("Loss at equal parameters and tokens against width over depth", ("hidden / layers", "loss against the usual shape"),
                      (6, 450), (-2, 8), True)
    picture.ticks([8, 16, 32, 64, 128, 256], range(-2, 9, 2), percent)
    by_size = collections.defaultdict(list)
    for run in law.best_rates(results):
        if run["group"] in ("aspect", "rate", "noise", "pair") and not run["name"].startswith("leaky"):
            by_size[run["size"]].append(run)
    colours = iter(COLOURS)
    for size, group in sorted(by_size.items(), key=lambda item: runs.size_rank(item[0])):
        colour, base = next(colours), statistics.mean(run["val_loss"] for run in group if run["name"] == "base")
        picture.points([(run["hidden"] / run["layers"], 100 * (run["val_loss"] / base - 1)) for run in group], colour)
        picture.name(f"{size.upper()[:-1]} M, trained", colour)
        picture.line(law_curve(fit, runs.size_rank(size)), colour)
    for source, (low, high) in (("morph", (1.5e7, 3e8)), ("gemstones", (1.5e7, 3e8)), ("gemstones", (3e8, 3e9))):
        colour, points = next(colours), []
        group = [one for one in fit.observations if one.source == source and low <= one.run["params_outside_embeddings"] < high]
        for one in group:
            usual = fit.row(reshaped(one, 64 * one.run["layers"], one.run["layers"]))
            points.append((one.run["hidden"] / one.run["layers"], 100 * math.expm1(math.log(one.run["val_loss"]) - fit.predicted(usual))))
        picture.points(points, colour, hollow=True)
        picture.name(f"{source.capitalize()} {low / 1e6:.0f} to {high / 1e6:.0f} M", colour, hollow=True)
        picture.line(study_curve(fit, group), colour, dashed=True)
    for i, text in enumerate(("lines: the law, at 20 tokens a parameter", "dashed: with the study's own slopes,", "at its tokens")):
        picture.parts.append(f'<text x="{WIDTH - RIGHT + 10}" y="{HEIGHT - BOTTOM + 14 * (i - 2)}" fill="#444" font-size="10">{text}</text>')
    picture.save("quality-aspect.svg")


def mean_curve(group):
    """(seconds, loss) at each quarter, the mean over seeds; seconds of runs that had the machine to themselves. None without any."""
    alone = [run for run in group if not run["beside_compiler"]]
    mean = lambda some, place, quarter: statistics.mean(run["validation"][quarter][place] for run in some)
    return alone and [(mean(alone, 1, quarter), mean(group, 2, quarter)) for quarter in range(4)]


def time_picture(results, size, file):
    groups = collections.defaultdict(list)
    for run in law.best_rates(results):
        if run["size"] == size and run["group"] in ("rate", "aspect", "noise", "pair", "head", "searched", "proposed"):
            groups[run["name"]].append(run)
    curves = {name: curve for name, group in groups.items() if (curve := mean_curve(group))}
    shown = sorted(curves, key=lambda name: curves[name][-1][1])
    shown = [name for name in shown if curves[name][-1][1] < 1.15 * curves[shown[0]][-1][1]][:6]
    curves = [curves[name] for name in shown]
    drawn = [point for curve in curves for point in curve[1:]]  # the first quarter is far above
    (first, last), (least, most) = ([pick(point[i] for point in drawn) for pick in (min, max)] for i in (0, 1))
    picture = Picture(f"Loss against time on one H200, {size.upper()[:-1]} M parameters outside the embeddings", ("seconds of training", "validation loss (nats per token)"),
                      (20 * math.floor(first / 20), 1.03 * last), (math.floor(20 * least) / 20, math.ceil(20 * most) / 20), False)
    ys = [i / 20 for i in range(round(20 * picture.y[0]), round(20 * picture.y[1]) + 1)]
    picture.ticks(range(picture.x[0], int(picture.x[1]) + 1, 10 if last < 100 else 20), ys, lambda y: f"{y:.2f}")
    colours = iter(COLOURS)
    for name, curve in zip(shown, curves):
        colour = "#222" if name == "base" else next(colours)  # the baseline is black in every picture
        picture.line(curve, colour)
        picture.points(curve, colour)
        run, seeds = groups[name][0], len({run["seed"] for run in groups[name]})
        shape = f"{run['hidden']}x{run['layers']}"
        label = shape if name.endswith(shape) else name if shape in name else f"{name}: {shape}"
        picture.name(f"{label}, {curve[-1][1]:.3f}" + (f", {seeds} seeds" if seeds > 1 else ""), colour)
    picture.save(file)


def main():
    results = [run for run in runs.read_results(runs.HERE / "results.jsonl") if run["status"] == "ok"]
    aspect_picture(results)
    for size in ("12m", "60m", "85m", "160m"):
        time_picture(results, size, f"quality-time-{size}.svg")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes bench/quality/plan.csv: the runs of the study in the order in which they are worth having, with the minutes
that each is expected to take on an H200.

    python3 bench/quality/plan.py [--check]      --check only compares with the file

Shapes of one size have the same parameters outside the embeddings (within 0.5%): the MLP's width makes up the rest.
The exceptions are the leaky shapes, which are as large only with the tables counted in (at 12m with ours, at 85m with
those of pythia-160m or gpt2, as a search proposed them)."""
import csv
import io
import sys

from runs import COUNTS, HERE, KINDS, SHAPE, estimated_s, parameters_outside_embeddings, tokens_of

VOCAB, SEQUENCE = 16384, 1024
BATCH = 32
# Size: hidden and layers of its baseline (MLP ratio 4, heads of 64), steps.
SIZES = {"12m": (384, 7, 3800), "20m": (512, 6, 5800), "60m": (640, 12, 3700), "85m": (768, 12, 2300), "160m": (896, 16, 2300)}
COLUMNS = ["position", "group", "size", "name", *SHAPE, *KINDS, "lr", *COUNTS, "params_outside_embeddings", "tokens", "minutes",
           "asks"]


def shaped(hidden, layers, **given):
    head_dim = given.pop("head_dim", 64)
    heads = given.pop("heads", hidden // head_dim)
    return {"hidden": hidden, "layers": layers, "heads": heads, "kv_heads": given.pop("kv_heads", heads),
            "head_dim": head_dim, "ffn": 4 * hidden, "vocab": VOCAB, "mlp": "gelu", "block": "sequential"} | given


def baseline(size):
    hidden, layers, _ = SIZES[size]
    return shaped(hidden, layers)


def filled(shape, target):
    """The shape with the MLP width, a multiple of 8, that brings its blocks nearest to the target."""
    none = shape | {"ffn": 0}
    each = parameters_outside_embeddings(shape | {"ffn": 8}) - parameters_outside_embeddings(none)
    return shape | {"ffn": 8 * max(1, round((target - parameters_outside_embeddings(none)) / each))}


def equal(size, hidden, layers, **given):
    return filled(shaped(hidden, layers, **given), parameters_outside_embeddings(baseline(size)))


def leaky(size, hidden, layers):
    """As large as the baseline with its two tables counted in."""
    base = baseline(size)
    return filled(shaped(hidden, layers), parameters_outside_embeddings(base) - 2 * VOCAB * (hidden - base["hidden"]))


def row(size, group, name, shape, asks, lr="1x", seed=1, order=1, times=1):
    """A run of the size's steps, or of several times as many."""
    steps = times * SIZES[size][2]
    made = {"group": group, "size": size, "name": name, **shape, "lr": lr, "seed": seed, "order": order, "batch": BATCH,
            "sequence": SEQUENCE, "steps": steps, "params_outside_embeddings": parameters_outside_embeddings(shape), "asks": asks}
    return made | {"tokens": tokens_of(made), "minutes": f"{estimated_s(made) / 60:.2f}"}


def rates(size, values):
    return [row(size, "rate", "base", baseline(size), f"learning rate of the baseline: {value}", lr=value) for value in values]


def aspect(size, *pairs, **given):
    return [row(size, "aspect", f"{hidden}x{layers}", equal(size, hidden, layers),
                f"width over depth {hidden / layers:.0f}", **given) for hidden, layers in pairs]


def seeds(size, name, shape, group, numbers, asks):
    return [row(size, group, name, shape, f"{asks}, seed {seed}", seed=seed) for seed in numbers]


def extremes(size, *pairs):
    """The ends of the width over depth at half and twice the learning rate: so that the answer is not one of tuning."""
    return [made for hidden, layers in pairs for lr in ("0.5x", "2x")
            for made in aspect(size, (hidden, layers), lr=lr)]


def first_turn():
    base = baseline("12m")
    return [*rates("12m", ["0.002", "0.004", "0.001"]), *aspect("12m", (512, 4), (256, 16)),
            *seeds("12m", "base", base, "noise", [2], "noise of the baseline"),
            row("12m", "pair", "leaky-448x4", leaky("12m", 448, 4), "as large with the tables: fewer weights in the blocks"),
            row("12m", "pair", "equal-448x5", equal("12m", 448, 5), "as large without the tables"),
            *seeds("12m", "base", base, "noise", [3], "noise of the baseline"),
            *aspect("12m", (704, 2), (320, 10), (192, 28))]


def knobs(size):
    """Head size, MLP ratio, gate, block form and kv width, one at a time, at the baseline's width and depth."""
    hidden, layers, _ = SIZES[size]
    made = [row(size, "head", f"heads-{d}", equal(size, hidden, layers, head_dim=d), f"head size {d}")
            for d in (128, 32, 256 if hidden % 256 == 0 else 192)]
    made.append(row(size, "form", "parallel", equal(size, hidden, layers, block="parallel"), "attention and MLP side by side"))
    made.append(row(size, "form", "gated", equal(size, hidden, layers, mlp="swiglu"), "gated MLP"))
    for other in (hidden + 64, hidden - 64):
        shape = equal(size, other, layers)
        made.append(row(size, "ratio", f"ratio-{other}", shape, f"MLP ratio {shape['ffn'] / other:.1f}"))
    heads = hidden // 64
    made += [row(size, "kv", f"kv-{kv}", equal(size, hidden, layers, kv_heads=kv), f"{kv} kv heads of {heads}")
             for kv in (2, 1)]
    return made


def paired_headline():
    """Three seeds each of pythia-160m's shape, what the search proposed for it, and the same with equal blocks."""
    shapes = {"base": baseline("85m"), "leaky-896x7": shaped(896, 7, ffn=3840), "equal-896x8": equal("85m", 896, 8)}
    return [row("85m", "pair", name, shape, f"pythia-160m's case, seed {seed}", seed=seed)
            for seed in (1, 2, 3) for name, shape in shapes.items()]


def repeats(size):
    """The most telling shapes with two more seeds each."""
    shapes = {"512x4": ("aspect", equal(size, 512, 4)), "256x16": ("aspect", equal(size, 256, 16)),
              "leaky-448x4": ("pair", leaky(size, 448, 4)), "equal-448x5": ("pair", equal(size, 448, 5))}
    return [row(size, group, name, shape, f"again, seed {seed}", seed=seed)
            for seed in (2, 3) for name, (group, shape) in shapes.items()]


def longer(size):
    """Twice the tokens: in published runs (data/quality) depth gains on width as training goes on."""
    shapes = {"base": baseline(size), "512x4": equal(size, 512, 4), "256x16": equal(size, 256, 16)}
    return [row(size, "longer", name, shape, "twice the tokens", times=2) for name, shape in shapes.items()]


def faster_pair(size, numbers):
    """768x8 against the baseline: a tenth faster with as many weights in the blocks."""
    return [made for seed in numbers for made in (*aspect(size, (768, 8), seed=seed), *seeds(size, "base", baseline(size), "noise", [seed], "noise of the baseline"))]


def searched():
    """Three seeds of gpt2's blocks, of what the search recommends for them, and of the wider heads that it recommends elsewhere, near the
    best rate for their depths."""
    shapes = {"base": baseline("85m"), "leaky-832x10": shaped(832, 10, ffn=3312), "heads-128": equal("85m", 768, 12, head_dim=128)}
    made = [row("85m", "searched", name, shape, f"what the search recommends, seed {seed}", lr="0.0012", seed=seed)
            for seed in (1, 2, 3) for name, shape in shapes.items()]
    then = shaped(832, 10, heads=8, head_dim=104, ffn=3264)  # recommended by the law with these nine runs in it
    return made + [row("85m", "searched", "leaky-832x10-heads-104", then, f"what the search recommends then, seed {seed}", lr="0.0012", seed=seed)
                   for seed in (1, 2, 3)]


def proposed():
    """What the search would propose for models of 150 M to 300 M parameters outside the embeddings, if the law reached there: fewer layers with
    wider MLPs, heads of 128; each alone and both, two seeds, so that each is told by four pairs. pythia-410m with both was measured 1.09 times as
    fast. At the baseline's best rate, at which it has its first seed already."""
    shapes = {"base": baseline("160m"), "heads-128": equal("160m", 896, 16, head_dim=128),
              "896x13-heads-128": equal("160m", 896, 13, head_dim=128), "896x13": equal("160m", 896, 13)}
    return [row("160m", "proposed", name, shape, f"fewer layers, wider MLPs and heads, seed {seed}", lr="0.001", seed=seed)
            for seed in (1, 2) for name, shape in shapes.items() if seed > 1 or name != "base"]


def farther():
    """Fewer layers still, with wider heads and MLPs: what the search would propose for pythia-410m, if the law reached that MLP ratio. Then the
    third seed of what is recommended."""
    shape = equal("160m", 896, 11, head_dim=128)
    asks = f"MLP ratio {shape['ffn'] / 896:.1f}, wider heads"
    third = {"base": baseline("160m"), "896x13-heads-128": equal("160m", 896, 13, head_dim=128), "896x11-heads-128": shape}
    return [*(row("160m", "farther", "896x11-heads-128", shape, f"{asks}, seed {seed}", lr="0.001", seed=seed) for seed in (1, 2)),
            *(row("160m", "farther", name, each, "third seed of what is recommended", lr="0.001", seed=3) for name, each in third.items())]


def next_turn():
    """The wide pair of 160 M with two more seeds, at its best rate (the baseline has three at its own), and at 60 M what only 12 M models varied."""
    wide = [row("160m", "aspect", "1280x8", equal("160m", 1280, 8), "width over depth 160", lr="0.002", seed=seed) for seed in (2, 3)]
    varied = {made["name"]: made for made in knobs("60m")}
    return [wide[0], varied["heads-128"], varied["ratio-704"], varied["ratio-576"], wide[1], varied["kv-2"], varied["gated"]]


def plan():
    heads, forms, again = knobs("12m")[:3], knobs("12m")[3:], repeats("12m")
    parallel, gated, narrow, wide, *kv = forms
    return [*first_turn(), *heads, *(made for made in again if made["name"].startswith("equal")),
            *rates("60m", ["0.002"]), *aspect("60m", (1280, 3), (768, 8)), parallel,
            *faster_pair("60m", [2]), wide, narrow, gated, *faster_pair("60m", [3]),
            *rates("160m", ["0.002"]), *aspect("160m", (1280, 8)), *kv,
            *rates("160m", ["0.001"]), *aspect("160m", (1280, 8), lr="0.5x"), *extremes("12m", (704, 2), (192, 28)), *searched()[:10], *proposed(), *farther(),
            *extremes("60m", (1280, 3)), *aspect("60m", (320, 48)), *extremes("60m", (320, 48)), *searched()[10:], *next_turn(),
            *aspect("12m", (256, 16), lr="0.5x"), *rates("60m", ["0.001", "0.004"]), *aspect("60m", (448, 24)),
            *(made for made in again if made["name"] == "512x4"), *paired_headline()[:3], *longer("12m"),
            *(made for made in again if made["name"] in ("256x16", "leaky-448x4")),
            *rates("20m", ["0.002", "0.004", "0.001"]), *aspect("20m", (768, 3), (256, 24), (640, 4)),
            *seeds("20m", "base", baseline("20m"), "noise", [2, 3], "noise of the baseline"),
            *aspect("160m", (1792, 4), (448, 64)),
            *paired_headline()[3:], *knobs("20m"),
            *extremes("20m", (768, 3), (256, 24)),
            *rates("160m", ["0.004"]), *extremes("160m", (1792, 4), (448, 64)),
            *(row("12m", "order", "base", baseline("12m"), "another order of the data", order=order) for order in (2, 3))]


def rendered(rows):
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for position, made in enumerate(rows, 1):
        writer.writerow(made | {"position": position})
    return out.getvalue()


def main():
    rows, path = plan(), HERE / "plan.csv"
    text = rendered(rows)
    if "--check" in sys.argv[1:]:
        sys.exit(0 if path.read_text() == text else "plan.csv is not what plan.py writes")
    path.write_text(text)
    print(f"{len(rows)} runs, {sum(float(made['minutes']) for made in rows):.0f} minutes")


if __name__ == "__main__":
    main()

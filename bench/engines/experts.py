"""Grouped expert MLPs: one forward call of an engine's layer on one GPU (top-k, permutation, quantising, two grouped
products, weighted sum). docs/engines.md has the law in words; src/cost/experts.cpp is the same law."""
import numpy as np

import solve

EXCHANGED_US = 12.0  # more where tokens are exchanged: from the rows of 2 to 256 GPUs, all devices alike
QUANTILES = 32  # of the tokens that experts get
STRAGGLER = 1.5  # of a normal law's expected largest, what the busiest GPU has: from the power-law rows
HEIGHTS = (8.0, 16.0, 32.0, 64.0, 128.0, 256.0)
TILE_WIDTH = 128.0
DEFAULT_TILES = ((16.0, 32.0), (64.0, 64.0))  # Triton's without a tuned table: up to a token an expert, and beyond
TILES = {  # how a library chooses its tiles, where it does not try them: "guessed-N" is at most N rows
    ("bf16", "sglang"): "default", ("w4a16_mxfp4", "trtllm"): "guessed-128", ("w4a8_mxfp4_mxfp8", "trtllm"): "guessed-256",
    ("nvfp4", "vllm"): "guessed-128",
}

FORMATS = {  # bytes of a weight and of an activation, arithmetic
    "bf16": (2, 2, "half"), "fp8": (1, 1, "fp8"), "fp8_block": (1, 1, "fp8"), "int4_wo": (0.51953125, 2, "half"),
    "w4a16_mxfp4": (0.53125, 2, "half"), "w4a8_mxfp4_mxfp8": (0.53125, 1.03125, "fp8"), "nvfp4": (0.5625, 0.5625, "fp4"),
}
OTHER_KERNEL = "flashinfer_cutlass"  # that vLLM takes for one model instead of TensorRT-LLM's, which is what is fitted
STARTS = {  # start, least, most
    "fixed_us": (20, 3, 150), "plain_us": (5, 0.01, 50), "expert_ns": (50, 0.1, 500), "choice_ns": (1, 0.001, 50), "token_bytes": (4, 0.01, 60),
    "input_bytes": (8, 0.1, 100), "inner_bytes": (4, 0.1, 100), "efficiency": (0.6, 0.05, 1), "alone": (0.7, 0.1, 1),
    "tail": (0.7, 0.01, 1.5), "tile_us": (1, 0.01, 20), "bandwidth": (0.85, 0.3, 1), "unit_bandwidth": (1.5, 0.3, 30), "join": (2.5, 1, 8),
}
DEFAULT_STARTS = {"wide_bandwidth": (0.9, 0.2, 1), "ragged": (1.4, 1, 3), "spilled": (0.5, 0.001, 4)}


def largest_of(count):
    """Expected largest of so many normal deviates (Blom 1958), by a rational inverse of the normal law (Abramowitz and
    Stegun, 26.2.23)."""
    tail = 1 - (count - 0.375) / (count + 0.25)
    t = np.sqrt(-2 * np.log(np.minimum(tail, 0.5)))
    value = t - (2.515517 + 0.802853 * t + 0.010328 * t * t) / (1 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t ** 3)
    return np.where(count > 1, value, 0.0)


def loads(d):
    """Tokens of an expert at each quantile on the busiest GPU, their weights (copies of experts), and its experts."""
    tokens, experts, ranks = d["m"], d["batch"], d["ep"]
    slots = np.maximum(experts, d.get("slots", experts))
    local = slots / ranks
    mean = tokens * d["topk"] / experts
    skew = d["skew"][:, None]
    middle = (np.arange(QUANTILES) + 0.5) / QUANTILES
    most = np.maximum(0.8 * tokens, 2)[:, None]
    power = np.where(skew > 0, 1 - skew, -0.01)
    drawn = drawn_at(most, power, middle)
    each = np.where(skew > 0, drawn, 1.0)
    weight = np.full_like(each, 1 / QUANTILES)
    for _ in range(2):  # no expert gets a token twice
        each = np.minimum(each * (mean / each.mean(1))[:, None], tokens[:, None])
    spread = np.sqrt(each.var(1) * local + mean * local * (d["skew"] > 0))
    uneven = 1 + STRAGGLER * largest_of(ranks) * spread / (mean * local)
    hottest = drawn_at(most[:, 0], power[:, 0], experts / (experts + 1)) * mean / drawn.mean(1)
    uneven = np.where(ranks > 1, np.maximum(uneven, (np.minimum(hottest, tokens) / mean + local - 1) / local), 1.0)
    balanced = d["balanced"] == 1
    largest = np.where(balanced, split(each, experts, slots), np.inf)
    copies = np.maximum(1, np.ceil(each / largest[:, None]))
    weight = np.where(balanced[:, None], copies / copies.sum(1, keepdims=True), weight)
    each = each / copies
    total = tokens * d["topk"] / ranks
    busiest = np.where(balanced, np.maximum(1, largest / total), np.where(d["skew"] > 0, uneven, 1))
    if "tokens_rank0" in d:  # said, unless nearly every token comes by
        share = np.minimum(d["tokens_rank0"] / tokens, 0.9)
        said = tokens * d["topk"] * (1 - (1 - share) ** (1 / d["topk"])) / total
        busiest = np.where(share < 0.9, said, np.maximum(busiest, said))
    each = np.minimum(each * busiest[:, None], tokens[:, None])
    # what rounding and limits left over of the GPU's share
    each *= (total * busiest / local / (each * weight).sum(1))[:, None]
    return np.minimum(each, tokens[:, None]), weight, local


def drawn_at(most, power, quantile):
    """Of the power law between 1 and `most`."""
    return ((most ** power - 1) * quantile + 1) ** (1 / power)


def split(each, experts, slots):
    """The largest load of a slot when the hottest experts have the spare ones."""
    low, high = each.max(1) / 64, each.max(1)
    for _ in range(20):
        middle = (low + high) / 2
        spare = (np.ceil(each / middle[:, None]) - 1).mean(1) * experts
        enough = spare <= slots - experts
        high, low = np.where(enough, middle, high), np.where(enough, low, middle)
    return high


def prepared(d):
    """The columns with what the law needs of them."""
    d = dict(d)
    size = len(d["m"])
    words = d.get("distribution", np.array(["balanced"] * size))
    d["skew"] = np.array([float(word.split("_")[2]) if word.startswith("power_law") else 0.0 for word in words])
    d["balanced"] = np.array([1.0 if word.endswith("eplb") else 0.0 for word in words])
    d["load"], d["weight"], d["local"] = loads(d)
    d["pairs"] = np.maximum(1, d["local"] * (d["load"] * d["weight"]).sum(1))
    reached = np.minimum(1, d["load"])
    d["hit"] = np.maximum(1, d["local"] * (reached * d["weight"]).sum(1))
    for height in HEIGHTS:
        d[f"tiles {height}"] = np.maximum(1, d["local"] * (np.ceil(d["load"] / height) * reached * d["weight"]).sum(1))
    d["arriving"] = d.get("tokens_rank0", d["m"])
    d["inner"] = d["n"] / d["tp"]
    d["sides"] = np.where(d["gated"] == 1, 2.0, 1.0)
    guess = 2.0 ** np.ceil(np.log2(np.maximum(d["arriving"] * d["topk"] / d["local"], HEIGHTS[0])))
    d["guess"] = np.minimum(guess, HEIGHTS[-1])
    return d


def product(d, sheet, form, width, depth, c, chosen):
    weight, activation, arithmetic = FORMATS[form]
    unit_rate = sheet.peak(arithmetic) / sheet.units * c["efficiency"]
    unit_bandwidth = sheet.bandwidth / sheet.units * c["unit_bandwidth"]

    def tiles(height, tall, columns):
        count = tall * np.ceil(width / columns) / sheet.units
        multiplied = 2 * depth * height * columns / unit_rate
        loaded = depth * (columns * weight + np.minimum(height, d["pairs"] / d["hit"]) * activation) / unit_bandwidth
        core, around = np.maximum(multiplied / c["alone"], loaded), c["tile_us"] * 1e-6
        return np.maximum(core + around, count * (core * c["alone"] + around) + c["tail"] * (core + around))

    bandwidth = sheet.bandwidth * c["bandwidth"]
    if chosen == "default":
        few = d["arriving"] <= d["batch"]
        (low, narrow), (high, wide) = DEFAULT_TILES
        computed = np.where(few, tiles(low, d[f"tiles {low}"], narrow), tiles(high, d[f"tiles {high}"], wide))
        spilled = np.maximum(0, 1 - sheet.l2 / (2 * d["arriving"] * d["k"]))
        computed *= 1 + c["spilled"] * spilled
        bandwidth = bandwidth * np.where(few, 1.0, c["wide_bandwidth"]) / np.where(d["inner"] % 16 > 0, c["ragged"], 1.0)
    elif chosen == "tuned":
        computed = np.min([tiles(height, d[f"tiles {height}"], TILE_WIDTH) for height in HEIGHTS[1:]], axis=0)
    else:
        height = np.minimum(d["guess"], float(chosen.split("-")[1]))
        tall = np.select([height == h for h in HEIGHTS], [d[f"tiles {h}"] for h in HEIGHTS])
        computed = tiles(height, tall, TILE_WIDTH)
    read = (d["hit"] * width * depth * weight + d["pairs"] * (width + depth) * activation) / bandwidth
    return (computed ** c["join"] + read ** c["join"]) ** (1 / c["join"])


def law_of(sheet, form, chosen):
    def of(real):
        d = dict(real)
        if chosen.startswith("guessed"):  # weights are stored in whole tiles
            d["k"], d["inner"] = (np.ceil(real[name] / TILE_WIDTH) * TILE_WIDTH for name in ("k", "inner"))

        def law(c):
            plain = np.where(d["sides"] == 1, c["plain_us"] * d["topk"] / 8, 0)
            routing = d["arriving"] * (d["topk"] * c["choice_ns"] * 1e-9 + d["k"] * c["token_bytes"] / sheet.bandwidth)
            moved = d["k"] * c["input_bytes"] + d["inner"] * (d["sides"] + 1) * c["inner_bytes"]
            exchanged = EXCHANGED_US if "tokens_rank0" in d else 0.0
            time = (c["fixed_us"] + plain + exchanged) * 1e-6 + d["local"] * c["expert_ns"] * 1e-9 + routing + d["pairs"] * moved / sheet.bandwidth
            up = product(d, sheet, form, d["inner"] * d["sides"], d["k"], c, chosen)
            return np.maximum(time + up + product(d, sheet, form, d["k"], d["inner"], c, chosen), roofline(real, sheet, form))
        return law
    return of


def roofline(d, sheet, form):
    weight, _, arithmetic = FORMATS[form]
    matrices = (d["sides"] + 1) * d["k"] * d["inner"]
    return np.maximum(2 * d["pairs"] * matrices / sheet.peak(arithmetic), d["hit"] * matrices * weight / sheet.bandwidth)


def has_tuned_tiles(d):
    """Shapes for which SGLang ships tiles tuned on an A100."""
    return (d["batch"] == 8) & np.isin(d["n"] / d["tp"], (1792, 2048, 3584, 4096, 7168))


def fit(public, path):
    rows, lines = [], []
    for device in solve.SHEETS:
        sheet = solve.Sheet(device)
        for name in ("moe_", "moe_w4_"):
            table = solve.read_rows(public, name + sheet.public)
            if table is None:
                continue
            table = solve.choose(table, (table["slow"] == 0) & (np.char.find(table["kernel"], OTHER_KERNEL) < 0))
            for form, source in sorted(set(zip(table["dtype"], table["source"]))):
                chosen = solve.choose(table, (table["dtype"] == form) & (table["source"] == source))
                fit_one(sheet, form, source.split("-")[1], chosen, public, rows, lines)
    solve.write_tables(path, [
        "Engines' grouped expert MLPs, fitted by bench/engines/fit.py to NVIDIA aiconfigurator (Apache-2.0): TensorRT-LLM",
        "1.3.0rc20, SGLang 0.5.10, vLLM 0.24. docs/engines.md explains every value. Errors are means with whole models held out."],
        [("experts", ["device", "format", "library", "tiles", *STARTS, *DEFAULT_STARTS, "low", "high", "skewed_low", "skewed_high", "error", "samples"], rows)])
    return lines


def fit_one(sheet, form, library, table, public, rows, lines):
    chosen = TILES.get((form, library), "tuned")
    if chosen == "default":
        table = solve.choose(table, ~has_tuned_tiles(table))
    even = prepared(solve.choose(table, table["distribution"] == "balanced"))
    skewed = prepared(solve.choose(table, table["distribution"] != "balanced"))
    starts = {**STARTS, **(DEFAULT_STARTS if chosen == "default" else {})}
    if even["gated"].all():
        starts["plain_us"] = (5, 5, 5.0001)
    law = law_of(sheet, form, chosen)
    models = np.array([f"{n:.0f}-{k:.0f}-{b:.0f}-{t:.0f}" for n, k, b, t in zip(even["n"], even["k"], even["batch"], even["topk"])])
    times = even["latency_us"] * 1e-6
    held = solve.held_out(law, starts, even, models)
    constants = solve.fit(law, starts, even)
    uneven = law(skewed)(constants)
    uneven_times = skewed["latency_us"] * 1e-6
    error = solve.mean_error(held, times)
    learnt = [constants.get(name, 1.0) for name in (*STARTS, *DEFAULT_STARTS)]
    rows.append([sheet.device, form, library, chosen, *learnt, *solve.interval(held, times), *solve.interval(uneven, uneven_times), error, len(times) + len(uneven_times)])
    lines.append(["experts", sheet.device, f"{form} {library}", len(times), error, float(np.median(np.abs(held / times - 1))),
                  solve.mean_error(roofline(even, sheet, form), times)])
    lines.append(["experts, skewed", sheet.device, f"{form} {library}", len(uneven_times), solve.mean_error(uneven, uneven_times),
                  float(np.median(np.abs(uneven / uneven_times - 1))), solve.mean_error(roofline(skewed, sheet, form), uneven_times)])
    wide = solve.read_rows(public, "moe_wideep_" + sheet.public)
    if wide is None or not (wide["dtype"] == form).any() or library != "trtllm":
        return
    wide = prepared(solve.choose(wide, (wide["slow"] == 0) & (wide["dtype"] == form)))
    guess, seen = law(wide)(constants), wide["latency_us"] * 1e-6
    lines.append(["experts, 2 to 256 GPUs", sheet.device, form, len(seen), solve.mean_error(guess, seen), float(np.median(np.abs(guess / seen - 1))),
                  solve.mean_error(roofline(wide, sheet, form), seen)])

"""Latent attention's core in one call, rotation and writing the cache included: expanded over the prompt (mla_context), absorbed over
the latent cache (mla_decode). docs/engines.md has the law in words; src/cost/latent.cpp is the same law."""
import numpy as np

import solve

CONTEXT = {"fixed_us": (12, 2, 30), "token_ns": (1, 0.001, 100), "head_bytes": (2, 0.01, 50), "efficiency": (0.6, 0.1, 1),
           "tile_us": (1, 0.001, 10), "longest": (1, 0.2, 2), "join": (2, 1, 10)}
DECODE = {"fixed_us": (12, 2, 30), "sequence_ns": (20, 0.01, 1000), "head_ns": (1, 0.001, 100), "efficiency": (0.6, 0.02, 1),
          "bandwidth": (0.8, 0.05, 1), "chain_ns": (0.1, 0.001, 500), "few_heads": (1.1, 1, 2), "split_us": (6, 0.01, 30),
          "split_keys": (3000, 1, 10000), "join": (3, 1, 10), "overlap": (1.5, 1, 6)}
STEPS = {"a100-80-sxm": 64.0}  # queries of a tile and keys of a step
USUAL_STEP = 128.0
HEAD_BLOCKS = {"b200": 128.0}  # heads that one thread block multiplies over the latent cache, where there are more than FEW_HEADS
USUAL_HEAD_BLOCK, FEW_HEADS = 64.0, 32.0


def rate(d, sheet):
    """Of the cache's arithmetic."""
    return np.where(d["kv_dtype"] == "fp8", sheet.peak("fp8"), sheet.peak("half"))


def context_law(sheet):
    side = STEPS.get(sheet.device, USUAL_STEP)

    def of(d):
        def law(c):
            tiles = np.ceil(d["m"] / side)
            before = (d["n"] - d["m"]) / side
            step = side * side * 2 * (d["k"] + d["v_dim"]) / (rate(d, sheet) / sheet.units * c["efficiency"])
            walked = d["batch"] * d["heads"] * tiles * (before + (tiles + 1) / 2) / sheet.units
            longest = (before + tiles) * c["longest"]
            rounds = np.ceil(d["batch"] * d["heads"] * tiles / sheet.units)
            entering = d["batch"] * d["m"] * (c["token_ns"] * 1e-9 + d["heads"] * c["head_bytes"] * 576 / sheet.bandwidth)
            walk = (walked ** c["join"] + longest ** c["join"]) ** (1 / c["join"]) * step
            return c["fixed_us"] * 1e-6 + entering + walk + rounds * c["tile_us"] * 1e-6
        return law
    return of


def decode_law(sheet):
    def of(d):
        element = np.where(d["kv_dtype"] == "fp8", 1.0, 2.0)

        def law(c):
            block = np.where(d["heads"] > FEW_HEADS, HEAD_BLOCKS.get(sheet.device, USUAL_HEAD_BLOCK), USUAL_HEAD_BLOCK)
            blocks = np.ceil(d["heads"] / block)
            few = np.where((d["heads"] > 16) & (d["heads"] <= FEW_HEADS), c["few_heads"], 1)
            keys = d["batch"] * d["n"]
            read = keys * d["k"] * element / (sheet.bandwidth * c["bandwidth"]) * few
            multiplied = 2 * blocks * block * keys * (d["k"] + d["v_dim"]) / (rate(d, sheet) * c["efficiency"])
            chain = d["n"] * c["chain_ns"] * 1e-9 * np.ceil(d["batch"] * blocks / sheet.units)
            core = (read ** c["join"] + multiplied ** c["join"] + chain ** c["join"]) ** (1 / c["join"])
            entering = d["batch"] * (c["sequence_ns"] + d["heads"] * c["head_ns"]) * 1e-9
            both = (entering ** c["overlap"] + core ** c["overlap"]) ** (1 / c["overlap"])
            return c["fixed_us"] * 1e-6 + both + c["split_us"] * 1e-6 * d["n"] / (d["n"] + c["split_keys"])
        return law
    return of


def roofline(d, sheet):
    decode = d["op"] == "mla_decode"
    element = np.where(d["kv_dtype"] == "fp8", 1.0, 2.0)
    pairs = np.where(decode, d["n"], d["m"] * d["n"] / 2)
    flops = 2 * d["batch"] * d["heads"] * pairs * (d["k"] + d["v_dim"])
    moved = np.where(decode, d["batch"] * d["n"] * d["k"] * element, d["batch"] * d["m"] * d["heads"] * 2 * (2 * d["k"] + 2 * d["v_dim"]))
    return np.maximum(flops / rate(d, sheet), moved / sheet.bandwidth)


def fit(public, path):
    rows, lines = {"mla_context": [], "mla_decode": []}, []
    for device in solve.SHEETS:
        sheet = solve.Sheet(device)
        table = solve.read_rows(public, "mla_" + sheet.public)
        for op, law, starts in (("mla_context", context_law(sheet), CONTEXT), ("mla_decode", decode_law(sheet), DECODE)):
            for cache in sorted(set(table["kv_dtype"])):
                d = solve.choose(table, (table["op"] == op) & (table["kv_dtype"] == cache))
                times = d["latency_us"] * 1e-6
                curves = np.array([f"{heads:.0f}-{batch:.0f}" for heads, batch in zip(d["heads"], d["batch"])])
                held = solve.held_out(law, starts, d, curves)
                constants = solve.fit(law, starts, d)
                error = solve.mean_error(held, times)
                size = STEPS.get(device, USUAL_STEP) if op == "mla_context" else HEAD_BLOCKS.get(device, USUAL_HEAD_BLOCK)
                rows[op].append([device, cache, size, *constants.values(), *solve.interval(held, times), error, len(times)])
                lines.append([op, device, f"bf16, cache {cache}", len(times), error, float(np.median(np.abs(held / times - 1))),
                              solve.mean_error(roofline(d, sheet), times)])
    write(path, rows)
    return lines


def write(path, rows):
    about = ["Latent attention's core, fitted by bench/engines/fit.py to NVIDIA aiconfigurator (Apache-2.0): TensorRT-LLM 1.3.0rc20",
             "(A100: 1.0.0). docs/engines.md explains every value. Errors are means with whole curves (heads, batch) held out."]
    solve.write_tables(path, about, [
        ("context", ["device", "cache", "step", *CONTEXT, "low", "high", "error", "samples"], rows["mla_context"]),
        ("decode", ["device", "cache", "block", *DECODE, "low", "high", "error", "samples"], rows["mla_decode"])])

"""Dispatch and combine of DeepEP: tokens to their experts' GPUs and back, low latency (decode) and normal (prefill). docs/engines.md
has the law in words; src/cost/exchange.cpp is the same law."""
import numpy as np

import solve

STARTS = {"fixed_us": (12, 2, 80), "width_ns": (0.3, 0.001, 10), "expert_ns": (5, 0.001, 100), "node_us": (8, 0.01, 60),
          "lane_gb_per_s": (20, 0.5, 400), "copy_ns": (5, 0.01, 1000), "token_copies": (1, 0.001, 60), "link": (0.6, 0.1, 1),
          "adapter": (0.9, 0.05, 1), "join": (2, 1, 8)}


def law_of(sheet):
    def of(d):
        quick = d["sms"] == 0
        payload = np.where(d["dtype"] == "fp8", d["n"] * (1 + 4 / 128), 2 * d["n"])
        copies = d["bytes"] / payload
        lanes = np.where(quick, d["experts"], np.maximum(d["sms"], 1))
        nodes = d["nodes"]
        leaving = np.where(quick, d["bytes"] * (nodes - 1) / nodes, d["m"] * payload * (nodes - 1) * (1 - (1 - 1 / nodes) ** d["k"]))

        def law(c):
            handled = np.where(quick, 0, (copies + c["token_copies"] * d["m"]) * c["copy_ns"] * 1e-9)
            in_lanes = (d["bytes"] / (c["lane_gb_per_s"] * 1e9) + handled) / lanes
            near = d["bytes"] / (sheet.link * c["link"])
            far = leaving / (sheet.adapter * c["adapter"])
            moved = (in_lanes ** c["join"] + near ** c["join"] + far ** c["join"]) ** (1 / c["join"])
            fixed = c["fixed_us"] * 1e-6 + (d["n"] * c["width_ns"] + np.where(quick, d["experts"], 0) * c["expert_ns"]) * 1e-9
            return fixed + np.log2(nodes) * c["node_us"] * 1e-6 + moved
        return law
    return of


def fit(public, path):
    rows, lines, between_nodes = [], [], {}
    for device in solve.SHEETS:
        sheet = solve.Sheet(device)
        table = solve.read_rows(public, "alltoall_" + sheet.public)
        if table is None:
            continue
        for op in sorted(set(table["op"])):
            d = solve.choose(table, table["op"] == op)
            times = d["latency_us"] * 1e-6
            models = np.array([f"{n:.0f}-{k:.0f}-{e:.0f}-{b:.0f}" for n, k, e, b in zip(d["n"], d["k"], d["experts"], d["batch"])])
            law, starts = law_of(sheet), dict(STARTS)
            if (d["nodes"] == 1).all():  # what other nodes cost is said of another GPU only
                starts.update({name: (value, value, value * 1.00001) for name, value in between_nodes[op].items()})
            held = solve.held_out(law, starts, d, models)
            constants = solve.fit(law, starts, d)
            between_nodes.setdefault(op, {name: constants[name] for name in ("node_us", "adapter")})
            error = solve.mean_error(held, times)
            rows.append([device, op, *constants.values(), *solve.interval(held, times), error, len(times)])
            lines.append([op, device, d["dtype"][0], len(times), error, float(np.median(np.abs(held / times - 1))),
                          solve.mean_error(d["bytes"] / sheet.link, times)])
    about = ["DeepEP's dispatch and combine, fitted by bench/engines/fit.py to NVIDIA aiconfigurator (Apache-2.0): SGLang 0.5.12, several",
             "nodes 0.5.6. docs/engines.md explains every value. Errors are means with whole models and group sizes held out."]
    solve.write_tables(path, about, [("exchange", ["device", "op", *STARTS, "low", "high", "error", "samples"], rows)])
    return lines

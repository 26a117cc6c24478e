#!/usr/bin/env python3
"""Alignment cliffs: TFLOP/s against m, n and k in steps of one, per layout, as an SVG; and a table of what was chosen.

    bench/plot_cliff.py cliff.jsonl > docs/cliffs.svg

Cycles are turned into a rate at the device's top clock, so that the power cap does not hide the cliff. The table, on
standard error, gives for each layout, dimension and largest power of two dividing it the median rate and the algorithms.
"""
import collections
import gzip
import json
import statistics
import sys

CENTRE = 4096
WIDTH, HEIGHT, MARGIN = 360, 170, 36
COLOURS = {1: "#c0392b", 2: "#d98324", 4: "#c8b400", 8: "#2e86c1", 16: "#1b4f72"}


def read(path):
    runs, points = {}, []
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            if record["schema"] == "tilewright.run/1":
                runs[record["run"]] = record["facts"]
            elif record["op"] == "gemm" and record["status"] == "ok":
                top_hz = float(runs[record["run"]]["top_clock_mhz"]) * 1e6
                record["rate"] = record["flops"] / record["cycles"] * top_hz / 1e12
                points.append(record)
    return points


def swept(sizes):
    """The dimension that was moved; at the centre all three series meet."""
    moved = [side for side in "mnk" if sizes[side] != CENTRE]
    return moved or list("mnk")


def series(points):
    groups = collections.defaultdict(list)
    for point in points:
        for side in swept(point["sizes"]):
            groups[point["sizes"]["layout"], side].append((point["sizes"][side], point))
    return {key: sorted(values, key=lambda item: item[0]) for key, values in groups.items()}


def power_of_two(value):
    return min(value & -value, 16)


def panel(x, y, title, values, top):
    low, high = values[0][0], values[-1][0]
    def place(size, rate):
        return (x + MARGIN + (size - low) / (high - low) * (WIDTH - MARGIN - 8), y + HEIGHT - 24 - rate / top * (HEIGHT - 48))
    parts = [f'<text x="{x + MARGIN}" y="{y + 14}" font-weight="bold">{title}</text>']
    for rate in range(0, int(top) + 1, 200):
        left, right = place(low, rate), place(high, rate)
        parts.append(f'<path d="M{left[0]:.1f} {left[1]:.1f}H{right[0]:.1f}" stroke="#ddd"/>'
                     f'<text x="{x + MARGIN - 4}" y="{left[1] + 4:.1f}" text-anchor="end">{rate}</text>')
    for size in range(low + 8 - low % 8, high, 32):
        parts.append(f'<text x="{place(size, 0)[0]:.1f}" y="{y + HEIGHT - 8}" text-anchor="middle">{size}</text>')
    for size, point in values:
        px, py = place(size, point["rate"])
        parts.append(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="2" fill="{COLOURS[power_of_two(size)]}"/>')
    return "".join(parts)


def svg(groups):
    top = max(point["rate"] for values in groups.values() for _, point in values) * 1.05
    body = [panel(column * WIDTH, 24 + row * HEIGHT, f"{layout}: {side}, others {CENTRE}", groups[layout, side], top)
            for row, layout in enumerate(("TN", "NN", "NT")) for column, side in enumerate("mnk") if (layout, side) in groups]
    legend = "".join(f'<circle cx="{40 + i * 150}" cy="12" r="3" fill="{colour}"/><text x="{48 + i * 150}" y="16">'
                     f'{"16 and more" if power == 16 else power} divides it</text>' for i, (power, colour) in enumerate(COLOURS.items()))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{3 * WIDTH}" height="{3 * HEIGHT + 24}" font-family="sans-serif" '
            f'font-size="11"><rect width="100%" height="100%" fill="white"/>{legend}{"".join(body)}</svg>')


def table(groups, out):
    print("layout side  2^i  TFLOP/s  algorithm:tile (count)", file=out)
    for (layout, side), values in sorted(groups.items()):
        classes = collections.defaultdict(list)
        for size, point in values:
            classes[power_of_two(size)].append(point)
        for power, members in sorted(classes.items()):
            kernels = collections.Counter(f'{p["facts"]["algorithm"]}:{p["facts"]["tile"]}' for p in members)
            words = ", ".join(f"{name} ({count})" for name, count in kernels.most_common(3))
            print(f"{layout:6} {side:4} {power:4} {statistics.median(p['rate'] for p in members):8.0f}  {words}", file=out)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    groups = series(read(sys.argv[1]))
    table(groups, sys.stderr)
    print(svg(groups))


if __name__ == "__main__":
    main()

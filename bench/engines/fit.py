#!/usr/bin/env python3
"""Fits data/engines from public timings (a folder of gzip CSV, see bench/fit_profiles.sh) and prints the errors on rows whose
model or curve was held out, a plain roofline's beside them.

    python3 bench/engines/fit.py PUBLIC [experts|latent|exchange…]
"""
import importlib
import os
import sys

FAMILIES = ("experts", "latent", "exchange")


def main():
    public, wanted = sys.argv[1], sys.argv[2:] or FAMILIES
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data", "engines")
    print("| kernel | GPU | format | rows | mean | median | roofline |")
    print("|---|---|---|---|---|---|---|")
    for family in wanted:
        lines = importlib.import_module(family).fit(public, os.path.join(folder, family + ".toml"))
        for kernel, device, form, count, mean, median, roofline in lines:
            print(f"| {kernel} | {device} | {form} | {count} | {100 * mean:.1f}% | {100 * median:.1f}% | {100 * roofline:.0f}% |")


if __name__ == "__main__":
    main()

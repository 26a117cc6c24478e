#!/usr/bin/env python3
"""Captures the classes of bench/hf_models.py with python/tilewright_capture.py into FOLDER, and packs them into FOLDER.tar.

    python3 bench/capture_all.py FOLDER [--seconds 200] [--jobs 8] [--only NAME,NAME] [--phase train] [--cases]

Fake tensors need no GPU. Each capture is a process of its own, so that one failing loses no other; FOLDER/log.txt says why.
Causal language models are captured in train, prefill and decode, the others in train and forward. --cases captures every other case that
bench/stopwatch.py times, named by its size: llama-3.2-1b-train-1x512."""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tarfile
import time

from hf_models import MODELS, OTHERS, POSITIONS, all_cases

HERE = os.path.dirname(os.path.abspath(__file__))
GENERATED = 36  # tokens of a decode case (bench/stopwatch.py)
SEQ = {"bert-base": 512, "t5-base": 512, "vit-base": 197, "whisper-small": 448}
ONCE = ["llama-3.2-1b", "gpt2-medium", "opt-1.3b", "pythia-410m", "mistral-7b-8-layers", "qwen2.5-0.5b", "qwen3-0.6b", "gemma-2b", "gemma-2-2b",
        "phi-1.5", "phi-3-mini-12-layers", "falcon-rw-1b", "falcon-7b-6-layers", "mixtral-small", "qwen3-30b-a3b-4-layers"]  # classes of MODELS


def captures():
    """(name, phase, master, batch, seq), the telling ones first; seq as the model is asked for it, of decode the prompt."""
    def sized(name, phase, master):
        seq = SEQ.get(name, min(2048, POSITIONS.get(name, 2048)))
        return (name, phase, master, 16, seq - GENERATED) if phase == "decode" else (name, phase, master, 4, seq)

    rows = []
    for phase in ("train", "prefill", "decode"):
        rows += [sized(name, phase, "bf16") for name in ONCE]
        rows += [sized(name, {"prefill": "forward"}.get(phase, phase), "bf16") for name in OTHERS if phase != "decode"]
    return rows + [sized(name, "train", "fp32") for name in ("llama-3.2-1b", "gpt2-medium", "pythia-410m")]


def timed_cases():
    """The same for cases that the stopwatch times and that `captures` has not."""
    rows = [(case["model"], case["phase"], case["master"], case["batch"], case["seq"] - (GENERATED if case["phase"] == "decode" else 0))
            for case in all_cases() if case["runtime"] == "huggingface"]
    return [row for row in dict.fromkeys(rows) if row not in captures()]


def command(row, folder, named_by_size):
    name, phase, master, batch, seq = row
    class_name, config = {**MODELS, **OTHERS}[name]
    suffix = ("-fp32" if master == "fp32" else "") + (f"-{batch}x{seq}" if named_by_size else "")
    path = os.path.join(folder, f"{name}-{phase}{suffix}.json.gz")
    return path, [sys.executable, "-m", "tilewright_capture", "--class", "transformers." + class_name, "--config", json.dumps(config),
                  "--batch", str(batch), "--seq", str(seq), "--phase", phase, "--master", master, "-o", path]


def take(row, arguments, end):
    """What there is to say of one capture."""
    path, words = command(row, arguments.folder, arguments.cases)
    left = end - time.monotonic()
    if left < 5:
        return row, "not begun: the time is spent"
    environment = os.environ | {"PYTHONPATH": os.path.join(HERE, "..", "python"), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=left, env=environment, check=False)
    except subprocess.TimeoutExpired:
        return row, "stopped: the time is spent"
    if done.returncode:
        return row, "failed: " + done.stderr[-1500:]
    return row, done.stderr.strip()[-1500:] + f"\n{os.path.getsize(path)} bytes"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--seconds", type=float, default=200.0)
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--only", default="", help="models, with commas between")
    parser.add_argument("--phase", default="")
    parser.add_argument("--cases", action="store_true", help="the other cases of the stopwatch")
    arguments = parser.parse_args()
    rows = [row for row in (timed_cases() if arguments.cases else captures()) if (not arguments.only or row[0] in arguments.only.split(","))
            and (not arguments.phase or row[1] == arguments.phase)]
    os.makedirs(arguments.folder, exist_ok=True)
    end = time.monotonic() + arguments.seconds
    with open(os.path.join(arguments.folder, "log.txt"), "a", buffering=1, encoding="utf-8") as log, \
            concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for row, said in pool.map(lambda row: take(row, arguments, end), rows):
            title = " ".join(map(str, row))
            log.write(f"== {title}\n{said}\n")
            print(f"{title:48s} {said.splitlines()[-1] if said else ''}"[:180], flush=True)
    with tarfile.open(arguments.folder.rstrip("/") + ".tar", "w") as tar:
        tar.add(arguments.folder, arcname=os.path.basename(arguments.folder.rstrip("/")))


if __name__ == "__main__":
    main()

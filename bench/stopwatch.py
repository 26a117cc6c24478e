#!/usr/bin/env python3
"""What a stopwatch shows for real classes of transformers and for bench/pytorch_model.py, on this machine's GPU.

    python3 bench/stopwatch.py --out times.jsonl [--seconds 300] [--only NAME,NAME] [--phase train] [--runtime huggingface]
    python3 bench/stopwatch.py --out busy.jsonl --busy        GPU busy time and kernels of the same cases, by the profiler
    python3 bench/stopwatch.py --list                         the cases in their order; needs no torch
    python3 bench/stopwatch.py --out compiled.jsonl --runtime huggingface-compiled [--warm 1/4]
    python3 bench/stopwatch.py --out smoke.jsonl --smoke      two layers of each class on the CPU

Training is zero_grad(set_to_none), forward with labels, backward and a fused AdamW; nothing is read back. Prefill is
`model(ids)` without gradients, all logits. Decode is one step of `generate`, greedy: the difference between 36 and 4 new
tokens, over 32. A time is the median of windows of at least 20 steps with a synchronisation around each window, after 0.6 s of
steps; the first model of a process is thrown away. docs/stopwatch.md has the method and the fields of a line.
A line is written as soon as a case is timed; a rerun goes on after the last line. A case that fails is a line with a reason."""
import argparse
import contextlib
import gc
import json
import os
import statistics
import subprocess
import sys
import time
import traceback

from gpu_busy import busy_of_generate, busy_of_steps
from hf_models import MODELS, PLAIN, all_cases, build, role, shortened, sized

SETTLE_S = 0.6
STEPS = 20
LONGEST_WINDOW_S = 4.0  # a window has fewer steps where 20 would take longer
TIMED_S = 1.2           # of windows in all, where steps are short
SHORT, LONG = 4, 36     # new tokens of the two calls whose difference is timed


def key_of(case):
    return tuple(case[name] for name in ("model", "phase", "batch", "seq", "runtime", "master"))


class Gpu:
    """What the timing asks of the device; on the CPU nothing is waited for and no clock is read."""

    def __init__(self, smoke):
        import torch
        self.torch = torch
        self.real = not smoke
        self.name = "cpu" if smoke else "cuda"
        self.clocks = None
        if self.real:
            from pytorch_timing import NVML
            self.clocks = NVML

    def wait(self):
        if self.real:
            self.torch.cuda.synchronize()

    def mark(self):
        if not self.real:
            return time.perf_counter()
        event = self.torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def between(self, one, other):
        return one.elapsed_time(other) * 1e-3 if self.real else other - one

    def clock_mhz(self):
        return self.clocks.sm_clock_mhz() if self.real else 0

    def clean(self):
        gc.collect()
        if self.real:
            self.torch.cuda.empty_cache()
            self.torch.cuda.reset_peak_memory_stats()

    def memory(self):
        """Peaks of the allocator since the last clean, and what the driver has given away."""
        if not self.real:
            return {}
        free, total = self.torch.cuda.mem_get_info()
        return {"allocated_bytes": self.torch.cuda.max_memory_allocated(), "reserved_bytes": self.torch.cuda.max_memory_reserved(),
                "device_used_bytes": total - free, "reserved_now_bytes": self.torch.cuda.memory_reserved()}


def spread(values):
    ordered = sorted(values)
    at = lambda part: ordered[min(len(ordered) - 1, int(part * len(ordered)))]
    return {"time_s": statistics.median(ordered), "low_s": ordered[0], "high_s": ordered[-1],
            "step_p10_s": at(0.1), "step_p50_s": at(0.5), "step_p90_s": at(0.9)}


def window(gpu, step, steps):
    """Seconds of a step over the window, of each step on the GPU, and the clock while the last ones run."""
    gpu.wait()
    start = time.perf_counter()
    marks = [gpu.mark()]
    for _ in range(steps):
        step()
        marks.append(gpu.mark())
    issued = time.perf_counter() - start
    clock = gpu.clock_mhz()
    gpu.wait()
    whole = time.perf_counter() - start
    each = [gpu.between(one, other) for one, other in zip(marks, marks[1:])]
    return whole / steps, issued / steps, each, clock


def time_steps(gpu, step):
    for _ in range(2):  # the first makes optimizer state, workspaces and compiled code
        step()
        gpu.wait()
    once, *_ = window(gpu, step, 2)
    if gpu.real:
        once, *_ = window(gpu, step, max(2, int(SETTLE_S / once)))
        gpu.torch.cuda.reset_peak_memory_stats()
    steps = STEPS if STEPS * once <= LONGEST_WINDOW_S else max(5, int(LONGEST_WINDOW_S / once))
    windows = [window(gpu, step, steps) for _ in range(max(1, min(5, int(TIMED_S / (steps * once)))) if gpu.real else 1)]
    memory = gpu.memory()
    alone = []
    for _ in range(3):  # from an empty queue, so that the host waits for nothing unless one step fills the queue
        gpu.wait()
        start = time.perf_counter()
        step()
        alone.append(time.perf_counter() - start)
    gpu.wait()
    line = spread([seconds for _, _, each, _ in windows for seconds in each])
    whole = [seconds for seconds, *_ in windows]
    return line | memory | {
        "time_s": statistics.median(whole), "low_s": min(whole), "high_s": max(whole), "steps": steps, "windows": len(windows),
        "issue_s": statistics.median(issued for _, issued, *_ in windows), "issue_alone_s": statistics.median(alone),
        "clock_mhz": statistics.median(clock for *_, clock in windows)}


def generator(model, ids):
    """A function that generates so many tokens, exactly."""
    mask = ids.new_ones(ids.shape)

    def run(tokens):
        out = model.generate(ids, attention_mask=mask, max_new_tokens=tokens, do_sample=False)
        if out.shape[1] != ids.shape[1] + tokens:
            raise RuntimeError(f"generate stopped after {out.shape[1] - ids.shape[1]} of {tokens} tokens")

    return run


def time_generate(gpu, run):
    def took(tokens):
        gpu.wait()
        start = time.perf_counter()
        run(tokens)
        clock = gpu.clock_mhz()
        gpu.wait()
        return time.perf_counter() - start, clock

    took(SHORT)
    longest, _ = took(LONG)
    if longest < SETTLE_S:
        took(LONG)
    if gpu.real:
        gpu.torch.cuda.reset_peak_memory_stats()
    pairs = [(took(LONG), took(SHORT)) for _ in range(5 if longest < 0.4 else 3)]
    line = spread([(long[0] - short[0]) / (LONG - SHORT) for long, short in pairs])
    return line | gpu.memory() | {"steps": LONG - SHORT, "windows": len(pairs), "short_s": statistics.median(short[0] for _, short in pairs),
                                  "clock_mhz": statistics.median(long[1] for long, _ in pairs)}


def random_ids(gpu, model, batch, length):
    return gpu.torch.randint(model.config.vocab_size, (batch, length), device=gpu.name)


class Subject:
    """The model that is on the device, kept from one case to the next where both want the same."""

    def __init__(self, gpu):
        self.gpu = gpu
        self.wanted = self.model = None

    def drop(self):
        self.wanted = self.model = None
        self.gpu.clean()

    def take(self, case):
        torch = self.gpu.torch
        wanted = (case["model"], case["runtime"], case["master"])
        compiled = case["runtime"] == "huggingface-compiled"
        if wanted != self.wanted or compiled:
            self.drop()
            class_name, config = MODELS[case["model"]]
            config = config if self.gpu.real else shortened(config)
            dtype = torch.bfloat16 if case["master"] == "bf16" else torch.float32
            self.model = build(class_name, config, self.gpu.name, dtype)
            self.wanted = wanted
        self.model.zero_grad(set_to_none=True)
        self.gpu.clean()
        return self.model

    def ids(self, case, length):
        return random_ids(self.gpu, self.model, case["batch"], length)


def train_step(gpu, model, ids, case):
    torch = gpu.torch
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    if case["runtime"] == "huggingface-compiled":
        torch._dynamo.reset()
        forward = torch.compile(model)
    else:
        forward = model

    def cast():
        return torch.autocast(gpu.name, dtype=torch.bfloat16) if case["master"] == "fp32" else contextlib.nullcontext()

    def step():
        optimizer.zero_grad(set_to_none=True)
        with cast():
            loss = forward(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()

    return step


def prefill_step(gpu, model, ids):
    def step():
        with gpu.torch.no_grad():
            model(ids)

    return step


def plain_step(case):
    """The same phases of bench/pytorch_model.py, which runs on the GPU only."""
    import pytorch_model
    make = {"train": pytorch_model.train_step, "prefill": pytorch_model.prefill_step, "decode": pytorch_model.decode_step}
    return make[case["phase"]](PLAIN[case["model"]] | {"batch": case["batch"], "seq": case["seq"]}, compiled=False)


def facts_of(model, case):
    return {"class": type(model).__name__, "config": MODELS[case["model"]][1], "role": role(case["model"]),
            "parameters": sum(weight.numel() for weight in model.parameters()),
            "tensors": sum(1 for _ in model.parameters()),
            "attention": getattr(model.config, "_attn_implementation", None),
            "experts": getattr(model.config, "_experts_implementation", None)}


def measure(gpu, subject, case, busy):
    """The fields that a case's line adds."""
    take, take_generate = (busy_of_steps, busy_of_generate) if busy else (time_steps, time_generate)
    if case["runtime"] == "pytorch":
        subject.drop()
        line = take(gpu, plain_step(case))
        gpu.clean()
        return line | {"shape": PLAIN[case["model"]]}
    model = subject.take(case)
    facts = facts_of(model, case)
    model.train(case["phase"] == "train")
    if case["phase"] == "decode":
        prompt = case["seq"] - LONG
        return facts | {"prompt": prompt} | take_generate(gpu, generator(model, subject.ids(case, prompt)))
    ids = subject.ids(case, case["seq"])
    step = train_step(gpu, model, ids, case) if case["phase"] == "train" else prefill_step(gpu, model, ids)
    return facts | take(gpu, step)


def throw_away(gpu, subject, busy):
    """Libraries, workspaces and the profiler start with a model that nobody reads."""
    name = "gpt2-medium"
    for phase in ("train", "prefill", "decode"):
        try:
            measure(gpu, subject, sized(name, phase, 1, 256), busy)
        except Exception as error:  # the cases will say it again
            print(f"thrown away: {phase}: {type(error).__name__}: {error}"[:400], flush=True)
    subject.drop()


def run_line(gpu):
    import transformers
    torch = gpu.torch
    facts = {"pytorch": torch.__version__, "transformers": transformers.__version__, "python": sys.version.split()[0],
             "threads": os.cpu_count()}
    if gpu.real:
        ask = ["nvidia-smi", "--query-gpu=driver_version,clocks.max.sm,power.limit", "--format=csv,noheader"]
        answer = subprocess.run(ask, capture_output=True, text=True, check=False).stdout.strip()
        facts |= {"device": torch.cuda.get_device_name(), "cuda_runtime": torch.version.cuda, "driver": answer,
                  "cudnn": torch.backends.cudnn.version(), "memory_bytes": torch.cuda.get_device_properties(0).total_memory}
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:
        facts["cpu"] = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "")
    return {"schema": "tilewright.run/1", "run": time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()) + "-stopwatch", "facts": facts}


def selected(arguments):
    cases = all_cases()
    for field, flag in (("model", arguments.only), ("phase", arguments.phase), ("runtime", arguments.runtime), ("master", arguments.master)):
        cases = [case for case in cases if not flag or case[field] in flag.split(",")]
    if not arguments.runtime:  # compiling takes a minute a model: only where it is asked for
        cases = [case for case in cases if case["runtime"] != "huggingface-compiled"]
    if arguments.smoke:
        cases = [case | {"seq": 48, "batch": 1} for case in cases if case["runtime"] == "huggingface" and case["seq"] == 16]
        cases += [case | {"phase": "decode"} for case in cases if case["phase"] == "prefill"]
    return cases


def recorded(path):
    """The cases that a file has lines of."""
    if not os.path.exists(path):
        return set()
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.startswith("{") and line.endswith("}\n")]
    return {key_of(line) for line in lines if "phase" in line}


def time_cases(arguments, cases):
    gpu = Gpu(arguments.smoke)
    subject = Subject(gpu)
    end = time.monotonic() + arguments.seconds
    known = recorded(arguments.out)
    with open(arguments.out, "a", buffering=1, encoding="utf-8") as out:
        out.write(json.dumps(run_line(gpu)) + "\n")
        if gpu.real:
            throw_away(gpu, subject, arguments.busy)
        for index, case in enumerate(cases):
            if time.monotonic() > end:
                print(f"the time is spent; {len(cases) - index} cases are not taken", flush=True)
                return 0
            if key_of(case) in known:
                continue
            line = {"schema": "tilewright.stopwatch/1"} | case
            began = time.monotonic()
            try:
                line |= {"status": "ok"} | measure(gpu, subject, case, arguments.busy)
            except Exception as error:  # out of memory, or a class that refuses: the others go on
                line |= {"status": "failed", "reason": f"{type(error).__name__}: {error}"[:600],
                         "where": traceback.format_exc()[-900:]}
                subject.drop()
            line["took_s"] = round(time.monotonic() - began, 2)
            out.write(json.dumps(line) + "\n")
            shown = line.get("gpu_busy_s" if arguments.busy else "time_s", 0.0) * 1e3
            print(f"{case['model']:28s} {case['phase']:8s} {case['batch']:3d} x {case['seq']:5d} {case['runtime']:12s} {case['master']} "
                  f"{shown:9.3f} ms {line['took_s']:6.1f} s {line.get('reason', '')[:100]}", flush=True)
            if "CUDA error" in line.get("reason", "") or "device-side" in line.get("reason", ""):
                return 3  # the context is lost; a rerun goes on with the next case
    return 0


def warm(arguments, cases):
    """Compiles part K of N into the compiler's cache."""
    from pytorch_timing import part_of
    gpu = Gpu(False)
    subject = Subject(gpu)
    for case in part_of(cases, arguments.warm):
        try:
            model = subject.take(case)
            step = train_step(gpu, model, subject.ids(case, case["seq"]), case)
            step()
            gpu.wait()
        except Exception as error:  # the timing will say it again
            print(f"{case['model']}: {type(error).__name__}: {error}"[:200], flush=True)
        subject.drop()
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="stopwatch.jsonl")
    parser.add_argument("--seconds", type=float, default=480.0, help="no case is begun after these")
    parser.add_argument("--only", default="", help="models, with commas between")
    parser.add_argument("--phase", default="", help="train, prefill, decode")
    parser.add_argument("--runtime", default="", help="huggingface, pytorch, huggingface-compiled")
    parser.add_argument("--master", default="", help="bf16, or fp32: autocast over fp32 weights")
    parser.add_argument("--busy", action="store_true", help="GPU busy time and kernels instead of the stopwatch")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--warm", default="", help="K/N: only compile part K of N")
    arguments = parser.parse_args()
    cases = selected(arguments)
    if arguments.list:
        print("\n".join(" ".join(str(value) for value in key_of(case)) for case in cases))
        return 0
    return warm(arguments, cases) if arguments.warm else time_cases(arguments, cases)


if __name__ == "__main__":
    sys.exit(main())

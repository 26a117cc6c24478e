#!/usr/bin/env python3
"""What issuing costs the host, op by op, with the real PyTorch on this machine: JSON lines of microseconds.

    python3 bench/host_costs.py --out host.jsonl [--seconds 60] [--only add,linear]
    python3 bench/host_costs.py --out smoke.jsonl --smoke        on the CPU: the path through the program, not the times

Tensors are tiny, so that the GPU never holds the host up. A sample is a batch of calls between two readings of the clock; the queue
is drained before each batch and a batch is shorter than the queue. `median_us`, `p10_us`, `p90_us` are over the samples, per call.
`kind` says what a line is: `op` (no gradients), `op recorded` (autograd records it), `backward` (autograd's engine runs it; per
op of the chain), `module`, `optimizer`, `launch`, `graph`, `compiled`, `generate`."""
import argparse
import json
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

SAMPLES = 40
CHAIN = 20   # backward passes of one op that are timed at once
CALLS = 100  # at most three launches each: below the 1,024 of a queue


class Clock:
    def __init__(self, arguments):
        self.smoke = arguments.smoke
        self.device = "cpu" if arguments.smoke else "cuda"
        self.samples, self.calls = (3, 2) if arguments.smoke else (SAMPLES, CALLS)
        self.only = set(arguments.only.split(",")) if arguments.only else None
        self.out = open(arguments.out, "a", buffering=1, encoding="utf-8")
        self.end = time.monotonic() + arguments.seconds

    def wait(self):
        if not self.smoke:
            torch.cuda.synchronize()

    def write(self, kind, name, values, **more):
        ordered = sorted(value * 1e6 for value in values)
        at = lambda part: round(ordered[min(len(ordered) - 1, int(part * len(ordered)))], 3)
        line = {"schema": "tilewright.host/1", "kind": kind, "name": name, "median_us": round(statistics.median(ordered), 3),
                "p10_us": at(0.1), "p90_us": at(0.9), "samples": len(ordered)} | more
        self.out.write(json.dumps(line) + "\n")
        print(f"{kind:12s} {name:36s} {line['median_us']:10.2f} us  {line['p10_us']:9.2f} {line['p90_us']:9.2f}", flush=True)

    def fail(self, kind, name, error):
        self.out.write(json.dumps({"schema": "tilewright.host/1", "kind": kind, "name": name, "status": "failed",
                                   "reason": f"{type(error).__name__}: {error}"[:300]}) + "\n")
        print(f"{kind:12s} {name:36s} failed: {type(error).__name__}: {error}"[:200], flush=True)

    def skips(self, name):
        return self.only is not None and name not in self.only or time.monotonic() > self.end

    def time(self, kind, name, call, per=1, calls=None, **more):
        """Writes what one call takes, divided by `per`."""
        if self.skips(name):
            return
        calls = min(calls or self.calls, self.calls)
        try:
            for _ in range(3):
                call()
            values = []
            for _ in range(self.samples):
                self.wait()
                start = time.perf_counter()
                for _ in range(calls):
                    call()
                values.append((time.perf_counter() - start) / calls / per)
            self.wait()
            self.write(kind, name, values, **more)
        except Exception as error:  # one op that this version lacks must not end the run
            self.fail(kind, name, error)


def tensors(device):
    """Tiny operands of every op below, under the names that they use."""
    make = lambda *size: torch.randn(*size, device=device, dtype=torch.bfloat16)
    return {
        "x": make(1, 8, 64), "y": make(1, 8, 64), "w": make(64, 64), "b": make(64), "heads": make(1, 4, 8, 16), "cos": make(1, 8, 16),
        "square": make(64, 64), "wide": make(1, 8, 128), "logits": torch.randn(8, 128, device=device),
        "ids": torch.randint(64, (1, 8), device=device), "targets": torch.randint(128, (8,), device=device),
        "table": make(64, 64), "batched": make(4, 8, 16), "rows": torch.randint(8, (16,), device=device),
        "mask": torch.ones(1, 1, 8, 8, device=device, dtype=torch.bool)}


# name: (function of the operands, those that take gradients, launches)
OPS = {
    "add": (lambda t: t["x"] + t["y"], "x y", 1),
    "mul": (lambda t: t["x"] * t["y"], "x y", 1),
    "mul scalar": (lambda t: t["x"] * 0.5, "x", 1),
    "neg": (lambda t: -t["x"], "x", 1),
    "silu": (lambda t: F.silu(t["x"]), "x", 1),
    "gelu": (lambda t: F.gelu(t["x"], approximate="tanh"), "x", 1),
    "relu": (lambda t: F.relu(t["x"]), "x", 1),
    "tanh": (lambda t: torch.tanh(t["x"]), "x", 1),
    "pow": (lambda t: t["x"].pow(2), "x", 1),
    "mean": (lambda t: t["x"].mean(-1, keepdim=True), "x", 1),
    "rsqrt": (lambda t: torch.rsqrt(t["logits"]), "logits", 1),
    "to float": (lambda t: t["x"].float(), "x", 1),
    "contiguous copy": (lambda t: t["heads"].transpose(1, 2).contiguous(), "heads", 1),
    "cat": (lambda t: torch.cat((t["x"], t["y"]), dim=-1), "x y", 1),
    "linear": (lambda t: F.linear(t["x"], t["w"]), "x w", 1),
    "linear with bias": (lambda t: F.linear(t["x"], t["w"], t["b"]), "x w b", 1),
    "addmm": (lambda t: torch.addmm(t["b"], t["x"].view(8, 64), t["w"]), "x w b", 1),
    "matmul": (lambda t: t["square"] @ t["w"], "square w", 1),
    "bmm": (lambda t: torch.bmm(t["batched"], t["batched"].transpose(1, 2)), "batched", 1),
    "sdpa causal": (lambda t: F.scaled_dot_product_attention(t["heads"], t["heads"], t["heads"], is_causal=True), "heads", 1),
    "sdpa": (lambda t: F.scaled_dot_product_attention(t["heads"], t["heads"], t["heads"]), "heads", 1),
    "sdpa masked": (lambda t: F.scaled_dot_product_attention(t["heads"], t["heads"], t["heads"], attn_mask=t["mask"]), "heads", 1),
    "layer_norm": (lambda t: F.layer_norm(t["x"], (64,), t["b"], t["b"]), "x b", 1),
    "rms_norm": (lambda t: F.rms_norm(t["x"], (64,), t["b"]), "x b", 1),
    "softmax": (lambda t: F.softmax(t["x"], dim=-1), "x", 1),
    "softmax to float": (lambda t: F.softmax(t["x"], dim=-1, dtype=torch.float32), "x", 1),
    "dropout": (lambda t: F.dropout(t["x"], 0.1, True), "x", 1),
    "embedding": (lambda t: F.embedding(t["ids"], t["table"]), "table", 1),
    "cross_entropy": (lambda t: F.cross_entropy(t["logits"], t["targets"]), "logits", 2),
    "index rows": (lambda t: t["square"][t["rows"]], "square", 1),
    "index_add": (lambda t: t["square"].index_add(0, t["rows"], t["square"][:16]), "square", 2),
    "topk": (lambda t: torch.topk(t["logits"], 2, dim=-1), "", 1),
    "argmax": (lambda t: torch.argmax(t["logits"], dim=-1), "", 1),
    "argsort": (lambda t: torch.argsort(t["rows"], stable=True), "", 1),
    "cumsum": (lambda t: torch.cumsum(t["rows"], 0), "", 1),
    "arange": (lambda t: torch.arange(8, device=t["x"].device), "", 1),
    "ones": (lambda t: torch.ones(8, device=t["x"].device), "", 1),
    "empty": (lambda t: torch.empty(8, device=t["x"].device), "", 0),
    "view": (lambda t: t["x"].view(8, 64), "x", 0),
    "transpose": (lambda t: t["heads"].transpose(1, 2), "heads", 0),
    "reshape without copy": (lambda t: t["x"].reshape(8, 64), "x", 0),
    "expand": (lambda t: t["b"].expand(8, 64), "b", 0),
    "unsqueeze": (lambda t: t["x"].unsqueeze(1), "x", 0),
    "slice": (lambda t: t["x"][..., :32], "x", 0),
    "split": (lambda t: t["wide"].split(64, dim=-1), "wide", 0),
    "chunk": (lambda t: t["wide"].chunk(2, dim=-1), "wide", 0),
    "detach": (lambda t: t["x"].detach(), "", 0),
}


def time_ops(clock):
    """Each op without gradients, with autograd recording it, and its backward."""
    for name, (function, wanted, launches) in OPS.items():
        plain = tensors(clock.device)
        with torch.no_grad():
            clock.time("op", name, lambda: function(plain), launches=launches)
        if not wanted:
            continue
        sets = [with_gradients(clock.device, wanted) for _ in range(CHAIN + 1)]
        clock.time("op recorded", name, lambda: function(sets[0]), launches=launches)
        time_backward(clock, name, function, [(one, [one[operand] for operand in wanted.split()]) for one in sets])


def with_gradients(device, wanted):
    operands = tensors(device)
    for name in wanted.split():
        operands[name].requires_grad_(True)
    return operands


def time_backward(clock, name, function, sets):
    """autograd.grad of many outputs, each with operands of its own, against that of one: the engine's cost of an op."""
    if clock.skips(name):
        return
    try:
        first = lambda out: out if isinstance(out, torch.Tensor) else out[0]
        gradient = torch.ones_like(first(function(sets[0][0])))

        def took(count):
            outputs = [first(function(operands)) for operands, _ in sets[:count]]
            inputs = [operand for _, wanted in sets[:count] for operand in wanted]
            clock.wait()
            start = time.perf_counter()
            torch.autograd.grad(outputs, inputs, [gradient] * count)
            return time.perf_counter() - start

        took(CHAIN + 1)
        clock.write("backward", name, [(took(CHAIN + 1) - took(1)) / CHAIN for _ in range(clock.samples)])
    except Exception as error:
        clock.fail("backward", name, error)


class Empty(nn.Module):
    def forward(self, x):
        return x


class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.ModuleList(Empty() for _ in range(10))

    def forward(self, x):
        for module in self.inner:
            x = module(x)
        return x


def time_modules(clock):
    x = tensors(clock.device)["x"]
    linear = nn.Linear(64, 64, bias=False, device=clock.device, dtype=torch.bfloat16)
    for name, call in (("call of an empty module", Empty()), ("call of ten modules in a list", Nested()), ("nn.Linear", linear)):
        with torch.no_grad():
            clock.time("module", name, lambda: call(x))
    clock.time("module", "nn.Linear recorded", lambda: linear(x))

    def cast():
        with torch.autocast(clock.device, dtype=torch.bfloat16):
            pass

    clock.time("module", "autocast entered and left", cast)
    with torch.autocast(clock.device, dtype=torch.bfloat16):
        full = nn.Linear(64, 64, bias=False, device=clock.device)
        clock.time("module", "nn.Linear in autocast, cast cached", lambda: full(x))


def time_optimizers(clock):
    """AdamW over so many parameters of 64 x 64: the slope is the cost of a parameter, the rest that of a step."""
    kinds = {"fused": {"fused": True}, "foreach": {"foreach": True}, "loop": {"foreach": False}}
    for kind, flags in kinds.items():
        for count in (8, 64, 256) if kind != "loop" else (8, 64):
            for dtype in (torch.bfloat16, torch.float32) if kind == "fused" else (torch.bfloat16,):
                weights = [nn.Parameter(torch.randn(64, 64, device=clock.device, dtype=dtype)) for _ in range(count)]
                for weight in weights:
                    weight.grad = torch.randn_like(weight)
                optimizer = torch.optim.AdamW(weights, lr=1e-5, **flags)
                name = f"AdamW {kind} {str(dtype).rpartition('.')[2]} {count}"
                clock.time("optimizer", name, optimizer.step, calls=1, parameters=count)
    weights = [nn.Parameter(torch.randn(4, device=clock.device)) for _ in range(256)]
    optimizer = torch.optim.AdamW(weights, lr=1e-5)

    def zero():
        for weight in weights:
            weight.grad = weight.data
        optimizer.zero_grad(set_to_none=True)

    def only_set():
        for weight in weights:
            weight.grad = weight.data

    clock.time("optimizer", "zero_grad of 256, gradients set before", zero, calls=1, parameters=256)
    clock.time("optimizer", "gradients of 256 set", only_set, calls=1, parameters=256)


def time_launches(clock):
    """The launch itself, a read back, a synchronisation, graphs and compiled code."""
    x = tensors(clock.device)["x"]
    flat, other = x.view(-1), torch.empty_like(x.view(-1))
    with torch.no_grad():
        clock.time("launch", "copy_ of tiny tensors", lambda: other.copy_(flat))
        clock.time("launch", "add_ in place", lambda: other.add_(1.0))
        clock.time("launch", "item of a result", lambda: (flat.sum() > 0).item(), calls=20)
        clock.time("launch", "synchronize of an empty queue", clock.wait)
        if not clock.smoke:
            time_graphs(clock, other)
        compiled = torch.compile(lambda a, b: F.silu(a) * b + a)
        clock.time("compiled", "call of one compiled kernel", lambda: compiled(x, x), launches=1)


def time_graphs(clock, other):
    for count in (1, 100, 1000):
        stream = torch.cuda.Stream()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(count):
                other.add_(1.0)
        clock.time("graph", f"replay of {count} kernels", graph.replay, calls=1, launches=count)
        clock.time("graph", f"replay of {count} kernels, waited for", lambda: (graph.replay(), clock.wait()), calls=1, launches=count)


def time_generate(clock):
    """A step of `generate` of tiny models with few layers: the slope over layers is a layer's Python, the rest is generate's own."""
    if clock.skips("generate"):
        return
    for class_name, layers_name, sizes in (
            ("LlamaForCausalLM", "num_hidden_layers", dict(vocab_size=256, hidden_size=64, intermediate_size=128, num_attention_heads=4, num_key_value_heads=2)),
            ("GPT2LMHeadModel", "n_layer", dict(vocab_size=256, n_embd=64, n_head=4))):
        for layers in (1, 5):
            name = f"{class_name} of {layers} layers"
            try:
                from hf_models import build
                model = build(class_name, sizes | {layers_name: layers}, clock.device, torch.bfloat16).eval()
                ids = torch.randint(256, (1, 16), device=clock.device)
                time_tiny(clock, name, model, ids)
            except Exception as error:
                clock.fail("generate", name, error)


def time_tiny(clock, name, model, ids):
    def generate(tokens):
        clock.wait()
        start = time.perf_counter()
        model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=tokens, do_sample=False)
        clock.wait()
        return time.perf_counter() - start

    def forwards():
        with torch.no_grad():
            model(ids, use_cache=False)

    def trained():
        model.zero_grad(set_to_none=True)
        model(input_ids=ids, labels=ids).loss.backward()

    generate(4)
    clock.write("generate", name + ", a step", [(generate(36) - generate(4)) / 32 for _ in range(3 if clock.smoke else 8)])
    clock.time("generate", name + ", forward alone", forwards, calls=3)
    model.train()
    clock.time("generate", name + ", forward and backward", trained, calls=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="host.jsonl")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--only", default="", help="names of ops, with commas between")
    parser.add_argument("--smoke", action="store_true")
    clock = Clock(parser.parse_args())
    facts = {"pytorch": torch.__version__, "device": clock.device if clock.smoke else torch.cuda.get_device_name(), "python": sys.version.split()[0]}
    clock.out.write(json.dumps({"schema": "tilewright.run/1", "run": "host", "facts": facts}) + "\n")
    for part in (time_ops, time_modules, time_optimizers, time_launches, time_generate):
        try:
            part(clock)
        except Exception as error:
            clock.fail("part", part.__name__, error)


if __name__ == "__main__":
    main()

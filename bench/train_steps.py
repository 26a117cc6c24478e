#!/usr/bin/env python3
"""Times the shapes of bench/case_studies.json as full training steps in PyTorch: forward, cross-entropy, backward and a
fused AdamW step on a model in bf16, compiled, as a CUDA graph. What does not fit the GPU is timed with two and with
four layers and carried on to all of them. Rounds interleave the shapes, so that a drift of the clock meets all alike.

    python3 bench/train_steps.py --from bench/case_studies.json --out steps.jsonl [--rounds 3] [--budget 540] [--only MODEL]
"""
import argparse
import gc
import json
import time

import torch
import torch._dynamo
from torch import nn
from torch.nn import functional as F

from pytorch_layer import EPSILON, Layer
from pytorch_timing import STREAM, run_line, time_sustained

USABLE = 0.9  # of the memory; the rest is the context's, the allocator's and the compiler's


class Model(nn.Module):
    """Embedding, layers and head of a shape; positions other than rotary are learned."""

    def __init__(self, shape, layers):
        super().__init__()
        hidden = shape["hidden"]
        self.words = nn.Embedding(shape["vocab"], hidden)
        learned = shape["positions"] == "learned"
        self.places = nn.Embedding(shape["position_rows"], hidden) if learned else None
        self.layers = nn.ModuleList(Layer(shape) for _ in range(layers))
        self.norm = (nn.RMSNorm if shape["norm"] == "rms" else nn.LayerNorm)(hidden, eps=EPSILON)
        self.head = nn.Linear(hidden, shape["vocab"], bias=False)
        if shape["tied"]:
            self.head.weight = self.words.weight

    def forward(self, tokens, targets):
        x = self.words(tokens)
        if self.places is not None:
            x = x + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        for layer in self.layers:
            x = layer(x)
        return F.cross_entropy(self.head(self.norm(x)).float().flatten(0, 1), targets.flatten())


def make_step(shape, layers):
    """A function that runs one training step, ready to be captured."""
    torch.manual_seed(0)
    model = Model(shape, layers).to("cuda", torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True, capturable=True)
    tokens = torch.randint(shape["words"], (shape["batch"], shape["seq"]), device="cuda")
    targets = torch.randint(shape["words"], (shape["batch"], shape["seq"]), device="cuda")
    compiled = torch.compile(model)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = compiled(tokens, targets)
        loss.backward()
        optimizer.step()
        return loss

    return step


def time_layers(shape, layers):
    torch._dynamo.reset()
    with torch.cuda.stream(STREAM):
        step = make_step(shape, layers)
    timed = time_sustained(step)
    del step
    gc.collect()
    torch.cuda.empty_cache()
    return timed


def time_step(shape):
    """The whole step where it fits, else the step of two layers and what each further one adds."""
    if shape["memory_bytes"] < USABLE * torch.cuda.get_device_properties(0).total_memory:
        return time_layers(shape, shape["layers"]) | {"extrapolated": False}
    two, four = time_layers(shape, 2), time_layers(shape, 4)
    each = (four["time_us"] - two["time_us"]) / 2
    whole = two["time_us"] + (shape["layers"] - 2) * each
    return four | {"time_us": round(whole, 3), "two_layers_us": two["time_us"], "extrapolated": True}


def sample(case, kind, shape, index):
    line = {"schema": "tilewright.step/1", "model": case["model"], "kind": kind, "round": index,
            "device": torch.cuda.get_device_name()}
    try:
        return line | {"status": "ok"} | time_step(shape)
    except Exception as error:  # one shape that PyTorch refuses must not end the run
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        return line | {"status": "failed", "reason": str(error).splitlines()[0][:200]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="source", default="bench/case_studies.json")
    parser.add_argument("--out", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--budget", type=float, default=540.0, help="seconds; what is left over is not measured")
    parser.add_argument("--only", default="", help="a model's name")
    arguments = parser.parse_args()
    torch._dynamo.config.automatic_dynamic_shapes = False
    cases = [case for case in json.load(open(arguments.source))["cases"] if arguments.only in ("", case["model"])]
    end = time.monotonic() + arguments.budget
    out = open(arguments.out, "a", buffering=1)
    out.write(json.dumps(run_line()[1]) + "\n")
    for case in cases:
        for index in range(arguments.rounds):
            for kind, shape in case["shapes"].items():
                if time.monotonic() > end:
                    return print("the budget is spent; the rest is not measured")
                line = sample(case, kind, shape, index)
                out.write(json.dumps(line) + "\n")
                print(f"{case['model']:14s} {kind:10s} {line.get('time_us', 0) / 1e3:10.2f} ms "
                      f"{line.get('clock_mhz', 0):6.0f} MHz {line.get('reason', '')}", flush=True)


if __name__ == "__main__":
    main()

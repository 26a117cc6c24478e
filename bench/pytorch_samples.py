#!/usr/bin/env python3
"""Samples of what only PyTorch runs here: FlashAttention-2, eager pointwise ops and norms, whole layers eager and
compiled, in the form of docs/samples.md. Shapes are drawn with a fixed seed; a rerun with another seed adds others.

    python3 bench/pytorch_samples.py --out pytorch.jsonl --budget 300 [--seed 1] [--only attention,stream,layer] [--kinds softmax]
"""
import argparse
import random
import time

import torch
import torch._dynamo
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from pytorch_layer import Case
from pytorch_layers import SIZES
from pytorch_timing import Writer

BF16 = torch.bfloat16
PAST_L2 = 180_000_000  # bytes: three times the L2 of an H200


def normal(*size, grad=False):
    return torch.randn(size, device="cuda", dtype=BF16, requires_grad=grad)


def draw_attention(draw):
    head = draw.choice([32, 64, 64, 80, 96, 128, 128, 160, 192, 256, 8 * draw.randint(2, 32)])
    kv_heads = draw.choice([1, 2, 4, 8, 12, 16, 20, 32, 40])
    group = draw.choice([1, 1, 1, 2, 4, 8])
    seq = draw.choice([128, 256, 512, 1024, 2048, 4096, 8192, 16384, draw.randint(128, 8192)])
    batch = draw.choice([1, 1, 2, 4, 8])
    if kv_heads * group > 128 or batch * kv_heads * group * seq * seq * head > 3e11:
        return draw_attention(draw)
    return {"batch": batch, "heads": kv_heads * group, "kv_heads": kv_heads, "q_len": seq, "kv_len": seq, "head_dim": head,
            "causal": draw.choice([0, 1, 1, 1]), "pass": draw.choice(["forward", "backward"]), "backend": "flash2", "dtype": "bf16"}


def attention_op(size):
    backward = size["pass"] == "backward"
    # [batch, tokens, heads, head]: as a joint QKV projection leaves them
    q = normal(size["batch"], size["q_len"], size["heads"], size["head_dim"], grad=backward)
    k, v = (normal(size["batch"], size["kv_len"], size["kv_heads"], size["head_dim"], grad=backward) for _ in range(2))

    def forward():
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            return F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2),
                                                  is_causal=bool(size["causal"]), enable_gqa=size["heads"] != size["kv_heads"])

    if not backward:
        return forward
    o = forward()
    grad = torch.randn_like(o)
    return lambda: torch.autograd.grad(o, (q, k, v), grad, retain_graph=True)


KINDS = ["layernorm", "rmsnorm", "gelu", "residual", "bias", "softmax", "crossentropy"]


def draw_stream(draw):
    kind = draw.choice(KINDS)
    width = draw.choice([768, 1024, 1536, 2048, 2560, 4096, 5120, 8192, 12288, 16384, draw.randint(256, 16384)])
    if kind == "crossentropy":
        width = draw.choice([32000, 50257, 50304, 128256])
    rows = draw.choice([1, 128, 1024, 2048, 4096, 8192, 16384, 32768])
    if rows * width > 6e8:
        return draw_stream(draw)
    passes = ["forward", "backward"] if kind != "residual" else ["forward"]  # going back, a sum launches nothing
    return {"kind": kind, "pass": draw.choice(passes), "form": "eager", "rows": rows, "width": width, "dtype": "bf16"}


def stream_op(size):
    rows, width = size["rows"], size["width"]
    x, y, weight, bias = normal(rows, width, grad=True), normal(rows, width), normal(width, grad=True), normal(width, grad=True)
    targets = torch.randint(0, width, (rows,), device="cuda")
    forward = {
        "layernorm": lambda: F.layer_norm(x, (width,), weight, bias),
        "rmsnorm": lambda: F.rms_norm(x, (width,), weight, 1e-5),
        "gelu": lambda: F.gelu(x, approximate="tanh"),
        "residual": lambda: x + y,
        "bias": lambda: y + bias,
        "softmax": lambda: F.softmax(x, dim=-1),
        "crossentropy": lambda: F.cross_entropy(x, targets),
    }[size["kind"]]
    if size["pass"] == "forward":
        return forward
    wanted = {"layernorm": (x, weight, bias), "rmsnorm": (x, weight), "bias": (bias,)}.get(size["kind"], (x,))
    out = forward()
    grad = torch.randn_like(out)
    return lambda: torch.autograd.grad(out, wanted, grad, retain_graph=True)


def draw_layer(draw):
    head = draw.choice([64, 80, 96, 128])
    heads = draw.choice([8, 12, 16, 20, 24, 32, 40])
    llama = draw.random() < 0.5
    hidden = heads * head
    kv_heads = heads // 4 if llama and heads % 4 == 0 and draw.random() < 0.6 else heads
    seq = draw.choice([512, 1024, 2048, 4096])
    return {"hidden": hidden, "heads": heads, "kv_heads": kv_heads, "head_dim": head,
            "ffn": (hidden * 8 // 3 + 127) // 128 * 128 if llama else 4 * hidden, "mlp": "swiglu" if llama else "gelu",
            "block": draw.choice(["sequential"] * 4 + ["parallel"]), "norm": "rms" if llama else "layer", "phase": "train",
            "batch": max(1, draw.choice([2048, 4096, 8192]) // seq), "seq": seq, "precision": "bf16", "attention": "auto"}


def layer_samples(draw, writer, _):
    shape = draw_layer(draw)
    runtime = draw.choice(["eager", "eager", "eager", "compiled"])
    torch._dynamo.reset()
    case = Case(shape)
    module = torch.compile(case.module) if runtime == "compiled" else case.module
    for train in (True, False):
        named = shape | {"pass": "train" if train else "forward", "runtime": runtime}
        writer.sample("layer", {name: named[name] for name in SIZES}, lambda: case.op(module, train), {"source": "pytorch"})


def attention_samples(draw, writer, _):
    size = draw_attention(draw)
    writer.sample("attention", size, lambda: attention_op(size), {"source": "pytorch"})


def stream_samples(draw, writer, kinds):
    size = draw_stream(draw)
    while size["kind"] not in kinds:
        size = draw_stream(draw)
    tensor = 2 * size["rows"] * size["width"]
    copies = max(2, min(64, PAST_L2 // tensor))
    writer.sample("stream", size, lambda: stream_op(size), {"source": "pytorch"}, copies)


FAMILIES = {"attention": attention_samples, "stream": stream_samples, "layer": layer_samples}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True)
    parser.add_argument("--budget", type=float, default=300.0, help="seconds, shared equally by the families")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="attention,stream,layer")
    parser.add_argument("--kinds", default=",".join(KINDS), help="of streams")
    arguments = parser.parse_args()
    torch._dynamo.config.automatic_dynamic_shapes = False
    writer = Writer(arguments.out)
    names = arguments.only.split(",")
    for name in names:
        draw = random.Random(f"{name} {arguments.seed}")
        end = time.monotonic() + arguments.budget / len(names)
        count = 0
        while time.monotonic() < end:
            try:
                FAMILIES[name](draw, writer, arguments.kinds.split(","))
                count += 1
            except (RuntimeError, torch.OutOfMemoryError) as error:
                print(f"{name}: {str(error).splitlines()[0][:150]}")
            torch.cuda.empty_cache()
        print(f"{name}: {count} shapes", flush=True)


if __name__ == "__main__":
    main()

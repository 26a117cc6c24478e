#!/usr/bin/env python3
"""Whole models in PyTorch, in the bulk form of `tilewright predict model`: what a step takes and the memory it needs.

    python3 bench/pytorch_models.py time   --out models.csv      six models: train, prefill, decode; column measured_us
    python3 bench/pytorch_models.py memory --out memory.csv      ten models, train; column measured_bytes
    python3 bench/pytorch_models.py score FILE.csv --tilewright build/release/tilewright --gpu h200

`score` needs no GPU: it predicts every row and prints how far off it is. Memory is torch.cuda.max_memory_allocated over
two steps; the prediction's allowance for fragmentation, which that does not count, is taken off.
"""
import argparse
import csv
import io
import json
import subprocess

COLUMNS = "hidden heads kv_heads ffn mlp layers vocab block phase batch seq precision runtime attention".split()

# name: hidden, heads, kv_heads, ffn, mlp, layers, vocab
MODELS = {
    "gpt2-medium": (1024, 16, 16, 4096, "gelu", 24, 50304),
    "gpt2-large": (1280, 20, 20, 5120, "gelu", 36, 50304),
    "gpt2-xl": (1600, 25, 25, 6400, "gelu", 48, 50304),
    "gpt3-1.3b": (2048, 16, 16, 8192, "gelu", 24, 50304),
    "gpt3-2.7b": (2560, 20, 20, 10240, "gelu", 32, 50304),
    "gpt3-6.7b": (4096, 32, 32, 16384, "gelu", 32, 50304),
    "llama-3.2-1b": (2048, 32, 8, 8192, "swiglu", 16, 128256),
    "qwen2.5-1.5b": (1536, 12, 2, 8960, "swiglu", 28, 151936),
    "llama-2-7b": (4096, 32, 32, 11008, "swiglu", 32, 32000),
    "llama-3-8b": (4096, 32, 8, 14336, "swiglu", 32, 128256),
}
TIMED = ["gpt3-1.3b", "gpt3-2.7b", "gpt3-6.7b", "llama-3.2-1b", "llama-2-7b", "llama-3-8b"]
BATCH = {"train": 4, "prefill": 4, "decode": 16}


def row_of(name, phase, batch, runtime):
    hidden, heads, kv_heads, ffn, mlp, layers, vocab = MODELS[name]
    return {"model": name, "hidden": hidden, "heads": heads, "kv_heads": kv_heads, "ffn": ffn, "mlp": mlp, "layers": layers,
            "vocab": vocab, "block": "sequential", "phase": phase, "batch": batch, "seq": 2048, "precision": "bf16",
            "runtime": runtime, "attention": "auto", "tied": int(mlp == "gelu")}


class Recipe:
    """A model of bench/pytorch_layer.py's layers with embedding, head, loss and a fused AdamW step."""

    def __init__(self, row):
        import torch
        from torch import nn

        from pytorch_layer import EPSILON, Layer
        self.torch, self.row = torch, row
        torch.manual_seed(0)
        shape = {**row, "head_dim": 0, "norm": "rms" if row["mlp"] == "swiglu" else "layer"}
        norm = nn.RMSNorm if shape["norm"] == "rms" else nn.LayerNorm

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.embedding = nn.Embedding(row["vocab"], row["hidden"])
                learned = row["mlp"] == "gelu"
                self.positions = nn.Parameter(torch.randn(row["seq"], row["hidden"])) if learned else None
                self.layers = nn.ModuleList(Layer(shape) for _ in range(row["layers"]))
                self.norm = norm(row["hidden"], eps=EPSILON)
                self.head = nn.Linear(row["hidden"], row["vocab"], bias=False)
                if row["tied"]:
                    self.head.weight = self.embedding.weight

            def forward(self, tokens):
                x = self.embedding(tokens)
                if self.positions is not None:
                    x = x + self.positions[: tokens.shape[1]]
                for layer in self.layers:
                    x = layer(x)
                return self.head(self.norm(x))

        self.module = Model().to("cuda", torch.bfloat16)
        self.forward = torch.compile(self.module) if row["runtime"] == "compiled" else self.module
        self.tokens = torch.randint(row["vocab"], (row["batch"], row["seq"]), device="cuda")
        self.optimizer = torch.optim.AdamW(self.module.parameters(), lr=1e-5, fused=True, capturable=True)

    def train(self):
        logits = self.forward(self.tokens)
        loss = self.torch.nn.functional.cross_entropy(logits.flatten(0, 1).float(), self.tokens.flatten())
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)

    def prefill(self):
        with self.torch.no_grad():
            return self.forward(self.tokens)


def decode_op(recipe):
    """One token over a cache of `seq`: the layers of the model with their keys and values given."""
    torch, row, module = recipe.torch, recipe.row, recipe.module
    from torch.nn import functional as F
    head = module.layers[0].head
    size = (row["batch"], row["kv_heads"], row["seq"], head)
    cache = [tuple(torch.randn(size, device="cuda", dtype=torch.bfloat16) for _ in "kv") for _ in module.layers]
    tokens = recipe.tokens[:, :1]

    def step(token):
        x = module.embedding(token)
        for layer, (keys, values) in zip(module.layers, cache):
            q, k, v = layer.qkv(layer.norm1(x)).split([layer.q_width, layer.kv_width, layer.kv_width], dim=-1)
            q, k, v = (part.view(row["batch"], 1, -1, head).transpose(1, 2) for part in (q, k, v))
            keys[:, :, -1:], values[:, :, -1:] = k, v
            o = F.scaled_dot_product_attention(q, keys, values, enable_gqa=row["heads"] != row["kv_heads"])
            x = x + layer.proj(o.transpose(1, 2).reshape(row["batch"], 1, layer.q_width))
            x = x + layer.mlp(layer.norm2(x))
        return module.head(module.norm(x))

    compiled = torch.compile(step) if row["runtime"] == "compiled" else step

    def op():
        with torch.no_grad():
            return compiled(tokens)

    return op


def time_models(writer, runtime):
    import torch

    from pytorch_timing import STREAM, time_sustained
    for name in TIMED:
        for phase in BATCH:
            row = row_of(name, phase, BATCH[phase], runtime)
            try:
                with torch.cuda.stream(STREAM):
                    recipe = Recipe(row)
                    op = decode_op(recipe) if phase == "decode" else getattr(recipe, phase)
                row["measured_us"] = time_sustained(op)["time_us"]
                del op, recipe
            except RuntimeError as error:  # out of memory, or a graph that cannot be captured
                row["reason"] = str(error).splitlines()[0][:200]
            writer.writerow(row)
            torch.cuda.empty_cache()


def memory_of_models(writer, runtime):
    import torch
    for name in MODELS:
        row = row_of(name, "train", BATCH["train"], runtime)
        torch.cuda.reset_peak_memory_stats()
        try:
            recipe = Recipe(row)
            for _ in range(2):
                recipe.train()
            torch.cuda.synchronize()
            row["measured_bytes"] = torch.cuda.max_memory_allocated()
            del recipe
        except RuntimeError as error:
            row["reason"] = str(error).splitlines()[0][:200]
        writer.writerow(row)
        torch.cuda.empty_cache()


def flags_of(row):
    flags = []
    for column in ("hidden", "heads", "kv_heads", "ffn", "layers", "vocab", "phase", "batch", "seq", "runtime"):
        flags += ["--" + column.replace("_", "-"), row[column]]
    return flags


def score(path, program, gpu):
    errors = []
    for row in csv.DictReader(open(path)):
        answer = subprocess.run([program, "predict", row["model"], "--gpu", gpu, "--json", *flags_of(row)],
                                capture_output=True, text=True, check=True)
        prediction = json.load(io.StringIO(answer.stdout))
        memory = prediction["memory"]
        for column, value in (("measured_us", prediction["time_s"] * 1e6),
                              ("measured_bytes", memory["total_bytes"] - memory["fragmentation_bytes"])):
            if row.get(column):
                error = value / float(row[column]) - 1
                errors.append(abs(error))
                print(f"{row['model']:14s} {row['phase']:8s} {column:15s} {float(row[column]):14.4g} predicted {value:14.4g}"
                      f" {100 * error:+6.1f}%")
    if errors:
        print(f"{len(errors)} rows, mean {100 * sum(errors) / len(errors):.1f}%, worst {100 * max(errors):.1f}%")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["time", "memory", "score"])
    parser.add_argument("file", nargs="?")
    parser.add_argument("--out")
    parser.add_argument("--runtime", default="compiled", choices=["eager", "compiled"])
    parser.add_argument("--tilewright", default="tilewright")
    parser.add_argument("--gpu", default="h200")
    arguments = parser.parse_args()
    if arguments.what == "score":
        return score(arguments.file, arguments.tilewright, arguments.gpu)
    with open(arguments.out, "w", newline="", buffering=1, encoding="utf-8") as out:
        writer = csv.DictWriter(out, ["model", *COLUMNS, "tied", "measured_us", "measured_bytes", "reason"])
        writer.writeheader()
        {"time": time_models, "memory": memory_of_models}[arguments.what](writer, arguments.runtime)


if __name__ == "__main__":
    main()

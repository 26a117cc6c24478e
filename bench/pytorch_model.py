"""A whole model as a shape describes it (the `shape` of `tilewright predict --json`), of bench/pytorch_layer.py's layers:
its training step with cross-entropy and a fused AdamW in bf16, a prefill, and a decode step over a full cache. Compiled
means every layer and the head with its loss by torch.compile; layers share their compiled code."""
import torch
from torch import nn
from torch.nn import functional as F

from pytorch_layer import EPSILON, Layer, turn


class Model(nn.Module):
    """Embedding, layers and head of a shape; positions other than learned ones are its layers' business."""

    def __init__(self, shape, layers, compiled):
        super().__init__()
        hidden = shape["hidden"]
        self.words = nn.Embedding(shape["vocab"], hidden)
        learned = shape["positions"] == "learned"
        self.places = nn.Embedding(shape["position_rows"], hidden) if learned else None
        self.layers = nn.ModuleList(Layer(shape, joint_gate=False) for _ in range(layers))
        self.norm = (nn.RMSNorm if shape["norm"] == "rms" else nn.LayerNorm)(hidden, eps=EPSILON)
        self.head = nn.Linear(hidden, shape["vocab"], bias=shape["bias_head"])
        if shape["tied"]:
            self.head.weight = self.words.weight
        self.compiled = torch.compile if compiled else lambda function: function
        if compiled:
            for layer in self.layers:
                layer.compile()

    def logits(self, x):
        return self.head(self.norm(x))

    def loss(self, x, targets):
        return F.cross_entropy(self.logits(x).float().flatten(0, 1), targets.flatten())

    def embed(self, tokens):
        x = self.words(tokens)
        return x if self.places is None else x + self.places(torch.arange(tokens.shape[1], device=tokens.device))

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return x


def make_model(shape, layers=None, compiled=True):
    """A model on the GPU with the same random weights each time, and tokens for it."""
    torch.manual_seed(0)
    with torch.device("cuda"):
        model = Model(shape, layers or shape["layers"], compiled)
        for table in (model.words, model.places):
            if table is not None:  # as models start out; wide values would give one-hot gradients that draw less power
                nn.init.normal_(table.weight, std=0.02)
        model = model.to(torch.bfloat16)
    tokens = torch.randint(shape.get("words", shape["vocab"]), (shape["batch"], shape["seq"]), device="cuda")
    return model, tokens


def train_step(shape, layers=None, compiled=True):
    """A function that runs one training step."""
    model, tokens = make_model(shape, layers, compiled)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True, capturable=True)
    loss_of = model.compiled(model.loss)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(model(tokens), tokens)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def prefill_step(shape, compiled=True):
    """A function that runs a prompt through the model and gives the logits of every token."""
    model, tokens = make_model(shape, None, compiled)
    logits_of = model.compiled(model.logits)

    def step():
        with torch.no_grad():
            return logits_of(model(tokens))

    return step


def decode_layer(layer, x, keys, values):
    """One token through a layer whose last key and value it writes."""
    batch = x.shape[0]
    normed = layer.norm1(x)
    q, k, v = layer.qkv(normed).split([layer.q_width, layer.kv_width, layer.kv_width], dim=-1)
    q, k, v = (part.view(batch, 1, -1, layer.head).transpose(1, 2) for part in (q, k, v))
    if layer.rotary:
        q, k = (turn(part, layer.cosine[-1:], layer.sine[-1:]) for part in (q, k))
    keys[:, :, -1:], values[:, :, -1:] = k, v
    o = F.scaled_dot_product_attention(q, keys, values, enable_gqa=layer.q_width != layer.kv_width)
    attended = layer.proj(o.transpose(1, 2).reshape(batch, 1, layer.q_width))
    if layer.parallel:
        return x + attended + layer.mlp(normed if layer.norm2 is None else layer.norm2(x))
    x = x + attended
    return x + layer.mlp(layer.norm2(x))


def decode_step(shape, compiled=True):
    """A function that runs one token of every sequence through the model, over a cache of the shape's `seq` tokens."""
    model, tokens = make_model(shape, None, False)
    size = (shape["batch"], shape["kv_heads"], shape["seq"], model.layers[0].head)
    caches = [[torch.randn(size, device="cuda", dtype=torch.bfloat16) for _ in "kv"] for _ in model.layers]
    wrap = torch.compile if compiled else lambda function: function
    layer_of, logits_of = wrap(decode_layer), wrap(model.logits)

    def step():
        with torch.no_grad():
            x = model.embed(tokens[:, :1])
            for layer, (keys, values) in zip(model.layers, caches):
                x = layer_of(layer, x, keys, values)
            return logits_of(x)

    return step

"""The decoder of the quality study, of any shape: rotary positions, RMS norm, no biases, untied head, a plain (GELU) or
gated (SwiGLU) MLP, attention and MLP one after the other or side by side.

Weights start at 0.4/sqrt(fan in), the two that write to the residual stream at 1/sqrt(2 layers) of that, tables at 0.02.
The learning rate is given for a width of 384; matrices take it times 384/hidden (as maximal update parametrization
has it for Adam), tables and gains as it is. Decay per step (learning rate times 0.1 at width 384) is the same for every matrix,
none for tables and gains."""
import math

import torch
from torch import nn
from torch.nn import functional as F

from runs import parameters_outside_embeddings

EPSILON = 1e-5
BASE_HIDDEN = 384
DECAY = 0.1
ROTARY_BASE = 10000.0


def rotary_tables(sequence, head_dim, device):
    angles = torch.outer(torch.arange(sequence, dtype=torch.float32),
                         ROTARY_BASE ** (-torch.arange(0, head_dim, 2, dtype=torch.float32) / head_dim))
    return angles.cos().to(device), angles.sin().to(device)


def turned(x, cosine, sine):
    first, second = x.float().chunk(2, dim=-1)
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1).to(x.dtype)


class Norm(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(hidden))

    def forward(self, x):
        x = x.float()
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + EPSILON) * self.gain


def matrix(inputs, outputs, scale=1.0):
    made = nn.Linear(inputs, outputs, bias=False)
    nn.init.normal_(made.weight, std=0.4 * scale / math.sqrt(inputs))
    return made


class Block(nn.Module):
    def __init__(self, shape):
        super().__init__()
        hidden, ffn = shape["hidden"], shape["ffn"]
        self.heads, self.kv_heads, self.head_dim = shape["heads"], shape["kv_heads"], shape["head_dim"]
        self.gated, self.parallel = shape["mlp"] == "swiglu", shape["block"] == "parallel"
        into = 1 / math.sqrt(2 * shape["layers"])
        self.norm = Norm(hidden)
        self.qkv = matrix(hidden, (self.heads + 2 * self.kv_heads) * self.head_dim)
        self.out = matrix(self.heads * self.head_dim, hidden, into)
        if not self.parallel:
            self.mlp_norm = Norm(hidden)
        self.up = matrix(hidden, 2 * ffn if self.gated else ffn)
        self.down = matrix(ffn, hidden, into)

    def attend(self, x, cosine, sine):
        batch, sequence, _ = x.shape
        sizes = [self.heads, self.kv_heads, self.kv_heads]
        q, k, v = self.qkv(x).view(batch, sequence, sum(sizes), self.head_dim).transpose(1, 2).split(sizes, dim=1)
        q, k = turned(q, cosine, sine), turned(k, cosine, sine)
        if self.kv_heads != self.heads:
            k, v = (t.repeat_interleave(self.heads // self.kv_heads, dim=1) for t in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, sequence, self.heads * self.head_dim))

    def mlp(self, x):
        x = self.up(x)
        if self.gated:
            gate, x = x.chunk(2, dim=-1)
            return self.down(F.silu(gate) * x)
        return self.down(F.gelu(x))

    def forward(self, x, cosine, sine):
        y = self.norm(x)
        if self.parallel:
            return x + self.attend(y, cosine, sine) + self.mlp(y)
        x = x + self.attend(y, cosine, sine)
        return x + self.mlp(self.mlp_norm(x))


class Head(nn.Module):
    """The last norm, the logits and their mean cross-entropy."""

    def __init__(self, hidden, words):
        super().__init__()
        self.norm = Norm(hidden)
        self.logits = matrix(hidden, words)

    def forward(self, x, targets):
        return F.cross_entropy(self.logits(self.norm(x)).float().flatten(0, 1), targets.flatten())


class Decoder(nn.Module):
    def __init__(self, shape, sequence, device):
        super().__init__()
        self.words = nn.Embedding(shape["vocab"], shape["hidden"])
        nn.init.normal_(self.words.weight, std=0.02)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape["layers"]))
        self.head = Head(shape["hidden"], shape["vocab"])
        self.tables = rotary_tables(sequence, shape["head_dim"], device)
        self.to(device)
        made = sum(weight.numel() for weight in self.parameters()) - 2 * self.words.weight.numel()
        assert made == parameters_outside_embeddings(shape), (made, shape)

    def compile_parts(self):
        """Blocks share one compiled code; compiling the whole model would take longer than training it."""
        for part in (*self.blocks, self.head):
            part.compile(dynamic=False)

    def forward(self, tokens, targets):
        x = self.words(tokens)
        for block in self.blocks:
            x = block(x, *self.tables)
        return self.head(x, targets)

    def weight_groups(self, hidden):
        """Groups for AdamW; `lr_scale` is what the schedule's learning rate is multiplied with."""
        matrices = [weight for part in (self.blocks, self.head) for weight in part.parameters() if weight.dim() == 2]
        others = [self.words.weight, *(weight for weight in self.parameters() if weight.dim() == 1)]
        scale = BASE_HIDDEN / hidden
        return [{"params": matrices, "lr_scale": scale, "weight_decay": DECAY / scale},
                {"params": others, "lr_scale": 1.0, "weight_decay": 0.0}]

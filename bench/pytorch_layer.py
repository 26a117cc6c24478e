"""The layer of tilewright-measure's `layer` op, written as one would in PyTorch: joint QKV and gate/up projections,
F.scaled_dot_product_attention with its default choice of kernel, tanh GELU or SwiGLU, no dropout. Whole models take gate
and up apart, as Hugging Face's do."""
import torch
from torch import nn
from torch.nn import functional as F

EPSILON = 1e-5


def turn(x, cosine, sine):
    first, second = x.chunk(2, dim=-1)
    return x * cosine + torch.cat((-second, first), dim=-1) * sine


class Layer(nn.Module):
    def __init__(self, shape, joint_gate=True):
        super().__init__()
        self.shape = shape
        hidden, heads, kv_heads = shape["hidden"], shape["heads"], shape["kv_heads"]
        self.head = shape["head_dim"] or hidden // heads
        self.q_width, self.kv_width = heads * self.head, kv_heads * self.head
        self.gated = shape["mlp"] == "swiglu"
        self.parallel = shape["block"] == "parallel"
        biased = not self.gated  # what a shape does not say is as tilewright-measure's layer has it
        self.rotary = shape.get("positions", "rotary" if self.gated else "none") == "rotary"
        norms = shape.get("norms_per_layer", 1 if self.parallel else 2)
        self.norm1 = self.make_norm(shape)
        self.norm2 = self.make_norm(shape) if norms > 1 else None
        mlp_bias = shape.get("bias_mlp", biased)
        self.qkv = nn.Linear(hidden, self.q_width + 2 * self.kv_width, bias=shape.get("bias_qkv", biased))
        self.proj = nn.Linear(self.q_width, hidden, bias=shape.get("bias_projection", biased))
        apart = self.gated and not joint_gate
        self.gate = nn.Linear(hidden, shape["ffn"], bias=mlp_bias) if apart else None
        self.up = nn.Linear(hidden, shape["ffn"] * (2 if self.gated and joint_gate else 1), bias=mlp_bias)
        self.down = nn.Linear(shape["ffn"], hidden, bias=mlp_bias)
        if self.rotary:
            rate = 10000.0 ** (-torch.arange(0, self.head, 2, dtype=torch.float64) / self.head)
            angle = torch.outer(torch.arange(shape["seq"], dtype=torch.float64), rate).repeat(1, 2)
            self.register_buffer("cosine", angle.cos().float(), persistent=False)
            self.register_buffer("sine", angle.sin().float(), persistent=False)

    @staticmethod
    def make_norm(shape):
        kind = nn.RMSNorm if shape["norm"] == "rms" else nn.LayerNorm
        return kind(shape["hidden"], eps=EPSILON)

    def attend(self, x):
        batch, seq, _ = x.shape
        q, k, v = self.qkv(x).split([self.q_width, self.kv_width, self.kv_width], dim=-1)
        q, k, v = (part.view(batch, seq, -1, self.head).transpose(1, 2) for part in (q, k, v))
        if self.rotary:
            q, k = turn(q, self.cosine, self.sine), turn(k, self.cosine, self.sine)
        grouped = self.q_width != self.kv_width
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=grouped)
        return self.proj(o.transpose(1, 2).reshape(batch, seq, self.q_width))

    def mlp(self, x):
        u = self.up(x)
        if not self.gated:
            return self.down(F.gelu(u, approximate="tanh"))
        gate, up = u.chunk(2, dim=-1) if self.gate is None else (self.gate(x), u)
        return self.down(F.silu(gate) * up)

    def forward(self, x):
        n = self.norm1(x)
        if self.parallel:
            return x + self.attend(n) + self.mlp(n if self.norm2 is None else self.norm2(x))
        x = x + self.attend(n)
        return x + self.mlp(self.norm2(x))


class Case:
    """A layer with its input and the gradient of its output, and what is timed of it."""

    def __init__(self, shape):
        torch.manual_seed(0)
        self.module = Layer(shape).to("cuda", torch.bfloat16)
        size = (shape["batch"], shape["seq"], shape["hidden"])
        self.x = torch.randn(size, device="cuda", dtype=torch.bfloat16, requires_grad=True)
        self.grad_y = torch.randn(size, device="cuda", dtype=torch.bfloat16)

    def op(self, module, train):
        wanted = [self.x, *self.module.parameters()]

        def forward():
            return module(self.x)

        def both():
            return torch.autograd.grad(module(self.x), wanted, self.grad_y)

        return both if train else forward

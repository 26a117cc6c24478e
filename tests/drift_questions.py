"""What is asked of the program: {family: [Question, ...]}. Every question is made here, by the same arithmetic every time."""
import random
from typing import NamedTuple

DEVICES = ["h200", "a100-80-sxm", "b200", "h100-sxm", "v100-sxm2", "l40s", "mi250x", "rtx-4090", "rtx-pro-6000", "a10", "t4", "mi300x"]
MODELS = ["gpt3-2.7b", "llama-3-8b", "gpt2", "mixtral-8x7b", "pythia-6.9b", "gemma-2-9b", "falcon-7b", "deepseek-v2-lite",
          "qwen2.5-0.5b", "opt-350m", "bloom-7b1", "phi-2", "gpt-neox-20b", "llama-2-70b", "mistral-7b", "gpt3-13b", "gpt-j-6b",
          "deepseek-v3", "llama-30b", "phi-3-mini", "gemma-2b", "gpt3-760m"]
EXPERIMENTS = ["gemm-sizes", "bmm-sizes", "tile-quantization", "wave-quantization", "score-alignment", "value-heads", "qkv", "mlp-down",
               "library-cliff", "vocabulary-reduced", "hidden-output", "layer-norm", "flash-attention", "layer-share", "layer-2.7b",
               "layer-2.7b-fused", "layer-width", "swiglu-width", "parallel-layers", "positions", "pythia-latency", "six-gpus", "gpus",
               "alignment-output"]
WORKLOADS = [
    "", "--phase prefill --batch 1 --seq 777", "--phase decode --batch 16", "--phase decode --batch 1 --seq 8192 --runtime eager",
    "--runtime compiled", "--runtime ideal --clock burst", "--tp 8 --sequence-parallel", "--tp 2 --pp 2 --dp 4 --zero 1 --micro-batches 8",
    "--recompute full --master fp32", "--recompute selective --batch 7 --seq 1000", "--attention unfused", "--attention flash2 --precision fp16",
    "--scope layer --phase prefill", "--precision fp8", "--precision tf32 --batch 1", "--tp 2 --overlap none", "--cp 2 --seq 16384 --batch 1",
    "--phase prefill --tp 4 --clock burst", "--dp 16 --zero 3 --recompute early", "--window 512 --seq 4096", "--phase decode --kv-len 3001 --tp 2"]
OVERRIDES = ["", "--vocab 50304", "--ffn 10922", "--layers 32 --tied no", "--mlp swiglu --norm rms", "--vocab 50257"]
RESHAPED = [f"{shape} --gpu {device}" for device in ("h200", "mi250x", "rtx-4090") for shape in (
    "gpt3-2.7b --heads 20", "gpt3-2.7b --hidden 2500 --heads 25 --ffn 10000", "llama-3-8b --block parallel --kv-heads 1",
    "gpt2 --positions alibi --position-rows 0", "llama-3-8b --window 100 --phase decode", "gpt2 --tp 3", "gpt2 --tp 5")]


class Question(NamedTuple):
    arguments: list
    table: str = ""  # given on stdin

    @property
    def name(self):
        return " ".join(self.arguments)


class Draw:
    """Choices that are the same on every machine and in every Python."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def one_of(self, choices):
        return choices[int(self.random.random() * len(choices))]

    def size(self, low, high):
        """Log-uniform; half of them round, as sizes in models are."""
        value = int(low * (high / low) ** self.random.random())
        step = self.one_of([1, 1, 8, 64, 128])
        return max(low, value // step * step)


def table(columns, rows):
    return "\n".join(",".join(str(cell) for cell in row) for row in [columns, *rows]) + "\n"


PRECISIONS = ["bf16", "bf16", "bf16", "fp16", "fp8", "tf32", "fp32"]
CLOCKS = ["sustained", "sustained", "burst"]


def gemm(draw):
    batch = draw.one_of([1, 1, 1, draw.size(2, 512)])
    most = 32768 if batch == 1 else 2048
    return [draw.one_of(["TN", "NN", "NT"]), draw.size(1, most), draw.size(1, most), draw.size(8, most), batch, draw.one_of(PRECISIONS), draw.one_of(CLOCKS)]


def attention(draw):
    groups, kv_heads = draw.one_of([1, 1, 4, 8]), draw.one_of([1, 4, 8, 12, 17])
    keys = draw.size(1, 16384)
    queries = draw.one_of([keys, keys, 1, draw.size(1, keys)])
    return [draw.one_of([1, 2, 4, 7, 16]), groups * kv_heads, kv_heads, queries, keys, draw.one_of([32, 64, 80, 96, 100, 128, 160, 256]), draw.one_of([0, 1, 1]),
            draw.one_of(["forward", "backward"]), draw.one_of(["auto", "auto", "cudnn", "flash2", "flash1", "unfused"]), draw.one_of(PRECISIONS[:4]), draw.one_of(CLOCKS)]


def shape(draw):
    tp = draw.one_of([1, 1, 1, 2, 4])
    heads = draw.one_of([4, 8, 12, 16, 20, 32, 40])
    head_dim = draw.one_of([40, 64, 80, 96, 100, 128])
    kv_heads = draw.one_of([heads, heads, 4])
    ffn = tp * draw.size(256, 16384 // tp)
    phase = draw.one_of(["train", "train", "prefill", "decode"])
    return [heads * head_dim, heads, kv_heads, ffn, draw.one_of(["gelu", "swiglu"]), draw.one_of([2, 12, 24, 31]), tp * draw.size(1000, 60000 // tp),
            draw.one_of(["sequential", "sequential", "parallel"]), phase, draw.one_of([1, 2, 4, 7, 16]), draw.size(128, 4096), draw.one_of(PRECISIONS),
            draw.one_of(["eager", "compiled", "ideal"]), draw.one_of(["auto", "auto", "cudnn", "flash2", "unfused"]), head_dim, tp,
            draw.one_of(["rotary", "learned", "alibi", "none"]), draw.one_of(CLOCKS)]


GEMM = "layout,m,n,k,batch,dtype,clock".split(",")
ATTENTION = "batch,heads,kv_heads,q_len,kv_len,head_dim,causal,pass,backend,dtype,clock".split(",")
SHAPE = "hidden,heads,kv_heads,ffn,mlp,layers,vocab,block,phase,batch,seq,precision,runtime,attention,head_dim,tp,positions,clock".split(",")


def bulk(kind, columns, make, rows):
    """A file of that many rows for each device."""
    for seed, device in enumerate(DEVICES):
        draw = Draw(seed)
        yield Question(["predict", kind, "--gpu", device, "--from", "-", "--keep-going"], table(columns, (make(draw) for _ in range(rows))))


def spread(verb, count, *tails):
    """`count` questions: models and devices by turns, the k-th tail's words by different steps so that all meet."""
    for i in range(count):
        words = [verb, MODELS[i % len(MODELS)], "--gpu", DEVICES[(i * 5 + i // len(DEVICES)) % len(DEVICES)], "--json"]
        for step, tail in enumerate(tails):
            words += tail[(i * (step + 1) + i // len(tail)) % len(tail)].split()
        yield Question(words)


def asked(verb, lines):
    return [Question([verb, *line.split(), "--json"]) for line in lines]


def plans():
    for i, model in enumerate(["llama-3-70b", "gpt3-175b", "llama-3-8b", "mixtral-8x7b", "deepseek-v3", "gpt3-6.7b"]):
        cluster = ["dgx-h100", "dgx-a100", "dgx-h200", "aws-p5", "gb200-nvl72", "dgx-a100-40"][i]
        yield f"{model} --cluster {cluster} --gpus {64 * (i + 1)} --global-batch 4M-tokens --seq 4096 --keep 3"
        yield f"{model} --cluster {cluster} --gpus 96 --global-batch 480 --runtime compiled --price 2.5 --keep 2"
        yield f"{model} --cluster {cluster} --phase decode --seq 4096"
        yield f"{model} --cluster {cluster} --phase prefill --seq 2000 --precision fp8"


SEARCHES = [
    "gpt3-2.7b --gpu h200", "gpt3-2.7b --gpu a100-80-sxm --keep 2", "llama-2-7b --ffn 10922 --only ffn --step ffn=1 --gpu h200 --keep 3",
    "gpt3-1.3b --gpu h100:0.5,a100:0.3,l40s:0.2 --fix hidden,layers --heads 8..32 --keep 2", "gpt3-2.7b --gpu v100 --precision fp16 --tp 6 --step ffn=96 --keep 1",
    "gpt2 --gpu h200 --mlp gelu,swiglu --block sequential,parallel --batch 4,8 --step ffn=64 --keep 1", "gpt2 --gpu h200 --time 60ms --limit 100000 --keep 1",
    "gpt3-1.3b --gpu b200 --params 1.5b+-2% --fix hidden --keep 1", "llama-3-8b --gpu mi250x --phase decode --batch 16 --keep 2", "pythia-410m --gpu rtx-4090 --keep 2",
    "opt-125m --gpu t4 --keep 1 --step ffn=64", "qwen2.5-0.5b --gpu l40s --phase prefill --keep 2", "gpt2-xl --gpu h100-sxm --runtime compiled --keep 2",
    "phi-2 --gpu h200 --memory 40g --limit 100000 --keep 1", "falcon-7b --gpu a10 --limit 50000 --keep 1", "mixtral-8x7b --gpu b200 --only ffn --keep 2"]

COMPARISONS = [
    "gpt3-2.7b --heads 20 --gpu a100-80-sxm", "gpt2 gpt2-medium gpt2-large --gpu l40s", "llama-3-8b mistral-7b qwen2.5-14b --gpu h200 --phase decode --batch 8",
    "pythia-2.8b phi-2 opt-2.7b --gpu h100-sxm --runtime compiled", "mixtral-8x7b llama-30b --gpu b200 --phase prefill", "gpt3-13b --hidden 5120 --gpu v100-sxm2",
    "llama-7b --mlp gelu --gpu mi300x --tp 2", "deepseek-v2-lite gemma-7b --gpu h200 --precision fp8", "bloom-7b1 gpt-j-6b --gpu rtx-pro-6000 --clock burst"]


def all_questions():
    return {
        "gemm": list(bulk("gemm", GEMM, gemm, 120)),
        "attention": list(bulk("attention", ATTENTION, attention, 70)),
        "layer": list(bulk("layer", SHAPE, shape, 60)),
        "model": list(bulk("model", SHAPE, shape, 60)),
        "predict": list(spread("predict", 132, WORKLOADS, OVERRIDES)) + asked("predict", RESHAPED),
        "lint": list(spread("lint", 132, [w for w in WORKLOADS if "--scope" not in w], OVERRIDES)) + asked("lint", RESHAPED),
        "advise": list(spread("advise", 24, ["", "--phase decode --batch 16", "--runtime compiled", "--phase prefill", "--tp 2"])),
        "compare": asked("compare", COMPARISONS),
        "search": asked("search", SEARCHES),
        "plan": asked("plan", plans()),
        "report": asked("report", ["gpt2 --gpu h200", "llama-3-8b --gpu a100-80-sxm --phase decode", "gpt3-1.3b --gpu l40s --runtime compiled"]),
        "reproduce": asked("reproduce", [f"{name} --gpu {gpu}" for name in EXPERIMENTS for gpu in ("h200", "a100-80-sxm")]),
        "device": asked("devices", DEVICES),
    }

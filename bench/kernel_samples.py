#!/usr/bin/env python3
"""Makes stream samples (docs/samples.md) of the kernels that bench/pytorch_kernels.py saw: tables say by the words in a
kernel's name what it does. What is one call to the lowering is one sample: a norm's gradients with the sums of their
parts, a sum over rows with its second stage, the sort and the sums of an embedding's gradient, all launches of AdamW.
Their clock is the step's, so they count as quick ones, which are compared at the clock that was read.

    python3 bench/kernel_samples.py kernels.jsonl > pytorch-compiled.jsonl
"""
import json
import re
import sys

ELEMENT = 2  # bytes
FASTEST = 4.8e6  # bytes a microsecond, by the data sheet; what seems faster was not told apart rightly
GAP_US = 0.15  # of each kernel, what a profile's times leave out: the median of (step - their sum) / kernels at the top clock


class Step:
    """One line: the shape, its kernels and the samples made of them."""

    def __init__(self, line):
        self.line, self.shape, self.samples = line, line["shape"], []
        self.scattered = False  # the embedding's gradients
        self.phase = self.shape.get("phase", "train")
        self.tokens = self.shape["batch"] * (1 if self.phase == "decode" else self.shape["seq"])
        self.query, self.key = (self.shape[name] * self.shape["head_dim"] for name in ("heads", "kv_heads"))
        self.norm = self.shape["norm"] + "norm"
        self.twins = self.shape["norms_per_layer"] if self.shape["block"] == "parallel" else 1  # norms of one tensor

    def parameters(self):
        s = self.shape
        hidden, ffn, joint = s["hidden"], s["ffn"], self.query + 2 * self.key
        matrices = hidden * (joint + self.query) + hidden * ffn * (3 if s["mlp"] == "swiglu" else 2)
        biases = joint * s["bias_qkv"] + hidden * s["bias_projection"] + (ffn + hidden) * s["bias_mlp"]
        norms = (s["norms_per_layer"] + 1) * hidden * (2 if s["norm"] == "layer" else 1)
        tables = s["vocab"] * hidden * (1 if s["tied"] else 2) + (s["position_rows"] * hidden if s["positions"] == "learned" else 0)
        return matrices + biases + norms + tables

    def add(self, what, width, tensors, time):
        """Opens a sample of `tensors` of tokens * width read or written."""
        kind, direction = what.split()
        self.samples.append({"kind": kind, "pass": direction, "rows": self.tokens, "width": width,
                             "bytes": ELEMENT * tensors * self.tokens * width, "time_us": time + GAP_US, "kernels": 1})

    def last(self, what):
        """The last sample of that kind, if there is one."""
        return next((s for s in reversed(self.samples) if f"{s['kind']} {s['pass']}" == what), None)

    def more(self, what, time):
        """A further kernel of that sample."""
        if sample := self.last(what):
            sample["time_us"] += time + GAP_US
            sample["kernels"] += 1

    def join(self, what, width, tensors, time):
        """A kernel of the step's one sample of that kind."""
        if self.last(what):
            return self.more(what, time)
        self.add(what, width, tensors, time)


def norm_forward(step, name, time):
    step.add(f"{step.norm} forward", step.shape["hidden"], 3 if "_add_" in name else 1 + step.twins, time)


def norm_backward(step, name, time):
    """Gradients of inputs and weights are spread over kernels in several ways: all of a step are one sample, the mean."""
    if step.last(f"{step.norm} backward"):
        return step.more(f"{step.norm} backward", time)
    parallel = step.shape["block"] == "parallel"
    norms = [3, 3 + step.twins] if parallel else [3, 4, 4]  # the first is the final norm, which reads no stream
    step.add(f"{step.norm} backward", step.shape["hidden"], sum(norms) / len(norms), time)
    step.samples[-1]["of"] = len(norms)


def inner(step, what, tensors, time):
    if step.shape["ffn"] % 8 == 0:  # else copies into padded operands are in the same kernels
        step.add(what, step.shape["ffn"], tensors, time)


FORMS = {"adamw": "fused", "embedding": "eager"}  # of what torch.compile leaves to PyTorch
TABLES = [
    (r"multi_tensor_apply.*FusedAdam|FusedOptimizerTensorList", lambda s, n, t: adamw(s, t)),
    (r"vectorized_gather_kernel|_scatter_gather_elementwise|indexSelect", lambda s, n, t: look_up(s, t)),
    (r"arange_cuda|radix_sort|unique_by_key|detail::scan|krn_partial|num_of_partial|compute_grad_weight|sum_and_scatter|"
     r"embedding_backward_feature", lambda s, n, t: scatter(s, t)),
]
COMPILED_RULES = TABLES + [
    (r"triton.*norm_backward|reduce_kernel.*ReduceOp<float", norm_backward),
    (r"triton_(per|red).*norm", norm_forward),
    (r"triton_poi.*norm", lambda s, n, t: s.more(f"{s.norm} forward", t)),  # of narrow rows, into padded operands
    (r"triton_red.*gelu_backward.*sum", lambda s, n, t: inner(s, "bias backward", 1, t)),
    (r"triton_red.*cat.*sum", lambda s, n, t: s.add("bias backward", s.query + 2 * s.key, 1, t)),
    (r"triton_red_fused_sum", lambda s, n, t: s.add("bias backward", 0, 1, t)),  # the name does not tell which: name_sums
    (r"triton_per.*sum", lambda s, n, t: s.more("bias backward", t)),
    (r"triton_poi.*gelu_backward", lambda s, n, t: inner(s, "gelu backward", 3, t)),
    (r"triton_poi.*silu_backward", lambda s, n, t: inner(s, "swiglu backward", 5, t)),
    (r"triton_poi.*gelu", lambda s, n, t: inner(s, "gelu forward", 2, t)),
    (r"triton_poi.*silu", lambda s, n, t: inner(s, "swiglu forward", 3, t)),
    (r"triton_poi.*cat.*neg", lambda s, n, t: rotary(s, n, t)),
    (r"triton_poi.*copy_slice", lambda s, n, t: s.add("append forward", s.key, 2, t)),
    (r"triton_poi.*cat", lambda s, n, t: s.add("split backward", s.query + 2 * s.key, 2, t)),
    (r"triton_red.*log_softmax_backward", lambda s, n, t: s.add("crossentropy backward", s.shape["vocab"], 2, t)),
    (r"triton_red.*prepare_softmax", lambda s, n, t: s.add("crossentropy forward", s.shape["vocab"], 1, t)),
    (r"triton_(red|per).*nll_loss_forward", lambda s, n, t: s.more("crossentropy forward", t)),
    (r"triton_poi_fused_(_unsafe_view_)?add_", lambda s, n, t: s.add("residual forward", s.shape["hidden"], 4, t)),
]


def rotary(step, name, time):
    """Queries and keys at once, or one after the other where they differ in number or go into a cache."""
    if "slice" in name and step.phase == "train":
        return step.add("rotary backward", step.query + 2 * step.key, 2, time)
    step.join("rotary forward", step.query + step.key, 2, time)


def adamw(step, time):
    """Left out are slow paths: square roots of the zero moments of words that never came, tables of no whole vectors."""
    if not step.shape["tied"] or step.shape["vocab"] * step.shape["hidden"] % 4:
        return
    if step.last("adamw forward"):
        return step.more("adamw forward", time)
    hidden = step.shape["hidden"]
    step.add("adamw forward", hidden, 7, time)
    step.samples[-1] |= {"rows": round(step.parameters() / hidden), "bytes": 7 * ELEMENT * step.parameters()}


def addition(step, time):
    """To the residual stream, or of a tied table's gradients, which comes after they were scattered."""
    step.add("residual forward", step.shape["hidden"], 3, time)
    if step.scattered:
        rows = step.shape["vocab"]
        step.samples[-1] |= {"rows": rows, "bytes": 3 * ELEMENT * rows * step.shape["hidden"]}


def look_up(step, time):
    """The words of each token; the positions' look-up follows it. A slice of them, as decoding has it, is another kernel."""
    if step.phase != "decode" and not step.last("embedding forward"):
        step.add("embedding forward", step.shape["hidden"], 2, time)


def scatter(step, time):
    """Words sorted and summed; up to 3072 of them are walked instead. With learned positions two tables have gradients,
    and which kernel is whose is not told."""
    step.scattered = True
    if step.shape["positions"] != "learned" and step.tokens > 3072:
        step.join("embedding backward", step.shape["hidden"], 2, time)


EAGER_RULES = TABLES + [
    (r"vectorized_layer_norm_kernel|RowwiseMoments", lambda s, n, t: s.add(f"{s.norm} forward", s.shape["hidden"], 2, t)),
    (r"LayerNormForwardCUDAKernel", lambda s, n, t: s.more(f"{s.norm} forward", t)),
    (r"layer_norm_grad_input_kernel", lambda s, n, t: s.add(f"{s.norm} backward", s.shape["hidden"], 5, t)),
    (r"GammaBetaBackward", lambda s, n, t: s.more(f"{s.norm} backward", t)),
    (r"unrolled_elementwise.*direct_copy_kernel", lambda s, n, t: s.join("widen forward", s.shape["vocab"], 3, t)),
    (r"elementwise_kernel.*direct_copy_kernel", lambda s, n, t: s.phase == "decode" and s.add("append forward", s.key, 2, t)),
    (r"SoftMaxForward", lambda s, n, t: s.add("crossentropy forward", s.shape["vocab"], 4, t)),
    (r"nll_loss_forward", lambda s, n, t: s.more("crossentropy forward", t)),
    (r"nll_loss_backward|SoftMaxBackward", lambda s, n, t: s.join("crossentropy backward", s.shape["vocab"], 6, t)),
    (r"bfloat16_copy_kernel", lambda s, n, t: s.join("narrow backward", s.shape["vocab"], 3, t)),
    (r"GeluCUDAKernel", lambda s, n, t: s.add("gelu forward", s.shape["ffn"], 2, t)),
    (r"GeluBackward", lambda s, n, t: s.add("gelu backward", s.shape["ffn"], 3, t)),
    (r"silu_backward", lambda s, n, t: s.add("silu backward", s.shape["ffn"], 3, t)),
    (r"silu_kernel", lambda s, n, t: s.add("silu forward", s.shape["ffn"], 2, t)),
    (r"vectorized_elementwise.*MulFunctor", lambda s, n, t: s.add("multiply forward", s.shape["ffn"], 3, t)),
    (r"vectorized_elementwise.*CUDAFunctor_add", lambda s, n, t: addition(s, t)),
    (r"reduce_kernel.*ReduceOp<c10::BFloat16", lambda s, n, t: s.add("bias backward", 0, 1, t)),
]
TURNS = r"gpu_kernel_impl_nocast.*(MulFunctor|CUDAFunctor_add|neg_kernel)|CatArrayBatchedCopy<.*unsigned int, 4,"


def eager_rotations(step):
    """Two products, a negated half, a concatenation and a sum for q, the same for k and again going back: their means."""
    turns = [time for name, time in step.line["kernels"] if re.search(TURNS, name)]
    if step.shape["positions"] != "rotary" or step.query != step.key or len(turns) != (20 if step.phase == "train" else 10):
        return
    step.add("turn forward", step.query, 2, sum(turns[:10]) / 10)
    if step.phase == "train":
        step.add("turn backward", step.query, 2, sum(turns[10:]) / 10)


def name_sums(step):
    """The sums of plain gradients: eagerly of every bias; else of the MLP's output and, behind a rotation, of q, k and v.
    The wider take longer."""
    shape = step.shape
    joint = step.query + 2 * step.key
    if step.line["runtime"] == "eager":
        widths = [shape["hidden"]] * (shape["bias_mlp"] + shape["bias_projection"])
        widths += [shape["ffn"]] * shape["bias_mlp"] + [joint] * shape["bias_qkv"]
    else:
        widths = [shape["hidden"]] * shape["bias_mlp"]
        widths += [joint] * (shape["bias_qkv"] and shape["positions"] == "rotary")
    plain = sorted((s for s in step.samples if s["width"] == 0), key=lambda sample: sample["time_us"])
    for sample, width in zip(plain, sorted(widths)):
        if len(plain) == len(widths):
            sample |= {"width": width, "bytes": ELEMENT * step.tokens * width}
    apart = step.last("rotary backward") or shape["positions"] != "rotary"  # else a rotation is in a sum's kernel
    apart = apart or step.line["runtime"] == "eager"
    if not apart or not all(is_known(sample) for sample in step.samples if sample["kind"] == "bias"):
        step.samples = [sample for sample in step.samples if sample["kind"] != "bias"]


def is_known(sample):
    return sample["width"] > 0 and sample["bytes"] < FASTEST * sample["time_us"]


def clocks(sample, clock_mhz):
    """AdamW's is left out: an update is priced at a clock of its own, and what is seen here is one at the step's."""
    if sample["kind"] == "adamw":
        return {}
    return {"clock_mhz": clock_mhz, "cycles": round(sample["time_us"] * clock_mhz, 1)}


def is_whole(sample, runtime):
    """Whether both kernels of an eager norm's gradients were seen."""
    gradients = sample["kind"].endswith("norm") and sample["pass"] == "backward"
    return runtime == "compiled" or not gradients or sample["kernels"] == 2


def samples_of(line):
    step = Step(line)
    rules = COMPILED_RULES if line["runtime"] == "compiled" else EAGER_RULES
    cleared = 0.0  # by memory sets, which belong to what follows them
    for name, time in line["kernels"]:
        if "emset" in name:
            cleared += time + GAP_US
            continue
        take = next((take for pattern, take in rules if re.search(pattern, name)), None)
        if take:
            take(step, name, time + cleared)
        cleared = 0.0
    if line["runtime"] == "eager":
        eager_rotations(step)
    name_sums(step)
    for sample in step.samples:
        if not is_known(sample) or not is_whole(sample, line["runtime"]):
            continue
        sample["time_us"] /= sample.get("of", 1)
        form = FORMS.get(sample["kind"], line["runtime"])
        sizes = {"kind": sample["kind"], "pass": sample["pass"], "form": form, "rows": sample["rows"],
                 "width": sample["width"], "dtype": "bf16"}
        yield {"schema": "tilewright.sample/1", "op": "stream", "sizes": sizes, "device": line["device"], "clock": "quick",
               "status": "ok", "time_us": round(sample["time_us"], 2), "repeats": 5, "launches": 1,
               **clocks(sample, line["clock_mhz"]), "bytes": sample["bytes"],
               "facts": {"library": "pytorch", "copies": 1, "kernels": sample["kernels"]},
               "tags": {"source": "pytorch"}, "run": line["run"]}


def main(path):
    for text in open(path):
        line = json.loads(text)
        if line["schema"] == "tilewright.run/1":
            print(text, end="")
        elif line["status"] == "ok":
            for sample in samples_of(line):
                print(json.dumps(sample))


main(*sys.argv[1:])

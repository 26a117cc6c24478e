#!/usr/bin/env python3
"""Records the ops that a PyTorch program dispatches, without a GPU and without weights.

    python3 -m tilewright_capture --class transformers.LlamaForCausalLM --config config.json --batch 1 --seq 2048 --phase train -o graph.json.gz
    python3 -m tilewright_capture --class transformers.GPT2LMHeadModel --config '{"n_layer": 24}' --phase decode -o graph.json.gz
    python3 -m tilewright_capture my_models:make --phase train -o graph.json      make() returns (model, inputs)

The model is made of fake CUDA tensors: they have sizes, strides and types but no values. Phases: `train` (zero_grad, forward with
labels, backward, AdamW), `prefill` or `forward` (forward without gradients), `decode` (the second step of `generate`).
`inputs` is a dict of keyword arguments, or a tuple. A loss is the output's `.loss`, else the sum of the first output.
What the file holds, and what a recording cannot show, is in docs/capture.md. This file needs torch and nothing else; the named
class may need more. Long on purpose: one file that can lie beside any program."""
import argparse
import bisect
import contextlib
import gzip
import importlib
import json
import math
import os
import sys
import time

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

SCHEMA = "tilewright.graph/1"
KNOWN_VALUES = 1 << 18  # tensors up to this many elements keep their values where no weight or activation enters
REAL_TOKENS = 64        # of a recording with real tensors on the CPU
CONSTANT = {"new_ones": 1, "ones_like": 1, "new_zeros": 0, "zeros_like": 0}
READS = ("aten._local_scalar_dense", "aten.item", "aten.equal", "aten.is_nonzero")
NEED_VALUES = ("Unrecordable", "DataDependentOutputException", "DynamicOutputShapeException", "GuardOnDataDependentSymNode",
               "UnsupportedFakeTensorException", "UnsupportedOperatorException")
VALUE = "_tilewright_value"


class Unrecordable(RuntimeError):
    """The program asked for values that fake tensors do not have."""


class Table:
    """Distinct values, numbered in the order of their first use."""

    def __init__(self):
        self.rows, self.index = [], {}

    def add(self, row):
        key = json.dumps(row)
        if key not in self.index:
            self.index[key] = len(self.rows)
            self.rows.append(row)
        return self.index[key]


class Memory:
    """Bytes of live storages, and their peak. Blocks are whole multiples of 512 bytes, as in PyTorch's allocator."""

    def __init__(self):
        self.live, self.bytes, self.peak = {}, 0, 0

    def see(self, tensor):
        try:
            from torch.multiprocessing.reductions import StorageWeakRef
            storage = tensor.untyped_storage()
            reference = StorageWeakRef(storage)
            size = -(-storage.nbytes() // 512) * 512
        except Exception:  # a tensor without storage; older versions of torch
            return
        old = self.live.get(reference.cdata)
        if old and not old[0].expired():
            return
        self.bytes += size - (old[1] if old else 0)
        self.live[reference.cdata] = (reference, size)
        if self.bytes > self.peak:
            self.live = {key: item for key, item in self.live.items() if not item[0].expired()}
            self.bytes = sum(item[1] for item in self.live.values())
            self.peak = max(self.peak, self.bytes)

    def restart(self):
        self.peak = 0


class Modules:
    """Where in the model the program is: by hooks going forward, by autograd's sequence numbers going back."""

    def __init__(self, model):
        self.paths = {id(module): name for name, module in model.named_modules()}
        self.owners = {id(weight): name.rpartition(".")[0] for name, weight in model.named_parameters()}
        self.root, self.stack, self.entries = model, [""], 0
        self.numbers, self.names = [-1], [""]
        self.entered = lambda: None

    def hooks(self):
        from torch.nn.modules import module
        return [module.register_module_forward_pre_hook(self.enter), module.register_module_forward_hook(self.leave)]

    def mark(self):
        number = getattr(torch.autograd, "_get_sequence_nr", None) or getattr(torch._C._autograd, "_get_sequence_nr", None)
        if number:
            self.numbers.append(number())
            self.names.append(self.stack[-1])

    def enter(self, module, _):
        if module is self.root:
            self.entered()
        self.stack.append(self.paths.get(id(module), self.stack[-1]))
        self.mark()

    def leave(self, *_):
        if len(self.stack) > 1:
            self.stack.pop()
        self.mark()

    def path(self, backward):
        if not backward:
            return self.stack[-1]
        current = getattr(torch._C, "_current_autograd_node", lambda: None)()
        if current is None or not hasattr(current, "_sequence_nr"):
            return ""
        weight = getattr(current, "variable", None)
        if weight is not None:
            return self.owners.get(id(weight), "")
        return self.names[bisect.bisect_right(self.numbers, current._sequence_nr()) - 1]


def value_of(tensor):
    """The values of a tensor where they are known: a real one, or a fake one that was made of constants."""
    return getattr(tensor, VALUE, None) if isinstance(tensor, FakeTensor) else tensor


class Recorder(TorchDispatchMode):
    """Writes down every op on its way to the fake tensors."""

    def __init__(self, modules):
        super().__init__()
        self.modules, self.memory = modules, Memory()
        self.tensors, self.ops, self.places = Table(), Table(), Table()
        self.calls, self.where, self.passes = [], [], []
        self.phase, self.notes, self.active = "forward", Table(), True

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if str(func).startswith("profiler."):  # ranges that optimizers announce
            with no_dispatch():
                return func(*args, **kwargs)
        if str(func).startswith(READS) and isinstance(args[0], FakeTensor):
            return self.finish(func, args, kwargs, self.answer(func, args, kwargs))
        try:
            out = func(*args, **kwargs)
        except Exception as error:
            if type(error).__name__ not in NEED_VALUES:
                raise
            out = self.answer(func, args, kwargs)
        else:
            self.keep_value(func, args, kwargs, out)
        return self.finish(func, args, kwargs, out)

    def finish(self, func, args, kwargs, out):
        if self.active and not str(func).startswith("prim."):
            self.write(func, args, kwargs, out)
        for value in tree_flatten(out)[0]:
            if isinstance(value, torch.Tensor):
                self.memory.see(value)
        return out

    def write(self, func, args, kwargs, out):
        shown = lambda value: tree_map(self.show, list(value) if isinstance(value, (tuple, list)) else value)
        row = [str(func), [shown(value) for value in args], {key: shown(value) for key, value in kwargs.items() if value is not None}]
        row.append([self.show(value) for value in tree_flatten(out)[0]])
        self.calls.append(self.ops.add(row))
        self.where.append(self.places.add(self.modules.path(self.phase == "backward")))
        if not self.passes or self.passes[-1][0] != self.phase:
            self.passes.append([self.phase, 0])
        self.passes[-1][1] += 1

    def show(self, value):
        """A tensor as "tN", its number in the table; plain values as they are; the rest by name."""
        if isinstance(value, torch.Tensor):
            row = [str(value.dtype).replace("torch.", ""), list(value.shape), list(value.stride())]
            return f"t{self.tensors.add(row + ([] if value.device.type == 'cuda' else [value.device.type]))}"
        if value is None or isinstance(value, (bool, int)) or isinstance(value, float) and math.isfinite(value):
            return value
        return str(value).replace("torch.", "")

    def real(self, func, args, kwargs):
        """The op on the values of its inputs, where all are known; `None` where one is not."""
        inputs = [value for value in tree_flatten((args, kwargs))[0] if isinstance(value, torch.Tensor)]
        if any(value_of(value) is None for value in inputs) or "empty" in str(func):
            for value in inputs if func._schema.is_mutable else []:
                if hasattr(value, VALUE):
                    delattr(value, VALUE)
            return None
        if sum(value.numel() for value in inputs) > KNOWN_VALUES:
            return None
        swap = lambda value: value_of(value) if isinstance(value, torch.Tensor) else \
            torch.device("cpu") if isinstance(value, torch.device) else value
        try:
            with no_dispatch():
                return func(*tree_map(swap, args), **tree_map(swap, kwargs))
        except Exception:  # an op that the CPU does not have: its value is not known
            return None

    def keep_value(self, func, args, kwargs, out):
        found = [value for value in tree_flatten(out)[0] if isinstance(value, torch.Tensor)]
        if not found or not isinstance(found[0], FakeTensor) or sum(value.numel() for value in found) > KNOWN_VALUES:
            return
        name = str(func).split(".")[1] if "." in str(func) else ""
        if name in CONSTANT:
            with no_dispatch():
                value = torch.full(found[0].shape, CONSTANT[name], dtype=found[0].dtype)
        else:
            value = self.real(func, args, kwargs)
        for fake, known in zip(found, [one for one in tree_flatten(value)[0] if isinstance(one, torch.Tensor)]):
            if fake.shape == known.shape:
                setattr(fake, VALUE, known)

    def answer(self, func, args, kwargs):
        """What an op gives whose result depends on values."""
        name, value = str(func), self.real(func, args, kwargs)
        place = self.modules.path(self.phase == "backward") or "the program"
        if name.startswith(READS):
            if value is None:
                value = True if args[0].dtype == torch.bool else 1
                self.notes.add(f"{name} at {place}: a value was read back that fake tensors do not have; {value} was assumed")
            return value
        if value is None:
            raise Unrecordable(f"{name} at {place}: the size of its result depends on values")
        self.notes.add(f"{name} at {place}: the size of its result was computed from constants")
        out = torch.empty(value.shape, dtype=value.dtype, device=args[0].device)
        setattr(out, VALUE, value)
        return out

    def step(self, start, end):
        """Only the calls from one index to another."""
        self.calls, self.where = self.calls[start:end], self.where[start:end]
        self.passes = [[self.phase, len(self.calls)]]


def inputs_of(model, case):
    """Keyword arguments for a class of transformers, by the name of its main input, as real tensors on the CPU."""
    config, batch, seq, training = model.config, case["batch"], case["seq"], case["phase"] == "train"
    main, dtype = model.main_input_name, next(model.parameters()).dtype
    tokens = lambda: torch.randint(config.vocab_size, (batch, seq))
    if main == "pixel_values":
        inputs = {main: torch.ones(batch, config.num_channels, config.image_size, config.image_size, dtype=dtype)}
        return inputs | ({"labels": torch.zeros(batch, dtype=torch.long)} if training else {})
    if main == "input_features":
        inputs = {main: torch.ones(batch, config.num_mel_bins, 2 * config.max_source_positions, dtype=dtype)}
        seq = min(seq, config.max_target_positions)
    else:
        inputs = {main: tokens()}
    if training:
        inputs["labels"] = tokens()
    elif getattr(config, "is_encoder_decoder", False):
        inputs["decoder_input_ids"] = tokens()
    return inputs


def sizes_of(inputs):
    """Sequences and tokens of inputs that the program brings: its ids', or those of its first rows of whole numbers; 0 where it has none."""
    ids = inputs.get("input_ids") if isinstance(inputs, dict) else None
    for value in tree_flatten(inputs if ids is None else ids)[0]:
        if isinstance(value, torch.Tensor) and not value.is_floating_point() and len(value.shape) == 2:
            return {"batch": value.shape[0], "seq": value.shape[1]}
    return {"batch": 0, "seq": 0}


def faked(value, device):
    """A fake tensor of the same sizes; integers keep their values. Call it in the fake mode."""
    out = torch.empty(value.shape, dtype=value.dtype, device=device)
    if not value.is_floating_point():
        setattr(out, VALUE, value)
    return out


def loss_of(output, notes):
    loss = getattr(output, "loss", None)
    if loss is not None:
        return loss
    first = output if isinstance(output, torch.Tensor) else next(iter(output.values() if hasattr(output, "values") else output))
    if first.numel() > 1:
        notes.add("the output has no loss: the sum of its first tensor was taken")
    return first.float().sum() if first.numel() > 1 else first


def call(model, inputs):
    return model(**inputs) if isinstance(inputs, dict) else model(*inputs) if isinstance(inputs, (tuple, list)) else model(inputs)


def train(recorder, model, inputs, case):
    kinds = {"fused": {"fused": True}, "foreach": {"foreach": True}, "loop": {"foreach": False}}
    chosen = case["optimizer"]
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, **kinds[chosen]) if chosen != "none" else None
    cast = torch.autocast(next(model.parameters()).device.type, dtype=torch.bfloat16) if case["master"] == "fp32" else contextlib.nullcontext()
    single = getattr(torch.autograd, "set_multithreading_enabled", lambda _: contextlib.nullcontext())
    for last in (False, True):  # the first step makes the optimizer's state; the second is recorded
        recorder.active = last
        recorder.memory.restart()
        recorder.phase = "optimizer"
        model.zero_grad(set_to_none=True)
        recorder.phase = "forward"
        with cast:
            loss = loss_of(call(model, inputs), recorder.notes)
        recorder.phase = "backward"
        with single(False):  # in this thread, which records
            loss.backward()
        recorder.phase = "optimizer"
        if optimizer:
            optimizer.step()
        del loss


def decode(recorder, model, inputs, _):
    """One step of `generate`: from the second call of the model to the third."""
    starts = []
    recorder.modules.entered = lambda: starts.append(len(recorder.calls))
    ids = inputs["input_ids"]
    with torch.no_grad():
        model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=3, do_sample=False)
    recorder.step(starts[1], starts[2])


def forward(recorder, model, inputs, _):
    with torch.no_grad():
        call(model, inputs)


def record(make, case, real=False):
    """The graph of make(device, case) -> (model, inputs), as a value that JSON can hold."""
    device = "cpu" if real else "cuda"
    case = case | {"batch": 1, "seq": min(case["seq"], REAL_TOKENS)} if real else case
    began = time.monotonic()
    fake = contextlib.nullcontext() if real else FakeTensorMode(allow_non_fake_inputs=True)
    with fake:
        model, inputs = make(device, case)
    if inputs is None:
        inputs = inputs_of(model, case)
        with fake:
            inputs = inputs if real else {name: faked(value, device) for name, value in inputs.items()}
    else:
        case = case | sizes_of(inputs)
    model.train(case["phase"] == "train")
    modules = Modules(model)
    recorder = Recorder(modules)
    weights = [*model.parameters(), *model.buffers()]
    for tensor in weights:
        recorder.memory.see(tensor)
    hooks = modules.hooks()
    run = {"train": train, "decode": decode}.get(case["phase"], forward)
    try:
        with fake, recorder:
            run(recorder, model, inputs, case)
    finally:
        for hook in hooks:
            hook.remove()
    versions = {"torch": torch.__version__}
    if "transformers" in sys.modules:
        versions["transformers"] = sys.modules["transformers"].__version__
    return {"schema": SCHEMA, "program": case, "versions": versions, "recorded_with": "real CPU tensors" if real else "fake CUDA tensors",
            "parameters": sum(weight.numel() for weight in model.parameters()),
            "parameter_bytes": sum(weight.numel() * weight.element_size() for weight in model.parameters()),
            "peak_bytes": recorder.memory.peak, "took_s": round(time.monotonic() - began, 2), "notes": recorder.notes.rows,
            "tensors": recorder.tensors.rows, "modules": recorder.places.rows, "ops": recorder.ops.rows,
            "passes": recorder.passes, "calls": recorder.calls, "call_modules": recorder.where}


def pose_as_real():
    """Libraries that look for fake tensors would take another path than the one that runs."""
    library = sys.modules.get("transformers.utils.import_utils")
    if hasattr(library, "is_fake_tensor"):
        library.is_fake_tensor = lambda *_: False


def capture(make, case):
    """Records with fake tensors, and where the program needs values, with small real ones on the CPU."""
    pose_as_real()
    try:
        return record(make, case)
    except Exception as error:
        if type(error).__name__ not in NEED_VALUES:
            raise
        print(f"tilewright_capture: {type(error).__name__}: {error}"[:600], file=sys.stderr)
        graph = record(make, case, real=True)
        graph["notes"].append(f"recorded with real tensors on the CPU, since fake ones failed: {type(error).__name__}: {error}"[:600])
        return graph


def model_of(kind, config, device, dtype):
    """A class of transformers from a configuration, with random weights made on the device; `generate` never stops at a token."""
    settings = kind.config_class(**config)
    settings.eos_token_id = None
    with torch.device(device):
        try:
            model = kind._from_config(settings, dtype=dtype, attn_implementation="sdpa")
        except ValueError:  # a class without SDPA
            model = kind._from_config(settings, dtype=dtype)
    if getattr(model, "generation_config", None) is not None:
        model.generation_config.eos_token_id = None
    return model


def maker_of_class(name, config):
    package, _, short = name.rpartition(".")
    kind = getattr(importlib.import_module(package or "transformers"), short)
    return lambda device, case: (model_of(kind, config, device, torch.float32 if case["master"] == "fp32" else torch.bfloat16), None)


def maker_of_function(target):
    name, _, function = target.partition(":")
    sys.path.insert(0, os.getcwd())
    made_by = getattr(importlib.import_module(name.removesuffix(".py").replace("/", ".")), function or "make")

    def make(device, _):
        with torch.device(device):
            return made_by()

    return make


def write(graph, path):
    text = json.dumps(graph, separators=(",", ":")).encode()
    with open(path + ".part", "wb") as file:
        file.write(gzip.compress(text, 9, mtime=0) if path.endswith(".gz") else text)
    os.replace(path + ".part", path)


def main():
    parser = argparse.ArgumentParser(prog="tilewright_capture", description=__doc__.splitlines()[0])
    parser.add_argument("target", nargs="?", help="module:function that returns (model, inputs)")
    parser.add_argument("--class", dest="kind", help="a class of transformers, with or without its module")
    parser.add_argument("--config", default="{}", help="its configuration: a file, or JSON")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--seq", type=int, default=2048)
    parser.add_argument("--phase", choices=["train", "prefill", "forward", "decode"], default="train")
    parser.add_argument("--master", choices=["bf16", "fp32"], default="bf16", help="fp32: autocast to bf16 over fp32 weights")
    parser.add_argument("--optimizer", choices=["fused", "foreach", "loop", "none"], default="fused", help="AdamW's implementation")
    parser.add_argument("-o", "--output", default="graph.json.gz")
    arguments = parser.parse_args()
    if bool(arguments.target) == bool(arguments.kind):
        parser.error("give either --class or module:function")
    text = arguments.config if arguments.config.lstrip().startswith("{") else open(arguments.config, encoding="utf-8").read()
    config = json.loads(text)
    case = {key: getattr(arguments, key) for key in ("batch", "seq", "phase", "master", "optimizer")}
    if arguments.kind:
        make, case = maker_of_class(arguments.kind, config), {"class": arguments.kind, "config": config} | case
    else:
        make, case = maker_of_function(arguments.target), {"target": arguments.target} | case
    graph = capture(make, case)
    write(graph, arguments.output)
    print(f"{arguments.output}: {len(graph['calls'])} ops, {len(graph['ops'])} distinct, peak {graph['peak_bytes'] / 2**30:.2f} GiB, "
          f"{graph['took_s']} s", file=sys.stderr)
    for note in graph["notes"]:
        print("note: " + note, file=sys.stderr)


if __name__ == "__main__":
    main()

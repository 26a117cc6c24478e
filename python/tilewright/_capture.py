"""An nn.Module as a graph, through tilewright_capture."""
from __future__ import annotations

from typing import Any


def capture(module: Any, inputs: Any = None, batch: int = 1, seq: int = 2048, phase: str = "train", master: str = "bf16",
            optimizer: str = "fused") -> dict[str, Any]:
    """Records the ops that a PyTorch module dispatches, without a GPU; `predict` takes the graph as its shape.

    `inputs` is a tensor, a tuple or list of arguments, or a dict of keyword arguments; a class of transformers needs
    none, and takes `batch` and `seq` instead. The module itself stays as it is: a copy of its structure with fake
    weights is run.
    """
    import copy

    import tilewright_capture
    import torch

    if inputs is None and not hasattr(module, "config"):
        raise TypeError(f"{type(module).__name__} is no class of transformers, so its inputs are not known: give capture(module, inputs), "
                        "and the graph to predict")
    faked = tilewright_capture.faked  # keeps the values of whole numbers

    def make(device: str, _: Any) -> tuple[Any, Any]:
        made: dict[int, Any] = {id(weight): torch.nn.Parameter(faked(weight, device), weight.requires_grad) for weight in module.parameters()}
        made.update((id(buffer), faked(buffer, device)) for buffer in module.buffers())
        copied = copy.deepcopy(module, made)
        return copied, tilewright_capture.tree_map(lambda value: faked(value, device) if isinstance(value, torch.Tensor) else value, inputs)

    case = {"target": type(module).__name__, "batch": batch, "seq": seq, "phase": phase, "master": master, "optimizer": optimizer}
    graph: dict[str, Any] = tilewright_capture.capture(make, case)
    return graph

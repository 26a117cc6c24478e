"""What is handed to the recorder. A few lines stand in for torch, which need not be here."""
import contextlib
import importlib
import pathlib
import sys
import types
import unittest
import unittest.mock

import tilewright as tw

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))


class Tensor:
    def __init__(self, *shape, whole=False, device="cpu"):
        self.shape, self.dtype, self.whole, self.device = shape, "int64" if whole else "float32", whole, device

    def is_floating_point(self):
        return not self.whole


def tree_map(change, tree):
    if isinstance(tree, dict):
        return {key: tree_map(change, value) for key, value in tree.items()}
    return type(tree)(tree_map(change, value) for value in tree) if isinstance(tree, (list, tuple)) else change(tree)


def tree_flatten(tree):
    leaves = []
    tree_map(leaves.append, tree)
    return leaves, None


class Module:
    def parameters(self):
        return []

    buffers = parameters


def torch_in_small():
    torch = types.ModuleType("torch")
    torch.Tensor = Tensor
    torch.empty = lambda shape, dtype, device: Tensor(*shape, whole=dtype == "int64", device=device)
    torch.nn = types.SimpleNamespace(Module=Module)
    parts = {"_subclasses": {}, "_subclasses.fake_tensor": {"FakeTensor": type("FakeTensor", (Tensor,), {}), "FakeTensorMode": object},
             "utils": {}, "utils._mode_utils": {"no_dispatch": contextlib.nullcontext},
             "utils._python_dispatch": {"TorchDispatchMode": object}, "utils._pytree": {"tree_flatten": tree_flatten, "tree_map": tree_map}}
    made = {"torch": torch}
    for name, members in parts.items():
        made[f"torch.{name}"] = types.ModuleType(f"torch.{name}")
        vars(made[f"torch.{name}"]).update(members)
    return made


class Captured(unittest.TestCase):
    def setUp(self):
        modules = unittest.mock.patch.dict(sys.modules, torch_in_small())
        modules.start()
        self.addCleanup(modules.stop)
        sys.modules.pop("tilewright_capture", None)
        self.recorder = importlib.import_module("tilewright_capture")

    def handed(self, inputs):
        """What the model is called with."""
        with unittest.mock.patch.object(self.recorder, "capture", lambda make, case: make("cuda", case)):
            return tw.capture(Module(), inputs)[1]

    def test_inputs_stay_as_they_are_but_for_fake_tensors(self):
        self.assertEqual(self.handed(Tensor(1, 16)).shape, (1, 16), "one tensor is one argument, not its rows")
        named = self.handed({"ids": Tensor(2, 8, whole=True), "use_cache": False, "more": (Tensor(3), None)})
        self.assertEqual((named["ids"].shape, named["ids"].device, named["use_cache"]), ((2, 8), "cuda", False))
        self.assertEqual((named["more"][0].device, named["more"][1]), ("cuda", None))

    def test_a_module_without_inputs_is_refused_in_words(self):
        with self.assertRaisesRegex(TypeError, "Module is no class of transformers.*give capture"):
            tw.predict(Module(), gpu="h200")

    def test_sizes_are_those_of_the_inputs(self):
        ids, mask, pixels = Tensor(8, 512, whole=True), Tensor(1, 1, whole=True), Tensor(8, 3, 224, 224)
        for inputs, batch, seq in [((pixels, ids), 8, 512), ({"mask": mask, "input_ids": ids}, 8, 512), (ids, 8, 512), ((pixels,), 0, 0)]:
            self.assertEqual(self.recorder.sizes_of(inputs), {"batch": batch, "seq": seq})


if __name__ == "__main__":
    unittest.main()

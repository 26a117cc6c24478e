"""Docstrings, the notebook and the stubs hold."""
import contextlib
import doctest
import importlib
import inspect
import io
import json
import pathlib
import subprocess
import sys
import unittest

import tilewright as tw

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bindings" / "python"))
import stubs  # noqa: E402


def load_tests(_, tests, __):
    for name in ("tilewright", "tilewright._ask", "tilewright.verbs", "tilewright.products"):
        tests.addTests(doctest.DocTestSuite(importlib.import_module(name)))
    return tests


class Documents(unittest.TestCase):
    def test_every_function_has_an_example(self):
        for name in stubs.ANSWERS | {"gemm": "", "run": ""}:
            self.assertIn(">>>", getattr(tw, name).__doc__, name)

    def test_stubs_are_those_of_the_table_of_flags(self):
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            stubs.main()
        self.assertEqual((ROOT / "python/tilewright/verbs.pyi").read_text(), text.getvalue(), "run: " + stubs.__doc__)

    def test_unknown_keywords_are_named(self):
        with self.assertRaises(tw.Error) as raised:
            tw.predict("gpt2", gpu="h200", bathc=8)
        self.assertEqual(raised.exception.where, "--bathc")
        self.assertIn("--batch", raised.exception.fix)

    def test_keywords_of_run_are_refused(self):
        for name in ("json", "help", "from_"):
            with self.assertRaisesRegex(TypeError, f"{name} is no keyword"):
                tw.predict("gpt2", gpu="h200", **{name: True})
        with self.assertRaisesRegex(tw.Error, "did you mean predict"):
            tw.run("perdict", "gpt2", gpu="h200")

    def test_help_tells_the_keywords(self):
        self.assertIn("kv_heads: key and value heads", tw.predict.__doc__)
        self.assertIn("kv_heads", inspect.signature(tw.lint).parameters)

    def test_notebook(self):
        cells = json.loads((ROOT / "examples/tilewright.ipynb").read_text())["cells"]
        names = {}
        for i, cell in enumerate(cell for cell in cells if cell["cell_type"] == "code"):
            with self.subTest(cell=i), contextlib.redirect_stdout(io.StringIO()):
                exec(compile("".join(cell["source"]), f"cell {i}", "exec"), names)
        self.assertGreater(len(cells), 10)


if __name__ == "__main__":
    unittest.main()

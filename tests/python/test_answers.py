"""The package and the program give one answer."""
import copy
import json
import math
import os
import pathlib
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
import warnings

import tilewright as tw
from tilewright import _tilewright, products
from tilewright._ask import words_of

PROGRAM = os.environ["TILEWRIGHT"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
QUESTIONS = int(os.environ.get("TILEWRIGHT_QUESTIONS", "500"))
CONFIG = {"model_type": "llama", "hidden_size": 2048, "num_attention_heads": 16, "num_hidden_layers": 24, "intermediate_size": 5632,
          "vocab_size": 32000, "num_key_value_heads": 4}


def program(words, **options):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, env={"LANG": "C.UTF-8"}, **options)


def said(reply):
    _, _, _, problems, warned = reply
    return "".join(f"warning: {text}\n" for text in warned) + "".join(f"error: {tw.Problem(*problem)}\n" for problem in problems)


class Same(unittest.TestCase):
    def same(self, mine, theirs, where):
        if isinstance(theirs, (int, float)) and not isinstance(theirs, bool):
            self.assertTrue(math.isclose(mine, theirs, rel_tol=1e-9), f"{where}: {mine} and {theirs}")
        elif isinstance(theirs, dict):
            self.assertEqual(list(mine), list(theirs), where)
            for key, value in theirs.items():
                self.same(mine[key], value, f"{where}.{key}")
        elif isinstance(theirs, list):
            self.assertEqual(len(mine), len(theirs), where)
            for i, value in enumerate(theirs):
                self.same(mine[i], value, f"{where}[{i}]")
        else:
            self.assertEqual(mine, theirs, where)


class Questions(Same):
    """Random ones, the same every time: through the package's own functions, so that keywords are tried too."""

    def setUp(self):
        self.draw = random.Random(18)
        self.models = [model["name"] for model in json.loads(program(["models", "--json"]).stdout)["models"]]
        self.devices = [device["name"] for device in json.loads(program(["devices", "--json"]).stdout)["devices"]]

    def question(self):
        pick = self.draw.choice
        size = lambda low, high: round(low * (high / low) ** self.draw.random())
        verb = pick(["predict"] * 5 + ["lint", "compare", "plan"])
        shapes = [pick(self.models) for _ in range(2 if verb == "compare" else 1)]
        flags = {"gpu": pick(self.devices)}
        if verb == "plan":
            return verb, shapes, flags | {"phase": "decode", "seq": size(64, 16384)}
        for chance, name, values in [
                (0.6, "phase", ["train", "prefill", "decode"]), (0.6, "batch", [size(1, 256)]), (0.6, "seq", [size(1, 32768), "4k"]),
                (0.3, "precision", ["bf16", "fp16", "fp8", "fp32", "tf32"]), (0.2, "tp", [1, 2, 3, 4, 8]), (0.1, "dp", [1, 2, 8, 64]),
                (0.1, "pp", [1, 2, 4]), (0.1, "micro_batches", [1, 4, 8]), (0.1, "recompute", ["none", "selective", "full", "early"]),
                (0.2, "attention", ["auto", "cudnn", "flash2", "unfused"]), (0.1, "clock", ["sustained", "burst"]),
                (0.1, "sequence_parallel", [True, False]), (0.2, "hidden", [64 * self.draw.randint(1, 128), size(1, 9999)]),
                (0.2, "heads", [self.draw.randint(1, 96)]), (0.2, "kv_heads", [1, 2, 8]), (0.2, "head_dim", [64, 80, 96, 128]),
                (0.2, "ffn", [size(1, 65536)]), (0.2, "vocab", [size(100, 300000)]), (0.2, "tied", [True, False]),
                (0.2, "layers", [self.draw.randint(0, 130)])]:
            if self.draw.random() < chance:
                flags[name] = pick(values)
        return verb, shapes, flags

    def test_random_questions(self):
        answered = 0
        for _ in range(QUESTIONS):
            verb, shapes, flags = self.question()
            words = [verb, *words_of(verb, flags), "--json", "--", *shapes]
            theirs = program(words)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    mine = getattr(tw, verb)(*shapes, **flags).to_dict()
            except tw.Error as error:
                self.assertEqual(theirs.returncode, 2, words)
                self.assertIn("".join(f"error: {problem}\n" for problem in error.problems), theirs.stderr)
                continue
            self.assertLess(theirs.returncode, 2, words)
            self.same(mine, json.loads(theirs.stdout), " ".join(words))
            answered += 1
        self.assertGreater(answered, QUESTIONS / 4)

    def test_texts_lists_and_refusals(self):
        for words in [["models"], ["devices"], [], ["help"], ["predict", "--help"], ["perdict"], ["predict", "gpt2"],
                      ["predict", "gpt5", "--gpu", "h200"], ["lint", "--explain", "TW001"], ["predict", "gpt2", "--gpu", "h200"],
                      ["lint", "gpt2", "--gpu", "h200", "--fail-on", "info"]]:
            mine, theirs = _tilewright.ask(words), program(words)
            self.assertEqual((mine[0], mine[1], said(mine)), (theirs.returncode, theirs.stdout, theirs.stderr), words)

    def test_search(self):
        mine = tw.search("gpt2", gpu="h200", only=["heads", "ffn"]).to_dict()
        theirs = json.loads(program(["search", "gpt2", "--gpu", "h200", "--only", "heads,ffn", "--json"]).stdout)
        mine["seconds"] = theirs["seconds"]
        self.same(mine, theirs, "search")

    def test_text_and_values_are_of_one_question(self):
        found = [tw.search("gpt2", gpu="h200", only="heads"), tw.lint("gpt2", gpu="h200"), tw.predict("gpt2", gpu="h200")]
        with unittest.mock.patch("tilewright._tilewright.ask", side_effect=AssertionError("asked again")):
            self.assertIn("Recommendation: ", repr(found[0]))
            self.assertIn("TW001", repr(found[1]))
            self.assertIn("gpt2 on h200", repr(found[2]))

    def test_measure_is_refused(self):
        with self.assertRaises(tw.Error):
            tw.run("measure", "gemm")


class Shapes(Same):
    class Config:
        def to_dict(self):
            return CONFIG | {"_name_or_path": "somebody/small"}

    def test_every_form(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "config.json")
            path.write_text(json.dumps(CONFIG))
            answers = [tw.predict(shape, gpu="h200") for shape in (str(path), path, CONFIG, self.Config())]
        self.assertEqual(len({answer.time_s for answer in answers}), 1)
        self.assertEqual(answers[3].shape.name, "small")
        self.assertIn("small", repr(answers[3]))

    def test_a_capture_by_path_and_by_value(self):
        import gzip
        path = ROOT / "data" / "captures" / "bert-base-train.json.gz"
        graph = json.loads(gzip.decompress(path.read_bytes()))
        by_path, by_value = tw.predict(path, gpu="h200"), tw.predict(graph, gpu="h200")
        self.same(by_value.time_s, by_path.time_s, "time_s")
        self.assertGreater(by_path.step.high, by_path.step)

    def test_what_is_wrong_with_a_dict_is_said_without_a_path(self):
        with self.assertRaises(tw.Error) as raised:
            tw.predict(CONFIG | {"num_attention_heads": "many"}, gpu="h200")
        self.assertNotIn(tempfile.gettempdir(), str(raised.exception))
        self.assertTrue(raised.exception.what)

    def test_a_dict_of_any_name(self):
        for name in ("..", "a\0b", "x" * 400, "/", ".hidden"):
            self.assertGreater(tw.predict(CONFIG | {"_name_or_path": name}, gpu="h200").time_s, 0)

    def test_what_a_report_assumes_is_warned_of(self):
        with self.assertWarnsRegex(tw.AssumedWarning, "vocab_size is absent") as seen:
            tw.report({key: value for key, value in CONFIG.items() if key != "vocab_size"}, gpu="h200", svg="time")
        self.assertEqual(seen.filename, __file__)

    def test_no_shape(self):
        with self.assertRaises(TypeError):
            tw.predict(7, gpu="h200")


class Answers(unittest.TestCase):
    def test_prediction(self):
        step = tw.predict("gpt2", gpu="h200")
        self.assertEqual(step.step, step.time_s)
        self.assertGreater(step.memory.total_bytes, step.memory.weights_bytes)
        self.assertEqual(sum(kernel["count"] for kernel in step.kernels), step.launches)
        self.assertEqual(repr(step) + "\n", program(["predict", "gpt2", "--gpu", "h200"]).stdout)
        self.assertIn("<pre>gpt2 on h200", step._repr_html_())
        with self.assertRaises(AttributeError):
            step.nothing
        self.assertIn("mfu", dir(step))

    def test_pandas(self):
        table = tw.predict("gpt2", gpu="h200").to_pandas()
        self.assertIn("terms.roofline_s", table.columns)
        self.assertEqual(len(tw.compare("gpt2", "opt-125m", gpu="h200").to_pandas()), 2)
        self.assertEqual(len(tw.gemm([1, 2], 3, 4, gpu="h200").to_pandas()), 2)

    def test_the_table_of_a_captured_graph_is_by_module(self):
        found = tw.predict(ROOT / "data" / "captures" / "bert-base-train.json.gz", gpu="h200").rows()
        self.assertIn("forward_s", found[0])

    def test_answers_and_errors_can_be_sent_to_another_process(self):
        step = tw.predict("gpt2", gpu="h200")
        sent = pickle.loads(pickle.dumps(step))
        self.assertEqual((sent.mfu, repr(sent), sent.step.low), (step.mfu, repr(step), step.step.low))
        for again in (copy.deepcopy(step.step), pickle.loads(pickle.dumps(step.step))):
            self.assertEqual((again, again.low, again.high), (step.step, step.low_s, step.high_s))
        with self.assertRaises(tw.Error) as raised:
            tw.predict("gpt2", gpu="h201")
        self.assertEqual(pickle.loads(pickle.dumps(raised.exception)).problems, raised.exception.problems)

    def test_one_shape_on_several_gpus(self):
        table = tw.compare("gpt2", gpu=["h100", "h200"], price="h100=2.5").to_pandas()
        self.assertEqual(len(table), 2)

    def test_lint_of_several_files(self):
        files = [str(ROOT / "data" / "models" / name) for name in ("gpt2.toml", "gpt3-2.7b.toml")]
        self.assertEqual({finding.file for finding in tw.lint(*files, gpu="h200").findings}, set(files))

    def test_report(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "page.html")
            page = tw.report("gpt2", gpu="h200", output=path)
            self.assertEqual(path.read_text(), page.text)
        self.assertIn("<iframe", page._repr_html_())
        self.assertLess(len(repr(page)), 100)


class Gemms(Same):
    def test_as_in_bulk(self):
        for precision in ("fp16", "fp8", "fp32"):
            self.as_in_bulk(precision)

    def as_in_bulk(self, precision):
        draw = random.Random(3)
        rows = [[draw.randint(1, 9000) for _ in range(3)] + [draw.choice([1, 1, 7])] for _ in range(500)]
        text = "layout,m,n,k,batch\n" + "".join("NN," + ",".join(map(str, row)) + "\n" for row in rows)
        theirs = program(["predict", "gemm", "--gpu", "h200", "--precision", precision, "--from", "-"], input=text).stdout.splitlines()
        header = theirs[0].split(",")
        mine = tw.gemm(*zip(*rows), layout="NN", gpu="h200", precision=precision)
        for i, line in enumerate(theirs[1:]):
            row = dict(zip(header, line.split(",")))
            for name in ("low", "high", "predicted"):
                time_s = getattr(mine, "time_s" if name == "predicted" else name + "_s")[i]
                self.assertTrue(math.isclose(1e6 * time_s, float(row[name + "_us"]), rel_tol=1e-4), line)
            self.assertEqual(int(mine.tile_m[i]), int(row["tile_m"]), line)

    def test_without_numpy(self):
        with_it = tw.gemm([64, 4096], 4096, [128, 512], gpu="h200")
        kept, products.numpy = products.numpy, None
        try:
            without = tw.gemm([64, 4096], 4096, [128, 512], gpu="h200")
            one = tw.gemm(64, 4096, 128, gpu="h200")
        finally:
            products.numpy = kept
        self.same(without.time_s, list(with_it.time_s), "time_s")
        self.same(without.flops_per_s, list(with_it.flops_per_s), "flops_per_s")
        self.assertEqual(one.time_s, without.time_s[0])

    def test_refusals(self):
        for sizes, flags, where in [((0, 1, 1), {"gpu": "h200"}, "m[0]"), ((1, 1, 1), {}, "--gpu"), ((1, 1, 1), {"gpu": "h200", "layout": "TT"}, "layout"),
                                    ((1, [1, -1], 1), {"gpu": "h200"}, "n[1]"), ((1, 1, 1), {"gpu": "h200", "precision": "int4"}, "--precision"),
                                    ((1, 1, 1), {"gpu": "h200", "tp": 2}, "--tp"), ((1, 1, 1), {"gpu": "h200", "heads": 2}, "--heads")]:
            with self.assertRaises(tw.Error) as raised:
                tw.gemm(*sizes, **flags)
            self.assertEqual(raised.exception.where, where)
        with self.assertRaises(TypeError):
            tw.gemm(1.5, 1, 1, gpu="h200")

    def test_arrays_of_any_shape(self):
        self.assertEqual(len(tw.gemm([[64, 65], [66, 67]], 64, 64, gpu="h200").to_pandas()), 4)
        self.assertEqual(repr(tw.gemm([[64, 65], [66, 67]], 64, 64, gpu="h200"))[:11], "<4 products")
        self.assertEqual(len(tw.gemm([], 64, 64, gpu="h200").time_s), 0)

    def test_rate(self):
        """By the array, a product costs a small part of what asking for it alone does."""
        import numpy
        sizes = numpy.random.default_rng(1).integers(1, 8192, (3, 200_000))
        began = time.perf_counter()
        tw.gemm(*sizes, gpu="h200")
        by_array = sizes.shape[1] / (time.perf_counter() - began)
        began = time.perf_counter()
        for i in range(50):
            tw.gemm(*(int(size) for size in sizes[:, i]), gpu="h200")
        by_loop = 50 / (time.perf_counter() - began)
        print(f"\ngemm: {by_array:,.0f} products/s by the array, {by_loop:,.0f} in a Python loop", file=sys.stderr)
        self.assertGreater(by_array, 20 * by_loop)


WIDE = {"gpu": "h200", "tolerance": 0.3, "min_depth": 0.2, "aspect": "0.2..5", "step": "hidden=8,ffn=8", "threads": 1}
# A shell's background jobs ignore the signal, and their children would, too.
LONG = f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler); import tilewright as tw; print('begins', flush=True); tw.search('llama-3-8b', **{WIDE})"


class WhileItWorks(unittest.TestCase):
    def test_other_threads_run(self):
        counted, done = 0, threading.Event()
        worker = threading.Thread(target=lambda: (tw.search("llama-3-8b", **WIDE), done.set()))
        worker.start()
        while not done.wait(0.001):
            counted += 1
        worker.join()
        self.assertGreater(counted, 10)

    def test_questions_from_several_threads(self):
        expected = tw.predict("gpt2", gpu="h200").time_s
        found = []
        threads = [threading.Thread(target=lambda: found.append(tw.predict("gpt2", gpu="h200").time_s)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [expected] * 8)

    def test_interrupt(self):
        with subprocess.Popen([sys.executable, "-c", LONG], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
            child.stdout.readline()
            time.sleep(0.3)
            self.assertIsNone(child.poll(), "the search is too short to be interrupted")
            child.send_signal(signal.SIGINT)
            _, errors = child.communicate(timeout=60)
        self.assertIn("KeyboardInterrupt", errors)


if __name__ == "__main__":
    unittest.main()

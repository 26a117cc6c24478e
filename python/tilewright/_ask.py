"""From Python's words to the program's and back: flags, shapes, problems."""
from __future__ import annotations

import gzip
import json
import os
import pathlib
import re
import sys
import tempfile
import warnings
from typing import Any, NamedTuple

from . import _tilewright

TABLE = {verb: {flag[1]: flag for flag in flags} for verb, flags in _tilewright.flags().items()}
NOT_KEYWORDS = {"--help", "--json", "--format", "--write-baseline"}  # the answer is an object; `run` has them all
BULK = "In bulk"  # a file in, a file out: for `run`, or for `gemm`
DEVICE_TROUBLE, INTERRUPTED = 3, 130
BAD_INPUT = 2


class Problem(NamedTuple):
    """One fault in what was asked: where it is, what is wrong, what to do about it."""

    where: str
    line: int
    what: str
    fix: str

    def __str__(self) -> str:
        place = f"{self.where}:{self.line}" if self.line else self.where
        return (f"{place}: " if place else "") + self.what + (f"\n  fix: {self.fix}" if self.fix else "")


class Error(ValueError):
    """What was asked cannot be answered. `problems` has all that is wrong; `where`, `what` and `fix` are the first one's.

    >>> import tilewright as tw
    >>> try:
    ...     tw.predict("gpt2", gpu="h201")
    ... except tw.Error as error:
    ...     print(error.where, "|", error.what)
    h201 | is no known device
    """

    def __init__(self, problems: list[Problem]):
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems
        self.where, self.line, self.what, self.fix = problems[0] if problems else Problem("", 0, "failed", "")

    def __reduce__(self) -> tuple[Any, ...]:
        """Comes back whole from another process, where a pool may have raised it."""
        return type(self), (self.problems,)


class AssumedWarning(UserWarning):
    """What the program had to assume, or could not do."""


class Record(dict):  # type: ignore[type-arg]
    """A part of an answer: a dict whose keys are also attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"this answer has no {name}; it has {', '.join(self)}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]


class Reply(NamedTuple):
    code: int
    text: str
    warnings: list[str]
    other: str = ""  # the same answer as text where `text` is JSON, and the other way round

    def warn(self, stacklevel: int) -> None:
        for warning in self.warnings:
            warnings.warn(warning, AssumedWarning, stacklevel=stacklevel + 1)


def keyword(flag: str) -> str:
    """--kv-heads -> kv_heads; --from -> from_, since `from` is Python's own."""
    name = flag.removeprefix("--").replace("-", "_")
    return name + "_" if name == "from" else name


def keywords(verb: str) -> dict[str, tuple[str, str, str, str, str]]:
    """The flags of a verb's function by their keywords: group, name, value, kind, help."""
    return {keyword(name): flag for name, flag in TABLE[verb].items() if name not in NOT_KEYWORDS and flag[0] != BULK}


def checked(verb: str, flags: dict[str, Any]) -> dict[str, Any]:
    """Flags that the verb's function can honour. What is no flag at all the program refuses, with a suggestion."""
    for name in flags:
        if name not in keywords(verb) and "--" + name.rstrip("_").replace("_", "-") in TABLE[verb]:
            raise TypeError(f"{name} is no keyword here: tilewright.run({verb!r}, ...) takes it")
    return dict(flags)


def words_of(verb: str, flags: dict[str, Any]) -> list[str]:
    """Keywords as the command line has them. None and False leave a switch out; a sequence is joined by commas."""
    words = []
    for name, value in flags.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        known = TABLE.get(verb, {}).get(flag)
        if value is None:
            continue
        if known and known[3] == "switch" and not isinstance(value, str):
            words += [flag] if value else []
            continue
        if isinstance(value, bool):
            value = "yes" if value else "no"
        elif isinstance(value, (list, tuple)):
            value = ",".join(map(str, value))
        words.append(f"{flag}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    return words


def ask(words: list[str]) -> Reply:
    """Runs the program in process. Raises Error where it cannot answer."""
    code, text, other, problems, warned = _tilewright.ask(words)
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    if code in (BAD_INPUT, DEVICE_TROUBLE):
        raise Error([Problem(*problem) for problem in problems])
    return Reply(code, text, warned, other)


def is_module(shape: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(shape, torch.nn.Module)


class Asked:
    """A question that can be asked again, in another form."""

    def __init__(self, verb: str, shapes: tuple[Any, ...], flags: dict[str, Any]):
        self.verb, self.flags = verb, checked(verb, flags)
        self.shapes = [self._plain(shape) for shape in shapes]

    def _plain(self, shape: Any) -> Any:
        """A name, a path or a value that JSON can hold."""
        if is_module(shape):
            from ._capture import capture
            case = {name: self.flags.pop(name) for name in ("batch", "seq", "phase") if self.flags.get(name) is not None}
            return capture(shape, **case)
        if hasattr(shape, "to_dict"):
            shape = shape.to_dict()
        if isinstance(shape, (str, os.PathLike)):
            return os.fspath(shape)
        if isinstance(shape, dict):
            return shape
        raise TypeError(f"a shape is a name, a path, a dict, something with to_dict() or an nn.Module, not {type(shape).__name__}")

    def reply(self, *more: str) -> Reply:
        """Values become files for as long as the program reads them."""
        with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
            operands = [shape if isinstance(shape, str) else write_shape(shape, pathlib.Path(folder, str(i)))
                        for i, shape in enumerate(self.shapes)]
            ours = folder + os.sep  # no file of the user's, so no name of it is said
            try:
                reply = ask([self.verb, *words_of(self.verb, self.flags), *more, "--", *operands])
            except Error as error:
                raise Error([problem._replace(where=problem.where.replace(ours, "shape ")) for problem in error.problems]) from None
            return reply._replace(warnings=[warning.replace(ours, "shape ") for warning in reply.warnings])

    def values(self, *more: str) -> tuple[Record, Reply]:
        reply = self.reply("--json", *more)
        return json.loads(reply.text, object_hook=Record), reply


def write_shape(shape: dict[str, Any], folder: pathlib.Path) -> str:
    """A config.json in a folder of the model's name, or a captured graph."""
    name = str(shape.get("_name_or_path") or shape.get("model_type") or "shape").rstrip("/").rpartition("/")[2]
    folder = folder / (re.sub(r"[^\w.+-]", "-", name).lstrip(".")[:80] or "shape")  # whatever it is, it can be a folder
    folder.mkdir(parents=True)
    text = json.dumps(shape, default=str)
    if str(shape.get("schema", "")).startswith("tilewright.graph/"):
        path = folder / "graph.json.gz"
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path = folder / "config.json"
        path.write_text(text)
    return str(path)

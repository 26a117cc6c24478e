"""The program's verbs. Keywords are its flags with underscores; verbs.pyi lists them with their types."""
from __future__ import annotations

import inspect
import pathlib
import tempfile
from typing import Any

from ._ask import Asked, Reply, ask, keywords, words_of
from .answers import Candidates, Comparison, Findings, Page, Plans, Prediction


def predict(shape: Any, **flags: Any) -> Prediction:
    """Time per kernel, layer and step; tokens/s, MFU, memory.

    >>> import tilewright as tw
    >>> step = tw.predict("llama-3-8b", gpu="h100", batch=8)
    >>> step.fits, step.tokens_per_step
    (False, 16384)
    >>> step.step.low < step.step < step.step.high
    True
    >>> sum(part.share for part in step.components) > 0.99
    True
    """
    return Prediction(Asked("predict", (shape,), flags))


def lint(*shapes: Any, **flags: Any) -> Findings:
    """Sizing rules the shapes break, what each costs, how to fix it.

    >>> import tilewright as tw
    >>> [finding.rule for finding in tw.lint("gpt2", gpu="h200").findings][:1]
    ['vocabulary-not-aligned']
    """
    return Findings(Asked("lint", shapes, flags))


def search(shape: Any, **flags: Any) -> Candidates:
    """Faster shapes of equal size. Other threads run meanwhile; Ctrl-C stops it.

    >>> import tilewright as tw
    >>> found = tw.search("gpt3-2.7b", gpu="h200", only=["heads", "head_dim"])
    >>> found.exhaustive, found.candidates[0].speedup > 1
    (True, True)
    """
    return Candidates(Asked("search", (shape,), flags))


def advise(shape: Any, **flags: Any) -> Candidates:
    """Where the time goes, what wastes the chip, which equal-size shape is faster.

    >>> import tilewright as tw
    >>> answer = tw.advise("gpt2", gpu="h200")
    >>> answer.findings[0].code, len(answer.recommendation) > 0
    ('TW001', True)
    """
    return Candidates(Asked("advise", (shape,), flags))


def compare(*shapes: Any, **flags: Any) -> Comparison:
    """Side by side, by component; the first is the baseline.

    >>> import tilewright as tw
    >>> before, after = tw.compare("gpt3-2.7b", gpu="h200", heads=20).shapes
    >>> after.speedup > 1
    True
    """
    return Comparison(Asked("compare", shapes, flags))


def plan(shape: Any, **flags: Any) -> Plans:
    """How to split a model over many GPUs: the fastest plans that fit, and what a run costs.

    >>> import tilewright as tw
    >>> best = tw.plan("llama-3-8b", cluster="dgx-h100", gpus=8, global_batch="64").plans[0]
    >>> best.fits
    True
    """
    return Plans(Asked("plan", (shape,), flags))


def report(*shapes: Any, **flags: Any) -> Page:
    """A page to look at, or with `svg` one of its pictures; `output` writes it too.

    >>> import tilewright as tw
    >>> tw.report("gpt2", gpu="h200", svg="time").text[:4]
    '<svg'
    """
    output = flags.pop("output", None)
    with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
        path = pathlib.Path(folder, "report")
        Asked("report", shapes, flags | {"output": path}).reply().warn(stacklevel=2)
        page = Page(path.read_text(encoding="utf-8"))
    if output is not None:
        page.save(output)
    return page


def run(verb: str, *operands: str, **flags: Any) -> Reply:
    """Any verb as the command line has it: exit code, text, warnings. A file that it writes needs `output`.

    >>> import tilewright as tw
    >>> "h200" in tw.run("devices", "h200").text
    True
    """
    return ask([verb, *words_of(verb, flags), "--", *operands])


def _tell_keywords(function: Any) -> None:
    """Gives `help()` and completion the keywords that the table of flags has."""
    flags = keywords(function.__name__)
    positional = [each for each in inspect.signature(function).parameters.values() if each.kind is not each.VAR_KEYWORD]
    named = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in flags]
    function.__signature__ = inspect.Signature([*positional, *named])
    told = "".join(f"\n{name}: {help}" + (f" [{value}]" if kind == "choice" else "") for name, (_, _, value, kind, help) in flags.items())
    function.__doc__ = inspect.cleandoc(function.__doc__ or "") + "\n\nKeywords:\n" + told.replace("\n", "\n    ")[1:]


for _verb in (predict, lint, search, advise, compare, plan, report):
    _tell_keywords(_verb)

"""What the verbs answer: the program's JSON as attributes, its text as repr."""
from __future__ import annotations

import html
import json
import pathlib
from typing import Any

from ._ask import Asked, Record


class Interval(float):
    """A number with its 90% interval."""

    low: float
    high: float

    def __new__(cls, value: float, low: float, high: float) -> Interval:
        self = super().__new__(cls, value)
        self.low, self.high = low, high
        return self

    def __getnewargs__(self) -> tuple[float, float, float]:  # type: ignore[override]
        return float(self), self.low, self.high

    def __repr__(self) -> str:
        return f"{float(self):.6g} ({self.low:.6g} to {self.high:.6g})"


class Answer:
    """An answer. Every key of the program's JSON (docs/formats.md) is an attribute; `repr` is the program's own text."""

    _rows: tuple[str, ...] = ()  # the keys whose list makes the table, whichever is there

    def __init__(self, asked: Asked):
        self._asked = asked
        self._value, reply = asked.values()
        self._json = reply.text
        reply.warn(stacklevel=3)  # at the line that asked
        self._text = reply.other.rstrip("\n")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._value, name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._value]

    def __repr__(self) -> str:
        if not self._text:
            self._text = self._asked.reply().text.rstrip("\n")
        return self._text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"

    def to_dict(self) -> dict[str, Any]:
        """The whole answer as plain values."""
        value: dict[str, Any] = json.loads(self._json)
        return value

    def rows(self) -> list[Record]:
        """The answer's table: components (of a captured graph modules), findings, candidates, shapes or plans."""
        found: list[Record] = next((self._value[key] for key in self._rows if key in self._value), [])
        return found

    def to_pandas(self) -> Any:
        """The table as a DataFrame, nested keys with dots. Needs pandas."""
        import pandas
        return pandas.json_normalize(self.rows())


class Prediction(Answer):
    """Of `predict`: what a step takes, and why."""

    _rows = ("components", "modules")

    @property
    def step(self) -> Interval:
        """Seconds of the whole step, or of the layer with scope="layer"."""
        return Interval(self._value.time_s, self._value.low_s, self._value.high_s)

    @property
    def kernels(self) -> list[Record]:
        """Every kernel with its sizes, counts, times and the terms of its time."""
        if "kernels" not in self._value:
            self._value["kernels"] = self._asked.values("--why")[0]["kernels"]
        found: list[Record] = self._value["kernels"]
        return found


class Findings(Answer):
    """Of `lint`: the rules that are broken."""

    @property
    def findings(self) -> list[Record]:
        """All of them; of several files one after the other, each with its file."""
        if "files" not in self._value:
            return list(self._value.findings)
        return [Record(finding, file=file.file) for file in self._value.files for finding in file.findings]

    def rows(self) -> list[Record]:
        return self.findings


class Candidates(Answer):
    """Of `search` and `advise`: shapes of equal size, the best of each kind first."""

    _rows = ("candidates",)


class Comparison(Answer):
    """Of `compare`: `shapes` side by side, the first the baseline, or one shape on several `gpus`."""

    _rows = ("shapes", "gpus")


class Plans(Answer):
    """Of `plan`: splits over a cluster, the fastest first, or points of serving."""

    _rows = ("plans", "points")


class Page:
    """Of `report`: a page of HTML, or a picture as SVG."""

    def __init__(self, text: str):
        self.text = text

    def __repr__(self) -> str:
        return f"<{'picture' if self._is_picture() else 'page'} of {len(self.text):,} characters; save() writes it>"

    def _is_picture(self) -> bool:
        return self.text.lstrip().startswith("<svg")

    def _repr_html_(self) -> str:
        if self._is_picture():
            return self.text
        return f'<iframe srcdoc="{html.escape(self.text)}" style="width:100%;height:40em;border:0"></iframe>'

    def save(self, path: str | pathlib.Path) -> None:
        pathlib.Path(path).write_text(self.text, encoding="utf-8")

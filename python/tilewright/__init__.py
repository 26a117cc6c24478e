"""Fits a transformer's shape to the GPU and the software it will run on.

>>> import tilewright as tw
>>> step = tw.predict("llama-3-8b", gpu="h200", phase="decode", batch=32, seq=4096)
>>> step.evidence
'fitted'

A shape is a catalogue name, a path (config.json, our TOML, a captured graph), a dict, anything with `to_dict()` such as a
Hugging Face config, or an nn.Module, which is captured. The answers are those of the program: docs/python.md.
"""
from ._ask import AssumedWarning, Error, Problem, Record, Reply
from ._capture import capture
from ._tilewright import version as __version__
from .answers import Answer, Candidates, Comparison, Findings, Interval, Page, Plans, Prediction
from .products import Products, gemm
from .verbs import advise, compare, lint, plan, predict, report, run, search

__all__ = ["Answer", "AssumedWarning", "Candidates", "Comparison", "Error", "Findings", "Interval", "Page", "Plans", "Prediction",
           "Problem", "Products", "Record", "Reply", "__version__", "advise", "capture", "compare", "gemm", "lint", "plan", "predict",
           "report", "run", "search"]

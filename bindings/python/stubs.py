"""Prints python/tilewright/verbs.pyi from the program's table of flags: python3 bindings/python/stubs.py >python/tilewright/verbs.pyi"""
from tilewright import _tilewright
from tilewright._ask import keyword

ANSWERS = {"predict": "Prediction", "lint": "Findings", "search": "Candidates", "advise": "Candidates", "compare": "Comparison",
           "plan": "Plans", "report": "Page"}
MANY = {"lint", "compare", "report"}
NOT_KEYWORDS = {"--help", "--json", "--format", "--write-baseline"}  # the answer is an object; `run` has them all
BULK = "In bulk"                                 # a file in, a file out: for `run`, or for `gemm`


def type_of(value, kind):
    if kind == "choice":
        words = value.split("|")
        return ("bool | " if words == ["yes", "no"] else "") + f"Literal[{', '.join(repr(word) for word in words)}]"
    return {"switch": "bool", "count": "int", "length": "int | str", "real": "float", "text": "Text"}[kind]


def keywords(verb):
    """{keyword: type} of a verb's function."""
    return {keyword(name): type_of(value, kind) for group, name, value, kind, _ in _tilewright.flags()[verb]
            if name not in NOT_KEYWORDS and group != BULK}


def stub(verb):
    shape = "*shapes: Shape" if verb in MANY else "shape: Shape, *"
    flags = "".join(f"    {name}: {kind} | None = ...,\n" for name, kind in keywords(verb).items())
    return f"def {verb}(\n    {shape},\n{flags}) -> {ANSWERS[verb]}: ...\n"


def main():
    print('"""Generated from the table of flags by bindings/python/stubs.py."""')
    print("import os\nfrom typing import Any, Literal, Sequence, Union\n")
    print("from ._ask import Reply\nfrom .answers import Candidates, Comparison, Findings, Page, Plans, Prediction\n")
    print("Shape = Any\nText = Union[str, int, float, os.PathLike[str], Sequence[Union[str, int, float]]]\n")
    print("\n".join(stub(verb) for verb in ANSWERS))
    print("def run(verb: str, *operands: str, **flags: Any) -> Reply: ...")


if __name__ == "__main__":
    main()

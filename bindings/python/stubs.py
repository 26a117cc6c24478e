"""Prints python/tilewright/verbs.pyi from the program's table of flags: python3 bindings/python/stubs.py >python/tilewright/verbs.pyi"""
from tilewright._ask import keywords

ANSWERS = {"predict": "Prediction", "lint": "Findings", "search": "Candidates", "advise": "Candidates", "compare": "Comparison",
           "plan": "Plans", "report": "Page"}
MANY = {"lint", "compare", "report"}


def type_of(value, kind):
    if kind == "choice":
        words = value.split("|")
        return ("bool | " if words == ["yes", "no"] else "") + f"Literal[{', '.join(repr(word) for word in words)}]"
    return {"switch": "bool", "count": "int", "length": "int | str", "real": "float", "text": "Text"}[kind]


def stub(verb):
    shape = "*shapes: Shape" if verb in MANY else "shape: Shape, *"
    flags = "".join(f"    {name}: {type_of(value, kind)} | None = ...,\n" for name, (_, _, value, kind, _) in keywords(verb).items())
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

"""Products by the array, at the speed of the program's own loop."""
from __future__ import annotations

import array
from typing import Any

from . import _tilewright
from ._ask import Error, Problem, checked, words_of

try:
    import numpy
except ImportError:  # lists do, one result at a time
    numpy = None  # type: ignore[assignment]


class Products:
    """Prices of products: time_s, low_s, high_s, waves, tile_m and tile_n, each an array, or a number where m, n and k were."""

    time_s: Any
    low_s: Any
    high_s: Any
    waves: Any
    tile_m: Any
    tile_n: Any

    def __init__(self, columns: dict[str, Any], flops: Any):
        self.__dict__.update(columns)
        self.flops = flops

    @property
    def flops_per_s(self) -> Any:
        if isinstance(self.time_s, list):
            return [flops / time for flops, time in zip(self.flops, self.time_s)]
        return self.flops / self.time_s

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _tilewright.gemm_columns}

    def to_pandas(self) -> Any:
        import pandas
        if not hasattr(self.time_s, "__len__"):
            return pandas.DataFrame(self.to_dict(), index=[0])
        return pandas.DataFrame({name: column if isinstance(column, list) else column.reshape(-1) for name, column in self.to_dict().items()})

    def __repr__(self) -> str:
        count = getattr(self.time_s, "size", None) or (len(self.time_s) if hasattr(self.time_s, "__len__") else 1)
        return f"<{count:,} products: {', '.join(_tilewright.gemm_columns)}, flops_per_s>"


def gemm(m: Any, n: Any, k: Any, batch: Any = 1, layout: str = "TN", **flags: Any) -> Products:
    """Prices products C[m,n] = A[m,k] B[k,n], as `predict gemm` does; sizes are numbers or arrays, which are broadcast.

    Flags are those of the device, `precision` and `clock`.

    >>> import tilewright as tw
    >>> one = tw.gemm(m=8192, n=10240, k=2560, gpu="h200")
    >>> one.low_s < one.time_s < one.high_s
    True
    >>> tw.gemm(m=[4096, 4097], n=4096, k=4096, gpu="h200").waves[1] > 1
    True
    """
    words = ["gemm", *words_of("predict", checked("predict", flags))]
    if numpy is None:
        return _without_numpy((m, n, k, batch), layout, words)
    sizes = numpy.broadcast_arrays(*(numpy.asarray(size) for size in (m, n, k, batch)))
    if any(size.dtype.kind not in "iu" and size.size > 0 for size in sizes):
        raise TypeError("sizes are whole numbers")
    flat = [numpy.ascontiguousarray(size, dtype=numpy.int64).reshape(-1) for size in sizes]
    out = numpy.empty((flat[0].size, len(_tilewright.gemm_columns)))
    _price(words, layout, flat, out)
    shape = sizes[0].shape
    columns = {name: out[:, i].reshape(shape) if shape else float(out[0, i]) for i, name in enumerate(_tilewright.gemm_columns)}
    flops = 2.0 * numpy.prod([size.astype(float) for size in sizes], axis=0)
    return Products(columns, flops if shape else float(flops))


def _price(words: list[str], layout: str, sizes: list[Any], out: Any) -> None:
    problems = _tilewright.gemm(words, layout, sizes, out)
    if problems:
        raise Error([Problem(*problem) for problem in problems])


def _without_numpy(sizes: tuple[Any, ...], layout: str, words: list[str]) -> Products:
    lists = [list(size) if hasattr(size, "__len__") else None for size in sizes]
    count = max((len(size) for size in lists if size is not None), default=1)
    flat = [array.array("q", [size] * count if listed is None else listed) for size, listed in zip(sizes, lists)]
    width = len(_tilewright.gemm_columns)
    out = array.array("d", bytes(8 * count * width))
    _price(words, layout, flat, out)
    flops = [2.0 * m * n * k * batch for m, n, k, batch in zip(*flat)]
    columns = {name: list(out[i::width]) for i, name in enumerate(_tilewright.gemm_columns)}
    if any(size is not None for size in lists):
        return Products(columns, flops)
    return Products({name: column[0] for name, column in columns.items()}, flops[0])

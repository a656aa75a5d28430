"""Operators that combine elements along dimensions, and that put them in order."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ttmlir.arrays.array import Array
from ttmlir.arrays.carriers import host_dtype
from ttmlir.composites.ordering import in_opposite_order
from ttmlir.composites.statistics import multiply_running
from ttmlir.frontend.onnx.call import Call, Rule

Reduction = Callable[[Array, Sequence[int]], Array]
"""Reduces dimensions, which keep an extent of 1."""


def _rule(reduction: Reduction, empty: float, *, element: Reduction | None = None) -> Rule:
    """A reduction over `axes`, all if there are none; `empty` is what it makes of no elements.

    `element` is what it makes of each element where no dimension is reduced.
    """

    def rule(call: Call) -> Array:
        x, axes = call.array("data"), call.integers("axes")
        if not axes and call["noop_with_empty_axes"]:
            return x if element is None else element(x, ())
        dims = call.dims(x.rank, axes) if axes else tuple(range(x.rank))
        kept = [1 if i in dims else n for i, n in enumerate(x.shape)]
        if 0 in x.shape:
            found = call.fill(_nothing(x.dtype, empty), kept, x.dtype)
        else:
            found = (reduction if dims else element or reduction)(x, dims)
        if call["keepdims"]:
            return found.reshape(kept)
        return found.reshape([n for i, n in enumerate(x.shape) if i not in dims])

    return rule


def _nothing(dtype: str, number: float) -> float:
    """The least or largest number of a type for an infinity."""
    if "f" in dtype or math.isfinite(number):
        return number
    if dtype == "i1":
        return number > 0
    limits = np.iinfo(host_dtype(dtype))
    return int(limits.max if number > 0 else limits.min)


def _op(mnemonic: str) -> Reduction:
    def reduction(x: Array, dims: Sequence[int]) -> Array:
        if not dims:
            return x
        shape = [1 if i in dims else n for i, n in enumerate(x.shape)]
        parameters = {"keep_dim": True, "dim_arg": tuple(dims)}
        return x.create(mnemonic, shape=shape, parameters=parameters)

    return reduction


def _extreme(mnemonic: str, on_truth: str) -> Reduction:
    def reduction(x: Array, dims: Sequence[int]) -> Array:
        return _op(on_truth if x.dtype == "i1" else mnemonic)(x, dims)

    return reduction


def _absolute(x: Array, dims: Sequence[int]) -> Array:
    return _op("sum")(x.abs(), dims)


def _root(x: Array, dims: Sequence[int]) -> Array:
    wide = x if x.is_real else x.cast("f64")
    return _op("sum")(wide * wide, dims).sqrt().cast(x.dtype)


def _log(x: Array, dims: Sequence[int]) -> Array:
    wide = x if x.is_real else x.cast("f32")
    return _op("sum")(wide, dims).log().cast(x.dtype)


def _log_of_exponentials(x: Array, dims: Sequence[int]) -> Array:
    wide = x if x.is_real else x.cast("f64")
    if not dims:
        return x
    largest = wide.max(*dims)
    # Infinite ones have no difference.
    shift = largest.abs().eq(math.inf).where(0, largest)
    return ((wide - shift).exp().sum(*dims).log() + shift).cast(x.dtype)


def _squares(x: Array, dims: Sequence[int]) -> Array:
    return _op("sum")(x * x, dims)


# -- places ------------------------------------------------------------------------------------


def _arg(*, largest: bool) -> Rule:
    def rule(call: Call) -> Array:
        x = call.array("data")
        dim = call.dim(x.rank, default=0)
        x = x if largest else in_opposite_order(x)
        if not x.rank:
            return call.fill(0, (), "i64")
        if call["select_last_index"]:
            place = x.shape[dim] - 1 - x.reverse(dim).argmax(dim)
        else:
            place = x.argmax(dim)
        return place if call["keepdims"] else place.squeeze(dim)

    return rule


def _top_k(call: Call) -> tuple[Array, Array]:
    x = call.array("X")
    dim = call.dim(x.rank, default=-1)
    count = int(call.number("K") if call.has("K") else call.required("k"))
    if not 0 <= count <= x.shape[dim]:
        call.refuse(f"K is {count}; dimension {dim} has {x.shape[dim]} elements")
    is_largest = call["largest"] is None or bool(call["largest"])
    if not count:
        shape = [0 if i == dim else n for i, n in enumerate(x.shape)]
        return call.fill(0, shape, x.dtype), call.fill(0, shape, "i64")
    values, places = x.sort(dim, descending=is_largest, stable=True)
    return values.cut(dim, 0, count), places.cut(dim, 0, count)


# -- running sums ------------------------------------------------------------------------------


def _running(function: Callable[[Array, int], Array], neutral: int) -> Rule:
    def rule(call: Call) -> Array:
        x = call.array("x")
        dim = call.dims(x.rank, (int(call.number("axis")),), "axis")[0]
        x = x.reverse(dim) if call["reverse"] else x
        if call["exclusive"]:
            margins = [(0, 0)] * x.rank
            margins[dim] = 1, -1
            x = x.pad(margins, neutral)
        found = function(x, dim)
        return found.reverse(dim) if call["reverse"] else found

    return rule


RULES: dict[str, Rule] = {
    "ArgMax": _arg(largest=True),
    "ArgMin": _arg(largest=False),
    "CumProd": _running(multiply_running, 1),
    "CumSum": _running(lambda x, dim: x.cumsum(dim), 0),
    "ReduceL1": _rule(_absolute, 0, element=_absolute),
    "ReduceL2": _rule(_root, 0, element=_root),
    "ReduceLogSum": _rule(_log, -math.inf, element=_log),
    "ReduceLogSumExp": _rule(_log_of_exponentials, -math.inf),
    "ReduceMax": _rule(_extreme("max", "reduce_or"), -math.inf),
    "ReduceMean": _rule(_op("mean"), math.nan),
    "ReduceMin": _rule(_extreme("min", "reduce_and"), math.inf),
    "ReduceProd": _rule(_op("prod"), 1),
    "ReduceSum": _rule(_op("sum"), 0),
    "ReduceSumSquare": _rule(_squares, 0, element=_squares),
    "TopK": _top_k,
}
"""Rules by the names of operators."""

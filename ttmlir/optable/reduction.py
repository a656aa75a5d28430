"""Reductions over some or all dimensions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ttmlir.errors import ArgumentError
from ttmlir.optable.op_definition import (
    Family,
    Flatbuffer,
    Kind,
    OpDefinition,
    Operand,
    Parameter,
    Shape,
)

_PARAMETERS = (
    Parameter(name="keep_dim", kind=Kind.BOOL, doc="Keep the reduced dimensions with extent 1."),
    Parameter(
        name="dim_arg",
        kind=Kind.I32_ARRAY,
        optional=True,
        doc="Dimensions to reduce, counted from the end if negative; all of them if absent.",
    ),
)
_FIELDS = (
    ("type", "type"),
    ("in", "input"),
    ("out", "output"),
    ("dim_arg", "dim_arg"),
    ("keep_dim", "keep_dim"),
)


def reduced_shape(input: Shape, *, keep_dim: bool, dim_arg: tuple[int, ...] | None = None) -> Shape:
    """Shape of a reduction's result; ValueError for a dimension missing or named twice."""
    rank = len(input)
    dims = range(rank) if dim_arg is None else dim_arg
    for dim in dims:
        if not -rank <= dim < rank:
            raise ArgumentError(f"Reduction dimension {dim} is out of range for rank {rank}.")
    reduced = {dim % rank for dim in dims}
    if len(reduced) != len(dims):
        raise ArgumentError("Reduction dimensions must differ from each other.")
    if keep_dim:
        return tuple(1 if i in reduced else extent for i, extent in enumerate(input))
    return tuple(extent for i, extent in enumerate(input) if i not in reduced)


def _position_shape(
    input: Shape, *, keep_dim: bool, dim_arg: tuple[int, ...] | None = None
) -> Shape:
    """Shape of positions; ValueError where there is no element that could have one."""
    shape = reduced_shape(input, keep_dim=keep_dim, dim_arg=dim_arg)
    dims = range(len(input)) if dim_arg is None else dim_arg
    if empty := [dim for dim in dims if input[dim] == 0]:
        raise ArgumentError(
            f"Dimension {empty[0]} has no elements, so none of them is the largest."
        )
    return shape


def _reduction(
    mnemonic: str,
    summary: str,
    formula: str,
    kind: str,
    reference: Callable[..., Any],
    since: str = "2026-08",
    *,
    combiner: str = "",
    aliases: str = "",
    result_shape: Callable[..., Shape] = reduced_shape,
) -> OpDefinition:
    return OpDefinition(
        mnemonic=mnemonic,
        summary=summary,
        formula=formula,
        family=Family.REDUCTION,
        operands=(Operand(name="input"),),
        parameters=_PARAMETERS,
        reference=reference,
        result_shape=result_shape,
        flatbuffer=Flatbuffer(table="ReductionOp", kind=kind, fields=_FIELDS),
        since=since,
        combiner=combiner,
        aliases=tuple(aliases.split()),
    )


def _by(function: str) -> Callable[..., Any]:
    """A reduction that NumPy has."""

    def reference(
        xp: Any, input: Any, *, keep_dim: bool, dim_arg: tuple[int, ...] | None = None
    ) -> Any:
        reduce: Callable[..., Any] = getattr(xp, function)
        return reduce(input, axis=dim_arg, keepdims=keep_dim)

    return reference


def mean(
    xp: Any,
    input: Any,
    *,
    keep_dim: bool,
    dim_arg: tuple[int, ...] | None = None,
    dtype: Any = None,
) -> Any:
    """The mean, accumulated in `dtype`; NaN of no numbers, without NumPy's warning about it."""
    if input.size:
        return xp.mean(input, axis=dim_arg, keepdims=keep_dim, dtype=dtype)
    sums = xp.sum(input, axis=dim_arg, keepdims=keep_dim, dtype=dtype or float)
    return xp.full_like(sums, xp.nan)


def _extreme(function: str) -> Callable[..., Any]:
    """The largest or smallest number; of no numbers, what leaves every other as it is."""

    def reference(
        xp: Any, input: Any, *, keep_dim: bool, dim_arg: tuple[int, ...] | None = None
    ) -> Any:
        reduce: Callable[..., Any] = getattr(xp, function)
        if input.size:
            found = reduce(input, axis=dim_arg, keepdims=keep_dim)
            if not xp.issubdtype(input.dtype, xp.floating) or not (found == 0).any():
                return found
            # 0 is larger than -0, which NumPy takes for equal.
            is_zero = (input == 0) & (xp.signbit(input) == (function == "min"))
            wanted = -0.0 if function == "min" else 0.0
            has_zero = xp.any(is_zero, axis=dim_arg, keepdims=keep_dim)
            return xp.where((found == 0) & has_zero, xp.full_like(found, wanted), found)
        if input.dtype == bool:
            neutral = function == "min"
        elif xp.issubdtype(input.dtype, xp.integer):
            limits = xp.iinfo(input.dtype)
            neutral = limits.min if function == "max" else limits.max
        else:
            neutral = -xp.inf if function == "max" else xp.inf
        return reduce(input, axis=dim_arg, keepdims=keep_dim, initial=neutral)

    return reference


def _argmax(xp: Any, input: Any, *, keep_dim: bool, dim_arg: tuple[int, ...] | None = None) -> Any:
    """Positions in row-major order of the reduced dimensions, the first one of equals."""
    rank = input.ndim
    dims = tuple(range(rank)) if dim_arg is None else tuple(dim % rank for dim in dim_arg)
    kept = [dim for dim in range(rank) if dim not in dims]
    shape = [input.shape[dim] for dim in kept]
    count = math.prod(input.shape[dim] for dim in dims)
    rows = xp.reshape(xp.transpose(input, (*kept, *sorted(dims))), (*shape, count))
    found = xp.argmax(rows, axis=-1)
    return xp.expand_dims(found, dims) if keep_dim else found


_REFERENCE = "880154e3c2"

DEFINITIONS = (
    _reduction(
        "sum",
        "Sum over dimensions.",
        "sum(x)",
        "Sum",
        _by("sum"),
        _REFERENCE,
        combiner="add",
        aliases="tosa.reduce_sum aten.sum",
    ),
    _reduction(
        "mean", "Mean over dimensions.", "sum(x) / n", "Mean", mean, _REFERENCE, aliases="aten.mean"
    ),
    _reduction(
        "max",
        "Largest value over dimensions.",
        "max(x)",
        "Max",
        _extreme("max"),
        _REFERENCE,
        combiner="maximum",
        aliases="tosa.reduce_max aten.amax aten.max.default",
    ),
    _reduction(
        "min",
        "Smallest value over dimensions.",
        "min(x)",
        "Min",
        _extreme("min"),
        combiner="minimum",
        aliases="tosa.reduce_min aten.amin aten.min.default",
    ),
    _reduction(
        "prod",
        "Product over dimensions.",
        "prod(x)",
        "Prod",
        _by("prod"),
        combiner="multiply",
        aliases="tosa.reduce_prod tosa.reduce_product aten.prod",
    ),
    _reduction(
        "reduce_and",
        "1 where all elements over dimensions are other than 0, else 0.",
        "all(x)",
        "ReduceAnd",
        _by("all"),
        combiner="logical_and",
        aliases="tosa.reduce_all",
    ),
    _reduction(
        "reduce_or",
        "1 where any element over dimensions is other than 0, else 0.",
        "any(x)",
        "ReduceOr",
        _by("any"),
        combiner="logical_or",
        aliases="tosa.reduce_any",
    ),
    _reduction(
        "argmax",
        "Position of the largest value, or of NaN, over dimensions: the first one of equals.",
        "argmax(x)",
        "ArgMax",
        _argmax,
        result_shape=_position_shape,
    ),
)


def by_combiner(combiner: OpDefinition) -> OpDefinition | None:
    """The reduction that repeats an operation on two tensors; None if there is none."""
    return next(
        (definition for definition in DEFINITIONS if definition.combiner == combiner.mnemonic), None
    )

"""Reductions over some or all dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttmlir.optable.row import Family, Flatbuffer, Kind, Operand, Parameter, Row, Shape

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
            raise ValueError(f"Reduction dimension {dim} is out of range for rank {rank}.")
    reduced = {dim % rank for dim in dims}
    if len(reduced) != len(dims):
        raise ValueError("Reduction dimensions must differ from each other.")
    if keep_dim:
        return tuple(1 if i in reduced else extent for i, extent in enumerate(input))
    return tuple(extent for i, extent in enumerate(input) if i not in reduced)


def _reduction(
    mnemonic: str, summary: str, formula: str, kind: str, function: str, since: str
) -> Row:
    def reference(
        xp: Any, input: Any, *, keep_dim: bool, dim_arg: tuple[int, ...] | None = None
    ) -> Any:
        reduce: Callable[..., Any] = getattr(xp, function)
        return reduce(input, axis=dim_arg, keepdims=keep_dim)

    return Row(
        mnemonic=mnemonic,
        summary=summary,
        formula=formula,
        family=Family.REDUCTION,
        operands=(Operand(name="input"),),
        parameters=_PARAMETERS,
        reference=reference,
        result_shape=reduced_shape,
        flatbuffer=Flatbuffer(table="ReductionOp", kind=kind, fields=_FIELDS),
        since=since,
    )


ROWS = (
    _reduction("sum", "Sum over dimensions.", "sum(x)", "Sum", "sum", "880154e3c2"),
    _reduction("mean", "Mean over dimensions.", "sum(x) / n", "Mean", "mean", "880154e3c2"),
    _reduction("max", "Largest value over dimensions.", "max(x)", "Max", "max", "880154e3c2"),
    _reduction("min", "Smallest value over dimensions.", "min(x)", "Min", "min", "2026-08"),
    _reduction("prod", "Product over dimensions.", "prod(x)", "Prod", "prod", "2026-08"),
)

"""Rules of `ttir-decomposition` for reductions and picked elements of 2026.

Elements are picked and put by `rows_gather` and `rows_scatter`, which take an index for each of the
first dimensions of a tensor: `sizes` are their extents, `windows` those of what each index stands
for. A line of indices for a dimension that is not looked up counts along it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import AnyFloat, IntegerType, Signedness, TensorType, i1

from ttmlir.ir.tensor_types import element_type, invert_permutation, tensor_like, value_shape
from ttmlir.passes.ttir.value_rewriting import (
    adapted,
    inputs_of,
    made_by,
    parameters_of,
    permute_late,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.builder import Builder
    from ttmlir.ir.greedy_rewriting import Rule

_SI32 = IntegerType(32, Signedness.SIGNED)
_MOST_FACTORS = 16
"""Integers are multiplied with each other exactly up to so many."""
_MOVES = ("reshape", "permute", "transpose", "broadcast", "slice")
_TRUTH = (
    *("eq", "ne", "gt", "ge", "lt", "le", "isfinite"),
    *("logical_and", "logical_or", "logical_xor", "logical_not"),
)
"""Operations whose results are 0 and 1; a cast to truth values leaves other numbers as they are."""

# --- Reductions -----------------------------------------------------------------------------------


def _is_truth(value: SSAValue) -> bool:
    """True if all elements are 0 or 1."""
    while (move := made_by(value, *_MOVES)) is not None:
        value = inputs_of(move)[0]
    return made_by(value, *_TRUTH) is not None


def _reduce_and(op: Operation, builder: Builder) -> SSAValue | None:
    """The least of zeros and ones; the product of other numbers."""
    [source] = inputs_of(op)
    mnemonic = "min" if _is_truth(source) else "prod"
    return builder.create(mnemonic, (source,), op.results[0].type, **parameters_of(op))


def _reduce_or(op: Operation, builder: Builder) -> SSAValue | None:
    """The sum, which is 0 where all are."""
    return builder.create("sum", inputs_of(op), op.results[0].type, **parameters_of(op))


def _is_long_product(op: Operation) -> bool:
    """True for products along several dimensions, but not all, and short ones of integers."""
    [source], dims = inputs_of(op), _dims_of(op)
    extents = value_shape(source)
    if isinstance(element_type(source), AnyFloat):
        return 1 < len(dims) < len(extents)
    return len(dims) == 1 and 0 < extents[dims[0]] <= _MOST_FACTORS and element_type(source) != i1


def _dims_of(op: Operation) -> tuple[int, ...]:
    rank = len(value_shape(inputs_of(op)[0]))
    dims = parameters_of(op).get("dim_arg", tuple(range(rank)))
    return tuple(sorted(dim % rank for dim in cast("tuple[int, ...]", dims)))


def _prod(op: Operation, builder: Builder) -> SSAValue | None:
    """One dimension after the other, last first; the factors of integers one by one."""
    if not _is_long_product(op):
        return None
    [value], dims = inputs_of(op), _dims_of(op)
    if isinstance(element_type(value), AnyFloat):
        keeps = bool(parameters_of(op)["keep_dim"])
        for dim in reversed(dims):
            extents = [*value_shape(value)]
            extents[dim : dim + 1] = [1] if keeps else []
            type_ = tensor_like(value, extents)
            value = builder.create("prod", (value,), type_, dim_arg=(dim,), keep_dim=keeps)
        return value
    [dim] = dims
    parts = [builder.slice_along(value, dim, n, n + 1) for n in range(value_shape(value)[dim])]
    product, *others = parts
    for part in others:
        product = builder.create("multiply", (product, part), product.type)
    return builder.reshape(product, value_shape(op.results[0]))


# --- Picking elements -----------------------------------------------------------------------------


def _reverse(op: Operation, builder: Builder) -> SSAValue | None:
    """The reversed dimensions in front, and their elements picked from the last one."""
    [value] = inputs_of(op)
    shape = value_shape(value)
    dims = sorted(cast("tuple[int, ...]", parameters_of(op)["dimensions"]))
    if not dims or not math.prod(shape):
        return value
    order = [*dims, *(dim for dim in range(len(shape)) if dim not in dims)]
    front = permute_late(builder, value, order)
    count = math.prod(shape[dim] for dim in dims)
    rows = builder.reshape(front, (1, count, math.prod(shape) // count))
    places = _count(builder, count, backwards=True)
    picked = builder.create(
        "rows_gather",
        (rows, builder.reshape(places, (1, 1, count))),
        rows.type,
        sizes=(count,),
        windows=(1,),
    )
    back = builder.reshape(picked, value_shape(front))
    return permute_late(builder, back, invert_permutation(order))


def _count(builder: Builder, count: int, *, backwards: bool = False) -> SSAValue:
    """The numbers from 0, or down to it."""
    start, end, step = (count - 1, -1, -1) if backwards else (0, count, 1)
    return builder.create(
        "arange",
        (),
        TensorType(_SI32, (count,)),
        start=start,
        end=end,
        step=step,
        arange_dimension=0,
    )


def _gather(op: Operation, builder: Builder) -> SSAValue | None:
    """An element for each index, whose other dimensions count."""
    (value, indices) = inputs_of(op)
    dim = cast("int", parameters_of(op)["dim"])
    sizes, places = _places(builder, value_shape(value), indices, dim)
    count = math.prod(value_shape(indices))
    table = builder.reshape(value, (1, *sizes))
    picked = builder.create(
        "rows_gather",
        (table, places),
        tensor_like(value, (1, count)),
        sizes=sizes,
        windows=(1,) * len(sizes),
        column=True,
    )
    return builder.reshape(picked, value_shape(op.results[0]))


def _scatter(op: Operation, builder: Builder) -> SSAValue | None:
    """An element written for each index, whose other dimensions count."""
    (value, indices, source) = inputs_of(op)
    parameters = parameters_of(op)
    sizes, places = _places(builder, value_shape(value), indices, cast("int", parameters["dim"]))
    count = math.prod(value_shape(indices))
    table = builder.reshape(value, (1, *sizes))
    written = builder.create(
        "rows_scatter",
        (table, places, builder.reshape(source, (1, count))),
        table.type,
        sizes=sizes,
        windows=(1,) * len(sizes),
        column=True,
        reduce=parameters["scatter_reduce_type"],
    )
    return builder.reshape(written, value_shape(op.results[0]))


def _places(
    builder: Builder, extents: Sequence[int], indices: SSAValue, dim: int
) -> tuple[tuple[int, ...], SSAValue]:
    """The extents of the dimensions that have some, and a line of indices for each."""
    shape = value_shape(indices)
    count, dim = math.prod(shape), dim % len(shape)
    lines: list[SSAValue] = []
    sizes: list[int] = []
    for n, extent in enumerate(extents):
        if n == dim:
            line = indices
        elif extent == 1:
            continue
        else:
            rank = len(shape)
            numbers = builder.reshape(
                _count(builder, shape[n]), [shape[n] if n == k else 1 for k in range(rank)]
            )
            line = builder.broadcast(numbers, shape)
        sizes.append(extent)
        lines.append(builder.reshape(line, (1, 1, count)))
    if len(sizes) == 1:
        # An element is in a column of a row.
        sizes.insert(0, 1)
        lines.insert(0, builder.create_splat(0, TensorType(_SI32, (1, 1, count))))
    type_ = TensorType(_index_type(lines), (1, len(lines), count))
    return tuple(sizes), builder.create("concat", lines, type_, dim=1)


def _index_type(lines: Sequence[SSAValue]) -> IntegerType:
    return cast("IntegerType", element_type(lines[0]))


# --- Others ---------------------------------------------------------------------------------------


def _is_cutting(op: Operation) -> bool:
    """True for a pad with margins below 0."""
    margins = cast("tuple[int, ...]", parameters_of(op)["padding"])
    return any(margin < 0 for margin in margins)


def _pad(op: Operation, builder: Builder) -> SSAValue | None:
    """What margins below 0 cut off, and the others."""
    if not _is_cutting(op):
        return None
    [value], parameters = inputs_of(op), parameters_of(op)
    margins = cast("tuple[int, ...]", parameters["padding"])
    extents = value_shape(value)
    begins = [max(0, -low) for low in margins[::2]]
    ends = [n - max(0, -high) for n, high in zip(extents, margins[1::2], strict=True)]
    value = builder.slice(value, begins, ends)
    left = tuple(max(0, margin) for margin in margins)
    if any(left):
        value = builder.create(
            "pad", (value,), op.results[0].type, padding=left, value=parameters["value"]
        )
    return value


RULES: Mapping[str, Sequence[Rule]] = adapted(
    {
        "gather": [_gather],
        "pad": [_pad],
        "prod": [_prod],
        "reduce_and": [_reduce_and],
        "reduce_or": [_reduce_or],
        "reverse": [_reverse],
        "scatter": [_scatter],
    }
)
"""Rules by the name of the operation."""

"""Rules of `ttir-decomposition` for products along dimensions and picked elements of 2026.

Elements are picked and put by `rows_gather` and `rows_scatter`, which take an index for each of the
first dimensions of a tensor: `sizes` are their extents, `windows` those of what each index stands
for. A line of indices for a dimension that is not looked up counts along it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import AnyFloat, IntegerType, Signedness, TensorType, i1

from ttmlir.dialects.late_checks.movement import groups_of_pattern
from ttmlir.ir.tensor_types import (
    element_type,
    invert_permutation,
    tensor_like,
    value_shape,
    widest_float,
)
from ttmlir.passes.ttir.value_rewriting import (
    adapted,
    inputs_of,
    parameters_of,
    reorder,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.builder import Builder
    from ttmlir.ir.greedy_rewriting import Rule

_SI32 = IntegerType(32, Signedness.SIGNED)
_MOST_FACTORS = 16
"""Integers are multiplied with each other exactly up to so many."""

# --- Products -------------------------------------------------------------------------------------


def _is_long_product(op: Operation) -> bool:
    """True for products along several dimensions, but not all, and short ones of integers."""
    [source], dims = inputs_of(op), _dims_of(op)
    extents = value_shape(source)
    if isinstance(element_type(source), AnyFloat):
        return 1 < len(dims) < len(extents)
    return len(dims) == 1 and 0 < extents[dims[0]] <= _MOST_FACTORS and element_type(source) != i1


def _product_of_floats(op: Operation, builder: Builder) -> SSAValue | None:
    """Other elements are converted; None where they need not be."""
    [value], result = inputs_of(op), op.results[0]
    element = widest_float(element_type(value))
    if element_type(value) == element:
        return None
    type_ = TensorType(element, value_shape(result))
    made = builder.create("prod", (builder.cast(value, element),), type_, **parameters_of(op))
    return builder.cast(made, element_type(result))


def _dims_of(op: Operation) -> tuple[int, ...]:
    rank = len(value_shape(inputs_of(op)[0]))
    dims = parameters_of(op).get("dim_arg", tuple(range(rank)))
    return tuple(sorted(dim % rank for dim in cast("tuple[int, ...]", dims)))


def _prod(op: Operation, builder: Builder) -> SSAValue | None:
    """In floats, one dimension after the other, last first; few integers one by one."""
    [value], dims = inputs_of(op), _dims_of(op)
    if not _is_long_product(op):
        return _product_of_floats(op, builder)
    if isinstance(element_type(value), AnyFloat):
        element = element_type(value)
        value = builder.cast(value, widest_float(element))
        keeps = bool(parameters_of(op)["keep_dim"])
        for dim in reversed(dims):
            extents = [*value_shape(value)]
            extents[dim : dim + 1] = [1] if keeps else []
            type_ = tensor_like(value, extents)
            value = builder.create("prod", (value,), type_, dim_arg=(dim,), keep_dim=keeps)
        return builder.cast(value, element)
    [dim] = dims
    product = builder.slice_along(value, dim, 0, 1)
    for place in range(1, value_shape(value)[dim]):
        part = builder.slice_along(value, dim, place, place + 1)
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
    front = reorder(builder, value, order)
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
    return reorder(builder, back, invert_permutation(order))


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


def _arange(op: Operation, builder: Builder) -> SSAValue | None:
    """Numbers that count along one of several dimensions are one row, repeated."""
    result = op.results[0]
    shape, said = value_shape(result), parameters_of(op)
    dim = cast("int", said["arange_dimension"]) % len(shape)
    if len(shape) == 1:
        return None
    row = TensorType(element_type(result), (shape[dim],))
    numbers = builder.create("arange", (), row, **{**said, "arange_dimension": 0})
    placed = builder.reshape(numbers, [n if at == dim else 1 for at, n in enumerate(shape)])
    factors = [1 if at == dim else n for at, n in enumerate(shape)]
    if math.prod(factors) == 1:
        return placed
    return builder.create("broadcast", (placed,), result.type, broadcast_dimensions=tuple(factors))


def _gather(op: Operation, builder: Builder) -> SSAValue | None:
    """An element for each index, whose other dimensions count."""
    (value, indices) = inputs_of(op)
    dim = cast("int", parameters_of(op)["dim"])
    count = math.prod(value_shape(indices))
    table = builder.reshape(value, (1, *_sizes(value, dim)))
    sizes, places = _places(builder, value_shape(value), indices, dim)
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
    dim = cast("int", parameters["dim"])
    count = math.prod(value_shape(indices))
    table = builder.reshape(value, (1, *_sizes(value, dim)))
    sizes, places = _places(builder, value_shape(value), indices, dim)
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


def _sizes(value: SSAValue, dim: int) -> tuple[int, ...]:
    """The extents of the dimensions that are looked up, or have some; two of them at least."""
    shape = value_shape(value)
    dim %= len(shape)
    sizes = tuple(extent for n, extent in enumerate(shape) if n == dim or extent != 1)
    return sizes if len(sizes) > 1 else (1, *sizes)


def _argmax(op: Operation, builder: Builder) -> SSAValue | None:
    """The dimension that is looked through becomes the last one."""
    [value], parameters = inputs_of(op), parameters_of(op)
    dims, rank = _dims_of(op), len(value_shape(value))
    if len(dims) != 1 or dims[0] == rank - 1:
        return None
    order = [*(n for n in range(rank) if n != dims[0]), dims[0]]
    moved = reorder(builder, value, order)
    result = op.results[0]
    type_ = tensor_like(result, value_shape(moved)[:-1])
    found = builder.create("argmax", (moved,), type_, dim_arg=(rank - 1,), keep_dim=False)
    return builder.reshape(found, value_shape(result)) if parameters["keep_dim"] else found


def _places(
    builder: Builder, extents: Sequence[int], indices: SSAValue, dim: int
) -> tuple[tuple[int, ...], SSAValue]:
    """The extents of the dimensions that have some, and a line of indices for each."""
    shape = value_shape(indices)
    count, dim = math.prod(shape), dim % len(shape)
    lines: list[SSAValue] = []
    sizes: list[int] = []
    if all(extent == 1 for n, extent in enumerate(extents) if n != dim):
        # An element is in a column of a row.
        sizes.append(1)
        row = builder.create("full", (), TensorType(_SI32, (count,)), shape=(count,), fill_value=0)
        lines.append(builder.reshape(row, (1, 1, count)))
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
    type_ = TensorType(_index_type(lines), (1, len(lines), count))
    return tuple(sizes), builder.create("concat", lines, type_, dim=1)


def _index_type(lines: Sequence[SSAValue]) -> IntegerType:
    return cast("IntegerType", element_type(lines[0]))


# --- Stretches and patterns -----------------------------------------------------------------------


def _index(op: Operation, builder: Builder) -> SSAValue | None:
    """Every so-many-th element of a dimension between two bounds is a slice."""
    [value], said = inputs_of(op), parameters_of(op)
    dim = cast("int", said["dim"]) % len(value_shape(value))
    return builder.slice_along(value, dim, *(said[name] for name in ("begin", "end", "step")))


def _index_select(op: Operation, builder: Builder) -> SSAValue | None:
    """Stretches of a dimension at equal distances are slices, one after the other."""
    [value], said = inputs_of(op), parameters_of(op)
    shape = value_shape(value)
    dim = cast("int", said["dim"]) % len(shape)
    begin, length = cast("int", said["begin"]), cast("int", said["length"])
    starts = range(begin, shape[dim], cast("int", said["stride"]) or shape[dim])
    if starts[-1] + length > shape[dim]:
        return None
    parts = [builder.slice_along(value, dim, start, start + length) for start in starts]
    return builder.concat(parts, dim)


def _rearrange(op: Operation, builder: Builder) -> SSAValue | None:
    """A pattern of einops exchanges dimensions, and then merges some."""
    [value] = inputs_of(op)
    left, right = cast("str", parameters_of(op)["pattern"]).split("->")
    names = left.split()
    order = [names.index(name) for group in groups_of_pattern(right) or () for name in group]
    return builder.reshape(reorder(builder, value, order), value_shape(op.results[0]))


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
        "arange": [_arange],
        "argmax": [_argmax],
        "gather": [_gather],
        "index": [_index],
        "index_select": [_index_select],
        "pad": [_pad],
        "prod": [_prod],
        "rearrange": [_rearrange],
        "reverse": [_reverse],
        "scatter": [_scatter],
    }
)
"""Rules by the name of the operation."""

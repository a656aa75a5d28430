"""What StableHLO's operations that move elements do, on arrays, for `convert-stablehlo-to-ttir`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import TensorType, f32, f64, i64
from xdsl.ir import Operation, SSAValue

from ttmlir.arrays.array import TRUTH, Array, concatenate
from ttmlir.dialects.stablehlo.form import integer, integers
from ttmlir.ir.builder import Builder
from ttmlir.ir.constants import constant_numbers, splat_number
from ttmlir.ir.late_movement import permute_late
from ttmlir.ir.rewriting import replace
from ttmlir.ir.tensor_types import check_static_shape, element_type, tensor_like, value_shape
from ttmlir.mlir.attributes import ElementsType, elements_of, exact_float32
from ttmlir.passes.core.ttir_conversion import ArrayFunction, ConversionRule, computes

Shape = tuple[int, ...]


def _reshape(op: Operation, x: Array) -> Array:
    return x.reshape(value_shape(op.results[0]))


def _transpose(op: Operation, x: Array) -> Array:
    return x.permute(integers(op, "permutation"))


def _broadcast(op: Operation, x: Array) -> Array:
    """The older form: all operand dimensions follow the new ones."""
    shape = value_shape(op.results[0])
    return _broadcast_to(x, shape, tuple(range(len(shape) - x.rank, len(shape))))


def _broadcast_in_dim(op: Operation, x: Array) -> Array:
    return _broadcast_to(x, value_shape(op.results[0]), integers(op, "broadcast_dimensions"))


def _broadcast_to(x: Array, shape: Shape, dims: Shape) -> Array:
    # ttir.broadcast keeps the order of the dimensions.
    x = x.permute(sorted(range(len(dims)), key=lambda i: dims[i]))
    dims = tuple(sorted(dims))
    placed = [1] * len(shape)
    for dim, extent in zip(dims, x.shape, strict=True):
        placed[dim] = extent
    if tuple(placed) == shape:
        # Nothing is repeated.
        return x.reshape(shape)
    return x.create("broadcast", shape=shape, parameters={"dimension": dims})


def _concatenate(op: Operation, *parts: Array) -> Array:
    return concatenate(parts, integer(op, "dimension"))


def _slice(op: Operation, x: Array) -> Array:
    names = ("start_indices", "limit_indices", "strides")
    return x.slice(*(integers(op, name) for name in names))


def _reverse(op: Operation, x: Array) -> Array:
    dims = integers(op, "dimensions")
    return x.create("reverse", parameters={"dimensions": dims}) if dims else x


def _pad(op: Operation, x: Array, filler: Array) -> Array:
    """Negative amounts cut off; gaps between elements are padding of a new dimension."""
    low, high, interior = (
        integers(op, name) for name in ("edge_padding_low", "edge_padding_high", "interior_padding")
    )
    margins = [*zip(low, high, strict=True)]
    number = splat_number(op.operands[1])
    if number is not None and exact_float32(number) is not None:
        return pad_with_gaps(x, margins, interior, float(number))
    # Where the padding is not known, or no f32: the places of elements are padded as well.
    places = pad_with_gaps(x.fill(1, dtype=TRUTH), margins, interior, 0)
    return places.where(pad_with_gaps(x, margins, interior, 0), filler)


def pad_with_gaps(
    x: Array, margins: Sequence[tuple[int, int]], interior: Sequence[int], number: float
) -> Array:
    """An array with a number around its elements, and so many times between them.

    Negative margins cut off.
    """
    for dim, gap in enumerate(interior):
        x = x.dilate(dim, gap + 1, number)
    if all(-min(a, 0) - min(b, 0) <= n for n, (a, b) in zip(x.shape, margins, strict=True)):
        return x.pad(margins, number)
    # More is cut off on one side than there is, and the rest off the padding of the other.
    grown = x.pad([(max(a, 0), max(b, 0)) for a, b in margins], number)
    pairs = zip(grown.shape, margins, strict=True)
    return grown.slice([max(-a, 0) for a, _ in margins], [n + min(b, 0) for n, (_, b) in pairs])


# -- constants ---------------------------------------------------------------------------------


def _constant(op: Operation) -> None:
    builder = Builder.before(op)
    check_static_shape(op, op.results[0].type)
    replace(op, builder.create_constant(op.properties["value"], op.results[0].type))


def _iota(op: Operation) -> None:
    builder = Builder.before(op)
    type_ = op.results[0].type
    check_static_shape(op, type_)
    dim = integer(op, "iota_dimension")
    extent = value_shape(op.results[0])[dim]
    bounds = {"start": 0, "end": extent, "step": 1, "arange_dimension": dim}
    replace(op, builder.create("arange", (), type_, **bounds))


FUNCTIONS: dict[str, ArrayFunction] = {
    "stablehlo.broadcast": _broadcast,
    "stablehlo.broadcast_in_dim": _broadcast_in_dim,
    "stablehlo.concatenate": _concatenate,
    "stablehlo.pad": _pad,
    "stablehlo.reshape": _reshape,
    "stablehlo.reverse": _reverse,
    "stablehlo.slice": _slice,
    "stablehlo.transpose": _transpose,
}
"""Functions by the full name of the operation."""
RULES: dict[str, ConversionRule] = {
    **{name: computes(function) for name, function in FUNCTIONS.items()},
    "stablehlo.constant": _constant,
    "stablehlo.iota": _iota,
}
"""Rules by the full name of the operation."""


# -- 2026 --------------------------------------------------------------------------------------


def _late_broadcast_in_dim(op: Operation) -> None:
    shape = value_shape(op.results[0])
    replace(op, place(Builder.before(op), op.operands[0], shape, integers(op, _BROADCAST_DIMS)))


_BROADCAST_DIMS = "broadcast_dimensions"


def place(builder: Builder, value: SSAValue, shape: Sequence[int], dims: Sequence[int]) -> SSAValue:
    """A tensor whose dimensions become some of a shape, repeated along the others."""
    order = sorted(range(len(dims)), key=lambda number: dims[number])
    if order != [*range(len(dims))]:
        value = permute_late(builder, value, order)
    placed = [1] * len(shape)
    for dim, extent in zip(sorted(dims), value_shape(value), strict=True):
        placed[dim] = extent
    return broadcast_late(builder, builder.reshape(value, placed), shape)


def broadcast_late(builder: Builder, value: SSAValue, shape: Sequence[int]) -> SSAValue:
    """A tensor repeated along extents of 1."""
    if value_shape(value) == tuple(shape):
        return value
    return builder.create("broadcast", [value], tensor_like(value, shape), dimension=())


def _late_transpose(op: Operation) -> None:
    replace(op, permute_late(Builder.before(op), op.operands[0], integers(op, "permutation")))


def _late_reshape(op: Operation) -> None:
    shape = value_shape(op.results[0])
    builder = Builder.before(op)
    replace(op, builder.create("reshape", op.operands, op.results[0].type, shape=shape))


def _late_slice(op: Operation) -> None:
    names = {"begins": "start_indices", "ends": "limit_indices", "step": "strides"}
    parameters = {name: integers(op, own) for name, own in names.items()}
    builder = Builder.before(op)
    replace(op, builder.create("slice", op.operands, op.results[0].type, **parameters))


def _late_concatenate(op: Operation) -> None:
    builder = Builder.before(op)
    dim = integer(op, "dimension")
    replace(op, builder.create("concat", op.operands, op.results[0].type, dim=dim))


def _late_reverse(op: Operation) -> None:
    builder = Builder.before(op)
    dims = integers(op, "dimensions")
    replace(op, builder.create("reverse", op.operands, op.results[0].type, dimensions=dims))


def _keep_constant(op: Operation) -> None:
    replace(op, Builder.before(op).create_constant(op.properties["value"], op.results[0].type))


def _late_constant(op: Operation) -> None:
    """Numbers of f64 are those of f32, widened."""
    if element_type(op.results[0]) != f64:
        _keep_constant(op)
        return
    builder = Builder.before(op)
    narrow = cast("ElementsType", TensorType(f32, value_shape(op.results[0])))
    numbers = elements_of(narrow, cast("Sequence[float]", constant_numbers(op.results[0])))
    replace(op, builder.cast(builder.create_constant(numbers, narrow), f64))


def _late_pad(op: Operation) -> None:
    """Elements with gaps between them are scattered into the padding."""
    builder = Builder.before(op)
    low, high, interior = (
        integers(op, name) for name in ("edge_padding_low", "edge_padding_high", "interior_padding")
    )
    number = splat_number(op.operands[1])
    cuts = any(interior) and min(*low, *high) < 0
    if number is None or exact_float32(number) is None or cuts:
        RULES["stablehlo.pad"](op)
        return
    value, type_ = op.operands[0], op.results[0].type
    if any(interior):
        shape, steps = value_shape(op.results[0]), [gap + 1 for gap in interior]
        replace(op, spread_out(builder, value, shape, low, steps, number))
        return
    padding = tuple(itertools.chain(*zip(low, high, strict=True)))
    parameters = {"padding": padding, "value": float(number)}
    replace(op, builder.create("pad", [value], type_, **parameters))


def spread_out(
    builder: Builder,
    value: SSAValue,
    shape: Sequence[int],
    first: Sequence[int],
    steps: Sequence[int],
    fill: float,
) -> SSAValue:
    """A tensor of one number, in which elements are written at equal distances."""
    type_ = tensor_like(value, shape)
    background = builder.create("full", (), type_, shape=tuple(shape), fill_value=fill)
    places = [0]
    for extent, begin, step, own in zip(shape, first, steps, value_shape(value), strict=True):
        places = [place * extent + begin + n * step for place in places for n in range(own)]
    numbers = cast("ElementsType", TensorType(i64, (len(places),)))
    indices = builder.create_constant(elements_of(numbers, places), numbers)
    flat = builder.reshape(background, (math.prod(shape),))
    source = builder.reshape(value, (len(places),))
    return builder.reshape(builder.scatter((flat, indices, source), 0), shape)


WIDE_RULES: dict[str, ConversionRule] = dict.fromkeys(
    ("sdy.constant", "stablehlo.constant"), _keep_constant
)
"""Rules of 2026 that keep all bits of f64, which tt-mlir does not."""
LATE_RULES: dict[str, ConversionRule] = {
    "sdy.constant": _late_constant,
    "stablehlo.broadcast_in_dim": _late_broadcast_in_dim,
    "stablehlo.concatenate": _late_concatenate,
    "stablehlo.constant": _late_constant,
    "stablehlo.pad": _late_pad,
    "stablehlo.reshape": _late_reshape,
    "stablehlo.reverse": _late_reverse,
    "stablehlo.slice": _late_slice,
    "stablehlo.transpose": _late_transpose,
}
"""Rules of 2026, where they differ."""

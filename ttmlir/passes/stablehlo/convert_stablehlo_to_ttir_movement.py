"""Rules of StableHLO's operations that move elements, for `convert-stablehlo-to-ttir`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType, i1
from xdsl.ir import Operation, SSAValue

from ttmlir.dialects.stablehlo.form import integer, integers
from ttmlir.ir.builder import Builder
from ttmlir.ir.constants import splat_number
from ttmlir.ir.rewriting import replace
from ttmlir.ir.tensor_types import check_static_shape, element_type, value_shape
from ttmlir.mlir.attributes import exact_float32
from ttmlir.passes.core.ttir_conversion import ConversionRule

Shape = tuple[int, ...]


def _reshape(op: Operation) -> None:
    builder = Builder.before(op)
    check_static_shape(op, op.operands[0].type)
    check_static_shape(op, op.results[0].type)
    replace(op, builder.reshape(op.operands[0], value_shape(op.results[0])))


def _transpose(op: Operation) -> None:
    builder = Builder.before(op)
    replace(op, builder.permute(op.operands[0], integers(op, "permutation")))


def _broadcast(op: Operation) -> None:
    """The older form: all operand dimensions follow the new ones."""
    rank = len(value_shape(op.results[0]))
    own = len(value_shape(op.operands[0]))
    _broadcast_to(op, tuple(range(rank - own, rank)))


def _broadcast_in_dim(op: Operation) -> None:
    _broadcast_to(op, integers(op, "broadcast_dimensions"))


def _broadcast_to(op: Operation, dims: Shape) -> None:
    builder = Builder.before(op)
    check_static_shape(op, op.operands[0].type)
    check_static_shape(op, op.results[0].type)
    # ttir.broadcast keeps the order of the dimensions.
    order = tuple(sorted(range(len(dims)), key=lambda i: dims[i]))
    value = builder.permute(op.operands[0], order)
    dims = tuple(sorted(dims))
    shape = value_shape(op.results[0])
    placed = [1] * len(shape)
    for dim, extent in zip(dims, value_shape(value), strict=True):
        placed[dim] = extent
    if tuple(placed) == shape:
        # Nothing is repeated.
        replace(op, builder.reshape(value, shape))
    else:
        replace(op, builder.create("broadcast", [value], op.results[0].type, dimension=dims))


def _concatenate(op: Operation) -> None:
    builder = Builder.before(op)
    dim = integer(op, "dimension")
    for operand in op.operands:
        check_static_shape(op, operand.type)
    # Operands without elements add nothing; if all are empty, any of them is the result.
    parts = [value for value in op.operands if value_shape(value)[dim]] or [op.operands[0]]
    if len(parts) == 1:
        replace(op, parts[0])
    else:
        replace(op, builder.create("concat", parts, op.results[0].type, dim=dim))


def _slice(op: Operation) -> None:
    builder = Builder.before(op)
    check_static_shape(op, op.operands[0].type)
    bounds = (integers(op, name) for name in ("start_indices", "limit_indices", "strides"))
    replace(op, builder.slice(op.operands[0], *bounds))


def _reverse(op: Operation) -> None:
    builder = Builder.before(op)
    dims = integers(op, "dimensions")
    (value,) = op.operands
    if dims:
        value = builder.create("reverse", [value], value.type, dimensions=dims)
    replace(op, value)


def _pad(op: Operation) -> None:
    """Negative amounts cut off; gaps between elements are padding of a new dimension."""
    builder = Builder.before(op)
    value, filler = op.operands
    check_static_shape(op, value.type)
    low, high, interior = (
        integers(op, name) for name in ("edge_padding_low", "edge_padding_high", "interior_padding")
    )
    number = splat_number(filler)
    if number is not None and exact_float32(number) is not None:
        result = _padded(builder, value, low, high, interior, float(number))
    else:
        # Where the padding is not known, or no f32: the places of elements are padded as well.
        mask = builder.create_splat(1, TensorType(i1, value_shape(value)))
        places = _padded(builder, mask, low, high, interior, 0)
        elements = _padded(builder, value, low, high, interior, 0)
        result = builder.create("where", [places, elements, filler], op.results[0].type)
    replace(op, result)


def _padded(
    builder: Builder, value: SSAValue, low: Shape, high: Shape, interior: Shape, number: float
) -> SSAValue:
    value = _spread(builder, value, interior, number)
    # What is cut off goes first, so that the amounts are not negative.
    shape = value_shape(value)
    before = tuple(min(amount, 0) for amount in low)
    after = tuple(min(amount, 0) for amount in high)
    added = [(max(first, 0), max(last, 0)) for first, last in zip(low, high, strict=True)]
    if any(-b - a > n for b, a, n in zip(before, after, shape, strict=True)):
        # More is cut off on one side than there is, and the rest off the padding of the other.
        grown = _edges(builder, value, added, number)
        starts = tuple(-b for b in before)
        limits = tuple(n + a for n, a in zip(value_shape(grown), after, strict=True))
        return builder.slice(grown, starts, limits)
    limits = tuple(n + a for n, a in zip(shape, after, strict=True))
    return _edges(builder, builder.slice(value, tuple(-b for b in before), limits), added, number)


def _edges(
    builder: Builder, value: SSAValue, added: Sequence[tuple[int, int]], number: float
) -> SSAValue:
    if not any(amount for pair in added for amount in pair):
        return value
    shape = tuple(
        n + first + last for n, (first, last) in zip(value_shape(value), added, strict=True)
    )
    type_ = TensorType(element_type(value), shape)
    amounts = tuple(amount for pair in added for amount in pair)
    return builder.create("pad", [value], type_, padding=amounts, value=number)


def _spread(builder: Builder, value: SSAValue, interior: Shape, number: float) -> SSAValue:
    """Padding behind every element but the last of the dimensions."""
    for dim, gap in enumerate(interior):
        shape = value_shape(value)
        if not gap or shape[dim] < 2:
            continue
        # Each element becomes a row, which is padded at its end.
        rows = builder.reshape(value, (*shape[: dim + 1], 1, *shape[dim + 1 :]))
        added = [(0, gap if i == dim + 1 else 0) for i in range(len(shape) + 1)]
        padded = _edges(builder, rows, added, number)
        extents = (*shape[:dim], shape[dim] * (gap + 1), *shape[dim + 1 :])
        limits = (*shape[:dim], extents[dim] - gap, *shape[dim + 1 :])
        value = builder.slice(builder.reshape(padded, extents), (0,) * len(shape), limits)
    return value


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


RULES: dict[str, ConversionRule] = {
    # Shardy says where tensors are placed; a program for one device computes the same without.
    "stablehlo.broadcast": _broadcast,
    "stablehlo.broadcast_in_dim": _broadcast_in_dim,
    "stablehlo.concatenate": _concatenate,
    "stablehlo.pad": _pad,
    "stablehlo.reshape": _reshape,
    "stablehlo.reverse": _reverse,
    "stablehlo.slice": _slice,
    "stablehlo.transpose": _transpose,
    "stablehlo.constant": _constant,
    "stablehlo.iota": _iota,
}
"""Rules by the full name of the operation."""

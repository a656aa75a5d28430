"""Tensors under other shapes, and slices at computed places, in ttir of 2026."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerType, Signedness, TensorType
from xdsl.ir import Attribute, SSAValue

from ttmlir.dialects.ttcore import ReduceTypeAttr
from ttmlir.ir.builder import Builder
from ttmlir.ir.tensor_types import element_type, tensor_like, value_shape
from ttmlir.layout.enums import ReduceType
from ttmlir.optable.op_definition import Shape

_SI32 = IntegerType(32, Signedness.SIGNED)


def permute_late(builder: Builder, value: SSAValue, order: Sequence[int]) -> SSAValue:
    """A tensor with its dimensions in another order, if it is the same one."""
    shape = value_shape(value)
    type_ = tensor_like(value, [shape[dim] for dim in order])
    return builder.create("permute", [value], type_, permutation=tuple(order))


def reshape_late(builder: Builder, value: SSAValue, shape: Sequence[int]) -> SSAValue:
    """A tensor under another shape, if it is the same one."""
    return builder.create("reshape", [value], tensor_like(value, shape), shape=tuple(shape))


def slice_late(
    builder: Builder, value: SSAValue, starts: Sequence[SSAValue], sizes: Shape, result: Attribute
) -> SSAValue:
    """The slice of these sizes that begins at these numbers, moved inside where needed."""
    begins = _clamped(builder, starts, value_shape(value), sizes, (1,), element_type(starts[0]))
    first = begins[0]
    if len(begins) > 1:
        first = builder.create("concat", begins, tensor_like(first, (len(begins),)), dim=0)
    lengths = builder.create_numbers(sizes, first.type)
    ends = builder.create("add", [first, lengths], first.type)
    return builder.create("slice_dynamic", [value, first, ends], result)


def write_slice_late(
    builder: Builder, value: SSAValue, update: SSAValue, starts: Sequence[SSAValue]
) -> SSAValue:
    """A tensor whose slice at these numbers, moved inside where needed, is replaced."""
    shape, sizes = value_shape(value), value_shape(update)
    if shape == sizes:
        return update
    partial = [dim for dim, size in enumerate(sizes) if size < shape[dim]]
    dims = range(partial[0], partial[-1] + 1)
    chosen = [starts[dim] for dim in dims], [shape[d] for d in dims], [sizes[d] for d in dims]
    parts = _clamped(builder, *chosen, (1, 1), _SI32)
    places = parts[0]
    if len(parts) > 1:
        places = builder.create("concat", parts, tensor_like(places, (1, len(parts))), dim=1)
    places = reshape_late(builder, places, (1, len(parts), 1))
    outer = math.prod(shape[: dims[0]])
    inner = shape[dims[-1] + 1 :]
    single = [1] if not inner and len(dims) == 1 else []
    windows = tuple(chosen[2])
    table = reshape_late(builder, value, (outer, *single, *chosen[1], *inner))
    updates = reshape_late(builder, update, (outer, math.prod(windows), *inner))
    found = builder.create(
        "rows_scatter",
        [table, places, updates],
        table.type,
        sizes=tuple(chosen[1]),
        windows=windows,
        column=not inner,
        reduce=ReduceTypeAttr(ReduceType.INVALID),
    )
    return reshape_late(builder, found, shape)


def _clamped(
    builder: Builder,
    starts: Sequence[SSAValue],
    extents: Sequence[int],
    sizes: Sequence[int],
    shape: Shape,
    element: Attribute,
) -> list[SSAValue]:
    """Each start as a tensor, inside of the tensor that is sliced."""
    known: dict[tuple[SSAValue, int], SSAValue] = {}
    found: list[SSAValue] = []
    for start, extent, size in zip(starts, extents, sizes, strict=True):
        key = start, extent - size
        if key not in known:
            value = reshape_late(builder, start, shape)
            limits = {"min": 0, "max": extent - size}
            known[key] = builder.create("clamp", [value], TensorType(element, shape), **limits)
        found.append(known[key])
    return found

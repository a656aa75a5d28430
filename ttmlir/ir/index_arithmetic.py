"""Computing with the numbers of elements.

Numbers are integer tensors of any shape that broadcast against each other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import (
    TensorType,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue

from ttmlir.ir.builder import Builder
from ttmlir.ir.constants import constant_indices
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.mlir.attributes.floats import exact_float32
from ttmlir.optable import row
from ttmlir.optable.row import Shape
from ttmlir.optable.shapes import broadcast_shape


def create_indices(
    builder: Builder, numbers: Sequence[int], element: Attribute, shape: Shape | None = None
) -> SSAValue:
    """A constant of these numbers, in one dimension unless a shape is given."""
    type_ = TensorType(element, (len(numbers),) if shape is None else shape)
    return builder.create_numbers(numbers, type_)


def widen(builder: Builder, numbers: SSAValue) -> SSAValue:
    """The numbers in a signed type that holds the number of any element: 32 bits at least."""
    keyword = str(element_type(numbers))
    if keyword.startswith("u"):
        return builder.cast(numbers, i64)
    return builder.cast(numbers, i32) if keyword in ("i8", "i16") else numbers


def combine(builder: Builder, mnemonic: str, a: SSAValue, b: SSAValue) -> SSAValue:
    """An operation on two tensors that broadcast; comparisons make i1."""
    shape = broadcast_shape(value_shape(a), value_shape(b))
    element = i1 if row(mnemonic).gives_truth else element_type(a)
    return builder.create(mnemonic, [a, b], TensorType(element, shape))


def clamp_inside(builder: Builder, numbers: SSAValue, last: int) -> SSAValue:
    """The numbers, those outside of 0 to `last` replaced by the nearer end."""
    known = constant_indices(numbers)
    if known is not None and all(0 <= number <= last for number in known):
        return numbers
    if exact_float32(last) is not None:
        return builder.create("clamp", [numbers], numbers.type, min=0.0, max=float(last))
    low, high = (builder.create_scalar(bound, element_type(numbers)) for bound in (0, last))
    return combine(builder, "minimum", combine(builder, "maximum", numbers, low), high)


def test_inside(builder: Builder, numbers: SSAValue, last: int) -> SSAValue | None:
    """Which numbers are from 0 to `last`; None if all of them are known to be."""
    known = constant_indices(numbers)
    if known is not None and all(0 <= number <= last for number in known):
        return None
    low, high = (builder.create_scalar(bound, element_type(numbers)) for bound in (0, last))
    above, below = combine(builder, "ge", numbers, low), combine(builder, "le", numbers, high)
    return combine(builder, "logical_and", above, below)


def split_components(
    builder: Builder, indices: SSAValue, vector_dim: int, count: int
) -> list[SSAValue]:
    """The single numbers of index vectors, each as a tensor of the other dimensions."""
    extents = value_shape(indices)
    rest = [extent for dim, extent in enumerate(extents) if dim != vector_dim]
    if count and (vector_dim == len(extents) or extents[vector_dim] == 1):
        return [builder.reshape(indices, rest)]
    found: list[SSAValue] = []
    for number in range(count):
        begins = [number if dim == vector_dim else 0 for dim in range(len(extents))]
        ends = [number + 1 if dim == vector_dim else e for dim, e in enumerate(extents)]
        found.append(builder.reshape(builder.slice(indices, begins, ends), rest))
    return found


def align_along(
    builder: Builder, numbers: SSAValue, rank: int, dim: int, batch_of: Mapping[int, int]
) -> SSAValue:
    """Numbers along dimension `dim` of a tensor, as `ttir.gather` and `ttir.scatter` take them.

    `batch_of` names the dimensions of the numbers that go along with dimensions of the tensor; the
    others are merged at `dim`.
    """
    extents = value_shape(numbers)
    free = [i for i in range(len(extents)) if i not in batch_of.values()]
    order: list[int] = []
    shape: list[int] = []
    for i in range(rank):
        batches = free if i == dim else [batch_of[i]] if i in batch_of else []
        order += batches
        shape.append(math.prod(extents[j] for j in batches))
    return builder.reshape(builder.permute(numbers, order), shape)


def number_windows(
    builder: Builder,
    extents: Mapping[int, int],
    sizes: Mapping[int, int],
    starts: Mapping[int, SSAValue],
    batch_of: Mapping[int, int],
    batches: Shape,
    element: Attribute,
) -> SSAValue:
    """Numbers, in row-major order, of the elements of windows into some dimensions of a tensor.

    `extents` and `sizes` are those of the dimensions and of the windows. Windows begin at `starts`,
    which are shaped like the batches, or at the number of their batch in the dimensions of
    `batch_of`, or else at 0. The result has the batches, then each size that is not 1.
    """
    wide = [dim for dim in extents if sizes[dim] > 1]
    ones = (1,) * len(wide)
    parts: list[SSAValue] = []
    for dim, extent in extents.items():
        terms: list[SSAValue] = []
        if dim in starts:
            terms.append(builder.reshape(starts[dim], (*batches, *ones)))
        elif dim in batch_of:
            shape = _only(extent, batch_of[dim], len(batches) + len(wide))
            terms.append(create_indices(builder, range(extent), element, shape))
        if dim in wide or not terms:
            place = len(batches) + wide.index(dim) if dim in wide else 0
            shape = _only(sizes[dim], place, len(batches) + len(wide))
            terms.append(create_indices(builder, range(sizes[dim]), element, shape))
        parts.append(terms[0] if len(terms) == 1 else combine(builder, "add", *terms))
    total = _linear(builder, parts, [*extents.values()])
    # Without a start, nothing repeats the numbers along the batches.
    return builder.broadcast(total, (*batches, *(sizes[dim] for dim in wide)))


def _only(extent: int, place: int, rank: int) -> Shape:
    return tuple(extent if dim == place else 1 for dim in range(rank))


def _linear(builder: Builder, parts: Sequence[SSAValue], extents: Sequence[int]) -> SSAValue:
    """The numbers of elements in row-major order, of their numbers along each dimension."""
    total = parts[0]
    for part, extent in zip(parts[1:], extents[1:], strict=True):
        count = builder.create_scalar(extent, element_type(total))
        total = combine(builder, "add", combine(builder, "multiply", total, count), part)
    return total


def slice_at(
    builder: Builder, operand: SSAValue, starts: Sequence[SSAValue | int], sizes: Shape
) -> SSAValue:
    """The slice of these sizes that begins at these numbers, moved inside where needed."""
    extents = value_shape(operand)
    if extents == sizes:
        return operand
    begins = find_slice_begins(builder, starts, extents, sizes)
    if isinstance(begins, tuple):
        ends = [begin + size for begin, size in zip(begins, sizes, strict=True)]
        return builder.slice(operand, begins, ends)
    type_ = TensorType(element_type(operand), sizes)
    return builder.create("slice_dynamic", [operand, begins], type_, sizes=sizes)


def find_slice_begins(
    builder: Builder, starts: Sequence[SSAValue | int], extents: Shape, sizes: Shape
) -> SSAValue | tuple[int, ...]:
    """The begins of a slice as one tensor, which `ttir.slice_dynamic` takes.

    If all of them are known, they are returned as numbers that lie inside. What is known among
    others is put together in constants.
    """
    known: list[int | None] = []
    for start, extent, size in zip(starts, extents, sizes, strict=True):
        number = start if isinstance(start, int) else _known_number(start)
        is_whole = extent == size
        known.append(0 if is_whole else number and min(max(number, 0), extent - size))
    if None not in known:
        return tuple(number or 0 for number in known)
    tensors = {
        dim: widen(builder, builder.reshape(start, (1,)))
        for dim, start in enumerate(starts)
        if known[dim] is None and isinstance(start, SSAValue)
    }
    element = element_type(next(iter(tensors.values())))
    parts: list[SSAValue] = []
    run: list[int] = []
    for dim, number in enumerate(known):
        if number is not None:
            run.append(number)
        if run and (number is None or dim == len(known) - 1):
            parts.append(create_indices(builder, run, element))
            run = []
        if dim in tensors:
            parts.append(tensors[dim])
    if len(parts) == 1:
        return parts[0]
    return builder.create("concat", parts, TensorType(element, (len(known),)), dim=0)


def _known_number(start: SSAValue) -> int | None:
    numbers = constant_indices(start)
    return None if numbers is None else numbers[0]

"""Computing with the numbers of elements, in front of an operation that is being converted.

Numbers are integer tensors of any shape that broadcast against each other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerType,
    TensorType,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.ir.constants import scalar_constant
from ttmlir.ir.layouts import value_shape
from ttmlir.ir.ttir_building import (
    built,
    built_constant,
    cast_to,
    element_type,
    permuted,
    reshaped,
    sliced,
)
from ttmlir.mlir.attributes.elements import (
    Elements,
    ElementsType,
    element_count,
    elements_of,
    raw_bytes,
    unpack_values,
)
from ttmlir.mlir.attributes.floats import exact_float32
from ttmlir.optable.row import Shape
from ttmlir.optable.shapes import broadcast_shape

_LONGEST = 64
"""Elements of a constant that is looked into."""


def known_numbers(value: SSAValue) -> tuple[int, ...] | None:
    """The elements of a small integer constant, also behind reshapes; None if it is none."""
    owner = value.owner
    while isinstance(owner, Operation) and owner.name == "ttir.reshape":
        owner = owner.operands[0].owner
    if not isinstance(owner, Operation) or owner.name != "ttir.constant":
        return None
    attr = owner.properties["value"]
    if not isinstance(attr, DenseIntOrFPElementsAttr):
        return None
    elements = cast("Elements", attr)
    element = elements.get_element_type()
    if not isinstance(element, IntegerType) or element_count(elements) > _LONGEST:
        return None
    return tuple(cast("int", number) for number in unpack_values(raw_bytes(elements), element))


def numbers_constant(
    op: Operation, numbers: Sequence[int], element: Attribute, shape: Shape | None = None
) -> SSAValue:
    """A constant of these numbers, in one dimension unless a shape is given."""
    type_ = TensorType(element, (len(numbers),) if shape is None else shape)
    return built_constant(op, elements_of(cast("ElementsType", type_), numbers), type_)


def widened(op: Operation, numbers: SSAValue) -> SSAValue:
    """The numbers in a signed type that holds the number of any element: 32 bits at least."""
    keyword = str(element_type(numbers))
    if keyword.startswith("u"):
        return cast_to(op, numbers, i64)
    return cast_to(op, numbers, i32) if keyword in ("i8", "i16") else numbers


def combined(op: Operation, mnemonic: str, a: SSAValue, b: SSAValue) -> SSAValue:
    """An operation on two tensors that broadcast; comparisons make i1."""
    shape = broadcast_shape(value_shape(a), value_shape(b))
    element = i1 if mnemonic in ("ge", "le") else element_type(a)
    return built(op, mnemonic, [a, b], TensorType(element, shape))


def moved_inside(op: Operation, numbers: SSAValue, last: int) -> SSAValue:
    """The numbers, those outside of 0 to `last` replaced by the nearer end."""
    known = known_numbers(numbers)
    if known is not None and all(0 <= number <= last for number in known):
        return numbers
    if exact_float32(last) is not None:
        return built(op, "clamp", [numbers], numbers.type, min=0.0, max=float(last))
    low, high = (scalar_constant(op, bound, element_type(numbers)) for bound in (0, last))
    return combined(op, "minimum", combined(op, "maximum", numbers, low), high)


def lies_inside(op: Operation, numbers: SSAValue, last: int) -> SSAValue | None:
    """Which numbers are from 0 to `last`; None if all of them are known to be."""
    known = known_numbers(numbers)
    if known is not None and all(0 <= number <= last for number in known):
        return None
    low, high = (scalar_constant(op, bound, element_type(numbers)) for bound in (0, last))
    above, below = combined(op, "ge", numbers, low), combined(op, "le", numbers, high)
    return combined(op, "logical_and", above, below)


def components(op: Operation, indices: SSAValue, vector_dim: int, count: int) -> list[SSAValue]:
    """The single numbers of index vectors, each as a tensor of the other dimensions."""
    extents = value_shape(indices)
    rest = [extent for dim, extent in enumerate(extents) if dim != vector_dim]
    if count and (vector_dim == len(extents) or extents[vector_dim] == 1):
        return [reshaped(op, indices, rest)]
    found: list[SSAValue] = []
    for number in range(count):
        begins = [number if dim == vector_dim else 0 for dim in range(len(extents))]
        ends = [number + 1 if dim == vector_dim else e for dim, e in enumerate(extents)]
        found.append(reshaped(op, sliced(op, indices, begins, ends), rest))
    return found


def along(
    op: Operation, numbers: SSAValue, rank: int, dim: int, batch_of: Mapping[int, int]
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
    return reshaped(op, permuted(op, numbers, order), shape)


def window_numbers(
    op: Operation,
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
            terms.append(reshaped(op, starts[dim], (*batches, *ones)))
        elif dim in batch_of:
            shape = _only(extent, batch_of[dim], len(batches) + len(wide))
            terms.append(numbers_constant(op, range(extent), element, shape))
        if dim in wide or not terms:
            place = len(batches) + wide.index(dim) if dim in wide else 0
            shape = _only(sizes[dim], place, len(batches) + len(wide))
            terms.append(numbers_constant(op, range(sizes[dim]), element, shape))
        parts.append(terms[0] if len(terms) == 1 else combined(op, "add", *terms))
    total = _linear(op, parts, [*extents.values()])
    # Without a start, nothing repeats the numbers along the batches.
    return repeated(op, total, (*batches, *(sizes[dim] for dim in wide)))


def _only(extent: int, place: int, rank: int) -> Shape:
    return tuple(extent if dim == place else 1 for dim in range(rank))


def _linear(op: Operation, parts: Sequence[SSAValue], extents: Sequence[int]) -> SSAValue:
    """The numbers of elements in row-major order, of their numbers along each dimension."""
    total = parts[0]
    for part, extent in zip(parts[1:], extents[1:], strict=True):
        count = scalar_constant(op, extent, element_type(total))
        total = combined(op, "add", combined(op, "multiply", total, count), part)
    return total


def repeated(op: Operation, value: SSAValue, shape: Shape) -> SSAValue:
    """The value repeated along dimensions of extent 1."""
    if value_shape(value) == shape:
        return value
    type_ = TensorType(element_type(value), shape)
    return built(op, "broadcast", [value], type_, dimension=tuple(range(len(shape))))


def slice_at(
    op: Operation, operand: SSAValue, starts: Sequence[SSAValue | int], sizes: Shape
) -> SSAValue:
    """The slice of these sizes that begins at these numbers, moved inside where needed."""
    extents = value_shape(operand)
    if extents == sizes:
        return operand
    begins = slice_begins(op, starts, extents, sizes)
    if isinstance(begins, tuple):
        ends = [begin + size for begin, size in zip(begins, sizes, strict=True)]
        return sliced(op, operand, begins, ends)
    type_ = TensorType(element_type(operand), sizes)
    return built(op, "slice_dynamic", [operand, begins], type_, sizes=sizes)


def slice_begins(
    op: Operation, starts: Sequence[SSAValue | int], extents: Shape, sizes: Shape
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
        dim: widened(op, reshaped(op, start, (1,)))
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
            parts.append(numbers_constant(op, run, element))
            run = []
        if dim in tensors:
            parts.append(tensors[dim])
    if len(parts) == 1:
        return parts[0]
    return built(op, "concat", parts, TensorType(element, (len(known),)), dim=0)


def _known_number(start: SSAValue) -> int | None:
    numbers = known_numbers(start)
    return None if numbers is None else numbers[0]

"""New ttir operations that move elements, in front of an operation that is being converted.

Each function takes the operation in hand and a tensor and gives the moved tensor, which is the
tensor itself where nothing moves.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.ir.layouts import value_shape
from ttmlir.ir.ttir_building import built, element_type, reshaped, sliced

if TYPE_CHECKING:
    from ttmlir.optable.row import Shape


def tensor_like(value: SSAValue, shape: Shape) -> Attribute:
    """The type of a tensor with the elements of another and a shape."""
    return TensorType(element_type(value), shape)


def inverse(permutation: Sequence[int]) -> tuple[int, ...]:
    """The permutation that undoes another."""
    return tuple(sorted(range(len(permutation)), key=permutation.__getitem__))


def sliced_along(
    op: Operation, value: SSAValue, dim: int, begin: int, end: int, step: int = 1
) -> SSAValue:
    """Every step-th element between two bounds of one dimension."""
    shape = value_shape(value)
    begins = [begin if d == dim else 0 for d in range(len(shape))]
    ends = [end if d == dim else extent for d, extent in enumerate(shape)]
    return sliced(op, value, begins, ends, [step if d == dim else 1 for d in range(len(shape))])


def padded(
    op: Operation, value: SSAValue, margins: Sequence[tuple[int, int]], fill: float
) -> SSAValue:
    """The tensor with so many elements more on both sides of each dimension, or less if negative.

    What is added is `fill`.
    """
    old = value_shape(value)
    cut = sliced(
        op,
        value,
        [max(-low, 0) for low, _ in margins],
        [extent - max(-high, 0) for extent, (_, high) in zip(old, margins, strict=True)],
    )
    more = [(max(low, 0), max(high, 0)) for low, high in margins]
    if all(pair == (0, 0) for pair in more):
        return cut
    pairs = zip(value_shape(cut), more, strict=True)
    shape = tuple(low + extent + high for extent, (low, high) in pairs)
    return built(
        op,
        "pad",
        [cut],
        tensor_like(value, shape),
        padding=tuple(count for pair in more for count in pair),
        value=fill,
    )


def spread(op: Operation, value: SSAValue, dim: int, step: int, fill: float) -> SSAValue:
    """The tensor with `step - 1` elements `fill` between the elements along a dimension."""
    shape = value_shape(value)
    extent = shape[dim]
    if step == 1 or extent <= 1:
        return value
    before, after = math.prod(shape[:dim]), math.prod(shape[dim + 1 :])
    apart = reshaped(op, value, (before * extent, 1, after))
    filled = padded(op, apart, [(0, 0), (0, step - 1), (0, 0)], fill)
    joined = reshaped(op, filled, (before, extent * step, after))
    trimmed = sliced_along(op, joined, 1, 0, (extent - 1) * step + 1)
    return reshaped(op, trimmed, (*shape[:dim], (extent - 1) * step + 1, *shape[dim + 1 :]))


def lowest(element: Attribute) -> float:
    """A value of an element type that is larger than no other."""
    sign, width = _sign_and_width(element)
    if width is None:
        return -math.inf
    return 0.0 if sign == "u" or width == 1 else -(2.0 ** (width - 1))


def highest(element: Attribute) -> float:
    """A value of an element type that is smaller than no other."""
    sign, width = _sign_and_width(element)
    if width is None:
        return math.inf
    return 2.0 ** (width if sign == "u" or width == 1 else width - 1) - 1


def _sign_and_width(element: Attribute) -> tuple[str | None, int | None]:
    """`u`, `s` or None, and the number of bits, None for other types than integers."""
    integer = re.fullmatch(r"(u|s)?i(\d+)", str(element))
    return (None, None) if integer is None else (integer[1], int(integer[2]))

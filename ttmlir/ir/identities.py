"""Numbers that change nothing when they are combined with others of an element type."""

from __future__ import annotations

import math
from typing import cast

from xdsl.dialects.builtin import AnyFloat, IntegerType, Signedness, i1
from xdsl.ir import Attribute
from xdsl.utils.comparisons import signed_value_range, unsigned_value_range

from ttmlir.optable import row
from ttmlir.optable.row import Row


def logic_of(combining: Row, element: Attribute) -> Row:
    """The operation itself, or the one that computes the same on truth values if these are i1."""
    return row(combining.on_truth) if combining.on_truth and element == i1 else combining


def identity_of(combining: Row, element: Attribute) -> float | None:
    """The number that leaves others as they are; None for an operation that has none."""
    identity = combining.identity
    if identity is None or isinstance(element, AnyFloat):
        return identity
    first, end = _value_range(cast("IntegerType", element))
    if math.isinf(identity):
        return first if identity < 0 else end - 1
    # -1 has all bits set, as the largest number without sign has.
    return identity if identity >= first else end - 1


def _value_range(element: IntegerType) -> tuple[int, int]:
    """The smallest number, and the one after the largest."""
    width = element.width.data
    is_unsigned = element.signedness.data is Signedness.UNSIGNED or width == 1
    return unsigned_value_range(width) if is_unsigned else signed_value_range(width)

"""Numbers that change nothing when they are combined with others of an element type."""

from __future__ import annotations

import math

from xdsl.dialects.builtin import AnyFloat, i1
from xdsl.ir import Attribute

from ttmlir.ir.tensor_types import limits_of
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
    low, high = limits_of(element)
    if math.isinf(identity):
        return low if identity < 0 else high
    # -1 has all bits set, as the largest number without sign has.
    return identity if identity >= low else high

"""Elementwise operations: operands broadcast as in NumPy, one result element per position.

Order matters: the number of an operation in the flatbuffer enumeration `EltwiseOpType` is fixed
by its `kind`, and new kinds are only ever appended to the schema.
"""

from __future__ import annotations

from ttmlir.optable.elementwise.binary import BINARY
from ttmlir.optable.elementwise.ternary import TERNARY
from ttmlir.optable.elementwise.unary import UNARY
from ttmlir.optable.row import Row

ROWS = (*UNARY, *BINARY, *TERNARY)


def arity(row: Row) -> int:
    """Number of inputs of an elementwise operation; the IR does not enforce it."""
    return len(row.operands)

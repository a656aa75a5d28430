"""Operations on the elements of three tensors or numbers."""

from __future__ import annotations

from typing import Any

from ttmlir.ttnn.operations.elementwise.meanings import Takes
from ttmlir.ttnn.operations.elementwise.tables import UNARY_TAIL, declare
from ttmlir.ttnn.operations.operation import Operation, table_of

_TAIL = f"{UNARY_TAIL}, dtype=None"


def _add_product(xp: Any, a: Any, b: Any, c: Any, *, value: float) -> Any:
    """a + value * b * c."""
    return a + value * (b * c)


def _add_quotient(xp: Any, a: Any, b: Any, c: Any, *, value: float) -> Any:
    """a + value * b / c."""
    return a + value * (b / c)


def _interpolate(xp: Any, a: Any, b: Any, c: Any) -> Any:
    """a + c * (b - a)."""
    return a + c * (b - a)


def _multiply_and_add(xp: Any, a: Any, b: Any, c: Any) -> Any:
    """a * b + c."""
    return a * b + c


_THREE = ("input_tensor_a", "input_tensor_b", "input_tensor_c")

OPERATIONS: dict[str, Operation] = table_of(
    declare(
        "where experimental.where=where",
        ("predicate", "true_value", "false_value"),
        UNARY_TAIL,
        typed_by=1,
    ),
    declare("addcmul", _THREE, _TAIL, arguments="*, value=1.0", meaning=_add_product),
    declare(
        "addcdiv",
        _THREE,
        _TAIL,
        arguments="*, value=1.0",
        meaning=_add_quotient,
        takes=Takes.FLOATS,
    ),
    declare("lerp", ("input_tensor", "end", "weight"), _TAIL, meaning=_interpolate),
    declare("mac", _THREE, _TAIL, meaning=_multiply_and_add),
)

"""Folds of integer arithmetic that MLIR's conversion of dialects tries before it converts.

An operation whose operands are constants, or one that gives one of its operands, is replaced by
that; a constant on the left of a commutative operation moves to the right. Only constants that the
module holds count, not those that folds make: MLIR's rewriter shows folds the module as it was.

Source: the folds of mlir/lib/Dialect/Arith/IR/ArithOps.cpp, and answers of tt-lang 1.1.1.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

_INDEX_BITS = 64

_COMMUTATIVE = (
    *(arith.AddiOp, arith.MuliOp, arith.AndIOp, arith.OrIOp, arith.XOrIOp),
    *(arith.MaxSIOp, arith.MaxUIOp, arith.MinSIOp, arith.MinUIOp),
)
_SWAPPED = (0, 1, 4, 5, 2, 3, 8, 9, 6, 7)
"""Predicates of `arith.cmpi` for operands in the other order."""
_HOLDS_FOR_EQUAL = (0, 3, 5, 7, 9)
"""Predicates that hold between equal numbers."""


def fold_arith(op: Operation) -> SSAValue | IntegerAttr[IntegerType | IndexType] | None:
    """What an operation is replaced by; None for one that stays. Operands may change places."""
    if len(op.results) != 1 or _width(op.results[0].type) is None:
        return None
    _move_constant(op)
    found = _fold(op)
    if not isinstance(found, int):
        return found
    type_ = cast("IntegerType | IndexType", op.results[0].type)
    return IntegerAttr(_signed(found, _width_of(type_)), type_)


def constant_of(value: SSAValue) -> int | None:
    """The number that an `arith.constant` gives, with its sign."""
    owner = value.owner
    if not isinstance(owner, arith.ConstantOp) or not isinstance(owner.value, IntegerAttr):
        return None
    width = _width(value.type)
    number = cast("IntegerAttr[IntegerType]", owner.value).value.data
    return None if width is None else _signed(number, width)


def _width(type_: Attribute) -> int | None:
    match type_:
        case IntegerType():
            return type_.width.data
        case IndexType():
            return _INDEX_BITS
        case _:
            return None


def _width_of(type_: Attribute) -> int:
    width = _width(type_)
    assert width is not None, "asked for integers only"
    return width


def _signed(number: int, width: int) -> int:
    number &= (1 << width) - 1
    return number - (1 << width) if width > 1 and number >> (width - 1) else number


def _unsigned(number: int, width: int) -> int:
    return number & ((1 << width) - 1)


def _move_constant(op: Operation) -> None:
    """Put a constant on the left of a number on the right."""
    if not isinstance(op, (*_COMMUTATIVE, arith.CmpiOp)):
        return
    left, right = op.operands
    if constant_of(left) is None or constant_of(right) is not None:
        return
    if isinstance(op, arith.CmpiOp):
        predicate = op.predicate.value.data
        op.properties["predicate"] = IntegerAttr(_SWAPPED[predicate], 64)
    op.operands = [right, left]


def _fold(op: Operation) -> SSAValue | int | None:
    match op:
        case arith.CmpiOp():
            return _fold_comparison(op)
        case arith.SelectOp():
            return _fold_choice(op)
        case _ if len(op.operands) == 1:
            return _fold_cast(op)
        case _ if len(op.operands) == 2:
            return _fold_binary(op)
        case _:
            return None


# --- Two operands ---------------------------------------------------------------------------------

Compute = Callable[[int, int, int], "int | None"]
"""The result for two signed numbers of a width; None where there is none."""


def _on_unsigned(compute: Callable[[int, int], int]) -> Compute:
    return lambda x, y, width: compute(_unsigned(x, width), _unsigned(y, width))


def _quotient(x: int, y: int) -> int:
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def _divide(compute: Callable[[int, int], int], *, signed: bool) -> Compute:
    """A division, which has no result for 0 or where it overflows."""

    def divide(x: int, y: int, width: int) -> int | None:
        if not signed:
            x, y = _unsigned(x, width), _unsigned(y, width)
        if y == 0 or (signed and y == -1 and x == -(1 << (width - 1))):
            return None
        return compute(x, y)

    return divide


def _shift(compute: Callable[[int, int, int], int]) -> Compute:
    """A shift by less than the width."""
    return lambda x, y, width: (
        compute(x, _unsigned(y, width), width) if _unsigned(y, width) < width else None
    )


_COMPUTE: Mapping[type[Operation], Compute] = {
    arith.AddiOp: lambda x, y, _: x + y,
    arith.SubiOp: lambda x, y, _: x - y,
    arith.MuliOp: lambda x, y, _: x * y,
    arith.AndIOp: lambda x, y, _: x & y,
    arith.OrIOp: lambda x, y, _: x | y,
    arith.XOrIOp: lambda x, y, _: x ^ y,
    arith.MaxSIOp: lambda x, y, _: max(x, y),
    arith.MinSIOp: lambda x, y, _: min(x, y),
    arith.MaxUIOp: _on_unsigned(max),
    arith.MinUIOp: _on_unsigned(min),
    arith.DivUIOp: _divide(lambda x, y: x // y, signed=False),
    arith.RemUIOp: _divide(lambda x, y: x % y, signed=False),
    arith.CeilDivUIOp: _divide(lambda x, y: -(-x // y), signed=False),
    arith.DivSIOp: _divide(_quotient, signed=True),
    arith.RemSIOp: _divide(lambda x, y: x - _quotient(x, y) * y, signed=True),
    arith.CeilDivSIOp: _divide(lambda x, y: -(-x // y), signed=True),
    arith.FloorDivSIOp: _divide(lambda x, y: x // y, signed=True),
    arith.ShLIOp: _shift(lambda x, y, _: x << y),
    arith.ShRSIOp: _shift(lambda x, y, _: x >> y),
    arith.ShRUIOp: _shift(lambda x, y, width: _unsigned(x, width) >> y),
}

_NEUTRAL: Mapping[type[Operation], int] = {
    **dict.fromkeys((arith.AddiOp, arith.SubiOp, arith.OrIOp, arith.XOrIOp), 0),
    **dict.fromkeys((arith.ShLIOp, arith.ShRSIOp, arith.ShRUIOp), 0),
    **dict.fromkeys((arith.MuliOp, arith.DivUIOp, arith.DivSIOp), 1),
    **dict.fromkeys((arith.CeilDivUIOp, arith.CeilDivSIOp, arith.FloorDivSIOp), 1),
    arith.AndIOp: -1,
}
"""Numbers on the right that leave the left as it is."""
_ABSORBING: Mapping[type[Operation], int] = {arith.MuliOp: 0, arith.AndIOp: 0, arith.OrIOp: -1}
"""Numbers on the right that are the result."""
_IDEMPOTENT = (
    arith.AndIOp,
    arith.OrIOp,
    arith.MaxSIOp,
    arith.MaxUIOp,
    arith.MinSIOp,
    arith.MinUIOp,
)
_LATE_IDEMPOTENT = (arith.AndIOp, arith.OrIOp)
"""Those of which constants are computed first."""
_ZERO_OF_EQUALS = (arith.SubiOp, arith.XOrIOp)


def _fold_binary(op: Operation) -> SSAValue | int | None:
    kind = type(op)
    if kind not in _COMPUTE:
        return None
    left, right = op.operands
    width = _width_of(left.type)
    x, y = constant_of(left), constant_of(right)
    if left is right and kind in _IDEMPOTENT and (x is None or kind not in _LATE_IDEMPOTENT):
        return left
    if left is right and kind in _ZERO_OF_EQUALS:
        return 0
    if y is not None:
        bound = _fold_bound(kind, left, right, y, width)
        if bound is not None:
            return bound
        if _NEUTRAL.get(kind) == _signed(y, width) or (width == 1 and _NEUTRAL.get(kind) == -y):
            return left
        if _ABSORBING.get(kind) == y:
            return y if kind is arith.OrIOp else right
        if y == 1 and kind in (arith.RemUIOp, arith.RemSIOp):
            return 0
    same = _fold_inverse(op)
    if same is not None or x is None or y is None:
        return same
    return _COMPUTE[kind](x, y, width)


def _fold_bound(
    kind: type[Operation], left: SSAValue, right: SSAValue, y: int, width: int
) -> SSAValue | None:
    """The smaller or larger of a number and the smallest or largest there is."""
    least, most = -(1 << (width - 1)), (1 << (width - 1)) - 1
    is_unsigned = kind in (arith.MaxUIOp, arith.MinUIOp)
    if is_unsigned:
        y, least, most = _unsigned(y, width), 0, (1 << width) - 1
    if kind in (arith.MaxSIOp, arith.MaxUIOp) and y in (least, most):
        return right if y == most else left
    if kind in (arith.MinSIOp, arith.MinUIOp) and y in (least, most):
        return right if y == least else left
    return None


def _fold_inverse(op: Operation) -> SSAValue | None:
    """A sum less one of its parts, a difference and what was subtracted, `xor` twice."""
    left, right = op.operands
    for value, other in ((left, right), (right, left)):
        inner = value.owner
        match op, inner:
            case arith.AddiOp(), arith.SubiOp() if inner.operands[1] is other:
                return inner.operands[0]
            case arith.SubiOp(), arith.AddiOp() if value is left and other in inner.operands:
                first, second = inner.operands
                return first if second is other else second
            case arith.XOrIOp(), arith.XOrIOp() if other in inner.operands:
                first, second = inner.operands
                return first if second is other else second
            case arith.AndIOp(), arith.AndIOp() if other in inner.operands:
                return value
            case _:
                pass
    return None


# --- Comparisons, choices, casts ------------------------------------------------------------------

_ORDERS = (operator.lt, operator.le, operator.gt, operator.ge)
_COMPARE: tuple[Callable[[int, int], bool], ...] = (operator.eq, operator.ne, *_ORDERS, *_ORDERS)
"""By predicate: equal, then of signed numbers, then of unsigned ones."""


def _fold_comparison(op: arith.CmpiOp) -> SSAValue | int | None:
    left, right = op.operands
    predicate = op.predicate.value.data
    if left is right:
        return int(predicate in _HOLDS_FOR_EQUAL)
    x, y = constant_of(left), constant_of(right)
    width = _width_of(left.type)
    if width == 1 and ((predicate == 1 and y == 0) or (predicate == 0 and y is not None and y)):
        return left
    if x is None or y is None:
        return None
    if predicate >= 6:
        x, y = _unsigned(x, width), _unsigned(y, width)
    return int(_COMPARE[predicate](x, y))


def _fold_choice(op: arith.SelectOp) -> SSAValue | None:
    condition, first, second = op.operands
    if first is second:
        return first
    chosen = constant_of(condition)
    if chosen is not None:
        return first if chosen else second
    if _width(first.type) == 1 and (constant_of(first), constant_of(second)) == (1, 0):
        return condition
    comparison = condition.owner
    if isinstance(comparison, arith.CmpiOp) and {*comparison.operands} == {first, second}:
        # Of equal numbers it does not matter which.
        return {0: second, 1: first}.get(comparison.predicate.value.data)
    return None


_SIGNED_CASTS = ("arith.index_cast", "arith.extsi")
_UNSIGNED_CASTS = ("arith.index_castui", "arith.extui", "arith.trunci")
_UNDONE = {
    "arith.index_cast": ("arith.index_cast",),
    "arith.index_castui": ("arith.index_castui",),
    "arith.trunci": ("arith.extsi", "arith.extui"),
}
"""Casts that one undoes, if it is to the type that they are from and not to an index."""


def _fold_cast(op: Operation) -> SSAValue | int | None:
    (operand,) = op.operands
    number = constant_of(operand)
    if number is None:
        inner = operand.owner
        target = op.results[0].type
        if not isinstance(inner, Operation) or inner.name not in _UNDONE.get(op.name, ()):
            return None
        source = inner.operands[0]
        return source if source.type == target != IndexType() else None
    width = _width_of(operand.type)
    if op.name in _SIGNED_CASTS:
        return -number if width == 1 else number
    return _unsigned(number, width) if op.name in _UNSIGNED_CASTS else None

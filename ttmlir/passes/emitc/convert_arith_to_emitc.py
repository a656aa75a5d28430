"""Operations of arith as operations of emitc: part of convert-ttkernel-to-emitc.

What wraps around or is unsigned is computed on unsigned integers, since overflow of signed ones has
no meaning in C++; the operands are cast, and the result is cast back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    IntegerType,
    Signedness,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects import emitc
from ttmlir.dialects.arith_in_cpp import (
    CASTS,
    COMPARISONS,
    EXTREMA,
    ON_BOOLEANS,
    PLAIN,
    UNSIGNED_CASTS,
    WRAPPING,
)
from ttmlir.dialects.emitc import expressions

_OPERATORS: dict[str, type[Operation]] = {
    "+": emitc.AddOp,
    "-": emitc.SubOp,
    "*": emitc.MulOp,
    "/": emitc.DivOp,
    "%": emitc.RemOp,
    "&": expressions.BitwiseAndOp,
    "|": expressions.BitwiseOrOp,
    "^": expressions.BitwiseXorOp,
    "<<": expressions.BitwiseLeftShiftOp,
    ">>": expressions.BitwiseRightShiftOp,
}
_PREDICATES = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
"""Of `emitc.cmp` by operator."""

Make = Callable[..., SSAValue]


class ArithConversion:
    """Makes the operations of emitc that compute what one of arith does."""

    def __init__(self, make: Make) -> None:
        """`make(cls, operands, type, properties)` adds an operation and gives its result."""
        self._make = make

    def result(self, op: Operation, operands: Sequence[SSAValue]) -> SSAValue | None:
        """The result on the converted operands; None for an operation of another kind."""
        kind = type(op)
        if kind in WRAPPING:
            return self._wrapping(op, operands)
        if kind in PLAIN:
            cls = _OPERATORS[PLAIN[kind]]
            return self._make(cls, self._signed(operands), op.results[0].type)
        if kind in EXTREMA:
            chosen = self._compare(*EXTREMA[kind], operands)
            return self._make(emitc.ConditionalOp, [chosen, *operands], op.results[0].type)
        if kind is arith.FloorDivSIOp:
            return self._floor_division(operands, op.results[0].type)
        return self._other(op, operands)

    def _floor_division(self, operands: Sequence[SSAValue], type_: Attribute) -> SSAValue:
        """The quotient, one less where a remainder and the divisor differ in sign."""
        values = self._signed(operands)
        quotient = self._make(emitc.DivOp, values, type_)
        rest = self._make(emitc.RemOp, values, type_)
        zero, one = (self._number(each, type_) for each in (0, 1))
        signs = self._make(expressions.BitwiseXorOp, [rest, values[1]], type_)
        differ = self._compare("<", False, [signs, zero])
        both = [self._compare("!=", False, [rest, zero]), differ]
        less = self._make(emitc.SubOp, [quotient, one], type_)
        chosen = self._make(expressions.LogicalAndOp, both, i1)
        return self._make(emitc.ConditionalOp, [chosen, less, quotient], type_)

    def _number(self, value: int, type_: Attribute) -> SSAValue:
        constant = IntegerAttr(value, cast("IntegerType", type_))
        return self._make(emitc.ConstantOp, [], type_, {"value": constant})

    def _other(self, op: Operation, operands: Sequence[SSAValue]) -> SSAValue | None:
        result = op.results[0].type if op.results else i1
        match op:
            case arith.ConstantOp():
                return self._make(emitc.ConstantOp, [], result, {"value": op.value})
            case arith.CmpiOp():
                return self._compare(*COMPARISONS[op.predicate.value.data], operands)
            case arith.SelectOp():
                return self._make(emitc.ConditionalOp, operands, result)
            case arith.NegfOp():
                return self._make(expressions.UnaryMinusOp, self._signed(operands), result)
            case arith.TruncIOp() if result == i1:
                return self._lowest_bit(operands[0])
            case arith.FPToUIOp() if width := _width(result):
                kind = IntegerType(width, Signedness.UNSIGNED)
                return self._cast(self._cast(operands[0], kind), result)
            case _ if isinstance(op, CASTS):
                value = self._cast(operands[0], result)
                # A set bit is -1 where the bit is the sign.
                signed = isinstance(op, arith.ExtSIOp | arith.SIToFPOp) and operands[0].type == i1
                return self._make(expressions.UnaryMinusOp, [value], result) if signed else value
            case _ if isinstance(op, UNSIGNED_CASTS):
                return self._cast(self._unsigned(operands[0]), result)
            case _:
                return None

    def _cast(self, value: SSAValue, type_: Attribute) -> SSAValue:
        return self._make(emitc.CastOp, [value], type_)

    def _unsigned(self, value: SSAValue) -> SSAValue:
        type_: Attribute = value.type
        width = _width(type_)
        if width is None or width == 1:
            return value
        return self._cast(value, IntegerType(width, Signedness.UNSIGNED))

    def _signed(self, operands: Sequence[SSAValue]) -> list[SSAValue]:
        """The operands; an index, which is unsigned in C++, as a signed number."""
        return [
            self._cast(each, i32) if isinstance(each.type, IndexType) else each for each in operands
        ]

    def _wrapping(self, op: Operation, operands: Sequence[SSAValue]) -> SSAValue | None:
        result, operator = op.results[0].type, WRAPPING[type(op)]
        if result == i1 and operator not in ON_BOOLEANS:
            return None
        values = [self._unsigned(each) for each in operands]
        computed = self._make(_OPERATORS[operator], values, values[0].type)
        return computed if computed.type == result else self._cast(computed, result)

    def _compare(self, operator: str, unsigned: bool, operands: Sequence[SSAValue]) -> SSAValue:
        values = [*map(self._unsigned, operands)] if unsigned else self._signed(operands)
        predicate = IntegerAttr(emitc.CmpOp.PREDICATES.index(_PREDICATES[operator]), i64)
        return self._make(emitc.CmpOp, values, i1, {"predicate": predicate})

    def _lowest_bit(self, value: SSAValue) -> SSAValue:
        width = _width(value.type)
        assert width is not None, "arith.trunci takes integers of a width"
        one = IntegerAttr(1, IntegerType(width))
        constant = self._make(emitc.ConstantOp, [], one.type, {"value": one})
        bit = self._make(expressions.BitwiseAndOp, [value, constant], one.type)
        return self._cast(bit, i1)


def _width(type_: Attribute) -> int | None:
    """How many bits an integer type has; None for any other type."""
    match type_:
        case IntegerType():
            return type_.width.data
        case _:
            return None

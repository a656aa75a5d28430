"""Operations of arith as expressions of the kernel tree, and values and types with them.

Integers without sign are `int32_t` and the like. What wraps around or is unsigned is computed on
`uint32_t`, since overflow of signed numbers has no meaning in C++: the operands are cast, and the
result is cast back, in variables of their own as MLIR's arith-to-emitc does.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, IntegerType, i1
from xdsl.ir import Attribute, Operation

from ttmlir.cpp.errors import CannotEmitError
from ttmlir.cpp.tree import (
    BinaryOperation,
    Boolean,
    Cast,
    Conditional,
    Expression,
    Floating,
    Integer,
    Name,
    NamedType,
    Pointer,
    Type,
    Unary,
)
from ttmlir.cpp.types import FIXED_WIDTHS, find_integer_type
from ttmlir.dialects.arith_in_cpp import (
    CASTS,
    COMPARISONS,
    EXTREMA,
    ON_BOOLEANS,
    PLAIN,
    UNSIGNED_CASTS,
    WRAPPING,
)
from ttmlir.dialects.emitc import expressions as emitc
from ttmlir.dialects.ttkernel import (
    CBType,
    DataFormatType,
    InterleavedAddrGenType,
    L1AddrPtrType,
    LocalSemaphoreType,
    NocAddrType,
    TensorAccessorArgsType,
    TensorAccessorType,
)
from ttmlir.target.cpp.expressions import UNARY
from ttmlir.target.cpp.literals import literal_text
from ttmlir.target.cpp.types import type_text

CB_TYPE = NamedType("::tt::CB")
_AUTO = NamedType("auto")
_OPAQUE: dict[type[Attribute], NamedType] = {
    CBType: CB_TYPE,
    NocAddrType: NamedType("int64_t"),
    LocalSemaphoreType: NamedType("uint32_t"),
    DataFormatType: NamedType("DataFormat"),
    InterleavedAddrGenType: _AUTO,
    TensorAccessorArgsType: _AUTO,
    TensorAccessorType: _AUTO,
}


def cpp_type(type_: Attribute) -> Type:
    """The C++ type of a value; raises CannotEmitError if it has none."""
    if isinstance(type_, L1AddrPtrType):
        name = find_integer_type(type_.width.data, False).name
        return Pointer(NamedType(name, qualifiers=("volatile", "tt_l1_ptr")))
    known = _OPAQUE.get(type(type_))
    return NamedType(type_text(type_)) if known is None else known


def unsigned(type_: Attribute) -> NamedType:
    """The unsigned C++ type of the same width; CannotEmitError if it is no integer."""
    match type_:
        case IndexType():
            return NamedType("size_t")
        case IntegerType() if type_.width.data in FIXED_WIDTHS:
            return NamedType(find_integer_type(type_.width.data, False).name)
        case _:
            raise CannotEmitError(f"cannot emit arithmetic on type '{type_}'")


def literal(value: Attribute) -> Expression:
    """The number that an attribute is."""
    match value:
        case IntegerAttr(value=number, type=IntegerType() as type_) if type_.width.data == 1:
            return Boolean(number.data != 0)
        case IntegerAttr() | FloatAttr():
            return _number(literal_text(value))
        case _:
            raise CannotEmitError(f"cannot emit constant '{value}'; kernels have scalar ones only")


def _number(text: str) -> Expression:
    if text.startswith("-"):
        return Unary("-", _number(text[1:]))
    if text in ("NAN", "INFINITY"):
        return Name(text)
    return Integer(text) if text.isdigit() else Floating(text)


Declare = Callable[[Type, Expression], Name]
"""Makes a variable of this type and value."""


class Arithmetic:
    """Makes the expression of an operation; parts become variables through `declare`."""

    def __init__(self, operand: Callable[[Operation, int], Name], declare: Declare) -> None:
        """`operand` gives the variable of an operand."""
        self._operand = operand
        self._declare = declare

    def expression(self, op: Operation) -> Expression | None:
        """The expression that computes the result; None for an operation of another kind."""
        kind = type(op)
        if kind in WRAPPING:
            return self._wrapping(op, WRAPPING[kind])
        if kind in PLAIN:
            return BinaryOperation(PLAIN[kind], self._as_signed(op, 0), self._as_signed(op, 1))
        if kind in EXTREMA:
            return self._extremum(op, *EXTREMA[kind])
        if isinstance(op, arith.FloorDivSIOp):
            return self._floor_division(op)
        if isinstance(op, emitc.UnaryMinusOp):
            return self._negation(op)
        if isinstance(op, emitc.LogicalNotOp | emitc.BitwiseNotOp | emitc.UnaryPlusOp):
            return Unary(UNARY[op.name], self._operand(op, 0))
        return self._other(op)

    def _other(self, op: Operation) -> Expression | None:
        match op:
            case arith.ConstantOp():
                return literal(op.value)
            case arith.CmpiOp():
                return self._comparison(op)
            case arith.SelectOp():
                return Conditional(*(self._operand(op, index) for index in range(3)))
            case arith.NegfOp():
                return Unary("-", self._operand(op, 0))
            case arith.FPToUIOp() if not _is_boolean(op.results[0].type):
                kind = unsigned(op.results[0].type)
                value = self._declare(kind, Cast("c", kind, self._operand(op, 0)))
                return Cast("c", cpp_type(op.results[0].type), value)
            case _ if isinstance(op, CASTS):
                return self._cast(op, self._operand(op, 0))
            case _ if isinstance(op, UNSIGNED_CASTS):
                return self._cast(op, self._as_unsigned(op, 0))
            case _:
                return None

    def _as_unsigned(self, op: Operation, index: int) -> Name:
        """The operand as an unsigned number."""
        value, type_ = self._operand(op, index), op.operands[index].type
        if isinstance(type_, IndexType) or _is_boolean(type_):
            return value
        kind = unsigned(type_)
        return self._declare(kind, Cast("c", kind, value))

    def _as_signed(self, op: Operation, index: int) -> Name:
        """The operand as it is; an index, `size_t` in C++, as a signed number."""
        value = self._operand(op, index)
        if not isinstance(op.operands[index].type, IndexType):
            return value
        kind = NamedType("int32_t")
        return self._declare(kind, Cast("c", kind, value))

    def _wrapping(self, op: Operation, operator: str) -> Expression:
        result = op.results[0].type
        if _is_boolean(result) and operator not in ON_BOOLEANS:
            raise CannotEmitError("cannot emit arithmetic on booleans; use 'arith.andi' and others")
        left, right = self._as_unsigned(op, 0), self._as_unsigned(op, 1)
        computed = BinaryOperation(operator, left, right)
        if isinstance(result, IndexType) or _is_boolean(result):
            return computed
        return Cast("c", cpp_type(result), self._declare(unsigned(result), computed))

    def _negation(self, op: Operation) -> Expression:
        """`-x`; of integers on unsigned ones, so that the least has a defined result."""
        result: Attribute = op.results[0].type
        if result.name != IntegerType.name:
            return Unary("-", self._operand(op, 0))
        kind = unsigned(result)
        negated = self._declare(kind, Unary("-", self._as_unsigned(op, 0)))
        return Cast("c", cpp_type(result), negated)

    def _floor_division(self, op: Operation) -> Expression:
        """The quotient, one less where a remainder and the divisor differ in sign."""
        result = cpp_type(op.results[0].type)
        left, right = self._as_signed(op, 0), self._as_signed(op, 1)
        quotient = self._declare(result, BinaryOperation("/", left, right))
        rest = self._declare(result, BinaryOperation("%", left, right))
        zero = Integer("0")
        signs = self._declare(result, BinaryOperation("^", rest, right))
        differ = BinaryOperation("<", signs, zero)
        wrong = BinaryOperation("&&", BinaryOperation("!=", rest, zero), differ)
        less = self._declare(NamedType("bool"), wrong)
        return Conditional(less, BinaryOperation("-", quotient, Integer("1")), quotient)

    def _comparison(self, op: arith.CmpiOp) -> Expression:
        operator, is_unsigned = COMPARISONS[op.predicate.value.data]
        operand = self._as_unsigned if is_unsigned else self._as_signed
        return BinaryOperation(operator, operand(op, 0), operand(op, 1))

    def _extremum(self, op: Operation, operator: str, is_unsigned: bool) -> Expression:
        operand = self._as_unsigned if is_unsigned else self._as_signed
        compared = BinaryOperation(operator, operand(op, 0), operand(op, 1))
        chosen = self._declare(NamedType("bool"), compared)
        return Conditional(chosen, self._operand(op, 0), self._operand(op, 1))

    def _cast(self, op: Operation, value: Expression) -> Expression:
        source, target = op.operands[0].type, op.results[0].type
        if _is_boolean(target):
            return Cast("c", NamedType("bool"), BinaryOperation("&", value, Integer("1")))
        cast_ = Cast("c", cpp_type(target), value)
        # A set bit is -1 where the bit is the sign.
        signed = isinstance(op, arith.ExtSIOp | arith.SIToFPOp) and _is_boolean(source)
        return Unary("-", cast_) if signed else cast_


def _is_boolean(type_: Attribute) -> bool:
    return type_ == i1

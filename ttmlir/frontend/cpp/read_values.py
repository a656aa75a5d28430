"""Values of a C++ kernel that is read into the IR: what they are there, and arithmetic with them.

Integers are signless in the IR; a value remembers whether its type is unsigned in C++, which
decides between operations as `arith.divsi` and `arith.divui`. A cast between signed and unsigned is
therefore nothing in the IR, and the casts with which `arith.addi` is written vanish again. As on
the cores, `int`, `long` and `size_t` have 32 bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn, TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    f32,
    i1,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ttmlir.cpp.conversions import find_common_type, promote
from ttmlir.cpp.tree import Node, Position
from ttmlir.cpp.types import (
    BOOL,
    FLOAT,
    INT,
    UNSIGNED,
    FloatType,
    IntType,
    PointerType,
    find_integer_type,
)
from ttmlir.dialects.ttkernel import RESULT_TYPES
from ttmlir.ir.op_builder import OpBuilder
from ttmlir.mlir.reporting.diagnostics import LocatedError
from ttmlir.mlir.reporting.locations import file_location
from ttmlir.optable.kernel import ValueKind


@dataclass(frozen=True)
class LibraryType:
    """A type that only the IR has: C++ has numbers, pointers or classes of its own for it."""

    type: Attribute


ValueType: TypeAlias = IntType | FloatType | PointerType | LibraryType
"""Floating-point numbers are `float`, and pointers are to 32-bit words of L1."""


def find_ir_type(type_: ValueType) -> Attribute:
    """The type of the IR."""
    match type_:
        case IntType(bits=bits):
            return IntegerType(bits)
        case FloatType():
            return f32
        case PointerType():
            return RESULT_TYPES[ValueKind.L1_PTR]
        case LibraryType(type=attribute):
            return attribute


def find_value_type(type_: Attribute, *, signed: bool = True) -> ValueType:
    """The type of values of a type of the IR."""
    match type_:
        case IntegerType():
            return find_integer_type(type_.width.data, signed)
        case _ if isinstance(type_, AnyFloat):
            return FLOAT
        case _ if type_ == RESULT_TYPES[ValueKind.L1_PTR]:
            return PointerType(UNSIGNED, volatile=True)
        case _:
            return LibraryType(type_)


@dataclass(frozen=True)
class TypedValue:
    """A value: of an operation, or a number that no operation has been made for yet."""

    ctype: ValueType
    ssa: SSAValue | None = None
    number: int | None = None
    """What it is known to be when the kernel is compiled."""

    @property
    def ir_type(self) -> Attribute:
        """The type in the IR."""
        return find_ir_type(self.ctype)


def known(number: int, ctype: IntType = INT) -> TypedValue:
    """A number."""
    return TypedValue(ctype, number=number)


def width_of(type_: Attribute) -> int | None:
    """Bits of an integer type; None for any other type."""
    match type_:
        case IntegerType():
            return type_.width.data
        case _:
            return None


_INTEGER_OPERATIONS: dict[str, tuple[type[Operation], type[Operation]]] = {
    "+": (arith.AddiOp, arith.AddiOp),
    "-": (arith.SubiOp, arith.SubiOp),
    "*": (arith.MuliOp, arith.MuliOp),
    "/": (arith.DivSIOp, arith.DivUIOp),
    "%": (arith.RemSIOp, arith.RemUIOp),
    "&": (arith.AndIOp, arith.AndIOp),
    "|": (arith.OrIOp, arith.OrIOp),
    "^": (arith.XOrIOp, arith.XOrIOp),
    "<<": (arith.ShLIOp, arith.ShLIOp),
    ">>": (arith.ShRSIOp, arith.ShRUIOp),
}
"""The operations of signed and of unsigned numbers."""
_FLOAT_OPERATIONS: dict[str, type[Operation]] = {
    "+": arith.AddfOp,
    "-": arith.SubfOp,
    "*": arith.MulfOp,
    "/": arith.DivfOp,
}
_PREDICATES = {"==": ("eq", "eq"), "!=": ("ne", "ne")} | {
    operator: (f"s{name}", f"u{name}")
    for operator, name in (("<", "lt"), ("<=", "le"), (">", "gt"), (">=", "ge"))
}


class ValueBuilder(OpBuilder):
    """Adds operations at the place of the node that is being read."""

    def __init__(self, block: Block, position: Position) -> None:
        """Add to `block`."""
        super().__init__(block, _location_of(position))

    def at(self, node: Node) -> None:
        """Take the place of a node, if it has one."""
        if node.position is not None:
            self.location = _location_of(node.position)

    def refuse(self, message: str, node: Node | None = None) -> NoReturn:
        """Fail at a node, or where the builder is."""
        if node is not None:
            self.at(node)
        raise LocatedError(self.location, message)

    def add(self, op: Operation) -> Operation:
        """Add an operation at the place."""
        op.location = self.location
        return self.insert(op)

    def make(
        self,
        cls: type[Operation],
        operands: Sequence[SSAValue],
        type_: Attribute,
        properties: Mapping[str, Attribute] | None = None,
    ) -> SSAValue:
        """Add an operation with one result."""
        op = cls.create(operands=operands, result_types=[type_], properties=dict(properties or {}))
        return self.add(op).results[0]

    # Numbers.

    def ssa(self, value: TypedValue) -> SSAValue:
        """The value of an operation; a number gets a constant."""
        if value.ssa is not None:
            return value.ssa
        type_, number = value.ir_type, value.number
        assert number is not None, "a value is of an operation or a number"
        bits = width_of(type_)
        if bits is None:
            self.refuse(f"a number does not go where a '{type_}' is expected")
        return self.add(arith.ConstantOp(IntegerAttr(_wrap(number, bits), bits))).results[0]

    def floating(self, number: float) -> TypedValue:
        """A floating-point constant."""
        return TypedValue(FLOAT, self.add(arith.ConstantOp(FloatAttr(number, f32))).results[0])

    def convert(self, value: TypedValue, target: ValueType) -> TypedValue:
        """The value as one of another type of numbers."""
        source, wanted = value.ir_type, find_ir_type(target)
        if value.number is not None and value.ssa is None and isinstance(target, IntType):
            number = int(value.number != 0) if wanted == i1 else value.number
            return known(number, target)
        if source == wanted:
            return replace(value, ctype=target)
        from_bits, to_bits = width_of(source), width_of(wanted)
        if isinstance(source, AnyFloat) or isinstance(wanted, AnyFloat):
            cls = self._float_cast(value.ctype, target)
        elif from_bits is None or to_bits is None:
            self.refuse(f"a '{source}' cannot be used as a '{wanted}'")
        elif to_bits == 1:
            assert isinstance(value.ctype, IntType), "it has a width"
            return self.compare("!=", value, known(0, value.ctype))
        elif to_bits < from_bits:
            cls = arith.TruncIOp
        else:
            cls = arith.ExtSIOp if is_signed(value.ctype) else arith.ExtUIOp
        return TypedValue(target, self.make(cls, [self.ssa(value)], wanted), value.number)

    def _float_cast(self, source: ValueType, target: ValueType) -> type[Operation]:
        match source, target:
            case IntType(), FloatType() if source != BOOL:
                return arith.SIToFPOp if source.signed else arith.UIToFPOp
            case FloatType(), IntType() if target != BOOL:
                return arith.FPToSIOp if target.signed else arith.FPToUIOp
            case _:
                names = f"'{find_ir_type(source)}' cannot be used as a '{find_ir_type(target)}'"
                self.refuse(f"a {names}")

    def unify(
        self, left: TypedValue, right: TypedValue
    ) -> tuple[TypedValue, TypedValue, IntType | FloatType]:
        """Both operands in the type that C++ computes with."""
        common: IntType | FloatType = FLOAT
        if not isinstance(left.ctype, FloatType) and not isinstance(right.ctype, FloatType):
            common = find_common_type(self._integer_type(left), self._integer_type(right))
        return self.convert(left, common), self.convert(right, common), common

    def _integer_type(self, value: TypedValue) -> IntType:
        if not isinstance(value.ctype, IntType):
            self.refuse(f"arithmetic on a '{value.ir_type}' has no form in the IR")
        return value.ctype

    def compute(self, operator: str, left: TypedValue, right: TypedValue) -> TypedValue:
        """`left operator right` of numbers."""
        if operator in _PREDICATES:
            return self.compare(operator, left, right)
        common: IntType | FloatType = BOOL
        if operator in ("<<", ">>"):
            common = promote(self._integer_type(left))
            left, right = self.convert(left, common), self.convert(right, common)
        elif operator not in "&|^" or left.ctype != BOOL or right.ctype != BOOL:
            left, right, common = self.unify(left, right)
        if isinstance(common, FloatType):
            cls = _FLOAT_OPERATIONS.get(operator)
            if cls is None:
                self.refuse(f"'{operator}' does not go with floating-point numbers")
        else:
            cls = _INTEGER_OPERATIONS[operator][not common.signed]
        number = _fold(operator, left.number, right.number)
        if number is not None and isinstance(common, IntType):
            number = common.wrap(number)
        operands = [self.ssa(left), self.ssa(right)]
        return TypedValue(common, self.make(cls, operands, find_ir_type(common)), number)

    def compare(self, operator: str, left: TypedValue, right: TypedValue) -> TypedValue:
        """A comparison of numbers."""
        left, right, common = self.unify(left, right)
        if isinstance(common, FloatType):
            self.refuse("comparisons of floating-point numbers have no form in the IR")
        predicate = _PREDICATES[operator][not common.signed]
        operands = self.ssa(left), self.ssa(right)
        return TypedValue(BOOL, self.add(arith.CmpiOp(*operands, predicate)).results[0])

    def truth(self, value: TypedValue) -> SSAValue:
        """Whether a number is not 0."""
        return self.ssa(self.convert(value, BOOL))


def is_signed(type_: ValueType) -> bool:
    """Whether values are integers with a sign."""
    return isinstance(type_, IntType) and type_.signed


def _location_of(position: Position) -> LocationAttr:
    return file_location(position.file, position.line, position.column)


def _wrap(number: int, bits: int) -> int:
    """The number with so many bits, negative if the highest is set."""
    if bits == 1:
        return number & 1
    return (number + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def _fold(operator: str, left: int | None, right: int | None) -> int | None:
    """What plain arithmetic on known numbers gives: enough to number buffers and arguments."""
    if left is None or right is None:
        return None
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case _:
            return None

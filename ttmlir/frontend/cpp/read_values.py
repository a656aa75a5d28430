"""Values of a C++ kernel that is read into the IR: what they are there, and arithmetic with them.

Integers are signless in the IR; a value remembers whether its type is unsigned in C++, which
decides between operations as `arith.divsi` and `arith.divui`. A cast between signed and unsigned is
therefore nothing in the IR, and the casts with which `arith.addi` is written vanish again. As on
the cores, `int`, `long` and `size_t` have 32 bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    f32,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ttmlir.cpp.tree import Node, Position
from ttmlir.ir.op_builder import OpBuilder
from ttmlir.mlir.reporting.diagnostics import LocatedError
from ttmlir.mlir.reporting.locations import file_location


@dataclass(frozen=True)
class CType:
    """A type: that of the IR, and whether it is an unsigned integer in C++."""

    type: Attribute
    unsigned: bool = False


INT = CType(i32)
UNSIGNED = CType(i32, unsigned=True)
BOOL = CType(i1)

_FIXED = {
    f"{'u' if unsigned else ''}int{width}_t": CType(IntegerType(width), unsigned)
    for unsigned in (False, True)
    for width in (8, 16, 32, 64)
}
SCALARS: Mapping[str, CType] = {
    **_FIXED,
    "bool": BOOL,
    "char": CType(IntegerType(8)),
    "short": CType(IntegerType(16)),
    "int": INT,
    "long": INT,
    "long long": CType(i64),
    "unsigned": UNSIGNED,
    "unsigned int": UNSIGNED,
    "unsigned long": UNSIGNED,
    "size_t": UNSIGNED,
    "float": CType(f32),
}
"""The types of numbers by their C++ names."""


@dataclass(frozen=True)
class TypedValue:
    """A value: of an operation, or a number that no operation has been made for yet."""

    ctype: CType
    ssa: SSAValue | None = None
    number: int | None = None
    """What it is known to be when the kernel is compiled."""


def known(number: int, ctype: CType = INT) -> TypedValue:
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
        type_, number = value.ctype.type, value.number
        assert number is not None, "a value is of an operation or a number"
        bits = width_of(type_)
        if bits is None:
            self.refuse(f"a number does not go where a '{type_}' is expected")
        return self.add(arith.ConstantOp(IntegerAttr(_wrap(number, bits), bits))).results[0]

    def floating(self, number: float) -> TypedValue:
        """A floating-point constant."""
        return TypedValue(CType(f32), self.add(arith.ConstantOp(FloatAttr(number, f32))).results[0])

    def convert(self, value: TypedValue, target: CType) -> TypedValue:
        """The value as one of another type of numbers."""
        source, wanted = value.ctype.type, target.type
        if value.number is not None and value.ssa is None and width_of(wanted) is not None:
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
            return self.compare("!=", value, known(0, value.ctype))
        elif to_bits < from_bits:
            cls = arith.TruncIOp
        else:
            unsigned = value.ctype.unsigned or from_bits == 1
            cls = arith.ExtUIOp if unsigned else arith.ExtSIOp
        return TypedValue(target, self.make(cls, [self.ssa(value)], wanted), value.number)

    def _float_cast(self, source: CType, target: CType) -> type[Operation]:
        to_bits = width_of(target.type)
        if width_of(source.type) not in (None, 1) and isinstance(target.type, AnyFloat):
            return arith.UIToFPOp if source.unsigned else arith.SIToFPOp
        if to_bits not in (None, 1) and isinstance(source.type, AnyFloat):
            return arith.FPToUIOp if target.unsigned else arith.FPToSIOp
        self.refuse(f"a '{source.type}' cannot be used as a '{target.type}'")

    def _common(self, left: TypedValue, right: TypedValue) -> tuple[TypedValue, TypedValue, CType]:
        """Both operands in the type that C++ computes with."""
        types = (left.ctype, right.ctype)
        if any(isinstance(each.type, AnyFloat) for each in types):
            return self.convert(left, CType(f32)), self.convert(right, CType(f32)), CType(f32)
        promoted = [self._promoted(each) for each in types]
        bits = max(width_of(each.type) or 32 for each in promoted)
        unsigned = any(each.unsigned and width_of(each.type) == bits for each in promoted)
        common = CType(IntegerType(bits), unsigned)
        return self.convert(left, common), self.convert(right, common), common

    def _promoted(self, ctype: CType) -> CType:
        bits = width_of(ctype.type)
        if bits is None:
            self.refuse(f"arithmetic on a '{ctype.type}' has no form in the IR")
        return INT if bits < 32 else ctype

    def compute(self, operator: str, left: TypedValue, right: TypedValue) -> TypedValue:
        """`left operator right` of numbers."""
        if operator in _PREDICATES:
            return self.compare(operator, left, right)
        if operator in "&|^" and left.ctype == BOOL and right.ctype == BOOL:
            common = BOOL
        elif operator in ("<<", ">>"):
            common = self._promoted(left.ctype)
            left, right = self.convert(left, common), self.convert(right, common)
        else:
            left, right, common = self._common(left, right)
        if common.type == f32:
            cls = _FLOAT_OPERATIONS.get(operator)
            if cls is None:
                self.refuse(f"'{operator}' does not go with floating-point numbers")
        else:
            cls = _INTEGER_OPERATIONS[operator][common.unsigned]
        number = _fold(operator, left.number, right.number)
        operands = [self.ssa(left), self.ssa(right)]
        return TypedValue(common, self.make(cls, operands, common.type), number)

    def compare(self, operator: str, left: TypedValue, right: TypedValue) -> TypedValue:
        """A comparison of numbers."""
        left, right, common = self._common(left, right)
        if common.type == f32:
            self.refuse("comparisons of floating-point numbers have no form in the IR")
        predicate = _PREDICATES[operator][common.unsigned]
        operands = self.ssa(left), self.ssa(right)
        return TypedValue(BOOL, self.add(arith.CmpiOp(*operands, predicate)).results[0])

    def truth(self, value: TypedValue) -> SSAValue:
        """Whether a number is not 0."""
        return self.ssa(self.convert(value, BOOL))


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

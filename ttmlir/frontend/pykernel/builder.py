"""Makes operations of arith and emitc for what Python's operators mean.

Integers have 32 bits and a sign. `//` and `%` round down as in Python, not towards zero.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import NoReturn

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, f32, i1, i32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ttmlir.dialects.emitc import expressions as emitc
from ttmlir.dialects.ttkernel import op_class
from ttmlir.frontend.pykernel.source import FunctionSource
from ttmlir.frontend.pykernel.values import MOST_INTEGER, Scalar, describe
from ttmlir.ir.op_builder import OpBuilder

_INTEGERS: dict[str, type[Operation]] = {
    "+": arith.AddiOp,
    "-": arith.SubiOp,
    "*": arith.MuliOp,
    "&": arith.AndIOp,
    "|": arith.OrIOp,
    "^": arith.XOrIOp,
    "<<": arith.ShLIOp,
    ">>": arith.ShRSIOp,
}
_FLOATS: dict[str, type[Operation]] = {
    "+": arith.AddfOp,
    "-": arith.SubfOp,
    "*": arith.MulfOp,
    "/": arith.DivfOp,
}
_PREDICATES = {"==": "eq", "!=": "ne", "<": "slt", "<=": "sle", ">": "sgt", ">=": "sge"}
_PYTHON: dict[str, Callable[[int, int], int]] = {
    "+": int.__add__,
    "-": int.__sub__,
    "*": int.__mul__,
    "//": int.__floordiv__,
    "%": int.__mod__,
    "**": lambda base, exponent: base**exponent,
    "&": int.__and__,
    "|": int.__or__,
    "^": int.__xor__,
    "<<": int.__lshift__,
    ">>": int.__rshift__,
}
_HOLDS: dict[str, Callable[[float, float], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_SHIFT = "integers have 32 bits; they can be shifted by 0 to 31, not by {}"
_UNDEFINED = {
    "//": "division by zero",
    "%": "division by zero",
    "<<": _SHIFT,
    ">>": _SHIFT,
    "**": "an exponent is an integer from 0 to 31, not {}",
}
_KEEP_NATURAL = frozenset("&|^")
"""Operators whose result is not negative if their operands are not; sums and products may wrap."""
_INT_MIN, _UINT_END = -(1 << 31), 1 << 32
_MOST_BITS = 31


class KernelBuilder(OpBuilder):
    """Adds operations at the place of the node that is being compiled."""

    def __init__(self, block: Block, source: FunctionSource) -> None:
        """Add to `block` what comes from a function."""
        super().__init__(block, source.location(source.node))
        self._entry = block
        self.source = source
        self._node: ast.expr | ast.stmt | ast.FunctionDef = source.node
        self._kernel_file = source.file

    # Places.

    def at(self, node: ast.expr | ast.stmt) -> None:
        """Take the place of a node.

        What is inlined from another file keeps the place of the call: a kernel has one file.
        """
        self._node = node
        if self.source.file == self._kernel_file:
            self.location = self.source.location(node)

    @contextmanager
    def inside(self, source: FunctionSource) -> Generator[None]:
        """Nodes are those of another function meanwhile."""
        outer = self.source, self._node, self.location
        self.source = source
        yield
        self.source, self._node, self.location = outer

    def refuse(self, message: str, node: ast.expr | ast.stmt | None = None) -> NoReturn:
        """Fail at a node, or at the last one that was looked at."""
        self.source.refuse(self._node if node is None else node, message)

    @property
    def is_certain(self) -> bool:
        """Whether the kernel always comes to the place."""
        return self.block is self._entry

    def forbid(self, message: str, node: ast.expr | ast.stmt | None = None) -> None:
        """Fail for numbers that are wrong if the kernel comes to the place; it stops if it does.

        It may not come there, as behind `if n != 0` for a constant `n`. Numbers that are written
        there are always wrong.
        """
        wrong = self._node if node is None else node
        number = _second(self._node) if node is None else node
        is_written = isinstance(number, ast.Constant | ast.UnaryOp)
        if self.is_certain or is_written:
            self.refuse(message, wrong)
        self.stop()

    def stop(self) -> None:
        """Let the kernel stop if it comes to the place."""
        self.add(op_class("assert").create(operands=[self.ssa(_literal(0, i1))]))

    # Operations.

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

    @contextmanager
    def into(self, block: Block) -> Generator[None]:
        """Operations go to another block meanwhile."""
        outer, self.block = self.block, block
        yield
        self.block = outer

    # Numbers.

    def ssa(self, value: Scalar) -> SSAValue:
        """The value of an operation; a literal gets a constant."""
        if value.ssa is not None:
            return value.ssa
        known = value.known
        assert known is not None, "a scalar without operation is a literal"
        if value.type == f32:
            return self.add(arith.ConstantOp(FloatAttr(float(known), f32))).results[0]
        whole = int(known)
        if not _INT_MIN <= whole < _UINT_END:
            self.refuse(f"{whole} does not fit into the 32 bits that integers have on a core")
        bits = 1 if value.type == i1 else 32
        constant = arith.ConstantOp(IntegerAttr(_wrap(whole, bits), bits))
        return self.add(constant).results[0]

    def settle(self, value: Scalar) -> Scalar:
        """The value with an operation, so that all uses are of one constant."""
        known, natural = value.known, value.natural
        if value.is_literal and value.type == i32 and known is not None:
            known = _wrap(int(known), 32)
            natural = known >= 0
        return Scalar(value.type, self.ssa(value), known, natural)

    def index(self, value: Scalar) -> SSAValue:
        """An integer as an index of a memref."""
        if value.known is not None:
            constant = arith.ConstantOp(IntegerAttr(int(value.known), IndexType()))
            return self.add(constant).results[0]
        return self.make(arith.IndexCastOp, [self.ssa(self.integer(value))], IndexType())

    def convert(self, value: Scalar, type_: Attribute) -> Scalar:
        """A number as one of another type, as `int`, `float` and `bool` do in Python."""
        if value.type == type_:
            return value
        if not value.is_number:
            wanted = describe(Scalar(type_))
            self.refuse(f"{describe(value)} is where {wanted} has to be")
        if value.is_literal:
            assert value.known is not None
            return _literal(value.known, type_)
        if type_ == i1:
            return self.compare("!=", value, _literal(0, value.type))
        if value.type == i1:
            value = Scalar(i32, self.make(arith.ExtUIOp, [self.ssa(value)], i32), natural=True)
            return self.convert(value, type_)
        cls = arith.SIToFPOp if type_ == f32 else arith.FPToSIOp
        return Scalar(type_, self.make(cls, [self.ssa(value)], type_))

    def integer(self, value: Scalar) -> Scalar:
        """A number as an integer; floats are refused."""
        if value.type == f32:
            self.refuse("a float is where an integer has to be; int(...) cuts its fraction off")
        return self.convert(value, i32)

    def truth(self, value: Scalar) -> Scalar:
        """Whether a number is not 0."""
        return self.convert(value, i1)

    # Operators.

    def binary(self, symbol: str, left: Scalar, right: Scalar) -> Scalar:
        """`left symbol right` of numbers."""
        for each in (left, right):
            if not each.is_number:
                self.refuse(f"'{symbol}' takes numbers, not {describe(each)}")
        if f32 in (left.type, right.type):
            return self._float(symbol, left, right)
        if symbol == "/":
            self.refuse("'/' makes a float of integers; '//' is the division of integers")
        if (left.is_literal and right.is_literal) or _is_defined(symbol, left, right):
            assert left.known is not None
            assert right.known is not None
            if not _is_defined(symbol, left, right):
                self.forbid(_UNDEFINED[symbol].format(right.known))
                return _literal(0, i32)
            folded = _PYTHON[symbol](int(left.known), int(right.known))
            if left.is_literal and right.is_literal:
                return _literal(folded, i1 if _both_truths(symbol, left, right) else i32)
        else:
            folded = None
        result = self._integers(symbol, left, right)
        if folded is None:
            return result
        known = _wrap(folded, 1 if result.type == i1 else 32)
        return Scalar(result.type, result.ssa, known, known >= 0)

    def _integers(self, symbol: str, left: Scalar, right: Scalar) -> Scalar:
        if _both_truths(symbol, left, right):
            operands = [self.ssa(left), self.ssa(right)]
            return Scalar(i1, self.make(_INTEGERS[symbol], operands, i1), natural=True)
        left, right = self.convert(left, i32), self.convert(right, i32)
        if symbol == "**" and right.known is None:
            self.refuse("the exponent of '**' has to be known when the kernel is compiled, 0 to 31")
        if right.known is not None and not _is_defined_by(symbol, right.known):
            self.forbid(_UNDEFINED[symbol].format(right.known))
            return _literal(0, i32)
        match symbol:
            case "//":
                return self._floor_divide(left, right)
            case "%":
                return self._modulo(left, right)
            case "**":
                return self._power(left, right)
            case _:
                pass
        natural = left.natural and (symbol == ">>" or (symbol in _KEEP_NATURAL and right.natural))
        operands = [self.ssa(left), self.ssa(right)]
        return Scalar(i32, self.make(_INTEGERS[symbol], operands, i32), natural=natural)

    def _float(self, symbol: str, left: Scalar, right: Scalar) -> Scalar:
        cls = _FLOATS.get(symbol)
        if cls is None:
            self.refuse(f"'{symbol}' does not go with floats on a core; + - * / do")
        operands = [self.ssa(self.convert(each, f32)) for each in (left, right)]
        return Scalar(f32, self.make(cls, operands, f32))

    def _floor_divide(self, left: Scalar, right: Scalar) -> Scalar:
        """The quotient, rounded down."""
        power = _power_of_two(right)
        if power is not None:
            return self._plain(arith.ShRSIOp, left, _literal(power, i32), natural=left.natural)
        natural = left.natural and right.natural
        cls = arith.DivSIOp if natural else arith.FloorDivSIOp
        return self._plain(cls, left, right, natural=natural)

    def _modulo(self, left: Scalar, right: Scalar) -> Scalar:
        """What floor division leaves: it has the sign of the divisor."""
        power = _power_of_two(right)
        if power is not None:
            mask = _literal((1 << power) - 1, i32)
            return self._plain(arith.AndIOp, left, mask, natural=True)
        remainder = self._plain(arith.RemSIOp, left, right, natural=left.natural and right.natural)
        if remainder.natural:
            return remainder
        zero = _literal(0, i32)
        if right.natural:
            wrong = self.compare("<", remainder, zero)
        else:
            signs = self._plain(arith.XOrIOp, remainder, right)
            differ, rest = self.compare("<", signs, zero), self.compare("!=", remainder, zero)
            wrong = self.binary("&", differ, rest)
        return self.select(wrong, self.binary("+", remainder, right), remainder, right.natural)

    def _plain(
        self, cls: type[Operation], left: Scalar, right: Scalar, *, natural: bool = False
    ) -> Scalar:
        operands = [self.ssa(left), self.ssa(right)]
        return Scalar(i32, self.make(cls, operands, i32), natural=natural)

    def _power(self, left: Scalar, right: Scalar) -> Scalar:
        """A product of equal factors."""
        assert right.known is not None, "the exponent has been checked"
        result, square, bits = _literal(1, i32), left, int(right.known)
        while bits:
            if bits & 1:
                result = square if result.is_literal else self.binary("*", result, square)
            bits >>= 1
            square = self.binary("*", square, square) if bits else square
        return result

    def compare(self, symbol: str, left: Scalar, right: Scalar) -> Scalar:
        """A comparison of integers or truth values."""
        for each in (left, right):
            if not each.is_number:
                self.refuse(f"'{symbol}' compares numbers, not {describe(each)}")
            if each.type == f32:
                self.refuse(
                    "floats cannot be compared in a kernel; compare integers, or tiles with calls "
                    "such as ltz_tile"
                )
        left, right = self.convert(left, i32), self.convert(right, i32)
        if left.is_literal and right.is_literal:
            assert left.known is not None
            assert right.known is not None
            return _literal(int(_HOLDS[symbol](left.known, right.known)), i1)
        operands = self.ssa(left), self.ssa(right)
        result = self.add(arith.CmpiOp(*operands, _PREDICATES[symbol])).results[0]
        return Scalar(i1, result, natural=True)

    def select(
        self, condition: Scalar, then: Scalar, otherwise: Scalar, natural: bool = False
    ) -> Scalar:
        """One of two values of the same type."""
        operands = [self.ssa(each) for each in (condition, then, otherwise)]
        return Scalar(then.type, self.make(arith.SelectOp, operands, then.type), natural=natural)

    def extremum(self, cls: type[Operation], values: Sequence[Scalar]) -> Scalar:
        """The least or greatest of integers."""
        result, *others = (self.integer(each) for each in values)
        for each in others:
            both = result.natural and each.natural
            result = self._plain(cls, result, each, natural=both)
        return result

    def unary(self, symbol: str, value: Scalar) -> Scalar:
        """`-value`, `+value`, `~value` or `not value`."""
        if not value.is_number:
            self.refuse(f"'{symbol}' takes a number, not {describe(value)}")
        if symbol == "not":
            truth = self.truth(value)
            if truth.is_literal:
                return _literal(int(not truth.known), i1)
            return Scalar(i1, self.make(emitc.LogicalNotOp, [self.ssa(truth)], i1), natural=True)
        if value.type == f32 and symbol == "~":
            self.refuse("'~' takes an integer, not a float")
        value = self.convert(value, i32) if value.type == i1 else value
        if value.is_literal:
            assert value.known is not None
            if symbol == "~":
                return _literal(~int(value.known), i32)
            return _literal(-value.known if symbol == "-" else value.known, value.type)
        result = self.make(_UNARY[symbol], [self.ssa(value)], value.type)
        known = None
        if value.known is not None and value.type == i32:
            whole = int(value.known)
            known = {"-": -whole, "+": whole, "~": ~whole}[symbol]
        return Scalar(value.type, result, known, symbol == "+" and value.natural)


_UNARY: dict[str, type[Operation]] = {
    "-": emitc.UnaryMinusOp,
    "+": emitc.UnaryPlusOp,
    "~": emitc.BitwiseNotOp,
}


def _literal(value: int | float, type_: Attribute) -> Scalar:
    if type_ == f32:
        return Scalar(f32, known=float(value))
    whole = int(value != 0) if type_ == i1 else int(value)
    return Scalar(type_, known=whole, natural=0 <= whole <= MOST_INTEGER)


def _both_truths(symbol: str, left: Scalar, right: Scalar) -> bool:
    return symbol in "&|^" and left.type == i1 and right.type == i1


def _power_of_two(value: Scalar) -> int | None:
    known = value.known
    if not isinstance(known, int) or known <= 0 or known & (known - 1):
        return None
    return known.bit_length() - 1


def _wrap(value: int, bits: int) -> int:
    """The number with so many bits, negative if the highest is set."""
    if bits == 1:
        return value & 1
    return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def _is_defined(symbol: str, left: Scalar, right: Scalar) -> bool:
    """Whether both numbers are known, and so is what the operator makes of them.

    What is not may stand where the kernel never comes.
    """
    if left.known is None or right.known is None:
        return False
    return _is_defined_by(symbol, right.known)


def _is_defined_by(symbol: str, right: float) -> bool:
    """Whether the operator takes the second number."""
    if symbol in ("//", "%"):
        return right != 0
    return symbol not in ("<<", ">>", "**") or 0 <= right <= _MOST_BITS


def _second(node: ast.AST) -> ast.AST:
    """The second number of an operator, or the node itself."""
    match node:
        case ast.BinOp(right=second) | ast.AugAssign(value=second):
            return second
        case _:
            return node

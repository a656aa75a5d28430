"""Affine and semi-affine maps, simplified, compared and printed exactly as MLIR does.

Expressions are built through the operators of `AffineExpr` (or `binary`), which apply the rules of
MLIR's `AffineExpr` at construction: a constant stands on the right, products and sums with
constants fold, `floordiv` and `mod` drop known multiples. Two expressions are equal if they have
the same structure after that, and `str` gives MLIR's text.

Source of the rules: llvm-project, mlir/lib/IR/AffineExpr.cpp (construction) and
mlir/lib/IR/AsmPrinter.cpp (text).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache

from ttmlir.layout.errors import LayoutError

MAX_DEPTH = 200
"""Deepest nesting of an expression; keeps the recursive functions below Python's own limit."""
MAX_BITS = 128
"""Largest constant that simplification makes; products of texts could grow without end."""


class AffineKind(Enum):
    """Binary operators of affine expressions, with their spelling."""

    ADD = "+"
    MUL = "*"
    MOD = "mod"
    FLOORDIV = "floordiv"
    CEILDIV = "ceildiv"


class AffineExpr:
    """An immutable expression over dimensions, symbols and integer constants."""

    __slots__ = ("_hash", "depth", "is_symbolic_or_constant")

    _hash: int
    depth: int
    is_symbolic_or_constant: bool

    def __add__(self, other: AffineExpr | int) -> AffineExpr:
        """The sum of two expressions."""
        return binary(AffineKind.ADD, self, as_expr(other))

    def __radd__(self, other: int) -> AffineExpr:
        """The sum of a constant and an expression."""
        return binary(AffineKind.ADD, as_expr(other), self)

    def __neg__(self) -> AffineExpr:
        """The expression times -1."""
        return self * -1

    def __sub__(self, other: AffineExpr | int) -> AffineExpr:
        """The difference of two expressions."""
        return self + -as_expr(other)

    def __rsub__(self, other: int) -> AffineExpr:
        """A constant minus an expression."""
        return as_expr(other) + -self

    def __mul__(self, other: AffineExpr | int) -> AffineExpr:
        """The product of two expressions."""
        return binary(AffineKind.MUL, self, as_expr(other))

    def __rmul__(self, other: int) -> AffineExpr:
        """The product of a constant and an expression."""
        return binary(AffineKind.MUL, as_expr(other), self)

    def __mod__(self, other: AffineExpr | int) -> AffineExpr:
        """The remainder of the floor division, never negative for a positive divisor."""
        return binary(AffineKind.MOD, self, as_expr(other))

    def __floordiv__(self, other: AffineExpr | int) -> AffineExpr:
        """The quotient rounded towards negative infinity."""
        return binary(AffineKind.FLOORDIV, self, as_expr(other))

    def ceildiv(self, other: AffineExpr | int) -> AffineExpr:
        """The quotient rounded towards positive infinity."""
        return binary(AffineKind.CEILDIV, self, as_expr(other))

    def __hash__(self) -> int:
        """The hash of the structure, computed once."""
        return self._hash

    def __repr__(self) -> str:
        """The text in quotes, for error messages of tests."""
        return f"AffineExpr({str(self)!r})"

    def eval(self, dims: Sequence[int], symbols: Sequence[int] = ()) -> int:
        """The value at a point; LayoutError on a division by zero."""
        raise NotImplementedError

    def replace(self, replacements: Mapping[AffineExpr, AffineExpr]) -> AffineExpr:
        """The expression with every occurrence of a key replaced by its value."""
        return replacements.get(self, self)

    def rename(
        self, dims: Sequence[AffineExpr] = (), symbols: Sequence[AffineExpr] = ()
    ) -> AffineExpr:
        """The expression with d_i replaced by `dims[i]` and s_i by `symbols[i]`.

        Dimensions and symbols beyond the given sequences stay.
        """
        raise NotImplementedError

    def used_dims(self) -> frozenset[int]:
        """Positions of the dimensions that occur in the expression."""
        return frozenset()

    def largest_known_divisor(self) -> int:
        """The largest number that divides every value, as far as the structure tells."""
        return 1


class DimExpr(AffineExpr):
    """Dimension `d<position>`."""

    __slots__ = ("position",)

    def __init__(self, position: int):
        """Make the dimension with this position."""
        self.position = position
        self.depth = 0
        self.is_symbolic_or_constant = False
        self._hash = hash((DimExpr, position))

    def __eq__(self, other: object) -> bool:
        """Equal if the position is."""
        return self is other or (isinstance(other, DimExpr) and self.position == other.position)

    __hash__ = AffineExpr.__hash__

    def __str__(self) -> str:
        """The name, such as `d0`."""
        return f"d{self.position}"

    def eval(self, dims: Sequence[int], symbols: Sequence[int] = ()) -> int:
        """The coordinate at this position."""
        return dims[self.position]

    def rename(
        self, dims: Sequence[AffineExpr] = (), symbols: Sequence[AffineExpr] = ()
    ) -> AffineExpr:
        """The replacement of this dimension."""
        return dims[self.position] if self.position < len(dims) else self

    def used_dims(self) -> frozenset[int]:
        """The position of this dimension."""
        return frozenset((self.position,))


class SymbolExpr(AffineExpr):
    """Symbol `s<position>`."""

    __slots__ = ("position",)

    def __init__(self, position: int):
        """Make the symbol with this position."""
        self.position = position
        self.depth = 0
        self.is_symbolic_or_constant = True
        self._hash = hash((SymbolExpr, position))

    def __eq__(self, other: object) -> bool:
        """Equal if the position is."""
        return self is other or (isinstance(other, SymbolExpr) and self.position == other.position)

    __hash__ = AffineExpr.__hash__

    def __str__(self) -> str:
        """The name, such as `s0`."""
        return f"s{self.position}"

    def eval(self, dims: Sequence[int], symbols: Sequence[int] = ()) -> int:
        """The value of this symbol."""
        return symbols[self.position]

    def rename(
        self, dims: Sequence[AffineExpr] = (), symbols: Sequence[AffineExpr] = ()
    ) -> AffineExpr:
        """The replacement of this symbol."""
        return symbols[self.position] if self.position < len(symbols) else self


class ConstantExpr(AffineExpr):
    """An integer."""

    __slots__ = ("value",)

    def __init__(self, value: int):
        """Make the constant with this value; LayoutError beyond MAX_BITS bits."""
        if value.bit_length() > MAX_BITS:
            raise LayoutError(f"a constant of an affine expression has more than {MAX_BITS} bits")
        self.value = value
        self.depth = 0
        self.is_symbolic_or_constant = True
        self._hash = hash((ConstantExpr, value))

    def __eq__(self, other: object) -> bool:
        """Equal if the value is."""
        return self is other or (isinstance(other, ConstantExpr) and self.value == other.value)

    __hash__ = AffineExpr.__hash__

    def __str__(self) -> str:
        """The decimal number."""
        return str(self.value)

    def eval(self, dims: Sequence[int], symbols: Sequence[int] = ()) -> int:
        """The value itself."""
        return self.value

    def rename(
        self, dims: Sequence[AffineExpr] = (), symbols: Sequence[AffineExpr] = ()
    ) -> AffineExpr:
        """The constant itself."""
        return self

    def largest_known_divisor(self) -> int:
        """The magnitude of the value."""
        return abs(self.value)


class BinaryExpr(AffineExpr):
    """Two expressions joined by an operator; made by `binary`, which simplifies first."""

    __slots__ = ("kind", "lhs", "rhs")

    def __init__(self, kind: AffineKind, lhs: AffineExpr, rhs: AffineExpr):
        """Join two expressions without simplification; LayoutError beyond MAX_DEPTH levels."""
        self.kind = kind
        self.lhs = lhs
        self.rhs = rhs
        self.depth = 1 + max(lhs.depth, rhs.depth)
        if self.depth > MAX_DEPTH:
            raise LayoutError(f"affine expression is nested deeper than {MAX_DEPTH} levels")
        self.is_symbolic_or_constant = lhs.is_symbolic_or_constant and rhs.is_symbolic_or_constant
        self._hash = hash((kind, lhs, rhs))

    def __eq__(self, other: object) -> bool:
        """Equal if operator and operands are."""
        if self is other:
            return True
        if not isinstance(other, BinaryExpr) or self._hash != other._hash:
            return False
        return self.kind is other.kind and self.lhs == other.lhs and self.rhs == other.rhs

    __hash__ = AffineExpr.__hash__

    def __str__(self) -> str:
        """MLIR's text, with the fewest parentheses."""
        return _add_text(self) if self.kind is AffineKind.ADD else _tight_text(self)

    def eval(self, dims: Sequence[int], symbols: Sequence[int] = ()) -> int:
        """The value at a point; LayoutError on a division by zero."""
        lhs, rhs = self.lhs.eval(dims, symbols), self.rhs.eval(dims, symbols)
        if self.kind is AffineKind.ADD:
            return lhs + rhs
        if self.kind is AffineKind.MUL:
            return lhs * rhs
        if rhs == 0:
            raise LayoutError(f"cannot evaluate '{self}': the divisor is 0")
        return _DIVISIONS[self.kind](lhs, rhs)

    def replace(self, replacements: Mapping[AffineExpr, AffineExpr]) -> AffineExpr:
        """The expression with every occurrence of a key replaced by its value."""
        if (whole := replacements.get(self)) is not None:
            return whole
        return self._rebuilt(self.lhs.replace(replacements), self.rhs.replace(replacements))

    def rename(
        self, dims: Sequence[AffineExpr] = (), symbols: Sequence[AffineExpr] = ()
    ) -> AffineExpr:
        """The expression with its dimensions and symbols replaced."""
        return self._rebuilt(self.lhs.rename(dims, symbols), self.rhs.rename(dims, symbols))

    def _rebuilt(self, lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr:
        # An unchanged expression stays as it is: construction is not idempotent in every corner.
        unchanged = lhs == self.lhs and rhs == self.rhs
        return self if unchanged else binary(self.kind, lhs, rhs)

    def used_dims(self) -> frozenset[int]:
        """Positions of the dimensions that occur in the expression."""
        return self.lhs.used_dims() | self.rhs.used_dims()

    def largest_known_divisor(self) -> int:
        """The largest number that divides every value, as far as the structure tells."""
        lhs = self.lhs.largest_known_divisor()
        match self.kind:
            case AffineKind.MUL:
                return lhs * self.rhs.largest_known_divisor()
            case AffineKind.ADD | AffineKind.MOD:
                return math.gcd(lhs, self.rhs.largest_known_divisor())
            case AffineKind.FLOORDIV | AffineKind.CEILDIV:
                divisor = self.rhs
                if isinstance(divisor, ConstantExpr) and divisor.value and not lhs % divisor.value:
                    return abs(lhs // divisor.value)
                return 1


def _ceildiv(lhs: int, rhs: int) -> int:
    return -(-lhs // rhs)


_DIVISIONS: dict[AffineKind, Callable[[int, int], int]] = {
    AffineKind.MOD: lambda lhs, rhs: lhs % rhs,
    AffineKind.FLOORDIV: lambda lhs, rhs: lhs // rhs,
    AffineKind.CEILDIV: _ceildiv,
}


# --- Construction ------------------------------------------------------------------------------


@cache
def dim(position: int) -> DimExpr:
    """Dimension `d<position>`."""
    return DimExpr(position)


@cache
def symbol(position: int) -> SymbolExpr:
    """Symbol `s<position>`."""
    return SymbolExpr(position)


def constant(value: int) -> ConstantExpr:
    """An integer as an expression."""
    return ConstantExpr(value)


def dims(count: int) -> tuple[AffineExpr, ...]:
    """Dimensions `d0` to `d<count - 1>`."""
    return tuple(map(dim, range(count)))


def symbols(count: int) -> tuple[AffineExpr, ...]:
    """Symbols `s0` to `s<count - 1>`."""
    return tuple(map(symbol, range(count)))


def as_expr(value: AffineExpr | int) -> AffineExpr:
    """An expression, made from an integer if need be."""
    return ConstantExpr(value) if isinstance(value, int) else value


def binary(kind: AffineKind, lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr:
    """The simplified expression `lhs kind rhs`."""
    if kind is AffineKind.ADD:
        simplified = _simplify_add(lhs, rhs)
    elif kind is AffineKind.MUL:
        simplified = _simplify_mul(lhs, rhs)
    else:
        simplified = _simplify_division(kind, lhs, rhs)
    return BinaryExpr(kind, lhs, rhs) if simplified is None else simplified


def _simplify_add(lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr | None:
    if isinstance(lhs, ConstantExpr):
        return ConstantExpr(lhs.value + rhs.value) if isinstance(rhs, ConstantExpr) else rhs + lhs
    if lhs.is_symbolic_or_constant and not rhs.is_symbolic_or_constant:
        return rhs + lhs
    if isinstance(rhs, ConstantExpr) and rhs.value == 0:
        return lhs

    inner, offset = _split_offset(lhs)
    if offset is not None and isinstance(rhs, ConstantExpr):
        return inner + (offset.value + rhs.value)

    left_term, left_factor = _split_factor(lhs)
    right_term, right_factor = _split_factor(rhs)
    if left_term == right_term:
        return left_term * (left_factor + right_factor)

    if offset is not None:
        return inner + rhs + offset
    return _remainder(lhs, rhs)


def _split_offset(expr: AffineExpr) -> tuple[AffineExpr, ConstantExpr | None]:
    """The expression without its trailing constant summand, and that constant."""
    if isinstance(expr, BinaryExpr) and expr.kind is AffineKind.ADD:
        if isinstance(expr.rhs, ConstantExpr):
            return expr.lhs, expr.rhs
    return expr, None


def _split_factor(expr: AffineExpr) -> tuple[AffineExpr, int]:
    """The expression without its constant factor, and that factor."""
    if isinstance(expr, BinaryExpr) and expr.kind is AffineKind.MUL:
        if isinstance(expr.rhs, ConstantExpr):
            return expr.lhs, expr.rhs.value
    return expr, 1


def _remainder(expr: AffineExpr, subtrahend: AffineExpr) -> AffineExpr | None:
    """`expr mod q` if the subtrahend is `-(expr floordiv q) * q`."""
    if not isinstance(subtrahend, BinaryExpr) or not isinstance(subtrahend.lhs, BinaryExpr):
        return None
    product, factor = subtrahend.lhs, subtrahend.rhs
    if product.kind is AffineKind.MUL and factor == ConstantExpr(-1):
        quotient = product.lhs
        if not isinstance(quotient, BinaryExpr) or quotient.kind is not AffineKind.FLOORDIV:
            return None
        if quotient.rhs == product.rhs and quotient.lhs == expr:
            return expr % quotient.rhs
    if product.kind is not AffineKind.FLOORDIV or subtrahend.kind is not AffineKind.MUL:
        return None
    return expr % product.rhs if product.lhs == expr and product.rhs == -factor else None


def _simplify_mul(lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr | None:
    if isinstance(lhs, ConstantExpr) and isinstance(rhs, ConstantExpr):
        return ConstantExpr(lhs.value * rhs.value)
    if not lhs.is_symbolic_or_constant and not rhs.is_symbolic_or_constant:
        return None
    if not rhs.is_symbolic_or_constant or isinstance(lhs, ConstantExpr):
        return rhs * lhs
    if isinstance(rhs, ConstantExpr):
        if rhs.value == 1:
            return lhs
        if rhs.value == 0:
            return rhs
    if isinstance(lhs, BinaryExpr) and lhs.kind is AffineKind.MUL:
        if isinstance(lhs.rhs, ConstantExpr):
            if isinstance(rhs, ConstantExpr):
                return lhs.lhs * (lhs.rhs.value * rhs.value)
            return (lhs.lhs * rhs) * lhs.rhs
    return None


def _simplify_division(kind: AffineKind, lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr | None:
    if not isinstance(rhs, ConstantExpr) or rhs.value == 0:
        return None
    if kind is AffineKind.MOD:
        return _simplify_mod(lhs, rhs.value)
    if isinstance(lhs, ConstantExpr):
        return ConstantExpr(_DIVISIONS[kind](lhs.value, rhs.value))
    if rhs.value == 1:
        return lhs
    term, factor = _split_factor(lhs)
    if term is not lhs and factor % rhs.value == 0:
        return term * (factor // rhs.value)
    if kind is AffineKind.FLOORDIV and isinstance(lhs, BinaryExpr) and lhs.kind is AffineKind.ADD:
        if _is_multiple(lhs.lhs, rhs.value) or _is_multiple(lhs.rhs, rhs.value):
            return lhs.lhs // rhs.value + lhs.rhs // rhs.value
    return None


def _simplify_mod(lhs: AffineExpr, modulus: int) -> AffineExpr | None:
    if modulus < 0:  # MLIR leaves it undefined and as it is
        return None
    if isinstance(lhs, ConstantExpr):
        return ConstantExpr(lhs.value % modulus)
    if _is_multiple(lhs, modulus):
        return ConstantExpr(0)
    if not isinstance(lhs, BinaryExpr):
        return None
    if lhs.kind is AffineKind.ADD:
        if _is_multiple(lhs.lhs, modulus):
            return lhs.rhs % modulus
        if _is_multiple(lhs.rhs, modulus):
            return lhs.lhs % modulus
    if lhs.kind is AffineKind.MOD and isinstance(lhs.rhs, ConstantExpr):
        if lhs.rhs.value >= 1 and lhs.rhs.value % modulus == 0:
            return lhs.lhs % modulus
    return None


def _is_multiple(expr: AffineExpr, number: int) -> bool:
    return expr.largest_known_divisor() % number == 0


# --- Text --------------------------------------------------------------------------------------


def _operand_text(expr: AffineExpr) -> str:
    """The text of an operand of a tightly binding operator."""
    return f"({expr})" if isinstance(expr, BinaryExpr) else str(expr)


def _tight_text(expr: BinaryExpr) -> str:
    if expr.kind is AffineKind.MUL and expr.rhs == ConstantExpr(-1):
        return f"-{_operand_text(expr.lhs)}"
    return f"{_operand_text(expr.lhs)} {expr.kind.value} {_operand_text(expr.rhs)}"


def _add_text(expr: BinaryExpr) -> str:
    lhs, rhs = expr.lhs, expr.rhs
    term, factor = _split_factor(rhs)
    if factor == -1:
        is_sum = isinstance(term, BinaryExpr) and term.kind is AffineKind.ADD
        return f"{lhs} - {_operand_text(term) if is_sum else term}"
    if factor < -1:
        return f"{lhs} - {_operand_text(term)} * {-factor}"
    if isinstance(rhs, ConstantExpr) and rhs.value < 0:
        return f"{lhs} - {-rhs.value}"
    return f"{lhs} + {rhs}"


# --- Maps --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AffineMap:
    """A list of expressions over `num_dims` dimensions and `num_symbols` symbols."""

    num_dims: int
    num_symbols: int
    results: tuple[AffineExpr, ...]

    @classmethod
    def of(
        cls, num_dims: int, results: Iterable[AffineExpr | int], num_symbols: int = 0
    ) -> AffineMap:
        """A map with these results; integers become constants."""
        return cls(num_dims, num_symbols, tuple(map(as_expr, results)))

    @classmethod
    def identity(cls, rank: int) -> AffineMap:
        """The map that returns its `rank` dimensions."""
        return cls(rank, 0, dims(rank))

    @classmethod
    def minor_identity(cls, num_dims: int, num_results: int) -> AffineMap:
        """The map that returns the last `num_results` of its dimensions."""
        if num_results > num_dims:
            raise LayoutError(
                f"a minor identity of {num_dims} dimensions has at most {num_dims} results, "
                f"got {num_results}"
            )
        return cls(num_dims, 0, dims(num_dims)[num_dims - num_results :])

    @property
    def is_identity(self) -> bool:
        """True if the results are the dimensions in order."""
        return self.results == dims(self.num_dims)

    def __str__(self) -> str:
        """MLIR's text, such as `(d0, d1)[s0] -> (d0 floordiv s0, d1)`."""
        symbol_list = f"[{', '.join(map(str, symbols(self.num_symbols)))}]"
        return (
            f"({', '.join(map(str, dims(self.num_dims)))})"
            f"{symbol_list if self.num_symbols else ''} -> ({', '.join(map(str, self.results))})"
        )

    def eval(self, point: Sequence[int], symbol_values: Sequence[int] = ()) -> tuple[int, ...]:
        """The results at a point."""
        if len(point) != self.num_dims or len(symbol_values) != self.num_symbols:
            raise LayoutError(
                f"map '{self}' takes {self.num_dims} dimensions and {self.num_symbols} symbols, "
                f"got {len(point)} and {len(symbol_values)}"
            )
        return tuple(result.eval(point, symbol_values) for result in self.results)

    def eval_shape(
        self, shape: Sequence[int], symbol_values: Sequence[int] = ()
    ) -> tuple[int, ...]:
        """The extents that the map gives a shape: its value at the last index, plus one."""
        last = [extent - 1 for extent in shape]
        return tuple(result + 1 for result in self.eval(last, symbol_values))

    def used_dims(self) -> frozenset[int]:
        """Positions of the dimensions that occur in some result."""
        return frozenset(position for result in self.results for position in result.used_dims())

    def replace(self, replacements: Mapping[AffineExpr, AffineExpr]) -> AffineMap:
        """The map with every occurrence of a key in its results replaced by the value."""
        results = tuple(result.replace(replacements) for result in self.results)
        return AffineMap(self.num_dims, self.num_symbols, results)

    def with_symbols(self, values: Sequence[int]) -> AffineMap:
        """The map with all its symbols replaced by constants."""
        if len(values) != self.num_symbols:
            raise LayoutError(
                f"map '{self}' has {self.num_symbols} symbols, got {len(values)} values"
            )
        constants = tuple(map(constant, values))
        results = tuple(result.rename(symbols=constants) for result in self.results)
        return AffineMap(self.num_dims, 0, results)

    def compose(self, inner: AffineMap) -> AffineMap:
        """The map that applies `inner` first; the symbols of `inner` follow those of this map."""
        if len(inner.results) != self.num_dims:
            raise LayoutError(
                f"cannot compose '{self}' with '{inner}': "
                f"expected {self.num_dims} results, got {len(inner.results)}"
            )
        shifted = symbols(self.num_symbols + inner.num_symbols)[self.num_symbols :]
        arguments = tuple(result.rename(symbols=shifted) for result in inner.results)
        results = tuple(result.rename(dims=arguments) for result in self.results)
        return AffineMap(inner.num_dims, self.num_symbols + inner.num_symbols, results)


# --- Affine parser --------------------------------------------------------------------------------
# Read the text of affine maps, as in `(d0, d1)[s0] -> (d0 * 8 + d1 mod s0, 0)`.
#
# The parser works on a text and a position, so that a reader of a bigger text can let it read a map
# in the middle and go on after it. Operator precedence, names and messages are MLIR's
# (llvm-project, mlir/lib/AsmParser/AffineParser.cpp).

_BLANK = r"(?:\s|//[^\n]*)*+"
_TOKEN = re.compile(rf"{_BLANK}(->|[()\[\],+*-]|\d+|[A-Za-z_][\w$.]*|)", re.ASCII)
_HIGH_PRECEDENCE = {
    "*": AffineKind.MUL,
    "mod": AffineKind.MOD,
    "floordiv": AffineKind.FLOORDIV,
    "ceildiv": AffineKind.CEILDIV,
}
_MAX_PARENTHESES = 100
_MAX_CONSTANT = 2**63 - 1
_MAX_DIGITS = len(str(_MAX_CONSTANT))


class AffineParseError(LayoutError):
    """Text that is no affine map; `position` is the index of the offending character."""

    def __init__(self, message: str, position: int):
        """Make an error for a position in the parsed text."""
        super().__init__(message)
        self.message = message
        self.position = position


def parse_affine_map(text: str) -> AffineMap:
    """The map that the whole text spells, with or without `affine_map<...>` around it."""
    start, end = 0, len(text)
    stripped = text.strip()
    if stripped.startswith("affine_map<") and stripped.endswith(">"):
        start, end = text.index("<") + 1, text.rindex(">")
    affine_map, after = scan_affine_map(text[:end], start)
    if text[after:end].strip():
        raise AffineParseError("expected the end of the affine map", after)
    return affine_map


def scan_affine_map(text: str, start: int) -> tuple[AffineMap, int]:
    """The map that begins at `start`, and the position after its last character."""
    parser = _AffineParser(text, start)
    return parser.parse_map(), parser.end_of_last


class _AffineParser:
    """A recursive descent parser with one token of look-ahead."""

    def __init__(self, text: str, start: int):
        self.text = text
        self.end_of_last = start
        self.depth = 0
        self.names: dict[str, AffineExpr] = {}
        self.token, self.start, self.end = "", start, start
        self._advance(start)

    def _advance(self, position: int) -> None:
        match = _TOKEN.match(self.text, position)
        assert match is not None, "the token pattern matches the empty text"
        self.token, self.start, self.end = match[1], match.start(1), match.end(1)

    def _take(self) -> str:
        token = self.token
        self.end_of_last = self.end
        self._advance(self.end)
        return token

    def _accept(self, token: str) -> bool:
        if self.token != token:
            return False
        self._take()
        return True

    def _expect(self, token: str) -> None:
        if not self._accept(token):
            raise self._error(f"expected '{token}'")

    def _error(self, message: str) -> AffineParseError:
        return AffineParseError(message, self.start)

    def parse_map(self) -> AffineMap:
        """`dim-list symbol-list? -> ( results )`."""
        num_dims = self._names("(", ")", dim)
        num_symbols = self._names("[", "]", symbol) if self.token == "[" else 0
        self._expect("->")
        results: list[AffineExpr] = []
        self._list("(", ")", lambda: results.append(self.expression()))
        return AffineMap(num_dims, num_symbols, tuple(results))

    def _names(self, opening: str, closing: str, make: Callable[[int], AffineExpr]) -> int:
        before = len(self.names)

        def name() -> None:
            if not self.token[:1].isalpha() and not self.token.startswith("_"):
                raise self._error("expected bare identifier")
            if self.token in self.names:
                raise self._error(f"redefinition of identifier '{self.token}'")
            self.names[self.token] = make(len(self.names) - before)
            self._take()

        self._list(opening, closing, name)
        return len(self.names) - before

    def _list(self, opening: str, closing: str, element: Callable[[], None]) -> None:
        self._expect(opening)
        if self._accept(closing):
            return
        element()
        while self._accept(","):
            element()
        self._expect(closing)

    def expression(self) -> AffineExpr:
        """A sum of products."""
        total = self._product()
        while self.token in ("+", "-"):
            position, sign = self.start, self._take()
            total = self._build(AffineKind.ADD, total, self._product(), position, sign == "-")
        return total

    def _product(self) -> AffineExpr:
        product = self._operand()
        while (kind := _HIGH_PRECEDENCE.get(self.token)) is not None:
            position = self.start
            self._take()
            factor = self._operand()
            self._check_semi_affine(kind, product, factor, position)
            product = self._build(kind, product, factor, position)
        return product

    def _build(
        self,
        kind: AffineKind,
        lhs: AffineExpr,
        rhs: AffineExpr,
        position: int,
        negate: bool = False,
    ) -> AffineExpr:
        try:
            return binary(kind, lhs, -rhs if negate else rhs)
        except LayoutError as error:
            raise AffineParseError(str(error), position) from error

    @staticmethod
    def _check_semi_affine(
        kind: AffineKind, lhs: AffineExpr, rhs: AffineExpr, position: int
    ) -> None:
        if rhs.is_symbolic_or_constant:
            return
        if kind is not AffineKind.MUL:
            raise AffineParseError(
                f"non-affine expression: right operand of {kind.value} has to be either a "
                "constant or symbolic",
                position,
            )
        if not lhs.is_symbolic_or_constant:
            raise AffineParseError(
                "non-affine expression: at least one of the multiply operands has to be either a "
                "constant or symbolic",
                position,
            )

    def _operand(self) -> AffineExpr:
        token = self.token
        if token == "-":
            self._take()
            return as_expr(-1) * self._operand()
        if token == "(":
            return self._parenthesised()
        if token.isdigit():
            return self._constant()
        if token in ("+", "*", "mod", "floordiv", "ceildiv"):
            raise self._error("missing left operand of binary operator")
        if token in self.names:
            return self.names[self._take()]
        if token[:1].isalpha() or token.startswith("_"):
            raise self._error("use of undeclared identifier")
        raise self._error("expected affine expression")

    def _constant(self) -> AffineExpr:
        if len(self.token) > _MAX_DIGITS or int(self.token) > _MAX_CONSTANT:
            raise self._error("constant too large for index")
        return as_expr(int(self._take()))

    def _parenthesised(self) -> AffineExpr:
        self.depth += 1
        if self.depth > _MAX_PARENTHESES:
            raise self._error(f"expected at most {_MAX_PARENTHESES} nested parentheses")
        self._take()
        if self.token == ")":
            raise self._error("no expression inside parentheses")
        inner = self.expression()
        self._expect(")")
        self.depth -= 1
        return inner


# --- Linear form ----------------------------------------------------------------------------------
# Affine expressions over bounded dimensions as sums: what is left of them within the bounds.
#
# `linear_form` knows that dimensions go over ranges. So it drops divisions whose quotient does not
# change, splits those that a part of the sum divides evenly, and joins quotient and remainder
# again: with d0 < 4, (d1 * 8 + d0) floordiv 8 is d1, and (d1 floordiv 4) * 4 + d1 mod 4 is d1.

Bounds = tuple[int, int]
"""The least and the largest value."""


@dataclass(frozen=True)
class LinearForm:
    """A sum of terms, numbers by factors.

    A term is a dimension, or a floor division or remainder by a constant, whose operand is never
    negative, or a product of two terms.
    """

    offset: int = 0
    factors: Mapping[AffineExpr, int] = field(default_factory=dict[AffineExpr, int])

    def __add__(self, other: LinearForm) -> LinearForm:
        """The sum."""
        factors = dict(self.factors)
        for term, factor in other.factors.items():
            factors[term] = factors.get(term, 0) + factor
        kept = {term: factor for term, factor in factors.items() if factor}
        return LinearForm(self.offset + other.offset, kept)

    def __mul__(self, number: int) -> LinearForm:
        """The sum of multiples."""
        if not number:
            return LinearForm()
        factors = {term: factor * number for term, factor in self.factors.items()}
        return LinearForm(self.offset * number, factors)

    def expression(self) -> AffineExpr:
        """The sum as an expression."""
        total: AffineExpr = constant(0)
        for term, factor in self.factors.items():
            total = total + term * factor
        return total + self.offset

    def factor_of(self, position: int) -> int:
        """How often dimension `position` itself is a summand."""
        return self.factors.get(DimExpr(position), 0)

    @property
    def divided_dims(self) -> frozenset[int]:
        """The dimensions that occur in terms that are no dimensions."""
        return frozenset(
            position
            for term in self.factors
            if not isinstance(term, DimExpr)
            for position in term.used_dims()
        )

    def used_dims(self) -> frozenset[int]:
        """The dimensions that the value depends on."""
        return frozenset(position for term in self.factors for position in term.used_dims())


def linear_form(expr: AffineExpr, extents: Sequence[int]) -> LinearForm:
    """An expression in which dimension i goes from 0 to `extents[i]` - 1.

    LayoutError for a division by what is no constant above 0, or by a symbol.
    """
    return _Forms(extents).of(expr)


def bounds_of(form: LinearForm, extents: Sequence[int]) -> Bounds:
    """What the value is at least and at most, as far as the terms tell one by one."""
    return _Forms(extents).bounds(form)


class _Forms:
    def __init__(self, extents: Sequence[int]) -> None:
        self._extents = extents

    def of(self, expr: AffineExpr) -> LinearForm:
        match expr:
            case ConstantExpr():
                return LinearForm(expr.value)
            case DimExpr():
                fixed = self._extents[expr.position] == 1
                return LinearForm() if fixed else LinearForm(0, {expr: 1})
            case BinaryExpr():
                return self._of_binary(expr)
            case _:
                raise LayoutError(f"a symbol in '{expr}' has no bounds")

    def _of_binary(self, expr: BinaryExpr) -> LinearForm:
        lhs, rhs = self.of(expr.lhs), self.of(expr.rhs)
        if expr.kind is AffineKind.ADD:
            return _join(lhs + rhs)
        if expr.kind is AffineKind.MUL:
            return _product(lhs, rhs)
        if rhs.factors or rhs.offset < 1:
            raise LayoutError(f"'{expr}' divides by what is no constant above 0")
        divisor = rhs.offset
        match expr.kind:
            case AffineKind.CEILDIV:
                quotient, _ = self._divide(lhs + LinearForm(divisor - 1), divisor)
                return quotient
            case AffineKind.FLOORDIV:
                return self._divide(lhs, divisor)[0]
            case _:
                return self._divide(lhs, divisor)[1]

    def _divide(self, form: LinearForm, divisor: int) -> tuple[LinearForm, LinearForm]:
        """Quotient and remainder."""
        whole: dict[AffineExpr, int] = {}
        rest: dict[AffineExpr, int] = {}
        for term, factor in form.factors.items():
            quotient, remainder = divmod(factor, divisor)
            if quotient:
                whole[term] = quotient
            if remainder:
                rest[term] = remainder
        # The rest is moved by multiples of the divisor until it begins within 0 .. divisor - 1.
        least, most = self.bounds(LinearForm(form.offset, rest))
        multiple = least // divisor
        quotient = LinearForm(multiple, whole)
        remainder = LinearForm(form.offset - multiple * divisor, rest)
        if most - multiple * divisor < divisor:
            return quotient, remainder
        inner, low, common = self._split(remainder, divisor)
        expression = inner.expression()
        floor = BinaryExpr(AffineKind.FLOORDIV, expression, constant(divisor // common))
        modulo = BinaryExpr(AffineKind.MOD, expression, constant(divisor // common))
        return quotient + LinearForm(0, {floor: 1}), LinearForm(0, {modulo: common}) + low

    def _split(self, form: LinearForm, divisor: int) -> tuple[LinearForm, LinearForm, int]:
        """A form as `common` times one, plus one below that; `common` divides the divisor."""
        candidates = {math.gcd(divisor, factor) for factor in form.factors.values()}
        for common in sorted(candidates | {1}, reverse=True):
            high = {t: f // common for t, f in form.factors.items() if not f % common}
            low = {t: f for t, f in form.factors.items() if f % common}
            below = LinearForm(form.offset % common, low)
            least, most = self.bounds(below)
            if high and least >= 0 and most < common:
                return LinearForm(form.offset // common, high), below, common
        raise AssertionError("1 divides every number")

    def bounds(self, form: LinearForm) -> Bounds:
        least = most = form.offset
        for term, factor in form.factors.items():
            ends = sorted(factor * end for end in self._term_bounds(term))
            least += ends[0]
            most += ends[1]
        return least, most

    def _term_bounds(self, term: AffineExpr) -> Bounds:
        match term:
            case DimExpr():
                return 0, self._extents[term.position] - 1
            case BinaryExpr(kind=AffineKind.FLOORDIV, lhs=lhs, rhs=ConstantExpr(value=divisor)):
                least, most = self.bounds(self.of(lhs))
                return least // divisor, most // divisor
            case BinaryExpr(kind=AffineKind.MOD, rhs=ConstantExpr(value=divisor)):
                return 0, divisor - 1
            case BinaryExpr(lhs=lhs, rhs=rhs):
                corners = [
                    first * second
                    for first in self.bounds(self.of(lhs))
                    for second in self.bounds(self.of(rhs))
                ]
                return min(corners), max(corners)
            case _:
                raise LayoutError(f"a symbol in '{term}' has no bounds")


def _product(lhs: LinearForm, rhs: LinearForm) -> LinearForm:
    if not rhs.factors:
        return lhs * rhs.offset
    if not lhs.factors:
        return rhs * lhs.offset
    product = BinaryExpr(AffineKind.MUL, lhs.expression(), rhs.expression())
    return LinearForm(0, {product: 1})


def _join(form: LinearForm) -> LinearForm:
    """The sum with `x floordiv c * c + x mod c` as x."""
    for term, factor in form.factors.items():
        if not isinstance(term, BinaryExpr) or term.kind is not AffineKind.MOD:
            continue
        divisor = term.rhs
        assert isinstance(divisor, ConstantExpr), "terms divide by constants"
        floor = BinaryExpr(AffineKind.FLOORDIV, term.lhs, divisor)
        if form.factors.get(floor) == factor * divisor.value:
            rest = {t: f for t, f in form.factors.items() if t not in (term, floor)}
            whole = _of_sum(term.lhs) * factor
            return _join(LinearForm(form.offset, rest) + whole)
    return form


def _of_sum(expr: AffineExpr) -> LinearForm:
    """The form that a simplified sum was made of."""
    match expr:
        case ConstantExpr():
            return LinearForm(expr.value)
        case BinaryExpr(kind=AffineKind.ADD):
            return _of_sum(expr.lhs) + _of_sum(expr.rhs)
        case BinaryExpr(kind=AffineKind.MUL, rhs=ConstantExpr(value=factor)):
            return _of_sum(expr.lhs) * factor
        case _:
            return LinearForm(0, {expr: 1})

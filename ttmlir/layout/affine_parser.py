"""Read the text of affine maps, as in `(d0, d1)[s0] -> (d0 * 8 + d1 mod s0, 0)`.

The parser works on a text and a position, so that a reader of a bigger text can let it read a map
in the middle and go on after it. Operator precedence, names and messages are MLIR's
(llvm-project, mlir/lib/AsmParser/AffineParser.cpp).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ttmlir.layout.affine import (
    AffineExpr,
    AffineKind,
    AffineMap,
    as_expr,
    binary,
    dim,
    symbol,
)
from ttmlir.layout.errors import LayoutError

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
            raise AffineParseError(str(error), position) from None

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

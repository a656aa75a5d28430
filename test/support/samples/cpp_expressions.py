"""Random expressions of C++, written with all brackets and with few."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

_LEVELS = (("*", "/", "%"), ("+", "-"), ("<<", ">>"), ("<", ">", "<=", ">="), ("==", "!="),
           ("&",), ("^",), ("|",), ("&&",), ("||",))  # fmt: skip
_COMPARISONS = _LEVELS[3]
_BINARY = {operator: 5 + level for level, each in enumerate(_LEVELS) for operator in each}
"""How loosely operators bind, from 5 on: what binds tighter has a lower number."""
_NAME, _POSTFIX, _PREFIX, _CONDITIONAL = 0, 2, 3, 16
_NAMES = ("a", "b", "c", "N", "E1", "g", "m_", "s.x", "p->y", "arr[i]", "i", "T_", "S::v<1>")
_NUMBERS = ("1", "0x10", "7u", "'a'", "true")
_FUSED = ("--", "++", "&&", "||", "->", "<<", ">>", "<=", ">=", "==", "!=", "/*", "//", "*=", "&=")
"""Signs that two signs next to each other are read as."""

PRELUDE = """
typedef unsigned T;
enum K { E0, E1 };
const int g = 4, T_ = 9;
namespace ns { const int z = 3; int q(int a, int b = 2, int c = 3) { return a * b - c; } }
int f(int a, int b = 5, int c = 7) { return a + b * c; }
template <int V> int h(int a, int b = 1, int c = 1) { return V - a - b * c; }
struct S {
    int x, y, m_;
    template <int V> static const int v = V;
    int m(int a, int b = 3, int c = 4) { return x + a * b + c; }
};
"""
HEAD = "template <int N> {type} k(int a, int b, int c, S s, S* p, int* arr, int i, int m_)"


@dataclass(frozen=True)
class Expression:
    """An expression: how loosely it binds, its text in pieces, and the operands between them.

    Each operand has the loosest binding that needs no brackets in its place.
    """

    binding: int
    pieces: tuple[str, ...]
    operands: tuple[tuple[Expression, int], ...] = ()

    def with_all_brackets(self) -> str:
        """The text in which every operation has brackets."""
        text = self.pieces[0]
        for (operand, _), piece in zip(self.operands, self.pieces[1:], strict=True):
            text += operand.with_all_brackets() + piece
        return f"({text})" if self.binding > _POSTFIX else text

    def with_few_brackets(self, random: Random, allowed: int = _CONDITIONAL) -> str:
        """The text with the brackets that it needs, and with some that it does not."""
        text = self.pieces[0]
        for (operand, inner), piece in zip(self.operands, self.pieces[1:], strict=True):
            text = _join(text, operand.with_few_brackets(random, inner), random)
            text = _join(text, piece, random)
        share = 0.3 if self.binding == _NAME else 0.1
        needs = self.binding > allowed
        return f"({text})" if needs or random.random() < share else text


def _join(left: str, right: str, random: Random) -> str:
    """Two pieces next to each other, with the spaces that keep their signs apart."""
    if (left.rstrip()[-1:] + right.lstrip()[:1]) in _FUSED:
        return f"{left.rstrip()} {right.lstrip()}"
    if random.random() < 0.15 and not (left[-2:-1].isalnum() and right[:1].isalnum()):
        return left.rstrip() + right.lstrip()
    return left + right


def make_expression(random: Random, depth: int, *, has_values: bool = False) -> Expression:
    """A random expression; with values, one that a compiler can compute with integers."""

    def inner() -> Expression:
        return make_expression(random, depth - 1, has_values=has_values)

    kind = random.random()
    if depth == 0 or kind < 0.12:
        return Expression(_NAME, (random.choice(_NAMES if kind < 0.8 else _NUMBERS),))
    if kind < 0.72:
        operator = random.choice((*_BINARY, "<", "<", ">", ">", ">=", "&&", "||", "&", "*", "-"))
        if has_values and operator in ("/", "%", "<<", ">>"):
            operator = "<"
        level = _BINARY[operator]
        # A comparison of a comparison is refused without brackets.
        left = level - 1 if operator in _COMPARISONS else level
        operands = ((inner(), left), (inner(), level - 1))
        return Expression(level, ("", f" {operator} ", ""), operands)
    if kind < 0.80:
        operators = ("!", "~", "-", "+") if has_values else ("!", "~", "-", "+", "*", "&")
        return Expression(_PREFIX, (random.choice(operators), ""), ((inner(), _PREFIX),))
    if kind < 0.86:
        type_ = random.choice(("uint32_t", "int", "bool", "T", "unsigned"))
        return Expression(_PREFIX, (f"({type_}) ", ""), ((inner(), _PREFIX),))
    if kind < 0.91:
        callee = random.choice(("f", "h<3>", "s.m", "p->m", "uint32_t", "ns::q", "T"))
        count = 1 if callee in ("uint32_t", "T") else random.randint(1, 3)
        pieces = (f"{callee}(", *[", "] * (count - 1), ")")
        operands = tuple((inner(), _CONDITIONAL) for _ in range(count))
        return Expression(_POSTFIX, pieces, operands)
    if kind < 0.95 or has_values:
        operands = ((inner(), 15), (inner(), _CONDITIONAL), (inner(), _CONDITIONAL))
        return Expression(_CONDITIONAL, ("", " ? ", " : ", ""), operands)
    if kind < 0.97:
        return Expression(_POSTFIX, ("arr[", "]"), ((inner(), _CONDITIONAL),))
    target = Expression(_NAME, (random.choice(("a", "arr[i]", "s.x")),))
    operator = random.choice(("=", "+=", "<<=", ">>=", "&="))
    # As a part of something else it always has brackets.
    return Expression(
        _CONDITIONAL + 1, ("", f" {operator} ", ""), ((target, _NAME), (inner(), _CONDITIONAL))
    )

"""What `#if` asks: an integer expression without variables.

Numbers have 64 bits, with a sign unless a literal says otherwise: those of `intmax_t` and
`uintmax_t` (C++20, [cpp.cond]).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ttmlir.cpp.preprocessor.tokens import Token
from ttmlir.cpp.tree import PRECEDENCE, Integer
from ttmlir.cpp.types import INT64, UINT64

ALTERNATIVES = {
    "and": "&&",
    "and_eq": "&=",
    "bitand": "&",
    "bitor": "|",
    "compl": "~",
    "not": "!",
    "not_eq": "!=",
    "or": "||",
    "or_eq": "|=",
    "xor": "^",
    "xor_eq": "^=",
}
"""Words that are operators ([lex.digraph])."""

_MAX_DEPTH = 64


class _Number(NamedTuple):
    value: int
    is_unsigned: bool = False


def _wrap(value: int, is_unsigned: bool) -> _Number:
    return _Number((UINT64 if is_unsigned else INT64).wrap(value), is_unsigned)


def _shift(value: int, count: int) -> int:
    """To the left; a negative count shifts to the right, as in GCC."""
    return value << min(count, 64) if count >= 0 else value >> -count


_LOGICAL: dict[str, Callable[[int, int], bool]] = {
    "||": lambda a, b: bool(a or b),
    "&&": lambda a, b: bool(a and b),
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
_SHIFTS: dict[str, Callable[[int, int], int]] = {
    "<<": _shift,
    ">>": lambda a, b: _shift(a, -b),
}
_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "&": lambda a, b: a & b,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "%": lambda a, b: abs(a) % abs(b) * (1 if a >= 0 else -1),
}
_BINARY = frozenset((*_LOGICAL, *_SHIFTS, *_ARITHMETIC))

_UNARY: dict[str, Callable[[int], int]] = {
    "~": operator.invert,
    "-": operator.neg,
    "+": operator.pos,
}


def _compute(word: str, left: _Number, right: _Number) -> _Number:
    if word in _SHIFTS:
        return _wrap(_SHIFTS[word](left.value, right.value), left.is_unsigned)
    is_unsigned = left.is_unsigned or right.is_unsigned
    a, b = (_wrap(each.value, is_unsigned).value for each in (left, right))
    if word in _LOGICAL:
        return _Number(int(_LOGICAL[word](a, b)))
    return _wrap(_ARITHMETIC[word](a, b), is_unsigned)


def evaluate_condition(words: Sequence[Token], start: Token) -> int:
    """The value of the words of a condition.

    Names are 0, as in C++, but for `true`. `start` is to blame if the condition ends too early.
    """
    return _Evaluator(words, start).run().value


class _Evaluator:
    """Reads a condition from left to right; deeper calls bind tighter."""

    def __init__(self, words: Sequence[Token], start: Token) -> None:
        self.words = words
        self.start = start
        self.next = 0
        self.skipped = 0
        """How many operators around the next word need no right operand."""

    def run(self) -> _Number:
        value = self._binary(PRECEDENCE["||"], 0)
        if self.next < len(self.words):
            word = self.words[self.next]
            raise word.error(f"'{word.text}' is not expected in this condition")
        return value

    def _peek(self) -> str:
        if self.next >= len(self.words):
            return ""
        text = self.words[self.next].text
        return ALTERNATIVES.get(text, text)

    def _binary(self, level: int, depth: int) -> _Number:
        left = self._operand(depth)
        while (word := self._peek()) in _BINARY and PRECEDENCE[word] >= level:
            place = self.words[self.next]
            self.next += 1
            is_decided = word == ("||" if left.value else "&&")
            self.skipped += is_decided
            right = self._binary(PRECEDENCE[word] + 1, depth)
            self.skipped -= is_decided
            if word in "/%" and not right.value:
                if not self.skipped:
                    raise place.error("division by zero")
                right = _Number(1, right.is_unsigned)
            left = _compute(word, left, right)
        return left

    def _operand(self, depth: int) -> _Number:
        if self.next >= len(self.words):
            raise self.start.error("this condition is incomplete")
        word, text = self.words[self.next], self._peek()
        if depth > _MAX_DEPTH:
            raise word.error(f"conditions nest up to {_MAX_DEPTH} levels deep")
        self.next += 1
        if text == "!":
            return _Number(int(not self._operand(depth + 1).value))
        if text in _UNARY:
            operand = self._operand(depth + 1)
            return _wrap(_UNARY[text](operand.value), operand.is_unsigned)
        if text == "(":
            value = self._binary(PRECEDENCE["||"], depth + 1)
            if self._peek() != ")":
                raise word.error("this '(' has no ')'")
            self.next += 1
            return value
        if text.isidentifier():
            return _Number(int(text == "true"))
        return self._number(word)

    def _number(self, word: Token) -> _Number:
        if word.kind == "character":
            return _read_character(word)
        literal = Integer(word.text)
        try:
            value = literal.value
        except ValueError:
            message = f"'{word.text}' is not expected in this condition; it takes integers"
            raise word.error(message) from None
        return _wrap(value, literal.is_unsigned or value > INT64.high)


def _read_character(word: Token) -> _Number:
    inside = word.text[1:-1]
    if len(inside) != 1 or not inside.isascii():
        raise word.error(f"the character {word.text} is not supported in a condition")
    return _Number(ord(inside))

"""What `#if` asks: an integer expression without variables."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.tree import PRECEDENCE, Integer

_MAX_DEPTH = 64

_BINARY: dict[str, Callable[[int, int], int]] = {
    "||": lambda a, b: int(bool(a or b)),
    "&&": lambda a, b: int(bool(a and b)),
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "&": lambda a, b: a & b,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "<<": lambda a, b: a << (b % 64),
    ">>": lambda a, b: a >> (b % 64),
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "%": lambda a, b: abs(a) % abs(b) * (1 if a >= 0 else -1),
}

_UNARY: dict[str, Callable[[int], int]] = {
    "!": lambda a: int(not a),
    "~": operator.invert,
    "-": operator.neg,
    "+": operator.pos,
}

ErrorAt = Callable[[int, str], CppSyntaxError]


def evaluate_condition(words: Sequence[tuple[str, int]], start: int, error_at: ErrorAt) -> int:
    """The value of the words of a condition, each with its offset in the source.

    Names are 0, as in C++, but for `true`. Values wrap to 64 bits. `start` is the offset to blame
    if the condition ends too early.
    """
    return _Evaluator(words, start, error_at).run()


class _Evaluator:
    """Reads a condition from left to right; deeper calls bind tighter."""

    def __init__(self, words: Sequence[tuple[str, int]], start: int, error_at: ErrorAt) -> None:
        self.words = words
        self.start = start
        self.error_at = error_at
        self.next = 0

    def run(self) -> int:
        value = self._binary(PRECEDENCE["||"], 0)
        if self.next < len(self.words):
            text, offset = self.words[self.next]
            raise self.error_at(offset, f"'{text}' is not expected in this condition")
        return value

    def _peek(self) -> str:
        return self.words[self.next][0] if self.next < len(self.words) else ""

    def _binary(self, level: int, depth: int) -> int:
        left = self._operand(depth)
        while (word := self._peek()) in _BINARY and PRECEDENCE[word] >= level:
            offset = self.words[self.next][1]
            self.next += 1
            right = self._binary(PRECEDENCE[word] + 1, depth)
            if word in "/%" and not right:
                raise self.error_at(offset, "division by zero")
            left = _wrap(_BINARY[word](left, right))
        return left

    def _operand(self, depth: int) -> int:
        if self.next >= len(self.words):
            raise self.error_at(self.start, "this condition is incomplete")
        text, offset = self.words[self.next]
        if depth > _MAX_DEPTH:
            raise self.error_at(offset, f"conditions nest up to {_MAX_DEPTH} levels deep")
        self.next += 1
        if text in _UNARY:
            return _wrap(_UNARY[text](self._operand(depth + 1)))
        if text == "(":
            value = self._binary(PRECEDENCE["||"], depth + 1)
            if self._peek() != ")":
                raise self.error_at(offset, "this '(' has no ')'")
            self.next += 1
            return value
        if text.isidentifier():
            return int(text == "true")
        return self._number(text, offset)

    def _number(self, text: str, offset: int) -> int:
        try:
            return _wrap(Integer(text).value)
        except ValueError:
            message = f"'{text}' is not expected in this condition; it takes integers"
            raise self.error_at(offset, message) from None


def _wrap(value: int) -> int:
    """The value as a signed number of 64 bits."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)

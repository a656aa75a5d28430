"""The lexer: MLIR's tokens from one regular expression, with spans made only when asked for."""

from __future__ import annotations

import re
from typing import cast

from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input, Span
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRToken, MLIRTokenKind

MAX_INTEGER_DIGITS = 1000
"""Longest integer literal; Python refuses to convert much longer ones."""

_SUFFIX = r"(?:[0-9]+|[A-Za-z$._-][\w$.-]*)"
_TOKEN = re.compile(
    rf"""\s*+(?://[^\n]*+\s*+)*+(?:
      (?P<bare>[A-Za-z_][\w$.]*)
    | (?P<percent>%{_SUFFIX})
    | (?P<punctuation>->|\{{-\#|\#-\}}|\.\.\.|[:,(){{}}\[\]<>=+/*?|-])
    | (?P<float>[0-9]+\.[0-9]*(?:[eE][+-]?[0-9]+)?)
    | (?P<integer>0x[0-9a-fA-F]+|[0-9]+)
    | (?P<string>"[^"\\\n\v\f]*")
    | (?P<hash>\#{_SUFFIX})
    | (?P<exclamation>!{_SUFFIX})
    | (?P<at>@[A-Za-z_][\w$.]*)
    | (?P<caret>\^{_SUFFIX})
    | (?P<end>\Z) )""",
    re.VERBOSE | re.ASCII,
)
_SPACE = re.compile(r"(?:\s+|//[^\n]*)*", re.ASCII)
_ESCAPED_STRING = re.compile(r'"(?:[^"\\\n\v\f]+|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')

_STRING_START = re.compile(r'"(?:[^"\\\n\v\f]+|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+')

_PUNCTUATION = {kind.value: kind for kind in MLIRTokenKind if isinstance(kind.value, str)}
_KINDS = {
    "bare": MLIRTokenKind.BARE_IDENT,
    "percent": MLIRTokenKind.PERCENT_IDENT,
    "float": MLIRTokenKind.FLOAT_LIT,
    "integer": MLIRTokenKind.INTEGER_LIT,
    "string": MLIRTokenKind.STRING_LIT,
    "hash": MLIRTokenKind.HASH_IDENT,
    "exclamation": MLIRTokenKind.EXCLAMATION_IDENT,
    "at": MLIRTokenKind.AT_IDENT,
    "caret": MLIRTokenKind.CARET_IDENT,
    "end": MLIRTokenKind.EOF,
}
_INTEGER = MLIRTokenKind.INTEGER_LIT
_KIND_OF_GROUP = [None, *map(_KINDS.get, _TOKEN.groupindex)]
"""By the number of the group in `_TOKEN`; None for punctuation, which tells by its text."""


class SourceToken:
    """A token that makes its span only when asked; stands in for xDSL's `Token`."""

    __slots__ = ("input", "kind", "start", "text")

    def __init__(self, kind: MLIRTokenKind, text: str, start: int, source: Input[str]):
        """A token of `kind` that begins at `start`."""
        self.kind = kind
        self.text = text
        self.start = start
        self.input = source

    @property
    def span(self) -> Span[str]:
        """Where the token stands."""
        return Span(self.start, self.start + len(self.text), self.input)


class SourceLexer(MLIRLexer):
    """MLIR's lexer at about a tenth of the cost of xDSL's."""

    def lex(self) -> MLIRToken:
        """The next token; white space and comments are skipped."""
        match = _TOKEN.match(self.input.content, self.pos)
        if match is None:
            return cast(MLIRToken, self._lex_rare())
        group = match.lastindex
        assert group is not None
        text = match[group]
        end = self.pos = match.end()
        start = end - len(text)
        kind = _KIND_OF_GROUP[group]
        if kind is None:
            kind = _PUNCTUATION[text]
        elif kind is _INTEGER and len(text) > MAX_INTEGER_DIGITS:
            self._fail(start, f"integer literal has more than {MAX_INTEGER_DIGITS} digits")
        return cast(MLIRToken, SourceToken(kind, text, start, self.input))

    def _lex_rare(self) -> SourceToken:
        """Strings with escapes, quoted symbols, and what is no token at all."""
        space = _SPACE.match(self.input.content, self.pos)
        assert space is not None
        start = space.end()
        first = self.input.content[start]
        if first == '"':
            text = self._lex_string(start)
            return SourceToken(_kind_of_string(text), text, start, self.input)
        if first == "@":
            if self.input.at(start + 1) != '"':
                self._fail(start + 1, "@ identifier expected to start with letter or '_'")
            text = "@" + self._lex_string(start + 1)
            return SourceToken(MLIRTokenKind.AT_IDENT, text, start, self.input)
        if first == "\ufeff" and start == 0:
            self._fail(
                start,
                "the text begins with a byte order mark (U+FEFF), which MLIR does not have; save "
                "the file as UTF-8 without it",
            )
        if first in "#!^%":
            self._fail(start, f"invalid identifier after '{first}'")
        self._fail(start, "unexpected character")

    def _lex_string(self, start: int) -> str:
        match = _ESCAPED_STRING.match(self.input.content, start)
        if match is not None:
            self.pos = match.end()
            return match[0]
        end_of_line = self.input.get_end_of_line(start)
        closing = self.input.content.find('"', start + 1, end_of_line)
        if closing < 0:
            self._fail(end_of_line, "expected '\"' in string literal")
        valid = _STRING_START.match(self.input.content, start)
        assert valid is not None
        self._fail(valid.end(), "unknown escape in string literal")

    def _fail(self, position: int, message: str):
        raise ParseError(Span(position, position + 1, self.input), message)


def _kind_of_string(text: str) -> MLIRTokenKind:
    """xDSL keeps strings that are not UTF-8 apart as byte literals."""
    try:
        unescape(text).decode("utf-8")
    except UnicodeDecodeError:
        return MLIRTokenKind.BYTES_LIT
    return MLIRTokenKind.STRING_LIT


_ESCAPE = re.compile(rb'\\(?:(["\\])|([nt])|([0-9A-Fa-f]{2}))')
_CONTROL = {b"n": b"\n", b"t": b"\t"}


def unescape(literal: str) -> bytes:
    """The bytes of a quoted string literal."""

    def value(match: re.Match[bytes]) -> bytes:
        if match[1] is not None:
            return match[1]
        if match[2] is not None:
            return _CONTROL[match[2]]
        return bytes.fromhex(match[3].decode())

    return _ESCAPE.sub(value, literal[1:-1].encode("utf-8"))


_BRACKET = re.compile(r'[<>()\[\]{}"]|->|//')


def balanced_end(text: str, start: int) -> int:
    """The index after the bracket that closes the one at `start`, or -1 if it is not plain to see.

    Strings and comments are given up on: the caller then parses token by token.
    """
    depth = 0
    for match in _BRACKET.finditer(text, start):
        bracket = match[0]
        if bracket in "<([{":
            depth += 1
        elif bracket in ('"', "//"):
            return -1
        elif bracket != "->":
            depth -= 1
            if depth == 0:
                return match.end()
    return -1

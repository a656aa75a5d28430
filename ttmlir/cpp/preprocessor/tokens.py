"""Source texts and the tokens in them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.source_map import SourceMap
from ttmlir.cpp.tree import Position

# The quantifiers keep what they took, so that the engine remembers nothing for each character.
_TOKEN = re.compile(
    r"""
    (?P<space>(?:[ \t\r\f\v]|\\\r?\n)++)
  | (?P<newline>\n)
  | (?P<comment>//(?:[^\n\\]|\\\r?\n|\\)*+|/\*.*?\*/)
  | (?P<raw>R"(?P<mark>[^()\\\s"]{0,16}+)\((?P<inside>.*?)\)(?P=mark)")
  | (?P<unended>R"[^()\\\s"]{0,16}+\()
  | (?P<string>"(?:[^"\\\n]|\\[^\n])*+")
  | (?P<character>'(?:[^'\\\n]|\\[^\n])++')
  | (?P<name>[A-Za-z_]\w*)
  | (?P<number>\.?[0-9](?:[eEpP][+-]|'(?=\w)|[\w.])*+)
  | (?P<open>/\*|"|')
  | (?P<other><<=|>>=|->\*?|\+\+|--|::|&&|\|\||<<|>>|\#\#|\.\.\.|[-+*/%&|^=!<>]=|.)
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)

_UNFINISHED = {
    "/*": "the comment that begins here has no end",
    '"': "the string that begins here has no end",
    "'": "the character that begins here has no end",
}

_AS_WRITTEN = frozenset(("space", "newline", "name", "number", "other"))
"""Kinds of tokens that are most of a text and stand for themselves."""

BLANK = ("space", "newline")
"""Kinds of tokens that separate others."""

_NO_MACROS: frozenset[str] = frozenset()


class SourceText:
    """A source with its name: a kernel, or a header."""

    def __init__(self, text: str, file: str, source_map: SourceMap | None = None):
        """The text that messages quote; with a map, positions are those behind its lines."""
        self.text = text
        self.file = file
        self._map = source_map

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens of the text, comments as space."""
        return tuple(split_tokens(self))

    @cached_property
    def names(self) -> frozenset[str]:
        """The names that stand in the text."""
        return frozenset(token.text for token in self.tokens if token.kind == "name")

    def position(self, offset: int) -> Position:
        """Line and column of an offset."""
        line = bisect_right(self._line_starts, offset)
        if self._map is not None:
            return self._map.position(line)
        return Position(self.file, line, offset - self._line_starts[line - 1] + 1)

    def error(self, offset: int, message: str) -> CppSyntaxError:
        """An error that quotes the line of an offset."""
        start = self._line_starts[bisect_right(self._line_starts, offset) - 1]
        line = self.text[start:].partition("\n")[0].rstrip("\r")
        return CppSyntaxError(message, self.position(offset), line)


@dataclass(slots=True)
class Token:
    """A piece of source; it stands at `offset`, or the macro stands there that made it."""

    kind: str
    text: str
    offset: int
    source: SourceText
    hidden: frozenset[str] = _NO_MACROS
    """The macros that made the token: they do not expand in it."""

    def moved(self, place: Token, hidden: frozenset[str]) -> Token:
        """The token where a macro stands that makes it."""
        return Token(self.kind, self.text, place.offset, place.source, hidden)

    def spelled(self, kind: str, text: str) -> Token:
        """Another token in the same place."""
        return Token(kind, text, self.offset, self.source, self.hidden)

    def error(self, message: str) -> CppSyntaxError:
        """An error about the token."""
        return self.source.error(self.offset, message)


def split_tokens(source: SourceText) -> Iterator[Token]:
    """The tokens of a text; comments become space."""
    for match in _TOKEN.finditer(source.text):
        kind, text, offset = match.lastgroup or "", match[0], match.start()
        if kind in _AS_WRITTEN:
            pass
        elif kind == "comment":
            kind, text = "space", " "
        elif kind == "raw":
            kind, text = "string", quote(match["inside"])
        elif kind in ("open", "unended"):
            raise source.error(offset, _UNFINISHED.get(text, _UNFINISHED['"']))
        yield Token(kind, text, offset, source)


def quote(text: str) -> str:
    """A string literal that stands for a text."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def trim(tokens: Iterable[Token]) -> tuple[Token, ...]:
    """The tokens without space at either end."""
    listed = tuple(tokens)
    first, end = 0, len(listed)
    while end and listed[end - 1].kind in BLANK:
        end -= 1
    while first < end and listed[first].kind in BLANK:
        first += 1
    return listed[first:end]


def join(tokens: Iterable[Token]) -> str:
    """The tokens with every space one blank wide."""
    return "".join(" " if token.kind in BLANK else token.text for token in tokens)

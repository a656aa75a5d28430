"""The base of the readers: one text, its tokens, places in it and errors about them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from typing import NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import (
    LocationAttr,
    StringAttr,
)
from xdsl.parser import AttrParser
from xdsl.parser.generic_parser import ParserState
from xdsl.utils.lexer import Input, Position
from xdsl.utils.mlir_lexer import PunctuationSpelling

from ttmlir.mlir.reading.lexer import SourceLexer
from ttmlir.mlir.reporting.locations import file_location
from ttmlir.mlir.xdsl_internals import OpenParser
from ttmlir.nesting import MAX_NESTING

_BLOCK = 1024


def _byte_count(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))


class TextReader(OpenParser):
    """Reads tokens of one text."""

    def __init__(self, context: Context, text: str, file: str, first_line: int = 1):
        """A reader at the start of `text`; its first line has the number `first_line`."""
        # xDSL's own constructor would read the first token with its lexer.
        AttrParser.__init__(self, ParserState(SourceLexer(Input(text, file))), context)
        self.ssa_values = {}
        self.blocks = {}
        self.forward_block_references = defaultdict(list)
        self.forward_ssa_references = {}
        self._text = text
        self._file = file
        self._first_line = first_line
        self._line_ends = [match.start() for match in re.finditer("\n", text)]
        self._is_ascii = text.isascii()
        self._nesting: int = 0

    def location_at(self, position: Position) -> LocationAttr:
        """The location of a position in the text."""
        line = bisect_right(self._line_ends, position - 1)
        start = self._line_ends[line - 1] + 1 if line else 0
        column = position - start
        if not self._is_ascii:
            column = self._bytes_before(position) - self._bytes_before(start)
        return file_location(self._file, line + self._first_line, column + 1)

    def _bytes_before(self, position: Position) -> int:
        """How many bytes the text has before a position."""
        block = position // _BLOCK
        return self._bytes_before_block[block] + _byte_count(self._text[block * _BLOCK : position])

    @cached_property
    def _bytes_before_block(self) -> Sequence[int]:
        """The same for each multiple of `_BLOCK`: lines may be long, and hold many positions."""
        text = self._text
        starts = range(0, len(text), _BLOCK)
        return [0, *accumulate(_byte_count(text[start : start + _BLOCK]) for start in starts)]

    def raise_wrong_token(self, message: str) -> NoReturn:
        """Raise an error about a missing token: it is shown where the last token ends."""
        self.raise_error(message, self._end_of_last_token())

    def _end_of_last_token(self) -> Position:
        text, end = self._text, self.pos
        while True:
            while end and text[end - 1] in " \t":
                end -= 1
            if not end:
                return self.pos
            if text[end - 1] not in "\r\n":
                return end
            end -= 1
            line_start = max(text.rfind("\n", 0, end), text.rfind("\r", 0, end)) + 1
            comment = text.find("//", line_start, end)
            if comment >= 0:
                end = comment

    def parse_characters(self, text: str, context_msg: str = "") -> str:
        """Read a token with this text."""
        if self.current_token.text == text:
            self.consume_token()
            return text
        self.raise_wrong_token(f"expected '{text}'{context_msg}")

    def parse_punctuation(
        self, punctuation: PunctuationSpelling, context_msg: str = ""
    ) -> PunctuationSpelling:
        """Read a punctuation mark."""
        if self.current_token.text == punctuation:
            self.consume_token()
            return punctuation
        self.raise_wrong_token(f"expected '{punctuation}'{context_msg}")

    def parse_symbol_name(self) -> StringAttr:
        """Read `@name`."""
        name = self.parse_optional_symbol_name()
        if name is None:
            self.raise_error("expected valid '@'-identifier for symbol name")
        return name

    def parse_keyword(self, keyword: str, context_msg: str = "") -> str:
        """Read a keyword."""
        if self.parse_optional_keyword(keyword) is None:
            self.raise_wrong_token(f"expected '{keyword}'{context_msg}")
        return keyword

    def _enter_nesting(self) -> None:
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            self.raise_error(f"nested more than {MAX_NESTING} levels deep")

    def _is_between_tokens(self, position: Position) -> bool:
        return position <= self.pos and not self._text[position : self.pos].strip()

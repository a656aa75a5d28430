"""Brackets that the grammar needs to read assignments before a comma.

`(b = 12, b + 1)` is C++ that tree-sitter's grammar takes for the beginning of a fold expression;
`((b = 12), b + 1)` means the same.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ttmlir.cpp.preprocessor.preprocess import PreprocessedText
from ttmlir.cpp.preprocessor.tokens import BLANK, SourceText, Token, split_tokens
from ttmlir.cpp.tree import ASSIGNMENT_OPERATORS

_OPENING = ("(", "[", "{")
_CLOSING = (")", "]", "}")


@dataclass
class _Part:
    """What stands between brackets, or between a bracket and a comma."""

    is_group: bool
    """Whether the brackets only group: they hold no arguments, parameters or indices."""
    start: int | None = None
    end: int = 0
    assigns: bool = False

    def insertions(self) -> Iterator[tuple[int, str]]:
        if self.is_group and self.assigns and self.start is not None:
            yield self.start, "("
            yield self.end, ")"


def bracket_assignments(source: PreprocessedText) -> PreprocessedText:
    """The same text with brackets around assignments in comma expressions."""
    tokens = split_tokens(SourceText(source.text, source.source.file))
    inserted = sorted(_find_insertions(tokens))
    places = [place for place, _ in inserted]
    pieces, end = list[str](), 0
    for place, bracket in inserted:
        pieces += (source.text[end:place], bracket)
        end = place
    edges = sorted({*source.offsets, *places})
    return replace(
        source,
        text="".join((*pieces, source.text[end:])),
        offsets=[edge + bisect_right(places, edge) for edge in edges],
        origins=[source.origin(edge) for edge in edges],
    )


def _find_insertions(tokens: Iterable[Token]) -> Iterator[tuple[int, str]]:
    """Where brackets are missing."""
    parts = [_Part(is_group=False)]
    before: Token | None = None
    for token in tokens:
        if token.kind in BLANK:
            continue
        part = parts[-1]
        if token.text in _CLOSING and len(parts) > 1:
            parts.pop()
            part = parts[-1]
        elif token.text == ",":
            yield from part.insertions()
            parts[-1] = _Part(part.is_group)
            before = token
            continue
        part.start = token.offset if part.start is None else part.start
        part.end = token.offset + len(token.text)
        part.assigns = part.assigns or token.text in ASSIGNMENT_OPERATORS
        if token.text in _OPENING:
            parts.append(_Part(token.text == "(" and _may_group(before)))
        before = token


def _may_group(before: Token | None) -> bool:
    """Whether a bracket after a token only groups."""
    if before is None or before.text in _CLOSING:
        return False
    return before.kind != "name" or before.text == "return"

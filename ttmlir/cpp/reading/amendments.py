"""What tree-sitter's grammar needs to read some C++ that it does not know.

- `(b = 12, b + 1)` is taken for the beginning of a fold expression: `((b = 12), b + 1)`.
- `case 1: enum E { A };` is taken for the beginning of a variable: it gets the name of one.
- `enum : uint8_t { A };` needs a name.
- `__builtin_bit_cast(T, x)` has a type as an argument: `std::bit_cast<T>(x)`.
- `a < b && c > (d)` is taken for a call of `a<b && c>`: `(a) < b && c > (d)` is not.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
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


ENUMERATION_VARIABLE = "variable_behind_enumeration"
"""The name of a variable that no text has, behind an enumeration."""

UNNAMED_ENUMERATION = "unnamed_enumeration"
"""The name of an enumeration that has none in the text."""

_BIT_CAST = re.compile(r"__builtin_bit_cast\s*\(([\w:\s*]+),")


def amend(source: PreprocessedText) -> PreprocessedText:
    """The same text in the words of the grammar."""
    source = replace(source, text=_BIT_CAST.sub(_write_bit_cast, source.text))
    tokens = list(split_tokens(SourceText(source.text, source.source.file)))
    solid = [each for each in tokens if each.kind not in BLANK]
    return _insert(source, (*_find_insertions(tokens), *_find_enumerations(solid)))


def parenthesize(source: PreprocessedText, start: int, end: int) -> PreprocessedText:
    """The same text with parentheses around a part of it."""
    return _insert(source, ((start, "("), (end, ")")))


def _insert(source: PreprocessedText, words: Iterable[tuple[int, str]]) -> PreprocessedText:
    """A text with words that its source has not, each in front of an offset."""
    inserted = sorted(words)
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


def _find_enumerations(tokens: Sequence[Token]) -> Iterator[tuple[int, str]]:
    """Where enumerations among the cases of a switch end, and where one needs a name."""
    has_cases = [False]
    for number, token in enumerate(tokens):
        match token.text:
            case "{":
                has_cases.append(False)
            case "}" if len(has_cases) > 1:
                has_cases.pop()
            case "case" | "default":
                has_cases[-1] = True
            case ":" if number and tokens[number - 1].text == "enum":
                yield token.offset, f" {UNNAMED_ENUMERATION} "
            case "enum" if has_cases[-1] and number and tokens[number - 1].text in (":", ";", "}"):
                end = _find_end(tokens, number)
                if end is not None:
                    yield end, f" {ENUMERATION_VARIABLE}"
            case _:
                pass


def _find_end(tokens: Sequence[Token], start: int) -> int | None:
    """Where an enumeration ends behind which there is no variable."""
    depth = 0
    for number in range(start, len(tokens) - 1):
        text = tokens[number].text
        depth += (text == "{") - (text == "}")
        if depth == 0 and text == ";":
            return None
        if depth == 0 and text == "}":
            ends = tokens[number + 1].text == ";"
            return tokens[number].offset + 1 if ends else None
    return None


def _write_bit_cast(found: re.Match[str]) -> str:
    """The same cast in as many characters."""
    return f"std::bit_cast<{found[1]}>(".rjust(len(found[0]))


def _may_group(before: Token | None) -> bool:
    """Whether a bracket after a token only groups."""
    if before is None or before.text in _CLOSING:
        return False
    return before.kind != "name" or before.text == "return"

"""C++ texts that were made from another language, and know from where.

A kernel in Python becomes C++ before it runs; what goes wrong in it is at a line of the Python.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

from ttmlir.cpp.tree import Position


@dataclass(frozen=True)
class SourceMap:
    """Where the lines of a C++ text come from: all of them from one file."""

    file: str
    positions: tuple[Position, ...]
    """For each line of the C++ text, in order."""
    text: str = field(repr=False, compare=False)
    """The text of the file, to quote from."""

    def position(self, line: int) -> Position:
        """The position behind a line of the C++ text, counted from 1."""
        return self.positions[min(line, len(self.positions)) - 1]


class MappedText(str):
    """A C++ text with its map; `name` is what reports call it."""

    name: str
    source_map: SourceMap

    def __new__(cls, text: str, name: str, source_map: SourceMap) -> Self:
        """The text with a map."""
        made = super().__new__(cls, text)
        made.name = name
        made.source_map = source_map
        return made


def map_of(text: str) -> SourceMap | None:
    """The map of a text, if it has one."""
    return text.source_map if isinstance(text, MappedText) else None

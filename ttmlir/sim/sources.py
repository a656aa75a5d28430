"""The texts that a kernel is made of: its own, and those of the headers that it includes."""

from __future__ import annotations

from functools import cached_property

from ttmlir.cpp.tree import Header, Position
from ttmlir.limits import MAX_SOURCE_LENGTH

_SHIFT = 2 * MAX_SOURCE_LENGTH
"""More than the lines of any text: so far apart are the lines of two files in compiled code."""
_MOST_FILES = (1 << 31) // _SHIFT
"""How many files the lines of Python's code objects tell apart."""


class KernelSources:
    """The texts by the names that messages call them; the first one is the kernel's.

    Code of a kernel is one unit for Python, whose lines have no file: those of the n-th header are
    shifted by n times a number that is more than all lines of a file.
    """

    def __init__(self, texts: dict[str, str]) -> None:
        """Only the kernel, or nothing."""
        self.texts = texts
        self.included_at = dict[str, Position]()
        """Where headers are included first."""
        self._numbers = {file: number for number, file in enumerate(texts)}

    def add(self, header: Header, place: Position | None) -> bool:
        """Add a header; False if there is one of its name."""
        if header.file in self.texts:
            return False
        self.texts[header.file] = header.text
        if place is not None:
            self.included_at[header.file] = place
        return True

    def shift(self, file: str) -> int:
        """What is added to lines of a file in compiled code."""
        number = self._numbers.get(file)
        if number is None:
            if file not in self.texts or len(self._numbers) >= _MOST_FILES:
                return 0
            number = self._numbers[file] = len(self._numbers)
        return number * _SHIFT

    def place(self, code_line: int) -> tuple[str, int] | None:
        """The file and the line that a line of compiled code stands for; None without texts."""
        number, line = divmod(code_line, _SHIFT)
        file = next((file for file, each in self._numbers.items() if each == number), None)
        return None if file is None else (file, line)

    def line(self, file: str, number: int) -> str:
        """A line of a file by its number from 1; empty if there is none."""
        if file not in self._lines:
            self._lines[file] = self.texts.get(file, "").split("\n")
        lines = self._lines[file]
        return lines[number - 1].rstrip("\r") if 0 < number <= len(lines) else ""

    @cached_property
    def _lines(self) -> dict[str, list[str]]:
        return {}

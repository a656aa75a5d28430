"""The texts that a kernel is made of, and where the lines of its compiled code are in them."""

from __future__ import annotations

from functools import cached_property

from ttmlir.cpp.errors import Position
from ttmlir.cpp.standard_headers import is_own_text
from ttmlir.cpp.tree import Inclusions
from ttmlir.limits import MAX_SOURCE_LENGTH

LINES_OF_FILE = 2 * MAX_SOURCE_LENGTH
"""More than the lines of any text: so far apart are the lines of two files in compiled code."""
_MOST_FILES = (1 << 31) // LINES_OF_FILE
"""How many files the lines of Python's code objects tell apart."""


class KernelSources:
    """The kernel and its headers.

    Code of a kernel is one unit for Python, whose lines have no file: those of the n-th header are
    shifted by n times a number that is more than all lines of a file.
    """

    def __init__(self, inclusions: Inclusions) -> None:
        """The sources of a kernel."""
        self.inclusions = inclusions
        self.assertions: dict[tuple[str, int, int], str] = {}
        """Texts of assertions by file, line and column, where the kernel's language has some."""
        self._files = [inclusions.file]
        self._shifts = {inclusions.file: 0}

    def renamed(self, file: str) -> KernelSources:
        """The same for a kernel with the same text in another file."""
        made = KernelSources(self.inclusions.renamed(file))
        for number, header in enumerate(self._files[1:], 1):
            made._files.append(header)
            made._shifts[header] = number * LINES_OF_FILE
        return made

    def shift(self, file: str) -> int:
        """What is added to lines of a file in compiled code."""
        shift = self._shifts.get(file)
        if shift is None:
            # What there are more of than lines can tell apart is shown as the kernel's.
            shift = len(self._files) * LINES_OF_FILE if len(self._files) < _MOST_FILES else 0
            self._shifts[file] = shift
            self._files.append(file)
        return shift

    @cached_property
    def own_files(self) -> frozenset[int]:
        """Numbers of headers of the package, in which messages look for nothing."""
        return frozenset(number for number, file in enumerate(self._files) if is_own_text(file))

    def place(self, code_line: int) -> tuple[str, int]:
        """The file and the line that a line of compiled code stands for."""
        number, line = divmod(code_line, LINES_OF_FILE)
        return self._files[number], line

    def line(self, file: str, number: int) -> str:
        """A line of a file by its number from 1; empty if there is none."""
        return self.inclusions.line(Position(file, number, 1))

"""Errors of ttnn's calls: a RuntimeError whose text begins with the line of the user's program."""

from __future__ import annotations

import linecache
import os
import sys
from itertools import islice
from types import FrameType

from ttmlir.files import PACKAGE_FOLDER
from ttmlir.sim.errors import SimError


class PlacedError(RuntimeError):
    """A call that cannot be: `file:line:col: error: ...`, the source line and a caret."""

    def __init__(self, message: str, place: str) -> None:
        """`place` has the two lines below the message, and what comes before it."""
        first, _, rest = place.partition("\n")
        lines = (f"{first}error: {message}" if first else message, rest)
        super().__init__("\n".join(line for line in lines if line))
        self.message = message


def place_error(error: Exception, name: str = "") -> PlacedError:
    """What to raise for an error, at the line of the program that called this package."""
    if isinstance(error, PlacedError):
        return error
    if isinstance(error, SimError) and error.position is not None:
        # What stopped it stands in a kernel, which has a place of its own.
        return PlacedError(f"{name}: a kernel cannot go on", f"{_caller()}\n{error}")
    message = str(error)
    return PlacedError(f"{name}: {message}" if name else message, _caller())


def _caller() -> str:
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE_FOLDER):
        frame = frame.f_back
    if frame is None:
        return ""
    positions = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), None)
    line = frame.f_lineno
    column = 0 if positions is None or positions[2] is None else positions[2]
    source = linecache.getline(frame.f_code.co_filename, line).rstrip()
    name = os.path.relpath(frame.f_code.co_filename)
    name = frame.f_code.co_filename if name.startswith("..") else name
    place = f"{name}:{line}:{column + 1}: "
    if not source:
        return place
    # The column counts bytes of UTF-8.
    before = source.encode()[:column].decode(errors="replace")
    return f"{place}\n  {source}\n  {' ' * len(before)}^"

"""Colours of messages on a terminal, as clang has them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TextIO

_BOLD, _RED, _GREEN, _BLUE, _MAGENTA, _GREY = "1", "1;31", "1;32", "1;34", "1;35", "1;90"

STYLES = {
    "place": _BOLD,
    "error": _RED,
    "warning": _MAGENTA,
    "remark": _BLUE,
    "note": _GREY,
    "caret": _GREEN,
}
"""Numbers of the terminal's SGR sequence for each part of a message."""


def uses_colour(stream: TextIO, environment: Mapping[str, str] = os.environ) -> bool:
    """True for a terminal that shows colours, unless the user wants none (no-color.org)."""
    is_wanted = not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"
    return is_wanted and stream.isatty()


def paint(text: str, part: str, *, coloured: bool) -> str:
    """A part of a message in its colour; unchanged if there are to be none."""
    return f"\x1b[{STYLES[part]}m{text}\x1b[0m" if coloured else text

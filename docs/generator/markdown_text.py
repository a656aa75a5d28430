"""Markdown that wraps."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

WIDTH = 100
"""Characters of a line of prose."""

_WHOLE = WIDTH - 10
"""Characters of code, or a link, that may have to be divided."""
_UNBREAKABLE = re.compile(r"`[^`]+`|\]\([^)]*\)")


def wrap(paragraph: str, indent: str = "") -> str:
    """A paragraph in lines of at most `WIDTH` characters; links and code that fits stay whole.

    Lines after the first begin with `indent`.
    """
    whole = _UNBREAKABLE.sub(
        lambda match: match[0].replace(" ", "\0") if len(match[0]) < _WHOLE else match[0],
        paragraph,
    )
    filled = textwrap.fill(
        whole,
        WIDTH,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return filled.replace("\0", " ")


def wrap_page(page: str) -> str:
    """A page whose long lines of prose are wrapped; tables and code stay as they are."""
    lines = page.split("\n")
    prose = set(prose_lines(page))
    return "\n".join(
        wrap(line, " " * _margin(line)) if number in prose and len(line) > WIDTH else line
        for number, line in enumerate(lines, 1)
    )


def prose_lines(page: str) -> Iterator[int]:
    """The numbers of the lines, from 1, that are neither code nor tables nor headings."""
    in_code = False
    for number, line in enumerate(page.split("\n"), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code and not line.startswith(("|", "#", "<", "    ")):
            yield number


def _margin(line: str) -> int:
    """Where the text of an entry of a list begins."""
    entry = re.match(r"\s*([-*]|\d+\.) +|\s*", line)
    return 0 if entry is None else entry.end()

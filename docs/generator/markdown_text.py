"""Markdown that wraps."""

from __future__ import annotations

import textwrap

WIDTH = 100
"""Characters of a line of prose."""


def wrap(paragraph: str) -> str:
    """A paragraph in lines of at most `WIDTH` characters; names in backticks stay whole."""
    return textwrap.fill(paragraph, WIDTH, break_long_words=False, break_on_hyphens=False)

"""How deeply regions, attributes and types may nest.

Readers, printers and verifiers are recursive. The limit keeps every text that is accepted far from
Python's own limit, which `deep_recursion` raises for the time of one call.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager

MAX_NESTING = 256
"""Deepest nesting of regions, and of attributes and types, that is read."""

_FRAMES_PER_LEVEL = 40


@contextmanager
def deep_recursion() -> Generator[None]:
    """Let Python recurse deep enough for `MAX_NESTING` levels."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, MAX_NESTING * _FRAMES_PER_LEVEL))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)

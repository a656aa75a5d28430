"""How deeply regions, attributes and types may nest.

Readers, printers and verifiers are recursive. The limit keeps every text that is accepted far from
Python's own limit, which is raised while any thread is inside of `deep_recursion`.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from threading import Lock

MAX_NESTING = 256
"""Deepest nesting of regions, and of attributes and types, that is read."""

_FRAMES_PER_LEVEL = 40
_NEEDED = MAX_NESTING * _FRAMES_PER_LEVEL


class _RaisedLimit:
    """Python's recursion limit, which all threads share.

    The first that needs it raised raises it, the last that leaves puts it back.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._users = 0
        self._before = 0

    def enter(self) -> None:
        """Have the limit raised until `leave`."""
        with self._lock:
            if not self._users:
                self._before = sys.getrecursionlimit()
            self._users += 1
            if sys.getrecursionlimit() < _NEEDED:
                sys.setrecursionlimit(_NEEDED)

    def leave(self) -> None:
        """Do without the raised limit."""
        with self._lock:
            self._users -= 1
            # Somebody else may have set another limit meanwhile, which is not ours to change.
            if not self._users and sys.getrecursionlimit() == _NEEDED:
                # Python refuses to go below the depth of the thread that asks.
                with suppress(RecursionError):
                    sys.setrecursionlimit(self._before)


_RAISED_LIMIT = _RaisedLimit()


@contextmanager
def deep_recursion() -> Generator[None]:
    """Let Python recurse deep enough for `MAX_NESTING` levels, in any number of threads."""
    _RAISED_LIMIT.enter()
    try:
        yield
    finally:
        _RAISED_LIMIT.leave()

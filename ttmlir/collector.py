"""Python's garbage collector, kept out of work that makes many objects and frees few of them."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def without_collections() -> Generator[None]:
    """Keep the garbage collector out: it would search a growing IR or tree again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


_MUCH = 100_000
"""So many objects are worth a search, which takes some hundredths of a second."""


@contextmanager
def freed_afterwards() -> Generator[None]:
    """Free what the work makes and does not keep, if that is much, while nothing is collected.

    Only objects that were made since the last collection are searched: those of torch and JAX are
    millions, and even to count what somebody has frozen of them takes half a second.
    """
    try:
        yield
    finally:
        if gc.get_count()[0] > _MUCH:
            gc.collect(0)

"""Settings of a process that does one piece of work and ends."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

YOUNG_OBJECTS = 200_000
"""Allocations between two collections: an IR has few cycles, and most objects live to the end."""


@contextmanager
def tuned_for_one_run() -> Generator[None]:
    """Collect garbage rarely while the body runs."""
    before = gc.get_threshold()
    gc.set_threshold(YOUNG_OBJECTS, 50, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)

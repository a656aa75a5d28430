"""Settings of a process that does one piece of work and ends."""

from __future__ import annotations

import gc
from collections.abc import Callable

YOUNG_OBJECTS = 200_000
"""Allocations between two collections: an IR has few cycles, and most objects live to the end."""


def run_once(work: Callable[[], int]) -> int:
    """The result of `work`, with a garbage collector that stays out of its way."""
    gc.set_threshold(YOUNG_OBJECTS, 50, 50)
    try:
        return work()
    finally:
        gc.freeze()  # The interpreter need not search what is left for cycles before it ends.

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


@contextmanager
def freed_afterwards() -> Generator[None]:
    """Free what the work makes and does not keep; what was there before is not searched."""
    if gc.get_freeze_count():
        # Somebody else has frozen objects, and would not find them so.
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.collect()
        gc.unfreeze()

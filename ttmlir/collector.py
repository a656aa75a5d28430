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


_is_frozen_here = False
_is_frozen_by_others = False
"""Kept, as Python counts what is frozen one by one, and of millions for a tenth of a second."""


@contextmanager
def freed_afterwards() -> Generator[None]:
    """Free what the work makes and does not keep; what was there before is not searched."""
    global _is_frozen_here, _is_frozen_by_others
    if not _is_frozen_here and not _is_frozen_by_others:
        _is_frozen_by_others = gc.get_freeze_count() > 0
    if _is_frozen_here or _is_frozen_by_others:
        # Somebody else has frozen objects, and would not find them so.
        yield
        return
    _is_frozen_here = True
    gc.freeze()
    try:
        yield
    finally:
        gc.collect()
        gc.unfreeze()
        _is_frozen_here = False

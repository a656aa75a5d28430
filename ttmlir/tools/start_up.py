"""How a tool's process runs: settings for one piece of work, and an end that users understand."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable

YOUNG_OBJECTS = 200_000
"""Allocations between two collections: an IR has few cycles, and most objects live to the end."""

INTERRUPTED = 130
"""Exit status of a program that was interrupted from the keyboard, as shells give it."""


def run_once(program: str, work: Callable[[], int]) -> int:
    """The exit status that `work` gives.

    The garbage collector stays out of its way. An exception that `work` lets out is a mistake in
    this project and is reported as one, without a traceback unless TTMLIR_DEBUG is set.
    """
    gc.set_threshold(YOUNG_OBJECTS, 50, 50)
    try:
        return work()
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        if os.environ.get("TTMLIR_DEBUG"):
            raise
        name = type(error).__name__
        print(
            f"{program}: error: internal error: {name}: {error}\n{program}: note: this is a mistake"
            " in ttmlir, not in the input; TTMLIR_DEBUG=1 shows the traceback",
            file=sys.stderr,
        )
        return 1
    finally:
        gc.freeze()  # The interpreter need not search what is left for cycles before it ends.

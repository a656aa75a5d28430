"""A progress bar for repeated runs: on a terminal, and only if there is something to wait for."""

from __future__ import annotations

import sys
from collections.abc import Iterator


def progress(count: int, title: str, quiet: bool) -> Iterator[int]:
    """Count from 0 to `count` - 1, with a bar on standard error if that is a terminal."""
    if quiet or count == 1 or not sys.stderr.isatty():
        yield from range(count)
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(range(count), description=title, console=Console(stderr=True), transient=True)

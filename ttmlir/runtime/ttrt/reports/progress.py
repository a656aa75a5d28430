"""A progress bar for repeated runs: on a terminal, and only if there is something to wait for."""

from __future__ import annotations

from collections.abc import Iterator

from ttmlir.terminal import show_wait


def progress(count: int, title: str, quiet: bool) -> Iterator[int]:
    """Count from 0 to `count` - 1, with a bar on standard error if that is a terminal."""
    with show_wait(title, count if count > 1 else None, quiet=quiet) as advance:
        for number in range(count):
            yield number
            advance()

"""What a terminal is shown: texts from somebody else, and that there is something to wait for."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from threading import Lock, Timer
from typing import Any

_COMMANDS = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
"""Control characters, which a terminal obeys, and those that turn the direction of writing."""
_LONGEST_NAME = 256
PATIENCE = 1.0
"""Seconds before a wait is shown."""


def printable(text: str) -> str:
    """The text with a replacement character for each that a terminal obeys; lines and tabs stay."""
    return re.sub(_COMMANDS, "\N{REPLACEMENT CHARACTER}", text)


class ShownAsText:
    """Something whose text notebooks show in a fixed width."""

    def _repr_html_(self) -> str:
        """The text, in HTML."""
        from html import escape

        return f"<pre>{escape(printable(str(self)))}</pre>"


def print_error(text: object) -> None:
    """Print a message on standard error, as `printable` gives it."""
    print(printable(str(text)), file=sys.stderr, flush=True)


_warned = set[str]()
"""Warnings that were printed in this process."""


def print_warnings(texts: Iterable[object]) -> None:
    """Print warnings on standard error, each once in a process, as a compiler does."""
    for each in map(str, texts):
        if each not in _warned:
            _warned.add(each)
            print_error(each)


def shown_name(name: str) -> str:
    """A name out of a file as one line shows it: no line ends either, and not all of a long one."""
    shown = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}..."
    return printable(re.sub(r"[\n\t\x85\u2028\u2029]", "\N{REPLACEMENT CHARACTER}", shown))


@contextmanager
def show_wait(
    title: str, total: int | None = None, *, quiet: bool = False
) -> Generator[Callable[[], None]]:
    """Show a bar on standard error, if that is a terminal, when the body takes over a second.

    The body calls what it gets after each of the `total` steps; without a number of steps the bar
    only moves. One wait is shown at a time, the outermost.
    """
    if quiet or _Bar.active is not None or not _can_show_bars():
        yield _do_nothing
        return
    bar = _Bar(printable(title), total)
    _Bar.active = bar
    timer = Timer(PATIENCE, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield bar.advance
    finally:
        timer.cancel()
        bar.stop()
        _Bar.active = None


def _can_show_bars() -> bool:
    """True if standard error is a terminal that moves its cursor when it is told so."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _do_nothing() -> None:
    pass


class _Bar:
    """A bar that appears when it is started, and is gone when it is stopped."""

    active: _Bar | None = None

    def __init__(self, title: str, total: int | None) -> None:
        self._title = title
        self._total = total
        self._done = 0
        self._lock = Lock()
        self._is_over = False
        self._shown: Any = None

    def start(self) -> None:
        """Show the bar, unless it was stopped; called in a thread of its own."""
        with self._lock:
            if self._is_over:
                return
            from rich.console import Console
            from rich.progress import Progress

            # Other output goes where it went before: results are not for the bar's terminal.
            self._shown = Progress(
                console=Console(stderr=True),
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._task = self._shown.add_task(self._title, total=self._total, completed=self._done)
            self._shown.start()

    def advance(self) -> None:
        """Another step is done."""
        with self._lock:
            self._done += 1
            if self._shown is not None:
                self._shown.update(self._task, completed=self._done)

    def stop(self) -> None:
        """Take the bar away."""
        with self._lock:
            self._is_over = True
            if self._shown is not None:
                self._shown.stop()

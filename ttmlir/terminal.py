"""What a terminal is shown: texts from somebody else, and that there is something to wait for."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from threading import Lock, Timer
from typing import Any

_COMMANDS = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
"""Control characters, which a terminal obeys, those that turn the direction of writing, and what is
no text."""
_LONGEST_NAME = 256
_LONGEST_QUOTATION = 1000
"""Longest part of a source line that is shown, in characters."""
PATIENCE = 1.0
"""Seconds before a wait is shown on a terminal."""
PATIENCE_OF_LOGS = 10.0
"""Seconds before the first line about a wait where there is no terminal."""


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


def excerpt(line: str, position: int) -> tuple[str, str]:
    """A source line, or what is around a position in a long one, and a caret to stand below it.

    The position counts characters from 0. Tabs stay, above the caret and before it.
    """
    first, last = 0, len(line)
    if len(line) > _LONGEST_QUOTATION:
        first = min(max(0, position - _LONGEST_QUOTATION // 2), len(line) - _LONGEST_QUOTATION)
        last = first + _LONGEST_QUOTATION
    before, after = "..." if first else "", "..." if last < len(line) else ""
    shown = before + printable(line[first:last])
    indent = re.sub(r"[^\t]", " ", shown[: len(before) + position - first])
    return shown + after, f"{indent}^"


def cut_middle(text: str, length: int) -> str:
    """The text without what is in the middle, if it is longer."""
    half = length // 2
    return text if len(text) <= length else f"{text[:half]}...{text[-half:]}"


def cut_names(message: str) -> str:
    """A message without the middle of each long text in single quotes, such as a name."""
    if len(message) <= _LONGEST_NAME:
        return message
    # An apostrophe within a word is no quote.
    return re.sub(
        r"(?<!\w)'([^'\n]+)'(?!\w)",
        lambda quoted: f"'{cut_middle(quoted[1], _LONGEST_NAME)}'",
        message,
    )


@contextmanager
def show_wait(
    title: str, total: int | None = None, *, quiet: bool = False
) -> Generator[Callable[[], None]]:
    """Show a bar on standard error, if that is a terminal, when the body takes over a second.

    Elsewhere, as in logs, it is a line after ten seconds, and after twice as long each time. The
    body calls what it gets after each of the `total` steps; without a number of steps the bar only
    moves. One wait is shown at a time, the outermost.
    """
    if quiet or _Wait.active is not None:
        yield _do_nothing
        return
    wait = (_Bar if _can_show_bars() else _Lines)(printable(title), total)
    _Wait.active = wait
    wait.begin()
    try:
        yield wait.advance
    finally:
        wait.stop()
        _Wait.active = None


def _can_show_bars() -> bool:
    """True if standard error is a terminal that moves its cursor when it is told so."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _do_nothing() -> None:
    pass


class _Wait:
    """Steps that are done, and a thread that shows them when there was time enough."""

    active: _Wait | None = None

    def __init__(self, title: str, total: int | None) -> None:
        self._title = title
        self._total = total
        self._done = 0
        self._lock = Lock()
        self._timer: Timer | None = None
        self._is_over = False

    def begin(self) -> None:
        """Start to wait."""
        raise NotImplementedError

    def advance(self) -> None:
        """Another step is done."""
        with self._lock:
            self._done += 1
            self._update()

    def stop(self) -> None:
        """Show nothing more."""
        with self._lock:
            self._is_over = True
            if self._timer is not None:
                self._timer.cancel()
            self._end()

    def _show_after(self, seconds: float) -> None:
        self._timer = Timer(seconds, self._show_unless_over)
        self._timer.daemon = True
        self._timer.start()

    def _show_unless_over(self) -> None:
        with self._lock:
            if not self._is_over:
                self._show()

    def _show(self) -> None:
        raise NotImplementedError

    def _update(self) -> None:
        pass

    def _end(self) -> None:
        pass


class _Lines(_Wait):
    """Lines that say how long it takes, and how much is done."""

    def begin(self) -> None:
        self._seconds = PATIENCE_OF_LOGS
        self._show_after(self._seconds)

    def _show(self) -> None:
        steps = "" if self._total is None else f"{self._done} of {self._total}, "
        print_error(f"{self._title}: {steps}{self._seconds:.0f} s")
        self._show_after(self._seconds)
        self._seconds *= 2


class _Bar(_Wait):
    """A bar that appears after a while, and is gone at the end."""

    _shown: Any = None

    def begin(self) -> None:
        self._show_after(PATIENCE)

    def _show(self) -> None:
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

    def _update(self) -> None:
        if self._shown is not None:
            self._shown.update(self._task, completed=self._done)

    def _end(self) -> None:
        if self._shown is not None:
            self._shown.stop()

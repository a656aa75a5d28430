"""Semaphores: what waiting for them tells, and changes of which one may undo the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ttmlir.sim.sanitizer.shadow import Mark
from ttmlir.sim.sanitizer.vector_clock import Thread, VectorClock

SLOT = 16
"""Bytes from semaphore to semaphore."""

_MOST_STATES = 256
"""Values of a semaphore that are told apart; a wait that others met counts for all before."""


class _Change(NamedTuple):
    """A change of the word: who made it when, the value that it met, and what it tells."""

    thread: Thread
    time: int
    met: int
    told: VectorClock


class WatchedSemaphore:
    """One word of L1 by which threads are ordered.

    Increments may come in any order; whoever sets the word has to know of all changes before, and
    has to be known to all who change it next. Who waits for a value knows of the changes up to the
    first one with which the wait might have ended: later ones may as well come after it.
    """

    __slots__ = ("_changes", "_increments", "_known", "_set")

    def __init__(self, known: VectorClock) -> None:
        """A semaphore that nobody has changed in this program; `known` is an empty clock."""
        self._known = known
        """What whoever waits for any value is told."""
        self._changes: list[_Change] = []
        """The changes behind, in order."""
        self._set: Mapping[Thread, tuple[int, Mark]] = {}
        """Who has set it last, at which of its times, and where."""
        self._increments: dict[Thread, tuple[int, Mark]] = {}
        """Who has incremented it since."""

    def check(
        self, thread: Thread, mark: Mark, *, is_increment: bool = False
    ) -> tuple[Thread, Mark] | None:
        """Note who changes it; an earlier change that is not ordered before, and its place."""
        unordered = _unordered(thread, self._set)
        if is_increment:
            self._increments[thread] = thread.time, mark
        else:
            unordered = unordered or _unordered(thread, self._increments)
            self._set = {thread: (thread.time, mark)}
            self._increments.clear()
        return unordered

    def change(self, thread: Thread, met: int) -> VectorClock:
        """Tell what a thread has done; the clock that takes what its messages tell.

        `met` is the value before the change.
        """
        if len(self._changes) == _MOST_STATES:
            self._tell(_MOST_STATES // 2)
        told = thread.knows.copy()
        self._changes.append(_Change(thread, thread.time, met, told))
        thread.advance()
        return told

    def look(self, thread: Thread) -> None:
        """A thread reads the word: it knows of all changes."""
        self._tell(len(self._changes))
        thread.acquire(self._known)

    def wait(self, thread: Thread, value: int, now: int, *, exactly: bool) -> None:
        """A thread has waited for a value, or with `exactly` False for at least it."""
        changes = self._changes
        count = len(changes)
        while count and not thread.sees(changes[count - 1].thread, changes[count - 1].time):
            count -= 1
        values = [*(change.met for change in changes[count:]), now]
        for seen in values[:-1]:
            if seen == value or (not exactly and seen > value):
                break
            count += 1
        self._tell(count)
        thread.acquire(self._known)

    def _tell(self, count: int) -> None:
        """Let whoever waits know of the first changes."""
        for change in self._changes[:count]:
            told = change.told
            self._known.learn(told.start, told.end, told.part)
        del self._changes[:count]


def _unordered(
    thread: Thread, changes: Mapping[Thread, tuple[int, Mark]]
) -> tuple[Thread, Mark] | None:
    for other, (time, mark) in changes.items():
        if not thread.sees(other, time):
            return other, mark
    return None

"""Semaphores: what waiting for them tells, and changes of which one may undo the other."""

from __future__ import annotations

from collections.abc import Mapping

from ttmlir.sim.sanitizer.shadow import Mark
from ttmlir.sim.sanitizer.vector_clock import Thread, VectorClock


class WatchedSemaphore:
    """One word of L1 by which threads are ordered.

    Increments may come in any order; whoever sets the word has to know of all changes before, and
    has to be known to all who change it next.
    """

    __slots__ = ("_increments", "_set", "point")

    def __init__(self, point: VectorClock) -> None:
        """A semaphore that nobody has changed in this program; `point` is what it tells."""
        self.point = point
        self._set: Mapping[Thread, tuple[int, Mark]] = {}
        """Who has set it last, at which of its times, and where."""
        self._increments: dict[Thread, tuple[int, Mark]] = {}
        """Who has incremented it since."""

    def change(
        self, thread: Thread, mark: Mark, *, is_increment: bool = False
    ) -> tuple[Thread, Mark] | None:
        """Note a change; an earlier one that is not ordered before it, and where it was made."""
        unordered = _unordered(thread, self._set)
        if is_increment:
            self._increments[thread] = thread.time, mark
        else:
            unordered = unordered or _unordered(thread, self._increments)
            self._set = {thread: (thread.time, mark)}
            self._increments.clear()
        return unordered


def _unordered(
    thread: Thread, changes: Mapping[Thread, tuple[int, Mark]]
) -> tuple[Thread, Mark] | None:
    for other, (time, mark) in changes.items():
        if not thread.sees(other, time):
            return other, mark
    return None

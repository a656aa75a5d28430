"""When the words that threads wait for came to their values."""

from __future__ import annotations

from dataclasses import dataclass, replace

_REMEMBERED = 256
"""How many values of a word are kept that nobody has waited for."""


@dataclass(frozen=True, slots=True)
class _Change:
    """From when on a word has a value."""

    value: int
    time: int
    added: int


class WordTimes:
    """The values that a word had, and since when, as far as somebody may wait for them."""

    __slots__ = ("_changes",)

    def __init__(self) -> None:
        """It has not changed."""
        self._changes: list[_Change] = []

    @property
    def last(self) -> int:
        """When it changed last; 0: before the program."""
        return self._changes[-1].time if self._changes else 0

    def change(self, value: int, time: int, *, added: int = 0) -> None:
        """It has a value from a time on, by an addition where something was `added`.

        Additions may come in another order than they are simulated in.
        """
        changes = self._changes
        at = len(changes)
        if added:
            while at and changes[at - 1].time > time:
                at -= 1
        if at < len(changes):
            before = changes[at - 1].value if at else changes[0].value - changes[0].added
            later = [replace(each, value=each.value + added) for each in changes[at:]]
            changes[at:] = [_Change(before + added, time, added), *later]
        else:
            changes.append(_Change(value, time, added))
        del changes[:-_REMEMBERED]

    def reached(self, value: int, now: int) -> int:
        """When it came to at least a value that it has, from now on; 0: before the program.

        Which of the values up to `now` came when is forgotten.
        """
        changes = self._changes
        while len(changes) > 1 and changes[1].time <= now:
            del changes[0]
        return next((each.time for each in changes if each.value >= value), 0)

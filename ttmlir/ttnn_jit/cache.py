"""What was compiled before, by what it was compiled for."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

from ttmlir.ttnn_jit.execution import CompiledFunction

CAPACITY = 64
"""Entries of a cache; the one that was not used for the longest time makes room."""


class JitCache:
    """The compiled forms of one function."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        """Begin without entries."""
        self._capacity = capacity
        self._entries: OrderedDict[Hashable, CompiledFunction] = OrderedDict()

    def __len__(self) -> int:
        """How many entries there are."""
        return len(self._entries)

    def get(self, key: Hashable) -> CompiledFunction | None:
        """What was compiled for a key; None if nothing was."""
        entry = self._entries.get(key)
        if entry is not None:
            self._entries.move_to_end(key)
        return entry

    def put(self, key: Hashable, entry: CompiledFunction) -> None:
        """Keep what was compiled."""
        self._entries[key] = entry
        if len(self._entries) > self._capacity:
            self._entries.popitem(last=False)

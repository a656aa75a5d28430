"""Words that the processors of a core send each other.

Source: tt-isa-documentation, WormholeB0/TensixTile/BabyRISCV/Mailboxes.md.
"""

from __future__ import annotations

from collections import deque

from ttmlir.sim.protocols import RunningThread, WaitReason


class _WaitForWord(WaitReason):
    """`mailbox_read` and the calls that share a word."""

    kind = "mailbox"

    def __init__(self, source: str) -> None:
        self._source = source

    def describe(self, thread: RunningThread) -> tuple[str, ...]:
        """What has to happen, and who does it."""
        return (
            f"a word from {self._source}",
            f"{self._source} sends it with mailbox_write, or with the call that waits here",
        )


class Mailboxes:
    """Words on their way between the processors of a core: one queue for each ordered pair.

    On the chip a queue holds four words, and who sends more waits; here he goes on.
    """

    __slots__ = ("_queues", "_readers")

    def __init__(self) -> None:
        """Nothing is on its way."""
        self._queues: dict[tuple[str, str], deque[tuple[int, int]]] = {}
        self._readers: dict[tuple[str, str], RunningThread] = {}

    def send(self, source: str, target: str, value: int, time: int) -> None:
        """Send a word that is there from `time` on."""
        pair = source, target
        self._queues.setdefault(pair, deque()).append((value, time))
        if pair in self._readers:
            self._readers.pop(pair).wake()

    def receive(self, source: str, target: RunningThread) -> tuple[int, int] | None:
        """A word and since when it is there; None if the thread has to wait, to be woken."""
        pair = source, target.role_name
        queue = self._queues.get(pair)
        if queue:
            return queue.popleft()
        self._readers[pair] = target
        target.wait(_WaitForWord(source), 1)
        return None

"""Ends of global circular buffers: a core that sends, and the cores that it writes pages to.

Both ends count units of 16 bytes: what was sent, at each end, and what was given back. An end goes
on in the next program where it was in the last one, as its configuration in L1 says.

Source: tt-metal, tt_metal/hw/inc/api/remote_circular_buffer.h, internal/circular_buffer_init.h.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ttmlir.sim.errors import SimError
from ttmlir.sim.machine.memory import Memory

UNIT = 16
"""What pages are made of, and where counters are."""
POINTER = 4 * 4
"""Where the pointer of an end is in its configuration."""


class RemotePeer(NamedTuple):
    """The core at the other end, and the words in L1 that count; those there and here."""

    name: str
    l1: Memory
    coordinate: tuple[int, int]
    told: int
    """Where the other end finds what this one has sent, or given back."""
    sent: int
    acked: int
    """Where this end counts what was sent, and what was given back."""


@dataclass(frozen=True)
class RemoteEnd:
    """One end of a global circular buffer, on one core."""

    is_sender: bool
    l1: Memory
    config: int
    """The address of the configuration."""
    start: int
    size: int
    """Bytes of the circular buffer, whatever the size of its pages."""
    peers: tuple[RemotePeer, ...]

    @property
    def kind(self) -> str:
        """How messages call it."""
        return "sender" if self.is_sender else "receiver"

    def word(self, address: int) -> int:
        """A word of this core."""
        return int.from_bytes(self.l1.read(address, 4), "little")

    @property
    def pointer(self) -> int:
        """Where the end was when the last program had written it back."""
        return self.word(self.config + POINTER)

    def is_consistent(self) -> bool:
        """Whether that is what the counters say."""
        peer = self.peers[0]
        count = self.word(peer.sent if self.is_sender else peer.acked)
        return count * UNIT % self.size == self.pointer - self.start


@dataclass
class RemoteView:
    """An end as a processor sees it: the size of its pages, and where the next one is."""

    end: RemoteEnd
    page_size: int
    pointer: int

    @property
    def whole(self) -> int:
        """Bytes of all whole pages."""
        return self.end.size - self.end.size % self.page_size

    @property
    def limit(self) -> int:
        """Where they end."""
        return self.end.start + self.whole

    def resize(self, page_size: int) -> int:
        """Have pages of another size from now on: how many units are skipped."""
        end, before = self.end, self.pointer
        if page_size < 1 or page_size % UNIT or page_size > end.size:
            raise SimError(
                f"pages of {page_size} bytes in a global circular buffer of {end.size}; pages are "
                f"multiples of {UNIT} bytes, and at least one fits into it",
                rule="remote-cb",
            )
        self.page_size = page_size
        following = end.start + -(-(before - end.start) // page_size) * page_size
        if following >= self.limit:
            self.pointer = end.start
            return (end.start + end.size - before) // UNIT
        self.pointer = following
        return (following - before) // UNIT

    def units(self, pages: int) -> int:
        """What so many pages take; those at the end of the buffer what is left there, too."""
        size = pages * self.page_size
        if pages and self.pointer + size >= self.limit:
            size += self.end.start + self.end.size - self.limit
        return size // UNIT

    def move(self, pages: int) -> None:
        """Go on by so many pages."""
        self.pointer += pages * self.page_size
        if self.pointer >= self.limit:
            self.pointer -= self.whole


def begin(end: RemoteEnd, page_size: int) -> RemoteView:
    """An end at the beginning of a program, whose pages have this size; both ends count the rest.

    An end whose pointer was lost is left as it is; the first call for it says so.
    """
    view = RemoteView(end, end.size, end.pointer)
    if not end.is_consistent():
        view.page_size = page_size
        return view
    skipped = view.resize(page_size)
    for peer in end.peers if skipped else ():
        for memory, address in (
            (end.l1, peer.sent if end.is_sender else peer.acked),
            (peer.l1, peer.told),
        ):
            count = int.from_bytes(memory.read(address, 4), "little") + skipped
            memory.write(address, (count & 0xFFFF_FFFF).to_bytes(4, "little"))
    end.l1.write(end.config + POINTER, view.pointer.to_bytes(4, "little"))
    return view

"""Ends of sockets: what a core knows of them beside the configuration in its L1.

Source of the configuration: tt-metal, tt_metal/hw/inc/hostdev/socket.h.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ttmlir.sim.machine.memory import Memory

SENDER_SIZE = 32
"""Bytes of the words of a sender, before those of its receivers."""
UNIT = 16
"""Bytes for what a receiver has acknowledged, and for where it is."""
RECEIVER_SIZE = 48


class Peer(NamedTuple):
    """The core at the other end."""

    name: str
    device: int | None
    l1: Memory
    address: int
    """Where the word is that this end writes."""


class HostMemory(NamedTuple):
    """What a socket with the host has there: pages, and behind them the word that kernels write."""

    memory: Memory
    address: int
    """Where it begins, as the device has it on PCIe."""
    word: int


@dataclass
class SocketEnd:
    """One end of a socket, on one core."""

    is_sender: bool
    peers: tuple[Peer, ...]
    fifo_size: int
    page_alignment: int
    is_open: bool = False
    """Whether a kernel of the program that runs has opened it."""
    count: int = 0
    """Bytes that kernels have pushed, or popped, since it was made."""
    host: HostMemory | None = None
    """Of a socket with the host."""

    @property
    def kind(self) -> str:
        """How messages call it."""
        return "sender" if self.is_sender else "receiver"

    @property
    def peer_kind(self) -> str:
        """How messages call the other end."""
        return "receiver" if self.is_sender else "sender"

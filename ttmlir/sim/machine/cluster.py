"""Chips of one system that run together, and the Ethernet links between them.

A link has two ends, each the Ethernet core of a channel of a chip, and carries bytes both ways at
once. What it takes are figures of `ttmlir.machine`, at the clock of the chips.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ttmlir.layout.system import SystemDesc
from ttmlir.machine import generation
from ttmlir.machine.figures import LinkFigures
from ttmlir.sim.errors import SimError
from ttmlir.sim.machine.device import EthernetCore, SimDevice


class End(NamedTuple):
    """One end of a link."""

    device: int
    channel: int

    def __str__(self) -> str:
        """How messages name it."""
        return f"Ethernet channel {self.channel} of device {self.device}"


class Lane:
    """One direction of a link: when it is free, and what it has carried; times in cycles."""

    def __init__(self, figures: LinkFigures, clock_hz: int) -> None:
        """A lane that has carried nothing."""
        self._figures = figures
        self._cycles = clock_hz / 1e9
        self.reset()

    def reset(self) -> None:
        """Forget what was sent, before programs begin."""
        self.free = 0.0
        self.packets = 0
        self.bytes = 0

    def wire_cycles(self, size: int) -> float:
        """How long the link carries a packet with so many bytes."""
        figures = self._figures
        parts = math.ceil(size / figures.wire_packet)
        return (size + parts * figures.wire_overhead) / figures.wire_rate * self._cycles

    def send(self, now: int, size: int) -> tuple[int, int]:
        """Send a packet: when it has left the sender, and when it is there."""
        start = max(float(now), self.free)
        self.free = start + self.wire_cycles(size)
        self.packets += 1
        self.bytes += size
        return math.ceil(self.free), math.ceil(
            self.free + self._figures.wire_latency * self._cycles
        )


class Cluster:
    """The chips of a system that are opened together, and their links.

    They have one sanitizer, and the threads of their programs have one clock.
    """

    def __init__(self, system: SystemDesc) -> None:
        """A cluster that no device has joined yet."""
        self.devices: dict[int, SimDevice] = {}
        self.places = [(at.y, at.x) for at in system.chip_coords]
        """Row and column of each chip of the system."""
        self.extents = max(y for y, _ in self.places) + 1, max(x for _, x in self.places) + 1
        """Rows and columns of chips."""
        self._other_ends: dict[End, End] = {}
        self._lanes: dict[End, Lane] = {}
        for link in system.chip_channels:
            here = End(link.device_id0, link.ethernet_core_coord0[1])
            there = End(link.device_id1, link.ethernet_core_coord1[1])
            self._other_ends |= {here: there, there: here}

    def add(self, device: SimDevice) -> None:
        """Add a device of which no memory was used yet."""
        device.join(next(iter(self.devices.values()), None))
        self.devices[device.device_id] = device

    def reset(self) -> None:
        """Forget what the links have carried, before programs begin."""
        for lane in self._lanes.values():
            lane.reset()

    def other_end(self, end: End) -> End | None:
        """The other end of a link; None for a channel that has none, or whose is not opened."""
        other = self._other_ends.get(end)
        return other if other is not None and other.device in self.devices else None

    def channels(self, device: int, neighbour: int | None = None) -> tuple[int, ...]:
        """The channels of a device with links to a neighbour, or to any."""
        ends = sorted(end for end in self._other_ends if end.device == device)
        others = [(end.channel, self.other_end(end)) for end in ends]
        return tuple(
            channel
            for channel, other in others
            if other is not None and neighbour in (None, other.device)
        )

    def links(self, device: int, neighbour: int) -> list[tuple[End, End]]:
        """The links between two devices, with the end of the first one first.

        Both list their links in the same order.
        """
        ends = [End(device, channel) for channel in self.channels(device, neighbour)]
        pairs = [(end, self._other_ends[end]) for end in ends]
        return sorted(pairs, key=min)

    def core_at(self, end: End) -> EthernetCore:
        """The Ethernet core of an end."""
        return self.devices[end.device].ethernet_core(end.channel)

    def lane(self, end: End) -> Lane:
        """What leaves by an end; SimError where there is no link."""
        lane = self._lanes.get(end)
        if lane is None:
            if self.other_end(end) is None:
                raise SimError(f"{end} has no link to another device; {self._describe(end.device)}")
            chip = self.devices[end.device].chip
            lane = Lane(generation(chip.arch.keyword).links, chip.clock_hz)
            self._lanes[end] = lane
        return lane

    def _describe(self, device: int) -> str:
        there = ", ".join(map(str, self.channels(device))) or "none"
        return f"channels of the device with links to devices that are open: {there}"

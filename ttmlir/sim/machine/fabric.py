"""The fabric: routers on the Ethernet cores of a cluster, which carry packets from chip to chip.

Packets are routed by their source. In one dimension they go so many hops along a line or a ring; in
two dimensions first along columns, then along rows. A router has slots for packets of the worker
that is connected to it, and for those that arrive over its link; a packet leaves when the next chip
has a slot for it, in a ring one more (bubble flow control), so that rings never fill up.

Sources: tt-metal, tech_reports/TT-Fabric and tt_metal/fabric; times are figures of
`ttmlir.machine`.
"""

from __future__ import annotations

import math
import struct
from bisect import bisect_right, insort
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import NamedTuple

from ttmlir.machine import generation
from ttmlir.machine.figures import LinkFigures
from ttmlir.sim.errors import Finding, SimError
from ttmlir.sim.machine.cluster import Cluster, End
from ttmlir.sim.machine.device import Core, EthernetCore

# --- Configuration --------------------------------------------------------------------------------


class FabricConfig(IntEnum):
    """How the chips are connected, by the numbers of tt-metal."""

    DISABLED = 0
    FABRIC_1D_NEIGHBOR_EXCHANGE = 1
    FABRIC_1D = 2
    FABRIC_1D_RING = 3
    FABRIC_2D = 4
    FABRIC_2D_TORUS_X = 5
    FABRIC_2D_TORUS_Y = 6
    FABRIC_2D_TORUS_XY = 7

    @property
    def is_2d(self) -> bool:
        """Whether packets turn from columns to rows."""
        return self >= FabricConfig.FABRIC_2D

    @property
    def routing_mode(self) -> int:
        """What kernels find in the macro ROUTING_MODE."""
        return _LOW_LATENCY | _ROUTING_MODES.get(self, _TORUS)

    def closes(self, direction: Direction) -> bool:
        """Whether links that close a row or a column to a ring are used."""
        name = self.name
        if name in ("FABRIC_1D_RING", "FABRIC_2D_TORUS_XY"):
            return True
        return name.endswith("X" if direction in _ALONG_ROWS else "Y")


_LOW_LATENCY, _TORUS = 0x80, 0x42
_ROUTING_MODES = {
    FabricConfig.FABRIC_1D_NEIGHBOR_EXCHANGE: 0x201,
    FabricConfig.FABRIC_1D: 0x09,
    FabricConfig.FABRIC_1D_RING: 0x11,
    FabricConfig.FABRIC_2D: 0x22,
}
"""Bits of tt-metal's `fabric_routing_mode.h`."""


class Direction(IntEnum):
    """Where a link leads to, by the numbers of tt-metal's `eth_chan_directions`."""

    EAST = 0
    WEST = 1
    NORTH = 2
    SOUTH = 3


_ALONG_ROWS = (Direction.EAST, Direction.WEST)
STEPS = {
    Direction.EAST: (0, 1),
    Direction.WEST: (0, -1),
    Direction.NORTH: (-1, 0),
    Direction.SOUTH: (1, 0),
}
"""Rows and columns of chips that a step in each direction takes."""

HEADER_SIZE = 64
"""Bytes of the header of a packet."""

MAX_PAYLOAD = 4352
"""Bytes that a packet carries: four tiles of bfp8."""

SLOTS = 8
"""Packets of the worker that is connected to a router, and packets that arrive over its link."""

MAX_MUX_CHANNELS = 32
"""Workers that a mux serves."""


# --- Packets --------------------------------------------------------------------------------------


class SendType(IntEnum):
    """What is done at the chips that a packet is for."""

    WRITE = 0
    INLINE_WRITE = 1
    ATOMIC_INC = 2
    FUSED_ATOMIC_INC = 3
    SCATTER_WRITE = 4


class RouteKind(IntEnum):
    """What a header says of its route; 0 is one that says nothing."""

    NONE = 0
    LINE = 1
    NODE = 2
    MESH = 3
    SPARSE = 4


class Increment(NamedTuple):
    """What a packet adds to a word; with `flush` after what it and those before it wrote."""

    address: int
    value: int
    flush: bool


@dataclass(frozen=True, kw_only=True)
class Packet:
    """A header of `packet_header.hpp`, as its bytes say it."""

    send_type: SendType
    payload_size: int
    chunks: tuple[tuple[int, int], ...] = ()
    """Address on the network and size of each part of the payload, in order."""
    inline: tuple[int, int] | None = None
    """Address and value of a word that is written."""
    increment: Increment | None = None
    kind: RouteKind
    start: int
    reach: int
    """Hops to the first of the chips on a line, and how many chips they are."""
    node: int
    """The number of the chip, of a route in two dimensions."""
    hops: tuple[int, int, int, int]
    """Chips to the east, west, north and south."""
    mask: int
    """Bit i: the chip after i + 1 hops."""

    @staticmethod
    def read(data: bytes, *, is_2d: bool = False) -> Packet:
        """What the bytes of a header say; SimError for what is none.

        In two dimensions routes lead to chips, and hops say nothing.
        """
        payload, send_type, _, kind, start, reach, _, node, _, *hops, mask = struct.unpack(
            "<HBBBBBBHH4HI", data[40:HEADER_SIZE]
        )
        if send_type not in tuple(SendType):
            raise SimError(
                f"the header of a packet says {send_type} where its send type is; set it with "
                "to_noc_unicast_write and its likes before it is sent",
                rule="fabric-header",
            )
        if kind not in tuple(RouteKind) or kind == RouteKind.NONE:
            calls = "to_chip_unicast, to_chip_multicast or fabric_set_unicast_route"
            if is_2d:
                calls = (
                    "fabric_set_unicast_route or fabric_set_mcast_route, as hops of "
                    "to_chip_unicast and to_chip_multicast are none in a fabric of two dimensions,"
                )
            raise SimError(
                f"the header of a packet has no route; set it with {calls} before it is sent",
                rule="fabric-header",
            )
        parts = _Parts.read(SendType(send_type), payload, data)
        return Packet(
            send_type=SendType(send_type),
            payload_size=payload,
            chunks=parts.chunks,
            inline=parts.inline,
            increment=parts.increment,
            kind=RouteKind(kind),
            start=start,
            reach=reach,
            node=node,
            hops=(hops[0], hops[1], hops[2], hops[3]),
            mask=mask,
        )


class _Parts(NamedTuple):
    """What a packet does at its chips."""

    chunks: tuple[tuple[int, int], ...] = ()
    inline: tuple[int, int] | None = None
    increment: Increment | None = None

    @staticmethod
    def read(send_type: SendType, payload: int, data: bytes) -> _Parts:
        """What the command of a header says."""
        match send_type:
            case SendType.WRITE:
                (address,) = struct.unpack_from("<Q", data)
                return _Parts(chunks=((address, payload),))
            case SendType.INLINE_WRITE:
                address, value = struct.unpack_from("<QI", data)
                return _Parts(inline=(address, value))
            case SendType.ATOMIC_INC:
                address, value, flush = struct.unpack_from("<QI?", data)
                return _Parts(increment=Increment(address, value, flush))
            case SendType.FUSED_ATOMIC_INC:
                address, word, value, flush = struct.unpack_from("<QQI?", data)
                return _Parts(chunks=((address, payload),), increment=Increment(word, value, flush))
            case SendType.SCATTER_WRITE:
                return _Parts._read_scatter(payload, data)

    @staticmethod
    def _read_scatter(payload: int, data: bytes) -> _Parts:
        """Writes of parts of the payload, the last of which is the rest, and an increment."""
        *addresses, first, second, third, count, encoding = struct.unpack_from("<4Q3HBB", data)
        if not 2 <= count <= len(addresses):
            raise SimError(
                f"a scatter write of {count} parts; it has 2 to {len(addresses)}",
                rule="fabric-header",
            )
        kinds = [encoding >> 2 * index & 3 for index in range(count)]
        writes = kinds.count(_WRITE_PART)
        sizes = [first, second, third][: writes - 1]
        rest = payload - sum(sizes)
        if rest < 1 or min(sizes, default=1) < 1:
            raise SimError(
                f"the parts of a scatter write have {sizes} bytes, and the rest of {payload} bytes "
                "of payload the last one; each part has at least one byte",
                rule="fabric-header",
            )
        chunks = tuple(zip(addresses[:writes], (*sizes, rest), strict=True))
        if writes == count:
            return _Parts(chunks=chunks)
        increment = Increment(addresses[writes], (first, second, third)[writes], kinds[-1] == 3)
        return _Parts(chunks=chunks, increment=increment)


_WRITE_PART = 1
"""How a scatter write says that a part is written."""


# --- Routers --------------------------------------------------------------------------------------


class Router:
    """What leaves a chip by a link: when, in cycles.

    Packets that come over the link are work of it, too: where as many go both ways, each direction
    carries less.
    """

    def __init__(self, figures: LinkFigures, clock_hz: int, *, is_ring: bool) -> None:
        """A router that has carried nothing."""
        self._figures = figures
        self._cycles = clock_hz / 1e9
        self._bubble = int(is_ring)
        self._busy: list[tuple[float, float]] = []
        """When it works: from when until when, in order, some of them in the future."""
        self._next_injection = 0.0
        """From when on it takes a packet of its worker."""
        self.packets = 0
        self.bytes = 0
        self._slots: list[float] = []
        """When packets leave the slots of the chip at the other end of the link, in order."""

    def occupancy(self, size: int) -> float:
        """Cycles that a packet takes, which are as many for small ones."""
        figures = self._figures
        return max(figures.packet_sent, size / figures.wire_rate) * self._cycles

    def receive(self, time: float) -> None:
        """A packet comes over the link then."""
        self._take(time, self._figures.packet_received * self._cycles)

    def forward(self, now: float, size: int, *, is_injected: bool) -> tuple[float, float]:
        """Carry a packet to the next chip: when it has left, and when it is there."""
        figures = self._figures
        needed = 1 + (self._bubble if is_injected else 0)
        del self._slots[: bisect_right(self._slots, now)]
        missing = len(self._slots) + needed - SLOTS
        start = max(now, self._slots[missing - 1]) if missing > 0 else now
        if is_injected:
            start = max(start, self._next_injection)
            self._next_injection = start + figures.packet_injected * self._cycles
        left = self._take(start, self.occupancy(size))
        self.packets += 1
        self.bytes += size
        hop = figures.hop + (size - _PACKET) * figures.hop_byte
        begun = left - self.occupancy(size)
        return left, begun + hop * self._cycles

    def _take(self, start: float, length: float) -> float:
        """When it is done with so many cycles of work, from a time on.

        Work that is known already and comes later stays where it is; what is between is used.
        """
        busy, taken = self._busy, list[tuple[float, float]]()
        for begin, end in busy:
            if begin - start >= length:
                break
            if begin > start:
                taken.append((start, begin))
                length -= begin - start
            start = max(start, end)
        taken.append((start, start + length))
        for each in taken:
            insort(busy, each)
        del busy[:-_REMEMBERED]
        return start + length

    def leaves(self, time: float) -> None:
        """A packet that it has carried leaves its slot on the next chip then."""
        insort(self._slots, time)


_REMEMBERED = 128
"""How many times a router remembers, which is more than packets can be on their way to it."""
_PACKET = 4096
"""Bytes of the packets that figures are of."""


class Connection:
    """A worker that is connected to a router, or to a mux: its slots, and what it knows of them."""

    def __init__(
        self, end: End, name: str, core: EthernetCore, owner: str, place: Finding, slots: int
    ) -> None:
        """`owner` is the thread that opened it, at `place`; packets are copied to `core`."""
        self.end = end
        self.name = name
        """How messages call the router or the channel of a mux."""
        self.core = core
        self.owner = owner
        self.place = place
        self.slots = slots
        self.mux: Mux | None = None
        """What passes packets on to the router."""
        self.granted = 0
        """Slots that the worker has waited for and not used."""
        self.sent = 0
        self._leaving: deque[float] = deque()

    @property
    def slot(self) -> int:
        """The number of the slot that the next packet goes to."""
        return self.sent % self.slots

    def free_slots(self, now: float) -> int:
        """Slots that are empty at a time."""
        while self._leaving and self._leaving[0] <= now:
            self._leaving.popleft()
        return self.slots - len(self._leaving)

    def next_free(self, now: float) -> float:
        """When there is an empty slot, from a time on."""
        return now if self.free_slots(now) else self._leaving[0]

    def sent_until(self, time: float) -> None:
        """A packet is in its slot until then."""
        self.sent += 1
        self._leaving.append(time)


class Mux:
    """A core that passes the packets of several workers on to a router."""

    def __init__(self, connection: Connection, core: Core) -> None:
        """`connection` is its own one to the router."""
        self.connection = connection
        self.core = core
        self.channels: dict[int, Connection] = {}
        """Workers that are connected, by the number of the channel."""
        self.free = 0
        """When it takes the next packet."""
        self.left = 0
        """Workers that have said that they are done."""


class Arrival(NamedTuple):
    """A chip that a packet comes to, when, and whether it is for this chip."""

    device: int
    time: int
    is_target: bool


class Fabric:
    """The routers of a cluster, in one configuration."""

    def __init__(self, cluster: Cluster, config: FabricConfig) -> None:
        """Routers for all links of the cluster that the configuration uses."""
        self.cluster = cluster
        self.config = config
        self.reset()
        self.connect()

    def connect(self) -> None:
        """Know the links of all devices of the cluster, those that have joined it, too."""
        self._planes: dict[tuple[int, Direction], list[End]] = {}
        self._headings: dict[End, Direction] = {}
        for device in sorted(self.cluster.devices):
            for channel in self.cluster.channels(device):
                self._add(End(device, channel))
        for key, ends in self._planes.items():
            # Both ends of a link have the same number among those between two chips.
            self._planes[key] = sorted(ends, key=lambda end: min(end, self._other(end)))

    def reset(self) -> None:
        """Forget what was carried and who is connected, before programs begin."""
        self._routers: dict[End, Router] = {}
        self.connections: dict[End, Connection] = {}
        self.muxes: dict[tuple[int, tuple[int, int]], Mux] = {}
        """By device and place of their cores."""

    def _add(self, end: End) -> None:
        heading = self._heading(end)
        if heading is not None:
            self._headings[end] = heading
            self._planes.setdefault((end.device, heading), []).append(end)

    def _heading(self, end: End) -> Direction | None:
        """Where a link leads to; None if the configuration does not use it."""
        cluster = self.cluster
        here, there = cluster.places[end.device], cluster.places[self._other(end).device]
        for direction, (rows, columns) in STEPS.items():
            if (here[0] + rows, here[1] + columns) == there:
                return direction
        for direction, (rows, columns) in STEPS.items():
            place = (here[0] + rows) % cluster.extents[0], (here[1] + columns) % cluster.extents[1]
            if place == there and self.config.closes(direction):
                return direction
        return None

    def _other(self, end: End) -> End:
        other = self.cluster.other_end(end)
        assert other is not None
        return other

    def _router(self, end: End) -> Router:
        router = self._routers.get(end)
        if router is None:
            chip = self.cluster.devices[end.device].chip
            figures = generation(chip.arch.keyword).links
            is_ring = self.config.closes(self._headings[end])
            router = self._routers[end] = Router(figures, chip.clock_hz, is_ring=is_ring)
        return router

    # Links

    def carried(self) -> dict[tuple[int, int], int]:
        """Bytes of packets that went from one chip to its neighbour since programs began."""
        found: dict[tuple[int, int], int] = {}
        for end, router in self._routers.items():
            chips = end.device, self._other(end).device
            if router.packets:
                found[chips] = found.get(chips, 0) + router.bytes
        return found

    def links_towards(self, device: int, target: int) -> list[End]:
        """The links by which packets for another chip leave a chip; empty if there are none."""
        direction = self.direction_to(device, target)
        return [] if direction is None else self.links_to(device, direction)

    def links_to(self, device: int, direction: Direction) -> list[End]:
        """The links of a chip that lead in a direction."""
        return self._planes.get((device, direction), [])

    def direction_to(self, device: int, target: int) -> Direction | None:
        """Where packets for another chip leave a chip: along its column first, then its row."""
        straight = [
            direction
            for direction in Direction
            for end in self._planes.get((device, direction), [])[:1]
            if self._other(end).device == target
        ]
        if straight and not self.config.is_2d:
            return straight[0]
        places, extents = self.cluster.places, self.cluster.extents
        for axis, (back, ahead) in enumerate(_AXES):
            distance = places[target][axis] - places[device][axis]
            if distance and self.config.closes(ahead):
                around = distance % extents[axis]
                distance = around if around <= extents[axis] - around else around - extents[axis]
            if distance:
                return ahead if distance > 0 else back
        return None

    def count_hops(self, device: int, target: int) -> int | None:
        """How many links packets along a line take to another chip; None if none gets there."""
        end = next(iter(self.links_towards(device, target)), None)
        for hops in range(1, len(self.cluster.devices)):
            if end is None:
                return None
            arrived = self._other(end)
            if arrived.device == target:
                return hops
            end = self._next(arrived)
        return None

    def describe_links(self, device: int) -> str:
        """The links of a chip by direction, for messages."""
        found = (
            f"{direction.name.lower()}: {', '.join(str(end.channel) for end in ends)}"
            for (owner, direction), ends in self._planes.items()
            if owner == device
        )
        return "; ".join(found) or "none"

    def heading(self, end: End) -> Direction | None:
        """Where a link leads to; None for one that the configuration does not use."""
        return self._headings.get(end)

    def _next(self, arrived: End) -> End | None:
        """The link by which a packet goes on straight; at corners of a ring it turns."""
        other = self._other(arrived)
        came = self._headings[other]
        plane = self._planes[other.device, came].index(other)
        ahead = self._planes.get((arrived.device, came))
        if ahead is None and self.config is FabricConfig.FABRIC_1D_RING:
            back = self._headings[arrived]
            turns = [
                ends
                for (device, direction), ends in self._planes.items()
                if device == arrived.device and direction is not back
            ]
            ahead = turns[0] if len(turns) == 1 else None
        return None if not ahead else ahead[plane % len(ahead)]

    # Packets

    def send(self, connection: Connection, packet: Packet, now: int) -> list[Arrival]:
        """Carry a packet of a worker to its chips; SimError where its route leads nowhere."""
        end = connection.end
        match packet.kind:
            case RouteKind.LINE | RouteKind.SPARSE:
                targets = (
                    {packet.start + index for index in range(packet.reach)}
                    if packet.kind is RouteKind.LINE
                    else {bit + 1 for bit in range(32) if packet.mask >> bit & 1}
                )
                if not targets or min(targets) < 1:
                    raise SimError(
                        "a packet of no hops: its own chip is not reached over a link; the first "
                        "chip is 1 hop away",
                        rule="fabric-route",
                    )
                return self._along(connection, end, targets, packet.payload_size, now)
            case RouteKind.NODE:
                return self._to_node(connection, packet, now)
            case _:
                return self._over_mesh(connection, packet, now)

    def _hop(
        self, connection: Connection | None, came: End | None, end: End, size: int, now: float
    ) -> tuple[End, float]:
        """Carry a packet over a link: the end where it arrives, and when.

        It leaves its slot, that of a worker or of the link by which it `came`, when it is sent on.
        """
        left, arrived = self._router(end).forward(now, size, is_injected=connection is not None)
        if connection is not None:
            connection.sent_until(left)
        if came is not None:
            self._router(came).leaves(left)
        other = self._other(end)
        self._router(other).receive(arrived)
        return other, arrived

    def _along(
        self, connection: Connection, end: End, targets: set[int], size: int, now: float
    ) -> list[Arrival]:
        """Carry a packet along a line, for the chips after so many hops."""
        if self.config is FabricConfig.FABRIC_1D_NEIGHBOR_EXCHANGE and max(targets) > 1:
            raise SimError(
                f"a packet of {max(targets)} hops: chips of the fabric {self.config.name} forward "
                "nothing; send to the neighbour, or use FABRIC_1D",
                rule="fabric-route",
            )
        found: list[Arrival] = []
        injected: Connection | None = connection
        came: End | None = None
        for hops in range(1, max(targets) + 1):
            arrived, now = self._hop(injected, came, end, size, now)
            injected, came = None, end
            found.append(Arrival(arrived.device, math.ceil(now), hops in targets))
            if hops == max(targets):
                self._router(end).leaves(now)
                break
            following = self._next(arrived)
            if following is None:
                raise SimError(
                    f"a packet of {max(targets)} hops leaves the line: after {hops} hops it is on "
                    f"device {arrived.device}, where no link goes on; links of the device: "
                    f"{self.describe_links(arrived.device)}",
                    rule="fabric-route",
                )
            end = following
        return found

    def _to_node(self, connection: Connection, packet: Packet, now: float) -> list[Arrival]:
        """Carry a packet to a chip, along its column first, then its row."""
        end, target = connection.end, packet.node
        if target not in self.cluster.devices or target == end.device:
            known = ", ".join(str(each) for each in self.cluster.devices if each != end.device)
            raise SimError(
                f"a packet for chip {target}; other chips of the mesh are {known}",
                rule="fabric-route",
            )
        expected = self.direction_to(end.device, target)
        if expected is not self._headings[end]:
            raise SimError(
                f"a packet for chip {target} leaves device {end.device} to the "
                f"{self._headings[end].name.lower()}, but its route begins to the "
                f"{'' if expected is None else expected.name.lower()}; connect to a link that "
                "leads there",
                rule="fabric-route",
            )
        found: list[Arrival] = []
        injected: Connection | None = connection
        came: End | None = None
        while True:
            plane = self._planes[end.device, self._headings[end]].index(end)
            arrived, now = self._hop(injected, came, end, packet.payload_size, now)
            injected, came = None, end
            at_target = arrived.device == target
            found.append(Arrival(arrived.device, math.ceil(now), at_target))
            if at_target:
                self._router(end).leaves(now)
                return found
            ends = self.links_towards(arrived.device, target)
            if not ends:
                raise SimError(
                    f"a packet for chip {target} is on device {arrived.device}, where no link goes "
                    f"on; links of the device: {self.describe_links(arrived.device)}",
                    rule="fabric-route",
                )
            end = ends[plane % len(ends)]

    def _over_mesh(self, connection: Connection, packet: Packet, now: float) -> list[Arrival]:
        """Carry a packet along a column, and from each chip of it along its row."""
        end, size = connection.end, packet.payload_size
        heading = self._headings[end]
        count = packet.hops[heading]
        if not count:
            raise SimError(
                f"a multicast leaves device {end.device} to the {heading.name.lower()}, where it "
                "has no hops; connect to a link in a direction with hops",
                rule="fabric-route",
            )
        found = self._along(connection, end, set(range(1, count + 1)), size, now)
        if heading in _ALONG_ROWS:
            return found
        branches = list[Arrival]()
        for each in found:
            for branch in _ALONG_ROWS:
                ends = self._planes.get((each.device, branch), [])
                if packet.hops[branch] and ends:
                    side = self._connect(ends[0], connection.owner, connection.place)
                    reach = set(range(1, packet.hops[branch] + 1))
                    branches += self._along(side, ends[0], reach, size, each.time)
        return found + branches

    # Connections

    def open(self, end: End, owner: str, place: Finding) -> Connection:
        """Connect a worker to a router; SimError where another one is connected."""
        if end not in self._headings:
            raise SimError(
                f"{end} has no router of the fabric {self.config.name}; links of the device: "
                f"{self.describe_links(end.device)}",
                rule="fabric-connection",
            )
        other = self.connections.get(end)
        if other is not None:
            raise SimError(
                f"a connection to {end} is opened, which {other.owner} has open; a router serves "
                "one worker at a time: close the first connection, or use another link",
                rule="fabric-connection",
                related=(other.place,),
            )
        connection = self.connections[end] = self._connect(end, owner, place)
        return connection

    def _connect(self, end: End, owner: str, place: Finding) -> Connection:
        return Connection(end, str(end), self.cluster.core_at(end), owner, place, SLOTS)

    def open_channel(
        self, mux: Mux, number: int, slots: int, core: EthernetCore, owner: str, place: Finding
    ) -> Connection:
        """Connect a worker to a mux; SimError where another one has the channel."""
        name = f"channel {number} of the mux on {mux.core.name}"
        other = mux.channels.get(number)
        if other is not None:
            raise SimError(
                f"a connection to {name} is opened, which {other.owner} has open; each worker has "
                "a channel of its own",
                rule="fabric-connection",
                related=(other.place,),
            )
        channel = Connection(mux.connection.end, name, core, owner, place, slots)
        channel.mux = mux
        mux.channels[number] = channel
        return channel

    def close(self, connection: Connection) -> None:
        """End a connection."""
        mux = connection.mux
        if mux is None:
            del self.connections[connection.end]
        else:
            mux.channels = {x: each for x, each in mux.channels.items() if each is not connection}

    def unclosed(self) -> Iterator[Finding]:
        """What is wrong with connections that are open when all threads have ended."""
        channels = (each for mux in self.muxes.values() for each in mux.channels.values())
        for connection in (*self.connections.values(), *channels):
            yield replace(
                connection.place,
                message=f"the kernel ends and leaves this connection to {connection.name} open; "
                "call close() before it returns: the next worker could not connect",
                rule="fabric-connection",
                severity="error",
            )


_AXES = ((Direction.NORTH, Direction.SOUTH), (Direction.WEST, Direction.EAST))
"""Directions along columns and along rows: back and ahead."""

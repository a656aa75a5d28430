"""What headers of the fabric are made of: connections of a worker to the routers of its chip.

A packet is copied over the network into a slot of a router; its header is read there. Bytes move to
other chips when it is sent; clocks say when they would have.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from ttmlir.optable.kernel import Role
from ttmlir.sim.calls.device_objects import DataMovementApi
from ttmlir.sim.calls.kernel_api import kernel_call
from ttmlir.sim.machine.cluster import End
from ttmlir.sim.machine.device import (
    LOCAL_MASK,
    PACKET_HEADERS_BASE,
    PACKET_HEADERS_SIZE,
    Core,
    Endpoint,
    EthernetCore,
)
from ttmlir.sim.machine.fabric import (
    HEADER_SIZE,
    MAX_PAYLOAD,
    Connection,
    Fabric,
    Increment,
    Packet,
)
from ttmlir.sim.sanitizer.sanitizer import FABRIC, Sanitizer, WordKind

_SLOT = -(-(HEADER_SIZE + MAX_PAYLOAD) // 64) * 64
_LOOK = 10
"""Cycles of a look at the free slots, which are a word in L1."""
_WORD = 4


class FabricApi(DataMovementApi):
    """Calls of BRISC or NCRISC on a chip whose mesh has a fabric."""

    _fabric: Fabric | None = None
    _put = 0
    """Bytes of payload in the slot of a packet whose header has not come."""
    _pool = 0
    """Bytes of the pool of headers that were taken."""

    def join_fabric(self, fabric: Fabric) -> None:
        """Know the routers."""
        self._fabric = fabric

    @cached_property
    def _routes(self) -> list[tuple[int, int]]:
        """Address and number of headers that were taken together."""
        return []

    def _connection(self, channel: int) -> tuple[Fabric, Connection, EthernetCore]:
        """The connection to a router that this thread has open; error without one."""
        fabric, end = self._find(channel)
        connection = fabric.connections.get(end)
        if connection is None or connection.owner != self.thread.name:
            raise self.thread.error(
                f"no connection to {end} is open; call open() on it first",
                rule="fabric-connection",
            )
        return fabric, connection, fabric.cluster.core_at(end)

    def _find(self, channel: int) -> tuple[Fabric, End]:
        number = self.core.device
        if self._fabric is None or number is None:
            raise self.thread.error(
                "there is no fabric; call SetFabricConfig before the devices are opened as one "
                "mesh, and enqueue their programs as one MeshWorkload",
                rule="fabric-connection",
            )
        return self._fabric, End(number, channel)

    # Connections.

    @kernel_call(waits=True)
    def fabric_router_open(self, channel: int) -> bool:
        """Connect to the router of a channel."""
        thread = self.thread
        if thread.clock > self.scheduler.horizon:
            return False
        fabric, end = self._find(channel)
        place = thread.finding(f"{thread.name} opened the connection", severity="note")
        fabric.open(end, thread.name, place)
        core = fabric.cluster.core_at(end)
        if self.noc_model is not None:
            thread.clock, arrived = self.noc_model.read(
                thread.clock, self.core.coordinate, core.coordinate, 16, self.noc_index
            )
            thread.wait_until(arrived, "fabric_open")
        if isinstance(self.watch, Sanitizer):
            self.watch.freed(core.l1, core.chip.ethernet_unreserved_base, core.l1.size)
        self.scheduler.progress += 1
        return True

    @kernel_call(waits=True)
    def fabric_router_close(self, channel: int) -> bool:
        """Wait until what was sent has left, and end the connection."""
        fabric, connection, _ = self._connection(channel)
        if not self.noc_async_write_barrier():
            return False
        fabric.close(connection)
        self.scheduler.progress += 1
        return True

    @kernel_call()
    def fabric_router_slots(self, channel: int, wanted: int) -> int:
        """How many slots are empty; so many are known then, if they are wanted."""
        _, connection, _ = self._connection(channel)
        if self.timed:
            self.thread.step(_LOOK)
        free = connection.free_slots(self.thread.clock)
        connection.granted = max(connection.granted, free if not wanted or free >= wanted else 0)
        return free

    @kernel_call(waits=True)
    def fabric_router_wait(self, channel: int) -> bool:
        """Wait until a slot is empty."""
        _, connection, _ = self._connection(channel)
        if self.timed:
            if self.thread.clock > self.scheduler.limit:
                return False
            until = int(connection.next_free(self.thread.clock)) + 1
            if not connection.free_slots(self.thread.clock):
                self.thread.wait_until(until, "fabric_wait")
            self.thread.step(_LOOK)
        connection.granted = max(connection.granted, 1)
        return True

    # Packets.

    @kernel_call(waits=True)
    def fabric_router_put(self, channel: int, source: int, size: int, noc: int) -> bool:
        """Copy payload behind where the header of the next packet will be."""
        _, connection, core = self._connection(channel)
        self._check_slot(connection)
        if self._put + size > MAX_PAYLOAD:
            raise self.thread.error(
                f"{self._put + size} bytes of payload; a packet has at most {MAX_PAYLOAD}",
                rule="fabric-payload",
            )
        address = self._slot(connection, core) + HEADER_SIZE + self._put
        if not self._write(core, address, source, size, noc):
            return False
        self._put += size
        return True

    @kernel_call(waits=True)
    def fabric_router_send(self, channel: int, source: int, size: int, noc: int) -> bool:
        """Copy a header, and payload that follows it, and send the packet."""
        thread = self.thread
        if thread.clock > self.scheduler.horizon:
            return False
        fabric, connection, core = self._connection(channel)
        self._check_slot(connection)
        if not HEADER_SIZE <= size <= HEADER_SIZE + MAX_PAYLOAD - self._put:
            raise thread.error(
                f"a packet of {size} bytes from {source:#x}: a header has {HEADER_SIZE} bytes, "
                f"and a packet at most {MAX_PAYLOAD} more",
                rule="fabric-payload",
            )
        slot = self._slot(connection, core)
        payload = size - HEADER_SIZE
        if payload:
            self._write(core, slot + HEADER_SIZE, source + HEADER_SIZE, payload, noc)
        now = self._write_header(core, source, noc)
        packet = Packet.read(bytes(self.l1.read(source, HEADER_SIZE)))
        self._check_payload(packet, self._put + payload)
        self._put = 0
        connection.granted -= 1
        self.outstanding[self._noc(noc)].move_ordered(core.l1, multicast=False)
        self.scheduler.progress += 1
        for arrival in fabric.send(connection, packet, now):
            if arrival.is_target:
                device = fabric.cluster.devices[arrival.device]
                self._deliver(packet, device.network.endpoint, core, slot, arrival.time, channel)
        return True

    def _slot(self, connection: Connection, core: EthernetCore) -> int:
        return core.chip.ethernet_unreserved_base + connection.slot * _SLOT

    def _check_slot(self, connection: Connection) -> None:
        """Find writes to a slot that may be full."""
        if connection.granted < 1:
            raise self.thread.error(
                f"a packet is written to a slot of {connection.end} that may be full; call "
                "wait_for_empty_write_slot() before each packet",
                rule="fabric-slot",
                detail=(f"packets sent over the connection so far: {connection.sent}",),
            )

    def _check_payload(self, packet: Packet, size: int) -> None:
        """Find packets whose payload is not what their header says."""
        if packet.payload_size != size:
            raise self.thread.error(
                f"the header says {packet.payload_size} bytes of payload, but {size} were sent",
                rule="fabric-payload",
            )

    def _write_header(self, core: EthernetCore, source: int, noc: int) -> int:
        """Send a header to a router: when the router knows of the packet."""
        thread = self.thread
        noc = self._noc(noc)
        if isinstance(self.watch, Sanitizer):
            self.watch.header_sent(thread, noc, self.l1, source, HEADER_SIZE)
        if self.noc_model is None:
            return thread.clock
        outstanding = self.outstanding[noc]
        here, there = self.core.coordinate, core.coordinate
        thread.clock, departed, _, _ = self.noc_model.write(
            thread.clock, here, there, HEADER_SIZE, noc
        )
        outstanding.left = max(outstanding.left, departed)
        thread.clock, departed, arrived, acknowledged = self.noc_model.write_word(
            thread.clock, here, there, noc
        )
        outstanding.left = max(outstanding.left, departed)
        outstanding.acknowledged = max(outstanding.acknowledged, acknowledged)
        self.transactions += 2
        self.bytes_written += HEADER_SIZE
        return arrived

    def _deliver(
        self,
        packet: Packet,
        endpoint_of: Callable[[int], Endpoint],
        core: EthernetCore,
        slot: int,
        time: int,
        channel: int,
    ) -> None:
        """Do at a chip what a packet is for."""
        source = slot + HEADER_SIZE
        for address, size in packet.chunks:
            endpoint, local = endpoint_of(address), address & LOCAL_MASK
            if (source ^ local) & (endpoint.write_alignment - 1):
                raise self.thread.error(
                    f"a packet writes {size} bytes to {local:#x} of {endpoint.memory.name}; the "
                    f"address has to be a multiple of {endpoint.write_alignment}, and so has what "
                    "other parts of the packet have before",
                    rule="noc-alignment",
                )
            if isinstance(endpoint, Core):
                endpoint.semaphore_times[local] = time
            if isinstance(self.watch, Sanitizer):
                self.watch.delivered(self.thread, channel, endpoint.memory, local, size)
            endpoint.memory.copy(local, core.l1, source, size)
            source += size
        if packet.inline is not None:
            address, value = packet.inline
            self._set_word(endpoint_of(address), address, value, time, channel, "write")
        if packet.increment is not None:
            self._add(packet.increment, endpoint_of, time, channel)

    def _add(
        self,
        increment: Increment,
        endpoint_of: Callable[[int], Endpoint],
        time: int,
        channel: int,
    ) -> None:
        endpoint = endpoint_of(increment.address)
        local = increment.address & LOCAL_MASK
        word = int.from_bytes(endpoint.memory.read(local, _WORD), "little") + increment.value
        if increment.flush and self.watch is not None:
            self.watch.copies_done(self.thread, FABRIC + channel, "write")
        self._set_word(endpoint, increment.address, word, time, channel, "atomic")

    def _set_word(
        self,
        endpoint: Endpoint,
        address: int,
        value: int,
        time: int,
        channel: int,
        kind: WordKind,
    ) -> None:
        local = address & LOCAL_MASK
        if local % _WORD or not isinstance(endpoint, Core):
            raise self.thread.error(
                f"a packet changes the word at {local:#x} of {endpoint.memory.name}; it has to be "
                "a multiple of 4, in the L1 of a core",
                rule="unaligned",
            )
        endpoint.semaphore_times[local] = max(time, endpoint.semaphore_times.get(local, 0))
        if isinstance(self.watch, Sanitizer):
            self.watch.word_written(self.thread, FABRIC + channel, kind, endpoint.memory, local)
        endpoint.memory.write(local, (value & 0xFFFF_FFFF).to_bytes(_WORD, "little"))

    # Headers.

    @kernel_call()
    def fabric_packet_headers(self, count: int) -> int:
        """Take headers from the pool of this processor: the address of the first one."""
        size = count * HEADER_SIZE
        if self._pool + size > PACKET_HEADERS_SIZE:
            raise self.thread.error(
                f"no header is left: a processor has {PACKET_HEADERS_SIZE // HEADER_SIZE}; use one "
                "for several packets",
                rule="fabric-header",
            )
        first = PACKET_HEADERS_BASE + self._pool
        if self.thread.role is Role.NCRISC:
            first += PACKET_HEADERS_SIZE
        self._pool += size
        self._routes.append((first, count))
        self.l1.write(first, bytes(size))
        if isinstance(self.watch, Sanitizer):
            self.watch.headers_taken(self.l1, first, size)
        return first

    @kernel_call()
    def fabric_packet_route(self, count: int) -> int:
        """The number of the headers that were taken last."""
        return len(self._routes) - 1

    @kernel_call()
    def fabric_packet_count(self, route: int) -> int:
        """How many headers were taken together."""
        return self._route(route)[1]

    @kernel_call()
    def fabric_packet_address(self, route: int) -> int:
        """The address of the first of headers that were taken together."""
        return self._route(route)[0]

    def _route(self, route: int) -> tuple[int, int]:
        if route >= len(self._routes):
            raise self.thread.error(
                f"there is no route {route}; allocate_header_n makes one, and {len(self._routes)} "
                "were made",
                rule="fabric-header",
            )
        return self._routes[route]

    @kernel_call()
    def fabric_packet_reset(self) -> None:
        """Give all headers back."""
        self._pool = 0
        self._routes.clear()

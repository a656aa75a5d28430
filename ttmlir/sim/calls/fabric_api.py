"""What headers of the fabric are made of: connections of a worker to the routers of its chip.

A packet is copied over the network into a slot of a router; its header is read there. Bytes move to
other chips when it is sent; clocks say when they would have.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property

from ttmlir.optable.kernel import Role
from ttmlir.sim.calls.device_objects import DataMovementApi
from ttmlir.sim.calls.kernel_api import kernel_call
from ttmlir.sim.calls.remote_buffer_api import RemoteBufferCalls
from ttmlir.sim.errors import Finding, SimError
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
    SLOTS,
    Connection,
    Fabric,
    Increment,
    Mux,
    Packet,
)
from ttmlir.sim.protocols import RunningThread, WaitReason
from ttmlir.sim.sanitizer.sanitizer import FABRIC, Sanitizer, WordKind

_SLOT = -(-(HEADER_SIZE + MAX_PAYLOAD) // 64) * 64
_LOOK = 10
"""Cycles of a look at the free slots, which are a word in L1."""
_WORD = 4
_MASK = 0xFFFF_FFFF
_MUXES = 256
"""The first number of channels of muxes, behind those of routers."""
_READY = 0xA3B3C3D3
"""What a mux says that serves: `READY_FOR_TRAFFIC`."""


class FabricApi(RemoteBufferCalls, DataMovementApi):
    """Calls of BRISC or NCRISC, those on a chip whose mesh has a fabric included."""

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

    @cached_property
    def _channels(self) -> list[tuple[Core, int, int]]:
        """Channels of muxes that the kernel names: the core, the number and how many slots."""
        return []

    def _connection(
        self, channel: int, *, closes: bool = False
    ) -> tuple[Fabric, Connection, EthernetCore]:
        """The connection that this thread has open; error without one."""
        fabric, end = self._find(channel)
        name = str(end)
        if channel >= _MUXES:
            core, number, _ = self._named_channel(channel)
            mux = fabric.muxes.get((end.device, core.logical))
            connection = None if mux is None else mux.channels.get(number)
            name = f"channel {number} of the mux on {core.name}"
        else:
            connection = fabric.connections.get(end)
        if connection is None or connection.owner != self.thread.name:
            what = (
                "which is closed here: each is opened and closed once"
                if closes
                else "call open() on it first"
            )
            raise self.thread.error(
                f"no connection to {name} is open{',' if closes else ';'} {what}",
                rule="fabric-connection",
            )
        return fabric, connection, connection.core

    def _find(self, channel: int) -> tuple[Fabric, End]:
        number = self.core.device
        if self._fabric is None or number is None:
            raise self.thread.error(
                "there is no fabric; call SetFabricConfig before the devices are opened as one "
                "mesh, and enqueue their programs as one MeshWorkload",
                rule="fabric-connection",
            )
        return self._fabric, End(number, channel)

    @kernel_call()
    def remote_buffer_place(self, cb: int, number: int) -> int:
        """Where the next page is at a receiver, on the network."""
        view = self.view_of(cb)
        return self.get_noc_addr(*view.end.peers[number].coordinate, view.pointer)

    @kernel_call(waits=True)
    def remote_buffer_tell(self, cb: int, number: int, units: int, noc: int, posted: bool) -> bool:
        """Count units, here and at the other end; `posted` as `noc_semaphore_inc<true>`."""
        if self.thread.clock > self.scheduler.horizon:
            return False
        end = self.view_of(cb).end
        peer = end.peers[number]
        mine = peer.sent if end.is_sender else peer.acked
        self.l1.write(mine, (end.word(mine) + units & _MASK).to_bytes(_WORD, "little"))
        target = self.get_noc_addr(*peer.coordinate, peer.told)
        there = self.network.endpoint(target)
        return self._increment(there, target, units, noc, in_order=True, posted=posted)

    @kernel_call()
    def fabric_is_2d(self) -> bool:
        """Whether chips are named by their numbers."""
        return self._fabric is not None and self._fabric.config.is_2d

    @kernel_call()
    def fabric_router_direction(self, chip: int) -> int:
        """Where packets for another chip leave this one, as a number of `eth_chan_directions`."""
        fabric, end = self._find(0)
        known = chip in fabric.cluster.devices
        found = fabric.direction_to(end.device, chip) if known else None
        if found is None:
            others = ", ".join(str(each) for each in fabric.cluster.devices if each != end.device)
            raise self.thread.error(
                f"no link leads to chip {chip}; other chips of the mesh are {others}",
                rule="fabric-route",
            )
        return int(found)

    # Connections.

    @kernel_call(waits=True)
    def fabric_router_open(self, channel: int) -> bool:
        """Connect to the router of a channel."""
        thread = self.thread
        if thread.clock > self.scheduler.horizon:
            return False
        fabric, end = self._find(channel)
        place = thread.finding(f"{thread.name} opened the connection", severity="note")
        if channel < _MUXES:
            connection = fabric.open(end, thread.name, place)
        else:
            connection = self._open_channel(fabric, channel, place)
        core = connection.core
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
        fabric, connection, _ = self._connection(channel, closes=True)
        if not self.noc_async_write_barrier():
            return False
        fabric.close(connection)
        self.scheduler.progress += 1
        return True

    @kernel_call()
    def fabric_router_slots(self, channel: int, wanted: int) -> int:
        """How many slots are empty; so many are known then, if they are wanted."""
        _, connection, _ = self._connection(channel)
        if wanted > connection.slots:
            raise self.thread.error(
                f"{wanted} empty slots are asked for; {connection.name} has {connection.slots}",
                rule="fabric-slot",
            )
        if self.timed:
            self.thread.step(_LOOK)
        free = connection.free_slots(self.thread.clock) if self.timed else connection.slots
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

    # Muxes.

    @kernel_call()
    def fabric_mux_channel(self, x: int, y: int, number: int, slots: int) -> int:
        """What names a channel of the mux at a place on the network, for the other calls."""
        if slots < 1:
            raise self.thread.error(
                f"channel {number} of a mux has {slots} buffers; it has at least one",
                rule="fabric-connection",
            )
        self._channels.append((self._core_at(x, y), number, slots))
        return _MUXES + len(self._channels) - 1

    def _named_channel(self, channel: int) -> tuple[Core, int, int]:
        if channel - _MUXES >= len(self._channels):
            raise self.thread.error(
                f"the arguments name channel {channel}, which no router has; they come from "
                "append_fabric_connection_rt_args",
                rule="fabric-connection",
            )
        return self._channels[channel - _MUXES]

    def _core_at(self, x: int, y: int) -> Core:
        endpoint = self.network.endpoint(self.get_noc_addr(x, y, 0))
        if not isinstance(endpoint, Core):
            raise self.thread.error(
                f"no core is at ({x}, {y}) on the network, where a mux is said to be",
                rule="fabric-connection",
            )
        return endpoint

    def _open_channel(self, fabric: Fabric, channel: int, place: Finding) -> Connection:
        core, number, slots = self._named_channel(channel)
        _, end = self._find(channel)
        mux = fabric.muxes.get((end.device, core.logical))
        if mux is None:
            raise self.thread.error(
                f"no mux runs on {core.name}; call wait_for_fabric_endpoint_ready() before "
                "fabric_client_connect(), and run tt_fabric_mux.cpp there",
                rule="fabric-connection",
            )
        staging = EthernetCore(core.chip, (0, mux.connection.end.channel), device=end.device)
        staging.coordinate = core.coordinate
        if isinstance(self.watch, Sanitizer):
            self.watch.add(staging, core.chip.ethernet_unreserved_base)
        return fabric.open_channel(mux, number, slots, staging, self.thread.name, place)

    def _pass_on(self, channel: Connection, mux: Mux, now: int, size: int) -> int:
        """Copy a packet from a mux to its router: when it is there."""
        router = mux.connection
        start = max(now, mux.free)
        if self.noc_model is None:
            channel.sent_until(start)
            return start
        start = max(start, math.ceil(router.next_free(start)))
        here, there = mux.core.coordinate, router.core.coordinate
        _, departed, arrived, _ = self.noc_model.write(start, here, there, size, self.noc_index)
        mux.free = departed
        channel.sent_until(departed)
        return arrived

    @kernel_call(waits=True)
    def fabric_mux_serve(self, channel: int, status: int, termination: int) -> bool:
        """Pass packets on, until a worker says that there are no more."""
        core, thread = self.core, self.thread
        mux = self._serve(channel, status, termination)
        if mux is None:
            return False
        if not any(core.l1.read(termination, _WORD)):
            core.l1.waiters.setdefault(termination, []).append(thread)
            thread.wait(_WaitForMux(core, "workers to call fabric_endpoint_terminate()"), 1)
            return False
        thread.wait_until(core.semaphore_times.get(termination, 0), "fabric_mux")
        for each in mux.channels.values():
            raise SimError(
                f"the mux on {core.name} is told to end, while {each.owner} is connected to it; "
                "call fabric_client_disconnect() first",
                rule="fabric-connection",
                related=(each.place,),
            )
        return True

    @kernel_call(waits=True)
    def fabric_mux_serve_clients(self, channel: int, status: int, clients: int) -> bool:
        """Pass packets on, until so many workers have left."""
        core, thread = self.core, self.thread
        mux = self._serve(channel, status, None)
        if mux is None:
            return False
        if mux.left < clients:
            core.l1.waiters.setdefault(status, []).append(thread)
            missing = f"{clients - mux.left} of {clients} workers to close their connections"
            thread.wait(_WaitForMux(core, missing), 1)
            return False
        thread.wait_until(core.semaphore_times.get(status, 0), "fabric_mux")
        return True

    def _serve(self, channel: int, status: int, termination: int | None) -> Mux | None:
        """The mux on this core, which says that it serves; None to be tried again."""
        fabric, connection, _ = self._connection(channel)
        core, thread = self.core, self.thread
        key = connection.end.device, core.logical
        mux = fabric.muxes.get(key)
        if mux is None:
            if thread.clock > self.scheduler.horizon:
                return None
            mux = fabric.muxes[key] = Mux(connection, core)
            if termination is not None:
                core.l1.write(termination, bytes(_WORD))
            core.semaphore_times[status] = thread.clock
            core.l1.write(status, _READY.to_bytes(_WORD, "little"))
            self.scheduler.progress += 1
        return mux

    @kernel_call(waits=True)
    def fabric_mux_wait(self, x: int, y: int, status: int) -> bool:
        """Wait until a mux serves."""
        core = self._core_at(x, y)
        fabric, end = self._find(0)
        if (end.device, core.logical) not in fabric.muxes:
            core.l1.waiters.setdefault(status, []).append(self.thread)
            self.thread.wait(_WaitForMux(core, f"the mux on {core.name} to run"), 1)
            return False
        if self.timed:
            self.thread.wait_until(core.semaphore_times.get(status, 0), "fabric_mux")
        return True

    @kernel_call(waits=True)
    def fabric_mux_terminate(self, x: int, y: int, termination: int) -> bool:
        """Tell a mux that there are no more packets."""
        core = self._core_at(x, y)
        if self.thread.clock > self.scheduler.horizon:
            return False
        self._tell(core, termination, 1)
        return True

    @kernel_call(waits=True)
    def fabric_mux_leave(self, x: int, y: int, status: int) -> bool:
        """Tell a mux that this worker is done."""
        core = self._core_at(x, y)
        if self.thread.clock > self.scheduler.horizon:
            return False
        fabric, end = self._find(0)
        fabric.muxes[end.device, core.logical].left += 1
        self._tell(core, status, _READY)
        return True

    def _tell(self, core: Core, address: int, value: int) -> None:
        """Write a word of a mux."""
        thread, time = self.thread, self.thread.clock
        if self.noc_model is not None:
            here, there = self.core.coordinate, core.coordinate
            thread.clock, _, time, _ = self.noc_model.write_word(
                thread.clock, here, there, self.noc_index
            )
        core.semaphore_times[address] = max(time, core.semaphore_times.get(address, 0))
        self.scheduler.progress += 1
        core.l1.write(address, value.to_bytes(_WORD, "little"))

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
        is_2d = fabric.config.is_2d
        packet = Packet.read(bytes(self.l1.read(source, HEADER_SIZE)), is_2d=is_2d)
        size += self._put
        self._put = 0
        self._check_payload(packet, size - HEADER_SIZE)
        connection.granted -= 1
        self.outstanding[self._noc(noc)].move_ordered(core.l1, multicast=False)
        self.scheduler.progress += 1
        if connection.mux is not None:
            now = self._pass_on(connection, connection.mux, now, size)
            connection = connection.mux.connection
        for arrival in fabric.send(connection, packet, now):
            if arrival.is_target:
                endpoint_of = fabric.cluster.devices[arrival.device].network.endpoint
                channel = connection.end.channel
                self._deliver(packet, endpoint_of, core, slot, arrival.time, channel)
        return True

    def _slot(self, connection: Connection, core: EthernetCore) -> int:
        # What is in a slot is delivered when it is sent: a few places are enough for all slots.
        return core.chip.ethernet_unreserved_base + connection.slot % SLOTS * _SLOT

    def _check_slot(self, connection: Connection) -> None:
        """Find writes to a slot that may be full."""
        if connection.granted < 1:
            raise self.thread.error(
                f"a packet is written to a slot of {connection.name} that may be full; call "
                "wait_for_empty_write_slot() before each packet",
                rule="fabric-slot",
                detail=(f"packets sent over the connection so far: {connection.sent}",),
            )

    def _check_payload(self, packet: Packet, size: int) -> None:
        """Find packets whose payload is not what their header says."""
        if packet.payload_size != size:
            hint = "" if packet.payload_size else "; to_noc_unicast_write and its likes set them"
            raise self.thread.error(
                f"the header says {packet.payload_size} bytes of payload, but {size} were sent"
                f"{hint}",
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
                word = core.l1.read(source, min(size, _WORD))
                endpoint.set_word_time(local, int.from_bytes(word, "little"), time)
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
        added = increment.value if increment.value < 1 << 31 else 0
        self._set_word(endpoint, increment.address, word, time, channel, "atomic", added=added)

    def _set_word(
        self,
        endpoint: Endpoint,
        address: int,
        value: int,
        time: int,
        channel: int,
        kind: WordKind,
        added: int = 0,
    ) -> None:
        local = address & LOCAL_MASK
        if local % _WORD or not isinstance(endpoint, Core):
            raise self.thread.error(
                f"a packet changes the word at {local:#x} of {endpoint.memory.name}; it has to be "
                "a multiple of 4, in the L1 of a core",
                rule="unaligned",
            )
        if not added:
            time = max(time, endpoint.semaphore_times.get(local, 0))
        endpoint.set_word_time(local, value & 0xFFFF_FFFF, time, added=added)
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


class _WaitForMux(WaitReason):
    """A word that a mux, or its workers, set."""

    kind = "fabric_mux"

    def __init__(self, core: Core, awaited: str) -> None:
        self._core = core
        self._awaited = awaited

    def describe(self, thread: RunningThread) -> tuple[str, ...]:
        """What has to happen."""
        return (self._awaited,)

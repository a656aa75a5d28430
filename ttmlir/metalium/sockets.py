"""Sockets: pages from cores of a mesh to other cores, in order.

Source: tt-metal, tt-metalium/experimental/sockets/mesh_socket.hpp, tt_metal/distributed/.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

from ttmlir.metalium.cores import CoreCoord
from ttmlir.metalium.ends import configure, find_repeated, pages_on
from ttmlir.metalium.enums import BufferType, NamedNumber, TensorMemoryLayout
from ttmlir.metalium.errors import MetaliumError, host_call, names_fields
from ttmlir.metalium.mesh_shapes import MeshCoordinate
from ttmlir.metalium.meshes import (
    BufferShardingArgs,
    DeviceLocalBufferConfig,
    MeshBuffer,
    MeshDevice,
    ReplicatedBufferConfig,
)
from ttmlir.metalium.tt_fabric import FabricNodeId
from ttmlir.sim.machine.device import Core
from ttmlir.sim.machine.sockets import RECEIVER_SIZE, SENDER_SIZE, UNIT, Peer, SocketEnd


def check_fifo_size(size: object) -> None:
    """MetaliumError for what is no number of 32 bits without a sign."""
    if not isinstance(size, int) or not 0 <= size < 1 << 32:
        raise MetaliumError(f"'fifo_size' is {size!r}; it is a number of 32 bits without a sign")


def check_core(core: object) -> None:
    """MetaliumError for what is no core of a mesh."""
    if not isinstance(core, MeshCoreCoord):
        raise MetaliumError(f"an end of a socket is a MeshCoreCoord, not {core!r}")


class SocketEndpoint(NamedNumber):
    """The ends of a socket."""

    SENDER = 0
    RECEIVER = 1


@names_fields
@dataclass(frozen=True)
class MeshCoreCoord:
    """A core of a device of a mesh."""

    device_coord: MeshCoordinate
    core_coord: CoreCoord

    def __post_init__(self) -> None:
        """MetaliumError for what names no device, or no core."""
        place = cast("tuple[object, object]", (self.device_coord, self.core_coord))
        if not (isinstance(place[0], MeshCoordinate) and isinstance(place[1], CoreCoord)):
            raise MetaliumError(
                f"MeshCoreCoord takes a MeshCoordinate and a CoreCoord, not {place}"
            )


@names_fields
@dataclass(frozen=True)
class SocketConnection:
    """A core that sends, and one that receives."""

    sender_core: MeshCoreCoord
    receiver_core: MeshCoreCoord

    def __post_init__(self) -> None:
        """MetaliumError for what is no core of a mesh."""
        for each in (self.sender_core, self.receiver_core):
            check_core(each)


@names_fields
@dataclass(frozen=True)
class SocketMemoryConfig:
    """Where pages wait for their receiver."""

    socket_storage_type: BufferType = BufferType.L1
    fifo_size: int = 0
    """Bytes for each receiver."""

    def __post_init__(self) -> None:
        """MetaliumError for what is no number of 32 bits, and where pages cannot wait."""
        check_fifo_size(self.fifo_size)
        if self.socket_storage_type not in (BufferType.L1, BufferType.DRAM):
            raise MetaliumError(
                "pages of a socket wait in BufferType.L1 or BufferType.DRAM, not in "
                f"{self.socket_storage_type!r}"
            )


@names_fields
@dataclass(frozen=True)
class SocketConfig:
    """Which cores a socket connects."""

    socket_connection_config: Sequence[SocketConnection]
    socket_mem_config: SocketMemoryConfig


class MeshSocket:
    """One end of a socket; `create_socket_pair` makes both."""

    def __init__(
        self,
        ends: _Ends,
        config: SocketConfig,
        endpoint: SocketEndpoint,
        buffers: tuple[MeshBuffer, MeshBuffer | None],
    ) -> None:
        """An end, with its configuration and, of a receiver, what its pages wait in."""
        self._ends = ends
        self._config = config
        self._endpoint = endpoint
        self._buffers = buffers

    @staticmethod
    def create_socket_pair(
        sender: MeshDevice, receiver: MeshDevice, config: SocketConfig
    ) -> tuple[MeshSocket, MeshSocket]:
        """Connect cores of a mesh, or of two: the end that sends, and the end that receives.

        A core sends the same pages to all its receivers, and a core receives from one sender.
        MetaliumError for meshes of different systems, and for connections that cannot be.
        """
        for mesh in (sender, receiver):
            if not isinstance(cast("object", mesh), MeshDevice):
                raise MetaliumError(f"a socket is on a MeshDevice, not on {mesh!r}")
            mesh.check_open()
        if sender is not receiver and (sender.system is None or sender.system != receiver.system):
            raise MetaliumError(
                "a socket is between meshes of one system: parts of a mesh (create_submesh), or "
                "meshes of a board that are opened by physical_device_ids or an offset, with the "
                "same options and the same fabric"
            )
        _check(config)
        ends = _Ends(sender, receiver)
        routes = ends.list_receivers(config)
        fifo = _allocate_fifo(receiver, config)
        largest = max(len(each) for each in routes.values())
        sizes = (SENDER_SIZE + 2 * UNIT * largest, RECEIVER_SIZE)
        senders, receivers = (
            allocate_on_cores(mesh, size, {each.core_coord for each in cores})
            for mesh, size, cores in zip((sender, receiver), sizes, _sides(config), strict=True)
        )
        for source, targets in routes.items():
            ends.configure(source, targets, senders.address(), receivers.address(), fifo)
        return (
            MeshSocket(ends, config, SocketEndpoint.SENDER, (senders, None)),
            MeshSocket(ends, config, SocketEndpoint.RECEIVER, (receivers, fifo)),
        )

    def __repr__(self) -> str:
        """Which end it is, and how many connections there are."""
        count = len(self._config.socket_connection_config)
        return f"MeshSocket({self._endpoint.name}, {count} connection{'s' * (count != 1)})"

    def get_config(self) -> SocketConfig:
        """What the socket was made from."""
        return self._config

    def get_mesh_device(self) -> MeshDevice:
        """The mesh of the end."""
        return self._ends[int(self._endpoint)]

    def get_socket_endpoint_type(self) -> SocketEndpoint:
        """Which end it is."""
        return self._endpoint

    def get_config_buffer(self) -> MeshBuffer:
        """What kernels are given the address of."""
        return self._buffers[0]

    def get_config_buffer_address(self) -> int:
        """The address that kernels are given."""
        return self._buffers[0].address()

    def get_data_buffer(self) -> MeshBuffer:
        """What pages wait in; MetaliumError for the end that sends."""
        if self._buffers[1] is None:
            raise MetaliumError("the data of a socket is at the end that receives")
        return self._buffers[1]

    def get_active_cores(self) -> list[MeshCoreCoord]:
        """The cores of this end."""
        cores = _sides(self._config)[int(self._endpoint)]
        return list(dict.fromkeys(cores))

    def get_connection_config(self) -> list[SocketConnection]:
        """The connections."""
        return list(self._config.socket_connection_config)

    def get_fabric_node_id(self, endpoint: SocketEndpoint, coord: MeshCoordinate) -> FabricNodeId:
        """How the fabric numbers a device of an end."""
        return self._ends[int(endpoint)].get_fabric_node_id(coord)


def create_socket_pair(
    sender_mesh_device: MeshDevice, receiver_mesh_device: MeshDevice, socket_config: SocketConfig
) -> tuple[MeshSocket, MeshSocket]:
    """`MeshSocket.create_socket_pair`."""
    return MeshSocket.create_socket_pair(sender_mesh_device, receiver_mesh_device, socket_config)


def _sides(config: SocketConfig) -> tuple[list[MeshCoreCoord], list[MeshCoreCoord]]:
    """The cores that send, and those that receive."""
    connections = config.socket_connection_config
    return [each.sender_core for each in connections], [each.receiver_core for each in connections]


def _check(config: object) -> None:
    """MetaliumError for what is no configuration of a socket."""
    if not isinstance(config, SocketConfig):
        raise MetaliumError(f"a socket takes a SocketConfig, not {config!r}")
    given = cast("object", config.socket_connection_config)
    connections = list(cast("Iterable[object]", given)) if isinstance(given, Iterable) else []
    if not connections or not all(isinstance(each, SocketConnection) for each in connections):
        raise MetaliumError("a socket has a list of SocketConnection, one or more")
    again = find_repeated(config.socket_connection_config)
    twice = find_repeated(_sides(config)[1])
    if again is not None:
        raise MetaliumError(f"{again} is in the list more than once; name each connection once")
    if twice is not None:
        raise MetaliumError(
            f"core {twice.core_coord} of device {twice.device_coord} receives from several cores; "
            "a core receives from one over a socket: make one for each"
        )
    memory = config.socket_mem_config
    if not isinstance(cast("object", memory), SocketMemoryConfig):
        raise MetaliumError(f"'socket_mem_config' is a SocketMemoryConfig, not {memory!r}")


def _alignment(mesh: MeshDevice, storage: BufferType) -> int:
    chip = mesh.simulated.chip
    return chip.dram_alignment if storage is BufferType.DRAM else chip.l1_alignment


def _allocate_fifo(mesh: MeshDevice, config: SocketConfig) -> MeshBuffer:
    """What pages wait in: on each receiver or, in DRAM, in each bank."""
    memory = config.socket_mem_config
    unit = _alignment(mesh, memory.socket_storage_type)
    size = memory.fifo_size
    banks = mesh.l1_size_per_core()
    if memory.socket_storage_type is BufferType.DRAM:
        banks = mesh.dram_size_per_channel()
    if not 0 < size <= banks or size % unit:
        raise MetaliumError(
            f"'fifo_size' is {size!r}; it has to be a multiple of {unit} bytes, and at most the "
            f"{banks:,} of {memory.socket_storage_type.name}"
        )
    if memory.socket_storage_type is BufferType.L1:
        return allocate_on_cores(mesh, size, {each.core_coord for each in _sides(config)[1]})
    local = DeviceLocalBufferConfig(page_size=size, buffer_type=BufferType.DRAM)
    return MeshBuffer.create(ReplicatedBufferConfig(size * mesh.num_dram_channels()), local, mesh)


def allocate_on_cores(mesh: MeshDevice, size: int, cores: Iterable[CoreCoord]) -> MeshBuffer:
    """So many bytes in the L1 of cores, on all devices at one address."""
    shards = pages_on(cores)
    local = DeviceLocalBufferConfig(
        page_size=size,
        buffer_type=BufferType.L1,
        sharding_args=BufferShardingArgs(shards, TensorMemoryLayout.HEIGHT_SHARDED),
    )
    return MeshBuffer.create(ReplicatedBufferConfig(size * shards.tensor2d_shape[0]), local, mesh)


def core_of(mesh: MeshDevice, place: MeshCoreCoord) -> Core:
    """The core at a place of a mesh; MetaliumError if there is none."""
    device = mesh.get_devices()[mesh.index_of(place.device_coord)]
    with host_call():
        return device.simulated.core(place.core_coord.x, place.core_coord.y)


class _Ends(NamedTuple):
    """The meshes of both ends."""

    sender: MeshDevice
    receiver: MeshDevice

    def list_receivers(self, config: SocketConfig) -> dict[MeshCoreCoord, list[MeshCoreCoord]]:
        """The receivers of each sender, whose devices and cores there are."""
        found: dict[MeshCoreCoord, list[MeshCoreCoord]] = {}
        for each in config.socket_connection_config:
            found.setdefault(each.sender_core, []).append(each.receiver_core)
            for mesh, end in zip(self, (each.sender_core, each.receiver_core), strict=True):
                core_of(mesh, end)
        return found

    def _route(self, source: int, target: int) -> int:
        """What the fabric takes for the way from chip to chip: hops, or a number."""
        if source == target:
            return 0
        fabric = self.sender.fabric
        if fabric is None:
            raise MetaliumError(
                f"a socket from device {source} to device {target} needs a fabric; call "
                "SetFabricConfig before the devices are opened"
            )
        if fabric.config.is_2d:
            return target
        hops = fabric.count_hops(source, target)
        if hops is None:
            raise MetaliumError(
                f"no line of links goes from device {source} to device {target} in the fabric "
                f"{fabric.config.name}; links of the device: {fabric.describe_links(source)}"
            )
        return hops

    def configure(
        self,
        source: MeshCoreCoord,
        targets: Sequence[MeshCoreCoord],
        sender_address: int,
        receiver_address: int,
        fifo: MeshBuffer,
    ) -> None:
        """Write the configurations of a sender and of its receivers."""
        sender = core_of(self.sender, source)
        here = self.sender.get_fabric_node_id(source.device_coord).chip_id
        size = fifo.simulated.page_size
        unit = _alignment(self.receiver, fifo.buffer_type())
        words = [0, len(targets), 0, receiver_address, fifo.address(), size, 0, 0]
        words += [0] * (len(targets) * UNIT // 4)
        acked = [sender_address + SENDER_SIZE + index * UNIT for index in range(len(targets))]
        receivers = [core_of(self.receiver, each) for each in targets]
        for target, receiver, address in zip(targets, receivers, acked, strict=True):
            there = self.receiver.get_fabric_node_id(target.device_coord).chip_id
            x, y = receiver.coordinate
            words += [0, self._route(here, there), y, x]
            x, y = sender.coordinate
            fields = [0, fifo.address(), fifo.address(), size, 0, 0]
            fields += [0, self._route(there, here), y, x, address]
            configure(self.receiver, receiver, receiver_address, _words(fields), [receiver_address])
            peers = (_peer(sender, address),)
            receiver.sockets[receiver_address] = SocketEnd(False, peers, size, unit)
        configure(self.sender, sender, sender_address, _words(words), acked)
        peers = tuple(_peer(each, receiver_address) for each in receivers)
        sender.sockets[sender_address] = SocketEnd(True, peers, size, unit)


def _peer(core: Core, address: int) -> Peer:
    return Peer(core.name, core.device, core.l1, address)


def _words(words: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(words)}I", *words)

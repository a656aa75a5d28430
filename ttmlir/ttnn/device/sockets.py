"""Sockets: tensors from devices of a mesh to others, in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ttmlir.errors import ArgumentError, ArgumentTypeError, UsageError
from ttmlir.metalium.enums import BufferType
from ttmlir.metalium.errors import MetaliumError
from ttmlir.metalium.sockets import (
    MeshCoreCoord,
    SocketConnection,
    SocketEndpoint,
    check_fifo_size,
)
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.device.mesh import MeshDevice
from ttmlir.ttnn.operations.signature import spell_value

if TYPE_CHECKING:
    from ttmlir.ttnn.device.mesh import SubDeviceId
    from ttmlir.ttnn.types.spec import TensorSpec

__all__ = [
    "MeshCoreCoord",
    "MeshSocket",
    "SocketConfig",
    "SocketConnection",
    "SocketMemoryConfig",
    "create_socket_pair",
]


@dataclass(frozen=True)
class SocketMemoryConfig:
    """Where pages wait for their receiver, and how many bytes of them."""

    socket_storage_type: BufferType
    fifo_size: int
    sender_sub_device: SubDeviceId | None = None
    receiver_sub_device: SubDeviceId | None = None
    per_core_allocation: bool = False

    def __post_init__(self) -> None:
        """TypeError for sizes that are no numbers of 32 bits."""
        try:
            check_fifo_size(self.fifo_size)
        except MetaliumError as error:
            raise ArgumentTypeError(str(error)) from error


@dataclass(frozen=True)
class SocketConfig:
    """Which cores a socket connects; ranks are those of hosts, of which there is one."""

    connections: Sequence[SocketConnection]
    memory_config: SocketMemoryConfig
    sender_rank: int | None = None
    receiver_rank: int | None = None


@dataclass
class _Pair:
    """What the ends of a socket share: their meshes, and what was sent and not received."""

    sides: tuple[MeshDevice, MeshDevice]
    sent: deque[tuple[TensorSpec, dict[int, Array]]]


class MeshSocket:
    """One end of a socket; `create_socket_pair` makes both."""

    def __init__(
        self,
        device: MeshDevice,
        config: SocketConfig,
        endpoint: SocketEndpoint = SocketEndpoint.SENDER,
        pair: _Pair | None = None,
    ) -> None:
        """An end of a pair; RuntimeError for one of another host."""
        if pair is None:
            raise UsageError(
                "a MeshSocket of its own connects two hosts, and there is one here; "
                "ttnn.create_socket_pair(sender, receiver, config) makes both ends"
            )
        self._device, self._config = device, config
        self._endpoint, self._pair = endpoint, pair

    def __repr__(self) -> str:
        """Which end it is, and how many connections there are."""
        count = len(self._config.connections)
        return f"MeshSocket({self._endpoint.name}, {count} connection{'s' * (count != 1)})"

    def get_mesh_device(self) -> MeshDevice:
        """The mesh of the end."""
        return self._device

    def get_socket_endpoint_type(self) -> SocketEndpoint:
        """Which end it is."""
        return self._endpoint

    def get_connection_config(self) -> list[SocketConnection]:
        """The connections."""
        return [*self._config.connections]

    def get_active_cores(self) -> list[MeshCoreCoord]:
        """The cores of this end."""
        return [*dict.fromkeys(_ends(self._config, self._endpoint))]

    def send(self, spec: TensorSpec, arrays: Sequence[Array]) -> None:
        """Keep what the devices of the sender have for the receivers that are connected."""
        parts = {target: arrays[source].copy() for source, target in self.routes()}
        self._pair.sent.append((spec, parts))

    def first_sent(self) -> tuple[TensorSpec, dict[int, Array]] | None:
        """What was sent first, by the numbers of the devices that get it; None if nothing was."""
        return self._pair.sent[0] if self._pair.sent else None

    def receive(self) -> None:
        """Take what was sent first off the socket."""
        self._pair.sent.popleft()

    def routes(self) -> list[tuple[int, int]]:
        """The devices that are connected, by their numbers in the meshes of both ends."""
        sender, receiver = self._pair.sides
        return [
            (
                sender.index_of(each.sender_core.device_coord),
                receiver.index_of(each.receiver_core.device_coord),
            )
            for each in self._config.connections
        ]


def create_socket_pair(
    sender_mesh_device: MeshDevice, receiver_mesh_device: MeshDevice, socket_config: SocketConfig
) -> tuple[MeshSocket, MeshSocket]:
    """The end that sends, and the end that receives, of two meshes or of one.

    RuntimeError for devices and cores outside of the meshes, for a core that receives from two
    others, and for a device that does.
    """
    sides = (sender_mesh_device, receiver_mesh_device)
    for mesh in sides:
        if not isinstance(cast("object", mesh), MeshDevice):
            raise ArgumentTypeError(f"a socket is between meshes of devices, not {mesh!r}")
        mesh.check_open()
    _check(socket_config, sides)
    pair = _Pair(sides, deque())
    sender, receiver = (
        MeshSocket(mesh, socket_config, endpoint, pair)
        for mesh, endpoint in zip(sides, SocketEndpoint, strict=True)
    )
    sources: dict[int, int] = {}
    for source, target in sender.routes():
        if sources.setdefault(target, source) != source:
            raise ArgumentError(
                f"device {target} of the receiver gets tensors from two devices over one socket; "
                "make a socket for each of them"
            )
    return sender, receiver


def _ends(config: SocketConfig, endpoint: SocketEndpoint) -> list[MeshCoreCoord]:
    is_sender = endpoint is SocketEndpoint.SENDER
    return [each.sender_core if is_sender else each.receiver_core for each in config.connections]


def _check(config: Any, sides: tuple[MeshDevice, MeshDevice]) -> None:
    """RuntimeError and TypeError for what connects nothing, or what is not there."""
    if not isinstance(config, SocketConfig):
        raise ArgumentTypeError(f"socket_config is a ttnn.SocketConfig, not {spell_value(config)}")
    ranks = (config.sender_rank, config.receiver_rank)
    if any(each not in (None, 0) for each in ranks):
        raise ArgumentError(f"ranks {ranks} are of other hosts; there is one here, 0")
    connections: Any = config.connections
    if not connections or not all(isinstance(each, SocketConnection) for each in connections):
        raise ArgumentError("connections is a list of ttnn.SocketConnection, one or more")
    memory: Any = config.memory_config
    if not isinstance(memory, SocketMemoryConfig):
        raise ArgumentTypeError(
            f"memory_config is a ttnn.SocketMemoryConfig, not {spell_value(memory)}"
        )
    if memory.socket_storage_type not in (BufferType.L1, BufferType.DRAM):
        raise ArgumentError("socket_storage_type is ttnn.BufferType.L1 or DRAM")
    chip, is_dram = sides[1].chip, memory.socket_storage_type is BufferType.DRAM
    unit = chip.dram_alignment if is_dram else chip.l1_alignment
    banks = chip.dram_channel_size if is_dram else chip.l1_size
    if not 0 < memory.fifo_size <= banks or memory.fifo_size % unit:
        raise ArgumentError(
            f"fifo_size is a multiple of {unit} bytes, and at most the {banks:,} of a bank of "
            f"{memory.socket_storage_type.name}, not {memory.fifo_size}"
        )
    for mesh, endpoint in zip(sides, SocketEndpoint, strict=True):
        for each in _ends(config, endpoint):
            _check_end(mesh, each)
    receivers = _ends(config, SocketEndpoint.RECEIVER)
    twice = next((each for each in receivers if receivers.count(each) > 1), None)
    if twice is not None:
        raise ArgumentError(
            f"core {twice.core_coord} of device {twice.device_coord} receives from several cores; "
            "a core receives from one"
        )


def _check_end(mesh: MeshDevice, place: Any) -> None:
    if not isinstance(place, MeshCoreCoord):
        raise ArgumentTypeError(
            f"an end of a connection is a ttnn.MeshCoreCoord, not {spell_value(place)}"
        )
    mesh.index_of(place.device_coord)
    columns, rows = mesh.chip.grid
    core = place.core_coord
    if not (0 <= core.x < columns and 0 <= core.y < rows):
        raise ArgumentError(f"core {core} is outside of the {columns}x{rows} cores of a device")

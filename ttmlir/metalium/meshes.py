"""Meshes of devices: chips of a board that are opened, filled and run together.

Source: tt-metal, tt_metal/api/tt-metalium/mesh_device.hpp, mesh_config.hpp.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakSet

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ttmlir.layout.system import BOARD_NAMES
from ttmlir.layout.system import board as board_named
from ttmlir.metalium.buffers import Buffer, BufferRegion
from ttmlir.metalium.device import Device, forget_fabric, remember_fabric
from ttmlir.metalium.enums import (
    BufferType,
    InterleavedBufferConfig,
    ShardOrientation,
    ShardSpecBuffer,
    TensorMemoryLayout,
)
from ttmlir.metalium.enums import ShardedBufferConfig as LocalSharding
from ttmlir.metalium.errors import MetaliumError, names_fields, names_options
from ttmlir.metalium.host_api import (
    CreateDevice,
    EnqueueProgram,
    EnqueueReadBuffer,
    EnqueueReadSubBuffer,
    EnqueueRecordEvent,
    EnqueueWaitForEvent,
    EnqueueWriteBuffer,
    EnqueueWriteSubBuffer,
    Event,
    host_bytes,
    open_device,
    read_parts,
)
from ttmlir.metalium.mesh_shapes import MeshCoordinate, MeshCoordinateRange, MeshShape
from ttmlir.metalium.tt_fabric import (
    FabricNodeId,
    GetFabricConfig,
    node_of_mesh,
    open_fabric,
)
from ttmlir.sim.errors import SimError
from ttmlir.sim.execution.program import Program
from ttmlir.sim.execution.run import CommandQueue, ProgramReport
from ttmlir.sim.execution.scheduler import KernelThread, deadlock
from ttmlir.sim.machine.cluster import Cluster
from ttmlir.sim.machine.device import SimDevice
from ttmlir.sim.machine.fabric import Fabric, FabricConfig
from ttmlir.sim.options import Numerics, SimOptions

if TYPE_CHECKING:
    from ttmlir.sim.execution.cluster_run import ClusterRun

# --- Devices --------------------------------------------------------------------------------------
# Meshes of devices, whose first one the object is at the same time.
#
# Source: tt-metal, tt_metal/api/tt-metalium/mesh_device.hpp, mesh_config.hpp.


@names_fields
@dataclass(frozen=True)
class MeshDeviceConfig:
    """Which devices a mesh is made of."""

    mesh_shape: MeshShape
    offset: MeshCoordinate | None = None
    physical_device_ids: tuple[int, ...] = ()


Runs = Sequence[tuple[CommandQueue, Program]]
"""Programs of devices that begin at once."""


class _System:
    """Chips of a board that are open: their links, their fabric, and the meshes that have them.

    Where there are several meshes, workloads wait until the host waits for one of them: those at
    the heads of all queues begin at once, as they do on chips that nobody waits for.
    """

    def __init__(self, board: str) -> None:
        """No chips yet."""
        self.board = board
        self.cluster = Cluster(board_named(board))
        self.fabric: Fabric | None = None
        self.meshes: list[MeshDevice] = []
        """Those that are open, parts of others included."""
        self.has_host_sockets = False
        """Whether kernels and the host send to each other."""
        self._waiting: list[tuple[Runs, list[_LaterReport]]] = []
        self._running: tuple[ClusterRun, list[_LaterReport]] | None = None
        """What has stopped to wait for the host."""

    def join(self, mesh: MeshDevice) -> None:
        """Link the devices of a mesh with each other and with those that are there."""
        self.meshes.append(mesh)
        for each in mesh.get_devices():
            self.cluster.add(each.simulated)
            each.cluster = self.cluster
        if self.fabric is None:
            self.fabric = open_fabric(self.cluster)
        else:
            self.fabric.connect()
            remember_fabric(self.fabric)
        mesh.system, mesh.fabric = self, self.fabric

    def leave(self, mesh: MeshDevice) -> None:
        """Run what waits, and forget a mesh that is closed."""
        self.meshes.remove(mesh)
        if not self.meshes:
            forget_fabric(self.fabric)
        self.settle()

    def has_room_for(self, chips: Iterable[int], board: str, options: SimOptions) -> bool:
        """Whether a mesh can be opened beside those that are there."""
        taken = {chip for mesh in self.meshes for chip in mesh.get_device_ids()}
        config = FabricConfig.DISABLED if self.fabric is None else self.fabric.config
        return (
            bool(self.meshes)
            and (board, GetFabricConfig()) == (self.board, config)
            and self.meshes[0].simulated.options == options
            and taken.isdisjoint(chips)
        )

    def enqueue(self, runs: Runs, *, blocking: bool) -> ProgramReport:
        """Run programs, at once where no other mesh is open: the report of the first one."""
        if len(self.meshes) == 1 and not self.has_host_sockets:
            return run_together(self.cluster, self.fabric, runs)[0]
        for queue, _ in runs:
            queue.settle = self.settle
        later = [_LaterReport(self.settle) for _ in runs]
        self._waiting.append((runs, later))
        if blocking:
            self.settle()
        return later[0]

    def settle(self) -> None:
        """Run what waits, each device's programs in their order."""
        blocked = self.advance()
        if blocked and self._running is not None:
            error = deadlock(blocked)
            self._running[0].stop(error)
            self._running = None
            raise error

    def advance(self) -> list[KernelThread]:
        """Run what waits as far as it goes: the threads that wait for the host."""
        while self._waiting or self._running is not None:
            if self._running is None:
                self._running = self._begin()
            (run, later), self._running = self._running, None
            with _without_traceback():
                blocked = run.advance()
            if blocked:
                self._running = run, later
                return blocked
            for each, report in zip(later, run.end(), strict=True):
                vars(each).update(vars(report))
        return []

    @property
    def clock(self) -> int:
        """How far programs are that have stopped; 0 before they begin."""
        return 0 if self._running is None else self._running[0].clock

    def _begin(self) -> tuple[ClusterRun, list[_LaterReport]]:
        """Begin what waits at the heads of the queues."""
        from ttmlir.sim.execution.cluster_run import ClusterRun

        listed, self._waiting, busy = self._waiting, [], set[SimDevice]()
        together, reports = list[tuple[CommandQueue, Program]](), list[_LaterReport]()
        for runs, later in listed:
            devices = {queue.device for queue, _ in runs}
            if busy.isdisjoint(devices):
                together += runs
                reports += later
            else:
                self._waiting.append((runs, later))
            busy |= devices
        if self.fabric is not None:
            _tell_routing_mode(self.fabric.config, [program for _, program in together])
        return ClusterRun(self.cluster, self.fabric, together), reports


class _LaterReport(ProgramReport):
    """What a program will have done; whoever asks for it has it run."""

    def __init__(self, settle: Callable[[], object]) -> None:
        """Of a program that waits."""
        vars(self)["_settle"] = settle

    def __getattribute__(self, name: str) -> Any:
        own = object.__getattribute__(self, "__dict__")
        if name in ProgramReport.__dataclass_fields__ and name not in own:
            own["_settle"]()
            if name not in own:
                raise SimError("the program did not run to its end, so that there is no report")
        return object.__getattribute__(self, name)


_systems: WeakSet[_System] = WeakSet()
"""Those that meshes have joined whose chips were named."""


class MeshDevice(Device):
    """A mesh of devices, whose first one it is; `create` and `create_unit_mesh` make it."""

    _shape = MeshShape(1, 1)
    _others: tuple[Device, ...] = ()
    _parent: MeshDevice | None = None
    _board = "n150"
    system: _System | None = None
    """The chips that are open with those of the mesh; None for one that is alone."""

    @classmethod
    @names_options
    def create_unit_mesh(
        cls,
        device_id: int = 0,
        *,
        board: str = "n150",
        numerics: Numerics = "device",
        sanitize: bool = True,
        timed: bool = True,
        schedule_seed: int | None = None,
        delay_copies: bool = False,
        cycle_limit: int = SimOptions.cycle_limit,
        leniencies: frozenset[str] = frozenset(),
        max_findings: int = 1,
        tt_metal: str | None = None,
        print_line: Callable[[str], None] | None = None,
    ) -> MeshDevice:
        """Open a simulated device of a board; the options are those of `CreateDevice`."""
        made = open_device(
            cls,
            device_id,
            board,
            print_line,
            numerics=numerics,
            sanitize=sanitize,
            timed=timed,
            schedule_seed=schedule_seed,
            delay_copies=delay_copies,
            cycle_limit=cycle_limit,
            leniencies=leniencies,
            max_findings=max_findings,
            tt_metal=tt_metal,
        )
        made._board = board
        return made

    @classmethod
    def create(cls, config: MeshDeviceConfig, *, board: str = "n150", **options: Any) -> MeshDevice:
        """Open devices of a board as a mesh; the options are those of `create_unit_mesh`.

        They are the part of the board's mesh from `offset` on if the shape fits into it; a longer
        line goes back along the next row, other shapes take the first ones. MetaliumError if the
        board has fewer.
        """
        if not isinstance(cast("object", config), MeshDeviceConfig):
            raise MetaliumError(f"MeshDevice.create takes a MeshDeviceConfig, not {config!r}")
        first, *others = chips_of_mesh(config, board)
        made = cls.create_unit_mesh(first, board=board, **options)
        made._shape = config.mesh_shape
        made._others = tuple(CreateDevice(each, board=board, **options) for each in others)
        is_named = config.offset is not None or bool(config.physical_device_ids)
        if others or (is_named and board_named(board).num_chips > 1):
            made._link(board, beside_others=is_named)
        return made

    def _link(self, board: str, *, beside_others: bool) -> None:
        """Join the system of other meshes of the board, or one of its own."""
        chips, options = self.get_device_ids(), self.simulated.options
        there = (each for each in list(_systems) if each.has_room_for(chips, board, options))
        system = next(there, None) if beside_others else None
        if system is None:
            system = _System(board)
            if beside_others:
                _systems.add(system)
        system.join(self)

    def wait_for_host(self) -> _System:
        """Have workloads wait until the host waits: it sends to kernels, or they to it."""
        if self.system is None:
            self.system = _System(self._board)
            self.system.meshes.append(self)
            # It is alone, and needs no names by which messages tell it from others.
            self.system.cluster.devices[self.id()] = self.simulated
        self.system.has_host_sockets = True
        return self.system

    def create_submesh(
        self, submesh_shape: MeshShape, offset: MeshCoordinate | None = None
    ) -> MeshDevice:
        """A part of the devices, from `offset` on, with a queue of its own.

        Workloads of parts that share no device run at the same time, from when the host waits for
        one of them. MetaliumError unless it is within the mesh.
        """
        if not isinstance(cast("object", submesh_shape), MeshShape):
            raise MetaliumError(f"a part has a MeshShape, not {submesh_shape!r}")
        if offset is not None and not isinstance(cast("object", offset), MeshCoordinate):
            raise MetaliumError(f"a part begins at a MeshCoordinate, not at {offset!r}")
        start = (0,) * submesh_shape.dims() if offset is None else offset.coords()
        whole = tuple(self._shape)
        if not submesh_shape.dims() == len(start) == len(whole) or any(
            first + part > extent or part < 1
            for first, part, extent in zip(start, submesh_shape, whole, strict=True)
        ):
            raise MetaliumError(
                f"{submesh_shape} from {offset or 'its beginning'} on is not within the mesh, "
                f"which is a {self._shape}"
            )
        self.check_open()
        steps = itertools.product(*map(range, submesh_shape))
        chosen = [
            self.get_device(MeshCoordinate(*map(operator.add, start, step))) for step in steps
        ]
        part = object.__new__(MeshDevice)
        shared = dict(vars(chosen[0]))
        shared.pop("_queue", None)
        vars(part).update(shared)
        part._shape, part._others, part._parent = submesh_shape, tuple(chosen[1:]), self
        part.system = self.system
        if self.system is not None:
            self.system.meshes.append(part)
        return part

    def create_submeshes(self, submesh_shape: MeshShape) -> list[MeshDevice]:
        """All devices, in parts of one shape, row by row; MetaliumError if they do not fill it."""
        extents = tuple(self._shape)
        if submesh_shape.dims() != len(extents) or any(
            part < 1 or extent % part for part, extent in zip(submesh_shape, extents, strict=True)
        ):
            raise MetaliumError(f"{self._shape} is not divided into parts of {submesh_shape}")
        starts = itertools.product(
            *(range(0, extent, part) for extent, part in zip(extents, submesh_shape, strict=True))
        )
        return [self.create_submesh(submesh_shape, MeshCoordinate(*start)) for start in starts]

    def get_submeshes(self) -> list[MeshDevice]:
        """The parts that are open."""
        meshes = [] if self.system is None else self.system.meshes
        return [each for each in meshes if each._parent is self]

    def is_parent_mesh(self) -> bool:
        """Whether it is no part of another mesh."""
        return self._parent is None

    def get_parent_mesh(self) -> MeshDevice | None:
        """The mesh that it is a part of; None if there is none."""
        return self._parent

    def __repr__(self) -> str:
        """Number, chip, numerics, and whether it was closed."""
        return f"Mesh{super().__repr__()}"

    def create_queue(self) -> MeshCommandQueue:
        """The queue of a new device."""
        return MeshCommandQueue(self)

    def mesh_command_queue(self, cq_id: int = 0) -> MeshCommandQueue:
        """The queue that commands go to; MetaliumError if the device is closed."""
        return cast("MeshCommandQueue", self.command_queue(cq_id))

    def close(self) -> bool:
        """End the use of all devices; MetaliumError if reads were never finished."""
        self.check_open()
        for part in self.get_submeshes():
            part.close()
        if self.system is not None:
            self.system.leave(self)
        # What a part has goes on being used by the whole.
        for each in () if self._parent else self._others:
            each.close()
        return super().close()

    def shape(self) -> MeshShape:
        """The extents: rows and columns of devices."""
        return self._shape

    def num_rows(self) -> int:
        """The first of two extents."""
        return self._extent(0)

    def num_cols(self) -> int:
        """The second of two extents."""
        return self._extent(1)

    def _extent(self, dimension: int) -> int:
        if self._shape.dims() != 2:
            raise MetaliumError(f"{self._shape} has no rows and columns; shape() has its extents")
        return self._shape[dimension]

    def num_devices(self) -> int:
        """How many devices there are."""
        return self._shape.mesh_size()

    def get_device_ids(self) -> list[int]:
        """The numbers of the devices, row by row."""
        return [each.id() for each in self.get_devices()]

    def get_devices(self) -> list[Device]:
        """The devices, row by row."""
        return [self, *self._others]

    def get_device(self, row: int | MeshCoordinate, column: int | None = None) -> Device:
        """The device at a place, or with a number; MetaliumError if there is none."""
        match row, column:
            case MeshCoordinate(), None:
                return self.get_devices()[self.index_of(row)]
            case int(), int():
                return self.get_devices()[self.index_of(MeshCoordinate(row, column))]
            case int(), None:
                ids = self.get_device_ids()
                if row not in ids:
                    listed = ", ".join(map(str, ids))
                    raise MetaliumError(f"the mesh has device {listed}, no device {row}")
                return self.get_devices()[ids.index(row)]
            case _:
                raise MetaliumError("get_device takes a MeshCoordinate, or a row and a column")

    def get_fabric_node_id(self, coord: MeshCoordinate) -> FabricNodeId:
        """How the fabric numbers the device at a place; MetaliumError for one outside."""
        return node_of_mesh(self.get_devices()[self.index_of(coord)].id(), self.fabric)

    def index_of(self, place: object) -> int:
        """The number of a device in the mesh, row by row; MetaliumError for a place outside."""
        if not isinstance(place, MeshCoordinate):
            raise MetaliumError(
                f"a device of a mesh is named by a MeshCoordinate, not by {place!r}"
            )
        extents = tuple(self._shape)
        if place.dims() != len(extents) or any(
            index >= extent for index, extent in zip(place.coords(), extents, strict=True)
        ):
            raise MetaliumError(
                f"{place} is outside of the mesh, which is a {self._shape}; indices begin at 0"
            )
        return int(np.ravel_multi_index(place.coords(), extents))


def chips_of_mesh(config: MeshDeviceConfig, board: str) -> list[int]:
    """The chips of a board that a mesh is made of; MetaliumError if there are too few."""
    count = config.mesh_shape.mesh_size()
    if count < 1:
        raise MetaliumError(f"{config.mesh_shape} has no devices")
    if config.physical_device_ids:
        ids = list(config.physical_device_ids)
        if len(ids) != count or len({*ids}) != count:
            raise MetaliumError(f"{config.mesh_shape} takes {count} different devices, not {ids}")
        return ids
    if board not in BOARD_NAMES:
        return [0] * count  # Opening the first one says what there is.
    available = board_named(board)
    if count > available.num_chips:
        larger = [name for name in BOARD_NAMES if board_named(name).num_chips >= count]
        raise MetaliumError(
            f"{config.mesh_shape} has {count} devices, but board {board} has "
            f"{available.num_chips}; "
            + (f"boards with as many: {', '.join(larger)}" if larger else "no board has as many")
        )
    places = available.chip_coords
    whole = max(at.y for at in places) + 1, max(at.x for at in places) + 1
    start = config.offset.coords() if config.offset else (0,) * len(whole)
    if len(start) == config.mesh_shape.dims() == len(whole) and all(
        first + part <= extent
        for first, part, extent in zip(start, config.mesh_shape, whole, strict=True)
    ):
        steps = itertools.product(*(range(extent) for extent in config.mesh_shape))
        return [
            int(np.ravel_multi_index([a + b for a, b in zip(start, step, strict=True)], whole))
            for step in steps
        ]
    if any(start):
        raise MetaliumError(
            f"{config.mesh_shape} from {config.offset} on is not in the mesh of board {board}, "
            f"which is {MeshShape(*whole)}"
        )
    if max(config.mesh_shape, default=0) == count and len(whole) == 2:
        return _zigzag(*whole)[:count]
    return list(range(count))


def _zigzag(rows: int, columns: int) -> list[int]:
    """The chips of a board as a line, in which each is a neighbour of the one before.

    A line that is longer than a row goes back along the next one, as tt-metal's does
    (`MeshDeviceView::get_line_coordinates`).
    """
    return [
        row * columns + (columns - 1 - column if row % 2 else column)
        for row in range(rows)
        for column in range(columns)
    ]


# --- Mesh buffers ---------------------------------------------------------------------------------
# Buffers of meshes: one on each device, all at the same address.
#
# Source: tt-metal, tt_metal/api/tt-metalium/mesh_buffer.hpp.


@names_fields
@dataclass(frozen=True)
class BufferShardingArgs:
    """How the buffer of a device is cut into shards."""

    shard_spec: ShardSpecBuffer | None = None
    buffer_layout: TensorMemoryLayout = TensorMemoryLayout.INTERLEAVED


@names_fields
@dataclass(frozen=True, kw_only=True)
class DeviceLocalBufferConfig:
    """What the buffer of each device is; sizes in bytes."""

    page_size: int
    buffer_type: BufferType = BufferType.DRAM
    sharding_args: BufferShardingArgs = BufferShardingArgs()
    bottom_up: bool | None = None
    """From which side of the memory; None: DRAM from the bottom, L1 from the top."""


@names_fields
@dataclass(frozen=True)
class ReplicatedBufferConfig:
    """Each device has all of the buffer, in bytes."""

    size: int


@names_fields
@dataclass(frozen=True, kw_only=True)
class ShardedBufferConfig:
    """Each device has a part of the buffer, which is a matrix; sizes in bytes."""

    global_size: int
    global_buffer_shape: tuple[int, int]
    shard_shape: tuple[int, int] = (0, 0)
    """Rows and columns of a device's part; 0 stands for all of them, on each device."""
    shard_orientation: ShardOrientation = ShardOrientation.ROW_MAJOR

    def physical_shard_shape(self) -> tuple[int, int]:
        """Rows and columns that a device has."""
        (height, width), (rows, columns) = self.shard_shape, self.global_buffer_shape
        return height or rows, width or columns

    def check(self, mesh: MeshShape) -> None:
        """MetaliumError for parts that do not fill the buffer, or that the mesh has no room for."""
        shape, shard = list(self.global_buffer_shape), list(self.physical_shard_shape())
        if min(*shape, *shard, self.global_size) < 1 or any(
            extent % part for extent, part in zip(shape, shard, strict=True)
        ):
            raise MetaliumError(f"a buffer of {shape} is not made of shards of {shard}")
        if self.global_size % math.prod(shape):
            raise MetaliumError(
                f"{self.global_size} bytes are no whole number of them for each of {shape}"
            )
        if mesh.dims() != 2:
            raise MetaliumError(f"a buffer is sharded over rows and columns of devices, not {mesh}")
        count = math.prod(shape) // math.prod(shard)
        across = self.shard_orientation == ShardOrientation.ROW_MAJOR
        room = {0: mesh.mesh_size(), 1: mesh[1] if across else mesh[0], 2: 1}
        if count > room[self.shard_shape.count(0)]:
            raise MetaliumError(
                f"shards of {shard} of a buffer of {shape} are {count}, for "
                f"{room[self.shard_shape.count(0)]} of {mesh}; "
                "shards on cores are those of DeviceLocalBufferConfig(sharding_args=...)"
            )

    def shards(self, mesh: MeshShape) -> Iterator[tuple[list[int], slice, slice]]:
        """The devices, by their numbers, that have each shard, and its rows and columns.

        Source: tt-metal, tt_metal/distributed/mesh_command_queue_base.cpp.
        """
        (height, width), (rows, columns) = self.physical_shard_shape(), self.global_buffer_shape
        by_row = self.shard_orientation == ShardOrientation.ROW_MAJOR
        devices = np.arange(mesh.mesh_size()).reshape(tuple(mesh))
        ordered = devices if by_row else devices.T
        owners = {
            0: ordered.reshape(-1, 1),
            1: ordered.T,
            2: devices.reshape(1, -1),
        }[self.shard_shape.count(0)]
        for number, (y, x) in enumerate(
            itertools.product(range(rows // height), range(columns // width))
        ):
            yield (
                owners[number].tolist(),
                slice(y * height, (y + 1) * height),
                slice(x * width, (x + 1) * width),
            )


class MeshBuffer(Buffer):
    """Memory on the devices of a mesh; `create` makes it."""

    @staticmethod
    @names_options
    def create(
        mesh_buffer_config: ReplicatedBufferConfig | ShardedBufferConfig,
        device_local_config: DeviceLocalBufferConfig,
        mesh_device: MeshDevice,
        address: int | None = None,
    ) -> MeshBuffer:
        """Take memory on all devices, at an address if it is given."""
        if not isinstance(cast("object", mesh_device), MeshDevice):
            raise MetaliumError(
                f"a MeshBuffer is on a MeshDevice, not on {mesh_device!r}; "
                "MeshDevice.create_unit_mesh(0) opens one"
            )
        match cast("object", mesh_buffer_config):
            case ReplicatedBufferConfig(size):
                local_size = size
            case ShardedBufferConfig(global_size=size) as config:
                config.check(mesh_device.shape())
                parts = math.prod(config.global_buffer_shape)
                local_size = size // parts * math.prod(config.physical_shard_shape())
            case _:
                raise MetaliumError(
                    "a MeshBuffer takes a ReplicatedBufferConfig or a distributed "
                    f"ShardedBufferConfig, not {mesh_buffer_config!r}"
                )
        local = device_local_config
        if not isinstance(cast("object", local), DeviceLocalBufferConfig):
            raise MetaliumError(f"a MeshBuffer takes a DeviceLocalBufferConfig, not {local!r}")
        buffers = list[Buffer]()
        for device in mesh_device.get_devices():
            place = buffers[0].address() if buffers else address
            buffers.append(_local_buffer(device, local_size, local, place))
        return MeshBuffer(mesh_device, buffers, size, mesh_buffer_config, local)

    def __init__(
        self,
        mesh_device: MeshDevice,
        buffers: Sequence[Buffer],
        size: int,
        mesh_config: ReplicatedBufferConfig | ShardedBufferConfig,
        local_config: DeviceLocalBufferConfig,
    ) -> None:
        """The buffers of all devices as one, whose addresses are those of the first."""
        first = buffers[0]
        self._device = mesh_device
        self._type = first._type
        self._config = first._config
        self.simulated = first.simulated
        self.buffers = tuple(buffers)
        """Those of the devices, row by row."""
        self._size = size
        self._mesh_config: ReplicatedBufferConfig | ShardedBufferConfig = mesh_config
        self._local_config = local_config

    def __repr__(self) -> str:
        """Size and place."""
        return f"Mesh{super().__repr__()}"

    @property
    def mesh(self) -> MeshDevice:
        """The devices."""
        return cast("MeshDevice", self.device())

    def size(self) -> int:
        """Bytes of the whole buffer: of the copy on each device, or of all shards."""
        return self._size

    def device_local_size(self) -> int:
        """Bytes on a device."""
        return self.buffers[0].size()

    def device_local_config(self) -> DeviceLocalBufferConfig:
        """What the buffer of the device was made from."""
        return self._local_config

    def global_config(self) -> ReplicatedBufferConfig | ShardedBufferConfig:
        """What the buffer was made from."""
        return self._mesh_config

    def get_backing_buffer(self) -> Buffer:
        """The buffer of the first device."""
        return self.buffers[0]

    def get_reference_buffer(self) -> Buffer:
        """The buffer of the first device."""
        return self.buffers[0]

    def get_device_buffer(self, device_coord: MeshCoordinate) -> Buffer:
        """The buffer of a device."""
        return self.buffers[self.mesh.index_of(device_coord)]

    def deallocate(self) -> None:
        """Give the memory back."""
        for each in self.buffers:
            each.deallocate()

    def shards(
        self,
    ) -> Iterator[tuple[list[int], Callable[[NDArray[np.uint8]], NDArray[np.uint8]]]]:
        """The devices that have each part of the buffer, and what picks its bytes from all."""
        config = self._mesh_config
        if isinstance(config, ReplicatedBufferConfig):
            yield list(range(len(self.buffers))), lambda data: data
            return
        for devices, rows, columns in config.shards(self.mesh.shape()):
            yield devices, partial(_pick, config.global_buffer_shape, rows, columns)


def _pick(
    shape: tuple[int, int], rows: slice, columns: slice, data: NDArray[np.uint8]
) -> NDArray[np.uint8]:
    """The bytes of some rows and columns of a matrix, as a view."""
    return data.reshape(*shape, -1)[rows, columns]


def _local_buffer(
    device: Device, size: int, local: DeviceLocalBufferConfig, address: int | None
) -> Buffer:
    """The buffer of one device of a mesh."""
    sharding = local.sharding_args
    return Buffer(
        InterleavedBufferConfig(
            device=device,
            size=size,
            page_size=local.page_size,
            buffer_type=local.buffer_type,
            buffer_layout=sharding.buffer_layout,
        )
        if sharding.shard_spec is None
        else LocalSharding(
            device=device,
            size=size,
            page_size=local.page_size,
            buffer_type=local.buffer_type,
            buffer_layout=sharding.buffer_layout,
            shard_parameters=sharding.shard_spec,
        ),
        address=address,
        bottom_up=local.bottom_up,
    )


# --- Workloads ------------------------------------------------------------------------------------
# Programs of meshes, and the queue that they and buffers go through.
#
# Source: tt-metal, tt_metal/api/tt-metalium/distributed.hpp, mesh_workload.hpp,
# mesh_command_queue.hpp.

MeshEvent = Event
"""A moment in a queue."""


class MeshWorkload:
    """The programs that devices of a mesh run at once; it can be enqueued any number of times."""

    def __init__(self) -> None:
        """A workload without programs."""
        self._programs: dict[MeshCoordinateRange, Program] = {}

    def __repr__(self) -> str:
        """What there is to run."""
        return f"MeshWorkload({list(self._programs.values())})"

    def add_program(self, device_range: MeshCoordinateRange, program: Program) -> None:
        """Give the devices of a range a program; it may be changed until it is enqueued."""
        if not isinstance(cast("object", device_range), MeshCoordinateRange):
            raise MetaliumError(
                "add_program takes a MeshCoordinateRange, such as "
                f"MeshCoordinateRange(mesh_device.shape()), not {device_range!r}"
            )
        if not isinstance(cast("object", program), Program):
            raise MetaliumError(f"{program!r} is no program; CreateProgram() makes one")
        taken = {place for each in self._programs for place in each}
        twice = next((place for place in device_range if place in taken), None)
        if twice is not None:
            raise MetaliumError(
                f"the workload has a program for {twice} already; put its kernels into one "
                "program, or enqueue two workloads"
            )
        self._programs[device_range] = program

    def get_programs(self) -> dict[MeshCoordinateRange, Program]:
        """The programs by the devices that run them."""
        return dict(self._programs)


@names_fields
@dataclass(kw_only=True)
class ShardDataTransfer:
    """What is written to a device, or read from it."""

    shard_coord: MeshCoordinate
    host_data: Any = None
    region: BufferRegion | None = None


class MeshCommandQueue(CommandQueue):
    """The commands of the devices of a mesh; `reports` are those of its first device."""

    def __init__(self, mesh: MeshDevice) -> None:
        """A queue without commands."""
        super().__init__(mesh.simulated)
        self.mesh = mesh
        self.queues: tuple[CommandQueue, ...] = (
            self,
            *(each.command_queue() for each in mesh.get_devices()[1:]),
        )
        """Those of the devices, row by row; the first one is this."""

    @property
    def open_reads(self) -> int:
        """Reads whose data the host has not got yet."""
        return super().open_reads + sum(each.open_reads for each in self.queues[1:])

    def finish(self) -> None:
        """Wait until all commands of all devices are done."""
        super().finish()
        for each in self.queues[1:]:
            each.finish()

    def enqueue_mesh_workload(
        self, mesh_workload: MeshWorkload, blocking: bool = False
    ) -> ProgramReport:
        """Run a workload; returns what its threads did."""
        return EnqueueMeshWorkload(self, mesh_workload, blocking)

    def enqueue_write_mesh_buffer(
        self, buffer: MeshBuffer, host_data: ArrayLike | bytes, blocking: bool = False
    ) -> None:
        """Fill a buffer."""
        EnqueueWriteMeshBuffer(self, buffer, host_data, blocking)

    def enqueue_read_mesh_buffer(
        self,
        host_data: NDArray[Any] | list[int] | None,
        buffer: MeshBuffer,
        blocking: bool = True,
        *,
        dtype: DTypeLike = np.uint32,
    ) -> NDArray[Any]:
        """Read a buffer."""
        return EnqueueReadMeshBuffer(self, host_data, buffer, blocking, dtype=dtype)

    def enqueue_write_shards(
        self,
        mesh_buffer: MeshBuffer,
        shard_data_transfers: Sequence[ShardDataTransfer],
        blocking: bool = False,
    ) -> None:
        """Write to devices, whole buffers or regions of them."""
        for each in shard_data_transfers:
            queue, buffer = _of_device(self, mesh_buffer, each.shard_coord)
            if each.region is None:
                EnqueueWriteBuffer(queue, buffer, each.host_data, blocking)
            else:
                EnqueueWriteSubBuffer(queue, buffer, each.host_data, each.region, blocking)

    def enqueue_read_shards(
        self,
        shard_data_transfers: Sequence[ShardDataTransfer],
        mesh_buffer: MeshBuffer,
        blocking: bool = True,
    ) -> None:
        """Read from devices, whole buffers or regions; `host_data` is filled, or made if None."""
        for each in shard_data_transfers:
            queue, buffer = _of_device(self, mesh_buffer, each.shard_coord)
            if each.region is None:
                read = EnqueueReadBuffer(queue, buffer, each.host_data, blocking)
            else:
                read = EnqueueReadSubBuffer(queue, buffer, each.host_data, each.region, blocking)
            if each.host_data is None:
                each.host_data = read

    def enqueue_record_event(self) -> MeshEvent:
        """The moment after the last command."""
        return EnqueueRecordEvent(self)

    def enqueue_record_event_to_host(self) -> MeshEvent:
        """The same, for the host to wait for."""
        return EnqueueRecordEvent(self)

    def enqueue_wait_for_event(self, sync_event: MeshEvent) -> None:
        """Let the commands that follow wait for a moment of another queue."""
        EnqueueWaitForEvent(self, sync_event)


def CreateMeshWorkload() -> MeshWorkload:
    """A workload without programs; `MeshWorkload()` by its name of 2025."""
    return MeshWorkload()


def AddProgramToMeshWorkload(
    mesh_workload: MeshWorkload, program: Program, device_range: MeshCoordinateRange
) -> None:
    """Give the devices of a range a program; `add_program` by its name of 2025."""
    mesh_workload.add_program(device_range, program)


def EnqueueMeshWorkload(
    mesh_cq: CommandQueue, mesh_workload: MeshWorkload, blocking: bool = False
) -> ProgramReport:
    """Run a workload; returns what its threads did, on the first of its devices."""
    if not isinstance(cast("object", mesh_workload), MeshWorkload):
        raise MetaliumError(
            f"{mesh_workload!r} is no MeshWorkload; add the program to one: "
            "workload.add_program(MeshCoordinateRange(mesh_device.shape()), program)"
        )
    programs = mesh_workload.get_programs()
    if not programs:
        raise MetaliumError("the workload has no program; call add_program first")
    queue = _check_mesh_queue(mesh_cq)
    runs = [
        (queue.queues[queue.mesh.index_of(place)], program)
        for devices, program in programs.items()
        for place in devices
    ]
    system = queue.mesh.system
    if system is not None and (
        system.fabric is not None
        or len(system.meshes) > 1
        or system.has_host_sockets
        or any(program.ethernet_channels for _, program in runs)
    ):
        return system.enqueue(runs, blocking=blocking)
    reports = [EnqueueProgram(each, program, blocking) for each, program in runs]
    return reports[0]


def _tell_routing_mode(config: FabricConfig, programs: Iterable[Program]) -> None:
    """Let kernels know what fabric their mesh has, from which the type of headers follows."""
    mode = str(config.routing_mode)
    for program in programs:
        for kernel in program.kernels:
            kernel.defines = {"ROUTING_MODE": mode, **kernel.defines}


def run_together(cluster: Cluster, fabric: Fabric | None, runs: Runs) -> list[ProgramReport]:
    """Run programs of linked devices, all begun at once."""
    from ttmlir.sim.execution.cluster_run import run_on_cluster

    if fabric is not None:
        _tell_routing_mode(fabric.config, [program for _, program in runs])
    with _without_traceback():
        return run_on_cluster(cluster, fabric, runs)


@contextmanager
def _without_traceback() -> Generator[None]:
    """How the simulator found it says nothing to who wrote the kernel."""
    try:
        yield
    except SimError as error:
        raise error.with_traceback(None) from None


def _check_mesh_queue(queue: object) -> MeshCommandQueue:
    if not isinstance(queue, MeshCommandQueue):
        raise MetaliumError(
            f"{queue!r} is no command queue of a mesh; mesh_device.mesh_command_queue() is one"
        )
    return queue


def _of_device(queue: object, buffer: object, place: MeshCoordinate) -> tuple[CommandQueue, Buffer]:
    """The queue and the part of a buffer of a device of a mesh."""
    checked = _check_mesh_buffer(buffer)
    index = checked.mesh.index_of(place)
    return _check_mesh_queue(queue).queues[index], checked.buffers[index]


def _check_mesh_buffer(buffer: object) -> MeshBuffer:
    if not isinstance(buffer, MeshBuffer):
        raise MetaliumError(f"{buffer!r} is no MeshBuffer; MeshBuffer.create(...) makes one")
    return buffer


def EnqueueWriteMeshBuffer(
    mesh_cq: CommandQueue, mesh_buffer: MeshBuffer, src: ArrayLike | bytes, blocking: bool = False
) -> None:
    """Fill a buffer with the bytes of an array of any type; a list of integers is of uint32."""
    buffer = _check_mesh_buffer(mesh_buffer)
    queues = _check_mesh_queue(mesh_cq).queues
    data = np.frombuffer(host_bytes(src, buffer.size()), np.uint8)
    for devices, pick in buffer.shards():
        piece = pick(data).tobytes()
        for each in devices:
            EnqueueWriteBuffer(queues[each], buffer.buffers[each], piece, blocking)


def EnqueueReadMeshBuffer(
    mesh_cq: CommandQueue,
    dst: NDArray[Any] | list[int] | None,
    mesh_buffer: MeshBuffer,
    blocking: bool = True,
    *,
    dtype: DTypeLike = np.uint32,
) -> NDArray[Any]:
    """Read a buffer into an array or a list, or with None into a new array of type `dtype`.

    A buffer that several devices have copies of is read from one of them, by `ReadShard`.
    """
    if isinstance(cast("object", dst), Buffer):
        raise MetaliumError(
            "EnqueueReadMeshBuffer takes the destination before the buffer: (queue, result, buffer)"
        )
    buffer = _check_mesh_buffer(mesh_buffer)
    queues = _check_mesh_queue(mesh_cq).queues
    if len(buffer.buffers) > 1 and isinstance(buffer.global_config(), ReplicatedBufferConfig):
        raise MetaliumError(
            f"each of {len(buffer.buffers)} devices has a copy of the buffer; ReadShard reads "
            "that of one"
        )
    parts = [
        (queues[devices[0]], buffer.buffers[devices[0]], None, pick)
        for devices, pick in buffer.shards()
    ]
    return read_parts(buffer.size(), dst, blocking, dtype, parts)


def WriteShard(
    mesh_cq: CommandQueue,
    mesh_buffer: MeshBuffer,
    src: ArrayLike | bytes,
    coord: MeshCoordinate,
    blocking: bool = False,
) -> None:
    """Fill the buffer of a device."""
    EnqueueWriteBuffer(*_of_device(mesh_cq, mesh_buffer, coord), src, blocking)


def ReadShard(
    mesh_cq: CommandQueue,
    dst: NDArray[Any] | list[int] | None,
    mesh_buffer: MeshBuffer,
    coord: MeshCoordinate,
    blocking: bool = True,
    *,
    dtype: DTypeLike = np.uint32,
) -> NDArray[Any]:
    """Read the buffer of a device."""
    queue, buffer = _of_device(mesh_cq, mesh_buffer, coord)
    return EnqueueReadBuffer(queue, buffer, dst, blocking, dtype=dtype)


def EnqueueRecordEventToHost(mesh_cq: CommandQueue) -> MeshEvent:
    """The moment after the last command, for the host to wait for."""
    return EnqueueRecordEvent(mesh_cq)


def Synchronize(mesh_device: MeshDevice, cq_id: int | None = None) -> None:
    """Wait until all commands of a device are done."""
    mesh_device.mesh_command_queue(cq_id or 0).finish()

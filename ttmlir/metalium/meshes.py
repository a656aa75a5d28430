"""Meshes of devices, which have one device here.

Source: tt-metal, tt_metal/api/tt-metalium/mesh_device.hpp, mesh_config.hpp.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ttmlir.metalium.buffers import Buffer, BufferRegion
from ttmlir.metalium.device import Device
from ttmlir.metalium.enums import (
    BufferType,
    InterleavedBufferConfig,
    ShardOrientation,
    ShardSpecBuffer,
    TensorMemoryLayout,
)
from ttmlir.metalium.enums import ShardedBufferConfig as LocalSharding
from ttmlir.metalium.errors import MetaliumError, host_call, names_fields, names_options
from ttmlir.metalium.host_api import (
    EnqueueProgram,
    EnqueueReadBuffer,
    EnqueueReadSubBuffer,
    EnqueueRecordEvent,
    EnqueueWaitForEvent,
    EnqueueWriteBuffer,
    EnqueueWriteSubBuffer,
    Event,
    open_device,
)
from ttmlir.sim.execution.program import Program
from ttmlir.sim.execution.run import CommandQueue, ProgramReport
from ttmlir.sim.options import Numerics, SimOptions

# --- Shapes ---------------------------------------------------------------------------------------
# Extents of meshes of devices, and places in them.
#
# Source: tt-metal, tt_metal/api/tt-metalium/mesh_coord.hpp.


class MeshShape:
    """Extents of a mesh of devices."""

    def __init__(self, *extents: int | list[int]) -> None:
        """The extents, one by one or as a list."""
        listed = (each if isinstance(each, list) else [each] for each in extents)
        self._extents = tuple(extent for each in listed for extent in each)
        if not all(isinstance(cast("object", each), int) for each in self._extents):
            raise MetaliumError(f"the extents of a mesh are integers, not {extents}")

    def dims(self) -> int:
        """How many dimensions there are."""
        return len(self._extents)

    def mesh_size(self) -> int:
        """How many devices there are."""
        return math.prod(self._extents)

    def __getitem__(self, index: int) -> int:
        """An extent."""
        return self._extents[index]

    def __iter__(self) -> Iterator[int]:
        """The extents."""
        return iter(self._extents)

    def __len__(self) -> int:
        """How many dimensions there are."""
        return len(self._extents)

    def __eq__(self, other: object) -> bool:
        """Whether the extents are the same."""
        return isinstance(other, MeshShape) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        """By the extents."""
        return hash(self._extents)

    def __repr__(self) -> str:
        """As tt-metal prints it."""
        return f"MeshShape({list(self._extents)})"


class MeshCoordinate:
    """A device of a mesh: its row and column."""

    def __init__(self, *places: int) -> None:
        """The place along each dimension, one by one."""
        if not places or not all(
            isinstance(cast("object", each), int) and each >= 0 for each in places
        ):
            raise MetaliumError(
                "a MeshCoordinate takes indices from 0 on, such as a row and a column, not "
                f"{places}"
            )
        self._places = places

    @staticmethod
    def zero_coordinate(dimensions: int) -> MeshCoordinate:
        """The first device of a mesh with so many dimensions."""
        return MeshCoordinate(*(0,) * dimensions)

    def dims(self) -> int:
        """How many dimensions there are."""
        return len(self._places)

    def coords(self) -> tuple[int, ...]:
        """The places."""
        return self._places

    def __getitem__(self, index: int) -> int:
        """The place along a dimension."""
        return self._places[index]

    def __eq__(self, other: object) -> bool:
        """Whether the places are the same."""
        return isinstance(other, MeshCoordinate) and self._places == other._places

    def __hash__(self) -> int:
        """By the places."""
        return hash(self._places)

    def __repr__(self) -> str:
        """As tt-metal prints it."""
        return f"MeshCoordinate({list(self._places)})"


class MeshCoordinateRange:
    """A rectangle of devices of a mesh, both corners included."""

    def __init__(
        self, start: MeshCoordinate | MeshShape, end: MeshCoordinate | None = None
    ) -> None:
        """The range between two corners, one device, or all devices of a shape."""
        match cast("object", start), cast("object", end):
            case MeshShape() as shape, None:
                first = MeshCoordinate.zero_coordinate(shape.dims())
                last = MeshCoordinate(*(extent - 1 for extent in shape))
            case MeshCoordinate() as first, None:
                last = first
            case MeshCoordinate() as first, MeshCoordinate() as last:
                pass
            case _:
                raise MetaliumError(
                    "a MeshCoordinateRange takes a MeshShape, or one or two MeshCoordinates, not "
                    f"{start!r} and {end!r}"
                )
        if first.dims() != last.dims() or any(
            low > high for low, high in zip(first.coords(), last.coords(), strict=True)
        ):
            raise MetaliumError(f"a range goes from its first to its last device: {first}, {last}")
        self._start, self._end = first, last

    def start_coord(self) -> MeshCoordinate:
        """The first corner."""
        return self._start

    def end_coord(self) -> MeshCoordinate:
        """The last corner."""
        return self._end

    def shape(self) -> MeshShape:
        """The extents."""
        pairs = zip(self._start.coords(), self._end.coords(), strict=True)
        return MeshShape(*(high - low + 1 for low, high in pairs))

    def contains(self, place: MeshCoordinate) -> bool:
        """Whether a device is in the range."""
        return place in set(self)

    def __iter__(self) -> Iterator[MeshCoordinate]:
        """The devices, row by row."""
        pairs = zip(self._start.coords(), self._end.coords(), strict=True)
        for places in itertools.product(*(range(low, high + 1) for low, high in pairs)):
            yield MeshCoordinate(*places)

    def __eq__(self, other: object) -> bool:
        """Whether the corners are the same."""
        return isinstance(other, MeshCoordinateRange) and (self._start, self._end) == (
            other._start,
            other._end,
        )

    def __hash__(self) -> int:
        """By the corners."""
        return hash((self._start, self._end))

    def __repr__(self) -> str:
        """As a call that makes it."""
        return f"MeshCoordinateRange({self._start}, {self._end})"


def check_place(place: object) -> None:
    """MetaliumError for what is not the one device of a mesh."""
    if not isinstance(place, MeshCoordinate):
        raise MetaliumError(f"a device of a mesh is named by a MeshCoordinate, not by {place!r}")
    if any(place.coords()):
        raise MetaliumError(f"{place} is outside of the mesh, which has one row and one column")


# --- Devices --------------------------------------------------------------------------------------
# Meshes of devices, which have one device here.
#
# Source: tt-metal, tt_metal/api/tt-metalium/mesh_device.hpp, mesh_config.hpp.


@names_fields
@dataclass(frozen=True)
class MeshDeviceConfig:
    """Which devices a mesh is made of."""

    mesh_shape: MeshShape
    offset: MeshCoordinate | None = None
    physical_device_ids: tuple[int, ...] = ()


class MeshDevice(Device):
    """A mesh of one device, which it is at the same time; `create_unit_mesh` makes it."""

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
        print_line: Callable[[str], None] | None = None,
    ) -> MeshDevice:
        """Open a simulated device of a board; the options are those of `CreateDevice`."""
        return open_device(
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
        )

    @classmethod
    def create(cls, config: MeshDeviceConfig) -> MeshDevice:
        """Open the device of a mesh of 1x1; MetaliumError for larger ones."""
        if not isinstance(cast("object", config), MeshDeviceConfig):
            raise MetaliumError(f"MeshDevice.create takes a MeshDeviceConfig, not {config!r}")
        if config.mesh_shape.mesh_size() != 1:
            raise MetaliumError(
                f"{config.mesh_shape} has {config.mesh_shape.mesh_size()} devices; a mesh has one "
                "device here: open others by MeshDevice.create_unit_mesh(device_id)"
            )
        return cls.create_unit_mesh(*config.physical_device_ids[:1])

    def __repr__(self) -> str:
        """Number, chip, numerics, and whether it was closed."""
        return f"Mesh{super().__repr__()}"

    def create_queue(self) -> MeshCommandQueue:
        """The queue of a new device."""

        return MeshCommandQueue(self.simulated)

    def mesh_command_queue(self, cq_id: int = 0) -> MeshCommandQueue:
        """The queue that commands go to; MetaliumError if the device is closed."""
        return cast("MeshCommandQueue", self.command_queue(cq_id))

    def shape(self) -> MeshShape:
        """One row and one column."""
        return MeshShape(1, 1)

    def num_rows(self) -> int:
        """One."""
        return 1

    def num_cols(self) -> int:
        """One."""
        return 1

    def num_devices(self) -> int:
        """One."""
        return 1

    def get_device_ids(self) -> list[int]:
        """The number of the device."""
        return [self.id()]

    def get_devices(self) -> list[Device]:
        """The device."""
        return [self]

    def get_device(self, row: int | MeshCoordinate, column: int | None = None) -> Device:
        """The device at a place; MetaliumError if it is not the first one."""
        match row, column:
            case MeshCoordinate(), None:
                check_place(row)
            case int(), int():
                check_place(MeshCoordinate(row, column))
            case int(), None:
                if row != self.id():
                    raise MetaliumError(f"the mesh has device {self.id()}, no device {row}")
            case _:
                raise MetaliumError("get_device takes a MeshCoordinate, or a row and a column")
        return self


# --- Mesh buffers ---------------------------------------------------------------------------------
# Buffers of meshes, which are buffers of their one device.
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
    """Each device has a part of the buffer; with one device that is all of it."""

    global_size: int
    global_buffer_shape: tuple[int, int]
    shard_shape: tuple[int, int] = (0, 0)
    """Rows and columns of a device's part; 0 stands for all of them."""
    shard_orientation: ShardOrientation = ShardOrientation.ROW_MAJOR

    def check_shards(self) -> None:
        """MetaliumError for parts that one device does not have all of."""
        shard = tuple(
            part or whole
            for part, whole in zip(self.shard_shape, self.global_buffer_shape, strict=True)
        )
        if shard != self.global_buffer_shape:
            raise MetaliumError(
                f"shards of {list(shard)} of a buffer of {list(self.global_buffer_shape)} are for "
                "several devices; a mesh has one device here, so that its shard is all of it. "
                "Shards on cores are those of DeviceLocalBufferConfig(sharding_args=...)"
            )


class MeshBuffer(Buffer):
    """Memory on the device of a mesh; `create` makes it."""

    @staticmethod
    @names_options
    def create(
        mesh_buffer_config: ReplicatedBufferConfig | ShardedBufferConfig,
        device_local_config: DeviceLocalBufferConfig,
        mesh_device: MeshDevice,
        address: int | None = None,
    ) -> MeshBuffer:
        """Take memory, at an address if it is given."""
        match cast("object", mesh_buffer_config):
            case ReplicatedBufferConfig(size):
                pass
            case ShardedBufferConfig(global_size=size) as config:
                config.check_shards()
            case _:
                raise MetaliumError(
                    "a MeshBuffer takes a ReplicatedBufferConfig or a distributed "
                    f"ShardedBufferConfig, not {mesh_buffer_config!r}"
                )
        local = device_local_config
        if not isinstance(cast("object", local), DeviceLocalBufferConfig):
            raise MetaliumError(f"a MeshBuffer takes a DeviceLocalBufferConfig, not {local!r}")
        if not isinstance(cast("object", mesh_device), MeshDevice):
            raise MetaliumError(
                f"a MeshBuffer is on a MeshDevice, not on {mesh_device!r}; "
                "MeshDevice.create_unit_mesh(0) opens one"
            )
        sharding = local.sharding_args
        made = MeshBuffer(
            InterleavedBufferConfig(
                device=mesh_device,
                size=size,
                page_size=local.page_size,
                buffer_type=local.buffer_type,
                buffer_layout=sharding.buffer_layout,
            )
            if sharding.shard_spec is None
            else LocalSharding(
                device=mesh_device,
                size=size,
                page_size=local.page_size,
                buffer_type=local.buffer_type,
                buffer_layout=sharding.buffer_layout,
                shard_parameters=sharding.shard_spec,
            ),
            address=address,
            bottom_up=local.bottom_up,
        )
        made._mesh_config = mesh_buffer_config
        made._local_config = local
        return made

    _mesh_config: ReplicatedBufferConfig | ShardedBufferConfig
    _local_config: DeviceLocalBufferConfig

    def __repr__(self) -> str:
        """Size and place."""
        return f"Mesh{super().__repr__()}"

    def device_local_size(self) -> int:
        """Bytes on a device."""
        return self.size()

    def device_local_config(self) -> DeviceLocalBufferConfig:
        """What the buffer of the device was made from."""
        return self._local_config

    def global_config(self) -> ReplicatedBufferConfig | ShardedBufferConfig:
        """What the buffer was made from."""
        return self._mesh_config

    def get_backing_buffer(self) -> Buffer:
        """The buffer of the device."""
        return self

    def get_reference_buffer(self) -> Buffer:
        """The buffer of the first device."""
        return self

    def get_device_buffer(self, device_coord: MeshCoordinate) -> Buffer:
        """The buffer of a device."""
        check_place(device_coord)
        return self

    def deallocate(self) -> None:
        """Give the memory back."""
        with host_call():
            self.simulated.deallocate()


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
        check_place(device_range.end_coord())
        if self._programs:
            raise MetaliumError(
                f"the workload has a program for {device_range.start_coord()} already; put its "
                "kernels into one program, or enqueue two workloads"
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
    """The commands of the device of a mesh."""

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
            check_place(each.shard_coord)
            if each.region is None:
                EnqueueWriteBuffer(self, mesh_buffer, each.host_data, blocking)
            else:
                EnqueueWriteSubBuffer(self, mesh_buffer, each.host_data, each.region, blocking)

    def enqueue_read_shards(
        self,
        shard_data_transfers: Sequence[ShardDataTransfer],
        mesh_buffer: MeshBuffer,
        blocking: bool = True,
    ) -> None:
        """Read from devices, whole buffers or regions; `host_data` is filled, or made if None."""
        for each in shard_data_transfers:
            check_place(each.shard_coord)
            if each.region is None:
                read = EnqueueReadBuffer(self, mesh_buffer, each.host_data, blocking)
            else:
                read = EnqueueReadSubBuffer(
                    self, mesh_buffer, each.host_data, each.region, blocking
                )
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
    """Run a workload; returns what its threads did."""
    if not isinstance(cast("object", mesh_workload), MeshWorkload):
        raise MetaliumError(
            f"{mesh_workload!r} is no MeshWorkload; add the program to one: "
            "workload.add_program(MeshCoordinateRange(mesh_device.shape()), program)"
        )
    programs = list(mesh_workload.get_programs().values())
    if not programs:
        raise MetaliumError("the workload has no program; call add_program first")
    return EnqueueProgram(mesh_cq, programs[0], blocking)


def EnqueueWriteMeshBuffer(
    mesh_cq: CommandQueue, mesh_buffer: MeshBuffer, src: ArrayLike | bytes, blocking: bool = False
) -> None:
    """Fill a buffer with the bytes of an array of any type; a list of integers is of uint32."""
    EnqueueWriteBuffer(mesh_cq, mesh_buffer, src, blocking)


def EnqueueReadMeshBuffer(
    mesh_cq: CommandQueue,
    dst: NDArray[Any] | list[int] | None,
    mesh_buffer: MeshBuffer,
    blocking: bool = True,
    *,
    dtype: DTypeLike = np.uint32,
) -> NDArray[Any]:
    """Read a buffer into an array or a list, or with None into a new array of type `dtype`."""
    if isinstance(cast("object", dst), Buffer):
        raise MetaliumError(
            "EnqueueReadMeshBuffer takes the destination before the buffer: (queue, result, buffer)"
        )
    return EnqueueReadBuffer(mesh_cq, mesh_buffer, dst, blocking, dtype=dtype)


def WriteShard(
    mesh_cq: CommandQueue,
    mesh_buffer: MeshBuffer,
    src: ArrayLike | bytes,
    coord: MeshCoordinate,
    blocking: bool = False,
) -> None:
    """Fill the buffer of a device."""
    check_place(coord)
    EnqueueWriteBuffer(mesh_cq, mesh_buffer, src, blocking)


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
    check_place(coord)
    return EnqueueReadMeshBuffer(mesh_cq, dst, mesh_buffer, blocking, dtype=dtype)


def EnqueueRecordEventToHost(mesh_cq: CommandQueue) -> MeshEvent:
    """The moment after the last command, for the host to wait for."""
    return EnqueueRecordEvent(mesh_cq)


def Synchronize(mesh_device: MeshDevice, cq_id: int | None = None) -> None:
    """Wait until all commands of a device are done."""
    mesh_device.mesh_command_queue(cq_id or 0).finish()

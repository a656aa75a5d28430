"""Programs of meshes, and the queue that they and buffers go through.

Source: tt-metal, tt_metal/api/tt-metalium/distributed.hpp, mesh_workload.hpp,
mesh_command_queue.hpp.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ttmlir.metalium.buffers import Buffer, BufferRegion
from ttmlir.metalium.distributed.shapes import (
    MeshCoordinate,
    MeshCoordinateRange,
    check_place,
)
from ttmlir.metalium.errors import MetaliumError, names_fields
from ttmlir.metalium.queues import (
    EnqueueProgram,
    EnqueueReadBuffer,
    EnqueueReadSubBuffer,
    EnqueueRecordEvent,
    EnqueueWaitForEvent,
    EnqueueWriteBuffer,
    EnqueueWriteSubBuffer,
    Event,
)
from ttmlir.sim.execution.command_queue import CommandQueue
from ttmlir.sim.execution.program import Program
from ttmlir.sim.execution.run import ProgramReport

if TYPE_CHECKING:
    from ttmlir.metalium.distributed.devices import MeshDevice
    from ttmlir.metalium.distributed.mesh_buffers import MeshBuffer

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

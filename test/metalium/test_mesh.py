"""Meshes of one device: the host API of 2026 does what that of 2024 does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ttmlir.metalium import (
    Buffer,
    BufferRegion,
    BufferType,
    CircularBufferConfig,
    CoreCoord,
    CoreRange,
    CoreRangeSet,
    CreateCircularBuffer,
    CreateKernelFromString,
    CreateProgram,
    DataFormat,
    MetaliumError,
    Program,
    ReaderDataMovementConfig,
    SetRuntimeArgs,
    ShardOrientation,
    ShardSpecBuffer,
    TensorAccessorArgs,
    TensorMemoryLayout,
)
from ttmlir.metalium.distributed import (
    AddProgramToMeshWorkload,
    BufferShardingArgs,
    CreateMeshWorkload,
    DeviceLocalBufferConfig,
    EnqueueMeshWorkload,
    EnqueueReadMeshBuffer,
    EnqueueRecordEvent,
    EnqueueRecordEventToHost,
    EnqueueWaitForEvent,
    EnqueueWriteMeshBuffer,
    EventQuery,
    EventSynchronize,
    Finish,
    MeshBuffer,
    MeshCoordinate,
    MeshCoordinateRange,
    MeshDevice,
    MeshDeviceConfig,
    MeshEvent,
    MeshShape,
    MeshWorkload,
    ReadShard,
    ReplicatedBufferConfig,
    ShardDataTransfer,
    ShardedBufferConfig,
    Synchronize,
    WriteShard,
)

PAGE = 64

COPY = """
#include "api/dataflow/dataflow_api.h"
void kernel_main() {
    const auto from = TensorAccessor(TensorAccessorArgs<0>(), get_arg_val<uint32_t>(0), 64);
    const auto to = TensorAccessor(TensorAccessorArgs<1>(), get_arg_val<uint32_t>(1), 64);
    for (uint32_t i = 0; i < get_arg_val<uint32_t>(2); i++) {
        cb_reserve_back(0, 1);
        noc_async_read_page(i, from, get_write_ptr(0));
        noc_async_read_barrier();
        cb_push_back(0, 1);
        cb_wait_front(0, 1);
        noc_async_write_page(i, to, get_read_ptr(0));
        noc_async_write_barrier();
        cb_pop_front(0, 1);
    }
}
"""


def make_buffer(mesh: MeshDevice, pages: int) -> MeshBuffer:
    """Pages of 16 words in DRAM."""
    local = DeviceLocalBufferConfig(page_size=PAGE, buffer_type=BufferType.DRAM)
    return MeshBuffer.create(ReplicatedBufferConfig(pages * PAGE), local, mesh)


def copy_program(source: MeshBuffer, target: MeshBuffer) -> Program:
    """A program that copies the first buffer to the second."""
    program = CreateProgram()
    config = CircularBufferConfig(2 * PAGE)
    config.index(0).set_data_format(DataFormat.UInt32).set_page_size(PAGE)
    CreateCircularBuffer(program, (0, 0), config)
    arguments: list[int] = []
    for each in (source, target):
        TensorAccessorArgs(each).append_to(arguments)
    kernel = CreateKernelFromString(program, COPY, (0, 0), ReaderDataMovementConfig(arguments))
    SetRuntimeArgs(program, kernel, (0, 0), [source.address(), target, source.num_pages()])
    return program


def test_a_workload_runs_as_often_as_it_is_enqueued() -> None:
    """Through buffers of a mesh, with events and regions."""
    mesh = MeshDevice.create_unit_mesh(0)
    queue = mesh.mesh_command_queue()
    source, target = make_buffer(mesh, 5), make_buffer(mesh, 5)
    workload = MeshWorkload()
    workload.add_program(MeshCoordinateRange(mesh.shape()), copy_program(source, target))
    assert len(workload.get_programs()) == 1
    words = np.random.default_rng(3).integers(0, 1 << 32, 80, np.uint32)
    EnqueueWriteMeshBuffer(queue, source, words, False)
    EnqueueMeshWorkload(queue, workload, False)
    result: list[int] = []
    EnqueueReadMeshBuffer(queue, result, target, True)
    assert result == words.tolist()
    region = BufferRegion(2 * PAGE, PAGE)
    more = np.arange(16, dtype=np.uint32)
    place = MeshCoordinate(0, 0)
    queue.enqueue_write_shards(
        source, [ShardDataTransfer(shard_coord=place, host_data=more, region=region)]
    )
    queue.enqueue_mesh_workload(workload, True)
    words[32:48] = more
    read = np.zeros(80, np.uint32)
    ReadShard(queue, read, target, place, False)
    assert (read == 0xFFFF_FFFF).all()
    event = EnqueueRecordEventToHost(queue)
    EnqueueWaitForEvent(queue, event)
    EventSynchronize(event)
    np.testing.assert_array_equal(read, words)
    part = ShardDataTransfer(shard_coord=place, region=region)
    queue.enqueue_read_shards([part], target)
    assert part.host_data.tolist() == more.tolist()
    assert mesh.close()


def test_names_of_2025() -> None:
    """Workloads by functions; a shard is the buffer of the only device; events and queues."""
    mesh = MeshDevice.create(MeshDeviceConfig(MeshShape(1, 1)))
    queue = mesh.mesh_command_queue(0)
    source, target = make_buffer(mesh, 2), make_buffer(mesh, 2)
    WriteShard(queue, source, list(range(32)), MeshCoordinate(0, 0))
    workload = CreateMeshWorkload()
    AddProgramToMeshWorkload(
        workload, copy_program(source, target), MeshCoordinateRange(MeshCoordinate(0, 0))
    )
    EnqueueMeshWorkload(queue, workload)
    later = np.empty(32, np.uint32)
    queue.enqueue_read_mesh_buffer(later, target, blocking=False)
    Synchronize(mesh)
    assert later.tolist() == list(range(32))
    EnqueueReadMeshBuffer(queue, later, source, False)
    assert EventQuery(queue.enqueue_record_event())
    Finish(queue)
    assert [mesh.num_devices(), mesh.num_rows(), mesh.num_cols()] == [1, 1, 1]
    assert mesh.get_device(0, 0) is mesh.get_device(MeshCoordinate(0, 0)) is mesh.get_device(0)
    assert mesh.get_devices() == [mesh]


def test_sharded_buffers_have_their_pages_on_cores() -> None:
    """4x2 pages in shards of 2x1 pages, column by column over two columns of cores."""
    mesh = MeshDevice.create_unit_mesh(0)
    spec = ShardSpecBuffer(
        CoreRangeSet(CoreRange((1, 0), (2, 1))),
        (2, 16),
        ShardOrientation.ROW_MAJOR,
        (1, 16),
        (4, 2),
    )
    buffer = MeshBuffer.create(
        ShardedBufferConfig(global_size=8 * PAGE, global_buffer_shape=(4, 32)),
        DeviceLocalBufferConfig(
            page_size=PAGE,
            buffer_type=BufferType.L1,
            sharding_args=BufferShardingArgs(spec, TensorMemoryLayout.BLOCK_SHARDED),
        ),
        mesh,
    )
    assert buffer.buffer_layout() is TensorMemoryLayout.BLOCK_SHARDED
    assert (buffer.is_l1(), buffer.is_dram(), buffer.device_local_size()) == (True, False, 512)
    # Page 5 is row 2, column 1: the first of the shard on the second row and column of cores.
    assert buffer.page_address(3, 5) == buffer.address()
    assert buffer.page_address(3, 7) == buffer.address() + PAGE
    assert buffer.noc_coordinates(3) == mesh.worker_core_from_logical_core(CoreCoord(2, 1))
    with pytest.raises(MetaliumError, match="page 7 is in bank 3, not in bank 0"):
        buffer.page_address(0, 7)


def test_places_of_interleaved_pages() -> None:
    """Bank after bank; small pages are as far apart as the alignment of DRAM says."""
    mesh = MeshDevice.create_unit_mesh(0)
    local = DeviceLocalBufferConfig(page_size=8)
    buffer = MeshBuffer.create(ReplicatedBufferConfig(13 * 8), local, mesh)
    assert (buffer.aligned_page_size(), buffer.aligned_size(), buffer.num_pages()) == (32, 416, 13)
    assert buffer.page_address(0, 12) == buffer.address() + 32
    chip = mesh.simulated.chip
    assert [buffer.noc_coordinates(bank) for bank in range(12)] == list(chip.dram)
    assert buffer.get_device_buffer(MeshCoordinate(0, 0)) is buffer.get_backing_buffer()
    top = MeshBuffer.create(
        ReplicatedBufferConfig(64), DeviceLocalBufferConfig(page_size=64, bottom_up=False), mesh
    )
    assert top.address() > 1 << 29
    fixed = MeshBuffer.create(ReplicatedBufferConfig(64), local, mesh, 0x10000)
    assert fixed.address() == 0x10000
    fixed.deallocate()
    assert not fixed.is_allocated()


def test_shapes_and_ranges() -> None:
    """Coordinates run row by row."""
    whole = MeshCoordinateRange(MeshShape(2, 3))
    assert [each.coords() for each in whole] == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    part = MeshCoordinateRange(MeshCoordinate(0, 1), MeshCoordinate(1, 2))
    assert part.shape() == MeshShape(2, 2)
    assert part.contains(MeshCoordinate(1, 1))
    assert not part.contains(MeshCoordinate(1, 0))
    assert MeshCoordinate.zero_coordinate(2) == MeshCoordinate(0, 0)
    assert part == MeshCoordinateRange(MeshCoordinate(0, 1), MeshCoordinate(1, 2)) != whole


def with_buffer(
    call: Callable[[MeshDevice, MeshBuffer], object],
) -> Callable[[MeshDevice], object]:
    """What a call does with a buffer of two pages."""
    return lambda mesh: call(mesh, make_buffer(mesh, 2))


def two_programs(mesh: MeshDevice) -> None:
    """A workload with two programs for one device."""
    workload = MeshWorkload()
    for _ in range(2):
        workload.add_program(MeshCoordinateRange(mesh.shape()), CreateProgram())


def run_on(mesh: MeshDevice, shape: MeshShape) -> None:
    """Run a program on devices of a shape."""
    workload = MeshWorkload()
    workload.add_program(MeshCoordinateRange(shape), CreateProgram())
    EnqueueMeshWorkload(mesh.mesh_command_queue(), workload)


WRONG: list[tuple[Callable[[MeshDevice], object], str]] = [
    (
        lambda _: MeshDevice.create(MeshDeviceConfig(MeshShape(2, 4))),
        r"has 8 devices, but board n150 has 1; boards with as many: p150x8, t3000, galaxy",
    ),
    (
        lambda _: MeshDevice.create_unit_mesh(0, boad="n150"),
        "no option 'boad'; did you mean 'board'",
    ),
    (lambda mesh: mesh.mesh_command_queue(1), "command queue 1 does not exist"),
    (lambda mesh: mesh.get_device(0, 1), r"MeshCoordinate\(\[0, 1\]\) is outside of the mesh"),
    (lambda mesh: mesh.get_device(3), "the mesh has device 0, no device 3"),
    (
        lambda mesh: EnqueueMeshWorkload(mesh.mesh_command_queue(), CreateProgram()),
        r"is no MeshWorkload; add the program to one: workload.add_program\(MeshCoord",
    ),
    (
        lambda mesh: EnqueueMeshWorkload(mesh.mesh_command_queue(), MeshWorkload()),
        "the workload has no program; call add_program first",
    ),
    (lambda mesh: EnqueueMeshWorkload(mesh, MeshWorkload()), "the workload has no program"),
    (two_programs, r"has a program for MeshCoordinate\(\[0, 0\]\) already"),
    (
        lambda mesh: MeshWorkload().add_program(mesh.shape(), CreateProgram()),
        r"add_program takes a MeshCoordinateRange, such as MeshCoordinateRange\(mesh_device.shape",
    ),
    (
        lambda mesh: run_on(mesh, MeshShape(1, 2)),
        r"MeshCoordinate\(\[0, 1\]\) is outside of the mesh, which is a MeshShape\(\[1, 1\]\)",
    ),
    (lambda _: EventSynchronize(MeshEvent()), "was not recorded; call EnqueueRecordEvent first"),
    (lambda mesh: EnqueueRecordEvent(mesh), "is no command queue"),
    (lambda _: MeshCoordinate(-1, 0), "takes indices from 0 on"),
    (
        lambda _: MeshCoordinateRange(MeshCoordinate(1, 0), MeshCoordinate(0, 0)),
        "a range goes from its first to its last device",
    ),
    (lambda _: DeviceLocalBufferConfig(), "DeviceLocalBufferConfig: missing .*'page_size'"),
    (
        lambda mesh: MeshBuffer.create(
            ShardedBufferConfig(global_size=256, global_buffer_shape=(8, 8), shard_shape=(4, 8)),
            DeviceLocalBufferConfig(page_size=64),
            mesh,
        ),
        r"shards of \[4, 8\] of a buffer of \[8, 8\] are 2, for 1 of MeshShape\(\[1, 1\]\)",
    ),
    (
        lambda mesh: MeshBuffer.create(64, DeviceLocalBufferConfig(page_size=64), mesh),
        "takes a ReplicatedBufferConfig or a distributed ShardedBufferConfig, not 64",
    ),
    (
        with_buffer(
            lambda mesh, buffer: EnqueueReadMeshBuffer(mesh.mesh_command_queue(), buffer, [])
        ),
        r"takes the destination before the buffer: \(queue, result, buffer\)",
    ),
    (
        with_buffer(
            lambda mesh, buffer: EnqueueWriteMeshBuffer(
                mesh.mesh_command_queue(), buffer, np.zeros(32)
            )
        ),
        "256 bytes are written to a buffer of 128; write all of it: each number of float64 has 8",
    ),
    (
        with_buffer(
            lambda mesh, buffer: EnqueueWriteMeshBuffer(
                mesh.mesh_command_queue(), buffer, [0.5] * 32
            )
        ),
        "a list of float64 has no size in bytes; give an array",
    ),
    (
        with_buffer(
            lambda mesh, buffer: mesh.mesh_command_queue().enqueue_write_shards(
                buffer,
                [
                    ShardDataTransfer(
                        shard_coord=MeshCoordinate(0, 0),
                        host_data=bytes(64),
                        region=BufferRegion(32, 64),
                    )
                ],
            )
        ),
        "a region of 64 bytes from 32 on is not made of whole pages of 64 bytes",
    ),
    (
        with_buffer(
            lambda mesh, buffer: mesh.mesh_command_queue().enqueue_read_shards(
                [ShardDataTransfer(shard_coord=MeshCoordinate(0, 0), region=BufferRegion(64, 128))],
                buffer,
            )
        ),
        "a region of 128 bytes from 64 on is not in a buffer of 128 bytes",
    ),
]


@pytest.mark.parametrize(("case", "message"), WRONG)
def test_wrong_calls(case: Callable[[MeshDevice], object], message: str) -> None:
    """Each says what is allowed."""
    with pytest.raises(MetaliumError, match=message):
        case(MeshDevice.create_unit_mesh(0))


def test_buffers_of_a_mesh_are_buffers() -> None:
    """So that what takes buffers of a device takes them."""
    assert issubclass(MeshBuffer, Buffer)

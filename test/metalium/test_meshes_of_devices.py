"""Meshes of several devices: what each has of a buffer, and which program it runs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ttmlir.metalium import (
    BufferType,
    CircularBufferConfig,
    CreateCircularBuffer,
    CreateKernelFromString,
    CreateProgram,
    DataFormat,
    MetaliumError,
    Program,
    ReaderDataMovementConfig,
    SetRuntimeArgs,
    ShardOrientation,
    TensorAccessorArgs,
)
from ttmlir.metalium.distributed import (
    DeviceLocalBufferConfig,
    EnqueueMeshWorkload,
    EnqueueReadMeshBuffer,
    EnqueueWriteMeshBuffer,
    Finish,
    MeshBuffer,
    MeshCoordinate,
    MeshCoordinateRange,
    MeshDevice,
    MeshDeviceConfig,
    MeshShape,
    MeshWorkload,
    ReadShard,
    ReplicatedBufferConfig,
    ShardedBufferConfig,
    WriteShard,
)

ROWS, COLUMNS = 2, 3
HEIGHT, WIDTH = 4, 16
"""Extents of the mesh, and of the part of a matrix of words that a device has."""

ADD = """
#include "api/dataflow/dataflow_api.h"
void kernel_main() {
    const auto tensor = TensorAccessor(TensorAccessorArgs<0>(), get_arg_val<uint32_t>(0), 64);
    for (uint32_t page = 0; page < 4; page++) {
        cb_reserve_back(0, 1);
        noc_async_read_page(page, tensor, get_write_ptr(0));
        noc_async_read_barrier();
        volatile uint32_t* words = (volatile uint32_t*)get_write_ptr(0);
        for (uint32_t i = 0; i < 16; i++) {
            words[i] += get_arg_val<uint32_t>(1);
        }
        noc_async_write_page(page, tensor, get_write_ptr(0));
        noc_async_write_barrier();
    }
}
"""


def open_mesh(rows: int = ROWS, columns: int = COLUMNS) -> MeshDevice:
    """Some of the devices of a board that has 2x4."""
    return MeshDevice.create(MeshDeviceConfig(MeshShape(rows, columns)), board="t3000")


def shard_buffer(
    mesh: MeshDevice,
    shape: tuple[int, int] = (ROWS * HEIGHT, COLUMNS * WIDTH),
    shard: tuple[int, int] = (HEIGHT, WIDTH),
    orientation: ShardOrientation = ShardOrientation.ROW_MAJOR,
) -> MeshBuffer:
    """A matrix of words, distributed over the devices of a mesh."""
    config = ShardedBufferConfig(
        global_size=4 * shape[0] * shape[1],
        global_buffer_shape=shape,
        shard_shape=shard,
        shard_orientation=orientation,
    )
    local = DeviceLocalBufferConfig(page_size=64, buffer_type=BufferType.DRAM)
    return MeshBuffer.create(config, local, mesh)


def add_program(buffer: MeshBuffer, summand: int) -> Program:
    """Adds a number to what a device has."""
    program = CreateProgram()
    config = CircularBufferConfig(64)
    config.index(0).set_data_format(DataFormat.UInt32).set_page_size(64)
    CreateCircularBuffer(program, (0, 0), config)
    arguments: list[int] = []
    TensorAccessorArgs(buffer).append_to(arguments)
    kernel = CreateKernelFromString(program, ADD, (0, 0), ReaderDataMovementConfig(arguments))
    SetRuntimeArgs(program, kernel, (0, 0), [buffer.address(), summand])
    return program


def shards_of(mesh: MeshDevice, buffer: MeshBuffer) -> list[np.ndarray]:
    """What each device has, row by row."""
    queue = mesh.mesh_command_queue()
    places = MeshCoordinateRange(mesh.shape())
    return [ReadShard(queue, None, buffer, place).reshape(HEIGHT, -1) for place in places]


def test_programs_of_a_workload_run_on_their_devices() -> None:
    """The left column of devices adds another number than the rest; places are those of rows."""
    mesh = open_mesh()
    assert mesh.get_device_ids() == [0, 1, 2, 4, 5, 6]
    assert (mesh.num_rows(), mesh.num_cols(), mesh.num_devices()) == (2, 3, 6)
    assert mesh.get_device(1, 2).id() == mesh.get_device(6).id() == 6
    queue = mesh.mesh_command_queue()
    buffer = shard_buffer(mesh)
    assert (buffer.size(), buffer.device_local_size()) == (1536, 256)
    matrix = np.arange(ROWS * HEIGHT * COLUMNS * WIDTH, dtype=np.uint32).reshape(8, 48)
    EnqueueWriteMeshBuffer(queue, buffer, matrix)
    left = MeshCoordinateRange(MeshCoordinate(0, 0), MeshCoordinate(1, 0))
    right = MeshCoordinateRange(MeshCoordinate(0, 1), MeshCoordinate(1, 2))
    workload = MeshWorkload()
    workload.add_program(left, add_program(buffer, 1000))
    workload.add_program(right, add_program(buffer, 7))
    EnqueueMeshWorkload(queue, workload)
    expected = matrix + np.where(np.arange(48) < WIDTH, 1000, 7).astype(np.uint32)
    read = np.zeros_like(matrix)
    EnqueueReadMeshBuffer(queue, read, buffer, blocking=False)
    assert (read == 0xFFFF_FFFF).all()
    Finish(queue)
    np.testing.assert_array_equal(read, expected)
    parts = [each for row in np.split(expected, 2) for each in np.split(row, 3, axis=1)]
    for part, found in zip(parts, shards_of(mesh, buffer), strict=True):
        np.testing.assert_array_equal(found, part)
    WriteShard(queue, buffer, np.zeros(64, np.uint32), MeshCoordinate(1, 1))
    EnqueueReadMeshBuffer(queue, read, buffer)
    expected[HEIGHT:, WIDTH : 2 * WIDTH] = 0
    np.testing.assert_array_equal(read, expected)
    assert mesh.close()
    with pytest.raises(MetaliumError, match="device 0 is closed"):
        mesh.mesh_command_queue()


@pytest.mark.parametrize(
    ("shape", "shard", "orientation", "owner"),
    [
        # Shards go to devices by rows of the mesh, or by its columns.
        ((8, 48), (4, 16), ShardOrientation.COL_MAJOR, [0, 2, 4, 1, 3, 5]),
        # One extent is whole on each device: columns of the mesh have the same shard, or rows.
        ((4, 48), (0, 16), ShardOrientation.ROW_MAJOR, [0, 1, 2, 0, 1, 2]),
        ((8, 16), (4, 0), ShardOrientation.COL_MAJOR, [0, 0, 0, 1, 1, 1]),
        ((4, 16), (0, 0), ShardOrientation.ROW_MAJOR, [0, 0, 0, 0, 0, 0]),
    ],
)
def test_devices_have_the_shards_that_are_theirs(
    shape: tuple[int, int], shard: tuple[int, int], orientation: ShardOrientation, owner: list[int]
) -> None:
    """`owner` has the number of the shard of each device, row by row."""
    mesh = open_mesh()
    buffer = shard_buffer(mesh, shape, shard, orientation)
    matrix = np.arange(shape[0] * shape[1], dtype=np.uint32).reshape(shape)
    EnqueueWriteMeshBuffer(mesh.mesh_command_queue(), buffer, matrix)
    rows = np.split(matrix, shape[0] // HEIGHT)
    parts = [each for row in rows for each in np.split(row, shape[1] // WIDTH, axis=1)]
    for number, found in zip(owner, shards_of(mesh, buffer), strict=True):
        np.testing.assert_array_equal(found, parts[number])
    whole = EnqueueReadMeshBuffer(mesh.mesh_command_queue(), None, buffer)
    np.testing.assert_array_equal(whole.reshape(shape), matrix)


def test_a_replicated_buffer_is_on_each_device() -> None:
    """At one address; it is read from one of them."""
    mesh = open_mesh(1, 2)
    queue = mesh.mesh_command_queue()
    local = DeviceLocalBufferConfig(page_size=64)
    buffer = MeshBuffer.create(ReplicatedBufferConfig(HEIGHT * 64), local, mesh)
    words = np.arange(HEIGHT * 16, dtype=np.uint32)
    EnqueueWriteMeshBuffer(queue, buffer, words)
    for found in shards_of(mesh, buffer):
        np.testing.assert_array_equal(found.reshape(-1), words)
    assert {each.address() for each in buffer.buffers} == {buffer.address()}
    with pytest.raises(MetaliumError, match="each of 2 devices has a copy of the buffer; ReadSha"):
        EnqueueReadMeshBuffer(queue, None, buffer)
    buffer.deallocate()
    with pytest.raises(MetaliumError, match="was deallocated"):
        ReadShard(queue, None, buffer, MeshCoordinate(0, 1))


def test_meshes_that_are_no_part_of_the_board_s() -> None:
    """A line of eight goes back along the second row; a part begins where the offset says."""
    assert open_mesh(1, 8).get_device_ids() == [0, 1, 2, 3, 7, 6, 5, 4]
    assert open_mesh(4, 2).get_device_ids() == [*range(8)]
    part = MeshDeviceConfig(MeshShape(2, 2), MeshCoordinate(0, 1))
    assert MeshDevice.create(part, board="t3000").get_device_ids() == [1, 2, 5, 6]
    some = MeshDeviceConfig(MeshShape(1, 2), None, (5, 3))
    assert MeshDevice.create(some, board="t3000").get_device_ids() == [5, 3]


WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: open_mesh(0, 2), r"MeshShape\(\[0, 2\]\) has no devices"),
    (lambda: open_mesh(5, 8), "has 40 devices, but board t3000 has 8; no board has as many"),
    (
        lambda: MeshDevice.create(
            MeshDeviceConfig(MeshShape(2, 2), MeshCoordinate(1, 0)), board="t3000"
        ),
        r"from MeshCoordinate\(\[1, 0\]\) on is not in the mesh of board t3000, which is MeshSh",
    ),
    (
        lambda: MeshDevice.create(MeshDeviceConfig(MeshShape(1, 2), None, (3, 3)), board="t3000"),
        r"MeshShape\(\[1, 2\]\) takes 2 different devices, not \[3, 3\]",
    ),
    (lambda: shard_buffer(open_mesh(), (9, 48)), r"a buffer of \[9, 48\] is not made of shards of"),
    (lambda: shard_buffer(open_mesh(), (12, 48)), r"are 9, for 6 of MeshShape\(\[2, 3\]\)"),
    (lambda: shard_buffer(open_mesh(), (4, 64), (0, 16)), r"are 4, for 3 of MeshShape\(\[2, 3\]\)"),
    (
        lambda: MeshBuffer.create(
            ShardedBufferConfig(global_size=100, global_buffer_shape=(8, 6), shard_shape=(4, 2)),
            DeviceLocalBufferConfig(page_size=64),
            open_mesh(),
        ),
        r"100 bytes are no whole number of them for each of \[8, 6\]",
    ),
    (lambda: open_mesh().get_device(7), "the mesh has device 0, 1, 2, 4, 5, 6, no device 7"),
]


@pytest.mark.parametrize(("case", "message"), WRONG)
def test_wrong_meshes(case: Callable[[], object], message: str) -> None:
    """Each says what is allowed."""
    with pytest.raises(MetaliumError, match=message):
        case()

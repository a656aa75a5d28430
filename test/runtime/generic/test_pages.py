"""Tensors as pages: interleaved, and as shards in the L1 of the cores that their layout names."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ttmlir.layout.enums import DataType, MemorySpace, TensorMemoryLayout
from ttmlir.program import (
    AddressOfTensor,
    CircularBufferDescription,
    CircularBufferFormat,
    CoreRange,
    KernelDescription,
    ProgramDescription,
    TensorAccessorArgs,
    WriterConfig,
)
from ttmlir.runtime.generic import (
    GenericProgram,
    create_buffer,
    page_bytes,
    read_tensor,
    run_generic,
    simulator_options,
    write_tensor,
)
from ttmlir.runtime.tensor import ELEMENT_TYPES, Array, Numerics, TensorDesc
from ttmlir.sim.errors import SimError
from ttmlir.sim.machine.device import SimChip, SimDevice

N150 = SimChip.of_board("n150", 0)


def test_bytes_of_signed_numbers_come_back() -> None:
    """Row-major integers keep their signs; a page is a row."""
    desc = TensorDesc(
        shape=(2, 3, 5),
        element=ELEMENT_TYPES["Int32"],
        data_type=DataType.U32,
        memory_space=MemorySpace.DEVICE_L1,
        memory_layout=TensorMemoryLayout.INTERLEAVED,
    )
    buffer = create_buffer(SimDevice(SimChip.of_board("n150", 0)), desc)
    values = np.arange(-15, 15, dtype=np.int32).reshape(2, 3, 5)
    write_tensor(buffer, desc, values)
    assert (page_bytes(desc), buffer.num_pages) == (20, 6)
    assert buffer.read() == values.tobytes()
    assert np.array_equal(read_tensor(buffer, desc), values)


def test_tensors_of_any_rank_have_tiles() -> None:
    """The matrices of 64 dimensions follow each other; NumPy has no array of more dimensions."""
    desc = TensorDesc(
        shape=(2, *(1,) * 60, 3, 5, 7),
        element=ELEMENT_TYPES["Float32"],
        data_type=DataType.F32,
        memory_space=MemorySpace.DEVICE_DRAM,
        memory_layout=TensorMemoryLayout.INTERLEAVED,
        tile=(32, 32),
    )
    buffer = create_buffer(SimDevice(SimChip.of_board("n150", 0)), desc)
    values = np.arange(210, dtype=np.float32).reshape(desc.shape)
    write_tensor(buffer, desc, values)
    assert buffer.num_pages == 6
    tiles = np.frombuffer(buffer.read(), np.float32).reshape(6, 4, 16, 16)
    assert np.array_equal(tiles[4, 0, :5, :7], values[(1, *(0,) * 60, 1)])
    assert np.array_equal(read_tensor(buffer, desc), values)


HEIGHT = TensorMemoryLayout.HEIGHT_SHARDED
WIDTH = TensorMemoryLayout.WIDTH_SHARDED
BLOCK = TensorMemoryLayout.BLOCK_SHARDED

Ranges = tuple[tuple[int, int, int, int], ...]


def sharded(
    shape: tuple[int, ...],
    layout: TensorMemoryLayout,
    ranges: Ranges,
    shard: tuple[int, int],
    tile: tuple[int, int] = (32, 32),
) -> TensorDesc:
    """A tensor of f32 in L1; ranges are (y, x, height, width)."""
    return TensorDesc(
        shape=shape,
        element=ELEMENT_TYPES["Float32"],
        data_type=DataType.F32,
        memory_space=MemorySpace.DEVICE_L1,
        memory_layout=layout,
        tile=tile,
        core_ranges=ranges,
        shard=shard,
    )


def matrix(rows: int, columns: int) -> Array:
    """All numbers differ."""
    return np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)


def on_core(device: SimDevice, core: tuple[int, int], address: int, count: int) -> Array:
    """Numbers in the L1 of a core."""
    return np.frombuffer(device.core(*core).memory.read(address, 4 * count), np.float32)


def test_row_major_shards_lie_on_their_cores() -> None:
    """Blocks of 2x3 numbers of a matrix of 5x8: the last row and column of shards are not full."""
    desc = sharded((5, 8), BLOCK, ((1, 2, 3, 3),), (2, 3), tile=(1, 1))
    device, values = SimDevice(N150), matrix(5, 8)
    buffer = create_buffer(device, desc)
    write_tensor(buffer, desc, values)
    # A row of 12 bytes starts every 16, the alignment of L1.
    assert page_bytes(desc) == 12
    found = on_core(device, (3, 2), buffer.address, 4)
    assert np.array_equal(found[:3], values[2, 3:6])
    assert np.array_equal(on_core(device, (3, 2), buffer.address + 16, 3), values[3, 3:6])
    assert np.array_equal(on_core(device, (4, 3), buffer.address, 3), [38, 39, 0])
    assert np.array_equal(read_tensor(buffer, desc), values)


@pytest.mark.parametrize(
    ("layout", "ranges", "shard", "place"),
    [
        # The tile in row 2 and column 1 of the tensor, by hand: its core, its place on it.
        (HEIGHT, ((0, 1, 2, 1),), (2, 3), ((1, 1), 1)),
        (HEIGHT, ((0, 0, 1, 1), (0, 4, 1, 1)), (2, 3), ((4, 0), 1)),
        (WIDTH, ((3, 0, 1, 3),), (3, 1), ((1, 3), 2)),
        (BLOCK, ((1, 0, 2, 2),), (2, 2), ((0, 2), 1)),
        # 64 cores in a column are the 8x8 cores of the chip, row by row.
        (HEIGHT, ((0, 0, 64, 1),), (1, 3), ((2, 0), 1)),
    ],
)
def test_tiles_of_shards_lie_on_their_cores(
    layout: TensorMemoryLayout,
    ranges: Ranges,
    shard: tuple[int, int],
    place: tuple[tuple[int, int], int],
) -> None:
    """70x90 numbers are 3x3 tiles."""
    desc = sharded((70, 90), layout, ranges, shard)
    device, values = SimDevice(N150), matrix(70, 90)
    buffer = create_buffer(device, desc)
    write_tensor(buffer, desc, values)
    core, index = place
    # The first row of the first face of a tile is that of its first 16 columns.
    found = on_core(device, core, buffer.address + 4096 * index, 16)
    assert np.array_equal(found, values[64, 32:48])
    assert np.array_equal(read_tensor(buffer, desc), values)


@pytest.mark.parametrize(
    ("desc", "message"),
    [
        (sharded((70, 90), BLOCK, (), (2, 2)), "it is block_sharded, but no core has a shard"),
        (
            sharded((70, 90), BLOCK, ((0, 0, 2, 1),), (2, 2)),
            "3x3 pages are 2x2 shards of 2x2 pages, but its layout has 2x1 cores; use larger",
        ),
        # Each of the two matrices is filled up to whole tiles.
        (sharded((2, 5, 7), HEIGHT, ((0, 0, 1, 1),), (1, 1)), "2x1 pages are 2x1 shards of 1x1"),
        (
            sharded((70, 90), HEIGHT, ((0, 0, 65, 1),), (1, 3)),
            r"it is on core \(0, 8\), but the chip has 8 columns and 8 rows",
        ),
        (
            replace(
                sharded((70, 90), BLOCK, ((0, 0, 2, 2),), (2, 2)),
                memory_space=MemorySpace.DEVICE_DRAM,
            ),
            "sharded buffers are in l1: shards belong to cores",
        ),
    ],
)
def test_shards_that_do_not_hold_a_tensor_are_refused(desc: TensorDesc, message: str) -> None:
    """With the shards that there are and those that there would have to be."""
    with pytest.raises(SimError, match=message):
        create_buffer(SimDevice(N150), desc)


WRITE_COLUMN = """
#include "dataflow_api.h"

void kernel_main() {
    constexpr auto args = TensorAccessorArgs<0>();
    const auto target = TensorAccessor(args, get_common_arg_val<uint32_t>(0), 4096);
    cb_reserve_back(5, 3);
    cb_push_back(5, 3);
    for (uint32_t row = 0; row < 3; row++) {
        cb_wait_front(5, 1);
        noc_async_write_tile(3 * row + get_relative_logical_x(), target, get_read_ptr(5));
        noc_async_write_barrier();
        cb_pop_front(5, 1);
    }
}
"""


@pytest.mark.parametrize(
    "target",
    [
        sharded((70, 90), BLOCK, ((4, 4, 2, 2),), (2, 2)),
        sharded((70, 90), HEIGHT, ((0, 0, 1, 1), (7, 7, 1, 1)), (2, 3)),
        sharded((70, 90), WIDTH, ((2, 1, 1, 3),), (3, 1)),
        replace(
            sharded((70, 90), TensorMemoryLayout.INTERLEAVED, (), ()),
            memory_space=MemorySpace.DEVICE_DRAM,
        ),
    ],
    ids=["block", "height", "width", "interleaved"],
)
def test_kernels_find_shards_in_their_circular_buffers(target: TensorDesc) -> None:
    """Each of three cores has a column of tiles, which it writes where the result wants it."""
    source = sharded((70, 90), WIDTH, ((2, 1, 1, 3),), (3, 1))
    cores = (CoreRange((1, 2), (3, 2)),)
    description = ProgramDescription(
        kernels=(
            KernelDescription(
                name="writer",
                source=WRITE_COLUMN,
                config=WriterConfig(),
                core_ranges=cores,
                compile_time_args=(TensorAccessorArgs(1),),
                common_runtime_args=(AddressOfTensor(1),),
            ),
        ),
        circular_buffers=(
            CircularBufferDescription(
                total_size=3 * 4096,
                core_ranges=cores,
                formats=(CircularBufferFormat(5, DataType.F32, 4096),),
                tensor=0,
            ),
        ),
    )
    program = GenericProgram(
        description=description, descs=(source, target), num_outputs=1, where="op"
    )
    values = matrix(70, 90)
    run = run_generic(program, [values], N150, simulator_options(Numerics.EXACT))
    assert np.array_equal(run.outputs[0], values)


@pytest.mark.parametrize(
    ("layout", "shape", "shard"),
    [
        (TensorMemoryLayout.HEIGHT_SHARDED, (6, 5), (1, 5)),
        (TensorMemoryLayout.WIDTH_SHARDED, (5, 6), (5, 1)),
    ],
)
def test_shards_of_one_dimension_lie_on_a_rectangle(
    layout: TensorMemoryLayout, shape: tuple[int, int], shard: tuple[int, int]
) -> None:
    """Six shards on two rows of three cores, row by row."""
    desc = TensorDesc(
        shape=shape,
        element=ELEMENT_TYPES["Float32"],
        data_type=DataType.F32,
        memory_space=MemorySpace.DEVICE_L1,
        memory_layout=layout,
        core_ranges=((1, 2, 2, 3),),
        shard=shard,
    )
    buffer = create_buffer(SimDevice(N150), desc)
    assert buffer.sharding is not None
    assert buffer.sharding.cores == ((2, 1), (3, 1), (4, 1), (2, 2), (3, 2), (4, 2))
    values = np.arange(30, dtype=np.float32).reshape(shape)
    write_tensor(buffer, desc, values)
    assert np.array_equal(read_tensor(buffer, desc), values)

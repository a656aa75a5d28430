"""Programs with compute, buffers in L1, tensor accessors, and kernels that print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ttmlir.metalium import (
    BufferType,
    CBIndex,
    CircularBufferConfig,
    ComputeConfig,
    CoreCoord,
    CoreRange,
    CoreRangeSet,
    CreateBuffer,
    CreateCircularBuffer,
    CreateDevice,
    CreateKernel,
    CreateKernelFromString,
    CreateProgram,
    DataFormat,
    EnqueueProgram,
    EnqueueReadBuffer,
    EnqueueWriteBuffer,
    InterleavedBufferConfig,
    ReaderDataMovementConfig,
    SetCommonRuntimeArgs,
    SetRuntimeArgs,
    ShardedBufferConfig,
    ShardOrientation,
    ShardSpecBuffer,
    TensorAccessorArgs,
    TensorMemoryLayout,
    WriterDataMovementConfig,
    pack_tiles,
    tile_size,
    unpack_tiles,
)

READ_TWO = """
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t count = get_arg_val<uint32_t>(2);
    constexpr auto a_args = TensorAccessorArgs<0>();
    const auto a = TensorAccessor(a_args, get_arg_val<uint32_t>(0), get_tile_size(0));
    constexpr auto b_args = TensorAccessorArgs<1>();
    const auto b = TensorAccessor(b_args, get_arg_val<uint32_t>(1), get_tile_size(1));
    for (uint32_t i = 0; i < count; i++) {
        cb_reserve_back(tt::CBIndex::c_0, 1);
        cb_reserve_back(tt::CBIndex::c_1, 1);
        noc_async_read_tile(i, a, get_write_ptr(tt::CBIndex::c_0));
        noc_async_read_tile(i, b, get_write_ptr(tt::CBIndex::c_1));
        noc_async_read_barrier();
        cb_push_back(tt::CBIndex::c_0, 1);
        cb_push_back(tt::CBIndex::c_1, 1);
    }
}
"""

ADD = """
#include "compute_kernel_api/eltwise_binary.h"

namespace NAMESPACE {
void MAIN {
    const uint32_t count = get_arg_val<uint32_t>(0);
    binary_op_init_common(tt::CBIndex::c_0, tt::CBIndex::c_1, tt::CBIndex::c_16);
    add_tiles_init(tt::CBIndex::c_0, tt::CBIndex::c_1);
    for (uint32_t i = 0; i < count; i++) {
        cb_wait_front(tt::CBIndex::c_0, 1);
        cb_wait_front(tt::CBIndex::c_1, 1);
        tile_regs_acquire();
        add_tiles(tt::CBIndex::c_0, tt::CBIndex::c_1, 0, 0, 0);
        tile_regs_commit();
        cb_pop_front(tt::CBIndex::c_0, 1);
        cb_pop_front(tt::CBIndex::c_1, 1);
        cb_reserve_back(tt::CBIndex::c_16, 1);
        tile_regs_wait();
        pack_tile(0, tt::CBIndex::c_16);
        tile_regs_release();
        cb_push_back(tt::CBIndex::c_16, 1);
    }
}
}
"""

WRITE = """
#include "dataflow_api.h"

void kernel_main() {
    constexpr auto args = TensorAccessorArgs<0>();
    const auto c = TensorAccessor(args, get_arg_val<uint32_t>(0), get_tile_size(tt::CBIndex::c_16));
    const uint32_t count = get_common_arg_val<uint32_t>(0);
    for (uint32_t i = 0; i < count; i++) {
        cb_wait_front(tt::CBIndex::c_16, 1);
        noc_async_write_tile(i, c, get_read_ptr(tt::CBIndex::c_16));
        noc_async_write_barrier();
        cb_pop_front(tt::CBIndex::c_16, 1);
    }
}
"""

SCHEDULES: list[dict[str, Any]] = [
    {},
    {"timed": False, "sanitize": False},
    {"schedule_seed": 5, "delay_copies": True},
    {"numerics": "exact"},
]


@pytest.mark.parametrize("options", SCHEDULES)
@pytest.mark.parametrize("space", [BufferType.DRAM, BufferType.L1])
def test_sum_of_two_tensors(space: BufferType, options: dict[str, Any]) -> None:
    """Sums of whole numbers that bfloat16 holds exactly, of 3x5 tiles."""
    shape = (96, 160)
    numbers = np.random.default_rng(3)
    a, b = (numbers.integers(-100, 100, shape).astype(np.float32) for _ in range(2))
    page = tile_size(DataFormat.Float16_b)
    device = CreateDevice(0, **options)
    queue = device.command_queue()
    config = InterleavedBufferConfig(
        device=device, size=15 * page, page_size=page, buffer_type=space
    )
    buffers = [CreateBuffer(config) for _ in range(3)]
    for buffer, values in zip(buffers, (a, b), strict=False):
        EnqueueWriteBuffer(queue, buffer, pack_tiles(values, DataFormat.Float16_b))
    program, core = CreateProgram(), CoreCoord(2, 1)
    for index in (CBIndex.c_0, CBIndex.c_1, CBIndex.c_16):
        cb = CircularBufferConfig(2 * page, {index: DataFormat.Float16_b})
        CreateCircularBuffer(program, core, cb.set_page_size(index, page))
    layouts: list[int] = []
    for buffer in buffers[:2]:
        TensorAccessorArgs(buffer).append_to(layouts)
    reader = CreateKernelFromString(program, READ_TWO, core, ReaderDataMovementConfig(layouts))
    compute = CreateKernelFromString(program, ADD, core, ComputeConfig())
    to = TensorAccessorArgs(buffers[2]).get_compile_time_args()
    writer = CreateKernelFromString(program, WRITE, core, WriterDataMovementConfig(to))
    SetRuntimeArgs(program, reader, core, [buffers[0], buffers[1], 15])
    SetRuntimeArgs(program, compute, core, [15])
    SetRuntimeArgs(program, writer, core, [buffers[2]])
    SetCommonRuntimeArgs(program, writer, [15])
    report = EnqueueProgram(queue, program)
    result = unpack_tiles(EnqueueReadBuffer(queue, buffers[2]), DataFormat.Float16_b, *shape)
    np.testing.assert_array_equal(result, a + b)
    assert len(report.threads) == 5
    assert (report.cycles > 0) == options.get("timed", True)


DOUBLE = """
#include "dataflow_api.h"

void kernel_main() {
    constexpr uint32_t count = get_compile_time_arg_val(0);
    auto numbers = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_read_ptr(0));
    for (uint32_t i = 0; i < count; i++) {
        numbers[i] = 2 * numbers[i] + SUMMAND;
    }
    DPRINT << "first is " << numbers[0] << ENDL();
}
"""

LAYOUTS = [
    # layout, orientation, cores, shard shape in elements
    (TensorMemoryLayout.HEIGHT_SHARDED, ShardOrientation.ROW_MAJOR, ((1, 1), (2, 2)), (2, 24)),
    (TensorMemoryLayout.HEIGHT_SHARDED, ShardOrientation.COL_MAJOR, ((1, 1), (2, 2)), (2, 24)),
    (TensorMemoryLayout.WIDTH_SHARDED, ShardOrientation.ROW_MAJOR, ((0, 3), (2, 3)), (8, 8)),
    (TensorMemoryLayout.BLOCK_SHARDED, ShardOrientation.ROW_MAJOR, ((2, 1), (4, 2)), (4, 8)),
    (TensorMemoryLayout.BLOCK_SHARDED, ShardOrientation.COL_MAJOR, ((2, 1), (3, 3)), (4, 8)),
]


def shard_of(
    matrix: np.ndarray, layout: TensorMemoryLayout, orientation: ShardOrientation, x: int, y: int
) -> np.ndarray:
    """The part of an 8x24 matrix that the core in column x and row y of the range has."""
    by_column = orientation == ShardOrientation.COL_MAJOR
    match layout:
        case TensorMemoryLayout.HEIGHT_SHARDED:
            place = 2 * x + y if by_column else 2 * y + x
            return matrix[2 * place : 2 * place + 2]
        case TensorMemoryLayout.WIDTH_SHARDED:
            return matrix[:, 8 * x : 8 * x + 8]
        case _:
            row, column = (x, y) if by_column else (y, x)
            return matrix[4 * row : 4 * row + 4, 8 * column : 8 * column + 8]


@pytest.mark.parametrize(("layout", "orientation", "corners", "shard"), LAYOUTS)
def test_sharded_buffers(
    layout: TensorMemoryLayout,
    orientation: ShardOrientation,
    corners: tuple[tuple[int, int], tuple[int, int]],
    shard: tuple[int, int],
) -> None:
    """Each core has its shard in a circular buffer placed on the buffer, and changes it there."""
    rows, columns = 8, 24
    matrix = np.random.default_rng(4).integers(0, 1000, (rows, columns), np.uint32)
    cores = CoreRange(*corners)
    device = CreateDevice(0)
    queue = device.command_queue()
    # A page is a row of a shard.
    spec = ShardSpecBuffer(
        CoreRangeSet([cores]) if layout != TensorMemoryLayout.BLOCK_SHARDED else cores,
        shard,
        orientation,
        (1, shard[1]),
        (rows, columns // shard[1]),
    )
    buffer = CreateBuffer(
        ShardedBufferConfig(
            device=device,
            size=matrix.nbytes,
            page_size=4 * shard[1],
            buffer_layout=layout,
            shard_parameters=spec,
        )
    )
    pages = matrix.reshape(rows, columns // shard[1], shard[1])
    EnqueueWriteBuffer(queue, buffer, pages)
    program = CreateProgram()
    size = 4 * shard[0] * shard[1]
    cb = CircularBufferConfig(size, {0: DataFormat.UInt32}).set_page_size(0, size)
    CreateCircularBuffer(program, cores, cb.set_globally_allocated_address(buffer))
    CreateKernelFromString(
        program,
        DOUBLE,
        cores,
        ReaderDataMovementConfig([shard[0] * shard[1]], {"SUMMAND": "7"}),
    )
    EnqueueProgram(queue, program)
    result = EnqueueReadBuffer(queue, buffer).reshape(pages.shape).reshape(rows, columns)
    np.testing.assert_array_equal(result, 2 * matrix + 7)
    origin = cores.start_coord
    printed = [
        f"core ({core.x}, {core.y}) NCRISC: first is {2 * int(mine[0, 0]) + 7}"
        for core in cores
        for mine in [shard_of(matrix, layout, orientation, core.x - origin.x, core.y - origin.y)]
    ]
    assert sorted(device.printed) == sorted(printed)


def test_kernels_come_from_files(tmp_path: Path) -> None:
    """The file is what messages name; devices do not share their memory."""
    file = tmp_path / "store.cpp"
    file.write_text(
        '#include "dataflow_api.h"\n'
        "void kernel_main() {\n"
        "    const uint32_t address = get_arg_val<uint32_t>(0);\n"
        "    auto word = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(address);\n"
        "    word[0] = get_arg_val<uint32_t>(1);\n"
        "}\n"
    )
    devices = [CreateDevice(index, board="n300") for index in range(2)]
    buffers = [
        CreateBuffer(
            InterleavedBufferConfig(device=device, size=64, page_size=64, buffer_type=BufferType.L1)
        )
        for device in devices
    ]
    for index, (device, buffer) in enumerate(zip(devices, buffers, strict=True)):
        EnqueueWriteBuffer(device.command_queue(), buffer, bytes(64))
        program = CreateProgram()
        kernel = CreateKernel(program, file, (0, 0), ReaderDataMovementConfig())
        SetRuntimeArgs(program, kernel, (0, 0), [buffer, 40 + index])
        EnqueueProgram(device.command_queue(), program)
    first = [
        EnqueueReadBuffer(device.command_queue(), buffer)[0]
        for device, buffer in zip(devices, buffers, strict=True)
    ]
    assert first == [40, 41]


WHICH_CHIP = """
void kernel_main() {
#if defined(ARCH_WORMHOLE) && defined(ARCH_BLACKHOLE)
    DPRINT << "both" << ENDL();
#elif defined(ARCH_WORMHOLE)
    DPRINT << "wormhole" << ENDL();
#elif defined(ARCH_BLACKHOLE)
    DPRINT << "blackhole" << ENDL();
#endif
}
"""


@pytest.mark.parametrize(
    ("board", "expected"),
    [
        *(("n150", "wormhole"), ("t3000", "wormhole"), ("default", "wormhole")),
        *(("p100", "blackhole"), ("p150", "blackhole")),
    ],
)
def test_kernels_see_the_generation_of_their_chip(board: str, expected: str) -> None:
    """By the macro that tt-metal's build defines, one after the other in one process."""
    device = CreateDevice(0, board=board)
    program = CreateProgram()
    CreateKernelFromString(program, WHICH_CHIP, CoreCoord(0, 0), ReaderDataMovementConfig())
    EnqueueProgram(device.command_queue(), program, blocking=True)
    assert device.printed == [f"core (0, 0) NCRISC: {expected}"]
    device.close()

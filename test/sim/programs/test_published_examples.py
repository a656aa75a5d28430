"""The programming examples of TT-Metalium, as they are usually written, against NumPy.

Each runs with the sanitizer, on several schedules. Kernels are in `kernels/`; the examples that
multiply blocks on several cores or add tiles are in `examples/metalium`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running.host_programs import create_cbs, create_pages, run_without_errors

from ttmlir.metalium import (
    Buffer,
    BufferType,
    CBIndex,
    CircularBufferConfig,
    ComputeConfig,
    CoreCoord,
    CoreRange,
    CreateCircularBuffer,
    CreateDevice,
    CreateKernel,
    CreateProgram,
    CreateSemaphore,
    DataFormat,
    Device,
    EnqueueReadBuffer,
    EnqueueWriteBuffer,
    Program,
    ReaderDataMovementConfig,
    SetRuntimeArgs,
    TensorAccessorArgs,
    WriterDataMovementConfig,
    pack_tiles,
    unpack_tiles,
)

KERNELS = Path(__file__).parent / "kernels"
BF16 = DataFormat.Float16_b
TILE = 2048
CORE = CoreCoord(0, 0)
SCHEDULES: list[dict[str, Any]] = [
    {},
    {"schedule_seed": 1, "timed": False},
    {"schedule_seed": 2, "delay_copies": True},
]
ON_SCHEDULES = pytest.mark.parametrize("options", SCHEDULES)


def reader(program: Program, name: str, cores: Any, args: Sequence[int] = ()) -> Any:
    """A kernel on RISCV_1."""
    return CreateKernel(program, KERNELS / name, cores, ReaderDataMovementConfig(args))


def writer(program: Program, name: str, cores: Any, args: Sequence[int] = ()) -> Any:
    """A kernel on RISCV_0."""
    return CreateKernel(program, KERNELS / name, cores, WriterDataMovementConfig(args))


def compute(
    program: Program, name: str, args: Sequence[int], defines: Mapping[str, str] | None = None
) -> None:
    """A kernel on the compute processors of the first core."""
    config = ComputeConfig(compile_args=args, defines=defines or {})
    CreateKernel(program, KERNELS / name, CORE, config)


def matrix(rows: int, columns: int, seed: int) -> Any:
    """Numbers that bfloat16 has."""
    numbers = np.random.default_rng(seed).integers(-64, 65, (rows, columns))
    return (numbers / 16).astype(np.float32)


def upload(device: Device, values: Any) -> Buffer:
    """The tiles of a matrix, in DRAM."""
    buffer = create_pages(device, values.size // 1024)
    EnqueueWriteBuffer(
        device.command_queue(), buffer, np.frombuffer(pack_tiles(values, BF16), np.uint16)
    )
    return buffer


def run(device: Device, program: Program, result: Buffer, dtype: Any = np.uint16) -> Any:
    """The bytes of a buffer after a program."""
    run_without_errors(device, program)
    return EnqueueReadBuffer(device.command_queue(), result, dtype=dtype)


@ON_SCHEDULES
def test_add_2_integers_in_riscv(options: dict[str, Any]) -> None:
    """A processor computes with memory itself, and prints."""
    lines: list[str] = []
    device = CreateDevice(0, print_line=lines.append, **options)
    program = CreateProgram()
    buffers = [create_pages(device, 1, 4) for _ in range(3)]
    for buffer, number in zip(buffers, (14, 0xFFFF_FFFD), strict=False):
        EnqueueWriteBuffer(device.command_queue(), buffer, np.array([number], np.uint32))
    l1 = [create_pages(device, 1, 32, BufferType.L1) for _ in range(3)]
    kernel = writer(program, "add_2_integers_in_riscv.cpp", CORE)
    SetRuntimeArgs(program, kernel, CORE, [*buffers, *l1])
    assert run(device, program, buffers[2], np.uint32).tolist() == [11]
    assert any("Adding integers: 14 + 4294967293" in line for line in lines)


@ON_SCHEDULES
@pytest.mark.parametrize(
    ("chain", "oracle"),
    [
        ("exp_tile_init(); exp_tile(0);", np.exp),
        ("relu_tile_init(); relu_tile(0);", lambda x: np.maximum(x, 0)),
        (
            "negative_tile_init(); negative_tile(0); exp_tile_init(); exp_tile(0);",
            lambda x: np.exp(-x),
        ),
    ],
)
def test_eltwise_sfpu(chain: str, oracle: Any, options: dict[str, Any]) -> None:
    """Functions of tiles; each step rounds to bfloat16, to 8 bits."""
    device, program = CreateDevice(0, **options), CreateProgram()
    values = matrix(64, 96, 1)
    source, target = upload(device, values), create_pages(device, 6)
    create_cbs(program, CORE, CBIndex.c_0, CBIndex.c_16)
    args = TensorAccessorArgs(source).get_compile_time_args()
    read = reader(program, "read_tile.cpp", CORE, args)
    write = writer(program, "write_tile.cpp", CORE, args)
    compute(program, "eltwise_sfpu.cpp", [3, 2], {"SFPU_OP_CHAIN_0": chain})
    SetRuntimeArgs(program, read, CORE, [source, 6, 0])
    SetRuntimeArgs(program, write, CORE, [target, 6, 0])
    result = unpack_tiles(run(device, program, target), BF16, 64, 96)
    # A card's exp has its last bit from a polynomial that is up to 0.2 % off, as recorded.
    rtol = 2**-7 if "exp" in chain else 2**-8
    np.testing.assert_allclose(result, oracle(values.astype(np.float64)), rtol=rtol)


@ON_SCHEDULES
@pytest.mark.parametrize(
    ("operation", "divisor", "oracle"),
    [("SUM", 2, lambda x: x.sum(1) / 2), ("MAX", 1, lambda x: x.max(1))],
)
def test_reduce(operation: str, divisor: int, oracle: Any, options: dict[str, Any]) -> None:
    """Rows become a column; sums are halved, and of so few bits that none is lost."""
    device, program = CreateDevice(0, **options), CreateProgram()
    values = np.round(matrix(64, 96, 2) / 4) / 2
    values *= np.arange(96) % 8 == 0
    source, target = upload(device, values), create_pages(device, 2)
    create_cbs(program, CORE, CBIndex.c_0, CBIndex.c_2, CBIndex.c_16)
    read = reader(program, "read_with_scaler.cpp", CORE)
    write = writer(
        program, "write_tile.cpp", CORE, TensorAccessorArgs(target).get_compile_time_args()
    )
    defines = {"REDUCE_OP": f"PoolType::{operation}", "REDUCE_DIM": "ReduceDim::REDUCE_ROW"}
    compute(program, "reduce.cpp", [2, 3], defines)
    SetRuntimeArgs(program, read, CORE, [source, 6, divisor])
    SetRuntimeArgs(program, write, CORE, [target, 2, 0])
    result = unpack_tiles(run(device, program, target), BF16, 64, 32)
    np.testing.assert_array_equal(result[:, 0], oracle(values))


@ON_SCHEDULES
def test_matmul_single_core(options: dict[str, Any]) -> None:
    """One tile of the product at a time, for two pairs of matrices."""
    device, program = CreateDevice(0, **options), CreateProgram()
    m, k, n, batch = 2, 3, 4, 2
    a = np.round(matrix(batch * m * 32, k * 32, 3) / 4)
    b = np.round(matrix(batch * k * 32, n * 32, 4) / 4)
    sources, target = [upload(device, a), upload(device, b)], create_pages(device, batch * m * n)
    create_cbs(program, CORE, CBIndex.c_0, CBIndex.c_1, CBIndex.c_16)
    read = reader(program, "mm_reader.cpp", CORE)
    write = writer(
        program, "write_tile.cpp", CORE, TensorAccessorArgs(target).get_compile_time_args()
    )
    compute(program, "mm.cpp", [batch, m, k, n])
    SetRuntimeArgs(program, read, CORE, [*sources, m, k, n, m * k, k * n, batch, 0])
    SetRuntimeArgs(program, write, CORE, [target, batch * m * n, 0])
    result = unpack_tiles(run(device, program, target), BF16, batch * m * 32, n * 32)
    expected = a.reshape(batch, m * 32, k * 32) @ b.reshape(batch, k * 32, n * 32)
    # Integers up to 256 are exact in bfloat16, in which DST adds k products; above, 8 bits count.
    np.testing.assert_allclose(result, expected.reshape(result.shape), rtol=k * 2**-8, atol=2)


@ON_SCHEDULES
def test_pad_multi_core(options: dict[str, Any]) -> None:
    """Padding to the left, to the right and below, on two cores; a stick is one pair of numbers."""
    device, program = CreateDevice(0, **options), CreateProgram()
    rows, width, padded_rows, padded = 6, 4, 8, 8
    values = np.random.default_rng(5).integers(1, 2**32, (rows, width), np.uint32)
    source = create_pages(device, rows * width, 4)
    pad, target = create_pages(device, 1, 4), create_pages(device, padded_rows * padded, 4)
    EnqueueWriteBuffer(device.command_queue(), source, values)
    EnqueueWriteBuffer(device.command_queue(), pad, np.array([7], np.uint32))
    cores = CoreRange(CoreCoord(0, 0), CoreCoord(0, 1))
    config = CircularBufferConfig(2 * 32, {CBIndex.c_0: DataFormat.UInt32})
    CreateCircularBuffer(program, cores, config.set_page_size(CBIndex.c_0, 32))
    read = reader(program, "pad_reader_dims_rm_interleaved.cpp", cores, [1, 1])
    write = writer(program, "pad_writer_dims_rm_interleaved.cpp", cores)
    for number, core in enumerate((CoreCoord(0, 0), CoreCoord(0, 1))):
        here = (4, 2)[number]
        arguments = [source, pad, 4 * width * number, padded - width, padded, 4, 4, here]
        SetRuntimeArgs(program, read, core, arguments)
        SetRuntimeArgs(program, write, core, [target, 4 * padded * number, 4 * padded, 4])
    result = run(device, program, target, np.uint32).reshape(padded_rows, padded)
    expected = np.pad(values, ((0, padded_rows - rows), (2, 2)), constant_values=7)
    np.testing.assert_array_equal(result, expected)


@ON_SCHEDULES
def test_shard_data_rm(options: dict[str, Any]) -> None:
    """Each core prints the numbers of its shard."""
    lines: list[str] = []
    device, program = CreateDevice(0, print_line=lines.append, **options), CreateProgram()
    height, cores = 16, CoreRange(CoreCoord(0, 0), CoreCoord(0, 3))
    numbers = np.arange(2 * height, dtype=np.uint16).reshape(height, 2) + 100
    source = create_pages(device, height, 4)
    EnqueueWriteBuffer(device.command_queue(), source, numbers)
    shard = height // 4
    create_cbs(program, cores, CBIndex.c_0, pages=shard, page_size=32)
    kernel = CreateKernel(
        program, KERNELS / "shard_data_rm.cpp", cores, WriterDataMovementConfig([0, 1])
    )
    for number in range(4):
        arguments = [source, 4, shard, 4, 32, shard * number, number]
        SetRuntimeArgs(program, kernel, CoreCoord(0, number), arguments)
    run(device, program, source)
    for number in range(4):
        printed = " ".join(map(str, numbers[shard * number : shard * (number + 1)].reshape(-1)))
        assert any(f"Core (0,{number}): {printed}" in line for line in lines), lines


@ON_SCHEDULES
def test_noc_tile_transfer(options: dict[str, Any]) -> None:
    """Tiles go from core to core, with a semaphore for each direction."""
    device, program = CreateDevice(0, **options), CreateProgram()
    data = np.random.default_rng(6).integers(0, 1 << 16, (5, 1024), np.uint16)
    source, target = create_pages(device, 5), create_pages(device, 5)
    EnqueueWriteBuffer(device.command_queue(), source, data)
    sender, receiver = CoreCoord(0, 0), CoreCoord(2, 1)
    both = CoreRange(sender, receiver)
    create_cbs(program, both, CBIndex.c_0, CBIndex.c_1, pages=1)
    arrived, free = (CreateSemaphore(program, both, 0) for _ in range(2))
    send = reader(program, "tile_transfer_in0.cpp", sender)
    receive = reader(program, "tile_transfer_in1.cpp", receiver)
    write = writer(program, "tile_transfer_out.cpp", receiver)
    there = device.worker_core_from_logical_core(receiver)
    here = device.worker_core_from_logical_core(sender)
    SetRuntimeArgs(program, send, sender, [source, 5, there.x, there.y, arrived, free])
    SetRuntimeArgs(program, receive, receiver, [5, here.x, here.y, arrived, free])
    SetRuntimeArgs(program, write, receiver, [target, 5])
    np.testing.assert_array_equal(run(device, program, target).reshape(5, 1024), data)

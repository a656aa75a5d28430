"""Programs of the kernels in kernels/: what the examples of examples/metalium do not have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from mutants import normalised
from running.host_programs import create_cbs, create_pages
from workload import Outcome, Texts, Workload

from ttmlir.metalium import (
    NOC,
    Buffer,
    BufferType,
    CBIndex,
    CircularBufferConfig,
    ComputeConfig,
    CoreCoord,
    CoreRange,
    CoreRangeSet,
    CreateBuffer,
    CreateCircularBuffer,
    CreateKernelFromString,
    CreateProgram,
    CreateSemaphore,
    DataFormat,
    DataMovementConfig,
    DataMovementProcessor,
    Device,
    EnqueueProgram,
    EnqueueReadBuffer,
    EnqueueWriteBuffer,
    Program,
    ReaderDataMovementConfig,
    SetRuntimeArgs,
    ShardedBufferConfig,
    ShardOrientation,
    ShardSpecBuffer,
    TensorMemoryLayout,
    WriterDataMovementConfig,
    pack_tiles,
    tile_size,
    unpack_tiles,
)
from ttmlir.metalium.device import chip_of_board
from ttmlir.sim.options import SimOptions
from ttmlir.sim.timing.timeline import Timeline

DIRECTORY = Path(__file__).parent / "kernels"
CORE = CoreRange(CoreCoord(0, 0), CoreCoord(0, 0))
BF16, F32 = DataFormat.Float16_b, DataFormat.Float32
TILE_BYTES = tile_size(BF16)

Array = np.ndarray


@dataclass
class Bench:
    """A device, a program, and the kernels that it is made of."""

    kernels: Texts
    options: SimOptions
    timeline: Timeline | None
    device: Device = field(init=False)
    program: Program = field(init=False)

    def __post_init__(self) -> None:
        """Open the device."""
        self.device = Device(0, chip_of_board("n150", 0), self.options, None)
        self.program = CreateProgram()

    def buffer(self, size: int, page_size: int, data: bytes = b"") -> Buffer:
        """Pages in DRAM."""
        buffer = create_pages(self.device, size // page_size, page_size)
        if data:
            EnqueueWriteBuffer(self.device.command_queue(), buffer, data)
        return buffer

    def circular_buffers(
        self, pages: Mapping[CBIndex, int], cores: Any = CORE, formats: Mapping[Any, Any] = {}
    ) -> None:
        """Circular buffers of so many tiles."""
        for index, count in pages.items():
            data_format = formats.get(index, BF16)
            create_cbs(self.program, cores, index, pages=count, data_format=data_format)

    def kernel(self, name: str, config: Any, arguments: Sequence[Any], cores: Any = CORE) -> None:
        """A kernel on cores, with equal arguments on all of them."""
        kernel = CreateKernelFromString(self.program, self.kernels[f"{name}.cpp"], cores, config)
        for core in cores:
            SetRuntimeArgs(self.program, kernel, core, arguments)

    def outcome(self, target: Buffer, right: Callable[[Array], bool]) -> Outcome:
        """Run the program and look at the bytes of a buffer."""
        queue = self.device.command_queue()
        queue.timeline = self.timeline
        EnqueueProgram(queue, self.program)
        data = EnqueueReadBuffer(queue, target, dtype=np.uint8)
        report = queue.reports[-1]
        return Outcome(right(data), report.findings, data.tobytes(), report.cycles)


def integers(*shape: int, seed: int = 0) -> Array:
    """Small numbers."""
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float32)


def same_tiles(expected: Array, data_format: DataFormat = BF16) -> Callable[[Array], bool]:
    """Whether bytes are the tiles of a matrix."""
    rows, columns = expected.shape
    return lambda data: np.array_equal(unpack_tiles(data, data_format, rows, columns), expected)


def handshake(bench: Bench) -> Outcome:
    """One core reads a page and gives it to all others of a rectangle."""
    size, cores = 96, CoreRange((1, 2), (3, 3))
    data = np.random.default_rng(2).integers(0, 256, size, np.uint8)
    source = bench.buffer(size, size, data.tobytes())
    target = bench.buffer(size * cores.size(), size)
    create_cbs(bench.program, cores, 5, page_size=size, data_format=DataFormat.UInt8)
    semaphores = [CreateSemaphore(bench.program, cores, 0) for _ in range(2)]
    kernel = CreateKernelFromString(
        bench.program,
        bench.kernels["handshake.cpp"],
        cores,
        DataMovementConfig(
            processor=DataMovementProcessor.RISCV_1,
            noc=NOC.NOC_0,
            compile_args=[5, cores.size() - 1, size, *semaphores],
        ),
    )
    ends = [bench.device.worker_core_from_logical_core(each) for each in ((1, 2), (3, 3))]
    rectangle = [coordinate for end in ends for coordinate in end]
    for place, core in enumerate(cores):
        sends = int(place == 0)
        SetRuntimeArgs(bench.program, kernel, core, [source, sends, target, place, *rectangle])
    return bench.outcome(target, lambda got: np.array_equal(got.reshape(-1, size), [data] * 6))


def sfpu_chain(bench: Bench) -> Outcome:
    """Two reads at a time, a chain of SFPU operations, writes that are flushed."""
    tiles = 13  # more than DRAM has banks
    x = integers(32, tiles * 32)
    source = bench.buffer(tiles * TILE_BYTES, TILE_BYTES, pack_tiles(x, BF16))
    target = bench.buffer(tiles * TILE_BYTES, TILE_BYTES)
    bench.circular_buffers({CBIndex.c_0: 4, CBIndex.c_16: 2})
    bench.kernel("double_buffered_reader", ReaderDataMovementConfig([]), [source, tiles])
    bench.kernel("sfpu_chain", ComputeConfig(), [0, tiles])
    bench.kernel("write_flushed", WriterDataMovementConfig([]), [target, tiles])
    return bench.outcome(target, same_tiles(np.maximum(-x, 0) ** 2))


def tilize_untilize(bench: Bench) -> Outcome:
    """Rows become tiles, are transposed, and become rows again."""
    strips, width = 2, 6
    x = integers(strips * 32, width * 32)
    rows = (x.view(np.uint32) >> 16).astype(np.uint16)
    size = width * TILE_BYTES
    source = bench.buffer(strips * size, size, rows.tobytes())
    target = bench.buffer(strips * size, size)
    bench.circular_buffers(
        {CBIndex.c_0: 12, CBIndex.c_24: width, CBIndex.c_25: width, CBIndex.c_16: 12}
    )
    bench.kernel("read_rows", ReaderDataMovementConfig([]), [source, strips, width])
    bench.kernel("tilize_untilize", ComputeConfig(), [0, strips, width])
    bench.kernel("write_rows", WriterDataMovementConfig([]), [target, strips, width])
    expected = rows.reshape(strips, 32, width, 32).transpose(0, 3, 2, 1).reshape(rows.shape)
    return bench.outcome(target, lambda got: np.array_equal(got, expected.view(np.uint8).ravel()))


def reduce_and_broadcast(bench: Bench) -> Outcome:
    """Every row minus its sum; x and the sums have different formats."""
    x = integers(2 * 32, 3 * 32)
    tiles = 2 * 3
    source = bench.buffer(tiles * 4096, 4096, pack_tiles(x, F32))
    target = bench.buffer(tiles * TILE_BYTES, TILE_BYTES)
    formats = {CBIndex.c_0: F32, CBIndex.c_24: F32}
    pages = {CBIndex.c_0: 6, CBIndex.c_1: 1, CBIndex.c_24: 1, CBIndex.c_16: 2}
    bench.circular_buffers(pages, formats=formats)
    bench.kernel("read_and_make_scaler", ReaderDataMovementConfig([]), [source, 2, 3])
    bench.kernel("subtract_row_sums", ComputeConfig(fp32_dest_acc_en=True), [0, 2, 3])
    bench.kernel("write_flushed", WriterDataMovementConfig([]), [target, tiles])
    return bench.outcome(target, same_tiles(x - x.sum(axis=1, keepdims=True)))


def sharded(bench: Bench) -> Outcome:
    """Circular buffers on shards of two cores: nothing moves but the tiles of the product."""
    cores = CoreRange((0, 0), (1, 0))
    a, b = integers(2 * 4 * 32, 32, seed=1), integers(2 * 4 * 32, 32, seed=2)
    config = ShardedBufferConfig(
        device=bench.device,
        size=8 * TILE_BYTES,
        page_size=TILE_BYTES,
        buffer_type=BufferType.L1,
        buffer_layout=TensorMemoryLayout.HEIGHT_SHARDED,
        shard_parameters=ShardSpecBuffer(
            CoreRangeSet([cores]), (128, 32), ShardOrientation.ROW_MAJOR, (32, 32), (8, 1)
        ),
    )
    buffers = [CreateBuffer(config) for _ in range(3)]
    indices = (CBIndex.c_0, CBIndex.c_1, CBIndex.c_16)
    for index, buffer in zip(indices, buffers, strict=True):
        circular = CircularBufferConfig(4 * TILE_BYTES, {index: BF16})
        circular.set_page_size(index, TILE_BYTES).set_globally_allocated_address(buffer)
        CreateCircularBuffer(bench.program, cores, circular)
    for buffer, values in zip(buffers, (a, b), strict=False):
        EnqueueWriteBuffer(bench.device.command_queue(), buffer, pack_tiles(values, BF16))
    bench.kernel("announce_shards", ReaderDataMovementConfig([]), [4], cores)
    bench.kernel("multiply_shards", ComputeConfig(), [4], cores)
    return bench.outcome(buffers[2], same_tiles(a * b))


PROGRAMS: dict[Callable[[Bench], Outcome], tuple[str, ...]] = {
    handshake: ("handshake",),
    sfpu_chain: ("double_buffered_reader", "sfpu_chain", "write_flushed"),
    tilize_untilize: ("read_rows", "tilize_untilize", "write_rows"),
    reduce_and_broadcast: ("read_and_make_scaler", "subtract_row_sums", "write_flushed"),
    sharded: ("announce_shards", "multiply_shards"),
}
"""And the kernels of each."""


def workloads() -> list[Workload]:
    """All programs."""
    return [_workload(program, kernels) for program, kernels in PROGRAMS.items()]


def _workload(program: Callable[[Bench], Outcome], kernels: Sequence[str]) -> Workload:
    def read() -> Texts:
        files = [f"{name}.cpp" for name in kernels]
        return {file: normalised((DIRECTORY / file).read_text(), file) for file in files}

    def run(texts: Texts, options: SimOptions, timeline: Timeline | None) -> Outcome:
        return program(Bench(texts, options, timeline))

    return Workload(program.__name__, read, run)

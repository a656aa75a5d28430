"""Prints how long element-wise operations take simulated, and how long they take on a chip.

`python test/bench/eltwise_report.py` runs a function of bfloat16 tiles that lie in DRAM page by
page, on all cores of an n150, each of which has two pages in its circular buffers, as ttnn's
programs do. Measured are times of kernels on Wormhole: SiLU as tt-metal PR 41949 found it and as it
left it, sigmoid in PR 57076. Neither says how many cores there were; 8x8 are taken. Of additions
only times with the host's share are public.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ttmlir.metalium import (
    NOC,
    Buffer,
    CBIndex,
    CircularBufferConfig,
    CloseDevice,
    ComputeConfig,
    CoreCoord,
    CoreRange,
    CoreRangeSet,
    CreateBuffer,
    CreateCircularBuffer,
    CreateDevice,
    CreateKernel,
    CreateProgram,
    DataFormat,
    DataMovementConfig,
    DataMovementProcessor,
    Device,
    EnqueueProgram,
    EnqueueReadBuffer,
    EnqueueWriteBuffer,
    Finish,
    InterleavedBufferConfig,
    Program,
    SetRuntimeArgs,
    pack_tiles,
    tile_size,
    unpack_tiles,
)
from ttmlir.sim.execution.program import Kernel
from ttmlir.sim.timing.report import ProgramTimes, bound

KERNELS = Path(__file__).parent / "kernels"
EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "metalium" / "kernels"

Matrix = NDArray[np.float32]

FORMAT = DataFormat.Float16_b
ADD = "add"


@dataclass(frozen=True)
class Case:
    """An operation on a matrix of so many rows and columns."""

    operation: str
    """`add`, or the name of a function of the vector unit."""
    rows: int
    columns: int
    measured_ns: tuple[float, ...] = ()
    """The least and the most, if the times of the kernels are public."""
    board: str = "n150"


CASES = (
    Case("silu", 32, 32, (2035, 3284)),
    Case("silu", 1024, 1024, (25_477, 39_571)),
    Case("silu", 2048, 2048, (93_998, 128_919)),
    Case("sigmoid", 512, 512, (6740, 6880)),
    Case(ADD, 1024, 1024),
    Case(ADD, 2048, 2048),
)


def simulate(case: Case, inputs: tuple[Matrix, Matrix]) -> tuple[Matrix, ProgramTimes]:
    """Run a case on the second input as well if it is a sum: the result and its times."""
    device = CreateDevice(0, board=case.board, numerics="exact", sanitize=False)
    queue = device.command_queue()
    program = CreateProgram()
    num_tiles = inputs[0].size // 1024
    shares = cores_with_shares(device, num_tiles)
    cores = CoreRangeSet([CoreRange(core, core) for core in shares])
    a, b, c = (in_dram(device, num_tiles) for _ in range(3))
    for index in (CBIndex.c_0, CBIndex.c_1, CBIndex.c_16):
        config = CircularBufferConfig(2 * tile_size(FORMAT), {index: FORMAT})
        CreateCircularBuffer(program, cores, config.set_page_size(index, tile_size(FORMAT)))
    reader, compute, writer = create_kernels(program, cores, case.operation)
    first_tile = 0
    for core, share in shares.items():
        SetRuntimeArgs(program, reader, core, [a, b, first_tile, share])
        SetRuntimeArgs(program, compute, core, [share])
        SetRuntimeArgs(program, writer, core, [c, first_tile, share])
        first_tile += share
    for buffer, matrix in zip((a, b), inputs, strict=True):
        EnqueueWriteBuffer(queue, buffer, pack_tiles(matrix, FORMAT), False)
    EnqueueProgram(queue, program, False)
    Finish(queue)
    data = EnqueueReadBuffer(queue, c, dtype=np.uint8)
    CloseDevice(device)
    times = queue.reports[-1].times(case.operation)
    return unpack_tiles(data, FORMAT, *inputs[0].shape), times


def in_dram(device: Device, num_tiles: int) -> Buffer:
    """Tiles that are spread over the banks of DRAM."""
    page = tile_size(FORMAT)
    return CreateBuffer(
        InterleavedBufferConfig(device=device, size=num_tiles * page, page_size=page)
    )


def cores_with_shares(device: Device, num_tiles: int) -> dict[CoreCoord, int]:
    """How many tiles each core has: equally many, or one more."""
    columns, rows = device.compute_with_storage_grid_size()
    used = min(columns * rows, num_tiles)
    each, more = divmod(num_tiles, used)
    return {CoreCoord(i % columns, i // columns): each + (i < more) for i in range(used)}


def create_kernels(
    program: Program, cores: CoreRangeSet, operation: str
) -> tuple[Kernel, Kernel, Kernel]:
    """The reader on network 0, the compute kernel, and the writer on network 1."""
    reader = CreateKernel(
        program,
        KERNELS / "read_inputs.cpp",
        cores,
        DataMovementConfig(
            processor=DataMovementProcessor.RISCV_1,
            noc=NOC.NOC_0,
            compile_args=[2 if operation == ADD else 1],
        ),
    )
    function = f"{operation}_tile"
    if operation == ADD:
        text, defines = EXAMPLES / "add_tiles.cpp", dict[str, str]()
    else:
        text = KERNELS / "apply_vector_function.cpp"
        defines = {"VECTOR_INIT": f"{function}_init", "VECTOR_FUNCTION": function}
    compute = CreateKernel(program, text, cores, ComputeConfig(defines=defines))
    writer = CreateKernel(
        program,
        EXAMPLES / "write_tiles.cpp",
        cores,
        DataMovementConfig(processor=DataMovementProcessor.RISCV_0, noc=NOC.NOC_1),
    )
    return reader, compute, writer


def report(case: Case) -> str:
    """A row of the table."""
    rng = np.random.default_rng(0)
    shape = case.rows, case.columns
    first, second = (rng.standard_normal(shape).astype(np.float32) for _ in range(2))
    _, times = simulate(case, (first, second))
    measured, ratio = "", ""
    if case.measured_ns:
        measured = " to ".join(f"{each:,}" for each in case.measured_ns)
        ratio = " to ".join(f"{times.kernel_ns / each:.2f}" for each in case.measured_ns)
    size = f"{case.rows}x{case.columns}"
    return (
        f"| {case.operation} {size} | {times.kernel_ns:,.0f} | {measured} | {ratio} | "
        f"{bound(times)} |"
    )


def rows() -> Iterator[str]:
    """The table line by line."""
    yield "| Case | Simulated ns | Measured ns | Ratio | Bound by |"
    yield "|---|---|---|---|---|"
    yield from map(report, CASES)


if __name__ == "__main__":
    for line in rows():
        print(line, flush=True)

"""Figures of what a core does with tiles that are in its L1, and the kernels behind them.

Sources: tt-metal, tt_metal/tt-llk/docs/perf_evaluation (products of tiles, 64 times), pull requests
48925 and 55053 (one thread, cycles of a tile), 57030 (absolute values on all cores), and
test_moreh_microbenchmark.py (a product of matrices on one core).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import eltwise_report
import numpy as np
from figures.comparison import Comparison
from figures.network import open_device

from ttmlir.layout.enums import MathFidelity
from ttmlir.metalium import (
    CBIndex,
    CircularBufferConfig,
    ComputeConfig,
    CoreCoord,
    CreateCircularBuffer,
    CreateKernel,
    CreateProgram,
    DataFormat,
    DataMovementConfig,
    DataMovementProcessor,
    EnqueueProgram,
    tile_size,
)
from ttmlir.sim.timing.report import ThreadTimes

KERNELS = Path(__file__).parents[1] / "kernels"
EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "metalium" / "kernels"
CORE = CoreCoord(0, 0)

TILES, VECTORS = "tiles", "vector unit"

NUMBERS = frozenset({"C32", "C33", "C34", "C35", "C36", "C37", "C40", "C41"})
"""Figures that are compared here."""

BF16, BFP8, FP32 = DataFormat.Float16_b, DataFormat.Bfp8_b, DataFormat.Float32
LOFI, HIFI2, HIFI3, HIFI4 = (
    *(MathFidelity.LOFI, MathFidelity.HIFI2),
    *(MathFidelity.HIFI3, MathFidelity.HIFI4),
)

ROUNDS = 64


@dataclass(frozen=True)
class Products:
    """A figure of 64 products of `rows` x `inner` tiles with `inner` x `columns`."""

    name: str
    columns: int
    inner: int
    output: DataFormat
    measured: tuple[tuple[MathFidelity, int], ...]
    rows: int = 1


PRODUCTS = (
    Products("C32", 2, 2, BFP8, ((LOFI, 14_331), (HIFI2, 14_577), (HIFI3, 14_545))),
    Products("C33", 2, 1, BFP8, ((HIFI3, 9522),)),
    Products("C33", 2, 3, BFP8, ((LOFI, 20_874), (HIFI3, 20_905))),
    Products("C34", 4, 4, BF16, ((LOFI, 31_637),)),
    Products("C34", 4, 8, BF16, ((LOFI, 59_033),)),
    Products("C34", 4, 32, BF16, ((LOFI, 223_394),)),
    Products("C35", 4, 1, FP32, ((HIFI2, 25_804), (HIFI4, 25_449), (LOFI, 25_112))),
    Products("C35", 4, 2, FP32, ((HIFI2, 26_863),)),
)

MULTIPLY = """\
tile_regs_acquire();
        for (uint32_t k = 0; k < inner; k++) {
            matmul_block(cb_a, cb_b, k, k * columns, 0, 0, columns, rows, inner);
        }
        tile_regs_commit();
        tile_regs_wait();
        for (uint32_t tile = 0; tile < rows * columns; tile++) {
            pack_tile<true>(tile, cb_c, tile);
        }
        tile_regs_release()"""

REDUCTION = "reduce_{}<PoolType::MAX, ReduceDim::REDUCE_ROW>"
REDUCE = """\
tile_regs_acquire();
        for (uint32_t tile = 0; tile < columns; tile++) {{
            {}(cb_a, cb_b, tile, 0, 0);
        }}
        tile_regs_commit();
        tile_regs_wait();
        tile_regs_release()"""

VECTOR_CALLS = (
    ("floor", "rounding_op_tile_init()", "floor_tile(0)", 520.1),
    ("ceil", "rounding_op_tile_init()", "ceil_tile(0)", 520.1),
    ("sin", "sin_tile_init()", "sin_tile(0)", 837.9),
    ("silu", "silu_tile_init()", "silu_tile(0)", 1387.1),
    ("div", "div_binary_tile_init()", "div_binary_tile(0, 1, 0)", 1474.8),
)
"""C36: the name, the call that prepares, the call, and cycles of a tile as PR 48925 left them."""


def run_compute(
    prepare: str,
    step: str,
    *,
    count: int = ROUNDS,
    shape: tuple[int, int, int] = (1, 1, 1),
    fidelity: MathFidelity = HIFI4,
    inputs: DataFormat = BF16,
    output: DataFormat = BF16,
    board: str = "n150",
) -> dict[str, ThreadTimes]:
    """Repeat a step on one core; `shape` is `rows`, `columns` and `inner`: its threads."""
    rows, columns, inner = shape
    device = open_device(board)
    program = CreateProgram()
    for index, data_format, tiles in (
        (CBIndex.c_0, inputs, rows * max(inner, columns)),
        (CBIndex.c_1, inputs, inner * columns),
        (CBIndex.c_16, output, rows * columns),
    ):
        page = tile_size(data_format)
        config = CircularBufferConfig(tiles * page, {index: data_format})
        CreateCircularBuffer(program, CORE, config.set_page_size(index, page))
    CreateKernel(
        program,
        KERNELS / "repeat_compute.cpp",
        CORE,
        ComputeConfig(
            math_fidelity=fidelity,
            fp32_dest_acc_en=output is FP32,
            compile_args=[count, rows, columns, inner],
            defines={"PREPARE": prepare, "STEP": step},
        ),
    )
    report = EnqueueProgram(device.command_queue(), program, False)
    return {thread.role: thread for thread in report.threads}


def compare_products() -> Iterator[Comparison]:
    """Products of tiles with all three threads, the whole loop."""
    for figure in PRODUCTS:
        shape = figure.rows, figure.columns, figure.inner
        for fidelity, measured in figure.measured:
            threads = run_compute(
                "mm_block_init(cb_a, cb_b, cb_c, 0, columns, rows, inner)",
                MULTIPLY,
                shape=shape,
                fidelity=fidelity,
                inputs=BFP8,
                output=figure.output,
            )
            cycles = max(thread.cycles for thread in threads.values())
            size = "x".join(map(str, shape))
            case = f"{fidelity.schema_name} {size}"
            name = f"{figure.name}: products of bfp8 tiles to {figure.output.name}"
            yield Comparison(name, TILES, case, measured, cycles)


def compare_reduction() -> Iterator[Comparison]:
    """The largest numbers of rows on Blackhole: the math thread, and the unpackers alone."""
    threads = run_compute(
        f"{REDUCTION.format('init')}(cb_a, cb_b, cb_c)",
        REDUCE.format(REDUCTION.format("tile")),
        shape=(1, 8, 1),
        board="p150",
    )
    for role, measured in (("MATH", 58.06), ("UNPACK", 37.28)):
        cycles = threads[role].busy / (8 * ROUNDS)
        yield Comparison("C37: row maxima of a tile, Blackhole", TILES, role, measured, cycles)


def compare_vector_calls() -> Iterator[Comparison]:
    """Functions of the vector unit, cycles of a tile."""
    for name, prepare, call, measured in VECTOR_CALLS:
        threads = run_compute(f"{prepare}; tile_regs_acquire()", call)
        cycles = threads["MATH"].cycles / ROUNDS
        yield Comparison("C36: functions of the vector unit", VECTORS, name, measured, cycles)


def compare_absolute_values() -> Iterator[Comparison]:
    """256 tiles in DRAM on all cores: the compute threads."""
    zeros = np.zeros((512, 512), np.float32)
    for board, measured in (("n150", 3900), ("p150", 1806)):
        case = eltwise_report.Case("abs", 512, 512, board=board)
        _, times = eltwise_report.simulate(case, (zeros, zeros))
        compute = max(each.cycles for each in times.threads if each.role == "MATH")
        simulated = compute * 1e9 / times.clock_hz
        yield Comparison("C41: abs of 256 tiles", TILES, board, measured, simulated, "ns")


def compare_one_core() -> Iterator[Comparison]:
    """C40: 512x2048x512 on one core in 8 blocks along K, which nobody has to bring."""
    device = open_device("n150")
    program = CreateProgram()
    blocks, extent, inner = 8, 16, 8
    for index, data_format, tiles in (
        (CBIndex.c_0, BFP8, extent * inner),
        (CBIndex.c_1, BFP8, extent * inner),
        (CBIndex.c_16, BFP8, extent * extent),
        (CBIndex.c_24, BF16, extent * extent),
    ):
        page = tile_size(data_format)
        config = CircularBufferConfig(tiles * page, {index: data_format})
        CreateCircularBuffer(program, CORE, config.set_page_size(index, page))
    CreateKernel(
        program,
        KERNELS / "push_blocks.cpp",
        CORE,
        DataMovementConfig(
            processor=DataMovementProcessor.RISCV_0, compile_args=[blocks, extent * inner]
        ),
    )
    CreateKernel(
        program,
        EXAMPLES / "multiply_blocks.cpp",
        CORE,
        ComputeConfig(math_fidelity=LOFI, compile_args=[blocks, extent, inner, extent, 4, 2]),
    )
    report = EnqueueProgram(device.command_queue(), program, False)
    name = "C40: 512x2048x512 on one core, bfp8"
    yield Comparison(name, TILES, "LoFi, sums in L1", 346_350, report.cycles)


def compare_all() -> Iterator[Comparison]:
    """Every value."""
    yield from compare_products()
    yield from compare_vector_calls()
    yield from compare_reduction()
    yield from compare_one_core()
    yield from compare_absolute_values()

"""Figures of transfers between cores, to many cores and from DRAM, and the kernels behind them.

Source: tt-low-level-documentation, data_movement_doc/perf_plots, of 2025-08 to 2026-08; the method
is that of tt-metal's tests/tt_metal/tt_metal/data_movement. One kernel on each core repeats a
transfer between the same addresses and waits once at the end; what counts is the median over the
cores of the cycles that this takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from statistics import median

from figures.comparison import Comparison, Window

from ttmlir.metalium import (
    NOC,
    CoreCoord,
    CoreRange,
    CreateDevice,
    CreateKernel,
    CreateProgram,
    DataMovementConfig,
    DataMovementProcessor,
    Device,
    EnqueueProgram,
)

KERNEL = Path(__file__).parents[1] / "kernels" / "repeat_transfer.cpp"

HERE, THERE = 0x80000, 0xC0000
"""Addresses in L1, and in banks, that nothing else uses."""

IN_DRAM, IN_L1 = 2, 0
"""Layouts of interleaved tensors, as `TensorAccessorArgs` reads them."""

ANOTHER_CORE = "get_noc_addr(x, y, there)"
CHANNEL = "get_noc_addr_from_bank_id<true>(0, there)"
RECTANGLE = "get_noc_multicast_addr(x, y, last_x, last_y, there)"

Sweep = Mapping[int, Mapping[int, float]]
"""What was measured, by the number of transfers and the bytes of each."""


@dataclass(frozen=True, kw_only=True)
class Transfers:
    """What a kernel repeats."""

    transfer: str
    barrier: str
    target: str = ANOTHER_CORE
    prepare: str = ""
    noc: NOC = NOC.NOC_0
    grid: tuple[int, int] = (1, 1)
    """Columns and rows of cores that do the same."""
    first: tuple[int, int] = (0, 0)
    """The logical core that they begin with."""
    other: tuple[int, int] = (1, 1)
    """The logical core at the other side; the last one of a rectangle, which begins at `corner`."""
    corner: tuple[int, int] | None = None
    layout: int = IN_DRAM
    """Of the tensor whose pages are transferred."""
    together: bool = False
    """What counts is the last of the cores: the model serves their requests one after the other,
    the channel by turns."""


READ = Transfers(
    transfer="noc_async_read(target, here, size)",
    barrier="noc_async_read_barrier()",
    noc=NOC.NOC_1,
)
WRITE = Transfers(
    transfer="noc_async_write(here, target, size)", barrier="noc_async_write_barrier()"
)
"""Unless said otherwise: reads on network 1, writes on network 0."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A sweep of a figure of the sources."""

    name: str
    kind: str
    what: Transfers
    measured: Sweep = field(default_factory=dict[int, Mapping[int, float]])
    board: str = "n150"
    rate: bool = False
    """What was measured is bytes per cycle of all cores together, not cycles."""
    windows: Mapping[int, Window] = field(default_factory=dict[int, Window])
    """What is accepted of a single transfer, by its bytes."""

    @property
    def number(self) -> str:
        """The name without what it is about: `C1`."""
        return self.name.partition(":")[0]


def multicast(columns: int, rows: int, *, linked: bool = False) -> Transfers:
    """Core (0, 0) to the others of a rectangle; linked packets reserve their path, but the last."""
    link = "i + 1 < count" if linked else "false"
    return Transfers(
        transfer=f"noc_async_write_multicast(here, target, size, {columns * rows - 1}, {link})",
        barrier="noc_async_write_barrier()",
        target=RECTANGLE,
        corner=(0, 0),
        other=(columns - 1, rows - 1),
    )


def interleaved(call: str, barrier: str, grid: int, noc: NOC) -> Transfers:
    """Cores that all transfer the same 16 pages, again and again."""
    return Transfers(transfer=call, barrier=barrier, noc=noc, grid=(grid, grid))


ONE_CORE, DRAM, MULTICAST, SEMAPHORES = "one core", "DRAM", "multicast", "semaphores"

READ_PAGE = "noc_async_read_page(i % 16, pages, here)"
WRITE_PAGE = "noc_async_write_page(i % 16, pages, here)"
SHARDS = """\
for (uint32_t bank = 0; bank < 12; bank++) {{
            noc_async_read_one_packet_set_state(get_noc_addr_from_bank_id<true>(bank, there), size);
            for (uint32_t page = 0; page < {}; page++) {{
                noc_async_read_one_packet_with_state(there + page * size, here);
            }}
        }}"""


def shards(pages: int) -> Transfers:
    """So many pages of each of the 12 banks of DRAM in turn."""
    return Transfers(transfer=SHARDS.format(pages), barrier="noc_async_read_barrier()")


def readers(grid: int) -> Transfers:
    """Cores that read pages of a tensor in DRAM on network 0."""
    return interleaved(READ_PAGE, "noc_async_read_barrier()", grid, NOC.NOC_0)


FIGURES = (
    Figure(
        name="C1: write to another core",
        kind=ONE_CORE,
        what=WRITE,
        measured={
            1: {32: 344, 1024: 387, 2048: 420, 8192: 675, 65536: 2509},
            16: {32: 919, 2048: 1494, 8192: 4632},
            256: {32: 10_040, 1024: 10_089, 2048: 17_359, 8192: 67_616},
        },
    ),
    Figure(
        name="C2: the same on Blackhole",
        kind=ONE_CORE,
        board="p150",
        what=WRITE,
        measured={
            1: {64: 359, 4096: 425, 16384: 631},
            16: {64: 715, 4096: 1444, 16384: 4604},
            256: {64: 6245, 1024: 6256, 2048: 9085, 4096: 17_395, 16384: 67_765},
        },
    ),
    Figure(
        name="C5: write to itself",
        kind=ONE_CORE,
        what=replace(WRITE, other=(0, 0)),
        measured={
            1: {32: 116, 2048: 181, 8192: 385},
            16: {32: 521, 2048: 1184, 8192: 4381},
            256: {32: 7001, 1024: 8957, 2048: 17_455, 8192: 68_158},
        },
    ),
    Figure(
        name="C6: the same on Blackhole",
        kind=ONE_CORE,
        board="p150",
        what=replace(WRITE, other=(0, 0)),
        measured={
            1: {64: 129, 4096: 192, 16384: 397},
            256: {64: 8288, 2048: 9224, 4096: 17_567, 16384: 68_560},
        },
    ),
    Figure(
        name="C7: read pages from all L1",
        kind=ONE_CORE,
        what=replace(READ, transfer=READ_PAGE, layout=IN_L1, first=(1, 1)),
        measured={
            1: {32: 289, 2048: 363, 8192: 577},
            16: {32: 638, 2048: 1335, 8192: 4470},
            256: {32: 6333, 512: 6349, 1024: 8773, 2048: 17_246, 8192: 66_997},
        },
    ),
    Figure(
        name="C12: address of a page",
        kind=ONE_CORE,
        what=replace(READ, transfer="last = pages.get_noc_addr(i)", prepare="uint64_t last = 0"),
        measured={100: {2048: 2913}},
    ),
    Figure(
        name="C12: the same on Blackhole",
        kind=ONE_CORE,
        board="p150",
        what=replace(READ, transfer="last = pages.get_noc_addr(i)", prepare="uint64_t last = 0"),
        measured={100: {2048: 2000}},
    ),
    Figure(name="C13: one write to one core", kind=ONE_CORE, what=WRITE, windows={32: (300, 400)}),
    Figure(
        name="C3: read from one channel",
        kind=DRAM,
        what=replace(READ, target=CHANNEL),
        measured={
            1: {32: 389, 512: 413, 1024: 437, 2048: 478, 4096: 557, 8192: 733},
            16: {32: 779, 2048: 1915, 8192: 6243},
            64: {2048: 6267, 8192: 23_781},
            256: {32: 6524, 512: 6683, 1024: 12_105, 2048: 23_843},
        },
    ),
    Figure(
        name="C4: write to one channel of Blackhole",
        kind=DRAM,
        board="p150",
        what=replace(WRITE, target=CHANNEL),
        measured={
            1: {64: 422, 2048: 452, 16384: 711},
            16: {64: 945, 2048: 1013, 4096: 1806, 16384: 5729},
            256: {64: 8598, 1024: 8609, 2048: 13_288},
        },
    ),
    *(
        Figure(
            name=f"C8: read {pages} pages from each of 12 channels in turn",
            kind=DRAM,
            what=shards(pages),
            measured={count: {2048: cycles} for count, cycles in measured.items()},
        )
        for pages, measured in (
            (1, {1: 1121, 16: 12_983, 64: 50_595}),
            (4, {1: 3542, 16: 50_821}),
            (32, {1: 26_308, 64: 1_610_980}),
        )
    ),
    Figure(
        name="C9: two cores read one channel",
        kind=DRAM,
        what=replace(READ, target=CHANNEL, grid=(2, 1), together=True),
        rate=True,
        measured={
            1: {2048: 6.9, 8192: 13.3, 65536: 20.9},
            16: {2048: 20.1},
            256: {2048: 22.2, 8192: 22.2},
        },
    ),
    Figure(
        # A single page of each core came faster than one channel gives, in which all are said to
        # lie: values of one transfer are left out here and in C17.
        name="C16: 2x2 cores read pages",
        kind=DRAM,
        what=readers(2),
        rate=True,
        measured={
            16: {512: 26.8, 2048: 56.8, 8192: 66.6},
            64: {1024: 65.5, 8192: 69.2},
            256: {2048: 61.2, 8192: 55.2},
        },
    ),
    Figure(
        name="C17: 6x6 cores read pages",
        kind=DRAM,
        what=readers(6),
        rate=True,
        measured={
            16: {512: 140.7, 2048: 147.1, 8192: 132.1},
            256: {512: 170.4, 2048: 137.7, 8192: 124.8},
        },
    ),
    Figure(
        name="C18: 2x2 cores of Blackhole read pages",
        kind=DRAM,
        board="p150",
        what=readers(2),
        rate=True,
        measured={64: {2048: 120.7, 16384: 136.8}, 256: {2048: 140.1, 16384: 112.3}},
    ),
    Figure(
        name="C18: 6x6 cores of Blackhole read pages",
        kind=DRAM,
        board="p150",
        what=readers(6),
        rate=True,
        measured={64: {2048: 294.6, 16384: 237.6}, 256: {2048: 257.7, 16384: 225.2}},
    ),
    Figure(
        name="C19: 2x2 cores write pages",
        kind=DRAM,
        what=interleaved(WRITE_PAGE, "noc_async_write_barrier()", 2, NOC.NOC_1),
        rate=True,
        measured={16: {1024: 37.9, 8192: 57.4}, 256: {1024: 66.0, 8192: 65.5}},
    ),
    *(
        Figure(
            name=f"{name} on network {noc.value}",
            kind=DRAM,
            what=replace(interleaved(call, barrier, 8, noc), grid=(8, 7)),
            measured={16: measured},
        )
        for name, call, barrier, noc, measured in (
            (
                *("N1: 8x7 cores write pages", WRITE_PAGE, "noc_async_write_barrier()"),
                *(NOC.NOC_1, {64: 5460, 512: 3508, 2048: 13_444}),
            ),
            (
                *("N1: 8x7 cores write pages", WRITE_PAGE, "noc_async_write_barrier()"),
                *(NOC.NOC_0, {64: 5405, 512: 10_241, 2048: 37_753}),
            ),
            (
                *("N2: 8x7 cores read pages", READ_PAGE, "noc_async_read_barrier()"),
                *(NOC.NOC_0, {64: 1595, 512: 2725, 2048: 10_112}),
            ),
            (
                *("N2: 8x7 cores read pages", READ_PAGE, "noc_async_read_barrier()"),
                *(NOC.NOC_1, {64: 1802, 512: 7541, 2048: 29_234}),
            ),
        )
    ),
    Figure(
        name="N3: write to one channel",
        kind=DRAM,
        what=replace(WRITE, target=CHANNEL),
        measured={
            16: {64: 1325, 128: 829, 2048: 1781, 8192: 6525},
            64: {64: 4492, 128: 2020, 2048: 6352, 8192: 24_286},
        },
    ),
    Figure(
        name="C13: one multicast to one core",
        kind=MULTICAST,
        what=replace(multicast(1, 2), corner=(1, 1), other=(1, 1)),
        windows={32: (450, 550)},
    ),
    Figure(
        name="C14: multicast to 8x8 cores",
        kind=MULTICAST,
        what=multicast(8, 8),
        measured={
            1: {32: 710, 2048: 778, 8192: 980},
            16: {32: 4848, 2048: 5936, 8192: 9505},
            256: {32: 71_323, 2048: 88_548, 8192: 144_250},
        },
    ),
    Figure(
        name="C15: multicast to 5x5 cores",
        kind=MULTICAST,
        what=multicast(5, 5),
        measured={
            1: {32: 470, 8192: 731},
            16: {32: 3194, 8192: 7473},
            256: {32: 46_631, 2048: 63_692, 8192: 115_183},
        },
    ),
    Figure(
        name="C15b: linked multicast to 11x10 cores of Blackhole",
        kind=MULTICAST,
        board="p150",
        what=multicast(11, 10, linked=True),
        measured={
            1: {64: 896, 16384: 1176},
            16: {64: 2496, 16384: 6595},
            256: {64: 28_644, 2048: 32_629, 16384: 93_083},
        },
    ),
    Figure(
        name="C10: write a word",
        kind=SEMAPHORES,
        what=replace(WRITE, transfer="noc_inline_dw_write(target, i)"),
        measured={1: {4: 297}, 16: {4: 621}, 64: {4: 1677}, 256: {4: 5900}},
    ),
    Figure(
        name="C10: the same on Blackhole",
        kind=SEMAPHORES,
        board="p150",
        what=replace(WRITE, transfer="noc_inline_dw_write(target, i)"),
        measured={1: {4: 386}, 16: {4: 1037}, 256: {4: 11_354}},
    ),
    *(
        Figure(
            name=f"C11: increment a neighbour's semaphore and wait, {where}",
            kind=SEMAPHORES,
            board=board,
            what=Transfers(
                transfer="noc_semaphore_inc(target, 1); noc_async_atomic_barrier()",
                barrier="",
                first=(0, 1),
                other=(0, 0),
                noc=noc,
            ),
            measured={count: {4: cycles} for count, cycles in measured.items()},
        )
        for where, board, noc, measured in (
            ("network 0", "n150", NOC.NOC_0, {16: 2767, 64: 10_790}),
            ("network 1", "n150", NOC.NOC_1, {64: 11_180}),
            ("network 0 of Blackhole", "p150", NOC.NOC_0, {64: 11_905}),
            ("network 1 of Blackhole", "p150", NOC.NOC_1, {64: 11_800}),
        )
    ),
)
"""By kind; README.md says of each number which file of the source it is from."""


def compare(figure: Figure) -> Iterator[Comparison]:
    """Simulate every value of a sweep."""
    for count, sizes in figure.measured.items():
        for size, measured in sizes.items():
            cycles = simulate(figure.what, count, size, figure.board)
            unit = "cycles"
            if figure.rate:
                columns, rows = figure.what.grid
                cycles, unit = columns * rows * count * size / cycles, "B/cycle"
            case = f"{count} x {size} B"
            yield Comparison(figure.name, figure.kind, case, measured, cycles, unit)
    for size, window in figure.windows.items():
        cycles = simulate(figure.what, 1, size, figure.board)
        yield Comparison(figure.name, figure.kind, f"1 x {size} B", window, cycles)


def simulate(what: Transfers, count: int, size: int, board: str) -> float:
    """Cycles that a core needs, in the median of all that do the same."""
    device = open_device(board)
    program = CreateProgram()
    x, y = what.first
    last = CoreCoord(x + what.grid[0] - 1, y + what.grid[1] - 1)
    cores = CoreRange(CoreCoord(x, y), last)
    corner = place_of(device, what.corner or what.other)
    other = place_of(device, what.other)
    CreateKernel(
        program,
        KERNEL,
        cores,
        DataMovementConfig(
            processor=DataMovementProcessor.RISCV_0,
            noc=what.noc,
            compile_args=[count, size, *corner, *other, HERE, THERE, what.layout],
            defines={
                "TARGET": what.target,
                "PREPARE": what.prepare,
                "TRANSFER": what.transfer,
                "BARRIER": what.barrier,
            },
        ),
    )
    report = EnqueueProgram(device.command_queue(), program, False)
    cycles = [thread.cycles for thread in report.threads]
    return max(cycles) if what.together else median(cycles)


def place_of(device: Device, core: tuple[int, int]) -> tuple[int, int]:
    """Where on the network a logical core is."""
    x, y = device.worker_core_from_logical_core(CoreCoord(*core))
    return x, y


@cache
def open_device(board: str) -> Device:
    """A simulated board; what is in its memory does not matter."""
    return CreateDevice(0, board=board, numerics="exact", sanitize=False)

"""Summaries and tables say what threads and networks were busy with."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping

import pytest

from ttmlir.layout.enums import MathFidelity
from ttmlir.sim.timing.noc_model import NocModel
from ttmlir.sim.timing.noc_parameters import WORMHOLE
from ttmlir.sim.timing.report import (
    ProgramTimes,
    ThreadTimes,
    bound,
    loads,
    operation_table,
    peak_flops,
    summary,
    thread_table,
)


def thread(
    role: str,
    cycles: int,
    stalls: Mapping[str, int],
    core: tuple[int, int] = (0, 0),
    **counters: int,
) -> ThreadTimes:
    """A thread of a kernel that is named for its processor."""
    return ThreadTimes(
        core=core,
        role=role,
        kernel=role.lower(),
        cycles=cycles,
        stalls=stalls,
        counters=counters,
    )


def times(threads: Iterable[ThreadTimes], *, clock_hz: int = 10**9) -> ProgramTimes:
    """A program that takes 1000 ns to launch, on networks with one channel of DRAM."""
    return ProgramTimes(
        name="multiply",
        clock_hz=clock_hz,
        threads=tuple(threads),
        networks=NocModel(WORMHOLE, {(0, 1): 0}),
        launch_ns=1000.0,
    )


def program() -> ProgramTimes:
    """Two cores; the math thread of the second one is the busiest."""
    return times(
        (
            thread("NCRISC", 8000, {"noc_async_read_barrier": 7000}, bytes=4096),
            thread("UNPACK", 9000, {"cb_wait_front": 4000}),
            thread("MATH", 9000, {"src": 3000}),
            thread("PACK", 9000, {"cb_reserve_back": 500, "tile_regs_wait": 8000}),
            thread("MATH", 9000, {"src": 1000}, core=(1, 0)),
        )
    )


def rows_of(text: str) -> list[dict[str, str]]:
    """The rows of a table by the names of their columns."""
    return list(csv.DictReader(io.StringIO(text)))


def test_loads_are_sorted_by_their_share_of_the_whole_time() -> None:
    """10 us in all: 9 of the kernels and 1 of the launch."""
    found = [(load.kind, round(load.share, 3)) for load in loads(program())]
    assert found == [
        ("compute", 0.8),
        ("unpack", 0.5),
        ("data movement processor", 0.1),
        ("dispatch", 0.1),
        ("pack", 0.05),
    ]
    assert loads(program())[0].where == "core (1, 0) MATH"


def test_bound_is_the_busiest_kind_or_latency() -> None:
    """Below 60 % nothing binds but waiting for each other; a short program is bound by dispatch."""
    assert bound(program()) == "compute"
    assert bound(times([thread("MATH", 9000, {"src": 8000})])) == "latency"
    assert bound(times([thread("MATH", 500, {"src": 400})])) == "dispatch"
    assert bound(times([])) == "dispatch"


def test_bound_by_dram() -> None:
    """300 reads of 2 KiB from one channel at 22.2 bytes per cycle."""
    run = times([thread("NCRISC", 28_000, {"noc_async_read_barrier": 20_000})])
    for _ in range(300):
        run.networks.read(0, (1, 1), (0, 1), 2048, 0)
    assert bound(run) == "DRAM"
    assert run.networks.dram_bytes == 300 * 2048
    (dram,) = (load for load in loads(run) if load.kind == "DRAM")
    assert dram.where == "DRAM channel 0"
    assert dram.cycles == pytest.approx(300 * 2048 / 22.2)


def test_summary() -> None:
    """9000 cycles of 2 cores are 9000 * 2 * 4096 operations at LoFi, half as many at HiFi2."""
    text = summary(program(), flops=9000 * 4096 / 2, cores=2, fidelity=MathFidelity.HIFI2)
    assert text.splitlines() == [
        "multiply: 9,000 cycles = 9.0 us, and 1.0 us to launch",
        "  2.05 of 4.1 TFLOP/s on 2 cores at HiFi2: 50.0% utilisation",
        "  0.0 of 22 GB/s of DRAM: 0.0%",
        "  bound by compute (busiest of each kind: compute 80%, unpack 50%, "
        "data movement processor 10%, dispatch 10%, pack 5%)",
    ]


@pytest.mark.parametrize(
    ("fidelity", "tflops"), [("lofi", 262), ("hifi2", 131), ("hifi3", 87.4), ("hifi4", 65.5)]
)
def test_peak_of_64_cores(fidelity: str, tflops: float) -> None:
    """4.096, 2.048, 1.366 and 1.024 TFLOP/s a core."""
    peak = peak_flops(10**9, 64, MathFidelity.from_keyword(fidelity))
    assert peak / 1e12 == pytest.approx(tflops, rel=1e-3)


def test_thread_table_has_rows_for_threads_and_for_kernels() -> None:
    """Every way of stalling and every counter is a column."""
    rows = rows_of(thread_table([program()]))
    assert len(rows) == 5 + 4
    assert rows[0] == {
        "program": "multiply",
        "kernel": "ncrisc",
        "core": "(0, 0)",
        "thread": "NCRISC",
        "cycles": "8000",
        "busy": "1000",
        "stalled in cb_reserve_back": "0",
        "stalled in cb_wait_front": "0",
        "stalled in noc_async_read_barrier": "7000",
        "stalled in src": "0",
        "stalled in tile_regs_wait": "0",
        "bytes": "4096",
    }
    total = rows[-2]
    assert (total["core"], total["thread"], total["busy"]) == ("all", "MATH", "14000")
    assert total["stalled in src"] == "4000"


def test_operation_table_has_the_columns_of_tt_metal() -> None:
    """Nanoseconds of each processor; what is not known is empty."""
    (row,) = rows_of(operation_table([program()], [{"MATH FIDELITY": "HiFi2"}]))
    assert row["OP CODE"] == "multiply"
    assert row["CORE COUNT"] == "2"
    assert row["MATH FIDELITY"] == "HiFi2"
    assert row["DEVICE FW DURATION [ns]"] == "10000"
    assert row["DEVICE KERNEL DURATION [ns]"] == "9000"
    assert row["DEVICE NCRISC KERNEL DURATION [ns]"] == "8000"
    assert row["DEVICE TRISC1 KERNEL DURATION [ns]"] == "9000"
    assert row["DEVICE BRISC KERNEL DURATION [ns]"] == ""
    assert row["DEVICE COMPUTE CB WAIT FRONT [ns]"] == "4000"
    assert row["DEVICE COMPUTE CB RESERVE BACK [ns]"] == "500"
    assert row["HOST DURATION [ns]"] == ""
    assert (row["DEVICE ID"], row["INPUT_0_MEMORY"]) == ("0", "")


def test_cycles_become_nanoseconds_of_the_chips_clock() -> None:
    """1350 cycles of Blackhole are 1000 ns."""
    run = times([thread("BRISC", 1350, {})], clock_hz=1_350_000_000)
    (row,) = rows_of(operation_table([run], [{}]))
    assert row["DEVICE BRISC KERNEL DURATION [ns]"] == "1000"
    assert row["DEVICE FW END CYCLE"] == "1350"

"""Programs that need no sanitizer: seen to be right, or undone and watched from the start."""

from __future__ import annotations

import pytest
from running.kernel_judge import DRAIN, FEED, TILE, judge, numbers

from ttmlir.layout.enums import DataType
from ttmlir.optable.kernel import Role
from ttmlir.sim.errors import SimError
from ttmlir.sim.execution import run
from ttmlir.sim.execution.program import CircularBufferSpec, Kernel, Program
from ttmlir.sim.machine.address_generators import Buffer
from ttmlir.sim.machine.device import SimChip, SimDevice
from ttmlir.sim.options import SimOptions
from ttmlir.sim.sanitizer.regular import RegularRun
from ttmlir.sim.sanitizer.sanitizer import Sanitizer


@pytest.fixture
def outcomes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What became of the programs that ran: `regular`, `undone` or `watched`."""
    told: list[str] = []
    finish, undo, start = RegularRun.finish, RegularRun.undo, Sanitizer.program_started

    def finished(self: RegularRun) -> None:
        finish(self)
        told.append("regular")

    def undone(self: RegularRun) -> None:
        undo(self)
        told.append("undone")

    def started(self: Sanitizer, *arguments: object) -> None:
        told.append("watched")
        start(self, *arguments)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(RegularRun, "finish", finished)
    monkeypatch.setattr(RegularRun, "undo", undone)
    monkeypatch.setattr(Sanitizer, "program_started", started)
    return told


IN_PLACE = """
    for (uint32_t i = 0; i < 6; i++) {
        cb_wait_front(0, 1);
        noc_async_write_tile(i + 1, in, get_read_ptr(0));
        noc_async_write_barrier();
        cb_pop_front(0, 1);
    }
"""
"""As DRAIN, but over the tensor that FEED reads."""

SHOW = """
    for (uint32_t i = 0; i < 8; i++) {
        cb_reserve_back(1, 1);
        noc_async_read_tile(i, in, get_write_ptr(1));
        noc_async_read_barrier();
        noc_async_write_tile(i, out, get_write_ptr(1));
        noc_async_write_barrier();
    }
"""
"""Copies what is in `in` to `out`, in pages that are reserved and never pushed."""

SEND = """
    for (uint32_t i = 0; i < 4; i++) {
        cb_wait_front(0, 1);
        noc_async_write(get_read_ptr(0), at(1, PLACE + 2048 * i), 2048);
        noc_async_write_barrier();
        cb_pop_front(0, 1);
    }
"""
"""Sends tiles of circular buffer 0 to core 1."""

FILL_SHARD = """
    cb_reserve_back(3, 2);
    noc_async_read_tile(0, in, get_write_ptr(3));
    noc_async_read_barrier();
    cb_push_back(3, 2);
"""
"""Writes a tile to SHARD, with the circular buffer that is on it."""

SHOW_SHARD = """
    for (uint32_t i = 0; i < 2; i++) {
        noc_async_write_tile(i, out, get_read_ptr(3) + 2048 * i);
        noc_async_write_barrier();
    }
"""
"""Copies two tiles of SHARD to `out` at any time."""

FETCH = """
    cb_reserve_back(1, 1);
    noc_async_read(at(0, SHARD + 2048), get_write_ptr(1), 2048);
    noc_async_read_barrier();
    cb_push_back(1, 1);
"""
"""Reads the second tile of SHARD on core 0."""

REGULAR = {
    "a pipeline": {"read0": FEED, "write0": DRAIN},
    "tiles sent to another core": {"read0": FEED, "write0": SEND.replace("PLACE", "LOCAL")},
    "a tensor that nobody writes": {"write0": SHOW_SHARD, "read1": FETCH},
    "a tensor of which others read other pages": {"read0": FILL_SHARD, "read1": FETCH},
    "a tensor that is waited for": {
        "read0": FILL_SHARD,
        "write0": f"cb_wait_front(3, 2);{SHOW_SHARD}cb_pop_front(3, 2);",
    },
}
"""Kernels with which nothing is wrong."""

IRREGULAR = {
    "reads under way when pages are pushed": (
        FEED.replace("noc_async_read_barrier();", "") + "noc_async_read_barrier();",
        DRAIN,
    ),
    "two reads under way to one page": (
        FEED.replace("noc_async_read_barrier", FEED.split("\n")[3] + "noc_async_read_barrier"),
        DRAIN,
    ),
    "a store to a page that a read is under way to": (
        FEED.replace(
            "noc_async_read_barrier", "*word(get_write_ptr(0)) = 1;noc_async_read_barrier"
        ),
        DRAIN,
    ),
    "writes under way when pages are popped": (
        FEED,
        DRAIN.replace("noc_async_write_barrier();", "") + "noc_async_write_barrier();",
    ),
    "pages that nobody reserved": (FEED.replace("cb_reserve_back(0, 1);", ""), DRAIN),
    "pages that nobody waited for": (FEED, DRAIN.replace("cb_wait_front(0, 1);", "")),
    "pages that nobody wrote": (
        FEED.replace("noc_async_read_tile(i, in, get_write_ptr(0));", ""),
        DRAIN,
    ),
    "half of the pages written": (
        FEED.replace(
            "noc_async_read_tile(i, in, get_write_ptr(0));",
            "noc_async_read(get_noc_addr(i, in), get_write_ptr(0), 1024);",
        ),
        DRAIN,
    ),
    "writes that nobody waits for": (
        FEED,
        DRAIN.replace("write_barrier", "writes_flushed"),
    ),
    "a page behind the last one": (FEED.replace("tile(i,", "tile(i + 11,"), DRAIN),
    "a page that is written twice": (FEED, DRAIN.replace("tile(i,", "tile(i / 2,")),
    "a page that the other thread reads": (FEED, IN_PLACE),
    "a producer that reads its own pages": (FEED + SHOW, DRAIN),
    "tiles sent over a circular buffer of another core": (
        FEED,
        SEND.replace("PLACE", "get_write_ptr(1)"),
    ),
    "a tensor that is written before another thread looks": (FILL_SHARD, SHOW_SHARD),
    "bytes that belong to nobody": (
        FEED,
        DRAIN.replace("write_tile(i, out,", "write_tile(i + 4000, out,"),
    ),
}
"""Kernels that read and write, by what is irregular about them; some are right, most are not."""


def never(calls: object) -> bool:
    """No program is worth a try."""
    return False


@pytest.mark.parametrize("name", REGULAR)
def test_what_is_regular_runs_once(
    name: str, outcomes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It leaves what it leaves under the sanitizer, which finds nothing."""
    verdict = judge(REGULAR[name], SimOptions())
    assert not verdict.rules("error")
    assert outcomes == ["regular"]
    monkeypatch.setattr(run, "may_be_regular", never)
    assert judge(REGULAR[name], SimOptions()) == verdict


def test_a_pipeline_copies_tiles() -> None:
    """Also without the sanitizer's histories."""
    verdict = judge({"read0": FEED, "write0": DRAIN}, SimOptions())
    assert not verdict.findings
    assert verdict.result[: 6 * TILE] == numbers()[: 6 * TILE]


def test_pages_that_nobody_used_are_noted(
    outcomes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the sanitizer notes them."""
    kernels = {"read0": FEED, "write0": DRAIN.replace("i < 6", "i < 4"), "read1": FEED}
    kernels["read1"] = FEED.replace("i < 6", "i < 3")
    verdict = judge(kernels, SimOptions())
    assert verdict.rules("note") == ["cb-not-empty"] * 2
    assert [each.core for each in verdict.findings] == [(0, 0), (1, 0)]
    monkeypatch.setattr(run, "may_be_regular", never)
    assert judge(kernels, SimOptions()) == verdict
    assert outcomes == ["regular", "watched"]


@pytest.mark.parametrize("name", IRREGULAR)
@pytest.mark.parametrize("seed", [None, 3])
def test_what_is_irregular_is_undone(
    name: str, seed: int | None, outcomes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends as if the sanitizer had watched from the start: same findings, same bytes."""
    reader, writer = IRREGULAR[name]
    kernels = {"read0": reader, "write0": writer}
    options = SimOptions(schedule_seed=seed, timed=seed is None, delay_copies=seed is not None)
    verdict = judge(kernels, options)
    assert outcomes == ["undone", "watched"]
    monkeypatch.setattr(run, "may_be_regular", never)
    outcomes.clear()
    assert judge(kernels, options) == verdict
    assert outcomes == ["watched"]


def test_errors_of_kernels_are_told_by_a_run_of_their_own(outcomes: list[str]) -> None:
    """A deadlock, too: what was found before belongs to it."""
    verdict = judge({"read0": FEED}, SimOptions())
    assert verdict.findings[0].severity == "error"
    assert "deadlock" in verdict.findings[0].message
    assert outcomes == ["undone", "watched"]


def test_calls_by_other_rules_are_not_tried(outcomes: list[str]) -> None:
    """Semaphores order threads by rules that need clocks."""
    judge({"read0": FEED + "noc_semaphore_set(sem(0), 1);", "write0": DRAIN}, SimOptions())
    assert outcomes == ["watched"]


def copy_pages(device: SimDevice, source: Buffer, target: Buffer, pages: int) -> None:
    """Run a program that copies the first pages of a buffer in DRAM to another one."""
    core = (1, 2)
    program = Program()
    program.add_circular_buffer(
        CircularBufferSpec(cores=(core,), total_size=3 * TILE, indices={0: (TILE, DataType.BF16)})
    )
    for name, role, body in (("feed", Role.NCRISC, FEED), ("drain", Role.BRISC, DRAIN)):
        buffer = source if name == "feed" else target
        generator = "in" if name == "feed" else "out"
        text = f"""#include "dataflow_api.h"
void kernel_main() {{
    const InterleavedAddrGenFast<true> {generator} = {{
        .bank_base_address = {buffer.address}, .page_size = {TILE},
        .data_format = DataFormat::Float16_b}};
    {body.replace("i < 6", f"i < {pages}")}
}}
"""
        program.add_kernel(
            Kernel(
                name=name,
                file=f"{name}.cpp",
                text=text,
                cores=(core,),
                role=role,
                noc_index=int(name == "drain"),
            )
        )
    run.run_program(device, program)


@pytest.mark.exhaustive
def test_the_next_program_knows_what_was_written(outcomes: list[str]) -> None:
    """What a regular program wrote is there for the next one, and nothing else."""
    device = SimDevice(SimChip.of_board("n150"), SimOptions())
    first, second, third = (Buffer(device, 16 * TILE, TILE) for _ in range(3))
    first.write(numbers())
    copy_pages(device, first, second, 5)
    copy_pages(device, second, third, 5)
    assert third.read()[: 5 * TILE] == numbers()[: 5 * TILE]
    assert outcomes == ["regular"] * 2
    with pytest.raises(SimError, match="which nobody has written") as caught:
        copy_pages(device, second, third, 6)
    assert caught.value.rule == "uninitialised-read"
    assert outcomes == ["regular"] * 2 + ["undone", "watched"]

"""Starting programs takes what was measured, by the processors and the sizes of their kernels."""

from __future__ import annotations

import pytest

from ttmlir.layout.enums import Arch
from ttmlir.metalium import (
    CBIndex,
    CircularBufferConfig,
    CoreCoord,
    CreateCircularBuffer,
    CreateDevice,
    CreateKernelFromString,
    CreateProgram,
    DataFormat,
    EnqueueProgram,
    ReaderDataMovementConfig,
)
from ttmlir.sim.timing.launch import launch_ns, replayed_ns

COMPUTE = frozenset({"UNPACK", "MATH", "PACK"})
ALL = COMPUTE | {"BRISC", "NCRISC"}


@pytest.mark.parametrize(
    ("roles", "measured"),
    [
        ({"BRISC"}, {256: 2.47, 4096: 2.70, 8192: 2.96}),
        (COMPUTE, {256: 2.65, 4096: 3.35, 8192: 4.09}),
        (COMPUTE | {"BRISC"}, {256: 2.72, 4096: 3.66, 8192: 4.63}),
        (ALL, {256: 2.82, 4096: 3.99, 8192: 5.22}),
    ],
)
def test_launch_on_wormhole(roles: set[str], measured: dict[int, float]) -> None:
    """C27 of test/bench/figures/README.md, microseconds by bytes of a kernel: within 2 %."""
    for size, microseconds in measured.items():
        assert launch_ns(roles, kernel_bytes=size) == pytest.approx(1000 * microseconds, rel=0.02)


def test_circular_buffers_are_configured() -> None:
    """C27 with one: within 2 %."""
    for size, microseconds in {256: 3.10, 4096: 4.27, 8192: 5.52}.items():
        simulated = launch_ns(ALL, kernel_bytes=size, circular_buffers=True)
        assert simulated == pytest.approx(1000 * microseconds, rel=0.02)


@pytest.mark.parametrize(
    ("roles", "measured"),
    [
        ({"BRISC"}, {256: 1.86, 4096: 1.92, 8192: 2.06}),
        (COMPUTE, {256: 1.92, 4096: 2.30, 8192: 2.66}),
        (ALL, {256: 2.03, 4096: 2.66, 8192: 3.22}),
    ],
)
def test_launch_on_blackhole(roles: set[str], measured: dict[int, float]) -> None:
    """C28 of test/bench/figures/README.md: within 3 %."""
    for size, microseconds in measured.items():
        simulated = launch_ns(roles, Arch.BLACKHOLE, size)
        assert simulated == pytest.approx(1000 * microseconds, rel=0.03)


@pytest.mark.parametrize(
    ("cycles", "microseconds"),
    [(0, 2.47), (1000, 2.47), (2000, 2.84), (5000, 5.88), (10000, 10.96)],
)
def test_launch_hides_behind_the_program_before(cycles: int, microseconds: float) -> None:
    """C29 of test/bench/figures/README.md: a kernel of BRISC alone that spins, within 3 %."""
    launch = launch_ns({"BRISC"}, kernel_bytes=256)
    assert replayed_ns(launch, cycles) == pytest.approx(1000 * microseconds, rel=0.03)


def test_nothing_is_launched_without_kernels() -> None:
    """So it takes no time."""
    assert launch_ns(set()) == 0.0


@pytest.mark.parametrize("board", ["n150", "p150"])
@pytest.mark.parametrize("buffers", [False, True])
def test_programs_know_what_launching_them_takes(board: str, buffers: bool) -> None:
    """By their kernels, the generation of the board, and whether they have circular buffers."""
    device, program = CreateDevice(0, board=board), CreateProgram()
    core = CoreCoord(0, 0)
    if buffers:
        config = CircularBufferConfig(2048, {CBIndex.c_0: DataFormat.Float16_b})
        CreateCircularBuffer(program, core, config.set_page_size(CBIndex.c_0, 2048))
    CreateKernelFromString(program, "void kernel_main() {}", core, ReaderDataMovementConfig([]))
    times = EnqueueProgram(device.command_queue(), program).times("nothing")
    fixed, kernel, configured = (2400, 70, 280) if board == "n150" else (1820, 34, 207)
    expected = fixed + kernel + 1024 / (16.5 if board == "n150" else 33.5)
    assert times.launch_ns == pytest.approx(expected + buffers * configured)

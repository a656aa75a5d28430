"""Two threads of a core hand pages to each other, in every order and with copies held back."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import numpy as np
import pytest

from ttmlir.layout.enums import DataType
from ttmlir.optable.kernel import Role
from ttmlir.sim.calls.device_objects import DataMovementApi
from ttmlir.sim.calls.kernel_api import waiting_calls
from ttmlir.sim.errors import DeadlockError, SimError
from ttmlir.sim.execution.scheduler import KernelSource, KernelThread, Scheduler
from ttmlir.sim.machine.device import Core, Network, SimChip
from ttmlir.sim.machine.memory import CircularBuffer
from ttmlir.sim.options import SimOptions

PAGE = 64
SOURCE = 1024
TARGET = 1 << 16


class Chip:
    """Cores that are made when they are asked for, and the network between them."""

    def __init__(self, chip: SimChip | None = None) -> None:
        """No core yet."""
        self.chip = chip or SimChip.of_board("n150")
        self.cores: dict[tuple[int, int], Core] = {}
        self.network = Network(self.chip, self.core)
        self.threads: list[KernelThread] = []

    def core(self, x: int, y: int) -> Core:
        """The core at logical (x, y)."""
        if (x, y) not in self.cores:
            self.cores[x, y] = Core(self.chip, (x, y))
        return self.cores[x, y]


def api_of(
    chip: Chip, scheduler: Scheduler, options: SimOptions, role: Role, name: str
) -> DataMovementApi:
    """The calls of a new thread on core (0, 0)."""
    core = chip.core(0, 0)
    source = KernelSource(name, __file__)
    thread = KernelThread(core, role, source, len(chip.threads), scheduler=scheduler)
    chip.threads.append(thread)
    return DataMovementApi(core, thread, options, chip.network)


def reader(api: DataMovementApi, pages: int) -> Generator[None, None, None]:
    """DRAM to circular buffer 0, page by page."""
    source = api.InterleavedAddrGen(SOURCE, PAGE)
    for page in range(pages):
        while not api.cb_reserve_back(0, 1):
            yield
        while not api.noc_async_read_page(page, source, api.get_write_ptr(0)):
            yield
        while not api.noc_async_read_barrier():
            yield
        api.cb_push_back(0, 1)


def writer(api: DataMovementApi, pages: int) -> Generator[None, None, None]:
    """Circular buffer 0 to DRAM, page by page."""
    target = api.InterleavedAddrGen(TARGET, PAGE)
    for page in range(pages):
        while not api.cb_wait_front(0, 1):
            yield
        while not api.noc_async_write_page(page, target, api.get_read_ptr(0)):
            yield
        while not api.noc_async_write_barrier():
            yield
        api.cb_pop_front(0, 1)


def run(options: SimOptions, pages: int, written: int) -> tuple[np.ndarray, np.ndarray]:
    """What was in DRAM, and what the two threads made of it."""
    chip = Chip()
    scheduler = Scheduler(options)
    core = chip.core(0, 0)
    core.cbs[0] = CircularBuffer(0, 0x20000, PAGE, 3, DataType.BF16)
    numbers = np.random.default_rng(0).integers(0, 256, (pages, PAGE), np.uint8)
    for page, values in enumerate(numbers):
        bank = chip.network.dram[page % 12].memory
        bank.write(SOURCE + page // 12 * PAGE, values.tobytes())
    reads = api_of(chip, scheduler, options, Role.NCRISC, "reader")
    writes = api_of(chip, scheduler, options, Role.BRISC, "writer")
    reads.thread.start(reader(reads, pages))
    writes.thread.start(writer(writes, written))
    for api in (reads, writes):
        scheduler.interleave(api, waiting_calls(type(api)))
    scheduler.run(chip.threads)
    result = [
        np.array(chip.network.dram[page % 12].memory.read(TARGET + page // 12 * PAGE, PAGE))
        for page in range(pages)
    ]
    return numbers, np.array(result)


@pytest.mark.parametrize("timed", [True, False])
@pytest.mark.parametrize("delay_copies", [True, False])
@pytest.mark.parametrize("seed", [None, 1, 2])
def test_pages_arrive(seed: int | None, delay_copies: bool, timed: bool) -> None:
    """Every page goes from DRAM through the circular buffer to its place."""
    options = SimOptions(schedule_seed=seed, delay_copies=delay_copies, timed=timed, sanitize=False)
    expected, result = run(options, pages=29, written=29)
    np.testing.assert_array_equal(result, expected)


def test_deadlock_says_who_waits_for_what() -> None:
    """A reader without a consumer is found, with its place, its call and the circular buffer."""
    with pytest.raises(DeadlockError) as caught:
        run(SimOptions(sanitize=False), pages=9, written=2)
    text = str(caught.value)
    source = Path(__file__).read_text(encoding="utf-8").splitlines()
    line = next(i for i, each in enumerate(source, 1) if "while not api.cb_reserve_back" in each)
    assert text.startswith(f"{__file__}:{line + 1}:")
    message = "error: deadlock: 1 thread waits, and nothing is left that could wake them [deadlock]"
    assert message in text.splitlines()[0]
    assert "note: core (0, 0) NCRISC waits for 1 free page of circular buffer 0; it has 0" in text
    assert (
        "3 pages of 64 bytes, received 5, acked 2, 0 free; pushed by NCRISC, popped by BRISC"
        in text
    )


def test_errors_carry_the_place_and_the_thread() -> None:
    """A call that is wrong is reported where the kernel made it."""
    chip = Chip()
    options = SimOptions()
    scheduler = Scheduler(options)
    api = api_of(chip, scheduler, options, Role.BRISC, "kernel")

    def kernel() -> Generator[None, None, None]:
        yield
        api.noc_async_read(api.get_noc_addr(5, 6, 0), 0x20000, 32)

    api.thread.start(kernel())
    with pytest.raises(SimError, match="no tile with memory is at") as caught:
        scheduler.run(chip.threads)
    error = caught.value
    assert error.position is not None
    assert error.position.file == __file__
    assert (error.core, error.role) == ((0, 0), "BRISC")

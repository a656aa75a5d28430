"""In which order threads run, and when they stop."""

from __future__ import annotations

from collections.abc import Callable, Generator

import pytest

from ttmlir.optable.kernel import Role
from ttmlir.sim.calls.kernel_api import KernelApi
from ttmlir.sim.errors import DeadlockError, Finding, SimError
from ttmlir.sim.execution.scheduler import SLACK, KernelSource, KernelThread, Scheduler
from ttmlir.sim.machine.device import Core, SimChip
from ttmlir.sim.options import SimOptions
from ttmlir.sim.protocols import RunningThread, WaitReason

Kernel = Generator[None, None, None]


def threads_of(
    scheduler: Scheduler, bodies: list[Callable[[KernelThread], Kernel]]
) -> list[KernelThread]:
    """A thread for each body, on one core."""
    core = Core(SimChip.of_board("n150"), (0, 0))
    threads: list[KernelThread] = []
    for index, body in enumerate(bodies):
        source = KernelSource("kernel", __file__)
        thread = KernelThread(core, Role.BRISC, source, index, scheduler=scheduler)
        thread.start(body(thread))
        threads.append(thread)
    return threads


def order(options: SimOptions, steps: list[list[int]]) -> list[tuple[int, int]]:
    """Thread and clock of each step, where each step takes so many cycles."""
    scheduler = Scheduler(options)
    seen: list[tuple[int, int]] = []

    def body(thread: KernelThread) -> Kernel:
        for cycles in steps[thread.index]:
            seen.append((thread.index, thread.clock))
            thread.clock += cycles
            yield

    scheduler.run(threads_of(scheduler, [body] * len(steps)))
    return seen


def test_the_thread_that_is_furthest_back_runs_next() -> None:
    """With clocks, steps come in the order of their times."""
    seen = order(SimOptions(), [[30, 5, 10], [10, 10, 40], [25, 1, 1]])
    assert seen == [(0, 0), (1, 0), (2, 0), (1, 10), (1, 20), (2, 25), (2, 26), (0, 30), (0, 35)]


def test_threads_take_turns_without_clocks() -> None:
    """First come, first served."""
    seen = order(SimOptions(timed=False), [[0, 0], [0, 0, 0], [0]])
    assert [index for index, _ in seen] == [0, 1, 2, 0, 1, 1]


def test_a_seed_fixes_the_order() -> None:
    """The same seed gives the same order, others give others."""
    steps = [[1] * 5 for _ in range(4)]
    orders = [order(SimOptions(schedule_seed=seed), steps) for seed in (0, 0, 1, 2)]
    assert orders[0] == orders[1]
    assert orders[0] != orders[2] != orders[3]


def test_the_horizon_is_the_next_thread_and_some_slack() -> None:
    """While one thread runs, others that it wakes bring the horizon nearer."""
    scheduler = Scheduler(SimOptions())
    horizons: list[int] = []

    def first(thread: KernelThread) -> Kernel:
        thread.clock = 5000
        yield
        horizons.append(scheduler.horizon)
        threads[1].wake()
        horizons.append(scheduler.horizon)

    def second(thread: KernelThread) -> Kernel:
        thread.wait(WaitReason(), 1)
        yield

    def third(thread: KernelThread) -> Kernel:
        thread.clock = 9000
        yield

    threads = threads_of(scheduler, [first, second, third])
    scheduler.run(threads)
    assert horizons == [9000 + SLACK, 5000 + SLACK]


def test_a_seed_lets_calls_give_way_although_they_need_not() -> None:
    """A blocking call is then sometimes not made at first; it is made once in the end."""
    scheduler = Scheduler(SimOptions(schedule_seed=3, timed=False))
    counts = [0, 0]

    class Api:
        def call(self) -> bool:
            counts[0] += 1
            return True

    api = Api()
    scheduler.interleave(api, {"call"})

    def body(thread: KernelThread) -> Kernel:
        for _ in range(50):
            while not api.call():
                counts[1] += 1
                yield

    scheduler.run(threads_of(scheduler, [body]))
    assert counts[0] == 50
    assert counts[1] > 0


def test_a_poller_does_not_miss_a_thread_that_is_far_ahead() -> None:
    """It waits for who changes memory, however late that is, and then sees the change."""
    scheduler = Scheduler(SimOptions(sanitize=False))
    address = 0x20000

    def poller(thread: KernelThread) -> Kernel:
        api = KernelApi(thread.core, thread, scheduler.options)
        api.store(address, 4, 0)
        while api.load(address, 4, False) != 7:
            while not api.poll():
                yield

    def writer(thread: KernelThread) -> Kernel:
        api = KernelApi(thread.core, thread, scheduler.options)
        yield
        thread.clock += 50_000_000
        yield
        api.store(address, 4, 7)

    threads = threads_of(scheduler, [poller, writer])
    scheduler.run(threads)
    assert 50_000_000 <= threads[0].clock <= 50_000_000 + SLACK
    assert threads[0].stalls["poll"] > 49_000_000


def test_work_that_is_left_is_done_before_a_deadlock() -> None:
    """Copies that no barrier waits for arrive in the end."""
    left = [True]

    def on_idle() -> bool:
        if left:
            left.pop()
            threads[0].wake()
            return True
        return False

    scheduler = Scheduler(SimOptions(), on_idle)

    class Never(WaitReason):
        def describe(self, thread: RunningThread) -> tuple[str, ...]:
            return (f"{thread.wanted} of nothing",)

    def body(thread: KernelThread) -> Kernel:
        for wanted in range(3):
            thread.wait(Never(), wanted)
            yield

    threads = threads_of(scheduler, [body])
    with pytest.raises(DeadlockError, match="1 thread waits") as caught:
        scheduler.run(threads)
    assert "BRISC waits for 1 of nothing" in str(caught.value)


@pytest.mark.parametrize(
    ("unpack_waits_within", "order"),
    [(True, ["UNPACK", "PACK", "BRISC"]), (False, ["BRISC", "UNPACK", "PACK"])],
)
def test_whom_a_deadlock_blames(unpack_waits_within: bool, order: list[str]) -> None:
    """A kernel whose threads wait for each other; else those that wait for pages of others."""

    class Never(WaitReason):
        def __init__(self, is_within_kernel: bool) -> None:
            self.is_within_kernel = is_within_kernel

        def describe(self, thread: RunningThread) -> tuple[str, ...]:
            return ("nothing",)

    def body(thread: KernelThread, is_within_kernel: bool) -> Kernel:
        thread.wait(Never(is_within_kernel), 0)
        yield

    scheduler, core = Scheduler(SimOptions()), Core(SimChip.of_board("n150"), (0, 0))
    threads: list[KernelThread] = []
    within = {Role.BRISC: False, Role.UNPACK: unpack_waits_within, Role.PACK: True}
    for index, (role, is_within_kernel) in enumerate(within.items()):
        source = KernelSource("kernel", __file__)
        threads.append(KernelThread(core, role, source, index, scheduler=scheduler))
        threads[-1].start(body(threads[-1], is_within_kernel))
    with pytest.raises(DeadlockError) as caught:
        scheduler.run(threads)
    assert [each.role for each in caught.value.related] == order


def test_the_text_of_a_finding() -> None:
    """Place, severity, message, rule, source line, caret below a tab, notes."""
    note = Finding(message="written here", file="b.cpp", line=2, severity="note")
    finding = Finding(
        message="reads a page that nobody pushed",
        rule="cb-read",
        file="a.cpp",
        line=3,
        column=6,
        core=(4, 5),
        role="PACK",
        detail=("circular buffer 2",),
        source_line="\tint x = y;",
        related=(note,),
    )
    assert finding.text().splitlines() == [
        "a.cpp:3:6: error: reads a page that nobody pushed [cb-read]",
        "  \tint x = y;",
        "  \t    ^",
        "  note: on core (4, 5) PACK",
        "  note: circular buffer 2",
        "b.cpp:2: note: written here",
    ]
    assert SimError.of(finding).finding == finding
    assert str(SimError.of(finding)) == finding.text()

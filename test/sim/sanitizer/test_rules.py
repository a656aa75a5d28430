"""Every rule about memories, circular buffers and semaphores, by calls of threads in turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ttmlir.layout.enums import DataType
from ttmlir.optable.kernel import Role
from ttmlir.sim.calls.data_movement_api import DataMovementApi
from ttmlir.sim.errors import SanitizerError
from ttmlir.sim.execution.scheduler import KernelSource, KernelThread, Scheduler
from ttmlir.sim.machine.address_generators import AccessorArgs
from ttmlir.sim.machine.device import Core, Network, SimChip, multicast_address, noc_address
from ttmlir.sim.machine.memory import CircularBuffer
from ttmlir.sim.options import SimOptions
from ttmlir.sim.sanitizer.sanitizer import Sanitizer
from ttmlir.sim.sanitizer.shadow import PageGrid

PAGE = 2048
PAGES = 4
BUFFER = 0x20000
ALIASED = 0x30000
SCRATCH = 0x40000
"""Bytes of L1 that belong to no circular buffer."""
DRAM = 1 << 20
DRAM_CHANNEL = 3


class Machine:
    """Two cores with a reader (NCRISC), a writer (BRISC) and a packer each, and the sanitizer.

    Every core has circular buffer 0, and circular buffer 1, which lies on a tensor, and two
    semaphores. 16 pages of DRAM channel 3 and the scratch bytes of every core are written.
    """

    def __init__(
        self,
        leniencies: frozenset[str] = frozenset(),
        max_findings: int = 1,
        chip: SimChip | None = None,
    ) -> None:
        """A program that has just started."""
        self.chip = chip or SimChip.of_board("n150")
        self.cores: dict[tuple[int, int], Core] = {}
        self.watch = Sanitizer(self.chip, leniencies=leniencies, max_findings=max_findings)
        self.network = Network(self.chip, self.core)
        self.dram = self.network.dram[DRAM_CHANNEL]
        for endpoint in self.network.dram:
            self.watch.add(endpoint, self.chip.dram_unreserved_base)
        self.watch.host_write(self.dram.memory, DRAM, 16 * PAGE)
        scheduler = Scheduler(SimOptions())
        self.threads: list[KernelThread] = []
        apis = [
            self._api(self.core(x, 0), role, scheduler)
            for x in range(2)
            for role in (Role.NCRISC, Role.BRISC, Role.PACK)
        ]
        self.reader, self.writer, self.packer, self.reader2, self.writer2, self.packer2 = apis
        self.start()

    def core(self, x: int, y: int) -> Core:
        """The core at logical (x, y)."""
        if (x, y) not in self.cores:
            core = self.cores[x, y] = Core(self.chip, (x, y))
            self.watch.add(core, self.chip.l1_unreserved_base)
            self.watch.host_write(core.l1, SCRATCH, 16 * PAGE)
            core.watch = self.watch
            self.watch.host_write(core.l1, ALIASED, PAGES * PAGE)
            base = self.chip.semaphore_base
            core.semaphores = {0: base, 1: base + 16}
        return self.cores[x, y]

    def _api(self, core: Core, role: Role, scheduler: Scheduler) -> DataMovementApi:
        source = KernelSource(str(role.name).lower(), __file__)
        thread = KernelThread(core, role, source, len(self.threads), scheduler=scheduler)
        self.threads.append(thread)
        return DataMovementApi(core, thread, SimOptions(), self.network)

    def start(self) -> None:
        """The next program begins, with empty circular buffers and semaphores at 0."""
        for core in self.cores.values():
            core.cbs[0] = CircularBuffer(0, BUFFER, PAGE, PAGES, DataType.BF16)
            core.cbs[1] = CircularBuffer(1, ALIASED, PAGE, PAGES, DataType.BF16, aliased=True)
            core.l1.write(self.chip.semaphore_base, bytes(32))
        self.watch.program_started(self.threads, tuple(dict.fromkeys(t.core for t in self.threads)))

    def dram_address(self, page: int) -> int:
        """Address on the network of a page in DRAM."""
        return noc_address(*self.dram.coordinate, DRAM + page * PAGE)

    def l1_address(self, x: int, address: int) -> int:
        """Address on the network of a byte in the L1 of core (x, 0)."""
        return noc_address(*self.core(x, 0).coordinate, address)

    def fill(self, pages: int = 1) -> None:
        """The reader fills and pushes pages of circular buffer 0."""
        assert self.reader.cb_reserve_back(0, pages)
        self.reader.noc_async_read(self.dram_address(0), self.reader.get_write_ptr(0), pages * PAGE)
        self.reader.noc_async_read_barrier()
        self.reader.cb_push_back(0, pages)

    def drain(self, pages: int = 1) -> None:
        """The writer sends pages of circular buffer 0 to DRAM and pops them."""
        assert self.writer.cb_wait_front(0, pages)
        self.writer.noc_async_write(self.writer.get_read_ptr(0), self.dram_address(8), pages * PAGE)
        self.writer.noc_async_write_barrier()
        self.writer.cb_pop_front(0, pages)


def pages_of(count: int) -> PageGrid:
    """Pages that lie over the channels of DRAM."""
    return PageGrid(page_size=PAGE, stride=PAGE, bank_size=-(-count // 12) * PAGE, num_pages=count)


def unwritten(machine: Machine) -> None:
    """Reads DRAM behind what the host wrote."""
    machine.reader.cb_reserve_back(0, 1)
    machine.reader.noc_async_read(machine.dram_address(16), BUFFER, PAGE)


def out_of_bounds(machine: Machine) -> None:
    """Reads across the end of L1."""
    machine.reader.noc_async_read(machine.l1_address(1, machine.chip.l1_size - 16), SCRATCH, 32)


def below_the_first_byte(machine: Machine) -> None:
    """Overwrites firmware."""
    machine.reader.noc_async_read(machine.dram_address(0), 4096, 32)


def read_behind_the_last_page(machine: Machine) -> None:
    """Reads a page that an interleaved buffer does not have, where host and kernels have others."""
    memory = machine.network.dram[0].memory
    machine.watch.host_write(memory, DRAM, 16 * PAGE)
    machine.watch.allocated(memory, DRAM, pages_of(12))
    pages = machine.reader.InterleavedAddrGen(DRAM, PAGE, (True,))
    machine.reader.noc_async_read_tile(0, pages, SCRATCH)
    machine.reader.noc_async_read_tile(12, pages, SCRATCH + PAGE)


def write_behind_the_last_page(machine: Machine) -> None:
    """Writes pages of an interleaved buffer that has one."""
    machine.watch.allocated(machine.network.dram[0].memory, DRAM, pages_of(1))
    args = AccessorArgs(is_sharded=False, is_dram=True)
    pages = machine.writer.TensorAccessor(args, DRAM, PAGE)
    machine.writer.noc_async_write_page(0, pages, SCRATCH)
    machine.writer.noc_async_write_page(DRAM_CHANNEL, pages, SCRATCH)


def write_behind_the_last_shard(machine: Machine) -> None:
    """Writes page 6 of shards that have 2 x 3 pages."""
    banks = tuple(machine.core(x, 0).coordinate for x in range(2))
    args = AccessorArgs(
        is_sharded=True, is_dram=False, shape=(2, 3), shard_shape=(1, 3), banks=banks
    )
    pages = machine.writer.TensorAccessor(args, SCRATCH, PAGE)
    machine.writer.noc_async_write_tile(5, pages, SCRATCH + 8 * PAGE)
    machine.writer.noc_async_write_tile(6, pages, SCRATCH + 8 * PAGE)


def push_before_barrier(machine: Machine) -> None:
    """Pushes pages that a read still fills."""
    machine.reader.cb_reserve_back(0, 1)
    machine.reader.noc_async_read(machine.dram_address(0), BUFFER, PAGE)
    machine.reader.cb_push_back(0, 1)


def load_before_barrier(machine: Machine) -> None:
    """Looks at bytes that a read still brings."""
    machine.reader.noc_async_read(machine.dram_address(0), SCRATCH, PAGE)
    machine.reader.load(SCRATCH + 4, 4, False)


def two_reads_to_one_place(machine: Machine) -> None:
    """The answers of two reads may come in any order."""
    machine.reader.noc_async_read(machine.dram_address(0), SCRATCH, PAGE)
    machine.reader.noc_async_read(machine.dram_address(1), SCRATCH, PAGE)


def source_of_a_read_overwritten(machine: Machine) -> None:
    """Writes bytes that a read of the same thread still takes."""
    machine.reader.noc_async_read(machine.l1_address(0, SCRATCH), SCRATCH + PAGE, PAGE)
    machine.reader.store(SCRATCH, 4, 1)


def pop_before_barrier(machine: Machine) -> None:
    """Pops pages that a write still sends."""
    machine.fill()
    machine.writer.cb_wait_front(0, 1)
    machine.writer.noc_async_write(BUFFER, machine.dram_address(8), PAGE)
    machine.writer.cb_pop_front(0, 1)


def store_before_flush(machine: Machine) -> None:
    """Changes bytes that a write still sends."""
    machine.writer.noc_async_write(SCRATCH, machine.dram_address(8), PAGE)
    machine.writer.store(SCRATCH, 4, 1)


def read_back_before_barrier(machine: Machine) -> None:
    """Reads what a write may not yet have brought."""
    machine.writer.noc_async_write(SCRATCH, machine.dram_address(8), PAGE)
    machine.writer.noc_async_writes_flushed()
    machine.writer.noc_async_read(machine.dram_address(8), SCRATCH + PAGE, PAGE)


def read_at_the_end(machine: Machine) -> None:
    """Ends without waiting for a read."""
    machine.reader.noc_async_read(machine.dram_address(0), SCRATCH, PAGE)
    machine.watch.program_ended()


def write_at_the_end(machine: Machine) -> None:
    """Ends without waiting for a write; a flush is not enough."""
    machine.writer.noc_async_write(SCRATCH, machine.dram_address(8), PAGE)
    machine.writer.noc_async_writes_flushed()
    machine.watch.program_ended()


def race_between_threads(machine: Machine) -> None:
    """Two threads of a core use the same bytes."""
    machine.reader.store(SCRATCH, 4, 1)
    machine.writer.load(SCRATCH, 4, False)


def race_between_cores(machine: Machine) -> None:
    """Two cores write the same page of DRAM."""
    machine.writer.noc_async_write(SCRATCH, machine.dram_address(8), PAGE)
    machine.writer.noc_async_write_barrier()
    machine.writer2.noc_async_write(SCRATCH, machine.dram_address(8), PAGE)


def signal_before_data(machine: Machine) -> None:
    """Signals on the virtual channel of single tiles what goes out on that of rectangles."""
    machine.writer.noc_async_write_multicast(SCRATCH, rectangle(machine), PAGE, 1)
    machine.writer.noc_semaphore_inc(machine.l1_address(1, machine.chip.semaphore_base), 1)
    machine.reader2.noc_semaphore_wait(machine.chip.semaphore_base, 1)
    machine.reader2.load(SCRATCH, 4, False)


def push_unreserved(machine: Machine) -> None:
    """Pushes what was not reserved."""
    machine.reader.cb_reserve_back(0, 1)
    machine.reader.cb_push_back(0, 2)


def push_too_much(machine: Machine) -> None:
    """Pushes when nothing is free."""
    machine.fill(4)
    machine.reader.cb_push_back(0, 1)


def push_aliased_too_much(machine: Machine) -> None:
    """Pushes a full tensor again."""
    machine.reader.cb_push_back(1, 4)
    machine.reader.cb_push_back(1, 1)


def pop_unwaited(machine: Machine) -> None:
    """Pops pages that it has not waited for."""
    machine.fill(2)
    machine.writer.cb_wait_front(0, 1)
    machine.writer.cb_pop_front(0, 2)


def pop_of_nothing(machine: Machine) -> None:
    """Pops what nobody has pushed yet."""
    machine.writer.cb_pop_front(0, 1)
    machine.reader.cb_reserve_back(0, 1)


def two_producers(machine: Machine) -> None:
    """Two threads push."""
    machine.fill()
    machine.writer.cb_reserve_back(0, 1)


def two_consumers(machine: Machine) -> None:
    """Two threads pop."""
    machine.fill()
    machine.drain()
    machine.fill()
    machine.packer.cb_wait_front(0, 1)


def write_unreserved(machine: Machine) -> None:
    """Fills the second page, of which only the first is reserved."""
    machine.reader.cb_reserve_back(0, 1)
    machine.reader.noc_async_read(machine.dram_address(0), BUFFER, 2 * PAGE)
    machine.reader.noc_async_read_barrier()
    machine.reader.cb_push_back(0, 1)
    machine.writer.cb_wait_front(0, 1)


def read_unwaited(machine: Machine) -> None:
    """Sends the second page, of which only the first was waited for."""
    machine.fill(2)
    machine.writer.cb_wait_front(0, 1)
    machine.writer.noc_async_write(BUFFER + PAGE, machine.dram_address(8), PAGE)


def read_reserved_by_another(machine: Machine) -> None:
    """Sends a page that the producer has reserved and not yet pushed."""
    machine.reader.cb_reserve_back(0, 1)
    machine.writer.noc_async_write(BUFFER, machine.dram_address(8), PAGE)


def remote_write_unreserved(machine: Machine) -> None:
    """Writes into a circular buffer of another core that has reserved nothing yet."""
    machine.writer.noc_async_write(SCRATCH, machine.l1_address(1, BUFFER), PAGE)
    machine.reader2.cb_reserve_back(0, 1)


def straddle(machine: Machine) -> None:
    """Sends two pages from the last one on."""
    machine.fill(3)
    machine.drain(3)
    machine.reader.cb_reserve_back(0, 3)
    machine.reader.noc_async_read(machine.dram_address(0), BUFFER + 3 * PAGE, 2 * PAGE)


def page_too_small(machine: Machine) -> None:
    """A compute thread packs a tile of 2048 bytes into pages of 1024."""
    machine.core(0, 0).cbs[1].page_size = 1024
    machine.packer.cb_reserve_back(1, 2)
    machine.watch.write(machine.packer.l1, ALIASED, PAGE, machine.packer.thread)


def aliased_pop(machine: Machine) -> None:
    """Pops a tensor's circular buffer that nobody has pushed yet."""
    machine.writer.cb_pop_front(1, 1)
    machine.reader.cb_push_back(1, 1)


def no_semaphore_wait(machine: Machine) -> None:
    """Waits for a word that is no semaphore."""
    machine.reader.noc_semaphore_wait(SCRATCH, 7)


def no_semaphore_set(machine: Machine) -> None:
    """Sets a word that is no semaphore."""
    machine.reader.noc_semaphore_set(SCRATCH, 7)


def no_semaphore_inc(machine: Machine) -> None:
    """Increments a word that is no semaphore."""
    machine.reader.noc_semaphore_inc(machine.l1_address(1, SCRATCH), 7)


def rectangle(machine: Machine) -> int:
    """The scratch bytes of both cores as the target of a multicast."""
    first, second = machine.core(0, 0).coordinate, machine.core(1, 0).coordinate
    return multicast_address(*first, *second, SCRATCH)


Scenario = Callable[[Machine], None]

WRONG: list[tuple[Scenario, str, str]] = [
    (unwritten, "uninitialised-read", "which nobody has written"),
    (out_of_bounds, "out-of-bounds", "kernels may use 0x16500 to 0x16e000"),
    (below_the_first_byte, "out-of-bounds", "kernels may use 0x16500 to 0x16e000"),
    (read_behind_the_last_page, "out-of-bounds", "copies page 12 of a buffer that has 12 pages"),
    (write_behind_the_last_page, "out-of-bounds", "copies page 3 of a buffer that has 1 page,"),
    (write_behind_the_last_shard, "out-of-bounds", "copies page 6 of a buffer that has 6 pages"),
    (push_before_barrier, "read-before-barrier", "call noc_async_read_barrier() before"),
    (load_before_barrier, "read-before-barrier", "reads bytes 0x40004 to 0x40008"),
    (two_reads_to_one_place, "read-before-barrier", "call noc_async_read_barrier() before"),
    (source_of_a_read_overwritten, "reuse-before-barrier", "which a noc_async_read still takes"),
    (pop_before_barrier, "reuse-before-barrier", "call noc_async_writes_flushed()"),
    (store_before_flush, "reuse-before-barrier", "which a noc_async_write still sends"),
    (read_back_before_barrier, "write-before-barrier", "call noc_async_write_barrier() before"),
    (read_at_the_end, "missing-barrier", "call noc_async_read_barrier() before"),
    (write_at_the_end, "missing-barrier", "call noc_async_write_barrier() before"),
    (race_between_threads, "race", "core (0, 0) NCRISC writes at any time"),
    (race_between_cores, "race", "core (0, 0) BRISC writes at any time"),
    (signal_before_data, "race", "by a noc_async_write that it does not wait for"),
    (push_unreserved, "cb-push-unreserved", "call cb_reserve_back(0, 2) before"),
    (push_too_much, "cb-push-unreserved", "of which 0 are reserved and 0 free"),
    (push_aliased_too_much, "cb-push-unreserved", "of which 0 are reserved and 0 free"),
    (pop_unwaited, "cb-pop-unwaited", "call cb_wait_front(0, 2) before"),
    (pop_of_nothing, "cb-pop-unwaited", "of which 0 were waited for and 0 are filled"),
    (two_producers, "cb-producers", "NCRISC is the producer of circular buffer 0"),
    (two_consumers, "cb-consumers", "BRISC is the consumer of circular buffer 0"),
    (write_unreserved, "cb-unreserved-write", "that were not reserved; call cb_reserve_back(0, n)"),
    (read_unwaited, "cb-unwaited-read", "that were not waited for; call cb_wait_front(0, n)"),
    (read_reserved_by_another, "cb-unwaited-read", "call cb_wait_front(0, n) before"),
    (remote_write_unreserved, "cb-unreserved-write", "call cb_reserve_back(0, n) before"),
    (straddle, "cb-straddle", "bytes beyond the end of circular buffer 0 at 0x22000"),
    (page_too_small, "cb-page-size", "create it with pages of 2048 bytes"),
    (aliased_pop, "cb-pop-unwaited", "call cb_wait_front(1, 1) before"),
    (no_semaphore_wait, "semaphore-address", "is not the address of a semaphore"),
    (no_semaphore_set, "semaphore-address", "is not the address of a semaphore"),
    (no_semaphore_inc, "semaphore-address", "semaphores of this core: 0x16400, 0x16410"),
]


@pytest.mark.parametrize(
    ("scenario", "rule", "text"), WRONG, ids=[case[0].__name__ for case in WRONG]
)
def test_mistakes_are_found(scenario: Scenario, rule: str, text: str) -> None:
    """The first mistake stops the program with its rule and with what to do."""
    with pytest.raises(SanitizerError) as caught:
        scenario(Machine())
    assert caught.value.rule == rule
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("scenario", "rule"),
    [(scenario, rule) for scenario, rule, _ in WRONG if scenario is not out_of_bounds],
)
def test_findings_can_be_let_pass(scenario: Scenario, rule: str) -> None:
    """Every rule can be named as a leniency; but there is no memory behind the last byte."""
    machine = Machine(leniencies=frozenset({rule}), max_findings=100)
    scenario(machine)
    assert rule not in {finding.rule for finding in machine.watch.findings}


def pages_of_a_buffer_that_was_freed(machine: Machine) -> None:
    """What is allocated there next has pages of its own; pages of other sizes count by bytes."""
    memory = machine.network.dram[0].memory
    machine.watch.host_write(memory, DRAM, PAGE)
    machine.watch.allocated(memory, DRAM, pages_of(1))
    halves = machine.reader.InterleavedAddrGen(DRAM, PAGE // 2, (True,))
    machine.watch.freed(memory, DRAM, PAGE)
    whole = machine.reader.InterleavedAddrGen(DRAM, PAGE, (True,))
    for channel in (1, 2):
        machine.watch.host_write(machine.network.dram[channel].memory, DRAM, PAGE)
    machine.reader.noc_async_read_tile(1, halves, SCRATCH)
    machine.reader.noc_async_read_tile(2, whole, SCRATCH + PAGE)
    machine.reader.noc_async_read_barrier()


def copies_in_order(machine: Machine) -> None:
    """A page goes through the circular buffer, several times around."""
    for _ in range(6):
        machine.fill()
        machine.drain()
    machine.fill(2)
    machine.drain(2)


def cumulative_calls(machine: Machine) -> None:
    """Reserving and waiting count from the pointer on; pages go one by one."""
    machine.fill(4)
    machine.writer.cb_wait_front(0, 2)
    machine.writer.cb_wait_front(0, 4)
    for page in range(4):
        machine.writer.noc_async_write(
            machine.writer.get_read_ptr(0), machine.dram_address(8 + page), PAGE
        )
        machine.writer.noc_async_writes_flushed()
        machine.writer.cb_pop_front(0, 1)
    machine.writer.noc_async_write_barrier()


def ordered_writes(machine: Machine) -> None:
    """Two writes to one tile on one network arrive in order."""
    machine.writer.noc_async_write(SCRATCH, machine.dram_address(8), PAGE)
    machine.writer.noc_async_write(SCRATCH + PAGE, machine.dram_address(8), PAGE)
    machine.writer.noc_async_write_barrier()


def signal_behind_data(machine: Machine) -> None:
    """A multicast of data and that of a semaphore arrive in order."""
    semaphore = machine.chip.semaphore_base
    machine.writer.noc_async_write_multicast(SCRATCH, rectangle(machine), PAGE, 1)
    machine.writer.noc_semaphore_set(semaphore, 1)
    first, second = machine.core(0, 0).coordinate, machine.core(1, 0).coordinate
    target = multicast_address(*first, *second, semaphore)
    machine.writer.noc_semaphore_set_multicast(semaphore, target, 1)
    assert machine.reader2.noc_semaphore_wait(semaphore, 1)
    machine.reader2.load(SCRATCH, 4, False)
    machine.writer.noc_async_write_barrier()


def signal_by_increment(machine: Machine) -> None:
    """After the barrier an increment tells of all that was written."""
    semaphore = machine.chip.semaphore_base
    machine.writer.noc_async_write_multicast(SCRATCH, rectangle(machine), PAGE, 1)
    machine.writer.noc_async_write_barrier()
    machine.writer.noc_semaphore_inc(machine.l1_address(1, semaphore), 1)
    assert machine.reader2.noc_semaphore_wait_min(semaphore, 1)
    machine.reader2.load(SCRATCH, 4, False)
    machine.writer.noc_async_atomic_barrier()


def polled_semaphore(machine: Machine) -> None:
    """A semaphore may be read and written through a pointer as well."""
    semaphore = machine.chip.semaphore_base
    machine.reader.store(SCRATCH, 4, 1)
    machine.reader.store(semaphore, 4, 1)
    assert machine.writer.load(semaphore, 4, False) == 1
    machine.writer.load(SCRATCH, 4, False)


def transaction_ids(machine: Machine) -> None:
    """A barrier for one transaction id waits for its reads alone, and that is enough for them."""
    for page in range(2):
        machine.reader.noc_async_read_set_trid(page + 1)
        machine.reader.noc_async_read(machine.dram_address(page), SCRATCH + page * PAGE, PAGE)
    for page in range(2):
        machine.reader.noc_async_read_barrier_with_trid(page + 1)
        machine.reader.load(SCRATCH + page * PAGE, 4, False)


def tensor_in_l1(machine: Machine) -> None:
    """A circular buffer on a tensor is pushed as it is; other cores read the tensor."""
    machine.reader.cb_push_back(1, 4)
    machine.writer.cb_wait_front(1, 4)
    machine.writer.cb_pop_front(1, 4)
    machine.reader2.noc_async_read(machine.l1_address(0, ALIASED), SCRATCH, PAGE)
    machine.reader2.noc_async_read_barrier()


def tensor_without_protocol(machine: Machine) -> None:
    """Threads use the numbers of a tensor in place, and move the read pointer for themselves."""
    machine.watch.read(machine.packer.l1, ALIASED, PAGE, machine.packer.thread)
    machine.watch.write(machine.packer.l1, ALIASED, PAGE, machine.packer.thread)
    machine.writer2.store(ALIASED, 4, 1)


def forwarding(machine: Machine) -> None:
    """A reader sends on what it has just read into pages that it has reserved."""
    machine.reader2.cb_reserve_back(0, 1)
    machine.reader2.noc_semaphore_inc(machine.l1_address(0, machine.chip.semaphore_base), 1)
    assert machine.reader.noc_semaphore_wait(machine.chip.semaphore_base, 1)
    machine.reader.cb_reserve_back(0, 1)
    machine.reader.noc_async_read(machine.dram_address(0), BUFFER, PAGE)
    machine.reader.noc_async_read_barrier()
    machine.reader.noc_async_write(BUFFER, machine.l1_address(1, BUFFER), PAGE)
    machine.reader.noc_semaphore_inc(machine.l1_address(1, machine.chip.semaphore_base), 1)
    assert machine.reader2.noc_semaphore_wait(machine.chip.semaphore_base, 1)
    machine.reader2.cb_push_back(0, 1)
    assert machine.writer2.cb_wait_front(0, 1)
    machine.writer2.load(BUFFER, 4, False)
    machine.writer2.cb_pop_front(0, 1)
    machine.reader.noc_async_write_barrier()
    machine.reader.cb_push_back(0, 1)
    machine.drain()
    for api in (machine.reader, machine.reader2):
        api.noc_async_atomic_barrier()


RIGHT: list[Scenario] = [
    pages_of_a_buffer_that_was_freed,
    copies_in_order,
    cumulative_calls,
    ordered_writes,
    signal_behind_data,
    signal_by_increment,
    polled_semaphore,
    transaction_ids,
    tensor_in_l1,
    tensor_without_protocol,
    forwarding,
]


@pytest.mark.parametrize("scenario", RIGHT, ids=[case.__name__ for case in RIGHT])
def test_nothing_is_found_in_correct_programs(scenario: Scenario) -> None:
    """Correct programs have no finding, not even a note, in the first run nor in the next."""
    machine = Machine()
    for _ in range(2):
        scenario(machine)
        machine.watch.program_ended()
        assert machine.watch.findings == []
        machine.start()


def test_leniencies_for_generated_kernels() -> None:
    """Circular buffers on tensors may be popped before they are pushed, others may not."""
    machine = Machine(leniencies=frozenset({"pop-unfilled"}))
    aliased_pop(machine)
    assert machine.watch.findings == []
    machine.fill()
    with pytest.raises(SanitizerError, match="cb-unreserved-write"):
        machine.watch.write(machine.packer.l1, BUFFER, PAGE, machine.packer.thread)


def test_blackhole_needs_a_flush_before_the_signal() -> None:
    """On Blackhole data and signal pass different queues: only what has left arrives before."""
    semaphore = SimChip.of_board("p150").semaphore_base
    machine = Machine(chip=SimChip.of_board("p150"))
    machine.writer.noc_async_write(SCRATCH, machine.l1_address(1, SCRATCH), PAGE)
    machine.writer.noc_async_writes_flushed()
    machine.writer.noc_semaphore_inc(machine.l1_address(1, semaphore), 1)
    assert machine.reader2.noc_semaphore_wait(semaphore, 1)
    machine.reader2.load(SCRATCH, 4, False)
    machine.writer.noc_async_write(SCRATCH, machine.l1_address(1, SCRATCH + PAGE), PAGE)
    machine.writer.noc_semaphore_inc(machine.l1_address(1, semaphore), 1)
    assert machine.reader2.noc_semaphore_wait(semaphore, 2)
    with pytest.raises(SanitizerError, match="race"):
        machine.reader2.load(SCRATCH + PAGE, 4, False)


def test_notes_do_not_stop_a_program() -> None:
    """Pages that nobody used and increments that nobody waited for are notes."""
    machine = Machine()
    machine.fill()
    machine.writer.noc_semaphore_inc(machine.l1_address(1, machine.chip.semaphore_base), 1)
    machine.watch.program_ended()
    rules = [(finding.rule, finding.severity) for finding in machine.watch.findings]
    assert rules == [("atomic-open", "note"), ("cb-not-empty", "note")]


def test_several_findings_are_collected() -> None:
    """With a limit of three, the third error stops the program; a repeated one does not count."""
    machine = Machine(max_findings=3)
    for _ in range(3):
        push_too_much_once(machine)
    pop_of_nothing(machine)
    with pytest.raises(SanitizerError, match="semaphore-address"):
        no_semaphore_wait(machine)
    rules = [finding.rule for finding in machine.watch.findings]
    assert rules == ["cb-push-unreserved", "cb-pop-unwaited", "semaphore-address"]


def push_too_much_once(machine: Machine) -> None:
    """Pushes more than the circular buffer has, and takes it back."""
    machine.watch.cb_push(machine.reader.thread, machine.core(0, 0).cbs[0], 5)


def test_freed_bytes_count_as_unwritten() -> None:
    """A kernel that reads a buffer that was given back is found."""
    machine = Machine()
    machine.watch.freed(machine.dram.memory, DRAM, PAGE)
    with pytest.raises(SanitizerError, match="uninitialised-read"):
        machine.reader.noc_async_read(machine.dram_address(0), SCRATCH, PAGE)


def test_hand_overs_by_key() -> None:
    """Any two threads can be ordered by a key, as registers do."""
    machine = Machine()
    machine.reader.store(SCRATCH, 4, 1)
    machine.watch.release(machine.reader.thread, ("src", 0))
    machine.watch.acquire(machine.packer.thread, ("src", 0))
    machine.packer.load(SCRATCH, 4, False)
    machine.watch.acquire(machine.writer.thread, ("src", 1))
    with pytest.raises(SanitizerError, match="race"):
        machine.writer.load(SCRATCH, 4, False)


def test_semaphores_that_outlast_programs() -> None:
    """They order threads in every program until they are given back."""
    machine = Machine()
    memory = machine.core(0, 0).l1
    machine.watch.semaphore_created(memory, SCRATCH)
    for value in (1, 2):
        machine.start()
        machine.reader.store(SCRATCH + PAGE, 4, 1)
        machine.reader.noc_semaphore_set(SCRATCH, value)
        assert machine.writer.noc_semaphore_wait(SCRATCH, value)
        machine.writer.load(SCRATCH + PAGE, 4, False)
    machine.watch.semaphore_freed(memory, SCRATCH)
    machine.start()
    with pytest.raises(SanitizerError, match="semaphore-address"):
        machine.reader.noc_semaphore_set(SCRATCH, 3)


class Dst:
    """DST as the rules see it."""

    acquired = False
    waited = False


@pytest.mark.parametrize(
    ("owned", "packs", "rule"),
    [
        ("acquired", False, ""),
        ("waited", True, ""),
        ("waited", False, "dst-acquire"),
        ("acquired", True, "dst-wait"),
    ],
)
def test_use_of_dst(owned: str, packs: bool, rule: str) -> None:
    """PACK needs a part that it has waited for, the others one that was acquired."""
    machine, dst = Machine(), Dst()
    setattr(dst, owned, True)
    thread = (machine.packer if packs else machine.reader).thread
    if not rule:
        machine.watch.dst_access(thread, dst, 7, "write")
        return
    with pytest.raises(SanitizerError, match=rule) as caught:
        machine.watch.dst_access(thread, dst, 7, "write")
    assert "tile 7 of DST" in str(caught.value)


@pytest.mark.parametrize("held", [False, True])
def test_dst_that_is_held_at_the_end(held: bool) -> None:
    """The next program waits until all of it is free."""
    machine, dst = Machine(), Dst()
    core: Any = machine.core(0, 0)
    core.dst = dst
    machine.watch.program_started([machine.packer.thread], (core,))
    dst.waited = held
    if not held:
        machine.watch.program_ended()
        return
    with pytest.raises(SanitizerError, match="dst-wait") as caught:
        machine.watch.program_ended()
    assert "the kernel ends and holds DST" in str(caught.value)
    assert "call tile_regs_release() after the last pack_tile" in str(caught.value)


def test_circular_buffers_end_with_their_program() -> None:
    """On a core that the next program does not use, their bytes are bytes as any other."""
    machine = Machine()
    threads = [each for each in machine.threads if each.core is machine.core(0, 0)]
    machine.watch.program_started(threads, (machine.core(0, 0),))
    machine.reader.noc_async_write(SCRATCH, machine.l1_address(1, BUFFER), PAGE)
    machine.reader.noc_async_write_barrier()
    machine.watch.program_ended()
    assert not machine.watch.findings

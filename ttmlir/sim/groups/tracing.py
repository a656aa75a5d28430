"""The calls of kernels on a group of cores: they record what happens instead of doing it.

One core of the group, its *first*, runs each kernel once, in any order that its hand-overs allow:
where each page has one owner at a time, what kernels do does not depend on clocks. Its circular
buffers and registers are real; pages and tiles of DST are descriptions (`values`), numbers that
differ between the cores are `PerCore`, and records for the clocks (`timing`) take the place of
waiting. Calls are those of the first core alone, with what they do to numbers and clocks replaced.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, Protocol

from numpy.typing import NDArray

from ttmlir.sim.calls.compute_api import ComputeApi
from ttmlir.sim.calls.device_objects import DataMovementApi
from ttmlir.sim.calls.kernel_api import KernelApi, Template
from ttmlir.sim.calls.lanes_api import COMPUTED, PREPARED, VectorApi
from ttmlir.sim.calls.math_api import MathApi
from ttmlir.sim.calls.unpack_api import Source, UnpackApi
from ttmlir.sim.execution.scheduler import KernelThread
from ttmlir.sim.groups import timing
from ttmlir.sim.groups.descriptions import DescribedHalf, DescribingMath, DescribingPack
from ttmlir.sim.groups.per_core import PerCore, PerCoreRange, range_per_core
from ttmlir.sim.groups.signals import Mover, Signals
from ttmlir.sim.groups.timing import Answers, Step
from ttmlir.sim.groups.values import Evaluation, Fetched, Operand, Packed, Page, Tile
from ttmlir.sim.machine.address_generators import AddressGenerator, Interleaved
from ttmlir.sim.machine.device import LOCAL_MASK, NETWORKS, Core, Endpoint, noc_address
from ttmlir.sim.machine.memory import CircularBuffer, Memory
from ttmlir.sim.machine.numerics import tile_bytes
from ttmlir.sim.machine.registers import SOURCE_BANKS
from ttmlir.sim.sanitizer.regular import IrregularError
from ttmlir.sim.sanitizer.sanitizer import BarrierKind

Array = NDArray[Any]

_SPREAD = [
    f"{operation}_{rest}"
    for operation in ("add", "sub", "mul")
    for rest in (
        *("tiles_bcast", "tiles_bcast_rows", "tiles_bcast_cols", "tiles_bcast_scalar"),
        *("bcast_rows_init_short", "bcast_cols_init_short", "bcast_scalar_init_short"),
        *("tiles_bcast_scalar_init_short", "reuse_dest_init", "reuse_dest_tiles"),
    )
]

_VECTOR = {
    name for name in COMPUTED | PREPARED if getattr(MathApi, name) is getattr(VectorApi, name)
}

CALLS = frozenset(
    {
        *("cb_wait_front", "cb_pop_front", "cb_reserve_back", "cb_push_back"),
        *("cb_pages_available_at_front", "cb_pages_reservable_at_back"),
        *("get_read_ptr", "get_write_ptr", "get_tile_size", "get_dataformat"),
        *("get_arg_val", "get_common_arg_val", "get_compile_time_arg_val"),
        # Of data movement.
        *("InterleavedAddrGen", "InterleavedAddrGenFast", "InterleavedPow2AddrGen"),
        *("InterleavedPow2AddrGenFast", "TensorAccessor", "TensorAccessorArgs"),
        *("noc_async_read_tile", "noc_async_read_page", "noc_async_read_barrier"),
        *("noc_async_write_tile", "noc_async_write_page", "noc_async_write_barrier"),
        *("noc_async_writes_flushed", "noc_async_read", "noc_async_write", "get_noc_addr"),
        *("get_absolute_logical_x", "get_absolute_logical_y", "my_x", "my_y"),
        # Of data movement between cores.
        *("get_semaphore", "noc_semaphore_set", "noc_semaphore_wait", "noc_semaphore_wait_min"),
        *("noc_semaphore_inc", "noc_async_atomic_barrier", "noc_async_full_barrier"),
        *("get_noc_multicast_addr", "noc_async_write_multicast", "get_noc_addr_from_bank_id"),
        *("noc_async_write_multicast_one_packet", "noc_async_write_multicast_loopback_src"),
        *("noc_semaphore_set_multicast", "noc_semaphore_set_multicast_loopback_src"),
        # Objects, whose methods make these calls and some that are refused.
        *("Noc", "Semaphore", "CircularBuffer", "use", "UnicastEndpoint", "MulticastEndpoint"),
        *("PrecomposedUnicastEndpoint", "AllocatorBank", "received"),
        # Of compute kernels.
        *("compute_kernel_hw_startup", "binary_op_init_common", "unary_op_init_common"),
        *("init_sfpu", "mm_init", "mm_init_short", "mm_init_short_with_dt", "mm_block_init"),
        *("matmul_init", "matmul_block_init", "mm_block_init_short"),
        *("mm_block_init_short_with_both_dt", "binary_op_specific_init"),
        *("mm_block_init_short_with_dt", "add_tiles_init", "sub_tiles_init", "mul_tiles_init"),
        *("binary_tiles_init", "copy_tile_init", "copy_tile_to_dst_init_short"),
        *("copy_tile_to_dst_init_short_with_dt", "reconfig_data_format"),
        *("reconfig_data_format_srca", "reconfig_data_format_srcb"),
        *("pack_reconfig_data_format", "pack_reconfig_l1_acc"),
        *("tile_regs_acquire", "tile_regs_commit", "tile_regs_wait", "tile_regs_release"),
        *("acquire_dst", "release_dst", "add_tiles", "sub_tiles", "mul_tiles", "copy_tile"),
        *("matmul_tiles", "matmul_block", "pack_tile", "pack_tile_block"),
        *("init_bcast", "bcast_init", *_SPREAD),
        *("transpose_wh_init", "transpose_wh_init_short", "transpose_wh_tile"),
        *("unary_bcast_init", "unary_bcast", "unary_bcast_uninit"),
        *("binary_dest_reuse_tiles_init", "binary_dest_reuse_tiles"),
        *("reduce_init", "reduce_uninit", "reduce_init_delta", "reduce_revert_delta"),
        *("reduce_tile", "llk_pack_relu_config", "exp_tile_init", "exp_tile_since_2026"),
        *_VECTOR,
        "typecast_tile",
        # What every kernel is given, and the calls that refuse loads and stores.
        *("load", "store", "thread", "step", "iterations", "limited"),
    }
)
"""What kernels of groups may call; the others have to be simulated core by core."""

NAMES = {"_range": range_per_core}
"""What takes the place of helpers that kernels use."""

_PENDING = 1 << 13
"""So many tiles are computed together, so that numbers do not fill the memory."""
_DESCRIBED = 1 << 20
"""So many tiles wait at most until clocks are known, so that descriptions do not either."""


_MOST_QUESTIONS = 1 << 12
"""Of a thread, how many pages are there: whoever asks more often waits for an answer."""


class GroupMemory:
    """What the first core's circular buffers hold, and what was copied from and to other places."""

    def __init__(self, num_cores: int, *, is_exact: bool) -> None:
        """Nothing yet."""
        self.num_cores = num_cores
        self.pages: dict[int, Page] = {}
        self.reads: list[Fetched] = []
        self.writes: list[tuple[Sequence[Memory], Sequence[int], Page]] = []
        self._incoming: dict[int, dict[int, tuple[Memory, int]]] = {}
        """Pages that others send to some of the cores so far: whence, by address and core."""
        self._pending: deque[Packed] = deque()
        self._evaluation = Evaluation(num_cores, is_exact=is_exact)

    def page(self, address: int, size: int) -> Page:
        """The whole page at an address of L1."""
        page = self.pages.get(address)
        if page is None or page.size != size:
            raise IrregularError
        return page

    def receive(self, address: int, size: int, senders: Mapping[int, tuple[Memory, int]]) -> None:
        """Some cores get a page that lies in a memory somewhere else, which nobody writes."""
        self.pages.pop(address, None)
        incoming = self._incoming.setdefault(address, {})
        if not incoming.keys().isdisjoint(senders):
            raise IrregularError
        incoming |= senders
        if len(incoming) == self.num_cores:
            del self._incoming[address]
            memories, sources = zip(
                *(incoming[core] for core in range(self.num_cores)), strict=True
            )
            self.pages[address] = Fetched(memories, sources, size)

    def check_received(self, cb: CircularBuffer) -> None:
        """All pages that came to a circular buffer of some cores have come to all."""
        if any(cb.address <= address < cb.limit for address in self._incoming):
            raise IrregularError

    def pack(self, address: int, page: Packed) -> None:
        """Put a page into L1 that is to be computed."""
        self.pages[address] = page
        self._pending.append(page)
        if len(self._pending) * self.num_cores >= _DESCRIBED:
            self.evaluate()

    def evaluate(self) -> None:
        """Compute all pages."""
        pending = self._pending
        count = -(-_PENDING // self.num_cores)
        while pending:
            self._evaluation.compute([pending.popleft() for _ in range(min(count, len(pending)))])


class TracedThread(KernelThread):
    """A thread whose clock counts the cycles since its last step alone.

    Where a unit was busy since, `before` are those of the processor until the first time, and
    `clock` and `ahead` are what came of it from there on.
    """

    __slots__ = ("before", "is_occupied")

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        """See `KernelThread`."""
        super().__init__(*arguments, **keywords)
        self.before = 0
        self.is_occupied = False

    def occupy(self, cycles: int) -> None:
        """Hand a call over to a unit that takes so long."""
        if not self.is_occupied:
            self.before, self.clock, self.is_occupied = self.clock, 0, True
        super().occupy(cycles)

    def take_cycles(self) -> timing.Cycles:
        """What passed since the last step, which begins anew."""
        if not self.is_occupied:
            found = self.clock, 0, None
        else:
            found = self.before, self.clock, self.ahead
        self.clock = self.ahead = self.before = 0
        self.is_occupied = False
        return found


class Recorder:
    """The record of a thread."""

    __slots__ = ("_is_settled", "_steps", "_thread")

    def __init__(self, thread: TracedThread) -> None:
        """Of nothing."""
        self._thread = thread
        self._steps: list[Step] = []
        self._is_settled = False
        self.add(timing.PAUSE)

    def settle(self) -> None:
        """Count the cycles that passed as after the last step: what comes may depend on others."""
        thread = self._thread
        if self._is_settled:
            # It blocked, and comes again.
            if thread.clock or thread.is_occupied:
                raise IrregularError
            return
        self._steps[-1] = (*self._steps[-1][:4], *thread.take_cycles())
        self._is_settled = True

    def add(self, kind: int, first: Any = None, second: int = 0, third: int = 0) -> None:
        """Add a step; see `timing.Step`."""
        self._steps.append((kind, first, second, third, 0, 0, None))
        self._is_settled = False

    def steps(self) -> list[Step]:
        """The finished record."""
        self.settle()
        return self._steps


class _TracedCalls(KernelApi):
    """What all processors have in common; `trace` is called before the kernel starts."""

    recorder: Recorder
    memory: GroupMemory
    answers: Answers
    """Set before the kernel starts."""

    def trace(self, memory: GroupMemory, cores: Sequence[Core], arguments: Sequence[Any]) -> None:
        """Record; `arguments` are the run-time arguments, `PerCore` where they differ."""
        self.memory = memory
        self.cores = cores
        assert isinstance(self.thread, TracedThread), "threads of groups are"
        self.recorder = Recorder(self.thread)
        self._per_core = arguments
        self._asked = 0

    def get_arg_val(self, index: int, template: Template = ("uint32_t",)) -> Any:
        """A run-time argument."""
        value = self._per_core[index] if index < len(self._per_core) else 0
        if not isinstance(value, PerCore):
            return super().get_arg_val(index, template)
        if template[0] != "uint32_t":
            raise IrregularError
        return value

    def get_absolute_logical_x(self) -> Any:
        """Column of each core."""
        return PerCore([core.logical[0] for core in self.cores])

    def get_absolute_logical_y(self) -> Any:
        """Row of each core."""
        return PerCore([core.logical[1] for core in self.cores])

    def cb_wait_front(self, cb: int, pages: int) -> bool:
        """Wait, in the order of the trace and on the clock."""
        self.recorder.settle()
        if not super().cb_wait_front(cb, pages):
            return False
        self.recorder.add(timing.WAIT, cb, int(pages))
        return True

    def cb_pop_front(self, cb: int, pages: int) -> None:
        """Hand pages over in both."""
        self.recorder.settle()
        super().cb_pop_front(cb, pages)
        self.recorder.add(timing.POP, cb, int(pages))

    def cb_reserve_back(self, cb: int, pages: int) -> bool:
        """Wait in both."""
        self.recorder.settle()
        if not super().cb_reserve_back(cb, pages):
            return False
        self.recorder.add(timing.RESERVE, cb, int(pages))
        return True

    def cb_push_back(self, cb: int, pages: int) -> None:
        """Hand pages over in both."""
        self.recorder.settle()
        super().cb_push_back(cb, pages)
        self.recorder.add(timing.PUSH, cb, int(pages))

    def limited(self, numbers: Any) -> Any:
        """The numbers that the counter of a loop takes."""
        if not isinstance(numbers, PerCoreRange):
            return super().limited(numbers)
        self._count_iterations(len(numbers))
        return numbers

    def load(self, address: int, size: int, signed: bool) -> NoReturn:
        """Refuse: there are no bytes."""
        raise IrregularError

    def cb_pages_available_at_front(self, cb: int, pages: int) -> bool:
        """Whether so many pages are filled, as clocks are going to say."""
        return self._answer(cb, pages, super().cb_pages_available_at_front(cb, pages), front=True)

    def cb_pages_reservable_at_back(self, cb: int, pages: int) -> bool:
        """Whether so many pages are free, as clocks are going to say."""
        return self._answer(cb, pages, super().cb_pages_reservable_at_back(cb, pages), front=False)

    def _answer(self, cb: int, pages: int, guess: bool, *, front: bool) -> bool:
        self.recorder.settle()
        number, self._asked = self._asked, self._asked + 1
        if not self.timed or number >= _MOST_QUESTIONS:
            raise IrregularError
        found = [
            self.answers.find(core.logical, self.thread.role, number, guess) for core in self.cores
        ]
        answer = bool(PerCore(found))
        self.recorder.add(timing.ASK, (cb, front, answer), int(pages))
        return answer

    def store(self, address: int, size: int, value: int) -> NoReturn:
        """Refuse: there are no bytes."""
        raise IrregularError


class _Places(Endpoint):
    """An endpoint for each core of the group."""

    __slots__ = ("endpoints",)

    def __init__(self, endpoints: Sequence[Endpoint]) -> None:
        first = endpoints[0]
        super().__init__(first.name, first.kind, first.index, first.coordinate, first.memory)
        self.endpoints = endpoints


class Neighbours(Protocol):
    """The groups of a program, whose cores send each other pages."""

    signals: Signals | None
    """None in a program without semaphores."""

    def find(self, core: Core) -> tuple[GroupMemory, Core, int]:
        """The memory of a core's group, its first core, and which one of them it is.

        Raises IrregularError for a core that runs nothing.
        """
        ...


class TracedMover(_TracedCalls, DataMovementApi):
    """The calls of BRISC and NCRISC; `neighbours` is set before the kernel starts."""

    neighbours: Neighbours

    def trace(self, memory: GroupMemory, cores: Sequence[Core], arguments: Sequence[Any]) -> None:
        """Record; places are those of each core."""
        super().trace(memory, cores, arguments)
        find = self.network.endpoint

        def endpoint(address: Any) -> Endpoint:
            if not isinstance(address, PerCore):
                return find(address)
            return _Places([find(each) for each in address.numbers])

        self.endpoint = endpoint
        self.here = _Places(cores)
        x, y = zip(*(core.coordinate for core in cores), strict=True)
        self.my_x: list[Any] = [PerCore(x)] * NETWORKS
        self.my_y: list[Any] = [PerCore(y)] * NETWORKS

    def _locate(self, page: Any, pages: AddressGenerator) -> tuple[Endpoint, Any]:
        if not isinstance(page, PerCore):
            return super()._locate(page, pages)
        count, numbers = pages.num_pages, page.numbers
        is_inside = count is None or (min(numbers) >= 0 and max(numbers) < count)
        if isinstance(pages, Interleaved) and is_inside and not pages.strays:
            ends, addresses = pages.locate_all(numbers)
            return _Places(ends), PerCore(addresses)
        locate = super()._locate
        places = [locate(each, pages) for each in page.numbers]
        return _Places([place for place, _ in places]), PerCore([each for _, each in places])

    def get_noc_addr(self, first: Any, *rest: Any) -> Any:
        """Address on the network: as where cores are by themselves, for each of them."""
        columns = [each.numbers if isinstance(each, PerCore) else None for each in (first, *rest)]
        if any(isinstance(each, AddressGenerator) for each in rest) and not any(columns):
            return super().get_noc_addr(first, *rest)
        find = super().get_noc_addr
        found: list[int] = []
        for lane, core in enumerate(self.cores):
            arguments = [
                each if numbers is None else numbers[lane]
                for each, numbers in zip((first, *rest), columns, strict=True)
            ]
            is_own = len(rest) == 0 or (len(rest) == 1 and isinstance(rest[0], int))
            found.append(
                noc_address(*core.coordinate, arguments[0]) if is_own else find(*arguments)
            )
        return PerCore(found)

    def is_here(self, place: Endpoint | tuple[int, int]) -> bool:
        """Whether a coordinate is that of each core."""
        if isinstance(place, Endpoint):
            raise IrregularError
        wanted = zip(*map(self._for_each, place), strict=True)
        return bool(
            PerCore(
                [each == core.coordinate for each, core in zip(wanted, self.cores, strict=True)]
            )
        )

    # Semaphores.

    @property
    def _signals(self) -> tuple[Signals, Mover]:
        """The semaphores, and what they know of this thread."""
        signals = self.neighbours.signals
        if signals is None:
            raise IrregularError
        self.recorder.settle()
        return signals, signals.mover(self.thread)

    def noc_semaphore_set(self, address: int, value: int) -> None:
        """Write the words of a semaphore of these cores."""
        signals, mover = self._signals
        signals.set(mover, *_whole(address, value))
        self.recorder.add(timing.SET, address, value & 0xFFFF_FFFF)

    def _wait(self, address: int, value: int, *, exactly: bool) -> bool:
        signals, mover = self._signals
        if not signals.wait(mover, *_whole(address, value), exactly=exactly):
            return False
        self.recorder.add(timing.AWAIT, (address, exactly), value)
        return True

    def noc_semaphore_inc(
        self,
        target: Any,
        increment: int,
        noc: int | None = None,
        vc: int = 0,
        template: Template = (),
    ) -> bool:
        """Add to the words of semaphores of any cores, unless nobody can wait for it."""
        if template and template[0]:
            raise IrregularError
        signals, mover = self._signals
        noc = self._noc(noc)
        words = [(self._core_at(each), each & LOCAL_MASK) for each in self._for_each(target)]
        signals.increment(mover, noc, words, *_whole(increment))
        if self.timed:
            self.transactions += 1
            places = [(core.coordinate, address) for core, address in words]
            self.recorder.add(timing.INCREMENT, places, increment, noc)
        return True

    def semaphore_value(self, address: int) -> NoReturn:
        """Refuse: it may change at any time."""
        raise IrregularError

    def _write_word(self, *arguments: Any, **keywords: Any) -> NoReturn:
        """Refuse: only the words above are looked after."""
        raise IrregularError

    def _core_at(self, address: int) -> Core:
        endpoint = self.network.endpoint(address)
        if not isinstance(endpoint, Core):
            raise IrregularError
        return endpoint

    def _for_each(self, number: Any) -> Sequence[int]:
        """The numbers of the cores."""
        return number.numbers if isinstance(number, PerCore) else [number] * len(self.cores)

    def _multicast(
        self,
        address: int,
        target: Any,
        size: int,
        num_dests: int,
        noc: int | None,
        *,
        itself: bool,
        linked: bool = False,
        at_once: bool = False,
    ) -> bool:
        signals, mover = self._signals
        noc = self._noc(noc)
        address, size, num_dests = _whole(address, size, num_dests)
        rectangles = self._for_each(target)
        local = int(PerCore([each & LOCAL_MASK for each in rectangles]))
        self._check_copy(self.core, local, address, size, self.core.write_alignment, at_once)
        receivers = [
            [each for each in self.network.rectangle(rectangle, noc) if itself or each is not core]
            for core, rectangle in zip(self.cores, rectangles, strict=True)
        ]
        if any(len(each) != num_dests for each in receivers) or not num_dests:
            raise IrregularError
        if at_once:
            signals.multicast(mover, noc, address, receivers, local)
        else:
            self._send(signals, mover, noc, address, receivers, local, size)
        if self.timed:
            self.transactions += 1
            self.bytes_written += size
            places = [tuple([core.coordinate for core in cores]) for cores in receivers]
            source = address if at_once else None
            self.recorder.add(timing.MULTICAST, (places, local, source, bool(linked)), size, noc)
        return True

    def _send(
        self,
        signals: Signals,
        mover: Mover,
        noc: int,
        address: int,
        receivers: Sequence[Sequence[Core]],
        local: int,
        size: int,
    ) -> None:
        """Send the same bytes of each core to the same places of its receivers."""
        places = signals.send(mover, noc, address, size)
        groups: dict[int, tuple[GroupMemory, Core, list[tuple[int, int]]]] = {}
        for origin, cores in enumerate(receivers):
            for core in cores:
                memory, first, lane = self.neighbours.find(core)
                groups.setdefault(id(memory), (memory, first, []))[2].append((lane, origin))
        for memory, first, lanes in groups.values():
            signals.deliver(mover, places, first.l1, local, size, lanes)
            _, pages = _pages_of(first.cbs, local, size)
            for offset in pages:
                page = self._page_to_send(address + offset, pages.step)
                senders = {
                    lane: (page.memories[origin], page.sources[origin]) for lane, origin in lanes
                }
                memory.receive(local + offset, pages.step, senders)

    def _page_to_send(self, address: int, size: int) -> Fetched:
        """A page of each core: of a circular buffer, or of a tensor in its L1."""
        if any(cb.address <= address < cb.limit for cb in self.cbs.values()):
            page = self.memory.page(address, size)
            if not isinstance(page, Fetched):
                raise IrregularError
            return page
        page = Fetched([core.l1 for core in self.cores], [address] * len(self.cores), size)
        self.memory.reads.append(page)
        return page

    # Circular buffers, whose pages others may fill.

    def cb_reserve_back(self, cb: int, pages: int) -> bool:
        """Wait, and let others know."""
        if not super().cb_reserve_back(cb, pages):
            return False
        self._touch(self.cbs[cb])
        return True

    def _touch(self, buffer: CircularBuffer) -> None:
        signals = self.neighbours.signals
        if signals is not None:
            signals.touch(signals.mover(self.thread), buffer)

    def cb_push_back(self, cb: int, pages: int) -> None:
        """Hand pages over that are there."""
        signals = self.neighbours.signals
        if signals is not None:
            signals.push(signals.mover(self.thread), self.cbs[cb])
            self.memory.check_received(self.cbs[cb])
        super().cb_push_back(cb, pages)

    # Copies.

    def _ends(self, endpoint: Endpoint, address: Any) -> tuple[Sequence[Endpoint], Sequence[int]]:
        """The other end of a transaction for each core."""
        count = self.memory.num_cores
        ends = endpoint.endpoints if isinstance(endpoint, _Places) else [endpoint] * count
        places = address.numbers if isinstance(address, PerCore) else [address] * count
        return ends, places

    def _check(self, size: Any, address: Any, noc: Any, places: Sequence[int], mask: int) -> int:
        """Copies of the same bytes of L1, aligned on all cores; the network."""
        noc = self.noc_index if noc is None else noc
        if not isinstance(size, int) or not isinstance(address, int) or noc not in range(NETWORKS):
            raise IrregularError
        if size < 1 or {place & mask for place in places} != {address & mask}:
            raise IrregularError
        return noc

    def _read(
        self, endpoint: Endpoint, source: Any, address: int, size: int, noc: int | None
    ) -> bool:
        self.recorder.settle()
        ends, places = self._ends(endpoint, source)
        noc = self._check(size, address, noc, places, ends[0].read_alignment - 1)
        if self.watch is not None:
            self.watch.copy_started(
                *(self.thread, noc, "read", ends[0].memory, places[0], self.l1, address, size),
                self._trid,
            )
        memories = [end.memory for end in ends]
        fetched = Fetched(memories, places, size)
        self.memory.reads.append(fetched)
        buffer, pages = _pages_of(self.cbs, address, size)
        for offset in pages:
            page = fetched
            if len(pages) > 1:
                page = Fetched(memories, [place + offset for place in places], pages.step)
            self.memory.pages[address + offset] = page
        signals = self.neighbours.signals
        if signals is not None:
            signals.fill(signals.mover(self.thread), buffer, address, size)
        if self.timed:
            self.transactions += 1
            self.bytes_read += size
            self.recorder.add(timing.READ, [end.coordinate for end in ends], size, noc)
        return True

    def _write(
        self,
        endpoint: Endpoint,
        target: Any,
        address: int,
        size: int,
        noc: int | None,
        trid: int = 0,
    ) -> bool:
        self.recorder.settle()
        ends, places = self._ends(endpoint, target)
        noc = self._check(size, address, noc, places, ends[0].write_alignment - 1)
        if self.watch is not None:
            self.watch.copy_started(
                *(self.thread, noc, "write", self.l1, address, ends[0].memory, places[0], size),
                trid,
            )
        memories = [end.memory for end in ends]
        _, pages = _pages_of(self.cbs, address, size)
        for offset in pages:
            page = self.memory.page(address + offset, pages.step)
            self.memory.writes.append((memories, [place + offset for place in places], page))
        if self.timed:
            self.transactions += 1
            self.bytes_written += size
            self.recorder.add(timing.WRITE, [end.coordinate for end in ends], size, noc)
        return True

    def _finish(
        self, call: str, kind: BarrierKind, noc: int | None, trid: int | None = None
    ) -> bool:
        self.recorder.settle()
        super()._finish(call, kind, noc, trid)
        signals = self.neighbours.signals
        if signals is not None and kind != "read":
            signals.barrier(signals.mover(self.thread), self._noc(noc), kind)
        self.recorder.add(timing.BARRIER, (call, kind), self.noc_index if noc is None else noc)
        return True


def _pages_of(
    cbs: Mapping[int, CircularBuffer], address: int, size: int
) -> tuple[CircularBuffer, range]:
    """The circular buffer that bytes of L1 are in, and where its pages begin among them.

    Raises IrregularError if they are not whole pages: so no two pages of L1 overlap.
    """
    for cb in cbs.values():
        if cb.address <= address < cb.limit:
            is_whole = not (address - cb.address) % cb.page_size and not size % cb.page_size
            if is_whole and address + size <= cb.limit:
                return cb, range(0, size, cb.page_size)
    raise IrregularError


def _whole(*numbers: Any) -> tuple[int, ...]:
    """Numbers that are the same on all cores."""
    if not all(isinstance(each, int) for each in numbers):
        raise IrregularError
    return numbers


class _TracedCompute(_TracedCalls, ComputeApi):
    """What the threads of compute kernels have in common."""

    def report(self, rule: str, message: str, *detail: str) -> NoReturn:
        """Refuse: what is wrong is told by a run core by core."""
        raise IrregularError


class TracedUnpack(_TracedCompute, UnpackApi):
    """The calls of UNPACK."""

    def _new_source(self, cb: CircularBuffer, register: Any) -> Source:
        source = super()._new_source(cb, register)
        reader = source.reader

        def describe(address: int, form: int) -> Operand:
            return Operand(self.memory.page(address, reader.size), reader, form)

        source.read = describe
        return source

    def _fill(self, a: Any, b: Any, cycles: int, first: int = 0, banks: int = 1) -> None:
        self.recorder.settle()
        if self.watch is not None:
            self.watch.put(self.thread, self.src_key)
        self.src.fill(a, b, 0, 0, banks)
        self.recorder.add(timing.FILL, cycles, first, banks)


class TracedHalf(DescribedHalf):
    """A half of DST whose tiles are descriptions of those of all cores."""

    __slots__ = ()

    def faces(self, index: int) -> Tile:
        """A tile as it is now."""
        if index not in self.values:
            raise IrregularError
        return super().faces(index)


class TracedMath(_TracedCompute, DescribingMath):
    """The calls of MATH."""

    def tile_regs_acquire(self) -> bool:
        """Wait in the order of the trace and on the clock."""
        self.recorder.settle()
        if not super().tile_regs_acquire():
            return False
        self.recorder.add(timing.ACQUIRE)
        return True

    def tile_regs_commit(self) -> None:
        """Hand over in both."""
        self.recorder.settle()
        self.recorder.add(timing.COMMIT)
        super().tile_regs_commit()

    def _use(self, cycles: int) -> tuple[Any, Any]:
        return self._take_operands(1, timing.USE, cycles)

    def _use_block(self, count: int) -> tuple[Any, Any]:
        if count == 1 or not self.timed:
            return self._use(self._product_cycles * count)
        return self._take_operands(SOURCE_BANKS, timing.USE_BLOCK, self._product_cycles, count)

    def _take_operands(self, banks: int, *step: int) -> tuple[Any, Any]:
        """SrcA and SrcB, of which so many banks are free then."""
        self.recorder.settle()
        a, b, *_ = self.src.banks[0]
        self.src.free(*[0] * banks)
        if self.watch is not None:
            self.watch.take(self.thread, self.src_key)
        self.recorder.add(*step)
        return a, b


class TracedPack(_TracedCompute, DescribingPack):
    """The calls of PACK."""

    def trace(self, memory: GroupMemory, cores: Sequence[Core], arguments: Sequence[Any]) -> None:
        """Record; nothing is packed yet."""
        super().trace(memory, cores, arguments)
        self.packs = {}

    def tile_regs_wait(self) -> bool:
        """Wait in the order of the trace and on the clock."""
        self.recorder.settle()
        if not super().tile_regs_wait():
            return False
        self.recorder.add(timing.TAKE)
        return True

    def tile_regs_release(self) -> None:
        """Hand over in both."""
        self.recorder.settle()
        super().tile_regs_release()
        self.recorder.add(timing.RELEASE)

    def _write(self, cb: CircularBuffer, page: int, data: Any) -> None:
        address = cb.wr_ptr + page * cb.page_size
        size = tile_bytes(cb.data_format)
        if size != cb.page_size or address + size > cb.limit:
            raise IrregularError
        if self.watch is not None:
            self.watch.write(self.l1, address, size, self.thread)
        onto = self.memory.page(address, size) if self._accumulates else None
        tile, pack = data
        self.memory.pack(address, Packed(tile, cb.data_format, pack, onto))

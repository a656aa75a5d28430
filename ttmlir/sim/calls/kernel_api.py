"""What kernels can call on every processor: circular buffers, arguments, memory, printing.

Methods have the names of the C++ functions (tt-metal, dataflow_api.h, compute_kernel_api/cb_api.h)
and take template arguments as the keyword `template`. One that `waits` returns True when it is
done, and False when it has to be called again once the thread runs on.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any, ClassVar, TypeVar

import numpy as np

from ttmlir.limits import CYCLE_ADVICE
from ttmlir.optable.kernel import Role
from ttmlir.optable.kernel.cpp_movement_calls import RANGES
from ttmlir.sim.errors import CycleLimitError, Finding, SimError
from ttmlir.sim.execution.scheduler import FOREVER, KernelThread, Scheduler
from ttmlir.sim.machine import numerics
from ttmlir.sim.machine.device import MEM_ZEROS_BASE, MEM_ZEROS_SIZE, Core
from ttmlir.sim.machine.memory import (
    COUNT,
    COUNTER_MASK,
    UNCONFIGURED_FORMAT,
    UNCONFIGURED_TILE_BYTES,
    CircularBuffer,
    LocalCBInterface,
    Memory,
)
from ttmlir.sim.machine.numerics import FORMAT_NUMBERS, TILE_BYTES, TILE_VOLUME
from ttmlir.sim.options import SimOptions
from ttmlir.sim.sanitizer.regular import RegularRun
from ttmlir.sim.sanitizer.sanitizer import Sanitizer
from ttmlir.sim.timing.costs import UNITS

# --- Declaration ----------------------------------------------------------------------------------
# Which methods of an API object are calls that kernels can make.
#
# A kernel's text comes from strangers, so its names are looked up in this table and nowhere else: a
# method without `@kernel_call` does not exist for kernels, whatever it is called.

Template = tuple[int | str, ...]
"""Template arguments of a call: numbers, also for truth values and enumerators; types by name."""
_Method = TypeVar("_Method", bound=Callable[..., Any])


@dataclass(frozen=True)
class CallFacts:
    """What the compiler of kernels has to know about the method of a call."""

    waits: bool = False
    """It gives no result but returns whether it is done; if not, it has to be called again."""
    pure: bool = False
    """It does nothing but find a value."""
    steady: bool = False
    """It finds the same value whenever it is asked."""


_DECLARED: dict[Callable[..., Any], CallFacts] = {}


def kernel_call(
    *, waits: bool = False, pure: bool = False, steady: bool = False
) -> Callable[[_Method], _Method]:
    """Declare a method to be the kernel call of its name.

    What C++ passes and gets stands in the definition of that name in `ttmlir.optable.kernel`.
    """
    facts = CallFacts(waits, pure or steady, steady)

    def declare(method: _Method) -> _Method:
        _DECLARED[method] = facts
        return method

    return declare


@cache
def declared_calls(api: type) -> Mapping[str, CallFacts]:
    """The calls that kernels can make on objects of a class, by name.

    A method that overrides a call is one only if it is declared, too.
    """
    found: dict[str, CallFacts] = {}
    hidden: set[str] = set()
    for owner in api.__mro__:
        for name, method in vars(owner).items():
            if name.startswith("_") or name in hidden:
                continue
            hidden.add(name)
            facts = _DECLARED.get(method) if callable(method) else None
            if facts is not None:
                found[name] = facts
    return found


@cache
def waiting_calls(api: type) -> frozenset[str]:
    """The calls of a class that may have to wait."""
    return frozenset(name for name, facts in declared_calls(api).items() if facts.waits)


# --- Kernel api -----------------------------------------------------------------------------------

# --- Tile printing --------------------------------------------------------------------------------
# Numbers of tiles in circular buffers as text: `DPRINT << TileSlice(...)`.
#
# Source: tt-metal, debug/dprint_tile.h.

READ_POINTER, WRITE_POINTER = 4, 5
"""Numbers of TSLICE_RD_PTR and TSLICE_WR_PTR, which differ from those of flags here."""


@dataclass(frozen=True)
class SliceRange:
    """Rows and columns of a tile: first, end and step of each."""

    h0: int = 0
    h1: int = 0
    hs: int = 1
    w0: int = 0
    w1: int = 0
    ws: int = 1

    @staticmethod
    def named(name: str) -> SliceRange:
        """One that has a name."""
        return SliceRange(*RANGES[name])

    def rows(self) -> range:
        """The rows, of the 32 that there are."""
        return range(self.h0, min(self.h1, 32), max(self.hs, 1))

    def columns(self) -> range:
        """The columns, of the 32 that there are."""
        return range(self.w0, min(self.w1, 32), max(self.ws, 1))


def show_tile(
    memory: Memory,
    cb: CircularBuffer,
    address: int,
    chosen: SliceRange,
    max_bytes: int,
    *,
    line_ends: bool,
    untilized: bool,
) -> str:
    """The chosen numbers of the tile at an address, one row in a line."""
    if not cb.tile.is_whole:
        raise SimError("TileSlice of a tile of fewer than 32 rows is not supported")
    size = TILE_BYTES[cb.data_format]
    if address + size > cb.limit:
        raise SimError(
            f"TileSlice of a tile past the end of circular buffer {cb.index}", rule="cb-bounds"
        )
    data = np.frombuffer(bytes(memory.read(address, size)), np.uint8)
    values: Any = numerics.ieee_reader(cb.data_format)(data).reshape(32, 32)
    if untilized:
        values = numerics.rows_of_faces(values.reshape(-1))
    left = max_bytes // (size // 1024 or 1)
    show: Callable[[Any], str] = str if cb.data_format in numerics.INTEGERS else _show_float
    lines: list[str] = []
    for row in chosen.rows():
        numbers = [values[row, column] for column in chosen.columns()][:left]
        left -= len(numbers)
        lines.append("".join(f"{show(number)} " for number in numbers))
        if left <= 0:
            lines[-1] += f"<cut off after {max_bytes} bytes>"
            break
    return ("\n" if line_ends else "").join(lines) + ("\n" if line_ends else "")


def _show_float(value: float) -> str:
    return f"{float(value):g}"


# --- The API of all processors --------------------------------------------------------------------

LOCAL_MEMORY = 0xFFB0_0000
"""Where a processor sees its own memory (tt-isa-documentation, BabyRISCV/README.md); here it holds
the run-time arguments."""

_COMMON_ARGUMENTS = 0x400
"""Offset in the processor's own memory of the arguments that all cores have in common."""

_WALL_CLOCK = {0xFFB1_21F0: 0, 0xFFB1_21F4: 32, 0xFFB1_21F8: 32}
"""Registers that show the clock of the chip from a bit on (tt-metal, tensix.h)."""
_PROCESSORS = ("BRISC", "UNPACK", "MATH", "PACK")
"""Names by tt-metal's ThreadId."""

_MANY = 1024
"""Iterations of a loop that are counted at once."""

_TURNS: tuple[None, ...] = (None,) * _MANY

_MOST_PRINTED = 1 << 22
"""Characters that a thread prints at most: they are kept until somebody takes them."""

_ITERATIONS_PER_CYCLE = 16
"""An iteration takes at least a cycle, but a loop that is left early was counted to its end."""


_FIRST_POINTER = 2
"""Options of TileSlice below are flags, others say which pointer is meant."""


def _named_range(name: str) -> Callable[..., SliceRange]:
    chosen = SliceRange.named(name)

    @kernel_call(pure=True)
    def call(self: KernelApi) -> SliceRange:
        return chosen

    return call


class KernelApi:
    """Calls of one thread; `watch` is the sanitizer, or None."""

    CONSTANTS: ClassVar[Mapping[str, int]] = {
        "MEM_ZEROS_BASE": MEM_ZEROS_BASE,
        "MEM_ZEROS_SIZE": MEM_ZEROS_SIZE,
    }
    """Numbers that the headers define for kernels."""

    VARIABLES: ClassVar[frozenset[str]] = frozenset()
    """Attributes that kernels can read as variables of the same name."""

    ADDRESS_UNIT: ClassVar[int] = 1
    """Bytes that addresses of circular buffers count."""

    def __init__(self, core: Core, thread: KernelThread, options: SimOptions) -> None:
        """The calls of a thread of a core whose circular buffers are set up."""
        self.core = core
        self.thread = thread
        self.options = options
        self.scheduler = thread.scheduler or Scheduler(options)
        self.watch: Sanitizer | RegularRun | None = core.watch
        self.timed = options.timed
        self.cbs = core.cbs
        self.l1 = core.l1
        self.local = Memory(f"the own memory of {thread.name}", 2 * _COMMON_ARGUMENTS)
        self._arguments = thread.arguments
        self._common_arguments = thread.common_arguments
        self._store_arguments(0, thread.arguments)
        self._store_arguments(_COMMON_ARGUMENTS, thread.common_arguments)
        self.pages_pushed = 0
        self.pages_popped = 0
        self._line: list[str] = []
        self._printed = 0
        self._iterations = 0
        self._received = 0

    def counters(self) -> dict[str, int]:
        """What the thread has done, counted while there are clocks."""
        return {"pages pushed": self.pages_pushed, "pages popped": self.pages_popped}

    def _store_arguments(self, address: int, arguments: Sequence[int]) -> None:
        if len(arguments) * 4 > _COMMON_ARGUMENTS:
            raise self.thread.error(
                f"{len(arguments)} run-time arguments; a kernel takes at most "
                f"{_COMMON_ARGUMENTS // 4}"
            )
        self.local.write(address, struct.pack(f"<{len(arguments)}I", *arguments))

    # Circular buffers.

    @kernel_call(waits=True)
    def cb_wait_front(self, cb: int, pages: int) -> bool:
        """Wait until so many pages are filled; they stay where they are."""
        buffer = self.cbs[cb]
        if (
            buffer.received - buffer.acked
        ) & COUNTER_MASK < pages or not 0 <= pages <= buffer.num_pages:
            buffer.wait_for_data(self.thread, pages)
            return False
        if self.timed and pages > 0:
            if self.thread.clock > self.scheduler.limit:
                return False
            since = buffer.push_times[(buffer.acked + pages - 1) % buffer.num_pages]
            if since > self.thread.clock - self.thread.ahead:
                self.thread.wait_until(since, "cb_wait_front")
        if self.watch is not None:
            self.watch.cb_wait(self.thread, buffer, pages)
        return True

    @kernel_call()
    def cb_pop_front(self, cb: int, pages: int) -> None:
        """Give pages back to the producer."""
        buffer = self.cbs[cb]
        thread = self.thread
        if self.watch is not None:
            self.watch.cb_pop(thread, buffer, pages)
        buffer.pop(thread, pages)
        if self.timed:
            if pages == 1:
                buffer.pop_times[(buffer.acked - 1) % buffer.num_pages] = thread.clock
            else:
                buffer.set_pop_time(pages, thread.clock)
            self.pages_popped += pages
        if buffer.space_waiters:
            self.scheduler.wake(buffer.space_waiters)

    @kernel_call(waits=True)
    def cb_reserve_back(self, cb: int, pages: int) -> bool:
        """Wait until so many pages are free."""
        buffer = self.cbs[cb]
        free = (buffer.num_pages - buffer.received + buffer.acked) & COUNTER_MASK
        if free < pages or not 0 <= pages <= buffer.num_pages:
            buffer.wait_for_space(self.thread, pages)
            return False
        if self.timed and pages > 0:
            if self.thread.clock > self.scheduler.limit:
                return False
            since = buffer.pop_times[(buffer.received + pages - 1) % buffer.num_pages]
            if since > self.thread.clock - self.thread.ahead:
                self.thread.wait_until(since, "cb_reserve_back")
        if self.watch is not None:
            self.watch.cb_reserve(self.thread, buffer, pages)
        return True

    @kernel_call()
    def cb_push_back(self, cb: int, pages: int) -> None:
        """Hand filled pages to the consumer."""
        buffer = self.cbs[cb]
        thread = self.thread
        if self.watch is not None:
            self.watch.cb_push(thread, buffer, pages)
        buffer.push(thread, pages)
        if self.timed:
            if pages == 1:
                buffer.push_times[(buffer.received - 1) % buffer.num_pages] = thread.clock
            else:
                buffer.set_push_time(pages, thread.clock)
            self.pages_pushed += pages
        if buffer.data_waiters:
            self.scheduler.wake(buffer.data_waiters)

    @kernel_call(pure=True)
    def get_write_ptr(self, cb: int) -> int:
        """Address in L1 of the first page that is free or reserved."""
        return self.cbs[cb].wr_ptr

    @kernel_call(pure=True)
    def get_read_ptr(self, cb: int) -> int:
        """Address in L1 of the first page that is filled."""
        return self.cbs[cb].rd_ptr

    @kernel_call(steady=True)
    def get_tile_size(self, cb: int) -> int:
        """Bytes of a tile in the circular buffer's format."""
        if cb not in self.cbs and 0 <= cb < COUNT:
            return UNCONFIGURED_TILE_BYTES
        buffer = self.cbs[cb]
        return buffer.tile.size_told(buffer.data_format)

    @kernel_call(steady=True)
    def get_dataformat(self, cb: int) -> int:
        """The circular buffer's format, by its number in tt-metal's `DataFormat`."""
        if cb not in self.cbs and 0 <= cb < COUNT:
            return UNCONFIGURED_FORMAT
        return FORMAT_NUMBERS[self.cbs[cb].data_format]

    @kernel_call(steady=True)
    def get_tile_hw(self, cb: int) -> int:
        """Numbers of a tile."""
        return self.cbs[cb].tile.volume if cb in self.cbs else TILE_VOLUME

    @kernel_call()
    def LocalCBInterface(self, *members: int) -> LocalCBInterface:
        """Error: kernels make none of their own."""
        raise self.thread.error(
            "a LocalCBInterface of the kernel's own is not supported; write "
            "LocalCBInterface& name = get_local_cb_interface(cb)"
        )

    @kernel_call()
    def get_local_cb_interface(self, cb: int) -> LocalCBInterface:
        """The circular buffer's pointers and sizes, as the processor counts them."""
        return LocalCBInterface(self.cbs[cb], self.thread, self.ADDRESS_UNIT)

    @kernel_call()
    def cb_pages_available_at_front(self, cb: int, pages: int) -> bool:
        """Whether so many pages are filled now."""
        return self.cbs[cb].filled >= pages

    @kernel_call()
    def cb_pages_reservable_at_back(self, cb: int, pages: int) -> bool:
        """Whether so many pages are free now."""
        return self.cbs[cb].free >= pages

    # Arguments and place.

    @kernel_call(steady=True)
    def get_arg_val(self, index: int, template: Template = ("uint32_t",)) -> Any:
        """A run-time argument of this core, as a type of at most 32 bits."""
        return self._argument(self._arguments, index, template, "SetRuntimeArgs")

    @kernel_call(steady=True)
    def get_common_arg_val(self, index: int, template: Template = ("uint32_t",)) -> Any:
        """A run-time argument that all cores have in common."""
        return self._argument(self._common_arguments, index, template, "SetCommonRuntimeArgs")

    def _argument(
        self, arguments: list[int], index: int, template: tuple[Any, ...], setter: str
    ) -> Any:
        if not 0 <= index < len(arguments):
            raise self.thread.error(
                f"run-time argument {index} was not set; {setter} gave {len(arguments)} of them",
                rule="arguments",
            )
        return _convert(arguments[index], template[0])

    @kernel_call(steady=True)
    def get_arg_addr(self, index: int) -> int:
        """Address of a run-time argument of this core."""
        return LOCAL_MEMORY + 4 * index

    @kernel_call(steady=True)
    def get_common_arg_addr(self, index: int) -> int:
        """Address of a run-time argument that all cores have in common."""
        return LOCAL_MEMORY + _COMMON_ARGUMENTS + 4 * index

    @kernel_call(steady=True)
    def get_absolute_logical_x(self) -> int:
        """Column of this core among the worker cores."""
        return self.core.logical[0]

    @kernel_call(steady=True)
    def get_absolute_logical_y(self) -> int:
        """Row of this core among the worker cores."""
        return self.core.logical[1]

    @kernel_call(steady=True)
    def get_relative_logical_x(self) -> int:
        """Column of this core counted from the first core of the kernel."""
        return self.core.logical[0] - self.thread.origin[0]

    @kernel_call(steady=True)
    def get_relative_logical_y(self) -> int:
        """Row of this core counted from the first core of the kernel."""
        return self.core.logical[1] - self.thread.origin[1]

    @kernel_call(steady=True)
    def get_semaphore(self, semaphore: int, template: Template = ()) -> int:
        """Address in L1 of a semaphore of the program, which other cores may have."""
        address = self.core.semaphores.get(semaphore)
        if address is None:
            address = self.core.semaphores_elsewhere.get(semaphore)
        if address is None:
            raise self._missing_semaphore(semaphore)
        return address

    def check_own_semaphore(self, address: int) -> None:
        """Find uses of the word of a semaphore that only other cores have."""
        for semaphore, place in self.core.semaphores_elsewhere.items():
            if place == address:
                raise self._missing_semaphore(semaphore)

    def _missing_semaphore(self, semaphore: int) -> SimError:
        there = ", ".join(str(each) for each in self.core.semaphores) or "none"
        return self.thread.error(
            f"semaphore {semaphore} was not created on this core; there: {there}; create it "
            "on all cores that use it, with CreateSemaphore",
            rule="semaphore-missing",
        )

    # Memory.

    def load(self, address: int, size: int, signed: bool) -> int:
        """Read an integer of 1, 2, 4 or 8 bytes through a pointer."""
        if address in _WALL_CLOCK:
            return self.get_timestamp() >> _WALL_CLOCK[address] & 0xFFFF_FFFF
        memory, address = self._memory(address, size)
        if self.watch is not None:
            self.watch.read(memory, address, size, self.thread)
        return int.from_bytes(memory.read(address, size), "little", signed=signed)

    def store(self, address: int, size: int, value: int) -> None:
        """Write an integer of 1, 2, 4 or 8 bytes through a pointer."""
        memory, address = self._memory(address, size)
        if self.watch is not None:
            self.watch.write(memory, address, size, self.thread)
        memory.write(address, (value & (1 << 8 * size) - 1).to_bytes(size, "little"))
        self.scheduler.progress += 1

    def move_bytes(self, target: int, source: int, size: int) -> None:
        """`memmove`: bytes of L1, by loads and stores of the processor."""
        if size <= 0:
            return
        from_memory, start = self._place_of(source)
        to_memory, there = self._place_of(target)
        if self.watch is not None:
            self.watch.read(from_memory, start, size, self.thread)
            self.watch.write(to_memory, there, size, self.thread)
        to_memory.write(there, bytes(from_memory.read(start, size)))
        self._spend_copy(size, UNITS.load_l1 + UNITS.store_l1)

    def fill_bytes(self, target: int, value: int, size: int) -> None:
        """`memset`: bytes of L1, by stores of the processor."""
        if size <= 0:
            return
        memory, there = self._place_of(target)
        if self.watch is not None:
            self.watch.write(memory, there, size, self.thread)
        memory.ensure(there, size)
        memory.write(there, bytes((value & 0xFF,)) * size)
        self._spend_copy(size, UNITS.store_l1)

    def _place_of(self, address: int) -> tuple[Memory, int]:
        if address >= LOCAL_MEMORY:
            return self.local, address - LOCAL_MEMORY
        return self.l1, address

    def _spend_copy(self, size: int, cycles: int) -> None:
        """Account for loads or stores of words."""
        self.scheduler.progress += 1
        if self.timed:
            self.thread.clock += -(-size // 4) * cycles

    def _memory(self, address: int, size: int) -> tuple[Memory, int]:
        if address % size:
            if address < LOCAL_MEMORY:
                self.l1.check_bounds(address, size)
            raise self.thread.error(
                f"address {address:#x} of a {size}-byte access is not a multiple of {size}; "
                "the processors do not access memory unaligned",
                rule="unaligned",
            )
        if address >= LOCAL_MEMORY:
            return self.local, address - LOCAL_MEMORY
        return self.l1, address

    def poll(self, never_ends: bool = False) -> bool:
        """Let others run before memory is looked at again: nothing changes before they do.

        `never_ends` is true of a loop that nothing leaves, whatever memory holds.
        """
        thread = self.thread
        thread.is_endless = never_ends
        thread.polling = not thread.polling
        if not thread.polling:
            return True
        if self.timed:
            thread.clock += UNITS.load_l1
            if self.scheduler.next_clock < FOREVER:
                thread.wait_until(self.scheduler.next_clock, "poll")
        return False

    @kernel_call()
    def get_timestamp(self) -> int:
        """What the clock of the chip shows to this thread."""
        return int(self.thread.clock - self.thread.ahead)

    @kernel_call()
    def get_timestamp_32b(self) -> int:
        """Its lower 32 bits."""
        return self.get_timestamp() & 0xFFFF_FFFF

    @kernel_call()
    def riscv_wait(self, cycles: int) -> None:
        """Do nothing for so many cycles."""
        if self.timed:
            self.thread.clock += cycles

    # Words from other processors.

    def received(self) -> int:
        """What the last call that waited for a word has got."""
        return self._received

    @kernel_call()
    def mailbox_write(self, thread: int, value: int) -> None:
        """Send a word to another processor of the core."""
        target = self._processor(thread, "mailbox_write")
        self.send_word(target, value & 0xFFFF_FFFF)

    @kernel_call(waits=True)
    def mailbox_read(self, thread: int) -> bool:
        """Wait for a word from another processor of the core."""
        return self.receive_word(self._processor(thread, "mailbox_read"))

    def send_word(self, target: str, value: int) -> None:
        """Send a word to the processor of a name."""
        thread = self.thread
        if self.watch is not None:
            self.watch.put(thread, ("mailbox", self.core, thread.role_name, target))
        if self.timed:
            thread.clock += 1
        self.core.mailboxes.send(thread.role_name, target, value, thread.clock)
        self.scheduler.progress += 1

    def receive_word(self, source: str) -> bool:
        """Take a word from the processor of a name, if there is one."""
        thread = self.thread
        found = self.core.mailboxes.receive(source, thread)
        if found is None:
            return False
        self._received, time = found
        if self.timed:
            thread.wait_until(time, "mailbox")
        if self.watch is not None:
            self.watch.take(thread, ("mailbox", self.core, source, thread.role_name))
        return True

    def _processor(self, number: int, call: str) -> str:
        if not 0 <= number < len(_PROCESSORS) or _PROCESSORS[number] == self.thread.role_name:
            raise self.thread.error(
                f"{call} with processor {number}; there are 0 BRISC, 1 UNPACK, 2 MATH, 3 PACK, and "
                f"this one is {self.thread.role_name}",
                rule="arguments",
            )
        return _PROCESSORS[number]

    # Loops.

    def iterations(self) -> Iterator[None]:
        """Turns of a loop that ends by itself, or never."""
        return chain.from_iterable(self._packs_of_iterations())

    def _packs_of_iterations(self) -> Iterator[tuple[None, ...]]:
        while True:
            yield _TURNS
            self._count_iterations(_MANY)

    def limited(self, numbers: range) -> Iterable[int]:
        """The numbers that the counter of a loop takes."""
        if numbers[_MANY:]:
            return chain.from_iterable(self._packs_of(numbers))
        self._count_iterations(len(numbers))
        return numbers

    def _packs_of(self, numbers: range) -> Iterator[range]:
        while numbers:
            yield numbers[:_MANY]
            self._count_iterations(_MANY)
            numbers = numbers[_MANY:]

    def _count_iterations(self, count: int) -> None:
        """Stop a kernel whose loops run more iterations than its cycles allow."""
        self._iterations += count
        limit = self.options.cycle_limit
        if self._iterations > _ITERATIONS_PER_CYCLE * limit or self.thread.clock > limit:
            raise CycleLimitError(
                f"the loops of the kernel run more than {self._iterations} iterations, "
                f"which takes more than the {limit} cycles that a program may take; {CYCLE_ADVICE}",
                rule="cycle-limit",
            )

    @kernel_call()
    def invalidate_l1_cache(self) -> None:
        """Nothing: the processors of Wormhole have no cache for data in L1."""

    # Objects.

    @kernel_call()
    def CircularBuffer(self, index: int, *, template: Template = ()) -> CircularBufferObject:
        """A circular buffer as an object."""
        return CircularBufferObject(self, index)

    DataflowBuffer = CircularBuffer

    # Printing.

    @kernel_call(pure=True)
    def SliceRange(
        self, h0: int = 0, h1: int = 0, hs: int = 0, w0: int = 0, w1: int = 0, ws: int = 0
    ) -> SliceRange:
        """Rows and columns of a tile."""
        return SliceRange(h0, h1, hs, w0, w1, ws)

    SliceRange_hw0_32_16 = _named_range("hw0_32_16")
    SliceRange_hw0_32_8 = _named_range("hw0_32_8")
    SliceRange_hw0_32_4 = _named_range("hw0_32_4")
    SliceRange_h0_w0_32 = _named_range("h0_w0_32")
    SliceRange_h0_32_w0 = _named_range("h0_32_w0")
    SliceRange_h0_32_w1 = _named_range("h0_32_w1")
    SliceRange_hw041 = _named_range("hw041")

    @kernel_call()
    def TileSlice(
        self, cb: int, tile: int, chosen: SliceRange, *options: int, template: Template = ()
    ) -> str:
        """Numbers of a tile as text; after the range come a pointer and two flags, or the flags.

        NCRISC and PACK look after the write pointer if no pointer is named.
        """
        if self.thread.role_name == "MATH":
            return "<TileSlice is not available on MATH>"
        buffer = self.cbs[cb]
        flags = [bool(each) for each in options if each < _FIRST_POINTER]
        line_ends, untilized = (*flags, True, True)[:2]
        writes = self.thread.role_name in ("NCRISC", "PACK")
        if WRITE_POINTER in options or READ_POINTER in options:
            writes = WRITE_POINTER in options
        pointer = buffer.wr_ptr if writes else buffer.rd_ptr
        return show_tile(
            self.l1,
            buffer,
            pointer + tile * buffer.page_size,
            chosen,
            int(template[0]) if template else 64,
            line_ends=line_ends,
            untilized=untilized,
        )

    TSLICE = TileSlice

    def dprint(self, *values: object) -> None:
        """Print values; a line is complete with its line end, and carries the thread's name."""
        text = "".join(_print(value) for value in values)
        self._line.append(text)
        self._printed += len(text)
        if self._printed > _MOST_PRINTED:
            raise self.thread.error(
                f"the kernel prints more than {_MOST_PRINTED} characters", rule="print-limit"
            )
        if "\n" not in text:
            return
        *lines, rest = "".join(self._line).split("\n")
        self._line = [rest] if rest else []
        for line in lines:
            self.core.print_line(f"{self.thread.name}: {line}")

    @kernel_call()
    def ASSERT(self, condition: bool) -> None:
        """Stop the program if a condition does not hold: the watcher is on."""
        if not condition:
            place, sources = self.thread.position(), self.thread.kernel.sources
            key = place.file, place.line, place.column
            text = "" if sources is None else sources.assertions.get(key, "")
            # Those of the library's headers are told where these are called.
            why = f": {text}" if text else " here, or of what is called here about its arguments"
            raise self.thread.error(f"an assertion does not hold{why}", rule="assert")

    def leftovers(self) -> Iterator[Finding]:
        """Notes on what others have sent to the kernel and what it has not taken."""
        yield from ()

    def end(self) -> None:
        """Finish what the kernel left open, when it has returned."""
        if self._line:
            self.dprint("\n")


_CONVERSIONS: dict[str, struct.Struct] = {
    "int32_t": struct.Struct("<i"),
    "int": struct.Struct("<i"),
    "float": struct.Struct("<f"),
}


def _convert(word: int, type_name: str) -> Any:
    """The bits of a word as a value of a type."""
    match type_name:
        case "uint32_t":
            return word
        case "int32_t" | "int" | "float":
            return _CONVERSIONS[type_name].unpack(word.to_bytes(4, "little"))[0]
        case "uint16_t":
            return word & 0xFFFF
        case "uint8_t":
            return word & 0xFF
        case "bool":
            return word & 0xFF != 0
        case _:
            return word


def _print(value: object) -> str:
    match value:
        case bool():
            return str(int(value))
        case float():
            return f"{value:g}"
        case _:
            return str(value)


_READ_POINTER = 1
_CONSUMER, _PRODUCER = Role.DATA | Role.UNPACK, Role.DATA | Role.PACK


class CircularBufferObject:
    """`CircularBuffer` and `DataflowBuffer`."""

    def __init__(self, api: KernelApi, index: int, pointer: int = 0) -> None:
        """`pointer` says where transfers begin: 1 read pointer, 2 write pointer, 0 as they need."""
        self._api = api
        self.index = index
        self._pointer = pointer

    def used(self, pointer: int) -> CircularBufferObject:
        """The same buffer for transfers at one of its pointers."""
        return CircularBufferObject(self._api, self.index, pointer)

    def address(self, *, as_source: bool) -> int:
        """Where a transfer begins."""
        reads = self._pointer == _READ_POINTER if self._pointer else as_source
        cb = self._api.cbs[self.index]
        return cb.rd_ptr if reads else cb.wr_ptr

    def _acts(self, roles: Role) -> bool:
        return bool(self._api.thread.role & roles)

    def reserve_back(self, pages: int) -> bool:
        """Wait until so many pages are free."""
        return not self._acts(_PRODUCER) or self._api.cb_reserve_back(self.index, pages)

    def push_back(self, pages: int) -> None:
        """Hand filled pages to the consumer."""
        if self._acts(_PRODUCER):
            self._api.cb_push_back(self.index, pages)

    def wait_front(self, pages: int) -> bool:
        """Wait until so many pages are filled."""
        return not self._acts(_CONSUMER) or self._api.cb_wait_front(self.index, pages)

    def pop_front(self, pages: int) -> None:
        """Give pages back to the producer."""
        if self._acts(_CONSUMER):
            self._api.cb_pop_front(self.index, pages)

    def get_cb_id(self) -> int:
        """Number of the buffer."""
        return self.index

    get_id = get_cb_id

    def get_write_ptr(self) -> int:
        """Where the first free page is."""
        return self._api.cbs[self.index].wr_ptr // self._api.ADDRESS_UNIT

    def get_read_ptr(self) -> int:
        """Where the first filled page is."""
        return self._api.cbs[self.index].rd_ptr // self._api.ADDRESS_UNIT

    def get_tile_size(self) -> int:
        """Bytes of a tile."""
        return self._api.get_tile_size(self.index)

    def get_tile_hw(self) -> int:
        """Numbers of a tile."""
        return self._api.get_tile_hw(self.index)

    def get_dataformat(self) -> int:
        """Number format."""
        return self._api.get_dataformat(self.index)

    def get_entry_size(self) -> int:
        """Bytes of a page."""
        return self._api.cbs[self.index].page_size

    def get_total_num_entries(self) -> int:
        """How many pages there are."""
        return self._api.cbs[self.index].num_pages

    def get_total_size_bytes(self) -> int:
        """Bytes of the buffer."""
        return self._api.cbs[self.index].size

    def pages_reservable_at_back(self, pages: int) -> bool:
        """Whether so many pages are free now."""
        return self._api.cb_pages_reservable_at_back(self.index, pages)

    def pages_available_at_front(self, pages: int) -> bool:
        """Whether so many pages are filled now."""
        return self._api.cb_pages_available_at_front(self.index, pages)

    def finish(self) -> None:
        """Do nothing."""

"""What kernels can call on the data-movement processors: copies over the network, semaphores.

Methods have the names and the order of parameters of the C++ functions. Source: tt-metal,
tt_metal/hw/inc/dataflow_api.h.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, ClassVar

from ttmlir.layout.enums import Arch
from ttmlir.sim.calls.kernel_api import KernelApi, Template, kernel_call
from ttmlir.sim.execution.scheduler import KernelThread
from ttmlir.sim.machine.address_generators import (
    AccessorArgs,
    AddressGenerator,
    Interleaved,
    Sharded,
    TensorAccessor,
    read_accessor_args,
)
from ttmlir.sim.machine.device import (
    LOCAL_BITS,
    LOCAL_MASK,
    NETWORKS,
    Copy,
    Core,
    Endpoint,
    Network,
    Outstanding,
    coordinate_of,
    multicast_address,
    noc_address,
)
from ttmlir.sim.machine.memory import Memory
from ttmlir.sim.machine.numerics import FORMAT_NUMBERS, TILE_BYTES
from ttmlir.sim.options import SimOptions
from ttmlir.sim.protocols import RunningThread, WaitReason
from ttmlir.sim.sanitizer.sanitizer import BarrierKind, WordKind
from ttmlir.sim.timing.costs import page_address_cycles
from ttmlir.sim.timing.noc_model import NocModel

# --- Transactions ---------------------------------------------------------------------------------
# Transactions of a data-movement processor on the network, and the barriers that wait for them.
#
# Bytes move when a transaction is issued, or, with `delay_copies`, at the barrier; clocks say when
# they would have. Sources: tt-metal, tt_metal/hw/inc/dataflow_api.h; tt-isa-documentation,
# WormholeB0/NoC.

NO_STATE: tuple[Endpoint, int] = (Endpoint("nowhere", "none", 0, (0, 0), Memory("nowhere", 0)), 0)
"""What calls `with_state` find when nothing was set."""

_TIMES: Mapping[BarrierKind, Callable[[Outstanding], int]] = {
    "read": attrgetter("arrived"),
    "write": attrgetter("acknowledged"),
    "flush": attrgetter("left"),
    "atomic": attrgetter("answered"),
}
"""When what a barrier waits for is done."""


class _PageCycles(dict[int | None, int]):
    """Cycles to find a page that is copied, by the number of banks."""

    def __init__(self, arch: Arch) -> None:
        super().__init__()
        self._arch = arch

    def __missing__(self, banks: int | None) -> int:
        cycles = self[banks] = page_address_cycles(self._arch, banks)
        return cycles


class Transactions(KernelApi):
    """What the calls of BRISC and NCRISC are made of.

    `noc_index` is the network that calls use unless told otherwise. A transaction returns False,
    to be tried again, if the thread is too far ahead of the others to issue it now.
    """

    VARIABLES: ClassVar[frozenset[str]] = frozenset(
        {
            *("noc_index", "my_x", "my_y"),
            *("worker_logical_col_to_virtual_col", "worker_logical_row_to_virtual_row"),
        }
    )

    def __init__(
        self,
        core: Core,
        thread: KernelThread,
        options: SimOptions,
        network: Network,
        *,
        noc_index: int = 0,
        noc_model: NocModel | None = None,
        compile_time_args: Sequence[int] = (),
        has_page_sizes: bool = False,
    ) -> None:
        """`noc_model` gives transactions their times; None: they take none.

        With `has_page_sizes` layouts of tensors have the size of a page, as in tt-metal 0.81.
        """
        super().__init__(core, thread, options)
        self.network = network
        self.endpoint = network.endpoint
        """The tile that an address names."""
        self.here: Endpoint = core
        """The tile of the thread."""
        self.noc_index = noc_index
        self.noc_model = noc_model
        self.my_x = [core.coordinate[0]] * NETWORKS
        self.my_y = [core.coordinate[1]] * NETWORKS
        columns = core.chip.grid[0]
        self.worker_logical_col_to_virtual_col = [x for x, _ in core.chip.workers[:columns]]
        self.worker_logical_row_to_virtual_row = [y for _, y in core.chip.workers[::columns]]
        self.outstanding = [Outstanding() for _ in range(NETWORKS)]
        self._compile_time_args = compile_time_args
        self._has_page_sizes = has_page_sizes
        self._delay = options.delay_copies
        self._lenient_alignment = "noc-alignment" in options.leniencies
        self._read_state = [NO_STATE] * NETWORKS
        self._write_state = [NO_STATE] * NETWORKS
        self._trid = 0
        self._page_cycles = _PageCycles(core.chip.arch)
        self.transactions = 0
        self.bytes_read = 0
        self.bytes_written = 0
        """Into the networks; a multicast counts once."""

    def counters(self) -> dict[str, int]:
        """What the thread has moved."""
        return {
            **super().counters(),
            "transactions": self.transactions,
            "bytes read": self.bytes_read,
            "bytes written": self.bytes_written,
        }

    def _read(
        self, endpoint: Endpoint, source: int, address: int, size: int, noc: int | None
    ) -> bool:
        thread = self.thread
        if thread.clock > self.scheduler.horizon:
            return False
        if noc is None:
            noc = self.noc_index
        elif not 0 <= noc < NETWORKS:
            raise self._no_network(noc)
        if size < 1 or (source ^ address) & (endpoint.read_alignment - 1):
            self._check_copy(endpoint, source, address, size, endpoint.read_alignment)
        if self.noc_model is not None:
            outstanding = self.outstanding[noc]
            thread.clock, arrived = self.noc_model.read(
                thread.clock, self.core.coordinate, endpoint.coordinate, size, noc
            )
            if arrived > outstanding.arrived:
                outstanding.arrived = arrived
            self.transactions += 1
            self.bytes_read += size
            self.core.passed += size
            endpoint.passed += size
        if self.watch is not None:
            self.watch.copy_started(
                thread, noc, "read", endpoint.memory, source, self.l1, address, size, self._trid
            )
        self.scheduler.progress += 1
        if self._delay:
            endpoint.memory.ensure(source, size)
            copy = Copy(endpoint.memory, source, self.l1, address, size, trid=self._trid)
            self.outstanding[noc].reads.append(copy)
        else:
            self.l1.copy(address, endpoint.memory, source, size)
        return True

    def _write(
        self,
        endpoint: Endpoint,
        target: int,
        address: int,
        size: int,
        noc: int | None,
        trid: int = 0,
    ) -> bool:
        thread = self.thread
        if thread.clock > self.scheduler.horizon:
            return False
        if noc is None:
            noc = self.noc_index
        elif not 0 <= noc < NETWORKS:
            raise self._no_network(noc)
        if size < 1 or (target ^ address) & (endpoint.write_alignment - 1):
            self._check_copy(endpoint, target, address, size, endpoint.write_alignment)
        if self.noc_model is not None:
            outstanding = self.outstanding[noc]
            thread.clock, departed, _, acknowledged = self.noc_model.write(
                thread.clock, self.core.coordinate, endpoint.coordinate, size, noc
            )
            outstanding.left = max(outstanding.left, departed)
            outstanding.acknowledged = max(outstanding.acknowledged, acknowledged)
            self.transactions += 1
            self.bytes_written += size
            self.core.passed += size
            endpoint.passed += size
        if self.watch is not None:
            self.watch.copy_started(
                thread, noc, "write", self.l1, address, endpoint.memory, target, size, trid
            )
        self.scheduler.progress += 1
        if self._delay:
            endpoint.memory.ensure(target, size)
            copy = Copy(self.l1, address, endpoint.memory, target, size, trid=trid)
            self.outstanding[noc].writes.append(copy)
        else:
            endpoint.memory.copy(target, self.l1, address, size)
        return True

    def _multicast(
        self,
        address: int,
        target: int,
        size: int,
        num_dests: int,
        noc: int | None,
        *,
        itself: bool,
        linked: bool = False,
        at_once: bool = False,
    ) -> bool:
        """Copy to a rectangle; `at_once` moves the bytes and those ordered before them now."""
        thread = self.thread
        if thread.clock > self.scheduler.horizon:
            return False
        noc = self._noc(noc)
        cores = self._destinations(target, noc, num_dests, itself)
        local = target & LOCAL_MASK
        self._check_copy(self.core, local, address, size, self.core.write_alignment, at_once)
        outstanding = self.outstanding[noc]
        arrival = 0
        if self.noc_model is not None:
            targets = tuple(core.coordinate for core in cores)
            thread.clock, departed, arrival, acknowledged = self.noc_model.multicast(
                thread.clock, self.core.coordinate, targets, size, noc, linked
            )
            outstanding.left = max(outstanding.left, departed)
            outstanding.acknowledged = max(outstanding.acknowledged, acknowledged)
            self.transactions += 1
            self.bytes_written += size
            self.core.passed += size
        self.scheduler.progress += 1
        for core in cores:
            core.passed += size
            if self.watch is not None:
                self.watch.copy_started(
                    thread, noc, "multicast", self.l1, address, core.l1, local, size
                )
            copy = Copy(self.l1, address, core.l1, local, size, multicast=True)
            if self._delay and not at_once:
                core.l1.ensure(local, size)
                outstanding.writes.append(copy)
                continue
            outstanding.move_ordered(core.l1, multicast=True)
            word = self.l1.read(address, min(size, 4))
            core.set_word_time(local, int.from_bytes(word, "little"), arrival)
            copy.move()
        return True

    def _destinations(
        self, target: int, noc: int, num_dests: int, itself: bool
    ) -> tuple[Core, ...]:
        """The cores of a rectangle; error if they are not as many as the call says."""
        cores = self.network.rectangle(target, noc)
        if not itself:
            cores = tuple(core for core in cores if core is not self.core)
        if len(cores) == num_dests and cores:
            return cores
        there = ", ".join(str(core.logical) for core in cores) or "none"
        raise self.thread.error(
            f"the multicast is said to reach {num_dests} cores, but the rectangle has "
            f"{len(cores)} worker cores{'' if itself else ' besides this one'}; the barrier would "
            "wait for ever",
            rule="noc-num-dests",
            detail=(
                f"logical cores of the rectangle on network {noc}: {there}",
                "the start of a rectangle is its last corner on network 1",
            ),
        )

    def _write_word(
        self,
        endpoint: Endpoint,
        local: int,
        data: bytes,
        noc: int | None,
        kind: WordKind,
        *,
        from_l1: bool = False,
        in_order: bool = False,
        added: int = 0,
        posted: bool = False,
    ) -> bool:
        """Move a word now, after the writes that are ordered before it.

        It comes with the command, or `from_l1` as all that is written. `in_order` says that writes
        to the same core have arrived before on all chips. No barrier waits for a `posted` addition.
        """
        noc = self._noc(noc)
        if local % 4:
            endpoint.memory.check_bounds(local, len(data))
            raise self.thread.error(
                f"address {local:#x} of a 32-bit word is not a multiple of 4", rule="unaligned"
            )
        outstanding = self.outstanding[noc]
        if self.noc_model is not None:
            model = self.noc_model
            start, core, target = self.thread.clock, self.core.coordinate, endpoint.coordinate
            if kind == "atomic":
                times = model.atomic(start, core, target, noc)
            elif from_l1:
                times = model.write(start, core, target, len(data), noc)
            else:
                times = model.write_word(start, core, target, noc)
            self.thread.clock, departed, arrival, acknowledged = times
            if kind == "atomic":
                if not posted:
                    outstanding.answered = max(outstanding.answered, acknowledged)
            else:
                outstanding.left = max(outstanding.left, departed)
                outstanding.acknowledged = max(outstanding.acknowledged, acknowledged)
            self.transactions += 1
            if isinstance(endpoint, Core):
                value = int.from_bytes(data, "little")
                endpoint.set_word_time(local, value, arrival, added=added)
        if self.watch is not None:
            self.watch.word_written(
                self.thread, noc, kind, endpoint.memory, local, in_order=in_order, posted=posted
            )
        outstanding.move_ordered(endpoint.memory, multicast=False)
        endpoint.memory.write(local, data)
        self.scheduler.progress += 1
        return True

    # Barriers.

    def _finish(
        self, call: str, kind: BarrierKind, noc: int | None, trid: int | None = None
    ) -> bool:
        """Wait for everything of a kind that was started, or for the copies with a number."""
        noc = self.noc_index if noc is None else self._noc(noc)
        outstanding = self.outstanding[noc]
        if self.timed:
            done = _TIMES[kind](outstanding)
            if done > self.thread.clock:
                self.thread.wait_until(done, call)
        if self._delay and kind == "read":
            outstanding.move_reads(trid)
        elif self._delay and kind != "atomic":
            outstanding.move_writes(trid)
        if self.watch is not None:
            self.watch.copies_done(self.thread, noc, kind, trid)
        return True

    @kernel_call(waits=True)
    def noc_async_read_barrier(self, noc: int | None = None) -> bool:
        """Wait until all reads have arrived."""
        return self._finish("noc_async_read_barrier", "read", noc)

    @kernel_call(waits=True)
    def noc_async_read_barrier_with_trid(self, trid: int, noc: int | None = None) -> bool:
        """Wait until the reads with a transaction number have arrived."""
        return self._finish("noc_async_read_barrier", "read", noc, trid)

    @kernel_call(waits=True)
    def noc_async_write_barrier(self, noc: int | None = None) -> bool:
        """Wait until all writes have arrived and are acknowledged."""
        return self._finish("noc_async_write_barrier", "write", noc)

    @kernel_call(waits=True)
    def noc_async_write_barrier_with_trid(self, trid: int, noc: int | None = None) -> bool:
        """Wait until the writes with a transaction number have arrived."""
        return self._finish("noc_async_write_barrier", "write", noc, trid)

    @kernel_call(waits=True)
    def noc_async_writes_flushed(self, noc: int | None = None) -> bool:
        """Wait until all writes have left L1, whose bytes may then change."""
        return self._finish("noc_async_writes_flushed", "flush", noc)

    noc_async_posted_writes_flushed = noc_async_writes_flushed

    @kernel_call(waits=True)
    def noc_async_atomic_barrier(self, noc: int | None = None) -> bool:
        """Wait until all additions are done."""
        return self._finish("noc_async_atomic_barrier", "atomic", noc)

    @kernel_call(waits=True)
    def noc_async_full_barrier(self, noc: int | None = None) -> bool:
        """Wait until everything that was started is done."""
        self.noc_async_read_barrier(noc)
        self.noc_async_write_barrier(noc)
        return self.noc_async_atomic_barrier(noc)

    def move_all(self) -> bool:
        """Move the bytes of all copies that still wait; whether there were any."""
        moved = [each.move_reads() or each.move_writes() for each in self.outstanding]
        return any(moved)

    # Checks.

    def _noc(self, noc: int | None) -> int:
        if noc is None:
            return self.noc_index
        if not 0 <= noc < NETWORKS:
            raise self._no_network(noc)
        return noc

    def _no_network(self, noc: int) -> Exception:
        return self.thread.error(f"network {noc} does not exist; there are 0 and 1")

    def _state(
        self, states: list[tuple[Endpoint, int]], noc: int | None, setter: str
    ) -> tuple[Endpoint, int]:
        state = states[self._noc(noc)]
        if state is NO_STATE:
            raise self.thread.error(
                f"nothing was set before; call {setter} first", rule="noc-state"
            )
        return state

    def _check_packet(self, size: int, call: str) -> None:
        largest = self.core.chip.max_packet_size
        if size > largest:
            raise self.thread.error(
                f"{call} of {size} bytes; a packet holds at most {largest}: use the call without "
                "one_packet, which splits the copy",
                rule="noc-packet-size",
            )

    def _check_copy(
        self,
        endpoint: Endpoint,
        there: int,
        here: int,
        size: int,
        alignment: int,
        word: bool = False,
    ) -> None:
        """Refuse copies of nothing, and addresses that differ within the alignment."""
        if size < 1:
            raise self.thread.error(
                f"a copy of {size} bytes never completes; copy at least one byte", rule="noc-size"
            )
        if (there ^ here) & (alignment - 1) and not self._lenient_alignment and not word:
            endpoint.memory.check_bounds(there, size)
            self.l1.check_bounds(here, size)
            raise self.thread.error(
                f"address {here:#x} in L1 and {there:#x} in {endpoint.name} differ modulo "
                f"{alignment}: {here % alignment} and {there % alignment}; a copy needs the same "
                "offset on both sides",
                rule="noc-alignment",
            )


# --- Numbered reads -------------------------------------------------------------------------------
# Calls that pack and unpack addresses, and reads and waits with transaction numbers.
#
# Source: tt-metal, dataflow_api.h, noc_parameters.h and noc_addr.h. Both networks number tiles
# alike here (`ttmlir.sim.machine.device`), so that coordinates need no mirroring.

_NODE_BITS = 6


class NumberedReads(Transactions):
    """What kernels of several releases call beside the API."""

    # Addresses.

    @kernel_call(steady=True)
    def safe_get_noc_addr(self, x: int, y: int, address: int, noc: int = 0) -> int:
        """Address of a byte in the memory of the core in column x and row y."""
        return noc_address(x, y, address)

    @kernel_call(steady=True)
    def NOC_XY_ADDR(self, x: int, y: int, address: int) -> int:
        """Address of a byte in the memory of the core in column x and row y."""
        return noc_address(x, y, address)

    @kernel_call(steady=True)
    def get_noc_addr_helper(self, encoded: int, address: int) -> int:
        """Address of a byte in the memory of the core of a NOC_XY_ENCODING."""
        return encoded << LOCAL_BITS | address

    @kernel_call(steady=True)
    def NOC_MULTICAST_ADDR(
        self, x_start: int, y_start: int, x_end: int, y_end: int, address: int
    ) -> int:
        """Address of a byte in the memory of each core of a rectangle."""
        return multicast_address(x_start, y_start, x_end, y_end, address)

    @kernel_call(steady=True)
    def NOC_X(self, x: int) -> int:
        """Column of a core on this network."""
        return x

    NOC_Y = NOC_X

    @kernel_call(steady=True)
    def DYNAMIC_NOC_X(self, noc: int, x: int) -> int:
        """Column of a core on a network."""
        return x

    DYNAMIC_NOC_Y = DYNAMIC_NOC_X

    @kernel_call(steady=True)
    def NOC_XY_ENCODING(self, x: int, y: int) -> int:
        """Column and row in one number."""
        return y << _NODE_BITS | x

    @kernel_call(steady=True)
    def NOC_UNICAST_ADDR_X(self, address: int) -> int:
        """Column of the core of an address."""
        return coordinate_of(address)[0]

    @kernel_call(steady=True)
    def NOC_UNICAST_ADDR_Y(self, address: int) -> int:
        """Row of the core of an address."""
        return coordinate_of(address)[1]

    # Transaction numbers.

    @kernel_call(waits=True)
    def noc_async_read_one_packet_with_state_with_trid(
        self,
        base: int,
        source: int,
        address: int,
        trid: int = 0,
        noc: int | None = None,
        template: Template = (),
    ) -> bool:
        """Start a copy into L1 of the size and from the tile that were set."""
        setter = "noc_async_read_one_packet_set_state"
        return self._read_numbered(base + source, address, trid, noc, setter)

    @kernel_call()
    def noc_async_read_tile_dram_sharded_set_state(
        self,
        address: int,
        page_size: int,
        bank: int = 0,
        vc: int = 0,
        noc: int | None = None,
        template: Template = (),
    ) -> int:
        """Set a bank of DRAM and a size; the address in the bank."""
        if template and int(template[0]) > 1:
            # The order of 2024: the page size is a template argument.
            page_size, bank = int(template[0]), page_size
        banks = self.network.dram
        if not 0 <= bank < len(banks):
            raise self.thread.error(
                f"bank {bank} does not exist; there are {len(banks)}, numbered from 0",
                rule="noc-bank",
            )
        self._check_packet(page_size, "noc_async_read_tile_dram_sharded_set_state")
        self._read_state[self._noc(noc)] = (banks[bank], page_size)
        return address

    @kernel_call(waits=True)
    def noc_async_read_tile_dram_sharded_with_state(
        self, base: int, source: int, address: int, trid: int = 0, noc: int | None = None
    ) -> bool:
        """Start a copy into L1 from the bank that was set."""
        setter = "noc_async_read_tile_dram_sharded_set_state"
        return self._read_numbered(base + source, address, trid, noc, setter)

    @kernel_call(waits=True)
    def noc_async_read_tile_dram_sharded_with_state_with_trid(
        self,
        base: int,
        source: int,
        address: int,
        trid: int = 0,
        noc: int | None = None,
        template: Template = (),
    ) -> bool:
        """Start a copy into L1 from the bank that was set, with a transaction number."""
        setter = "noc_async_read_tile_dram_sharded_set_state"
        return self._read_numbered(base + source, address, trid, noc, setter)

    def read_numbered(
        self, endpoint: Endpoint, source: int, address: int, size: int, noc: int, trid: int
    ) -> bool:
        """Start a copy into L1 with a transaction number, if that is not 0."""
        before, self._trid = self._trid, trid or self._trid
        done = self._read(endpoint, source, address, size, noc)
        self._trid = before
        return done

    def write_numbered(
        self, endpoint: Endpoint, target: int, address: int, size: int, noc: int, trid: int
    ) -> bool:
        """Start a copy from L1 with a transaction number."""
        return self._write(endpoint, target, address, size, noc, trid)

    def set_read_state(self, noc: int, endpoint: Endpoint, size: int) -> None:
        """Set where reads with state come from."""
        self._read_state[noc] = (endpoint, size)

    def set_write_state(self, noc: int, endpoint: Endpoint, size: int) -> None:
        """Set where writes with state go."""
        self._write_state[noc] = (endpoint, size)

    def write_with_state(self, target: int, address: int, size: int | None, noc: int) -> bool:
        """Start a copy from L1 to the core that was set, of the size that was set if None."""
        endpoint, known = self._state(self._write_state, noc, "set_async_write_state")
        return self._write(endpoint, target, address, known if size is None else size, noc)

    def read_packet_of_state(self, source: int, address: int, noc: int, trid: int) -> bool:
        """Start a copy into L1 from the tile that was set, of the size that was set."""
        return self._read_numbered(source, address, trid, noc, "set_async_read_state")

    def _read_numbered(
        self, source: int, address: int, trid: int, noc: int | None, setter: str
    ) -> bool:
        endpoint, size = self._state(self._read_state, noc, setter)
        number = self._noc(noc)
        return self.read_numbered(endpoint, source & LOCAL_MASK, address, size, number, trid)

    @kernel_call()
    def noc_async_read_tile_dram_sharded_set_trid(
        self, trid: int = 0, noc: int | None = None
    ) -> None:
        """Set the transaction number of the reads that follow."""
        self._trid = trid

    @kernel_call(waits=True)
    def noc_async_write_flushed_with_trid(self, trid: int, noc: int | None = None) -> bool:
        """Wait until the writes with a transaction number have left L1."""
        return self._finish("noc_async_writes_flushed", "flush", noc, trid)

    @kernel_call()
    def reset_noc_trid_barrier_counter(self, mask: int = 0xFFFF, noc: int | None = None) -> None:
        """Nothing: what was started is not counted by number."""


# --- The API of BRISC and NCRISC ------------------------------------------------------------------

_WORD = 0xFFFF_FFFF
_WORD_BITS = 32

_TILE_BYTES = {number: TILE_BYTES[data_type] for data_type, number in FORMAT_NUMBERS.items()}


class DataMovementCalls(NumberedReads):
    """Calls of BRISC or NCRISC."""

    # Addresses.

    @kernel_call(steady=True)
    def get_noc_addr(self, first: int, *rest: Any) -> int:
        """Address on the network: of (x, y, address), of (page, generator) or of (address)."""
        match rest:
            case () | (int(),):
                return noc_address(*self.core.coordinate, first)
            case (AddressGenerator() as pages, *options):
                return pages.get_noc_addr(first, *options)
            case (int(y), int(address), *_):
                return noc_address(first, y, address)
            case _:
                raise self.thread.error("get_noc_addr takes (x, y, address), (page, generator)")

    @kernel_call()
    def get_noc_addr_from_bank_id(
        self, bank: int, address: int, noc: int = 0, template: Template = (True,)
    ) -> int:
        """Address of a byte in a bank of DRAM, or of L1."""
        banks = self._banks(bool(template[0]))
        if not 0 <= bank < len(banks):
            raise self.thread.error(
                f"bank {bank} does not exist; there are {len(banks)}, numbered from 0",
                rule="noc-bank",
            )
        return noc_address(*banks[bank].coordinate, address)

    @kernel_call(steady=True)
    def get_noc_multicast_addr(
        self, x_start: int, y_start: int, x_end: int, y_end: int, address: int, noc: int = 0
    ) -> int:
        """Address of a byte in each core of a rectangle."""
        return multicast_address(x_start, y_start, x_end, y_end, address)

    def _banks(self, dram: bool) -> Sequence[Endpoint]:
        return self.network.dram if dram else self.network.l1_banks

    def _interleaved(
        self, dram: bool, address: int, page_size: int, data_format: int = 0
    ) -> Interleaved:
        banks = self._banks(dram)
        pages = Interleaved(banks, self._alignment(dram), address, page_size, data_format)
        if self.watch is not None:
            pages.num_pages = self.watch.count_pages(
                banks[0].memory, address, page_size, pages.stride, len(banks)
            )
            pages.strays = self.watch.strays(self.thread)
        return pages

    def _locate(self, page: int, pages: AddressGenerator) -> tuple[Endpoint, int]:
        """The bank and the address of a page that is copied."""
        count = pages.num_pages
        if count is not None and not 0 <= page < count and self.watch is not None:
            self.watch.page_outside(self.thread, page, count)
        bank, address = pages.locate(page)
        if pages.strays:
            pages.strays.pop((bank.memory, address), None)
        return bank, address

    def _alignment(self, dram: bool) -> int:
        chip = self.core.chip
        return chip.dram_alignment if dram else chip.l1_alignment

    @kernel_call()
    def InterleavedAddrGen(
        self, bank_base_address: int, page_size: int, template: Template = (True,)
    ) -> Interleaved:
        """Address generator of pages that are spread in turn over the banks."""
        return self._interleaved(bool(template[0]), bank_base_address, page_size)

    @kernel_call()
    def InterleavedPow2AddrGen(
        self, bank_base_address: int, log_base_2_of_page_size: int, template: Template = (True,)
    ) -> Interleaved:
        """Address generator of pages of a power of two."""
        size = log_base_2_of_page_size
        if not 0 <= size < _WORD_BITS:
            raise self.thread.error(
                f"pages of 2 to the power of {size} bytes; the power is that of their size",
                rule="arguments",
            )
        return self._interleaved(bool(template[0]), bank_base_address, 1 << size)

    InterleavedPow2AddrGenFast = InterleavedPow2AddrGen

    @kernel_call()
    def get_interleaved_addr_gen(
        self,
        address: int,
        page_size: int = 0,
        log_page_size: int = 0,
        template: Template = (True, False),
    ) -> Interleaved:
        """Address generator of pages of a size, or of a power of two; of `template[1]` alone."""
        dram, size = bool(template[0]), int(template[1])
        if not page_size:
            return self._interleaved(dram, address, size)
        if size:
            return self.InterleavedPow2AddrGen(address, log_page_size or page_size, (dram,))
        return self._interleaved(dram, address, page_size)

    @kernel_call()
    def InterleavedAddrGenFast(
        self,
        bank_base_address: int,
        page_size: int,
        data_format: int = 0,
        template: Template = (True,),
    ) -> Interleaved:
        """Address generator of tiles that are spread in turn over the banks.

        It finds them by the size of a tile of the format, and copies pages (tt-metal,
        dataflow_api_addrgen.h): the two sizes have to be the same.
        """
        tile_bytes = _TILE_BYTES.get(data_format)
        if tile_bytes != page_size:
            known = f"has {tile_bytes} bytes" if tile_bytes else "has no size that is known"
            raise self.thread.error(
                f"InterleavedAddrGenFast with pages of {page_size} bytes, but a tile of "
                f"data_format {data_format} {known}; take both from the circular buffer, with "
                "get_tile_size(cb) and get_dataformat(cb), or use InterleavedAddrGen for other "
                "pages",
                rule="arguments",
            )
        return self._interleaved(bool(template[0]), bank_base_address, page_size, data_format)

    @kernel_call()
    def TensorAccessorArgs(
        self, common_base: int | None = None, template: tuple[int, ...] = (0, 0)
    ) -> AccessorArgs:
        """Layout of a tensor, from the compile-time arguments from `template[0]` on.

        Common run-time arguments are read from `common_base` on, or from `template[1]`.
        """
        base, common = (*template, 0)[:2]
        start = common if common_base is None else common_base
        return read_accessor_args(
            self._compile_time_args, base, start, self._common_arguments,
            has_page_size=self._has_page_sizes,
        )  # fmt: skip

    @kernel_call()
    def TensorAccessor(
        self, args: AccessorArgs, address: int, page_size: int | None = None
    ) -> TensorAccessor:
        """Tensor accessor of the tensor at an address."""
        if page_size is None:
            page_size = args.get_aligned_page_size()
        if not args.is_sharded:
            pages = self._interleaved(args.is_dram, address, page_size)
            return TensorAccessor(self.core, pages)
        alignment = self._alignment(args.is_dram)
        banks = [self._bank(args, x, y) for x, y in args.banks]
        pages = Sharded(args, banks, alignment, address, page_size)
        if self.watch is not None:
            pages.strays = self.watch.strays(self.thread)
        return TensorAccessor(self.core, pages)

    def _bank(self, args: AccessorArgs, x: int, y: int) -> Endpoint:
        """A bank by its place in the arguments: a core on the network, or a bank of DRAM."""
        if not args.is_dram:
            return self.endpoint(noc_address(x, y, 0))
        if x >= len(self.network.dram):
            raise self.thread.error(
                f"the arguments of a tensor accessor name bank {x} of DRAM; there are "
                f"{len(self.network.dram)}, numbered from 0",
                rule="arguments",
            )
        return self.network.dram[x]

    # Reads.

    @kernel_call(waits=True)
    def noc_async_read(
        self,
        source: int,
        address: int,
        size: int,
        noc: int | None = None,
        vc: int = 0,
        template: Template = (),
    ) -> bool:
        """Start a copy from a tile's memory into L1."""
        endpoint = self.endpoint(source)
        return self._read(endpoint, source & LOCAL_MASK, address, size, noc)

    @kernel_call(waits=True)
    def noc_async_read_one_packet(
        self, source: int, address: int, size: int, noc: int | None = None
    ) -> bool:
        """Start a copy of at most one packet from a tile's memory into L1."""
        self._check_packet(size, "noc_async_read_one_packet")
        return self.noc_async_read(source, address, size, noc)

    @kernel_call(waits=True)
    def noc_async_read_tile(
        self,
        page: int,
        pages: AddressGenerator,
        address: int,
        offset: int = 0,
        noc: int | None = None,
    ) -> bool:
        """Start a copy of a page of a tensor, from `offset` on, into L1."""
        endpoint, source = self._locate(page, pages)
        size = pages.page_size - offset
        done = self._read(endpoint, source + offset, address, size, noc)
        if done and self.timed:
            self.thread.clock += self._page_cycles[pages.num_banks]
        return done

    noc_async_read_page = noc_async_read_tile

    @kernel_call(waits=True)
    def noc_async_read_shard(
        self, shard: int, accessor: TensorAccessor, address: int, noc: int | None = None
    ) -> bool:
        """Start a copy of a shard of a tensor into L1."""
        endpoint, source = accessor.sharded.locate_shard(shard)
        return self._read(endpoint, source, address, accessor.sharded.shard_size, noc)

    @kernel_call()
    def noc_async_read_set_state(self, source: int, noc: int | None = None) -> None:
        """Set the tile that `noc_async_read_with_state` reads from."""
        self._read_state[self._noc(noc)] = (self.endpoint(source), 0)

    @kernel_call(waits=True)
    def noc_async_read_with_state(
        self, source: int, address: int, size: int, noc: int | None = None, template: Template = ()
    ) -> bool:
        """Start a copy into L1 from an address in the tile that was set."""
        endpoint, _ = self._state(self._read_state, noc, "noc_async_read_set_state")
        return self._read(endpoint, source & LOCAL_MASK, address, size, noc)

    @kernel_call()
    def noc_async_read_one_packet_set_state(
        self, source: int, size: int, vc: int = 0, noc: int | None = None, template: Template = ()
    ) -> None:
        """Set tile and size for `noc_async_read_one_packet_with_state`."""
        self._check_packet(size, "noc_async_read_one_packet_set_state")
        self._read_state[self._noc(noc)] = (self.endpoint(source), size)

    @kernel_call(waits=True)
    def noc_async_read_one_packet_with_state(
        self,
        source: int,
        address: int,
        vc: int = 0,
        noc: int | None = None,
        template: Template = (),
    ) -> bool:
        """Start a copy into L1 of the size and from the tile that were set."""
        setter = "noc_async_read_one_packet_set_state"
        endpoint, size = self._state(self._read_state, noc, setter)
        return self._read(endpoint, source & LOCAL_MASK, address, size, noc)

    @kernel_call()
    def noc_async_read_set_trid(self, trid: int, noc: int | None = None) -> None:
        """Set the transaction number of the reads that follow."""
        self._trid = trid

    # Writes.

    @kernel_call(waits=True)
    def noc_async_write(
        self,
        address: int,
        target: int,
        size: int,
        noc: int | None = None,
        vc: int = 0,
        template: Template = (),
    ) -> bool:
        """Start a copy from L1 into a tile's memory."""
        endpoint = self.endpoint(target)
        return self._write(endpoint, target & LOCAL_MASK, address, size, noc)

    @kernel_call(waits=True)
    def noc_async_write_one_packet(
        self, address: int, target: int, size: int, noc: int | None = None
    ) -> bool:
        """Start a copy of at most one packet from L1 into a tile's memory."""
        self._check_packet(size, "noc_async_write_one_packet")
        return self.noc_async_write(address, target, size, noc)

    @kernel_call(waits=True)
    def noc_async_write_one_packet_with_trid(
        self, address: int, target: int, size: int, trid: int, noc: int | None = None
    ) -> bool:
        """`noc_async_write_one_packet` with a transaction number."""
        self._check_packet(size, "noc_async_write_one_packet_with_trid")
        endpoint = self.endpoint(target)
        return self._write(endpoint, target & LOCAL_MASK, address, size, noc, trid)

    @kernel_call()
    def noc_async_write_one_packet_set_state(
        self, target: int, size: int, noc: int | None = None, vc: int = 0, template: Template = ()
    ) -> None:
        """Set tile and size for `noc_async_write_one_packet_with_state`."""
        self._check_packet(size, "noc_async_write_one_packet_set_state")
        self._write_state[self._noc(noc)] = (self.endpoint(target), size)

    @kernel_call(waits=True)
    def noc_async_write_one_packet_with_state(
        self, address: int, target: int, noc: int | None = None, template: Template = ()
    ) -> bool:
        """Start a copy from L1 of the size and to the tile that were set."""
        setter = "noc_async_write_one_packet_set_state"
        endpoint, size = self._state(self._write_state, noc, setter)
        return self._write(endpoint, target & LOCAL_MASK, address, size, noc)

    @kernel_call(waits=True)
    def noc_async_write_tile(
        self, page: int, pages: AddressGenerator, address: int, noc: int | None = None
    ) -> bool:
        """Start a copy of a page from L1 into a tensor."""
        endpoint, target = self._locate(page, pages)
        done = self._write(endpoint, target, address, pages.page_size, noc)
        if done and self.timed:
            self.thread.clock += self._page_cycles[pages.num_banks]
        return done

    @kernel_call(waits=True)
    def noc_async_write_page(
        self,
        page: int,
        pages: AddressGenerator,
        address: int,
        size: int = 0,
        offset: int = 0,
        noc: int | None = None,
    ) -> bool:
        """Start a copy of a page, or of `size` bytes of it from `offset` on, into a tensor."""
        endpoint, target = self._locate(page, pages)
        size = size or pages.page_size
        done = self._write(endpoint, target + offset, address, size, noc)
        if done and self.timed:
            self.thread.clock += self._page_cycles[pages.num_banks]
        return done

    @kernel_call(waits=True)
    def noc_async_write_shard(
        self, shard: int, accessor: TensorAccessor, address: int, noc: int | None = None
    ) -> bool:
        """Start a copy of a shard from L1 into a tensor."""
        endpoint, target = accessor.sharded.locate_shard(shard)
        return self._write(endpoint, target, address, accessor.sharded.shard_size, noc)

    @kernel_call(waits=True)
    def noc_async_write_multicast(
        self,
        address: int,
        target: int,
        size: int,
        num_dests: int,
        linked: bool = False,
        noc: int | None = None,
        template: Template = (),
    ) -> bool:
        """Start a copy from L1 to each core of a rectangle except this one."""
        return self._multicast(address, target, size, num_dests, noc, itself=False, linked=linked)

    @kernel_call(waits=True)
    def noc_async_write_multicast_one_packet(
        self,
        address: int,
        target: int,
        size: int,
        num_dests: int,
        linked: bool = False,
        noc: int | None = None,
    ) -> bool:
        """`noc_async_write_multicast` of at most one packet."""
        self._check_packet(size, "noc_async_write_multicast_one_packet")
        return self._multicast(address, target, size, num_dests, noc, itself=False, linked=linked)

    @kernel_call(waits=True)
    def noc_async_write_multicast_loopback_src(
        self,
        address: int,
        target: int,
        size: int,
        num_dests: int,
        linked: bool = False,
        noc: int | None = None,
    ) -> bool:
        """Start a copy from L1 to each core of a rectangle, this one included."""
        return self._multicast(address, target, size, num_dests, noc, itself=True, linked=linked)

    @kernel_call(waits=True)
    def noc_inline_dw_write(
        self,
        target: int,
        value: int,
        byte_enable: int = 0xF,
        noc: int | None = None,
        *,
        template: Template = (),
    ) -> bool:
        """Write a word, or the bytes of it that are enabled, into a tile's memory."""
        if self.thread.clock > self.scheduler.horizon:
            return False
        data = (value & _WORD).to_bytes(4, "little")
        endpoint, local = self.endpoint(target), target & LOCAL_MASK
        old = bytes(endpoint.memory.read(local, 4)) if byte_enable != 0xF else data
        merged = bytes(
            new if byte_enable >> index & 1 else kept
            for index, (new, kept) in enumerate(zip(data, old, strict=True))
        )
        return self._write_word(endpoint, local, merged, noc, "write")

    # Places.

    def locate_page(self, page: int, pages: AddressGenerator) -> tuple[Endpoint, int]:
        """The bank and the address of a page that is copied."""
        return self._locate(page, pages)

    def find_bank(self, dram: bool, bank: int) -> Endpoint:
        """A bank by its number."""
        return self.endpoint(self.get_noc_addr_from_bank_id(bank, 0, 0, (dram,)))

    def is_here(self, place: Endpoint | tuple[int, int]) -> bool:
        """Whether a tile, or the one at a coordinate, is that of the thread."""
        return place is self.core or place == self.core.coordinate

    # Semaphores.

    def semaphore_value(self, address: int) -> int:
        """The word of a semaphore of this core."""
        return int.from_bytes(self.l1.read(address, 4), "little")

    @kernel_call()
    def noc_semaphore_set(self, address: int, value: int) -> None:
        """Write the word of a semaphore of this core."""
        self.check_own_semaphore(address)
        if self.watch is not None:
            self.watch.semaphore_set(self.thread, self.l1, address)
        self.l1.write(address, (value & _WORD).to_bytes(4, "little"))
        self.core.set_word_time(address, value & _WORD, self.thread.clock)

    @kernel_call(waits=True)
    def noc_semaphore_wait(self, address: int, value: int) -> bool:
        """Wait until the word equals a value."""
        return self._wait(address, value, exactly=True)

    @kernel_call(waits=True)
    def noc_semaphore_wait_min(self, address: int, value: int) -> bool:
        """Wait until the word is at least a value."""
        return self._wait(address, value, exactly=False)

    def _wait(self, address: int, value: int, *, exactly: bool) -> bool:
        word = self.semaphore_value(address)
        if word == value or (not exactly and word > value):
            if self.timed:
                time = self.core.semaphore_times.get(address, 0)
                if not exactly:
                    time = self.core.time_of_word(address, value, self.thread.clock)
                self.thread.wait_until(time, "noc_semaphore_wait")
            if self.watch is not None:
                self.watch.semaphore_wait(self.thread, self.l1, address, value, exactly=exactly)
            return True
        self.check_own_semaphore(address)
        if self.watch is not None:
            self.watch.check_semaphore(self.thread, self.l1, address)
        self.l1.waiters.setdefault(address, []).append(self.thread)
        self.thread.wait(WaitForSemaphore(self.core, address, exactly), value)
        return False

    @kernel_call(waits=True)
    def noc_semaphore_inc(
        self,
        target: int,
        increment: int,
        noc: int | None = None,
        vc: int = 0,
        template: Template = (),
    ) -> bool:
        """Add to the word of a semaphore of any core."""
        if self.thread.clock > self.scheduler.horizon:
            return False
        posted = bool(template and template[0])
        return self._increment(self.endpoint(target), target, increment, noc, posted=posted)

    @kernel_call(waits=True)
    def noc_semaphore_inc_multicast(
        self,
        target: int,
        increment: int,
        num_dests: int,
        noc: int | None = None,
        template: Template = (),
    ) -> bool:
        """Add to the word of a semaphore of each core of a rectangle except this one."""
        if self.thread.clock > self.scheduler.horizon:
            return False
        for core in self._destinations(target, self._noc(noc), num_dests, itself=False):
            self._increment(core, target, increment, noc, posted=bool(template and template[0]))
        return True

    def _increment(
        self,
        endpoint: Endpoint,
        target: int,
        increment: int,
        noc: int | None,
        *,
        in_order: bool = False,
        posted: bool = False,
    ) -> bool:
        local = target & LOCAL_MASK
        if endpoint.kind == "dram":
            raise self.thread.error(
                f"noc_semaphore_inc on {endpoint.name}; only the L1 of cores can add",
                rule="noc-address",
            )
        word = int.from_bytes(endpoint.memory.read(local, 4), "little") + increment
        data = (word & _WORD).to_bytes(4, "little")
        # Who subtracts has others wait for less, which comes when it is simulated.
        added = increment if increment < 1 << 31 else 0
        return self._write_word(
            endpoint, local, data, noc, "atomic", in_order=in_order, added=added, posted=posted
        )

    @kernel_call(waits=True)
    def noc_semaphore_set_remote(self, source: int, target: int, noc: int | None = None) -> bool:
        """Copy a word of L1 to the word of a semaphore of another core."""
        if self.thread.clock > self.scheduler.horizon:
            return False
        data = bytes(self.l1.read(source, 4))
        endpoint = self.endpoint(target)
        return self._write_word(endpoint, target & LOCAL_MASK, data, noc, "write", from_l1=True)

    @kernel_call(waits=True)
    def noc_semaphore_set_multicast(
        self, source: int, target: int, num_dests: int, linked: bool = False, noc: int | None = None
    ) -> bool:
        """Copy a word of L1 to the semaphores of a rectangle, except that of this core."""
        return self._multicast(
            source, target, 4, num_dests, noc, itself=False, linked=linked, at_once=True
        )

    @kernel_call(waits=True)
    def noc_semaphore_set_multicast_loopback_src(
        self, source: int, target: int, num_dests: int, linked: bool = False, noc: int | None = None
    ) -> bool:
        """Copy a word of L1 to the semaphores of a rectangle, this core's included."""
        return self._multicast(
            source, target, 4, num_dests, noc, itself=True, linked=linked, at_once=True
        )


class WaitForSemaphore(WaitReason):
    """`noc_semaphore_wait` and `noc_semaphore_wait_min`."""

    kind = "noc_semaphore_wait"

    def __init__(self, core: Core, address: int, exactly: bool) -> None:
        """For a value of the word at an address, or `exactly` False at least it."""
        self._core = core
        self._address = address
        self._exactly = exactly

    def describe(self, thread: RunningThread) -> tuple[str, ...]:
        """What has to happen, and what the word is."""
        value = int.from_bytes(self._core.l1.read(self._address, 4), "little")
        by_address = {address: index for index, address in self._core.semaphores.items()}
        index = by_address.get(self._address)
        name = f"the word at {self._address:#x}" if index is None else f"semaphore {index}"
        bound = "" if self._exactly else "at least "
        return (f"{name} to be {bound}{thread.wanted}; it is {value}",)

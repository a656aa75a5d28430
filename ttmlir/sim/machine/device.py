"""A simulated device: a chip with its cores and memories."""

from __future__ import annotations

from bisect import bisect, bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING

from ttmlir.layout.enums import Arch, MemorySpace
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.system import ArchSpec, ChipDesc, arch_spec, board
from ttmlir.limits import memory_limit
from ttmlir.optable.kernel import Role
from ttmlir.sim.errors import AllocationError, SimError
from ttmlir.sim.machine.memory import CircularBuffers, Memory, MemoryBudget
from ttmlir.sim.machine.remote_buffers import RemoteEnd, RemoteView
from ttmlir.sim.machine.sockets import SocketEnd
from ttmlir.sim.machine.word_times import WordTimes
from ttmlir.sim.options import SimOptions
from ttmlir.sim.protocols import RunningThread, WaitReason
from ttmlir.sim.sanitizer.sanitizer import Sanitizer

if TYPE_CHECKING:
    from ttmlir.sim.machine.registers import DestinationRegisters, SourceRegisters


# --- Chip -----------------------------------------------------------------------------------------
# A chip as the simulator sees it: what a system description and its generation say.

Coordinate = tuple[int, int]
"""(x, y), as TT-Metalium writes cores."""

MEM_ZEROS_BASE = 256
"""Where the bytes of L1 are that are always zero; here below everything else that is reserved."""

MEM_ZEROS_SIZE = 512
"""How many they are (tt-metal, dev_mem_map.h)."""

PACKET_HEADERS_BASE = 0x1000
"""Where headers of packets are that a data-movement processor takes from its pool; those of the
second one follow."""

PACKET_HEADERS_SIZE = 0x800
"""Bytes of the pool of a processor."""

SEMAPHORES = 16
"""Semaphores of a core (tt-metal, NUM_SEMAPHORES)."""

ETHERNET_RESERVED = 0x18000
"""Bytes at the beginning of the L1 of an Ethernet core that are firmware's (tt-metal,
eth_l1_address_map.h)."""

ETHERNET_CHANNELS = 16
"""Pairs of words with which the two ends of a link tell each other what was sent."""


@dataclass(frozen=True, kw_only=True)
class SimChip:
    """One chip; sizes, addresses and alignments in bytes, coordinates as (x, y).

    SimError if the numbers contradict each other.
    """

    name: str
    spec: ArchSpec
    """What all chips of the generation share."""
    grid: Coordinate
    """Columns and rows of the worker cores."""
    workers: tuple[Coordinate, ...]
    """Coordinates on the network of the worker cores, row by row."""
    dram: tuple[Coordinate, ...]
    """Coordinates on the network of the DRAM channels, the endpoint that workers use."""
    l1_size: int
    l1_unreserved_base: int
    dram_channel_size: int
    dram_unreserved_base: int
    l1_alignment: int
    dram_read_alignment: int
    ethernet_unreserved_base: int
    """The first byte of the L1 of Ethernet cores that kernels may use."""

    def __post_init__(self) -> None:
        """Check what the simulator builds on."""
        columns, rows = self.grid
        if len(self.workers) != columns * rows:
            raise SimError(
                f"{self.name}: {len(self.workers)} workers do not fill a grid of {columns}x{rows}"
            )
        tiles = self.workers + self.dram
        if len(set(tiles)) != len(tiles):
            raise SimError(f"{self.name}: two tiles have the same coordinates on the network")
        outside = [each for each in tiles if not self._on_network(each)]
        if outside:
            raise SimError(f"{self.name}: {outside[0]} is outside of the network {self.noc_size}")
        if self.semaphore_base < MEM_ZEROS_BASE + MEM_ZEROS_SIZE:
            raise SimError(f"{self.name}: no room for semaphores below the unreserved part of L1")
        if not self.dram:
            raise SimError(f"{self.name}: a chip without channels of DRAM; it needs at least one")
        if not self.l1_unreserved_base < self.l1_size:
            raise SimError(f"{self.name}: all of L1 is reserved")

    def _on_network(self, coordinate: Coordinate) -> bool:
        return 0 <= coordinate[0] < self.noc_size[0] and 0 <= coordinate[1] < self.noc_size[1]

    @property
    def arch(self) -> Arch:
        """The generation."""
        return self.spec.arch

    @property
    def clock_hz(self) -> int:
        """Cycles per second."""
        return self.spec.clock_hz

    @property
    def dram_write_alignment(self) -> int:
        """What addresses in DRAM that are written to are multiples of."""
        return self.spec.dram_write_alignment

    @property
    def max_packet_size(self) -> int:
        """Bytes that one packet of the network carries."""
        return self.spec.max_packet_size

    @property
    def noc_size(self) -> Coordinate:
        """Columns and rows of the network."""
        rows, columns = self.spec.noc_size
        return columns, rows

    @property
    def semaphore_base(self) -> int:
        """Where the words of the semaphores begin, one per aligned unit of L1."""
        return self.l1_unreserved_base - SEMAPHORES * self.l1_alignment

    @property
    def ethernet(self) -> tuple[Coordinate, ...]:
        """Coordinates on the network of the Ethernet cores, by channel."""
        return tuple((x, y) for y, x in self.spec.ethernet)

    @property
    def num_dram_channels(self) -> int:
        """Channels, that is banks, of DRAM."""
        return len(self.dram)

    @property
    def dram_alignment(self) -> int:
        """What addresses and pages of buffers in DRAM are multiples of."""
        return max(self.dram_read_alignment, self.dram_write_alignment)

    def has_worker(self, logical: Coordinate) -> bool:
        """Whether logical (x, y) is in the grid of the workers."""
        (x, y), (columns, rows) = logical, self.grid
        return 0 <= x < columns and 0 <= y < rows

    @property
    def workers_text(self) -> str:
        """The grid of the workers, as messages show it."""
        columns, rows = self.grid
        return f"{columns}x{rows} worker cores of {self.name}"

    def noc_coordinate(self, logical: Coordinate) -> Coordinate:
        """Where on the network the worker at logical (x, y) is; SimError outside of the grid."""
        x, y = logical
        if not self.has_worker(logical):
            raise SimError(f"core ({x}, {y}) is outside of the {self.workers_text}")
        return self.workers[y * self.grid[0] + x]

    @staticmethod
    def from_desc(desc: ChipDesc, name: str = "") -> SimChip:
        """The chip of a system description, as a .ttm file numbers its cores.

        SimError for a generation that is not modelled.
        """
        try:
            spec = arch_spec(desc.arch)
        except LayoutError as error:
            raise SimError(str(error)) from error
        rows, columns = desc.grid
        return SimChip(
            name=name or desc.arch.keyword,
            spec=spec,
            grid=(columns, rows),
            workers=tuple((x, y) for y, x in desc.physical_cores.worker),
            dram=tuple((x, y) for y, x in desc.physical_cores.dram),
            l1_size=desc.l1_size,
            l1_unreserved_base=desc.l1_unreserved_base,
            dram_channel_size=desc.dram_channel_size,
            dram_unreserved_base=desc.dram_unreserved_base,
            l1_alignment=desc.noc_l1_address_align_bytes,
            dram_read_alignment=desc.noc_dram_address_align_bytes,
            ethernet_unreserved_base=max(
                desc.erisc_l1_unreserved_base,
                ETHERNET_RESERVED + (ETHERNET_CHANNELS + SEMAPHORES) * 16,
            ),
        )

    @staticmethod
    def of_board(name: str, chip: int = 0) -> SimChip:
        """A chip of the board with this name, which has the board's name.

        Firmware has its part of L1 also on the default board, whose description reserves less.
        LayoutError if there is no such board, or no such chip on it.
        """
        of_desc = SimChip.from_desc(board(name).chip(chip), name)
        reserved = max(of_desc.l1_unreserved_base, of_desc.spec.firmware.end)
        return replace(of_desc, l1_unreserved_base=reserved)


# --- Core -----------------------------------------------------------------------------------------
# A Tensix core: its L1, circular buffers, semaphores and registers.

# --- Mailboxes ------------------------------------------------------------------------------------
# Words that the processors of a core send each other.
#
# Source: tt-isa-documentation, WormholeB0/TensixTile/BabyRISCV/Mailboxes.md.


class _WaitForWord(WaitReason):
    """`mailbox_read` and the calls that share a word."""

    kind = "mailbox"

    def __init__(self, source: str) -> None:
        self._source = source

    def describe(self, thread: RunningThread) -> tuple[str, ...]:
        """What has to happen, and who does it."""
        return (
            f"a word from {self._source}",
            f"{self._source} sends it with mailbox_write, or with the call that waits here",
        )


class Mailboxes:
    """Words on their way between the processors of a core: one queue for each ordered pair.

    On the chip a queue holds four words, and who sends more waits; here he goes on.
    """

    __slots__ = ("_queues", "_readers")

    def __init__(self) -> None:
        """Nothing is on its way."""
        self._queues: dict[tuple[str, str], deque[tuple[int, int]]] = {}
        self._readers: dict[tuple[str, str], RunningThread] = {}

    def send(self, source: str, target: str, value: int, time: int) -> None:
        """Send a word that is there from `time` on."""
        pair = source, target
        self._queues.setdefault(pair, deque()).append((value, time))
        if pair in self._readers:
            self._readers.pop(pair).wake()

    def receive(self, source: str, target: RunningThread) -> tuple[int, int] | None:
        """A word and since when it is there; None if the thread has to wait, to be woken."""
        pair = source, target.role_name
        queue = self._queues.get(pair)
        if queue:
            return queue.popleft()
        self._readers[pair] = target
        target.wait(_WaitForWord(source), 1)
        return None


# --- Semaphores of the units ----------------------------------------------------------------------
# Small counters by which the units of a core's three compute threads wait for each other.
#
# Source: tt-isa-documentation, WormholeB0/TensixTile/TensixCoprocessor/SyncUnit.md.


class _WaitForToken(WaitReason):
    """`t6_semaphore_wait_on_zero` and `t6_semaphore_wait_on_max`."""

    kind = "t6_semaphore"
    is_within_kernel = True

    def __init__(self, number: int, *, is_full: bool) -> None:
        self._number, self._is_full = number, is_full

    def describe(self, thread: RunningThread) -> tuple[str, ...]:
        """What has to happen, and who does it."""
        ends = "t6_semaphore_get takes" if self._is_full else "t6_semaphore_post adds"
        state = "is at its maximum" if self._is_full else "is zero"
        return (f"semaphore {self._number} of the units, which {state}", f"{ends} one")


class UnitSemaphores:
    """Eight counters, each with the times at which its tokens came, or places became free."""

    COUNT = 8
    MOST = 15
    """Tokens that each has room for, whatever its maximum is."""

    __slots__ = ("_freed", "_limits", "_tokens", "_waiting")

    def __init__(self) -> None:
        """All are zero."""
        self._limits = [self.MOST] * self.COUNT
        self._tokens: list[deque[int]] = [deque() for _ in range(self.COUNT)]
        self._freed = [0] * self.COUNT
        self._waiting: list[list[RunningThread]] = [[] for _ in range(self.COUNT)]

    def set(self, number: int, value: int, limit: int, time: int) -> None:
        """Give a semaphore a value and a maximum."""
        self._limits[number] = limit
        self._tokens[number] = deque([time] * value)
        self._wake(number)

    def post(self, number: int, time: int) -> bool:
        """Add a token; False if there are as many as there is room for, so that it is lost."""
        if len(self._tokens[number]) == self.MOST:
            return False
        self._tokens[number].append(time)
        self._wake(number)
        return True

    def get(self, number: int, time: int) -> None:
        """Take a token, if there is one."""
        if self._tokens[number]:
            self._tokens[number].popleft()
            self._freed[number] = max(self._freed[number], time)
            self._wake(number)

    def wait(self, number: int, thread: RunningThread, *, is_full: bool) -> int | None:
        """Since when there is a token, or with `is_full` a place for one.

        None if the thread has to wait, to be woken.
        """
        tokens = self._tokens[number]
        if is_full and len(tokens) < self._limits[number]:
            return self._freed[number]
        if not is_full and tokens:
            return tokens[0]
        self._waiting[number].append(thread)
        thread.wait(_WaitForToken(number, is_full=is_full), 1)
        return None

    def _wake(self, number: int) -> None:
        while self._waiting[number]:
            self._waiting[number].pop().wake()


# --- Core -----------------------------------------------------------------------------------------


class Endpoint:
    """A tile of the chip that has memory and answers on the network."""

    __slots__ = (
        "coordinate",
        "index",
        "kind",
        "memory",
        "name",
        "passed",
        "read_alignment",
        "write_alignment",
    )

    def __init__(
        self, name: str, kind: str, index: int, coordinate: tuple[int, int], memory: Memory
    ) -> None:
        """`kind` is `worker`, `dram` or `ethernet`; `index` numbers the tiles of a kind."""
        self.name = name
        self.kind = kind
        self.index = index
        self.coordinate = coordinate
        """(x, y) on the network."""
        self.memory = memory
        self.passed = 0
        """Bytes that the networks read and wrote since the unpackers last looked."""
        self.read_alignment = 1
        self.write_alignment = 1


class Core(Endpoint):
    """A worker core; what its threads share.

    `src` and `dst` are the source and destination registers of the program that runs, `watch` the
    sanitizer, if there is one.
    """

    __slots__ = (
        *("cbs", "chip", "device", "dst", "l1", "logical", "mailboxes", "print_line"),
        *("remote_cbs", "remote_ends", "semaphore_times", "semaphores", "word_times"),
        *("semaphores_elsewhere", "sockets", "src", "unit_semaphores", "watch"),
    )

    def __init__(
        self,
        chip: SimChip,
        logical: tuple[int, int],
        budget: MemoryBudget | None = None,
        device: int | None = None,
    ) -> None:
        """The core at logical (x, y), with poisoned L1; SimError outside of the grid.

        L1 takes its bytes from `budget`. `device` is the number of the chip, where several run
        together.
        """
        kind, index, coordinate, size = self.describe(chip, logical)
        title = "Ethernet core" if kind == "ethernet" else "core"
        name = f"{title} ({logical[0]}, {logical[1]}){of_device(device)}"
        memory = Memory(f"L1 of {name}", size, budget)
        super().__init__(name, kind, index, coordinate, memory)
        self.device = device
        self.read_alignment = self.write_alignment = chip.l1_alignment
        self.chip = chip
        self.logical = logical
        self.l1 = memory
        memory.write(MEM_ZEROS_BASE, bytes(MEM_ZEROS_SIZE))
        self.watch: Sanitizer | None = None
        self.print_line: Callable[[str], None] = print
        """Takes the lines that kernels print."""
        self.sockets: dict[int, SocketEnd] = {}
        """Ends of sockets by the address of their configuration."""
        self.remote_ends: dict[int, RemoteEnd] = {}
        """Ends of global circular buffers, by the same."""
        self.reset()

    @staticmethod
    def describe(chip: SimChip, logical: tuple[int, int]) -> tuple[str, int, Coordinate, int]:
        """Kind, number, place on the network and size of L1; SimError outside of the grid."""
        index = logical[1] * chip.grid[0] + logical[0]
        return "worker", index, chip.noc_coordinate(logical), chip.l1_size

    @property
    def semaphore_base(self) -> int:
        """Where the words of the semaphores begin."""
        return self.chip.semaphore_base

    def role_name(self, role: Role) -> str:
        """How messages call a processor."""
        return role.name or ""

    def reset(self) -> None:
        """Forget circular buffers, semaphores and registers, before a program."""
        self.l1.waiters.clear()
        for socket in self.sockets.values():
            socket.is_open = False
        self.cbs = CircularBuffers()
        self.remote_cbs: dict[int, RemoteView] = {}
        """Ends of global circular buffers by index, as they are when the program begins."""
        self.semaphores: dict[int, int] = {}
        """Address of the word of each semaphore, by id."""
        self.semaphores_elsewhere: dict[int, int] = {}
        """The same of semaphores that other cores of the program have, and this one has not."""
        self.semaphore_times: dict[int, int] = {}
        """When words in L1 that semaphores use last changed, by address."""
        self.word_times: dict[int, WordTimes] = {}
        """The values that they had then, and since when, as far as somebody may wait for them."""
        self.mailboxes = Mailboxes()
        self.unit_semaphores = UnitSemaphores()
        self.passed = 0
        self.src: SourceRegisters | None = None
        self.dst: DestinationRegisters | None = None

    def set_word_time(self, address: int, value: int, time: int, *, added: int = 0) -> None:
        """A word in L1 has a value from a time on, by an addition where something was `added`."""
        times = self.word_times.setdefault(address, WordTimes())
        times.change(value, time, added=added)
        self.semaphore_times[address] = times.last

    def time_of_word(self, address: int, value: int, now: int) -> int:
        """When a word came to a value that it has, from now on; 0: before the program."""
        times = self.word_times.get(address)
        return 0 if times is None else times.reached(value, now)


class EthernetCore(Core):
    """The core of an Ethernet channel, at logical (0, channel)."""

    __slots__ = ()

    @staticmethod
    def describe(chip: SimChip, logical: tuple[int, int]) -> tuple[str, int, Coordinate, int]:
        """Kind, number, place on the network and size of L1; SimError for another channel."""
        channel = logical[1]
        if logical[0] != 0 or not 0 <= channel < len(chip.ethernet):
            raise SimError(
                f"there is no Ethernet core ({logical[0]}, {channel}); those of {chip.name} are "
                f"(0, 0) to (0, {len(chip.ethernet) - 1}), one for each channel"
            )
        return "ethernet", channel, chip.ethernet[channel], chip.spec.ethernet_l1_size

    @property
    def semaphore_base(self) -> int:
        """Where the words of the semaphores begin."""
        return self.chip.ethernet_unreserved_base - SEMAPHORES * self.chip.l1_alignment

    def role_name(self, role: Role) -> str:
        """How messages call a processor: an Ethernet core has one or two, which move data."""
        return "ERISC" if role is Role.BRISC else "ERISC1"

    def sync_word(self, channel: int) -> int:
        """The address of what the ends of the link tell each other under a number.

        It holds the bytes that were sent, and the word after it whether they are acknowledged.
        """
        if not 0 <= channel < ETHERNET_CHANNELS:
            raise SimError(
                f"channel {channel} of a link; they are numbered 0 to {ETHERNET_CHANNELS - 1}"
            )
        return self.semaphore_base - (ETHERNET_CHANNELS - channel) * 16


def of_device(device: int | None) -> str:
    """What follows the name of a part of a chip, where several run together."""
    return "" if device is None else f" of device {device}"


# --- Noc ------------------------------------------------------------------------------------------
# The network on chip: addresses, the tiles that they name, and copies that are on their way.
#
# An address is a 64-bit number: 36 bits of local address, then x and y with 6 bits each; that of a
# rectangle holds the coordinates of its end there and above them those of its start
# (tt-isa-documentation, WormholeB0/NoC/MemoryMap.md). Both networks number tiles alike, with the
# translated coordinates that kernels use. Network 1 runs the other way, so the start of a rectangle
# is its last corner there (WormholeB0/NoC/Coordinates.md).

LOCAL_BITS = 36
LOCAL_MASK = (1 << LOCAL_BITS) - 1
NETWORKS = 2

_NODE_BITS = 6
_NODE_MASK = (1 << _NODE_BITS) - 1
_UNICAST_BITS = LOCAL_BITS + 2 * _NODE_BITS


def noc_address(x: int, y: int, local: int) -> int:
    """The address of a byte in the memory of a tile."""
    return (y & _NODE_MASK) << 42 | (x & _NODE_MASK) << LOCAL_BITS | local & LOCAL_MASK


def multicast_address(x_start: int, y_start: int, x_end: int, y_end: int, local: int) -> int:
    """The address of a byte in the memory of each tile of a rectangle."""
    start = (y_start & _NODE_MASK) << 54 | (x_start & _NODE_MASK) << 48
    return start | noc_address(x_end, y_end, local)


def coordinate_of(address: int) -> Coordinate:
    """(x, y) in an address; of a rectangle, that of its end."""
    return address >> LOCAL_BITS & _NODE_MASK, address >> 42 & _NODE_MASK


def _start_of(address: int) -> Coordinate:
    return address >> 48 & _NODE_MASK, address >> 54 & _NODE_MASK


class Network:
    """The tiles of a chip by address; cores are made when they are first named."""

    def __init__(
        self,
        chip: SimChip,
        core: Callable[[int, int], Core],
        budget: MemoryBudget | None = None,
        ethernet_core: Callable[[int], Core] | None = None,
    ) -> None:
        """`core` gives the core at logical (x, y), `ethernet_core` that of a channel.

        DRAM takes its bytes from `budget`.
        """
        self.chip = chip
        channels = range(len(chip.dram))
        self.dram = tuple(_dram_channel(chip, channel, budget) for channel in channels)
        self._core = core
        self._ethernet_core = ethernet_core
        self._logical = {
            noc: (index % chip.grid[0], index // chip.grid[0])
            for index, noc in enumerate(chip.workers)
        }
        self._channels = {endpoint.coordinate: endpoint for endpoint in self.dram}
        self._endpoints: dict[int, Endpoint] = {}
        self._l1_banks: tuple[Core, ...] = ()
        self._rectangles: dict[tuple[int, int], tuple[Core, ...]] = {}

    def endpoint(self, address: int) -> Endpoint:
        """The tile that an address names; SimError where no tile has memory."""
        key = address >> LOCAL_BITS
        found = self._endpoints.get(key)
        if found is None:
            found = self._endpoints[key] = self._find(address)
        return found

    def _find(self, address: int) -> Endpoint:
        if address >> _UNICAST_BITS:
            raise SimError(
                f"the network address {address:#x} is that of a rectangle; this call takes the "
                "address of one tile, from get_noc_addr",
                rule="noc-address",
            )
        coordinate = coordinate_of(address)
        if coordinate in self._channels:
            return self._channels[coordinate]
        if coordinate in self._logical:
            return self._core(*self._logical[coordinate])
        if coordinate in self.chip.ethernet and self._ethernet_core is not None:
            return self._ethernet_core(self.chip.ethernet.index(coordinate))
        raise SimError(
            f"no tile with memory is at {coordinate} on the network of {self.chip.name}; "
            f"worker cores are at x {_axis(self.chip, 0)} and y {_axis(self.chip, 1)}, DRAM at "
            + ", ".join(str(each) for each in self.chip.dram),
            rule="noc-address",
        )

    @property
    def l1_banks(self) -> Sequence[Core]:
        """All worker cores, row by row: the banks of buffers that are interleaved over L1."""
        if not self._l1_banks:
            columns, rows = self.chip.grid
            self._l1_banks = tuple(self._core(x, y) for y in range(rows) for x in range(columns))
        return self._l1_banks

    def rectangle(self, address: int, noc: int) -> tuple[Core, ...]:
        """The worker cores of the rectangle that an address names on a network, row by row."""
        key = (address >> LOCAL_BITS, noc)
        found = self._rectangles.get(key)
        if found is None:
            found = self._rectangles[key] = self._workers(address, noc)
        return found

    def _workers(self, address: int, noc: int) -> tuple[Core, ...]:
        start, end = _start_of(address), coordinate_of(address)
        if noc == 1:
            start, end = end, start
        return tuple(
            self._core(*self._logical[coordinate])
            for coordinate in self.chip.workers
            if all(_spans(start[axis], end[axis], coordinate[axis]) for axis in range(2))
        )


def _spans(start: int, end: int, position: int) -> bool:
    """Whether a span, which may wrap around the torus, has a position."""
    if start <= end:
        return start <= position <= end
    return position <= end or position >= start


def _axis(chip: SimChip, axis: int) -> str:
    return ",".join(str(each) for each in sorted({worker[axis] for worker in chip.workers}))


def _dram_channel(chip: SimChip, channel: int, budget: MemoryBudget | None) -> Endpoint:
    name = f"DRAM channel {channel}"
    memory = Memory(name, chip.dram_channel_size, budget, is_read_by_units=False)
    endpoint = Endpoint(name, "dram", channel, chip.dram[channel], memory)
    endpoint.read_alignment = chip.dram_read_alignment
    endpoint.write_alignment = chip.dram_write_alignment
    return endpoint


class Copy:
    """A copy whose bytes have not moved yet."""

    __slots__ = (
        *("multicast", "size", "source", "source_address", "target", "target_address", "trid"),
    )

    def __init__(
        self,
        source: Memory,
        source_address: int,
        target: Memory,
        target_address: int,
        size: int,
        *,
        multicast: bool = False,
        trid: int = 0,
    ) -> None:
        """Note where bytes go; they are read when they move."""
        self.source = source
        self.source_address = source_address
        self.target = target
        self.target_address = target_address
        self.size = size
        self.multicast = multicast
        self.trid = trid

    def move(self) -> None:
        """Move the bytes."""
        self.target.copy(self.target_address, self.source, self.source_address, self.size)


class Outstanding:
    """What a thread has started on one network: times of completion, and copies held back.

    Times are those at which the last read has arrived, the last write has left, the last write is
    acknowledged, and the last atomic operation is answered.
    """

    __slots__ = ("acknowledged", "answered", "arrived", "left", "reads", "writes")

    def __init__(self) -> None:
        """Nothing was started."""
        self.arrived = 0
        self.left = 0
        self.acknowledged = 0
        self.answered = 0
        self.reads: list[Copy] = []
        self.writes: list[Copy] = []

    def move_reads(self, trid: int | None = None) -> bool:
        """Move the bytes of all reads, or those with a number; whether there were any."""
        moved, self.reads = _with_number(self.reads, trid)
        for copy in moved:
            copy.move()
        return bool(moved)

    def move_writes(self, trid: int | None = None) -> bool:
        """Move the bytes of all writes, or those with a number; whether there were any."""
        moved, self.writes = _with_number(self.writes, trid)
        for copy in moved:
            copy.move()
        return bool(moved)

    def move_ordered(self, target: Memory, *, multicast: bool) -> None:
        """Move the bytes of writes that arrive before what now goes to a memory.

        Transactions of one source and one kind on one network arrive at one destination in order
        (tt-isa-documentation, WormholeB0/NoC/Ordering.md); others may overtake each other.
        """
        kept: list[Copy] = []
        for copy in self.writes:
            if copy.target is target and copy.multicast == multicast:
                copy.move()
            else:
                kept.append(copy)
        self.writes = kept


def _with_number(copies: list[Copy], trid: int | None) -> tuple[list[Copy], list[Copy]]:
    """The copies with a transaction number, and the others; None: all."""
    if trid is None:
        return copies, []
    return (
        [copy for copy in copies if copy.trid == trid],
        [copy for copy in copies if copy.trid != trid],
    )


# --- Device ---------------------------------------------------------------------------------------

# --- Allocator ------------------------------------------------------------------------------------
# Addresses of buffers: the same in every bank of a memory.
#
# Buffers in DRAM are allocated from the bottom up, buffers in L1 from the top down, so that
# circular buffers can grow up from the first unreserved byte of L1. Each takes the first gap from
# its side. Addresses are multiples of the alignment of DRAM in both memories, for pages are copied
# between them. Source: tt-metal, tech_reports/memory/allocator.md; impl/allocator/bank_manager.cpp.


class Allocator:
    """The part of a bank that buffers may take, and which of it they have taken.

    Threads may share one. Python frees tensors whenever it collects garbage, also while the same
    thread allocates, so `free` never waits: what it cannot give back now, the next call does.
    """

    def __init__(self, name: str, start: int, end: int, alignment: int, *, top_down: bool) -> None:
        """All bytes from `start` on and before `end` are free."""
        self.name = name
        self.start = start
        self.end = end
        self.alignment = alignment
        self.top_down = top_down
        self._taken: dict[int, int] = {}
        """Address and size of what is taken, by address."""
        self._starts: list[int] = []
        """The addresses of what is taken, in order."""
        self._gaps = [(start, end)]
        """Start and end of what is free, in order."""
        self._freed: deque[int] = deque()
        """Addresses that were freed, but are still in the lists above."""
        self._lock = Lock()

    @property
    def taken(self) -> list[tuple[int, int]]:
        """Address and size of everything that is taken, in order."""
        with self._lock:
            self._free_all()
            return sorted(self._taken.items())

    @property
    def lowest(self) -> int:
        """The first byte that is taken; the end if none is."""
        with self._lock:
            self._free_all()
            return min(self._taken, default=self.end)

    @property
    def largest_gap(self) -> int:
        """Bytes per bank of the largest buffer for which there is room."""
        with self._lock:
            self._free_all()
            return self._largest_gap()

    def _largest_gap(self) -> int:
        return max((high - self._aligned(low) for low, high in self._gaps), default=0)

    def block_at(self, address: int) -> tuple[int, int] | None:
        """Start and end of what is taken there; None if nothing is."""
        with self._lock:
            self._free_all()
            index = bisect_right(self._starts, address) - 1
            if index < 0:
                return None
            start = self._starts[index]
            end = start + self._taken[start]
            return (start, end) if address < end else None

    def allocate(self, size: int, *, bottom_up: bool | None = None) -> int:
        """Take bytes of every bank; AllocationError if no gap is large enough.

        `bottom_up` says from which side, for buffers that do not go by their memory.
        """
        size = self._aligned(size)
        top_down = self.top_down if bottom_up is None else not bottom_up
        with self._lock:
            self._free_all()
            for low, high in reversed(self._gaps) if top_down else self._gaps:
                if high - self._aligned(low) >= size:
                    top = (high - size) // self.alignment * self.alignment
                    address = top if top_down else self._aligned(low)
                    self._take(address, size)
                    return address
            raise AllocationError(
                f"{size} bytes per bank do not fit into {self.name}: the largest gap has "
                f"{max(self._largest_gap(), 0)} of its {self.end - self.start} bytes; deallocate "
                "buffers or make them smaller",
                rule="out-of-memory",
                detail=self._map(),
            )

    def take(self, address: int, size: int, *, instead: bool = False) -> None:
        """Take bytes at a given address; AllocationError if others have them.

        `instead` gives back what the caller has there, so that no other thread takes it meanwhile.
        """
        with self._lock:
            self._free_all()
            if instead:
                self._free(address)
            end = address + size
            if not self.start <= address <= end <= self.end:
                raise AllocationError(
                    f"bytes {address:#x} to {end:#x} are outside of what buffers may take of "
                    f"{self.name}: {self.start:#x} to {self.end:#x}",
                    rule="out-of-memory",
                )
            for other, other_size in self._taken.items():
                if address < other + other_size and other < end:
                    raise AllocationError(
                        f"bytes {address:#x} to {end:#x} of {self.name} overlap the buffer at "
                        f"{other:#x}, which has {other_size} bytes",
                        rule="out-of-memory",
                        detail=self._map(),
                    )
            self._take(address, size)

    def free(self, address: int) -> None:
        """Give bytes back."""
        self._freed.append(address)
        if self._lock.acquire(blocking=False):
            try:
                self._free_all()
            finally:
                self._lock.release()

    def _free_all(self) -> None:
        while self._freed:
            self._free(self._freed.popleft())

    def _free(self, address: int) -> None:
        low, high = address, address + self._taken.pop(address)
        del self._starts[bisect_left(self._starts, address)]
        index = bisect(self._gaps, (low, high))
        if index < len(self._gaps) and self._gaps[index][0] == high:
            high = self._gaps.pop(index)[1]
        if index and self._gaps[index - 1][1] == low:
            index -= 1
            low = self._gaps.pop(index)[0]
        if high > low:
            self._gaps.insert(index, (low, high))

    def _aligned(self, number: int) -> int:
        return -(-number // self.alignment) * self.alignment

    def _take(self, address: int, size: int) -> None:
        """Take bytes of a gap, which is known to have them."""
        self._taken[address] = size
        insort(self._starts, address)
        index = bisect(self._gaps, (address, self.end)) - 1
        if index < 0 or size == 0:
            return
        low, high = self._gaps[index]
        rest = [(low, address), (address + size, high)]
        self._gaps[index : index + 1] = [gap for gap in rest if gap[0] < gap[1]]

    def map(self) -> tuple[str, ...]:
        """What is taken, a line each."""
        with self._lock:
            self._free_all()
            return self._map()

    def _map(self) -> tuple[str, ...]:
        return tuple(
            f"{self.name}: {address:#x} to {address + size:#x}, {size} bytes: buffer"
            for address, size in sorted(self._taken.items())
        )


# --- Device ---------------------------------------------------------------------------------------


class SimDevice:
    """One chip; what it holds survives from program to program.

    Devices know nothing of each other, unless they are chips of a cluster. `printed` collects
    the lines that kernels print; `print_line`, if given, also takes each as it is printed.
    """

    def __init__(
        self,
        chip: SimChip,
        options: SimOptions | None = None,
        *,
        device_id: int = 0,
        print_line: Callable[[str], None] | None = None,
    ) -> None:
        """A device whose memory nobody has written."""
        self.chip = chip
        self.options = options or SimOptions()
        self.device_id = device_id
        self.number: int | None = None
        """What messages name, where several run together."""
        self.watch = _sanitizer(chip, self.options)
        self.printed: list[str] = []
        self.warnings: dict[str, None] = {}
        """What compiling kernels had to say of them, each once, in order."""
        self._print_line = print_line
        self._cores: dict[tuple[int, int], Core] = {}
        self._ethernet_cores: dict[int, EthernetCore] = {}
        self._budget = MemoryBudget(memory_limit())
        self.network = Network(chip, self.core, self._budget, self.ethernet_core)
        self._allocators = {
            MemorySpace.DEVICE_DRAM: Allocator(
                "DRAM",
                chip.dram_unreserved_base,
                chip.dram_channel_size,
                chip.dram_alignment,
                top_down=False,
            ),
            MemorySpace.DEVICE_L1: Allocator(
                "L1", chip.l1_unreserved_base, chip.l1_size, chip.dram_alignment, top_down=True
            ),
        }
        self._watch_dram()

    def _watch_dram(self) -> None:
        if self.watch is not None:
            allocator = self.allocator(MemorySpace.DEVICE_DRAM)
            for channel in self.network.dram:
                self.watch.add(channel, self.chip.dram_unreserved_base, allocator)

    def join(self, first: SimDevice | None) -> None:
        """Be one of several chips that run together; none of its memory was used yet.

        It has the sanitizer of the `first` one that did.
        """
        self.number = self.device_id
        for channel in self.network.dram:
            channel.name = channel.memory.name = channel.name + of_device(self.number)
        if first is not None:
            self.watch = first.watch
            self._watch_dram()

    def core(self, x: int, y: int) -> Core:
        """The worker core at logical (x, y); SimError outside of the grid."""
        core = self._cores.get((x, y))
        if core is None:
            core = self._cores[x, y] = Core(self.chip, (x, y), self._budget, self.number)
            core.print_line = self._print
            if self.watch is not None:
                core.watch = self.watch
                allocator = self.allocator(MemorySpace.DEVICE_L1)
                self.watch.add(core, self.chip.l1_unreserved_base, allocator)
                self.watch.host_write(core.l1, MEM_ZEROS_BASE, MEM_ZEROS_SIZE)
        return core

    def ethernet_core(self, channel: int) -> EthernetCore:
        """The core of an Ethernet channel; SimError for one that the chip does not have."""
        core = self._ethernet_cores.get(channel)
        if core is None:
            core = EthernetCore(self.chip, (0, channel), self._budget, self.number)
            self._ethernet_cores[channel] = core
            core.print_line = self._print
            core.l1.write(core.sync_word(0), bytes(16 * ETHERNET_CHANNELS))
            if self.watch is not None:
                core.watch = self.watch
                self.watch.add(core, self.chip.ethernet_unreserved_base)
                self.watch.host_write(core.l1, MEM_ZEROS_BASE, MEM_ZEROS_SIZE)
        return core

    def cores(self) -> tuple[Core, ...]:
        """The worker cores that were named so far."""
        return tuple(self._cores.values())

    @property
    def dram(self) -> tuple[Memory, ...]:
        """The memory of each DRAM channel."""
        return tuple(endpoint.memory for endpoint in self.network.dram)

    def memories(self) -> tuple[Memory, ...]:
        """All memories that a program may have changed, those of Ethernet cores among them."""
        cores = (*self._cores.values(), *self._ethernet_cores.values())
        return (*self.dram, *(core.l1 for core in cores))

    def release(self) -> None:
        """Give the host's memory back, once nobody uses the device any more."""
        for memory in self.memories():
            memory.release()

    def allocator(self, space: MemorySpace) -> Allocator:
        """What gives out addresses in a memory."""
        return self._allocators[space]

    def _print(self, line: str) -> None:
        self.printed.append(line)
        if self._print_line is not None:
            self._print_line(line)


def _sanitizer(chip: SimChip, options: SimOptions) -> Sanitizer | None:
    if not options.sanitize:
        return None
    return Sanitizer(chip.arch, leniencies=options.leniencies, max_findings=options.max_findings)

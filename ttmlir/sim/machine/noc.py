"""The network on chip: addresses, the tiles that they name, and copies that are on their way.

An address is a 64-bit number: 36 bits of local address, then x and y with 6 bits each; that of a
rectangle holds the coordinates of its end there and above them those of its start
(tt-isa-documentation, WormholeB0/NoC/MemoryMap.md). Both networks number tiles alike, with the
translated coordinates that kernels use. Network 1 runs the other way, so the start of a rectangle
is its last corner there (WormholeB0/NoC/Coordinates.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ttmlir.sim.errors import SimError
from ttmlir.sim.machine.chip import Coordinate, SimChip
from ttmlir.sim.machine.core import Core, Endpoint
from ttmlir.sim.machine.memory import Memory, MemoryBudget

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
    ) -> None:
        """`core` gives the core at logical (x, y); DRAM takes its bytes from `budget`."""
        self.chip = chip
        channels = range(len(chip.dram))
        self.dram = tuple(_dram_channel(chip, channel, budget) for channel in channels)
        self._core = core
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

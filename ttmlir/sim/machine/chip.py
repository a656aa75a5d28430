"""A chip as the simulator sees it: what a system description and its generation say."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ttmlir.layout.enums import Arch
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.system.arch import ArchSpec, arch_spec
from ttmlir.layout.system.boards import board
from ttmlir.layout.system.chip import ChipDesc
from ttmlir.sim.errors import SimError

Coordinate = tuple[int, int]
"""(x, y), as TT-Metalium writes cores."""

MEM_ZEROS_BASE = 256
"""Where the bytes of L1 are that are always zero; here below everything else that is reserved."""

MEM_ZEROS_SIZE = 512
"""How many they are (tt-metal, dev_mem_map.h)."""

SEMAPHORES = 16
"""Semaphores of a core (tt-metal, NUM_SEMAPHORES)."""


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
    def num_dram_channels(self) -> int:
        """Channels, that is banks, of DRAM."""
        return len(self.dram)

    @property
    def dram_alignment(self) -> int:
        """What addresses and pages of buffers in DRAM are multiples of."""
        return max(self.dram_read_alignment, self.dram_write_alignment)

    def has_worker(self, logical: Coordinate) -> bool:
        """Whether logical (x, y) is in the grid of the workers."""
        return all(0 <= place < extent for place, extent in zip(logical, self.grid, strict=True))

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
            raise SimError(str(error)) from None
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

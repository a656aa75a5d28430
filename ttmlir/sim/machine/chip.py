"""Numbers of the chips that the simulator knows, each with its public source."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ttmlir.layout.boards import board
from ttmlir.layout.chip import ChipDesc
from ttmlir.layout.enums import Arch
from ttmlir.sim.errors import SimError

Coordinate = tuple[int, int]
"""(x, y), as TT-Metalium writes cores."""

L1_UNRESERVED_BASE = 91_392
"""The first byte of L1 that is neither firmware nor its buffers (tt-metal of 2024,
tt_metal/hw/inc/wormhole/dev_mem_map.h: the sum of the regions)."""

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
    arch: Arch
    clock_hz: int
    grid: Coordinate
    """Columns and rows of the worker cores."""
    workers: tuple[Coordinate, ...]
    """Coordinates on the network of the worker cores, row by row."""
    dram: tuple[Coordinate, ...]
    """Coordinates on the network of the DRAM channels, the endpoint that workers use."""
    noc_size: Coordinate
    """Columns and rows of the network."""
    l1_size: int
    l1_unreserved_base: int
    dram_channel_size: int
    dram_unreserved_base: int
    l1_alignment: int
    dram_read_alignment: int
    dram_write_alignment: int
    max_packet_size: int
    """Bytes that one packet of the network carries."""
    flit_size: int
    """Bytes that a link of the network moves in a cycle."""

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

    def noc_coordinate(self, logical: Coordinate) -> Coordinate:
        """Where on the network the worker at logical (x, y) is; SimError outside of the grid."""
        x, y = logical
        columns, rows = self.grid
        if not (0 <= x < columns and 0 <= y < rows):
            raise SimError(
                f"core ({x}, {y}) is outside of the {columns}x{rows} worker cores of {self.name}"
            )
        return self.workers[y * columns + x]

    @staticmethod
    def from_desc(desc: ChipDesc, name: str = "") -> SimChip:
        """The chip of a system description, as a .ttm file numbers its cores.

        The size of the network, its packets and flits come from the architecture: tt-metal,
        soc_descriptors; tt-isa-documentation, WormholeB0/NoC; tt-metal, noc_parameters.h;
        tech_reports/Blackhole/BlackholeBringUpProgrammingGuide.md.
        """
        rows, columns = desc.grid
        blackhole = desc.arch is Arch.BLACKHOLE
        return SimChip(
            name=name or desc.arch.keyword,
            arch=desc.arch,
            clock_hz=1_350_000_000 if blackhole else 1_000_000_000,
            grid=(columns, rows),
            workers=tuple((x, y) for y, x in desc.physical_cores.worker),
            dram=tuple((x, y) for y, x in desc.physical_cores.dram),
            noc_size=(17, 12) if blackhole else (10, 12),
            l1_size=desc.l1_size,
            l1_unreserved_base=desc.l1_unreserved_base,
            dram_channel_size=desc.dram_channel_size,
            dram_unreserved_base=desc.dram_unreserved_base,
            l1_alignment=desc.noc_l1_address_align_bytes,
            dram_read_alignment=desc.noc_dram_address_align_bytes,
            dram_write_alignment=16,
            max_packet_size=16384 if blackhole else 8192,
            flit_size=64 if blackhole else 32,
        )


def _of_board(name: str, chip_name: str) -> SimChip:
    chip = SimChip.from_desc(board(name).chip(0), chip_name)
    return replace(chip, l1_unreserved_base=L1_UNRESERVED_BASE)


def wormhole_n150() -> SimChip:
    """The Wormhole chip of an n150: 8x8 worker cores, 12 DRAM channels, 1 GHz."""
    return _of_board("n150", "wormhole_n150")


def wormhole_n300() -> SimChip:
    """One of the two Wormhole chips of an n300."""
    return _of_board("n300", "wormhole_n300")


def blackhole_p150() -> SimChip:
    """The Blackhole chip of a p150: 11x10 worker cores, 8 DRAM channels, 1.35 GHz."""
    return _of_board("p150", "blackhole_p150")

"""Generations of chips: the numbers that all boards of a generation share, with their sources.

Sources are files of tt-metal unless another one is named: soc_descriptors/wormhole_b0_80_arch.yaml
and blackhole_140_arch.yaml (positions of tiles, sizes), hw/inc/{wormhole,blackhole}/
noc_parameters.h (alignments, packets), hw/inc/{wormhole,blackhole}/dev_mem_map.h (L1), and
tech_reports/Blackhole/BlackholeBringUpProgrammingGuide.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from ttmlir.layout.enums import Arch
from ttmlir.layout.errors import LayoutError

Coord = tuple[int, int]
"""(y, x) of a core."""


@dataclass(frozen=True, kw_only=True)
class FirmwareMap:
    """What firmware takes at the beginning of L1, in bytes and in this order."""

    base: int
    """Boot code, mailboxes, zeros."""
    brisc_code: int
    trisc_code: int
    """Of each of the three."""
    brisc_data: int
    ncrisc_data: int
    trisc_data: int
    """Of each of the three: copies of local memory."""
    ncrisc_code: int

    @property
    def end(self) -> int:
        """The first byte behind it."""
        code = self.brisc_code + 3 * self.trisc_code + self.ncrisc_code
        return self.base + code + self.brisc_data + self.ncrisc_data + 3 * self.trisc_data


@dataclass(frozen=True, kw_only=True)
class ArchSpec:
    """One generation of chips; sizes and alignments in bytes, positions as (y, x)."""

    arch: Arch
    macro: str
    """Defined while kernels are compiled."""
    clock_hz: int
    noc_size: Coord
    """Rows and columns of the network."""
    max_packet_size: int
    """Bytes that one packet of the network carries."""
    l1_size: int
    firmware: FirmwareMap
    l1_alignment: int
    pcie_alignment: int
    dram_read_alignment: int
    dram_write_alignment: int
    dram_channel_size: int
    """At most what 32 bits can say."""
    dram: tuple[Coord, ...]
    """The endpoint of each channel that worker cores use."""
    ethernet: tuple[Coord, ...]
    """The tile of each Ethernet channel."""
    worker_rows: tuple[int, ...]
    worker_columns: tuple[int, ...]
    """Rows and columns of the network with worker cores, those included that a board fuses off."""


WORMHOLE = ArchSpec(
    arch=Arch.WORMHOLE_B0,
    macro="ARCH_WORMHOLE",
    clock_hz=1_000_000_000,  # tt-isa-documentation, WormholeB0/.../MatrixUnit.md
    noc_size=(12, 10),
    max_packet_size=8192,  # tt-isa-documentation, WormholeB0/NoC/README.md
    l1_size=1464 * 1024,
    firmware=FirmwareMap(
        base=1280,
        brisc_code=10 * 1024,
        trisc_code=16 * 1024,
        brisc_data=4 * 1024,
        ncrisc_data=4 * 1024,
        trisc_data=2 * 1024,
        ncrisc_code=16 * 1024,
    ),
    l1_alignment=16,
    pcie_alignment=32,
    dram_read_alignment=32,
    dram_write_alignment=16,
    dram_channel_size=1 << 30,
    dram=(
        *((11, 0), (1, 0), (5, 0), (7, 0)),
        *((1, 5), (11, 5), (2, 5), (9, 5), (8, 5), (3, 5), (5, 5), (7, 5)),
    ),
    ethernet=tuple((y, x) for y in (0, 6) for x in (9, 1, 8, 2, 7, 3, 6, 4)),
    worker_rows=(1, 2, 3, 4, 5, 7, 8, 9, 10, 11),
    worker_columns=(1, 2, 3, 4, 6, 7, 8, 9),
)

BLACKHOLE = ArchSpec(
    arch=Arch.BLACKHOLE,
    macro="ARCH_BLACKHOLE",
    clock_hz=1_350_000_000,
    noc_size=(12, 17),
    max_packet_size=16384,
    # The bring-up guide; tt-metal of 2026 has 1536 KiB. What fits here fits there.
    l1_size=1464 * 1024,
    # Derived, no source states it: the regions of Wormhole, with the local memories of Blackhole,
    # which are twice as large (tt-isa-documentation, BlackholeA0/TensixTile/BabyRISCV/README.md).
    # 105,728 bytes in all, a multiple of the alignment of DRAM, to which tt-metal rounds up.
    firmware=FirmwareMap(
        base=1280,
        brisc_code=10 * 1024,
        trisc_code=16 * 1024,
        brisc_data=8 * 1024,
        ncrisc_data=8 * 1024,
        trisc_data=4 * 1024,
        ncrisc_code=16 * 1024,
    ),
    l1_alignment=16,
    pcie_alignment=64,
    dram_read_alignment=64,
    dram_write_alignment=16,
    dram_channel_size=4278190080,
    dram=tuple((y, x) for x in (0, 9) for y in (0, 2, 9, 5)),
    ethernet=tuple((1, x) for x in (1, 16, 2, 15, 3, 14, 4, 13, 5, 12, 6, 11, 7, 10)),
    worker_rows=tuple(range(2, 12)),
    worker_columns=(1, 2, 3, 4, 5, 6, 7, *range(10, 17)),
)

_SPECS = {spec.arch: spec for spec in (WORMHOLE, BLACKHOLE)}


def arch_spec(arch: Arch) -> ArchSpec:
    """The numbers of a generation; LayoutError for one that is not modelled."""
    if arch not in _SPECS:
        known = " or ".join(each.keyword for each in _SPECS)
        raise LayoutError(f"there are no numbers for chips of {arch.keyword}; use {known}")
    return _SPECS[arch]

"""Boards by name: the systems that real cards make, each of them a row of data.

What the chips of a generation share stands in `ttmlir.layout.system.arch`. Which cores of a chip
are switched off differs from chip to chip; here it is the last ones. DRAM that is reserved for the
system is that of the default system.

Sources: tt-metal, core_descriptors/wormhole_b0_80_arch.yaml (compute grids) and
tech_reports/Blackhole/BlackholeBringUpProgrammingGuide.md; https://docs.tenstorrent.com/aibs (the
chips and memories of the cards).
"""

from __future__ import annotations

from dataclasses import dataclass

from ttmlir.layout.errors import LayoutError
from ttmlir.layout.system.arch import BLACKHOLE, WORMHOLE, ArchSpec
from ttmlir.layout.system.chip import (
    HOST_CONNECTED,
    ChipChannel,
    ChipCoord,
    ChipDesc,
    Coord,
    PhysicalCores,
    SystemDesc,
    default_system_desc,
)


@dataclass(frozen=True)
class Links:
    """Ethernet channels of two neighbours: each one here is linked to the one there."""

    here: tuple[int, ...]
    there: tuple[int, ...]


_WITHIN_CARD = Links((8, 9), (0, 1))
"""Between the two chips of an n300."""
_BETWEEN_CARDS = Links((14, 15), (6, 7))
"""Representative: which channels cables use depends on how the cards are put together."""


@dataclass(frozen=True, kw_only=True)
class Board:
    """A card or a system of cards: equal chips in a mesh, numbered row by row."""

    name: str
    arch: ArchSpec
    grid: Coord
    """Rows and columns of the cores that programs can use on each chip."""
    dram_channels: int
    mesh: Coord = (1, 1)
    on_host: Coord = (1, 1)
    """Extents of the part of the mesh, from its first chip on, that the host reaches."""
    right: Links = _BETWEEN_CARDS
    below: Links = _BETWEEN_CARDS


_BOARDS = (
    Board(name="n150", arch=WORMHOLE, grid=(8, 8), dram_channels=12),
    Board(
        name="n300", arch=WORMHOLE, grid=(8, 8), dram_channels=12, mesh=(1, 2), right=_WITHIN_CARD
    ),
    # Seven controllers where one is harvested (tt-npe, blackhole.hpp). Which one it is differs from
    # card to card; here it is the last. Since firmware 19.5 programs have 11x10 cores of a
    # Blackhole card (bring-up guide).
    Board(name="p100", arch=BLACKHOLE, grid=(10, 11), dram_channels=7),
    Board(name="p150", arch=BLACKHOLE, grid=(10, 11), dram_channels=8),
    Board(
        name="t3000",
        arch=WORMHOLE,
        grid=(8, 8),
        dram_channels=12,
        mesh=(2, 4),
        on_host=(1, 4),
        below=_WITHIN_CARD,
    ),
    Board(
        name="galaxy",
        arch=WORMHOLE,
        grid=(8, 8),
        dram_channels=12,
        mesh=(4, 8),
        on_host=(4, 8),
        right=Links((4, 5, 6, 7), (12, 13, 14, 15)),
        below=Links((0, 1, 2, 3), (8, 9, 10, 11)),
    ),
)
_DEFAULT = "default"
_BY_NAME = {board.name: board for board in _BOARDS}
BOARD_NAMES = (_DEFAULT, *_BY_NAME)
"""`default` (the assumed system), the cards n150, n300 (two chips), p100 and p150 (Blackhole), and
the systems t3000 (four n300) and galaxy (32 chips)."""


def board(name: str) -> SystemDesc:
    """The system with this name; LayoutError for other names."""
    if name == _DEFAULT:
        return default_system_desc()
    if name not in _BY_NAME:
        raise LayoutError(f"unknown board '{name}'; known are {', '.join(BOARD_NAMES)}")
    return _describe(_BY_NAME[name])


def _describe(board: Board) -> SystemDesc:
    rows, columns = board.mesh
    coords = [(row, column) for row in range(rows) for column in range(columns)]
    channels: list[ChipChannel] = []
    for chip, (row, column) in enumerate(coords):
        if column + 1 < columns:
            channels += _link(chip, chip + 1, board.right)
        if row + 1 < rows:
            channels += _link(chip, chip + columns, board.below)
    host_rows, host_columns = board.on_host
    return SystemDesc(
        chip_descs=tuple(
            _describe_chip(board, _active(chip, channels)) for chip in range(len(coords))
        ),
        chip_desc_indices=tuple(range(len(coords))),
        chip_capabilities=tuple(
            int(HOST_CONNECTED) if row < host_rows and column < host_columns else 0
            for row, column in coords
        ),
        chip_coords=tuple(ChipCoord(y=row, x=column) for row, column in coords),
        chip_channels=tuple(channels),
    )


def _describe_chip(board: Board, active_ethernet: frozenset[int]) -> ChipDesc:
    """A chip; `active_ethernet` are the channels with a link."""
    spec = board.arch
    rows, columns = board.grid
    return ChipDesc(
        arch=spec.arch,
        grid=board.grid,
        l1_size=spec.l1_size,
        num_dram_channels=board.dram_channels,
        dram_channel_size=spec.dram_channel_size,
        noc_l1_address_align_bytes=spec.l1_alignment,
        pcie_address_align_bytes=spec.pcie_alignment,
        noc_dram_address_align_bytes=max(spec.dram_read_alignment, spec.dram_write_alignment),
        l1_unreserved_base=spec.firmware.end,
        erisc_l1_unreserved_base=1024,
        dram_unreserved_base=1024,
        dram_unreserved_end=spec.dram_channel_size,
        physical_cores=PhysicalCores(
            worker=tuple(
                (y, x) for y in spec.worker_rows[:rows] for x in spec.worker_columns[:columns]
            ),
            dram=spec.dram[: board.dram_channels],
            eth=tuple(spec.ethernet[channel] for channel in sorted(active_ethernet)),
            eth_inactive=tuple(
                core for channel, core in enumerate(spec.ethernet) if channel not in active_ethernet
            ),
        ),
    )


def _link(chip: int, neighbour: int, links: Links) -> list[ChipChannel]:
    # The logical coordinate of an Ethernet core is (0, channel).
    return [
        ChipChannel(
            device_id0=chip,
            ethernet_core_coord0=(0, here),
            device_id1=neighbour,
            ethernet_core_coord1=(0, there),
        )
        for here, there in zip(links.here, links.there, strict=True)
    ]


def _active(chip: int, channels: list[ChipChannel]) -> frozenset[int]:
    ends = [(end.device_id0, end.ethernet_core_coord0) for end in channels]
    ends += [(end.device_id1, end.ethernet_core_coord1) for end in channels]
    return frozenset(channel for device, (_, channel) in ends if device == chip)

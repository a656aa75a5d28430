"""Boards by name: the systems that real cards make.

Which cores of a chip are switched off differs from chip to chip; the boards here have the last
rows switched off. L1 and DRAM reserved for the system are those of the default system.

Sources, all in tt-metal: soc_descriptors/wormhole_b0_80_arch.yaml and blackhole_140_arch.yaml
(positions of cores, sizes), core_descriptors/wormhole_b0_80_arch.yaml (compute grids), and
tech_reports/Blackhole/BlackholeBringUpProgrammingGuide.md (Blackhole's grid and alignments).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ttmlir.layout.chip import (
    HOST_CONNECTED,
    ChipChannel,
    ChipCoord,
    ChipDesc,
    PhysicalCores,
    SystemDesc,
    default_system_desc,
)
from ttmlir.layout.enums import Arch
from ttmlir.layout.errors import LayoutError


def _wormhole(active_ethernet: frozenset[int] = frozenset()) -> ChipDesc:
    """A Wormhole chip with 8x8 compute cores; `active_ethernet` are the channels with a link."""
    columns = (1, 2, 3, 4, 6, 7, 8, 9)
    rows = (1, 2, 3, 4, 5, 7, 8, 9)
    ethernet = tuple((y, x) for y in (0, 6) for x in (9, 1, 8, 2, 7, 3, 6, 4))
    (default,) = default_system_desc().chip_descs
    return replace(
        default,
        physical_cores=PhysicalCores(
            worker=tuple((y, x) for y in rows for x in columns),
            dram=(
                *((11, 0), (1, 0), (5, 0), (7, 0)),
                *((1, 5), (11, 5), (2, 5), (9, 5), (8, 5), (3, 5), (5, 5), (7, 5)),
            ),
            eth=tuple(ethernet[channel] for channel in sorted(active_ethernet)),
            eth_inactive=tuple(
                core for channel, core in enumerate(ethernet) if channel not in active_ethernet
            ),
        ),
    )


def _blackhole() -> ChipDesc:
    """A Blackhole chip with 10x11 compute cores."""
    columns = (1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13)
    return ChipDesc(
        arch=Arch.BLACKHOLE,
        grid=(10, 11),
        l1_size=1464 * 1024,
        num_dram_channels=8,
        dram_channel_size=4278190080,
        noc_l1_address_align_bytes=16,
        pcie_address_align_bytes=64,
        noc_dram_address_align_bytes=64,
        l1_unreserved_base=1024,
        erisc_l1_unreserved_base=1024,
        dram_unreserved_base=1024,
        dram_unreserved_end=4278190080,
        physical_cores=PhysicalCores(
            worker=tuple((y, x) for y in range(2, 12) for x in columns),
            dram=tuple((y, x) for x in (0, 9) for y in (0, 2, 9, 5)),
            eth_inactive=tuple((1, x) for x in (1, 16, 2, 15, 3, 14, 4, 13, 5, 12, 6, 11, 7, 10)),
        ),
    )


@dataclass(frozen=True)
class _Links:
    """Ethernet channels of two neighbours: each one here is linked to the one there."""

    here: tuple[int, ...]
    there: tuple[int, ...]


_WITHIN_CARD = _Links((8, 9), (0, 1))
"""Between the two chips of an n300."""
_BETWEEN_CARDS = _Links((14, 15), (6, 7))
"""Representative: which channels cables use depends on how the cards are put together."""


def _mesh(
    rows: int,
    columns: int,
    *,
    right: _Links = _BETWEEN_CARDS,
    below: _Links = _BETWEEN_CARDS,
    host_rows: int = 1,
    host_columns: int = 1,
) -> SystemDesc:
    """Wormhole chips in a mesh, numbered row by row; the host reaches the first of them."""
    coords = [(row, column) for row in range(rows) for column in range(columns)]
    channels: list[ChipChannel] = []
    for chip, (row, column) in enumerate(coords):
        if column + 1 < columns:
            channels += _channels(chip, chip + 1, right)
        if row + 1 < rows:
            channels += _channels(chip, chip + columns, below)
    return SystemDesc(
        chip_descs=tuple(_wormhole(_active(chip, channels)) for chip in range(len(coords))),
        chip_desc_indices=tuple(range(len(coords))),
        chip_capabilities=tuple(
            int(HOST_CONNECTED) if row < host_rows and column < host_columns else 0
            for row, column in coords
        ),
        chip_coords=tuple(ChipCoord(y=row, x=column) for row, column in coords),
        chip_channels=tuple(channels),
    )


def _channels(chip: int, neighbour: int, links: _Links) -> list[ChipChannel]:
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


def _p150() -> SystemDesc:
    return SystemDesc(
        chip_descs=(_blackhole(),),
        chip_desc_indices=(0,),
        chip_capabilities=(int(HOST_CONNECTED),),
    )


def _galaxy() -> SystemDesc:
    right = _Links((4, 5, 6, 7), (12, 13, 14, 15))
    below = _Links((0, 1, 2, 3), (8, 9, 10, 11))
    return _mesh(4, 8, right=right, below=below, host_rows=4, host_columns=8)


_BOARDS: dict[str, Callable[[], SystemDesc]] = {
    "default": default_system_desc,
    "n150": lambda: _mesh(1, 1),
    "n300": lambda: _mesh(1, 2, right=_WITHIN_CARD),
    "p150": _p150,
    "t3000": lambda: _mesh(2, 4, below=_WITHIN_CARD, host_columns=4),
    "galaxy": _galaxy,
}
BOARD_NAMES = tuple(_BOARDS)
"""`default` (the assumed system), the cards n150, n300 (two chips) and p150 (Blackhole), and the
systems t3000 (four n300) and galaxy (32 chips)."""


def board(name: str) -> SystemDesc:
    """The system with this name; LayoutError for other names."""
    if name not in _BOARDS:
        raise LayoutError(f"unknown board '{name}'; known are {', '.join(BOARD_NAMES)}")
    return _BOARDS[name]()

"""What Tenstorrent's compiler of 2026 says of boards, where that differs from `boards`.

Firmware of 2026 leaves programs another part of L1 and DRAM than that of 2024, and more columns of
cores of Blackhole. Banks of DRAM have workers near them, by the network that a kernel uses.
"""

from __future__ import annotations

from dataclasses import dataclass

from ttmlir.machine.figures import Coord, Figures, figure

_COMPILER = "jax-tt-plugin 0.1.3, #ttcore.system_desc of a card that its driver pretends to be"


@dataclass(frozen=True, kw_only=True)
class Board2026(Figures):
    """A card of one chip, as the compiler of 2026 describes it."""

    name: str
    arch: str
    grid: Coord
    """Rows and columns of the cores that programs can use."""
    coord_translation_offsets: Coord
    l1_size: int
    pcie_alignment: int
    dram_alignment: int
    l1_unreserved_base: int
    erisc_l1_unreserved_base: int
    dram_unreserved_base: int
    dram_unreserved_end: int
    dram_channel_size: int
    num_cbs: int
    dst_tiles: int
    dram_workers_noc0: tuple[Coord, ...]
    """(x, y) of the worker nearest to each bank."""
    dram_workers_noc1: tuple[Coord, ...]


_N150_WORKERS = figure(
    (
        *((7, 3), (0, 2), (3, 0), (4, 0), (2, 6), (7, 7)),
        *((0, 4), (6, 4), (5, 4), (1, 4), (3, 4), (4, 4)),
    ),
    _COMPILER,
)

BOARDS_2026 = (
    Board2026(
        name="n150",
        arch="wormhole_b0",
        grid=figure((8, 8), _COMPILER),
        coord_translation_offsets=figure((18, 18), _COMPILER),
        l1_size=figure(1499136, _COMPILER),
        pcie_alignment=figure(32, _COMPILER),
        dram_alignment=figure(32, _COMPILER),
        l1_unreserved_base=figure(105824, _COMPILER),
        erisc_l1_unreserved_base=figure(98304, _COMPILER),
        dram_unreserved_base=figure(1048640, _COMPILER),
        dram_unreserved_end=figure(1073106880, _COMPILER),
        dram_channel_size=figure(1073741824, _COMPILER),
        num_cbs=figure(64, _COMPILER),
        dst_tiles=figure(16, _COMPILER),
        dram_workers_noc0=_N150_WORKERS,
        dram_workers_noc1=_N150_WORKERS,
    ),
    Board2026(
        name="p150",
        arch="blackhole",
        grid=figure((10, 13), _COMPILER),
        coord_translation_offsets=figure((2, 1), _COMPILER),
        l1_size=figure(1572864, _COMPILER),
        pcie_alignment=figure(64, _COMPILER),
        dram_alignment=figure(64, _COMPILER),
        l1_unreserved_base=figure(177280, _COMPILER),
        erisc_l1_unreserved_base=figure(88896, _COMPILER),
        dram_unreserved_base=figure(1048704, _COMPILER),
        dram_unreserved_end=figure(4275087680, _COMPILER),
        dram_channel_size=figure(4278190080, _COMPILER),
        num_cbs=figure(64, _COMPILER),
        dst_tiles=figure(16, _COMPILER),
        dram_workers_noc0=figure(
            ((9, 0), (0, 0), (7, 0), (3, 0), (9, 7), (1, 7), (6, 7), (4, 7)), _COMPILER
        ),
        dram_workers_noc1=figure(
            ((0, 0), (8, 0), (2, 0), (5, 0), (0, 7), (8, 7), (2, 7), (5, 7)), _COMPILER
        ),
    ),
)
"""The cards n150 and p150."""

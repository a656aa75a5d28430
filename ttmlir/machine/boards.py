"""Boards: the cards and systems that are sold, each a row of data.

Which cores of a chip are switched off differs from chip to chip; here it is the last ones.
"""

from __future__ import annotations

from dataclasses import dataclass

from ttmlir.machine.blackhole import BLACKHOLE
from ttmlir.machine.figures import Coord, Figures, Generation, figure
from ttmlir.machine.wormhole import WORMHOLE


@dataclass(frozen=True)
class Links:
    """Ethernet channels of two neighbours: each one here is linked to the one there."""

    here: tuple[int, ...]
    there: tuple[int, ...]

    @property
    def reversed(self) -> Links:
        """The same links, seen from the other chip."""
        return Links(self.there, self.here)


_ONE_CHIP = figure((1, 1), "that with PCIe")
_BETWEEN_CARDS = figure(
    Links((14, 15), (6, 7)),
    "representative: which channels cables use depends on how the cards are put together",
)


@dataclass(frozen=True, kw_only=True)
class Board(Figures):
    """A card or a system of cards: equal chips in a mesh, numbered row by row."""

    name: str
    generation: Generation
    grid: Coord
    """Rows and columns of the cores that programs can use on each chip."""
    dram_channels: int
    mesh: Coord = _ONE_CHIP
    on_host: Coord = _ONE_CHIP
    """Extents of the part of the mesh, from its first chip on, that the host reaches."""
    right: Links = _BETWEEN_CARDS
    below: Links = _BETWEEN_CARDS
    is_torus: bool = figure(False, "tt-metal, mesh graph descriptors: lines")
    """Whether links lead from the last chip of a row or a column to its first one."""


_CARDS = "https://docs.tenstorrent.com/aibs"
_WORKERS = "tt-metal, core_descriptors/wormhole_b0_80_arch.yaml"
_GUIDE = (
    "tt-metal, tech_reports/Blackhole/BlackholeBringUpProgrammingGuide.md: since firmware 19.5 "
    "programs have 11x10 cores"
)
_WITHIN_CARD = figure(
    Links((8, 9), (0, 1)), "representative: the two chips of an n300 have two links"
)
_BETWEEN_P150 = figure(
    Links((9, 11), (4, 6)),
    "representative: tt-mlir of 2026 without cards; p150 have up to four links of QSFP-DD cables",
)
_BELOW_P150 = figure(Links((8, 10), (5, 7)), "representative, as for cables")

BOARDS = (
    Board(
        name="n150",
        generation=WORMHOLE,
        grid=figure((8, 8), _WORKERS),
        dram_channels=figure(12, _CARDS),
    ),
    Board(
        name="n300",
        generation=WORMHOLE,
        grid=figure((8, 8), _WORKERS),
        dram_channels=figure(12, _CARDS),
        mesh=figure((1, 2), _CARDS),
        right=_WITHIN_CARD,
    ),
    Board(
        name="p100",
        generation=BLACKHOLE,
        grid=figure((10, 11), _GUIDE),
        dram_channels=figure(
            7,
            "tt-npe, blackhole.hpp: seven controllers where one is harvested. Which one it is "
            "differs from card to card; here it is the last",
        ),
    ),
    Board(
        name="p150",
        generation=BLACKHOLE,
        grid=figure((10, 11), _GUIDE),
        dram_channels=figure(8, _CARDS),
    ),
    Board(
        name="p300",
        generation=BLACKHOLE,
        grid=figure((10, 11), _GUIDE),
        dram_channels=figure(8, _CARDS),
        mesh=figure((1, 2), _CARDS),
        right=figure(
            Links((2, 3), (9, 8)), "tt-metal, mock cluster descriptors: representative, two links"
        ),
    ),
    *(
        Board(
            name=f"p150x{rows * columns}",
            generation=BLACKHOLE,
            grid=figure((10, 11), _GUIDE),
            dram_channels=figure(8, _CARDS),
            mesh=figure((rows, columns), "tt-metal, mesh graph descriptors"),
            on_host=figure((rows, columns), "each card has PCIe"),
            right=_BETWEEN_P150,
            below=_BELOW_P150,
        )
        for rows, columns in ((1, 2), (2, 2), (2, 4))
    ),
    Board(
        name="t3000",
        generation=WORMHOLE,
        grid=figure((8, 8), _WORKERS),
        dram_channels=figure(12, _CARDS),
        mesh=figure((2, 4), _CARDS),
        on_host=figure((1, 4), "four n300, whose left chips have PCIe"),
        below=_WITHIN_CARD,
    ),
    Board(
        name="galaxy",
        generation=WORMHOLE,
        grid=figure((8, 8), _WORKERS),
        dram_channels=figure(12, _CARDS),
        mesh=figure((4, 8), _CARDS),
        on_host=figure((4, 8), _CARDS),
        right=figure(Links((4, 5, 6, 7), (12, 13, 14, 15)), "representative, as for cables"),
        below=figure(Links((0, 1, 2, 3), (8, 9, 10, 11)), "representative, as for cables"),
        is_torus=figure(True, "tt-metal, mesh graph descriptors: 256 links, rings on both axes"),
    ),
)
"""The cards n150, n300 (two chips), p100, p150 and p300 (two chips), two, four and eight p150, and
the systems t3000 and galaxy (32 chips)."""

"""How many tiles of DST a generic has at a time: what passes plan with, and kernels keep to.

A kernel has one width of DST for all that it computes: 32 bits where any of its tiles has numbers
of 32 bits, such as a long sum. Half as many tiles fit then.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Attribute

from ttmlir.dialects import d2m
from ttmlir.dialects.tt.layout import element_of
from ttmlir.layout.metal import DST_TILES, WIDE_BYTES, dst_capacity
from ttmlir.passes.d2m.dst.select import tiles_in


def tiles_at_once(tiles: Iterable[Attribute], dst_tiles: int) -> int:
    """Tiles of DST that a kernel has which computes on these types of tiles.

    `dst_tiles` are those of the whole of DST, for numbers of 16 bits; 0 stands for the chip's.
    LayoutError if nothing is left.
    """
    return dst_capacity(map(element_of, tiles), physical_tiles=dst_tiles or DST_TILES)


def capacity_of(generic: d2m.GenericOp, dst_tiles: int) -> int:
    """Tiles of DST that the kernel of a generic has."""
    return tiles_at_once(tiles_in(generic), dst_tiles)


def is_wide(generic: d2m.GenericOp) -> bool:
    """True if DST holds 32-bit numbers while the region of a generic computes."""
    return any(element_of(tile).scalar.size_bytes >= WIDE_BYTES for tile in tiles_in(generic))

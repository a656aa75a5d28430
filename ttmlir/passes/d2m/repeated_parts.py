"""What of the tiles of an input is needed where loops only repeat a part of them.

The vector that is added to each row of a matrix has one row in its tiles, which `d2m.tile_bcast`
repeats. Nothing else of them has to be read.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.linalg import GenericOp as LinalgGenericOp
from ttmlir.dialects.tt.layout import element_of
from ttmlir.layout.data_format import TileFormat, is_block_float, repeated_bytes

Parts = tuple[tuple[int, int], ...]
"""The first byte of each part of a tile, and how many bytes."""


def repeated_parts(generic: d2m.GenericOp, number: int) -> Parts:
    """The parts of the tiles of an input that its loops read; none if they read all."""
    cb = generic.compute_region.block.args[number]
    kinds: set[d2m.BroadcastKind] = set()
    for use in cb.uses:
        if not isinstance(use.operation, d2m.WaitOp):
            return ()
        for reader in use.operation.results[0].uses:
            loops = reader.operation
            if not isinstance(loops, LinalgGenericOp):
                return ()
            for each in loops.body.block.args[reader.index].uses:
                if not isinstance(each.operation, d2m.TileBcastOp):
                    return ()
                kinds.add(each.operation.kind)
    tile = _tile_of(generic.operands[number])
    if len(kinds) != 1 or tile is None:
        return ()
    (kind,) = kinds
    return repeated_bytes(kind.keyword, tile.size_bytes // (32 * 32))


def read_bytes(generic: d2m.GenericOp, number: int) -> int | None:
    """Bytes of each tile of an input that are read, if those are not all."""
    return sum(size for _, size in repeated_parts(generic, number)) or None


def _tile_of(value: SSAValue) -> TileFormat | None:
    """The tiles of an operand, if each number in them is a whole number of bytes."""
    element = element_of(cast("MemRefType[Attribute]", value.type).element_type)
    if not isinstance(element, TileFormat) or is_block_float(element.data_type):
        return None
    return element if (element.height, element.width) == (32, 32) else None

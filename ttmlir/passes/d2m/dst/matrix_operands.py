"""Values of a body that the matrix unit had better take from circular buffers.

The matrix unit adds, subtracts or multiplies a tile of DST with one of a circular buffer, in a
sixth of the time that the vector unit takes for two tiles of DST, or a tile and a number. In a long
body that pays for another circular buffer: of a value that is used again and again, as the argument
of gelu, and of a constant.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from ml_dtypes import bfloat16
from xdsl.dialects.linalg.ops import GenericOp as UpstreamLoops
from xdsl.ir import BlockArgument, Operation, SSAValue

from ttmlir.dialects import d2m
from ttmlir.layout.affine import DimExpr
from ttmlir.passes.d2m.dst.select import scalar_of_tile

LEAST_SAVED = 400
"""Cycles of a tile for which a body gets circular buffers: about the loops that fill them."""
_WITH_TILE, _WITH_NUMBER = 138, 106
"""Cycles saved where the vector unit would take 160 and 128, and the matrix unit takes 22."""
_NAMES = ("d2m.tile_add", "d2m.tile_sub", "d2m.tile_mul")


def is_long(loops: UpstreamLoops, generic: d2m.GenericOp) -> bool:
    """True if a body is so long that it should get circular buffers.

    Those of a stage that writes an output block by block are as small as its blocks.
    """
    target = loops.outputs[0]
    if not isinstance(target.owner, d2m.ReserveOp) or loops.body.block.args[-1].uses:
        return False
    cb = cast("BlockArgument[d2m.CBType]", target.owner.operands[0])
    is_divided = all(
        extent == 1 or isinstance(result, DimExpr)
        for extent, result in zip(
            cb.type.shape, generic.indexing_maps[cb.index].results, strict=True
        )
    )
    return is_divided and sum(matrix_operands(loops).values()) >= LEAST_SAVED


def matrix_operands(loops: UpstreamLoops) -> dict[SSAValue, int]:
    """Values that could be in circular buffers, with the cycles that this would save."""
    uses: dict[SSAValue, int] = {}
    numbers: dict[SSAValue, int] = {}
    for op in loops.body.block.ops:
        if op.name not in _NAMES or not _is_short(op):
            continue
        for value in dict.fromkeys(op.operands):
            others = [each for each in op.operands if each is not value] or [value]
            if not all(isinstance(each.owner, d2m.ElementwiseTileOp) for each in others):
                continue
            if isinstance(value.owner, d2m.TileFillOp):
                if _is_exact(value.owner.number):
                    numbers[value] = numbers.get(value, 0) + _WITH_NUMBER
            elif isinstance(value.owner, d2m.ElementwiseTileOp):
                uses[value] = uses.get(value, 0) + _WITH_TILE
    return {value: saved for value, saved in uses.items() if saved > _WITH_TILE} | numbers


def _is_short(op: Operation) -> bool:
    return all(scalar_of_tile(each.type).keyword == "bf16" for each in (*op.operands, *op.results))


def _is_exact(number: float) -> bool:
    return float(np.float32(number).astype(bfloat16)) == number

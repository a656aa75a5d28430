"""What readers gather from within tiles, element by element (`d2m.view_elements`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from xdsl.ir import SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.ttcore import device_layout_of
from ttmlir.layout.affine import AffineMap
from ttmlir.layout.metal.index_view import TILE
from ttmlir.runtime.element import Array

ValueOf = Callable[[SSAValue], Array | None]
"""The numbers of a buffer in memory, in rows and with their padding; None if nobody knows them."""


def gathered_elements(gather: d2m.Gather, value_of: ValueOf) -> Array | None:
    """The elements of a view without its padding; None for views of views of elements."""
    points: Sequence[Any] = np.indices(gather.shape, sparse=True)
    if isinstance(gather, d2m.ViewNumberedOp):
        numbers = _elements_at(gather.numbers, gather.places, points, gather.shape, value_of)
        if numbers is None:
            return None
        named = np.clip(numbers.astype(np.int64), 0, gather.count - 1)
        points = (*points, named)
    return _elements_at(gather.input, gather.map, points, gather.shape, value_of)


def _elements_at(
    value: SSAValue,
    index_map: AffineMap,
    points: Sequence[Any],
    shape: Sequence[int],
    value_of: ValueOf,
) -> Array | None:
    """The elements of a view of whole tiles that a map leads to from points of a shape."""
    buffer, view = d2m.buffer_of_view(value)
    numbers = None if isinstance(buffer.owner, d2m.Gather) else value_of(buffer)
    memory = device_layout_of(buffer.type)
    if numbers is None or memory is None:
        return None
    *outer, row, column = np.broadcast_arrays(*index_map.eval(points), np.zeros(shape, np.int8))[
        :-1
    ]
    tile = (*outer, row // TILE, column // TILE)
    point = cast("Sequence[Any]", (*(0,) * len(tile), *tile))
    place = view.eval(point)
    rank = len(memory.shard_shape)
    *outer, tile_row, tile_column = (
        block * extent + inner
        for block, extent, inner in zip(place[:rank], memory.shard_shape, place[rank:], strict=True)
    )
    return numbers[(*outer, tile_row * TILE + row % TILE, tile_column * TILE + column % TILE)]

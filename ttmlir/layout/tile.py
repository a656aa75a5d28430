"""Tiles: from rows of numbers to tiles in memory order and back.

A tile is stored as faces of 16x16, left to right and then down, each face row by row. In a tile of
32x32, the number in row i and column j has the index

    (2 * (i div 16) + j div 16) * 256 + (i mod 16) * 16 + j mod 16

Smaller tiles have smaller faces: 4x32 has two faces of 4x16. Source: tt-metal,
tech_reports/tensor_layouts/tensor_layouts.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ttmlir.layout.element_type import DEFAULT_TILE_SHAPE
from ttmlir.layout.errors import LayoutError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[Any]

FACE = 16
"""Largest height and width of a face."""


def face_shape(tile_shape: tuple[int, int]) -> tuple[int, int]:
    """Height and width of the faces of a tile; LayoutError if faces do not fill it."""
    height, width = tile_shape
    face = min(height, FACE), min(width, FACE)
    if min(tile_shape) < 1 or height % face[0] or width % face[1]:
        raise LayoutError(
            f"a tile of {height}x{width} is not made of faces: its extents are below {FACE} or "
            f"multiples of {FACE}"
        )
    return face


def element_index(row: int, column: int, tile_shape: tuple[int, int] = DEFAULT_TILE_SHAPE) -> int:
    """Where the number in this row and column of a tile is in memory."""
    height, width = face_shape(tile_shape)
    face = (row // height) * (tile_shape[1] // width) + column // width
    return face * height * width + (row % height) * width + column % width


def repeated_bytes(part: str, element_bytes: int) -> tuple[tuple[int, int], ...]:
    """Where in a tile of 32x32 the numbers are that a broadcast of a part of it repeats.

    `part` is row, col or scalar. Pairs of the first byte and how many: those of the first row, the
    faces with the first column, or the first row of a face, in which the first number is.
    """
    row, face = FACE * element_bytes, FACE * FACE * element_bytes
    match part:
        case "row":
            return (0, row), (face, row)
        case "col":
            return (0, face), (2 * face, face)
        case _:
            return ((0, row),)


def padded_shape(
    shape: Sequence[int], tile_shape: tuple[int, int] = DEFAULT_TILE_SHAPE
) -> tuple[int, ...]:
    """The shape filled up to whole tiles; shapes of rank below 2 become rows."""
    *outer, rows, columns = (1,) * (2 - len(shape)) + tuple(shape)
    height, width = tile_shape
    return (*outer, -(-rows // height) * height, -(-columns // width) * width)


def pad_to_tiles(
    values: ArrayLike, tile_shape: tuple[int, int] = DEFAULT_TILE_SHAPE, fill: float = 0
) -> Array:
    """The array filled up to whole tiles in its last two dimensions."""
    import numpy as np

    array = np.asarray(values)
    array = array.reshape((1,) * (2 - array.ndim) + array.shape)
    target = padded_shape(array.shape, tile_shape)
    widths = [(0, to - extent) for extent, to in zip(array.shape, target, strict=True)]
    return np.pad(array, widths, constant_values=fill) if target != array.shape else array


def tilize(
    values: ArrayLike, tile_shape: tuple[int, int] = DEFAULT_TILE_SHAPE, fill: float = 0
) -> Array:
    """The tiles of an array, padded with `fill`.

    The result has the dimensions (outer ..., tile rows, tile columns, numbers of a tile in memory
    order).
    """
    array = pad_to_tiles(values, tile_shape, fill)
    height, width = tile_shape
    face_height, face_width = face_shape(tile_shape)
    *outer, rows, columns = array.shape
    split = array.reshape(
        *outer,
        rows // height,
        height // face_height,
        face_height,
        columns // width,
        width // face_width,
        face_width,
    )
    # From (tile row, face row, row, tile column, face column, column) within the last six.
    first = len(outer)
    order = [*range(first), *(first + axis for axis in (0, 3, 1, 4, 2, 5))]
    tiles = split.transpose(order)
    return tiles.reshape(*outer, rows // height, columns // width, height * width)


def untilize(
    tiles: ArrayLike, shape: Sequence[int], tile_shape: tuple[int, int] = DEFAULT_TILE_SHAPE
) -> Array:
    """The array of this shape whose tiles these are, without padding; inverse of `tilize`."""
    import numpy as np

    array = np.asarray(tiles)
    height, width = tile_shape
    face_height, face_width = face_shape(tile_shape)
    *outer, rows, columns = padded_shape(shape, tile_shape)
    expected = (*outer, rows // height, columns // width, height * width)
    if array.shape != expected:
        raise LayoutError(
            f"tiles of {height}x{width} of an array of shape {tuple(shape)} have the shape "
            f"{expected}, got {array.shape}"
        )
    faces = array.reshape(
        *outer,
        rows // height,
        columns // width,
        height // face_height,
        width // face_width,
        face_height,
        face_width,
    )
    first = len(outer)
    order = [*range(first), *(first + axis for axis in (0, 2, 4, 1, 3, 5))]
    padded = faces.transpose(order).reshape(*outer, rows, columns)
    kept_rows, kept_columns = ((1,) * (2 - len(shape)) + tuple(shape))[-2:]
    return padded[..., :kept_rows, :kept_columns].reshape(tuple(shape))

"""Matrices as the bytes of tiles that a device works on, and back, and whether they are right."""

from __future__ import annotations

import math

import numpy as np
from matrix_options import TILE, MatrixOptions, tiles_of
from numpy.typing import NDArray

from ttmlir.metalium import DataFormat, MathFidelity, pack_tiles, tile_size, unpack_tiles

Matrix = NDArray[np.float32]

_STORAGE_ERROR = {
    DataFormat.Float16_b: 2**-9,
    DataFormat.Bfp8_b: 2**-6,
    DataFormat.Bfp4_b: 2**-3,
}
"""Of a number against the typical size of its neighbours: half of the last of 8 bits; in block
floats, half of the last of 7 or 3 bits of the largest of 16 numbers, which is a few times as
large."""

_FIDELITY_ERROR = {
    MathFidelity.LOFI: 2**-4,
    MathFidelity.HIFI2: 2**-6,
    MathFidelity.HIFI3: 2**-9,
    MathFidelity.HIFI4: 0.0,
}
"""Of a product: the bits of A beyond 7 and of B beyond 5 that are left out."""


def random_matrix(rows: int, columns: int, seed: int) -> Matrix:
    """Numbers around 0."""
    return np.random.default_rng(seed).standard_normal((rows, columns)).astype(np.float32)


def to_tiles(matrix: Matrix, data_format: DataFormat, rows: int = 0, columns: int = 0) -> bytes:
    """The tiles of a matrix row by row, filled up with zeros to at least so many tiles."""
    height, width = (
        TILE * max(tiles_of(n), least)
        for n, least in zip(matrix.shape, (rows, columns), strict=True)
    )
    filled = np.zeros((height, width), np.float32)
    filled[: matrix.shape[0], : matrix.shape[1]] = matrix
    return pack_tiles(filled, data_format)


def from_tiles(
    data: NDArray[np.uint8], data_format: DataFormat, shape: tuple[int, int], columns: int = 0
) -> Matrix:
    """The matrix of a shape whose tiles these are, with what filled them up left out.

    A row of tiles has as many as the matrix needs, or `columns`.
    """
    width = max(tiles_of(shape[1]), columns)
    height = data.size // tile_size(data_format) // width
    filled = unpack_tiles(data, data_format, TILE * height, TILE * width)
    return filled[: shape[0], : shape[1]]


def stored(matrix: Matrix, data_format: DataFormat) -> NDArray[np.float64]:
    """The numbers that are left of a matrix in a format."""
    data = np.frombuffer(to_tiles(matrix, data_format), np.uint8)
    return from_tiles(data, data_format, matrix.shape).astype(np.float64)


def tolerance(options: MatrixOptions, additions: int = 0) -> float:
    """How much of its norm a result may be off.

    The result is rounded when it is stored, and so are sums that wait for the next block along K.
    With the rounding of the chip, products lose bits as the fidelity says, and each of the
    `additions` of DST rounds to 8 bits. Rounding errors add up like steps in random directions.
    """
    error = 2 * _STORAGE_ERROR[options.data_format]
    if options.numerics == "exact":
        return error + 2**-9 * math.sqrt(additions)
    return error + _FIDELITY_ERROR[options.fidelity] + 2**-8 * math.sqrt(additions)


def additions_of(options: MatrixOptions) -> int:
    """How often a number of C is added to and rounded.

    In DST 16 products at a time, in every fidelity phase; without the rounding of the chip, only
    where a block along K ends, which is at least a tile long.
    """
    if options.numerics == "exact":
        return tiles_of(options.k) - 1
    return -(-options.k // 16) * max(int(options.fidelity), 1)


def check(result: Matrix, expected: NDArray[np.float64], allowed: float) -> tuple[bool, str]:
    """Whether a result is right, and by how much: correlation (PCC) and relative error.

    An error e that is at random leaves a correlation of 1 - e^2 / 2.
    """
    error = float(np.linalg.norm(result - expected) / np.linalg.norm(expected))
    correlation = float(np.corrcoef(result.ravel(), expected.ravel())[0, 1])
    passed = error <= allowed and correlation >= min(0.99, 1 - allowed**2 / 2)
    verdict = "agrees" if passed else "DISAGREES"
    return passed, (
        f"{verdict} with NumPy: PCC {correlation:.6f}, relative error {error:.2e} "
        f"(at most {allowed:.2e})"
    )

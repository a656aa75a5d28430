"""Compute kernels on one core: what arrives in the output's circular buffer.

Expected values come from NumPy and ml_dtypes; inputs are chosen so that they are exact in the
format, or tolerances follow from the format's bits.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from compute_core import Call, ComputeCore, call
from numpy.typing import NDArray

from ttmlir.layout.data_format import pack_block_float, unpack_block_float
from ttmlir.layout.enums import DataType
from ttmlir.layout.tile import tilize, untilize
from ttmlir.sim.compute_api import ComputeSettings
from ttmlir.sim.options import Numerics, SimOptions

Array = NDArray[Any]

DTYPES: dict[DataType, Any] = {
    DataType.F32: np.float32,
    DataType.BF16: ml_dtypes.bfloat16,
    DataType.F16: np.float16,
    DataType.U32: np.uint32,
    DataType.U16: np.uint16,
    DataType.U8: np.uint8,
}
BOTH: list[Numerics] = ["device", "exact"]


def packed(tile: Array, data_type: DataType = DataType.BF16) -> bytes:
    """The bytes of a 32x32 tile."""
    faces = tilize(tile).reshape(-1)
    if data_type in DTYPES:
        return faces.astype(DTYPES[data_type]).tobytes()
    return pack_block_float(faces[None], data_type)


def unpacked(data: Array, data_type: DataType = DataType.BF16) -> Array:
    """The tiles in bytes, as float64 or integers, (n, 32, 32)."""
    if data_type in DTYPES:
        faces = data.view(DTYPES[data_type]).reshape(-1, 1024)
        faces = faces.astype(np.float64) if data_type not in INTEGERS else faces
    else:
        faces = unpack_block_float(data.tobytes(), data_type).astype(np.float64)
    return np.stack([untilize(each.reshape(1, 1, 1024), (32, 32)) for each in faces])


INTEGERS = (DataType.U32, DataType.U16, DataType.U8)


def eighths(seed: int, limit: int = 64) -> Array:
    """Numbers that bfloat16 and all wider formats hold exactly: multiples of 1/8 below 8."""
    rng = np.random.default_rng(seed)
    return (rng.integers(-limit + 1, limit, (32, 32)) / 8).astype(np.float32)


def core_of(
    *inputs: tuple[Array, DataType],
    out: DataType = DataType.BF16,
    out_pages: int = 1,
    numerics: Numerics = "device",
    timed: bool = True,
    watch: Any = None,
    **settings: Any,
) -> ComputeCore:
    """A core with a tile in each of the circular buffers 0, 1 ... and an empty one, 16."""
    core = ComputeCore(
        ComputeSettings(**settings), SimOptions(numerics=numerics, timed=timed), watch
    )
    for index, (tile, data_type) in enumerate(inputs):
        tiles = tile[None] if tile.ndim == 2 else tile
        core.filled(index, data_type, [packed(each, data_type) for each in tiles])
    core.buffer(16, out, out_pages)
    return core


def result(core: ComputeCore, *calls: Call) -> Array:
    """What one section of DST leaves in buffer 16, its first tile."""
    body = [
        call("tile_regs_acquire"),
        *calls,
        call("tile_regs_commit"),
        call("tile_regs_wait"),
        call("pack_tile", 0, 16, 0),
        call("tile_regs_release"),
    ]
    core.run(body)
    return unpacked(core.bytes_of(16), core.core.cbs[16].data_format)[0]


BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply}


@pytest.mark.parametrize("numerics", BOTH)
@pytest.mark.parametrize("operation", BINARY)
@pytest.mark.parametrize("data_type", [DataType.BF16, DataType.F16, DataType.F32])
def test_elementwise_operations_of_the_matrix_unit(
    operation: str, data_type: DataType, numerics: Numerics
) -> None:
    """in0 (op) in1, exactly: sums and products of small multiples of 1/8 fit all formats."""
    x, y = eighths(1, 8), eighths(2, 8)
    core = core_of((x, data_type), (y, data_type), out=data_type, numerics=numerics)
    got = result(
        core,
        call("binary_op_init_common", 0, 1, 16),
        call(f"{operation}_tiles_init", 0, 1),
        call("cb_wait_front", 0, 1),
        call("cb_wait_front", 1, 1),
        call(f"{operation}_tiles", 0, 1, 0, 0, 0),
        call("cb_pop_front", 0, 1),
        call("cb_pop_front", 1, 1),
    )
    np.testing.assert_array_equal(got, BINARY[operation](x, y))


@pytest.mark.parametrize("numerics", BOTH)
@pytest.mark.parametrize("operation", BINARY)
@pytest.mark.parametrize(("part", "number"), [("rows", 2), ("cols", 1), ("scalar", 3)])
def test_broadcasts(operation: str, part: str, number: int, numerics: Numerics) -> None:
    """Row 0, column 0 or the first number of in1, under both names of the call."""
    x, y = eighths(1, 8), eighths(2, 8)
    spread = {"rows": y[:1], "cols": y[:, :1], "scalar": y[:1, :1]}[part]
    expected = BINARY[operation](x, spread)
    kind = {"add": 2, "sub": 3, "mul": 0}[operation]
    for init, name in (
        (
            call("init_bcast", 0, 1, 16, template=(kind, number)),
            call(f"{operation}_tiles_bcast", 0, 1, 0, 0, 0, template=(number,)),
        ),
        (
            call("init_bcast", 0, 1, 16, template=(kind, number)),
            call(f"{operation}_tiles_bcast_{part}", 0, 1, 0, 0, 0),
        ),
    ):
        core = core_of((x, DataType.BF16), (y, DataType.BF16), numerics=numerics)
        np.testing.assert_array_equal(result(core, init, name), expected)


@pytest.mark.parametrize("numerics", BOTH)
def test_matrix_product_accumulates_over_tiles(numerics: Numerics) -> None:
    """Two products onto the same tile; small integers stay exact in bfloat16's 8 bits."""
    rng = np.random.default_rng(3)
    a = rng.integers(-1, 2, (2, 32, 32)).astype(np.float32)
    b = rng.integers(-1, 2, (2, 32, 32)).astype(np.float32)
    core = core_of((a, DataType.BF16), (b, DataType.BF16), numerics=numerics)
    got = result(
        core,
        call("mm_init", 0, 1, 16),
        call("matmul_tiles", 0, 1, 0, 0, 0),
        call("matmul_tiles", 0, 1, 1, 1, 0),
    )
    np.testing.assert_array_equal(got, a[0] @ b[0] + a[1] @ b[1])


@pytest.mark.parametrize("numerics", BOTH)
@pytest.mark.parametrize("fp32", [False, True])
def test_matrix_product_with_a_transposed_factor(numerics: Numerics, fp32: bool) -> None:
    """`transpose` turns the tiles of in1."""
    rng = np.random.default_rng(3)
    a = rng.integers(-1, 2, (32, 32)).astype(np.float32)
    b = rng.integers(-1, 2, (32, 32)).astype(np.float32)
    core = core_of((a, DataType.BF16), (b, DataType.BF16), numerics=numerics, fp32_dest_acc_en=fp32)
    got = result(core, call("mm_init", 0, 1, 16, 1), call("matmul_tiles", 0, 1, 0, 0, 0))
    np.testing.assert_array_equal(got, a @ b.T)


@pytest.mark.parametrize("numerics", BOTH)
def test_matrix_product_of_blocks(numerics: Numerics) -> None:
    """2 rows of 3 tiles: in0 steps by kt_dim, in1 by one."""
    rng = np.random.default_rng(4)
    a = rng.integers(-1, 2, (4, 32, 32)).astype(np.float32)
    b = rng.integers(-1, 2, (6, 32, 32)).astype(np.float32)
    core = core_of((a, DataType.BF16), (b, DataType.BF16), out_pages=6, numerics=numerics)
    calls = [call("mm_block_init", 0, 1, 16, 0, 3, 2, 2), call("tile_regs_acquire")]
    calls += [call("matmul_block", 0, 1, k, 3 * k, 0, 0, 3, 2, 2) for k in range(2)]
    calls += [call("tile_regs_commit"), call("tile_regs_wait")]
    calls += [call("pack_tile_block", 0, 16, 6), call("tile_regs_release")]
    core.run(calls)
    got = unpacked(core.bytes_of(16))
    for row in range(2):
        for column in range(3):
            expected = a[2 * row] @ b[column] + a[2 * row + 1] @ b[3 + column]
            np.testing.assert_array_equal(got[3 * row + column], expected)

"""Tiles as bytes, and cores that hold them, for tests of compute kernels."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from cores.compute_core import Call, ComputeCore, call
from numpy.typing import NDArray

from ttmlir.layout.data_format import pack_block_float, tilize, unpack_block_float, untilize
from ttmlir.layout.enums import Arch, DataType
from ttmlir.sim.calls.compute_api import ComputeSettings
from ttmlir.sim.machine.card_tiles import tile_function
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


def has_recorded_bits(call_name: str, *, wide: bool = False, tiles: int = 1) -> bool:
    """Whether a function gives a card's bits in DST: test/vendor has them."""
    name, arch = call_name.removesuffix("_tile"), Arch.WORMHOLE_B0
    return tile_function(name, arch, wide=wide, numbers={}, tiles=tiles) is not None


def core_of(
    *inputs: tuple[Array, DataType],
    out: DataType = DataType.BF16,
    out_pages: int = 1,
    numerics: Numerics = "device",
    timed: bool = True,
    watch: Any = None,
    board: str = "n150",
    **settings: Any,
) -> ComputeCore:
    """A core with a tile in each of the circular buffers 0, 1 ... and an empty one, 16."""
    core = ComputeCore(
        ComputeSettings(**settings), SimOptions(numerics=numerics, timed=timed), watch, board
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

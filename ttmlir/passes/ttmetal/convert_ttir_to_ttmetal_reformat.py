"""Layout changes between rows and tiles: kernels that tilize and untilize each core's shard."""

from __future__ import annotations

import math

from ttmlir.dialects import tt, ttir, ttmetal
from ttmlir.dialects.ttkernel import CBType, TensixConfig, TensixConfigAttr
from ttmlir.dialects.ttkernel.attrs import CircularBuffer, CircularBufferParameter
from ttmlir.ir.kernel_builder import KernelBuilder
from ttmlir.layout.data_movement import PlacedTensor
from ttmlir.layout.device import DeviceView
from ttmlir.layout.element_type import DEFAULT_TILE_SHAPE, TileFormat
from ttmlir.layout.enums import CBPort, DataType
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.grid import shape_text
from ttmlir.layout.tensor_layout import TensorLayout
from ttmlir.passes.ttmetal.dispatch_builder import Launch, replace_by_dispatch

_FORMATS = (
    DataType.F32,
    DataType.F16,
    DataType.BF16,
    DataType.U32,
    DataType.U16,
    DataType.U8,
)
"""Formats that circular buffers have in a program for tt-metal."""


def reformat(
    op: ttir.ToLayoutOp,
    source: PlacedTensor,
    target: PlacedTensor,
    device: DeviceView,
    *,
    wide: bool,
) -> None:
    """Replace a change between rows and tiles by a kernel on every core of the grid.

    `wide`: keep 32-bit floating-point numbers whole. Integers of 32 bits always are.

    LayoutError if anything else changes or if shards are not whole tiles.
    """
    rows, tiles = (target, source) if source.layout.is_tiled else (source, target)
    tile = _check(rows.layout, tiles.layout)
    device.check_grid(source.layout.grid)
    page_size = math.prod(tile.shape) * rows.layout.element.size_bytes
    kernel = KernelBuilder(
        op.location,
        [
            _buffer(CBPort.IN0, source, page_size),
            _buffer(CBPort.OUT0, target, page_size),
        ],
    )
    before, after = kernel.buffers
    name = "untilize" if source.layout.is_tiled else "tilize"
    *outer, count = tiles.layout.shard
    number = kernel.constant(count)
    if name == "tilize":
        kernel.call("tilize_init", before, number, after)
    else:
        kernel.call("untilize_init", before, after)
    for _ in range(math.prod(outer)):
        kernel.call(f"{name}_block", before, number, after)
        kernel.call("cb_pop_front", before, number)
        kernel.call("cb_push_back", after, number)
    area = ttmetal.Area((0, 0), source.layout.grid.shape)
    is_wide = tile.data_type is DataType.U32 or (wide and tile.data_type is DataType.F32)
    config = TensixConfig(fp32_dest_acc_en=is_wide, preserve_fp32_precision=is_wide)
    launch = Launch(kernel, area, TensixConfigAttr(config))
    replace_by_dispatch(op, op.inputs, op.inits, [launch])


def _check(rows: TensorLayout, tiles: TensorLayout) -> TileFormat:
    """The tile of a change between rows and tiles that the kernels can make."""
    tile = tiles.tile
    if tile is None or rows.is_tiled:
        raise LayoutError(
            f"changes elements from {rows.element} to {tiles.element}; kernels change rows to "
            "tiles and tiles to rows; run "
            "ttir-split-compound-layout=formats-on-tiles=true before ttir-allocate"
        )
    if tile.shape != DEFAULT_TILE_SHAPE or tile.data_type not in _FORMATS:
        formats = ", ".join(data_type.keyword for data_type in _FORMATS)
        raise LayoutError(
            f"tiles are {tile}; kernels make tiles of {shape_text(DEFAULT_TILE_SHAPE)} of {formats}"
        )
    if rows.scalar_element.data_type is not tile.data_type:
        raise LayoutError(
            f"changes numbers from {rows.element} to {tile.data_type.keyword} while it tiles; "
            "run ttir-split-compound-layout=formats-on-tiles=true before ttir-allocate"
        )
    if rows.shard != tile.scalar_shape(tiles.shard):
        raise LayoutError(
            f"a shard of {shape_text(rows.shard)} is not the {shape_text(tiles.shard)} tiles of "
            "the other layout; let the memref of the rows be "
            f"{shape_text(tile.scalar_shape(tiles.shard))}, the rest being padding"
        )
    return tile


def _buffer(port: CBPort, tensor: PlacedTensor, page_size: int) -> CBType:
    """The buffer of a tensor's shard, a tile's worth of numbers to a page."""
    buffer = CircularBuffer(port, tensor.address, page_size)
    memref = tt.LayoutAttr.from_tensor_layout(tensor.layout).memref
    return CBType(CircularBufferParameter(buffer), memref)

"""Let weights of convolutions of volumes be the matrices that the library multiplies by.

Before:

    #dram = #ttnn.buffer_type<dram>
    #v = #ttnn.ttnn_layout<(d0, d1, d2, d3, d4) -> (d0 * 192 + d1 * 48 + d2 * 8 + d3, d4), <1x1>,
        memref<192x32xbf16, #dram>, <interleaved>>
    #w = #ttnn.ttnn_layout<(d0, d1, d2, d3, d4) -> (d0 * 32 + d1 + d2 + d3, d4), <1x1>,
        memref<1024x1xbf16, #dram>, <interleaved>>
    func.func @main(%v: tensor<1x4x6x8x32xbf16, #v>, %w: tensor<32x32x1x1x1xbf16, #w>)
        -> tensor<1x4x6x8x32xbf16, #v> {
      %0 = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>,
          mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
      %1 = "ttnn.conv3d"(%v, %w, %0) <{in_channels = 32 : i32, out_channels = 32 : i32,
          batch_size = 1 : i32, input_depth = 4 : i32, input_height = 6 : i32,
          input_width = 8 : i32, kernel_size = array<i32: 1, 1, 1>, stride = array<i32: 1, 1, 1>,
          padding = array<i32: 0, 0, 0>, dilation = array<i32: 1, 1, 1>, groups = 1 : i32,
          operandSegmentSizes = array<i32: 1, 1, 0, 1>}>
          : (tensor<1x4x6x8x32xbf16, #v>, tensor<32x32x1x1x1xbf16, #w>, !ttnn.device)
          -> tensor<1x4x6x8x32xbf16, #v>
      return %1 : tensor<1x4x6x8x32xbf16, #v>
    }

After:

    ...
        %1 = "ttnn.prepare_conv3d_weights"(%arg1, %0) <{alignment = 32 : i32, c_in_block = 32 : i32,
            groups = 1 : i32}> : ... -> tensor<32x32xbf16, #ttnn_layout2>
        %2 = "ttnn.to_tensor_spec"(%1) : ... -> tensor<32x32xbf16, #ttnn_layout3>
        %3 = "ttnn.conv3d"(%arg0, %2, %0) <{... conv3d_config = #ttnn.conv3d_config<...>, ...}>
            : ...
        ...

Requires: ttnn of 2026, with layouts.
Ensures: weights of `ttnn.conv3d` are prepared, as matrices of tiles, and their convolutions say how
channels are blocked.
Options: none.
Not done here: weights of images, which the library prepares when they are used.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, cast

from ttmlir.dialects.tt.layout import GridAttr
from ttmlir.dialects.ttcore import device_of
from ttmlir.dialects.ttnn.configs import Conv3dConfigAttr
from ttmlir.ir.tensor_types import value_shape
from ttmlir.ir.ttnn_types import tensor_in
from ttmlir.ir.ttnn_values import TTNNValueBuilder
from ttmlir.layout.tensor_layout import Grid
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttnn.workarounds.ttnn_workarounds import convert

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import IntegerAttr, ModuleOp
    from xdsl.ir import Operation

_VOLUME_RANK = 5
_TILE, _LEAST_BLOCK = 32, 16


@dataclass(frozen=True)
class TTNNPrepareConv3dWeightsPass(ModulePass):
    """Let weights of convolutions of volumes be the matrices that the library multiplies by."""

    name = "ttnn-prepare-conv3d-weights"
    title = "TTNNPrepareConv3dWeights"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Prepare the weights that are not matrices."""
        for op in tuple(module.walk()):
            if op.name == "ttnn.conv3d" and len(value_shape(op.operands[1])) == _VOLUME_RANK:
                _prepare_weight(op)


def _prepare_weight(op: Operation) -> None:
    weight, build = op.operands[1], TTNNValueBuilder.before(op)
    outputs, *_ = value_shape(weight)
    window = prod(value_shape(weight)[2:])
    groups = cast("IntegerAttr", op.properties["groups"])
    channels = value_shape(op.operands[0])[4]
    # A block of channels under the window is whole tiles.
    block = _LEAST_BLOCK if window * _LEAST_BLOCK % _TILE == 0 else _TILE
    shape = (window * channels, outputs)
    rows, tiles = (tensor_in(weight.type, tiled=tiled, shape=shape) for tiled in (False, True))
    parameters = {"groups": groups.value.data, "c_in_block": block, "alignment": _TILE}
    prepared = build.create("prepare_conv3d_weights", (weight, op.operands[-1]), rows, **parameters)
    op.operands[1] = convert(prepared, tiles, op)
    device = device_of(op)
    blocks = {f"{name}_out_block": 1 for name in ("t", "w", "h")}
    config = {**blocks, "c_out_block": _TILE, "c_in_block": block}
    grid = (
        {}
        if device is None
        else {"compute_with_storage_grid_size": GridAttr(Grid(device.worker_grid.data.shape))}
    )
    op.properties["conv3d_config"] = Conv3dConfigAttr(tuple({**config, **grid}.items()))

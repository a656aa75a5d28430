"""What convolutions, pools and reductions of ttnn want of their tensors."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import IntegerType, Signedness, TensorType, bf16, f16, f32

from ttmlir.dialects.tt.layout import GridAttr
from ttmlir.dialects.ttcore import device_of
from ttmlir.dialects.ttnn.configs import Conv3dConfigAttr
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.ir.ttnn_types import layout_in
from ttmlir.ir.ttnn_values import TTNNValueBuilder
from ttmlir.layout.enums import BufferType
from ttmlir.layout.tensor_layout import Grid
from ttmlir.passes.ttnn.workarounds.ttnn_workarounds import Want, Wants, convert

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xdsl.dialects.builtin import IntegerAttr, ModuleOp
    from xdsl.ir import Operation

    from ttmlir.passes.ttnn.workarounds.ttnn_workarounds import Wanting

_ROWS = Want(tiled=False)
_HOST_ROWS = Want(tiled=False, buffer=BufferType.SYSTEM_MEMORY)
_INDICES = Want(tiled=False, element=IntegerType(32, Signedness.UNSIGNED))


def _convolution(op: Operation) -> Wants:
    """Images by rows; weights and biases are prepared on the host."""
    weights = len(op.operands) - 2
    return Wants(operands=(_ROWS, *((_HOST_ROWS,) * weights)))


def _volumes(op: Operation) -> Wants:
    """Volumes of bfloat16 by rows; the weight, before it is prepared, is one of the host."""
    return Wants(
        operands=(Want(tiled=False, element=bf16), replace(_HOST_ROWS, element=bf16)),
        results=(Want(tiled=False, element=bf16),),
        in_order=True,
    )


def prepare_weights(module: ModuleOp) -> None:
    """Let weights of convolutions of volumes be the matrices that the library multiplies by."""
    for op in tuple(module.walk()):
        if op.name == "ttnn.conv3d" and len(value_shape(op.operands[1])) == _VOLUME_RANK:
            _prepare_weight(op)


_VOLUME_RANK = 5
_TILE, _LEAST_BLOCK = 32, 16


def _prepare_weight(op: Operation) -> None:
    weight, build = op.operands[1], TTNNValueBuilder.before(op)
    outputs, *_ = value_shape(weight)
    window = prod(value_shape(weight)[2:])
    groups = cast("IntegerAttr", op.properties["groups"])
    channels = value_shape(op.operands[0])[4]
    # A block of channels under the window is whole tiles.
    block = _LEAST_BLOCK if window * _LEAST_BLOCK % _TILE == 0 else _TILE
    shape, element = (window * channels, outputs), element_type(weight)
    rows, tiles = (
        TensorType(element, shape, layout_in(shape, element, tiled=tiled))
        for tiled in (False, True)
    )
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


def _max_pool(op: Operation) -> Wants:
    """Images of bfloat16 by rows."""
    want = Want(tiled=False, element=bf16)
    return Wants(operands=(want,), results=(want,))


def _avg_pool(op: Operation) -> Wants:
    """Images by rows."""
    return Wants(operands=(_ROWS,), results=(_ROWS,))


def _argmax(op: Operation) -> Wants:
    """Numbers by rows, and positions without a sign."""
    return Wants(operands=(_ROWS,), results=(_INDICES,))


def _reduction(op: Operation) -> Wants:
    """Sums of half precision are those of float32."""
    want = Want(element=f32 if element_type(op.operands[0]) == f16 else None)
    return Wants(operands=(want,), results=(want,))


def _page_table(op: Operation) -> Wants:
    """Numbers of pages by rows."""
    others = len(op.operands) - 2
    return Wants(operands=(Want(), Want(), *((_ROWS,) * others)))


WANTS: Mapping[str, Wanting] = {
    "ttnn.conv1d": _convolution,
    "ttnn.conv2d": _convolution,
    "ttnn.conv3d": _volumes,
    "ttnn.conv_transpose2d": _convolution,
    "ttnn.max_pool2d": _max_pool,
    "ttnn.avg_pool2d": _avg_pool,
    "ttnn.argmax": _argmax,
    "ttnn.paged_fill_cache": _page_table,
    **{f"ttnn.{name}": _reduction for name in ("sum", "mean", "max", "min", "prod")},
}
"""What operations want, by their names."""

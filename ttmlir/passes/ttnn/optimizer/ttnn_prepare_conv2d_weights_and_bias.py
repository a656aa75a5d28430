"""Let weights and biases of convolutions of images be those that the library multiplies by.

Before:

    #dram = #ttnn.buffer_type<dram>
    #host = #ttnn.buffer_type<system_memory>
    #v = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 928 + d1 * 928 + d2, d3), <1x1>,
        memref<29x2x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
    #w = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 192 + d1 * 3 + d2, d3), <1x1>,
        memref<6144x3xbf16, #host>>
    #r = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 800 + d1 * 800 + d2, d3), <1x1>,
        memref<25x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
    func.func @main(%v: tensor<1x1x900x64xbf16, #v>, %w: tensor<32x64x3x3xbf16, #w>)
        -> tensor<1x1x784x32xbf16, #r> {
      %0 = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>,
          mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
      %1 = "ttnn.conv2d"(%v, %w, %0) <{in_channels = 64 : i32, out_channels = 32 : i32,
          batch_size = 1 : i32, input_height = 30 : i32, input_width = 30 : i32,
          kernel_size = array<i32: 3, 3>, stride = array<i32: 1, 1>,
          padding = array<i32: 0, 0, 0, 0>, dilation = array<i32: 1, 1>, groups = 1 : i32,
          operandSegmentSizes = array<i32: 1, 1, 0, 1>}>
          : (tensor<1x1x900x64xbf16, #v>, tensor<32x64x3x3xbf16, #w>, !ttnn.device)
          -> tensor<1x1x784x32xbf16, #r>
      return %1 : tensor<1x1x784x32xbf16, #r>
    }

After:

    ...
        %1 = "ttnn.prepare_conv2d_weights"(%arg1, %0) <{batch_size = 1 : i32, ... has_bias = false,
            ... weights_format = "OIHW"}> : ... -> tensor<1x1x576x32xbf16, #ttnn_layout3>
        %2 = "ttnn.conv2d"(%arg0, %1, %0) ...
        ...

Requires: ttnn of 2026, with layouts.
Ensures: weights of `ttnn.conv2d` whose channels are whole tiles are matrices of tiles in DRAM, a
row for each place under the window and channel, and biases are rows of tiles, both in the format
that is asked for.
Options: `target-dtype` (bf16, bfp_bf8, bfp_bf4), and `override-weight-dtype`
(`name=bfp_bf8,name=bf16`) for convolutions picked by the name of their location.
Not done here: convolutions in groups, and of channels that are no whole tiles, which the library
pads as it divides them over cores; `ttnn.conv_transpose2d`. They are prepared when they are used.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import IntegerAttr, StringAttr, TensorType

from ttmlir.dialects import tt, ttnn
from ttmlir.dialects.definition.ods import ODSOperation
from ttmlir.dialects.ttnn.attrs import LayoutAttr, MemoryConfigAttr
from ttmlir.ir.rewriting import insert_before
from ttmlir.ir.tensor_types import value_shape
from ttmlir.ir.ttnn_types import TILE, as_tiles_of, memory_of, tensor_in
from ttmlir.layout.enums import DataType, TTNNLayout
from ttmlir.mlir.option_values import option
from ttmlir.mlir.reporting import override_name
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.placement.layout_overrides import (
    WEIGHT_DTYPE,
    WEIGHT_DTYPES_BY_NAME,
    WeightDtypes,
)
from ttmlir.passes.ttnn.optimizer.spread_layouts import format_of, layout_attr
from ttmlir.passes.ttnn.optimizer.ttnn_optimizer import configure

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation, SSAValue


_SHARED = (
    *("batch_size", "conv2d_config", "conv2d_slice_config", "dilation", "groups", "in_channels"),
    *("input_height", "input_width", "kernel_size", "out_channels", "padding", "stride"),
)
"""What a convolution and what prepares its weights are told alike."""


@dataclass(frozen=True)
class TTNNPrepareConv2dWeightsAndBiasPass(ModulePass):
    """Let weights and biases of convolutions of images be those that the library multiplies by."""

    name = "ttnn-prepare-conv2d-weights-and-bias"
    title = "TTNNPrepareConv2dWeightsAndBias"

    target_dtype: DataType | None = option(None, "Format of weights", type=WEIGHT_DTYPE)
    override_weight_dtype: WeightDtypes = option(
        (), "Formats of the weights of convolutions at these locations", type=WEIGHT_DTYPES_BY_NAME
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Prepare what is not prepared yet."""
        by_name = dict(self.override_weight_dtype)
        for op in tuple(module.walk()):
            if op.name == "ttnn.conv2d" and isinstance(op, ODSOperation) and _is_of_tiles(op):
                _prepare(op, by_name.get(override_name(op.location) or "", self.target_dtype))


def _is_of_tiles(op: Operation) -> bool:
    """True for weights as models have them whose channels are whole tiles."""
    outputs, channels, *_ = value_shape(op.operands[1])
    groups = cast("IntegerAttr", op.properties["groups"]).value.data
    return groups == 1 and outputs % TILE == 0 and channels % TILE == 0


def _prepare(op: ODSOperation, dtype: DataType | None) -> None:
    value, weight = op.operands[0], op.operands[1]
    bias = next(iter(op.group("bias")), None)
    memory = memory_of(value.type)
    if memory is None:
        return
    outputs, channels, *kernel = value_shape(weight)
    if dtype is not None:
        configure(op, (("weights_dtype", dtype),))
    layout = TTNNLayout.TILE if memory.is_tiled else TTNNLayout.ROW_MAJOR
    said: dict[str, Attribute] = {
        name: op.properties[name] for name in _SHARED if name in op.properties
    }
    said["input_dtype"] = tt.DataTypeAttr(_format_of(value))
    said["output_dtype"] = tt.DataTypeAttr(_format_of(op.results[0]))
    said["input_tensor_layout"] = LayoutAttr(layout)
    layout_of_image = layout_attr(value.type)
    assert layout_of_image is not None, "its memory is known"
    said["input_memory_config"] = MemoryConfigAttr.of(layout_of_image)
    shape = (1, 1, channels * prod(kernel), outputs)
    more = {
        "weights_format": StringAttr("OIHW"),
        "has_bias": IntegerAttr.from_bool(bias is not None),
    }
    op.operands[1] = _made_before(op, "prepare_conv2d_weights", weight, shape, said | more, dtype)
    if bias is not None:
        shape = (1, 1, 1, outputs)
        op.operands[2] = _made_before(op, "prepare_conv2d_bias", bias, shape, said, dtype)


def _made_before(
    op: Operation,
    mnemonic: str,
    value: SSAValue,
    shape: tuple[int, ...],
    properties: dict[str, Attribute],
    dtype: DataType | None,
) -> SSAValue:
    new = ttnn.op_class(mnemonic).create(
        operands=[value, op.operands[-1]],
        result_types=[_in_tiles(value, shape, dtype)],
        properties=properties,
        location=op.location,
    )
    insert_before(op, new)
    return new.results[0]


def _in_tiles(
    value: SSAValue, shape: tuple[int, ...], dtype: DataType | None
) -> TensorType[Attribute]:
    type_ = tensor_in(value.type, tiled=True, shape=shape)
    return type_ if dtype is None else as_tiles_of(type_, dtype) or type_


def _format_of(value: SSAValue) -> DataType:
    layout = layout_attr(value.type)
    assert layout is not None, "tensors of ttnn have layouts"
    return format_of(layout.tensor_layout)

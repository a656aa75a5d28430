"""Rules of `convert-ttir-to-ttnn` for convolutions and pools."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import IntegerAttr

from ttmlir.dialects.definition.table_ops import int_property
from ttmlir.dialects.ttir import FlattenedCompatAttr
from ttmlir.dialects.ttnn.attrs import TensorMemoryLayoutAttr
from ttmlir.dialects.ttnn.configs import Conv2dConfigAttr
from ttmlir.ir.rewriting import refuse_to_legalize
from ttmlir.ir.tensor_types import value_shape
from ttmlir.ir.ttnn_types import with_shape
from ttmlir.layout.enums import TTNNTensorMemoryLayout
from ttmlir.passes.ttnn.conversion.convert_values import renamed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.dialects.builtin import DenseArrayBase, IntegerType, StringAttr
    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.ttnn_values import TTNNValueBuilder
    from ttmlir.passes.ttnn.conversion.convert_values import Rules, ValueRule

_TILE = 32
TABLES_IN_DRAM = Conv2dConfigAttr(
    (("enable_kernel_stride_folding", False), ("config_tensors_in_dram", True))
)
"""The tables that say where windows are lie in DRAM."""
_IN_BLOCKS = Conv2dConfigAttr(
    (
        ("act_block_h_override", _TILE),
        ("shard_layout", TensorMemoryLayoutAttr(TTNNTensorMemoryLayout.BLOCK_SHARDED)),
        *TABLES_IN_DRAM.data,
    )
)
_LARGEST_WINDOW = 49
"""Elements of windows over many channels apart, whose results may be one row of tiles."""
_MANY_CHANNELS = 128


def _config_of(channels: int, groups: int, window: int, positions: int) -> Conv2dConfigAttr:
    """The configuration of a convolution; of one for which the library finds none, blocks.

    A row of tiles of results stays on a core, whose L1 does not hold what large windows over many
    channels see; divided by channels, too, it does.
    """
    is_apart = groups == channels and channels > _MANY_CHANNELS
    if is_apart and window > _LARGEST_WINDOW and positions <= _TILE:
        return _IN_BLOCKS
    return TABLES_IN_DRAM


def _numbers(op: Operation, name: str, count: int) -> tuple[int, ...]:
    """A parameter as a list: one number stands for all."""
    attr = op.properties[name]
    if isinstance(attr, IntegerAttr):
        return (cast("IntegerAttr", attr).value.data,) * count
    return tuple(cast("DenseArrayBase[IntegerType]", attr).get_values())


def _margins(op: Operation) -> tuple[int, int, int, int]:
    """Top, left, bottom and right."""
    found = _numbers(op, "padding", 4)
    top, left, bottom, right = found if len(found) == 4 else (*found, *found)
    return top, left, bottom, right


def _image(op: Operation) -> tuple[int, int, int]:
    info = op.properties.get("flattened_compat_info")
    if not isinstance(info, FlattenedCompatAttr):
        refuse_to_legalize(op, "its image is to be flattened by ttir-flatten-sliding-window")
    return info.data


def _convolution(mnemonic: str) -> ValueRule:
    """The rule of a convolution along two dimensions."""

    def rule(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
        batch, height, width = _image(op)
        weight = value_shape(op.operands[1])
        top, left, bottom, right = _margins(op)
        groups = cast("IntegerAttr", op.properties["groups"]).value.data
        channels = value_shape(op.operands[0])[3], value_shape(op.results[0])[3]
        parameters: dict[str, Any] = {
            "in_channels": channels[0],
            "out_channels": channels[1],
            "batch_size": batch,
            "input_height": height,
            "input_width": width,
            "kernel_size": weight[2:],
            "stride": _numbers(op, "stride", 2),
            "padding": (top, bottom, left, right),
            "dilation": _numbers(op, "dilation", 2),
            "groups": groups,
            "conv2d_config": _config_of(
                channels[0], groups, prod(weight[2:]), prod(value_shape(op.results[0])[:3])
            ),
        }
        if mnemonic == "conv_transpose2d":
            parameters["padding"] = (top, left, bottom, right)
            parameters["output_padding"] = _numbers(op, "output_padding", 2)
        operands = (*op.operands, build.device())
        return [build.create(mnemonic, operands, op.results[0].type, **parameters)]

    return rule


def _pool(mnemonic: str) -> ValueRule:
    """The rule of a pool; equal margins on both sides are said once."""

    def rule(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
        batch, height, width = _image(op)
        top, left, bottom, right = _margins(op)
        is_even = (top, left) == (bottom, right)
        parameters: dict[str, Any] = {
            "batch_size": batch,
            "input_height": height,
            "input_width": width,
            "channels": value_shape(op.operands[0])[3],
            "kernel_size": _numbers(op, "kernel", 2),
            "stride": _numbers(op, "stride", 2),
            "padding": (top, left) if is_even else (top, bottom, left, right),
            "dilation": _numbers(op, "dilation", 2),
            "ceil_mode": bool(cast("IntegerAttr", op.properties["ceil_mode"]).value.data),
            "reallocate_halo_output": False,
            "config_tensors_in_dram": True,
        }
        for name in ("count_include_pad", "divisor_override"):
            if name in op.properties:
                parameters[name] = cast("IntegerAttr", op.properties[name]).value.data
        # Tensors to write to may follow, which the library makes itself.
        new = build.create_op_of(mnemonic, op.operands[:1], op.result_types, **parameters)
        return new.results

    return rule


def _require_channels_last(op: Operation, names: Sequence[str]) -> None:
    if any(
        int_property(op, name) != place for place, name in enumerate(names) if name in op.properties
    ):
        refuse_to_legalize(op, "its channels are to be put last by ttir-decomposition")


def _convolution_of_lines(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    """The library makes an image of one row of it, whose pixels are those of the whole batch."""
    _require_channels_last(op, ("batch_dim", "length_dim", "channel_dim"))
    (batch, length, inputs), result = value_shape(op.operands[0]), op.results[0].type
    *places, outputs = value_shape(op.results[0])
    pixels = with_shape(result, (1, 1, prod(places), outputs))
    found = build.create(
        *("conv1d", (*op.operands, build.device()), pixels),
        in_channels=inputs,
        out_channels=outputs,
        batch_size=batch,
        input_length=length,
        kernel_size=value_shape(op.operands[1])[2],
        stride=_numbers(op, "stride", 1)[0],
        padding=_numbers(op, "padding", 2),
        dilation=_numbers(op, "dilation", 1)[0],
        groups=int_property(op, "groups"),
        conv2d_config=Conv2dConfigAttr((("config_tensors_in_dram", False),)),
    )
    return [build.create("reshape", (found,), result, shape=value_shape(op.results[0]))]


_CHANNELS = 32
"""Of how many channels the library takes a multiple in volumes."""


def _convolution_of_volumes(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    """Channels are padded to whole tiles; the weight is prepared when it is where it is to be."""
    _require_channels_last(op, ("batch_dim", "depth_dim", "height_dim", "width_dim", "channel_dim"))
    if int_property(op, "groups") != 1:
        refuse_to_legalize(
            op, "weights of volumes in groups are not prepared; make a convolution for each group"
        )
    volume, weight, *bias = op.operands
    *pixels, inputs = value_shape(volume)
    missing = -inputs % _CHANNELS
    if missing:
        rows = with_shape(volume.type, (prod(pixels), inputs))
        wide = with_shape(volume.type, (prod(pixels), inputs + missing))
        flat = build.create("reshape", (volume,), rows, shape=(prod(pixels), inputs))
        padding = (0, 0, 0, missing)
        flat = build.create("pad", (flat,), wide, padding=padding, value=0.0, use_multicore=True)
        inputs += missing
        shape = (*pixels, inputs)
        volume = build.create("reshape", (flat,), with_shape(volume.type, shape), shape=shape)
    batch, *extents = pixels
    result = op.results[0].type
    found = build.create(
        *("conv3d", (volume, weight, build.device()), result),
        in_channels=inputs,
        out_channels=value_shape(op.results[0])[4],
        batch_size=batch,
        **dict(zip(("input_depth", "input_height", "input_width"), extents, strict=True)),
        kernel_size=value_shape(weight)[2:],
        stride=_numbers(op, "stride", 3),
        padding=_numbers(op, "padding", 3),
        dilation=_numbers(op, "dilation", 3),
        padding_mode=cast("StringAttr", op.properties["padding_mode"]).data,
        groups=int_property(op, "groups"),
    )
    if bias:
        found = build.create_binary("add", found, bias[0], result)
    return [found]


RULES: Rules = {
    "conv1d": _convolution_of_lines,
    "conv3d": _convolution_of_volumes,
    "conv2d": _convolution("conv2d"),
    "conv_transpose2d": _convolution("conv_transpose2d"),
    "max_pool2d": _pool("max_pool2d"),
    "avg_pool2d": _pool("avg_pool2d"),
    "max_pool2d_with_indices": _pool("max_pool2d_with_indices"),
    "upsample2d": renamed("upsample"),
}
"""Rules by mnemonic."""

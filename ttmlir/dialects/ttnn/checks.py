"""Verifiers of ttnn operations that differ from their ttir counterparts."""

from __future__ import annotations

from typing import cast

from xdsl.ir import Operation

from ttmlir.dialects.definition.dps import DestinationStyleOp
from ttmlir.dialects.definition.ods import ODSOperation, refuse
from ttmlir.dialects.definition.row_ops import RowOperation
from ttmlir.dialects.definition.shape_checks import (
    Check,
    check_bits,
    check_conv2d,
    check_output,
    check_pool_rank,
    check_window_fits,
    comma_separated,
    int_property,
    is_static,
    ruled_shape,
    shape_of,
)
from ttmlir.layout.element_type import DEFAULT_TILE_SHAPE
from ttmlir.optable.elementwise import ROWS


def check_conv2d_with_bias(op: Operation) -> None:
    """Check the ranks of a convolution and the extents of its bias.

    C1: the input has at least three dimensions.
    C2: the weight has four.
    C3: the bias, if present, has four, the first three of extent 1.
    """
    check_conv2d(op)
    bias = cast("ODSOperation", op).group("bias")
    if bias and shape_of(bias[0])[:3] != (1, 1, 1):
        refuse("Bias must only have data on the final dimenstion")


def check_max_pool2d(op: Operation) -> None:
    """Check the shapes and the window of a pooling.

    C1: the window is not larger than the image.
    C2: the input has four dimensions, the first two of extent 1.
    C3: the third has an element for each pixel of the batch, the fourth one for each channel.
    """
    height, width = int_property(op, "input_height"), int_property(op, "input_width")
    check_window_fits(op, height, width)
    shape = check_pool_rank(op)
    shown = comma_separated(shape)
    if shape[:2] != (1, 1):
        refuse(f"Maxpool input must be in the form (1, 1, N*H*W, C). Recieved shape ({shown}).")
    batch, channels = int_property(op, "batch_size"), int_property(op, "channels")
    if shape[2] != batch * height * width:
        refuse(
            f"Maxpool shape ({shown}) at dim -2 must be equal to N*H*W. However the attributes "
            f"given are N={batch}, H={height}, W={width}. "
            f"{batch}*{height}*{width} != {shape[2]}."
        )
    if shape[3] != channels:
        refuse(
            f"Maxpool shape ({shown}) at dim -3 must be equal to C. However the attribute given "
            f"is C={channels}. {shape[3]} != {channels}"
        )


def check_reduction(op: Operation) -> None:
    """Check the dimensions and the shape of a reduction that the reference does not verify.

    C1: dimensions exist, and differ from each other.
    C2: the output has the shape that follows; dynamic shapes are not compared. As in programs of
    tt-mlir, dimensions that are kept may also be a tile long, and one number may have dimensions.
    """
    assert isinstance(op, RowOperation)
    assert isinstance(op, DestinationStyleOp)
    if not all(is_static(shape_of(value)) for value in (*op.inputs, op.output)):
        return
    expected, output = ruled_shape(op), shape_of(op.output)
    input = shape_of(op.inputs[0])
    if op.parameters()["keep_dim"] and len(output) == len(input):
        output = tuple(
            rule if rule != extent and given == DEFAULT_TILE_SHAPE[1] else given
            for rule, extent, given in zip(expected, input, output, strict=True)
        )
    if expected or set(output) != {1}:
        check_output(op, expected if output != expected else shape_of(op.output))


CHECKS: dict[str, Check] = {
    "conv2d": check_conv2d_with_bias,
    "max_pool2d": check_max_pool2d,
    **{row.mnemonic: check_bits for row in ROWS if row.takes_bits},
    **dict.fromkeys(("max", "mean", "sum"), check_reduction),
}
"""Checks by mnemonic."""

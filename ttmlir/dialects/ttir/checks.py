"""Verifiers of ttir operations that differ from their ttnn counterparts."""

from __future__ import annotations

from xdsl.ir import Operation

from ttmlir.dialects.definition.ods import refuse
from ttmlir.dialects.definition.row_ops import RowOperation
from ttmlir.dialects.definition.shape_checks import (
    Check,
    check_conv2d,
    check_elementwise_bits,
    check_image,
    check_output,
    check_pool_rank,
    check_window_fits,
    int_property,
    is_static,
    shape_of,
)
from ttmlir.optable.elementwise import ROWS
from ttmlir.optable.window.axes import WindowAxis, window_axes
from ttmlir.optable.window.convolution import transposed_shape


def check_max_pool2d(op: Operation) -> None:
    """Check the shapes and the window of a pooling.

    C1: the input has four dimensions.
    C2: `original_height` and `original_width` are both given or both absent.
    C3: the window is not larger than the image, or than the original image if given.
    C4: the output has an element for each position of the window, which is checked where the input
    is an image.
    """
    shape = check_pool_rank(op)
    given = [name for name in ("original_height", "original_width") if name in op.properties]
    if len(given) == 1:
        refuse(
            "If providing the original height and width as attributes, both original_height and "
            f"original_width must be set. However, only {given[0]} was provided."
        )
    height, width = (int_property(op, name) for name in given) if given else shape[1:3]
    check_window_fits(op, height, width)
    if not given and is_static(shape):
        rows, columns = _checked_axes(op, height, width)
        check_output(op, (shape[0], rows.positions, columns.positions, shape[3]))


def check_avg_pool2d(op: Operation) -> None:
    """Check the shapes and the window of an average.

    C1: the input has four dimensions.
    C2: kernel, stride and dilation are positive, padding is not negative, and the window is not
    larger than the padded image.
    C3: the output has the shape that follows.
    """
    batch, height, width, channels = check_image(op)
    rows, columns = _checked_axes(op, height, width)
    check_output(op, (batch, rows.positions, columns.positions, channels))


def _checked_axes(op: Operation, height: int, width: int) -> tuple[WindowAxis, WindowAxis]:
    """What the window of an operation does along an image; it has to be able to slide."""
    assert isinstance(op, RowOperation)
    try:
        rows, columns = window_axes(op.parameters(), input_height=height, input_width=width)
        return rows.checked("height"), columns.checked("width")
    except ValueError as error:
        refuse(str(error))


def check_conv_transpose2d(op: Operation) -> None:
    """Check the shapes of a transposed convolution.

    C1: input and weight have four dimensions.
    C2: the weight's first extent is the number of input channels, which the groups divide.
    C3: strides and dilations are positive, padding is not negative.
    C4: the bias, if present, has an element for each output channel.
    C5: the output has the shape that follows.
    """
    input, weight = check_image(op), shape_of(op.operands[1])
    if len(weight) != 4:
        refuse("Weight must be a 4D tensor")
    assert isinstance(op, RowOperation)
    bias = op.group("bias")
    try:
        expected = transposed_shape(
            input, weight, shape_of(bias[0]) if bias else None, op.parameters()
        )
    except ValueError as error:
        refuse(str(error))
    check_output(op, expected)


CHECKS: dict[str, Check] = {
    "conv2d": check_conv2d,
    "max_pool2d": check_max_pool2d,
    "avg_pool2d": check_avg_pool2d,
    "conv_transpose2d": check_conv_transpose2d,
    **{row.mnemonic: check_elementwise_bits for row in ROWS if row.takes_bits},
}
"""Checks by mnemonic."""

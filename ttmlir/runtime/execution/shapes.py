"""What shape an operation produces, and how it is made to fit the tensor that it is stored to."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ttmlir.limits import memory_advice, memory_limit
from ttmlir.optable.contraction import broadcast_shape
from ttmlir.optable.convolution import transposed_shape
from ttmlir.optable.creation import arange_length
from ttmlir.optable.row import Family, Shape
from ttmlir.optable.window import output_extent, window_axes
from ttmlir.runtime.element import Array
from ttmlir.runtime.errors import BinaryError
from ttmlir.runtime.execution.operations import Call

Fit = Callable[[Array], Array]
_LARGEST_ITEM = 8


def check_shapes(call: Call) -> Fit | None:
    """Check that the operation is defined on its operands and produces its output's shape.

    Returns how the result is reshaped to the output, None if it already has its shape. Raises
    BinaryError otherwise.
    """
    shapes = tuple(operand.desc.shape for operand in call.operands if operand is not None)
    try:
        shape = _result_shape(call, shapes)
    except (ValueError, ArithmeticError, IndexError) as error:
        raise BinaryError(f"{call.operation.where}: {call.name}: {error}") from error
    _check_window(call, shapes)
    target = call.output.desc.shape
    if shape == target:
        return None
    family = call.row.family
    # Window operations flatten images; a total may be kept as a tensor of one element.
    is_free = family is Family.WINDOW or shape == ()
    if is_free and math.prod(shape) == math.prod(target):
        return lambda array: array.reshape(target)
    if family.is_elementwise and broadcasts(shape, target):
        return lambda array: np.broadcast_to(array, target)
    raise BinaryError(
        f"{call.operation.where}: {call.name} on operands of shape "
        f"{', '.join(_spell(shape) for shape in shapes)} makes {_spell(shape)}, but its output is "
        f"{_spell(target)}"
    )


def _check_window(call: Call, shapes: tuple[Shape, ...]) -> None:
    """Refuse a window operation whose padded image takes more memory than a run may."""
    if call.row.family is not Family.WINDOW or not shapes:
        return
    values = call.parameters
    bytes_needed = math.prod(shapes[0]) * _LARGEST_ITEM
    for axis, sides in (("height", ("top", "bottom")), ("width", ("left", "right"))):
        extent = max(1, int(values.get(f"input_{axis}", 1)))
        padding = [
            int(values.get(f"padding_{side}", values.get(f"padding_{axis}", 0))) for side in sides
        ]
        kernel = int(values.get(f"kernel_{axis}", 1))
        reach = int(values.get(f"dilation_{axis}", 1)) * kernel
        grown = extent * max(1, int(values.get(f"stride_{axis}", 1))) + sum(padding) + reach
        bytes_needed = bytes_needed * grown // extent
    if bytes_needed > memory_limit():
        raise BinaryError(
            f"{call.operation.where}: {call.name}: the image and its padding take {bytes_needed} "
            f"bytes; {memory_advice()}"
        )


def _spell(shape: Shape) -> str:
    return "x".join(map(str, shape)) or "scalar"


def broadcasts(shape: Shape, target: Shape) -> bool:
    """True if repeating elements along extents of 1 turns one shape into the other."""
    try:
        return broadcast_shape(shape, target) == target
    except ValueError:
        return False


def _result_shape(call: Call, shapes: tuple[Shape, ...]) -> Shape:
    row = call.row
    special = _SPECIAL_SHAPES.get(row.mnemonic)
    if special is not None:
        return special(call.output.desc.shape, *shapes, **call.parameters)
    if row.family.is_elementwise:
        return broadcast_shape(*shapes)
    assert row.result_shape is not None, f"row '{row.mnemonic}' has no shape rule"
    return row.result_shape(*shapes, **call.parameters)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)


def _window_extents(parameters: dict[str, Any]) -> Shape:
    ceil_mode = bool(parameters.get("ceil_mode", False))
    extents: list[int] = []
    for axis in ("height", "width"):
        kernel, stride = parameters[f"kernel_{axis}"], parameters[f"stride_{axis}"]
        dilation, padding = parameters[f"dilation_{axis}"], parameters[f"padding_{axis}"]
        smallest = min(kernel, stride, dilation)
        _require(smallest >= 1, f"kernel, stride and dilation of the {axis} must be positive")
        _require(padding >= 0, f"padding of the {axis} must not be negative")
        reach = dilation * (kernel - 1) + 1
        extent = parameters[f"input_{axis}"]
        _require(
            extent >= 1 and reach <= extent + 2 * padding,
            f"the window reaches over {reach} elements, more than the {axis} {extent} and its "
            f"padding of {padding} on each side",
        )
        extents.append(output_extent(extent, kernel, stride, 2 * padding, dilation, ceil_mode))
    return tuple(extents)


def _image(input: Shape, channels: int, parameters: dict[str, Any]) -> None:
    extents = (
        parameters["batch_size"],
        parameters["input_height"],
        parameters["input_width"],
        channels,
    )
    _require(
        math.prod(extents) == math.prod(input),
        f"an image of {_spell(extents)} does not fit an input of {_spell(input)}",
    )


def _conv2d_shape(
    target: Shape, input: Shape, weight: Shape, bias: Shape | None = None, **parameters: Any
) -> Shape:
    inner, outer, groups = (parameters[name] for name in ("in_channels", "out_channels", "groups"))
    _require(
        groups >= 1 and inner % groups == 0 and outer % groups == 0,
        f"{inner} input and {outer} output channels cannot be split into {groups} groups",
    )
    _image(input, inner, parameters)
    filters = (outer, inner // groups, parameters["kernel_height"], parameters["kernel_width"])
    _require(weight == filters, f"weight is {_spell(weight)}; expected {_spell(filters)}")
    _require(
        bias is None or math.prod(bias) == outer,
        f"bias is {_spell(bias or ())}; expected {outer} elements",
    )
    return (parameters["batch_size"], *_window_extents(parameters), outer)


def _max_pool2d_shape(target: Shape, input: Shape, **parameters: Any) -> Shape:
    _image(input, parameters["channels"], parameters)
    return (parameters["batch_size"], *_window_extents(parameters), parameters["channels"])


def _avg_pool2d_shape(target: Shape, input: Shape, **parameters: Any) -> Shape:
    _image(input, parameters["channels"], parameters)
    rows, columns = window_axes(parameters)
    extents = rows.checked("height").positions, columns.checked("width").positions
    return (parameters["batch_size"], *extents, parameters["channels"])


def _conv_transpose2d_shape(
    target: Shape, input: Shape, weight: Shape, bias: Shape | None = None, **parameters: Any
) -> Shape:
    _image(input, parameters["in_channels"], parameters)
    inner, outer, groups = (parameters[name] for name in ("in_channels", "out_channels", "groups"))
    _require(
        groups >= 1 and outer % groups == 0,
        f"{outer} output channels cannot be split into {groups} groups",
    )
    filters = (inner, outer // groups, parameters["kernel_height"], parameters["kernel_width"])
    _require(weight == filters, f"weight is {_spell(weight)}; expected {_spell(filters)}")
    image = (
        *(parameters["batch_size"], parameters["input_height"]),
        *(parameters["input_width"], inner),
    )
    return transposed_shape(image, weight, bias, parameters)


def _arange_shape(
    target: Shape, *, start: int, end: int, step: int, arange_dimension: int
) -> Shape:
    length = arange_length(start=start, end=end, step=step)
    _require(
        0 <= arange_dimension < len(target),
        f"dimension {arange_dimension} is out of range for rank {len(target)}",
    )
    return (*target[:arange_dimension], length, *target[arange_dimension + 1 :])


def _free_shape(target: Shape, **parameters: Any) -> Shape:
    return target


def _reshape_shape(target: Shape, input: Shape, *, shape: tuple[int, ...]) -> Shape:
    _require(
        math.prod(input) == math.prod(target),
        f"{_spell(input)} has {math.prod(input)} elements, {_spell(target)} has "
        f"{math.prod(target)}",
    )
    known = [extent for extent in shape if extent != -1]
    _require(
        len(shape) - len(known) <= 1 and all(extent >= 0 for extent in known),
        f"shape {list(shape)} has negative extents other than one -1",
    )
    rest = math.prod(input) // math.prod(known) if math.prod(known) else 0
    return tuple(rest if extent == -1 else extent for extent in shape)


def _softmax_shape(target: Shape, input: Shape, *, dimension: int) -> Shape:
    _require(
        -len(input) <= dimension < len(input),
        f"dimension {dimension} is out of range for rank {len(input)}",
    )
    return input


def _concat_shape(target: Shape, *inputs: Shape, dim: int) -> Shape:
    rank = len(inputs[0])
    _require(-rank <= dim < rank, f"dimension {dim} is out of range for rank {rank}")
    axis = dim % rank
    rest = {(len(shape), shape[:axis], shape[axis + 1 :]) for shape in inputs}
    _require(len(rest) == 1, f"operands must agree in all dimensions but {dim}")
    return (*inputs[0][:axis], sum(shape[axis] for shape in inputs), *inputs[0][axis + 1 :])


def _embedding_shape(target: Shape, input: Shape, weight: Shape) -> Shape:
    _require(len(weight) == 2, f"weight is {_spell(weight)}; expected two dimensions")
    return (*input, weight[1])


_SPECIAL_SHAPES: dict[str, Callable[..., Shape]] = {
    "conv2d": _conv2d_shape,
    "max_pool2d": _max_pool2d_shape,
    "avg_pool2d": _avg_pool2d_shape,
    "conv_transpose2d": _conv_transpose2d_shape,
    "arange": _arange_shape,
    "full": _free_shape,
    "constant": _free_shape,
    "empty": _free_shape,
    "reshape": _reshape_shape,
    "softmax": _softmax_shape,
    "concat": _concat_shape,
    "embedding": _embedding_shape,
}
"""Rules that depend on the output's shape or check more than a row's own rule."""

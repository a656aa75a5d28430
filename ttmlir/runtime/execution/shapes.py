"""What shape an operation produces, and how it is made to fit the tensor that it is stored to."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ttmlir.limits import memory_advice, memory_limit
from ttmlir.optable.row import Family, Shape
from ttmlir.optable.shapes import broadcast_shape, spell_shape
from ttmlir.runtime.element import Array
from ttmlir.runtime.errors import BinaryError
from ttmlir.runtime.execution.operations import OperationCall

Fit = Callable[[Array], Array]
_LARGEST_ITEM = 8


def check_shapes(call: OperationCall) -> Fit | None:
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
    for ref in call.outputs[1:]:
        if ref.desc.shape != shape:
            raise BinaryError(
                f"{call.operation.where}: {call.name} makes {spell_shape(shape)}, but one of its "
                f"outputs is {spell_shape(ref.desc.shape)}"
            )
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
    operands = ", ".join(map(spell_shape, shapes))
    raise BinaryError(
        f"{call.operation.where}: {call.name} on operands of shape {operands} makes "
        f"{spell_shape(shape)}, but its output is {spell_shape(target)}"
    )


def _check_window(call: OperationCall, shapes: tuple[Shape, ...]) -> None:
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


def broadcasts(shape: Shape, target: Shape) -> bool:
    """True if repeating elements along extents of 1 turns one shape into the other."""
    try:
        return broadcast_shape(shape, target) == target
    except ValueError:
        return False


def _result_shape(call: OperationCall, shapes: tuple[Shape, ...]) -> Shape:
    row = call.row
    if row.family.is_elementwise:
        return broadcast_shape(*shapes)
    target = call.output.desc.shape
    if row.family is Family.CREATION:
        rule = row.result_shape
        return target if rule is None else rule(shape=target, **call.parameters)
    assert row.result_shape is not None, f"row '{row.mnemonic}' has no shape rule"
    return row.result_shape(*shapes, **call.parameters)

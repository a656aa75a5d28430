"""What becomes of a `ttir.broadcast`: nothing where its user repeats elements by itself.

ttnn has no operation of that name. Elementwise operations and moves to the host repeat an operand
that is smaller than their result, so they take the operand of the broadcast. Other users get the
tensor in full, made by `ttnn.repeat`, or the destination where it has no elements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue, Use

from ttmlir.dialects import ttir
from ttmlir.ir.layouts import layout_of, with_layout
from ttmlir.ir.rewriting import erase, refuse, replace
from ttmlir.ir.tensor_types import value_shape
from ttmlir.ir.ttnn_builder import TTNNBuilder
from ttmlir.optable.shapes import broadcast_shape

Shape = tuple[int, ...]


def convert_broadcast(
    op: ttir.TTIRRowOp, output: SSAValue, device: Callable[[Operation], SSAValue]
) -> list[ttir.ToLayoutOp]:
    """Take a broadcast out; `device` finds the device for new destinations.

    Where the tensor is needed in full, it is written to `output`. Returns the moves that now take
    the operand of the broadcast.
    """
    (small,) = op.inputs
    result = op.results[0]
    placed = _placed_shape(op)
    _check(op, placed)
    if not _is_suffix(value_shape(small), placed):
        small = _reshape(op, small, placed, device(op))
    shape = value_shape(small)
    users = dict.fromkeys(use.operation for use in result.uses)
    result.replace_uses_with_if(small, lambda use: _repeats(use, shape))
    moves = [
        user for user in users if isinstance(user, ttir.ToLayoutOp) and user.operands[0] is small
    ]
    if result.first_use is None:
        erase(op)
        return moves
    if 0 in value_shape(result):
        replace(op, output)
        return moves
    if len(shape) < len(placed):
        small = _reshape(op, small, placed, device(op))
    counts = tuple(whole // part for whole, part in zip(value_shape(result), placed, strict=True))
    builder = TTNNBuilder.on(device(op), op)
    repeated = builder.create(
        "repeat", (small,), result.type, output=output, repeat_dimensions=counts
    )
    replace(op, repeated)
    return moves


def _placed_shape(op: Operation) -> Shape:
    """The shape of the operand at the rank of the result, its dimensions where they will be."""
    extents, rank = value_shape(op.operands[0]), len(value_shape(op.results[0]))
    dims = tuple(
        item.value.data for item in cast("ArrayAttr[IntegerAttr]", op.properties["dimension"]).data
    )
    if len(extents) > rank or not all(0 <= dim < rank for dim in dims):
        refuse(
            op,
            f"cannot place {len(extents)} dimensions at {list(dims)} of a result with {rank}",
        )
    if len(extents) == rank or len(dims) != len(extents):
        return (*(1 for _ in range(rank - len(extents))), *extents)
    placed = [1] * rank
    for extent, dim in zip(extents, dims, strict=True):
        placed[dim] = extent
    return tuple(placed)


def _check(op: Operation, placed: Shape) -> None:
    """Refuse extents that repetition does not turn into those of the result."""
    shape = value_shape(op.results[0])
    if any(part not in (1, whole) for part, whole in zip(placed, shape, strict=True)):
        refuse(
            op,
            f"cannot repeat extents {list(placed)} to {list(shape)}: each must be 1 or the "
            "extent of the result",
        )


def _is_suffix(shape: Shape, placed: Shape) -> bool:
    """True if aligning `shape` at the last dimension, as in NumPy, puts it where it belongs."""
    rest = len(placed) - len(shape)
    return placed[rest:] == shape and all(extent == 1 for extent in placed[:rest])


def _repeats(use: Use, shape: Shape) -> bool:
    """True if the user gives the same result for an operand of the smaller `shape`."""
    user = use.operation
    if isinstance(user, ttir.ToLayoutOp):
        layout = layout_of(user.results[0].type)
        return use.index == 0 and layout is not None and layout.memory_space.is_system
    if isinstance(user, ttir.ElementwiseOp):
        shapes = [value_shape(value) for value in user.inputs]
        if use.index >= len(shapes):
            return False
        shapes[use.index] = shape
        return broadcast_shape(*shapes) == value_shape(user.results[0])
    same_rank = len(shape) == len(value_shape(user.operands[use.index]))
    return user.name == "ttir.broadcast" and use.index == 0 and same_rank


def _reshape(op: Operation, value: SSAValue, shape: Shape, device: SSAValue) -> SSAValue:
    type_ = cast("TensorType[Attribute]", value.type)
    new_type: Attribute = TensorType(type_.element_type, shape)
    if (layout := layout_of(type_)) is not None:
        new_type = with_layout(new_type, layout.with_grid(shape, layout.grid))
    return TTNNBuilder.on(device, op).create("reshape", (value,), new_type, shape=shape)

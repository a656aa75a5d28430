"""Folds along a dimension that keep what comes between, as loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.arrays.array import Array
from ttmlir.dialects.stablehlo.form import integer
from ttmlir.ir.rewriting import replace
from ttmlir.ir.stablehlo_arrays import StableHLOCarrier
from ttmlir.ir.tensor_types import value_shape


def expand_scan(op: Operation) -> None:
    """Repeat the body for each place along the dimension, from the last one if it is reversed.

    The body takes the parts of the inputs at the place and what is carried, and returns the parts
    of the outputs and what is carried on.
    """
    block = op.regions[0].block
    taken, given = (_first_segment(op, name) for name in ("operand", "result"))
    inputs, carried = op.operands[:taken], op.operands[taken:]
    outputs = op.results[:given]
    dim = integer(op, "dimension")
    length = _length(op, [*inputs, *outputs], dim)
    carrier = StableHLOCarrier.before(op)
    types = [cast("TensorType[Attribute]", result.type) for result in outputs]
    empty = [_empty(carrier, type_) for type_ in types]
    is_reversed = _flag(op, "is_reverse")

    def step(number: Array, *state: Array) -> Sequence[Array]:
        place = -number + (length - 1) if is_reversed else number
        parts = [_part(carrier.wrap(value), dim, place) for value in inputs]
        made = _copied(op, carrier, [*parts, *state[given:]])
        outs = [
            out.put(dim, place, part.reshape(_with_one(part.shape, dim)))
            for out, part in zip(state[:given], made[:given], strict=True)
        ]
        return [*outs, *made[given:]]

    assert len(block.args) == taken + len(carried), "the body takes parts and what is carried"
    state = [*empty, *map(carrier.wrap, carried)]
    replace(op, *carrier.repeat(length, step, state, None))


def _empty(carrier: StableHLOCarrier, type_: TensorType[Attribute]) -> Array:
    dtype, shape = str(type_.element_type), type_.get_shape()
    return Array(carrier, carrier.fill(0, shape, dtype), shape, dtype)


def _first_segment(op: Operation, name: str) -> int:
    """How many inputs, or outputs, there are before what is carried."""
    segments = cast("DenseArrayBase[IntegerType]", op.properties[f"{name}SegmentSizes"])
    return segments.get_values()[0]


def _length(op: Operation, values: Sequence[SSAValue], dim: int) -> int:
    if values:
        return value_shape(values[0])[dim]
    return integer(op, "scan_dim_size")


def _flag(op: Operation, name: str) -> bool:
    attr = op.properties.get(name)
    return attr is not None and bool(cast("IntegerAttr", attr).value.data)


def _part(tensor: Array, dim: int, place: Array) -> Array:
    """The elements at a place along a dimension, which is gone."""
    shape = [extent for number, extent in enumerate(tensor.shape) if number != dim]
    return tensor.take(dim, place).reshape(shape)


def _with_one(shape: Sequence[int], dim: int) -> Sequence[int]:
    return [*shape[:dim], 1, *shape[dim:]]


def _copied(op: Operation, carrier: StableHLOCarrier, arguments: Sequence[Array]) -> list[Array]:
    """What the body of an operation returns for arguments, its operations copied."""
    block = op.regions[0].block
    values: dict[SSAValue, SSAValue] = {
        argument: given.value for argument, given in zip(block.args, arguments, strict=True)
    }
    *operations, end = block.ops
    for original in operations:
        carrier.add(original.clone(values))
    return [carrier.wrap(values.get(value, value)) for value in end.operands]

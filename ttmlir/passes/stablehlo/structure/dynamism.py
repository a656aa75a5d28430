"""Operations whose sizes are operands: those with constant ones become the static operations.

The types of convolutions and gathers that are made may still have unknown extents.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Operation

from ttmlir.dialects.stablehlo.text.form import integer
from ttmlir.ir.rewriting import refuse_to_legalize, replace
from ttmlir.ir.tensor_types import value_shape
from ttmlir.mlir.attributes.elements import ElementsType, elements_of
from ttmlir.passes.core.ttir_conversion import ConversionRule
from ttmlir.passes.stablehlo.specification.writer import Writer, i64_array
from ttmlir.passes.stablehlo.structure.known_sizes import KnownSizes


def _numbers(op: Operation, number: int, what: str) -> tuple[int, ...]:
    return KnownSizes().numbers(op, number, what)


def _static_type(op: Operation, operand: int) -> Attribute:
    """The type of the result; its shape is an operand where the type does not say it."""
    type_ = cast("TensorType[Attribute]", op.results[0].type)
    if type_.has_static_shape():
        return type_
    return TensorType(type_.element_type, _numbers(op, operand, "extents of the result"))


def _reshape(op: Operation) -> None:
    replace(op, Writer(op).create("reshape", op.operands[:1], _static_type(op, 1)))


def _broadcast_in_dim(op: Operation) -> None:
    dims = op.properties["broadcast_dimensions"]
    type_ = _static_type(op, 1)
    new = Writer(op).create("broadcast_in_dim", op.operands[:1], type_, broadcast_dimensions=dims)
    replace(op, new)


def _iota(op: Operation) -> None:
    dim = op.properties["iota_dimension"]
    replace(op, Writer(op).create("iota", (), _static_type(op, 0), iota_dimension=dim))


def _pad(op: Operation) -> None:
    low, high, interior = (_numbers(op, number, "amounts of padding") for number in (2, 3, 4))
    operand = op.operands[0]
    shape = [
        before + extent + max(extent - 1, 0) * between + after
        for extent, before, after, between in zip(
            value_shape(operand), low, high, interior, strict=True
        )
    ]
    new = Writer(op).create(
        "pad",
        op.operands[:2],
        _checked_type(op, shape),
        edge_padding_low=i64_array(low),
        edge_padding_high=i64_array(high),
        interior_padding=i64_array(interior),
    )
    replace(op, new)


def _checked_type(op: Operation, shape: Sequence[int]) -> TensorType[Attribute]:
    """The type of a result of a computed shape, which has to be what the program says."""
    type_ = cast("TensorType[Attribute]", op.results[0].type)
    said = type_.get_shape()
    pairs = zip(said, shape, strict=True)
    if any(extent < 0 for extent in shape) or any(s not in (DYNAMIC_INDEX, n) for s, n in pairs):
        refuse_to_legalize(
            op, f"its operands give the shape {list(shape)}, which is not that of '{type_}'"
        )
    return TensorType(type_.element_type, shape)


def _slice(op: Operation) -> None:
    starts, limits, strides = (
        _numbers(op, number, what)
        for number, what in ((1, "starts"), (2, "limits"), (3, "strides"))
    )
    triples = list(zip(starts, limits, strides, strict=True))
    inside = all(
        0 <= start <= limit <= extent and stride > 0
        for (start, limit, stride), extent in zip(triples, value_shape(op.operands[0]), strict=True)
    )
    if not inside:
        refuse_to_legalize(op, "starts and limits have to be in order and inside of the operand")
    shape = [-(-(limit - start) // stride) for start, limit, stride in triples]
    new = Writer(op).create(
        "slice",
        op.operands[:1],
        _checked_type(op, shape),
        start_indices=i64_array(starts),
        limit_indices=i64_array(limits),
        strides=i64_array(strides),
    )
    replace(op, new)


def _gather(op: Operation) -> None:
    sizes = _numbers(op, 2, "sizes of the slices")
    properties = {**op.properties, "slice_sizes": i64_array(sizes)}
    replace(op, Writer(op).create("gather", op.operands[:2], op.results[0].type, **properties))


def _convolution(op: Operation) -> None:
    padding = _known_padding(op)
    properties = {**op.properties, "padding": padding}
    replace(op, Writer(op).create("convolution", op.operands[:2], op.results[0].type, **properties))


def _known_padding(op: Operation) -> DenseIntOrFPElementsAttr:
    numbers = _numbers(op, 2, "amounts of padding")
    type_ = TensorType(i64, value_shape(op.operands[2]))
    return elements_of(cast("ElementsType", type_), numbers)


def _get_dimension_size(op: Operation) -> None:
    extent = value_shape(op.operands[0])[integer(op, "dimension")]
    if extent < 0:
        refuse_to_legalize(
            op,
            "the extent is only known when the program runs, and programs of devices have buffers "
            "of fixed sizes; give every argument a static shape",
        )
    replace(op, Writer(op).constant(cast("ElementsType", op.results[0].type), [extent]))


def _set_dimension_size(op: Operation) -> None:
    """What is behind the new extent is never looked at, so that it is cut off."""
    (size,) = _numbers(op, 1, "new extent")
    shape, dim = value_shape(op.operands[0]), integer(op, "dimension")
    if not 0 <= size <= shape[dim]:
        refuse_to_legalize(op, f"the extent {size} is not between 0 and {shape[dim]}")
    kept = [size if place == dim else extent for place, extent in enumerate(shape)]
    new = Writer(op).create(
        "slice",
        op.operands[:1],
        _checked_type(op, kept),
        start_indices=i64_array([0] * len(kept)),
        limit_indices=i64_array(kept),
        strides=i64_array([1] * len(kept)),
    )
    replace(op, new)


FIRST_SIZE = {
    "stablehlo.dynamic_broadcast_in_dim": 1,
    "stablehlo.dynamic_conv": 2,
    "stablehlo.dynamic_gather": 2,
    "stablehlo.dynamic_iota": 0,
    "stablehlo.dynamic_pad": 2,
    "stablehlo.dynamic_reshape": 1,
    "stablehlo.real_dynamic_slice": 1,
    "stablehlo.set_dimension_size": 1,
}
"""The first operand that is a size; those behind it are sizes, too."""
RULES: dict[str, ConversionRule] = {
    "stablehlo.dynamic_broadcast_in_dim": _broadcast_in_dim,
    "stablehlo.dynamic_conv": _convolution,
    "stablehlo.dynamic_gather": _gather,
    "stablehlo.dynamic_iota": _iota,
    "stablehlo.dynamic_pad": _pad,
    "stablehlo.dynamic_reshape": _reshape,
    "stablehlo.get_dimension_size": _get_dimension_size,
    "stablehlo.real_dynamic_slice": _slice,
    "stablehlo.set_dimension_size": _set_dimension_size,
}
"""Rules by the full name of the operation."""

"""Operations that make a tensor from nothing but parameters."""

from __future__ import annotations

from typing import Any

from ttmlir.errors import ArgumentError
from ttmlir.optable.op_definition import (
    Family,
    Flatbuffer,
    Kind,
    OpDefinition,
    Parameter,
    Shape,
    require,
)


def arange_length(*, start: int, end: int, step: int) -> int:
    """Number of values from `start` to below `end`; ValueError for a step of 0."""
    if step == 0:
        raise ArgumentError("Step must not be 0.")
    return max(0, -(-(end - start) // step))


def arange_shape(*, start: int, end: int, step: int, arange_dimension: int, shape: Shape) -> Shape:
    """The shape that is asked for, with as many numbers along the dimension as there are."""
    length = arange_length(start=start, end=end, step=step)
    require(
        0 <= arange_dimension < len(shape),
        f"Dimension {arange_dimension} is out of range for rank {len(shape)}.",
    )
    return (*shape[:arange_dimension], length, *shape[arange_dimension + 1 :])


def _constant(xp: Any, *, value: Any, shape: Shape) -> Any:
    return xp.broadcast_to(value, shape)


def _empty(xp: Any, *, shape: Shape) -> Any:
    return xp.zeros(shape)


def _full(xp: Any, *, fillValue: float, shape: Shape) -> Any:
    return xp.full(shape, fillValue)


def _arange(
    xp: Any, *, start: int, end: int, step: int, arange_dimension: int, shape: Shape
) -> Any:
    values = xp.arange(start, end, step)
    along = tuple(-1 if i == arange_dimension else 1 for i in range(len(shape)))
    return xp.broadcast_to(xp.reshape(values, along), shape)


DEFINITIONS = (
    OpDefinition(
        mnemonic="constant",
        summary="A tensor whose elements stand in the program.",
        family=Family.CREATION,
        operands=(),
        parameters=(Parameter(name="value", kind=Kind.ELEMENTS, doc="The elements."),),
        reference=_constant,
        flatbuffer=Flatbuffer(table="ConstantOp", fields=(("device", "device"), ("out", "output"))),
    ),
    OpDefinition(
        mnemonic="empty",
        summary="Memory for a tensor; its elements are undefined, here 0.",
        family=Family.CREATION,
        operands=(),
        reference=_empty,
        in_ttir=False,
        flatbuffer=Flatbuffer(table="EmptyOp", fields=(("device", "device"), ("out", "output"))),
    ),
    OpDefinition(
        mnemonic="full",
        summary="A tensor all of whose elements are the same.",
        family=Family.CREATION,
        operands=(),
        parameters=(Parameter(name="fillValue", kind=Kind.F32, doc="Value of the elements."),),
        reference=_full,
        in_ttir=False,
        flatbuffer=Flatbuffer(
            table="FullOp",
            fields=(("device", "device"), ("fill_value", "fillValue"), ("out", "output")),
        ),
    ),
    OpDefinition(
        mnemonic="arange",
        summary="Evenly spaced numbers along a dimension.",
        formula="output[..., i, ...] = start + i * step",
        family=Family.CREATION,
        operands=(),
        parameters=(
            Parameter(name="start", kind=Kind.SI64, doc="First number."),
            Parameter(name="end", kind=Kind.SI64, doc="End of the numbers, exclusive."),
            Parameter(name="step", kind=Kind.SI64, doc="Distance of the numbers, not 0."),
            Parameter(
                name="arange_dimension", kind=Kind.I64, doc="Dimension along which they grow."
            ),
        ),
        reference=_arange,
        result_shape=arange_shape,
        flatbuffer=Flatbuffer(
            table="ArangeOp",
            fields=(
                ("out", "output"),
                ("start", "start"),
                ("end", "end"),
                ("step", "step"),
                ("arange_dimension", "arange_dimension"),
            ),
        ),
        since="2026-08",
    ),
)

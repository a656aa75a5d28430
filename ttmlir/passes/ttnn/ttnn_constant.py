"""How a constant tensor is made on a device: filled with one value, or from all its elements.

`ttnn.full` takes one 32-bit float. Constants whose elements all have one value that such a float
holds exactly become that; every other constant carries its elements in `ttnn.constant`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    f32,
)
from xdsl.ir import Attribute

from ttmlir.dialects import ttnn
from ttmlir.ir.constants import number_of_elements
from ttmlir.mlir.attributes.elements import Elements
from ttmlir.mlir.attributes.floats import exact_float32

# tt-mlir makes zeros of these types with `ttnn.empty`, whose memory starts as 0.
_ZEROS_FROM_MEMORY = ("f32", "i32", "si32")


@dataclass(frozen=True)
class ConstantForm:
    """An operation that makes a constant, and its properties."""

    cls: type[ttnn.EmptyOp | ttnn.FullOp | ttnn.ConstantOp]
    properties: dict[str, Attribute]


def constant_form(value: Attribute) -> ConstantForm:
    """The operation that makes a tensor with the elements `value`."""
    fill = _fill_value(value)
    if fill is None:
        return ConstantForm(ttnn.ConstantOp, {"value": value})
    if fill == 0 and _keyword(cast("Elements", value)) in _ZEROS_FROM_MEMORY:
        return ConstantForm(ttnn.EmptyOp, {})
    return ConstantForm(ttnn.FullOp, {"fillValue": FloatAttr(fill, f32)})


def _fill_value(value: Attribute) -> float | None:
    """The one value of all elements as a 32-bit float; None if there is no such value."""
    if not isinstance(value, DenseIntOrFPElementsAttr):
        return None
    number = number_of_elements(cast("Elements", value))
    return None if number is None else exact_float32(number)


def _keyword(elements: Elements) -> str:
    return str(elements.get_element_type())

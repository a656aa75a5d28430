"""Constants in a module that is being converted: their one number, and new ones."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import AnyFloat, DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.ir.ttir_building import built_constant, element_type
from ttmlir.mlir.attributes.elements import (
    Elements,
    ElementsType,
    elements_of,
    splat_bytes,
    unpack_values,
)
from ttmlir.mlir.attributes.floats import bits_of, value_of

_CONSTANTS = ("stablehlo.constant", "ttir.constant")


def splat_number(value: SSAValue) -> int | float | None:
    """The one number of all elements of a constant; None if it is none, or has several.

    Truth is 1. Constants are found through operations that repeat them, convert their shape, or
    convert them to floating point numbers.
    """
    owner = value.owner
    if not isinstance(owner, Operation):
        return None
    if owner.name in ("ttir.broadcast", "ttir.reshape"):
        return splat_number(owner.operands[0])
    if owner.name == "ttir.typecast":
        number = splat_number(owner.operands[0])
        element = element_type(owner.results[0])
        if number is None or not isinstance(element, AnyFloat):
            return None
        return _rounded(float(number), element)
    return _splat_of(owner)


def _rounded(number: float, element: AnyFloat) -> float:
    return value_of(bits_of(number, element), element)


def _splat_of(owner: Operation) -> int | float | None:
    attr = owner.properties.get("value") if owner.name in _CONSTANTS else None
    if not isinstance(attr, DenseIntOrFPElementsAttr):
        return None
    elements = cast("Elements", attr)
    splat = splat_bytes(elements)
    if splat is None:
        return None
    (number,) = unpack_values(splat, elements.get_element_type())
    if isinstance(number, tuple):
        return None
    # As a signed number of one bit, true is -1.
    return abs(number) if str(elements.get_element_type()) == "i1" else number


def splat_constant(op: Operation, number: float, type_: Attribute) -> SSAValue:
    """A new constant in front of `op` all of whose elements are `number`."""
    element = cast("TensorType[Attribute]", type_).element_type
    value = number if isinstance(element, AnyFloat) else int(number)
    return built_constant(op, elements_of(cast("ElementsType", type_), [value]), type_)


def scalar_constant(op: Operation, number: float, element: Attribute) -> SSAValue:
    """A new constant without dimensions, which elementwise operations repeat as needed."""
    return splat_constant(op, number, TensorType(element, ()))

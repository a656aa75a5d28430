"""The numbers of constants, in whatever dialect the constant is."""

from __future__ import annotations

import math
from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    f64,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.ir.tensor_types import element_type, is_boolean, limits_of
from ttmlir.mlir.attributes import (
    Elements,
    ElementsType,
    bits_of,
    element_count,
    elements_attr,
    exact_float32,
    large_bytes,
    raw_bytes,
    splat_bytes,
    splat_value,
    unpack_values,
    value_of,
)
from ttmlir.mlir.reporting import OpError
from ttmlir.mlir.resources import resource_bytes
from ttmlir.optable import definition
from ttmlir.optable.op_definition import OpDefinition

# --- Identities -----------------------------------------------------------------------------------
# Numbers that change nothing when they are combined with others of an element type.


def logic_of(combining: OpDefinition, element: Attribute) -> OpDefinition:
    """The operation itself, or the one that computes the same on truth values if these are i1."""
    return definition(combining.on_truth) if combining.on_truth and element == i1 else combining


def identity_of(combining: OpDefinition, element: Attribute) -> float | None:
    """The number that leaves others as they are; None for an operation that has none."""
    identity = combining.identity
    if identity is None or isinstance(element, AnyFloat):
        return identity
    low, high = limits_of(element)
    if math.isinf(identity):
        return low if identity < 0 else high
    # -1 has all bits set, as the largest number without sign has.
    return identity if identity >= low else high


# --- Constants ------------------------------------------------------------------------------------

CONSTANTS = frozenset(
    {"arith.constant", "stablehlo.constant", "tosa.const", "tosa.const_shape", "ttir.constant"}
)
"""Operations that hold a constant."""
_LONGEST = 64
"""Elements of a constant of indices that is looked into."""

_MOST_COPIES = 1 << 20
"""Copies of one number that are made; a type may say any number of them."""


def constant_attr(value: SSAValue) -> Attribute | None:
    """The attribute that a constant holds; None for other values."""
    owner = value.owner
    if not isinstance(owner, Operation) or owner.name not in CONSTANTS:
        return None
    return owner.properties.get("value", owner.properties.get("values"))


def constant_elements(value: SSAValue) -> Elements | None:
    """The elements of a constant tensor; None for other values."""
    attr = constant_attr(value)
    return cast("Elements", attr) if isinstance(attr, DenseIntOrFPElementsAttr) else None


def own_constants(module: Operation) -> None:
    """Copy what constants still refer to in memory that a framework may change."""
    for op in module.walk():
        for attr in op.properties.values():
            if isinstance(attr, DenseIntOrFPElementsAttr):
                large = large_bytes(cast("Elements", attr))
                if large is not None:
                    large.own()


def constant_numbers(value: SSAValue) -> tuple[float, ...] | None:
    """The elements of a constant tensor, or the one number of a constant; None for other values.

    True is 1. None also for one number that is repeated very often.
    """
    return attr_numbers(constant_attr(value))


def attr_numbers(attr: Attribute | None) -> tuple[float, ...] | None:
    """The elements of a constant's attribute, or its one number; None for other attributes.

    True is 1. None also for one number that is repeated very often.
    """
    if isinstance(attr, DenseIntOrFPElementsAttr):
        elements = cast("Elements", attr)
        splat = splat_bytes(elements)
        if splat is not None and element_count(elements) > _MOST_COPIES:
            return None
        found = _unpack_numbers(elements, raw_bytes(elements) if splat is None else splat)
        return found if splat is None else found * element_count(elements)
    if isinstance(attr, (FloatAttr, IntegerAttr)):
        return (cast("float", attr.value.data),)
    return None


def _unpack_numbers(elements: Elements, data: bytes | memoryview) -> tuple[float, ...]:
    """The numbers that bytes spell."""
    element = elements.get_element_type()
    numbers = cast("tuple[float, ...]", tuple(unpack_values(data, element)))
    # As a signed number of one bit, true is -1.
    return tuple(map(abs, numbers)) if is_boolean(element) else numbers


def constant_indices(value: SSAValue) -> tuple[int, ...] | None:
    """The elements of a small integer constant, also through reshapes; None if it is none."""
    owner = value.owner
    while isinstance(owner, Operation) and owner.name == "ttir.reshape":
        value = owner.operands[0]
        owner = value.owner
    elements = constant_elements(value)
    if elements is None or element_count(elements) > _LONGEST:
        return None
    if not isinstance(elements.get_element_type(), IntegerType):
        return None
    return cast("tuple[int, ...] | None", constant_numbers(value))


def splat_number(value: SSAValue) -> int | float | None:
    """The one number of all elements of a constant; None if it is none, or has several.

    True is 1. Constants are found through operations that repeat them, convert their shape, or
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
        return _round_to(float(number), element)
    elements = constant_elements(value)
    return None if elements is None else number_of_elements(elements)


def number_of_elements(attribute: Attribute) -> int | float | None:
    """The one real number that all elements are; None if there is none. True is 1."""
    if not isinstance(attribute, DenseIntOrFPElementsAttr):
        # Resources are large, and their bytes are the module's.
        return None
    elements = cast("Elements", attribute)
    number = splat_value(elements)
    if number is None or isinstance(number, tuple):
        return None
    # As a signed number of one bit, true is -1.
    return abs(number) if is_boolean(elements.get_element_type()) else number


def needs_64_bits(number: float, element: Attribute) -> bool:
    """True for an element of a type of 64 bits that is no number of f32 or i32."""
    if isinstance(element, IntegerType):
        width = cast("IntegerType", element).width.data
        return width == 64 and not -(1 << 31) <= number < 1 << 31
    return element == f64 and exact_float32(number) is None


def find_elements(op: Operation) -> Elements:
    """The elements of a constant, those of a resource, too; OpError if it has none."""
    value = op.properties["value"]
    if isinstance(value, DenseResourceAttr):
        return elements_attr(cast("ElementsType", value.type), resource_bytes(op, value))
    if not isinstance(value, DenseIntOrFPElementsAttr):
        raise OpError(op, f"'{value.name}' is not a list of elements; give a dense constant")
    return cast("Elements", value)


def _round_to(number: float, element: AnyFloat) -> float:
    return value_of(bits_of(number, element), element)

"""The numbers of constants, in whatever dialect the constant is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    TensorType,
    f32,
    i1,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.ir.builder import Builder
from ttmlir.ir.tensor_types import element_type, is_boolean, limits_of, tensor_of, value_shape
from ttmlir.mlir.attributes import (
    Elements,
    bits_of,
    element_count,
    large_bytes,
    raw_bytes,
    splat_bytes,
    splat_value,
    unpack_values,
    value_of,
)
from ttmlir.optable import row
from ttmlir.optable.row import Row

if TYPE_CHECKING:
    pass


# --- Small floats ---------------------------------------------------------------------------------
# Rounding to floating point formats of 8 bits and fewer, whose numbers bf16 holds.
#
# Values and roundings are those of the package ml_dtypes.


@dataclass(frozen=True)
class SmallFloat:
    """A format by its stored mantissa bits, least normal exponent and largest number."""

    mantissa_bits: int
    least_exponent: int
    largest: float
    beyond: float = math.nan
    """What numbers become that are too large: infinite, NaN, or `largest`."""
    has_nan: bool = True
    has_negative_zero: bool = True
    is_scale: bool = False
    """True for powers of two above 0; halves between them go up."""


SMALL_FLOATS: dict[str, SmallFloat] = {
    "f8E4M3FN": SmallFloat(3, -6, 448.0),
    "f8E5M2": SmallFloat(2, -14, 57344.0, math.inf),
    "f8E4M3FNUZ": SmallFloat(3, -7, 240.0, has_negative_zero=False),
    "f8E5M2FNUZ": SmallFloat(2, -15, 57344.0, has_negative_zero=False),
    "f8E4M3B11FNUZ": SmallFloat(3, -10, 30.0, has_negative_zero=False),
    "f8E4M3": SmallFloat(3, -6, 240.0, math.inf),
    "f8E3M4": SmallFloat(4, -2, 15.5, math.inf),
    "f8E8M0FNU": SmallFloat(0, -126, 2.0**127, is_scale=True),
    "f6E2M3FN": SmallFloat(3, 0, 7.5, 7.5, has_nan=False),
    "f6E3M2FN": SmallFloat(2, -2, 28.0, 28.0, has_nan=False),
    "f4E2M1FN": SmallFloat(1, 0, 6.0, 6.0, has_nan=False),
}
"""The formats by the names of their types."""

_F32_MANTISSA_BITS = 23


def round_to_small_float(build: Builder, x: SSAValue, form: SmallFloat) -> SSAValue:
    """A tensor of f32 rounded to the nearest numbers of a format, ties to even; f32 as well."""
    number = build.create("abs", (x,), x.type)
    rounded = _round_normal(build, x, form)
    if not form.is_scale:
        # Below the least normal exponent numbers are the same step apart.
        step = math.ldexp(1.0, form.least_exponent - form.mantissa_bits)
        small = _compute(build, "multiply", x, 1 / step)
        small = _compute(build, "multiply", build.create("round", (small,), x.type), step)
        is_small = _compare(build, "lt", number, math.ldexp(1.0, form.least_exponent))
        rounded = build.create("where", (is_small, small, rounded), x.type)
    if form.beyond == form.largest:
        rounded = build.create("clamp", (rounded,), x.type, min=-form.largest, max=form.largest)
    else:
        rounded = _replace_large(build, rounded, form)
    is_nan = build.create("ne", (x, x), _truth(x))
    if form.is_scale:
        is_nan = build.create("logical_or", (is_nan, _compare(build, "le", x, 0.0)), _truth(x))
    nan = build.create_scalar(math.nan if form.has_nan else -0.0, f32)
    rounded = build.create("where", (is_nan, nan, rounded), x.type)
    return rounded if form.has_negative_zero else _compute(build, "add", rounded, 0.0)


def _round_normal(build: Builder, x: SSAValue, form: SmallFloat) -> SSAValue:
    """Cut the mantissa, after adding half of what is cut, less one bit unless it is odd."""
    lost = _F32_MANTISSA_BITS - form.mantissa_bits
    bits = build.create("bitcast_convert", (x,), tensor_of(i32, value_shape(x)))
    half = 1 << (lost - 1)
    if form.is_scale:
        bits = _compute(build, "add", bits, half)
    else:
        last = _compute(build, "logical_right_shift", bits, lost)
        last = _compute(build, "bitwise_and", last, 1)
        bits = build.create("add", (bits, last), bits.type)
        bits = _compute(build, "add", bits, half - 1)
    bits = _compute(build, "bitwise_and", bits, -1 << lost)
    return build.create("bitcast_convert", (bits,), x.type)


def _replace_large(build: Builder, rounded: SSAValue, form: SmallFloat) -> SSAValue:
    is_above = _compare(build, "gt", rounded, form.largest)
    is_below = _compare(build, "lt", rounded, -form.largest)
    for is_large, beyond in ((is_above, form.beyond), (is_below, -form.beyond)):
        number = build.create_scalar(beyond, f32)
        rounded = build.create("where", (is_large, number, rounded), rounded.type)
    return rounded


def _compute(build: Builder, mnemonic: str, x: SSAValue, number: float) -> SSAValue:
    element = f32 if isinstance(number, float) else i32
    return build.create(mnemonic, (x, build.create_scalar(number, element)), x.type)


def _compare(build: Builder, mnemonic: str, x: SSAValue, number: float) -> SSAValue:
    return build.create(mnemonic, (x, build.create_scalar(number, f32)), _truth(x))


def _truth(x: SSAValue) -> TensorType[Attribute]:
    return tensor_of(i1, value_shape(x))


# --- Identities -----------------------------------------------------------------------------------
# Numbers that change nothing when they are combined with others of an element type.


def logic_of(combining: Row, element: Attribute) -> Row:
    """The operation itself, or the one that computes the same on truth values if these are i1."""
    return row(combining.on_truth) if combining.on_truth and element == i1 else combining


def identity_of(combining: Row, element: Attribute) -> float | None:
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


def number_of_elements(elements: Elements) -> int | float | None:
    """The one real number that all elements are; None if there is none. True is 1."""
    number = splat_value(elements)
    if number is None or isinstance(number, tuple):
        return None
    # As a signed number of one bit, true is -1.
    return abs(number) if is_boolean(elements.get_element_type()) else number


def _round_to(number: float, element: AnyFloat) -> float:
    return value_of(bits_of(number, element), element)

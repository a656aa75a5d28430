"""Integers and truth values that are known while compiling: the counters of loops above all."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import cast

from xdsl.dialects.builtin import IntegerType, Signedness, TensorType
from xdsl.ir import Attribute, Data, Operation, SSAValue

from ttmlir.ir.constants import splat_number

COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "EQ": operator.eq,
    "NE": operator.ne,
    "GE": operator.ge,
    "GT": operator.gt,
    "LE": operator.le,
    "LT": operator.lt,
}
"""What `stablehlo.compare` asks, by its direction."""
INTEGERS: Mapping[str, Callable[[Sequence[int]], int]] = {
    "stablehlo.add": lambda values: values[0] + values[1],
    "stablehlo.and": lambda values: values[0] & values[1],
    "stablehlo.clamp": lambda values: min(max(values[1], values[0]), values[2]),
    "stablehlo.convert": lambda values: values[0],
    "stablehlo.maximum": max,
    "stablehlo.minimum": min,
    "stablehlo.multiply": lambda values: values[0] * values[1],
    "stablehlo.negate": lambda values: -values[0],
    "stablehlo.not": lambda values: ~values[0],
    "stablehlo.or": lambda values: values[0] | values[1],
    "stablehlo.reshape": lambda values: values[0],
    "stablehlo.select": lambda values: values[1] if values[0] else values[2],
    "stablehlo.subtract": lambda values: values[0] - values[1],
    "stablehlo.xor": lambda values: values[0] ^ values[1],
}
"""What operations make of known integers, of which the type keeps the lower bits; truth values are
0 and 1."""


Known = MutableMapping[SSAValue, int | None]
"""What is known about values: their number, or None for those of which it is not known."""


def integer_element(type_: Attribute) -> IntegerType | None:
    """The element type of a tensor of one integer without dimensions; None for other types."""
    if not isinstance(type_, TensorType) or type_.get_shape() != ():
        return None
    element = cast("TensorType[Attribute]", type_).element_type
    return cast("IntegerType", element) if isinstance(element, IntegerType) else None


def known_integer(value: SSAValue, known: Known) -> int | None:
    """The number that a value without dimensions is known to be, else None.

    `known` holds what is known about arguments of blocks, and is filled with what is found.
    """
    if value in known:
        return known[value]
    element = integer_element(value.type)
    owner = value.owner
    number = None
    if element is not None and isinstance(owner, Operation):
        number = _compute(owner, known)
        number = None if number is None else _wrap(number, element)
    known[value] = number
    return number


def _compute(op: Operation, known: Known) -> int | None:
    if op.name == "stablehlo.constant":
        number = splat_number(op.results[0])
        return None if number is None else int(number)
    if op.name != "stablehlo.compare" and op.name not in INTEGERS:
        return None
    if any(integer_element(value.type) is None for value in op.operands):
        return None
    numbers = [known_integer(value, known) for value in op.operands]
    if None in numbers:
        return None
    values = cast("list[int]", numbers)
    if op.name == "stablehlo.compare":
        direction = cast("Data[str]", op.properties["comparison_direction"]).data
        return int(COMPARISONS[direction](*values))
    return INTEGERS[op.name](values)


def _wrap(number: int, element: IntegerType) -> int:
    """What the bits of a type keep of a number."""
    width = element.width.data
    bits = number % (1 << width)
    is_negative = bits >> (width - 1) and width > 1
    is_unsigned = element.signedness.data is Signedness.UNSIGNED
    return bits if is_unsigned or not is_negative else bits - (1 << width)

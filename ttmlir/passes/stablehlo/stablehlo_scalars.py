"""Integers and truth values that are known while compiling: the counters of loops above all."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import IntegerType, Signedness
from xdsl.ir import Data, Operation, SSAValue

from ttmlir.ir.constants import splat_number
from ttmlir.ir.tensor_types import element_type, is_boolean, is_tensor, value_shape
from ttmlir.optable import COMPARISONS, named_in, row
from ttmlir.optable.row import Row

_ROWS = {name: row for name, row in named_in("stablehlo").items() if row.family.is_elementwise}
_KEEPS_THE_NUMBER = ("stablehlo.convert", "stablehlo.reshape")
"""Operations that only change the type, which keeps the lower bits, or tells 0 from others."""
_WIDTHS = (1, 8, 16, 32, 64)
"""Bits of the integers that are computed with."""

Known = MutableMapping[SSAValue, int | None]
"""What is known about values: their number, or None for those of which it is not known."""


def elementwise_row(op: Operation) -> Row | None:
    """The row whose reference function computes an elementwise operation; None if there is none."""
    if op.name == "stablehlo.compare":
        return COMPARISONS[cast("Data[str]", op.properties["comparison_direction"]).data]
    return _ROWS.get(op.name)


def known_integer(value: SSAValue, known: Known) -> int | None:
    """The number that a value without dimensions is known to be, else None.

    `known` holds what is known about arguments of blocks, and is filled with what is found.
    """
    if value in known:
        return known[value]
    owner = value.owner
    number = None
    if _is_integer(value) and isinstance(owner, Operation):
        number = _compute(owner, known)
    known[value] = number
    return number


def _is_integer(value: SSAValue) -> bool:
    """True for tensors of one integer without dimensions."""
    if not is_tensor(value) or value_shape(value) != ():
        return False
    element = element_type(value)
    return isinstance(element, IntegerType) and cast("IntegerType", element).width.data in _WIDTHS


def _compute(op: Operation, known: Known) -> int | None:
    if op.name == "stablehlo.constant":
        number = splat_number(op.results[0])
        return None if number is None else int(_number_of_type(number, op.results[0]))
    if not all(map(_is_integer, op.operands)):
        return None
    numbers = [known_integer(value, known) for value in op.operands]
    if not numbers or None in numbers:
        return None
    return _computed(op, cast("list[int]", numbers))


def _computed(op: Operation, numbers: Sequence[int]) -> int | None:
    """What an operation makes of numbers; the type of its result keeps the lower bits."""
    # Only programs with control flow pay for the import.
    import numpy as np

    operands = list(map(_number_of_type, numbers, op.operands))
    found = elementwise_row(op)
    with np.errstate(all="ignore"):
        if op.name in _KEEPS_THE_NUMBER:
            (result,) = operands
        elif op.name == "stablehlo.clamp":
            low, inner, high = operands
            above = row("maximum").reference(np, low, inner)
            result = row("minimum").reference(np, above, high)
        elif found is not None:
            result = found.reference(np, *operands)
        else:
            return None
    return int(_number_of_type(result, op.results[0]))


def _number_of_type(number: Any, value: SSAValue) -> Any:
    """A number as an array without dimensions, of the integers that a tensor holds."""
    import numpy as np

    integer = cast("IntegerType", element_type(value))
    kind = "u" if integer.signedness.data is Signedness.UNSIGNED else "i"
    dtype = bool if is_boolean(integer) else f"{kind}{integer.width.data // 8}"
    return np.asarray(number).astype(dtype)

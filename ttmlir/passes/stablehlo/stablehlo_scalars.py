"""Integers and truth values that are known while compiling: the counters of loops above all.

They are tensors without dimensions, and the numbers of arith and tensor beside them.
"""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    IntegerType,
    Signedness,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Data, Operation, SSAValue

from ttmlir.ir.constants import constant_attr, splat_number
from ttmlir.ir.tensor_types import is_boolean
from ttmlir.optable import COMPARISONS, definition, named_in
from ttmlir.optable.op_definition import OpDefinition

_DEFINITIONS = {
    name: definition
    for name, definition in named_in("arith", "stablehlo", "tosa").items()
    if definition.family.is_elementwise
}
_KEEPS_THE_NUMBER = frozenset(
    {
        *("stablehlo.convert", "stablehlo.reshape", "tosa.cast", "tosa.reshape"),
        *("arith.extsi", "arith.extui", "arith.index_cast", "arith.trunci"),
        *("tensor.collapse_shape", "tensor.expand_shape", "tensor.extract", "tensor.from_elements"),
    }
)
"""Operations that only change the type, which keeps the lower bits, or tells 0 from others."""
_ON_TRUTH = ("arith.andi", "arith.extui", "arith.ori", "arith.select", "arith.xori")
"""Operations of arith to which true is 1."""
_PREDICATES = ("EQ", "NE", "LT", "LE", "GT", "GE")
"""The comparisons of `arith.cmpi` that are not for numbers without sign."""
_WIDTHS = (1, 8, 16, 32, 64)
"""Bits of the integers that are computed with."""

Known = MutableMapping[SSAValue, int | None]
"""What is known about values: their number, or None for those of which it is not known."""


def elementwise_definition(op: Operation) -> OpDefinition | None:
    """The definition whose reference function computes an elementwise operation; None if there is
    none."""
    direction = comparison_direction(op)
    return _DEFINITIONS.get(op.name) if direction is None else COMPARISONS[direction]


def comparison_direction(op: Operation) -> str | None:
    """`LT`, `EQ` and so on for a comparison; None for other operations."""
    if op.name == "stablehlo.compare":
        return cast("Data[str]", op.properties["comparison_direction"]).data
    if op.name == "arith.cmpi":
        predicate = cast("IntegerAttr", op.properties["predicate"]).value.data
        return _PREDICATES[predicate] if predicate < len(_PREDICATES) else None
    found = _DEFINITIONS.get(op.name)
    return next((name for name, each in COMPARISONS.items() if each is found), None)


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
    """True for integers, and for tensors of one integer without dimensions."""
    element = integer_type(value)
    return element is not None and element.width.data in _WIDTHS


def integer_type(value: SSAValue) -> IntegerType | None:
    """The type of an integer, or of that of a tensor without dimensions; None for other values."""
    element: Attribute = value.type
    if isinstance(element, TensorType):
        tensor = cast("TensorType[Attribute]", element)
        if tensor.get_shape() != ():
            return None
        element = tensor.element_type
    if isinstance(element, IndexType):
        return i64
    return cast("IntegerType", element) if isinstance(element, IntegerType) else None


def _compute(op: Operation, known: Known) -> int | None:
    number = _constant_number(op)
    if number is not None:
        return int(_number_of_type(number, op.results[0]))
    operands = op.operands[:1] if op.name in _KEEPS_THE_NUMBER else op.operands
    if len(op.results) != 1 or not all(map(_is_integer, operands)) or _has_signed_truth(op):
        return None
    numbers = [known_integer(value, known) for value in operands]
    if not numbers or None in numbers:
        return None
    return _computed(op, cast("list[int]", numbers))


def _constant_number(op: Operation) -> float | None:
    """The number of a constant; None for other operations."""
    if op.name == "ttir.constant" or not op.results:
        return None
    attr = constant_attr(op.results[0])
    if isinstance(attr, IntegerAttr):
        return attr.value.data
    return None if attr is None else splat_number(op.results[0])


def _has_signed_truth(op: Operation) -> bool:
    """True where arith takes or gives a truth value as a number of one bit, whose true is -1."""
    if not op.name.startswith("arith.") or op.name in _ON_TRUTH:
        return False
    if op.name == "arith.cmpi":
        return comparison_direction(op) not in ("EQ", "NE") and _is_truth(op.operands[0])
    return any(map(_is_truth, (*op.operands, *op.results)))


def _is_truth(value: SSAValue) -> bool:
    type_ = integer_type(value)
    return type_ is not None and is_boolean(type_)


def _without_sign(number: Any) -> Any:
    """The same bits as a number without sign."""
    return number if number.dtype.kind == "b" else number.view(f"u{number.dtype.itemsize}")


def _computed(op: Operation, numbers: Sequence[int]) -> int | None:
    """What an operation makes of numbers; the type of its result keeps the lower bits."""
    # Only programs with control flow pay for the import.
    import numpy as np

    operands = [_number_of_type(each, op.operands[n]) for n, each in enumerate(numbers)]
    found = elementwise_definition(op)
    with np.errstate(all="ignore"):
        if op.name == "arith.extui":
            result = _without_sign(operands[0])
        elif op.name in _KEEPS_THE_NUMBER:
            (result,) = operands[:1]
        elif op.name == "arith.floordivsi":
            result = operands[0] // operands[1]
        elif op.name == "arith.ceildivsi":
            result = -(-operands[0] // operands[1])
        elif op.name == "stablehlo.clamp":
            low, inner, high = operands
            above = definition("maximum").reference(np, low, inner)
            result = definition("minimum").reference(np, above, high)
        elif found is not None:
            result = found.reference(np, *operands)
        else:
            return None
    return int(_number_of_type(result, op.results[0]))


def _number_of_type(number: Any, value: SSAValue) -> Any:
    """A number as an array without dimensions, of the integers that a tensor holds."""
    import numpy as np

    integer = integer_type(value)
    assert integer is not None, "only integers are computed"
    kind = "u" if integer.signedness.data is Signedness.UNSIGNED else "i"
    dtype = bool if is_boolean(integer) else f"{kind}{integer.width.data // 8}"
    return np.asarray(number).astype(dtype)

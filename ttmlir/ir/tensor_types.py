"""Tensor types: shapes, element types and their limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import IntegerType, NoneAttr, Signedness, TensorType, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.comparisons import signed_value_range, unsigned_value_range

from ttmlir.ir.rewriting import refuse_to_legalize


def shape_of(type_: Attribute) -> tuple[int, ...]:
    """The extents of a tensor type."""
    return cast("TensorType[Attribute]", type_).get_shape()


def value_shape(value: SSAValue) -> tuple[int, ...]:
    """The extents of a tensor."""
    return shape_of(value.type)


def element_type(value: SSAValue) -> Attribute:
    """Element type of a tensor."""
    return cast("TensorType[Attribute]", value.type).element_type


def tensor_of(element: Attribute, shape: Sequence[int]) -> TensorType[Attribute]:
    """The type of tensors of these elements and of this shape, without a layout."""
    return TensorType(element, shape)


def tensor_like(value: SSAValue, shape: Sequence[int]) -> TensorType[Attribute]:
    """The type of tensors with the elements of another, but of this shape and without a layout."""
    return TensorType(element_type(value), shape)


def is_tensor(value: SSAValue) -> bool:
    """True for tensors, false for numbers."""
    return isinstance(value.type, TensorType)


def is_plain_and_static(value: SSAValue) -> bool:
    """True for tensors of known extents, without a layout."""
    type_ = value.type
    if not isinstance(type_, TensorType):
        return False
    tensor = cast("TensorType[Attribute]", type_)
    return tensor.has_static_shape() and isinstance(tensor.encoding, NoneAttr)


def is_boolean(element: Attribute) -> bool:
    """True for integers of one bit."""
    return element == i1


def unsigned_type(element: Attribute) -> Attribute:
    """The type of integers without sign that takes as many bits as a type of integers."""
    return IntegerType(cast("IntegerType", element).width.data, Signedness.UNSIGNED)


def invert_permutation(permutation: Sequence[int]) -> tuple[int, ...]:
    """The permutation that undoes another."""
    return tuple(sorted(range(len(permutation)), key=permutation.__getitem__))


def check_static_shape(op: Operation, type_: Attribute) -> None:
    """Refuse to convert `op` if a type is no tensor of a static shape."""
    if not (isinstance(type_, TensorType) and type_.has_static_shape()):
        refuse_to_legalize(
            op, f"the shape of {type_} is not known; give every tensor a static shape"
        )


def check_static_shapes(op: Operation) -> None:
    """Refuse to convert `op` if an operand or result is no tensor of a static shape."""
    for value in (*op.operands, *op.results):
        check_static_shape(op, value.type)


def limits_of(element: Attribute) -> tuple[float, float]:
    """The values of an element type that no other is below and above; bits are 0 and 1."""
    if not isinstance(element, IntegerType):
        return -math.inf, math.inf
    integer = cast("IntegerType", element)
    width = integer.width.data
    is_unsigned = integer.signedness.data is Signedness.UNSIGNED or width == 1
    first, end = unsigned_value_range(width) if is_unsigned else signed_value_range(width)
    return first, end - 1

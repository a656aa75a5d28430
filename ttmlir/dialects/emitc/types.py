"""Constraints of the types of emitc."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import IndexType, IntegerType, i1
from xdsl.dialects.emitc import (
    EmitC_ArrayType,
    EmitC_OpaqueType,
    EmitC_PointerType,
    EmitC_PtrDiffT,
    EmitC_SignedSizeT,
    EmitC_SizeT,
    EmitCTypeConstr,
)
from xdsl.ir import Attribute
from xdsl.irdl import VerificationContext
from xdsl.utils.exceptions import VerifyException

from ttmlir.dialects.definition.ods import TypeConstraint

_INTEGER_WIDTHS = (1, 8, 16, 32, 64)
_FLOAT_TYPES = ("f16", "bf16", "f32", "f64")


def is_supported(type: Attribute) -> bool:
    """True for the types that can be written in C++."""
    try:
        EmitCTypeConstr.verify(type, VerificationContext())
    except VerifyException:
        return False
    return True


def is_pointer_offset(type: Attribute) -> bool:
    """True for what can be added to a pointer: any integer, or opaque."""
    return isinstance(type, (IntegerType, EmitC_OpaqueType))


def is_integer_like(type: Attribute) -> bool:
    """True for integers, index, size and opaque types."""
    if isinstance(type, IntegerType):
        return cast("IntegerType", type).width.data in _INTEGER_WIDTHS
    return isinstance(
        type, (IndexType, EmitC_OpaqueType, EmitC_PtrDiffT, EmitC_SignedSizeT, EmitC_SizeT)
    )


def _is_number(type: Attribute) -> bool:
    return type.name in _FLOAT_TYPES or is_integer_like(type)


def _is_subscriptable(type: Attribute) -> bool:
    return isinstance(type, (EmitC_ArrayType, EmitC_OpaqueType, EmitC_PointerType))


EMITC = TypeConstraint("type supported by EmitC", is_supported)
ANY = TypeConstraint("any type", lambda type: True)
INTEGER = TypeConstraint("integer, index or opaque type supported by EmitC", is_integer_like)
NUMBER = TypeConstraint(
    "floating-point type supported by EmitC or integer, index or opaque type supported by EmitC",
    _is_number,
)
SUBSCRIPTABLE = TypeConstraint(
    "EmitC array type or EmitC opaque type or EmitC pointer type", _is_subscriptable
)
OPAQUE = TypeConstraint("EmitC opaque type", lambda type: isinstance(type, EmitC_OpaqueType))
OPAQUE_OR_POINTER = TypeConstraint(
    "EmitC opaque type or EmitC pointer type",
    lambda type: isinstance(type, (EmitC_OpaqueType, EmitC_PointerType)),
)
I1 = TypeConstraint(
    "1-bit signless integer",
    lambda type: type == i1,
)

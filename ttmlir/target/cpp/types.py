"""Types as C++ spells them, in the words of MLIR's C++ emitter.

`i32` is `int32_t`, `!emitc.opaque<"ttnn::Tensor">` is `ttnn::Tensor`, several results make a
`std::tuple`. 16-bit floats follow LLVM 20 (`_Float16`, `__bf16`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    Signedness,
    TensorType,
    TupleType,
    UnrankedTensorType,
)
from xdsl.dialects.emitc import (
    EmitC_ArrayType,
    EmitC_OpaqueType,
    EmitC_PointerType,
    EmitC_PtrDiffT,
    EmitC_SignedSizeT,
    EmitC_SizeT,
)
from xdsl.ir import Attribute

from ttmlir.cpp.errors import CannotEmitError
from ttmlir.cpp.types import (
    BFLOAT16,
    DOUBLE,
    FIXED_WIDTHS,
    FLOAT,
    HALF,
    ArrayType,
    CType,
    FloatType,
    IntType,
    ObjectType,
    PointerType,
    declare,
    find_integer_type,
)

MAX_TUPLE_LENGTH = 1 << 16
"""Longest text of a tuple type, in characters."""

_FLOATS: dict[type[Attribute], FloatType] = {
    Float16Type: HALF,
    BFloat16Type: BFLOAT16,
    Float32Type: FLOAT,
    Float64Type: DOUBLE,
}
_SIZES: dict[type[Attribute], ObjectType] = {
    IndexType: ObjectType("size_t"),
    EmitC_SizeT: ObjectType("size_t"),
    EmitC_SignedSizeT: ObjectType("ssize_t"),
    EmitC_PtrDiffT: ObjectType("ptrdiff_t"),
}
"""Types whose width the C++ compiler knows."""


def type_text(type_: Attribute) -> str:
    """The C++ type; raises CannotEmitError if there is none."""
    return find_type(type_).name


def find_type(type_: Attribute) -> CType:
    """The C++ type; raises CannotEmitError if there is none."""
    match type_:
        case IntegerType():
            return _find_integer(type_)
        case TensorType():
            return ObjectType(_tensor_text(type_))
        case TupleType():
            return ObjectType(_nested_tuple_text(type_))
        case EmitC_OpaqueType():
            return ObjectType(type_.value.data)
        case EmitC_ArrayType():
            found = find_type(type_.element_type)
            for extent in reversed(type_.get_shape()):
                found = ArrayType(found, extent)
            return found
        case EmitC_PointerType():
            return _find_pointer(type_)
        case UnrankedTensorType():
            raise CannotEmitError("cannot emit unranked tensor type")
        case _:
            return _find_simple_type(type_)


def _find_simple_type(type_: Attribute) -> CType:
    found = _FLOATS.get(type(type_)) or _SIZES.get(type(type_))
    if found is None:
        kind = "float type" if isinstance(type_, AnyFloat) else "type"
        raise CannotEmitError(f"cannot emit {kind} '{type_}'")
    return found


def is_emitted_float(type_: Attribute) -> bool:
    """True for the float types that have a C++ form."""
    return type(type_) in _FLOATS


def declaration_text(type_: Attribute, name: str) -> str:
    """A declaration without its semicolon; the extents of an array follow the name."""
    return declare(find_type(type_), name)


def result_text(types: Sequence[Attribute]) -> str:
    """The return type of a function: `void`, the one type, or a tuple."""
    if not types:
        return "void"
    if any(isinstance(type_, EmitC_ArrayType) for type_ in types):
        raise CannotEmitError("cannot emit array type as result type")
    return type_text(types[0]) if len(types) == 1 else tuple_text(types)


def tuple_text(types: Sequence[Attribute]) -> str:
    """The tuple of these types."""
    if any(isinstance(type_, EmitC_ArrayType) for type_ in types):
        raise CannotEmitError("cannot emit tuple of array type")
    return f"std::tuple<{', '.join(map(type_text, types))}>"


@lru_cache(maxsize=1024)
def _nested_tuple_text(type_: TupleType) -> str:
    """The text of a tuple in a type, which may hold the same tuple again and again."""
    text = tuple_text(type_.types.data)
    if len(text) > MAX_TUPLE_LENGTH:
        raise CannotEmitError(
            f"cannot emit tuple type whose text is longer than {MAX_TUPLE_LENGTH} characters"
        )
    return text


def _find_integer(type_: IntegerType) -> IntType:
    width = type_.width.data
    if width not in (1, *FIXED_WIDTHS):
        raise CannotEmitError(f"cannot emit integer type '{type_}'")
    return find_integer_type(width, type_.signedness.data is not Signedness.UNSIGNED)


def _tensor_text(type_: TensorType) -> str:
    if not type_.has_static_shape():
        raise CannotEmitError("cannot emit tensor type with non static shape")
    if isinstance(type_.element_type, EmitC_ArrayType):
        raise CannotEmitError(f"cannot emit tensor of array type '{type_}'")
    extents = map(str, type_.get_shape())
    return f"Tensor<{', '.join((type_text(type_.element_type), *extents))}>"


def _find_pointer(type_: EmitC_PointerType) -> PointerType:
    if isinstance(type_.pointee_type, EmitC_ArrayType):
        raise CannotEmitError(f"cannot emit pointer to array type '{type_}'")
    return PointerType(find_type(type_.pointee_type))

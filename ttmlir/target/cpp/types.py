"""Types as C++ spells them, in the words of MLIR's C++ emitter.

`i32` is `int32_t`, `!emitc.opaque<"ttnn::Tensor">` is `ttnn::Tensor`, several results make a
`std::tuple`. 16-bit floats follow LLVM 20 (`_Float16`, `__bf16`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import cast

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

MAX_TUPLE_LENGTH = 1 << 16
"""Longest text of a tuple type, in characters."""

_FLOATS: dict[type[Attribute], str] = {
    Float16Type: "_Float16",
    BFloat16Type: "__bf16",
    Float32Type: "float",
    Float64Type: "double",
}
_SIZES: dict[type[Attribute], str] = {
    IndexType: "size_t",
    EmitC_SizeT: "size_t",
    EmitC_SignedSizeT: "ssize_t",
    EmitC_PtrDiffT: "ptrdiff_t",
}


def type_text(type_: Attribute) -> str:
    """The C++ type; raises CannotEmitError if there is none."""
    match type_:
        case IntegerType():
            return _integer_text(type_)
        case TensorType():
            return _tensor_text(type_)
        case TupleType():
            return _nested_tuple_text(type_)
        case EmitC_OpaqueType():
            return type_.value.data
        case EmitC_ArrayType():
            return type_text(type_.element_type) + _extents(type_)
        case EmitC_PointerType():
            return _pointer_text(type_)
        case UnrankedTensorType():
            raise CannotEmitError("cannot emit unranked tensor type")
        case _:
            return _simple_text(type_)


def _simple_text(type_: Attribute) -> str:
    text = _FLOATS.get(type(type_)) or _SIZES.get(type(type_))
    if text is None:
        kind = "float type" if isinstance(type_, AnyFloat) else "type"
        raise CannotEmitError(f"cannot emit {kind} '{type_}'")
    return text


def is_emitted_float(type_: Attribute) -> bool:
    """True for the float types that have a C++ form."""
    return type(type_) in _FLOATS


def declaration_text(type_: Attribute, name: str) -> str:
    """A declaration without its semicolon; the extents of an array follow the name."""
    if isinstance(type_, EmitC_ArrayType):
        array = cast("EmitC_ArrayType", type_)
        return f"{type_text(array.element_type)} {name}{_extents(array)}"
    return f"{type_text(type_)} {name}"


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


def _integer_text(type_: IntegerType) -> str:
    width = type_.width.data
    if width == 1:
        return "bool"
    if width not in (8, 16, 32, 64):
        raise CannotEmitError(f"cannot emit integer type '{type_}'")
    prefix = "uint" if type_.signedness.data is Signedness.UNSIGNED else "int"
    return f"{prefix}{width}_t"


def _tensor_text(type_: TensorType) -> str:
    if not type_.has_static_shape():
        raise CannotEmitError("cannot emit tensor type with non static shape")
    if isinstance(type_.element_type, EmitC_ArrayType):
        raise CannotEmitError(f"cannot emit tensor of array type '{type_}'")
    extents = map(str, type_.get_shape())
    return f"Tensor<{', '.join((type_text(type_.element_type), *extents))}>"


def _extents(type_: EmitC_ArrayType) -> str:
    return "".join(f"[{extent}]" for extent in type_.get_shape())


def _pointer_text(type_: EmitC_PointerType) -> str:
    if isinstance(type_.pointee_type, EmitC_ArrayType):
        raise CannotEmitError(f"cannot emit pointer to array type '{type_}'")
    return type_text(type_.pointee_type) + "*"

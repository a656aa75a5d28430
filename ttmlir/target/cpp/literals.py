"""Attributes as C++ literals, in the words of MLIR's C++ emitter.

`3 : i32` is `3`, `true` is `true`, `1.5 : f32` is `1.500000000e+00f`, `dense<[1, 2]>` is `{1, 2}`,
`#emitc.opaque<"std::nullopt">` is its text, a type is its C++ spelling.
"""

from __future__ import annotations

import math
from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    SymbolRefAttr,
)
from xdsl.dialects.emitc import EmitC_OpaqueAttr
from xdsl.ir import Attribute, TypeAttribute

from ttmlir.cpp.errors import CannotEmitError
from ttmlir.mlir.attributes.elements import (
    Elements,
    element_count,
    raw_bytes,
    splat_bytes,
    unpack_values,
)
from ttmlir.mlir.attributes.floats import format_all_digits
from ttmlir.target.cpp.types import is_emitted_float, type_text

_SUFFIXES: dict[type[Attribute], str] = {
    Float16Type: "f16",
    BFloat16Type: "bf16",
    Float32Type: "f",
}


def literal_text(attribute: Attribute, *, elide_above: int | None = None) -> str:
    """The literal; raises CannotEmitError if the attribute has none.

    Constants of more than `elide_above` elements become `{/* 4096 values */}`.
    """
    match attribute:
        case IntegerAttr():
            return _integer_text(attribute.value.data, attribute.type)
        case FloatAttr():
            return _float_text(attribute.value.data, attribute.type)
        case DenseIntOrFPElementsAttr():
            return _elements_text(attribute, elide_above)
        case EmitC_OpaqueAttr():
            return attribute.value.data
        case SymbolRefAttr():
            return _symbol_text(attribute)
        case TypeAttribute():
            return type_text(attribute)
        case _:
            raise CannotEmitError(f"cannot emit attribute: {attribute}")


def _integer_text(value: int, type_: IntegerType | IndexType) -> str:
    if isinstance(type_, IntegerType) and type_.width.data == 1:
        return "true" if value else "false"
    return str(value)


def _float_text(value: float, type_: AnyFloat) -> str:
    if not is_emitted_float(type_):
        raise CannotEmitError("expected floating point attribute to be f16, bf16, f32 or f64")
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "-INFINITY" if value == -math.inf else "INFINITY"
    return format_all_digits(value, type_) + _SUFFIXES.get(type(type_), "")


def _elements_text(elements: Elements, elide_above: int | None) -> str:
    count = element_count(elements)
    if elide_above is not None and count > elide_above:
        return f"{{/* {count} values */}}"
    type_ = elements.get_element_type()
    if isinstance(type_, IntegerType | IndexType):
        texts = [_integer_text(cast(int, value), type_) for value in _stored_values(elements)]
    elif isinstance(type_, AnyFloat):
        texts = [_float_text(cast(float, value), type_) for value in _stored_values(elements)]
    else:
        raise CannotEmitError(f"cannot emit attribute: {elements}")
    if splat_bytes(elements) is not None:
        texts *= count
    return f"{{{', '.join(texts)}}}"


def _stored_values(elements: Elements) -> list[object]:
    """The value of a splat once, or all values."""
    data = splat_bytes(elements) or raw_bytes(elements)
    return list(unpack_values(data, elements.get_element_type()))


def _symbol_text(symbol: SymbolRefAttr) -> str:
    if len(symbol.nested_references.data) > 1:
        raise CannotEmitError("attribute has more than 1 nested reference")
    return symbol.root_reference.data

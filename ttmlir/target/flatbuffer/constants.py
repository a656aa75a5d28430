"""The elements of constants as bytes."""

from __future__ import annotations

import math
from typing import cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, DenseResourceAttr, TensorType
from xdsl.ir import Attribute, Operation

from ttmlir.limits import memory_advice, memory_limit
from ttmlir.mlir.attributes.elements import (
    Elements,
    ElementType,
    element_count,
    element_size,
    large_bytes,
    raw_bytes,
)
from ttmlir.mlir.attributes.resources import blob_bytes
from ttmlir.mlir.reporting.diagnostics import OpError
from ttmlir.schema.packer import LargeVector
from ttmlir.target.flatbuffer.file_kind import FileKind


def constant_bytes(
    op: Operation, value: Attribute, kind: FileKind
) -> bytes | memoryview | LargeVector:
    """The elements of `value`, the result of `op`, in row-major order; OpError if it has none."""
    if not isinstance(value, DenseIntOrFPElementsAttr | DenseResourceAttr):
        raise OpError(op, f"{kind.refused}: '{value.name}' is not a list of elements")
    given = cast("TensorType[ElementType]", cast("Elements | DenseResourceAttr", value).type)
    result = cast("TensorType[ElementType]", op.results[0].type)
    if given.element_type != result.element_type:
        raise OpError(
            op,
            f"{kind.refused}: its elements are of type '{given.element_type}', "
            f"those of its result of type '{result.element_type}'",
        )
    if isinstance(value, DenseIntOrFPElementsAttr):
        size = element_count(cast("Elements", value)) * element_size(given.element_type)
        if size > memory_limit():
            raise OpError(op, f"{kind.refused}: its elements take {size} bytes; {memory_advice()}")
        return large_bytes(cast("Elements", value)) or raw_bytes(cast("Elements", value))
    return _resource_bytes(op, value.resource_handle.data, result, kind)


def _resource_bytes(
    op: Operation, name: str, type: TensorType[ElementType], kind: FileKind
) -> memoryview:
    data = blob_bytes(op, name)
    if data is None:
        raise OpError(op, f"{kind.refused}: the module does not hold the resource '{name}'")
    expected = math.prod(type.get_shape()) * element_size(type.element_type)
    if len(data) != expected:
        raise OpError(
            op, f"{kind.refused}: the resource '{name}' has {len(data)} bytes instead of {expected}"
        )
    return data

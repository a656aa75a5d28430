"""Constants whose bytes the module keeps, as `dense_resource` has them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

from ttmlir.mlir.attributes import blob_bytes, element_size
from ttmlir.mlir.reporting import OpError

if TYPE_CHECKING:
    from xdsl.dialects.builtin import DenseResourceAttr
    from xdsl.ir import Operation

    from ttmlir.mlir.attributes import ElementsType


def resource_bytes(op: Operation, value: DenseResourceAttr, refused: str = "") -> memoryview:
    """The bytes of a constant of `op` that the module holds; OpError if it does not.

    The message begins with what is `refused` of the operation, if anything is.
    """
    name, type_ = value.resource_handle.data, cast("ElementsType", value.type)
    begin, data = f"{refused}: " if refused else "", blob_bytes(op, name)
    if data is None:
        raise OpError(op, f"{begin}the module does not hold the resource '{name}'")
    size = math.prod(type_.get_shape()) * element_size(type_.get_element_type())
    if len(data) != size:
        message = f"the resource '{name}' has {len(data)} bytes instead of {size}"
        raise OpError(op, f"{begin}{message}")
    return data

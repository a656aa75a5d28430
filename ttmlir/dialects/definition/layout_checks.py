"""Verifiers that ttir and ttnn share: layouts and memory."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects.definition.ods import refuse
from ttmlir.dialects.definition.shape_checks import int_property, shape_of, tensor_type
from ttmlir.layout.enums import MemorySpace, TensorMemoryLayout
from ttmlir.layout.errors import LayoutError

if TYPE_CHECKING:
    from ttmlir.dialects.tt import MemorySpaceAttr, TensorLayoutAttr

TILE = 32
"""Extent of a tile in both dimensions."""


def layout_of(value: SSAValue) -> TensorLayoutAttr | None:
    """The `#tt.layout` or `#ttnn.ttnn_layout` of a tensor, None if it has none."""
    encoding: Attribute = tensor_type(value).encoding
    is_layout = encoding.name in ("tt.layout", "ttnn.ttnn_layout")
    return cast("TensorLayoutAttr", encoding) if is_layout else None


@contextmanager
def layout_errors() -> Generator[None]:
    """Refuse what the layout arithmetic cannot handle, with its own words."""
    try:
        yield
    except LayoutError as error:
        refuse(str(error))


def check_to_layout(op: Operation) -> None:
    """Change of layout: both tensors have one, and equal shapes."""
    if layout_of(op.operands[0]) is None:
        refuse("Input tensor type missing layout attribute")
    if layout_of(op.operands[1]) is None:
        refuse("Output tensor type missing layout attribute")
    if shape_of(op.operands[0]) != shape_of(op.operands[1]):
        refuse("Input and output shapes must be the same")


def check_alloc(op: Operation) -> None:
    """Allocation: size, memory space and address."""
    layout = layout_of(op.results[0])
    if layout is None:
        refuse("Result type missing layout attribute")
    if int_property(op, "size") == 0:
        refuse("Alloc size must be non-zero")
    space = cast("MemorySpaceAttr", op.properties["memory_space"]).value
    with layout_errors():
        layout_space = layout.memory_space
    if layout_space is not space:
        refuse("Input tensor layout memory space must match alloc memory space")
    address = int_property(op, "address")
    if space.is_system and address != 0:
        refuse(
            "Allocating from system memory space must have address set to 0, implicitly allocated "
            "by the runtime"
        )
    if space.is_device and address == 0:
        refuse(
            "Allocating from a device memory space must have address set to a non-zero value, "
            "device addresses are statically allocated"
        )


def check_to_memory_config(op: Operation) -> None:
    """Change of memory: both tensors have a layout, and the result's is one ttnn can make."""
    if layout_of(op.operands[0]) is None:
        refuse("Input tensor type missing layout attribute")
    layout = layout_of(op.results[0])
    if layout is None:
        refuse("Output tensor type missing layout attribute")
    with layout_errors():
        space, shard = layout.memory_space, layout.shard_shape
    spread = layout.memory_layout
    if space.is_system:
        if spread is not TensorMemoryLayout.NONE:
            refuse("System memory space only supports undef memory layout")
        return
    if spread is not TensorMemoryLayout.INTERLEAVED and not spread.is_sharded:
        refuse("Device memory space only supports interleaved or sharded memory layouts")
    if space is MemorySpace.DEVICE_DRAM and spread is not TensorMemoryLayout.INTERLEAVED:
        refuse("Device DRAM memory space only supports interleaved memory layout")
    if spread.is_sharded:
        _check_sharding(spread, shard, late=layout.name == "ttnn.ttnn_layout")


def _check_sharding(spread: TensorMemoryLayout, shard: tuple[int, ...], *, late: bool) -> None:
    if spread is not TensorMemoryLayout.BLOCK_SHARDED and not late:
        refuse("Currently only block sharding is supported for sharded memory layouts")
    if len(shard) != 2:
        refuse("Shard shape must be 2D")
    if any(extent % TILE for extent in shard):
        refuse(f"Shard shape must divide tile shape ({TILE}, {TILE}) evenly")

"""Types of tensors as `TensorDesc` tables.

Equal tables are one dict, so that a file holds them once: a `TensorDesc` for each type, a
`LayoutDesc` for each layout and stride, a `MemoryDesc` for each shard and memory layout. Tensors of
different shape never share strides, and those of different memory layout never share memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from ttmlir.dialects.tt import LayoutAttr, element_of
from ttmlir.layout.core_ranges import core_range_set
from ttmlir.layout.device import Device
from ttmlir.layout.element_type import SCHEMA_NAMES, Element, TileFormat, is_block_float
from ttmlir.layout.enums import DataType
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.tensor_layout import TensorLayout

Table = dict[str, Any]

_INT32_MAX = (1 << 31) - 1
_UINT64_MAX = (1 << 64) - 1


class TensorTables:
    """Makes the tables of the types of one device's tensors."""

    def __init__(self, device: Device) -> None:
        """Start without tables."""
        self._device = device
        # By identity first: comparing types means comparing layouts.
        self._known: dict[int, tuple[Attribute, Table]] = {}
        self._descs: dict[Attribute, Table] = {}
        self._layouts: dict[tuple[LayoutAttr, tuple[int, ...]], Table] = {}
        self._memories: dict[tuple[object, ...], Table] = {}

    def desc(self, type: Attribute) -> Table:
        """The `TensorDesc` of a type; LayoutError if the schema cannot describe it."""
        known = self._known.get(id(type))
        if known is not None:
            return known[1]
        table = self._descs.get(type)
        if table is None:
            table = self._descs[type] = self._make_desc(type)
        self._known[id(type)] = (type, table)
        return table

    def _make_desc(self, type: Attribute) -> Table:
        encoding = cast("TensorType[Attribute]", type).encoding if _is_tensor(type) else None
        if not isinstance(encoding, LayoutAttr):
            raise LayoutError(
                f"type '{type}' has no layout; .ttnn files hold tensors with a #tt.layout, which "
                "--ttir-to-ttnn-backend-pipeline gives them"
            )
        tensor_type = cast("TensorType[Attribute]", type)
        shape = tuple(tensor_type.get_shape())
        if any(extent < 0 for extent in shape):
            raise LayoutError(f"type '{type}' has extents that are not known; give them numbers")
        _check_int32("shape", shape)
        table: Table = {"shape": shape, "layout": self._layout(encoding, shape)}
        name = _element_type_name(element_of(tensor_type.element_type), encoding.tensor_layout)
        if name is not None:
            table["element_type"] = name
        return table

    def _layout(self, attr: LayoutAttr, shape: tuple[int, ...]) -> Table:
        layout = attr.tensor_layout
        stride = layout.stride(shape)
        _check_int32("stride", stride)
        key = (attr, stride)
        if key not in self._layouts:
            # Chips are alike: the cores of the first one stand for those of all.
            ranges = core_range_set(layout.grid.shape, self._device.worker_grid.mapping)
            self._layouts[key] = {
                "stride": stride,
                "oob_val": layout.oob_val.schema_name,
                "core_range_set": [((r.y, r.x), (r.height, r.width)) for r in ranges],
                "memory_desc": self._memory(layout),
            }
        return self._layouts[key]

    def _memory(self, layout: TensorLayout) -> Table:
        key = (layout.shard, layout.element, layout.memory_space, layout.memory_layout)
        if key not in self._memories:
            _check_int32("shard", layout.shard)
            element = layout.element
            size = layout.shard_bytes
            if size > _UINT64_MAX:
                raise LayoutError(f"a shard of {size} bytes is larger than a file can say")
            self._memories[key] = {
                "shape": layout.shard,
                "tile_shape": element.shape if isinstance(element, TileFormat) else (1, 1),
                "data_type": element.data_type.schema_name,
                "memory_space": layout.memory_space.schema_name,
                "memory_layout": layout.memory_layout.schema_name,
                "size": size,
            }
        return self._memories[key]


def _is_tensor(type: Attribute) -> bool:
    return isinstance(type, TensorType)


def _check_int32(what: str, numbers: Iterable[int]) -> None:
    for number in numbers:
        if number > _INT32_MAX:
            raise LayoutError(
                f"{what} {number} is larger than {_INT32_MAX}, the largest that a .ttnn file holds"
            )


def _element_type_name(element: Element, layout: TensorLayout) -> str | None:
    """Name of the element type, None where a reader takes it from the storage format."""
    name = SCHEMA_NAMES.get(element.scalar.keyword)
    if name is None:
        raise LayoutError(f"element type '{element}' cannot be stored in a .ttnn file")
    return None if name == _implied_name(layout.element) else name


def _implied_name(element: Element) -> str:
    """What a reader takes the numbers of a tensor for if the file says no more."""
    data_type: DataType = element.data_type
    if is_block_float(data_type):
        assert isinstance(element, TileFormat)
        return SCHEMA_NAMES[element.scalar.keyword]
    return data_type.schema_name

"""Types of tensors as `TensorDesc` tables.

Equal tables are one dict, so that a file holds them once: a `TensorDesc` for each type, a
`LayoutDesc` for each layout and stride, a `MemoryDesc` for each shard and memory layout. Tensors of
different shape never share strides, and those of different memory layout never share memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from ttmlir.dialects.tt import TensorLayoutAttr, element_of
from ttmlir.layout.core_ranges import core_range_set
from ttmlir.layout.device import DeviceView
from ttmlir.layout.element_type import SCHEMA_NAMES, Element, TileFormat, is_block_float
from ttmlir.layout.enums import DataType, MemorySpace, TensorMemoryLayout
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.grid import NO_MAPPING
from ttmlir.limits import MAX_RANK
from ttmlir.target.flatbuffer.file_kind import FileKind

Table = dict[str, Any]

_INT32_MAX = (1 << 31) - 1
_UINT64_MAX = (1 << 64) - 1


class MemoryTables:
    """Makes the `MemoryDesc` tables of what single cores, or the host, hold."""

    def __init__(self, kind: FileKind) -> None:
        """Start without tables."""
        self._kind = kind
        self._memories: dict[tuple[object, ...], Table] = {}

    def memory(
        self,
        shard: tuple[int, ...],
        element: Element,
        space: MemorySpace,
        memory_layout: TensorMemoryLayout,
    ) -> Table:
        """The `MemoryDesc` of what one core holds; LayoutError if it is too large to describe."""
        key = (shard, element, space, memory_layout)
        if key not in self._memories:
            check_int32(self._kind, "shard", shard)
            size = math.prod(shard) * element.size_bytes
            if size > _UINT64_MAX:
                raise LayoutError(f"a shard of {size} bytes is larger than a file can say")
            self._memories[key] = {
                "shape": shard,
                "tile_shape": element.shape if isinstance(element, TileFormat) else (1, 1),
                "data_type": element.data_type.schema_name,
                "memory_space": space.schema_name,
                "memory_layout": memory_layout.schema_name,
                "size": size,
            }
        return self._memories[key]


def check_int32(kind: FileKind, what: str, numbers: Iterable[int]) -> None:
    """LayoutError for numbers for which the schema is too narrow."""
    for number in numbers:
        if number > _INT32_MAX:
            raise LayoutError(
                f"{what} {number} is larger than {_INT32_MAX}, the largest that a "
                f"{kind.extension} file holds"
            )


class TensorTables(MemoryTables):
    """Makes the tables of the types of one device's tensors."""

    def __init__(self, device: DeviceView, kind: FileKind) -> None:
        """Start without tables."""
        super().__init__(kind)
        self.device = device
        # By identity first: comparing types means comparing layouts.
        self._known: dict[int, tuple[Attribute, Table]] = {}
        self._descs: dict[Attribute, Table] = {}
        self._layouts: dict[tuple[TensorLayoutAttr, tuple[int, ...]], Table] = {}

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
        if not isinstance(encoding, TensorLayoutAttr):
            raise LayoutError(
                f"type '{type}' has no layout; {self._kind.extension} files hold tensors with a "
                f"#tt.layout, which {self._kind.pipeline} gives them"
            )
        tensor_type = cast("TensorType[Attribute]", type)
        shape = tuple(tensor_type.get_shape())
        if any(extent < 0 for extent in shape):
            raise LayoutError(f"type '{type}' has extents that are not known; give them numbers")
        if len(shape) > MAX_RANK:
            raise LayoutError(
                f"a tensor of {len(shape)} dimensions; {self._kind.extension} files run with at "
                f"most {MAX_RANK}, so merge some of them by a reshape before"
            )
        check_int32(self._kind, "shape", shape)
        table: Table = {"shape": shape, "layout": self._layout(encoding, shape)}
        name = element_type_name(
            self._kind, element_of(tensor_type.element_type), encoding.tensor_layout.element
        )
        if name is not None:
            table["element_type"] = name
        return table

    def _layout(self, attr: TensorLayoutAttr, shape: tuple[int, ...]) -> Table:
        layout = attr.tensor_layout
        stride = layout.stride(shape)
        check_int32(self._kind, "stride", stride)
        key = (attr, stride)
        if key not in self._layouts:
            # Chips are alike: the cores of the first one stand for those of all.
            mapping = layout.grid.mapping
            if mapping == NO_MAPPING:
                mapping = self.device.worker_grid.mapping
            ranges = core_range_set(layout.grid.shape, mapping)
            self._layouts[key] = {
                "stride": stride,
                "oob_val": layout.oob_val.schema_name,
                "core_range_set": [((r.y, r.x), (r.height, r.width)) for r in ranges],
                "memory_desc": self.memory(
                    layout.shard, layout.element, layout.memory_space, layout.memory_layout
                ),
            }
        return self._layouts[key]


def element_type_name(kind: FileKind, element: Element, stored: Element) -> str | None:
    """Name of the element type, None where a reader takes it from the storage format."""
    name = SCHEMA_NAMES.get(element.scalar.keyword)
    if name is None:
        raise LayoutError(f"element type '{element}' cannot be stored in a {kind.extension} file")
    return None if name == _implied_name(stored) else name


def _is_tensor(type: Attribute) -> bool:
    return isinstance(type, TensorType)


def _implied_name(element: Element) -> str:
    """What a reader takes the numbers of a tensor for if the file says no more."""
    data_type: DataType = element.data_type
    if is_block_float(data_type):
        assert isinstance(element, TileFormat)
        return SCHEMA_NAMES[element.scalar.keyword]
    return data_type.schema_name

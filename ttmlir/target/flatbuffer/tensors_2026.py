"""Tensors, layouts and chips of 2026 as tables of their files.

A tensor's description has its shape, the memory that it is in, and which part of it each device of
the mesh has. Equal descriptions are one dict, so that a file holds them once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from ttmlir.dialects.tt import TensorLayoutAttr
from ttmlir.dialects.ttcore import LocalShapeAttr, ShardStatusAttr
from ttmlir.dialects.ttnn.attrs import (
    BUFFER_TYPES,
    CoreRangeSetAttr,
    ShardSpecAttr,
    TTNNLayoutAttr,
)
from ttmlir.dialects.ttnn.configs import TraceIdAttr
from ttmlir.layout.data_format import SCHEMA_NAMES, Element, ScalarType, TileFormat
from ttmlir.layout.device import DeviceView
from ttmlir.layout.enums import ShardStatus
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.late_machine import data_type_name
from ttmlir.layout.tensor_layout import NO_MAPPING, TensorLayout, core_range_set
from ttmlir.limits import MAX_RANK
from ttmlir.mlir.reporting import OpError
from ttmlir.target.flatbuffer.tensors import TTNN, Table, Values, check_int32, tile_shape

_BY_SCALAR = {each: SCHEMA_NAMES[each] for each in ("si32", "i32", "si64", "i64", "ui64", "f64")}
"""Names of formats that tiles do not have."""


_KEPT = {each: name for each, name in SCHEMA_NAMES.items() if not each.startswith("i")}
"""Names of elements that are what the text says; those without a word about signs are not."""


def element_name(element: Element) -> str:
    """The name of the format of elements; those of rows may have a sign, or 64 bits."""
    name = _BY_SCALAR.get(element.keyword) if isinstance(element, ScalarType) else None
    return name or data_type_name(element.data_type)


class TensorTables2026:
    """Makes the tables of the types of one device's tensors."""

    def __init__(self, device: DeviceView, hashes: Mapping[str, str]) -> None:
        """Start without tables; `hashes` are those of functions whose results are remembered."""
        self.device = device
        self._hashes = hashes
        self._descs: dict[object, Table] = {}
        self._layouts: dict[TensorLayoutAttr, Table] = {}
        self._memories: dict[TensorLayoutAttr, Table | None] = {}

    def function_hash(self, name: str) -> str:
        """What stands for the contents of a function."""
        return self._hashes[name]

    def desc(
        self,
        type: Attribute,
        local_shape: tuple[int, ...] | None = None,
        status: ShardStatus = ShardStatus.UNSHARDED,
    ) -> Table:
        """The `TensorDesc` of a type; LayoutError if the schema cannot describe it."""
        key = type, local_shape, status
        table = self._descs.get(key)
        if table is None:
            shape = _shape_of(type)
            table = self._descs[key] = {
                "shape": shape,
                "mesh_shape": (1, 1, *self.device.mesh_shape)[-2:],
                "layout": _TRACE_LAYOUT if is_trace_id(type) else self._layout(self._attr(type)),
                "shard_status": status.keyword.capitalize(),
                "local_shape": shape if local_shape is None else local_shape,
            }
            name = _KEPT.get(str(cast("TensorType[Attribute]", type).element_type))
            if name not in (None, table["layout"]["memory_desc"]["data_type"]):
                table["element_type"] = name
        return table

    def layout(self, type: Attribute) -> TensorLayout:
        """The layout of a type; LayoutError if it has none."""
        return self._attr(type).tensor_layout

    def data_type(self, type: Attribute) -> str:
        """The format of the elements of a type in memory."""
        return element_name(self.layout(type).element)

    def tensor_layout(self, type: Attribute) -> str:
        """Whether elements lie in tiles or in rows."""
        return "Tile" if self.layout(type).is_tiled else "RowMajor"

    def memory_config(self, type: Attribute) -> Table | None:
        """Where the tensors of a type lie on the device; None for those of the host."""
        attr = self._attr(type)
        if attr not in self._memories:
            self._memories[attr] = self._make_memory_config(attr)
        return self._memories[attr]

    def _attr(self, type: Attribute) -> TensorLayoutAttr:
        encoding = cast("TensorType[Attribute]", type).encoding if _is_tensor(type) else None
        if not isinstance(encoding, TensorLayoutAttr):
            raise LayoutError(
                f"type '{type}' has no layout; .ttnn files of 2026 hold tensors with a "
                "#ttnn.ttnn_layout"
            )
        return encoding

    def _layout(self, attr: TensorLayoutAttr) -> Table:
        table = self._layouts.get(attr)
        if table is None:
            layout = attr.tensor_layout
            element = layout.element
            memory: Table = {
                "storage_type": "Host" if layout.memory_space.is_system else "Device",
                "tile_shape": tile_shape(element),
                "data_type": element_name(layout.element),
            }
            config = self._make_memory_config(attr)
            if config is not None:
                memory["memory_config"] = config
            table = self._layouts[attr] = {
                "oob_val": layout.oob_val.schema_name,
                "memory_desc": memory,
            }
        return table

    def _make_memory_config(self, attr: TensorLayoutAttr) -> Table | None:
        layout = attr.tensor_layout
        if layout.memory_space.is_system:
            return None
        buffer = BUFFER_TYPES.get(layout.memory_space)
        if buffer is None:
            raise LayoutError(f"ttnn has no tensors in the memory '{layout.memory_space.keyword}'")
        spread = layout.memory_layout
        table: Table = {
            "tensor_memory_layout": _SPREADS.get(spread.keyword, "Interleaved"),
            "buffer_type": buffer.schema_name,
        }
        if spread.is_sharded:
            table["shard_spec"] = self._shard_spec(attr, layout)
        return table

    def _shard_spec(self, attr: TensorLayoutAttr, layout: TensorLayout) -> Table:
        """The cores of a sharded tensor, and what each of them has."""
        ranges: list[tuple[tuple[int, int], tuple[int, int]]]
        said = attr.core_ranges if isinstance(attr, TTNNLayoutAttr) else None
        if isinstance(said, CoreRangeSetAttr):
            ranges = [(each.start, each.end) for each in said.data]
        else:
            mapping = layout.grid.mapping
            if mapping == NO_MAPPING:
                mapping = self.device.worker_grid.mapping
            ranges = [
                ((r.x, r.y), (r.x + r.width - 1, r.y + r.height - 1))
                for r in core_range_set(layout.grid.shape, mapping)
            ]
        element, shard = layout.element, layout.shard
        shape = element.scalar_shape(shard) if isinstance(element, TileFormat) else shard
        check_int32(TTNN, "shard", shape)
        return {
            "core_range_set": {"core_ranges": ranges},
            "shape": shape,
            "orientation": "RowMajor",
        }


def shard_spec_table(attr: ShardSpecAttr) -> Table:
    """Shards that a memory config names."""
    shape = tuple(extent.data for extent in attr.shape.data)
    check_int32(TTNN, "shard", shape)
    return {
        "core_range_set": {
            "core_ranges": [(each.start, each.end) for each in attr.core_ranges.data]
        },
        "shape": shape,
        "orientation": _ORIENTATIONS[attr.orientation.data],
    }


_ORIENTATIONS = {"row_major": "RowMajor", "col_major": "ColMajor"}
_TRACE_LAYOUT: Table = {
    "oob_val": "Undef",
    "memory_desc": {"storage_type": "Host", "tile_shape": (1, 1), "data_type": "UInt32"},
}
"""The layout of the number of a recording."""


def is_trace_id(type: Attribute) -> bool:
    """True for the number of a recording."""
    return isinstance(type, TensorType) and isinstance(type.encoding, TraceIdAttr)


_SPREADS = {
    "height_sharded": "HeightSharded",
    "width_sharded": "WidthSharded",
    "block_sharded": "BlockSharded",
}


def _is_tensor(type: Attribute) -> bool:
    return isinstance(type, TensorType)


def _shape_of(type: Attribute) -> tuple[int, ...]:
    if not _is_tensor(type):
        raise LayoutError(f"type '{type}' is no tensor")
    shape = tuple(cast("TensorType[Attribute]", type).get_shape())
    if any(extent < 0 for extent in shape):
        raise LayoutError(f"type '{type}' has extents that are not known; give them numbers")
    if len(shape) > MAX_RANK:
        raise LayoutError(
            f"a tensor of rank {len(shape)}; .ttnn files run with at most {MAX_RANK}, so merge "
            "some of them by a reshape before"
        )
    check_int32(TTNN, "shape", shape)
    return shape


class Values2026(Values):
    """The tensors and devices of a module, numbered in the order of the file."""

    def define_argument(self, function: FuncOp, number: int, tables: TensorTables2026) -> Table:
        """A new tensor for an argument, with what its attributes say of its parts."""
        value = function.body.blocks[0].args[number]
        attributes: Mapping[str, Attribute] = {}
        if function.arg_attrs is not None:
            attributes = function.arg_attrs.data[number].data
        local, status = attributes.get("ttcore.local_shape"), attributes.get("ttcore.shard_status")
        try:
            desc = tables.desc(
                value.type,
                tuple(local.local_shape.get_shape()) if isinstance(local, LocalShapeAttr) else None,
                status.data if isinstance(status, ShardStatusAttr) else ShardStatus.UNSHARDED,
            )
        except LayoutError as error:
            raise OpError(function, f"{TTNN.refused}: {error}") from error
        return self.add(value, {"desc": desc})

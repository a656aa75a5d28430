"""Memrefs of the host and of a device as `TensorRef` tables.

A buffer of the device has the shape of all its shards side by side, in numbers; what a core or a
bank holds stands in its `MemoryDesc`. On the host a memref may have padding between its rows: the
strides of its `LayoutDesc` say where its numbers are in the memory.
"""

from __future__ import annotations

import math

from xdsl.dialects.builtin import MemRefType, NoneAttr
from xdsl.ir import Attribute

from ttmlir.dialects.tt import element_of
from ttmlir.dialects.ttcore import (
    DeviceLayout,
    HostLayoutAttr,
    InterleavedLayoutAttr,
    ShardLayoutAttr,
    device_layout_of,
    memory_space_of,
)
from ttmlir.layout.element_type import Element, TileFormat
from ttmlir.layout.enums import DataType, DeviceMemoryLayout, MemorySpace, TensorMemoryLayout
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.grid import shape_text
from ttmlir.layout.metal.device_memory import (
    dram_page_bytes,
    grid_cores,
    l1_buffer_bytes,
    shard_bytes,
    shard_strides,
)
from ttmlir.limits import MAX_RANK
from ttmlir.program.description import CoreRange, CoreRanges, list_ranges
from ttmlir.target.flatbuffer.file_kind import TTMETAL
from ttmlir.target.flatbuffer.tensors import MemoryTables, Table, check_int32, element_type_name

MemRef = MemRefType[Attribute]


def host_padding(type: MemRef) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Shape without padding, strides and volume of a memref of the host, in elements."""
    layout: Attribute = type.layout
    shape = tuple(type.get_shape())
    if isinstance(layout, HostLayoutAttr):
        if layout.data.mesh is not None:
            raise LayoutError(f"'{type}' is spread over a mesh; supported is one chip")
        return layout.data.logical_shape, layout.data.strides, layout.data.volume
    if not isinstance(layout, NoneAttr):
        raise LayoutError(
            f"'{type}' has a layout of its own; the host's have none, or #ttcore.host_layout"
        )
    return shape, _row_major(shape), math.prod(shape)


def stored_format(element: Element) -> Element:
    """What a file calls the format of an element: signed integers are kept as unsigned ones."""
    if isinstance(element, TileFormat) and element.data_type is DataType.SI32:
        return TileFormat(element.height, element.width, DataType.U32)
    return element


class MemRefTables:
    """Makes the tables of types; equal types share one."""

    def __init__(self, chip_grid: tuple[int, int]) -> None:
        """Start without tables; `chip_grid` is rows and columns of the chip's cores."""
        self._chip_grid = chip_grid
        self._memories = MemoryTables(TTMETAL)
        self._known: dict[Attribute, Table] = {}

    def ref(self, type: MemRef) -> Table:
        """All of a `TensorRef` but its number and address; LayoutError for what no file holds."""
        table = self._known.get(type)
        if table is None:
            if not type.has_static_shape():
                raise LayoutError(f"'{type}' has extents that are not known; give them numbers")
            on_device = memory_space_of(type).is_device
            table = self._known[type] = self._device(type) if on_device else self._host(type)
        return dict(table)

    def _host(self, type: MemRef) -> Table:
        shape, strides, volume = host_padding(type)
        element = element_of(type.element_type)
        if isinstance(element, TileFormat):
            raise LayoutError(f"'{type}' has tiles; the host keeps numbers in rows")
        memory = self._memories.memory(
            (volume,), element, MemorySpace.SYSTEM, TensorMemoryLayout.NONE
        )
        return {"size": memory["size"], "desc": _desc(shape, strides, element, memory)}

    def _device(self, type: MemRef) -> Table:
        layout = device_layout_of(type)
        if layout is None or not isinstance(type.layout, ShardLayoutAttr | InterleavedLayoutAttr):
            raise LayoutError(
                f"'{type}' says no place on the device; buffers have the layout #ttcore.shard or "
                "#ttcore.interleaved"
            )
        element = element_of(type.element_type)
        shard = layout.shard_shape
        if type.layout.strides != shard_strides(shard, element):
            raise LayoutError(
                f"'{type}' has gaps in its shards; supported are the byte strides "
                f"{shape_text(shard_strides(shard, element))}"
            )
        in_dram = layout.memory_space is MemorySpace.DEVICE_DRAM
        whole = _multiply(layout.grid_shape, shard)
        memory = self._memories.memory(
            whole if in_dram else shard,
            stored_format(element),
            layout.memory_space,
            _memory_layout(layout),
        )
        shape = _multiply(layout.grid_shape, layout.scalar_shard_shape)
        desc = _desc(shape, _row_major(shape), element, memory)
        buffer: Table = {"grid": layout.grid_shape, "num_buffers": layout.buffers}
        if in_dram:
            if layout.buffers != 1:
                raise LayoutError(
                    f"'{type}' has several buffers in dram; supported are those in l1"
                )
            buffer["page_size"] = dram_page_bytes(shard, element, layout.memory_layout)
            size = shard_bytes(whole, element)
        else:
            desc["layout"]["core_range_set"] = [
                ((each.start[1], each.start[0]), _extents(each)) for each in self.cores(layout)
            ]
            size = buffer_bytes(layout)
        return {"size": size, "desc": desc, "buffer": buffer}

    def cores(self, layout: DeviceLayout) -> CoreRanges:
        """The cores that hold shards of a buffer in L1; LayoutError if the chip has too few."""
        return list_ranges(grid_cores(layout.grid_shape, self._chip_grid))


def buffer_bytes(layout: DeviceLayout) -> int:
    """Bytes of a buffer in the L1 of each core."""
    element = element_of(layout.element_type)
    return l1_buffer_bytes(layout.shard_shape, element, layout.buffers)


def _desc(
    shape: tuple[int, ...], strides: tuple[int, ...], element: Element, memory: Table
) -> Table:
    if len(shape) > MAX_RANK:
        raise LayoutError(
            f"a buffer of {len(shape)} dimensions; {TTMETAL.extension} files run with at most "
            f"{MAX_RANK}, so merge some of them"
        )
    check_int32(TTMETAL, "shape", shape)
    check_int32(TTMETAL, "stride", strides)
    desc: Table = {"shape": shape, "layout": {"stride": strides, "memory_desc": memory}}
    name = element_type_name(TTMETAL, element, stored_format(element))
    return desc if name is None else desc | {"element_type": name}


def _multiply(grid: tuple[int, ...], shard: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(cores * extent for cores, extent in zip(grid, shard, strict=True))


def _row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(math.prod(shape[index + 1 :]) for index in range(len(shape)))


def _memory_layout(layout: DeviceLayout) -> TensorMemoryLayout:
    if layout.memory_layout is DeviceMemoryLayout.INTERLEAVED:
        return TensorMemoryLayout.INTERLEAVED
    return TensorMemoryLayout.BLOCK_SHARDED


def _extents(cores: CoreRange) -> tuple[int, int]:
    """Rows and columns of a rectangle."""
    return cores.end[1] - cores.start[1] + 1, cores.end[0] - cores.start[0] + 1

"""Descriptions and elements of tensors in `.ttnn` files of 2026."""

from __future__ import annotations

import numpy as np

from ttmlir.layout.enums import DataType, MemorySpace, TensorMemoryLayout
from ttmlir.runtime.binary import Table, check_shape, require
from ttmlir.runtime.errors import BinaryError, UnsupportedError
from ttmlir.runtime.tensor import ELEMENT_TYPES, Array, ElementType, TensorDesc

_BLOCK_FLOATS = {each.schema_name for each in DataType if each.schema_name.startswith("BFP_")}


def element_of(name: str) -> ElementType:
    """The element type that a `DataType` of 2026 stands for."""
    return ELEMENT_TYPES["BFloat16" if name in _BLOCK_FLOATS else name]


def storage_of(name: str) -> DataType:
    """How the device keeps it; signed integers are kept as those without sign of their width."""
    if name in _BLOCK_FLOATS:
        return DataType.from_schema_name(name)
    return DataType.U8 if name == "Bool" else ELEMENT_TYPES[name].storage


_SPACES = {
    "DRAM": MemorySpace.DEVICE_DRAM,
    "L1": MemorySpace.DEVICE_L1,
    "L1Small": MemorySpace.DEVICE_L1,
    "Trace": MemorySpace.DEVICE_DRAM,
    "SystemMemory": MemorySpace.SYSTEM,
}
_LAYOUTS = {
    "Interleaved": TensorMemoryLayout.INTERLEAVED,
    "HeightSharded": TensorMemoryLayout.HEIGHT_SHARDED,
    "WidthSharded": TensorMemoryLayout.WIDTH_SHARDED,
    "BlockSharded": TensorMemoryLayout.BLOCK_SHARDED,
    "NDSharded": TensorMemoryLayout.BLOCK_SHARDED,
}


def read_desc(table: Table, where: str) -> TensorDesc:
    """The description that a `TensorDesc` table holds."""
    layout = require(table, "layout", where)
    memory = require(layout, "memory_desc", f"{where}.layout")
    config = memory["memory_config"]
    space, memory_layout = MemorySpace.SYSTEM, TensorMemoryLayout.NONE
    if config is not None and memory["storage_type"] == "Device":
        space = _SPACES[config["buffer_type"]]
        memory_layout = _LAYOUTS[config["tensor_memory_layout"]]
    tile = memory["tile_shape"]
    tile_shape = (1, 1) if tile is None else (int(tile.y), int(tile.x))
    name = memory["data_type"]
    spec = None if config is None else config["shard_spec"] or config["nd_shard_spec"]
    ranges = () if spec is None or spec["core_range_set"] is None else _core_ranges(spec)
    shard = () if spec is None else tuple(map(int, spec["shape"] or ()))
    if spec is not None and tile_shape != (1, 1) and len(shard) >= 2 and min(tile_shape) > 0:
        shard = (*shard[:-2], *(-(-a // b) for a, b in zip(shard[-2:], tile_shape, strict=True)))
    desc = TensorDesc(
        shape=tuple(int(extent) for extent in require(table, "shape", where)),
        element=element_of(table["element_type"] or name),
        data_type=storage_of(name),
        memory_space=space,
        memory_layout=memory_layout,
        tile=tile_shape,
        core_ranges=ranges,
        shard=shard,
    )
    check_shape(desc, where)
    return desc


def _core_ranges(spec: Table) -> tuple[tuple[int, int, int, int], ...]:
    return tuple(
        (
            *(int(each.start_coord.y), int(each.start_coord.x)),
            int(each.end_coord.y) - int(each.start_coord.y) + 1,
            int(each.end_coord.x) - int(each.start_coord.x) + 1,
        )
        for each in spec["core_range_set"]["core_ranges"] or ()
    )


def read_array(data: memoryview, name: str, shape: tuple[int, ...], where: str) -> Array:
    """The elements of a tensor that stand in the file, in the type `name` of 2026."""
    if name in _BLOCK_FLOATS:
        raise UnsupportedError(f"{where} holds block floats, which are not read from files")
    dtype = element_of(name).host.newbyteorder("<")
    expected = int(np.prod(shape, dtype=object)) * dtype.itemsize
    if min(shape, default=0) < 0 or len(data) != expected:
        raise BinaryError(
            f"{where} has {len(data)} bytes; a tensor of shape {list(shape)} and type {name} has "
            f"{expected}"
        )
    return np.require(np.frombuffer(data, dtype), requirements="A").reshape(shape)

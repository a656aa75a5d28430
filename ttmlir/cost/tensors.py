"""Tensors as kernels see them: tiles, where they lie, and what reading and writing them takes.

ttnn computes on tiles of 32 by 32 numbers. Files of this compiler describe tensors of the device
row by row; their operations are estimated as if they were tiled.
"""

from __future__ import annotations

import math
from functools import cache

from ttmlir.cost.machine import Machine
from ttmlir.cost.workload import LATENCY, Stage
from ttmlir.layout.enums import DataType, MemorySpace, TensorMemoryLayout
from ttmlir.layout.tile import padded_shape
from ttmlir.runtime.element import element_of_data_type
from ttmlir.runtime.tensor import TensorDesc
from ttmlir.sim.timing.costs import tile_bytes

TILE = 32
"""Rows, and columns, of a tile."""

NO_TRANSFER = Stage(LATENCY, 0.0)


def make_desc(
    shape: tuple[int, ...],
    data_type: DataType = DataType.BF16,
    memory: MemorySpace = MemorySpace.DEVICE_DRAM,
    *,
    layout: TensorMemoryLayout = TensorMemoryLayout.INTERLEAVED,
    grid: tuple[int, int] | None = None,
    tiled: bool = True,
) -> TensorDesc:
    """The description of a tensor on the device, for lists of shapes; `grid` is that of shards."""
    return TensorDesc(
        shape=shape,
        element=element_of_data_type(data_type),
        data_type=data_type,
        memory_space=memory,
        memory_layout=layout,
        tile=(TILE, TILE) if tiled else (1, 1),
        core_ranges=((0, 0, *grid),) if grid else (),
    )


@cache
def tile_shape(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """Matrices, rows of tiles and columns of tiles of each."""
    *outer, rows, columns = padded_shape(shape)
    return math.prod(outer), rows // TILE, columns // TILE


def tile_count(shape: tuple[int, ...]) -> int:
    """Tiles of a tensor, padding included."""
    return math.prod(tile_shape(shape))


def tensor_bytes(desc: TensorDesc) -> int:
    """Bytes of all tiles."""
    return tile_count(desc.shape) * tile_bytes(desc.data_type)


def is_sharded(desc: TensorDesc) -> bool:
    """True if each core has its part in its own L1."""
    return desc.memory_space is MemorySpace.DEVICE_L1 and desc.memory_layout.is_sharded


def shard_cores(desc: TensorDesc) -> int:
    """Cores that hold a sharded tensor; at least one."""
    return max(1, sum(height * width for _, _, height, width in desc.core_ranges))


def cores_for(machine: Machine, desc: TensorDesc, units: int) -> int:
    """Cores that share so many units of work on a result: those of its shards, or all."""
    cores = min(shard_cores(desc), machine.cores) if is_sharded(desc) else machine.cores
    return max(1, min(cores, units))


def reading(machine: Machine, desc: TensorDesc, tiles: float, cores: int) -> Stage:
    """Read tiles of a tensor on each of `cores` cores, with one barrier."""
    size = tile_bytes(desc.data_type)
    if desc.memory_space is MemorySpace.DEVICE_DRAM:
        return machine.read_dram(tiles, size, cores, placed=desc.memory_layout.is_sharded)
    if is_sharded(desc):
        return NO_TRANSFER
    return machine.read_l1(tiles, size)


def writing(machine: Machine, desc: TensorDesc, tiles: float, cores: int) -> Stage:
    """Write tiles of a tensor on each of `cores` cores, with one barrier."""
    size = tile_bytes(desc.data_type)
    if desc.memory_space is MemorySpace.DEVICE_DRAM:
        return machine.write_dram(tiles, size, cores)
    if is_sharded(desc):
        return NO_TRANSFER
    return machine.write_l1(tiles, size)


def join(stages: list[Stage]) -> Stage:
    """Reads under one barrier: their latencies overlap, their bytes do not."""
    busy = [stage for stage in stages if stage.cycles]
    if not busy:
        return NO_TRANSFER
    longest = max(busy, key=lambda stage: stage.cycles)
    others = sum(stage.ideal for stage in busy) - longest.ideal
    return Stage(longest.kind, longest.cycles + others, longest.ideal + others)


def dram_bytes(*descs: TensorDesc) -> int:
    """Bytes of those tensors that lie in DRAM."""
    return sum(tensor_bytes(desc) for desc in descs if desc.memory_space is MemorySpace.DEVICE_DRAM)


def network_bytes(*descs: TensorDesc) -> int:
    """Bytes of those tensors that cores do not have in their own L1."""
    return sum(tensor_bytes(desc) for desc in descs if not is_sharded(desc))

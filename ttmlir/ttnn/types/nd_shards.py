"""Shards of any rank as shards of the rows and columns that a tensor is kept as."""

from __future__ import annotations

import math

from ttmlir.errors import UsageError
from ttmlir.metalium.enums import ShardOrientation, TensorMemoryLayout
from ttmlir.ttnn.types.enums import ShardDistributionStrategy
from ttmlir.ttnn.types.memory import MemoryConfig, NdShardSpec, ShardSpec


def flatten_shards(config: MemoryConfig, shape: tuple[int, ...]) -> MemoryConfig:
    """The configuration with the shards of two dimensions that its NdShardSpec stands for.

    `shape` is a tensor's, padding included. RuntimeError for shards that are no rectangles of rows
    and columns, and for those that go round the cores more than once.
    """
    spec = config.nd_shard_spec
    if spec is None or config.shard_spec is not None:
        return config
    rows, columns = _rectangle(spec, shape)
    height, width = math.prod(shape[:-1]), shape[-1]
    down, across = -(-height // rows), -(-width // columns)
    name = f"NdShardSpec of {list(spec.shard_shape)} for a tensor of {list(shape)}"
    if down * across > spec.grid.num_cores():
        raise UsageError(
            f"{name}: {down * across} shards for {spec.grid.num_cores()} cores; here each core "
            "holds one: use larger shards or more cores"
        )
    if across == 1:
        layout, columns = TensorMemoryLayout.HEIGHT_SHARDED, width
    elif down == 1:
        layout, rows = TensorMemoryLayout.WIDTH_SHARDED, height
    else:
        layout = TensorMemoryLayout.BLOCK_SHARDED
        if not _is_block(spec, down, across):
            raise UsageError(
                f"{name}: {down} rows and {across} columns of shards are dealt to the cores one "
                f"after another; here the grid must be one rectangle of {across} columns and "
                f"{down} rows"
            )
    flat = ShardSpec(spec.grid, (rows, columns), spec.orientation)
    return MemoryConfig(layout, config.buffer_type, flat, nd_shard_spec=spec)


def _rectangle(spec: NdShardSpec, shape: tuple[int, ...]) -> tuple[int, int]:
    """Rows and columns of a shard; RuntimeError if its rows are not one after another."""
    shard = spec.shard_shape
    if len(shard) > len(shape):
        raise UsageError(
            f"NdShardSpec of {list(shard)}: the tensor of {list(shape)} has fewer dimensions"
        )
    # Dimensions that the shard lacks are rows of its first one.
    first = len(shape) - len(shard) + 1
    extents = (math.prod(shape[:first]), *shape[first:])
    *outer, columns = shard
    places = [i for i, extent in enumerate(outer) if extent != 1]
    if places:
        begin = places[0]
        inner = range(begin + 1, len(outer))
        is_whole = all(shard[i] == extents[i] for i in inner)
        fits = extents[begin] % shard[begin] == 0 or math.prod(extents[:begin]) == 1
        if not is_whole or not fits:
            raise UsageError(
                f"NdShardSpec of {list(shard)} for a tensor of {list(shape)}: here the rows of a "
                "shard must follow each other in the tensor; use extents of 1, then one that "
                "divides the tensor's, then whole ones"
            )
    return math.prod(outer), columns


def _is_block(spec: NdShardSpec, down: int, across: int) -> bool:
    """Whether dealing shards to cores one after another is dealing them by row and column."""
    ranges = spec.grid.ranges()
    if len(ranges) != 1:
        return False
    size = ranges[0].grid_size()
    wanted = (across, down) if spec.orientation == ShardOrientation.ROW_MAJOR else (down, across)
    if spec.shard_distribution_strategy == ShardDistributionStrategy.GRID_2D:
        return size.x >= wanted[0] and size.y >= wanted[1]
    return (size.x, size.y) == wanted

"""What an operation of ttnn is held against: operands, a function of torch, rules of results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from ttmlir import ttnn

FLOATS = ("bfloat16", "float32", "bfloat8_b")
PLAIN_FLOATS = ("bfloat16", "float32")
INTEGERS = ("int32", "uint32", "uint16", "uint8")
LAYOUTS = ("TILE_LAYOUT", "ROW_MAJOR_LAYOUT")
SHARDABLE = (2, 96, 192)
"""A shape whose rows and columns 2x3 cores divide into tiles, however it is cut."""
SHAPES = (SHARDABLE, (33, 70), (7,), (3, 33, 70), (1, 2, 5, 31))
INTEGER_TYPES: dict[str, Any] = {
    "int32": np.int32,
    "uint32": np.uint32,
    "uint16": np.uint16,
    "uint8": np.uint8,
}
LIMITS = {"bfloat16": 2**-8, "float32": 4e-6, "bfloat8_b": 2**-6}
"""Errors of one rounding to a type, and for block floats those of the largest number of a block."""

Shape = tuple[int, ...]


def _shards(strategy: str) -> Callable[[Shape], Any]:
    def config(shape: Shape) -> Any:
        if shape != SHARDABLE:
            return ttnn.L1_MEMORY_CONFIG
        grid = ttnn.CoreGrid(y=2, x=3)
        return ttnn.create_sharded_memory_config(shape, grid, ttnn.ShardStrategy[strategy])

    return config


MEMORIES: dict[str, Callable[[Shape], Any]] = {
    "dram": lambda shape: ttnn.DRAM_MEMORY_CONFIG,
    "l1": lambda shape: ttnn.L1_MEMORY_CONFIG,
    "height": _shards("HEIGHT"),
    "width": _shards("WIDTH"),
    "block": _shards("BLOCK"),
}
"""Memory configurations of a shape; shards where 2x3 cores divide it, else interleaved L1."""


def draw(shape: Sequence[int], low: float, high: float, seed: int = 0) -> torch.Tensor:
    """Random real numbers."""
    numbers = np.random.default_rng(seed).uniform(low, high, tuple(shape))
    return torch.as_tensor(numbers.astype(np.float32))


def draw_integers(shape: Sequence[int], low: int, high: int, seed: int = 0) -> torch.Tensor:
    """Random integers from `low` on and before `high`."""
    return torch.as_tensor(np.random.default_rng(seed).integers(low, high, tuple(shape)))


def draw_whole(dtype: str, shape: Sequence[int], seed: int = 0) -> torch.Tensor:
    """Random integers of all bits of a type."""
    limits = np.iinfo(INTEGER_TYPES[dtype])
    return draw_integers(shape, int(limits.min), int(limits.max) + 1, seed)


Drawn = Callable[[Shape], list[torch.Tensor]]


def between(*ranges: tuple[float, float]) -> Drawn:
    """Operands of one shape, each with numbers of a range."""
    return lambda shape: [draw(shape, *limits, seed) for seed, limits in enumerate(ranges)]


@dataclass(frozen=True)
class Oracle:
    """An operation's meaning in torch, and what its results are.

    `expected` takes the operands as the device holds them, real numbers in 64 bits and integers as
    int64, and returns a tensor or several. Operands of int64 are indices: uint32, in rows.
    """

    expected: Callable[..., Any]
    draw: Drawn = field(default_factory=lambda: between((-4, 4)))
    call: Callable[..., Any] | None = None
    """`call(operation, *tensors)`; without it, the operands are the arguments."""
    shapes: tuple[Shape, ...] = SHAPES
    dtypes: tuple[str, ...] = FLOATS
    layouts: tuple[str, ...] = LAYOUTS
    memories: tuple[str, ...] = tuple(MEMORIES)
    integers: tuple[str, ...] = ()
    """Types of integers that it takes: results are exact, and wrap."""
    draw_integers: Callable[[str, Shape], list[torch.Tensor]] | None = None
    exact: bool = False
    """True where the numbers are the operands'."""
    room: float = 1.0
    """How many roundings a result may be away."""
    result_dtypes: tuple[str | None, ...] = ()
    """Data types of results that are not the typing operand's."""
    results_of: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)
    """The same where the operands have one data type."""
    result_layout: str | None = None
    integers_in_tiles: bool = False
    """True where results of integers are in tiles."""
    memory: Any = None
    """The memory configuration of results where it is not that of the typing operand."""
    typed_by: int = 0
    """The operand whose data type, layout and memory results have."""
    writes: int | None = None
    """The operand that is written and returned."""
    consumes: bool = False
    """True where the operand is deallocated."""


def place(values: torch.Tensor, dtype: str, layout: str, memory: str, device: Any) -> Any:
    """An operand on the device; indices are in rows, and block floats always in tiles."""
    if values.dtype == torch.int64 and dtype not in INTEGER_TYPES:
        return ttnn.from_torch(values, ttnn.uint32, device=device)
    in_tiles = dtype == "bfloat8_b" or layout == "TILE_LAYOUT"
    config = MEMORIES[memory](tuple(values.shape))
    kept = ttnn.TILE_LAYOUT if in_tiles else ttnn.ROW_MAJOR_LAYOUT
    given: Any = values
    if dtype in INTEGER_TYPES:
        given = values.numpy().astype(INTEGER_TYPES[dtype])
    return ttnn.Tensor(given, getattr(ttnn, dtype), device, kept, config)


def read(tensor: Any) -> torch.Tensor:
    """The numbers of a tensor of ttnn, real ones in 64 bits, integers as int64."""
    array = ttnn.to_numpy(tensor)
    kind = np.int64 if array.dtype.kind in "iu" else np.float64
    return torch.as_tensor(array.astype(kind))


def compare(actual: Any, expected: torch.Tensor, oracle: Oracle) -> None:
    """Equal shapes, exact integers and moves, and real numbers within a rounding of their type.

    That is less than ttnn's own tests allow, whose correlations are from 0.99 to 0.9999.
    """
    dtype = actual.dtype.name.lower()
    assert list(actual.shape) == list(expected.shape)
    result = read(actual)
    if dtype in INTEGER_TYPES:
        wanted = expected.to(torch.int64).numpy().astype(INTEGER_TYPES[dtype])
        assert np.array_equal(result.numpy().astype(INTEGER_TYPES[dtype]), wanted)
        return
    expected = expected.to(torch.float64)
    if oracle.exact and dtype != "bfloat8_b":
        assert torch.equal(result, expected)
        return
    assert torch.equal(torch.isnan(result), torch.isnan(expected))
    known = torch.isfinite(expected)
    assert torch.equal(torch.isfinite(result), known)
    if not known.any():
        return
    limit, sizes = LIMITS[dtype] * oracle.room, expected[known].abs()
    scale = sizes if dtype != "bfloat8_b" else sizes.max()
    # Sums that come near 0 are as far off as their terms.
    assert bool(
        ((result - expected)[known].abs() <= limit * scale + limit * sizes.max() / 64).all()
    )

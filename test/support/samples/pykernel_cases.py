"""Tensors for the operations in PyKernel, and what NumPy makes of them.

Numbers are small integers, so that results are exact in bfloat16.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from samples import pykernel_operations as operations

import ttmlir.ttnn as ttnn

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Case:
    """An operation, its inputs, and what it should give."""

    name: str
    """The name of its class."""
    inputs: tuple[Array, ...]
    expected: Array
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def run(self, cls: Callable[[], Any], device: Any, run: Callable[..., Any]) -> Array:
        """What an operation of the class, which `run(op, *tensors, **options)` runs, gives."""
        tensors = [ttnn.to_device(_tiles(each), device) for each in self.inputs]
        out = ttnn.zeros(self.expected.shape, ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
        run(cls(), *tensors, out, **self.options)
        return ttnn.from_device(out).to_numpy().astype(np.float32)


def _tiles(values: Array) -> Any:
    """Indices stay integers, other numbers become bfloat16."""
    if values.dtype == np.int32:
        return ttnn.Tensor(values).to(ttnn.TILE_LAYOUT)
    tensor = ttnn.Tensor(values.astype(np.float32))
    return ttnn.to_dtype(tensor, ttnn.bfloat16).to(ttnn.TILE_LAYOUT)


def cases() -> tuple[Case, ...]:
    """All of them, with extents that fill no tile."""
    rng = np.random.default_rng(7)

    def integers(*shape: int, most: int = 9) -> Array:
        return rng.integers(-most, most, shape, endpoint=True)

    x, row = integers(70, 40), integers(1, 40)
    summed = integers(40, 70, most=1)
    a, b, bias = integers(40, 70, most=1), integers(70, 33, most=1), integers(1, 33)
    table, chosen = integers(5 * 32, 32), [3, -1, 9, 0, -7, 2]
    index = np.zeros((32, 32), np.int32)
    index[0, :6] = chosen
    tiles = table.reshape(5, 32, 32)
    gathered = np.concatenate([tiles[min(max(each, 0), 4)] for each in chosen if each != -1])
    shared = integers(64, 64)
    return (
        Case("AddRow", (x, row), np.maximum(x + row, 0)),
        Case("SumRows", (summed,), summed.sum(axis=1, keepdims=True)),
        Case("Linear", (a, b, bias), np.maximum(a @ b + bias, 0)),
        Case("Gather", (index, table), gathered, {"count": len(chosen)}),
        Case("Share", (shared,), np.concatenate([shared] * 3)),
    )


def operation(name: str) -> Any:
    """The class of an operation."""
    return getattr(operations, name)

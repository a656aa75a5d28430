"""ttnn's operations, computed as they are called, against the same in NumPy."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from measurements import Result, best, cpu_time
from ml_dtypes import bfloat16

from ttmlir import ttnn

ALLOWANCE = 60e-6
"""Seconds that a call may take besides its numbers."""


def all_eager() -> Iterator[Result]:
    """Every row."""
    yield from importing()
    yield from operations()


def importing(repetitions: int = 5) -> Iterator[Result]:
    """CPU time of an interpreter that imports ttnn and ends."""
    command = [sys.executable, "-c", "import ttmlir.ttnn"]
    times = [cpu_time(command, "") for _ in range(repetitions)]
    yield Result("import ttmlir.ttnn", min(times), "s of CPU", goal=0.15)


def operations(extent: int = 1024, repetitions: int = 30) -> Iterator[Result]:
    """Elementwise operations and products, in both number formats."""
    rng = np.random.default_rng(0)
    device = ttnn.open_device(device_id=0)
    array = rng.random((extent, extent), np.float32)
    for dtype in (ttnn.float32, ttnn.bfloat16):
        x = ttnn.Tensor(array, dtype, device, ttnn.TILE_LAYOUT)
        numbers = x.array
        pairs: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
            "add": (lambda x=x: ttnn.add(x, x), lambda n=numbers: n + n),
            "exp": (lambda x=x: ttnn.exp(x), lambda n=numbers: np.exp(n)),
            "matmul": (lambda x=x: ttnn.matmul(x, x), lambda n=numbers: n @ n),
        }
        for name, (ours, by_hand) in pairs.items():
            theirs = by_hand if dtype == ttnn.float32 else rounded(by_hand)
            pair = [(best(ours, 1), best(theirs, 1)) for _ in range(repetitions)]
            mine, numpy = (min(times) for times in zip(*pair, strict=True))
            what = f"ttnn.{name}, {extent}x{extent} {dtype.name.lower()}"
            yield Result(what, mine * 1e6, "µs of CPU")
            ratio = max(mine - ALLOWANCE, 1e-9) / numpy
            yield Result(f"{what}, less 60 µs, to NumPy", ratio, "ratio", goal=1.3)
    ttnn.close_device(device)


def rounded(function: Callable[[], Any]) -> Callable[[], Any]:
    """The function with its result in bfloat16."""
    return lambda: function().astype(bfloat16)

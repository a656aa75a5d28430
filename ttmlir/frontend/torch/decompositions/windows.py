"""Windows of several sizes: adaptive maxima, and what undoes a pooling."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ttmlir.frontend.torch.elements import torch_package


def _adaptive_max(spatial: int) -> Callable[..., Any]:
    """The largest elements of windows from floor(i * n / m) to ceil((i + 1) * n / m)."""

    def decomposition(x: Any, output_size: Sequence[int]) -> tuple[Any, Any]:
        torch = torch_package()
        extents = x.shape[-spatial:]
        places = [_windows(n, m) for n, m in zip(extents, output_size, strict=True)]
        # The number of each element of each window: (positions ..., elements ...).
        numbers = torch.zeros((1,) * (2 * spatial), dtype=torch.int64)
        for dim, (extent, windows) in enumerate(zip(extents, places, strict=True)):
            shape = [1] * (2 * spatial)
            shape[dim], shape[spatial + dim] = windows.shape
            numbers = numbers * extent + windows.reshape(shape)
        numbers = numbers.reshape(*output_size, -1)
        flat = x.reshape(*x.shape[:-spatial], math.prod(extents))
        found = flat[..., numbers]
        # The first one of equals, in the order of the image.
        element = found.argmax(-1, keepdim=True)
        sizes = [*zip(extents, output_size, strict=True)]
        if all(n % m == 0 for n, m in sizes):
            pool = getattr(torch.nn.functional, f"max_pool{spatial}d")
            largest = pool(x, [n // m for n, m in sizes])
        else:
            largest = found.amax(-1)
        return largest, numbers.expand(found.shape).gather(-1, element).squeeze(-1)

    return decomposition


def _windows(extent: int, count: int) -> Any:
    """The elements of `count` windows of a row; the last one is repeated in shorter ones."""
    torch = torch_package()
    widest = max(-(-(i + 1) * extent // count) - i * extent // count for i in range(count))
    number = torch.arange(count).unsqueeze(1)
    begin, end = number * extent // count, -(-(number + 1) * extent // count)
    return torch.minimum(begin + torch.arange(widest), end - 1)


def _max_unpool(spatial: int) -> Callable[..., Any]:
    """Elements put back to where they were, 0 elsewhere."""

    def decomposition(x: Any, indices: Any, output_size: Sequence[int], *_: Any) -> Any:
        torch = torch_package()
        outer = x.shape[:-spatial]
        empty = torch.zeros((*outer, math.prod(output_size)), dtype=x.dtype)
        places = indices.reshape(*outer, -1)
        return empty.scatter(-1, places, x.reshape(*outer, -1)).reshape(*outer, *output_size)

    return decomposition


DECOMPOSITIONS: dict[str, Callable[..., Any]] = {
    "adaptive_max_pool2d": _adaptive_max(2),
    "adaptive_max_pool3d": _adaptive_max(3),
    "max_unpool2d": _max_unpool(2),
    "max_unpool3d": _max_unpool(3),
}
"""Functions in torch by the names of operations."""

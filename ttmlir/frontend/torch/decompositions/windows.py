"""Windows of several sizes: adaptive and fractional maxima, and what undoes a pooling."""

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


def _fractional_max(spatial: int) -> Callable[..., Any]:
    """The largest elements of windows that begin at places which samples from 0 to 1 choose."""

    def decomposition(
        x: Any, kernel_size: Sequence[int], output_size: Sequence[int], random_samples: Any
    ) -> tuple[Any, Any]:
        torch = torch_package()
        outer, extents = x.shape[:-spatial], x.shape[-spatial:]
        samples = random_samples.reshape(-1, spatial).expand(math.prod(outer), spatial)
        # Of images the first sample is for columns, of volumes for the first dimension.
        samples = samples.flip(1) if spatial == 2 else samples
        numbers: Any = torch.zeros((1,) * (2 * spatial + 1), dtype=torch.int64)
        sizes = zip(extents, kernel_size, output_size, strict=True)
        for dim, (extent, window, count) in enumerate(sizes):
            begins = _fractional_begins(samples[:, dim : dim + 1], extent, window, count)
            places = begins.unsqueeze(2) + torch.arange(window)
            shape = [1] * (2 * spatial + 1)
            shape[0], shape[1 + dim], shape[1 + spatial + dim] = places.shape
            numbers = numbers * extent + places.reshape(shape)
        numbers = numbers.reshape(math.prod(outer), math.prod(output_size), -1)
        flat = x.reshape(numbers.shape[0], -1)
        found = flat.gather(1, numbers.reshape(flat.shape[0], -1)).reshape(numbers.shape)
        # The first one of equals, in the order of the image.
        element = found.argmax(-1, keepdim=True)
        largest, places = (each.gather(-1, element).squeeze(-1) for each in (found, numbers))
        shape = *outer, *output_size
        return largest.reshape(shape), places.reshape(shape)

    return decomposition


def _fractional_begins(sample: Any, extent: int, window: int, count: int) -> Any:
    """Where `count` windows of a row begin, the last one at the end, for a column of samples."""
    torch = torch_package()
    last = torch.full_like(sample, extent - window, dtype=torch.int64)
    if count == 1:
        return last
    step = (extent - window) / (count - 1)
    numbers = torch.arange(count - 1, dtype=sample.dtype)
    begins = ((sample + numbers) * step).to(torch.int64) - (sample * step).to(torch.int64)
    return torch.cat([begins, last], 1)


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
    "fractional_max_pool2d": _fractional_max(2),
    "fractional_max_pool3d": _fractional_max(3),
    "max_unpool2d": _max_unpool(2),
    "max_unpool3d": _max_unpool(3),
}
"""Functions in torch by the names of operations."""

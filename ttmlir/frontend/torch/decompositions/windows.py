"""Windows of several sizes, what undoes a pooling, and images at places that a grid names."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

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


# -- images at places that a grid names --------------------------------------------------------
# Coordinates from -1 to 1 reach over the image, from the middle of the first element to that of the
# last one if `align_corners`, else from edge to edge.


_BILINEAR, _NEAREST, _BICUBIC = range(3)
_ZEROS, _BORDER, _REFLECTION = range(3)
_CUBIC = -0.75
"""The steepness of torch's cubic kernel."""


def _sample_grid(x: Any, grid: Any, mode: int, padding: int, align_corners: bool) -> Any:
    """(N, C, spatial extents ...) at a grid (N, positions ..., number of spatial dimensions)."""
    table = _Table(x)
    total: Any = None
    for chosen in itertools.product(*_taps(table.extents, grid, mode, padding, align_corners)):
        found = table.find([tap.place for tap in chosen])
        if mode != _NEAREST:
            weight: Any = math.prod(tap.weight for tap in chosen)
            found = found * weight.unsqueeze(1)
        total = found if total is None else total + found
    return total


def _sample_grid_backward(
    gradient: Any,
    x: Any,
    grid: Any,
    mode: int,
    padding: int,
    align_corners: bool,
    output_mask: Sequence[bool] = (True, True),
) -> tuple[Any, Any]:
    """The gradients of the image and of the grid, those of `output_mask`."""
    torch = torch_package()
    table = _Table(x)
    taps = _taps(table.extents, grid, mode, padding, align_corners)
    numbers: list[Any] = []
    shares: list[Any] = []
    slopes: list[Any] = [torch.zeros_like(grid[..., 0]) for _ in taps]
    for chosen in itertools.product(*taps):
        number, inside = table.locate([tap.place for tap in chosen])
        weights = [tap.weight for tap in chosen]
        numbers.append(number)
        shares.append(gradient * (math.prod(weights) * inside).unsqueeze(1))
        if mode == _NEAREST:
            continue
        value = (gradient * table.find([tap.place for tap in chosen])).sum(1)
        for dim, tap in enumerate(chosen):
            others = math.prod(weights[:dim] + weights[dim + 1 :])
            slopes[dim] = slopes[dim] + value * tap.slope * others
    of_x = table.add(numbers, shares) if output_mask[0] else None
    return of_x, torch.stack(slopes[::-1], -1) if output_mask[1] else None


class _Tap(NamedTuple):
    """One of the elements around each place along a dimension, and what it counts there."""

    place: Any
    weight: Any
    slope: Any
    """How the weight changes with the coordinate of the grid."""


def _taps(
    extents: Sequence[int], grid: Any, mode: int, padding: int, align_corners: bool
) -> list[list[_Tap]]:
    """For each spatial dimension the elements that are looked at."""
    taps: list[list[_Tap]] = []
    # Coordinates go along the last dimension first.
    for coordinate, extent in zip(reversed(grid.unbind(-1)), extents, strict=True):
        place = _to_elements(coordinate, extent, align_corners)
        step = ((extent - 1) if align_corners else extent) / 2
        if mode == _BICUBIC:
            low, around = place.floor(), list[_Tap]()
            for number, (weight, slope) in enumerate(_cubic_weights(place - low), -1):
                kept, _ = _keep_inside(low + number, extent, padding, align_corners)
                around.append(_Tap(kept, weight, slope * step))
            taps.append(around)
            continue
        place, slope = _keep_inside(place, extent, padding, align_corners)
        if mode == _NEAREST:
            one = torch_package().ones_like(place)
            taps.append([_Tap(place.round(), one, torch_package().zeros_like(place))])
            continue
        low, slope = place.floor(), slope * step
        part = place - low
        taps.append([_Tap(low, 1 - part, -slope), _Tap(low + 1, part, slope)])
    return taps


def _to_elements(place: Any, extent: int, align_corners: bool) -> Any:
    if align_corners:
        return (place + 1) / 2 * (extent - 1)
    return ((place + 1) * extent - 1) / 2


def _keep_inside(place: Any, extent: int, padding: int, align_corners: bool) -> tuple[Any, Any]:
    """Places outside moved to the border, or reflected there; and how they follow the place.

    On the border itself they stay, as in torch.
    """
    torch = torch_package()
    slope = torch.ones_like(place)
    if padding == _REFLECTION:
        low, span = (0.0, extent - 1) if align_corners else (-0.5, extent)
        if not span:
            return torch.zeros_like(place), torch.zeros_like(place)
        is_below = place < low
        distance = (place - low).abs()
        rest = torch.fmod(distance, span)
        is_back = torch.floor(distance / span) % 2 != 0
        place = torch.where(is_back, span - rest, rest) + low
        slope = torch.where(torch.logical_xor(is_back, is_below), -slope, slope)
    if padding in (_BORDER, _REFLECTION):
        inside = torch.logical_and(place > 0, place < extent - 1)
        place, slope = torch.clamp(place, 0, extent - 1), torch.where(inside, slope, 0)
    return place, slope


def _cubic_weights(part: Any) -> list[tuple[Any, Any]]:
    """Weights, and their slopes, of four elements around a place.

    The place is a part of one behind the second.
    """
    a = _CUBIC

    def near(t: Any) -> tuple[Any, Any]:
        return ((a + 2) * t - (a + 3)) * t * t + 1, (3 * (a + 2) * t - 2 * (a + 3)) * t

    def far(t: Any) -> tuple[Any, Any]:
        return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a, (3 * a * t - 10 * a) * t + 8 * a

    def mirrored(pair: tuple[Any, Any]) -> tuple[Any, Any]:
        return pair[0], -pair[1]

    return [far(part + 1), near(part), mirrored(near(1 - part)), mirrored(far(2 - part))]


class _Table:
    """An image as rows of channels, one for each element."""

    def __init__(self, x: Any) -> None:
        self.batch, self.channels, *self.extents = x.shape
        self.rows = x.reshape(self.batch, self.channels, -1).transpose(1, 2)
        self.rows = self.rows.reshape(-1, self.channels)

    def locate(self, places: Sequence[Any]) -> tuple[Any, Any]:
        """The rows of the elements at whole places (N, positions ...), and whether they exist."""
        torch = torch_package()
        inside: Any = None
        number: Any = torch.arange(self.batch).reshape(-1, *(1,) * (places[0].dim() - 1))
        for place, extent in zip(places, self.extents, strict=True):
            is_in = torch.logical_and(place >= 0, place <= extent - 1)
            inside = is_in if inside is None else torch.logical_and(inside, is_in)
            whole = torch.clamp(place, 0, extent - 1).to(torch.int64)
            number = number * extent + whole
        return number, inside

    def find(self, places: Sequence[Any]) -> Any:
        """The elements at whole places (N, positions ...), as (N, C, positions ...); 0 outside."""
        number, inside = self.locate(places)
        found = self.rows.index_select(0, number.reshape(-1))
        found = found.reshape(self.batch, -1, self.channels).transpose(1, 2)
        found = found.reshape(self.batch, self.channels, *places[0].shape[1:])
        return torch_package().where(inside.unsqueeze(1), found, 0)

    def add(self, numbers: Sequence[Any], shares: Sequence[Any]) -> Any:
        """An image of zeros with shares (N, C, positions ...) added to elements by their rows."""
        torch = torch_package()
        rows = torch.cat(
            [
                share.reshape(self.batch, self.channels, -1)
                .transpose(1, 2)
                .reshape(-1, self.channels)
                for share in shares
            ]
        )
        places = torch.cat([number.reshape(-1) for number in numbers])
        added = torch.zeros_like(self.rows).index_add(0, places, rows)
        added = added.reshape(self.batch, -1, self.channels).transpose(1, 2)
        return added.reshape(self.batch, self.channels, *self.extents)


DECOMPOSITIONS: dict[str, Callable[..., Any]] = {
    "adaptive_max_pool2d": _adaptive_max(2),
    "adaptive_max_pool3d": _adaptive_max(3),
    "fractional_max_pool2d": _fractional_max(2),
    "fractional_max_pool3d": _fractional_max(3),
    "max_unpool2d": _max_unpool(2),
    "max_unpool3d": _max_unpool(3),
    "grid_sampler_2d": _sample_grid,
    "grid_sampler_2d_backward": _sample_grid_backward,
    "grid_sampler_3d": _sample_grid,
    "grid_sampler_3d_backward": _sample_grid_backward,
}
"""Functions in torch by the names of operations."""

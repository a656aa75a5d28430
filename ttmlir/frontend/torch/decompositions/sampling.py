"""Images at places that a grid names: `grid_sampler` in two and three dimensions.

Coordinates from -1 to 1 reach over the image, from the middle of the first element to that of the
last one if `align_corners`, else from edge to edge.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

from ttmlir.frontend.torch.elements import torch_package

_BILINEAR, _NEAREST, _BICUBIC = range(3)
_ZEROS, _BORDER, _REFLECTION = range(3)
_CUBIC = -0.75
"""The steepness of torch's cubic kernel."""


def _sample_grid(x: Any, grid: Any, mode: int, padding: int, align_corners: bool) -> Any:
    """(N, C, spatial extents ...) at a grid (N, positions ..., number of spatial dimensions)."""
    extents = x.shape[2:]
    # Coordinates go along the last dimension first.
    places = [
        _to_elements(each, extent, align_corners)
        for each, extent in zip(reversed(grid.unbind(-1)), extents, strict=True)
    ]
    table = _Table(x)
    if mode == _BICUBIC:
        return _bicubic(table, places, padding, align_corners)
    places = [
        _keep_inside(place, extent, padding, align_corners)
        for place, extent in zip(places, extents, strict=True)
    ]
    if mode == _NEAREST:
        return table.find([place.round() for place in places])
    return _weigh(table, [_linear_taps(place) for place in places])


def _to_elements(place: Any, extent: int, align_corners: bool) -> Any:
    if align_corners:
        return (place + 1) / 2 * (extent - 1)
    return ((place + 1) * extent - 1) / 2


def _keep_inside(place: Any, extent: int, padding: int, align_corners: bool) -> Any:
    """Places outside moved to the border, or reflected there."""
    torch = torch_package()
    if padding == _REFLECTION:
        low, span = (0.0, extent - 1) if align_corners else (-0.5, extent)
        if not span:
            return torch.zeros_like(place)
        distance = (place - low).abs()
        rest = torch.fmod(distance, span)
        is_back = torch.floor(distance / span) % 2 != 0
        place = torch.where(is_back, span - rest, rest) + low
    if padding in (_BORDER, _REFLECTION):
        place = torch.clamp(place, 0, extent - 1)
    return place


def _linear_taps(place: Any) -> list[tuple[Any, Any]]:
    """The elements on both sides of a place, with their weights."""
    low = place.floor()
    part = place - low
    return [(low, 1 - part), (low + 1, part)]


def _bicubic(table: _Table, places: Sequence[Any], padding: int, align_corners: bool) -> Any:
    taps: list[list[tuple[Any, Any]]] = []
    for place, extent in zip(places, table.extents, strict=True):
        low = place.floor()
        taps.append(
            [
                (_keep_inside(low + step, extent, padding, align_corners), weight)
                for step, weight in zip(range(-1, 3), _cubic_weights(place - low), strict=True)
            ]
        )
    return _weigh(table, taps)


def _cubic_weights(part: Any) -> list[Any]:
    """The weights of four elements around a place, which is a part of one behind the second."""
    a = _CUBIC

    def near(t: Any) -> Any:
        return ((a + 2) * t - (a + 3)) * t * t + 1

    def far(t: Any) -> Any:
        return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a

    return [far(part + 1), near(part), near(1 - part), far(2 - part)]


def _weigh(table: _Table, taps: Sequence[Sequence[tuple[Any, Any]]]) -> Any:
    """The sum over all combinations of taps of the dimensions, times their weights."""
    total: Any = None
    for chosen in itertools.product(*taps):
        weight: Any = math.prod(weight for _, weight in chosen)
        found = table.find([place for place, _ in chosen]) * weight.unsqueeze(1)
        total = found if total is None else total + found
    return total


class _Table:
    """An image as rows of channels, one for each element."""

    def __init__(self, x: Any) -> None:
        self.batch, self.channels, *self.extents = x.shape
        self.rows = x.reshape(self.batch, self.channels, -1).transpose(1, 2)
        self.rows = self.rows.reshape(-1, self.channels)

    def find(self, places: Sequence[Any]) -> Any:
        """The elements at whole places (N, positions ...), as (N, C, positions ...); 0 outside."""
        torch = torch_package()
        inside: Any = None
        number: Any = torch.arange(self.batch).reshape(-1, *(1,) * (places[0].dim() - 1))
        for place, extent in zip(places, self.extents, strict=True):
            is_in = torch.logical_and(place >= 0, place <= extent - 1)
            inside = is_in if inside is None else torch.logical_and(inside, is_in)
            whole = torch.clamp(place, 0, extent - 1).to(torch.int64)
            number = number * extent + whole
        found = self.rows.index_select(0, number.reshape(-1))
        found = found.reshape(self.batch, -1, self.channels).transpose(1, 2)
        found = found.reshape(self.batch, self.channels, *places[0].shape[1:])
        return torch.where(inside.unsqueeze(1), found, 0)


DECOMPOSITIONS: dict[str, Callable[..., Any]] = {
    "grid_sampler_2d": _sample_grid,
    "grid_sampler_3d": _sample_grid,
}
"""Functions in torch by the names of operations."""

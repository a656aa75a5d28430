"""Images at places that a grid names, and the largest elements of windows with their places.

Images are (N, C, spatial extents ...). Coordinates of a grid from -1 to 1 reach over the image:
from the middle of the first element to that of the last one if `align_corners`, else from edge to
edge. They go along the last dimension first.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from enum import Enum
from functools import partial, reduce
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from ttmlir.arrays.array import Array, concatenate
from ttmlir.arrays.carriers import array_of
from ttmlir.composites.indexing import take
from ttmlir.composites.normalization import put_along


class Kernel(Enum):
    """How elements around a place count."""

    LINEAR = "by their distance, along each dimension"
    NEAREST = "the nearest one alone; of two, the one with an even place"
    CUBIC = "four along each dimension, by a cubic polynomial of the distance"


class Outside(Enum):
    """What is beyond the image."""

    ZEROS = "zeros"
    BORDER = "the nearest element of the image"
    REFLECTION = "the image, reflected at its ends"


_CUBIC = -0.75
"""The steepness of the cubic kernel."""


class _Tap(NamedTuple):
    """One of the elements around each place along a dimension, and what it counts there."""

    place: Array
    weight: Array | None
    """None for 1 everywhere."""
    slope: Array
    """How the weight changes with the coordinate of the grid."""


def sample_grid(
    image: Array, grid: Array, kernel: Kernel, outside: Outside, *, align_corners: bool
) -> Array:
    """The image at a grid (N, positions ..., number of spatial dimensions)."""
    taps = _find_taps(image.shape[2:], grid, kernel, outside, align_corners=align_corners)
    return _sum_taps(image, taps, 0)


def sample_at(image: Array, places: Sequence[Array], kernel: Kernel, fill: float) -> Array:
    """The image at elements (N, positions ...), a number for each dimension; `fill` outside."""
    one = array_of(1, places[0].dtype)
    return _sum_taps(image, [_surround(place, one, kernel) for place in places], fill)


def enlarge(x: Array, dim: int, scale: int) -> Array:
    """So many times the extent of a dimension, by straight lines between the centres of elements.

    Beyond the first and the last centre the elements stay the same.
    """
    extent = x.shape[dim]
    centres = np.clip((np.arange(extent * scale) + 0.5) / scale - 0.5, 0, extent - 1)
    low = centres.astype(np.int64)
    lower, upper = (take(x, dim, array_of(each)) for each in (low, np.minimum(low + 1, extent - 1)))
    weight = put_along(array_of(centres - low, x.dtype), lower, dim)
    return lower * (1 - weight) + upper * weight


def _sum_taps(image: Array, taps: Sequence[Sequence[_Tap]], fill: float) -> Array:
    table = _Table(image)
    terms: list[Array] = []
    for chosen in itertools.product(*taps):
        found = table.find([tap.place for tap in chosen], fill)
        weight = _multiply(tap.weight for tap in chosen)
        terms.append(found if weight is None else found * weight.unsqueeze(1))
    return _add(terms)


def differentiate_grid_sample(
    gradient: Array,
    image: Array,
    grid: Array,
    kernel: Kernel,
    outside: Outside,
    *,
    align_corners: bool,
) -> tuple[Array, Array]:
    """The gradients of the image and of the grid."""
    table = _Table(image)
    taps = _find_taps(table.extents, grid, kernel, outside, align_corners=align_corners)
    numbers: list[Array] = []
    shares: list[Array] = []
    slopes: list[list[Array]] = [[] for _ in taps]
    for chosen in itertools.product(*taps):
        places, weights = [tap.place for tap in chosen], [tap.weight for tap in chosen]
        number, inside = table.locate(places)
        weight = _multiply([*weights, inside.cast(gradient.dtype)])
        numbers.append(number)
        shares.append(gradient if weight is None else gradient * weight.unsqueeze(1))
        if kernel is Kernel.NEAREST:
            continue
        value = (gradient * table.find(places)).sum(1, keep=False)
        for dim, tap in enumerate(chosen):
            others = _multiply([tap.slope, *weights[:dim], *weights[dim + 1 :]])
            slopes[dim].append(value if others is None else value * others)
    zero = gradient.fill(0, grid.shape[:-1])
    of_grid = [(_add(each) if each else zero).unsqueeze(-1) for each in reversed(slopes)]
    return table.add(numbers, shares), concatenate(of_grid, -1)


def _multiply(factors: Any) -> Array | None:
    """The product of those that are not 1."""
    given = [each for each in factors if each is not None]
    return reduce(mul, given) if given else None


def _add(terms: Sequence[Array]) -> Array:
    return reduce(Array.__add__, terms)


def _find_taps(
    extents: Sequence[int], grid: Array, kernel: Kernel, outside: Outside, *, align_corners: bool
) -> list[list[_Tap]]:
    """For each spatial dimension the elements that are looked at."""
    taps: list[list[_Tap]] = []
    for dim, extent in enumerate(extents):
        number = len(extents) - 1 - dim
        coordinate = grid.cut(grid.rank - 1, number, number + 1).squeeze(-1)
        step = ((extent - 1) if align_corners else extent) / 2
        # The same steps as in torch: others would round places at borders in another way.
        place = (
            (coordinate + 1) * 0.5 * (extent - 1)
            if align_corners
            else ((coordinate + 1) * extent - 1) * 0.5
        )
        keep = partial(_keep_inside, extent=extent, outside=outside, align_corners=align_corners)
        if kernel is Kernel.CUBIC:
            # Each of the elements is kept inside by itself.
            around = _surround(place, array_of(step, place.dtype), kernel)
            taps.append([tap._replace(place=keep(tap.place)[0]) for tap in around])
            continue
        place, slope = keep(place)
        taps.append(_surround(place, slope * step, kernel))
    return taps


def _surround(place: Array, slope: Array, kernel: Kernel) -> list[_Tap]:
    """The elements around places along a dimension, which change with the grid by a slope."""
    if kernel is Kernel.NEAREST:
        return [_Tap(place.round(), None, slope)]
    low = place.floor()
    part = place - low
    if kernel is Kernel.LINEAR:
        return [_Tap(low, 1 - part, -slope), _Tap(low + 1, part, slope)]
    weights = enumerate(_weigh_cubic(part), -1)
    return [_Tap(low + count, weight, each * slope) for count, (weight, each) in weights]


def _keep_inside(
    place: Array, extent: int, outside: Outside, *, align_corners: bool
) -> tuple[Array, Array]:
    """Places outside moved to the border, or reflected there; and how they follow the place.

    On the border itself they stay, as in torch.
    """
    slope = array_of(1, place.dtype)
    if outside is Outside.ZEROS:
        return place, slope
    if outside is Outside.REFLECTION:
        low, span = (0.0, extent - 1) if align_corners else (-0.5, extent)
        if not span:
            return place.fill(0), array_of(0, place.dtype)
        distance = (place - low).abs()
        rest = distance.remainder(span)
        is_back = (distance / span).floor().remainder(2).ne(0)
        slope = (is_back ^ (place < low)).where(-slope, slope)
        place = is_back.where(span - rest, rest) + low
    inside = (place > 0) & (place < extent - 1)
    return place.limit(0, extent - 1), inside.where(slope, 0)


def _weigh_cubic(part: Array) -> list[tuple[Array, Array]]:
    """Weights, and their slopes, of four elements around a place.

    The place is a part of one after the second.
    """
    a = _CUBIC

    def near(t: Array) -> tuple[Array, Array]:
        return ((t * (a + 2) - (a + 3)) * t * t + 1, (t * (3 * (a + 2)) - 2 * (a + 3)) * t)

    def far(t: Array) -> tuple[Array, Array]:
        return (((t * a - 5 * a) * t + 8 * a) * t - 4 * a, (t * (3 * a) - 10 * a) * t + 8 * a)

    def mirrored(pair: tuple[Array, Array]) -> tuple[Array, Array]:
        return pair[0], -pair[1]

    return [far(part + 1), near(part), mirrored(near(1 - part)), mirrored(far(2 - part))]


class _Table:
    """An image as rows of channels, one for each element."""

    def __init__(self, image: Array) -> None:
        self.batch, self.channels, *self.extents = image.shape
        self.rows = self._as_rows(image)

    def _as_rows(self, image: Array) -> Array:
        count = math.prod(image.shape[2:])
        apart = image.reshape((self.batch, self.channels, count)).transpose()
        return apart.reshape((self.batch * count, self.channels))

    def _as_image(self, rows: Array, extents: Sequence[int]) -> Array:
        apart = rows.reshape((self.batch, math.prod(extents), self.channels))
        return apart.transpose().reshape((self.batch, self.channels, *extents))

    def locate(self, places: Sequence[Array]) -> tuple[Array, Array]:
        """The rows of the elements at whole places (N, positions ...), and whether they exist."""
        number = array_of(np.arange(self.batch).reshape(-1, *[1] * (places[0].rank - 1)))
        for place, extent in zip(places, self.extents, strict=True):
            number = number * extent + place.limit(0, extent - 1).cast("i64")
        inside = [
            (place >= 0) & (place <= extent - 1)
            for place, extent in zip(places, self.extents, strict=True)
        ]
        return number, reduce(Array.__and__, inside)

    def find(self, places: Sequence[Array], fill: float = 0) -> Array:
        """The elements at whole places (N, positions ...), as (N, C, positions ...), or `fill`."""
        number, inside = self.locate(places)
        found = self.rows.select(0, number.reshape((math.prod(number.shape),)))
        return inside.unsqueeze(1).where(self._as_image(found, number.shape[1:]), fill)

    def add(self, numbers: Sequence[Array], shares: Sequence[Array]) -> Array:
        """An image of zeros with shares (N, C, positions ...) added to elements by their rows."""
        rows = concatenate([self._as_rows(share) for share in shares], 0)
        places = [number.reshape((math.prod(number.shape), 1)) for number in numbers]
        zeros = rows.fill(0, self.rows.shape)
        return self._as_image(zeros.scatter(0, concatenate(places, 0), rows, "add"), self.extents)


# -- windows that do not lie side by side ----------------------------------------------------------


def find_adaptive_maxima(image: Array, counts: Sequence[int]) -> tuple[Array, Array]:
    """The largest elements of windows from floor(i * n / m) to ceil((i + 1) * n / m).

    Their places are counted over the spatial dimensions, which are the last ones.
    """
    extents = image.shape[-len(counts) :]
    windows = [_divide_evenly(n, m) for n, m in zip(extents, counts, strict=True)]
    numbers = _number(extents, windows)
    outer = image.shape[: -len(counts)]
    found = image.reshape((*outer, math.prod(extents))).select(-1, array_of(numbers))
    element = found.argmax(-1)
    places = array_of(np.broadcast_to(numbers, found.shape)).gather(-1, element)
    return found.max(-1, keep=False), places.squeeze(-1)


def _divide_evenly(extent: int, count: int) -> Any:
    """The elements of `count` windows of a row; the last one is repeated in shorter ones."""
    number: Any = np.arange(count)[:, None]
    begin: Any = number * extent // count
    end: Any = -(-(number + 1) * extent // count)
    widest = int((end - begin).max())
    return np.minimum(begin + np.arange(widest), end - 1)


def _number(extents: Sequence[int], windows: Sequence[Any]) -> Any:
    """The number of each element of each window: (positions ..., elements)."""
    numbers: Any = np.zeros((1,) * (2 * len(extents)), np.int64)
    for dim, (extent, places) in enumerate(zip(extents, windows, strict=True)):
        shape = [1] * (2 * len(extents))
        shape[dim], shape[len(extents) + dim] = places.shape
        numbers = numbers * extent + places.reshape(shape)
    return numbers.reshape(*numbers.shape[: len(extents)], -1)


def find_fractional_maxima(
    image: Array, sizes: Sequence[int], counts: Sequence[int], samples: Array
) -> tuple[Array, Array]:
    """The largest elements of windows of these sizes, which begin at places that samples choose.

    The samples (images, spatial dimensions) are from 0 to 1, and the last window is at the end.
    """
    spatial = len(sizes)
    outer, extents = image.shape[:-spatial], image.shape[-spatial:]
    count = math.prod(outer)
    numbers = array_of(np.zeros((1,) * (2 * spatial + 1), np.int64))
    for dim, (extent, size, positions) in enumerate(zip(extents, sizes, counts, strict=True)):
        begins = _begin_windows(samples.cut(1, dim, dim + 1), extent, size, positions)
        places = begins.unsqueeze(2) + array_of(np.arange(size))
        shape = [1] * (2 * spatial + 1)
        shape[0], shape[1 + dim], shape[1 + spatial + dim] = places.shape
        numbers = numbers * extent + places.reshape(shape)
    windows = count, math.prod(counts), math.prod(sizes)
    flat = image.reshape((count, math.prod(extents)))
    found = flat.gather(1, numbers.reshape((count, windows[1] * windows[2]))).reshape(windows)
    element = found.argmax(-1)
    shape = *outer, *counts
    largest, places = (each.gather(-1, element) for each in (found, numbers.reshape(windows)))
    return largest.reshape(shape), places.reshape(shape)


def _begin_windows(sample: Array, extent: int, size: int, count: int) -> Array:
    """Where windows of a row begin, the last one at the end, for a column of samples."""
    last = sample.fill(extent - size, dtype="i64")
    if count == 1:
        return last
    step = (extent - size) / (count - 1)
    numbers = array_of(np.arange(count - 1), sample.dtype)
    begins = ((sample + numbers) * step).cast("i64") - (sample * step).cast("i64")
    return concatenate([begins, last], 1)


def put_back_maxima(
    values: Array, places: Array, extents: Sequence[int], combine: str = ""
) -> Array:
    """An image with elements put to places that are counted over its dimensions, 0 elsewhere.

    What meets at a place is combined as `scatter` says.
    """
    outer = values.shape[: -len(extents)]
    if 0 in values.shape:
        return values.fill(0, (*outer, *extents))
    rows = math.prod(outer), math.prod(values.shape[-len(extents) :])
    empty = values.fill(0, (rows[0], math.prod(extents)))
    found = empty.scatter(1, places.reshape(rows), values.reshape(rows), combine)
    return found.reshape((*outer, *extents))

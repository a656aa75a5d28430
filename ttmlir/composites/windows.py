"""Windows that slide over arrays, one element of each window at a time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

from ttmlir.arrays.array import Array, Shape, concatenate
from ttmlir.optable.window import WindowAxis


def iterate_taps(axes: Sequence[WindowAxis]) -> Iterator[Shape]:
    """Where the elements under a window are, seen from its first one, in row-major order."""
    return itertools.product(*(range(0, axis.reach, axis.dilation) for axis in axes))


def take_tap(x: Array, tap: Shape, axes: Sequence[WindowAxis]) -> Array:
    """The elements that one element of the window meets at all its positions."""
    pairs = [*zip(tap, axes, strict=True)]
    ends = [first + (axis.positions - 1) * axis.stride + 1 for first, axis in pairs]
    return x.slice(tap, ends, [axis.stride for axis in axes])


def pool(x: Array, method: str, axes: Sequence[WindowAxis]) -> Array:
    """One element for each window over the last dimensions of (N, C, ...).

    The method is `max`, `sum` or `average`, which counts padding, too.
    """
    pairs = [
        (axis.low, (axis.positions - 1) * axis.stride + axis.reach - axis.extent - axis.low)
        for axis in axes
    ]
    parameters = {
        "pooling_method": method,
        "window_dimensions": (1, 1, *(axis.kernel for axis in axes)),
        "window_strides": (1, 1, *(axis.stride for axis in axes)),
        "base_dilations": (1,) * (len(axes) + 2),
        "window_dilations": (1, 1, *(axis.dilation for axis in axes)),
        "padding": (0, 0, 0, 0, *(count for pair in pairs for count in pair)),
    }
    shape = *x.shape[:2], *(axis.positions for axis in axes)
    return x.create("pooling", shape=shape, parameters=parameters)


def average(
    x: Array, axes: Sequence[WindowAxis], *, counts_padding: bool, divisor: int | None = None
) -> Array:
    """The mean of each window over the last dimensions of (N, C, ...).

    Sums are divided by the number of elements in the image, or with its padding, or by a divisor.
    """
    is_plain = not any(axis.low or axis.high or axis.ceil_mode for axis in axes)
    if is_plain and divisor is None:
        return pool(x, "average", axes)
    total = pool(x, "sum", axes)
    counts = [axis.covered(counts_padding) for axis in axes]
    if divisor is not None or all(len(set(numbers)) == 1 for numbers in counts):
        return total * (1 / (divisor or math.prod(numbers[0] for numbers in counts)))
    # The conversions of programs, which are windows, too, start without NumPy.
    import numpy as np

    from ttmlir.arrays.carriers import array_of

    grid = np.ones((), np.float32)
    for numbers in counts:
        grid = grid[..., None] * np.array(numbers, np.float32)
    return total * array_of(1 / grid, x.dtype)


def scatter_to_extremes(
    x: Array,
    source: Array,
    axes: Sequence[WindowAxis],
    margins: Sequence[tuple[int, int]],
    *,
    extreme: str,
    takes_last: bool,
    fill: float,
    combiner: str,
    neutral: float,
) -> Array:
    """An element of `source` for each window, where the window over `x` has its extreme.

    That is the gradient of pooling. `extreme` is `maximum` or `minimum`, `fill` what margins of the
    windows hold that no window selects; of equal elements the first or the last is taken. Elements
    that several windows select are combined by an elementwise operation, for which `neutral`
    changes nothing; elements that none selects are `neutral`.
    """
    wide = x.pad(margins, fill)
    taps = {tap: take_tap(wide, tap, axes) for tap in iterate_taps(axes)}
    chosen = _choose(taps, source, extreme, neutral, takes_last=takes_last)
    for dim in reversed(range(x.rank)):
        groups: dict[Shape, list[Array]] = {}
        for tap, part in chosen.items():
            groups.setdefault(tap[:-1], []).append(part)
        chosen = {
            tap: _interleave(parts, dim, axes[dim], combiner, neutral)
            for tap, parts in groups.items()
        }
    (scattered,) = chosen.values()
    return scattered.pad([(-low, -high) for low, high in margins], neutral)


def _choose(
    taps: Mapping[Shape, Array], source: Array, extreme: str, neutral: float, *, takes_last: bool
) -> dict[Shape, Array]:
    """The part of the source that goes to each element of the window: all to one of them."""
    best, *others = taps.values()
    for tap in others:
        best = best.apply(extreme, tap)
    nothing = source.fill(neutral, ())
    rest = source
    result: dict[Shape, Array] = {}
    for tap in sorted(taps, reverse=takes_last):
        is_best = taps[tap].eq(best)
        result[tap] = is_best.where(rest, nothing)
        rest = is_best.where(nothing, rest)
    return dict(sorted(result.items()))


def _interleave(
    parts: Sequence[Array], dim: int, axis: WindowAxis, combiner: str, neutral: float
) -> Array:
    """Arrays in one; element i along a dimension goes to i * stride + the array's number."""
    shape = parts[0].shape
    if len(parts) == 1 and axis.stride == 1:
        return parts[0]
    if axis.kernel == axis.stride:
        # The windows lie side by side: nothing is added up.
        before, after = math.prod(shape[: dim + 1]), math.prod(shape[dim + 1 :])
        apart = [part.reshape((before, 1, after)) for part in parts]
        extents = (*shape[:dim], shape[dim] * axis.stride, *shape[dim + 1 :])
        joined = concatenate(apart, 1).reshape(extents)
        return _extend(joined, dim, 0, axis.extent, neutral)
    result: Array | None = None
    for number, part in enumerate(parts):
        spread = part.dilate(dim, axis.stride, neutral)
        placed = _extend(spread, dim, number, axis.extent, neutral)
        result = placed if result is None else result.apply(combiner, placed)
    assert result is not None, "a window has an element"
    return result


def _extend(x: Array, dim: int, low: int, extent: int, number: float) -> Array:
    """With elements of a number below and above along a dimension, to an extent."""
    margins = [(0, 0)] * x.rank
    margins[dim] = (low, extent - low - x.shape[dim])
    return x.pad(margins, number)


def find_maxima(x: Array, axes: Sequence[WindowAxis]) -> Array:
    """Where the largest element of each window over the last dimensions is, as i32.

    Places are counted over these dimensions, without padding. Of equal elements it is the first;
    NaN is larger than all.
    """
    # The conversions of programs, which are windows, too, start without NumPy.
    import numpy as np

    from ttmlir.arrays.carriers import array_of

    outer = x.rank - len(axes)
    every = [*(WindowAxis(extent=extent, kernel=1) for extent in x.shape[:outer]), *axes]
    wide = x.pad([axis.margin for axis in every], -math.inf)
    found: tuple[Array, Array] | None = None
    for tap in iterate_taps(every):
        part, places = take_tap(wide, tap, every), np.zeros((), np.int32)
        for axis, offset in zip(axes, tap[outer:], strict=True):
            begins = np.arange(axis.positions) * axis.stride - axis.low
            # Where all is -inf, the place is the first one that is not in the padding.
            first = begins - np.minimum(begins, 0) // axis.dilation * axis.dilation
            places = places[..., None] * axis.extent + np.maximum(begins + offset, first)
        numbers = array_of(places.astype(np.int32).reshape((1,) * outer + places.shape))
        if found is None:
            found = part, numbers
            continue
        best, chosen = found
        is_above = (part > best) | part.is_nan()
        found = is_above.where(part, best), is_above.where(numbers, chosen)
    assert found is not None, "windows have elements"
    best, chosen = found
    return chosen.broadcast(best.shape)

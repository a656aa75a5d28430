"""Operators that resize images."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttmlir.arrays.array import Array
from ttmlir.arrays.carriers import array_of
from ttmlir.composites.indexing import take
from ttmlir.composites.resampling import multiply_along
from ttmlir.frontend.onnx.call import Call, Rule

Numbers = NDArray[np.float64]

_PLACES: dict[str, Callable[[Numbers, float, float, float], Numbers]] = {
    "align_corners": lambda at, scale, n, m: at * ((n - 1) / (m - 1) if m != 1 else 0),
    "asymmetric": lambda at, scale, n, m: at / scale,
    "half_pixel": lambda at, scale, n, m: (at + 0.5) / scale - 0.5,
    "half_pixel_symmetric": lambda at, scale, n, m: (
        n / 2 * (1 - len(at) / m) + (at + 0.5) / scale - 0.5
    ),
    "pytorch_half_pixel": lambda at, scale, n, m: (
        (at + 0.5) / scale - 0.5 if m != 1 else at * 0 - 0.5
    ),
    "tf_half_pixel_for_nn": lambda at, scale, n, m: (at + 0.5) / scale,
}
"""Places in an image of n elements, of elements `at` of m = n * scale, which may be no integer."""

_CROP = "tf_crop_and_resize"

_NEAREST: dict[str, Callable[[Numbers], Numbers]] = {
    "ceil": np.ceil,
    "floor": np.floor,
    "round_prefer_ceil": lambda at: np.floor(at + 0.5),
    "round_prefer_floor": lambda at: np.ceil(at - 0.5),
}


def _resize(call: Call) -> Array:
    x = call.array("X")
    axes = tuple(range(x.rank)) if call["axes"] is None else call.dims(x.rank, call["axes"])
    sizes, scales = _sizes(call, x, axes)
    shape = [*x.shape]
    for dim, size in zip(axes, sizes, strict=True):
        shape[dim] = size
    call.check_size(shape, x.dtype)
    region = None
    kind = str(call["coordinate_transformation_mode"] or "asymmetric")
    if kind not in (*_PLACES, _CROP):
        call.refuse(
            f"coordinate_transformation_mode is '{kind}'; supported are "
            f"{', '.join((*_PLACES, _CROP))}"
        )
    if kind == _CROP:
        region = call.numbers("roi").astype(np.float64).reshape(-1)
        if region.size != 2 * len(axes):
            call.refuse(f"roi has {region.size} numbers; it has to have {2 * len(axes)}")
    if 0 in shape or 0 in x.shape:
        return call.fill(0, shape, x.dtype)
    is_nearest = call.choose("mode", ("nearest", "linear", "cubic")) == "nearest"
    found = x if is_nearest or x.is_real else x.cast("f32")
    for place, (dim, size, scale) in enumerate(zip(axes, sizes, scales, strict=True)):
        own = None if region is None else (region[place], region[place + len(axes)])
        if size == x.shape[dim] and math.isclose(scale, 1) and own in (None, (0.0, 1.0)):
            continue
        at = _places(kind, size, scale, x.shape[dim], own)
        found = _along(call, found, dim, at, scale)
        if own is not None:
            found = _outside(call, found, dim, at, x.shape[dim])
    return found.cast(x.dtype)


def _sizes(call: Call, x: Array, axes: Sequence[int]) -> tuple[list[int], list[float]]:
    """The new extents of dimensions, and their quotients with the old ones."""
    extents = [x.shape[dim] for dim in axes]
    sizes = call.integers("sizes") if call.has("sizes") else None
    if sizes:
        _check_count(call, "sizes", sizes, axes)
        factors = [size / max(n, 1) for size, n in zip(sizes, extents, strict=True)]
        policy = call["keep_aspect_ratio_policy"]
        if policy in (None, "stretch"):
            return list(sizes), factors
        choose = {"not_larger": min, "not_smaller": max}.get(policy)
        if choose is None:
            call.refuse(
                f"keep_aspect_ratio_policy is '{policy}'; supported are stretch, not_larger, "
                "not_smaller"
            )
        factor = choose(factors)
        return [int(factor * n + 0.5) for n in extents], [factor] * len(extents)
    given: Any = call["scales"]
    if given is None:
        given = call.numbers("scales").reshape(-1).tolist()
    _check_count(call, "scales", given, axes)
    if any(not (math.isfinite(each) and each > 0) for each in given):
        call.refuse(f"scales is {list(given)}; they have to be above 0")
    factors = [float(each) for each in given]
    return [math.floor(n * factor) for n, factor in zip(extents, factors, strict=True)], factors


def _check_count(call: Call, name: str, numbers: Sequence[float], axes: Sequence[int]) -> None:
    if len(numbers) != len(axes):
        call.refuse(f"{name} has {len(numbers)} numbers; {len(axes)} dimensions are resized")


def _places(
    kind: str, size: int, scale: float, extent: int, region: tuple[float, float] | None
) -> Numbers:
    """Where the elements of the result are in the image."""
    at = np.arange(size, dtype=np.float64)
    length = scale * extent
    if region is None:
        return _PLACES[kind](at, scale, extent, length)
    low, high = region
    if length == 1:
        at = at * 0 + (high - low) * (extent - 1) / 2
    else:
        at = at * (high - low) * (extent - 1) / (length - 1)
    return at + low * (extent - 1)


def _along(call: Call, x: Array, dim: int, at: Numbers, scale: float) -> Array:
    extent = x.shape[dim]
    if call["mode"] == "nearest":
        kind = str(call["nearest_mode"] or "floor")
        if kind not in _NEAREST:
            call.refuse(f"nearest_mode is '{kind}'; supported are {', '.join(_NEAREST)}")
        places = np.clip(_NEAREST[kind](at), 0, extent - 1).astype(np.int64)
        return take(x, dim, array_of(places))
    call.check_size((extent, len(at)), "f64")
    shrink = min(scale, 1.0) if call["antialias"] else 1.0
    kernel, reach = _kernel(call)
    wide = math.ceil(reach / shrink)
    taps = np.floor(at)[:, None] + np.arange(1 - wide, wide + 1)
    weights = kernel(np.abs(taps - at[:, None]) * shrink)
    if call["exclude_outside"]:
        weights = np.where((taps < 0) | (taps >= extent), 0.0, weights)
    total = weights.sum(1, keepdims=True)
    weights = weights / np.where(total == 0, 1.0, total)
    matrix = np.zeros((extent, len(at)))
    rows = np.clip(taps, 0, extent - 1).astype(np.int64)
    np.add.at(matrix, (rows, np.arange(len(at))[:, None]), weights)
    return multiply_along(x, dim, array_of(matrix, x.dtype))


def _kernel(call: Call) -> tuple[Callable[[Numbers], Numbers], int]:
    """What elements count by their distance, and the largest distance that counts."""
    if call["mode"] != "cubic":
        return lambda size: np.clip(1 - size, 0, 1), 1
    a = -0.75 if call["cubic_coeff_a"] is None else float(call["cubic_coeff_a"])

    def cubic(size: Numbers) -> Numbers:
        near = ((a + 2) * size - (a + 3)) * size * size + 1
        far = ((a * size - 5 * a) * size + 8 * a) * size - 4 * a
        return np.where(size <= 1, near, np.where(size < 2, far, 0.0))

    return cubic, 2


def _outside(call: Call, x: Array, dim: int, at: Numbers, extent: int) -> Array:
    """One number for what is not in the image."""
    is_outside = (at < 0) | (at > extent - 1)
    if not is_outside.any():
        return x
    mask = array_of(is_outside.reshape([-1 if i == dim else 1 for i in range(x.rank)]))
    return mask.where(float(call["extrapolation_value"] or 0), x)


RULES: dict[str, Rule] = {"Resize": _resize, "Upsample": _resize}
"""Rules by the names of operators."""

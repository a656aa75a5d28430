"""Operators on the windows of an image: convolutions, pooling, sampling.

Images are (batch, channels, spatial dimensions ...).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ttmlir.arrays.array import Array, Shape
from ttmlir.arrays.carriers import array_of
from ttmlir.composites import interpolation
from ttmlir.composites.convolution import Convolution
from ttmlir.composites.windows import average, find_maxima, pool
from ttmlir.frontend.onnx.call import Call, Rule
from ttmlir.optable.window import WindowAxis

Margins = tuple[tuple[int, int], ...]
_AUTOMATIC = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")


def each_dim(call: Call, name: str, count: int, default: int = 1, least: int = 1) -> Shape:
    """One number for each spatial dimension."""
    given = call[name]
    numbers = (default,) * count if given is None else tuple(given)
    if len(numbers) != count:
        call.refuse(f"{name} is {list(numbers)}; the image has {count} spatial dimensions")
    if min(numbers, default=least) < least:
        call.refuse(f"{name} is {list(numbers)}; the least number is {least}")
    return numbers


def read_axes(call: Call, x: Array, kernel: Shape, *, ceil_mode: bool = False) -> list[WindowAxis]:
    """What windows do along each spatial dimension of an image."""
    count = len(kernel)
    if x.rank != count + 2:
        call.refuse(f"the image has {x.rank} dimensions, and the window {count}, not {x.rank - 2}")
    strides, dilations = (each_dim(call, name, count) for name in ("strides", "dilations"))
    extents = x.shape[2:]
    margins = _margins(call, extents, kernel, strides, dilations)
    axes = [
        WindowAxis(
            extent=n, kernel=k, stride=s, dilation=d, low=low, high=high, ceil_mode=ceil_mode
        )
        for n, k, s, d, (low, high) in zip(
            extents, kernel, strides, dilations, margins, strict=True
        )
    ]
    return [axis.checked(f"dimension {2 + number}") for number, axis in enumerate(axes)]


def _margins(
    call: Call, extents: Shape, kernel: Shape, strides: Shape, dilations: Shape
) -> Margins:
    count = len(kernel)
    kind = call.choose("auto_pad", _AUTOMATIC)
    if kind == "NOTSET":
        return read_pads(call, count)
    if kind == "VALID":
        return ((0, 0),) * count
    found: list[tuple[int, int]] = []
    for n, k, s, d in zip(extents, kernel, strides, dilations, strict=True):
        total = max(0, (-(-n // s) - 1) * s + d * (k - 1) + 1 - n)
        found.append(_divide(total, kind))
    return tuple(found)


def read_pads(call: Call, count: int) -> Margins:
    """Elements that are added on both sides of each dimension."""
    given = call["pads"]
    pads = (0,) * (2 * count) if given is None else tuple(given)
    if len(pads) != 2 * count:
        call.refuse(f"pads is {list(pads)}; it has to have {2 * count} numbers")
    return tuple(zip(pads[:count], pads[count:], strict=True))


def _divide(total: int, kind: str) -> tuple[int, int]:
    """Margins of an automatic padding on both sides."""
    small, large = total // 2, total - total // 2
    return (small, large) if kind == "SAME_UPPER" else (large, small)


# -- convolutions ------------------------------------------------------------------------------


def _convolution(call: Call) -> Array:
    return convolve(call, call.array("X"), call.array("W"), call.optional("B"))


def convolve(call: Call, x: Array, weight: Array, bias: Array | None = None) -> Array:
    """The convolution that the attributes of an operator say."""
    check_kernel(call, x, weight)
    axes = read_axes(call, x, weight.shape[2:])
    groups = int(call["group"])
    if groups < 1 or x.shape[1] != weight.shape[1] * groups or weight.shape[0] % groups:
        call.refuse(
            f"the image has {x.shape[1]} channels, and the weight of shape {list(weight.shape)} "
            f"in {groups} groups takes {weight.shape[1] * groups}"
        )
    convolution = Convolution(
        stride=tuple(axis.stride for axis in axes),
        padding=tuple(axis.low for axis in axes),
        dilation=tuple(axis.dilation for axis in axes),
        extra=(0,) * len(axes),
        groups=groups,
        transposed=False,
        ends=tuple(axis.high for axis in axes),
    )
    return convolution.compute(x, weight, [axis.positions for axis in axes], bias)


def check_kernel(call: Call, x: Array, weight: Array) -> None:
    """Refuse a weight that does not fit the image or the attribute `kernel_shape`."""
    if x.rank < 3 or weight.rank != x.rank:
        call.refuse(
            f"the image has {x.rank} dimensions, and the weight {weight.rank}; both have to have "
            "the same number, and at least 3"
        )
    kernel = call["kernel_shape"]
    if kernel is not None and tuple(kernel) != weight.shape[2:]:
        call.refuse(f"kernel_shape is {list(kernel)}, and the weight has {list(weight.shape[2:])}")


def _transposed_convolution(call: Call) -> Array:
    x, weight = call.array("X"), call.array("W")
    check_kernel(call, x, weight)
    count, groups = x.rank - 2, int(call["group"])
    if groups < 1 or x.shape[1] != weight.shape[0] or x.shape[1] % groups:
        call.refuse(
            f"the image has {x.shape[1]} channels, and the weight takes {weight.shape[0]} in "
            f"{groups} groups"
        )
    strides, dilations = (each_dim(call, name, count) for name in ("strides", "dilations"))
    extra = each_dim(call, "output_padding", count, 0, least=0)
    reach = [
        (n - 1) * s + e + d * (k - 1) + 1
        for n, s, e, d, k in zip(
            x.shape[2:], strides, extra, dilations, weight.shape[2:], strict=True
        )
    ]
    margins = _transposed_margins(call, x.shape[2:], reach, strides)
    convolution = Convolution(
        stride=strides,
        padding=tuple(low for low, _ in margins),
        dilation=dilations,
        extra=extra,
        groups=groups,
        transposed=True,
        ends=tuple(high for _, high in margins),
    )
    extents = [n - low - high for n, (low, high) in zip(reach, margins, strict=True)]
    if min(extents) < 1:
        call.refuse(f"its result would have the extents {extents}")
    return convolution.compute(x, weight, extents, call.optional("B"))


def _transposed_margins(
    call: Call, extents: Shape, reach: Sequence[int], strides: Shape
) -> Margins:
    """What is cut off on both sides."""
    kind, sizes = call.choose("auto_pad", _AUTOMATIC), call["output_shape"]
    if sizes is not None:
        sizes = tuple(sizes)[-len(extents) :]
        if len(sizes) != len(extents):
            call.refuse(f"output_shape is {list(sizes)}; the image has {len(extents)} dimensions")
    elif kind in ("NOTSET", "VALID"):
        return read_pads(call, len(extents)) if kind == "NOTSET" else ((0, 0),) * len(extents)
    else:
        sizes = tuple(n * s for n, s in zip(extents, strides, strict=True))
    return tuple(_divide(n - size, kind) for n, size in zip(reach, sizes, strict=True))


def _columns_to_image(call: Call) -> Array:
    """Sums of blocks at their places: a transposed convolution whose weight takes one element."""
    x = call.array("input")
    extents, kernel = (call.integers(name) or () for name in ("image_shape", "block_shape"))
    count, size = len(extents), math.prod(kernel)
    if len(kernel) != count or x.rank != 3 or not size or x.shape[1] % size:
        call.refuse(
            f"blocks of {list(kernel)} in an image of {list(extents)} do not fit the shape "
            f"{list(x.shape)}"
        )
    strides, dilations = (each_dim(call, name, count) for name in ("strides", "dilations"))
    margins = read_pads(call, count)
    axes = [
        WindowAxis(extent=n, kernel=k, stride=s, dilation=d, low=low, high=high)
        for n, k, s, d, (low, high) in zip(
            extents, kernel, strides, dilations, margins, strict=True
        )
    ]
    positions = [axis.checked("image").positions for axis in axes]
    channels = x.shape[1] // size
    if math.prod(positions) != x.shape[2]:
        call.refuse(f"the image has {positions} blocks, and the tensor {x.shape[2]}")
    extra = [
        n + low + high - ((m - 1) * s + axis.reach)
        for n, (low, high), m, s, axis in zip(
            extents, margins, positions, strides, axes, strict=True
        )
    ]
    one_each = np.eye(size, dtype=np.float32).reshape((size, 1, *kernel))
    weight = array_of(np.tile(one_each, (channels, *(1,) * (count + 1)))).cast(x.dtype)
    convolution = Convolution(
        stride=strides,
        padding=tuple(low for low, _ in margins),
        dilation=dilations,
        extra=tuple(extra),
        groups=channels,
        transposed=True,
        ends=tuple(high for _, high in margins),
    )
    blocks = x.reshape((x.shape[0], x.shape[1], *positions))
    return convolution.compute(blocks, weight, extents)


# -- pooling -----------------------------------------------------------------------------------


def _pool_axes(call: Call, x: Array) -> list[WindowAxis]:
    kernel = tuple(call.required("kernel_shape"))
    return read_axes(call, x, kernel, ceil_mode=bool(call["ceil_mode"]))


def _max_pool(call: Call) -> Any:
    x = call.array("X")
    axes = _pool_axes(call, x)
    value = pool(x, "max", axes)
    if not call.is_used(1):
        return value
    extents = x.shape[2:]
    places = find_maxima(x if x.is_real else x.cast("f32"), axes).cast("i64")
    if call["storage_order"]:
        places = _in_column_order(places, extents)
    images = np.arange(x.shape[0] * x.shape[1]) * math.prod(extents)
    return value, places + array_of(images.reshape((*x.shape[:2], *(1,) * len(extents))))


def _in_column_order(places: Array, extents: Shape) -> Array:
    """Places in row-major order, counted with the first dimension going fastest."""
    found, step = places.fill(0), math.prod(extents)
    for extent in reversed(extents):
        step //= extent
        found = found + places.remainder(extent) * step
        places = places / extent
    return found


def _average_pool(call: Call) -> Array:
    x = call.array("X")
    return average(x, _pool_axes(call, x), counts_padding=bool(call["count_include_pad"]))


def _lp_pool(call: Call) -> Array:
    x, order = call.array("X"), float(call["p"])
    return _root_of_powers(x, order, lambda powers: pool(powers, "sum", _pool_axes(call, x)))


def _root_of_powers(x: Array, order: float, add: Callable[[Array], Array]) -> Array:
    if order == 2:
        return add(x.square()).sqrt()
    return add(x.abs()) if order == 1 else add(x.abs().pow(order)).pow(1 / order)


def _global(reduce: str) -> Rule:
    def rule(call: Call) -> Array:
        x = call.array("X")
        dims = range(2, x.rank)
        return x.max(*dims) if reduce == "max" else x.mean(*dims)

    return rule


def _global_lp_pool(call: Call) -> Array:
    x = call.array("X")
    return _root_of_powers(x, float(call["p"]), lambda powers: powers.sum(*range(2, x.rank)))


def _max_unpool(call: Call) -> Array:
    x, places = call.array("X"), call.array("I").cast("i64")
    kernel = tuple(call.required("kernel_shape"))
    strides = each_dim(call, "strides", len(kernel))
    pads = read_pads(call, len(kernel))
    natural = [
        (n - 1) * s + k - low - high
        for n, s, k, (low, high) in zip(x.shape[2:], strides, kernel, pads, strict=True)
    ]
    # Places count over all images.
    places = places.remainder(math.prod(natural))
    found = interpolation.put_back_maxima(x, places, natural)
    extents = (call.integers("output_shape") or (*x.shape[:2], *natural))[2:]
    call.check_size((*x.shape[:2], *extents), x.dtype)
    return found.pad(
        [(0, 0), (0, 0), *((0, m - n) for n, m in zip(natural, extents, strict=True))], 0
    )


# -- images at other places --------------------------------------------------------------------

_KERNELS = {
    **dict.fromkeys(("linear", "bilinear"), interpolation.Kernel.LINEAR),
    **dict.fromkeys(("cubic", "bicubic"), interpolation.Kernel.CUBIC),
    "nearest": interpolation.Kernel.NEAREST,
}
_OUTSIDE = {
    "zeros": interpolation.Outside.ZEROS,
    "border": interpolation.Outside.BORDER,
    "reflection": interpolation.Outside.REFLECTION,
}


def _grid_sample(call: Call) -> Array:
    return interpolation.sample_grid(
        call.array("X"),
        call.array("grid"),
        _KERNELS[call.choose("mode", [*_KERNELS])],
        _OUTSIDE[call.choose("padding_mode", [*_OUTSIDE])],
        align_corners=bool(call["align_corners"]),
    )


RULES: dict[str, Rule] = {
    "AveragePool": _average_pool,
    "Col2Im": _columns_to_image,
    "Conv": _convolution,
    "ConvTranspose": _transposed_convolution,
    "GlobalAveragePool": _global("mean"),
    "GlobalLpPool": _global_lp_pool,
    "GlobalMaxPool": _global("max"),
    "GridSample": _grid_sample,
    "LpPool": _lp_pool,
    "MaxPool": _max_pool,
    "MaxUnpool": _max_unpool,
}
"""Rules by the names of operators."""

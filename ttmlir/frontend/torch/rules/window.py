"""ATen operations on the windows of an image: convolutions and pooling.

Images are (batch, channels, spatial dimensions ...), or without the batch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from ttmlir.frontend.torch.building import BodyBuilder, Shape
from ttmlir.frontend.torch.call import Result, TorchCall, TorchRule
from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.rules.contraction import product
from ttmlir.frontend.torch.rules.indexing import take
from ttmlir.ir.tensor_types import element_type, value_shape


def _each(given: Sequence[int] | int, count: int) -> Shape:
    """One number for each spatial dimension."""
    numbers = (given,) if isinstance(given, int) else tuple(given)
    return numbers * count if len(numbers) == 1 else numbers


def _convolution(call: TorchCall) -> SSAValue:
    build, x, weight = call.build, call.tensor("input"), call.tensor("weight")
    spatial = len(value_shape(weight)) - 2
    shape = call.shape
    if len(value_shape(x)) == spatial + 1:
        x, shape = build.reshape(x, (1, *value_shape(x))), (1, *shape)
    stride, padding, dilation, extra = (
        _each(call[name], spatial) for name in ("stride", "padding", "dilation", "output_padding")
    )
    groups = call["groups"]
    places = ", ".join(map(str, range(spatial)))
    kernel = value_shape(weight)[2:]
    if call["transposed"]:
        weight = _grouped_outputs(build, weight, groups)
        filters = f"[i, o, {places}]"
        margins = [d * (k - 1) - p for d, k, p in zip(dilation, kernel, padding, strict=True)]
        pairs = [(m, m + e) for m, e in zip(margins, extra, strict=True)]
        strides, holes = (1,) * spatial, stride
    else:
        filters = f"[o, i, {places}]"
        pairs = [(p, p) for p in padding]
        strides, holes = stride, (1,) * spatial
    image = f"[b, f, {places}]"
    bias = call.optional("bias")
    result = build.create(
        "convolution",
        (x, weight) if bias is None else (x, weight, bias),
        TensorType(call.element, shape),
        dimension_numbers=f"{image}x{filters}->{image}",
        window_strides=strides,
        padding=tuple(count for pair in pairs for count in pair),
        input_dilation=holes,
        weight_dilation=dilation,
        window_reversal=(int(call["transposed"]),) * spatial,
        feature_group_count=groups,
        batch_group_count=1,
    )
    return build.reshape(result, call.shape)


def _grouped_outputs(build: BodyBuilder, weight: SSAValue, groups: int) -> SSAValue:
    """The weight of a transposed convolution with the outputs of all groups side by side."""
    if groups == 1:
        return weight
    inputs, outputs, *kernel = value_shape(weight)
    split = build.reshape(weight, (groups, inputs // groups, outputs, *kernel))
    rest = range(3, 3 + len(kernel))
    split = build.permute(split, [1, 0, 2, *rest])
    return build.reshape(split, (inputs // groups, groups * outputs, *kernel))


def _with_batch(call: TorchCall, spatial: int) -> SSAValue:
    x = call.tensor()
    shape = value_shape(x)
    return x if len(shape) == spatial + 2 else call.build.reshape(x, (1, *shape))


def _pool(
    call: TorchCall, method: str, kernel: Shape, stride: Shape, dilation: Shape, padding: Shape
) -> SSAValue:
    """A pooling of the last dimensions, as many positions as the result has."""
    build, spatial = call.build, len(kernel)
    x = _with_batch(call, spatial)
    extents, positions = value_shape(x)[2:], call.shape[-spatial:]
    pairs: list[tuple[int, int]] = []
    for n, k, s, d, p, count in zip(
        extents, kernel, stride, dilation, padding, positions, strict=True
    ):
        # Windows that reach further than the padding: those of ceil_mode.
        pairs.append((p, (count - 1) * s + d * (k - 1) + 1 - n - p))
    type_ = TensorType(element_type(x), (*value_shape(x)[:2], *positions))
    result = build.create(
        "pooling",
        (x,),
        type_,
        pooling_method=method,
        window_dimensions=(1, 1, *kernel),
        window_strides=(1, 1, *stride),
        base_dilations=(1,) * (spatial + 2),
        window_dilations=(1, 1, *dilation),
        padding=(0, 0, 0, 0, *(count for pair in pairs for count in pair)),
    )
    return build.reshape(result, call.shape)


def _max_pool(spatial: int) -> TorchRule:
    def rule(call: TorchCall) -> Result:
        kernel = _each(call["kernel_size"], spatial)
        stride = _each(call["stride"] or kernel, spatial)
        dilation, padding = (_each(call[name], spatial) for name in ("dilation", "padding"))
        return _pool(call, "max", kernel, stride, dilation, padding), None

    return rule


def _avg_pool(spatial: int) -> TorchRule:
    """Sums, divided by the number of elements that count."""

    def rule(call: TorchCall) -> SSAValue:
        build = call.build
        kernel = _each(call["kernel_size"], spatial)
        stride = _each(call["stride"] or kernel, spatial)
        padding = _each(call["padding"], spatial)
        override = call.arguments.get("divisor_override")
        is_plain = not any(padding) and not call["ceil_mode"] and override is None
        ones = (1,) * spatial
        if is_plain:
            return _pool(call, "average", kernel, stride, ones, padding)
        total = _pool(call, "sum", kernel, stride, ones, padding)
        return build.compute("multiply", total, _shares(call, total, kernel, stride, padding))

    return rule


def _shares(
    call: TorchCall, total: SSAValue, kernel: Shape, stride: Shape, padding: Shape
) -> SSAValue:
    """What each sum of a window is multiplied by: one number, or one for each position."""
    if (override := call.arguments.get("divisor_override")) is not None:
        return call.build.create_number(1 / override, total)
    torch = torch_package()
    extents = value_shape(call.tensor())[-len(kernel) :]
    counts: list[list[int]] = []
    for n, k, s, p, positions in zip(
        extents, kernel, stride, padding, call.shape[-len(kernel) :], strict=True
    ):
        low, high = (0, n) if not call["count_include_pad"] else (-p, n + p)
        begins = [position * s - p for position in range(positions)]
        counts.append([min(begin + k, high) - max(begin, low) for begin in begins])
    if all(len(set(numbers)) == 1 for numbers in counts):
        return call.build.create_number(1 / math.prod(numbers[0] for numbers in counts), total)
    grid = torch.ones(())
    for numbers in counts:
        grid = grid[..., None] * torch.tensor(numbers, dtype=torch.float32)
    value = call.build.create_tensor(1 / grid)
    return call.build.cast(value, element_type(total))


def _adaptive(method: str, spatial: int) -> TorchRule:
    """A pooling whose windows divide the image evenly; averages may also overlap."""

    def rule(call: TorchCall) -> Result:
        extents = value_shape(call.tensor())[-spatial:]
        positions = call.shape[-spatial:]
        if any(n % count for n, count in zip(extents, positions, strict=True)):
            if method == "average":
                return _along_each(call, [_averages(n, m) for n, m in _pairs(extents, positions)])
            call.refuse(
                f"an image of {_times(extents)} does not divide into {_times(positions)} equal "
                "windows; supported are output sizes that divide the image"
            )
        kernel = tuple(n // count for n, count in zip(extents, positions, strict=True))
        value = _pool(call, method, kernel, kernel, (1,) * spatial, (0,) * spatial)
        return (value, None) if method == "max" else value

    return rule


def _averages(extent: int, count: int) -> Any:
    """The matrix that averages `count` windows of a row."""
    torch = torch_package()
    return torch.nn.functional.adaptive_avg_pool1d(torch.eye(extent)[None], count)[0]


def _resize(mode: str, *, antialias: bool = False) -> TorchRule:
    """Weighted sums of neighbours along each axis, with the weights that torch takes."""

    def rule(call: TorchCall) -> SSAValue:
        torch = torch_package()
        extents = value_shape(call.tensor("input"))[2:]
        factors = call["scale_factors"] or (None,) * len(extents)
        matrices: list[Any] = []
        for (n, m), factor in zip(_pairs(extents, call.shape[2:]), factors, strict=True):
            # The rows of a unit matrix become what each pixel gives to the pixels of the result.
            size = {"size": (n, m)} if factor is None else {"scale_factor": (1.0, factor)}
            resized = torch.nn.functional.interpolate(
                torch.eye(n)[None, None],
                mode=mode,
                align_corners=call["align_corners"],
                antialias=antialias,
                **size,
            )
            matrices.append(resized[0, 0])
        return _along_each(call, matrices, "input")

    return rule


def _nearest(call: TorchCall) -> SSAValue:
    """Each element as often as the numbers of the nearest ones say."""
    torch, build, x = torch_package(), call.build, call.tensor("input")
    factors = call["scale_factors"] or (None,) * (len(call.shape) - 2)
    for dim, factor in enumerate(factors, 2):
        n, m = value_shape(x)[dim], call.shape[dim]
        size = {"size": m} if factor is None else {"scale_factor": factor}
        numbers = torch.arange(n, dtype=torch.float32)[None, None]
        places = torch.nn.functional.interpolate(numbers, mode="nearest", **size)[0, 0].long()
        x = take(build, x, dim, build.create_tensor(places))
    return x


def _along_each(call: TorchCall, matrices: Sequence[Any], name: str = "self") -> SSAValue:
    """A product with a matrix along each of the last dimensions."""
    build, x = call.build, call.tensor(name)
    rank = len(value_shape(x))
    for dim, matrix in enumerate(matrices, rank - len(matrices)):
        order = [i for i in range(rank) if i != dim]
        back = [*range(dim), rank - 1, *range(dim, rank - 1)]
        weights = build.cast(build.create_tensor(matrix), element_type(x))
        x = build.permute(product(build, build.permute(x, [*order, dim]), weights), back)
    return x


def _pairs(extents: Sequence[int], positions: Sequence[int]) -> list[tuple[int, int]]:
    return list(zip(extents, positions, strict=True))


def _times(extents: Sequence[int]) -> str:
    return "x".join(map(str, extents))


RULES: dict[str, TorchRule] = {
    "_adaptive_avg_pool2d": _adaptive("average", 2),
    "_adaptive_avg_pool3d": _adaptive("average", 3),
    "adaptive_max_pool2d": _adaptive("max", 2),
    "adaptive_max_pool3d": _adaptive("max", 3),
    "avg_pool2d": _avg_pool(2),
    "avg_pool3d": _avg_pool(3),
    "convolution": _convolution,
    "max_pool2d_with_indices": _max_pool(2),
    "max_pool3d_with_indices": _max_pool(3),
    "_upsample_bicubic2d_aa.vec": _resize("bicubic", antialias=True),
    "_upsample_bilinear2d_aa.vec": _resize("bilinear", antialias=True),
    "upsample_bicubic2d.vec": _resize("bicubic"),
    "upsample_bilinear2d.vec": _resize("bilinear"),
    "upsample_nearest1d.vec": _nearest,
    "upsample_nearest2d.vec": _nearest,
    "upsample_nearest3d.vec": _nearest,
}
"""Rules by the name of the ATen operation, or of one of its overloads."""

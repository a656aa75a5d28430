"""ATen operations on the windows of an image: convolutions and pooling.

Images are (batch, channels, spatial dimensions ...), or without the batch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from xdsl.ir import SSAValue

from ttmlir.composites import interpolation, windows
from ttmlir.composites.convolution import Convolution
from ttmlir.frontend.torch.building import Shape
from ttmlir.frontend.torch.call import Result, TorchCall, TorchRule, composite
from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.rules.resampling import multiply_along_each, transpose_along_each
from ttmlir.ir.tensor_types import value_shape
from ttmlir.optable.window import WindowAxis


def each_dim(given: Sequence[int] | int, count: int) -> Shape:
    """One number for each spatial dimension."""
    numbers = (given,) if isinstance(given, int) else tuple(given)
    return numbers * count if len(numbers) == 1 else numbers


def _convolution(call: TorchCall) -> Result:
    x, weight, bias = map(call.argument, ("input", "weight", "bias"))
    x = x if x.rank == weight.rank else x.unsqueeze(0)
    extents = call.shape[2 - weight.rank :]
    return call.results(_geometry(call, weight.rank - 2).compute(x, weight, extents, bias))


def _geometry(call: TorchCall, spatial: int) -> Convolution:
    """What the arguments of a convolution, or of its gradient, say."""
    names = ("stride", "padding", "dilation", "output_padding")
    return Convolution(
        *(each_dim(call[name], spatial) for name in names),
        groups=call["groups"],
        transposed=call["transposed"],
    )


def _with_batch(call: TorchCall, spatial: int) -> SSAValue:
    x = call.tensor()
    shape = value_shape(x)
    return x if len(shape) == spatial + 2 else call.build.reshape(x, (1, *shape))


def _pool(
    call: TorchCall, method: str, kernel: Shape, stride: Shape, dilation: Shape, padding: Shape
) -> SSAValue:
    """A pooling of the last dimensions, as many positions as the result has."""
    x = call.build.array(_with_batch(call, len(kernel)))
    found = windows.pool(x, method, _axes(call, kernel, stride, dilation, padding))
    return call.result(found, 0)


def _max_pool(spatial: int) -> TorchRule:
    def rule(call: TorchCall) -> Result:
        kernel = each_dim(call["kernel_size"], spatial)
        stride = each_dim(call["stride"] or kernel, spatial)
        dilation, padding = (each_dim(call[name], spatial) for name in ("dilation", "padding"))
        value = _pool(call, "max", kernel, stride, dilation, padding)
        return value, lambda: _places_of_largest(call, kernel, stride, dilation, padding)

    return rule


def _places_of_largest(
    call: TorchCall, kernel: Shape, stride: Shape, dilation: Shape, padding: Shape
) -> SSAValue:
    x = call.build.array(_with_batch(call, len(kernel)))
    if not x.is_real:
        call.refuse("indices of the largest of whole numbers are not supported; use x.float()")
    return call.result(windows.find_maxima(x, _axes(call, kernel, stride, dilation, padding)), 1)


def _axes(
    call: TorchCall, kernel: Shape, stride: Shape, dilation: Shape, padding: Shape
) -> list[WindowAxis]:
    """What windows do along each spatial dimension."""
    extents = value_shape(call.tensor())[-len(kernel) :]
    return [
        WindowAxis(
            extent=n,
            kernel=k,
            stride=s,
            dilation=d,
            low=p,
            high=p,
            ceil_mode=bool(call.arguments.get("ceil_mode")),
        )
        for n, k, s, d, p in zip(extents, kernel, stride, dilation, padding, strict=True)
    ]


def _avg_pool(spatial: int) -> TorchRule:
    """Sums, divided by the number of elements that count."""

    def rule(call: TorchCall) -> SSAValue:
        kernel = each_dim(call["kernel_size"], spatial)
        stride = each_dim(call["stride"] or kernel, spatial)
        padding = each_dim(call["padding"], spatial)
        found = windows.average(
            call.build.array(_with_batch(call, spatial)),
            _axes(call, kernel, stride, (1,) * spatial, padding),
            counts_padding=bool(call["count_include_pad"]),
            divisor=call.arguments.get("divisor_override"),
        )
        return call.result(found, 0)

    return rule


def _adaptive(spatial: int) -> TorchRule:
    """Averages of windows that divide the image evenly, or overlap."""

    def rule(call: TorchCall) -> SSAValue:
        extents = value_shape(call.tensor())[-spatial:]
        positions = call.shape[-spatial:]
        if any(n % count for n, count in zip(extents, positions, strict=True)):
            pairs = zip(extents, positions, strict=True)
            matrices = [_averages(n, m) for n, m in pairs]
            return multiply_along_each(call.build, call.tensor(), matrices)
        kernel = tuple(n // count for n, count in zip(extents, positions, strict=True))
        return _pool(call, "average", kernel, kernel, (1,) * spatial, (0,) * spatial)

    return rule


def _averages(extent: int, count: int) -> Any:
    """The matrix that averages `count` windows of a row."""
    torch = torch_package()
    return torch.nn.functional.adaptive_avg_pool1d(torch.eye(extent)[None], count)[0]


def _adaptive_max(call: TorchCall) -> Result:
    sizes = [*zip(value_shape(call.tensor()), call.shape, strict=True)][-len(call["output_size"]) :]
    largest, places = interpolation.find_adaptive_maxima(call.argument("self"), call["output_size"])
    if all(n % m == 0 for n, m in sizes):
        kernel, ones = tuple(n // m for n, m in sizes), (1,) * len(sizes)
        pooled = _pool(call, "max", kernel, kernel, ones, (0,) * len(sizes))
        largest = call.build.array(pooled)
    return call.results((largest, places))


def _fractional_max(call: TorchCall) -> Result:
    x, samples = call.argument("self"), call.argument("random_samples")
    sizes, counts = call["kernel_size"], call["output_size"]
    images = math.prod(x.shape[: -len(sizes)])
    samples = samples.reshape((math.prod(samples.shape[:-1]), len(sizes)))
    samples = samples.broadcast((images, len(sizes)))
    if len(sizes) == 2:
        # Of images the first sample is for columns, of volumes for the first dimension.
        samples = samples.reverse(1)
    return call.results(interpolation.find_fractional_maxima(x, sizes, counts, samples))


# -- images at places that a grid names --------------------------------------------------------

_KERNELS: Sequence[interpolation.Kernel] = [*interpolation.Kernel]
_OUTSIDE: Sequence[interpolation.Outside] = [*interpolation.Outside]
"""In the order of torch's numbers."""


def _sample_grid(call: TorchCall) -> Result:
    found = interpolation.sample_grid(
        call.argument("input"),
        call.argument("grid"),
        _KERNELS[int(call["interpolation_mode"])],
        _OUTSIDE[int(call["padding_mode"])],
        align_corners=call["align_corners"],
    )
    return call.results(found)


def _sample_grid_backward(call: TorchCall) -> Result:
    found = interpolation.differentiate_grid_sample(
        call.argument("grad_output"),
        call.argument("input"),
        call.argument("grid"),
        _KERNELS[int(call["interpolation_mode"])],
        _OUTSIDE[int(call["padding_mode"])],
        align_corners=call["align_corners"],
    )
    pairs = zip(found, call["output_mask"], strict=True)
    return call.results([each if is_asked else None for each, is_asked in pairs])


# -- gradients of convolutions, which are convolutions -----------------------------------------


def _convolution_backward(call: TorchCall) -> Result:
    gradient, x, weight = map(call.argument, ("grad_output", "input", "weight"))
    geometry = _geometry(call, weight.rank - 2)
    if x.rank < weight.rank:
        x, gradient = x.unsqueeze(0), gradient.unsqueeze(0)
    functions = (
        lambda: geometry.differentiate_input(gradient, x, weight),
        lambda: geometry.differentiate_weight(gradient, x, weight),
        lambda: gradient.sum(0, *range(2, weight.rank), keep=False),
    )
    pairs = zip(functions, call["output_mask"], strict=True)
    return call.results([function() if is_asked else None for function, is_asked in pairs])


# -- gradients of pooling ----------------------------------------------------------------------


def _max_pool_backward(spatial: int) -> TorchRule:
    """Each gradient goes to the element that was the largest, whose place is known."""

    def rule(call: TorchCall) -> Result:
        given = call.argument("grad_output"), call.argument("indices"), call.shape[-spatial:]
        return call.results(interpolation.put_back_maxima(*given, "add"))

    return rule


def _extents(value: SSAValue, spatial: int) -> Shape:
    """The last dimensions of a tensor."""
    return value_shape(value)[-spatial:]


def _avg_pool_backward(spatial: int) -> TorchRule:
    """Each gradient is spread over its window."""

    def rule(call: TorchCall) -> SSAValue:
        kernel = each_dim(call["kernel_size"], spatial)
        stride = each_dim(call["stride"] or kernel, spatial)
        padding = each_dim(call["padding"], spatial)
        extents = call.shape[-spatial:]
        positions = _extents(call.tensor("grad_output"), spatial)
        override = call.arguments.get("divisor_override")
        matrices: list[Any] = []
        sizes = zip(extents, positions, kernel, stride, padding, strict=True)
        for n, m, k, s, p in sizes:
            begins = torch_package().arange(m) * s - p
            sums = _window_sums(n, begins, k)
            low, high = (-p, n + p) if call["count_include_pad"] else (0, n)
            counts = (begins + k).clamp(max=high) - begins.clamp(min=low)
            matrices.append(sums if override else sums / counts)
        if override:
            matrices[0] = matrices[0] / override
        return _spread(call, matrices)

    return rule


def _window_sums(extent: int, begins: Any, size: int) -> Any:
    """The matrix (extent x positions) of what each window of a row sums."""
    torch = torch_package()
    places = torch.arange(extent)[:, None]
    return ((places >= begins) & (places < begins + size)).to(torch.float32)


def _adaptive_avg_pool_backward(spatial: int) -> TorchRule:
    def rule(call: TorchCall) -> SSAValue:
        positions = _extents(call.tensor("grad_output"), spatial)
        pairs = zip(call.shape[-spatial:], positions, strict=True)
        return _spread(call, [_averages(n, m) for n, m in pairs])

    return rule


def _spread(call: TorchCall, matrices: Sequence[Any]) -> SSAValue:
    """The product with transposed matrices, or repetition where windows lie side by side."""
    build, gradient = call.build, call.tensor("grad_output")
    gradient = build.cast(gradient, call.element)
    repeats: list[int] = []
    share = 1.0
    for matrix in matrices:
        n, m = matrix.shape
        torch = torch_package()
        blocks = torch.eye(m).repeat_interleave(n // m, 0) if n % m == 0 else None
        if blocks is None or not torch.equal(blocks * matrix.max(), matrix):
            return transpose_along_each(build, gradient, matrices)
        repeats.append(n // m)
        share *= float(matrix.max())
    shape = value_shape(gradient)
    front, positions = shape[: -len(matrices)], shape[-len(matrices) :]
    pairs = zip(positions, repeats, strict=True)
    apart = (*front, *(extent for m in positions for extent in (m, 1)))
    wide = (*front, *(extent for pair in pairs for extent in pair))
    gradient = build.compute("multiply", gradient, build.create_number(share, gradient))
    spread = build.broadcast(build.reshape(gradient, apart), wide)
    return build.reshape(spread, call.shape)


_MAX_UNPOOL = composite(interpolation.put_back_maxima, "self", "indices", "output_size")

RULES: dict[str, TorchRule] = {
    "_adaptive_avg_pool2d": _adaptive(2),
    "_adaptive_avg_pool3d": _adaptive(3),
    "adaptive_max_pool2d": _adaptive_max,
    "adaptive_max_pool3d": _adaptive_max,
    "avg_pool2d": _avg_pool(2),
    "avg_pool3d": _avg_pool(3),
    "convolution": _convolution,
    "fractional_max_pool2d": _fractional_max,
    "fractional_max_pool3d": _fractional_max,
    "grid_sampler_2d": _sample_grid,
    "grid_sampler_2d_backward": _sample_grid_backward,
    "grid_sampler_3d": _sample_grid,
    "grid_sampler_3d_backward": _sample_grid_backward,
    "max_pool2d_with_indices": _max_pool(2),
    "max_pool3d_with_indices": _max_pool(3),
    "max_unpool2d": _MAX_UNPOOL,
    "max_unpool3d": _MAX_UNPOOL,
    "convolution_backward": _convolution_backward,
    "_adaptive_avg_pool2d_backward": _adaptive_avg_pool_backward(2),
    "_adaptive_avg_pool3d_backward": _adaptive_avg_pool_backward(3),
    "adaptive_max_pool2d_backward": _max_pool_backward(2),
    "adaptive_max_pool3d_backward": _max_pool_backward(3),
    "avg_pool2d_backward": _avg_pool_backward(2),
    "avg_pool3d_backward": _avg_pool_backward(3),
    "fractional_max_pool2d_backward": _max_pool_backward(2),
    "fractional_max_pool3d_backward": _max_pool_backward(3),
    "max_pool2d_with_indices_backward": _max_pool_backward(2),
    "max_pool3d_with_indices_backward": _max_pool_backward(3),
}
"""Rules by the name of the ATen operation, or of one of its overloads."""

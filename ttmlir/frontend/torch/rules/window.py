"""ATen operations on the windows of an image: convolutions and pooling.

Images are (batch, channels, spatial dimensions ...), or without the batch.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from xdsl.dialects.builtin import IntegerType, TensorType, i1
from xdsl.ir import SSAValue

from ttmlir.composites import interpolation
from ttmlir.frontend.torch.building import BodyBuilder, Shape
from ttmlir.frontend.torch.call import Result, TorchCall, TorchRule, composite
from ttmlir.frontend.torch.elements import is_floating, torch_package
from ttmlir.frontend.torch.rules.resampling import multiply_along_each, transpose_along_each
from ttmlir.ir.tensor_types import element_type, tensor_of, value_shape


def each_dim(given: Sequence[int] | int, count: int) -> Shape:
    """One number for each spatial dimension."""
    numbers = (given,) if isinstance(given, int) else tuple(given)
    return numbers * count if len(numbers) == 1 else numbers


def _convolution(call: TorchCall) -> SSAValue:
    build, x, weight = call.build, call.tensor("input"), call.tensor("weight")
    spatial = len(value_shape(weight)) - 2
    shape = call.shape
    if len(value_shape(x)) == spatial + 1:
        x, shape = build.reshape(x, (1, *value_shape(x))), (1, *shape)
    geometry = Geometry.of(call, spatial)
    result = geometry.convolve(build, x, weight, shape, call.optional("bias"))
    return build.reshape(result, call.shape)


@dataclass(frozen=True)
class Geometry:
    """Where the windows of a convolution lie, for each spatial dimension."""

    stride: Shape
    padding: Shape
    dilation: Shape
    extra: Shape
    """Of a transposed convolution: what its result is longer."""
    groups: int
    transposed: bool

    @classmethod
    def of(cls, call: TorchCall, spatial: int) -> Geometry:
        """What the arguments of a convolution, or of its gradient, say."""
        names = ("stride", "padding", "dilation", "output_padding")
        stride, padding, dilation, extra = (each_dim(call[name], spatial) for name in names)
        return cls(stride, padding, dilation, extra, call["groups"], call["transposed"])

    def convolve(
        self,
        build: BodyBuilder,
        x: SSAValue,
        weight: SSAValue,
        shape: Shape,
        bias: SSAValue | None = None,
    ) -> SSAValue:
        """The convolution of (batch, channels, ...) to a shape."""
        spatial, kernel = len(self.stride), value_shape(weight)[2:]
        places = ", ".join(map(str, range(spatial)))
        if self.transposed:
            weight = _grouped_outputs(build, weight, self.groups)
            filters = f"[i, o, {places}]"
            sizes = zip(self.dilation, kernel, self.padding, strict=True)
            margins = [d * (k - 1) - p for d, k, p in sizes]
            pairs = [(m, m + e) for m, e in zip(margins, self.extra, strict=True)]
            strides, holes = (1,) * spatial, self.stride
        else:
            filters = f"[o, i, {places}]"
            pairs = [(p, p) for p in self.padding]
            strides, holes = self.stride, (1,) * spatial
        image = f"[b, f, {places}]"
        return build.create(
            "convolution",
            (x, weight) if bias is None else (x, weight, bias),
            TensorType(element_type(x), shape),
            dimension_numbers=f"{image}x{filters}->{image}",
            window_strides=strides,
            padding=tuple(count for pair in pairs for count in pair),
            input_dilation=holes,
            weight_dilation=self.dilation,
            window_reversal=(int(self.transposed),) * spatial,
            feature_group_count=self.groups,
            batch_group_count=1,
        )


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
        kernel = each_dim(call["kernel_size"], spatial)
        stride = each_dim(call["stride"] or kernel, spatial)
        dilation, padding = (each_dim(call[name], spatial) for name in ("dilation", "padding"))
        value = _pool(call, "max", kernel, stride, dilation, padding)
        return value, lambda: _places_of_largest(call, kernel, stride, dilation, padding)

    return rule


def _places_of_largest(
    call: TorchCall, kernel: Shape, stride: Shape, dilation: Shape, padding: Shape
) -> SSAValue:
    """Where the largest element of each window lies, counted over the spatial dimensions.

    Of equal ones it is the first; NaN is larger than all.
    """
    torch, build, spatial = torch_package(), call.build, len(kernel)
    shape = call.result_type(1).get_shape()
    x = _with_batch(call, spatial)
    batch = value_shape(x)[:2]
    extents, positions = value_shape(x)[2:], shape[-spatial:]
    sizes = zip(extents, positions, kernel, stride, dilation, padding, strict=True)
    ends = [max(0, (m - 1) * s + d * (k - 1) + 1 - n - p) for n, m, k, s, d, p in sizes]
    margins = [count for pair in zip(padding, ends, strict=True) for count in pair]
    if not is_floating(element_type(x)):
        call.refuse("places of the largest of whole numbers are not supported; use x.float()")
    padded = build.create_inferred("pad", x, padding=(0, 0, 0, 0, *margins), value=-math.inf)
    found: tuple[SSAValue, SSAValue] | None = None
    for offsets in itertools.product(*map(range, kernel)):
        part = padded
        places = torch.zeros((), dtype=torch.int32)
        for dim, offset in enumerate(offsets):
            m, s, d = positions[dim], stride[dim], dilation[dim]
            part = build.slice_along(part, 2 + dim, offset * d, offset * d + (m - 1) * s + 1, s)
            begins = torch.arange(m, dtype=torch.int32) * s - padding[dim]
            # Where all is -inf, the place is the first one that is not in the padding.
            first = begins + -begins.clamp(max=0).div(d, rounding_mode="floor") * d
            row = torch.maximum(begins + offset * d, first)
            places = places[..., None] * extents[dim] + row
        numbers = build.create_tensor(places.reshape(1, 1, *positions))
        if found is None:
            found = part, build.broadcast(numbers, (*batch, *positions))
            continue
        best, chosen = found
        above = build.compute("gt", part, best, element=i1)
        is_nan = build.compute("ne", part, part, element=i1)
        above = build.compute("logical_or", above, is_nan)
        found = (
            build.compute("where", above, part, best),
            build.compute("where", above, numbers, chosen),
        )
    assert found is not None, "kernels have elements"
    return build.reshape(build.cast(found[1], call.result_type(1).element_type), shape)


def _avg_pool(spatial: int) -> TorchRule:
    """Sums, divided by the number of elements that count."""

    def rule(call: TorchCall) -> SSAValue:
        build = call.build
        kernel = each_dim(call["kernel_size"], spatial)
        stride = each_dim(call["stride"] or kernel, spatial)
        padding = each_dim(call["padding"], spatial)
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
    build = call.build
    gradient, x, weight = (call.tensor(name) for name in ("grad_output", "input", "weight"))
    spatial = len(value_shape(weight)) - 2
    geometry = Geometry.of(call, spatial)
    if len(value_shape(x)) == spatial + 1:
        x, gradient = (build.reshape(each, (1, *value_shape(each))) for each in (x, gradient))

    def of_input() -> SSAValue:
        result = _input_gradient(build, geometry, gradient, x, weight)
        return build.reshape(result, call.result_type(0).get_shape())

    def of_weight() -> SSAValue:
        if geometry.transposed:
            return _weight_gradient(build, geometry, gradient, x, weight)
        return _weight_gradient(build, geometry, x, gradient, weight)

    def of_bias() -> SSAValue:
        dims = (0, *range(2, spatial + 2))
        return build.reduce("sum", gradient, dims, keep_dim=False)

    makers = (of_input, of_weight, of_bias)
    return tuple(
        make if wanted else None for make, wanted in zip(makers, call["output_mask"], strict=True)
    )


def _input_gradient(
    build: BodyBuilder, geometry: Geometry, gradient: SSAValue, x: SSAValue, weight: SSAValue
) -> SSAValue:
    """The convolution the other way round."""
    if geometry.transposed:
        return replace(geometry, transposed=False).convolve(build, gradient, weight, value_shape(x))
    sizes = zip(
        *(value_shape(x)[2:], value_shape(gradient)[2:], value_shape(weight)[2:]),
        *(geometry.stride, geometry.padding, geometry.dilation),
        strict=True,
    )
    # Elements after the last window.
    extra = tuple(n - ((m - 1) * s - 2 * p + d * (k - 1) + 1) for n, m, k, s, p, d in sizes)
    return replace(geometry, transposed=True, extra=extra).convolve(
        build, gradient, weight, value_shape(x)
    )


def _weight_gradient(
    build: BodyBuilder, geometry: Geometry, image: SSAValue, windows: SSAValue, weight: SSAValue
) -> SSAValue:
    """For each filter and channel, sums of the image times the windows' values.

    The batch takes the place of the channels; steps of windows and of their elements change places.
    """
    batch, channels, *extents = value_shape(image)
    groups, filters = geometry.groups, value_shape(windows)[1]
    spatial = range(len(extents))
    split = build.reshape(image, (batch, groups, channels // groups, *extents))
    split = build.permute(split, [2, 1, 0, *(3 + i for i in spatial)])
    image = build.reshape(split, (channels // groups, groups * batch, *extents))
    kernel, positions = value_shape(weight)[2:], value_shape(windows)[2:]
    sizes = zip(
        *(extents, kernel, positions, geometry.stride, geometry.padding, geometry.dilation),
        strict=True,
    )
    pairs = [(p, (k - 1) * d + (m - 1) * s + 1 - n - p) for n, k, m, s, p, d in sizes]
    places = ", ".join(map(str, spatial))
    result = build.create(
        "convolution",
        (image, windows),
        TensorType(element_type(image), (channels // groups, filters, *kernel)),
        dimension_numbers=f"[b, f, {places}]x[i, o, {places}]->[b, f, {places}]",
        window_strides=geometry.dilation,
        padding=tuple(count for pair in pairs for count in pair),
        input_dilation=(1,) * len(kernel),
        weight_dilation=geometry.stride,
        window_reversal=(0,) * len(kernel),
        feature_group_count=groups,
        batch_group_count=1,
    )
    return build.permute(result, [1, 0, *(2 + i for i in spatial)])


# -- gradients of pooling ----------------------------------------------------------------------


def _max_pool_backward(spatial: int) -> TorchRule:
    """Each gradient goes to the element that was the largest, whose place is known."""

    def rule(call: TorchCall) -> SSAValue:
        build, gradient = call.build, call.tensor("grad_output")
        shape = call.shape
        rows = math.prod(shape[:-spatial])
        columns, positions = math.prod(shape[-spatial:]), math.prod(_extents(gradient, spatial))
        if not rows * positions:
            return build.create_splat(0, tensor_of(call.element, shape))
        zeros = build.create_splat(0, tensor_of(call.element, (rows, columns)))
        places = build.cast(call.tensor("indices"), IntegerType(64))
        written = build.create_inferred(
            "scatter_add",
            zeros,
            build.reshape(places, (rows, positions)),
            build.reshape(gradient, (rows, positions)),
            dim=1,
        )
        return build.reshape(written, shape)

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
        torch = torch_package()
        pool = torch.nn.functional.adaptive_avg_pool1d
        positions = _extents(call.tensor("grad_output"), spatial)
        pairs = zip(call.shape[-spatial:], positions, strict=True)
        return _spread(call, [pool(torch.eye(n)[None], m)[0] for n, m in pairs])

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

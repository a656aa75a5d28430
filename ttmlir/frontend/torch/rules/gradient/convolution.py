"""The gradients of convolutions, which are convolutions."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from ttmlir.frontend.torch.building import BodyBuilder
from ttmlir.frontend.torch.call import Result, TorchCall, TorchRule
from ttmlir.frontend.torch.rules.window import Geometry
from ttmlir.ir.tensor_types import element_type, value_shape


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
    # Elements behind the last window.
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


RULES: dict[str, TorchRule] = {"convolution_backward": _convolution_backward}
"""Rules by the name of the ATen operation."""

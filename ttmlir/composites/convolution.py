"""Convolutions of (N, channels, spatial dimensions ...) and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ttmlir.arrays.array import Array, Shape


@dataclass(frozen=True)
class Convolution:
    """Where the windows of a convolution lie, for each spatial dimension."""

    stride: Shape
    padding: Shape
    dilation: Shape
    extra: Shape
    """Of a transposed convolution: what its result is longer."""
    groups: int
    transposed: bool
    ends: Shape = ()
    """Padding after the last element, where it is not that before the first one."""

    @property
    def _pairs(self) -> list[tuple[int, int]]:
        return [*zip(self.padding, self.ends or self.padding, strict=True)]

    def compute(
        self, x: Array, weight: Array, extents: Sequence[int], bias: Array | None = None
    ) -> Array:
        """The convolution of an image to spatial extents.

        The weight is (outputs, inputs of a group, kernel ...), of a transposed convolution
        (inputs, outputs of a group, kernel ...).
        """
        spatial, kernel = len(self.stride), weight.shape[2:]
        outputs = weight.shape[1] * self.groups if self.transposed else weight.shape[0]
        places = ", ".join(map(str, range(spatial)))
        if self.transposed:
            weight = _place_groups_side_by_side(weight, self.groups)
            filters = f"[i, o, {places}]"
            sizes = zip(self.dilation, kernel, self.padding, strict=True)
            margins = [d * (k - 1) - p for d, k, p in sizes]
            cut = [high - low for low, high in self._pairs]
            pairs = [(m, m + e - c) for m, e, c in zip(margins, self.extra, cut, strict=True)]
            strides, holes = (1,) * spatial, self.stride
        else:
            filters = f"[o, i, {places}]"
            pairs = self._pairs
            strides, holes = self.stride, (1,) * spatial
        image = f"[b, f, {places}]"
        parameters = {
            "dimension_numbers": f"{image}x{filters}->{image}",
            "window_strides": strides,
            "padding": tuple(count for pair in pairs for count in pair),
            "input_dilation": holes,
            "weight_dilation": self.dilation,
            "window_reversal": (int(self.transposed),) * spatial,
            "feature_group_count": self.groups,
            "batch_group_count": 1,
        }
        operands = (weight,) if bias is None else (weight, bias)
        shape = x.shape[0], outputs, *extents
        return x.create("convolution", *operands, shape=shape, parameters=parameters)

    def differentiate_input(self, gradient: Array, x: Array, weight: Array) -> Array:
        """The gradient of the image: the convolution the other way round."""
        extents = x.shape[2:]
        if self.transposed:
            return replace(self, transposed=False).compute(gradient, weight, extents)
        sizes = zip(
            *(extents, gradient.shape[2:], weight.shape[2:]),
            *(self.stride, self.padding, self.dilation),
            strict=True,
        )
        # Elements after the last window.
        extra = tuple(n - ((m - 1) * s - 2 * p + d * (k - 1) + 1) for n, m, k, s, p, d in sizes)
        return replace(self, transposed=True, extra=extra).compute(gradient, weight, extents)

    def differentiate_weight(self, gradient: Array, x: Array, weight: Array) -> Array:
        """The gradient of the weight: sums of the image times the values of the windows.

        The batch takes the place of the channels; steps of windows and of their elements change
        places.
        """
        image, windows = (gradient, x) if self.transposed else (x, gradient)
        batch, channels, *extents = image.shape
        groups, filters = self.groups, windows.shape[1]
        spatial = range(len(extents))
        split = image.reshape((batch, groups, channels // groups, *extents))
        split = split.permute([2, 1, 0, *(3 + i for i in spatial)])
        image = split.reshape((channels // groups, groups * batch, *extents))
        kernel, positions = weight.shape[2:], windows.shape[2:]
        sizes = zip(
            *(extents, kernel, positions, self.stride, self.padding, self.dilation), strict=True
        )
        pairs = [(p, (k - 1) * d + (m - 1) * s + 1 - n - p) for n, k, m, s, p, d in sizes]
        places = ", ".join(map(str, spatial))
        parameters = {
            "dimension_numbers": f"[b, f, {places}]x[i, o, {places}]->[b, f, {places}]",
            "window_strides": self.dilation,
            "padding": tuple(count for pair in pairs for count in pair),
            "input_dilation": (1,) * len(kernel),
            "weight_dilation": self.stride,
            "window_reversal": (0,) * len(kernel),
            "feature_group_count": groups,
            "batch_group_count": 1,
        }
        shape = channels // groups, filters, *kernel
        found = image.create("convolution", windows, shape=shape, parameters=parameters)
        return found.permute([1, 0, *(2 + i for i in spatial)])


def _place_groups_side_by_side(weight: Array, groups: int) -> Array:
    """The weight of a transposed convolution with the outputs of all groups side by side."""
    if groups == 1:
        return weight
    inputs, outputs, *kernel = weight.shape
    split = weight.reshape((groups, inputs // groups, outputs, *kernel))
    split = split.permute([1, 0, 2, *range(3, split.rank)])
    return split.reshape((inputs // groups, groups * outputs, *kernel))

"""Decompose convolutions and poolings into products and elementwise operations.

Before:

    #any = #tt.operand_constraint<any_device_tile>
    func.func @f(%x: tensor<1x4x6x3xf32>) -> tensor<1x2x3x3xf32> {
      %0 = tensor.empty() : tensor<1x2x3x3xf32>
      %1 = "ttir.max_pool2d"(%x, %0) <{ceil_mode = false, dilation_height = 1 : si32,
          dilation_width = 1 : si32, kernel_height = 1 : si32, kernel_width = 2 : si32,
          operand_constraints = [#any, #any], padding_bottom = 0 : si32, padding_left = 0 : si32,
          padding_right = 0 : si32, padding_top = 0 : si32, stride_height = 2 : si32,
          stride_width = 2 : si32}> : (tensor<1x4x6x3xf32>, tensor<1x2x3x3xf32>)
          -> tensor<1x2x3x3xf32>
      return %1 : tensor<1x2x3x3xf32>
    }

After:

    ...
        %1 = "ttir.slice"(%arg0, %0) <{begins = [0 : i32, 0 : i32, 0 : i32, 0 : i32], ...
        %3 = "ttir.slice"(%arg0, %2) <{begins = [0 : i32, 0 : i32, 1 : i32, 0 : i32], ...
        %5 = "ttir.maximum"(%1, %3, %4) ...
        return %5 : tensor<1x2x3x3xf32>
      }
    }

Requires: nothing.
Ensures: no `ttir.conv2d`, `ttir.conv_transpose2d`, `ttir.max_pool2d` and `ttir.avg_pool2d` is left,
and no `ttir.convolution` and `ttir.pooling`, which become these as in `ttir-decomposition`. ttnn
has all of them, so its pipeline does without the pass.
Options: none.
Not done here: folding of what is computed from constant weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.tensor import EmptyOp

from ttmlir.arrays.array import Array, concatenate
from ttmlir.composites.windows import iterate_taps, take_tap
from ttmlir.ir.builder import Builder, TTIRCarrier, array_in
from ttmlir.ir.rewriting import erase_unused, replace
from ttmlir.ir.tensor_types import element_type, limits_of, value_shape
from ttmlir.optable.window import WindowAxis, image_parameters, window_axes, window_counts
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.core.ttir_conversion import result_dtype
from ttmlir.passes.ttir.decomposition.ttir_decomposition import decompose

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

    from ttmlir.dialects.definition.ods import DestinationStyleOp
    from ttmlir.dialects.definition.table_ops import TableOperation


@dataclass(frozen=True)
class TTIRWindowDecompositionPass(ModulePass):
    """Decompose convolutions and poolings into operations that kernels compute."""

    name = "ttir-window-decomposition"
    title = "TTIRWindowDecomposition"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Apply the rules to every operation inside the module."""
        decompose(module, _GENERAL)
        for op in [op for op in module.walk() if op.name in _RULES]:
            destinations = [value.owner for value in cast("DestinationStyleOp", op).inits]
            carrier = TTIRCarrier(Builder.before(op))
            operands = [array_in(carrier, value) for value in cast("DestinationStyleOp", op).inputs]
            replace(op, _RULES[op.name](cast("TableOperation", op), *operands).value)
            erase_unused(owner for owner in destinations if isinstance(owner, EmptyOp))


def _parameters(op: TableOperation) -> dict[str, Any]:
    """The parameters, with the extents of image, weight and result."""
    values = op.operands[: 2 if op.DEFINITION.mnemonic.startswith("conv") else 1]
    shapes = [value_shape(value) for value in values]
    return image_parameters(op.parameters(), shapes, value_shape(op.results[0]))


@dataclass(frozen=True)
class _Windows:
    """What windows see of a padded image: an element of each for every position."""

    image: Array
    """Batch, height, width, channels; with the padding."""
    axes: tuple[WindowAxis, WindowAxis]

    @classmethod
    def over(cls, x: Array, parameters: Mapping[str, Any], fill: float = 0) -> _Windows:
        """The windows over an image, which `fill` surrounds."""
        names = ("batch_size", "input_height", "input_width", "channels")
        image = x.reshape([parameters[name] for name in names])
        axes = window_axes(parameters)
        return cls(image.pad(_margins([axis.margin for axis in axes]), fill), axes)

    @property
    def positions(self) -> tuple[int, int, int]:
        """Images, and positions of the window along height and width."""
        height, width = self.axes
        return self.image.shape[0], height.positions, width.positions

    def elements(self) -> list[Array]:
        """For each element of the window, row by row, what it sees: batch, positions, channels."""
        outer, inner = (WindowAxis(extent=self.image.shape[dim], kernel=1) for dim in (0, -1))
        axes = (outer, *self.axes, inner)
        return [take_tap(self.image, tap, axes) for tap in iterate_taps(axes)]

    def patches(self) -> Array:
        """A row for each position: the channels of the window's elements, row by row."""
        batch, rows, columns = self.positions
        channels = self.image.shape[-1]
        kernel = [axis.kernel for axis in self.axes]
        shape = batch * rows * columns, math.prod(kernel) * channels
        if all(axis.stride == axis.reach == axis.kernel for axis in self.axes):
            # Windows that lie side by side are an order of dimensions.
            ends = (batch, rows * kernel[0], columns * kernel[1], channels)
            split = (batch, rows, kernel[0], columns, kernel[1], channels)
            apart = self.image.slice((0,) * 4, ends).reshape(split)
            return apart.permute((0, 1, 3, 2, 4, 5)).reshape(shape)
        return concatenate(self.elements(), 3).reshape(shape)


def _margins(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    return [(0, 0), *pairs, (0, 0)]


# --- Convolutions --------------------------------------------------------------------------------


def _conv2d(op: TableOperation, x: Array, weight: Array, bias: Array | None = None) -> Array:
    parameters = _parameters(op)
    return _convolve(op, _Windows.over(x, parameters), weight, bias, parameters["groups"])


def _conv_transpose2d(
    op: TableOperation, x: Array, weight: Array, bias: Array | None = None
) -> Array:
    """A convolution of the image with holes, by the weight from back to front."""
    parameters = _parameters(op)
    names = ("batch_size", "input_height", "input_width", "in_channels")
    image = x.reshape([parameters[name] for name in names])
    axes: list[WindowAxis] = []
    margins: list[tuple[int, int]] = []
    sides = (("height", "top", "bottom"), ("width", "left", "right"))
    for dim, (axis, low, high) in enumerate(sides, 1):
        image = image.dilate(dim, parameters[f"stride_{axis}"], 0)
        kernel, dilation = (parameters[f"{name}_{axis}"] for name in ("kernel", "dilation"))
        reach = dilation * (kernel - 1)
        before = reach - parameters[f"padding_{low}"]
        after = reach - parameters[f"padding_{high}"] + parameters[f"output_padding_{axis}"]
        margins.append((before, after))
        extent = image.shape[dim] + before + after
        axes.append(WindowAxis(extent=extent, kernel=kernel, dilation=dilation))
    height, width = axes
    windows = _Windows(image.pad(_margins(margins), 0), (height, width))
    groups = parameters["groups"]
    return _convolve(op, windows, _turn(weight, groups), bias, groups)


def _turn(weight: Array, groups: int) -> Array:
    """The weight of a convolution that undoes one: output features first, from back to front."""
    inner, outer, *kernel = weight.shape
    flipped = weight.create("reverse", parameters={"dimensions": (2, 3)})
    grouped = flipped.reshape((groups, inner // groups, outer, *kernel)).permute((0, 2, 1, 3, 4))
    return grouped.reshape((groups * outer, inner // groups, *kernel))


def _convolve(
    op: TableOperation, windows: _Windows, weight: Array, bias: Array | None, groups: int
) -> Array:
    """The convolution, with the bias if there is one, in the shape and type of the result."""
    features, inner = weight.shape[:2]
    if groups > 1 and inner == 1 and features == groups:
        result = _convolve_channels(windows, weight)
    else:
        result = _multiply(windows.patches(), weight, groups)
    result = result.reshape((*windows.positions, features))
    if bias is not None:
        result = result.create("add", bias.reshape((1, 1, 1, features)))
    return result.cast(result_dtype(op)).reshape(value_shape(op.results[0]))


def _multiply(patches: Array, weight: Array, groups: int) -> Array:
    """A row of features for each row of the patches."""
    count, _ = patches.shape
    features, inner, *kernel = weight.shape
    size = math.prod(kernel)
    if groups == 1:
        return patches @ weight.permute((2, 3, 1, 0)).reshape((size * inner, features))
    split = patches.reshape((count, size, groups, inner)).permute((2, 0, 1, 3))
    rows = split.reshape((groups, count, size * inner))
    each = features // groups
    grouped = weight.reshape((groups, each, inner, *kernel)).permute((0, 3, 4, 2, 1))
    product = rows @ grouped.reshape((groups, size * inner, each))
    return product.permute((1, 0, 2)).reshape((count, features))


def _convolve_channels(windows: _Windows, weight: Array) -> Array:
    """Each channel on its own: a sum of multiples of what the window's elements see."""
    channels, _, *kernel = weight.shape
    by_element = weight.reshape((channels, math.prod(kernel))).transpose()
    terms: list[Array] = []
    for number, seen in enumerate(windows.elements()):
        factor = _widen(by_element.cut(0, number, number + 1)).reshape((1, 1, 1, channels))
        terms.append(_widen(seen) * factor)
    return _combine("add", terms)


# --- Poolings ------------------------------------------------------------------------------------


def _combine(mnemonic: str, terms: Sequence[Array]) -> Array:
    """All terms in one, from the first to the last."""
    first, *others = terms
    for term in others:
        first = first.apply(mnemonic, term)
    return first


def _widen(x: Array) -> Array:
    """Floating-point numbers with 32 bits, in which long sums keep those of their terms."""
    return x if not x.is_real or x.dtype in ("f32", "f64") else x.cast("f32")


def _max_pool2d(op: TableOperation, x: Array) -> Array:
    lowest, _ = limits_of(element_type(op.operands[0]))
    windows = _Windows.over(x, _parameters(op), lowest)
    return _combine("maximum", windows.elements()).reshape(value_shape(op.results[0]))


def _avg_pool2d(op: TableOperation, x: Array) -> Array:
    parameters = _parameters(op)
    windows = _Windows.over(_widen(x), parameters)
    total = _combine("add", windows.elements())
    rows, columns = window_counts(windows.axes, parameters["count_include_pad"])
    if len({*rows}) == len({*columns}) == 1:
        mean = total * (1 / (rows[0] * columns[0]))
    else:
        # Only windows that reach over the edges pay for the import.
        import numpy as np

        mean = total * total.constant(1 / np.multiply.outer(rows, columns)[None, :, :, None])
    return mean.cast(result_dtype(op)).reshape(value_shape(op.results[0]))


_GENERAL = ("ttir.convolution", "ttir.pooling")
"""What `ttir-decomposition` makes these operations of."""

_RULES: Mapping[str, Callable[..., Array]] = {
    "ttir.avg_pool2d": _avg_pool2d,
    "ttir.conv2d": _conv2d,
    "ttir.conv_transpose2d": _conv_transpose2d,
    "ttir.max_pool2d": _max_pool2d,
}
"""What stands for an operation, by its full name."""

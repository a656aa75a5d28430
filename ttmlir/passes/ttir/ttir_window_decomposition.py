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

from xdsl.dialects.builtin import AnyFloat, TensorType, f32
from xdsl.dialects.tensor import EmptyOp

from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import erase_unused, replace
from ttmlir.ir.tensor_types import element_type, limits_of, tensor_like, value_shape
from ttmlir.optable.window import WindowAxis, image_parameters, window_axes, window_counts
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttir.ttir_decomposition import decompose

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import SSAValue

    from ttmlir.dialects.definition.ods import DestinationStyleOp
    from ttmlir.dialects.definition.row_ops import RowOperation


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
            result = _RULES[op.name](Builder.before(op), cast("RowOperation", op))
            replace(op, result)
            erase_unused(owner for owner in destinations if isinstance(owner, EmptyOp))


def _parameters(op: RowOperation) -> dict[str, Any]:
    """The parameters, with the extents of image, weight and result."""
    values = op.operands[: 2 if op.ROW.mnemonic.startswith("conv") else 1]
    shapes = [value_shape(value) for value in values]
    return image_parameters(op.parameters(), shapes, value_shape(op.results[0]))


@dataclass(frozen=True)
class _Windows:
    """What windows see of a padded image: an element of each for every position."""

    builder: Builder
    image: SSAValue
    """Batch, height, width, channels; with the padding."""
    axes: tuple[WindowAxis, WindowAxis]

    @classmethod
    def over(
        cls, builder: Builder, value: SSAValue, parameters: Mapping[str, Any], fill: float = 0
    ) -> _Windows:
        """The windows over an image, which `fill` surrounds."""
        names = ("batch_size", "input_height", "input_width", "channels")
        image = builder.reshape(value, [parameters[name] for name in names])
        axes = window_axes(parameters)
        return cls(builder, builder.pad(image, _margins([a.margin for a in axes]), fill), axes)

    @property
    def positions(self) -> tuple[int, int, int]:
        """Images, and positions of the window along height and width."""
        height, width = self.axes
        return value_shape(self.image)[0], height.positions, width.positions

    def elements(self) -> list[SSAValue]:
        """For each element of the window, row by row, what it sees: batch, positions, channels."""
        height, width = self.axes
        return [
            self._seen(row, column)
            for row in range(0, height.reach, height.dilation)
            for column in range(0, width.reach, width.dilation)
        ]

    def _seen(self, row: int, column: int) -> SSAValue:
        batch, _, _, channels = value_shape(self.image)
        ends = [
            first + (axis.positions - 1) * axis.stride + 1
            for first, axis in zip((row, column), self.axes, strict=True)
        ]
        height, width = self.axes
        return self.builder.slice(
            self.image,
            (0, row, column, 0),
            (batch, *ends, channels),
            (1, height.stride, width.stride, 1),
        )

    def patches(self) -> SSAValue:
        """A row for each position: the channels of the window's elements, row by row."""
        batch, rows, columns = self.positions
        channels = value_shape(self.image)[-1]
        kernel = [axis.kernel for axis in self.axes]
        count = batch * rows * columns
        if all(axis.stride == axis.reach == axis.kernel for axis in self.axes):
            # Windows that lie side by side are an order of dimensions.
            ends = (batch, rows * kernel[0], columns * kernel[1], channels)
            whole = self.builder.slice(self.image, (0,) * 4, ends)
            split = (batch, rows, kernel[0], columns, kernel[1], channels)
            sorted_ = self.builder.permute(self.builder.reshape(whole, split), (0, 1, 3, 2, 4, 5))
            return self.builder.reshape(sorted_, (count, math.prod(kernel) * channels))
        side_by_side = self.builder.concat(self.elements(), 3)
        return self.builder.reshape(side_by_side, (count, math.prod(kernel) * channels))


def _margins(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    return [(0, 0), *pairs, (0, 0)]


# --- Convolutions --------------------------------------------------------------------------------


def _conv2d(builder: Builder, op: RowOperation) -> SSAValue:
    parameters = _parameters(op)
    windows = _Windows.over(builder, op.operands[0], parameters)
    return _convolve(builder, op, windows, op.operands[1], parameters["groups"])


def _conv_transpose2d(builder: Builder, op: RowOperation) -> SSAValue:
    """A convolution of the image with holes, by the weight from back to front."""
    parameters = _parameters(op)
    names = ("batch_size", "input_height", "input_width", "in_channels")
    image = builder.reshape(op.operands[0], [parameters[name] for name in names])
    axes: list[WindowAxis] = []
    margins: list[tuple[int, int]] = []
    sides = (("height", "top", "bottom"), ("width", "left", "right"))
    for dim, (axis, low, high) in enumerate(sides, 1):
        image = builder.dilate(image, dim, parameters[f"stride_{axis}"], 0)
        kernel, dilation = (parameters[f"{name}_{axis}"] for name in ("kernel", "dilation"))
        reach = dilation * (kernel - 1)
        before = reach - parameters[f"padding_{low}"]
        after = reach - parameters[f"padding_{high}"] + parameters[f"output_padding_{axis}"]
        margins.append((before, after))
        extent = value_shape(image)[dim] + before + after
        axes.append(WindowAxis(extent=extent, kernel=kernel, dilation=dilation))
    padded = builder.pad(image, _margins(margins), 0)
    height, width = axes
    windows = _Windows(builder, padded, (height, width))
    return _convolve(
        builder, op, windows, _turned(builder, op.operands[1], parameters), parameters["groups"]
    )


def _turned(builder: Builder, weight: SSAValue, parameters: Mapping[str, Any]) -> SSAValue:
    """The weight of a convolution that undoes one: output features first, from back to front."""
    groups = parameters["groups"]
    inner, outer, *kernel = value_shape(weight)
    type_ = weight.type
    flipped = builder.create("reverse", (weight,), type_, dimensions=(2, 3))
    grouped = builder.reshape(flipped, (groups, inner // groups, outer, *kernel))
    swapped = builder.permute(grouped, (0, 2, 1, 3, 4))
    return builder.reshape(swapped, (groups * outer, inner // groups, *kernel))


def _convolve(
    builder: Builder, op: RowOperation, windows: _Windows, weight: SSAValue, groups: int
) -> SSAValue:
    """The convolution, with the bias if the operation has one, in the shape of its result."""
    features, inner = value_shape(weight)[:2]
    if groups > 1 and inner == 1 and features == groups:
        result = _convolve_channels(builder, windows, weight)
    else:
        result = _multiply(builder, windows.patches(), weight, groups)
    result = builder.reshape(result, (*windows.positions, features))
    if len(op.operands) > 3:
        bias = builder.reshape(op.operands[2], (1, 1, 1, features))
        result = builder.create("add", (result, bias), result.type)
    shape = value_shape(op.results[0])
    return builder.reshape(builder.cast(result, element_type(op.results[0])), shape)


def _multiply(builder: Builder, patches: SSAValue, weight: SSAValue, groups: int) -> SSAValue:
    """A row of features for each row of the patches."""
    count, _ = value_shape(patches)
    features, inner, *kernel = value_shape(weight)
    size = math.prod(kernel)
    if groups == 1:
        filters = builder.reshape(builder.permute(weight, (2, 3, 1, 0)), (size * inner, features))
        type_ = tensor_like(patches, (count, features))
        return builder.create("matmul", (patches, filters), type_)
    split = builder.reshape(patches, (count, size, groups, inner))
    rows = builder.reshape(builder.permute(split, (2, 0, 1, 3)), (groups, count, size * inner))
    each = features // groups
    grouped = builder.reshape(weight, (groups, each, inner, *kernel))
    filters = builder.reshape(
        builder.permute(grouped, (0, 3, 4, 2, 1)), (groups, size * inner, each)
    )
    product = builder.create("matmul", (rows, filters), tensor_like(patches, (groups, count, each)))
    return builder.reshape(builder.permute(product, (1, 0, 2)), (count, features))


def _convolve_channels(builder: Builder, windows: _Windows, weight: SSAValue) -> SSAValue:
    """Each channel on its own: a sum of multiples of what the window's elements see."""
    channels, _, *kernel = value_shape(weight)
    size = math.prod(kernel)
    by_element = builder.transpose(builder.reshape(weight, (channels, size)), 0, 1)
    terms: list[SSAValue] = []
    for number, seen in enumerate(windows.elements()):
        row = builder.slice_along(by_element, 0, number, number + 1)
        factor = builder.reshape(_widen(builder, row), (1, 1, 1, channels))
        seen = _widen(builder, seen)
        terms.append(builder.create("multiply", (seen, factor), seen.type))
    return _combine(builder, "add", terms)


# --- Poolings ------------------------------------------------------------------------------------


def _combine(builder: Builder, mnemonic: str, terms: Sequence[SSAValue]) -> SSAValue:
    """All terms in one, from the first to the last."""
    first, *others = terms
    for term in others:
        first = builder.create(mnemonic, (first, term), first.type)
    return first


def _widen(builder: Builder, value: SSAValue) -> SSAValue:
    """Floating-point numbers with 32 bits, in which long sums keep those of their terms."""
    element = element_type(value)
    is_short = isinstance(element, AnyFloat) and element.bitwidth < f32.bitwidth
    return builder.cast(value, f32) if is_short else value


def _max_pool2d(builder: Builder, op: RowOperation) -> SSAValue:
    lowest, _ = limits_of(element_type(op.operands[0]))
    windows = _Windows.over(builder, op.operands[0], _parameters(op), lowest)
    largest = _combine(builder, "maximum", windows.elements())
    return builder.reshape(largest, value_shape(op.results[0]))


def _avg_pool2d(builder: Builder, op: RowOperation) -> SSAValue:
    parameters = _parameters(op)
    windows = _Windows.over(builder, _widen(builder, op.operands[0]), parameters)
    total = _combine(builder, "add", windows.elements())
    rows, columns = window_counts(windows.axes, parameters["count_include_pad"])
    element = element_type(total)
    if len({*rows}) == len({*columns}) == 1:
        factor = builder.create_scalar(1 / (rows[0] * columns[0]), element)
    else:
        shape = (1, len(rows), len(columns), 1)
        numbers = [1 / (row * column) for row in rows for column in columns]
        factor = builder.create_numbers(numbers, TensorType(element, shape))
    mean = builder.create("multiply", (total, factor), total.type)
    narrowed = builder.cast(mean, element_type(op.results[0]))
    return builder.reshape(narrowed, value_shape(op.results[0]))


_GENERAL = ("ttir.convolution", "ttir.pooling")
"""What `ttir-decomposition` makes these operations of."""

_RULES: Mapping[str, Callable[[Builder, RowOperation], SSAValue]] = {
    "ttir.avg_pool2d": _avg_pool2d,
    "ttir.conv2d": _conv2d,
    "ttir.conv_transpose2d": _conv_transpose2d,
    "ttir.max_pool2d": _max_pool2d,
}
"""What stands for an operation, by its full name."""

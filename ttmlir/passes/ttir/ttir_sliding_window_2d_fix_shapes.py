"""Bring images into the shapes that ttnn's window operations take.

ttnn pools an image that is flattened to 1x1x(N*H*W)xC and pads both sides of it alike. A pooling of
another shape gets a reshape before and after it and remembers the height and width of the image;
where the two sides differ, the padding becomes an operation.

Before:

    #d = #tt.operand_constraint<dram|any_layout>
    func.func @pool(%image: tensor<3x4x6x5xf32>) -> tensor<3x2x3x5xf32> {
      %0 = tensor.empty() : tensor<3x2x3x5xf32>
      %1 = "ttir.max_pool2d"(%image, %0) <{ceil_mode = false, dilation_height = 1 : si32,
          dilation_width = 1 : si32, kernel_height = 2 : si32, kernel_width = 2 : si32,
          operand_constraints = [#d, #d], padding_bottom = 0 : si32, padding_left = 0 : si32,
          padding_right = 0 : si32, padding_top = 0 : si32, stride_height = 2 : si32,
          stride_width = 2 : si32}>
          : (tensor<3x4x6x5xf32>, tensor<3x2x3x5xf32>) -> tensor<3x2x3x5xf32>
      return %1 : tensor<3x2x3x5xf32>
    }

After:

    ...
    module {
      func.func @pool(%arg0: tensor<3x4x6x5xf32>) -> tensor<3x2x3x5xf32> {
        %0 = tensor.empty() : tensor<1x1x72x5xf32>
        %1 = "ttir.reshape"(%arg0, %0) <{operand_constraints = [...],
            shape = [1 : i32, 1 : i32, 72 : i32, 5 : i32]}>
            : (tensor<3x4x6x5xf32>, tensor<1x1x72x5xf32>) -> tensor<1x1x72x5xf32>
        %2 = tensor.empty() : tensor<1x1x18x5xf32>
        %3 = "ttir.max_pool2d"(%1, %2) <{ceil_mode = false, ...,
            original_height = 4 : si32, original_width = 6 : si32, ...}>
            : (tensor<1x1x72x5xf32>, tensor<1x1x18x5xf32>) -> tensor<1x1x18x5xf32>
        %4 = tensor.empty() : tensor<3x2x3x5xf32>
        %5 = "ttir.reshape"(%3, %4) <{operand_constraints = [...],
            shape = [3 : i32, 2 : i32, 3 : i32, 5 : i32]}>
            : (tensor<1x1x18x5xf32>, tensor<3x2x3x5xf32>) -> tensor<3x2x3x5xf32>
        return %5 : tensor<3x2x3x5xf32>
      }
    }

Requires: nothing.
Ensures: the input of every `ttir.max_pool2d` is 1x1x(N*H*W)xC; its padding and that of every
`ttir.conv2d` is the same left and right and the same above and below.
In 2026 all images of two-dimensional windows are flattened, and `flattened_compat_info` says what
they are.
Options: none.
Not done here: other changes of convolutions; ttnn takes their images as they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute, SSAValue

from ttmlir.dialects import ttir
from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import clean_up, replace
from ttmlir.ir.tensor_types import element_type, limits_of, tensor_like, value_shape
from ttmlir.optable.window import window_axes
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.core.value_form import is_value_form
from ttmlir.passes.ttir.ttir_flattened_windows import flatten_windows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

    from ttmlir.dialects.definition.table_ops import ParameterValue

Shape = tuple[int, ...]

_CONSTRAINTS = "operand_constraints"


@dataclass(frozen=True)
class TTIRSlidingWindow2dFixShapesPass(ModulePass):
    """Bring images into the shapes that ttnn's window operations take."""

    name = "ttir-sliding-window-2d-fix-shapes"
    title = "TTIRSlidingWindow2dFixShapes"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Rewrite every pooling and every convolution with uneven padding."""
        if is_value_form(module):
            flatten_windows(module)
            return
        for op in [op for op in module.walk() if isinstance(op, ttir.WindowOp)]:
            if op.DEFINITION.mnemonic == "max_pool2d":
                _fix_pool(op)
            elif op.DEFINITION.mnemonic == "conv2d":
                _fix_convolution(op)
        clean_up(module)


@dataclass(frozen=True)
class _Padding:
    """Rows and columns added around an image."""

    top: int
    bottom: int
    left: int
    right: int

    @classmethod
    def of(cls, op: ttir.WindowOp) -> _Padding:
        """The padding of a window operation."""
        values = op.parameters()
        return cls(*(cast("int", values[f"padding_{side}"]) for side in cls.__match_args__))

    @property
    def is_even(self) -> bool:
        """True where ttnn's one number per direction can say it."""
        return self.top == self.bottom and self.left == self.right


_NO_PADDING = {f"padding_{side}": 0 for side in _Padding.__match_args__}


def _fix_pool(op: ttir.WindowOp) -> None:
    """Flatten the image of a pooling, after padding it if the padding is uneven."""
    image, padding = op.operands[0], _Padding.of(op)
    shape = value_shape(image)
    values = op.parameters()
    is_flat = shape[:2] == (1, 1)
    if is_flat and padding.is_even:
        return
    changes: dict[str, ParameterValue] = {}
    if is_flat and "original_height" in values:
        # The rows of several images follow each other: padding needs them apart.
        height, width = values["original_height"], values["original_width"]
        assert isinstance(height, int)
        assert isinstance(width, int)
        shape = (shape[2] // (height * width), height, width, shape[3])
        image = _unary(op, "reshape", image, tensor_like(image, shape), shape=shape)
    if not padding.is_even:
        if values["ceil_mode"]:
            # Which windows start inside is judged on the image without the padding at its end.
            padding = _fill(values, *shape[1:3])
            changes["ceil_mode"] = False
        image = _pad(op, image, padding, limits_of(element_type(image))[0])
        shape = value_shape(image)
        changes |= _NO_PADDING
    changes |= {"original_height": shape[1], "original_width": shape[2]}
    flat = _flatten(shape)
    image = _unary(op, "reshape", image, tensor_like(image, flat), shape=flat)
    result = op.results[0]
    flat_result = tensor_like(result, _flatten(value_shape(result)))
    pooled = _remake(op, (image,), flat_result, changes)
    replace(op, _unary(op, "reshape", pooled, result.type, shape=value_shape(result)))


def _fill(values: Mapping[str, ParameterValue], height: int, width: int) -> _Padding:
    """The padding that fills every window of an image: with it, none is rounded up to."""
    rows, columns = window_axes(values, input_height=height, input_width=width)
    return _Padding(*rows.margin, *columns.margin)


def _fix_convolution(op: ttir.WindowOp) -> None:
    """Make uneven padding of a convolution an operation of its own."""
    padding = _Padding.of(op)
    if padding.is_even:
        return
    image, *rest = op.inputs
    padded = _pad(op, image, padding, 0.0)
    replace(op, _remake(op, (padded, *rest), op.results[0].type, dict(_NO_PADDING)))


def _flatten(shape: Shape) -> Shape:
    """The shape with all extents but the last multiplied into the last but one."""
    return (*(1 for _ in shape[:-2]), math.prod(shape[:-1]), shape[-1])


def _pad(op: ttir.WindowOp, image: SSAValue, padding: _Padding, value: float) -> SSAValue:
    """The image, whose last dimensions are height, width and channels, with a margin."""
    shape = value_shape(image)
    margins = (padding.top, padding.bottom, padding.left, padding.right, 0, 0)
    before = (0,) * (2 * len(shape) - len(margins))
    padded = (
        *shape[:-3],
        shape[-3] + padding.top + padding.bottom,
        shape[-2] + padding.left + padding.right,
        shape[-1],
    )
    type_ = tensor_like(image, padded)
    return _unary(op, "pad", image, type_, padding=(*before, *margins), value=value)


def _unary(
    op: ttir.WindowOp,
    mnemonic: str,
    input: SSAValue,
    result_type: Attribute,
    **values: ParameterValue,
) -> SSAValue:
    """An operation on one tensor in front of `op`, with the constraints of its image and output."""
    cls = cast("type[ttir.TTIRTableOp]", ttir.op_class(mnemonic))
    constraints = cast("ArrayAttr[Attribute]", op.properties[_CONSTRAINTS]).data
    if len(constraints) > 2:
        constraints = (constraints[0], constraints[-1])
    properties = {
        **Builder.before(op).properties_of(cls, values),
        _CONSTRAINTS: ArrayAttr(constraints),
    }
    return _insert(op, cls, (input,), result_type, properties)


def _remake(
    op: ttir.WindowOp,
    inputs: tuple[SSAValue, ...],
    result_type: Attribute,
    values: dict[str, ParameterValue],
) -> SSAValue:
    """The window operation on other inputs, with another result and some other parameters."""
    properties = {**op.properties, **Builder.before(op).properties_of(type(op), values)}
    return _insert(op, type(op), inputs, result_type, properties)


def _insert(
    op: ttir.WindowOp,
    cls: type[ttir.TTIRTableOp],
    inputs: tuple[SSAValue, ...],
    result_type: Attribute,
    properties: dict[str, Attribute],
) -> SSAValue:
    """Put an operation and its destination in front of `op`; the result of the operation."""
    return Builder.before(op).create_op(cls, inputs, (result_type,), properties).results[0]

"""Fold batch normalizations into the convolutions before them.

If weight, bias and the statistics of the normalization are constants, one convolution with another
weight and bias computes both.

Before:

    func.func @f(%image: tensor<1x2x2x1xf32>) -> tensor<1x2x2x2xf32> {
      %weight = "ttir.constant"() <{value = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>}>
          : () -> tensor<2x1x1x1xf32>
      %scale = "ttir.constant"() <{value = dense<[3.0, 4.0]> : tensor<2xf32>}>
          : () -> tensor<2xf32>
      %offset = "ttir.constant"() <{value = dense<0.5> : tensor<2xf32>}> : () -> tensor<2xf32>
      %mean = "ttir.constant"() <{value = dense<1.0> : tensor<2xf32>}> : () -> tensor<2xf32>
      %variance = "ttir.constant"() <{value = dense<3.5> : tensor<2xf32>}> : () -> tensor<2xf32>
      %0 = tensor.empty() : tensor<1x2x2x2xf32>
      %1 = "ttir.conv2d"(%image, %weight, %0) <{dilation_height = 1 : si32,
          dilation_width = 1 : si32, groups = 1 : si32, operand_constraints = [],
          padding_bottom = 0 : si32, padding_left = 0 : si32, padding_right = 0 : si32,
          padding_top = 0 : si32, stride_height = 1 : si32, stride_width = 1 : si32}>
          : (tensor<1x2x2x1xf32>, tensor<2x1x1x1xf32>, tensor<1x2x2x2xf32>)
          -> tensor<1x2x2x2xf32>
      %2 = tensor.empty() : tensor<1x2x2x2xf32>
      %3 = "ttir.batch_norm_inference"(%1, %scale, %offset, %mean, %variance, %2)
          <{dimension = 3 : si32, epsilon = 0.5 : f32, operand_constraints = []}>
          : (tensor<1x2x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>,
             tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
      return %3 : tensor<1x2x2x2xf32>
    }

After:

    ...
    module {
      func.func @f(%arg0: tensor<1x2x2x1xf32>) -> tensor<1x2x2x2xf32> {
        %0 = "ttir.constant"() <{value = dense<[[[[1.500000e+00]]], [[[4.000000e+00]]]]>
            : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
        %1 = "ttir.constant"() <{value = dense<[[[[-1.000000e+00, -1.500000e+00]]]]>
            : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
        %2 = tensor.empty() : tensor<1x2x2x2xf32>
        %3 = "ttir.conv2d"(%arg0, %0, %1, %2) <{dilation_height = 1 : si32, ...}>
            : (tensor<1x2x2x1xf32>, tensor<2x1x1x1xf32>, tensor<1x1x1x2xf32>,
            tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
        return %3 : tensor<1x2x2x2xf32>
      }
    }

Requires: nothing.
Ensures: a normalization that is left has no convolution with a constant weight as its only operand,
or other operands that are not constants, or another element type than f32.
Options: none.
Not done here: convolutions whose result is used elsewhere, or that another operation separates from
the normalization.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import TensorType, f32
from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import SSAValue

from ttmlir.dialects import ttir
from ttmlir.ir.builder import Builder
from ttmlir.ir.constants import constant_elements
from ttmlir.ir.rewriting import erase, erase_unused, replace
from ttmlir.ir.tensor_types import value_shape
from ttmlir.mlir.attributes import ElementsType, elements_attr, raw_bytes, splat_bytes
from ttmlir.optable.window import DimensionNumbers
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class TTIRFoldBatchNormPass(ModulePass):
    """Fold batch normalizations into the convolutions before them."""

    name = "ttir-fold-batch-norm"
    title = "TTIRFoldBatchNorm"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Fold every normalization that can be."""
        for op in [op for op in module.walk() if op.name == "ttir.batch_norm_inference"]:
            assert isinstance(op, ttir.NormalizationOp)
            _fold(op)


def _fold(op: ttir.NormalizationOp) -> None:
    """Replace a normalization and its convolution by another convolution, if there is one."""
    builder = Builder.before(op)
    normalized, *statistics = op.inputs
    convolution = normalized.owner
    if not isinstance(convolution, ttir.WindowOp) or not normalized.has_one_use():
        return
    parameters = op.parameters()
    dims = _feature_dims(convolution)
    if dims is None or dims[0] != parameters["dimension"]:
        return
    image, weight, *bias = convolution.inputs
    constants = [_constant(value) for value in (weight, *statistics, *bias)]
    if any(constant is None for constant in constants):
        return
    filters, scale, offset, mean, variance, *shift = cast("list[Any]", constants)
    factor = scale / (variance + parameters["epsilon"]) ** 0.5
    along = [1] * filters.ndim
    along[dims[1]] = -1
    new_bias = (sum(each.reshape(-1) for each in shift) - mean) * factor + offset
    bias_shape = value_shape(bias[0]) if bias else _new_bias_shape(convolution, len(factor))
    inputs = [
        image,
        _new_constant(builder, filters * factor.reshape(along)),
        _new_constant(builder, new_bias.reshape(bias_shape)),
    ]
    mnemonic = convolution.DEFINITION.mnemonic
    operands = [*op.operands[1:], *convolution.operands[1:]]
    replace(op, builder.create(mnemonic, inputs, op.results[0].type, **convolution.parameters()))
    erase(convolution)
    owners = dict.fromkeys(value.owner for value in operands)
    erase_unused(owner for owner in owners if isinstance(owner, (EmptyOp, ttir.ConstantOp)))


def _feature_dims(op: ttir.WindowOp) -> tuple[int, int] | None:
    """The dimensions of the output's features, of the output and of the weight."""
    if op.DEFINITION.mnemonic == "conv2d":
        return len(value_shape(op.results[0])) - 1, 0
    if op.DEFINITION.mnemonic == "convolution":
        numbers = DimensionNumbers.parse(cast("str", op.parameters()["dimension_numbers"]))
        return numbers.output.feature, numbers.weight.feature
    return None


def _new_bias_shape(op: ttir.WindowOp, features: int) -> tuple[int, ...]:
    """The shape in which the operation takes its bias."""
    return (1, 1, 1, features) if op.DEFINITION.mnemonic == "conv2d" else (features,)


def _constant(value: SSAValue) -> Any | None:
    """A constant of f32 as an array of float64; None for any other value."""
    # Only modules with something to fold pay for the import.
    import numpy as np

    elements = constant_elements(value)
    if elements is None or elements.get_element_type() != f32:
        return None
    shape = value_shape(value)
    splat = splat_bytes(elements)
    data = np.frombuffer(raw_bytes(elements) if splat is None else splat, np.float32)
    return np.broadcast_to(data if splat else data.reshape(shape), shape).astype(np.float64)


def _new_constant(builder: Builder, array: Any) -> SSAValue:
    type_ = cast("ElementsType", TensorType(f32, array.shape))
    return builder.create_constant(elements_attr(type_, array.astype("<f4").tobytes()), type_)

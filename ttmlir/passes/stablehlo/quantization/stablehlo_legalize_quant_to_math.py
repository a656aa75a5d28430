"""Compute with integers in place of quantized tensors.

An integer q of a quantized tensor stands for (q - zero point) * scale. Operations that move
elements do it with the integers, and so do `maximum` and `minimum` of one scale. Products of bytes
subtract the zero points, multiply in bf16, which holds the differences, and add in f32, which is
exact up to 2^24. All others compute with the numbers in f32 and round the result to integers.
Arguments and results become the integers. `quant.qcast` and `quant.dcast` are as
`stablehlo.uniform_quantize` and `uniform_dequantize`.

Before:

    func.func @halve(%x: tensor<33x70x!quant.uniform<i8:f32, 0.1:5>>) -> tensor<33x70xf32> {
      %0 = stablehlo.uniform_dequantize %x
          : (tensor<33x70x!quant.uniform<i8:f32, 0.1:5>>) -> tensor<33x70xf32>
      return %0 : tensor<33x70xf32>
    }

After:

    ...
      func.func @halve(%arg0: tensor<33x70xi8>) -> tensor<33x70xf32> {
        %0 = tensor.empty() : tensor<33x70xf32>
        %1 = "ttir.typecast"(%arg0, %0) ...
        %2 = "ttir.constant"() <{value = dense<5.000000e+00> : tensor<1x1xf32>}> ...
        ...
        %4 = "ttir.subtract"(%1, %2, %3) ...
        %5 = "ttir.constant"() <{value = dense<1.000000e-01> : tensor<1x1xf32>}> ...
        ...
        %7 = "ttir.multiply"(%4, %5, %6) ...
        return %7 : tensor<33x70xf32>
      }
    ...

Requires: static shapes; calls inlined (`inline`).
Ensures: no quantized tensors are left.
Options: `spelling` (2024): in which spelling of tt-mlir operations of ttir are written.
Not done here: products of integers of more than 8 bits are rounded as those of f32 are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import TensorType, f32

from ttmlir.composites.bits import width_of
from ttmlir.composites.quantization import (
    Quantization,
    dequantize,
    quantize,
    round_to_integers,
    scale,
    shift,
)
from ttmlir.dialects.quant import Uniform, uniform_of
from ttmlir.ir.builder import SPELLING_HELP, Builder, TTIRSpelling, array_in, use_style
from ttmlir.ir.rewriting import insert_before, refuse_to_legalize
from ttmlir.ir.tensor_types import dtype_of, element_type, tensor_of, value_shape
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.stablehlo.quantization.element_rewrite import ElementRewrite

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation, SSAValue

    from ttmlir.arrays.array import Array
    from ttmlir.dialects.stablehlo.attrs import ConvDimensionNumbersAttr, DotDimensionNumbersAttr


_BYTE_BITS = 8


@dataclass(frozen=True)
class StableHLOLegalizeQuantToMathPass(ModulePass):
    """Compute with integers in place of quantized tensors."""

    name = "stablehlo-legalize-quant-to-math"
    title = "StableHLOLegalizeQuantToMath"
    spelling: TTIRSpelling = option(TTIRSpelling.EARLY, SPELLING_HELP)

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Rewrite what computes, then give all other values their storage types."""
        with use_style(self.spelling.for_module(module).style):
            _Legalization().apply(module)


class _QuantizedElement:
    """Integers that stand for numbers, for `ElementRewrite`."""

    def __init__(self, uniform: Uniform) -> None:
        self.uniform = uniform
        self.stored: Attribute = uniform.storage
        self.computed: Attribute = uniform.expressed
        self.key = (uniform.kind, uniform.scales, uniform.zeros)
        limits = uniform.low, uniform.high
        steps = uniform.scales, uniform.zeros, uniform.axis
        self.quantization = Quantization(dtype_of(uniform.storage), *limits, *steps)

    def widen(self, build: Builder, value: SSAValue) -> SSAValue:
        """The numbers that integers stand for, computed in f32."""
        number = dequantize(array_in(build, value).cast("f32"), self.quantization)
        return number.cast(dtype_of(self.computed)).value

    def narrow(self, build: Builder, value: SSAValue) -> SSAValue:
        """The integers that stand for numbers, computed in f32."""
        return quantize(array_in(build, value).cast("f32"), self.quantization).value

    def factor(self, build: Builder, value: SSAValue) -> Array:
        """Integers without their zero point as the factor of a product whose sums are f32.

        Differences of bytes are whole numbers of up to 255, which bf16 holds.
        """
        dtype = "bf16" if self.uniform.width <= _BYTE_BITS else "f32"
        return shift(array_in(build, value), self.quantization, dtype)


class _Legalization(ElementRewrite[_QuantizedElement]):
    """Quantized tensors as integers."""

    def element_of(self, type_: Attribute) -> _QuantizedElement | None:
        """What the integers of a quantized type are."""
        uniform = uniform_of(type_)
        return None if uniform is None else _QuantizedElement(uniform)

    def check(self, op: Operation) -> None:
        """Refuse types with fewer or more scales than places."""
        for value in (*op.operands, *op.results):
            _check_axis(op, value)

    def rewrite(self, op: Operation) -> None:
        """By a rule of its own, or by the numbers."""
        RULES.get(op.name, _Legalization.compute)(self, op)

    def quantize(self, op: Operation) -> None:
        """Integers from numbers, or from integers with other scales."""
        build, [operand], [result] = Builder.before(op), op.operands, op.results
        self.replace(op, [self.narrow(build, self.widen(build, operand), result)])

    def dequantize(self, op: Operation) -> None:
        """The numbers."""
        self.replace(op, [self.widen(Builder.before(op), op.operands[0])])

    def store_as(self, op: Operation) -> None:
        """The integers that are kept, of integers without a sign, or the other way round."""
        build = Builder.before(op)
        value, target = array_in(build, op.operands[0]), self.element(op.results[0])
        if target is None:
            dtype = dtype_of(element_type(op.results[0]))
        else:
            dtype = target.quantization.dtype
            if not target.uniform.is_signed and target.uniform.width < _BYTE_BITS:
                value = value.cast("i32") & (1 << target.uniform.width) - 1
        same = width_of(value.dtype) == width_of(dtype)
        self.replace(op, [(value.bitcast(dtype) if same else value.cast(dtype)).value])

    def multiply(self, op: Operation) -> None:
        """A sum of products: of the integers without their zero points."""
        lhs, rhs, target = map(self.element, (*op.operands, *op.results))
        if lhs is None or rhs is None or target is None or lhs.uniform.axis is not None:
            self.compute(op)
            return
        build = Builder.before(op)
        pairs = zip((lhs, rhs), op.operands, strict=True)
        factors = [each.factor(build, value) for each, value in pairs]
        dtype = factors[0].dtype if lhs.uniform.width == rhs.uniform.width else "f32"
        clone = type(op).create(
            operands=[each.cast(dtype).value for each in factors],
            result_types=[tensor_of(f32, value_shape(op.results[0]))],
            properties=op.properties,
            attributes=op.attributes,
            location=op.location,
        )
        insert_before(op, clone)
        axis = None if rhs.uniform.axis is None else _result_axis(op, rhs.uniform.axis)
        found = array_in(build, clone.results[0])
        products = [lhs.uniform.scales[0] * each for each in rhs.uniform.scales]
        scales, by = target.uniform.scales, target.quantization
        if target.uniform.axis in (None, axis):
            shared = target.uniform.axis is None
            ratio = [
                product / scales[0 if shared else index] for index, product in enumerate(products)
            ]
            result = round_to_integers(scale(found, ratio, axis), by)
        else:
            result = quantize(scale(found, products, axis), by)
        self.replace(op, [result.value])


def _check_axis(op: Operation, value: SSAValue) -> None:
    words = str(value.type)
    if not isinstance(value.type, TensorType):
        return
    uniform = uniform_of(element_type(value))
    if uniform is None or uniform.axis is None:
        return
    shape = value_shape(value)
    if uniform.axis >= len(shape) or shape[uniform.axis] != len(uniform.scales):
        refuse_to_legalize(
            op,
            f"{words} has {len(uniform.scales)} scales along dimension {uniform.axis}; "
            "give one for each index of a dimension",
        )


def _result_axis(op: Operation, axis: int) -> int | None:
    """The dimension of a product that a dimension of its second operand becomes."""
    if op.name == "stablehlo.convolution":
        numbers = cast("ConvDimensionNumbersAttr", op.properties["dimension_numbers"])
        if axis != numbers.kernel_output_feature_dimension:
            refuse_to_legalize(op, "scales of a kernel go along its output features")
        return numbers.output_feature_dimension
    if op.name == "stablehlo.dot":
        contracted, batch = (0,), ()
    else:
        dims = cast("DotDimensionNumbersAttr", op.properties["dot_dimension_numbers"])
        contracted = dims.rhs_contracting_dimensions
        batch = dims.rhs_batching_dimensions
    if axis in contracted:
        refuse_to_legalize(op, "scales along a dimension that is summed over are not supported")
    if axis in batch:
        return batch.index(axis)
    rank = len(value_shape(op.operands[1]))
    free = [dim for dim in range(rank) if dim not in (*contracted, *batch)]
    return len(value_shape(op.results[0])) - len(free) + free.index(axis)


RULES: dict[str, Callable[[_Legalization, Operation], None]] = {
    "quant.dcast": _Legalization.dequantize,
    "quant.qcast": _Legalization.quantize,
    "quant.scast": _Legalization.store_as,
    "stablehlo.convolution": _Legalization.multiply,
    "stablehlo.dot": _Legalization.multiply,
    "stablehlo.dot_general": _Legalization.multiply,
    "stablehlo.uniform_dequantize": _Legalization.dequantize,
    "stablehlo.uniform_quantize": _Legalization.quantize,
}
"""What becomes of operations that are not computed with numbers and rounded."""

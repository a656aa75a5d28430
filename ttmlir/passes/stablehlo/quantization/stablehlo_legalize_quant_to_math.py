"""Compute with integers in place of quantized tensors.

An integer q of a quantized tensor stands for (q - zero point) * scale. Operations that move
elements do it with the integers, and so do `maximum` and `minimum` of one scale. Products of bytes
subtract the zero points, multiply in bf16, which holds the differences, and add in f32, which is
exact up to 2^24. All others compute with the numbers in f32 and round the result to integers, as
the specification defines it. Arguments and results become the integers.

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
Options: none.
Not done here: products of integers of more than 8 bits are rounded as those of f32 are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import TensorType, bf16, f32

from ttmlir.dialects.quant import Uniform, uniform_of
from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import insert_before, refuse_to_legalize
from ttmlir.ir.tensor_types import element_type, tensor_of, value_shape
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.stablehlo.quantization.element_rewrite import ElementRewrite

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation, SSAValue

    from ttmlir.dialects.stablehlo.attrs import ConvDimensionNumbersAttr, DotDimensionNumbersAttr


# --- Uniform arithmetic ---------------------------------------------------------------------------
# Between integers and the numbers that they stand for, in ttir.

_BYTE_BITS = 8


def dequantize(build: Builder, value: SSAValue, uniform: Uniform) -> SSAValue:
    """`(value - zero) * scale`, computed in f32, in the type that the integers stand for."""
    number = _subtract_zeros(build, build.cast(value, f32), uniform)
    return build.cast(scale(build, number, uniform.scales, uniform.axis), uniform.expressed)


def quantize(build: Builder, value: SSAValue, uniform: Uniform) -> SSAValue:
    """`clamp(round(value / scale) + zero, low, high)`, ties to even, in the storage type."""
    number = build.cast(value, f32)
    scales = _parameters(build, uniform.scales, uniform.axis, number)
    return round_to_integers(build, build.create("div", (number, scales), number.type), uniform)


def round_to_integers(build: Builder, value: SSAValue, uniform: Uniform) -> SSAValue:
    """What is left of quantizing numbers that are divided by the scales."""
    number = build.create("round", (value,), value.type)
    if any(uniform.zeros):
        zeros = _parameters(build, uniform.zeros, uniform.axis, number)
        number = build.create("add", (number, zeros), number.type)
    limits = {"min": float(uniform.low), "max": float(uniform.high)}
    number = build.create("clamp", (number,), number.type, **limits)
    return build.cast(number, uniform.storage)


def shift(build: Builder, value: SSAValue, uniform: Uniform) -> SSAValue:
    """`value - zero`, as the factor of a product whose sums are f32.

    Differences of bytes are whole numbers of up to 255, which bf16 holds.
    """
    number = _subtract_zeros(build, build.cast(value, f32), uniform)
    return build.cast(number, bf16 if uniform.width <= _BYTE_BITS else f32)


def scale(build: Builder, value: SSAValue, factors: Sequence[float], axis: int | None) -> SSAValue:
    """The tensor times a number, or times one for each place along an axis."""
    if all(factor == 1 for factor in factors):
        return value
    return build.create("multiply", (value, _parameters(build, factors, axis, value)), value.type)


def _subtract_zeros(build: Builder, number: SSAValue, uniform: Uniform) -> SSAValue:
    if not any(uniform.zeros):
        return number
    zeros = _parameters(build, uniform.zeros, uniform.axis, number)
    return build.create("subtract", (number, zeros), number.type)


def _parameters(
    build: Builder, numbers: Sequence[float], axis: int | None, like: SSAValue
) -> SSAValue:
    """A constant that broadcasts against a tensor."""
    shape = [1] * len(value_shape(like))
    if axis is not None:
        shape[axis] = len(numbers)
    return build.create_numbers(numbers, tensor_of(f32, shape))


# --- Stablehlo legalize quant to math -------------------------------------------------------------


@dataclass(frozen=True)
class StableHLOLegalizeQuantToMathPass(ModulePass):
    """Compute with integers in place of quantized tensors."""

    name = "stablehlo-legalize-quant-to-math"
    title = "StableHLOLegalizeQuantToMath"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Rewrite what computes, then give all other values their storage types."""
        _Legalization().apply(module)


class _QuantizedElement:
    """Integers that stand for numbers, for `ElementRewrite`."""

    def __init__(self, uniform: Uniform) -> None:
        self.uniform = uniform
        self.stored: Attribute = uniform.storage
        self.computed: Attribute = uniform.expressed
        self.key = (uniform.kind, uniform.scales, uniform.zeros)

    def widen(self, build: Builder, value: SSAValue) -> SSAValue:
        """The numbers that integers stand for."""
        return dequantize(build, value, self.uniform)

    def narrow(self, build: Builder, value: SSAValue) -> SSAValue:
        """The integers that stand for numbers."""
        return quantize(build, value, self.uniform)


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

    def multiply(self, op: Operation) -> None:
        """A sum of products: of the integers without their zero points."""
        lhs, rhs, uniform = (
            None if (found := self.element(value)) is None else found.uniform
            for value in (*op.operands, *op.results)
        )
        if lhs is None or rhs is None or uniform is None or lhs.axis is not None:
            self.compute(op)
            return
        build = Builder.before(op)
        factors = [
            shift(build, value, each) for value, each in zip(op.operands, (lhs, rhs), strict=True)
        ]
        element = element_type(factors[0])
        factors = [
            build.cast(value, element if lhs.width == rhs.width else f32) for value in factors
        ]
        clone = type(op).create(
            operands=factors,
            result_types=[tensor_of(f32, value_shape(op.results[0]))],
            properties=op.properties,
            attributes=op.attributes,
            location=op.location,
        )
        insert_before(op, clone)
        axis = None if rhs.axis is None else _result_axis(op, rhs.axis)
        build = Builder.before(op)
        products = [lhs.scales[0] * each for each in rhs.scales]
        if uniform.axis in (None, axis):
            ratio = [
                product / uniform.scales[index if uniform.axis is not None else 0]
                for index, product in enumerate(products)
            ]
            value = scale(build, clone.results[0], ratio, axis)
            self.replace(op, [round_to_integers(build, value, uniform)])
            return
        value = scale(build, clone.results[0], products, axis)
        self.replace(op, [quantize(build, value, uniform)])


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
            "give one for each place of a dimension",
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
    "stablehlo.convolution": _Legalization.multiply,
    "stablehlo.dot": _Legalization.multiply,
    "stablehlo.dot_general": _Legalization.multiply,
    "stablehlo.uniform_dequantize": _Legalization.dequantize,
    "stablehlo.uniform_quantize": _Legalization.quantize,
}
"""What becomes of operations that are not computed with numbers and rounded."""

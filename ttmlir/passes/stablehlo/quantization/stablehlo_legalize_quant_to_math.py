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

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import FunctionType, TensorType, f32

from ttmlir.dialects.quant import Uniform, uniform_of
from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import insert_before, refuse_to_legalize, replace
from ttmlir.ir.tensor_types import element_type, shape_of, tensor_of, value_shape
from ttmlir.mlir.xdsl_internals import retype
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.stablehlo.quantization.uniform_arithmetic import (
    dequantize,
    quantize,
    round_to_integers,
    scale,
    shift,
)
from ttmlir.passes.stablehlo.stablehlo_bodies import combiners

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Block, Operation, SSAValue

    from ttmlir.dialects.stablehlo.attrs import ConvDimensionNumbersAttr, DotDimensionNumbersAttr


@dataclass(frozen=True)
class StableHLOLegalizeQuantToMathPass(ModulePass):
    """Compute with integers in place of quantized tensors."""

    name = "stablehlo-legalize-quant-to-math"
    title = "StableHLOLegalizeQuantToMath"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Rewrite what computes, then give all other values their storage types."""
        legalization = _Legalization()
        for op in module.ops:
            for region in op.regions:
                for block in region.blocks:
                    legalization.visit(block)
        for op in module.walk():
            _store(op)


def _store(op: Operation) -> None:
    """Give the values and the signature of an operation their storage types."""
    for value in (*op.results, *(arg for r in op.regions for b in r.blocks for arg in b.args)):
        retype(value, _stored(value.type))
    type_ = op.properties.get("function_type")
    if isinstance(type_, FunctionType):
        op.properties["function_type"] = FunctionType.from_lists(
            [_stored(each) for each in type_.inputs], [_stored(each) for each in type_.outputs]
        )


def _stored(type_: Attribute) -> Attribute:
    uniform = _uniform_of_tensor(type_)
    return type_ if uniform is None else tensor_of(uniform.storage, shape_of(type_))


def _expressed(type_: Attribute) -> Attribute:
    uniform = _uniform_of_tensor(type_)
    return type_ if uniform is None else tensor_of(uniform.expressed, shape_of(type_))


def _uniform_of_tensor(type_: Attribute) -> Uniform | None:
    if not isinstance(type_, TensorType):
        return None
    return uniform_of(cast("TensorType[Attribute]", type_).element_type)


class _Legalization:
    """What the integers of a function stand for."""

    def __init__(self) -> None:
        self._uniforms: dict[SSAValue, Uniform] = {}

    def visit(self, block: Block) -> None:
        """Rewrite the operations of a block, and those of the loops and branches in it."""
        for op in block.ops:
            if op.name in _CONTROL or op.name.startswith("func."):
                for region in op.regions:
                    for inner in region.blocks:
                        self.visit(inner)
            elif any(map(self._uniform, (*op.operands, *op.results))):
                self._rewrite(op)

    def _uniform(self, value: SSAValue) -> Uniform | None:
        return self._uniforms.get(value) or _uniform_of_tensor(value.type)

    def _rewrite(self, op: Operation) -> None:
        if op.name == "stablehlo.constant":
            return
        for value in (*op.operands, *op.results):
            self._check_axis(op, value)
        if self._moves(op):
            return
        rule = _RULES.get(op.name, _Legalization.compute)
        rule(self, op)

    def _check_axis(self, op: Operation, value: SSAValue) -> None:
        uniform = _uniform_of_tensor(value.type)
        if uniform is None or uniform.axis is None:
            return
        shape = value_shape(value)
        if uniform.axis >= len(shape) or shape[uniform.axis] != len(uniform.scales):
            refuse_to_legalize(
                op,
                f"{value.type} has {len(uniform.scales)} scales along dimension {uniform.axis}; "
                "give one for each place of a dimension",
            )

    def _moves(self, op: Operation) -> bool:
        """True if the operation does with integers what it does with what they stand for."""
        found = [self._uniform(value) for value in (*op.operands, *op.results)]
        kinds = {(each.kind, each.scales, each.zeros) for each in found if each is not None}
        if len(kinds) != 1:
            return False
        if op.name in _REDUCTIONS:
            rows = combiners(op.regions[0]) or ()
            return bool(rows) and all(row.mnemonic in ("maximum", "minimum") for row in rows)
        return op.name in (*_MOVES, *_KEEPS_ORDER)

    def _replace(self, op: Operation, values: Iterable[SSAValue]) -> None:
        """Replace results; new values that stand for others are remembered."""
        new = list(values)
        for result, value in zip(op.results, new, strict=True):
            if (uniform := _uniform_of_tensor(result.type)) is not None:
                self._uniforms[value] = uniform
        replace(op, *new)

    # -- rules ---------------------------------------------------------------------------------

    def compute(self, op: Operation) -> None:
        """Compute with the numbers, and round."""
        build = Builder.before(op)
        operands = [self._number(build, value) for value in op.operands]
        clone = op.clone()
        clone.operands = operands
        clone.location = op.location
        for inner in clone.walk():
            arguments = (arg for r in inner.regions for b in r.blocks for arg in b.args)
            for value in (*inner.results, *arguments):
                retype(value, _expressed(value.type))
        insert_before(op, clone)
        build = Builder.before(op)
        self._replace(
            op,
            [
                self._quantized(build, value, result)
                for value, result in zip(clone.results, op.results, strict=True)
            ],
        )

    def _number(self, build: Builder, value: SSAValue) -> SSAValue:
        uniform = self._uniform(value)
        return value if uniform is None else dequantize(build, value, uniform)

    def _quantized(self, build: Builder, value: SSAValue, result: SSAValue) -> SSAValue:
        uniform = _uniform_of_tensor(result.type)
        return value if uniform is None else quantize(build, value, uniform)

    def quantize(self, op: Operation) -> None:
        """Integers from numbers, or from integers with other scales."""
        build, [operand], [result] = Builder.before(op), op.operands, op.results
        self._replace(op, [self._quantized(build, self._number(build, operand), result)])

    def dequantize(self, op: Operation) -> None:
        """The numbers."""
        self._replace(op, [self._number(Builder.before(op), op.operands[0])])

    def multiply(self, op: Operation) -> None:
        """A sum of products: of the integers without their zero points."""
        lhs, rhs = (self._uniform(value) for value in op.operands)
        uniform = _uniform_of_tensor(op.results[0].type)
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
            self._replace(op, [round_to_integers(build, value, uniform)])
            return
        value = scale(build, clone.results[0], products, axis)
        self._replace(op, [quantize(build, value, uniform)])


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


_CONTROL = ("stablehlo.case", "stablehlo.if", "stablehlo.return", "stablehlo.while")
_MOVES = tuple(
    f"stablehlo.{name}"
    for name in (
        *("broadcast", "broadcast_in_dim", "concatenate", "dynamic_broadcast_in_dim"),
        *("dynamic_gather", "dynamic_pad", "dynamic_reshape", "dynamic_slice"),
        *("dynamic_update_slice", "gather", "optimization_barrier", "pad", "real_dynamic_slice"),
        *("reshape", "reverse", "select", "slice", "transpose"),
    )
)
_KEEPS_ORDER = ("stablehlo.clamp", "stablehlo.maximum", "stablehlo.minimum")
_REDUCTIONS = ("stablehlo.reduce", "stablehlo.reduce_window")

_RULES: dict[str, Callable[[_Legalization, Operation], None]] = {
    "stablehlo.convolution": _Legalization.multiply,
    "stablehlo.dot": _Legalization.multiply,
    "stablehlo.dot_general": _Legalization.multiply,
    "stablehlo.uniform_dequantize": _Legalization.dequantize,
    "stablehlo.uniform_quantize": _Legalization.quantize,
}
"""What becomes of operations that are not computed with numbers and rounded."""

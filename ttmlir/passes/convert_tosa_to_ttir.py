"""Turn tosa operations into ttir operations.

Each operation gets a `tensor.empty` as destination and accepts tiled device layouts for all its
operands. The elementwise operations that ttir has too, and constants, can be converted.

Before:

    func.func @difference(%a: tensor<33x70xf32>, %b: tensor<1x70xf32>) -> tensor<33x70xi1> {
      %0 = tosa.sub %a, %b : (tensor<33x70xf32>, tensor<1x70xf32>) -> tensor<33x70xf32>
      %1 = tosa.greater_equal %0, %b : (tensor<33x70xf32>, tensor<1x70xf32>) -> tensor<33x70xi1>
      return %1 : tensor<33x70xi1>
    }

After:

    #any_device_tile = #tt.operand_constraint<dram|l1|tile|...>
    module {
      func.func @difference(%arg0: tensor<33x70xf32>, %arg1: tensor<1x70xf32>)
          -> tensor<33x70xi1> {
        %0 = tensor.empty() : tensor<33x70xf32>
        %1 = "ttir.subtract"(%arg0, %arg1, %0) <{operandSegmentSizes = array<i32: 2, 1>,
            operand_constraints = [#any_device_tile, #any_device_tile, #any_device_tile]}>
            : (tensor<33x70xf32>, tensor<1x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
        %2 = tensor.empty() : tensor<33x70xi1>
        %3 = "ttir.ge"(%1, %arg1, %2) <{operandSegmentSizes = array<i32: 2, 1>,
            operand_constraints = [#any_device_tile, #any_device_tile, #any_device_tile]}>
            : (tensor<33x70xf32>, tensor<1x70xf32>, tensor<33x70xi1>) -> tensor<33x70xi1>
        return %3 : tensor<33x70xi1>
      }
    }

Requires: static shapes.
Ensures: nothing but ttir, func, `tensor.empty` and the module is left; types do not change.
Options: none.
Not done here: shifts of products (`tosa.mul` with a shift other than 0) and casts that round to the
nearest integer are refused, since ttir has no operation that computes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    Signedness,
    TensorType,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.comparisons import signed_value_range, unsigned_value_range

from ttmlir.dialects import ttir
from ttmlir.mlir.floats import exact_float32
from ttmlir.passes.base import ModulePass
from ttmlir.passes.layouts import value_shape
from ttmlir.passes.rewriting import refuse_to_legalize, replace
from ttmlir.passes.ttir_building import built, built_constant, check_static_shape, element_type
from ttmlir.passes.ttir_conversion import Rule, becomes, convert_inside, refuse_unknown

if TYPE_CHECKING:
    from xdsl.context import Context


@dataclass(frozen=True)
class ConvertTosaToTTIRPass(ModulePass):
    """Turn tosa operations into ttir operations."""

    name = "convert-tosa-to-ttir"
    title = "ConvertTosaToTTIR"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert everything inside the module."""
        convert_inside(module, CONVERTED, _refuse_operation)


def _refuse_operation(op: Operation) -> None:
    refuse_unknown(op, ConvertTosaToTTIRPass.name, CONVERTED)


def _bits(mnemonic: str) -> Rule:
    """The rule of an operation on bits, which tosa lets pass on floating point numbers."""
    convert = becomes(mnemonic)

    def rule(op: Operation) -> None:
        element = element_type(op.operands[0])
        if not isinstance(element, IntegerType):
            refuse_to_legalize(
                op, f"its operands are {element}, but operations on bits take integers"
            )
        convert(op)

    return rule


def _cast(op: Operation) -> None:
    source, target = element_type(op.operands[0]), element_type(op.results[0])
    if isinstance(source, AnyFloat) and isinstance(target, IntegerType) and target != i1:
        # A typecast rounds toward zero, which is the same where there is nothing to round.
        if not isinstance(op.operands[0].owner, (ttir.op_class("floor"), ttir.op_class("ceil"))):
            refuse_to_legalize(
                op,
                f"it rounds {source} to the nearest {target}, but ttir rounds toward zero; "
                "supported are casts to floating point types and i1, casts of integers, and casts "
                "of the result of tosa.floor or tosa.ceil",
            )
    becomes("typecast")(op)


def _clamp(op: Operation) -> None:
    element = element_type(op.operands[0])
    if isinstance(element, IntegerType):
        low, high = _integer_bounds(op, cast("IntegerType", element))
    else:
        low, high = (_bound(op, name, _number(op, name)) for name in ("min_fp", "max_fp"))
    replace(op, built(op, "clamp", op.operands, op.results[0].type, min=low, max=high))


def _integer_bounds(op: Operation, element: IntegerType) -> tuple[float, float]:
    is_unsigned = element.signedness.data is Signedness.UNSIGNED
    value_range = unsigned_value_range if is_unsigned else signed_value_range
    first, end = value_range(element.width.data)
    low, high = _number(op, "min_int"), _number(op, "max_int")
    # f32 does not hold the largest 32-bit integer, but the next number, which bounds as well.
    high = end if high >= end - 1 else high
    return _bound(op, "min_int", max(low, first)), _bound(op, "max_int", high)


def _number(op: Operation, name: str) -> float:
    return cast("FloatAttr | IntegerAttr", op.properties[name]).value.data


def _bound(op: Operation, name: str, value: float) -> float:
    bound = exact_float32(value)
    if bound is None:
        refuse_to_legalize(
            op, f"{name} is {value}, but the bounds of ttir.clamp are numbers that f32 holds"
        )
    return bound


def _const(op: Operation) -> None:
    replace(op, built_constant(op, op.properties["value"], op.results[0].type))


def _mul(op: Operation) -> None:
    if shift := _number(op, "shift"):
        refuse_to_legalize(op, f"it shifts the product by {shift} bits; supported is a shift of 0")
    # tosa multiplies narrow integers to wide ones.
    element = element_type(op.results[0])
    factors = [_widened(op, factor, element) for factor in op.operands]
    replace(op, built(op, "multiply", factors, op.results[0].type))


def _widened(op: Operation, factor: SSAValue, element: Attribute) -> SSAValue:
    """An operand of `op`, converted to an element type."""
    if element_type(factor) == element:
        return factor
    check_static_shape(op, factor.type)
    wide = TensorType(element, value_shape(factor))
    return built(op, "typecast", [factor], wide)


CONVERTED: dict[str, Rule] = {
    f"tosa.{mnemonic}": rule
    for mnemonic, rule in {
        "abs": becomes("abs"),
        "add": becomes("add"),
        "bitwise_and": _bits("bitwise_and"),
        "bitwise_not": _bits("bitwise_not"),
        "bitwise_or": _bits("bitwise_or"),
        "bitwise_xor": _bits("bitwise_xor"),
        "cast": _cast,
        "ceil": becomes("ceil"),
        "clamp": _clamp,
        "const": _const,
        "cos": becomes("cos"),
        "equal": becomes("eq"),
        "erf": becomes("erf"),
        "exp": becomes("exp"),
        "floor": becomes("floor"),
        "greater": becomes("gt"),
        "greater_equal": becomes("ge"),
        "int_div": becomes("div"),
        "log": becomes("log"),
        "logical_and": becomes("logical_and"),
        "logical_not": becomes("logical_not"),
        "logical_or": becomes("logical_or"),
        "logical_xor": becomes("logical_xor"),
        "maximum": becomes("maximum"),
        "minimum": becomes("minimum"),
        "mul": _mul,
        "negate": becomes("neg"),
        "pow": becomes("pow"),
        "reciprocal": becomes("reciprocal"),
        "rsqrt": becomes("rsqrt"),
        "select": becomes("where"),
        "sigmoid": becomes("sigmoid"),
        "sin": becomes("sin"),
        "sub": becomes("subtract"),
        "tanh": becomes("tanh"),
    }.items()
}
"""What becomes of each operation of tosa that can be converted."""

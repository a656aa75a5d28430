"""Turn tosa operations into ttir operations.

Each operation gets a `tensor.empty` as destination and accepts tiled device layouts for all its
operands. Constants that only tell how to move elements vanish.

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
Not done here: numbers that are quantized (shifts of products, zero points other than 0, tables,
rescaling), regions and variables, Fourier transforms and resizing are refused.
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
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.comparisons import signed_value_range, unsigned_value_range

from ttmlir.dialects.definition.narrowing import warn_of_narrowing
from ttmlir.ir.builder import Builder
from ttmlir.ir.constants import constant_numbers
from ttmlir.ir.rewriting import erase_unused, refuse_to_legalize, replace
from ttmlir.ir.tensor_types import check_static_shape, element_type
from ttmlir.mlir.attributes.floats import exact_float32
from ttmlir.optable import named_in
from ttmlir.optable.row import Row
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.core.ttir_conversion import (
    ConversionRule,
    becomes,
    convert_inside,
    refuse_unknown,
)
from ttmlir.passes.tosa.convert_tosa_to_ttir_tensors import RULES, check_nan_mode, check_zero_points
from ttmlir.passes.tosa.tosa_shapes import check_shapes

if TYPE_CHECKING:
    from xdsl.context import Context


@dataclass(frozen=True)
class ConvertTosaToTTIRPass(ModulePass):
    """Turn tosa operations into ttir operations."""

    name = "convert-tosa-to-ttir"
    title = "ConvertTosaToTTIR"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert everything inside the module."""
        convert_inside(module, _CHECKED, _refuse_operation)
        constants = ("tosa.const_shape", "ttir.constant")
        erase_unused(op for op in module.walk() if op.name in constants)
        warn_of_narrowing(module)


def _checked(rule: ConversionRule) -> ConversionRule:
    """The rule, for operations whose shapes fit."""

    def checked(op: Operation) -> None:
        check_shapes(op)
        rule(op)

    return checked


def _refuse_operation(op: Operation) -> None:
    refuse_unknown(op, ConvertTosaToTTIRPass.name, CONVERTED)


def _elementwise(row: Row) -> ConversionRule:
    """The rule of an operation that means what a row means."""
    convert = becomes(row.mnemonic)

    def rule(op: Operation) -> None:
        check_nan_mode(op)
        # tosa lets operations on bits pass on floating point numbers.
        element = element_type(op.operands[0])
        if row.takes_bits and not isinstance(element, IntegerType):
            refuse_to_legalize(
                op, f"its operands are {element}, but operations on bits take integers"
            )
        convert(op)

    return rule


_ELEMENTWISE = {name: row for name, row in named_in("tosa").items() if row.family.is_elementwise}


def _cast(op: Operation) -> None:
    builder = Builder.before(op)
    source, target = element_type(op.operands[0]), element_type(op.results[0])
    operands = list(op.operands)
    if isinstance(source, AnyFloat) and isinstance(target, IntegerType) and target != i1:
        # A typecast rounds toward zero, a cast to the nearest integer.
        operands = [builder.create("round", operands, operands[0].type)]
    replace(op, builder.create("typecast", operands, op.results[0].type))


def _clamp(op: Operation) -> None:
    builder = Builder.before(op)
    check_nan_mode(op)
    element = element_type(op.operands[0])
    later = "min_val" in op.properties
    if isinstance(element, IntegerType):
        names = ("min_val", "max_val") if later else ("min_int", "max_int")
        low, high = _integer_bounds(op, cast("IntegerType", element), names)
    else:
        names = ("min_val", "max_val") if later else ("min_fp", "max_fp")
        low, high = (_bound(op, name, _number(op, name)) for name in names)
    replace(op, builder.create("clamp", op.operands, op.results[0].type, min=low, max=high))


def _integer_bounds(
    op: Operation, element: IntegerType, names: tuple[str, str]
) -> tuple[float, float]:
    is_unsigned = element.signedness.data is Signedness.UNSIGNED
    value_range = unsigned_value_range if is_unsigned else signed_value_range
    first, end = value_range(element.width.data)
    low, high = (_number(op, name) for name in names)
    # f32 does not hold the largest 32-bit integer, but the next number, which bounds as well.
    high = end if high >= end - 1 else high
    return _bound(op, names[0], max(low, first)), _bound(op, names[1], high)


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
    builder = Builder.before(op)
    value = op.properties.get("value", op.properties.get("values"))
    assert value is not None, "a constant has a value"
    replace(op, builder.create_constant(value, op.results[0].type))


def _keep(op: Operation) -> None:
    """Leave an operation until its users are converted."""


def _mul(op: Operation) -> None:
    builder = Builder.before(op)
    shift = (_number(op, "shift"),) if "shift" in op.properties else _constant_shift(op)
    if any(shift):
        refuse_to_legalize(
            op, f"it shifts the product by {int(shift[0])} bits; supported is a shift of 0"
        )
    # tosa multiplies narrow integers to wide ones.
    element = element_type(op.results[0])
    factors = [_widen(op, factor, element) for factor in op.operands[:2]]
    replace(op, builder.create("multiply", factors, op.results[0].type))


def _constant_shift(op: Operation) -> tuple[float, ...]:
    shift = constant_numbers(op.operands[2])
    if shift is None:
        refuse_to_legalize(op, "it shifts the product by a computed number; supported is 0")
    return shift


def _widen(op: Operation, factor: SSAValue, element: Attribute) -> SSAValue:
    """An operand of `op`, converted to an element type."""
    builder = Builder.before(op)
    check_static_shape(op, factor.type)
    return builder.cast(factor, element)


def _negate(op: Operation) -> None:
    builder = Builder.before(op)
    check_zero_points(op, 1)
    replace(op, builder.create("neg", op.operands[:1], op.results[0].type))


def _right_shift(op: Operation) -> None:
    builder = Builder.before(op)
    if cast("IntegerAttr", op.properties["round"]).value.data:
        refuse_to_legalize(op, "it rounds; supported is round = false")
    replace(op, builder.create("right_shift", op.operands, op.results[0].type))


def _identity(op: Operation) -> None:
    replace(op, op.operands[0])


CONVERTED: dict[str, ConversionRule] = {
    **{name: _elementwise(row) for name, row in _ELEMENTWISE.items()},
    **RULES,
    "tosa.arithmetic_right_shift": _right_shift,
    "tosa.cast": _cast,
    "tosa.clamp": _clamp,
    "tosa.const": _const,
    "tosa.const_shape": _keep,
    "tosa.identity": _identity,
    "tosa.mul": _mul,
    "tosa.negate": _negate,
}
"""What becomes of each operation of tosa that can be converted."""

_CHECKED = {name: _checked(rule) for name, rule in CONVERTED.items()}

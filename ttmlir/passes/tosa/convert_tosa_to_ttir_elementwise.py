"""Rules of tosa's elementwise operations, for `convert-tosa-to-ttir`.

Most mean what one row of the operation table means; here are those that depend on an attribute or
the element type.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType, i1
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.ir.builder import Builder
from ttmlir.ir.constants import constant_numbers
from ttmlir.ir.rewriting import refuse_to_legalize, replace
from ttmlir.ir.tensor_types import check_static_shape, element_type, limits_of
from ttmlir.mlir.attributes.floats import exact_float32
from ttmlir.optable import named_in
from ttmlir.optable.row import Row
from ttmlir.passes.core.ttir_conversion import ConversionRule, becomes
from ttmlir.passes.tosa.tosa_operands import check_nan_mode, check_zero_points


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
        low, high = _integer_bounds(op, names)
    else:
        names = ("min_val", "max_val") if later else ("min_fp", "max_fp")
        low, high = (_bound(op, name, _number(op, name)) for name in names)
    replace(op, builder.create("clamp", op.operands, op.results[0].type, min=low, max=high))


def _integer_bounds(op: Operation, names: tuple[str, str]) -> tuple[float, float]:
    lowest, highest = limits_of(element_type(op.operands[0]))
    low, high = (_number(op, name) for name in names)
    # f32 does not hold the largest 32-bit integer, but the next number, which bounds as well.
    high = highest + 1 if high >= highest else high
    return _bound(op, names[0], max(low, lowest)), _bound(op, names[1], high)


def _number(op: Operation, name: str) -> float:
    return cast("FloatAttr | IntegerAttr", op.properties[name]).value.data


def _bound(op: Operation, name: str, value: float) -> float:
    bound = exact_float32(value)
    if bound is None:
        refuse_to_legalize(
            op, f"{name} is {value}, but the bounds of ttir.clamp are numbers that f32 holds"
        )
    return bound


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


RULES: dict[str, ConversionRule] = {
    **{
        name: _elementwise(row)
        for name, row in named_in("tosa").items()
        if row.family.is_elementwise
    },
    "tosa.arithmetic_right_shift": _right_shift,
    "tosa.cast": _cast,
    "tosa.clamp": _clamp,
    "tosa.mul": _mul,
    "tosa.negate": _negate,
}
"""Rules by the full name of the operation."""

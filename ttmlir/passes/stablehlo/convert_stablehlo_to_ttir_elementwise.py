"""Rules of StableHLO's elementwise operations, for `convert-stablehlo-to-ttir`.

Most operations mean what one row of the operation table means; here are those that depend on an
attribute or the element type, and those that several rows make up.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    IntegerAttr,
    IntegerType,
    Signedness,
    TensorType,
    bf16,
    f16,
    f32,
    i1,
)
from xdsl.ir import Attribute, Data, Operation, SSAValue

from ttmlir.ir.builder import Builder
from ttmlir.ir.constants import splat_number
from ttmlir.ir.rewriting import refuse_to_legalize, replace
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.mlir.attributes import exact_float32
from ttmlir.optable import COMPARISONS, named_in, named_on_truth
from ttmlir.passes.core.ttir_conversion import ConversionRule, becomes


def _on_booleans(name: str) -> ConversionRule:
    """The rule of an operation on truth values where the elements are i1, on bits else."""
    of_booleans, of_bits = (becomes(table[name].mnemonic) for table in (_ON_TRUTH, _NAMED))

    def rule(op: Operation) -> None:
        (of_booleans if element_type(op.operands[0]) == i1 else of_bits)(op)

    return rule


_NAMED = named_in("stablehlo", "chlo")
_ON_TRUTH = named_on_truth("stablehlo", "chlo")


def _with_element(value: SSAValue, element: Attribute) -> TensorType[Attribute]:
    return TensorType(element, value_shape(value))


def _bitcast_convert(op: Operation) -> None:
    if value_shape(op.operands[0]) != value_shape(op.results[0]):
        refuse_to_legalize(
            op,
            "bits of one number cannot become several, or those of several one; supported are "
            "types of the same width",
        )
    becomes("bitcast_convert")(op)


def _compare(op: Operation) -> None:
    builder = Builder.before(op)
    direction = cast("Data[str]", op.properties["comparison_direction"]).data
    kind = op.properties.get("compare_type")
    operands = list(op.operands)
    is_float = isinstance(element_type(operands[0]), AnyFloat)
    if is_float and kind is not None and cast("Data[str]", kind).data == "TOTALORDER":
        operands = [in_total_order(builder, operand) for operand in operands]
    replace(op, builder.create(COMPARISONS[direction].mnemonic, operands, op.results[0].type))


def in_total_order(builder: Builder, value: SSAValue) -> SSAValue:
    """Integers in the order in which -0 is less than 0 and NaN has a place at both ends.

    The bits of a float without its sign are in the order of the numbers; those of negative ones
    are turned round.
    """
    width = 8 * cast("AnyFloat", element_type(value)).size
    integer = IntegerType(width)
    type_ = _with_element(value, integer)
    bits = builder.create("bitcast_convert", [value], type_)
    sign = builder.create("right_shift", [bits, builder.create_scalar(width - 1, integer)], type_)
    below = builder.create("logical_right_shift", [sign, builder.create_scalar(1, integer)], type_)
    return builder.create("bitwise_xor", [bits, below], type_)


def _clamp(op: Operation) -> None:
    builder = Builder.before(op)
    low, operand, high = op.operands
    type_ = op.results[0].type
    if isinstance(element_type(operand), AnyFloat):
        bounds = [splat_number(bound) for bound in (low, high)]
        exact = [None if bound is None else exact_float32(bound) for bound in bounds]
        # The limits of ttir.clamp are no NaN, which would make all numbers NaN.
        if exact[0] is not None and exact[1] is not None and exact[0] <= exact[1]:
            replace(op, builder.create("clamp", [operand], type_, min=exact[0], max=exact[1]))
            return
    above = builder.create("maximum", [operand, low], type_)
    replace(op, builder.create("minimum", [above, high], type_))


def _convert(op: Operation) -> None:
    """JAX also converts to the type that an operand has already."""
    (value,) = op.operands
    if value.type == op.results[0].type:
        replace(op, value)
    else:
        becomes("typecast")(op)


def _round_nearest_afz(op: Operation) -> None:
    """The integer part, and one step further from 0 where half a step or more is left."""
    builder = Builder.before(op)
    (x,) = op.operands
    type_ = op.results[0].type
    part = builder.create("trunc", [x], type_)
    rest = builder.create("abs", [builder.create("subtract", [x, part], type_)], type_)
    half = builder.create_scalar(0.5, element_type(x))
    is_far = builder.create("ge", [rest, half], _with_element(x, i1))
    further = builder.create("add", [part, builder.create("sign", [x], type_)], type_)
    replace(op, builder.create("where", [is_far, further, part], type_))


def _shift_right_arithmetic(op: Operation) -> None:
    """ttir's shift lets the sign of the type follow; StableHLO's always the highest bit."""
    builder = Builder.before(op)
    element = cast("IntegerType", element_type(op.operands[0]))
    if element.signedness.data is Signedness.UNSIGNED:
        signed = _with_element(op.operands[0], IntegerType(element.width.data))
        operands = [builder.create("typecast", [value], signed) for value in op.operands]
        shifted = builder.create("right_shift", operands, signed)
        replace(op, builder.create("typecast", [shifted], op.results[0].type))
        return
    becomes("right_shift")(op)


# Exponent and mantissa bits of the formats that numbers can be rounded to.
PRECISIONS = {(5, 10): f16, (8, 7): bf16, (8, 23): f32}
OWN_BITS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}


def _reduce_precision(op: Operation) -> None:
    builder = Builder.before(op)
    (x,) = op.operands
    asked = tuple(
        cast("IntegerAttr", op.properties[name]).value.data
        for name in ("exponent_bits", "mantissa_bits")
    )
    own = OWN_BITS.get(element_type(x).name)
    if own is not None and asked[0] >= own[0] and asked[1] >= own[1]:
        replace(op, x)
        return
    narrow = PRECISIONS.get((asked[0], asked[1]))
    if narrow is None:
        refuse_to_legalize(
            op,
            f"numbers of {asked[0]} exponent and {asked[1]} mantissa bits have no type; supported "
            "are 5 and 10 (f16), 8 and 7 (bf16), 8 and 23 (f32), and the bits of the operand's "
            "own type or more",
        )
    rounded = builder.create("typecast", [x], _with_element(x, narrow))
    replace(op, builder.create("typecast", [rounded], op.results[0].type))


def _is_infinite(op: Operation) -> None:
    builder = Builder.before(op)
    (x,) = op.operands
    infinity = builder.create_scalar(float("inf"), element_type(x))
    size = builder.create("abs", [x], x.type)
    replace(op, builder.create("eq", [size, infinity], op.results[0].type))


def _is_infinity(number: float) -> ConversionRule:
    def rule(op: Operation) -> None:
        builder = Builder.before(op)
        infinity = builder.create_scalar(number, element_type(op.operands[0]))
        replace(op, builder.create("eq", [op.operands[0], infinity], op.results[0].type))

    return rule


RULES: dict[str, ConversionRule] = {
    **{name: becomes(row.mnemonic) for name, row in _NAMED.items()},
    **{name: _on_booleans(name) for name in _ON_TRUTH},
    "stablehlo.bitcast_convert": _bitcast_convert,
    "stablehlo.clamp": _clamp,
    "stablehlo.compare": _compare,
    "stablehlo.convert": _convert,
    "stablehlo.reduce_precision": _reduce_precision,
    "stablehlo.round_nearest_afz": _round_nearest_afz,
    "stablehlo.shift_right_arithmetic": _shift_right_arithmetic,
    "chlo.is_inf": _is_infinite,
    "chlo.is_neg_inf": _is_infinity(float("-inf")),
    "chlo.is_pos_inf": _is_infinity(float("inf")),
}
"""Rules by the full name of the operation."""

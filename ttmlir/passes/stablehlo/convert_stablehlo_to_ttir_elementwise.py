"""What StableHLO's elementwise operations compute, on arrays, for `convert-stablehlo-to-ttir`.

Most operations mean what one definition of the operation table means; here are those that depend on
an attribute or the element type, and those that several definitions make up.
"""

from __future__ import annotations

import math
from functools import partial
from typing import cast

from xdsl.dialects.builtin import AnyFloat, IntegerAttr, bf16, f16
from xdsl.ir import Data, Operation, SSAValue

from ttmlir.arrays.array import TRUTH, Array
from ttmlir.composites.bits import (
    FORMAT_BITS,
    count_bits,
    count_leading_zeros,
    in_total_order,
    round_half_away,
    width_of,
)
from ttmlir.dialects.quant import UniformType
from ttmlir.ir.builder import Builder, TTIRCarrier, array_in
from ttmlir.ir.constants import constant_elements, splat_number
from ttmlir.ir.rewriting import refuse_to_legalize, replace
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.mlir.attributes import bits_of, exact_float32, value_of
from ttmlir.optable import COMPARISONS, named_in, named_on_truth
from ttmlir.passes.core.ttir_conversion import (
    ArrayFunction,
    ConversionRule,
    becomes,
    computes,
    create_result,
    means,
    result_dtype,
)

_NAMED = named_in("stablehlo", "chlo")
_ON_TRUTH = named_on_truth("stablehlo", "chlo")


def _on_booleans(name: str) -> ArrayFunction:
    """The function of an operation on truth values where the elements are i1, on bits else."""

    def function(op: Operation, *operands: Array) -> Array:
        table = _ON_TRUTH if operands[0].dtype == TRUTH else _NAMED
        return create_result(op, table[name].mnemonic, *operands)

    return function


def _bitcast_convert(op: Operation, x: Array) -> Array:
    if x.shape != value_shape(op.results[0]):
        refuse_to_legalize(
            op,
            "bits of one number cannot become several, or those of several one; supported are "
            "types of the same width",
        )
    return create_result(op, "bitcast_convert", x)


def _compare(op: Operation, *operands: Array) -> Array:
    direction = cast("Data[str]", op.properties["comparison_direction"]).data
    kind = op.properties.get("compare_type")
    a, b = operands
    if a.is_real and kind is not None and cast("Data[str]", kind).data == "TOTALORDER":
        a, b = in_total_order(a), in_total_order(b)
    return a.apply(COMPARISONS[direction].mnemonic, b)


def _clamp(op: Operation, low: Array, x: Array, high: Array) -> Array:
    if x.is_real:
        bounds = [splat_number(op.operands[number]) for number in (0, 2)]
        exact = [None if bound is None else exact_float32(bound) for bound in bounds]
        # The limits of ttir.clamp are no NaN, which would make all numbers NaN.
        if exact[0] is not None and exact[1] is not None and exact[0] <= exact[1]:
            return x.clamp(min=exact[0], max=exact[1])
    return x.maximum(low).minimum(high)


def _convert(op: Operation, x: Array) -> Array:
    """JAX also converts to the type that an operand has already."""
    return x.cast(result_dtype(op))


def _round_nearest_afz(op: Operation, x: Array) -> Array:
    return round_half_away(x)


def _shift_right_arithmetic(op: Operation, x: Array, distance: Array) -> Array:
    """ttir's shift lets the sign of the type follow; StableHLO's always the highest bit."""
    signed = x.dtype.removeprefix("u")
    operands = [each.cast(signed) for each in (x, distance)]
    return operands[0].right_shift(operands[1]).cast(x.dtype)


PRECISIONS = {FORMAT_BITS[dtype]: dtype for dtype in ("f16", "bf16", "f32")}
"""Types by the bits of their exponents and mantissas."""


def _reduce_precision(op: Operation, x: Array) -> Array:
    asked = tuple(
        cast("IntegerAttr", op.properties[name]).value.data
        for name in ("exponent_bits", "mantissa_bits")
    )
    own = FORMAT_BITS.get(x.dtype)
    if own is not None and asked[0] >= own[0] and asked[1] >= own[1]:
        return x
    narrow = PRECISIONS.get((asked[0], asked[1]))
    if narrow is None:
        refuse_to_legalize(
            op,
            f"numbers of {asked[0]} exponent and {asked[1]} mantissa bits have no type; supported "
            "are 5 and 10 (f16), 8 and 7 (bf16), 8 and 23 (f32), and the bits of the operand's "
            "own type or more",
        )
    rounded = x.cast(narrow).cast(x.dtype)
    if own is None or asked[0] >= own[0]:
        return rounded
    # The type has smaller numbers, without a full fraction; here they are 0, with a sign. Half a
    # step below the least number with one, numbers are rounded up to it.
    least = 2.0 ** (2 - (1 << (asked[0] - 1))) * (1 - 2.0 ** -(asked[1] + 2))
    return (x.abs() < least).where(x * 0.0, rounded)


def _is_infinite(op: Operation, x: Array) -> Array:
    infinity = x.fill(math.inf, ())
    return x.abs().eq(infinity)


def _is_infinity(number: float, op: Operation, x: Array) -> Array:
    return x.eq(number)


FUNCTIONS: dict[str, ArrayFunction] = {
    **{name: means(definition) for name, definition in _NAMED.items()},
    **{name: _on_booleans(name) for name in _ON_TRUTH},
    "stablehlo.bitcast_convert": _bitcast_convert,
    "stablehlo.clamp": _clamp,
    "stablehlo.compare": _compare,
    "stablehlo.convert": _convert,
    "stablehlo.reduce_precision": _reduce_precision,
    "stablehlo.round_nearest_afz": _round_nearest_afz,
    "stablehlo.shift_right_arithmetic": _shift_right_arithmetic,
    "chlo.is_inf": _is_infinite,
    "chlo.is_neg_inf": partial(_is_infinity, -math.inf),
    "chlo.is_pos_inf": partial(_is_infinity, math.inf),
}
"""Functions by the full name of the operation."""
RULES: dict[str, ConversionRule] = {name: computes(each) for name, each in FUNCTIONS.items()}
"""Rules by the full name of the operation."""


# -- 2026 --------------------------------------------------------------------------------------


def _late_compare(op: Operation, a: Array, b: Array) -> Array:
    direction = cast("Data[str]", op.properties["comparison_direction"]).data
    kind = op.properties.get("compare_type")
    if a.is_real and kind is not None and cast("Data[str]", kind).data == "TOTALORDER":
        a, b = _late_total_order(a), _late_total_order(b)
    elif (narrow := _narrowed(a, b)) is not None:
        a, b = narrow
    return create_result(op, COMPARISONS[direction].mnemonic, a, b)


def _narrowed(a: Array, b: Array) -> tuple[Array, Array] | None:
    """Operands of a comparison before the first was widened, if the second is such a number."""
    owner = cast("SSAValue", a.value).owner
    if not isinstance(owner, Operation) or owner.name != "ttir.typecast":
        return None
    carrier = cast("TTIRCarrier", a.carrier)
    before = array_in(carrier, owner.operands[0])
    elements = constant_elements(b.value)
    number = None if elements is None else splat_number(b.value)
    if number is None or before.dtype not in _NARROW or a.dtype not in ("f32", "f64"):
        return None
    if value_of(bits_of(number, _NARROW[before.dtype]), _NARROW[before.dtype]) != number:
        return None
    return before, before.fill(number, b.shape)


_NARROW: dict[str, AnyFloat] = {"bf16": bf16, "f16": f16}


def _late_total_order(x: Array) -> Array:
    """Integers in the order of the bits: those below the sign are turned where it is set."""
    bits = width_of(x.dtype)
    dtype = f"i{bits}"
    x = x.bitcast(dtype)
    sign = x.right_shift(x.fill(bits - 1, x.shape))
    return x ^ (sign & x.fill((1 << (bits - 1)) - 1, x.shape))


def _late_convert(op: Operation, x: Array) -> Array:
    """Truth chooses between numbers."""
    if x.dtype == TRUTH and result_dtype(op) != TRUTH:
        no, yes = (x.fill(number, x.shape, result_dtype(op)) for number in (0, 1))
        return create_result(op, "where", x, yes, no)
    return create_result(op, "typecast", x, conservative_folding=True)


def _late_negate(op: Operation, x: Array) -> Array:
    return x.fill(0, x.shape) - x if x.dtype.startswith("u") else create_result(op, "neg", x)


def _late_round_nearest_afz(op: Operation, x: Array) -> Array:
    half = x.fill(0.5, x.shape)
    size = (x.abs() + half).apply("floor")
    return x.apply("sign") * size


def _late_popcnt(op: Operation, x: Array) -> Array:
    return count_bits(x)


def _late_count_leading_zeros(op: Operation, x: Array) -> Array:
    return count_leading_zeros(x)


def _late_clamp(op: Operation, low: Array, x: Array, high: Array) -> Array:
    """Bounds are tensors, of the shape of all or of one element."""
    carrier = cast("TTIRCarrier", x.carrier)
    operands = [each.value for each in (x, low, high)]
    found = carrier.build.create("clamp_tensor", operands, op.results[0].type)
    return array_in(carrier, found)


def _late_shift_right_arithmetic(op: Operation, x: Array, distance: Array) -> Array:
    if x.dtype.startswith("u"):
        return _shift_right_arithmetic(op, x, distance)
    return create_result(op, "right_shift", x, distance)


def _late_reduce_precision(op: Operation) -> None:
    names = ("exponent_bits", "mantissa_bits")
    bits = {name: cast("IntegerAttr", op.properties[name]).value.data for name in names}
    builder = Builder.before(op)
    replace(op, builder.create("reduce_precision", op.operands, op.results[0].type, **bits))


def _late_quantize(op: Operation) -> None:
    is_quantized = isinstance(element_type(op.operands[0]), UniformType)
    becomes("requantize" if is_quantized else "quantize")(op)


LATE_RULES: dict[str, ConversionRule] = {
    "stablehlo.clamp": computes(_late_clamp),
    "stablehlo.compare": computes(_late_compare),
    "stablehlo.convert": computes(_late_convert),
    "stablehlo.count_leading_zeros": computes(_late_count_leading_zeros),
    "stablehlo.negate": computes(_late_negate),
    "stablehlo.popcnt": computes(_late_popcnt),
    "stablehlo.reduce_precision": _late_reduce_precision,
    "stablehlo.shift_right_arithmetic": computes(_late_shift_right_arithmetic),
    "stablehlo.uniform_dequantize": becomes("dequantize"),
    "stablehlo.uniform_quantize": _late_quantize,
    "stablehlo.round_nearest_afz": computes(_late_round_nearest_afz),
}
"""Rules of 2026, where they differ."""

"""Store complex numbers as pairs of real ones, the real part first, as tt-mlir of 2026 does.

Before:

    func.func @main(%a: tensor<3xcomplex<f32>>) -> tensor<3xf32> {
      %0 = stablehlo.negate %a : tensor<3xcomplex<f32>>
      %1 = stablehlo.imag %0 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
      return %1 : tensor<3xf32>
    }

After:

    module {
      func.func @main(%arg0: tensor<3x2xf32>) -> tensor<3xf32> {
        %0 = stablehlo.negate %arg0 : tensor<3x2xf32>
        %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
        %2 = stablehlo.slice %1 [1:2, 0:3] : (tensor<2x3xf32>) -> tensor<1x3xf32>
        %3 = stablehlo.reshape %2 : (tensor<1x3xf32>) -> tensor<3xf32>
        return %3 : tensor<3xf32>
      }
    }

Requires: static shapes.
Ensures: no complex tensors are left.
Options: none.
Not done here: operations that are neither moves nor arithmetic are refused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import ComplexType, TensorType, i1

from ttmlir.composites.bits import largest_number
from ttmlir.dialects.stablehlo.attrs import ComparisonDirectionAttr
from ttmlir.ir.rewriting import insert_before, refuse_to_legalize
from ttmlir.ir.stablehlo_arrays import StableHLOCarrier, i64_array
from ttmlir.ir.tensor_types import dtype_of, real_type, value_shape
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.stablehlo.pairs.pair_conversion import (
    MOVES,
    Converted,
    PairConversion,
    Rule,
    gather_pairs,
    join_parts,
    like,
    take_parts,
)
from ttmlir.passes.stablehlo.stablehlo_bodies import combiners

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation, SSAValue

    from ttmlir.arrays.array import Array


@dataclass(frozen=True)
class StableHLOComplexDataTypeConversionPass(ModulePass):
    """Store complex numbers as pairs of real ones."""

    name = "stablehlo-complex-data-type-conversion"
    title = "StableHLOComplexDataTypeConversionPass"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert all functions."""
        taken = sorted(name.removeprefix("stablehlo.") for name in (*MOVES, *_RULES))
        PairConversion(
            _part_of,
            _RULES,
            refusal=f"complex numbers are taken by {', '.join(taken)}; compute with real and "
            "imaginary parts",
        ).convert(module)


def _part_of(element: Attribute) -> Attribute | None:
    if not isinstance(element, ComplexType):
        return None
    return cast("ComplexType[Any]", element).element_type


def _like(conversion: PairConversion, op: Operation) -> Converted:
    return like(conversion, op)


def _parts(
    conversion: PairConversion, op: Operation
) -> tuple[StableHLOCarrier, list[list[SSAValue]]]:
    carrier = StableHLOCarrier.before(op)
    return carrier, [take_parts(carrier, each) for each in conversion.operands(op)]


def _complex(conversion: PairConversion, op: Operation) -> Converted:
    return [join_parts(StableHLOCarrier.before(op), *op.operands)]


def _part(which: int) -> Rule:
    def rule(conversion: PairConversion, op: Operation) -> Converted:
        carrier = StableHLOCarrier.before(op)
        return take_parts(carrier, conversion.pair(op.operands[0], op), (which,))

    return rule


def _bilinear(conversion: PairConversion, op: Operation) -> Converted:
    """Four real products."""
    carrier, [[real, imag], [real_2, imag_2]] = _parts(conversion, op)
    type_ = real_type(op.results[0].type)

    def multiply(a: SSAValue, b: SSAValue) -> Array:
        new = type(op).create(
            operands=[a, b],
            result_types=[type_],
            properties=op.properties,
            attributes=op.attributes,
            location=op.location,
        )
        insert_before(op, new)
        return carrier.wrap(new.results[0])

    reals, imags = multiply(real, real_2), multiply(imag, imag_2)
    mixed, mixed_2 = multiply(real, imag_2), multiply(imag, real_2)
    return [join_parts(carrier, (reals - imags).value, (mixed + mixed_2).value)]


def _divide(conversion: PairConversion, op: Operation) -> Converted:
    carrier, parts = _parts(conversion, op)
    (real, imag), (real_2, imag_2) = ([carrier.wrap(part) for part in pair] for pair in parts)
    first, second = real * real_2, imag * imag_2
    third, fourth = imag * real_2, real * imag_2
    square, square_2 = real_2 * real_2, imag_2 * imag_2
    size = square + square_2
    above, beside = first + second, third - fourth
    return [join_parts(carrier, (above / size).value, (beside / size).value)]


def _abs(conversion: PairConversion, op: Operation) -> Converted:
    """The larger part, times a root that does not overflow where the result does not."""
    carrier, [parts] = _parts(conversion, op)
    real, imag = (carrier.wrap(part).abs() for part in parts)
    large, small = real.apply("maximum", imag), real.apply("minimum", imag)
    shape, most = large.shape, largest_number(large.dtype)

    def compare(direction: str, a: Array, b: Array) -> Array:
        type_, which = TensorType(i1, shape), ComparisonDirectionAttr(direction)
        operands = [a.value, b.value]
        return carrier.wrap(
            carrier.make_one("compare", operands, type_, comparison_direction=which)
        )

    root = 2.0 ** (math.frexp(most)[1] // 2)
    is_large = compare("GT", large, large.fill(root, shape))
    one, inverse = large.fill(1, shape), large.fill(1 / root, shape)
    scale = is_large.where(inverse, one)
    scaled, other = large * scale, small * scale
    ratio = other / scaled
    square = ratio * ratio
    stretch = (large.fill(1, shape) + square).apply("sqrt")
    found = large * stretch
    zero, infinity = large.fill(0, shape), large.fill(math.inf, shape)
    imag_ends, real_ends = compare("EQ", imag, infinity), compare("EQ", real, infinity)
    ends = real_ends | imag_ends
    overflows = ends | compare("GT", large, large.fill(most, shape) / stretch)
    found = compare("EQ", large, zero).where(zero, found)
    return [overflows.where(infinity, found).value]


def _compare(conversion: PairConversion, op: Operation) -> Converted:
    direction = cast("Any", op.properties["comparison_direction"]).data
    if direction not in ("EQ", "NE"):
        refuse_to_legalize(op, "complex numbers are equal or not; they have no order")
    carrier, [pair, pair_2] = _parts(conversion, op)
    result = op.results[0].type
    given = {key: value for key, value in op.properties.items() if key != "compare_type"}
    real, imag = (
        carrier.make_one("compare", [a, b], result, **given)
        for a, b in zip(pair, pair_2, strict=True)
    )
    return [carrier.make_one("and" if direction == "EQ" else "or", [real, imag], result)]


def _convert(conversion: PairConversion, op: Operation) -> Converted:
    carrier = StableHLOCarrier.before(op)
    [operand], result = conversion.operands(op), op.results[0]
    if not conversion.is_pair(result.type):
        real, _ = take_parts(carrier, operand)
        return [_cast(carrier, real, result.type)]
    if conversion.is_pair(op.operands[0].type) or operand is not op.operands[0]:
        return like(conversion, op)
    type_ = real_type(result.type)
    zero = carrier.fill(0, value_shape(result), dtype_of(type_.get_element_type()))
    return [join_parts(carrier, _cast(carrier, operand, type_), zero)]


def _cast(carrier: StableHLOCarrier, value: SSAValue, type_: Attribute) -> SSAValue:
    return value if value.type == type_ else carrier.make_one("convert", [value], type_)


def _iota(conversion: PairConversion, op: Operation) -> Converted:
    carrier, type_ = StableHLOCarrier.before(op), real_type(op.results[0].type)
    numbers = carrier.make_one("iota", (), type_, **op.properties)
    dtype = dtype_of(type_.get_element_type())
    return [join_parts(carrier, numbers, carrier.fill(0, value_shape(numbers), dtype))]


def _reduce(conversion: PairConversion, op: Operation) -> Converted:
    """Sums of both parts, to which those are added that the sum begins with."""
    names = {each.mnemonic for each in combiners(op.regions[-1]) or ()}
    if names != {"add"} or len(op.results) != 1:
        refuse_to_legalize(op, "of complex numbers there are only sums")
    carrier = StableHLOCarrier.before(op)
    values, first = conversion.operands(op)
    shape, element = value_shape(op.results[0]), real_type(op.results[0].type).get_element_type()
    starts = [
        carrier.make_one(
            "broadcast_in_dim",
            [each],
            TensorType(element, shape),
            broadcast_dimensions=i64_array(()),
        )
        for each in take_parts(carrier, first)
    ]
    parts = take_parts(carrier, values)
    zero = carrier.fill(0, (), dtype_of(element))
    scalar = TensorType(element, ())

    def add(a: Array, b: Array) -> list[Array]:
        return [a + b]

    def total(part: SSAValue) -> SSAValue:
        body = carrier.make_region([scalar, scalar], add)
        return carrier.make(
            "reduce",
            [part, zero],
            [TensorType(element, shape)],
            [body],
            dimensions=op.properties["dimensions"],
        )[0]

    sums = [carrier.wrap(total(part)) for part in parts]
    real, imag = (a + carrier.wrap(b) for a, b in zip(sums, starts, strict=True))
    return [join_parts(carrier, real.value, imag.value)]


_RULES: dict[str, Rule] = {
    **dict.fromkeys(("stablehlo.add", "stablehlo.negate", "stablehlo.subtract"), _like),
    **dict.fromkeys(
        ("stablehlo.multiply", "stablehlo.dot_general", "stablehlo.convolution"), _bilinear
    ),
    "stablehlo.abs": _abs,
    "stablehlo.compare": _compare,
    "stablehlo.complex": _complex,
    "stablehlo.convert": _convert,
    "stablehlo.divide": _divide,
    "stablehlo.gather": gather_pairs,
    "stablehlo.imag": _part(1),
    "stablehlo.iota": _iota,
    "stablehlo.real": _part(0),
    "stablehlo.reduce": _reduce,
}

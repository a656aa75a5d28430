"""Store 64-bit integers without sign as pairs of 32-bit ones, the lower half first.

Sums carry into the upper half, and what moves elements moves both halves. Other operations compute
with 64-bit integers made of the lower halves, as tt-mlir of 2026 does.

Before:

    func.func @main(%a: tensor<3xui64>) -> tensor<3xf32> {
      %0 = stablehlo.convert %a : (tensor<3xui64>) -> tensor<3xf32>
      return %0 : tensor<3xf32>
    }

After:

    module {
      func.func @main(%arg0: tensor<3x2xui32>) -> tensor<3xf32> {
        %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<3x2xui32>) -> tensor<2x3xui32>
        %1 = stablehlo.slice %0 [0:1, 0:3] : (tensor<2x3xui32>) -> tensor<1x3xui32>
        %2 = stablehlo.reshape %1 : (tensor<1x3xui32>) -> tensor<3xui32>
        %3 = stablehlo.slice %0 [1:2, 0:3] : (tensor<2x3xui32>) -> tensor<1x3xui32>
        %4 = stablehlo.reshape %3 : (tensor<1x3xui32>) -> tensor<3xui32>
        %5 = stablehlo.convert %2 : (tensor<3xui32>) -> tensor<3xui64>
        %6 = stablehlo.convert %5 : (tensor<3xui64>) -> tensor<3xf32>
        return %6 : tensor<3xf32>
      }
    }

Requires: static shapes.
Ensures: functions take and return no 64-bit integers without sign; random bits are made by
`ttir.rng_bit_generator`.
Options: none.
Not done here: products, shifts and comparisons of the upper halves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import BoolAttr, IntegerType, Signedness, TensorType

from ttmlir.dialects.ttir import op_class
from ttmlir.ir.rewriting import insert_before
from ttmlir.ir.stablehlo_arrays import StableHLOCarrier
from ttmlir.ir.tensor_types import dtype_of, element_type, value_shape
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.stablehlo.pairs.pair_conversion import (
    Converted,
    PairConversion,
    Rule,
    join_parts,
    like,
    take_parts,
)

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation, SSAValue

    from ttmlir.dialects.stablehlo.attrs import EnumAttr

_U32 = IntegerType(32, Signedness.UNSIGNED)
_U64 = IntegerType(64, Signedness.UNSIGNED)


@dataclass(frozen=True)
class StableHLOUInt64DataTypeConversionPass(ModulePass):
    """Store 64-bit integers without sign as pairs of 32-bit ones."""

    name = "stablehlo-uint64-data-type-conversion"
    title = "StableHLOUInt64DataTypeConversionPass"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert all functions."""
        PairConversion(_part_of, _RULES, widen=_widen, narrow=_narrow).convert(module)


def _part_of(element: Attribute) -> Attribute | None:
    return _U32 if element == _U64 else None


def _widen(carrier: StableHLOCarrier, pair: SSAValue) -> SSAValue:
    lower, _ = take_parts(carrier, pair)
    return carrier.make_one("convert", [lower], TensorType(_U64, value_shape(lower)))


def _narrow(carrier: StableHLOCarrier, number: SSAValue) -> SSAValue:
    shape = value_shape(number)
    lower = carrier.make_one("convert", [number], TensorType(_U32, shape))
    return join_parts(carrier, lower, carrier.fill(0, shape, "ui32"))


def _add(conversion: PairConversion, op: Operation) -> Converted:
    """The highest bits of the lower halves and of their sum say what is carried."""
    carrier = StableHLOCarrier.before(op)
    (low, high), (low_2, high_2) = (
        map(carrier.wrap, take_parts(carrier, each)) for each in conversion.operands(op)
    )
    total, both, either = low + low_2, low & low_2, low | low_2
    carries = both | (either & total.bitwise_not())
    carry = carries.apply("logical_right_shift", carries.fill(31, carries.shape))
    return [join_parts(carrier, total.value, (high + high_2 + carry).value)]


def _bitcast(conversion: PairConversion, op: Operation) -> Converted:
    """Halves are in the order in which a conversion of bits has them."""
    operand, result = op.operands[0], op.results[0]
    pairs = conversion.pair(operand, op)
    return [pairs] if pairs.type == conversion.pair_type(result.type) else None


def _update(conversion: PairConversion, op: Operation) -> Converted:
    """An update of both halves; places are lower halves."""
    carrier = StableHLOCarrier.before(op)
    target, update, *starts = conversion.operands(op)
    rank = len(value_shape(op.results[0]))
    if not conversion.is_pair(op.results[0].type) or not rank:
        return None
    starts = [take_parts(carrier, each)[0] if value_shape(each) else each for each in starts]
    end = carrier.fill(0, (), dtype_of(element_type(starts[0])))
    return like(conversion, op, [target, update, *starts, end])


def _random_bits(conversion: PairConversion, op: Operation) -> Converted:
    """Bits of 32-bit integers, and the state as it is stored."""
    output = op.results[1]
    type_ = TensorType(_U32, value_shape(output))
    if element_type(output) not in (_U32, _U64) or element_type(op.results[0]) != _U64:
        return None
    is_philox = cast("EnumAttr", op.properties["rng_algorithm"]).data == "PHILOX"
    made = op_class("rng_bit_generator").create(
        operands=conversion.operands(op),
        result_types=[conversion.pair_type(op.results[0].type), type_],
        properties={"philox": BoolAttr.from_bool(is_philox)},
        location=op.location,
    )
    insert_before(op, made)
    state, bits = made.results
    if output.type == type_:
        return [state, bits]
    carrier = StableHLOCarrier.before(op)
    return [state, join_parts(carrier, bits, carrier.fill(0, value_shape(bits), "ui32"))]


_RULES: dict[str, Rule] = {
    "stablehlo.add": _add,
    "stablehlo.bitcast_convert": _bitcast,
    "stablehlo.dynamic_update_slice": _update,
    "stablehlo.rng_bit_generator": _random_bits,
}

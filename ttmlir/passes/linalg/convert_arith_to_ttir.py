"""Turn operations of arith and math on tensors into ttir operations.

Before:

    func.func @larger(%a: tensor<33x70xf32>, %b: tensor<33x70xf32>) -> tensor<33x70xf32> {
      %0 = arith.cmpf ogt, %a, %b : tensor<33x70xf32>
      %1 = arith.select %0, %a, %b : tensor<33x70xi1>, tensor<33x70xf32>
      return %1 : tensor<33x70xf32>
    }

After:

    #any_device_tile = #tt.operand_constraint<dram|l1|tile|...>
    module {
      func.func @larger(%arg0: tensor<33x70xf32>, %arg1: tensor<33x70xf32>)
          -> tensor<33x70xf32> {
        %0 = tensor.empty() : tensor<33x70xi1>
        %1 = "ttir.gt"(%arg0, %arg1, %0) <{operandSegmentSizes = array<i32: 2, 1>,
            operand_constraints = [#any_device_tile, #any_device_tile, #any_device_tile]}>
            : (tensor<33x70xf32>, tensor<33x70xf32>, tensor<33x70xi1>) -> tensor<33x70xi1>
        %2 = tensor.empty() : tensor<33x70xf32>
        %3 = "ttir.where"(%1, %arg0, %arg1, %2) <{operandSegmentSizes = array<i32: 3, 1>,
            operand_constraints = [#any_device_tile, #any_device_tile, #any_device_tile,
                                   #any_device_tile]}>
            : (tensor<33x70xi1>, tensor<33x70xf32>, tensor<33x70xf32>, tensor<33x70xf32>)
            -> tensor<33x70xf32>
        return %3 : tensor<33x70xf32>
      }
    }

Requires: static shapes.
Ensures: no operation of arith or math is left that has a tensor as result; types do not change.
Options: none.
Not done here: operations on scalars stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, TensorType
from xdsl.ir import Operation

from ttmlir.arrays.array import TRUTH, Array
from ttmlir.composites.bits import divide_rounded, round_half_away
from ttmlir.dialects.definition.ods import warn_of_narrowing
from ttmlir.ir.builder import Builder, TTIRCarrier, array_in
from ttmlir.ir.rewriting import refuse_to_legalize, replace
from ttmlir.ir.tensor_types import is_tensor
from ttmlir.optable import named_in, named_on_numbers, named_on_truth, named_unsigned
from ttmlir.optable.op_definition import OpDefinition, broadcast_shape
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.core.ttir_conversion import result_dtype

if TYPE_CHECKING:
    from xdsl.context import Context


@dataclass(frozen=True)
class ConvertArithToTTIRPass(ModulePass):
    """Turn operations of arith and math on tensors into ttir operations."""

    name = "convert-arith-to-ttir"
    title = "ConvertArithToTTIR"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert every operation inside the module that has a tensor as result."""
        for op in list(module.walk()):
            is_ours = op.name.startswith(("arith.", "math."))
            if is_ours and any(isinstance(type, TensorType) for type in op.result_types):
                convert_tensor_arithmetic(op)
        warn_of_narrowing(module)


def convert_tensor_arithmetic(op: Operation) -> None:
    """Replace an operation of arith or math on tensors."""
    builder = Builder.before(op)
    if op.name == "arith.constant":
        replace(op, builder.create_constant(op.properties["value"], op.results[0].type))
        return
    # A scalar decides for all elements.
    if not all(map(is_tensor, op.operands)):
        refuse_to_legalize(op, "one of its operands is no tensor; give it a tensor")
    carrier = TTIRCarrier(builder)
    operands = [array_in(carrier, value) for value in op.operands]
    replace(op, compute(op, operands, result_dtype(op)).value)


def compute(op: Operation, operands: Sequence[Array], dtype: str) -> Array:
    """What an operation of arith or math on numbers makes of the elements of arrays.

    The operands broadcast; the result has the type `dtype`. An operation without meaning in ttir is
    refused.
    """
    function = CONVERTED.get(op.name)
    if function is None:
        taken = ", ".join(sorted(CONVERTED))
        refuse_to_legalize(op, f"of arith and math, ttir has {taken}, and arith.constant")
    return function(op, dtype, *operands)


_Function = Callable[..., Array]
"""The result of an operation, of itself, the type of the result, and the operands."""


NAMED = named_in("arith", "math")
ON_TRUTH = named_on_truth("arith")
ON_NUMBERS = named_on_numbers("arith")
_UNSIGNED = named_unsigned("arith")
_ORDERED = ("eq", "gt", "ge", "lt", "le")
"""Definitions of the predicates 1 to 5 of `arith.cmpf`, which are false where an operand is NaN."""
_INTEGER = ("eq", "ne", "lt", "le", "gt", "ge", "lt", "le", "gt", "ge")
"""Definitions of the predicates of `arith.cmpi`, the last four of which are for numbers without
sign."""


def _predicate(op: Operation) -> int:
    return cast("IntegerAttr", op.properties["predicate"]).value.data


def _create(definition: OpDefinition, dtype: str, *operands: Array) -> Array:
    shape = broadcast_shape(*(each.shape for each in operands))
    return operands[0].create(definition.mnemonic, *operands[1:], shape=shape, dtype=dtype)


def _table_function(definition: OpDefinition) -> _Function:
    def function(op: Operation, dtype: str, *operands: Array) -> Array:
        of_truth = ON_TRUTH.get(op.name) if operands[-1].dtype == TRUTH else None
        return _create(of_truth or definition, dtype, *operands)

    return function


def _unsigned(definition: OpDefinition) -> _Function:
    """The operation on the same bits as numbers without sign."""

    def function(op: Operation, dtype: str, *operands: Array) -> Array:
        if operands[-1].dtype == TRUTH:
            of_truth = ON_TRUTH.get(op.name)
            if of_truth is None:
                refuse_to_legalize(op, "it computes with i1; supported are wider integers")
            return _create(of_truth, dtype, *operands)
        wide = _without_sign(dtype)
        return _create(definition, wide, *(each.cast(wide) for each in operands)).cast(dtype)

    return function


def _without_sign(dtype: str) -> str:
    """The type of integers without sign of as many bits."""
    return "ui64" if dtype == "index" else f"u{dtype}"


def _cmpi(op: Operation, dtype: str, *operands: Array) -> Array:
    predicate = _predicate(op)
    if predicate > 1 and operands[-1].dtype == TRUTH:
        # As a signed number, true is -1.
        operands = operands[::-1] if predicate < 6 else operands
    elif predicate > 5:
        wide = _without_sign(operands[-1].dtype)
        operands = tuple(each.cast(wide) for each in operands)
    return operands[0].apply(_INTEGER[predicate], operands[1])


def _cmpf(op: Operation, dtype: str, a: Array, b: Array) -> Array:
    predicate = _predicate(op)
    if predicate in (0, 15):
        return a.fill(predicate == 15, broadcast_shape(a.shape, b.shape), TRUTH)
    if 1 <= predicate <= 5:
        return a.apply(_ORDERED[predicate - 1], b)
    match predicate:
        case 6:
            return (a < b) | (a > b)
        case 7:
            return (a.is_nan() | b.is_nan()).logical_not()
        case 8:
            return a.eq(b) | (a.is_nan() | b.is_nan())
        case 13:
            return a.ne(b)
        case 14:
            return a.is_nan() | b.is_nan()
        case _:
            # "Not less or equal" is greater, or not to be ordered.
            opposite = {9: "le", 10: "lt", 11: "ge", 12: "gt"}[predicate]
            return a.apply(opposite, b).logical_not()


def _number(definition: OpDefinition) -> _Function:
    """The larger or smaller one, or the other where one is NaN."""

    def function(op: Operation, dtype: str, a: Array, b: Array) -> Array:
        chosen = a.apply(definition.mnemonic, b)
        without_b = b.is_nan().where(a, chosen)
        return a.is_nan().where(b, without_b)

    return function


def _convert(op: Operation, dtype: str, x: Array) -> Array:
    """Conversion of a number, which has the type that is wanted perhaps already."""
    return x.cast(dtype)


def _extend(op: Operation, dtype: str, x: Array) -> Array:
    """Conversion of a signed integer; one bit that is set is -1."""
    wide = x.cast(dtype)
    return -wide if x.dtype == TRUTH else wide


def _from_unsigned(op: Operation, dtype: str, x: Array) -> Array:
    """Conversion of an integer without sign."""
    return (x if x.dtype == TRUTH else x.cast(_without_sign(x.dtype))).cast(dtype)


def _to_unsigned(op: Operation, dtype: str, x: Array) -> Array:
    return x.cast(_without_sign(dtype)).cast(dtype)


def _truncate(op: Operation, dtype: str, x: Array) -> Array:
    return (x.bitwise_and(1) if dtype == TRUTH else x).cast(dtype)


def _bitcast(op: Operation, dtype: str, x: Array) -> Array:
    return x.bitcast(dtype)


def _fma(op: Operation, dtype: str, a: Array, b: Array, c: Array) -> Array:
    return a * b + c


def _log(op: Operation, dtype: str, x: Array) -> Array:
    return x.log() * {"math.log10": 0.4342944819032518, "math.log2": 1.4426950408889634}[op.name]


def _fpowi(op: Operation, dtype: str, x: Array, exponent: Array) -> Array:
    return x.pow(exponent.cast(dtype))


def _round(op: Operation, dtype: str, x: Array) -> Array:
    return round_half_away(x)


def _copysign(op: Operation, dtype: str, size: Array, sign: Array) -> Array:
    size = size.abs()
    # By numbers, not by bits, which kernels do not compute with: 1 / -0 is -inf.
    is_minus = (sign < 0) | (sign.reciprocal() < 0)
    return is_minus.where(-size, size)


def _rounded_quotient(op: Operation, dtype: str, x: Array, y: Array) -> Array:
    return divide_rounded(x, y, upward=op.name == "arith.ceildivsi")


CONVERTED: dict[str, _Function] = {
    **{name: _table_function(definition) for name, definition in NAMED.items()},
    **{name: _unsigned(definition) for name, definition in _UNSIGNED.items()},
    **{name: _number(definition) for name, definition in ON_NUMBERS.items()},
    **dict.fromkeys(("arith.extf", "arith.index_cast", "arith.truncf"), _convert),
    **dict.fromkeys(("arith.ceildivsi", "arith.floordivsi"), _rounded_quotient),
    **dict.fromkeys(("math.log10", "math.log2"), _log),
    "arith.bitcast": _bitcast,
    "arith.cmpf": _cmpf,
    "arith.cmpi": _cmpi,
    "arith.extsi": _extend,
    "arith.extui": _from_unsigned,
    "arith.fptoui": _to_unsigned,
    "arith.sitofp": _extend,
    "arith.trunci": _truncate,
    "arith.uitofp": _from_unsigned,
    "math.copysign": _copysign,
    "math.fma": _fma,
    "math.fpowi": _fpowi,
    "math.round": _round,
}
"""What each operation computes."""

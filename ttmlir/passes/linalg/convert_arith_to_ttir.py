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

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, TensorType, i1
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects.definition.ods import warn_of_narrowing
from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import refuse_to_legalize, replace
from ttmlir.ir.tensor_types import element_type, is_boolean, tensor_of, unsigned_type, value_shape
from ttmlir.optable import named_in, named_on_numbers, named_on_truth, named_unsigned
from ttmlir.optable.row import broadcast_shape
from ttmlir.passes.core.base import ModulePass

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
    element = element_type(op.results[0])
    # A scalar decides for all elements.
    operands = [value for value in op.operands if isinstance(value.type, TensorType)]
    if len(operands) != len(op.operands):
        refuse_to_legalize(op, "one of its operands is no tensor; give it a tensor")
    replace(op, compute(builder, op, operands, element))


def compute(
    builder: Builder, op: Operation, operands: Sequence[SSAValue], element: Attribute
) -> SSAValue:
    """What an operation of arith or math on numbers makes of the elements of tensors.

    The operands broadcast; the result has the element type `element`. An operation without meaning
    in ttir is refused.
    """
    shape = broadcast_shape(*(value_shape(value) for value in operands))
    rule = CONVERTED.get(op.name)
    if rule is None:
        taken = ", ".join(sorted(CONVERTED))
        refuse_to_legalize(op, f"of arith and math, ttir has {taken}, and arith.constant")
    return rule(_Use(builder, op, tuple(operands), tensor_of(element, shape)))


@dataclass(frozen=True)
class _Use:
    """An operation on numbers, applied to the elements of tensors."""

    builder: Builder
    op: Operation
    operands: tuple[SSAValue, ...]
    type: TensorType[Attribute]

    def create(self, mnemonic: str, *operands: SSAValue, boolean: bool = False) -> SSAValue:
        """A new operation with the shape of this one."""
        type = tensor_of(i1, self.type.get_shape()) if boolean else self.type
        return self.builder.create(mnemonic, operands, type)

    def negated(self, value: SSAValue) -> SSAValue:
        """The opposite of a truth value."""
        return self.create("logical_not", value, boolean=True)

    @property
    def source(self) -> Attribute:
        """Element type of the last operand."""
        return element_type(self.operands[-1])


_Meaning = Callable[[_Use], SSAValue]


NAMED = named_in("arith", "math")
ON_TRUTH = named_on_truth("arith")
ON_NUMBERS = named_on_numbers("arith")
_UNSIGNED = named_unsigned("arith")
_ORDERED = ("eq", "gt", "ge", "lt", "le")
"""Rows of the predicates 1 to 5 of `arith.cmpf`, which are false where an operand is NaN."""
_INTEGER = ("eq", "ne", "lt", "le", "gt", "ge", "lt", "le", "gt", "ge")
"""Rows of the predicates of `arith.cmpi`, the last four of which are for numbers without sign."""


def _predicate(use: _Use) -> int:
    return cast("IntegerAttr", use.op.properties["predicate"]).value.data


def _row(mnemonic: str) -> _Meaning:
    def meaning(use: _Use) -> SSAValue:
        boolean = ON_TRUTH.get(use.op.name)
        if boolean is not None and is_boolean(use.source):
            return use.create(boolean.mnemonic, *use.operands)
        return use.create(mnemonic, *use.operands)

    return meaning


def _unsigned(mnemonic: str) -> _Meaning:
    """The operation on the same bits as numbers without sign."""

    def meaning(use: _Use) -> SSAValue:
        if is_boolean(use.source):
            boolean = ON_TRUTH.get(use.op.name)
            if boolean is None:
                refuse_to_legalize(use.op, "it computes with i1; supported are wider integers")
            return use.create(boolean.mnemonic, *use.operands)
        element = unsigned_type(use.source)
        operands = [use.builder.cast(value, element) for value in use.operands]
        result = use.builder.create(mnemonic, operands, tensor_of(element, use.type.get_shape()))
        return use.builder.cast(result, use.type.element_type)

    return meaning


def _cmpi(use: _Use) -> SSAValue:
    predicate = _predicate(use)
    operands = use.operands
    if predicate > 1 and is_boolean(use.source):
        # As a signed number, true is -1.
        operands = operands[::-1] if predicate < 6 else operands
    elif predicate > 5:
        element = unsigned_type(use.source)
        operands = tuple(use.builder.cast(value, element) for value in operands)
    return use.create(_INTEGER[predicate], *operands)


def _is_nan(use: _Use, value: SSAValue) -> SSAValue:
    return use.builder.create("ne", [value, value], tensor_of(i1, value_shape(value)))


def _cmpf(use: _Use) -> SSAValue:
    predicate = _predicate(use)
    if predicate in (0, 15):
        return use.builder.create_splat(float(predicate == 15), use.type)
    if 1 <= predicate <= 5:
        return use.create(_ORDERED[predicate - 1], *use.operands)
    either_nan = (_is_nan(use, value) for value in use.operands)
    match predicate:
        case 6:
            less, more = (use.create(name, *use.operands) for name in ("lt", "gt"))
            return use.create("logical_or", less, more)
        case 7:
            return use.negated(use.create("logical_or", *either_nan))
        case 8:
            return use.create(
                "logical_or", use.create("eq", *use.operands), use.create("logical_or", *either_nan)
            )
        case 13:
            return use.create("ne", *use.operands)
        case 14:
            return use.create("logical_or", *either_nan)
        case _:
            # "Not less or equal" is greater, or not to be ordered.
            opposite = {9: "le", 10: "lt", 11: "ge", 12: "gt"}[predicate]
            return use.negated(use.create(opposite, *use.operands))


def _number(mnemonic: str) -> _Meaning:
    """The larger or smaller one, or the other where one is NaN."""

    def meaning(use: _Use) -> SSAValue:
        a, b = use.operands
        chosen = use.create(mnemonic, a, b)
        without_b = use.create("where", _is_nan(use, b), a, chosen)
        return use.create("where", _is_nan(use, a), b, without_b)

    return meaning


def _convert(use: _Use) -> SSAValue:
    """Conversion of a number, which has the type that is wanted perhaps already."""
    return use.builder.cast(use.operands[0], use.type.element_type)


def _extend(use: _Use) -> SSAValue:
    """Conversion of a signed integer; one bit that is set is -1."""
    wide = use.builder.cast(use.operands[0], use.type.element_type)
    return use.create("neg", wide) if is_boolean(use.source) else wide


def _from_unsigned(use: _Use) -> SSAValue:
    """Conversion of an integer without sign."""
    value = use.operands[0]
    if not is_boolean(use.source):
        value = use.builder.cast(value, unsigned_type(use.source))
    return use.builder.cast(value, use.type.element_type)


def _to_unsigned(use: _Use) -> SSAValue:
    element = unsigned_type(use.type.element_type)
    return use.builder.cast(use.builder.cast(use.operands[0], element), use.type.element_type)


def _truncate(use: _Use) -> SSAValue:
    value = use.operands[0]
    if is_boolean(use.type.element_type):
        one = use.builder.create_splat(1, tensor_of(use.source, ()))
        value = use.builder.create("bitwise_and", [value, one], value.type)
    return use.builder.cast(value, use.type.element_type)


def _bitcast(use: _Use) -> SSAValue:
    if use.source != use.type.element_type:
        refuse_to_legalize(
            use.op, "it reads bits as numbers of another type; supported are conversions of values"
        )
    return use.operands[0]


def _fma(use: _Use) -> SSAValue:
    a, b, c = use.operands
    return use.create("add", use.create("multiply", a, b), c)


def _log(base: float) -> _Meaning:
    def meaning(use: _Use) -> SSAValue:
        natural = use.create("log", *use.operands)
        factor = use.builder.create_splat(base, tensor_of(use.type.element_type, ()))
        return use.create("multiply", natural, factor)

    return meaning


def _fpowi(use: _Use) -> SSAValue:
    x, exponent = use.operands
    return use.create("pow", x, use.builder.cast(exponent, use.type.element_type))


def _round(use: _Use) -> SSAValue:
    """The nearest integer, the one farther from 0 of two."""
    (x,) = use.operands
    whole = use.create("trunc", x)
    # The rest of the number is exact; adding 0.5 to the number is not.
    rest = use.create("abs", use.create("subtract", x, whole))
    half = use.builder.create_splat(0.5, tensor_of(use.type.element_type, ()))
    is_large = use.create("ge", rest, half, boolean=True)
    farther = use.create("add", whole, use.create("sign", x))
    return use.create("where", is_large, farther, whole)


def _copysign(use: _Use) -> SSAValue:
    size, sign = use.operands
    size = use.create("abs", size)
    zero = use.builder.create_splat(0, tensor_of(use.type.element_type, ()))
    is_negative = use.create("lt", sign, zero, boolean=True)
    return use.create("where", is_negative, use.create("neg", size), size)


def _rounded_quotient(*, upward: bool) -> _Meaning:
    """The quotient rounded toward plus or minus infinity."""

    def meaning(use: _Use) -> SSAValue:
        x, y = use.operands
        quotient = use.create("div", x, y)
        rest = use.create("remainder", x, y)
        zero = use.builder.create_splat(0, tensor_of(use.type.element_type, ()))
        one = use.builder.create_splat(1, tensor_of(use.type.element_type, ()))
        signs = (use.create("lt", value, zero, boolean=True) for value in (rest, y))
        # The quotient is rounded toward 0, that is, up where the rest and the divisor differ.
        was_raised = use.create("logical_xor", *signs, boolean=True)
        is_toward_zero = use.negated(was_raised) if upward else was_raised
        inexact = use.create("ne", rest, zero, boolean=True)
        is_changed = use.create("logical_and", is_toward_zero, inexact, boolean=True)
        farther = use.create("add" if upward else "subtract", quotient, one)
        return use.create("where", is_changed, farther, quotient)

    return meaning


CONVERTED: dict[str, _Meaning] = {
    **{name: _row(row.mnemonic) for name, row in NAMED.items()},
    **{name: _unsigned(row.mnemonic) for name, row in _UNSIGNED.items()},
    **{name: _number(row.mnemonic) for name, row in ON_NUMBERS.items()},
    **dict.fromkeys(("arith.extf", "arith.index_cast", "arith.truncf"), _convert),
    "arith.bitcast": _bitcast,
    "arith.ceildivsi": _rounded_quotient(upward=True),
    "arith.cmpf": _cmpf,
    "arith.cmpi": _cmpi,
    "arith.extsi": _extend,
    "arith.extui": _from_unsigned,
    "arith.floordivsi": _rounded_quotient(upward=False),
    "arith.fptoui": _to_unsigned,
    "arith.sitofp": _extend,
    "arith.trunci": _truncate,
    "arith.uitofp": _from_unsigned,
    "math.copysign": _copysign,
    "math.fma": _fma,
    "math.fpowi": _fpowi,
    "math.log10": _log(0.4342944819032518),
    "math.log2": _log(1.4426950408889634),
    "math.round": _round,
}
"""What becomes of each operation."""

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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    Signedness,
    TensorType,
    i1,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.comparisons import signed_value_range, unsigned_value_range

from ttmlir.dialects import tt, ttir
from ttmlir.layout.enums import OperandConstraint
from ttmlir.mlir.floats import exact_float32
from ttmlir.passes.base import ModulePass
from ttmlir.passes.layouts import value_shape
from ttmlir.passes.moves import emptied
from ttmlir.passes.rewriting import insert_before, refuse_to_legalize, replace

if TYPE_CHECKING:
    from xdsl.context import Context

    from ttmlir.dialects.row_ops import ParameterValue

Rule = Callable[[Operation], None]


@dataclass(frozen=True)
class ConvertTosaToTTIRPass(ModulePass):
    """Turn tosa operations into ttir operations."""

    name = "convert-tosa-to-ttir"
    title = "ConvertTosaToTTIR"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert everything inside the module."""
        _convert_inside(module)


_LEGAL = (ModuleOp, FuncOp, ReturnOp, CallOp, EmptyOp)
_ANY_DEVICE_TILE = tt.OperandConstraintAttr.of(OperandConstraint.ANY_DEVICE_TILE)


def _convert_inside(op: Operation) -> None:
    for region in op.regions:
        for block in region.blocks:
            # Conversions insert before and erase the operation in hand only.
            for inner in tuple(block.ops):
                _rule(inner)(inner)
                if inner.regions:
                    _convert_inside(inner)


def _rule(op: Operation) -> Rule:
    dialect, _, mnemonic = op.name.partition(".")
    if isinstance(op, _LEGAL) or dialect == "ttir":
        return _keep
    return CONVERTED.get(mnemonic, _refuse_operation) if dialect == "tosa" else _refuse_operation


def _keep(op: Operation) -> None:
    """What may be in the result stays."""


def _refuse_operation(op: Operation) -> NoReturn:
    taken = ", ".join(f"tosa.{mnemonic}" for mnemonic in sorted(CONVERTED))
    refuse_to_legalize(
        op, f"convert-tosa-to-ttir takes {taken}, and ttir, func and tensor.empty operations"
    )


def _made(
    op: Operation,
    mnemonic: str,
    inputs: Sequence[SSAValue],
    type_: Attribute,
    **parameters: ParameterValue,
) -> SSAValue:
    """The result of a new ttir operation in front of `op`."""
    for shaped in (*(value.type for value in inputs), type_):
        _check_shape(op, shaped)
    cls = cast("type[ttir.ElementwiseOp]", ttir.op_class(mnemonic))
    destination = emptied(type_, op)
    new = cls.dps(
        inputs,
        (destination,),
        {
            **cls.parameter_properties(parameters),
            "operand_constraints": ArrayAttr([_ANY_DEVICE_TILE] * (len(inputs) + 1)),
        },
        location=op.location,
    )
    insert_before(op, new)
    return new.results[0]


def _check_shape(op: Operation, type_: Attribute) -> None:
    if not (isinstance(type_, TensorType) and type_.has_static_shape()):
        refuse_to_legalize(
            op, f"the shape of {type_} is not known; give every tensor a static shape"
        )


def _element_type(value: SSAValue) -> Attribute:
    return cast("TensorType[Attribute]", value.type).element_type


# -- rules -----------------------------------------------------------------------------------------


def _becomes(mnemonic: str) -> Rule:
    """The rule of an operation that differs from one of ttir in nothing but the name."""

    def rule(op: Operation) -> None:
        replace(op, _made(op, mnemonic, op.operands, op.results[0].type))

    return rule


def _bits(mnemonic: str) -> Rule:
    """The rule of an operation on bits, which tosa lets pass on floating point numbers."""
    becomes = _becomes(mnemonic)

    def rule(op: Operation) -> None:
        element = _element_type(op.operands[0])
        if not isinstance(element, IntegerType):
            refuse_to_legalize(
                op, f"its operands are {element}, but operations on bits take integers"
            )
        becomes(op)

    return rule


def _cast(op: Operation) -> None:
    source, target = _element_type(op.operands[0]), _element_type(op.results[0])
    if isinstance(source, AnyFloat) and isinstance(target, IntegerType) and target != i1:
        # A typecast rounds toward zero, which is the same where there is nothing to round.
        if not isinstance(op.operands[0].owner, (ttir.op_class("floor"), ttir.op_class("ceil"))):
            refuse_to_legalize(
                op,
                f"it rounds {source} to the nearest {target}, but ttir rounds toward zero; "
                "supported are casts to floating point types and i1, casts of integers, and casts "
                "of the result of tosa.floor or tosa.ceil",
            )
    _becomes("typecast")(op)


def _clamp(op: Operation) -> None:
    element = _element_type(op.operands[0])
    if isinstance(element, IntegerType):
        low, high = _integer_bounds(op, cast("IntegerType", element))
    else:
        low, high = (_bound(op, name, _number(op, name)) for name in ("min_fp", "max_fp"))
    replace(op, _made(op, "clamp", op.operands, op.results[0].type, min=low, max=high))


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
    new = ttir.ConstantOp.create(
        result_types=[op.results[0].type],
        properties={"value": op.properties["value"]},
        location=op.location,
    )
    insert_before(op, new)
    replace(op, *new.results)


def _mul(op: Operation) -> None:
    if shift := _number(op, "shift"):
        refuse_to_legalize(op, f"it shifts the product by {shift} bits; supported is a shift of 0")
    # tosa multiplies narrow integers to wide ones.
    element = _element_type(op.results[0])
    factors = [_widened(op, factor, element) for factor in op.operands]
    replace(op, _made(op, "multiply", factors, op.results[0].type))


def _widened(op: Operation, factor: SSAValue, element: Attribute) -> SSAValue:
    """An operand of `op`, converted to an element type."""
    if _element_type(factor) == element:
        return factor
    _check_shape(op, factor.type)
    wide = TensorType(element, value_shape(factor))
    return _made(op, "typecast", [factor], wide)


CONVERTED: dict[str, Rule] = {
    "abs": _becomes("abs"),
    "add": _becomes("add"),
    "bitwise_and": _bits("bitwise_and"),
    "bitwise_not": _bits("bitwise_not"),
    "bitwise_or": _bits("bitwise_or"),
    "bitwise_xor": _bits("bitwise_xor"),
    "cast": _cast,
    "ceil": _becomes("ceil"),
    "clamp": _clamp,
    "const": _const,
    "cos": _becomes("cos"),
    "equal": _becomes("eq"),
    "erf": _becomes("erf"),
    "exp": _becomes("exp"),
    "floor": _becomes("floor"),
    "greater": _becomes("gt"),
    "greater_equal": _becomes("ge"),
    "int_div": _becomes("div"),
    "log": _becomes("log"),
    "logical_and": _becomes("logical_and"),
    "logical_not": _becomes("logical_not"),
    "logical_or": _becomes("logical_or"),
    "logical_xor": _becomes("logical_xor"),
    "maximum": _becomes("maximum"),
    "minimum": _becomes("minimum"),
    "mul": _mul,
    "negate": _becomes("neg"),
    "pow": _becomes("pow"),
    "reciprocal": _becomes("reciprocal"),
    "rsqrt": _becomes("rsqrt"),
    "select": _becomes("where"),
    "sigmoid": _becomes("sigmoid"),
    "sin": _becomes("sin"),
    "sub": _becomes("subtract"),
    "tanh": _becomes("tanh"),
}
"""What becomes of each operation of tosa that can be converted."""

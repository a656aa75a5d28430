"""Find the shapes that types leave open, from sizes that are known while compiling.

Sizes that are operands become part of static operations where they are constants, extents of static
shapes or computed from these; all users of a value follow, through loops and branches.

Before:

    func.func @repeated(%row: tensor<70xf32>, %like: tensor<33x5xf32>) -> tensor<?x70xf32> {
      %0 = stablehlo.get_dimension_size %like, dim = 0 : (tensor<33x5xf32>) -> tensor<i32>
      %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
      %2 = stablehlo.constant dense<70> : tensor<1xi32>
      %3 = stablehlo.concatenate %1, %2, dim = 0
          : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %4 = stablehlo.dynamic_broadcast_in_dim %row, %3, dims = [1]
          : (tensor<70xf32>, tensor<2xi32>) -> tensor<?x70xf32>
      %5 = stablehlo.negate %4 : tensor<?x70xf32>
      return %5 : tensor<?x70xf32>
    }

After:

    module {
      func.func @repeated(%arg0: tensor<70xf32>, %arg1: tensor<33x5xf32>) -> tensor<33x70xf32> {
        %0 = stablehlo.broadcast_in_dim %arg0, dims = [1]
            : (tensor<70xf32>) -> tensor<33x70xf32>
        %1 = stablehlo.negate %0 : tensor<33x70xf32>
        return %1 : tensor<33x70xf32>
      }
    }

Requires: calls inlined (`inline`).
Ensures: no operation is left whose sizes are operands, but for those in loops, whose sizes may be
known when the loops are unrolled.
Options: none.
Not done here: sizes that the program computes from its arguments are refused, since the buffers of
programs of devices have fixed sizes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    FunctionType,
    IntegerType,
    StringAttr,
    TensorType,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ttmlir.dialects.chlo import ElementwiseOp as ChloElementwiseOp
from ttmlir.dialects.stablehlo.constraints import infer_types
from ttmlir.dialects.stablehlo.elementwise import ElementwiseOp, ReducePrecisionOp
from ttmlir.dialects.stablehlo.form import integer, integers
from ttmlir.dialects.stablehlo.operation import StableHLOOp
from ttmlir.ir.constants import constant_numbers
from ttmlir.ir.rewriting import erase, erase_unused, refuse_at, refuse_to_legalize, replace
from ttmlir.ir.stablehlo_arrays import StableHLOCarrier, i64_array, replace_by
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.mlir.attributes import ElementsType, elements_of
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.core.ttir_conversion import ConversionRule
from ttmlir.passes.stablehlo.specification import broadcasting

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp


# --- Known sizes ----------------------------------------------------------------------------------
# Sizes that a program of StableHLO computes from constants and from extents of static shapes.

MOST = 64
"""Elements of the largest tensor that is computed."""
_SAME_NUMBERS = ("stablehlo.convert", "stablehlo.reshape", "stablehlo.broadcast_in_dim")


class KnownSizes:
    """Small tensors of integers whose elements are known while compiling."""

    def __init__(self) -> None:
        """Nothing is known."""
        self._known: dict[SSAValue, tuple[int, ...] | None] = {}

    def find(self, value: SSAValue) -> tuple[int, ...] | None:
        """The elements in the order of rows; None if they are not known."""
        if value not in self._known:
            shape = value_shape(value)
            owner = value.owner
            is_small = DYNAMIC_INDEX not in shape and math.prod(shape) <= MOST
            known = None
            if isinstance(owner, Operation) and is_small:
                known = self._compute(owner, shape)
            self._known[value] = known
        return self._known[value]

    def numbers(self, op: Operation, number: int, what: str) -> tuple[int, ...]:
        """The elements of an operand, which `what` says in the message if they are not known."""
        found = self.find(op.operands[number])
        if found is None:
            refuse_to_legalize(
                op,
                f"the {what} depend on what the program computes, and programs of devices have "
                "buffers of fixed sizes; supported are constants, extents of static shapes and "
                "what is computed from these",
            )
        return found

    def _compute(self, op: Operation, shape: Sequence[int]) -> tuple[int, ...] | None:
        if op.name == "stablehlo.constant":
            return cast("tuple[int, ...] | None", constant_numbers(op.results[0]))
        if op.name == "stablehlo.get_dimension_size":
            extent = value_shape(op.operands[0])[integer(op, "dimension")]
            return (extent,) if extent >= 0 else None
        if len(op.results) != 1:
            return None
        operands = [self.find(value) for value in op.operands]
        if None in operands or not operands:
            return None
        return self._computed(op, cast("list[tuple[int, ...]]", operands), shape)

    def _computed(
        self, op: Operation, operands: list[tuple[int, ...]], shape: Sequence[int]
    ) -> tuple[int, ...] | None:
        if op.name == "stablehlo.concatenate":
            # Sizes are vectors, and other tensors are none.
            return tuple(n for part in operands for n in part) if len(shape) == 1 else None
        if op.name == "stablehlo.slice" and len(shape) == 1:
            names = ("start_indices", "limit_indices", "strides")
            (start,), (limit,), (stride,) = (integers(op, name) for name in names)
            return operands[0][start:limit:stride]
        if op.name in _SAME_NUMBERS:
            count = math.prod(shape)
            if len(operands[0]) == count:
                return operands[0]
            return operands[0] * count if len(operands[0]) == 1 else None
        return _elementwise(op, operands)


def _elementwise(op: Operation, operands: list[tuple[int, ...]]) -> tuple[int, ...] | None:
    """What an operation on each element makes of integers; None for other operations."""
    values = (*op.operands, *op.results)
    if not all(isinstance(element_type(value), IntegerType) for value in values):
        return None
    # NumPy is loaded only for programs that compute sizes.
    import numpy as np

    from ttmlir.passes.stablehlo.regions import array_type, compute_elementwise

    arrays = [
        np.array(numbers, array_type(element_type(value)))
        for numbers, value in zip(operands, op.operands, strict=True)
    ]
    with np.errstate(all="ignore"):
        result: Any = compute_elementwise(op, arrays)
    if result is None:
        return None
    found = np.asarray(result).astype(array_type(element_type(op.results[0])))
    return tuple(int(number) for number in found.reshape(-1))


# --- Dynamism -------------------------------------------------------------------------------------
# Operations whose sizes are operands: those with constant ones become the static operations.
#
# The types of convolutions and gathers that are made may still have unknown extents.


def _numbers(op: Operation, number: int, what: str) -> tuple[int, ...]:
    return KnownSizes().numbers(op, number, what)


def _static_type(op: Operation, operand: int) -> Attribute:
    """The type of the result; its shape is an operand where the type does not say it."""
    type_ = cast("TensorType[Attribute]", op.results[0].type)
    if type_.has_static_shape():
        return type_
    return TensorType(type_.element_type, _numbers(op, operand, "extents of the result"))


def _reshape(op: Operation) -> None:
    replace(
        op, StableHLOCarrier.before(op).make_one("reshape", op.operands[:1], _static_type(op, 1))
    )


def _broadcast_in_dim(op: Operation) -> None:
    dims = op.properties["broadcast_dimensions"]
    type_ = _static_type(op, 1)
    replace_by(op, "broadcast_in_dim", op.operands[:1], type_, broadcast_dimensions=dims)


def _iota(op: Operation) -> None:
    dim = op.properties["iota_dimension"]
    replace(
        op,
        StableHLOCarrier.before(op).make_one("iota", (), _static_type(op, 0), iota_dimension=dim),
    )


def _pad(op: Operation) -> None:
    low, high, interior = (_numbers(op, number, "amounts of padding") for number in (2, 3, 4))
    operand = op.operands[0]
    shape = [
        before + extent + max(extent - 1, 0) * between + after
        for extent, before, after, between in zip(
            value_shape(operand), low, high, interior, strict=True
        )
    ]
    replace_by(
        op,
        "pad",
        op.operands[:2],
        _checked_type(op, shape),
        edge_padding_low=i64_array(low),
        edge_padding_high=i64_array(high),
        interior_padding=i64_array(interior),
    )


def _checked_type(op: Operation, shape: Sequence[int]) -> TensorType[Attribute]:
    """The type of a result of a computed shape, which has to be what the program says."""
    type_ = cast("TensorType[Attribute]", op.results[0].type)
    said = type_.get_shape()
    pairs = zip(said, shape, strict=True)
    if any(extent < 0 for extent in shape) or any(s not in (DYNAMIC_INDEX, n) for s, n in pairs):
        refuse_to_legalize(
            op, f"its operands give the shape {list(shape)}, which is not that of '{type_}'"
        )
    return TensorType(type_.element_type, shape)


def _slice(op: Operation) -> None:
    starts, limits, strides = (
        _numbers(op, number, what)
        for number, what in ((1, "starts"), (2, "limits"), (3, "strides"))
    )
    triples = list(zip(starts, limits, strides, strict=True))
    inside = all(
        0 <= start <= limit <= extent and stride > 0
        for (start, limit, stride), extent in zip(triples, value_shape(op.operands[0]), strict=True)
    )
    if not inside:
        refuse_to_legalize(op, "starts and limits have to be in order and inside of the operand")
    shape = [-(-(limit - start) // stride) for start, limit, stride in triples]
    write = StableHLOCarrier.before(op)
    replace(op, write.slice(op.operands[0], _checked_type(op, shape), starts, limits, strides))


def _gather(op: Operation) -> None:
    sizes = _numbers(op, 2, "sizes of the slices")
    properties = {**op.properties, "slice_sizes": i64_array(sizes)}
    replace(
        op,
        StableHLOCarrier.before(op).make_one(
            "gather", op.operands[:2], op.results[0].type, **properties
        ),
    )


def _convolution(op: Operation) -> None:
    padding = _known_padding(op)
    properties = {**op.properties, "padding": padding}
    replace(
        op,
        StableHLOCarrier.before(op).make_one(
            "convolution", op.operands[:2], op.results[0].type, **properties
        ),
    )


def _known_padding(op: Operation) -> DenseIntOrFPElementsAttr:
    numbers = _numbers(op, 2, "amounts of padding")
    type_ = TensorType(i64, value_shape(op.operands[2]))
    return elements_of(cast("ElementsType", type_), numbers)


def _get_dimension_size(op: Operation) -> None:
    extent = value_shape(op.operands[0])[integer(op, "dimension")]
    if extent < 0:
        refuse_to_legalize(
            op,
            "the extent is only known when the program runs, and programs of devices have buffers "
            "of fixed sizes; give every argument a static shape",
        )
    replace(op, StableHLOCarrier.before(op).make_constant(op.results[0].type, [extent]))


def _set_dimension_size(op: Operation) -> None:
    """What is beyond the new extent is never looked at, so that it is cut off."""
    (size,) = _numbers(op, 1, "new extent")
    shape, dim = value_shape(op.operands[0]), integer(op, "dimension")
    if not 0 <= size <= shape[dim]:
        refuse_to_legalize(op, f"the extent {size} is not between 0 and {shape[dim]}")
    kept = [size if place == dim else extent for place, extent in enumerate(shape)]
    write = StableHLOCarrier.before(op)
    replace(op, write.slice(op.operands[0], _checked_type(op, kept)))


FIRST_SIZE = {
    "stablehlo.dynamic_broadcast_in_dim": 1,
    "stablehlo.dynamic_conv": 2,
    "stablehlo.dynamic_gather": 2,
    "stablehlo.dynamic_iota": 0,
    "stablehlo.dynamic_pad": 2,
    "stablehlo.dynamic_reshape": 1,
    "stablehlo.real_dynamic_slice": 1,
    "stablehlo.set_dimension_size": 1,
}
"""The first operand that is a size; those after it are sizes, too."""
RULES: dict[str, ConversionRule] = {
    "stablehlo.dynamic_broadcast_in_dim": _broadcast_in_dim,
    "stablehlo.dynamic_conv": _convolution,
    "stablehlo.dynamic_gather": _gather,
    "stablehlo.dynamic_iota": _iota,
    "stablehlo.dynamic_pad": _pad,
    "stablehlo.dynamic_reshape": _reshape,
    "stablehlo.get_dimension_size": _get_dimension_size,
    "stablehlo.real_dynamic_slice": _slice,
    "stablehlo.set_dimension_size": _set_dimension_size,
}
"""Rules by the full name of the operation."""


# --- Shape calls ----------------------------------------------------------------------------------
# Custom calls that JAX writes about shapes which are only known when a program is called.
#
# `jax.export` with symbolic extents makes them: some check what the caller gives, others say to
# what shape a value is to be refined.


def _check(op: Operation) -> None:
    """Drop an assertion that holds; its other operands are numbers for the message."""
    sizes = KnownSizes()
    (holds,) = sizes.numbers(op, 0, "extents that are checked")
    if not holds:
        said = op.attributes.get("error_message")
        message = said.data if isinstance(said, StringAttr) else "an assertion about shapes fails"
        for number, operand in enumerate(op.operands[1:]):
            found = sizes.find(operand)
            message = message.replace(f"{{{number}}}", str(found[0]) if found else "?")
        refuse_at(op, message)
    erase(op)


def _pass_on(op: Operation) -> None:
    """Let go of the shape, which the operand has when it is refined."""
    replace(op, op.operands[0])


_CALLS: dict[str, ConversionRule] = {
    "shape_assertion": _check,
    "stablehlo.shape_refinement_operand_wrapper": _pass_on,
}


def rule_of_call(op: Operation) -> ConversionRule | None:
    """The rule of a custom call about shapes; None for other operations."""
    if op.name != "stablehlo.custom_call":
        return None
    return _CALLS.get(cast("StringAttr", op.properties["call_target_name"]).data)


# --- Stablehlo refine shapes ----------------------------------------------------------------------

_BROADCASTS = "chlo.broadcast_"
_SAME_SHAPE = (ElementwiseOp, ChloElementwiseOp, ReducePrecisionOp)
_LIKE_OPERANDS = ("stablehlo.optimization_barrier", "stablehlo.custom_call")
"""Operations whose results have the shapes of their operands, if there are as many."""


@dataclass(frozen=True)
class StableHLORefineShapesPass(ModulePass):
    """Find the shapes that types leave open, from sizes that are known while compiling."""

    name = "stablehlo-refine-shapes"
    title = "StablehloRefineShapesPass"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Refine every function."""
        for function in module.ops:
            if any(_is_refined(op) for op in function.walk()):
                for region in function.regions:
                    for block in region.blocks:
                        _refine(block, in_loop=False)
                if isinstance(function, FuncOp):
                    _refine_signature(function)


def _is_refined(op: Operation) -> bool:
    return _rule_of(op) is not None or any(map(_is_open, (*op.results, *op.operands)))


def _rule_of(op: Operation) -> ConversionRule | None:
    """What makes an operation of constant sizes; None for operations that stay."""
    if op.name.startswith(_BROADCASTS) and any(map(_is_open, op.results)):
        return None if any(map(_is_open, op.operands)) else broadcasting.RULES[op.name]
    return RULES.get(op.name) or rule_of_call(op)


def _is_open(value: SSAValue) -> bool:
    """True for tensors of which an extent is not known."""
    type_ = value.type
    if not isinstance(type_, TensorType):
        return False
    return not cast("TensorType[Attribute]", type_).has_static_shape()


def _refine(block: Block, *, in_loop: bool) -> None:
    """Refine the operations of a block in order, and what they contain."""
    is_changed = False
    op = block.first_op
    while op is not None:
        rule = _rule_of(op)
        if rule is not None and not (in_loop and not _can_be_applied(op)):
            before = op.prev_op
            rule(op)
            is_changed = True
            op = block.first_op if before is None else before.next_op
            continue
        _refine_inside(op, in_loop=in_loop)
        _refine_results(op)
        op = op.next_op
    if is_changed:
        # Sizes are no operands any more.
        erase_unused(op for op in block.ops if op.has_trait(Pure))


def _can_be_applied(op: Operation) -> bool:
    """True if all sizes that an operation has as operands are known."""
    sizes = KnownSizes()
    first = FIRST_SIZE.get(op.name, len(op.operands))
    is_open = first == 0 or _is_open(op.operands[0])
    return not is_open and all(sizes.find(value) is not None for value in op.operands[first:])


def _refine_inside(op: Operation, *, in_loop: bool) -> None:
    """Refine the regions of loops, which begin with the types of the operands, and of branches."""
    is_loop = op.name == "stablehlo.while"
    for region in op.regions:
        for block in region.blocks:
            if is_loop:
                for argument, operand in zip(block.args, op.operands, strict=True):
                    _set_type(argument, operand.type)
            _refine(block, in_loop=in_loop or is_loop)
    if not is_loop:
        return
    end = op.regions[1].block.last_op
    assert end is not None, "verified: a body ends in stablehlo.return"
    for number, (value, operand) in enumerate(zip(end.operands, op.operands, strict=True)):
        if value.type != operand.type and not _is_open(value) and not _is_open(operand):
            refuse_to_legalize(
                op,
                f"value #{number} of the loop is {operand.type} before and {value.type} after an "
                "iteration; buffers of devices have fixed sizes, so pad it to one size",
            )


def _refine_results(op: Operation) -> None:
    """Fill in what the operands say of the extents of the results."""
    if not any(map(_is_open, op.results)):
        return
    inferred = _inferred(op)
    for result, type_ in zip(op.results, inferred, strict=False):
        _set_type(result, type_)


def _inferred(op: Operation) -> Sequence[Attribute]:
    if op.name == "stablehlo.while":
        return op.operand_types
    if op.name in ("stablehlo.if", "stablehlo.case"):
        ends = [region.block.last_op for region in op.regions]
        branches = [end.operand_types for end in ends if end is not None]
        if any(types != branches[0] for types in branches[1:]):
            return ()
        return branches[0]
    if op.name in _LIKE_OPERANDS:
        return op.operand_types if len(op.operands) == len(op.results) else ()
    if not isinstance(op, StableHLOOp):
        return ()
    try:
        found = infer_types(op.check)
    except VerifyException as error:
        refuse_to_legalize(op, str(error))
    if found or not isinstance(op, _SAME_SHAPE):
        return found
    rank = len(_extents(op.results[0]))
    return [value.type for value in op.operands if len(_extents(value)) == rank][:1]


def _extents(value: SSAValue) -> tuple[int, ...]:
    return cast("TensorType[Attribute]", value.type).get_shape()


def _set_type(value: SSAValue, found: Attribute) -> None:
    """Give a tensor the extents that it leaves open; others, and its element type, stay."""
    type_ = value.type
    if not isinstance(type_, TensorType) or not isinstance(found, TensorType):
        return
    own = cast("TensorType[Attribute]", type_)
    extents = cast("TensorType[Attribute]", found).get_shape()
    shape = [
        other if extent == DYNAMIC_INDEX else extent
        for extent, other in zip(own.get_shape(), extents, strict=True)
    ]
    # Bounds of extents mean nothing where these are known.
    is_static = DYNAMIC_INDEX not in shape
    encoding = None if is_static else own.encoding
    new = TensorType(own.element_type, shape, *([] if encoding is None else [encoding]))
    if new != own:
        Rewriter.replace_value_with_new_type(value, new)


def _refine_signature(function: FuncOp) -> None:
    """Bring the type of a function to what it returns."""
    last = function.body.blocks.last
    end = None if last is None else last.last_op
    if end is not None:
        type_ = function.function_type
        outputs = [value.type for value in end.operands]
        new = FunctionType.from_lists(list(type_.inputs.data), outputs)
        function.properties["function_type"] = new

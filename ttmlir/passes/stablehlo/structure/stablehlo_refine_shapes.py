"""Find the shapes that types leave open, from sizes that are known while compiling.

Sizes that are operands become part of static operations where they are constants, extents of static
shapes or computed from these. What follows from them reaches all users of a value, loops, branches
and the results of the function.

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
known when the loops are written out.
Options: none.
Not done here: sizes that the program computes from its arguments are refused, since the buffers of
programs of devices have fixed sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, FunctionType, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ttmlir.dialects.chlo import ElementwiseOp as ChloElementwiseOp
from ttmlir.dialects.stablehlo.elementwise import ElementwiseOp, ReducePrecisionOp
from ttmlir.dialects.stablehlo.operation import StableHLOOp
from ttmlir.dialects.stablehlo.rules.shapes import infer_types
from ttmlir.ir.rewriting import erase_unused, refuse_to_legalize
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.stablehlo.specification import broadcasting
from ttmlir.passes.stablehlo.structure import dynamism
from ttmlir.passes.stablehlo.structure.known_sizes import KnownSizes
from ttmlir.passes.stablehlo.structure.shape_calls import rule_of_call

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

    from ttmlir.passes.core.ttir_conversion import ConversionRule

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
    return dynamism.RULES.get(op.name) or rule_of_call(op)


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
    first = dynamism.FIRST_SIZE.get(op.name, len(op.operands))
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

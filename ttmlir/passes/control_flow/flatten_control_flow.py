"""Unroll short loops of scf, affine and tosa, and outline longer ones as functions.

As `stablehlo-flatten-control-flow` does. Numbers that loops carry become tensors without
dimensions, and maps of affine become arithmetic.

Before:

    func.func @three_times(%x: tensor<33x70xf32>) -> tensor<33x70xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %0 = scf.for %i = %c0 to %c2 step %c1 iter_args(%sum = %x) -> (tensor<33x70xf32>) {
        %1 = arith.addf %sum, %x : tensor<33x70xf32>
        scf.yield %1 : tensor<33x70xf32>
      }
      return %0 : tensor<33x70xf32>
    }

After:

    module {
      func.func @three_times(%arg0: tensor<33x70xf32>) -> tensor<33x70xf32> {
        %0 = arith.addf %arg0, %arg0 : tensor<33x70xf32>
        %1 = arith.addf %0, %arg0 : tensor<33x70xf32>
        return %1 : tensor<33x70xf32>
      }
    }

Requires: calls inlined (`inline`); static shapes.
Ensures: no loop or branch of scf, affine or tosa is left.
Options: `max-trip-count` is the largest number of iterations of loops that are unrolled. 0, the
default, writes out loops of at most 64 iterations which become at most 256 operations.
Not done here: loops over memory, `scf.parallel`, `scf.forall`, and regions of several blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerAttr, IntegerType, TensorType, i32
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineConstraintKind,
    AffineDimExpr,
    AffineSymExpr,
)
from xdsl.traits import is_side_effect_free

from ttmlir.dialects.stablehlo import control as stablehlo
from ttmlir.ir.constants import constant_attr, constant_numbers
from ttmlir.ir.rewriting import erase, erase_unused, insert_before, refuse_to_legalize, replace
from ttmlir.ir.tensor_types import shape_of
from ttmlir.mlir.option_values import option
from ttmlir.passes.control_flow.flattening import captured_values, replace_within
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from xdsl.context import Context
    from xdsl.dialects import affine
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation
    from xdsl.ir.affine import AffineExpr, AffineMap, AffineSet

_DIALECTS = ("affine.", "scf.", "tensor.dim", "tosa.cond_if", "tosa.while_loop")


@dataclass(frozen=True)
class FlattenControlFlowPass(ModulePass):
    """Unroll short loops of scf, affine and tosa, and outline longer ones as functions."""

    name = "flatten-control-flow"
    max_trip_count: int = option(
        0, "Largest number of iterations of a loop that is unrolled; 0 for short loops"
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Flatten what every function contains, the outermost loops and branches first."""
        if not any(op.name.startswith(_DIALECTS) for op in module.walk()):
            return
        from xdsl.traits import is_side_effect_free

        from ttmlir.ir.rewriting import erase_unused
        from ttmlir.passes.control_flow.flattening import Flattening, TTIRChoices

        convert_regions(module)
        Flattening(module, self.max_trip_count, TTIRChoices()).flatten()
        erase_unused(op for op in module.walk() if _is_number(op) and is_side_effect_free(op))


def _is_number(op: Operation) -> bool:
    """True for what only served counters."""
    return op.name.startswith(("arith.", "tensor.from_elements", "tensor.extract"))


# --- Forms of StableHLO ---------------------------------------------------------------------------
# Loops and branches of scf, affine and tosa in the form of StableHLO's, around tensors alone.
#
# Numbers that a loop carries, or that a region takes from outside, are tensors without dimensions
# between the regions; places (`index`) have 32 bits there. Constants are not carried.


# --- Affine maps ----------------------------------------------------------------------------------
# Maps and sets of affine as operations of arith.

_KINDS = {
    AffineBinaryOpKind.Add: arith.AddiOp,
    AffineBinaryOpKind.Mul: arith.MuliOp,
    AffineBinaryOpKind.FloorDiv: arith.FloorDivSIOp,
    AffineBinaryOpKind.CeilDiv: arith.CeilDivSIOp,
}
_PREDICATES = {
    AffineConstraintKind.eq: "eq",
    AffineConstraintKind.ge: "sge",
    AffineConstraintKind.le: "sle",
}


def create_place(before: Operation, number: int) -> SSAValue:
    """A constant of type `index`."""
    return _add(before, arith.ConstantOp(IntegerAttr(number, IndexType())))


def results_of_map(
    before: Operation, map: AffineMap, operands: Sequence[SSAValue]
) -> list[SSAValue]:
    """What a map makes of its dimensions and symbols."""
    return [_compute(before, each, operands, map.num_dims) for each in map.results]


def combine(
    before: Operation,
    function: Callable[[SSAValue, SSAValue], Operation],
    values: Sequence[SSAValue],
) -> SSAValue:
    """What a function of two numbers makes of all numbers."""
    first, *others = values
    for other in others:
        first = _add(before, function(first, other))
    return first


def apply_map(op: Operation) -> None:
    """Replace an `affine.apply`."""
    apply = cast("affine.ApplyOp", op)
    replace(op, *results_of_map(op, apply.map.data, op.operands))


def apply_minimum(op: Operation) -> None:
    """Replace an `affine.min`."""
    minimum = cast("affine.MinOp", op)
    numbers = results_of_map(op, minimum.map.data, op.operands)
    replace(op, combine(op, arith.MinSIOp, numbers))


def holds(before: Operation, set: AffineSet, operands: Sequence[SSAValue]) -> SSAValue:
    """Whether all conditions of a set are true."""
    truths: list[SSAValue] = []
    for each in set.constraints:
        left, right = (
            _compute(before, side, operands, set.num_dims) for side in (each.lhs, each.rhs)
        )
        truths.append(_add(before, arith.CmpiOp(left, right, _PREDICATES[each.kind])))
    return combine(before, arith.AndIOp, truths)


def _compute(
    before: Operation, expression: AffineExpr, operands: Sequence[SSAValue], dims: int
) -> SSAValue:
    match expression:
        case AffineConstantExpr(value=number):
            return create_place(before, number)
        case AffineDimExpr(position=position):
            return operands[position]
        case AffineSymExpr(position=position):
            return operands[dims + position]
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            left, right = (_compute(before, each, operands, dims) for each in (lhs, rhs))
            if kind in _KINDS:
                return _add(before, _KINDS[kind](left, right))
            # What a division that rounds down leaves.
            quotient = _add(before, arith.FloorDivSIOp(left, right))
            whole = _add(before, arith.MuliOp(quotient, right))
            return _add(before, arith.SubiOp(left, whole))
        case _:
            raise AssertionError(f"an affine expression is {expression}")


# --- Regions --------------------------------------------------------------------------------------

_LESS = "slt"
_EQUAL = "eq"


def convert_regions(root: Operation) -> None:
    """Give everything inside an operation its common form, the innermost first."""
    for op in list(root.walk(reverse=True)):
        rule = RULES.get(op.name)
        if rule is not None and op.parent is not None:
            rule(op)


# -- numbers and tensors -------------------------------------------------------------------------


def _tensor_type(type_: Attribute) -> Attribute:
    if isinstance(type_, TensorType):
        return cast("Attribute", type_)
    return TensorType(i32 if isinstance(type_, IndexType) else type_, ())


def _add(before: Operation, op: Operation) -> SSAValue:
    op.location = before.location
    insert_before(before, op)
    return op.results[0]


def _to_tensor(before: Operation, value: SSAValue) -> SSAValue:
    """The tensor that holds a number; a tensor itself."""
    if isinstance(value.type, TensorType):
        return value
    if isinstance(value.type, IndexType):
        value = _add(before, arith.IndexCastOp(value, i32))
    type_ = _tensor_type(value.type)
    return _add(before, tensor.FromElementsOp.create(operands=[value], result_types=[type_]))


def _to_value(before: Operation, value: SSAValue, type_: Attribute) -> SSAValue:
    """The number of this type that a tensor holds; a tensor itself."""
    if isinstance(type_, TensorType):
        return value
    if not isinstance(type_, IndexType):
        return _add(before, tensor.ExtractOp(value, [], type_))
    number = _add(before, tensor.ExtractOp(value, [], i32))
    return _add(before, arith.IndexCastOp(number, type_))


def _first(block: Block) -> Operation:
    first = block.first_op
    assert first is not None, "verified: the block has an end"
    return first


def _end(block: Block) -> Operation:
    last = block.last_op
    assert last is not None, "verified: the block has an end"
    return last


def _return_tensors(block: Block, returned: Sequence[SSAValue]) -> Block:
    """Let a block take and return tensors instead of numbers."""
    end = _end(block)
    last = stablehlo.ReturnOp.create(
        operands=[_to_tensor(end, value) for value in returned], location=end.location
    )
    insert_before(end, last)
    erase(end)
    for argument in tuple(block.args):
        if not isinstance(argument.type, TensorType):
            new = block.insert_arg(_tensor_type(argument.type), argument.index)
            argument.replace_all_uses_with(_to_value(_first(block), new, argument.type))
            block.erase_arg(argument)
    return block


def _pass_numbers(op: Operation, blocks: Sequence[Block]) -> None:
    """Hand numbers from outside, other than constants, to regions as tensors."""
    for value in captured_values(blocks):
        type_ = value.type
        if isinstance(type_, TensorType) or constant_attr(value) is not None:
            continue
        if not isinstance(type_, (AnyFloat, IndexType, IntegerType)):
            refuse_to_legalize(
                op, f"it uses a value of type {type_}; supported are tensors and numbers"
            )
        passed = _to_tensor(op, value)
        for block in blocks:
            if value in captured_values([block]):
                replace_within(value, _to_value(_first(block), passed, value.type), block)


def _build(
    op: Operation,
    cls: type[Operation],
    operands: Sequence[SSAValue],
    types: Sequence[Attribute],
    blocks: Sequence[Block],
) -> list[SSAValue]:
    """The results, of these types, of a loop or branch of StableHLO in front of an operation.

    The blocks take and return tensors.
    """
    _pass_numbers(op, blocks)
    new = cls.create(
        operands=[_to_tensor(op, value) for value in operands],
        result_types=[_tensor_type(type_) for type_ in types],
        regions=[Region(block) for block in blocks],
        location=op.location,
    )
    insert_before(op, new)
    return [_to_value(op, result, type_) for result, type_ in zip(new.results, types, strict=True)]


def _take(region: Region) -> Block:
    """The block of a region, which loses it."""
    return region.detach_block(region.block)


# -- loops ---------------------------------------------------------------------------------------


def _count(
    op: Operation,
    lower: SSAValue,
    upper: SSAValue,
    step: SSAValue,
    carried: Sequence[SSAValue],
) -> None:
    """Replace a loop with a counter, whose body takes the counter and what is carried."""
    body = _take(op.regions[0])
    condition = Block(arg_types=[argument.type for argument in body.args])
    less = arith.CmpiOp(condition.args[0], upper, _LESS)
    condition.add_ops([less, scf.YieldOp(less)])
    for each in condition.ops:
        each.location = op.location
    end = _end(body)
    following = _add(end, arith.AddiOp(body.args[0], step))
    values = _build(
        op,
        stablehlo.WhileOp,
        [lower, *carried],
        [argument.type for argument in body.args],
        [
            _return_tensors(condition, [less.result]),
            _return_tensors(body, [following, *end.operands]),
        ],
    )
    replace(op, *values[1:])


def _for(op: Operation) -> None:
    lower, upper, step, *carried = op.operands
    _count(op, lower, upper, step, carried)


def _affine_for(op: Operation) -> None:
    loop = cast("affine.ForOp", op)
    lowers = results_of_map(op, loop.lowerBoundMap.data, loop.lowerBoundOperands)
    uppers = results_of_map(op, loop.upperBoundMap.data, loop.upperBoundOperands)
    _count(
        op,
        combine(op, arith.MaxSIOp, lowers),
        combine(op, arith.MinSIOp, uppers),
        create_place(op, loop.step.value.data),
        loop.inits,
    )


def _while(op: Operation) -> None:
    """A loop whose first region hands values on to its second one, and out of the loop."""
    before, after = map(_take, op.regions)
    asked, *forwarded = _end(before).operands
    types = [argument.type for argument in before.args]
    if forwarded == list(before.args):
        values = _loop(op, types, before, asked, after)
        replace(op, *values)
        return
    body = Block(arg_types=types)
    end = _end(after)
    body.add_op(scf.YieldOp(*end.operands))
    _end(body).location = end.location
    erase(end)
    handed = _copy(before, body.args, _end(body), forwarded)
    for inner in tuple(after.ops):
        inner.detach()
        insert_before(_end(body), inner)
    for argument, value in zip(after.args, handed, strict=True):
        argument.replace_all_uses_with(value)
    # The condition is what is left of the first region.
    condition = Block(arg_types=types)
    condition.add_op(scf.YieldOp())
    _end(condition).location = op.location
    [copied] = _copy(before, condition.args, _end(condition), [asked])
    values = _loop(op, types, condition, copied, body)
    results = _copy(before, values, op, forwarded)
    replace(op, *results)
    before.drop_all_references()


def _loop(
    op: Operation, types: Sequence[Attribute], condition: Block, asked: SSAValue, body: Block
) -> list[SSAValue]:
    """The results of a loop whose regions both take what is carried."""
    for block in (condition, body):
        _erase_dead(block, asked)
    blocks = [_return_tensors(condition, [asked]), _return_tensors(body, _end(body).operands)]
    return _build(op, stablehlo.WhileOp, op.operands, types, blocks)


def _erase_dead(block: Block, kept: SSAValue) -> None:
    values = (op for op in block.ops if op.results and kept not in op.results)
    erase_unused(op for op in values if is_side_effect_free(op))


def _copy(
    block: Block, arguments: Sequence[SSAValue], before: Operation, wanted: Sequence[SSAValue]
) -> list[SSAValue]:
    """Values of a block for other arguments, its operations copied in front of `before`."""
    values: dict[SSAValue, SSAValue] = dict(zip(block.args, arguments, strict=True))
    *operations, _ = block.ops
    for each in operations:
        copy = each.clone(values)
        insert_before(before, copy)
        values.update(zip(each.results, copy.results, strict=True))
    return [values.get(value, value) for value in wanted]


def _tosa_while(op: Operation) -> None:
    condition, body = map(_take, op.regions)
    [asked] = _end(condition).operands
    blocks = [
        _return_tensors(condition, [_one_truth(_end(condition), asked)]),
        _return_tensors(body, _end(body).operands),
    ]
    types = [result.type for result in op.results]
    replace(op, *_build(op, stablehlo.WhileOp, op.operands, types, blocks))


def _one_truth(before: Operation, value: SSAValue) -> SSAValue:
    """A truth value without dimensions."""
    from ttmlir.ir.builder import Builder

    if any(extent != 1 for extent in shape_of(value.type)):
        refuse_to_legalize(before, f"a condition has 1 element, not those of {value.type}")
    return Builder.before(before).reshape(value, ())


# -- branches ------------------------------------------------------------------------------------


def _choose(
    op: Operation, cls: type[Operation], which: SSAValue, regions: Sequence[Region]
) -> None:
    """Replace a branch by one whose regions take nothing."""
    blocks = [_take(region) if region.blocks else _empty(op) for region in regions]
    for block in blocks:
        _return_tensors(block, _end(block).operands)
    types = [result.type for result in op.results]
    replace(op, *_build(op, cls, [which], types, blocks))


def _empty(op: Operation) -> Block:
    """A branch that does nothing."""
    end = scf.YieldOp()
    end.location = op.location
    return Block([end])


def _if(op: Operation) -> None:
    _choose(op, stablehlo.IfOp, op.operands[0], op.regions)


def _affine_if(op: Operation) -> None:
    branch = cast("affine.IfOp", op)
    truth = holds(op, branch.condition.data, branch.args)
    _choose(op, stablehlo.IfOp, truth, op.regions)


def _tosa_if(op: Operation) -> None:
    condition, *inputs = op.operands
    for region in op.regions:
        block = region.block
        for argument, value in zip(tuple(block.args), inputs, strict=False):
            argument.replace_all_uses_with(value)
            block.erase_arg(argument)
    _choose(op, stablehlo.IfOp, _one_truth(op, condition), op.regions)


def _index_switch(op: Operation) -> None:
    switch = cast("scf.IndexSwitchOp", op)
    cases = tuple(switch.cases.iter_values())
    number = switch.arg
    if cases != tuple(range(len(cases))):
        number = create_place(op, len(cases))
        for place, case in enumerate(cases):
            is_meant = _add(op, arith.CmpiOp(switch.arg, create_place(op, case), _EQUAL))
            number = _add(op, arith.SelectOp(is_meant, create_place(op, place), number))
    _choose(op, stablehlo.CaseOp, number, [*switch.case_regions, switch.default_region])


def _execute_region(op: Operation) -> None:
    if len(op.regions[0].blocks) != 1:
        refuse_to_legalize(op, "its region has several blocks; supported is one")
    *operations, end = op.regions[0].block.ops
    for inner in operations:
        inner.detach()
        insert_before(op, inner)
    replace(op, *end.operands)


def _dim(op: Operation) -> None:
    """An extent that the type says; others are left."""
    shape = shape_of(op.operands[0].type)
    found = constant_numbers(op.operands[1])
    if found is not None and 0 <= int(found[0]) < len(shape) and shape[int(found[0])] >= 0:
        replace(op, create_place(op, shape[int(found[0])]))


RULES: Mapping[str, Callable[[Operation], None]] = {
    "affine.apply": apply_map,
    "affine.for": _affine_for,
    "affine.if": _affine_if,
    "affine.min": apply_minimum,
    "scf.execute_region": _execute_region,
    "scf.for": _for,
    "scf.if": _if,
    "scf.index_switch": _index_switch,
    "scf.while": _while,
    "tensor.dim": _dim,
    "tosa.cond_if": _tosa_if,
    "tosa.while_loop": _tosa_while,
}
"""What becomes of each operation."""

"""Make functions of the bodies of loops and branches, as tt-mlir of 2026 calls them.

Before:

    func.func @main(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
      %begin = stablehlo.constant dense<0> : tensor<i32>
      %0:2 = stablehlo.while(%i = %begin, %x = %a) : tensor<i32>, tensor<5x7xf32>
        cond {
        %end = stablehlo.constant dense<4> : tensor<i32>
        %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %1 : tensor<i1>
      } do {
        %one = stablehlo.constant dense<1> : tensor<i32>
        %1 = stablehlo.add %i, %one : tensor<i32>
        %2 = stablehlo.tanh %x : tensor<5x7xf32>
        stablehlo.return %1, %2 : tensor<i32>, tensor<5x7xf32>
      }
      return %0#1 : tensor<5x7xf32>
    }

After:

    ...
        %0:2 = "ttcore.while_loop"(%c, %arg0) <{body_program = @main_counted_loop,
            initial = #ttcore.loop_bound<0>, limit = #ttcore.loop_bound<4>,
            output_indices = array<i32: 0, 1>, state_count = 2 : i32,
            step = #ttcore.loop_bound<1>}>
            : (tensor<i32>, tensor<5x7xf32>) -> (tensor<i32>, tensor<5x7xf32>)
    ...

Requires: nothing.
Ensures: no `stablehlo.while`, `stablehlo.case` or `stablehlo.if` is left; functions have what they
use from outside as arguments, after the state, and constants of their own.
Options: none.
Not done here: -
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    CallSiteLoc,
    DenseArrayBase,
    FunctionType,
    IntegerAttr,
    LocationAttr,
    StringAttr,
    SymbolRefAttr,
    i1,
    i32,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from ttmlir.dialects.ttcore import CaseOp, LoopBoundAttr, WhileLoopOp
from ttmlir.ir.constants import splat_number
from ttmlir.ir.rewriting import insert_before, replace
from ttmlir.ir.tensor_types import element_type
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

    from ttmlir.dialects.stablehlo.attrs import EnumAttr


@dataclass(frozen=True)
class StableHLOOutlineControlFlowPass(ModulePass):
    """Make functions of the bodies of loops and branches."""

    name = "stablehlo-outline-control-flow"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Outline the loops and branches of every function, those of new functions last."""
        waiting = [op for op in module.ops if isinstance(op, FuncOp)]
        while waiting:
            outliner = _Outliner(module, waiting.pop(0))
            for op in [*outliner.function.body.walk()] if outliner.function.body.blocks else []:
                if op.parent is None or op.parent_op() is not outliner.function:
                    continue
                if op.name == "stablehlo.while":
                    outliner.outline_loop(op)
                elif op.name in ("stablehlo.case", "stablehlo.if"):
                    outliner.outline_branches(op)
            waiting = [*outliner.made, *waiting]


class _Outliner:
    """Puts functions behind the one that they are called from."""

    def __init__(self, module: ModuleOp, function: FuncOp) -> None:
        self.module = module
        self.function = function
        self.made: list[FuncOp] = []

    # -- loops ---------------------------------------------------------------------------------

    def outline_loop(self, op: Operation) -> None:
        condition, body = op.regions
        returned = _terminator(body).operands
        state = [n for n, value in enumerate(returned) if value is not body.block.args[n]]
        fixed = [n for n in range(len(returned)) if n not in state]
        outside = _used_outside([body, condition])
        operands = [*(op.operands[n] for n in (*state, *fixed)), *outside]
        arguments = _Arguments([*state, *fixed], outside)
        counted = _count(op, state, fixed, operands)
        stem = self.function.sym_name.data
        names = [f"{stem}_counted_loop"]
        if counted is None:
            names = [f"{stem}_while_body", f"{stem}_while_condition"]
        names = self._free(names)
        types = [value.type for value in operands]
        results = [returned[n] for n in state]
        self._add(names[0], types, arguments, body, results)
        properties: dict[str, Attribute] = {
            "body_program": SymbolRefAttr(names[0]),
            "output_indices": DenseArrayBase.from_list(i32, [*range(len(state))]),
            "state_count": IntegerAttr(len(state), i32),
        }
        if counted is None:
            self._add(names[1], types, arguments, condition, _terminator(condition).operands)
            properties["condition_program"] = SymbolRefAttr(names[1])
        else:
            properties |= counted
        new = WhileLoopOp.create(
            operands=operands,
            result_types=[op.results[n].type for n in state],
            properties=properties,
            location=op.location,
        )
        insert_before(op, new)
        values: list[SSAValue] = [*op.operands[: len(op.results)]]
        for place, number in enumerate(state):
            values[number] = new.results[place]
        replace(op, *values)

    # -- branches ------------------------------------------------------------------------------

    def outline_branches(self, op: Operation) -> None:
        # The first region of `stablehlo.if` is that for true, which is number 1.
        regions = op.regions[::-1] if op.name == "stablehlo.if" else op.regions
        outside = _used_outside(regions)
        stem = self.function.sym_name.data
        names = self._free([f"{stem}_case_branch_{n}" for n in range(len(regions))])
        types = [value.type for value in outside]
        for name, region in zip(names, regions, strict=True):
            results = _terminator(region).operands
            self._add(name, types, _Arguments([], outside), region, results)
        index = op.operands[0]
        owner = index.owner
        if isinstance(owner, Operation) and owner.name == "stablehlo.convert":
            if element_type(owner.operands[0]) == i1:
                index = owner.operands[0]
        programs = ArrayAttr([SymbolRefAttr(name) for name in names])
        new = CaseOp.create(
            operands=[index, *outside],
            result_types=[result.type for result in op.results],
            properties={"branch_programs": programs},
            location=op.location,
        )
        insert_before(op, new)
        replace(op, *new.results)

    # -- functions -----------------------------------------------------------------------------

    def _free(self, names: Sequence[str]) -> list[str]:
        """Names that no function has, with a number at the end if need be."""
        taken = {op.sym_name.data for op in self.module.ops if isinstance(op, FuncOp)}
        number, found = 0, [*names]
        while taken.intersection(found):
            found = [f"{name}_{number}" for name in names]
            number += 1
        return found

    def _add(
        self,
        name: str,
        types: Sequence[Attribute],
        arguments: _Arguments,
        region: Region,
        results: Sequence[SSAValue],
    ) -> None:
        """A function with a copy of a region, and of the constants that it uses."""
        block = Block(arg_types=types)
        outlined = cast("Operation", region.parent)
        for argument in block.args:
            argument.location = outlined.location
        known = arguments.bind(region, block)
        for constant in _constants_outside(region):
            copy = constant.clone()
            # A constant that was moved in front of the operation is nowhere in its function.
            copy.location = _nowhere(outlined.location)
            block.add_op(copy)
            known[constant.results[0]] = copy.results[0]
        end = _terminator(region)
        for op in region.block.ops:
            if op is not end:
                block.add_op(op.clone(known))
        last = ReturnOp(*(known.get(value, value) for value in results))
        last.location = end.location
        block.add_op(last)
        type_ = FunctionType.from_lists(list(types), [value.type for value in results])
        function = FuncOp(name, type_, Region(block), visibility=StringAttr("private"))
        function.attributes["tt.function_type"] = StringAttr("forward_device")
        function.location = outlined.location
        parent = self.function.parent
        assert parent is not None, "functions are in a module"
        parent.insert_op_after(function, self.made[-1] if self.made else self._last())
        self.made.append(function)

    def _last(self) -> Operation:
        last = self.module.body.block.last_op
        assert last is not None, "the module has a function"
        return last


@dataclass(frozen=True)
class _Arguments:
    """What the arguments of a new function are: some of a region's, then values from outside."""

    numbers: Sequence[int]
    outside: Sequence[SSAValue]

    def bind(self, region: Region, block: Block) -> dict[SSAValue, SSAValue]:
        """The argument of a function for each value of a region."""
        own = [region.block.args[number] for number in self.numbers]
        return dict(zip([*own, *self.outside], block.args, strict=True))


def _nowhere(location: LocationAttr) -> LocationAttr:
    """No place of a function, called as the location says."""
    if isinstance(location, CallSiteLoc):
        return CallSiteLoc(UNKNOWN_LOC, location.caller)
    return UNKNOWN_LOC


def _terminator(region: Region) -> Operation:
    last = region.block.last_op
    assert last is not None, "verified: a region ends in stablehlo.return"
    return last


def _is_constant(value: SSAValue) -> bool:
    owner = value.owner
    return isinstance(owner, Operation) and owner.name == "stablehlo.constant"


def _values_outside(region: Region) -> list[SSAValue]:
    """What a region uses from outside, in the order in which it does."""
    inside: set[SSAValue] = set()
    for op in region.walk():
        inside.update(op.results)
        for nested in op.regions:
            for block in nested.blocks:
                inside.update(block.args)
    inside.update(region.block.args)
    found: dict[SSAValue, None] = {}
    for op in region.walk():
        for value in op.operands:
            if value not in inside:
                found[value] = None
    return [*found]


def _used_outside(regions: Sequence[Region]) -> list[SSAValue]:
    values = [value for region in regions for value in _values_outside(region)]
    return [value for value in dict.fromkeys(values) if not _is_constant(value)]


def _constants_outside(region: Region) -> list[Operation]:
    values = _values_outside(region)
    return [cast("Operation", value.owner) for value in values if _is_constant(value)]


# -- counting ----------------------------------------------------------------------------------


def _count(
    op: Operation, state: Sequence[int], fixed: Sequence[int], operands: Sequence[SSAValue]
) -> dict[str, Attribute] | None:
    """What a loop counts from, to and by; None if it does not count."""
    condition, body = op.regions
    (answer,) = _terminator(condition).operands
    compare = answer.owner
    if not isinstance(compare, Operation) or compare.name != "stablehlo.compare":
        return None
    if cast("EnumAttr", compare.properties["comparison_direction"]).data != "LT":
        return None
    if len([*condition.block.ops]) > 2 + sum(_is_constant(v) for v in compare.operands):
        return None
    counter, limit = compare.operands
    if not isinstance(counter, BlockArgument) or counter.index not in state:
        return None
    number = counter.index
    step = _terminator(body).operands[number].owner
    if not isinstance(step, Operation) or step.name != "stablehlo.add":
        return None
    first, second = step.operands
    by = splat_number(second)
    if first is not body.block.args[number] or by is None or str(element_type(first)) != "i32":
        return None
    order = [*state, *fixed]
    end = _bound(limit, condition, order, operands)
    begin = _bound(op.operands[number], condition, order, operands)
    if end is None or begin is None:
        return None
    return {"initial": begin, "limit": end, "step": LoopBoundAttr((int(by), None))}


def _bound(
    value: SSAValue, condition: Region, order: Sequence[int], operands: Sequence[SSAValue]
) -> LoopBoundAttr | None:
    """A number, or the operand that is it."""
    number = splat_number(value)
    if number is not None:
        return LoopBoundAttr((int(number), None))
    if isinstance(value, BlockArgument) and value.owner is condition.block:
        return LoopBoundAttr((0, order.index(value.index)))
    if value in operands:
        return LoopBoundAttr((0, list(operands).index(value)))
    return None

"""Regions of loops and branches as private functions of the module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue

from ttmlir.dialects import ttir
from ttmlir.ir.constants import CONSTANTS
from ttmlir.ir.rewriting import erase, insert_before, symbols_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.ir import Attribute, Use


@dataclass(frozen=True)
class Outlined:
    """What a loop or branch has become."""

    functions: Sequence[FuncOp]
    """Those that are called."""
    results: list[SSAValue]
    """What stands for the results of the loop or branch."""


@dataclass
class Outlining:
    """Makes functions of regions, under names that are free in the module."""

    module: ModuleOp

    def __post_init__(self) -> None:
        """Look at the names that are taken."""
        self._names = set(symbols_in(self.module))

    def outline_loop(self, op: Operation, trip_count: int | None) -> Outlined:
        """Put a `ttir.while` in front of a `stablehlo.while`, whose regions it takes."""
        condition, body = op.regions
        blocks = [body.block] if trip_count is not None else [body.block, condition.block]
        self._take_in_constants(blocks)
        end = body.block.last_op
        assert end is not None, "verified: a body ends in stablehlo.return"
        changes = [
            value is not arg for value, arg in zip(end.operands, body.block.args, strict=True)
        ]
        carried = [place for place, changed in enumerate(changes) if changed]
        for place, changed in enumerate(changes):
            if not changed and _is_constant(op.operands[place]):
                _copy_constant(op.operands[place], [block.args[place] for block in blocks])
        shared = [
            place
            for place, changed in enumerate(changes)
            if not changed and any(_is_used(block, place, end) for block in blocks)
        ]
        captured = captured_values(blocks)
        places = [*carried, *shared]
        operands = [*(op.operands[place] for place in places), *captured]
        returned = [end.operands[place] for place in carried]
        parts = ((blocks[0], "body", returned),)
        if trip_count is None:
            last = condition.block.last_op
            assert last is not None, "verified: a condition ends in stablehlo.return"
            parts = (*parts, (blocks[1], "condition", [last.operands[0]]))
        functions = [
            self._function(op, block, kind, places, captured, values)
            for block, kind, values in parts
        ]
        loop = ttir.WhileOp.make(
            operands,
            [op.results[place].type for place in carried],
            functions[0].sym_name.data,
            condition=None if trip_count is not None else functions[1].sym_name.data,
            trip_count=trip_count,
            location=op.location,
        )
        insert_before(op, loop)
        results = list(op.operands)
        for place, result in zip(carried, loop.results, strict=True):
            results[place] = result
        return Outlined(functions, results)

    def outline_branches(self, op: Operation, regions: Sequence[Region]) -> Outlined:
        """Put a `ttir.case` in front of a `stablehlo.if` or `case`, whose regions it takes."""
        blocks = [region.block for region in regions]
        self._take_in_constants(blocks)
        captured = captured_values(blocks)
        functions: list[FuncOp] = []
        for block in blocks:
            last = block.last_op
            assert last is not None, "verified: a branch ends in stablehlo.return"
            functions.append(self._function(op, block, "branch", (), captured, last.operands))
        case = ttir.CaseOp.make(
            op.operands[0],
            captured,
            [result.type for result in op.results],
            [function.sym_name.data for function in functions],
            location=op.location,
        )
        insert_before(op, case)
        return Outlined(functions, list(case.results))

    def _take_in_constants(self, blocks: Sequence[Block]) -> None:
        """Give each region constants of its own: what is known there stays known."""
        for block in blocks:
            for value in captured_values([block]):
                if _is_constant(value):
                    _copy_constant(value, [value], within=block)

    def _function(
        self,
        op: Operation,
        block: Block,
        kind: str,
        places: Sequence[int],
        captured: Sequence[SSAValue],
        returned: Sequence[SSAValue],
    ) -> FuncOp:
        """The function of a region, which takes arguments of it and what it captures."""
        arguments = [block.args[place] for place in places]
        types: list[Attribute] = [value.type for value in (*arguments, *captured)]
        results = [value.type for value in returned]
        new = Block(arg_types=types)
        end = block.last_op
        assert end is not None, "regions of loops and branches end in stablehlo.return"
        new.add_op(ReturnOp.create(operands=returned, location=end.location))
        erase(end)
        last = new.last_op
        assert last is not None, "it was just added"
        for inner in tuple(block.ops):
            inner.detach()
            insert_before(last, inner)
        for argument, outer in zip(new.args, (*arguments, *captured), strict=True):
            replace_within(outer, argument, new)
        function = FuncOp(
            self._free_name(op, kind), (types, results), Region(new), visibility="private"
        )
        function.location = op.location
        self.module.body.block.add_op(function)
        return function

    def _free_name(self, op: Operation, kind: str) -> str:
        around = op.parent_op()
        while around is not None and not isinstance(around, FuncOp):
            around = around.parent_op()
        base = "main" if around is None else around.sym_name.data
        number = 0
        while (name := f"{base}_{kind}{number}") in self._names:
            number += 1
        self._names.add(name)
        return name


def _is_constant(value: SSAValue) -> bool:
    """True for values that a region had better make itself: what is known there stays known."""
    owner = value.owner
    if not isinstance(owner, Operation):
        return False
    return owner.name in CONSTANTS or (owner.name == "tensor.empty" and not owner.operands)


def _copy_constant(
    constant: SSAValue, values: Sequence[SSAValue], *, within: Block | None = None
) -> None:
    """Let the users of values in a block, or of arguments of blocks, use copies of a constant."""
    owner = constant.owner
    assert not isinstance(owner, Block), "constants are operations"
    for value in values:
        block = within or value.owner
        assert isinstance(block, Block), "values are arguments, unless the block is given"
        first = block.first_op
        assert first is not None, "regions of loops and branches end in stablehlo.return"
        copy = owner.clone()
        insert_before(first, copy)
        end = block.last_op
        for use in tuple(value.uses):
            if not _hands_on(use, value, end) and _is_inside(use.operation, block):
                use.operation.operands[use.index] = copy.results[0]


def _is_used(block: Block, place: int, end: Operation) -> bool:
    """True if an argument is used, other than to hand it on to the next iteration."""
    argument = block.args[place]
    return any(not _hands_on(use, argument, end) for use in argument.uses)


def _hands_on(use: Use, value: SSAValue, end: Operation | None) -> bool:
    """True where a body hands an argument on to the next iteration as it was."""
    is_argument = isinstance(value, BlockArgument)
    return is_argument and use.operation is end and use.index == value.index


def _is_inside(op: Operation, block: Block) -> bool:
    around: Block | None = op.parent
    while around is not None:
        if around is block:
            return True
        owner = around.parent_op()
        around = None if owner is None else owner.parent
    return False


def captured_values(blocks: Sequence[Block]) -> list[SSAValue]:
    """The values that blocks use and do not define, in the order of their first use."""
    found: dict[SSAValue, None] = {}
    for block in blocks:
        own: set[SSAValue] = set(block.args)
        used: list[SSAValue] = []
        for op in block.walk():
            used.extend(op.operands)
            own.update(op.results)
            own.update(arg for region in op.regions for each in region.blocks for arg in each.args)
        found.update(dict.fromkeys(value for value in used if value not in own))
    return list(found)


def replace_within(old: SSAValue, new: SSAValue, block: Block) -> None:
    """Let what is inside a block use another value."""
    for use in tuple(old.uses):
        if _is_inside(use.operation, block):
            use.operation.operands[use.index] = new

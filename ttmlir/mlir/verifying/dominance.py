"""Every value must be defined before it is used, on every way to the use.

Source of the rules and the words: `verifyDominanceOfContainedRegions` in mlir/lib/IR/Verifier.cpp.
Modules and operations without a definition hold graphs, where order says nothing.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, UnregisteredOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.traits import IsolatedFromAbove

from ttmlir.mlir.reporting.diagnostics import Diagnostic, note, op_diagnostic

_GRAPHS = (ModuleOp, UnregisteredOp)


def dominance_faults(top: Operation) -> list[Diagnostic]:
    """Uses inside `top` that their definitions do not dominate; isolated operations are skipped."""
    checker = _Checker(top)
    for region in top.regions:
        checker.check_region(region)
        if checker.faults:
            break
    return checker.faults


class _Checker:
    def __init__(self, top: Operation):
        self.faults: list[Diagnostic] = []
        self._top = top
        self._visible: set[SSAValue] = set()
        self._dominators: dict[Region, dict[Block, Block | None]] = {}

    def check_region(self, region: Region) -> None:
        """Check the uses in a region, with what is visible around it."""
        outer = self._visible
        if isinstance(region.parent, _GRAPHS):
            self._visible = outer | {v for block in region.blocks for v in _defined_in(block)}
            for block in region.blocks:
                self._check_block(block)
        elif region.blocks.first is not region.blocks.last:
            self._check_graph_of_blocks(region, outer)
        elif region.blocks.first is not None:
            self._check_only_block(region.blocks.first)
        self._visible = outer

    def _check_only_block(self, block: Block) -> None:
        """One block: visit in order, and forget at the end what it defined."""
        self._check_block(block)
        self._visible.difference_update(_defined_in(block))

    def _check_graph_of_blocks(self, region: Region, outer: set[SSAValue]) -> None:
        dominators = immediate_dominators(region)
        for block in region.blocks:
            if block not in dominators:
                continue  # Unreachable: anything goes, as in MLIR.
            self._visible = set(outer)
            above = dominators[block]
            while above is not None:
                self._visible.update(_defined_in(above))
                above = dominators[above]
            self._check_block(block)

    def _check_block(self, block: Block) -> None:
        visible = self._visible
        visible.update(block.args)
        for op in block.ops:
            for index, operand in enumerate(op.operands):
                if operand not in visible:
                    self.faults.append(self._fault(op, index, operand))
                    return
            if op.regions and not op.has_trait(IsolatedFromAbove, value_if_unregistered=False):
                for region in op.regions:
                    self.check_region(region)
                    if self.faults:
                        return
            visible.update(op.results)

    def _fault(self, op: Operation, index: int, operand: SSAValue) -> Diagnostic:
        if not _is_inside(operand, self._top):
            where = note(self._top.location, "required by region isolation constraints")
            message = "using value defined outside the region"
            return op_diagnostic(op, message, (where,), with_name=True)
        message = f"operand #{index} does not dominate this use"
        return op_diagnostic(op, message, _definition_notes(op, operand), with_name=False)


def _defined_in(block: Block) -> list[SSAValue]:
    return [*block.args, *(result for op in block.ops for result in op.results)]


def _is_inside(value: SSAValue, top: Operation) -> bool:
    op = value.owner.parent_op()
    while op is not None and op is not top:
        op = op.parent_op()
    return op is top


def _definition_notes(use: Operation, value: SSAValue) -> tuple[Diagnostic, ...]:
    if isinstance(value, OpResult):
        definition = value.op
        relation = _relation(use.parent, definition.parent)
        return (note(definition.location, f"operand defined here (op in {relation})"),)
    if isinstance(value, BlockArgument):
        block = value.block
        region = block.parent
        number = list(region.blocks).index(block) if region is not None else 0
        relation = _relation(use.parent, block)
        text = f"operand defined as a block argument (block #{number} in {relation})"
        return (note(value.location, text),)
    return ()


def _relation(use: Block | None, definition: Block | None) -> str:
    assert use is not None
    assert definition is not None
    if use is definition:
        return "the same block"
    region, defining_region = use.parent, definition.parent
    if region is defining_region:
        return "the same region"
    while region is not None:
        region = region.parent_region()
        if region is defining_region:
            return "a parent region"
    return "a child region"


def immediate_dominators(region: Region) -> dict[Block, Block | None]:
    """For each block that can be reached, the closest other block on every way to it.

    K. D. Cooper, T. J. Harvey, K. Kennedy: A Simple, Fast Dominance Algorithm (2001).
    """
    entry = region.blocks.first
    if entry is None:
        return {}
    order = _postorder(entry)
    number = {block: index for index, block in enumerate(order)}
    dominators: dict[Block, Block] = {entry: entry}

    def common(a: Block, b: Block) -> Block:
        while a is not b:
            if number[a] < number[b]:
                a = dominators[a]
            else:
                b = dominators[b]
        return a

    changed = True
    while changed:
        changed = False
        for block in reversed(order[:-1]):
            known = [p for p in block.predecessors() if p in dominators]
            closest = known[0]
            for predecessor in known[1:]:
                closest = common(closest, predecessor)
            if dominators.get(block) is not closest:
                dominators[block] = closest
                changed = True
    return {block: None if block is entry else above for block, above in dominators.items()}


def _postorder(entry: Block) -> list[Block]:
    order: list[Block] = []
    seen = {entry}
    stack = [(entry, iter(_successors(entry)))]
    while stack:
        block, successors = stack[-1]
        for successor in successors:
            if successor not in seen:
                seen.add(successor)
                stack.append((successor, iter(_successors(successor))))
                break
        else:
            order.append(block)
            stack.pop()
    return order


def _successors(block: Block) -> list[Block]:
    last = block.last_op
    return list(last.successors) if last is not None else []

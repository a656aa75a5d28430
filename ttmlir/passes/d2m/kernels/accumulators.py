"""Sums over several blocks that stay in DST until the last one.

Functions that were regions of a `d2m.generic` add up in the circular buffer of the output: each
step of a reduction reads back what the step before has stored there, and stores it again. Nothing
tells the unpacker when the packer has written, and what is stored on the way is of no use. Where
the loops allow it, the tiles stay in DST: they are packed, and stored by the other kernel, after
the last step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IntegerAttr, MemRefType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.d2m.late import GetCBOp, PushOp
from ttmlir.dialects.ttcore import memory_space_of
from ttmlir.ir.rewriting import erase
from ttmlir.layout.enums import MemorySpace
from ttmlir.passes.d2m.regions.d2m_generate_outer_loops import BLOCKING_LOOP
from ttmlir.passes.d2m.regions.region_builder import constant_of

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

_PARTS = memref.CollapseShapeOp | memref.SubviewOp | memref.CastOp


def keep_accumulators(module: ModuleOp, functions: Mapping[str, FuncOp]) -> None:
    """Let the functions of every generic keep in DST what they add up, where they can.

    Their loops are those of scf.
    """
    for op in module.walk():
        if not isinstance(op, d2m.GenericOp) or op.regions:
            continue
        named = [(each.kind, functions.get(each.symbol or "")) for each in op.threads]
        computing = [f for kind, f in named if f and kind is d2m.ThreadKind.COMPUTE]
        moving = [f for kind, f in named if f and kind is not d2m.ThreadKind.COMPUTE]
        for function in computing:
            for branch in [each for each in function.walk() if isinstance(each, scf.IfOp)]:
                _keep(branch, moving)


def _keep(branch: scf.IfOp, moving: Sequence[FuncOp]) -> None:
    loops = _reduction_loops(branch)
    reserve = _read_back(branch)
    if not loops or reserve is None or reserve.parent is not branch.parent:
        return
    buffer = reserve.operands[0]
    stores = [loop for function in moving for loop in _storing_loops(function, buffer)]
    numbers = {_number(loop) for loop in loops}
    inner = [loop for loop in stores if _number(loop) in numbers]
    if len(inner) != len(loops) or any(loop.body.block.args[0].first_use for loop in inner):
        return
    block = cast("Block", branch.parent)
    begins = [op for op in block.ops if _begins(op, reserve)]
    ends = [op for op in block.ops if op not in begins and _ends(op, reserve)]
    outermost = loops[0]
    moved = {id(each) for op in (*begins, *ends) for each in op.walk()}
    needed = _needed((*begins, *ends), outermost, moved)
    if needed is None:
        return
    erase(branch)
    parent = cast("Block", outermost.parent)
    for op in (*needed, *begins):
        op.detach()
        parent.insert_op_before(op, outermost)
    last: Operation = outermost
    for op in ends:
        op.detach()
        parent.insert_op_after(op, last)
        last = op
    for loop in inner:
        _unroll(loop)


def _reduction_loops(branch: scf.IfOp) -> list[scf.ForOp]:
    """The loops around a branch that is taken in all steps but the first one, outermost first.

    Empty where a loop of several steps stands in between, or for another condition.
    """
    waiting, loops = [branch.cond], list[scf.ForOp]()
    while waiting:
        owner = waiting.pop().owner
        if isinstance(owner, arith.OrIOp):
            waiting += owner.operands
            continue
        if not isinstance(owner, arith.CmpiOp) or owner.predicate.value.data != _NOT_EQUAL:
            return []
        step, first = owner.operands
        loop = step.owner.parent_op() if isinstance(step, BlockArgument) else None
        if not isinstance(loop, scf.ForOp) or constant_of(first) != 0 or _number(loop) is None:
            return []
        loops.append(loop)
    around = _loops_around(branch)
    while around and around[0] not in loops:
        around.pop(0)
    if not all(loop in loops or _runs_once(loop) for loop in around):
        return []
    return [loop for loop in around if loop in loops]


_NOT_EQUAL = 1
"""The predicate `ne` of `arith.cmpi`."""


def _loops_around(op: Operation) -> list[scf.ForOp]:
    found: list[scf.ForOp] = []
    parent = op.parent_op()
    while isinstance(parent, scf.ForOp):
        found.insert(0, parent)
        parent = parent.parent_op()
    return found


def _runs_once(loop: scf.ForOp) -> bool:
    return constant_of(loop.lb) == 0 and constant_of(loop.ub) == 1


def _number(loop: scf.ForOp) -> int | None:
    """The iterator whose blocks a loop goes over."""
    attr = loop.attributes.get(BLOCKING_LOOP)
    return attr.value.data if isinstance(attr, IntegerAttr) else None


def _root(value: SSAValue) -> SSAValue:
    while isinstance(value.owner, _PARTS):
        value = value.owner.operands[0]
    return value


def _read_back(branch: scf.IfOp) -> d2m.ReserveOp | None:
    """The block of an output that a branch copies to DST, if it does nothing else."""
    found: set[Operation] = set()
    for op in branch.walk():
        if isinstance(op, memref.StoreOp) and not _is_dst(op.memref):
            return None
        if isinstance(op, memref.LoadOp):
            root = _root(op.memref).owner
            if not isinstance(root, d2m.ReserveOp):
                return None
            found.add(root)
    (reserve,) = found if len(found) == 1 else (None,)
    return reserve if isinstance(reserve, d2m.ReserveOp) else None


def _is_dst(value: SSAValue) -> bool:
    type_ = cast("MemRefType[Attribute]", _root(value).type)
    return memory_space_of(type_) is MemorySpace.REGISTER_DST


def _same_buffer(a: SSAValue, b: SSAValue) -> bool:
    """True for one circular buffer in two functions."""
    if isinstance(a.owner, GetCBOp) and isinstance(b.owner, GetCBOp):
        return a.owner.number == b.owner.number
    return isinstance(a, BlockArgument) and isinstance(b, BlockArgument) and a.index == b.index


def _storing_loops(function: FuncOp, buffer: SSAValue) -> Iterator[scf.ForOp]:
    """The loops in which a kernel waits for a circular buffer, and for no other one."""
    held = [op for op in function.walk() if isinstance(op, d2m.WaitOp | d2m.ReserveOp)]
    for op in held:
        if isinstance(op, d2m.WaitOp) and _same_buffer(op.operands[0], buffer):
            for loop in _loops_around(op):
                if not any(other is not op and other in list(loop.walk()) for other in held):
                    yield loop


def _begins(op: Operation, reserve: d2m.ReserveOp) -> bool:
    """True for what makes room in a circular buffer and in DST."""
    if op is reserve or isinstance(op, d2m.AcquireDstOp):
        return True
    root = _root(op.results[0]) if isinstance(op, _PARTS) else None
    return root is not None and (
        root is reserve.results[0] or isinstance(root.owner, d2m.AcquireDstOp)
    )


def _ends(op: Operation, reserve: d2m.ReserveOp) -> bool:
    """True for what packs tiles of DST, and hands them over."""
    if isinstance(op, PushOp):
        return op.operands[0] is reserve.operands[0]
    if isinstance(op, memref.LoadOp):
        users = [use.operation for use in op.results[0].uses]
        return bool(users) and all(_ends(user, reserve) for user in users)
    return any(
        isinstance(each, memref.StoreOp) and _root(each.memref) is reserve.results[0]
        for each in op.walk()
    )


def _needed(ops: Sequence[Operation], loop: scf.ForOp, moved: set[int]) -> list[Operation] | None:
    """The constants in a loop that operations use which leave it; None if they use more of it."""
    found: dict[Operation, None] = {}
    for op in ops:
        for each in op.walk():
            for value in each.operands:
                owner = value.owner
                inside = owner if isinstance(owner, Operation) else owner.parent_op()
                if inside is None or id(inside) in moved or inside in found:
                    continue
                if inside is loop or loop.is_ancestor(inside):
                    if not isinstance(inside, arith.ConstantOp):
                        return None
                    found[inside] = None
    return list(found)


def _unroll(loop: scf.ForOp) -> None:
    """Put the body of a loop in its place, once."""
    parent = cast("Block", loop.parent)
    for op in list(loop.body.block.ops):
        if not isinstance(op, scf.YieldOp):
            op.detach()
            parent.insert_op_before(op, loop)
    erase(loop)

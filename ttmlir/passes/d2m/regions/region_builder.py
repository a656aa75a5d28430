"""What the passes on regions of generics share: arithmetic of indices, loops, parts of regions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Self, cast

from xdsl.dialects import affine, arith, scf
from xdsl.dialects.builtin import ArrayAttr, IndexType, IntegerAttr
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.traits import IsTerminator, is_side_effect_free

from ttmlir.dialects import d2m
from ttmlir.dialects.d2m.late import GetArgOp, GetCBOp
from ttmlir.ir.builder import OpBuilder
from ttmlir.ir.rewriting import erase
from ttmlir.layout.affine import AffineExpr, AffineMap
from ttmlir.layout.metal import iterator_positions
from ttmlir.mlir.attributes import affine_map_attr

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

Index = SSAValue | int
"""An index: a number, or a value of type `index`."""

LOOPS = (affine.ForOp, scf.ForOp)


def generics_in(module: ModuleOp) -> list[d2m.GenericOp]:
    """The generics of a module that have regions."""
    return [op for op in module.walk() if isinstance(op, d2m.GenericOp) and op.regions]


def set_threads(
    op: d2m.GenericOp, threads: Sequence[d2m.ThreadAttr], regions: Sequence[Region]
) -> None:
    """Give a generic other threads; regions that it had before are gone unless they are listed."""
    for region in [op.detach_region(0) for _ in list(op.regions)]:
        if region not in regions:
            region.drop_all_references()
    for region in regions:
        op.add_region(region)
    op.properties["threads"] = ArrayAttr(threads)


def forget_maps(op: d2m.GenericOp) -> None:
    """Leave loops over blocks to the regions, which have them."""
    for name in ("block_factors", "indexing_maps", "iterator_types"):
        op.properties[name] = ArrayAttr([])


def output_positions(op: d2m.GenericOp) -> dict[int, int]:
    """The dimension of the grid that each iterator is spread over, of those that are."""
    return iterator_positions(op.indexing_maps[len(op.inputs)])


class RegionBuilder(OpBuilder):
    """Adds arithmetic of indices, and loops, to a region."""

    @classmethod
    def after(cls, op: Operation) -> Self:
        """A builder behind an operation, whose location new operations get."""
        block = op.parent
        assert block is not None, "only operations in a block have neighbours"
        return cls(block, op.location, before=op.next_op)

    @classmethod
    def at_end(cls, block: Block, op: Operation) -> Self:
        """A builder in front of the terminator of a block, if it has one."""
        last = block.last_op
        ends = last is not None and last.has_trait(IsTerminator)
        return cls(block, op.location, before=last if ends else None)

    def add_op(self, op: Operation) -> Operation:
        """Put an operation there, with the location of this place, and what it contains."""
        for each in op.walk():
            each.location = self.location
        return self.insert(op)

    def value(self, index: Index) -> SSAValue:
        """An index as a value."""
        return self.constant(index) if isinstance(index, int) else index

    def constant(self, number: int) -> SSAValue:
        """A constant of type `index`."""
        attr = IntegerAttr(number, IndexType())
        return self.add_op(arith.ConstantOp(attr)).results[0]

    def add(self, a: Index, b: Index) -> Index:
        """The sum."""
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        if 0 in (a, b):
            return b if a == 0 else a
        return self.add_op(arith.AddiOp(self.value(a), self.value(b))).results[0]

    def multiply(self, a: Index, b: Index) -> Index:
        """The product."""
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        if 0 in (a, b):
            return 0
        if 1 in (a, b):
            return b if a == 1 else a
        return self.add_op(arith.MuliOp(self.value(a), self.value(b))).results[0]

    def compare(self, predicate: str, a: Index, b: Index) -> SSAValue:
        """The truth of a comparison, such as `eq`."""
        return self.add_op(arith.CmpiOp(self.value(a), self.value(b), predicate)).results[0]

    def apply(self, expr: AffineExpr, operands: Sequence[SSAValue], symbols: int = 0) -> SSAValue:
        """The value of an expression over dimensions, then symbols."""
        index_map = AffineMap(len(operands) - symbols, symbols, (expr,))
        op = affine.ApplyOp(operands, affine_map_attr(index_map))
        return self.add_op(op).results[0]

    def core(self, dim: int, grid: Sequence[int]) -> SSAValue:
        """The place of the core along a dimension of the grid.

        The last two are rows and columns; in front of them there is one core.
        """
        before = max(len(grid) - 2, 0)
        if dim < before and grid[dim] == 1:
            return self.constant(0)
        return self.add_op(d2m.CoreIndexOp.at(dim - before if dim >= before else dim)).results[0]

    def count(self, extent: Index) -> tuple[RegionBuilder, SSAValue]:
        """A loop of scf from 0 to an extent: a builder in it, and its number."""
        first, last, step = self.value(0), self.value(extent), self.value(1)
        block = Block(arg_types=[IndexType()])
        block.add_op(scf.YieldOp())
        self.add_op(scf.ForOp(first, last, step, [], block))
        return RegionBuilder.at_end(block, cast("Operation", block.last_op)), block.args[0]

    def branch(self, condition: SSAValue, *, has_else: bool) -> tuple[RegionBuilder, RegionBuilder]:
        """Builders in the two ways of an `scf.if`; without the second one, it is the first."""
        blocks = [Block([scf.YieldOp()]) for _ in range(2 if has_else else 1)]
        self.add_op(scf.IfOp(condition, [], Region(blocks[0]), Region(blocks[1:])))
        builders = [RegionBuilder(each, self.location, before=each.last_op) for each in blocks]
        return builders[0], builders[-1]


# --- Loops over blocks ----------------------------------------------------------------------------

_OUTSIDE = (GetCBOp, GetArgOp)
"""What stands in front of loops: arguments of the region."""


def wrap_in_loops(
    op: d2m.GenericOp,
    block: Block,
    make: Callable[[RegionBuilder, int], tuple[Operation, Block]],
) -> list[SSAValue]:
    """Put all that a region does into loops, one for each iterator; their numbers.

    `make` adds the loop of an iterator, and tells its body, which ends in a terminator.
    """
    body = [each for each in block.ops if not isinstance(each, _OUTSIDE)]
    for each in body:
        each.detach()
    build = RegionBuilder(block, op.location)
    numbers: list[SSAValue] = []
    for iterator in range(len(op.iterator_types)):
        loop, inner = make(build, iterator)
        build = RegionBuilder.at_end(inner, loop)
        numbers.append(inner.args[0])
    for each in body:
        build.insert(each)
    return numbers


# --- Parts of regions -----------------------------------------------------------------------------


def operations_in(region: Region) -> list[Operation]:
    """All operations of a region, also of those in them, from first to last."""
    return list(region.walk())


def keep_only(region: Region, roots: Collection[Operation]) -> None:
    """Erase what neither holds one of the operations nor computes something for them."""
    kept = set[Operation]()
    waiting = list(roots)
    while waiting:
        op = waiting.pop()
        if op not in kept:
            kept.add(op)
            waiting += [each.owner for each in op.operands if isinstance(each, OpResult)]
            parent = op.parent_op()
            if parent is not None and parent is not region.parent:
                waiting.append(parent)
    for op in operations_in(region):
        ends_kept = op.has_trait(IsTerminator) and op.parent_op() in kept
        is_there = op.parent is not None  # else it was in one that is gone
        if is_there and op not in kept and not ends_kept:
            erase(op)


def erase_unused_values(region: Region) -> None:
    """Erase what has no effect and computes nothing that is used, and empty loops."""
    for op in reversed(operations_in(region)):
        is_used = any(each.first_use is not None for each in op.results)
        if is_used or op.has_trait(IsTerminator):
            continue
        if op.regions:
            is_empty = all(
                each.has_trait(IsTerminator) for region in op.regions for each in region.walk()
            )
            if isinstance(op, (*LOOPS, scf.IfOp)) and is_empty:
                erase(op)
        elif op.results and (is_side_effect_free(op) or op.name == "memref.alloc"):
            erase(op)


def root_of(value: SSAValue) -> SSAValue:
    """The buffer behind views, streams, casts and parts."""
    owner = value.owner
    while isinstance(owner, Operation) and owner.name in _SEES_THROUGH:
        value = owner.operands[0]
        owner = value.owner
    return value


_SEES_THROUGH = frozenset(
    (
        *(
            "d2m.view_layout",
            "d2m.stream_layout",
            "d2m.operand_alias",
            "ttir.ttnn_metal_layout_cast",
        ),
        *("memref.subview", "memref.cast", "memref.collapse_shape"),
    )
)


def constant_of(value: SSAValue) -> int | None:
    """The number that a value is, if `arith.constant` makes it."""
    owner = value.owner
    attr = owner.properties.get("value") if isinstance(owner, arith.ConstantOp) else None
    return attr.value.data if isinstance(attr, IntegerAttr) else None

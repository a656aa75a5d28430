"""Make the regions of generics say all that they do: no maps, factors and iterators are left.

Before:

    #l1 = #ttcore.memory_space<l1>
    #map = affine_map<(d0, d1) -> (d0, d1)>
    #parallel = #ttcore.iterator_type<parallel>
    !remote = memref<2x2x2x4x!ttcore.tile<32x32, f32>, #ttcore.shard<16384x4096, 1>, #l1>
    !local = memref<2x4x!ttcore.tile<32x32, f32>, #l1>
    func.func @f(%x: !remote, %y: !remote) {
      d2m.generic {block_factors = [2, 1], grid = #ttcore.grid<1x2>, indexing_maps = [#map, #map],
          iterator_types = [#parallel, #parallel], threads = [#d2m.thread<unified>]}
          ins(%x : !remote) outs(%y : !remote) {
        %steps = d2m.get_block_factor(0) : index
        %buffer = memref.alloc() : !local
        affine.for %step = 0 to %steps {
          %j = d2m.block_index(1) : index
          %0 = d2m.remote_load %buffer %x[%step, %j] : !local, !remote -> !local
          d2m.remote_store %y[%step, %j] %0 : !remote, !local
        } {d2m.blocking_loop = 0 : i64}
      }
      return
    }

After:

    ...
      d2m.generic {block_factors = [], grid = #ttcore.grid<1x2>, indexing_maps = [],
          iterator_types = [], threads = [#d2m.thread<unified>]}
          ...
        %alloc = memref.alloc() : ...
        affine.for %arg2 = 0 to 2 {
          %core1 = d2m.core_index(1) : index
          %0 = d2m.remote_load %alloc %arg0[%arg2, %core1] : ...
          d2m.remote_store %arg1[%arg2, %core1] %0 : ...
        } {d2m.blocking_loop = 0 : i64}
    ...

Requires: loops over the blocks of iterators of several steps (`d2m-generate-outer-loops`).
Ensures: factors are numbers, and a core's first block follows from the core. Multicasts along
dimensions of the grid name their cores.
Options: none.
Not done here: threads, which `d2m-split-unified-thread` makes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects import affine

from ttmlir.dialects import d2m
from ttmlir.dialects.d2m.late import BlockIndexOp, BlockOffsetOp, GetBlockFactorOp
from ttmlir.dialects.definition.ods import SEGMENTS, segments_attr
from ttmlir.ir.rewriting import refuse, replace
from ttmlir.layout.affine import AffineMap, ConstantExpr, SymbolExpr
from ttmlir.mlir.attributes import affine_map_attr, layout_map
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.d2m.regions.region_builder import (
    RegionBuilder,
    constant_of,
    forget_maps,
    generics_in,
    output_positions,
)

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation, SSAValue


@dataclass(frozen=True)
class D2MGenericLowerToExplicitFormPass(ModulePass):
    """Make the regions of generics say all that they do."""

    name = "d2m-generic-lower-to-explicit-form"
    title = "D2MGenericLowerToExplicitForm"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Take every generic on memrefs that has maps."""
        for op in generics_in(module):
            if not op.has_maps or op.results:
                continue
            for each in list(op.walk()):
                match each:
                    case GetBlockFactorOp():
                        factor = op.block_factors[_iterator(op, each)]
                        replace(each, RegionBuilder.before(each).constant(factor))
                    case BlockOffsetOp():
                        replace(each, _first_block(op, each))
                    case BlockIndexOp() | d2m.IterIndexOp():
                        _number_block(op, each)
                    case d2m.RemoteLoadOp():
                        _name_cores(op, each)
                    case _:
                        pass
            for each in op.walk():
                if isinstance(each, affine.ForOp):
                    _set_bound(each)
            forget_maps(op)


def _iterator(
    op: d2m.GenericOp, each: GetBlockFactorOp | BlockOffsetOp | BlockIndexOp | d2m.IterIndexOp
) -> int:
    count = len(op.block_factors)
    if not 0 <= each.number < count:
        refuse(each, f"names iterator {each.number}; the generic has {count}")
    return each.number


def _first_block(op: d2m.GenericOp, each: BlockOffsetOp | BlockIndexOp) -> SSAValue:
    """The first block of this core along an iterator."""
    build = RegionBuilder.before(each)
    position = output_positions(op).get(_iterator(op, each))
    if position is None:
        return build.constant(0)
    return build.value(
        build.multiply(build.core(position, op.grid_shape), op.block_factors[each.number])
    )


def _number_block(op: d2m.GenericOp, each: BlockIndexOp | d2m.IterIndexOp) -> None:
    """Without a loop around there is one block."""
    if op.block_factors[_iterator(op, each)] != 1:
        refuse(
            each,
            "is the index of an iterator of several steps, for which there is no loop; run "
            "d2m-generate-outer-loops before",
        )
    is_step = isinstance(each, d2m.IterIndexOp)
    replace(each, RegionBuilder.before(each).constant(0) if is_step else _first_block(op, each))


def _set_bound(loop: affine.ForOp) -> None:
    """Write a bound that is a number into the loop."""
    if len(loop.upperBoundOperands) != 1:
        return
    number = constant_of(loop.upperBoundOperands[0])
    bound = layout_map(loop.upperBoundMap)
    if number is None or bound.results not in ((SymbolExpr(0),), AffineMap.identity(1).results):
        return
    operand = loop.upperBoundOperands[0].owner
    before = len(loop.lowerBoundOperands)
    loop.operands = [*loop.operands[:before], *loop.operands[before + 1 :]]
    sizes = (before, 0, len(loop.inits))
    loop.properties[SEGMENTS] = segments_attr(sizes)
    loop.properties["upperBoundMap"] = affine_map_attr(AffineMap(0, 0, (ConstantExpr(number),)))
    constant = cast("Operation", operand)
    if all(result.first_use is None for result in constant.results):
        constant.detach()
        constant.drop_all_references()


def _name_cores(op: d2m.GenericOp, load: d2m.RemoteLoadOp) -> None:
    """Replace dimensions of the grid that a block is sent along by the cores that get it."""
    named = load.group("mcastDims")
    if not named:
        return
    numbers = [constant_of(each) for each in named]
    rank = len(op.grid_shape)
    if any(number is None or not 0 <= number < rank for number in numbers):
        refuse(load, f"sends a block along dimensions that are no numbers below {rank}")
    build = RegionBuilder.before(load)
    starts = [
        build.constant(0) if dim in numbers else build.core(dim, op.grid_shape)
        for dim in range(rank)
    ]
    extents = [
        build.constant(extent if dim in numbers else 1) for dim, extent in enumerate(op.grid_shape)
    ]
    groups = [load.group(each.name) for each in load.form().operands]
    groups[-3:] = [tuple(starts), tuple(extents), ()]
    load.operands = [value for group in groups for value in group]
    load.properties[SEGMENTS] = segments_attr(tuple(map(len, groups)))

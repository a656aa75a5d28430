"""Change the order of the iterators of products.

Before:

    // Options: matmul-interchange=1,0,2
    #left = affine_map<(d0, d1, d2) -> (d0, d2)>
    #right = affine_map<(d0, d1, d2) -> (d2, d1)>
    #out = affine_map<(d0, d1, d2) -> (d0, d1)>
    #parallel = #ttcore.iterator_type<parallel>
    #reduction = #ttcore.iterator_type<reduction>
    #l1 = #ttcore.memory_space<l1>
    !left = memref<1x1x2x4x!ttcore.tile<32x32, f32>, #ttcore.shard<16384x4096, 1>, #l1>
    !right = memref<1x1x4x3x!ttcore.tile<32x32, f32>, #ttcore.shard<12288x4096, 1>, #l1>
    !out = memref<1x1x2x3x!ttcore.tile<32x32, f32>, #ttcore.shard<12288x4096, 1>, #l1>
    !a = memref<2x4x!ttcore.tile<32x32, f32>, #l1>
    !b = memref<4x3x!ttcore.tile<32x32, f32>, #l1>
    !c = memref<2x3x!ttcore.tile<32x32, f32>, #l1>
    func.func @product(%x: !left, %y: !right, %z: !out) {
      d2m.generic {block_factors = [1, 1, 1], grid = #ttcore.grid<1x1>,
          indexing_maps = [#left, #right, #out],
          iterator_types = [#parallel, #parallel, #reduction], threads = [#d2m.thread<compute>]}
          ins(%x, %y : !left, !right) outs(%z : !out) {
      ^compute0(%cb0: !d2m.cb<!a>, %cb1: !d2m.cb<!b>, %cb2: !d2m.cb<!c>):
        %l = d2m.wait %cb0 : !d2m.cb<!a> -> !a
        %r = d2m.wait %cb1 : !d2m.cb<!b> -> !b
        %o = d2m.reserve %cb2 : !d2m.cb<!c> -> !c
        "d2m.tile_matmul_block"(%l, %r, %o) : (!a, !b, !c) -> ()
      }
      return
    }

After:

    ...
    #map = affine_map<(d0, d1, d2) -> (d1, d2)>
    #map1 = affine_map<(d0, d1, d2) -> (d2, d0)>
    #map2 = affine_map<(d0, d1, d2) -> (d1, d0)>
    ...
      d2m.generic {block_factors = [1, 1, 1], ..., indexing_maps = [#map, #map1, #map2],
          iterator_types = [#parallel, #parallel, #reduction], ...
    ...

Requires: the maps of a product on its generic: the last iterator is its only reduction.
Ensures: of its last three iterators, number i is the one that had number `matmul-interchange[i]`
among them; operations that ask for an iterator have its new number. Other generics stay.
Options: the order.
Not done here: the choice of an order, and of blocks. `d2m-grid-selection` takes rows and columns in
the order in which they are, and terms last; kernels are made where terms are innermost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, i64

from ttmlir.dialects import d2m
from ttmlir.dialects.d2m.late import BlockIndexOp, BlockOffsetOp, GetBlockFactorOp
from ttmlir.layout.affine import AffineExpr, AffineMap, DimExpr
from ttmlir.mlir.attributes import affine_map_attr
from ttmlir.mlir.option_values import OptionError, option
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute

_OF_ITERATORS = (d2m.IterIndexOp, BlockIndexOp, BlockOffsetOp, GetBlockFactorOp)


@dataclass(frozen=True)
class D2MGenericApplyInterchangePass(ModulePass):
    """Change the order of the iterators of products."""

    name = "d2m-generic-apply-interchange"
    title = "D2MGenericApplyInterchange"
    matmul_interchange: tuple[int, ...] = option(
        (), "Order of the loops of products over rows, columns and terms, such as 2,0,1"
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Change every product; without an order, nothing."""
        order = self.matmul_interchange
        if not order:
            return
        if sorted(order) != [0, 1, 2]:
            raise OptionError(
                "for the --matmul-interchange option: expected an order of 0,1,2, which are rows, "
                f"columns and terms; got {','.join(map(str, order))}"
            )
        for op in module.walk():
            if isinstance(op, d2m.GenericOp) and _is_product(op):
                first = len(op.iterator_types) - 3
                _interchange(op, (*range(first), *(first + each for each in order)))


def _is_product(op: d2m.GenericOp) -> bool:
    """True if the maps are those of rows and terms, terms and columns, rows and columns."""
    rank = len(op.iterator_types)
    if rank < 3 or op.reductions != (rank - 1,) or len(op.inputs) != 2 or len(op.outputs) != 1:
        return False
    rows, columns, terms = range(rank - 3, rank)
    ends = [index_map.results[-2:] for index_map in op.indexing_maps]
    expected = ((rows, terms), (terms, columns), (rows, columns))
    return ends == [tuple(map(DimExpr, each)) for each in expected]


def _interchange(op: d2m.GenericOp, order: Sequence[int]) -> None:
    """Number the iterators anew: iterator i is the one that had the number `order[i]`."""
    new = {old: number for number, old in enumerate(order)}
    moved: dict[AffineExpr, AffineExpr] = {DimExpr(old): DimExpr(new[old]) for old in new}
    maps = [
        AffineMap(each.num_dims, each.num_symbols, each.replace(moved).results)
        for each in op.indexing_maps
    ]
    op.properties["indexing_maps"] = ArrayAttr(map(affine_map_attr, maps))
    for name in ("block_factors", "iterator_types"):
        attr = cast("ArrayAttr[Attribute]", op.properties[name])
        op.properties[name] = ArrayAttr([attr.data[old] for old in order])
    for each in op.walk():
        if isinstance(each, _OF_ITERATORS):
            each.properties["dim"] = IntegerAttr(new[each.number], i64)

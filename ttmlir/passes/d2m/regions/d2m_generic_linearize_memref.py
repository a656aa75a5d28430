"""Number the tiles of local buffers one after another, row by row.

Before:

    #l1 = #ttcore.memory_space<l1>
    !remote = memref<1x1x2x4x!ttcore.tile<32x32, f32>, #ttcore.shard<16384x4096>, #l1>
    !local = memref<2x4x!ttcore.tile<32x32, f32>, #l1>
    func.func @f(%x: !remote, %y: !remote) {
      d2m.generic {block_factors = [], grid = #ttcore.grid<1x1>, indexing_maps = [],
          iterator_types = [], threads = [#d2m.thread<compute>]}
          ins(%x : !remote) outs(%y : !remote) {
      ^compute0(%cb0: !d2m.cb<!local>, %cb1: !d2m.cb<!local>):
        %0 = d2m.wait %cb0 : !d2m.cb<!local> -> !local
        affine.for %i = 0 to 2 {
          %1 = affine.load %0[%i, 3] : !local
          affine.store %1, %0[%i, 0] : !local
        }
      }
      return
    }

After:

    ...
        %0 = d2m.wait %cb0 : ...
        %collapse_shape = memref.collapse_shape %0 [[0, 1]] : ...
        affine.for %arg2 = 0 to 2 {
          %1 = affine.load %collapse_shape[%arg2 * 4 + 3] : memref<8x!ttcore.tile<32x32, f32>, #l1>
          affine.store %1, %collapse_shape[%arg2 * 4] : memref<8x!ttcore.tile<32x32, f32>, #l1>
        }
    ...

Requires: buffers of static shapes without gaps, as regions that compute load from and store to.
Ensures: loads and stores of `affine` and `memref` have one index each.
Options: none.
Not done here: buffers that operations on blocks take, which keep their shapes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects import affine, memref
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, MemRefType, NoneAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects import d2m
from ttmlir.ir.rewriting import replace
from ttmlir.layout.affine import AffineExpr, AffineMap, ConstantExpr, DimExpr
from ttmlir.mlir.attributes import affine_map_attr, layout_map
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.d2m.regions.region_builder import RegionBuilder, generics_in

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Region


@dataclass(frozen=True)
class D2MGenericLinearizeMemrefPass(ModulePass):
    """Number the tiles of local buffers one after another."""

    name = "d2m-generic-linearize-memref"
    title = "D2MGenericLinearizeMemref"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Take every region that computes."""
        for op in generics_in(module):
            for thread, region in zip(op.threads, op.regions, strict=True):
                if thread.kind is not d2m.ThreadKind.DATAMOVEMENT:
                    _linearize(region)


def _linearize(region: Region) -> None:
    flat: dict[SSAValue, SSAValue] = {}
    for op in list(region.walk()):
        match op:
            case affine.LoadOp() | affine.StoreOp():
                buffer, index_map = op.memref, layout_map(op.map)
            case memref.LoadOp() | memref.StoreOp():
                buffer, index_map = op.memref, None
            case _:
                continue
        shape = cast("MemRefType[Attribute]", buffer.type).get_shape()
        if len(shape) < 2 or min(shape) < 1 or not _is_dense(buffer.type):
            continue
        if buffer not in flat:
            flat[buffer] = _collapse(buffer, region)
        if index_map is None:
            _index(op, flat[buffer], shape)
        else:
            places = _number(index_map.results, shape)
            op.properties["map"] = affine_map_attr(
                AffineMap(index_map.num_dims, index_map.num_symbols, (places,))
            )
            op.operands[0 if isinstance(op, affine.LoadOp) else 1] = flat[buffer]


def _is_dense(type_: Attribute) -> bool:
    return isinstance(cast("MemRefType[Attribute]", type_).layout, NoneAttr)


def _number(places: tuple[AffineExpr, ...], shape: tuple[int, ...]) -> AffineExpr:
    """The number of a tile at a place."""
    number: AffineExpr = ConstantExpr(0)
    for place, extent in zip(places, shape, strict=True):
        number = number * extent + place
    return number


def _collapse(buffer: SSAValue, region: Region) -> SSAValue:
    type_ = cast("MemRefType[Attribute]", buffer.type)
    volume = 1
    for extent in type_.get_shape():
        volume *= extent
    groups = ArrayAttr([ArrayAttr(IntegerAttr(n, i64) for n in range(type_.get_num_dims()))])
    owner = buffer.owner
    build = (
        RegionBuilder.after(owner)
        if isinstance(owner, Operation)
        else RegionBuilder.before(cast("Operation", owner.first_op))
    )
    flat = MemRefType(type_.element_type, [volume], memory_space=type_.memory_space)
    op = memref.CollapseShapeOp.create(
        operands=[buffer], result_types=[flat], properties={"reassociation": groups}
    )
    return build.add_op(op).results[0]


def _index(op: Operation, flat: SSAValue, shape: tuple[int, ...]) -> None:
    """Give an access of memref one index, computed from those it has."""
    first = 1 if isinstance(op, memref.LoadOp) else 2
    indices = list(op.operands)[first:]
    build = RegionBuilder.before(op)
    number = build.apply(_number(tuple(DimExpr(dim) for dim in range(len(shape))), shape), indices)
    if isinstance(op, memref.LoadOp):
        new: Operation = memref.LoadOp.get(flat, [number])
    else:
        new = memref.StoreOp.get(op.operands[0], flat, [number])
    build.add_op(new)
    replace(op, *new.results)

"""Move the data of views that leave the device, or their function: there must be a buffer of them.

Before:

    #layout = #ttcore.metal_layout<logical_shape = 64x64, dim_alignments = 32x32,
        collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, l1, sharded>
    #swap = affine_map<(d0, d1, d2, d3) -> (d1, d0, d3, d2)>
    !tensor = tensor<2x2x1x1x!ttcore.tile<32x32, f32>, #layout>
    func.func @f(%x: !tensor) -> !tensor {
      %0 = d2m.view_layout %x remapping = #swap : !tensor -> !tensor
      return %0 : !tensor
    }

After:

    ...
      %view = d2m.view_layout %arg0 remapping = #map : ...
      %0 = d2m.empty() : tensor<2x2x1x1x!ttcore.tile<32x32, f32>, #layout>
      %1 = d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x2>, ...
          threads = [#d2m.thread<unified>]}
          ins(%view : ...)
          outs(%0 : ...)  {
        %block0 = d2m.block_index(0) : index
        %block1 = d2m.block_index(1) : index
        %2 = tensor.empty() : tensor<1x1x!ttcore.tile<32x32, f32>>
        %3 = d2m.remote_load %2 %view[%block0, %block1] : ...
        %4 = d2m.remote_store %0[%block0, %block1] %3 : ...
        d2m.yield %4 : ...
      } : ...
      return %1 : ...

Requires: tensors with a `#ttcore.metal_layout`.
Ensures: no view is returned or moved to the host; views that generics read stay as they are.
Options: none.
Not done here: grids beyond the chip, which `d2m-grid-selection` chooses before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.d2m.late import BlockIndexOp, CompositeViewOp, ToHostOp
from ttmlir.dialects.ttcore import MetalLayoutAttr, device_layout_of, metal_layout_of
from ttmlir.ir.builder import Builder
from ttmlir.layout.affine import AffineMap
from ttmlir.layout.enums import IteratorType
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context

_VIEWS = (d2m.ViewLayoutOp, CompositeViewOp)


@dataclass(frozen=True)
class D2MMaterializeViewReturnsPass(ModulePass):
    """Copy views that are returned or moved to the host into buffers."""

    name = "d2m-materialize-view-returns"
    title = "D2MMaterializeViewReturns"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Look at whatever takes a tensor off the device."""
        for op in tuple(module.walk()):
            if isinstance(op, ReturnOp):
                taken = range(len(op.operands))
            elif isinstance(op, ToHostOp | d2m.ToLayoutOp) and _is_on_host(op.operands[1]):
                taken = range(1)
            else:
                continue
            for number in taken:
                value = op.operands[number]
                if isinstance(value.owner, _VIEWS) and metal_layout_of(value.type) is not None:
                    op.operands[number] = _copy(value, op)


def _is_on_host(value: SSAValue) -> bool:
    return value.type.name == "tensor" and metal_layout_of(value.type) is None


def _copy(view: SSAValue, before: Operation) -> SSAValue:
    """The data of a view in a buffer of its own, block by block."""
    type_ = cast("TensorType[Attribute]", view.type)
    encoding = cast("MetalLayoutAttr", type_.encoding)
    if encoding.data.is_view:
        identity = AffineMap.identity(len(type_.get_shape()))
        buffer_layout = MetalLayoutAttr(encoding.data.with_index_map(identity))
        type_ = TensorType(type_.element_type, type_.shape, buffer_layout)
    layout = device_layout_of(type_)
    assert layout is not None, "the tensor has a metal layout"
    rank = len(layout.grid_shape)
    target = d2m.EmptyOp.of(type_)
    location = cast("Operation", view.owner).location
    indices = [BlockIndexOp.at(number) for number in range(rank)]
    places = [index.results[0] for index in indices]
    body = Block(indices)
    buffer = Builder(body, location).create_empty(
        TensorType(layout.element_type, layout.shard_shape)
    )
    load = d2m.RemoteLoadOp.of(buffer, view, places)
    store = d2m.RemoteStoreOp.of(target.results[0], places, load.results[0])
    body.add_ops((load, store, d2m.YieldOp.create(operands=store.results)))
    generic = d2m.GenericOp.of(
        [view],
        target.results,
        [AffineMap.identity(rank)] * 2,
        [IteratorType.PARALLEL] * rank,
        [d2m.ThreadKind.UNIFIED],
        block_factors=[1] * rank,
        regions=[Region(body)],
    )
    for made in (target, *generic.walk()):
        made.location = location
    block = before.parent
    assert block is not None, "the operation is in a function"
    block.insert_ops_before([target, generic], before)
    return generic.results[0]

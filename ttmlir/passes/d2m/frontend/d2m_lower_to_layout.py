"""Write changes of layout as transfers with the host and as generics that move or change tiles.

Before:

    #layout = #ttcore.metal_layout<logical_shape = 64x128, dim_alignments = 32x32,
        collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
    !tiles = tensor<2x2x1x2x!ttcore.tile<32x32, f32>, #layout>
    func.func @f(%x: tensor<64x128xf32>) -> !tiles {
      %0 = d2m.empty() : !tiles
      %1 = d2m.to_layout %x, %0 : tensor<64x128xf32> into !tiles -> !tiles
      return %1 : !tiles
    }

After:

    ...
        %0 = d2m.empty() : tensor<2x2x1x2x!ttcore.tile<32x32, f32>, #layout>
        %1 = d2m.empty() : tensor<2x2x32x64xf32, #layout>
        %2 = d2m.to_layout %arg0, %1 : tensor<64x128xf32> into tensor<2x2x32x64xf32, #layout>
            hostInfo = #layout -> tensor<2x2x32x64xf32, #layout>
        %3 = d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x2>, ...
            threads = [#d2m.thread<compute>]}
            ins(%2 : ...)
            outs(%0 : ...)  {
        ^compute0(%cb0: ..., %cb1: ...):
          %4 = d2m.wait %cb0 : ...
          %5 = d2m.reserve %cb1 : ...
          %6 = "d2m.tile_tilize_block"(%4, %5) : ...
          d2m.yield %6 : ...
        } : ...
        return %3 : ...

Requires: tensors; on the device, layouts of the same intervals and alignments on both sides.
Ensures: of `d2m.to_layout` only transfers with the host are left, of numbers in rows in L1, with
the layout of the device; in a module of 2026 they are `d2m.to_device` and `d2m.to_host`. Tiles are
made and taken apart in generics that compute; another grid or memory is filled by one that moves
data.
Options: none.
Not done here: other element types of tiles, and other paddings, which are refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.d2m.late import BlockIndexOp, ToDeviceOp, ToHostOp
from ttmlir.dialects.tt.layout import TileType, element_of
from ttmlir.dialects.ttcore import MetalLayoutAttr, metal_layout_of, shard_type_of
from ttmlir.ir.builder import Builder, OpBuilder
from ttmlir.ir.rewriting import refuse
from ttmlir.ir.rewriting import replace as replace_op
from ttmlir.layout.affine import AffineMap
from ttmlir.layout.enums import IteratorType, MemorySpace
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.metal import MetalLayout, reblocking_map, split_device_shape
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

Tensor = TensorType[Attribute]


@dataclass(frozen=True)
class D2MLowerToLayoutPass(ModulePass):
    """Write changes of layout as transfers and generics."""

    name = "d2m-lower-to-layout"
    title = "D2MLowerToLayout"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Take every change of layout of tensors."""
        for op in list(module.walk()):
            if isinstance(op, d2m.ToLayoutOp) and op.results:
                _Change(op).write()


class _Change:
    """One change of layout, in the steps that it takes."""

    def __init__(self, op: d2m.ToLayoutOp) -> None:
        self.op = op
        self.build = OpBuilder.before(op)
        sides = [metal_layout_of(value.type) for value in op.operands]
        known = next((each for each in sides if each is not None), None)
        self.late = known is not None and not known.data.names_padding

    def write(self) -> None:
        """Put the steps in place of the operation."""
        source, target = self.op.input, cast("Tensor", self.op.operands[1].type)
        before, after = metal_layout_of(source.type), metal_layout_of(target)
        try:
            if before is None and after is None:
                refuse(self.op, "changes a tensor of the host; supported are those of devices")
            if before is None:
                value = self._from_host(source, target)
            elif after is None:
                value = self._to_host(source, self.op.operands[1])
            else:
                value = self._on_device(source, target)
        except LayoutError as error:
            refuse(self.op, str(error))
        if value.owner is not self.op:
            replace_op(self.op, value)

    # --- Host ------------------------------------------------------------------------------------

    def _from_host(self, source: SSAValue, target: Tensor) -> SSAValue:
        rows = _in_rows(target, cast("Tensor", source.type).element_type)
        if rows != target:
            return self._on_device(self._transfer(source, self._empty(rows)), target)
        return self._transfer(source, self.op.operands[1])

    def _to_host(self, source: SSAValue, target: SSAValue) -> SSAValue:
        rows = _in_rows(cast("Tensor", source.type), cast("Tensor", target.type).element_type)
        if rows != source.type:
            source = self._on_device(source, rows)
        return self._transfer(source, target)

    def _transfer(self, source: SSAValue, target: SSAValue) -> SSAValue:
        device = metal_layout_of(target.type) or metal_layout_of(source.type)
        assert device is not None, "one side is a device"
        if not self.late:
            return self._add(d2m.ToLayoutOp.of(source, target, device))
        kind = ToHostOp if metal_layout_of(target.type) is None else ToDeviceOp
        return self._add(
            kind.create(
                operands=[source, target],
                result_types=[target.type],
                properties={"layout": device},
            )
        )

    # --- Device ----------------------------------------------------------------------------------

    def _on_device(self, source: SSAValue, target: Tensor) -> SSAValue:
        """The tensor in another form: first in L1, in rows or tiles, then where it belongs."""
        type_ = cast("Tensor", source.type)
        before, after = _layout(type_), _layout(target)
        if type_ == target:
            return source
        if before.is_view:
            refuse(self.op, "takes a view; run d2m-materialize-view-returns before")
        if (before.normalized_intervals, before.alignments, before.logical_shape) != (
            after.normalized_intervals,
            after.alignments,
            after.logical_shape,
        ):
            refuse(
                self.op,
                "changes the padding or the dimensions that are merged; move the tensor by the "
                "host, or give both sides the same dim_alignments and collapsed_intervals",
            )
        tiled = [isinstance(each.element_type, TileType) for each in (type_, target)]
        if tiled[0] is tiled[1]:
            if type_.element_type != target.element_type:
                refuse(self.op, "changes the element type of tiles; use ttir.typecast")
            return self._move(source, target)
        here = _like(type_, MemorySpace.DEVICE_L1)
        source = self._move(source, here) if here != type_ else source
        formed = _with_element(here, target.element_type)
        out = self._output(formed, target)
        made = self._change_format(source, out, tilizes=tiled[1])
        return self._move(made, target) if formed != target else made

    def _output(self, type_: Tensor, target: Tensor) -> SSAValue:
        is_last = type_ == target == self.op.operands[1].type
        return self.op.operands[1] if is_last else self._empty(type_)

    def _move(self, source: SSAValue, target: Tensor) -> SSAValue:
        """A generic that fills another grid, or another memory."""
        type_ = cast("Tensor", source.type)
        if type_ == target:
            return source
        out = self._output(target, target)
        grid, shard = split_device_shape(type_.get_shape())
        new_grid, new_shard = split_device_shape(target.get_shape())
        if grid != new_grid:
            index_map = reblocking_map(grid, shard, new_grid, new_shard)
            source = self._view(source, target, index_map)
        rank = len(new_grid)
        identity = AffineMap.identity(rank)
        if self.late:
            return self._unified(source, out, rank, None)
        generic = d2m.GenericOp.of(
            [source],
            [out],
            [identity, identity],
            [IteratorType.PARALLEL] * rank,
            [d2m.ThreadKind.DATAMOVEMENT],
        )
        build = OpBuilder(generic.regions[0].block, self.op.location)
        to_dram = _layout(target).memory_space is MemorySpace.DEVICE_DRAM
        number, kind = (0, d2m.WaitOp) if to_dram else (1, d2m.ReserveOp)
        local = build.put(kind.on(generic.cb(number)))
        if to_dram:
            dma = d2m.DMAOp.of(local, out, dst_map=identity)
        else:
            dma = d2m.DMAOp.of(source, local, src_map=identity)
        wait = d2m.DMAWaitOp.of(build.put(dma))
        end = d2m.YieldOp.create(operands=[local])
        for each in (wait, end):
            each.location = self.op.location
            build.insert(each)
        return self._add(generic)

    def _view(self, source: SSAValue, target: Tensor, index_map: AffineMap) -> SSAValue:
        layout = _layout(cast("Tensor", source.type))
        if self.late:
            type_ = MetalLayoutAttr(layout).tensor_type(
                split_device_shape(target.get_shape())[0], target.element_type
            )
            return self._add(d2m.ViewLayoutOp.of(source, type_, remapping=index_map))
        encoding = MetalLayoutAttr(layout.with_index_map(index_map))
        return self._add(
            d2m.ViewLayoutOp.of(source, TensorType(target.element_type, target.shape, encoding))
        )

    def _change_format(self, source: SSAValue, out: SSAValue, *, tilizes: bool) -> SSAValue:
        """A generic that makes tiles of rows, or rows of tiles."""
        kind = d2m.TileTilizeBlockOp if tilizes else d2m.TileUntilizeBlockOp
        rank = len(cast("Tensor", out.type).get_shape()) // 2
        if self.late:
            return self._unified(source, out, rank, kind)
        identity = AffineMap.identity(rank)
        generic = d2m.GenericOp.of(
            [source],
            [out],
            [identity, identity],
            [IteratorType.PARALLEL] * rank,
            [d2m.ThreadKind.COMPUTE],
        )
        build = OpBuilder(generic.regions[0].block, self.op.location)
        local = build.put(d2m.WaitOp.on(generic.cb(0)))
        room = build.put(d2m.ReserveOp.on(generic.cb(1)))
        made = build.put(kind.create(operands=[local, room], result_types=[room.type]))
        end = d2m.YieldOp.create(operands=[made])
        end.location = self.op.location
        build.insert(end)
        return self._add(generic)

    def _unified(
        self,
        source: SSAValue,
        out: SSAValue,
        rank: int,
        kind: type[d2m.TileTilizeBlockOp | d2m.TileUntilizeBlockOp] | None,
    ) -> SSAValue:
        """A generic of 2026 that loads blocks, possibly in another format, and stores them."""
        block = Block()
        build = Builder(block, self.op.location)
        places = [build.put(BlockIndexOp.at(dim)) for dim in range(rank)]
        buffer = build.create_empty(shard_type_of(source.type))
        made = build.put(d2m.RemoteLoadOp.of(buffer, source, places))
        if kind is not None:
            room = build.create_empty(shard_type_of(out.type))
            made = build.put(kind.create(operands=[made, room], result_types=[room.type]))
        stored = build.put(d2m.RemoteStoreOp.of(out, places, made))
        end = d2m.YieldOp.create(operands=[stored])
        end.location = self.op.location
        build.insert(end)
        return self._add(
            d2m.GenericOp.of(
                [source],
                [out],
                [AffineMap.identity(rank)] * 2,
                [IteratorType.PARALLEL] * rank,
                [d2m.ThreadKind.UNIFIED],
                block_factors=[1] * rank,
                regions=[Region(block)],
            )
        )

    def _empty(self, type_: Tensor) -> SSAValue:
        return self._add(d2m.EmptyOp.of(type_))

    def _add(self, op: Operation) -> SSAValue:
        return self.build.put(op)


def _layout(type_: Tensor) -> MetalLayout:
    attr = metal_layout_of(type_)
    assert attr is not None, "the tensor is on a device"
    return attr.data


def _with_element(type_: Tensor, element: Attribute) -> Tensor:
    """The tensor on the same grid with other elements, numbers or tiles."""
    grid, _ = split_device_shape(type_.get_shape())
    return MetalLayoutAttr(_layout(type_)).tensor_type(grid, element)


def _like(type_: Tensor, space: MemorySpace) -> Tensor:
    grid, _ = split_device_shape(type_.get_shape())
    layout = replace(_layout(type_), memory_space=space)
    return MetalLayoutAttr(layout).tensor_type(grid, type_.element_type)


def _in_rows(type_: Tensor, element: Attribute) -> Tensor:
    """A tensor of the device as the host reads and writes it: numbers in rows, in L1."""
    if element_of(element).scalar.data_type != element_of(type_.element_type).scalar.data_type:
        raise LayoutError(
            f"the host has elements of type {element}, the device others; use ttir.typecast"
        )
    return _with_element(_like(type_, MemorySpace.DEVICE_L1), element)

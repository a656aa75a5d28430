"""Turn tensors of functions with generics into memrefs, and results into writes to outputs.

Before:

    #layout = #ttcore.metal_layout<logical_shape = 33x70, dim_alignments = 32x32,
        collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, dram>
    #map = affine_map<(d0, d1) -> (d0, d1)>
    #parallel = #ttcore.iterator_type<parallel>
    !tile = !ttcore.tile<32x32, f32>
    !tensor = tensor<1x1x2x3x!tile, #layout>
    !shard = tensor<2x3x!tile>
    func.func @exp(%arg0: tensor<33x70xf32>) -> tensor<33x70xf32> {
      %0 = d2m.empty() : !tensor
      %1 = d2m.to_layout %arg0, %0 : tensor<33x70xf32> into !tensor -> !tensor
      %2 = d2m.empty() : !tensor
      %3 = d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<1x1>,
          indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel],
          threads = [#d2m.thread<compute>]} ins(%1 : !tensor) outs(%2 : !tensor) {
      ^compute0(%cb0: !d2m.cb<!shard>, %cb1: !d2m.cb<!shard>):
        %x = d2m.wait %cb0 : !d2m.cb<!shard> -> !shard
        %y = d2m.reserve %cb1 : !d2m.cb<!shard> -> !shard
        %r = linalg.generic {indexing_maps = [#map, #map],
            iterator_types = ["parallel", "parallel"]} ins(%x : !shard) outs(%y : !shard) {
        ^bb0(%a: !tile, %b: !tile):
          %e = "d2m.tile_exp"(%a) : (!tile) -> !tile
          linalg.yield %e : !tile
        } -> !shard
        d2m.yield %r : (!shard)
      } : !tensor
      %4 = tensor.empty() : tensor<33x70xf32>
      %5 = d2m.to_layout %3, %4 : !tensor into tensor<33x70xf32> hostInfo = #layout
          -> tensor<33x70xf32>
      return %5 : tensor<33x70xf32>
    }

After:

    ...
      func.func @exp(%arg0: memref<33x70xf32, #ttcore.host_layout<logical_shape = 33x70,
          host_strides = 96x1, host_volume = 6144>>) -> ... {
        %alloc = memref.alloc() : memref<1x1x2x3x!ttcore.tile<32x32, f32>,
            #ttcore.interleaved<12288x4096>, #dram>
        d2m.to_layout %arg0, %alloc : ...
        %alloc_0 = memref.alloc() : ...
        d2m.generic {...}
            ins(%alloc : ...)
            outs(%alloc_0 : ...) {
        ^compute0(...):
          %0 = d2m.wait %cb0 : ...
          %1 = d2m.reserve %cb1 : ...
          linalg.generic {...} ins(%0 : ...) outs(%1 : ...) {
          ...
        }
        %alloc_1 = memref.alloc() : memref<33x70xf32, #ttcore.host_layout<...>>
        d2m.to_layout %alloc_0, %alloc_1 : ...
        return %alloc_1 : ...
      }
    }

Requires: what `ttir-to-d2m` makes, in functions of one block that do not call each other.
Ensures: functions take and return memrefs of the host, padded where tiles are. Constants are
`memref.global`, buffers and what is local to a region `memref.alloc`. A buffer of DRAM is
interleaved; one in L1 has a grid of one shard until `d2m-allocate` finds a place for it. What is
written to a tensor that is needed afterwards goes to a copy.
Options: none.
Not done here: addresses, and tensors of ttnn, which stay what they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import (
    FunctionType,
    MemRefType,
    ModuleOp,
    NoneAttr,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.memref import AllocOp, GetGlobalOp, GlobalOp
from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.rewriter import Rewriter

from ttmlir.dialects import d2m
from ttmlir.dialects.d2m.late import ToDeviceOp, ToHostOp
from ttmlir.dialects.tt.layout import MemorySpaceAttr, element_of
from ttmlir.dialects.ttcore import (
    HostBuffer,
    HostLayoutAttr,
    InterleavedLayoutAttr,
    MetalLayoutAttr,
    ViewLayoutAttr,
    device_layout_of,
    memref_type_of,
    metal_layout_of,
)
from ttmlir.dialects.ttir import TTNNMetalLayoutCastOp
from ttmlir.ir.constants import find_elements
from ttmlir.ir.rewriting import erase, insert_before, refuse, symbols_in
from ttmlir.layout.affine import AffineMap
from ttmlir.layout.enums import MemorySpace
from ttmlir.layout.metal import MetalLayout
from ttmlir.layout.tensor_layout import TensorLayout
from ttmlir.passes.d2m.frontend.unified_form import ComputingModulePass
from ttmlir.passes.d2m.schedule.bufferize_generic import bufferize_generic, copy_tiles
from ttmlir.passes.d2m.schedule.ttnn_shards import (
    buffer_of_shards,
    sharded_layout,
    view_shards,
)

if TYPE_CHECKING:
    from xdsl.context import Context

MemRef = MemRefType[Attribute]


class TTCoreOneShotBufferizePass(ComputingModulePass):
    """Turn tensors into memrefs, and results into writes to outputs."""

    name = "ttcore-one-shot-bufferize"
    title = "TTCoreOneShotBufferize"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert every function that has a body."""
        globals_ = _Globals(module)
        for function in [op for op in module.walk() if isinstance(op, FuncOp)]:
            if len(function.body.blocks) > 1:
                refuse(function, f"has several blocks; {self.name} takes functions of one")
            if function.body.blocks:
                _Function(function, globals_).bufferize()


class _Globals:
    """The constants of a module; equal ones are one."""

    def __init__(self, module: ModuleOp) -> None:
        self._module = module
        self._names = set(symbols_in(module))
        self._known: dict[tuple[Attribute, MemRef], str] = {}

    def name_of(self, op: ConstantOp, type_: MemRef) -> str:
        """The symbol of a constant of the host."""
        key = op.value, type_
        if key not in self._known:
            stem = "__constant_" + "x".join(map(str, (*type_.get_shape(), type_.element_type)))
            name, number = stem, 0
            while name in self._names:
                name, number = f"{stem}_{number}", number + 1
            self._names.add(name)
            self._known[key] = name
            defined = GlobalOp.get(
                StringAttr(name), type_, find_elements(op), StringAttr("private"), UnitAttr()
            )
            defined.location = op.location
            block = self._module.body.block
            first = block.first_op
            if first is None:
                block.add_op(defined)
            else:
                block.insert_op_before(defined, first)
        return self._known[key]


class _Function:
    """The tensors of a function, and the memrefs that take their places."""

    def __init__(self, function: FuncOp, globals_: _Globals) -> None:
        self._function = function
        self._block = function.body.block
        self._globals = globals_
        self._buffers: dict[SSAValue, SSAValue] = {}
        self._places = {op: place for place, op in enumerate(self._block.ops)}
        self._shards: dict[SSAValue, TensorLayout] = {}
        """Views of whole sharded tensors that the function makes."""

    def bufferize(self) -> None:
        """Convert the arguments, then each operation, then the type of the function."""
        for argument in tuple(self._block.args):
            if _becomes_memref(argument.type):
                Rewriter.replace_value_with_new_type(argument, self._type_of(argument))
        converted = [
            op for op in tuple(self._block.ops) if self._is_on_tensors(op) and self._convert(op)
        ]
        for op in reversed(converted):
            erase(op)
        end = self._block.last_op
        results = () if end is None else end.operand_types
        self._function.function_type = FunctionType.from_lists(
            [argument.type for argument in self._block.args], list(results)
        )

    # --- Operations ----------------------------------------------------------------------------

    def _is_on_tensors(self, op: Operation) -> bool:
        """False for what is on memrefs already, which stays."""
        if isinstance(op, d2m.GenericOp) and op.additional and op.results:
            refuse(op, "has additional arguments, which generics on tensors do not have here")
        moves = d2m.ToLayoutOp | ToDeviceOp | ToHostOp
        if isinstance(op, d2m.GenericOp | moves) and not op.results:
            self._keep(op)
            return False
        return True

    def _convert(self, op: Operation) -> bool:
        """Put what becomes of an operation in front of it; False if the operation stays."""
        match op:
            case d2m.EmptyOp() | EmptyOp():
                pass  # Whoever writes to it allocates.
            case ConstantOp() if isinstance(op.result.type, TensorType):
                self._convert_constant(op)
            case d2m.ToLayoutOp() | ToDeviceOp() | ToHostOp():
                self._convert_move(op)
            case d2m.GenericOp():
                targets = self._destinations(op, overwrites=False)
                inputs = [self._buffer(op, number) for number in range(len(op.inputs))]
                self._add(op, bufferize_generic(op, inputs, targets))
                self._define(op, *targets)
            case d2m.ViewLayoutOp():
                self._convert_view(op)
            case d2m.ViewElementsOp() | d2m.ViewNumberedOp():
                self._convert_gather(op)
            case TTNNMetalLayoutCastOp():
                self._convert_cast(op)
            case ReturnOp():
                for number in range(len(op.operands)):
                    op.operands[number] = self._buffer(op, number)
                return False
            case _:
                self._keep(op)
                return False
        return True

    def _convert_move(self, op: d2m.ToLayoutOp | ToDeviceOp | ToHostOp) -> None:
        if isinstance(op, d2m.ToLayoutOp):
            (target,) = self._destinations(op, overwrites=True)
            moved: Operation = d2m.ToLayoutOp.of(self._buffer(op, 0), target)
        else:
            target = self._allocate(op, self._type_of(op.operands[1]))
            operands = [self._buffer(op, 0), target]
            moved = type(op).create(operands=operands, properties=dict(op.properties))
        self._add(op, moved)
        self._define(op, target)

    def _keep(self, op: Operation) -> None:
        """Leave an operation that has no tensors of tiles."""
        for value in (*op.operands, *op.results):
            if _becomes_memref(value.type):
                refuse(
                    op,
                    "ttcore-one-shot-bufferize has no memrefs for its tensors; it takes d2m.empty, "
                    "to_layout, view_layout and generic, tensor.empty, arith.constant and "
                    "func.return. Run ttir-to-d2m before",
                )
        for number, value in enumerate(op.operands):
            # A tensor of ttnn that a kernel made.
            op.operands[number] = self._buffers.get(value, value)

    def _convert_constant(self, op: ConstantOp) -> None:
        type_ = self._type_of(op.result)
        read = GetGlobalOp(SymbolRefAttr(self._globals.name_of(op, type_)), type_)
        self._add(op, read)
        self._define(op, read.memref)

    def _convert_view(self, op: d2m.ViewLayoutOp) -> None:
        layout = metal_layout_of(op.results[0].type)
        below = self._buffer(op, 0)
        shape = cast("TensorType[Attribute]", op.results[0].type).get_shape()
        if layout is None or (
            not layout.data.is_view and shape != cast("MemRef", below.type).shape
        ):
            refuse(op, "its type has no map that says where its tiles are in the buffer")
        index_map = layout.data.index_map if layout.data.is_view else AffineMap.identity(len(shape))
        memref = cast("MemRef", below.type)
        type_ = MemRefType(
            memref.element_type, shape, ViewLayoutAttr.of(index_map), memref.memory_space
        )
        view = d2m.ViewLayoutOp.of(below, type_)
        self._add(op, view)
        self._define(op, view.results[0])

    def _convert_gather(self, op: d2m.Gather) -> None:
        """What is gathered has the type of a buffer of DRAM, of which nothing is in memory."""
        type_ = buffer_type(cast("TensorType[Attribute]", op.results[0].type))
        layout = device_layout_of(type_)
        assert layout is not None, "buffers have a layout"
        interleaved = InterleavedLayoutAttr.of(layout.shard_shape, element_of(layout.element_type))
        space = MemorySpaceAttr(MemorySpace.DEVICE_DRAM)
        memref = MemRefType(layout.element_type, layout.shape, interleaved, space)
        if isinstance(op, d2m.ViewElementsOp):
            view = d2m.ViewElementsOp.gather(self._buffer(op, 0), memref, op.map, op.shape)
        else:
            operands = self._buffer(op, 0), self._buffer(op, 1)
            maps = op.map, op.places
            view = d2m.ViewNumberedOp.pick(operands, memref, maps, op.shape, op.count)
        self._add(op, view)
        self._define(op, view.results[0])

    def _convert_cast(self, op: TTNNMetalLayoutCastOp) -> None:
        result = op.results[0].type
        to_metal = metal_layout_of(result) is not None
        layout = sharded_layout(op.operands[0].type) if to_metal else None
        if layout is not None:
            whole = buffer_type(cast("TensorType[Attribute]", result))
            shards = TTNNMetalLayoutCastOp.of(
                op.operands[0], buffer_of_shards(layout, whole.element_type)
            )
            view = view_shards(shards.results[0], layout, whole)
            self._add(op, shards)
            self._add(op, view)
            self._define(op, view.results[0])
            return
        written = None if to_metal else sharded_layout(result)
        if written is not None:
            made = TTNNMetalLayoutCastOp.of(self._fill_shards(op, written), result)
            self._add(op, made)
            self._define(op, made.results[0])
            return
        type_ = buffer_type(cast("TensorType[Attribute]", result)) if to_metal else result
        made = TTNNMetalLayoutCastOp.of(self._buffer(op, 0), type_)
        self._add(op, made)
        self._define(op, made.results[0])

    def _fill_shards(self, op: TTNNMetalLayoutCastOp, layout: TensorLayout) -> SSAValue:
        """The buffer of a sharded tensor with what is cast, which may be there already."""
        source = self._buffer(op, 0)
        if self._shards.get(source) != layout:
            whole = buffer_type(cast("TensorType[Attribute]", op.operands[0].type))
            target = self._allocate_shards(op, layout, whole)
            self._add(op, copy_tiles(source, target, op.location))
            source = target
        return d2m.buffer_of_view(source)[0]

    # --- Buffers -------------------------------------------------------------------------------

    def _add(self, before: Operation, op: Operation) -> None:
        op.location = before.location
        insert_before(before, op)

    def _define(self, op: Operation, *buffers: SSAValue) -> None:
        self._buffers.update(zip(op.results, buffers, strict=True))

    def _buffer(self, op: Operation, number: int) -> SSAValue:
        """The memref of an operand; a fresh one if nothing was written to it."""
        value = op.operands[number]
        if not _becomes_memref(value.type):
            return self._buffers.get(value, value)
        if value not in self._buffers:
            self._buffers[value] = self._allocate(op, self._type_of(value))
        return self._buffers[value]

    def _allocate(self, op: Operation, type_: MemRef) -> SSAValue:
        allocation = AllocOp((), (), type_)
        self._add(op, allocation)
        return allocation.memref

    def _allocate_output(self, op: d2m.GenericOp | d2m.ToLayoutOp, number: int) -> SSAValue:
        """A buffer for an output, which is the memory of a sharded tensor if it becomes one."""
        type_ = self._type_of(op.inits[number])
        layout = _shards_to_be(op.results[number]) if isinstance(op, d2m.GenericOp) else None
        return self._allocate_shards(op, layout, type_) if layout else self._allocate(op, type_)

    def _allocate_shards(self, op: Operation, layout: TensorLayout, whole: MemRef) -> SSAValue:
        """A view of a new buffer of shards as `whole` is divided."""
        buffer = self._allocate(op, buffer_of_shards(layout, whole.element_type))
        view = view_shards(buffer, layout, whole)
        self._add(op, view)
        self._shards[view.results[0]] = layout
        return view.results[0]

    def _destinations(
        self, op: d2m.GenericOp | d2m.ToLayoutOp, *, overwrites: bool
    ) -> list[SSAValue]:
        """What an operation writes to: its outputs, or copies of those that are needed later.

        An operation that `overwrites` all of an output needs nothing of what was in it.
        """
        first = len(op.operands) - len(op.inits)
        targets: list[SSAValue] = []
        for number in range(first, len(op.operands)):
            value = op.operands[number]
            if _is_undefined(value):
                targets.append(self._allocate_output(op, number - first))
                continue
            buffer = self._buffer(op, number)
            if self._is_needed(value, op, number):
                fresh = self._allocate_output(op, number - first)
                if not overwrites:
                    self._add(op, copy_tiles(buffer, fresh, op.location))
                buffer = fresh
            targets.append(buffer)
        return targets

    def _is_needed(self, value: SSAValue, op: Operation, number: int) -> bool:
        """True if something else reads a value in an operation or after it."""
        if isinstance(value, BlockArgument) or isinstance(value.owner, ConstantOp):
            return True
        for use in value.uses:
            user = use.operation
            if user is op and use.index == number:
                continue
            if self._places.get(user, -1) >= self._places[op]:
                return True
            is_view = isinstance(user, d2m.ViewLayoutOp | d2m.Gather)
            if is_view and self._is_needed(user.results[0], op, -1):
                return True
        return False

    def _type_of(self, value: SSAValue) -> MemRef:
        """The memref of a tensor: on the host, as whoever moves it to or from the device wants.

        Arguments of the function are memrefs from the start.
        """
        type_: Attribute = value.type
        if isinstance(type_, MemRefType):
            return cast("MemRef", type_)
        tensor = cast("TensorType[Attribute]", value.type)
        if metal_layout_of(tensor) is not None:
            return buffer_type(tensor)
        layouts = dict.fromkeys(_device_sides(value))
        hosts = dict.fromkeys(_host_type(tensor, each.data) for each in layouts)
        if len(hosts) > 1:
            refuse(
                self._function,
                f"a '{tensor}' of the host moves to tensors of different padding; move each from "
                "a tensor of its own",
            )
        return next(iter(hosts), MemRefType(tensor.element_type, tensor.get_shape()))


def _is_undefined(value: SSAValue) -> bool:
    return isinstance(value.owner, d2m.EmptyOp | EmptyOp)


def _shards_to_be(value: SSAValue) -> TensorLayout | None:
    """The layout of the sharded tensor of ttnn that a tensor becomes, if it becomes one."""
    for use in value.uses:
        user = use.operation
        found = None
        if isinstance(user, TTNNMetalLayoutCastOp):
            found = sharded_layout(user.results[0].type)
        elif isinstance(user, d2m.GenericOp) and use.index >= len(user.inputs):
            found = _shards_to_be(user.results[use.index - len(user.inputs)])
        if found is not None:
            return found
    return None


def _becomes_memref(type_: Attribute) -> bool:
    """True for tensors of the host and of the metal path; those of ttnn stay."""
    if not isinstance(type_, TensorType):
        return False
    encoding: Attribute = cast("TensorType[Attribute]", type_).encoding
    return isinstance(encoding, NoneAttr | MetalLayoutAttr)


def _device_sides(value: SSAValue) -> Iterator[MetalLayoutAttr]:
    """The layouts that a tensor of the host has on the device."""
    kinds = (d2m.ToLayoutOp, ToDeviceOp, ToHostOp)
    moves = [use.operation for use in value.uses if isinstance(use.operation, kinds)]
    for move in moves:
        for each in move.operands:
            layout = metal_layout_of(each.type)
            if layout is not None:
                yield layout
        # What is written is also read as the result of the move.
        if move.results and move.operands[1] is value:
            yield from _device_sides(move.results[0])


def _host_type(tensor: TensorType[Attribute], layout: MetalLayout) -> MemRef:
    """A tensor of the host in a buffer with the padding of one on the device."""
    shape = tensor.get_shape()
    # Tensors of less than two dimensions have extents of 1 in front on the device.
    strides = layout.host_strides[len(layout.logical_shape) - len(shape) :]
    if math.prod(shape) == layout.host_volume:
        return MemRefType(tensor.element_type, shape)
    buffer = HostBuffer(tuple(shape), strides, layout.host_volume)
    return MemRefType(tensor.element_type, shape, HostLayoutAttr(buffer))


def buffer_type(tensor: TensorType[Attribute]) -> MemRef:
    """The buffer of a tensor of the device: interleaved in DRAM, or a shard of L1."""
    layout = device_layout_of(tensor)
    assert layout is not None, "the tensor has a metal layout"
    if layout.memory_space is not MemorySpace.DEVICE_DRAM or math.prod(layout.grid_shape) != 1:
        return memref_type_of(tensor)
    interleaved = InterleavedLayoutAttr.of(layout.shard_shape, element_of(layout.element_type))
    space = MemorySpaceAttr(MemorySpace.DEVICE_DRAM)
    return MemRefType(layout.element_type, layout.shape, interleaved, space)

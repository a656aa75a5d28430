"""Give every tensor of a function an address.

Addresses are given out from the bottom of each memory upwards. Where that does not fit, a function
uses the memory of buffers again that nothing reads any more. Memory on the host has the address 0:
the runtime finds it.

Before:

    // After ttir-load-system-desc ttir-implicit-device
    #l1 = #tt.memory_space<l1>
    #rows = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #l1>>
    #tiles = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<2x3x!tt.tile<32x32, f32>, #l1>>
    func.func @tilize_twice(%arg0: tensor<33x70xf32, #rows>) -> tensor<33x70xf32, #rows> {
      %0 = tensor.empty() : tensor<33x70xf32, #tiles>
      %1 = "ttir.to_layout"(%arg0, %0)
          : (tensor<33x70xf32, #rows>, tensor<33x70xf32, #tiles>) -> tensor<33x70xf32, #tiles>
      %2 = tensor.empty() : tensor<33x70xf32, #rows>
      %3 = "ttir.to_layout"(%1, %2)
          : (tensor<33x70xf32, #tiles>, tensor<33x70xf32, #rows>) -> tensor<33x70xf32, #rows>
      return %3 : tensor<33x70xf32, #rows>
    }

After:

    ...
      func.func @tilize_twice(%arg0: tensor<33x70xf32, #layout>) -> tensor<33x70xf32, #layout>
          attributes {tt.arg_alloc = [#tt.arg_alloc<1024, 9240, l1>]} {
        %0 = "ttir.alloc"() <{address = 10272 : i64, memory_space = #l1_, size = 24576 : i64}>
            : () -> tensor<33x70xf32, #layout1>
        %1 = "ttir.to_layout"(%arg0, %0) ...
        %2 = "ttir.alloc"() <{address = 34848 : i64, memory_space = #l1_, size = 9240 : i64}>
            : () -> tensor<33x70xf32, #layout>
        %3 = "ttir.to_layout"(%1, %2) ...
        "ttir.dealloc"(%0) : (tensor<33x70xf32, #layout1>) -> ()
        return %3 : tensor<33x70xf32, #layout>
      }
    }

Requires: `tt.device` and `tt.system_desc` on the module, layouts on all tensors, functions of one
block.
Ensures: `tensor.empty` is `ttir.alloc`; buffers that a function does not return are deallocated
after their last use; the attribute `tt.arg_alloc` of a function says where its arguments are, and
`tt.scratch` of a layout change which memory it may use beside, where the network needs some.
Options: none.
Not done here: constants, which the programs that need addresses do not have; calls, whose
functions have their tensors at the same addresses.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import Block, Operation, SSAValue, Use

from ttmlir.dialects import tt, ttir
from ttmlir.dialects.definition.ods import ARG_ALLOC, SCRATCH
from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import erase, insert_before, refuse, replace
from ttmlir.ir.tensor_types import layout_of, require_device, require_system_desc, value_shape
from ttmlir.layout.data_movement import network_unit, scratch_bytes
from ttmlir.layout.device import DeviceView
from ttmlir.layout.enums import MemorySpace
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.system import ChipDesc
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context


@dataclass(frozen=True)
class TTIRAllocatePass(ModulePass):
    """Give every tensor of a function an address."""

    name = "ttir-allocate"
    title = "TTIRAllocate"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Allocate the tensors of every function of the module."""
        device = require_device(module, self.name)
        chip = require_system_desc(module, self.name).chip_descs[0]
        for function in [op for op in module.walk() if isinstance(op, FuncOp)]:
            if function.body.blocks:
                _Allocation(device, chip).allocate(function)


@dataclass
class _Buffer:
    """Memory for an argument or a destination, and when it is needed."""

    value: SSAValue
    owner: Operation
    """The `tensor.empty`, the function for an argument, the layout change for scratch memory."""
    space: MemorySpace
    size: int
    birth: float
    """Position of the operation that makes it; arguments are there before all."""
    death: float
    """Position of the last operation that uses it; infinite for what outlives the function."""
    last_user: Operation | None = None
    alignment: int = 1
    """Of the address, where the memory does not ask for more."""
    address: int = 0


class _Allocation:
    """The tensors of one function and the memories of a chip that they are put into."""

    def __init__(self, device: DeviceView, chip: ChipDesc):
        self._device = device
        self._chip = chip
        self._start = {
            MemorySpace.DEVICE_L1: chip.l1_unreserved_base,
            MemorySpace.DEVICE_DRAM: chip.dram_unreserved_base,
        }
        self._end = {
            MemorySpace.DEVICE_L1: chip.l1_size,
            MemorySpace.DEVICE_DRAM: chip.dram_unreserved_end,
        }

    def allocate(self, function: FuncOp) -> None:
        """Place the arguments, then every `tensor.empty` of a function."""
        if len(function.body.blocks) > 1:
            refuse(function, "has several blocks; ttir-allocate takes functions of one block")
        block = function.body.block
        _separate_destinations(block)
        places = {op: number for number, op in enumerate(block.ops)}
        arguments = [self._argument(function, argument) for argument in block.args]
        destinations: list[_Buffer] = []
        scratch: list[_Buffer] = []
        for op in tuple(block.ops):
            if isinstance(op, EmptyOp):
                if op.tensor.first_use is None:
                    erase(op)
                else:
                    destinations.append(self._destination(op, places))
            elif isinstance(op, ttir.ToLayoutOp):
                scratch += self._scratch(op, places[op])
        buffers = sorted((*arguments, *destinations, *scratch), key=lambda buffer: buffer.birth)
        for buffer in (*arguments, *destinations):
            buffer.alignment = self._alignment(buffer.value)
        for space in self._start:
            self._place([buffer for buffer in buffers if buffer.space is space], space)
        function.attributes[ARG_ALLOC] = ArrayAttr(
            [tt.ArgumentAllocationAttr((b.address, b.size, b.space)) for b in arguments]
        )
        for buffer in destinations:
            _replace_empty(buffer)
        for buffer in scratch:
            place = (buffer.address, buffer.size, buffer.space)
            buffer.owner.attributes[SCRATCH] = tt.ArgumentAllocationAttr(place)

    def _argument(self, function: FuncOp, value: SSAValue) -> _Buffer:
        size, space = self._size(function, value)
        return _Buffer(value, function, space, size, birth=-math.inf, death=math.inf)

    def _destination(self, empty: EmptyOp, places: dict[Operation, int]) -> _Buffer:
        size, space = self._size(empty, empty.tensor)
        last = _last_user(empty.tensor, places)
        death = math.inf if isinstance(last, ReturnOp) else places[last]
        return _Buffer(empty.tensor, empty, space, size, places[empty], death, last)

    def _scratch(self, op: ttir.ToLayoutOp, place: int) -> list[_Buffer]:
        """The memory that a move on the chip needs beside those of its operands, if any."""
        source, target = (layout_of(value.type) for value in (*op.inputs, op.output))
        if source is None or target is None or source.element != target.element:
            return []
        spaces = (source.memory_space, target.memory_space)
        if any(space.is_system for space in spaces) or MemorySpace.DEVICE_L1 not in spaces:
            return []
        try:
            shape = value_shape(op.operands[0])
            size = scratch_bytes(shape, source, target, self._device, self._chip)
        except LayoutError as error:
            refuse(op, str(error))
        unit = network_unit(source, target, self._chip)
        buffer = _Buffer(
            op.results[0], op, MemorySpace.DEVICE_L1, size, place, place, alignment=unit
        )
        return [buffer] if size else []

    def _alignment(self, value: SSAValue) -> int:
        """What the address of a tensor is a multiple of: as both ends of its moves need it."""
        spaces = [
            layout.memory_space
            for user in _users(value)
            if isinstance(user, ttir.ToLayoutOp)
            for operand in user.operands
            if (layout := layout_of(operand.type)) is not None
        ]
        return max(map(self._chip.address_alignment, spaces), default=1)

    def _size(self, op: Operation, value: SSAValue) -> tuple[int, MemorySpace]:
        try:
            layout = layout_of(value.type)
            if layout is None:
                refuse(
                    op, "has a tensor without a layout, which has no size; run ttir-layout before"
                )
            space = layout.memory_space
            if space.is_system:
                return layout.grid.volume * layout.shard_bytes, space
            size = self._device.buffer_bytes(layout, self._chip.num_dram_channels)
        except LayoutError as error:
            refuse(op, f"has a tensor that takes no memory: {error}")
        return max(1, size), space

    def _place(self, buffers: Sequence[_Buffer], space: MemorySpace) -> None:
        """Give addresses in one memory: one after the other, or with reuse if these end too far."""
        top = self._start[space]
        for buffer in buffers:
            buffer.address = self._aligned(top, buffer)
            top = buffer.address + buffer.size
        if top > self._end[space]:
            self._place_again(buffers, space)

    def _place_again(self, buffers: Sequence[_Buffer], space: MemorySpace) -> None:
        """Give each buffer the lowest address that is free from its birth to its death."""
        alive: list[_Buffer] = []
        for buffer in buffers:
            alive = [other for other in alive if other.death >= buffer.birth]
            address = self._aligned(self._start[space], buffer)
            for other in alive:
                if address + buffer.size <= other.address:
                    break
                address = self._aligned(max(address, other.address + other.size), buffer)
            if address + buffer.size > self._end[space]:
                self._refuse_space(buffer, alive)
            buffer.address = address
            insort(alive, buffer, key=lambda other: other.address)

    def _aligned(self, address: int, buffer: _Buffer) -> int:
        """The first address from `address` on that a buffer may have."""
        unit = max(buffer.alignment, self._chip.address_alignment(buffer.space))
        return -(-address // unit) * unit

    def _refuse_space(self, buffer: _Buffer, alive: Sequence[_Buffer]) -> NoReturn:
        space = buffer.space
        used = sum(other.size for other in alive)
        refuse(
            buffer.owner,
            f"does not fit into {space.keyword}: {buffer.size} bytes beside {used} bytes that are "
            f"in use, between {self._start[space]} and {self._end[space]}; use smaller tensors, "
            "larger grids or another memory space; kernels of ttir-to-ttmetal-pipeline take "
            "tensors from DRAM",
        )


def _separate_destinations(block: Block) -> None:
    """Let every operation that writes to a `tensor.empty` have its own: contents are undefined."""
    for empty in [op for op in block.ops if isinstance(op, EmptyOp)]:
        writes = [use for use in tuple(empty.tensor.uses) if _write(use) is not None]
        for use in writes[:-1] if len(writes) > 1 else ():
            own = Builder.before(use.operation).create_empty(empty.tensor.type)
            use.operation.operands[use.index] = own


def _write(use: Use) -> SSAValue | None:
    """What an operation makes of the destination that it uses."""
    op = use.operation
    return op.written_results.get(use.index) if isinstance(op, ttir.TTIROp) else None


def _replace_empty(buffer: _Buffer) -> None:
    empty, last = buffer.owner, buffer.last_user
    alloc = ttir.AllocOp.create(
        result_types=[buffer.value.type],
        properties={
            "address": IntegerAttr(buffer.address, i64),
            "size": IntegerAttr(buffer.size, i64),
            "memory_space": tt.MemorySpaceAttr(buffer.space),
        },
        location=empty.location,
    )
    insert_before(empty, alloc)
    replace(empty, alloc.results[0])
    if last is None or isinstance(last, ReturnOp):
        return
    dealloc = ttir.DeallocOp.create(operands=alloc.results, location=last.location)
    block = last.parent
    assert block is not None, "the last user is in the function's block"
    block.insert_op_after(dealloc, last)


def _last_user(value: SSAValue, places: dict[Operation, int]) -> Operation:
    """The last operation of the function's block that uses a value or what is written into it."""
    users = [_in_block(user, places) for user in _users(value)]
    return max([_in_block(value.owner, places), *users], key=places.__getitem__)


def _users(value: SSAValue) -> Iterator[Operation]:
    """The operations that use a value or what is written into it."""
    pending = [value]
    while pending:
        for use in pending.pop().uses:
            yield use.operation
            if (result := _write(use)) is not None:
                pending.append(result)


def _in_block(op: Operation | Block, places: dict[Operation, int]) -> Operation:
    """The operation itself or the one around it that is in the function's block."""
    inner = op if isinstance(op, Operation) else op.parent_op()
    while inner is not None and inner not in places:
        inner = inner.parent_op()
    assert inner is not None, "users are inside the function"
    return inner

"""Give every tensor of a function an address.

Addresses are given out from the bottom of each memory upwards and never used twice in a function.
Memory on the host has the address 0: the runtime finds it.

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
after their last use; the attribute `tt.arg_alloc` of a function says where its arguments are.
Options: none.
Not done here: reuse of memory; constants, which have no place in the programs that need addresses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects import tt, ttir
from ttmlir.dialects.names import ARG_ALLOC
from ttmlir.layout.chip import ChipDesc
from ttmlir.layout.device import Device
from ttmlir.layout.enums import MemorySpace
from ttmlir.layout.errors import LayoutError
from ttmlir.passes.base import ModulePass
from ttmlir.passes.layouts import layout_of, required_device, required_system_desc, shape_of
from ttmlir.passes.moves import written_results
from ttmlir.passes.rewriting import erase, insert_before, refuse, replace

if TYPE_CHECKING:
    from xdsl.context import Context


@dataclass(frozen=True)
class TTIRAllocatePass(ModulePass):
    """Give every tensor of a function an address."""

    name = "ttir-allocate"
    title = "TTIRAllocate"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Allocate the tensors of every function of the module."""
        device = required_device(module, self.name)
        chip = required_system_desc(module, self.name).chip_descs[0]
        for function in [op for op in module.walk() if isinstance(op, FuncOp)]:
            if function.body.blocks:
                _Allocation(device, chip).allocate(function)


class _Allocation:
    """The memories of a chip while one function takes from them."""

    def __init__(self, device: Device, chip: ChipDesc):
        self._device = device
        self._chip = chip
        self._next = {
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
        arguments: list[Attribute] = []
        for argument in block.args:
            arguments.append(tt.ArgumentAllocationAttr(self._place(function, argument)))
        function.attributes[ARG_ALLOC] = ArrayAttr(arguments)
        places = {op: number for number, op in enumerate(block.ops)}
        for op in tuple(block.ops):
            if isinstance(op, EmptyOp):
                self._replace(op, places)

    def _replace(self, empty: EmptyOp, places: dict[Operation, int]) -> None:
        last = _last_user(empty.tensor, places)
        if last is None:
            erase(empty)
            return
        address, size, space = self._place(empty, empty.tensor)
        alloc = ttir.AllocOp.create(
            result_types=[empty.tensor.type],
            properties={
                "address": IntegerAttr(address, i64),
                "size": IntegerAttr(size, i64),
                "memory_space": tt.MemorySpaceAttr(space),
            },
            location=empty.location,
        )
        insert_before(empty, alloc)
        replace(empty, alloc.results[0])
        if not isinstance(last, ReturnOp):
            dealloc = ttir.DeallocOp.create(operands=alloc.results, location=last.location)
            block = last.parent
            assert block is not None, "the last user is in the function's block"
            block.insert_op_after(dealloc, last)

    def _place(self, op: Operation, value: SSAValue) -> tuple[int, int, MemorySpace]:
        """Address, size and memory of a tensor."""
        try:
            return self._place_tensor(op, value)
        except LayoutError as error:
            refuse(op, f"has a tensor that takes no memory: {error}")

    def _place_tensor(self, op: Operation, value: SSAValue) -> tuple[int, int, MemorySpace]:
        layout = layout_of(value.type)
        if layout is None:
            refuse(op, "has a tensor without a layout, which has no size; run ttir-layout before")
        space = layout.memory_space
        if space.is_system:
            return 0, layout.grid.volume * layout.shard_bytes, space
        size = max(1, self._device.footprint(layout, shape_of(value.type)))
        address = self._chip.align(self._next[space], space)
        if address + size > self._end[space]:
            refuse(
                op,
                f"does not fit into {space.keyword}: {size} bytes at address {address} end beyond "
                f"{self._end[space]}; use smaller tensors or another memory space",
            )
        self._next[space] = address + size
        return address, size, space


def _last_user(value: SSAValue, places: dict[Operation, int]) -> Operation | None:
    """The last operation of the function's block that uses a value or what is written into it."""
    users = [_in_block(use.operation, places) for use in value.uses]
    if not users:
        return None
    last = max(users, key=places.__getitem__)
    written = written_results(last) if isinstance(last, ttir.TTIROp) else {}
    for use in value.uses:
        if use.operation is last and use.index in written:
            return _last_user(written[use.index], places) or last
    return last


def _in_block(op: Operation, places: dict[Operation, int]) -> Operation:
    """The operation itself or the one around it that is in the function's block."""
    while op not in places:
        parent = op.parent_op()
        assert parent is not None, "users are inside the function"
        op = parent
    return op

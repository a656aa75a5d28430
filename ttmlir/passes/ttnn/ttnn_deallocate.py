"""Give back the memory of tensors after their last use.

Without it every tensor of a function stays on the device until the function ends.

Before:

    // After ttir-load-system-desc ttir-implicit-device ttir-layout convert-ttir-to-ttnn
    #d = #tt.operand_constraint<dram|scalar|any_layout>
    func.func @exp(%arg0: tensor<33x70xf32>) -> tensor<33x70xf32> {
      %0 = tensor.empty() : tensor<33x70xf32>
      %1 = "ttir.exp"(%arg0, %0) <{operandSegmentSizes = array<i32: 1, 1>,
          operand_constraints = [#d, #d]}>
          : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
      return %1 : tensor<33x70xf32>
    }

After:

    ...
        %3 = "ttnn.empty"(%0) : (!tt.device<#device>) -> tensor<33x70xf32, #layout1>
        %4 = "ttnn.exp"(%2, %3) <{operandSegmentSizes = array<i32: 1, 1>}>
            : (tensor<33x70xf32, #layout1>, tensor<33x70xf32, #layout1>)
            -> tensor<33x70xf32, #layout1>
        "ttnn.dealloc"(%2) : (tensor<33x70xf32, #layout1>) -> ()
        %5 = "ttnn.to_memory_config"(%4, %0)
            : (tensor<33x70xf32, #layout1>, !tt.device<#device>) -> tensor<33x70xf32, #layout>
        "ttnn.dealloc"(%4) : (tensor<33x70xf32, #layout1>) -> ()
        return %5 : tensor<33x70xf32, #layout>
      }
    }

Requires: ttnn operations with layouts, as `convert-ttir-to-ttnn` leaves them.
Ensures: each tensor of the device that a function makes is deallocated after the last operation
that takes it, unless the function returns it or a loop, a branch or a call takes or gives it.
Options: `above` is the number of bytes that the tensors of a function must take in sum; tensors of
2026 are deallocated always.
Not done here: arguments belong to the caller. In 2026 a function deallocates them, too, unless they
are caches; runtimes keep what is to be used again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from ttmlir.dialects import ttnn
from ttmlir.dialects.definition.ods import DestinationStyleOp
from ttmlir.ir.tensor_types import layout_of
from ttmlir.ir.ttnn_types import memory_of
from ttmlir.layout.enums import MemorySpace
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.general.const_eval_hoist_transform import argument_attribute
from ttmlir.passes.ttir.ttir_infer_kv_cache_argument_types import KV_CACHE

if TYPE_CHECKING:
    from xdsl.context import Context

_KEEPING = (ttnn.WhileOp, ttnn.CaseOp, CallOp, ReturnOp)
"""Operations whose results may be their operands."""


@dataclass(frozen=True)
class TTNNDeallocatePass(ModulePass):
    """Give back the memory of tensors after their last use."""

    name = "ttnn-deallocate"
    title = "TTNNDeallocate"
    above: int = option(0, "Only in functions whose tensors take so many bytes on the device")

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Insert the deallocations of every function."""
        from ttmlir.passes.core.value_form import is_value_form

        if is_value_form(module):
            for function in [op for op in module.walk() if isinstance(op, FuncOp)]:
                _deallocate_values(function)
            return
        for function in [op for op in module.walk() if isinstance(op, FuncOp)]:
            for block in function.body.blocks:
                tensors = _tensors_of(block)
                if sum(map(_size, tensors)) >= self.above:
                    _deallocate(block, tensors)


def _tensors_of(block: Block) -> dict[SSAValue, list[SSAValue]]:
    """The values that stand for each tensor of the device which the block makes."""
    names: dict[SSAValue, SSAValue] = {}
    tensors: dict[SSAValue, list[SSAValue]] = {}
    for op in block.ops:
        written = op.written_results if isinstance(op, DestinationStyleOp) else {}
        target_of = {result: op.operands[number] for number, result in written.items()}
        for value in op.results:
            name = names.get(target_of.get(value, value), value if value not in target_of else None)
            if name is not None and _size(value):
                names[value] = name
                tensors.setdefault(name, []).append(value)
    return tensors


def _deallocate(block: Block, tensors: dict[SSAValue, list[SSAValue]]) -> None:
    order = {op: number for number, op in enumerate(block.ops)}
    last: dict[Operation, list[SSAValue]] = {}
    for values in tensors.values():
        users = [use.operation for value in values for use in value.uses]
        makers = [value.owner for value in values if isinstance(value.owner, Operation)]
        involved = [*users, *makers]
        # Users in regions of operations are none of the block.
        if all(op in order and not isinstance(op, (*_KEEPING, ttnn.DeallocOp)) for op in involved):
            last.setdefault(max(involved, key=order.__getitem__), []).append(values[-1])
    for op, values in last.items():
        for value in reversed(values):
            dealloc = ttnn.DeallocOp.create(operands=[value], location=op.location)
            block.insert_op_after(dealloc, op)


def _deallocate_values(function: FuncOp) -> None:
    """End the life of each tensor after its last user, those that are there first."""
    from ttmlir.ir.ttnn_values import deallocate

    if not function.body.blocks:
        return
    block = function.body.blocks[0]
    is_kept = _is_called(function)
    arguments = [arg for arg in block.args if not (is_kept or _is_cache(function, arg.index))]
    makers = [op for op in block.ops if op.name not in _KEPT_MAKERS and not _gives_on(op)]
    results = [value for op in makers for value in op.results]
    order = {op: number for number, op in enumerate(block.ops)}
    for value in (*arguments, *results):
        if memory_of(value.type) is None:
            continue
        users = _users(value)
        owner = value.owner
        last = max(users, key=order.__getitem__, default=owner)
        if isinstance(last, ReturnOp):
            continue
        if isinstance(last, Operation):
            deallocate(value, last)
        else:
            _deallocate_unused(value, block)


_KEPT_MAKERS = frozenset(("ttnn.get_device",))


def _gives_on(op: Operation) -> bool:
    """True for an operation of debug, whose result is its operand."""
    return op.name.startswith("debug.")


def _users(value: SSAValue) -> list[Operation]:
    """The operations that take a tensor, under whichever name."""
    users = [use.operation for use in value.uses]
    given = [result for op in users if _gives_on(op) for result in op.results]
    return [*users, *(user for each in given for user in _users(each))]


def _deallocate_unused(value: SSAValue, block: Block) -> None:
    """Deallocate what nobody uses after the first operation."""
    from ttmlir.ir.ttnn_values import deallocate

    first = block.first_op
    if first is not None and first is not block.last_op:
        deallocate(value, first)


def _is_called(function: FuncOp) -> bool:
    """True for a function that a program calls, which keeps the tensors that it hands over."""
    kind = function.attributes.get("tt.function_type")
    return isinstance(kind, StringAttr) and kind.data.startswith(("const_eval", "trace_"))


def _is_cache(function: FuncOp, number: int) -> bool:
    """True for an argument that the function writes to."""
    return argument_attribute(function, number, KV_CACHE) is not None


def _size(value: SSAValue) -> int:
    """Bytes of a tensor on the device; 0 for other values."""
    layout = layout_of(value.type)
    if layout is None or layout.memory_space not in _ON_DEVICE:
        return 0
    return layout.shard_bytes * layout.grid.volume


_ON_DEVICE = (MemorySpace.DEVICE_DRAM, MemorySpace.DEVICE_L1)

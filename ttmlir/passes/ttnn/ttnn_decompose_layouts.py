"""Take conversions of tensors of ttnn apart, into steps that the library has.

Before:

    #dram = #ttnn.buffer_type<dram>
    #l = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<5x7xsi32, #dram>, <interleaved>>
    #t = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>,
        memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
    func.func @main(%a: tensor<5x7xsi32, #l>) -> tensor<5x7xbf16, #t> {
      %0 = "ttnn.to_tensor_spec"(%a) : (tensor<5x7xsi32, #l>) -> tensor<5x7xbf16, #t>
      return %0 : tensor<5x7xbf16, #t>
    }

After:

    ...
      func.func @main(%arg0: tensor<5x7xsi32, #ttnn_layout>) -> tensor<5x7xbf16, #ttnn_layout1> {
        %0 = "ttnn.to_layout"(%arg0)
            : (tensor<5x7xsi32, #ttnn_layout>) -> tensor<5x7xsi32, #ttnn_layout2>
        %1 = "ttnn.typecast"(%0)
            : (tensor<5x7xsi32, #ttnn_layout2>) -> tensor<5x7xbf16, #ttnn_layout1>
        return %1 : tensor<5x7xbf16, #ttnn_layout1>
      }
    }

Requires: ttnn of 2026, with layouts.
Ensures: there is no `ttnn.to_tensor_spec`; each step changes the memory, the form or the elements
alone. Elements of rows that become tiles change in tiles. What is divided over cores is moved to
DRAM to be converted, and from there.
Options: none.
Not done here: nothing known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import TensorType

from ttmlir.ir.rewriting import erase, refuse, replace
from ttmlir.ir.ttnn_types import (
    Memory,
    Shards,
    elements_in,
    is_sharded,
    memory_of,
    stored_in,
    tensor_in,
)
from ttmlir.ir.ttnn_values import TTNNValueBuilder
from ttmlir.layout.enums import BufferType, TTNNTensorMemoryLayout
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation, SSAValue

    from ttmlir.dialects.ttnn.attrs import TTNNLayoutAttr


@dataclass(frozen=True)
class TTNNDecomposeLayoutsPass(ModulePass):
    """Take conversions of tensors of ttnn apart, into steps that the library has."""

    name = "ttnn-decompose-layouts"
    title = "TTNNDecomposeLayouts"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Replace every conversion."""
        for op in tuple(module.walk()):
            if op.name in ("ttnn.to_tensor_spec", "ttnn.to_layout"):
                replace(op, _steps_of(op))


def _steps_of(op: Operation) -> SSAValue:
    value, target = op.operands[0], cast("TensorType[Attribute]", op.results[0].type)
    if is_sharded(value.type) or is_sharded(target):
        return _spread_steps(TTNNValueBuilder.before(op), value, target)
    return _steps(op)


def _steps(op: Operation) -> SSAValue:
    value, target = op.operands[0], cast("TensorType[Attribute]", op.results[0].type)
    build = TTNNValueBuilder.before(op)
    wanted, given = memory_of(target), memory_of(value.type)
    if wanted is None or given is None:
        refuse(op, "converts tensors without a layout of ttnn; run ttnn-layout before")
    held, element = stored_in(value.type), stored_in(target)
    state = _State(build, value, given, _cores_in_l1(value.type, target))
    if given.buffer is not BufferType.SYSTEM_MEMORY and wanted.buffer is not given.buffer:
        # What goes to the host is converted on the device.
        state.cast_to(target)
        state.tile(wanted.is_tiled)
        state.move(wanted.buffer)
        return state.value
    if wanted.buffer is not given.buffer:
        if str(held) in _MADE_ON_HOST:
            state.tile(wanted.is_tiled)
        state.move(wanted.buffer)
        state.tile(wanted.is_tiled)
        state.cast_to(target)
        return state.value
    if str(held) in _MADE_ON_HOST and not given.is_tiled:
        state.cast_to(target)
    if wanted.is_tiled is not given.is_tiled and wanted.buffer is BufferType.DRAM:
        if str(element) in _MADE_ON_HOST and held == element:
            state.move(BufferType.SYSTEM_MEMORY)
            state.cast_to(target)
            state.tile(wanted.is_tiled)
            state.move(BufferType.DRAM)
            return state.value
    if wanted.is_tiled and not given.is_tiled and {str(element), str(held)} <= _FLOATS:
        state.tile(tiled=True, elements=target)
    if not given.is_tiled and wanted.is_tiled and state.stored != element:
        state.tile(tiled=True)
    state.cast_to(target)
    state.tile(wanted.is_tiled)
    return state.value


def _spread_steps(
    build: TTNNValueBuilder, value: SSAValue, target: TensorType[Attribute]
) -> SSAValue:
    """Steps to or from a tensor that is divided over cores; converted is one in DRAM."""
    given = cast("TensorType[Attribute]", value.type)
    tiled = cast("Memory", memory_of(given)).is_tiled
    wanted = cast("Memory", memory_of(target))
    if (tiled, elements_in(given)) == (wanted.is_tiled, elements_in(target)):
        if BufferType.SYSTEM_MEMORY not in (wanted.buffer, cast("Memory", memory_of(given)).buffer):
            return build.create("to_memory_config", (value,), target)
    if is_sharded(given) and is_sharded(target) and elements_in(given) == elements_in(target):
        # Each core has the rows that become its tiles.
        return build.create("to_layout", (value,), target)
    if is_sharded(given):
        value = build.create("to_memory_config", (value,), tensor_in(given, tiled=tiled))
    last = target
    if is_sharded(target):
        last = tensor_in(target, tiled=wanted.is_tiled)
    if value.type != last:
        step = build.create_op_of("to_tensor_spec", (value,), (last,))
        value = _steps(step)
        erase(step)
    if last != target:
        value = build.create("to_memory_config", (value,), target)
    return value


def _cores_in_l1(*types: Attribute) -> Shards | None:
    """The cores over which the first of some types in L1 is interleaved; None for a single one."""
    for type_ in types:
        memory = memory_of(type_)
        if memory is not None and memory.buffer is BufferType.L1:
            layout = cast("TTNNLayoutAttr", cast("TensorType[Attribute]", type_).encoding)
            rows, columns = layout.grid.data.shape
            if (rows, columns) != (1, 1):
                return Shards(TTNNTensorMemoryLayout.INTERLEAVED, (rows, columns), None)
    return None


_MADE_ON_HOST = ("ui8",)
"""Elements whose tiles the device cannot make of rows."""
_FLOATS = {"f32", "bf16", "f16"}
"""Elements that change while tiles are made."""


class _State:
    """A tensor on its way."""

    def __init__(
        self, build: TTNNValueBuilder, value: SSAValue, memory: Memory, cores: Shards | None
    ) -> None:
        """Begin with a value in a memory; in L1 it is interleaved over `cores`."""
        self._build = build
        self.value = value
        self._memory = memory
        self._cores = cores

    @property
    def stored(self) -> Attribute:
        """What memory holds of its elements now."""
        return stored_in(self.value.type)

    def _step(self, mnemonic: str, elements: Attribute, memory: Memory, *more: SSAValue) -> None:
        """One step, after which it has the elements of another type."""
        type_ = tensor_in(
            elements,
            tiled=memory.is_tiled,
            buffer=memory.buffer,
            shards=self._cores if memory.buffer is BufferType.L1 else None,
        )
        self.value = self._build.create(mnemonic, (self.value, *more), type_)
        self._memory = memory

    def tile(self, tiled: bool, elements: Attribute | None = None) -> None:
        """Make tiles of rows, or rows of tiles, and give them elements of a type on the way."""
        if self._memory.is_tiled is not tiled:
            memory = Memory(self._memory.buffer, tiled)
            self._step("to_layout", elements or self.value.type, memory)

    def move(self, buffer: BufferType) -> None:
        """Bring it to another memory."""
        memory = Memory(buffer, self._memory.is_tiled)
        if self._memory.buffer is buffer:
            return
        if buffer is BufferType.SYSTEM_MEMORY:
            self._step("from_device", self.value.type, memory)
        elif self._memory.buffer is BufferType.SYSTEM_MEMORY:
            self._step("to_device", self.value.type, memory, self._device())
        else:
            self._step("to_memory_config", self.value.type, memory)

    def _device(self) -> SSAValue:
        """The device; asking for it belongs to no operation, but to the whole function."""
        place, function = self._build.location, self._build.block.parent_op()
        if function is not None:
            self._build.location = function.location
        found = self._build.device()
        self._build.location = place
        return found

    def cast_to(self, type_: Attribute) -> None:
        """Give it the elements of a type."""
        if elements_in(self.value.type) != elements_in(type_):
            self._step("typecast", type_, self._memory)

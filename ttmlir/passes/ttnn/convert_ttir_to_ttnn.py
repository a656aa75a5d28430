"""Turn ttir operations into operations of the ttnn library.

Most operations keep their name and parameters and lose their constraints. What has no counterpart
is spelled out: squeezes are reshapes, layout changes are moves between host and device, constants
are filled tensors. Every function that needs a device asks for it once, at its top.

A `ttir.custom_kernel` becomes a `ttnn.generic` that writes to tensors of its own.

A `ttir.broadcast` vanishes where its user repeats the tensor by itself: an elementwise operation
whose other operands have the full shape, or a move to the host. Any other user gets a repetition.

With `share-transfers`, a tensor that several operations want in DRAM in the same layout is moved
there once.

Before:

    // After ttir-load-system-desc ttir-implicit-device ttir-layout
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
    module attributes {tt.device = #device, tt.system_desc = #system_desc} {
      func.func @exp(%arg0: tensor<33x70xf32, #layout>) -> tensor<33x70xf32, #layout> {
        %0 = "ttnn.get_device"() : () -> !tt.device<#device>
        %1 = "ttnn.to_layout"(%arg0, %0) <{layout = #ttnn.layout<tile>}>
            : (tensor<33x70xf32, #layout>, !tt.device<#device>) -> tensor<33x70xf32, #layout1>
        %2 = "ttnn.to_device"(%1, %0)
            <{memory_config = #ttnn.memory_config<<interleaved>, <dram>>}>
            : (tensor<33x70xf32, #layout1>, !tt.device<#device>) -> tensor<33x70xf32, #layout1>
        %3 = "ttnn.empty"(%0) : (!tt.device<#device>) -> tensor<33x70xf32, #layout1>
        %4 = "ttnn.exp"(%2, %3) <{operandSegmentSizes = array<i32: 1, 1>}>
            : (tensor<33x70xf32, #layout1>, tensor<33x70xf32, #layout1>)
            -> tensor<33x70xf32, #layout1>
        %5 = "ttnn.to_memory_config"(%4, %0)
            : (tensor<33x70xf32, #layout1>, !tt.device<#device>) -> tensor<33x70xf32, #layout>
        return %5 : tensor<33x70xf32, #layout>
      }
    }

Requires: layouts on all tensors (`ttir-layout`), a device on an enclosing operation
(`ttir-implicit-device`), even padding of window operations (`ttir-sliding-window-2d-fix-shapes`).
Ensures: only builtin, func and ttnn operations are left, or an error names the first other one.
Options: none.
Not done here: layouts stay as they are; `ttir.generic`, `ttir.kernel` and allocations belong to
the road to ttmetal and are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, cast

from xdsl.dialects import tensor
from xdsl.dialects.builtin import (
    ModuleOp,
    UnrealizedConversionCastOp,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue, Use

from ttmlir.dialects import tt, ttir, ttnn
from ttmlir.dialects.definition.dps import DestinationStyleOp
from ttmlir.dialects.definition.row_ops import RowOperation
from ttmlir.dialects.ttnn.layout import BUFFER_TYPES, MEMORY_LAYOUTS
from ttmlir.ir.layouts import device_attr_in_scope, layout_of
from ttmlir.ir.op_builder import OpBuilder
from ttmlir.ir.rewriting import (
    erase_unused,
    insert_before,
    refuse,
    refuse_foreign,
    refuse_to_legalize,
    replace,
)
from ttmlir.ir.tensor_types import value_shape
from ttmlir.ir.ttnn_builder import TTNNBuilder, takes_device
from ttmlir.layout.enums import (
    MemorySpace,
    TensorMemoryLayout,
    TTNNLayout,
    TTNNTensorMemoryLayout,
)
from ttmlir.layout.errors import LayoutError
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttnn.ttnn_broadcast import convert_broadcast
from ttmlir.passes.ttnn.ttnn_constant import constant_form

if TYPE_CHECKING:
    from xdsl.context import Context


ConversionRule = Callable[[Operation], None]


@dataclass(frozen=True)
class ConvertTTIRToTTNNPass(ModulePass):
    """Turn ttir operations into operations of the ttnn library."""

    name = "convert-ttir-to-ttnn"
    title = "ConvertTTIRToTTNN"

    share_transfers: bool = option(
        False, "Move to the device once what several operations take from the host"
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert every function of the module."""
        _Conversion(share_transfers=self.share_transfers).convert(module)


_LEGAL = (ModuleOp, FuncOp, ReturnOp, CallOp, UnrealizedConversionCastOp, ttnn.TTNNOp)
_TILE = {"layout": ttnn.LayoutAttr(TTNNLayout.TILE)}


class _Conversion:
    """One walk over a module."""

    def __init__(self, *, share_transfers: bool) -> None:
        self._share_transfers = share_transfers
        self._devices: dict[Block, SSAValue] = {}
        self._in_dram: dict[tuple[Block | None, SSAValue, Attribute], SSAValue] = {}
        """What has been moved to DRAM: its block, what it was and its type, and what it is now."""
        self._with_destination: set[Operation] = set()
        self._rules: dict[type[Operation], ConversionRule] = {}
        self._special: dict[type[Operation], ConversionRule] = {
            tensor.EmptyOp: self._empty,
            ttir.ToLayoutOp: self._to_layout,
            ttir.ConstantOp: self._constant,
            ttir.op_class("broadcast"): self._broadcast,
            ttir.CustomKernelOp: self._custom_kernel,
            ttir.WhileOp: _same_control(ttnn.WhileOp),
            ttir.CaseOp: _same_control(ttnn.CaseOp),
        }

    def convert(self, op: Operation) -> None:
        """Convert everything inside `op`, block by block."""
        for region in op.regions:
            for block in region.blocks:
                # Conversions insert before and erase the operation in hand only.
                for inner in tuple(block.ops):
                    try:
                        self._rule(inner)(inner)
                    except LayoutError as error:
                        refuse(inner, str(error))
                    if inner.regions:
                        self.convert(inner)

    def _rule(self, op: Operation) -> ConversionRule:
        cls = type(op)
        rule = self._rules.get(cls)
        if rule is None:
            rule = self._rules[cls] = self._rule_for(op)
        return rule

    def _rule_for(self, op: Operation) -> ConversionRule:
        if isinstance(op, _LEGAL):
            return _keep
        if special := self._special.get(type(op)):
            return special
        if isinstance(op, RowOperation) and op.ROW.ttnn_parameters is not None:
            return self._with_parameters
        if isinstance(op, RowOperation) and op.ROW.in_ttnn:
            return self._same_name
        return _refuse_operation

    # -- device --------------------------------------------------------------------------------

    def device(self, op: Operation) -> SSAValue:
        """The device of the block of `op`, which is asked for at the top of the block."""
        block = op.parent
        assert block is not None, "operations are converted in place"
        device = self._devices.get(block)
        if device is None:
            device = self._devices[block] = _get_device(block, op)
        return device

    # -- structure -----------------------------------------------------------------------------

    def _empty(self, op: Operation) -> None:
        if op.operands:
            refuse(op, "dynamic extents are not supported: give every tensor a static shape")
        device = self.device(op)
        result = op.results[0]
        if result.first_use is not None and all(map(self._is_superfluous, result.uses)):
            # The operation that moves the data makes its own destination.
            return
        replace(op, TTNNBuilder.on(device, op).create_empty(result.type))

    def _own_destination(self, op: Operation, value: SSAValue) -> SSAValue:
        """The destination, or a new one if the tensor is used otherwise: ttnn overwrites it."""
        if value.has_one_use():
            return value
        return TTNNBuilder.on(self.device(op), op).create_empty(value.type)

    def _is_superfluous(self, use: Use) -> bool:
        """True for the destination of a move."""
        user = use.operation
        is_moved_into = isinstance(user, ttir.ToLayoutOp) and use.index in user.written_results
        return is_moved_into and user not in self._with_destination

    def _to_layout(self, op: Operation) -> None:
        assert isinstance(op, ttir.ToLayoutOp)
        device, result_type, input = self.device(op), op.results[0].type, op.operands[0]
        destinations = [value.owner for value in op.inits]
        layout = layout_of(result_type)
        assert layout is not None, "verified: both tensors have layouts"
        key = (op.parent, input, result_type)
        known = self._in_dram.get(key)
        if known is not None and not any(map(_is_written, known.uses)):
            # What is used several times is transferred once.
            replace(op, known)
            erase_unused(owner for owner in destinations if isinstance(owner, tensor.EmptyOp))
            return
        if layout.memory_space.is_system:
            new = ttnn.ToMemoryConfigOp.make(input, device, result_type, location=op.location)
            insert_before(op, new)
        else:
            tiled = ttnn.ToLayoutOp.make(input, device, result_type, _TILE, location=op.location)
            config = _memory_config(layout.memory_layout, layout.memory_space)
            new = ttnn.ToDeviceOp.make(
                tiled.results[0],
                device,
                result_type,
                {"memory_config": config},
                location=op.location,
            )
            insert_before(op, tiled, new)
            if self._share_transfers and layout.memory_space is MemorySpace.DEVICE_DRAM:
                # In L1 it would take the room of what comes in between.
                self._in_dram[key] = new.results[0]
        replace(op, new.results[0])
        erase_unused(owner for owner in destinations if isinstance(owner, tensor.EmptyOp))

    # -- rows ----------------------------------------------------------------------------------

    def _same_name(self, op: Operation) -> None:
        """Keep name, operands and parameters; drop the constraints, append the device if taken."""
        assert isinstance(op, RowOperation)
        cls = ttnn.op_class(op.ROW.mnemonic)
        properties = {k: v for k, v in op.properties.items() if k != "operand_constraints"}
        self._replace_by(op, cls, properties)

    def _replace_by(
        self, op: Operation, cls: type[Operation], properties: dict[str, Attribute]
    ) -> None:
        operands = [*op.operands]
        if isinstance(op, ttir.TTIROp):
            for number in range(*op.init_range):
                operands[number] = self._own_destination(op, operands[number])
        if takes_device(cls):
            operands.append(self.device(op))
        new = cls.create(
            operands=operands,
            result_types=[result.type for result in op.results],
            properties=properties,
            location=op.location,
        )
        insert_before(op, new)
        replace(op, *new.results)

    def _with_parameters(self, op: Operation) -> None:
        """Take the parameters from the row, where ttnn has others than ttir."""
        assert isinstance(op, ttir.TTIRRowOp)
        row = op.ROW
        assert row.ttnn_parameters is not None, "asked for in the choice of the rule"
        cls = cast("type[ttnn.TTNNRowOp]", ttnn.op_class(row.ttnn_form or row.mnemonic))
        shapes = [value_shape(value) for value in op.inputs]
        try:
            values = row.ttnn_parameters(op.parameters(), shapes, value_shape(op.results[0]))
        except ValueError as error:
            refuse(op, str(error))
        taken = {p.name: values[p.name] for p in cls.PARAMETERS}
        self._replace_by(op, cls, OpBuilder.before(op).properties_of(cls, taken))

    def _broadcast(self, op: Operation) -> None:
        assert isinstance(op, ttir.TTIRRowOp)
        output = self._own_destination(op, op.output)
        # tt-mlir leaves the destinations of these moves behind.
        self._with_destination.update(convert_broadcast(op, output, self.device))

    def _custom_kernel(self, op: Operation) -> None:
        assert isinstance(op, ttir.CustomKernelOp)
        outputs = [
            value
            if isinstance(value.owner, ttnn.EmptyOp) and value.has_one_use()
            else TTNNBuilder.on(self.device(op), op).create_empty(value.type)
            for value in op.inits
        ]
        program = op.kernel.program
        insert_before(op, ttnn.GenericOp.make(op.inputs, outputs, program, location=op.location))
        replace(op, *outputs)

    def _constant(self, op: Operation) -> None:
        form = constant_form(op.properties["value"])
        new = form.cls.make(
            self.device(op), op.results[0].type, form.properties, location=op.location
        )
        insert_before(op, new)
        replace(op, new.results[0])


@cache
def _memory_config(
    memory_layout: TensorMemoryLayout, memory_space: MemorySpace
) -> ttnn.MemoryConfigAttr:
    spread = MEMORY_LAYOUTS.get(memory_layout, TTNNTensorMemoryLayout.INTERLEAVED)
    return ttnn.MemoryConfigAttr.get(spread, BUFFER_TYPES[memory_space])


def _is_written(use: Use) -> bool:
    user = use.operation
    return isinstance(user, DestinationStyleOp) and use.index in range(*user.init_range)


def _same_control(cls: type[Operation]) -> ConversionRule:
    """The rule of a loop or branch, which keeps all but its name."""

    def rule(op: Operation) -> None:
        new = cls.create(
            operands=op.operands,
            result_types=[result.type for result in op.results],
            properties=dict(op.properties),
            location=op.location,
        )
        insert_before(op, new)
        replace(op, *new.results)

    return rule


def _keep(op: Operation) -> None:
    """What is neither ttir nor a destination stays."""


def _refuse_operation(op: Operation) -> None:
    if not op.name.startswith("ttir."):
        refuse_foreign(op, "convert-ttir-to-ttnn takes ttir, func and tensor.empty operations")
    refuse_to_legalize(
        op, "it has no counterpart in ttnn; convert-ttir-to-ttmetal is the road for it"
    )


def _get_device(block: Block, op: Operation) -> SSAValue:
    """The first device that the block asks for, or a new request at its top."""
    for other in block.ops:
        if isinstance(other, ttnn.GetDeviceOp):
            return other.results[0]
    attr = device_attr_in_scope(op)
    if attr is None:
        refuse(
            op,
            "there is no device: convert-ttir-to-ttnn needs the attribute tt.device on an "
            "enclosing operation; run ttir-implicit-device before",
        )
    new = ttnn.GetDeviceOp.create(result_types=[tt.DeviceType(attr)], location=op.location)
    first = block.first_op
    assert first is not None, "the block holds the operation that needs a device"
    insert_before(first, new)
    return new.results[0]

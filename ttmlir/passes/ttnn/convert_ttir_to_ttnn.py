"""Turn ttir operations into operations of the ttnn library.

Most operations keep their name and parameters and lose their constraints. What has no counterpart
is spelled out: squeezes are reshapes, layout changes are moves between host and device, constants
are filled tensors. Every function that needs a device asks for it once, at its top.

A `ttir.broadcast` vanishes where its user repeats the tensor by itself: an elementwise operation
whose other operands have the full shape, or a move to the host. Any other user gets a repetition.

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

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, cast

from xdsl.dialects import tensor
from xdsl.dialects.builtin import (
    IntegerAttr,
    ModuleOp,
    UnrealizedConversionCastOp,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue, Use

from ttmlir.dialects import tt, ttir, ttnn
from ttmlir.dialects.row_ops import RowOperation
from ttmlir.ir.layouts import device_attr_in_scope, layout_of
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
    BufferType,
    MemorySpace,
    TensorMemoryLayout,
    TTNNLayout,
    TTNNTensorMemoryLayout,
)
from ttmlir.layout.errors import LayoutError
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttnn.ttnn_broadcast import convert_broadcast
from ttmlir.passes.ttnn.ttnn_constant import constant_form

if TYPE_CHECKING:
    from xdsl.context import Context

    from ttmlir.dialects.row_ops import ParameterValue

Rule = Callable[[Operation], None]


@dataclass(frozen=True)
class ConvertTTIRToTTNNPass(ModulePass):
    """Turn ttir operations into operations of the ttnn library."""

    name = "convert-ttir-to-ttnn"
    title = "ConvertTTIRToTTNN"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert every function of the module."""
        _Conversion().convert(module)


_BUFFER_TYPES = {
    MemorySpace.DEVICE_DRAM: BufferType.DRAM,
    MemorySpace.DEVICE_L1: BufferType.L1,
}
_MEMORY_LAYOUTS = {
    TensorMemoryLayout.NONE: TTNNTensorMemoryLayout.INTERLEAVED,
    TensorMemoryLayout.INTERLEAVED: TTNNTensorMemoryLayout.INTERLEAVED,
    TensorMemoryLayout.SINGLE_BANK: TTNNTensorMemoryLayout.SINGLE_BANK,
    TensorMemoryLayout.HEIGHT_SHARDED: TTNNTensorMemoryLayout.HEIGHT_SHARDED,
    TensorMemoryLayout.WIDTH_SHARDED: TTNNTensorMemoryLayout.WIDTH_SHARDED,
    TensorMemoryLayout.BLOCK_SHARDED: TTNNTensorMemoryLayout.BLOCK_SHARDED,
}
_LEGAL = (ModuleOp, FuncOp, ReturnOp, CallOp, UnrealizedConversionCastOp, ttnn.TTNNOp)
_TILE = {"layout": ttnn.LayoutAttr(TTNNLayout.TILE)}


class _Conversion:
    """One walk over a module."""

    def __init__(self) -> None:
        self._devices: dict[Block, SSAValue] = {}
        self._with_destination: set[Operation] = set()
        self._rules: dict[type[Operation], Rule] = {}
        self._special: dict[str, Rule] = {
            "tensor.empty": self._empty,
            "ttir.to_layout": self._to_layout,
            "ttir.broadcast": self._broadcast,
            "ttir.concat": self._concat,
            "ttir.constant": self._constant,
            "ttir.conv2d": self._conv2d,
            "ttir.max_pool2d": self._max_pool2d,
            "ttir.avg_pool2d": self._avg_pool2d,
            "ttir.conv_transpose2d": self._conv_transpose2d,
            "ttir.squeeze": self._reshape,
            "ttir.unsqueeze": self._reshape,
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

    def _rule(self, op: Operation) -> Rule:
        cls = type(op)
        rule = self._rules.get(cls)
        if rule is None:
            rule = self._rules[cls] = self._rule_for(op)
        return rule

    def _rule_for(self, op: Operation) -> Rule:
        if isinstance(op, _LEGAL):
            return _keep
        if special := self._special.get(op.name):
            return special
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

    def _replace_by_row(self, op: Operation, mnemonic: str, **values: ParameterValue) -> None:
        cls = cast("type[ttnn.TTNNRowOp]", ttnn.op_class(mnemonic))
        self._replace_by(op, cls, cls.parameter_properties(values))

    def _concat(self, op: Operation) -> None:
        dim = _int(op, "dim")
        self._replace_by_row(op, "concat", dim=dim % len(value_shape(op.operands[0])))

    def _reshape(self, op: Operation) -> None:
        self._replace_by_row(op, "reshape", shape=value_shape(op.results[0]))

    def _broadcast(self, op: Operation) -> None:
        op.operands[1] = self._own_destination(op, op.operands[1])
        # tt-mlir leaves the destinations of these moves behind.
        self._with_destination.update(convert_broadcast(op, self.device))

    def _constant(self, op: Operation) -> None:
        form = constant_form(op.properties["value"])
        new = form.cls.make(
            self.device(op), op.results[0].type, form.properties, location=op.location
        )
        insert_before(op, new)
        replace(op, new.results[0])

    # -- windows -------------------------------------------------------------------------------

    def _conv2d(self, op: Operation) -> None:
        *batches, height, width, channels = value_shape(op.operands[0])
        *_, kernel_height, kernel_width = value_shape(op.operands[1])
        self._replace_by_row(
            op,
            "conv2d",
            in_channels=channels,
            out_channels=value_shape(op.results[0])[-1],
            batch_size=math.prod(batches),
            input_height=height,
            input_width=width,
            kernel_height=kernel_height,
            kernel_width=kernel_width,
            **_window_parameters(op, "stride", "dilation"),
            **_even_padding(op),
            groups=_int(op, "groups"),
        )

    def _max_pool2d(self, op: Operation) -> None:
        *batches, height, width, channels = value_shape(op.operands[0])
        pixels = math.prod((*batches, height, width))
        if "original_height" in op.properties:
            height, width = _int(op, "original_height"), _int(op, "original_width")
        self._replace_by_row(
            op,
            "max_pool2d",
            # Flattened, the images of a batch follow each other along the rows.
            batch_size=pixels // max(1, height * width),
            input_height=height,
            input_width=width,
            channels=channels,
            **_window_parameters(op, "kernel", "stride", "dilation"),
            ceil_mode=bool(_int(op, "ceil_mode")),
            **_even_padding(op),
        )

    def _avg_pool2d(self, op: Operation) -> None:
        assert isinstance(op, RowOperation)
        batch, height, width, channels = value_shape(op.operands[0])
        self._replace_by_row(
            op,
            "avg_pool2d",
            **op.parameters(),
            batch_size=batch,
            input_height=height,
            input_width=width,
            channels=channels,
        )

    def _conv_transpose2d(self, op: Operation) -> None:
        assert isinstance(op, RowOperation)
        batch, height, width, channels = value_shape(op.operands[0])
        *_, kernel_height, kernel_width = value_shape(op.operands[1])
        self._replace_by_row(
            op,
            "conv_transpose2d",
            **op.parameters(),
            in_channels=channels,
            out_channels=value_shape(op.results[0])[-1],
            batch_size=batch,
            input_height=height,
            input_width=width,
            kernel_height=kernel_height,
            kernel_width=kernel_width,
        )


@cache
def _memory_config(
    memory_layout: TensorMemoryLayout, memory_space: MemorySpace
) -> ttnn.MemoryConfigAttr:
    return ttnn.MemoryConfigAttr.get(_MEMORY_LAYOUTS[memory_layout], _BUFFER_TYPES[memory_space])


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


def _int(op: Operation, name: str) -> int:
    return cast("IntegerAttr", op.properties[name]).value.data


def _window_parameters(op: Operation, *names: str) -> dict[str, int]:
    """The parameters of these names for both directions, which keep their names."""
    return {name: _int(op, name) for stem in names for name in (f"{stem}_height", f"{stem}_width")}


def _even_padding(op: Operation) -> dict[str, int]:
    """The padding, as one number per direction."""
    top, bottom, left, right = (
        _int(op, f"padding_{side}") for side in ("top", "bottom", "left", "right")
    )
    if top != bottom or left != right:
        refuse(
            op,
            "padding must be the same above and below and the same left and right, but is "
            f"top {top}, bottom {bottom}, left {left}, right {right}; "
            "run ttir-sliding-window-2d-fix-shapes before, which pads unevenly",
        )
    return {"padding_height": top, "padding_width": right}

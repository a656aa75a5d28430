"""Turn ttir operations into operations of the ttnn library.

Most operations keep their name and parameters and lose their constraints. Others become what ttnn
has: squeezes reshapes, layout changes moves between host and device, constants filled tensors.
Every function that needs a device asks for it once, at its top.

A `ttir.custom_kernel` becomes a `ttnn.generic` that writes to tensors of its own.

A `ttir.broadcast` vanishes where its user repeats the tensor by itself: an elementwise operation
whose other operands have the full shape, or a move to the host. Any other user gets a repetition.

Operations of 2026, which make their results, become those of ttnn of 2026 by the rules of
`convert_values.py`, which says how a rule is added; their tensors have layouts of `ttnn-layout`.

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
the lowering to ttmetal and are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, cast

from xdsl.dialects import tensor
from xdsl.dialects.builtin import (
    ArrayAttr,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    TensorType,
    UnrealizedConversionCastOp,
    f32,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue, Use

from ttmlir.dialects import tt, ttir, ttnn
from ttmlir.dialects.definition.ods import DestinationStyleOp
from ttmlir.dialects.definition.table_ops import TableOperation
from ttmlir.dialects.ttnn.attrs import BUFFER_TYPES, MEMORY_LAYOUTS
from ttmlir.ir.builder import OpBuilder, TTNNBuilder, takes_device
from ttmlir.ir.constants import number_of_elements
from ttmlir.ir.rewriting import (
    erase,
    erase_unused,
    insert_before,
    refuse,
    refuse_foreign,
    refuse_to_legalize,
    replace,
)
from ttmlir.ir.tensor_types import device_attr_in_scope, layout_of, value_shape, with_layout
from ttmlir.layout.enums import MemorySpace, TensorMemoryLayout, TTNNLayout, TTNNTensorMemoryLayout
from ttmlir.layout.errors import LayoutError
from ttmlir.mlir.attributes import Elements, exact_float32
from ttmlir.mlir.option_values import option
from ttmlir.optable.op_definition import broadcast_shape
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context


# --- Ttnn broadcast -------------------------------------------------------------------------------
# What becomes of a `ttir.broadcast`: nothing where its user repeats elements by itself.
#
# ttnn has no operation of that name. Elementwise operations and moves to the host repeat an operand
# that is smaller than their result, so they take the operand of the broadcast. Other users get the
# tensor in full, made by `ttnn.repeat`, or the destination where it has no elements.

Shape = tuple[int, ...]


def convert_broadcast(
    op: ttir.TTIRTableOp, output: SSAValue, device: Callable[[Operation], SSAValue]
) -> list[ttir.ToLayoutOp]:
    """Take a broadcast out; `device` finds the device for new destinations.

    Where the tensor is needed in full, it is written to `output`. Returns the moves that now take
    the operand of the broadcast.
    """
    (small,) = op.inputs
    result = op.results[0]
    placed = _placed_shape(op)
    _check(op, placed)
    if not _is_suffix(value_shape(small), placed):
        small = _reshape(op, small, placed, device(op))
    shape = value_shape(small)
    users = dict.fromkeys(use.operation for use in result.uses)
    result.replace_uses_with_if(small, lambda use: _repeats(use, shape))
    moves = [
        user for user in users if isinstance(user, ttir.ToLayoutOp) and user.operands[0] is small
    ]
    if result.first_use is None:
        erase(op)
        return moves
    if 0 in value_shape(result):
        replace(op, output)
        return moves
    if len(shape) < len(placed):
        small = _reshape(op, small, placed, device(op))
    counts = tuple(whole // part for whole, part in zip(value_shape(result), placed, strict=True))
    builder = TTNNBuilder.on(device(op), op)
    repeated = builder.create(
        "repeat", (small,), result.type, output=output, repeat_dimensions=counts
    )
    replace(op, repeated)
    return moves


def _placed_shape(op: Operation) -> Shape:
    """The shape of the operand at the rank of the result, its dimensions where they will be."""
    extents, rank = value_shape(op.operands[0]), len(value_shape(op.results[0]))
    dims = tuple(
        item.value.data for item in cast("ArrayAttr[IntegerAttr]", op.properties["dimension"]).data
    )
    if len(extents) > rank or not all(0 <= dim < rank for dim in dims):
        refuse(
            op,
            f"cannot place {len(extents)} dimensions at {list(dims)} of a result with {rank}",
        )
    if len(extents) == rank or len(dims) != len(extents):
        return (*(1 for _ in range(rank - len(extents))), *extents)
    placed = [1] * rank
    for extent, dim in zip(extents, dims, strict=True):
        placed[dim] = extent
    return tuple(placed)


def _check(op: Operation, placed: Shape) -> None:
    """Refuse extents that repetition does not turn into those of the result."""
    shape = value_shape(op.results[0])
    if any(part not in (1, whole) for part, whole in zip(placed, shape, strict=True)):
        refuse(
            op,
            f"cannot repeat extents {list(placed)} to {list(shape)}: each must be 1 or the "
            "extent of the result",
        )


def _is_suffix(shape: Shape, placed: Shape) -> bool:
    """True if aligning `shape` at the last dimension, as in NumPy, puts it where it belongs."""
    rest = len(placed) - len(shape)
    return placed[rest:] == shape and all(extent == 1 for extent in placed[:rest])


def _repeats(use: Use, shape: Shape) -> bool:
    """True if the user gives the same result for an operand of the smaller `shape`."""
    user = use.operation
    if isinstance(user, ttir.ToLayoutOp):
        layout = layout_of(user.results[0].type)
        return use.index == 0 and layout is not None and layout.memory_space.is_system
    if isinstance(user, ttir.ElementwiseOp):
        shapes = [value_shape(value) for value in user.inputs]
        if use.index >= len(shapes):
            return False
        shapes[use.index] = shape
        return broadcast_shape(*shapes) == value_shape(user.results[0])
    same_rank = len(shape) == len(value_shape(user.operands[use.index]))
    return user.name == "ttir.broadcast" and use.index == 0 and same_rank


def _reshape(op: Operation, value: SSAValue, shape: Shape, device: SSAValue) -> SSAValue:
    type_ = cast("TensorType[Attribute]", value.type)
    new_type: Attribute = TensorType(type_.element_type, shape)
    if (layout := layout_of(type_)) is not None:
        new_type = with_layout(new_type, layout.with_grid(shape, layout.grid))
    return TTNNBuilder.on(device, op).create("reshape", (value,), new_type, shape=shape)


# --- Ttnn constant --------------------------------------------------------------------------------
# How a constant tensor is made on a device: filled with one value, or from all its elements.
#
# `ttnn.full` takes one 32-bit float. Constants whose elements all have one value that such a float
# holds exactly become that; every other constant carries its elements in `ttnn.constant`.

# tt-mlir makes zeros of these types with `ttnn.empty`, whose memory starts as 0.
_ZEROS_FROM_MEMORY = ("f32", "i32", "si32")


@dataclass(frozen=True)
class ConstantForm:
    """An operation that makes a constant, and its properties."""

    cls: type[ttnn.EmptyOp | ttnn.FullOp | ttnn.ConstantOp]
    properties: dict[str, Attribute]


def constant_form(value: Attribute) -> ConstantForm:
    """The operation that makes a tensor with the elements `value`."""
    fill = _fill_value(value)
    if fill is None:
        return ConstantForm(ttnn.ConstantOp, {"value": value})
    if fill == 0 and _keyword(cast("Elements", value)) in _ZEROS_FROM_MEMORY:
        return ConstantForm(ttnn.EmptyOp, {})
    return ConstantForm(ttnn.FullOp, {"fillValue": FloatAttr(fill, f32)})


def _fill_value(value: Attribute) -> float | None:
    """The one value of all elements as a 32-bit float; None if there is no such value."""
    number = number_of_elements(value)
    return None if number is None else exact_float32(number)


def _keyword(elements: Elements) -> str:
    return str(elements.get_element_type())


# --- Convert ttir to ttnn -------------------------------------------------------------------------

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
        from ttmlir.passes.core.value_form import is_value_form

        if is_value_form(module):
            from ttmlir.passes.ttnn.conversion.convert_values import convert_values

            convert_values(module)
            return
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
        if isinstance(op, TableOperation) and op.DEFINITION.ttnn_parameters is not None:
            return self._with_parameters
        if isinstance(op, TableOperation) and op.DEFINITION.in_ttnn:
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
        assert isinstance(op, TableOperation)
        cls = ttnn.op_class(op.DEFINITION.mnemonic)
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
        assert isinstance(op, ttir.TTIRTableOp)
        definition = op.DEFINITION
        assert definition.ttnn_parameters is not None, "asked for in the choice of the rule"
        cls = cast(
            "type[ttnn.TTNNTableOp]", ttnn.op_class(definition.ttnn_form or definition.mnemonic)
        )
        shapes = [value_shape(value) for value in op.inputs]
        try:
            values = definition.ttnn_parameters(op.parameters(), shapes, value_shape(op.results[0]))
        except ValueError as error:
            refuse(op, str(error))
        taken = {p.name: values[p.name] for p in cls.PARAMETERS}
        self._replace_by(op, cls, OpBuilder.before(op).properties_of(cls, taken))

    def _broadcast(self, op: Operation) -> None:
        assert isinstance(op, ttir.TTIRTableOp)
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
    refuse_to_legalize(op, "it has no counterpart in ttnn; use convert-ttir-to-ttmetal for it")


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

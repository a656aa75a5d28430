"""Turn ttnn operations into calls of the ttnn library in C++.

An operation becomes `emitc.call_opaque "ttnn::<name>"` with its operands in order, tensors become
`ttnn::Tensor`, devices `ttnn::Device`. `ttmlir-translate --mlir-to-cpp` prints the result.

Before:

    #device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>,
        l1Map = (d0, d1) -> (0, 0, d0, d1), dramMap = (d0, d1) -> (0, 0, d0, d1),
        meshShape = 1, chipIds = [0]>
    func.func @exp(%arg0: tensor<33x70xf32>, %arg1: !tt.device<#device>) -> tensor<33x70xf32> {
      %0 = "ttnn.empty"(%arg1) : (!tt.device<#device>) -> tensor<33x70xf32>
      %1 = "ttnn.exp"(%arg0, %0) <{operandSegmentSizes = array<i32: 1, 1>}>
          : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
      return %1 : tensor<33x70xf32>
    }

After:

    module {
      emitc.include "ttnn-precompiled.hpp"
      func.func @exp(%arg0: !emitc.opaque<"ttnn::Tensor">, %arg1: !emitc.opaque<"ttnn::Device">)
          -> !emitc.opaque<"ttnn::Tensor"> {
        %0 = emitc.call_opaque "ttnn::empty"(%arg1)
            : (!emitc.opaque<"ttnn::Device">) -> !emitc.opaque<"ttnn::Tensor">
        %1 = emitc.call_opaque "ttnn::exp"(%arg0, %0)
            : (!emitc.opaque<"ttnn::Tensor">, !emitc.opaque<"ttnn::Tensor">)
            -> !emitc.opaque<"ttnn::Tensor">
        return %1 : !emitc.opaque<"ttnn::Tensor">
      }
    }

Requires: builtin, func, emitc and ttnn operations only.
Ensures: no ttnn operation is left, or an error names the first that has no C++ form.
Options: none.
Not done here: the operations of tt-mlir at 880154e3c2 lose their parameters, as they do there;
later operations pass theirs after the inputs, as literals. Memory layouts are not spelled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FunctionType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    TensorType,
    i32,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects import emitc, tt, ttnn
from ttmlir.dialects.row_ops import RowOperation
from ttmlir.layout.enums import TTNNLayout
from ttmlir.mlir.elements import elements_of
from ttmlir.passes.base import ModulePass
from ttmlir.passes.rewriting import insert_before, refuse_at, replace, retype

if TYPE_CHECKING:
    from xdsl.context import Context

HEADER = "ttnn-precompiled.hpp"
TENSOR = emitc.EmitC_OpaqueType(StringAttr("ttnn::Tensor"))
DEVICE = emitc.EmitC_OpaqueType(StringAttr("ttnn::Device"))
DEVICE_POINTER = emitc.EmitC_PointerType(DEVICE)

_NULLOPT = emitc.EmitC_OpaqueAttr(StringAttr("std::nullopt"))
_LAYOUTS = {layout: f"ttnn::Layout::{layout.name}" for layout in TTNNLayout}


@dataclass(frozen=True)
class ConvertTTNNToEmitCPass(ModulePass):
    """Turn ttnn operations into calls of the ttnn library in C++."""

    name = "convert-ttnn-to-emitc"
    title = "ConvertTTNNToEmitC"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert the module."""
        convert_to_emitc(module)


def convert_to_emitc(module: ModuleOp) -> None:
    """Convert every function of the module and include the library's header."""
    _convert_inside(module)
    include = emitc.IncludeOp.make(HEADER, location=module.location)
    block = module.body.block
    if block.first_op is None:
        block.add_op(include)
    else:
        insert_before(block.first_op, include)


def _convert_inside(op: Operation) -> None:
    for region in op.regions:
        for block in region.blocks:
            for argument in block.args:
                retype(argument, _converted(argument.type))
            # Conversions insert before and erase the operation in hand only.
            for inner in tuple(block.ops):
                _convert(inner)
                _convert_inside(inner)


def _convert(op: Operation) -> None:
    match op:
        case ttnn.TTNNOp():
            _RULES.get(type(op), _call)(op)
        case FuncOp():
            inputs, outputs = op.function_type.inputs.data, op.function_type.outputs.data
            op.function_type = FunctionType.from_lists(
                [*map(_converted, inputs)], [*map(_converted, outputs)]
            )
        case CallOp():
            for result in op.results:
                retype(result, _converted(result.type))
        case _:
            if not isinstance(op, ModuleOp | ReturnOp) and not op.name.startswith("emitc."):
                _refuse(op, "convert-ttnn-to-emitc takes ttnn, func and emitc operations")


def _converted(type_: Attribute) -> Attribute:
    match type_:
        case TensorType():
            return TENSOR
        case tt.DeviceType():
            return DEVICE
        case _:
            return type_


def _get_device(op: Operation) -> None:
    variable = emitc.VariableOp.make(
        emitc.EmitC_OpaqueAttr(StringAttr("device")), DEVICE, location=op.location
    )
    insert_before(op, variable)
    replace(op, variable.results[0])


def _to_layout(op: Operation) -> None:
    assert isinstance(op, ttnn.ToLayoutOp)
    tensor, device = op.operands
    pointer = emitc.ApplyOp.make("&", device, DEVICE_POINTER, location=op.location)
    insert_before(op, pointer)
    layout = emitc.EmitC_OpaqueAttr(StringAttr(_LAYOUTS[op.layout.value]))
    arguments = (_operand(0), layout, _NULLOPT, _NULLOPT, _operand(1))
    _replace_by_call(op, (tensor, pointer.results[0]), arguments)


def _multiply(op: Operation) -> None:
    """The one binary operation whose optional arguments are spelled."""
    arguments = (_operand(0), _operand(1), _NULLOPT, _NULLOPT, _operand(2))
    _replace_by_call(op, op.operands, arguments)


def _call(op: Operation) -> None:
    arguments = _arguments(op) if _has_spelled_parameters(op) else None
    _replace_by_call(op, op.operands, arguments)


def _no_call(op: Operation) -> None:
    _refuse(op, "memory is managed by the ttnn library in C++")


_RULES: dict[type[Operation], Callable[[Operation], None]] = {
    ttnn.AllocOp: _no_call,
    ttnn.DeallocOp: _no_call,
    ttnn.GetDeviceOp: _get_device,
    ttnn.ToLayoutOp: _to_layout,
    ttnn.op_class("multiply"): _multiply,
}


def _has_spelled_parameters(op: Operation) -> bool:
    return (
        isinstance(op, RowOperation) and op.ROW.extends_reference and bool(op.ROW.parameters)
    ) or isinstance(op, ttnn.ConstantOp)


def _arguments(op: Operation) -> list[Attribute]:
    """The inputs, the parameters as literals, then destination and device."""
    assert isinstance(op, RowOperation)
    signature = op.SIGNATURE
    inputs = op.group_range(signature.init)[0] if signature.init else 0
    operands = [_operand(index) for index in range(len(op.operands))]
    parameters = [
        literal
        for parameter in op.PARAMETERS
        for literal in _literals(op.properties.get(parameter.name))
    ]
    return [*operands[:inputs], *parameters, *operands[inputs:]]


def _literals(attribute: Attribute | None) -> Sequence[Attribute]:
    """What stands for a parameter; elements are followed by their shape."""
    match attribute:
        case None:
            return (_NULLOPT,)
        case DenseIntOrFPElementsAttr():
            return (attribute, _list(attribute.get_shape()))
        case ArrayAttr():
            items = cast("ArrayAttr[IntegerAttr]", attribute)
            return (_list([item.value.data for item in items]),)
        case DenseArrayBase():
            items = cast("DenseArrayBase[IntegerType]", attribute)
            return (_list([*items.iter_values()]),)
        case _:
            return (attribute,)


def _list(values: Sequence[int]) -> Attribute:
    """Integers that C++ text shows as `{1, 2}`."""
    return elements_of(TensorType(i32, [len(values)]), values)


def _operand(index: int) -> Attribute:
    """The argument that stands for the operand with this number."""
    return IntegerAttr.from_index_int_value(index)


def _replace_by_call(
    op: Operation, operands: Sequence[SSAValue], arguments: Sequence[Attribute] | None
) -> None:
    callee = op.ROW.callee if isinstance(op, RowOperation) else _callee(op)
    results = [_converted(result.type) for result in op.results]
    call = emitc.CallOpaqueOp.make(callee, operands, results, args=arguments, location=op.location)
    insert_before(op, call)
    replace(op, *call.results)


def _callee(op: Operation) -> str:
    return op.name.replace("ttnn.", "ttnn::", 1)


def _refuse(op: Operation, reason: str) -> NoReturn:
    refuse_at(op, f"failed to legalize operation '{op.name}': {reason}")

"""Say how the tensors of ttir lie in memory, as ttnn does since 2025.

Before:

    func.func @main(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
      %0 = "ttir.exp"(%a) : (tensor<5x7xf32>) -> tensor<5x7xf32>
      return %0 : tensor<5x7xf32>
    }

After:

    #dram = #ttnn.buffer_type<dram>
    #ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<5x7xf32, #dram>,
        <interleaved>>
    #ttnn_layout1 = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>,
        memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
    module {
      func.func @main(%arg0: tensor<5x7xf32, #ttnn_layout>) -> tensor<5x7xf32, #ttnn_layout1> {
        %0 = ttir.empty() : tensor<5x7xf32, #ttnn_layout1>
        %1 = ttir.to_layout %arg0, %0 : tensor<5x7xf32, #ttnn_layout>
            into tensor<5x7xf32, #ttnn_layout1> -> tensor<5x7xf32, #ttnn_layout1>
        %2 = "ttir.exp"(%1)
            : (tensor<5x7xf32, #ttnn_layout1>) -> tensor<5x7xf32, #ttnn_layout1>
        return %2 : tensor<5x7xf32, #ttnn_layout1>
      }
    }

Requires: element types that devices have (`ttir-element-type-normalization`), static shapes.
Ensures: every tensor has a layout. Those that operations take and make are tiles in DRAM; arguments
of public functions are rows, in DRAM, or on the host where they are parameters or constants.
Options: `rows-of-windows`: what is computed once has rows of tensors whose tiles are mostly
padding, such as windows of weights, in reshapes and results; `constants-on-host` (true):
where parameters and constants are; else they are tiles.
Not done here: functions of the host keep their types; what calls them gives and takes rows of the
host. Operations that take something else get it from `ttnn-workaround`.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from math import prod
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr, TensorType, UnitAttr
from xdsl.dialects.func import CallOp, FuncOp

from ttmlir.ir.rewriting import refuse, symbol_visibility
from ttmlir.ir.tensor_types import is_plain_tensor
from ttmlir.ir.ttnn_types import memory_of, set_type, tensor_in, to_layout
from ttmlir.layout.data_format import padded_shape
from ttmlir.layout.enums import BufferType
from ttmlir.layout.errors import LayoutError
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.general.const_eval_hoist_transform import argument_attribute, is_fixed
from ttmlir.passes.general.cpu_hoist import DECLARATION, HOISTED_CALL, PLACED_CALL
from ttmlir.passes.general.ttcore_mark_functions_as_forward import FUNCTION_TYPE
from ttmlir.passes.general.ttcore_register_device import device_modules
from ttmlir.passes.ttir.ttir_infer_kv_cache_argument_types import (
    KV_CACHE,
    set_argument_attribute,
)

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.ir import Attribute, Operation


@dataclass(frozen=True)
class TTNNLayoutPass(ModulePass):
    """Say how the tensors of ttir lie in memory, as ttnn does since 2025."""

    name = "ttnn-layout"
    title = "TTNNLayout"
    constants_on_host: bool = option(
        True, "Parameters and constants are on the host, for what computes with them once"
    )
    rows_of_windows: bool = option(
        False, "What is computed once has rows of tensors whose tiles are mostly padding"
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Give every tensor a layout, and convert between them where operands differ."""
        for each in device_modules(module):
            _refuse_recursion(each)
            for function in [op for op in each.walk() if isinstance(op, FuncOp)]:
                with _refusing(function):
                    _place_function(function, self.constants_on_host, rows=self.rows_of_windows)


def _refuse_recursion(module: ModuleOp) -> None:
    """Refuse a function that calls itself, maybe by way of others, at a call that does it."""
    calls: dict[str, dict[str, CallOp]] = {}
    for function in [op for op in module.walk() if isinstance(op, FuncOp)]:
        found = [op for op in function.walk() if isinstance(op, CallOp)]
        calls[function.sym_name.data] = {op.callee.string_value(): op for op in found}
    try:
        TopologicalSorter(calls).prepare()
    except CycleError as error:
        callee, caller = cast("list[str]", error.args[1])[:2]
        refuse(
            calls[caller][callee],
            f"calls @{callee} while that runs; recursion is not supported: make it a loop",
        )


@contextmanager
def _refusing(op: Operation) -> Generator[None]:
    """Let elements that no device stores be refused at the operation that has them."""
    try:
        yield
    except LayoutError as error:
        refuse(op, str(error))


def _place_function(function: FuncOp, constants_on_host: bool, *, rows: bool) -> None:
    inputs = [
        _argument_type(function, number, type_, constants_on_host)
        for number, type_ in enumerate(function.function_type.inputs.data)
    ]
    kind = function.attributes.get(FUNCTION_TYPE)
    padded = rows and _is_const_eval(function)
    outputs = [_tiled(type_, rows=padded) for type_ in function.function_type.outputs.data]
    if isinstance(kind, StringAttr) and kind.data == DECLARATION:
        types = function.function_type
        inputs, outputs = ([*map(_on_host, each.data)] for each in (types.inputs, types.outputs))
    function.properties["function_type"] = FunctionType.from_lists(inputs, outputs)
    for block in function.body.blocks:
        for argument, type_ in zip(tuple(block.args), inputs, strict=True):
            set_type(argument, type_)
        for op in tuple(block.ops):
            with _refusing(op):
                _place(op, rows=rows)


def _on_host(type_: Attribute) -> Attribute:
    return tensor_in(type_, tiled=False, buffer=BufferType.SYSTEM_MEMORY)


def _place_call_of_host(op: Operation) -> None:
    """The host takes and gives rows in its own memory."""
    del op.attributes[HOISTED_CALL]
    op.attributes[PLACED_CALL] = UnitAttr()
    for result in tuple(op.results):
        set_type(result, _on_host(result.type))
    for index, operand in enumerate(op.operands):
        op.operands[index] = to_layout(operand, op, _on_host(operand.type))


def _place(op: Operation, *, rows: bool) -> None:
    if HOISTED_CALL in op.attributes:
        _place_call_of_host(op)
        return
    types = [each.type for each in (*op.operands, *op.results)]
    function = op.parent_op()
    is_once = isinstance(function, FuncOp) and _is_const_eval(function)
    if rows and is_once and op.name == "ttir.reshape" and any(map(_is_padded, types)):
        set_type(op.results[0], tensor_in(op.results[0].type, tiled=False))
        _place_rows(op, 0)
        return
    for result in tuple(op.results):
        set_type(result, _tiled(result.type, rows=rows and op.name == _LOADING))
    if op.name != _LOADING:
        for index, operand in enumerate(op.operands):
            if rows and is_once and op.name == "func.return" and _is_padded(operand.type):
                _place_rows(op, index)
            elif (op.name, index) != ("ttcore.case", 0):
                _place_operand(op, index)


def _place_rows(op: Operation, index: int) -> None:
    """Let an operation take rows in DRAM."""
    operand = op.operands[index]
    type_ = tensor_in(operand.type, tiled=False)
    if operand.type != type_:
        op.operands[index] = to_layout(operand, op, type_)


def _place_operand(op: Operation, index: int) -> None:
    """Let an operation take tiles in DRAM, unless it takes what the host has."""
    operand = op.operands[index]
    memory = memory_of(operand.type)
    if (op.name, index) in _ON_HOST and memory is not None and not memory.is_tiled:
        return
    if memory is not None and not (memory.is_tiled and memory.buffer is BufferType.DRAM):
        moved = to_layout(operand, op, tensor_in(operand.type, tiled=True))
        if op.name == _BARRIER:
            cast("Operation", moved.owner).location = op.location
        op.operands[index] = moved


def _is_placed(type_: Attribute) -> bool:
    """True for what is no tensor, or has a layout."""
    return not is_plain_tensor(type_) or memory_of(type_) is not None


def _tiled(type_: Attribute, *, rows: bool = False) -> Attribute:
    """Tiles of a tensor, or with `rows` those of one whose tiles are mostly padding."""
    if _is_placed(type_):
        return type_
    return tensor_in(type_, tiled=not (rows and _is_padded(type_)))


_LOADING = "ttcore.load_cached"
_MOST_PADDING = 8
_LEAST_PADDED = 1 << 14
"""Elements of tensors of which tiles are looked at: others are small anyway."""


def _is_padded(type_: Attribute) -> bool:
    """True for a tensor whose tiles have many more elements than it has."""
    if not isinstance(type_, TensorType):
        return False
    shape = cast("TensorType[Attribute]", type_).get_shape()
    size = prod(shape)
    return size >= _LEAST_PADDED and prod(padded_shape(shape)) > _MOST_PADDING * size


def _argument_type(
    function: FuncOp, number: int, type_: Attribute, constants_on_host: bool
) -> Attribute:
    if _is_placed(type_):
        return type_
    if symbol_visibility(function) != "public" and not _is_const_eval(function):
        return tensor_in(type_, tiled=True)
    is_constant = _is_const_eval(function) or is_fixed(function, number)
    is_cache = argument_attribute(function, number, KV_CACHE) is not None
    if is_cache or (is_constant and not constants_on_host):
        return tensor_in(type_, tiled=True)
    if is_constant or _is_for_host(function, number):
        if not is_constant and _weighs_images(function, number):
            set_argument_attribute(function, number, "ttir.conv2d_weight", UnitAttr())
        return tensor_in(type_, tiled=False, buffer=BufferType.SYSTEM_MEMORY)
    return tensor_in(type_, tiled=False)


_BARRIER = "ttcore.optimization_barrier"
_ON_HOST = {
    *(("ttcore.case", 0), ("ttir.conv2d", 1), ("ttir.conv_transpose2d", 1)),
    *(("ttir.conv2d", 2), ("ttir.conv_transpose2d", 2), ("ttir.mesh_shard", 0)),
}
"""Operands that choose among branches, or that the host prepares, or divides."""


def _is_for_host(function: FuncOp, number: int) -> bool:
    """True for an argument that operations take from the host only."""
    uses = tuple(function.body.blocks[0].args[number].uses) if function.body.blocks else ()
    return bool(uses) and all((use.operation.name, use.index) in _ON_HOST for use in uses)


def _weighs_images(function: FuncOp, number: int) -> bool:
    uses = function.body.blocks[0].args[number].uses
    return any((use.operation.name, use.index) == ("ttir.conv2d", 1) for use in uses)


def _is_const_eval(function: FuncOp) -> bool:
    kind = function.attributes.get(FUNCTION_TYPE)
    return isinstance(kind, StringAttr) and kind.data == "const_eval"

"""Let the program's function take its device, so that other Python can import and call it.

Before:

    // After ttnn-tuplify-tensors=tuplify-input-if-empty=true
    #dram = #ttnn.buffer_type<dram>
    #layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>,
        memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
    func.func @new() -> tensor<32x32xbf16, #layout> {
      %0 = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>,
          mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
      %1 = "ttnn.ones"(%0) <{shape = #ttnn.shape<32x32>}>
          : (!ttnn.device) -> tensor<32x32xbf16, #layout>
      return %1 : tensor<32x32xbf16, #layout>
    }

After:

    ...
      func.func @forward(%arg0: tuple<>, %arg1: !ttnn.device)
          -> tuple<tensor<32x32xbf16, #ttnn_layout>> {
        %0 = "ttnn.ones"(%arg1) <{shape = #ttnn.shape<32x32>}> : (!ttnn.device)
            -> tensor<32x32xbf16, #ttnn_layout>
        ...

Requires: ttnn of 2026, and one tuple of tensors (`ttnn-tuplify-tensors` with
`tuplify-input-if-empty`).
Ensures: functions that nothing calls take a device last, and ask for none; if there is one, its
name is `forward`.
Options: none.
Not done here: functions of constants ask for the device; in Python that is the one that was
given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import FunctionType, StringAttr, TupleType
from xdsl.dialects.func import FuncOp

from ttmlir.dialects import ttnn
from ttmlir.mlir.reporting import OpError
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttnn.functions.ttnn_tuplify_tensors import forward_functions

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

_NAME = "forward"


@dataclass(frozen=True)
class TTNNPrepareModuleForExportPass(ModulePass):
    """Let the program's function take its device."""

    name = "ttnn-prepare-module-for-export"
    title = "TTNNPrepareModuleForExport"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Change the functions that nothing calls."""
        functions = forward_functions(module)
        for function in functions:
            _take_device(function)
        names = [op.sym_name.data for op in module.walk() if isinstance(op, FuncOp)]
        if len(functions) == 1 and _NAME not in names:
            functions[0].sym_name = StringAttr(_NAME)


def _take_device(function: FuncOp) -> None:
    inputs, outputs = (
        each.data for each in (function.function_type.inputs, function.function_type.outputs)
    )
    if len(inputs) != 1 or not isinstance(inputs[0], TupleType):
        raise OpError(
            function,
            "expected forward function to have at least one (tuple) input; run "
            "`-ttnn-tuplify-tensors=tuplify-input-if-empty=true` before this pass",
        )
    device = function.body.blocks[0].insert_arg(ttnn.TTNNDeviceType(), 1, function.location)
    for op in [op for op in function.walk() if isinstance(op, ttnn.GetDeviceOp)]:
        op.results[0].replace_all_uses_with(device)
        op.detach()
        op.erase()
    function.function_type = FunctionType.from_lists([*inputs, device.type], [*outputs])

"""Turn kernels into emitc: calls of tt-metal's kernel library in C++.

A call becomes `emitc.call_opaque` with its name in C++, operands in order; circular buffers and the
variables that loops carry become `emitc.variable`. `ttmlir-translate --mlir-to-cpp` prints the
result, which is the function that `ttmlir-translate --ttkernel-to-cpp` writes. Kernels in the form
of 2026 become what tt-mlir of 2026 makes of them: circular buffers are objects with methods.

Before:

    !cb = !ttkernel.cb<cb_in1, 4096, memref<2x3x!tt.tile<32x32, f32>>, 4096, 1>
    func.func @last_page(%cb: !cb) {
      %0 = arith.constant 2 : i32
      %1 = "ttkernel.get_arg_val"(%0) : (i32) -> i32
      %2 = arith.subi %1, %0 : i32
      "ttkernel.cb_wait_front"(%cb, %2) : (!cb, i32) -> ()
      "ttkernel.return"() : () -> ()
    }

After:

    module {
      func.func @last_page() {
        %0 = "emitc.variable"() <{value = #emitc.opaque<"::tt::CB::c_in1">}>
            : () -> !emitc.opaque<"::tt::CB">
        %1 = "emitc.constant"() <{value = 2 : i32}> : () -> i32
        %2 = emitc.call_opaque "get_arg_val"(%1) {template_args = [#emitc.opaque<"uint32_t">]}
            : (i32) -> i32
        %3 = emitc.cast %2 : i32 to ui32
        %4 = emitc.cast %1 : i32 to ui32
        %5 = emitc.sub %3, %4 : (ui32, ui32) -> ui32
        %6 = emitc.cast %5 : ui32 to i32
        emitc.call_opaque "cb_wait_front"(%0, %6) : (!emitc.opaque<"::tt::CB">, i32) -> ()
        return
      }
    }

Requires: functions of ttkernel, arith, scf, local memrefs and unary operators of emitc whose
arguments are circular buffers. Functions without any kernel operation stay as they are.
Ensures: no ttkernel operation is left in a function, or an error names the first without a form in
emitc.
Options: none.
Not done here: regions of `ttmetal.dispatch`, includes and `MAIN`; calls that are no functions in
C++ (elements, pointers, aggregates, printing). `--ttkernel-to-cpp` writes them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ttmlir.dialects.definition.ods import KERNEL_THREAD
from ttmlir.dialects.ttkernel import CBType, TTKernelOp
from ttmlir.mlir.core_prefix import has_late_kernels
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.emitc.kernel_conversion import KernelConversion
from ttmlir.passes.emitc.late_kernels import LateConversion

if TYPE_CHECKING:
    from xdsl.context import Context


@dataclass(frozen=True)
class ConvertTTKernelToEmitCPass(ModulePass):
    """Turn kernels into calls of tt-metal's kernel library in C++."""

    name = "convert-ttkernel-to-emitc"
    title = "ConvertTTKernelToEmitC"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert every function that is a kernel."""
        convert_kernels(module)


def convert_kernels(module: ModuleOp) -> None:
    """Turn every function that is a kernel into emitc."""
    kernels = [op for op in module.walk() if isinstance(op, FuncOp) and _is_kernel(op)]
    for function in kernels:
        late = has_late_kernels(function)
        (LateConversion() if late else KernelConversion()).convert(function)


def _is_kernel(function: FuncOp) -> bool:
    if has_late_kernels(function):
        return KERNEL_THREAD in function.attributes
    return any(isinstance(type_, CBType) for type_ in function.function_type.inputs) or any(
        isinstance(op, TTKernelOp) for op in function.walk()
    )

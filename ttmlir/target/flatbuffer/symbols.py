"""The kernels and constants of a module by the names that programs give them."""

from __future__ import annotations

from xdsl.dialects import memref
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ttmlir.dialects import ttmetal
from ttmlir.dialects.definition.names import KERNEL_THREAD
from ttmlir.dialects.ttkernel import ThreadTypeAttr
from ttmlir.layout.enums import ThreadType
from ttmlir.mlir.reporting.diagnostics import OpError
from ttmlir.schema.packer import SharedText
from ttmlir.target.cpp.from_ttkernel import kernel_text


class Symbols:
    """The functions and constants of a module by name, and the C++ of its kernels."""

    def __init__(self, module: Operation) -> None:
        """Look at all of the module."""
        self._functions: dict[str, FuncOp] = {}
        self._globals: dict[str, memref.GlobalOp] = {}
        self.kernels: set[str] = set()
        """Functions that programs name."""
        self._texts: dict[tuple[str, ThreadType], str] = {}
        for op in module.walk():
            match op:
                case FuncOp():
                    self._functions[op.sym_name.data] = op
                case memref.GlobalOp():
                    self._globals[op.sym_name.data] = op
                case ttmetal.EnqueueProgramOp():
                    self.kernels.update(each.data.symbol for each in op.kernels)
                case _:
                    pass

    def is_kernel(self, function: FuncOp) -> bool:
        """True for a function that programs run on cores."""
        return function.sym_name.data in self.kernels or KERNEL_THREAD in function.attributes

    def has(self, symbol: str) -> bool:
        """Whether the module has a function of this name."""
        return symbol in self._functions

    def function(self, op: Operation, symbol: str) -> FuncOp:
        """The kernel that a program names; OpError if there is none."""
        function = self._functions.get(symbol)
        if function is None or not function.body.blocks:
            what = "is not in the module" if function is None else "has no body"
            raise OpError(op, f"runs kernel @{symbol}, which {what}")
        return function

    def text(self, op: Operation, symbol: str, thread: ThreadType) -> str:
        """The C++ of a kernel; OpError for functions that are none."""
        key = symbol, thread
        if key not in self._texts:
            function = self.function(op, symbol)
            marked = function.attributes.get(KERNEL_THREAD)
            if isinstance(marked, ThreadTypeAttr) and marked.data is not thread:
                raise OpError(
                    op,
                    f"runs kernel @{symbol} as one of thread {thread.keyword}, but the "
                    f"function's '{KERNEL_THREAD}' is {marked.data.keyword}",
                )
            self._texts[key] = SharedText(kernel_text(function, function.body, thread))
        return self._texts[key]

    def constant(self, op: memref.GetGlobalOp) -> memref.GlobalOp:
        """The constant that an operation reads; OpError if it is none."""
        name = op.name_.root_reference.data
        found = self._globals.get(name)
        if found is None or not found.initial_value.name.startswith(("dense", "dense_resource")):
            raise OpError(op, f"reads @{name}, which is no 'memref.global' with elements")
        return found

"""Modules of the ttnn dialect as `.ttnn` files.

Every function becomes a program, every operation of it one step; results of operations in
destination-passing style are the tensors that they are written to. The file also holds the texts
that it was made from: the module, the C++ it corresponds to, and the line of each operation.

Requires: the attributes `tt.system_desc` on the module and `tt.device` on a module around each
function, and a `#tt.layout` on every tensor, as the pipeline ttir-to-ttnn-backend-pipeline leaves.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation

from ttmlir.layout.device import Device
from ttmlir.mlir.printer import OpLinePrinter, print_module
from ttmlir.target.flatbuffer.file_kind import TTNN
from ttmlir.target.flatbuffer.operations import OperationWriter
from ttmlir.target.flatbuffer.programs import DEBUG_TEXT, body_of, device_of, pack_file
from ttmlir.target.flatbuffer.tensors import Table, TensorTables
from ttmlir.target.flatbuffer.values import Values

_DIALECT = "ttnn"


def ttnn_to_flatbuffer(
    module: ModuleOp, *, mlir_source: str | None = None, cpp_source: str = ""
) -> bytes:
    """Bytes of the `.ttnn` file of a verified module.

    `mlir_source` is the module's text, printed here if it is not given; `cpp_source` its C++, empty
    if there is none. Both go into the file for people to read. Raises DiagnosticError for what no
    file can hold.
    """
    if mlir_source is None:
        mlir_source = print_module(module)
    writer = _ModuleWriter(module, mlir_source, cpp_source)
    programs = (writer.program(op) for op in module.walk() if isinstance(op, FuncOp))
    return pack_file(module, TTNN, programs)


class _ModuleWriter:
    def __init__(self, module: ModuleOp, mlir_source: str, cpp_source: str) -> None:
        self.values = Values(TTNN)
        self.lines = OpLinePrinter(module, DEBUG_TEXT)
        self.tables: dict[Device, TensorTables] = {}
        # One table for all programs.
        self.debug_info: Table = {
            "mlir": {"name": _DIALECT, "source": mlir_source},
            "cpp": cpp_source,
        }

    def program(self, function: FuncOp) -> Table:
        """The program of a function."""
        block = body_of(function)
        tables = self.tensor_tables(function)
        writer = OperationWriter(self.values, tables)
        inputs = [self.values.define(arg, function, tables) for arg in block.args]
        outputs: list[Table] = []
        operations: list[Table] = []
        for op in block.ops:
            if isinstance(op, ReturnOp):
                outputs = [self.values.tensor(value) for value in op.arguments]
            else:
                operations.append(self.operation(op, writer))
        return {
            "name": function.sym_name.data,
            "inputs": inputs,
            "outputs": outputs,
            "operations": operations,
            "debug_info": self.debug_info,
        }

    def operation(self, op: Operation, writer: OperationWriter) -> Table:
        """One step."""
        member, table = writer.write(op)
        return {"type_type": member, "type": table, "debug_info": self.lines.line(op)}

    def tensor_tables(self, function: FuncOp) -> TensorTables:
        """The tables of the tensors of the device that a function runs on."""
        device = device_of(function, TTNN)
        if device not in self.tables:
            self.tables[device] = TensorTables(device, TTNN)
        return self.tables[device]

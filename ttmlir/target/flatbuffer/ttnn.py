"""Modules of the ttnn dialect as `.ttnn` files.

Every function that is no kernel becomes a program, every operation of it one step; results of
operations in destination-passing style are the tensors that they are written to. The file also
holds the texts that it was made from: the module, the C++ it corresponds to, and the line of each
operation.

Requires: the attributes `tt.system_desc` on the module and `tt.device` on a module around each
function, and a `#tt.layout` on every tensor, as the pipeline ttir-to-ttnn-backend-pipeline leaves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation

from ttmlir.dialects.definition.names import KERNEL_THREAD
from ttmlir.layout.device import DeviceView
from ttmlir.mlir.printing.module import print_module
from ttmlir.mlir.printing.printer import OpLinePrinter
from ttmlir.target.flatbuffer.control import order_parts
from ttmlir.target.flatbuffer.file_kind import TTNN
from ttmlir.target.flatbuffer.golden import Golden, GoldenOfFunction
from ttmlir.target.flatbuffer.operations import OperationWriter
from ttmlir.target.flatbuffer.programs import DEBUG_TEXT, FILE_TEXT, body_of, device_of, pack_file
from ttmlir.target.flatbuffer.symbols import Symbols
from ttmlir.target.flatbuffer.tensors import Table, TensorTables
from ttmlir.target.flatbuffer.values import Values

_DIALECT = "ttnn"


def ttnn_to_flatbuffer(
    module: ModuleOp,
    *,
    mlir_source: str | None = None,
    cpp_source: str = "",
    golden: Golden | None = None,
    signatures: Mapping[str, Table] = MappingProxyType({}),
) -> bytes:
    """Bytes of the `.ttnn` file of a verified module.

    `mlir_source` is the module's text, printed here if it is not given; `cpp_source` its C++, empty
    if there is none. Both go into the file for people to read; `golden` is for `ttrt run --golden`,
    `signatures` are `CallSignature` tables by functions, or by "" of the only one, for those who
    call a program as the model it was.
    Raises DiagnosticError for what no file can hold.
    """
    if mlir_source is None:
        mlir_source = print_module(module, FILE_TEXT)
    functions = [
        op for op in module.walk() if isinstance(op, FuncOp) and KERNEL_THREAD not in op.attributes
    ]
    parts = order_parts(module, functions)
    programs = [op for op in functions if op not in parts]
    kept = GoldenOfFunction.find(module, programs, golden, signatures)
    writer = _ModuleWriter(module, mlir_source, cpp_source, kept, parts)
    return pack_file(module, TTNN, map(writer.program, programs), map(writer.program, parts))


class _ModuleWriter:
    def __init__(
        self,
        module: ModuleOp,
        mlir_source: str,
        cpp_source: str,
        golden: GoldenOfFunction,
        parts: Sequence[FuncOp],
    ) -> None:
        self.golden = golden
        self.numbers = {op.sym_name.data: number for number, op in enumerate(parts)}
        self.values = Values(TTNN)
        self.symbols = Symbols(module)
        self.lines = OpLinePrinter(module, DEBUG_TEXT)
        self.tables: dict[DeviceView, TensorTables] = {}
        # One table for all programs.
        self.debug_info: Table = {
            "mlir": {"name": _DIALECT, "source": mlir_source},
            "cpp": cpp_source,
        }

    def program(self, function: FuncOp) -> Table:
        """The program of a function."""
        block = body_of(function)
        tables = self.tensor_tables(function)
        writer = OperationWriter(self.values, tables, self.symbols, self.numbers)
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
            "debug_info": self.golden.debug_info(function, self.debug_info),
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

"""Modules of the ttnn dialect as `.ttnn` files.

Every function that is no kernel becomes a program, every operation of it one step; results of
operations in destination-passing style are the tensors that they are written to. The file also
holds the texts that it was made from: the module, the C++ it corresponds to, and the line of each
operation.

Requires: the attributes `tt.system_desc` on the module and `tt.device` on a module around each
function, and a `#tt.layout` on every tensor, as the pipeline ttir-to-ttnn-backend-pipeline leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation

from ttmlir.dialects.definition.names import KERNEL_THREAD
from ttmlir.layout.device import DeviceView
from ttmlir.mlir.printing.module import print_module
from ttmlir.mlir.printing.printer import OpLinePrinter
from ttmlir.mlir.reporting.diagnostics import LocatedError, OpError
from ttmlir.target.flatbuffer.file_kind import TTNN
from ttmlir.target.flatbuffer.golden import Golden, golden_info
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
) -> bytes:
    """Bytes of the `.ttnn` file of a verified module.

    `mlir_source` is the module's text, printed here if it is not given; `cpp_source` its C++, empty
    if there is none. Both go into the file for people to read; `golden` is for `ttrt run --golden`.
    Raises DiagnosticError for what no file can hold.
    """
    if mlir_source is None:
        mlir_source = print_module(module, FILE_TEXT)
    functions = [
        op for op in module.walk() if isinstance(op, FuncOp) and KERNEL_THREAD not in op.attributes
    ]
    writer = _ModuleWriter(module, mlir_source, cpp_source)
    if golden is not None:
        writer.add_golden(functions, golden)
    return pack_file(module, TTNN, (writer.program(op) for op in functions))


class _ModuleWriter:
    def __init__(self, module: ModuleOp, mlir_source: str, cpp_source: str) -> None:
        self.module = module
        self.values = Values(TTNN)
        self.symbols = Symbols(module)
        self.lines = OpLinePrinter(module, DEBUG_TEXT)
        self.tables: dict[DeviceView, TensorTables] = {}
        # One table for all programs.
        self.debug_info: Table = {
            "mlir": {"name": _DIALECT, "source": mlir_source},
            "cpp": cpp_source,
        }
        self.golden: tuple[FuncOp, Table] | None = None

    def add_golden(self, functions: list[FuncOp], golden: Golden) -> None:
        """Note what a reference computed for one of the functions; OpError if it does not fit."""
        names = [function.sym_name.data for function in functions]
        wanted = names[0] if golden.function is None and len(names) == 1 else golden.function
        if wanted not in names:
            raise LocatedError(
                self.module.location,
                f"golden results are for one function; name one of {', '.join(names)}",
            )
        function = functions[names.index(wanted)]
        types = function.function_type
        _check_shapes(function, "input", types.inputs.data, golden.inputs)
        _check_shapes(function, "output", types.outputs.data, golden.outputs)
        try:
            self.golden = (function, golden_info(golden))
        except ValueError as error:
            raise OpError(function, f"golden results do not fit a file: {error}") from error

    def _debug_info(self, function: FuncOp) -> Table:
        if self.golden is None or self.golden[0] is not function:
            return self.debug_info
        return {**self.debug_info, "golden_info": self.golden[1]}

    def program(self, function: FuncOp) -> Table:
        """The program of a function."""
        block = body_of(function)
        tables = self.tensor_tables(function)
        writer = OperationWriter(self.values, tables, self.symbols)
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
            "debug_info": self._debug_info(function),
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


def _check_shapes(
    function: FuncOp, kind: str, types: Sequence[Attribute], arrays: Sequence[Any]
) -> None:
    """Refuse golden tensors of other shapes than the function's."""
    shapes = [tuple(cast("TensorType[Attribute]", type).get_shape()) for type in types]
    given = [tuple(array.shape) for array in arrays]
    if shapes != given:
        raise OpError(
            function,
            f"golden {kind}s have the shapes {given}; those of the function are {shapes}",
        )

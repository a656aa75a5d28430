"""Modules of the ttnn dialect as `.ttnn` files.

Every function becomes a program, every operation of it one step; results of operations in
destination-passing style are the tensors that they are written to. The file also holds the texts
that it was made from: the module, the C++ it corresponds to, and the line of each operation.

Requires: the attributes `tt.system_desc` on the module and `tt.device` on a module around each
function, and a `#tt.layout` on every tensor, as the pipeline ttir-to-ttnn-backend-pipeline leaves.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation

from ttmlir.dialects import tt
from ttmlir.dialects.names import DEVICE, SYSTEM_DESC
from ttmlir.layout.device import Device
from ttmlir.layout.system_tables import system_desc_to_table
from ttmlir.mlir.diagnostics import LocatedError, OpError
from ttmlir.mlir.printer import (
    DEFAULT_ELISION_LIMIT,
    OpLinePrinter,
    PrintOptions,
    print_module,
)
from ttmlir.schema import PackError, load_schema
from ttmlir.schema.versions import version_stamp
from ttmlir.target.flatbuffer.operations import SCHEMA, OperationWriter
from ttmlir.target.flatbuffer.tensors import Table, TensorTables
from ttmlir.target.flatbuffer.values import REFUSED, Values

_DIALECT = "ttnn"
_PIPELINE = "--ttir-to-ttnn-backend-pipeline"
_DEBUG_TEXT = PrintOptions(
    debuginfo=True, elide_larger_than=DEFAULT_ELISION_LIMIT, skip_regions=True
)


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
    root = version_stamp() | {
        "system_desc": _system_desc(module),
        "programs": [writer.program(op) for op in module.walk() if isinstance(op, FuncOp)],
    }
    try:
        return load_schema(SCHEMA).pack(root)
    except PackError as error:
        message = f"the module {REFUSED}: {error}"
        raise LocatedError(module.location, message) from error


def _system_desc(module: ModuleOp) -> Table:
    attr = module.attributes.get(SYSTEM_DESC)
    if not isinstance(attr, tt.SystemDescAttr):
        raise OpError(
            module,
            f"has no attribute '{SYSTEM_DESC}' with the system to run on; "
            "add it with --ttir-load-system-desc",
        )
    return system_desc_to_table(attr.data)


class _ModuleWriter:
    def __init__(self, module: ModuleOp, mlir_source: str, cpp_source: str) -> None:
        self.values = Values()
        self.lines = OpLinePrinter(module, _DEBUG_TEXT)
        self.tables: dict[Device, TensorTables] = {}
        # One table for all programs.
        self.debug_info: Table = {
            "mlir": {"name": _DIALECT, "source": mlir_source},
            "cpp": cpp_source,
        }

    def program(self, function: FuncOp) -> Table:
        """The program of a function."""
        if len(function.body.blocks) != 1:
            count = len(function.body.blocks)
            reason = f"has {count} blocks; a program is one sequence of operations"
            raise OpError(function, "has no body to run" if count == 0 else reason)
        block = function.body.blocks[0]
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
        device = _device(function).data
        if device not in self.tables:
            self.tables[device] = TensorTables(device)
        return self.tables[device]


def _device(function: FuncOp) -> tt.DeviceAttr:
    """The device of the nearest operation around a function that has one."""
    op: Operation | None = function
    while op is not None:
        attr: Any = op.attributes.get(DEVICE)
        if isinstance(attr, tt.DeviceAttr):
            return attr
        op = op.parent_op()
    raise OpError(
        function,
        f"has no attribute '{DEVICE}' around it with the device to run on; add it with "
        f"--ttir-implicit-device, or lower the module with {_PIPELINE}",
    )

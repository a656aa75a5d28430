"""Modules of the ttmetal dialect as `.ttm` files.

Every function becomes a program with one queue of commands, one for each operation. Kernels stand
in the file as C++, with their circular buffers, cores and settings; constants of the host with
their elements. The file also holds the module that it was made from and the line of each operation.

Requires: the attributes `tt.system_desc` on the module, `tt.device` on a module around each
function and `tt.arg_alloc` on functions with arguments, and a `#tt.layout` on every tensor, as the
pipeline ttir-to-ttmetal-backend-pipeline leaves.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation

from ttmlir.dialects.definition.layout_checks import layout_of
from ttmlir.dialects.definition.names import ARG_ALLOC
from ttmlir.dialects.tt import ArgumentAllocationAttr
from ttmlir.layout.device import DeviceView
from ttmlir.mlir.printing.module import print_module
from ttmlir.mlir.printing.printer import OpLinePrinter
from ttmlir.mlir.reporting.diagnostics import OpError
from ttmlir.target.flatbuffer.commands import CommandWriter
from ttmlir.target.flatbuffer.file_kind import TTMETAL
from ttmlir.target.flatbuffer.programs import DEBUG_TEXT, FILE_TEXT, body_of, device_of, pack_file
from ttmlir.target.flatbuffer.tensors import Table, TensorTables
from ttmlir.target.flatbuffer.values import Values

_DIALECT = "ttmetal"


def ttmetal_to_flatbuffer(module: ModuleOp, *, mlir_source: str | None = None) -> bytes:
    """Bytes of the `.ttm` file of a verified module.

    `mlir_source` is the module's text, printed here if it is not given; it goes into the file for
    people to read. Raises DiagnosticError for what no file can hold.
    """
    if mlir_source is None:
        mlir_source = print_module(module, FILE_TEXT)
    writer = _ModuleWriter(module, mlir_source)
    programs = (writer.program(op) for op in module.walk() if isinstance(op, FuncOp))
    return pack_file(module, TTMETAL, programs)


class _ModuleWriter:
    def __init__(self, module: ModuleOp, mlir_source: str) -> None:
        self.values = Values(TTMETAL)
        self.lines = OpLinePrinter(module, DEBUG_TEXT)
        self.writers: dict[DeviceView, tuple[TensorTables, CommandWriter]] = {}
        # One table for all programs.
        self.debug_info: Table = {"mlir": {"name": _DIALECT, "source": mlir_source}}

    def program(self, function: FuncOp) -> Table:
        """The program of a function."""
        block = body_of(function)
        tables, writer = self.writer(function)
        inputs = self.arguments(function, tables)
        outputs: list[Table] = []
        commands: list[Table] = []
        for op in block.ops:
            if isinstance(op, ReturnOp):
                outputs = [self.values.tensor(value) for value in op.arguments]
            elif (command := self.command(op, writer)) is not None:
                commands.append(command)
        name = function.sym_name.data
        refs: Table = {"inputs": inputs, "outputs": outputs}
        queue: Table = {"name": name, "commands": commands}
        return {
            "name": name,
            **refs,
            "device_programs": [{**refs, "command_queues": [queue]}],
            "debug_info": self.debug_info,
        }

    def command(self, op: Operation, writer: CommandWriter) -> Table | None:
        """One command, None for an operation that only makes a tensor on the host."""
        written = writer.write(op)
        if written is None:
            return None
        member, table = written
        return {"type_type": member, "type": table, "debug_info": self.lines.line(op)}

    def arguments(self, function: FuncOp, tables: TensorTables) -> list[Table]:
        """The tensors of a function's arguments, at the addresses that they have been given."""
        values = function.body.block.args
        attr = function.attributes.get(ARG_ALLOC)
        if not values:
            return []
        if not isinstance(attr, ArrayAttr):
            raise OpError(
                function,
                f"has no attribute '{ARG_ALLOC}' with the addresses of its arguments; add it with "
                f"--ttir-allocate, or lower the module with {TTMETAL.pipeline}",
            )
        places = cast("ArrayAttr[ArgumentAllocationAttr]", attr).data
        if len(places) != len(values):
            raise OpError(
                function,
                f"has {len(places)} addresses in '{ARG_ALLOC}' for {len(values)} arguments",
            )
        refs: list[Table] = []
        for value, place in zip(values, places, strict=True):
            ref = self.values.define_at(value, function, tables, place.address, place.size)
            layout = layout_of(value)
            if layout is None or layout.memory_space is not place.memory_space:
                raise OpError(
                    function,
                    f"has argument #{value.index} in {place.memory_space.keyword} by its "
                    f"'{ARG_ALLOC}', but not by its layout",
                )
            refs.append(ref)
        return refs

    def writer(self, function: FuncOp) -> tuple[TensorTables, CommandWriter]:
        """The tables and the writer for the device that a function runs on."""
        device = device_of(function, TTMETAL)
        if device not in self.writers:
            tables = TensorTables(device, TTMETAL)
            self.writers[device] = tables, CommandWriter(self.values, tables)
        return self.writers[device]

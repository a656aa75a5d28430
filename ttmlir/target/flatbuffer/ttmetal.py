"""Modules of the ttmetal dialect as `.ttm` files.

Every function becomes a program with one queue of commands, one for each operation. Kernels stand
in the file as C++, with their circular buffers, cores and settings; constants of the host with
their elements. The file also holds the module that it was made from and the line of each operation.

Functions on tensors (2024, `commands.py`) have their kernels in regions; functions on memrefs
(late 2025, `enqueue.py`) name other functions, which are no programs.

Requires: the attribute `tt.system_desc` on a module. For functions on tensors also the attributes
`tt.device` on a module around each function and `tt.arg_alloc` on functions with arguments, and a
`#tt.layout` on every tensor, as the pipeline ttir-to-ttmetal-backend-pipeline leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ArrayAttr, MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation

from ttmlir.dialects.definition.layout_checks import layout_of
from ttmlir.dialects.definition.names import ARG_ALLOC
from ttmlir.dialects.tt import ArgumentAllocationAttr
from ttmlir.dialects.ttmetal.programs import PROGRAM_OPS
from ttmlir.layout.device import DeviceView
from ttmlir.mlir.printing.module import print_module
from ttmlir.mlir.printing.printer import OpLinePrinter
from ttmlir.mlir.reporting.diagnostics import OpError
from ttmlir.target.flatbuffer.commands import CommandWriter
from ttmlir.target.flatbuffer.file_kind import TTMETAL
from ttmlir.target.flatbuffer.golden import Golden, GoldenOfFunction
from ttmlir.target.flatbuffer.programs import (
    DEBUG_TEXT,
    FILE_TEXT,
    body_of,
    device_of,
    pack_file,
    system_desc_of,
)
from ttmlir.target.flatbuffer.symbols import Symbols
from ttmlir.target.flatbuffer.tensors import Table, TensorTables
from ttmlir.target.flatbuffer.values import Values

if TYPE_CHECKING:
    from ttmlir.target.flatbuffer.enqueue import EnqueueWriter

_DIALECT = "ttmetal"


def ttmetal_to_flatbuffer(
    module: ModuleOp,
    *,
    mlir_source: str | None = None,
    golden: Golden | None = None,
    signatures: Mapping[str, Table] = MappingProxyType({}),
) -> bytes:
    """Bytes of the `.ttm` file of a verified module.

    `mlir_source` is the module's text, printed here if it is not given; it goes into the file for
    people to read. `golden` is for `ttrt run --golden`, `signatures` are `CallSignature` tables by
    functions, or by "" of the only one, for those who call a program as the model it was. Raises
    DiagnosticError for what no file can hold.
    """
    if mlir_source is None:
        mlir_source = print_module(module, FILE_TEXT)
    symbols = Symbols(module)
    functions = [op for op in module.walk() if isinstance(op, FuncOp) and not symbols.is_kernel(op)]
    kept = GoldenOfFunction.find(module, functions, golden, signatures)
    writer = _ModuleWriter(module, mlir_source, symbols, kept)
    return pack_file(module, TTMETAL, (writer.program(op) for op in functions))


def _is_on_memrefs(function: FuncOp) -> bool:
    """True for a function in the form of late 2025."""
    types = (*function.function_type.inputs.data, *function.function_type.outputs.data)
    return any(isinstance(type, MemRefType) for type in types) or any(
        isinstance(op, PROGRAM_OPS) for op in function.body.block.ops
    )


class _ModuleWriter:
    def __init__(
        self, module: ModuleOp, mlir_source: str, symbols: Symbols, golden: GoldenOfFunction
    ) -> None:
        self.module = module
        self.values = Values(TTMETAL)
        self.symbols = symbols
        self.golden = golden
        self.lines = OpLinePrinter(module, DEBUG_TEXT)
        self.writers: dict[DeviceView, tuple[TensorTables, CommandWriter]] = {}
        # One table for all programs.
        self.debug_info: Table = {"mlir": {"name": _DIALECT, "source": mlir_source}}

    def program(self, function: FuncOp) -> Table:
        """The program of a function."""
        block = body_of(function)
        writer: CommandWriter | EnqueueWriter
        if _is_on_memrefs(function):
            # Texts of modules of 2024 are faster while nobody has loaded the later dialects.
            from ttmlir.target.flatbuffer.enqueue import EnqueueWriter

            chip_grid = system_desc_of(self.module).chip_descs[0].grid
            writer = EnqueueWriter(self.values, self.symbols, chip_grid)
            inputs = [writer.define(value, function) for value in block.args]
        else:
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
            "debug_info": self.golden.debug_info(function, self.debug_info),
        }

    def command(self, op: Operation, writer: CommandWriter | EnqueueWriter) -> Table | None:
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

"""Modules of ttnn of 2026 as `.ttnn` files of that year.

Every function becomes a program, those that a user can run first; functions of constants, loops and
branches follow as private ones, which are called by their place in the file. The file is in the
layout of the latest schema that is known, and carries its digest, or in that of a file that another
program wrote.

Requires: a `#ttcore.system_desc` with the banks of DRAM on a module, a `ttcore.device` beside the
functions, and a `#ttnn.ttnn_layout` on every tensor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation

from ttmlir.dialects.ttcore import LoadCachedOp
from ttmlir.layout.device import DeviceView
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.late_machine import late_system_to_table
from ttmlir.layout.system import SystemDesc
from ttmlir.limits import MAX_CALL_DEPTH
from ttmlir.mlir.attributes import Elements, stored_bytes
from ttmlir.mlir.core_prefix import spell_as
from ttmlir.mlir.printing import (
    DEFAULT_ELISION_LIMIT,
    OpLinePrinter,
    PrintOptions,
    attribute_text,
)
from ttmlir.mlir.reporting import LocatedError, OpError
from ttmlir.schema import PackError, Schema, load_schema
from ttmlir.schema.packer import PackedTable, SharedText
from ttmlir.schema.versions import LaterStamp
from ttmlir.target.flatbuffer.programs import DEBUG_TEXT, PRIVATE, body_of, device_of
from ttmlir.target.flatbuffer.records_2026 import RecordWriter
from ttmlir.target.flatbuffer.tensors import TTNN, GoldenOfFunction, Table
from ttmlir.target.flatbuffer.tensors_2026 import TensorTables2026, Values2026

_KIND = "tt.function_type"
_CALLED = ("const_eval", "trace_", "forward_cpu")
"""How kinds of functions begin that others call: for constants, recordings, and on the host."""
_DIALECT = "ttnn"
_Calls = Sequence[tuple[Operation, str]]
"""The functions that operations call, by name."""
_LINE_WITHOUT_LOCATION = PrintOptions(elide_larger_than=DEFAULT_ELISION_LIMIT, skip_regions=True)


def write_file(
    module: ModuleOp,
    system: SystemDesc,
    mlir_source: str,
    cpp_source: str,
    golden: GoldenOfFunction,
    stamp: LaterStamp,
) -> bytes:
    """Bytes of the file of a module, whose chips are those of a system of 2026.

    Raises DiagnosticError for what no file can hold.
    """
    schema = load_schema(stamp.later.path)
    root: Table = {
        "version": stamp.version,
        "schema_hash": stamp.digest,
        "ttmlir_git_hash": stamp.git_hash,
        "system_desc": late_system_to_table(system),
        "mlir": {"name": _DIALECT, "source": mlir_source},
    }
    try:
        # Which form operations are in depends on the spelling.
        with spell_as(module):
            writer = _ModuleWriter(module, cpp_source, golden, schema)
            root["programs"] = writer.programs()
        return writer.packing.finish(root)
    except PackError as error:
        raise LocatedError(module.location, f"the module {TTNN.refused}: {error}") from error


class _ModuleWriter:
    def __init__(
        self, module: ModuleOp, cpp_source: str, golden: GoldenOfFunction, schema: Schema
    ) -> None:
        functions = [op for op in module.walk() if isinstance(op, FuncOp) and op.body.blocks]
        # What programs call for constants and recordings, and on the host, comes last.
        self.functions = sorted(functions, key=_is_called)
        self.places = {op.sym_name.data: place for place, op in enumerate(self.functions)}
        self.schema = schema
        self.packing = schema.packing()
        self.operation_type = schema.table_type("tt.target.ttnn.Operation")
        self.values = Values2026(TTNN)
        self.lines = OpLinePrinter(module, DEBUG_TEXT)
        self.golden = golden
        self.cpp_source = SharedText(cpp_source)
        self.hashes = self.function_hashes(module)
        self.tables: dict[DeviceView, TensorTables2026] = {}
        self.calls: dict[str, _Calls] = {}

    def programs(self) -> list[Table]:
        """All programs, in the order of the file."""
        programs = [self.program(function) for function in self.functions]
        _check_depth(self.calls)
        return programs

    def program(self, function: FuncOp) -> Table:
        """The program of a function."""
        block = body_of(function)
        tables = self.tensor_tables(function)
        writer = RecordWriter(self.schema, self.values, tables, self.places)
        numbers = range(len(block.args))
        inputs = [self.values.define_argument(function, number, tables) for number in numbers]
        outputs: list[Table] = []
        operations: list[PackedTable] = []
        for op in block.ops:
            self.values.check_operands(op)
            if isinstance(op, ReturnOp):
                outputs = [self.values.tensor(value) for value in op.arguments]
            else:
                operations.append(self.operation(op, writer))
        self.calls[function.sym_name.data] = writer.calls
        program: Table = {
            "name": function.sym_name.data,
            "inputs": inputs,
            "outputs": outputs,
            "operations": operations,
            "dylibs": [],
            "debug_info": self.debug_info(function),
            "private": function.sym_visibility == PRIVATE,
            "mesh_shape": (1, 1, *tables.device.mesh_shape)[-2:],
            "semaphore_inputs": [],
        }
        return program

    def operation(self, op: Operation, writer: RecordWriter) -> PackedTable:
        """One step, which takes no memory besides the file."""
        try:
            member, table = writer.write(op)
        except LayoutError as error:
            raise OpError(op, f"{TTNN.refused}: {error}") from error
        step = {
            "type_type": member,
            "type": table,
            "debug_info": self.lines.line(op),
            "loc_info": attribute_text(op.location),
        }
        return self.packing.add(self.operation_type, step)

    def debug_info(self, function: FuncOp) -> Table:
        """The texts and tensors for people, and for comparing, of a function."""
        table: Table = {
            "mlir_stages": [],
            "golden_info": {"golden_map": self.golden.entries_by_device(function)},
        }
        # Of the programs that others call, each would count the whole text again.
        if self.cpp_source and function.sym_visibility != PRIVATE:
            table["cpp"] = SharedText(self.cpp_source)
        return self.golden.with_signature(function, table)

    def tensor_tables(self, function: FuncOp) -> TensorTables2026:
        """The tables of the tensors of the device that a function runs on."""
        device = device_of(function, TTNN)
        if device not in self.tables:
            self.tables[device] = TensorTables2026(device, self.hashes)
        return self.tables[device]

    def function_hashes(self, module: ModuleOp) -> dict[str, str]:
        """SHA-256 of the text and the constants of each function whose results are remembered.

        Neither its name nor its locations are part of it: what computes the same has one hash.
        """
        called = {op.callee for op in module.walk() if isinstance(op, LoadCachedOp)}
        lines = OpLinePrinter(module, _LINE_WITHOUT_LOCATION)
        return {
            name: _digest(function.body.block.ops, lines)
            for function in self.functions
            if (name := function.sym_name.data) in called and len(function.body.blocks) == 1
        }


def _check_depth(calls: Mapping[str, _Calls]) -> None:
    """OpError for calls that nest deeper than the runtime follows them, or do not end."""
    depths: dict[str, int] = {}
    for function in calls:
        path, pending = [function], [iter(calls[function])]
        while path:
            op, name = next(pending[-1], (None, ""))
            if op is None:
                _ = pending.pop()
                done = path.pop()
                inner = [depths[name] for _, name in calls[done]]
                depths[done] = 1 + max(inner, default=-1)
                continue
            if name in path:
                raise OpError(op, f"{TTNN.refused}: @{name} calls itself")
            if len(path) + depths.get(name, 0) > MAX_CALL_DEPTH:
                raise OpError(op, f"{TTNN.refused}: calls nest more than {MAX_CALL_DEPTH} deep")
            if name not in depths:
                path.append(name)
                pending.append(iter(calls[name]))


def _is_called(function: FuncOp) -> bool:
    kind = function.attributes.get(_KIND)
    return isinstance(kind, StringAttr) and kind.data.startswith(_CALLED)


def _digest(ops: Iterable[Operation], lines: OpLinePrinter) -> str:
    digest = sha256()
    for op in ops:
        digest.update(f"{lines.line(op)}\n".encode())
        for attr in (*op.properties.values(), *op.attributes.values()):
            # Lines have no large constants: they would be cut off, and take four times the memory.
            if isinstance(attr, DenseIntOrFPElementsAttr):
                digest.update(stored_bytes(cast("Elements", attr)))
    return digest.hexdigest()

"""Modules of the ttnn dialect as `.ttnn` files.

Every function that is no kernel becomes a program, every operation of it one step; results of
operations in destination-passing style are the tensors that they are written to. The file also
holds the texts that it was made from: the module, the C++ it corresponds to, and the line of each
operation.

Requires: the attributes `tt.system_desc` on the module and `tt.device` on a module around each
function, and a `#tt.layout` on every tensor, as the pipeline ttir-to-ttnn-backend-pipeline leaves.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Operation

from ttmlir.dialects import tt, ttnn
from ttmlir.dialects.definition.control import control_ops_in
from ttmlir.dialects.definition.ods import (
    KERNEL_THREAD,
    DestinationStyleOp,
)
from ttmlir.dialects.definition.table_ops import LateOnlyOp, TableOperation
from ttmlir.errors import ArgumentError, plural
from ttmlir.layout.device import DeviceView
from ttmlir.layout.enums import ThreadType, TTNNTensorMemoryLayout
from ttmlir.layout.metal import CIRCULAR_BUFFERS
from ttmlir.limits import MAX_CALL_DEPTH
from ttmlir.mlir.module_printer import print_module
from ttmlir.mlir.printing import OpLinePrinter
from ttmlir.mlir.reporting import LocatedError, OpError
from ttmlir.optable.op_definition import Flatbuffer
from ttmlir.program import (
    AddressOfTensor,
    Argument,
    Arguments,
    CircularBufferDescription,
    CircularBufferIndex,
    ComputeConfig,
    CoreRanges,
    DataMovementConfig,
    KernelConfig,
    KernelDescription,
    ProgramDescription,
    ReaderConfig,
    SemaphoreAt,
    TensorAccessorArgs,
    WriterConfig,
)
from ttmlir.schema import load_schema
from ttmlir.schema.packer import PackedTable
from ttmlir.schema.types import Field, ScalarType
from ttmlir.schema.versions import LaterStamp
from ttmlir.target.flatbuffer.programs import (
    DEBUG_TEXT,
    FILE_TEXT,
    LATE_FILE_TEXT,
    PRIVATE,
    body_of,
    device_of,
    is_of_2026,
    pack_file,
    public_functions,
    system_desc_of,
)
from ttmlir.target.flatbuffer.tensors import (
    TTNN,
    Golden,
    GoldenOfFunction,
    Symbols,
    Table,
    TensorTables,
    Values,
    constant_bytes,
)

# --- Generic --------------------------------------------------------------------------------------
# Programs of kernels as tables of the schema's `generic_op.fbs`.

_NO_ID = -1
"""The `id` of a semaphore that has none."""


def program_table(program: ProgramDescription) -> Table:
    """The `ProgramDescriptor` of a program."""
    return {
        "kernels": [_kernel(each) for each in program.kernels],
        "semaphores": [
            {
                "core_type": "WORKER",
                "core_ranges": _core_ranges(each.core_ranges),
                "initial_value": each.initial_value,
                "id": _NO_ID if each.id is None else each.id,
            }
            for each in program.semaphores
        ],
        "cbs": [_circular_buffer(each) for each in program.circular_buffers],
    }


def _kernel(kernel: KernelDescription) -> Table:
    member, config = _config(kernel.config)
    table: Table = {
        "source": kernel.source,
        "source_type": "SOURCE_CODE",
        "config_type": member,
        "config": config,
        "core_ranges": _core_ranges(kernel.core_ranges),
        "ct_args": {"args": _arguments(kernel.compile_time_args)},
        "rt_args": [
            {"core_coord": core, "args": _arguments(each)} for core, each in kernel.runtime_args
        ],
        "common_rt_args": {"args": _arguments(kernel.common_runtime_args)},
        "name": kernel.name,
        "defines": [{"name": name, "value": value} for name, value in kernel.defines],
    }
    if kernel.named_compile_time_args:
        table["named_ct_args"] = [
            {"name": name, "value": _argument_table(value)}
            for name, value in kernel.named_compile_time_args
        ]
    return table


def _config(config: KernelConfig) -> tuple[str, Table]:
    """The member of the union `KernelConfig`, and its table."""
    match config:
        case ReaderConfig():
            return "ReaderKernelConfig", {}
        case WriterConfig():
            return "WriterKernelConfig", {}
        case DataMovementConfig(processor, noc):
            return "DataMovementKernelConfig", {
                "processor": processor.name,
                "noc": noc.schema_name,
            }
        case ComputeConfig():
            return "ComputeKernelConfig", {
                "math_fidelity": config.math_fidelity.schema_name,
                "fp32_dest_acc_en": bool(config.fp32_dest_acc_en),
                "dst_full_sync_en": config.dst_full_sync_en,
                "unpack_to_dest_modes": [
                    "Fp32" if index in config.unpack_to_dest_fp32 else "Default"
                    for index in range(CIRCULAR_BUFFERS)
                ],
                "bfp8_pack_precise": config.bfp8_pack_precise,
                "math_approx_mode": config.math_approx_mode,
            }


def _arguments(arguments: Arguments) -> list[Table]:
    return [_argument_table(each) for each in arguments]


def _argument_table(argument: Argument) -> Table:
    member, table = _argument(argument)
    return {"arg_type": member, "arg": table}


def _argument(argument: Argument) -> tuple[str, Table]:
    """The member of the union `KernelArgType`, and its table."""
    match argument:
        case CircularBufferIndex(index):
            return "KernelArgCBBufferIndex", {"buffer_index": index}
        case AddressOfTensor(number):
            return "KernelArgBufferAddressOfTensor", {"tensor_index": number}
        case SemaphoreAt(number):
            return "KernelArgSemaphoreAt", {"semaphore_index": number}
        case TensorAccessorArgs(number):
            return "KernelArgTensorAccessorArgs", {"operand_index": number}
        case int():
            return "KernelArgScalar", {"value": argument}


def _circular_buffer(buffer: CircularBufferDescription) -> Table:
    table: Table = {
        "total_size": buffer.total_size,
        "core_range": _core_ranges(buffer.core_ranges),
        "formats": [
            {
                "buffer_index": each.index,
                "dtype": each.data_type.schema_name,
                "page_size": each.page_size,
            }
            for each in buffer.formats
        ],
    }
    if buffer.tensor is not None:
        table["buffer"] = {"tensor_operand_index": buffer.tensor}
    return table


def _core_ranges(ranges: CoreRanges) -> Table:
    return {"core_ranges": [(each.start, each.end) for each in ranges]}


# --- Ttnn -----------------------------------------------------------------------------------------

# --- Operations -----------------------------------------------------------------------------------
# Operations of the ttnn dialect as members of the schema's `OpType` union.
#
# Operations that have a definition in the operation table are written from it; those that manage
# devices and memory are written out here.

REFUSED = TTNN.refused
_NAMESPACE = "tt.target.ttnn."


_WRITE_TTIR = (
    "files are those of 2024 for a machine without a 'dram_grid': give the module a "
    "#ttcore.system_desc of 2026, or compile the program's ttir, which "
    "--ttir-to-ttnn-backend-pipeline takes in the text of any year"
)


class OperationWriter:
    """Writes the operations of a function in the order of its text."""

    def __init__(
        self,
        values: Values,
        tables: TensorTables,
        symbols: Symbols,
        functions: Mapping[str, int],
    ) -> None:
        """Write tensors and devices to `values`, their types to `tables`.

        Kernels that are functions of the module are those of `symbols`; `functions` are the
        numbers of those that loops and branches call.
        """
        self._values = values
        self._functions = functions
        self._symbols = symbols
        self._tables = tables
        self._schema = load_schema(TTNN.schema)
        self._structure_ops: Mapping[type[Operation], Callable[[Any], Table]] = {
            ttnn.GetDeviceOp: self._get_device,
            ttnn.ToMemoryConfigOp: self._to_memory_config,
            ttnn.ToLayoutOp: self._to_layout,
            ttnn.ToDeviceOp: self._to_device,
            ttnn.DeallocOp: self._dealloc,
            ttnn.GenericOp: self._generic,
            ttnn.WhileOp: self._while,
            ttnn.CaseOp: self._case,
        }

    def write(self, op: Operation) -> tuple[str, Table]:
        """Name of the union member and its table; OpError for what no file can hold."""
        structure = self._structure_ops.get(type(op))
        if structure is not None:
            return type(op).__name__, structure(op)
        if isinstance(op, TableOperation) and isinstance(op, ttnn.TTNNOp):
            form = op.DEFINITION.flatbuffer
            if form is not None:
                try:
                    return form.table, self._table_operation(op, form)
                except ArgumentError as error:
                    raise OpError(op, f"{REFUSED}: it {error}; {_WRITE_TTIR}") from error
        if isinstance(op, LateOnlyOp):
            raise OpError(op, f"{REFUSED}, as it came after 2024; {_WRITE_TTIR}")
        if isinstance(op, ttnn.AllocOp):
            raise OpError(op, f"{REFUSED}; use 'ttnn.empty', whose location the runtime chooses")
        raise OpError(op, f"{REFUSED}, which holds 'ttnn' operations only; {_remedy(op)}")

    # -- operations of the table ------------------------------------------------------------------

    def _table_operation(self, op: TableOperation, form: Flatbuffer) -> Table:
        table_type = self._schema.table_type(_NAMESPACE + form.table)
        parameters = op.parameters()
        table: Table = {}
        for name, filler in form.fields:
            content = self._filled(op, form, filler, parameters)
            if content is not None:
                _check_number(op, table_type.by_name[name], filler, content)
                table[name] = content
        config = op.properties.get("compute_config")
        if isinstance(config, ttnn.DeviceComputeConfigAttr):
            table["compute_config"] = {
                "math_fidelity": config.data.math_fidelity.schema_name,
                "fp32_dest_acc_en": bool(config.data.fp32_dest_acc_en),
            }
        return table

    def _filled(
        self, op: TableOperation, form: Flatbuffer, filler: str, parameters: Mapping[str, Any]
    ) -> Any:
        """What the filler named in a row gives for a field, None for nothing."""
        if filler == "type":
            return form.kind
        if filler == "output":
            return self._output(op)
        if filler == "outputs":
            return self._values.define_results(op, self._tables)
        if filler == "device":
            return self._device(op)
        if filler == "parameters":
            return [float(value) for value in parameters.values()]
        if filler in op.form().operand_index:
            return self._operand(op, filler)
        if filler == "inputs" and isinstance(op, DestinationStyleOp):
            # Without a destination, operands have names of their own.
            return [self._values.tensor(value) for value in op.inputs]
        return parameters.get(filler)

    def _operand(self, op: TableOperation, name: str) -> Any:
        tensors = [self._values.tensor(value) for value in op.group(name)]
        if op.form().operands[op.form().operand_index[name]].variadic:
            return tensors
        return tensors[0] if tensors else None

    def _output(self, op: Operation) -> Table:
        if len(op.results) != 1:
            raise OpError(op, f"{REFUSED} with {plural(len(op.results), 'result')}; split it up")
        if isinstance(op, ttnn.ConstantOp):
            data = constant_bytes(op, op.value, TTNN)
            return self._values.define_constant(op.results[0], op, self._tables, data)
        if isinstance(op, DestinationStyleOp) and op.inits:
            return self._values.define_result(op, self._tables)
        return self._values.define(op.results[0], op, self._tables)

    # -- devices and memory -----------------------------------------------------------------------

    def _get_device(self, op: ttnn.GetDeviceOp) -> Table:
        result = op.results[0]
        # The later type leaves it to the module to say which device it is.
        device = result.type.desc if isinstance(result.type, tt.DeviceType) else self._tables.device
        chips = math.prod(device.mesh_shape)
        table: Table = {
            "mesh": (1, chips),
            "chip_ids": device.chip_ids,
            "out": self._values.define_device(result, device.chip_ids[0]),
        }
        if chips > 1:
            table["mesh_shape"] = device.mesh_shape
        return table

    def _to_memory_config(self, op: ttnn.ToMemoryConfigOp) -> Table:
        return {
            "in0": self._input(op),
            "device": self._device(op),
            "out": self._output(op),
        }

    def _to_layout(self, op: ttnn.ToLayoutOp) -> Table:
        return {
            "in": self._input(op),
            "layout": op.layout.data.schema_name,
            "device": self._device(op),
            "out": self._output(op),
        }

    def _to_device(self, op: ttnn.ToDeviceOp) -> Table:
        config = op.memory_config
        # The schema numbers memory layouts in another way than the dialect: names agree.
        memory_layout: TTNNTensorMemoryLayout = config.tensor_memory_layout.data
        return {
            "in": self._input(op),
            "device": self._device(op),
            "memcfg": {
                "tensor_memory_layout": memory_layout.schema_name,
                "buffer_type": config.buffer_type.data.schema_name,
            },
            "out": self._output(op),
        }

    def _dealloc(self, op: ttnn.DeallocOp) -> Table:
        return {"in": self._input(op)}

    def _generic(self, op: ttnn.GenericOp) -> Table:
        program = op.program
        kernels = tuple(
            each if each.source else replace(each, source=self._kernel_text(op, each))
            for each in program.kernels
        )
        return {
            "io_tensors": [self._values.tensor(value) for value in op.operands],
            "program": program_table(replace(program, kernels=kernels)),
            "num_outputs": op.num_outputs,
        }

    # -- control ----------------------------------------------------------------------------------

    def _while(self, op: ttnn.WhileOp) -> Table:
        table = self._call(op) | {"body": self._functions[op.body]}
        if op.condition is not None:
            return table | {"condition": self._functions[op.condition]}
        return table | {"trip_count": op.trip_count}

    def _case(self, op: ttnn.CaseOp) -> Table:
        branches = [self._functions[name] for name in op.callees()]
        return self._call(op) | {"index": self._input(op), "branches": branches}

    def _call(self, op: ttnn.WhileOp | ttnn.CaseOp) -> Table:
        """What goes into the functions, and what comes out."""
        return {
            "inputs": [self._values.tensor(value) for value in op.passed],
            "outputs": [self._values.define(value, op, self._tables) for value in op.results],
        }

    def _kernel_text(self, op: ttnn.GenericOp, kernel: KernelDescription) -> str:
        """The C++ of a kernel that is a function of the module."""
        if not self._symbols.has(kernel.name):
            raise OpError(
                op,
                f"{REFUSED}: kernel '{kernel.name}' has no text; give it its C++ as 'source', or "
                "as a function of the module",
            )
        is_compute = isinstance(kernel.config, ComputeConfig)
        thread = ThreadType.TENSIX if is_compute else ThreadType.NOC
        return self._symbols.text(op, kernel.name, thread)

    def _input(self, op: ttnn.TTNNOp) -> Table:
        return self._values.tensor(op.operands[0])

    def _device(self, op: Operation) -> Table | None:
        """The device of an operation; None for one of the later form that stays on its own."""
        assert isinstance(op, ttnn.TTNNOp)
        return None if op.device is None else self._values.device(op.device)


def _remedy(op: Operation) -> str:
    """What to do about an operation that is not of ttnn."""
    if isinstance(op, CallOp):
        return (
            "put what it calls in its place with --inline before the pipeline; a function that "
            "calls itself has to be a loop instead"
        )
    return "lower the module with --ttir-to-ttnn-backend-pipeline first"


def _check_number(op: Operation, field: Field, name: str, content: Any) -> None:
    """Refuse a number that its field cannot hold."""
    if not isinstance(field.type, ScalarType):
        return
    try:
        field.type.packer.pack(content)
    except (struct.error, OverflowError) as error:
        raise OpError(
            op,
            f"{REFUSED}: attribute '{name}' is {content}, and the field of type "
            f"{field.type.name} for it does not hold that",
        ) from error


# --- Control --------------------------------------------------------------------------------------
# The functions that loops and branches call, in the order in which a file has them.


def order_parts(module: Operation, functions: Sequence[FuncOp]) -> list[FuncOp]:
    """What loops and branches call, each function after those that it calls itself.

    OpError for functions that call themselves, for those that are programs, too, and for loops and
    branches that nest deeper than the runtime follows them.
    """
    by_name = {op.sym_name.data: op for op in functions}
    ordered: dict[str, FuncOp] = {}
    depths: dict[str, int] = {}
    for caller in control_ops_in(module):
        pending = [(caller, caller.callees(), 0)]
        path: list[str] = []
        while pending:
            op, names, place = pending.pop()
            if place == len(names):
                depth = 1 + max((depths[name] for name in names), default=-1)
                if depth > MAX_CALL_DEPTH:
                    raise OpError(
                        op,
                        f"{TTNN.refused}: loops and branches nest more than {MAX_CALL_DEPTH} deep",
                    )
                if path:
                    name = path.pop()
                    ordered[name] = by_name[name]
                    depths[name] = depth
                continue
            pending.append((op, names, place + 1))
            name = names[place]
            if name in ordered:
                continue
            if name in path:
                raise OpError(op, f"{TTNN.refused}: @{name} calls itself")
            function = by_name[name]
            if function.sym_visibility != PRIVATE:
                raise OpError(
                    op, f"{TTNN.refused}: @{name} is a program of its own; make it private"
                )
            path.append(name)
            inner = tuple(name for each in control_ops_in(function) for name in each.callees())
            pending.append((op, inner, 0))
    return list(ordered.values())


# --- Ttnn -----------------------------------------------------------------------------------------

_DIALECT = "ttnn"


def ttnn_to_flatbuffer(
    module: ModuleOp,
    *,
    mlir_source: str | None = None,
    cpp_source: str = "",
    golden: Golden | Sequence[Golden] | None = None,
    signatures: Mapping[str, Table] = MappingProxyType({}),
    stamp: LaterStamp | None = None,
) -> bytes:
    """Bytes of the `.ttnn` file of a verified module: of 2026 if its machine is described so.

    `mlir_source` is the module's text, printed here if it is not given; `cpp_source` its C++, empty
    if there is none. Both go into the file for people to read; `golden` is for `ttrt run --golden`,
    `signatures` are `CallSignature` tables by functions, or by "" of the only one, for those who
    call a program as the model it was. `stamp` says which schema of 2026 is meant; by default the
    latest.
    Raises DiagnosticError for what no file can hold.
    """
    functions = [
        op for op in module.walk() if isinstance(op, FuncOp) and KERNEL_THREAD not in op.attributes
    ]
    if is_of_2026(module):
        from ttmlir.target.flatbuffer.ttnn_2026 import write_file

        text = print_module(module, LATE_FILE_TEXT) if mlir_source is None else mlir_source
        kept = GoldenOfFunction.find(module, public_functions(functions), golden, signatures)
        system, stamp = system_desc_of(module), stamp or LaterStamp.latest()
        return write_file(module, system, text, cpp_source, kept, stamp)
    if stamp is not None:
        raise LocatedError(
            module.location,
            "files of 2024 have one schema, and --schema-of names a file of another; it is for "
            "modules whose machine is described as in 2026",
        )
    if mlir_source is None:
        mlir_source = print_module(module, FILE_TEXT)
    parts = order_parts(module, functions)
    programs = [op for op in functions if op not in parts]
    kept = GoldenOfFunction.find(module, programs, golden, signatures)
    writer = _ModuleWriter(module, mlir_source, cpp_source, kept, parts)
    tables, called = map(writer.program, programs), map(writer.program, parts)
    return pack_file(module, TTNN, tables, called, packing=writer.packing)


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
        schema = load_schema(TTNN.schema)
        self.packing = schema.packing()
        self.operation_type = schema.table_type(f"{_NAMESPACE}Operation")
        # One table for all programs; functions, of which there are many, have none.
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
        operations: list[PackedTable] = []
        for op in block.ops:
            self.values.check_operands(op)
            if isinstance(op, ReturnOp):
                outputs = [self.values.tensor(value) for value in op.arguments]
            else:
                operations.append(self.operation(op, writer))
        return {
            "name": function.sym_name.data,
            "inputs": inputs,
            "outputs": outputs,
            "operations": operations,
            "debug_info": self.golden.debug_info(
                function, {} if function.sym_name.data in self.numbers else self.debug_info
            ),
        }

    def operation(self, op: Operation, writer: OperationWriter) -> PackedTable:
        """One step, which takes no memory besides the file."""
        member, table = writer.write(op)
        step = {"type_type": member, "type": table, "debug_info": self.lines.line(op)}
        return self.packing.add(self.operation_type, step)

    def tensor_tables(self, function: FuncOp) -> TensorTables:
        """The tables of the tensors of the device that a function runs on."""
        device = device_of(function, TTNN)
        if device not in self.tables:
            self.tables[device] = TensorTables(device, TTNN)
        return self.tables[device]

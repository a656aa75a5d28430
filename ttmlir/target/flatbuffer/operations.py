"""Operations of the ttnn dialect as members of the schema's `OpType` union.

Operations that have a row in the operation table are written from it; those that manage devices
and memory are written out here.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

from xdsl.dialects.func import CallOp
from xdsl.ir import Operation

from ttmlir.dialects import tt, ttnn
from ttmlir.dialects.definition.dps import DestinationStyleOp
from ttmlir.dialects.definition.row_ops import RowOperation
from ttmlir.layout.enums import ThreadType, TTNNTensorMemoryLayout
from ttmlir.mlir.reporting.diagnostics import OpError
from ttmlir.optable.row import Flatbuffer
from ttmlir.program.description import ComputeConfig, KernelDescription
from ttmlir.schema import load_schema
from ttmlir.schema.types import Field, ScalarType, TableType
from ttmlir.target.flatbuffer.constants import constant_bytes
from ttmlir.target.flatbuffer.file_kind import TTNN
from ttmlir.target.flatbuffer.generic import program_table
from ttmlir.target.flatbuffer.symbols import Symbols
from ttmlir.target.flatbuffer.tensors import Table, TensorTables
from ttmlir.target.flatbuffer.values import Values

REFUSED = TTNN.refused
_NAMESPACE = "tt.target.ttnn."


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
        self._types = load_schema(TTNN.schema).document.types
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
        if isinstance(op, RowOperation) and isinstance(op, ttnn.TTNNOp):
            form = op.ROW.flatbuffer
            if form is not None:
                return form.table, self._row(op, form)
        if isinstance(op, ttnn.AllocOp):
            raise OpError(op, f"{REFUSED}; use 'ttnn.empty', whose place the runtime chooses")
        raise OpError(op, f"{REFUSED}, which holds 'ttnn' operations only; {_remedy(op)}")

    # -- operations of the table ------------------------------------------------------------------

    def _row(self, op: RowOperation, form: Flatbuffer) -> Table:
        table_type = cast("TableType", self._types[_NAMESPACE + form.table])
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
                "fp32_dest_acc_en": config.data.fp32_dest_acc_en,
            }
        return table

    def _filled(
        self, op: RowOperation, form: Flatbuffer, filler: str, parameters: Mapping[str, Any]
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
        return parameters.get(filler)

    def _operand(self, op: RowOperation, name: str) -> Any:
        tensors = [self._values.tensor(value) for value in op.group(name)]
        if op.form().operands[op.form().operand_index[name]].variadic:
            return tensors
        return tensors[0] if tensors else None

    def _output(self, op: Operation) -> Table:
        if len(op.results) != 1:
            raise OpError(op, f"{REFUSED} with {len(op.results)} results; split it up")
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

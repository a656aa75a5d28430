"""Operations of the ttmetal dialect as members of the schema's `CommandType` union."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    MemRefType,
    StringAttr,
)
from xdsl.ir import Attribute, BlockArgument, Operation

from ttmlir.dialects import ttmetal
from ttmlir.dialects.definition.layout_checks import layout_of
from ttmlir.dialects.definition.names import REFERENCE
from ttmlir.dialects.tt import MemorySpaceAttr, element_of
from ttmlir.dialects.ttkernel import CBType, EthernetConfigAttr, NocConfigAttr, TensixConfigAttr
from ttmlir.layout.enums import MemorySpace, TensorMemoryLayout
from ttmlir.layout.errors import LayoutError
from ttmlir.mlir.reporting.diagnostics import OpError
from ttmlir.target.cpp.from_ttkernel import kernel_text
from ttmlir.target.flatbuffer.constants import constant_bytes
from ttmlir.target.flatbuffer.file_kind import TTMETAL
from ttmlir.target.flatbuffer.tensors import Table, TensorTables
from ttmlir.target.flatbuffer.values import Values

KernelConfig = TensixConfigAttr | NocConfigAttr | EthernetConfigAttr

_CONSTANTS = ("arith.constant", "ttir.constant")


class CommandWriter:
    """Writes the operations of a function in the order of its text."""

    def __init__(self, values: Values, tables: TensorTables) -> None:
        """Write tensors to `values`, their types to `tables`."""
        self._values = values
        self._tables = tables
        self._buffers: dict[CBType, Table] = {}

    def write(self, op: Operation) -> tuple[str, Table] | None:
        """Name of the union member and its table; None for an operation that needs no command.

        These are constants and uninitialised tensors on the host. OpError for what no file holds.
        """
        match op:
            case ttmetal.DispatchOp() | ttmetal.HostWriteOp() | ttmetal.HostReadOp():
                return self._destination_style(op)
            case ttmetal.AllocOp():
                address, size = (_number(op, name) for name in ("address", "size"))
                return "CreateBufferCommand", {"ref": self._define(op, address, size)}
            case ttmetal.DeallocOp():
                return "DeallocateBufferCommand", {"ref": self._values.tensor(op.operands[0])}
            case _ if op.name in _CONSTANTS or op.name == "tensor.empty":
                self._on_host(op)
                return None
            case _:
                raise OpError(
                    op,
                    f"{TTMETAL.refused}, which holds 'ttmetal' operations only; lower the module "
                    f"with {TTMETAL.pipeline} first",
                )

    def _define(self, op: Operation, address: int, size: int) -> Table:
        return self._values.define_at(op.results[0], op, self._tables, address, size)

    # -- data of the host -------------------------------------------------------------------------

    def _on_host(self, op: Operation) -> None:
        result = op.results[0]
        layout = layout_of(result)
        if layout is not None and layout.memory_space.is_device:
            raise OpError(
                op,
                f"{TTMETAL.refused} on the device; make it on the host and copy it with "
                "'ttmetal.host_write', or allocate memory with 'ttmetal.alloc'",
            )
        if op.name in _CONSTANTS:
            data = constant_bytes(op, op.properties["value"], TTMETAL)
            self._values.define_constant(result, op, self._tables, data)
        else:
            self._values.define(result, op, self._tables)

    # -- copies and kernels -----------------------------------------------------------------------

    def _destination_style(
        self, op: ttmetal.DispatchOp | ttmetal.HostWriteOp | ttmetal.HostReadOp
    ) -> tuple[str, Table]:
        operands = [self._values.tensor(value) for value in op.operands]
        match op:
            case ttmetal.DispatchOp():
                program = {"kernels": self._kernels(op, operands)}
                table: Table = {"operands": operands, "program": program}
                reference = op.attributes.get(REFERENCE)
                if isinstance(reference, DictionaryAttr):
                    table["reference"] = _reference(reference)
                written = "EnqueueProgramCommand", table
            case ttmetal.HostWriteOp():
                written = "EnqueueWriteBufferCommand", _copy(*operands)
            case ttmetal.HostReadOp():
                written = "EnqueueReadBufferCommand", _copy(*operands)
        # Results lie where the operations write to.
        for result, init in zip(op.results, op.inits, strict=True):
            self._values.alias(result, init)
        return written

    def _kernels(self, op: ttmetal.DispatchOp, operands: list[Table]) -> list[Table]:
        ranges = cast("ArrayAttr[ttmetal.CoreRangeAttr]", op.properties["core_ranges"]).data
        configs = cast("ArrayAttr[KernelConfig]", op.properties["kernelConfigs"]).data
        counts = {len(op.regions), len(ranges), len(configs)}
        if len(counts) > 1:
            raise OpError(
                op,
                f"has {len(op.regions)} kernels, {len(ranges)} core_ranges and {len(configs)} "
                "kernelConfigs; give one of each per kernel",
            )
        kernels: list[Table] = []
        for region, area, config in zip(op.regions, ranges, configs, strict=True):
            member, settings = _config(config)
            source: Table = {
                "source": kernel_text(op, region, config.thread_type),
                "config_type": member,
                "config": settings,
            }
            kernels.append(
                {
                    "kernel_type": "KernelSource",
                    "kernel": source,
                    "core_range_set": [(area.data.offset, area.data.size)],
                    "cbs": [self._buffer(op, each, operands) for each in region.block.args],
                }
            )
        return kernels

    def _buffer(
        self, op: Operation, argument: BlockArgument[Attribute], operands: list[Table]
    ) -> Table:
        """A circular buffer: on the operand with its number, else on memory of its own."""
        assert isinstance(argument.type, CBType), "the verifier has checked the arguments"
        table: Table = {
            "global_id": self._values.next_id(),
            "address": argument.type.buffer.data.address,
            "desc": self._buffer_desc(op, argument.type),
        }
        if argument.index < len(operands):
            table["tensor_ref"] = operands[argument.index]
        return table

    def _buffer_desc(self, op: Operation, type: CBType) -> Table:
        if type not in self._buffers:
            memref: MemRefType[Attribute] = type.memref
            space = memref.memory_space
            in_space = space.data if isinstance(space, MemorySpaceAttr) else MemorySpace.DEVICE_L1
            try:
                memory = self._tables.memory(
                    tuple(memref.get_shape()),
                    element_of(memref.element_type),
                    in_space,
                    TensorMemoryLayout.NONE,
                )
            except LayoutError as error:
                raise OpError(op, f"{TTMETAL.refused}: {error}") from error
            buffer = type.buffer.data
            self._buffers[type] = {
                "port": int(buffer.port),
                "memory_desc": memory,
                "page_size": buffer.page_size,
                "num_buffers": buffer.num_buffers,
            }
        return self._buffers[type]


def _number(op: Operation, name: str) -> int:
    attr = op.properties[name]
    assert isinstance(attr, IntegerAttr), "the verifier has checked the attribute"
    return attr.value.data


def _reference(attr: DictionaryAttr) -> Table:
    """The `Reference` table of the operation that a dispatch computes."""
    entries = dict(attr.data)
    mnemonic = cast("StringAttr", entries.pop("mnemonic"))
    operands = cast("ArrayAttr[Attribute]", entries.pop("operands"))
    parameters = cast("dict[str, FloatAttr[AnyFloat]]", entries)
    return {
        "mnemonic": mnemonic.data,
        "operands": [reference_operand(each) for each in operands],
        "parameter_names": list(parameters),
        "parameter_values": [each.value.data for each in parameters.values()],
    }


def reference_operand(attr: Attribute) -> Table:
    """The `ReferenceOperand` of the number of a value (an integer) or of a constant."""
    if isinstance(attr, IntegerAttr):
        return {"index": attr.value.data}
    return {"index": -1, "constant": cast("FloatAttr[AnyFloat]", attr).value.data}


def _copy(source: Table, target: Table) -> Table:
    return {"src": source, "dst": target}


def _config(config: KernelConfig) -> tuple[str, Table]:
    """Name of the `KernelConfig` member and its table."""
    match config:
        case TensixConfigAttr(data=settings):
            return "TensixConfig", {
                "math_fidelity": settings.math_fidelity.schema_name,
                "fp32_dest_acc_en": settings.fp32_dest_acc_en,
                "preserve_fp32_precision": settings.preserve_fp32_precision,
                "math_approx_mode": settings.math_approx_mode,
            }
        case NocConfigAttr(data=noc):
            return "NocConfig", {"noc_index": noc.schema_name}
        case EthernetConfigAttr(data=(side, noc)):
            return "EthernetConfig", {"eth_type": side.schema_name, "noc_index": noc.schema_name}

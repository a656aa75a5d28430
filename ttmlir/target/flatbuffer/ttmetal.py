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

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from types import MappingProxyType
from typing import cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    NoneAttr,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ttmlir.dialects import ttmetal
from ttmlir.dialects.definition.ods import ARG_ALLOC, REFERENCE
from ttmlir.dialects.definition.table_ops import int_property, layout_of
from ttmlir.dialects.tt import ArgumentAllocationAttr, MemorySpaceAttr, element_of
from ttmlir.dialects.ttcore import (
    DeviceLayout,
    HostLayoutAttr,
    InterleavedLayoutAttr,
    ShardLayoutAttr,
    device_layout_of,
    memory_space_of,
)
from ttmlir.dialects.ttkernel import CBType, EthernetConfigAttr, NocConfigAttr, TensixConfigAttr
from ttmlir.dialects.ttmetal import (
    PROGRAM_OPS,
    ComputeKernel,
    KernelArg,
    KernelArgKind,
    NocKernel,
    UnpackToDestMode,
)
from ttmlir.layout.data_format import SCHEMA_NAMES, Element, TileFormat, row_major_strides
from ttmlir.layout.device import DeviceView
from ttmlir.layout.enums import (
    DataType,
    DeviceMemoryLayout,
    MemorySpace,
    NocIndex,
    TensorMemoryLayout,
    ThreadType,
)
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.metal import (
    cb_page_bytes,
    dram_page_bytes,
    grid_cores,
    l1_buffer_bytes,
    shard_bytes,
    shard_strides,
)
from ttmlir.layout.system import SystemDesc
from ttmlir.layout.tensor_layout import shape_text
from ttmlir.limits import MAX_RANK
from ttmlir.mlir.module_printer import print_module
from ttmlir.mlir.printing import OpLinePrinter
from ttmlir.mlir.reporting import OpError
from ttmlir.program import (
    AddressOfTensor,
    Argument,
    Arguments,
    CircularBufferDescription,
    CircularBufferFormat,
    CircularBufferIndex,
    ComputeConfig,
    CoreRange,
    CoreRanges,
    DescriptionError,
    KernelDescription,
    ProgramDescription,
    ReaderConfig,
    SemaphoreAt,
    SemaphoreDescription,
    WriterConfig,
    list_ranges,
)
from ttmlir.program import KernelConfig as HostKernelConfig
from ttmlir.target.cpp.from_ttkernel import kernel_text
from ttmlir.target.flatbuffer.programs import (
    DEBUG_TEXT,
    FILE_TEXT,
    body_of,
    device_of,
    pack_file,
    system_desc_of,
)
from ttmlir.target.flatbuffer.tensors import (
    TTMETAL,
    Golden,
    GoldenOfFunction,
    MemoryTables,
    Symbols,
    Table,
    TensorTables,
    Values,
    check_int32,
    constant_bytes,
    element_type_name,
    golden_info,
)
from ttmlir.target.flatbuffer.ttnn import program_table

# --- Commands -------------------------------------------------------------------------------------
# Operations of the ttmetal dialect as members of the schema's `CommandType` union.

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
                address, size = (int_property(op, name) for name in ("address", "size"))
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
            member, settings = _config_of_command(config)
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


def _config_of_command(config: KernelConfig) -> tuple[str, Table]:
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


# --- Enqueue --------------------------------------------------------------------------------------
# Operations of ttmetal on memrefs (late 2025) as members of the schema's `CommandType` union.
#
# A program names its kernels, which are functions of the module. Its circular buffers lie in memory
# that 'ttmetal.create_buffer' has made: of a buffer of the program, whose numbers they hold, or of
# their own, a *storage*.

# --- Memrefs --------------------------------------------------------------------------------------
# Memrefs of the host and of a device as `TensorRef` tables.
#
# A buffer of the device has the shape of all its shards side by side, in numbers; what a core or a
# bank holds stands in its `MemoryDesc`. On the host a memref may have padding between its rows: the
# strides of its `LayoutDesc` say where its numbers are in the memory.

MemRef = MemRefType[Attribute]


def host_padding(type: MemRef) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Shape without padding, strides and volume of a memref of the host, in elements."""
    layout: Attribute = type.layout
    shape = tuple(type.get_shape())
    if isinstance(layout, HostLayoutAttr):
        if layout.data.mesh is not None:
            raise LayoutError(f"'{type}' is spread over a mesh; supported is one chip")
        return layout.data.logical_shape, layout.data.strides, layout.data.volume
    if not isinstance(layout, NoneAttr):
        raise LayoutError(
            f"'{type}' has a layout of its own; the host's have none, or #ttcore.host_layout"
        )
    return shape, row_major_strides(shape), math.prod(shape)


def stored_format(element: Element) -> Element:
    """What a file calls the format of an element: signed integers are kept as unsigned ones."""
    if isinstance(element, TileFormat) and element.data_type is DataType.SI32:
        return TileFormat(element.height, element.width, DataType.U32)
    return element


class MemRefTables:
    """Makes the tables of types; equal types share one."""

    def __init__(self, chip_grid: tuple[int, int]) -> None:
        """Start without tables; `chip_grid` is rows and columns of the chip's cores."""
        self._chip_grid = chip_grid
        self._memories = MemoryTables(TTMETAL)
        self._known: dict[Attribute, Table] = {}

    def ref(self, type: MemRef) -> Table:
        """All of a `TensorRef` but its number and address; LayoutError for what no file holds."""
        table = self._known.get(type)
        if table is None:
            if not type.has_static_shape():
                raise LayoutError(f"'{type}' has extents that are not known; give them numbers")
            on_device = memory_space_of(type).is_device
            table = self._known[type] = self._device(type) if on_device else self._host(type)
        return dict(table)

    def _host(self, type: MemRef) -> Table:
        shape, strides, volume = host_padding(type)
        element = element_of(type.element_type)
        if isinstance(element, TileFormat):
            raise LayoutError(f"'{type}' has tiles; the host keeps numbers in rows")
        memory = self._memories.memory(
            (volume,), element, MemorySpace.SYSTEM, TensorMemoryLayout.NONE
        )
        return {"size": memory["size"], "desc": _desc(shape, strides, element, memory)}

    def _device(self, type: MemRef) -> Table:
        layout = device_layout_of(type)
        if layout is None or not isinstance(type.layout, ShardLayoutAttr | InterleavedLayoutAttr):
            raise LayoutError(
                f"'{type}' says no location on the device; buffers have the layout #ttcore.shard "
                "or #ttcore.interleaved"
            )
        element = element_of(type.element_type)
        shard = layout.shard_shape
        if type.layout.strides != shard_strides(shard, element):
            raise LayoutError(
                f"'{type}' has gaps in its shards; supported are the byte strides "
                f"{shape_text(shard_strides(shard, element))}"
            )
        in_dram = layout.memory_space is MemorySpace.DEVICE_DRAM
        whole = _multiply(layout.grid_shape, shard)
        memory = self._memories.memory(
            whole if in_dram else shard,
            stored_format(element),
            layout.memory_space,
            _memory_layout(layout),
        )
        shape = _multiply(layout.grid_shape, layout.scalar_shard_shape)
        desc = _desc(shape, row_major_strides(shape), element, memory)
        buffer: Table = {"grid": layout.grid_shape, "num_buffers": layout.buffers}
        if in_dram:
            if layout.buffers != 1:
                raise LayoutError(
                    f"'{type}' has several buffers in dram; supported are those in l1"
                )
            buffer["page_size"] = dram_page_bytes(shard, element, layout.memory_layout)
            size = shard_bytes(whole, element)
        else:
            desc["layout"]["core_range_set"] = [
                ((each.start[1], each.start[0]), _extents(each)) for each in self.cores(layout)
            ]
            size = buffer_bytes(layout)
        return {"size": size, "desc": desc, "buffer": buffer}

    def cores(self, layout: DeviceLayout) -> CoreRanges:
        """The cores that hold shards of a buffer in L1; LayoutError if the chip has too few."""
        return list_ranges(grid_cores(layout.grid_shape, self._chip_grid))


def buffer_bytes(layout: DeviceLayout) -> int:
    """Bytes of a buffer in the L1 of each core."""
    element = element_of(layout.element_type)
    return l1_buffer_bytes(layout.shard_shape, element, layout.buffers)


def _desc(
    shape: tuple[int, ...], strides: tuple[int, ...], element: Element, memory: Table
) -> Table:
    if len(shape) > MAX_RANK:
        raise LayoutError(
            f"a buffer of rank {len(shape)}; {TTMETAL.extension} files run with at most "
            f"{MAX_RANK}, so merge some of them"
        )
    check_int32(TTMETAL, "shape", shape)
    check_int32(TTMETAL, "stride", strides)
    desc: Table = {"shape": shape, "layout": {"stride": strides, "memory_desc": memory}}
    name = element_type_name(TTMETAL, element, stored_format(element))
    return desc if name is None else desc | {"element_type": name}


def _multiply(grid: tuple[int, ...], shard: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(cores * extent for cores, extent in zip(grid, shard, strict=True))


def _memory_layout(layout: DeviceLayout) -> TensorMemoryLayout:
    if layout.memory_layout is DeviceMemoryLayout.INTERLEAVED:
        return TensorMemoryLayout.INTERLEAVED
    return TensorMemoryLayout.BLOCK_SHARDED


def _extents(cores: CoreRange) -> tuple[int, int]:
    """Rows and columns of a rectangle."""
    return cores.end[1] - cores.start[1] + 1, cores.end[0] - cores.start[0] + 1


# --- References -----------------------------------------------------------------------------------
# What fused programs compute, as `Reference` tables: for `ttrt run --golden`.
#
# The attribute of a program on memrefs is a list of rows, operations in order:
#
#     ttmetal.reference = {
#       rows = [{mnemonic = "exp", operands = [0], type = tensor<33x70xbf16>},
#               {mnemonic = "sum", operands = [2], parameters = {dim_arg = [1 : i32],
#                keep_dim = true}, type = tensor<33x1xbf16>}],
#       outputs = [{buffer = 1, value = 3, layout = #ttcore.host_layout<...>}]}
#
# Values are numbered: the program's buffers, then the results of the rows. An operand is such a
# number or, as a float, a constant. `mnemonic` and `parameters` are those of the reference function
# in the table of operations (`ttmlir.optable`), `type` is the result without padding. An output
# says which value a buffer holds in the end, and with `layout` where its numbers are among those of
# the buffer, row by row; without, there is no padding. Without rows, a program moves numbers.

_Integers = Sequence[IntegerAttr]


def fused_reference(op: Operation, attr: DictionaryAttr, num_buffers: int) -> Table:
    """The `Reference` of a program on memrefs; OpError for an attribute that does not fit it."""
    reader = _FusedReference(op, num_buffers)
    return reader.read(attr)


class _FusedReference:
    """Reads the attribute of one operation."""

    def __init__(self, op: Operation, num_buffers: int) -> None:
        self._op = op
        self._num_buffers = num_buffers
        self._types: list[TensorType[Attribute]] = []

    def read(self, attr: DictionaryAttr) -> Table:
        self._known(attr, "rows", "outputs")
        rows = [self._row(each) for each in self._tables(attr, "rows")]
        outputs = [self._output(each) for each in self._tables(attr, "outputs")]
        if not outputs:
            raise self._error("has no outputs")
        return {"rows": rows, "outputs": outputs}

    def _row(self, attr: DictionaryAttr) -> Table:
        self._known(attr, "mnemonic", "operands", "parameters", "type")
        mnemonic, type_ = attr.data.get("mnemonic"), attr.data.get("type")
        operands = attr.data.get("operands")
        if not (
            isinstance(mnemonic, StringAttr)
            and isinstance(type_, TensorType)
            and isinstance(operands, ArrayAttr)
        ):
            raise self._error("has an operation without mnemonic, operands and type of a tensor")
        for each in cast("ArrayAttr[Attribute]", operands):
            if isinstance(each, IntegerAttr):
                self._check_value(cast("IntegerAttr", each).value.data)
            elif not isinstance(each, FloatAttr):
                raise self._error(f"has the operand '{each}', which is no number")
        tensor = cast("TensorType[Attribute]", type_)
        parameters = attr.data.get("parameters", DictionaryAttr({}))
        if not isinstance(parameters, DictionaryAttr):
            raise self._error("has parameters that are no dictionary")
        if not tensor.has_static_shape():
            raise self._error(f"has a result of type '{tensor}'; give its extents numbers")
        table: Table = {
            "mnemonic": mnemonic.data,
            "operands": [
                reference_operand(each) for each in cast("ArrayAttr[Attribute]", operands)
            ],
            "parameters": [
                {"name": name, **self._parameter(name, value)}
                for name, value in parameters.data.items()
            ],
            "shape": tensor.get_shape(),
            "element_type": SCHEMA_NAMES[element_of(tensor.element_type).scalar.keyword],
        }
        self._types.append(tensor)
        return table

    def _output(self, attr: DictionaryAttr) -> Table:
        self._known(attr, "buffer", "value", "type", "layout")
        buffer, number = (self._number(attr, name) for name in ("buffer", "value"))
        if not 0 <= buffer < self._num_buffers:
            raise self._error(f"writes buffer {buffer}; the program has {self._num_buffers}")
        self._check_value(number)
        layout, type_ = attr.data.get("layout"), attr.data.get("type")
        if number >= self._num_buffers and type_ is None:
            type_ = self._types[number - self._num_buffers]
        if isinstance(layout, HostLayoutAttr):
            shape, stride = layout.data.logical_shape, layout.data.strides
        elif isinstance(type_, TensorType):
            shape = tuple(cast("TensorType[Attribute]", type_).get_shape())
            stride = row_major_strides(shape)
        else:
            raise self._error("has an output without layout or type; give it one of them")
        return {
            "operand": buffer,
            "value": number,
            "shape": shape,
            "stride": stride,
        }

    def _number(self, attr: DictionaryAttr, name: str) -> int:
        number = attr.data.get(name)
        if not isinstance(number, IntegerAttr):
            raise self._error(f"has an output without the number of its {name}")
        return cast("IntegerAttr", number).value.data

    def _check_value(self, number: int) -> None:
        count = self._num_buffers + len(self._types)
        if not 0 <= number < count:
            raise self._error(f"uses value {number} where there are {count}")

    def _parameter(self, name: str, attr: Attribute) -> Table:
        match attr:
            case StringAttr():
                return {"text": attr.data}
            case IntegerAttr() | FloatAttr():
                return {"numbers": [cast("IntegerAttr", attr).value.data]}
            case DenseArrayBase():
                return {"numbers": [*cast("DenseArrayBase[IntegerType]", attr).iter_values()]}
            case ArrayAttr():
                items = attr.data
                if all(isinstance(each, IntegerAttr) for each in items):
                    return {"numbers": [each.value.data for each in cast("_Integers", items)]}
            case _:
                pass
        raise self._error(
            f"has parameter '{name}' of form '{attr}'; supported are numbers, lists "
            "of integers, and texts"
        )

    def _tables(self, attr: DictionaryAttr, name: str) -> list[DictionaryAttr]:
        items = attr.data.get(name, ArrayAttr[Attribute]([]))
        if isinstance(items, ArrayAttr):
            tables = cast("ArrayAttr[Attribute]", items).data
            if all(isinstance(each, DictionaryAttr) for each in tables):
                return cast("list[DictionaryAttr]", list(tables))
        raise self._error(f"has '{name}' that are no list of dictionaries")

    def _known(self, attr: DictionaryAttr, *names: str) -> None:
        for name in attr.data:
            if name not in names:
                raise self._error(f"has '{name}'; known are {', '.join(names)}")

    def _error(self, what: str) -> OpError:
        return OpError(self._op, f"'{REFERENCE}' {what}")


# --- Enqueue --------------------------------------------------------------------------------------

Buffer = SSAValue[MemRefType[Attribute]]
Kernel = NocKernel | ComputeKernel

_SUPPORTED = (
    "a program on memrefs has operations of ttmetal, and 'memref.alloc', 'memref.dealloc' and "
    "'memref.get_global' for memory of the host"
)


class EnqueueWriter:
    """Writes the operations of a function in the order of its text."""

    def __init__(self, values: Values, symbols: Symbols, chip_grid: tuple[int, int]) -> None:
        """Write tensors to `values`; kernels and constants are those of `symbols`.

        `chip_grid` is rows and columns of the chip's cores.
        """
        self._values = values
        self._symbols = symbols
        self._tables = MemRefTables(chip_grid)

    def define(self, value: SSAValue, op: Operation) -> Table:
        """A new tensor for a memref."""
        return self._values.add(value, self._ref(value, op))

    def _ref(self, value: SSAValue, op: Operation) -> Table:
        type_: Attribute = value.type
        if not isinstance(type_, MemRefType):
            raise OpError(op, f"{TTMETAL.refused}: it has a '{type_}' beside memrefs")
        try:
            return self._tables.ref(cast("MemRefType[Attribute]", type_))
        except LayoutError as error:
            raise OpError(op, f"{TTMETAL.refused}: {error}") from error

    def write(self, op: Operation) -> tuple[str, Table] | None:
        """Name of the union member and its table; None for memory of the host.

        OpError for what no file holds.
        """
        match op:
            case ttmetal.EnqueueProgramOp():
                return "EnqueueProgramCommand", self._program(op)
            case ttmetal.EnqueueWriteBufferOp():
                return "EnqueueWriteBufferCommand", self._copy(op, to_device=True)
            case ttmetal.EnqueueReadBufferOp():
                return "EnqueueReadBufferCommand", self._copy(op, to_device=False)
            case ttmetal.CreateBufferOp():
                return "CreateBufferCommand", {"ref": self._create(op)}
            case ttmetal.DeallocateBufferOp():
                return "DeallocateBufferCommand", {"ref": self._values.tensor(op.operands[0])}
            case ttmetal.FinishOp():
                return "FinishCommand", {}
            case memref.AllocOp() | memref.GetGlobalOp():
                self._on_host(op)
            case memref.DeallocOp():
                pass
            case _:
                raise OpError(op, f"{TTMETAL.refused}; {_SUPPORTED}")
        return None

    def _on_host(self, op: memref.AllocOp | memref.GetGlobalOp) -> None:
        result = cast("Buffer", op.results[0])
        if memory_space_of(result.type).is_device:
            raise OpError(
                op,
                f"{TTMETAL.refused} on the device; make a buffer with 'ttmetal.create_buffer'",
            )
        table = self.define(result, op)
        if isinstance(op, memref.GetGlobalOp):
            constant = self._symbols.constant(op)
            data = constant_bytes(op, constant.initial_value, TTMETAL)
            table["desc"] = table["desc"] | {"constant_data": data}

    def _create(self, op: ttmetal.CreateBufferOp) -> Table:
        result = cast("Buffer", op.results[0])
        if not memory_space_of(result.type).is_device:
            raise OpError(op, f"{TTMETAL.refused}: its memref is not in dram or l1")
        table = self.define(result, op)
        table["address"] = op.address
        return table

    # -- transfers --------------------------------------------------------------------------------

    def _copy(self, op: Operation, *, to_device: bool) -> Table:
        source, target = (cast("Buffer", value) for value in op.operands)
        host, device = (source, target) if to_device else (target, source)
        if memory_space_of(host.type).is_device or not memory_space_of(device.type).is_device:
            way = "from the host to the device" if to_device else "from the device to the host"
            raise OpError(op, f"copies {way}, but its memrefs are elsewhere")
        kept, wanted = (
            element_of(each.type.element_type).scalar.data_type for each in (host, device)
        )
        # The host rounds weights of f32 to bf16, or packs them as block floats of bf16.
        is_packed = to_device and (kept, wanted) == (DataType.F32, DataType.BF16)
        if kept is not wanted and not is_packed:
            raise OpError(
                op,
                f"copies {kept.keyword} to {wanted.keyword}; a transfer moves bytes: convert the "
                "numbers with a kernel, or on the host",
            )
        refs = [self._values.tensor(each) for each in (source, target)]
        shape = self._values.tensor(device)["desc"]["shape"]
        _, _, volume = host_padding(host.type)
        expected = math.prod(shape)
        if volume != expected:
            raise OpError(
                op,
                f"copies a host buffer of {volume} elements to or from one of {expected} on the "
                "device; give the host's memref the padding by #ttcore.host_layout",
            )
        return {"src": refs[0], "dst": refs[1]}

    # -- kernels ----------------------------------------------------------------------------------

    def describe(self, op: ttmetal.EnqueueProgramOp) -> tuple[ProgramDescription, list[Buffer]]:
        """The program, and memory of circular buffers that lie on none of its buffers.

        Tensors are numbered: the buffers, then this memory.
        """
        buffers, cbs = (cast("tuple[Buffer, ...]", op.group(name)) for name in ("buffers", "cbs"))
        storages = [each for each in dict.fromkeys(cbs) if each not in buffers]
        numbers = {value: number for number, value in enumerate((*buffers, *storages))}
        try:
            return self._description(op, [numbers[each] for each in cbs], cbs), storages
        except DescriptionError as error:
            raise OpError(op, f"{TTMETAL.refused}: {error}") from error

    def _program(self, op: ttmetal.EnqueueProgramOp) -> Table:
        buffers = op.group("buffers")
        description, storages = self.describe(op)
        table: Table = {
            "operands": [self._values.tensor(each) for each in buffers],
            "descriptor": program_table(description),
            "storages": [self._values.tensor(each) for each in storages],
        }
        reference = op.attributes.get(REFERENCE)
        if isinstance(reference, DictionaryAttr):
            table["reference"] = fused_reference(op, reference, len(buffers))
        return table

    def _description(
        self, op: ttmetal.EnqueueProgramOp, numbers: list[int], cbs: tuple[Buffer, ...]
    ) -> ProgramDescription:
        kernels = [each.data for each in op.kernels]
        areas = dict.fromkeys(_core_range(op, kernel) for kernel in kernels)
        semaphores = sorted(
            {
                arg.operand_index
                for kernel in kernels
                for arg in (*kernel.args.ct_args, *kernel.args.rt_args)
                if arg.kind is KernelArgKind.SEMAPHORE
            }
        )
        places = {index: place for place, index in enumerate(semaphores)}
        binding = _Binding(op, places)
        return ProgramDescription(
            kernels=tuple(self._kernel(op, each, binding) for each in kernels),
            circular_buffers=tuple(
                self._circular_buffer(op, value, port, number)
                for value, port, number in zip(cbs, op.cb_ports, numbers, strict=True)
            ),
            semaphores=tuple(
                SemaphoreDescription(core_ranges=_disjoint(areas)) for _ in semaphores
            ),
        )

    def _kernel(
        self, op: ttmetal.EnqueueProgramOp, kernel: Kernel, binding: _Binding
    ) -> KernelDescription:
        function = self._symbols.function(op, kernel.symbol)
        for argument in function.body.block.args:
            type_ = argument.type
            if isinstance(type_, CBType) and int(type_.buffer.data.port) not in op.cb_ports:
                raise OpError(
                    op,
                    f"runs kernel @{kernel.symbol}, which uses circular buffer "
                    f"{int(type_.buffer.data.port)}; the program has {list(op.cb_ports)}",
                )
        area = _core_range(op, kernel)
        runtime_args = binding.arguments(kernel.args.rt_args)
        return KernelDescription(
            name=kernel.symbol,
            source=self._symbols.text(
                op,
                kernel.symbol,
                ThreadType.NOC if isinstance(kernel, NocKernel) else ThreadType.TENSIX,
            ),
            config=_config(kernel),
            core_ranges=(area,),
            compile_time_args=binding.arguments(kernel.args.ct_args),
            runtime_args=tuple((core, runtime_args) for core in area) if runtime_args else (),
        )

    def _circular_buffer(
        self, op: Operation, value: Buffer, port: int, number: int
    ) -> CircularBufferDescription:
        layout = device_layout_of(value.type)
        if layout is None or layout.memory_space is not MemorySpace.DEVICE_L1:
            raise OpError(
                op, f"has circular buffer {port} on '{value.type}', which is no buffer in l1"
            )
        element = element_of(value.type.element_type)
        page = CircularBufferFormat(port, stored_format(element).data_type, cb_page_bytes(element))
        return CircularBufferDescription(
            total_size=buffer_bytes(layout),
            core_ranges=self._tables.cores(layout),
            formats=(page,),
            tensor=number,
        )


class _Binding:
    """What the arguments of the kernels of a program mean."""

    def __init__(self, op: ttmetal.EnqueueProgramOp, semaphores: dict[int, int]) -> None:
        self._op = op
        self._semaphores = semaphores
        self._num_buffers = len(op.group("buffers"))

    def arguments(self, args: tuple[KernelArg, ...]) -> Arguments:
        """The arguments, by what a file says of them."""
        return tuple(self._argument(each) for each in args)

    def _argument(self, arg: KernelArg) -> Argument:
        index = arg.operand_index
        match arg.kind:
            case KernelArgKind.CB_PORT:
                self._check(index, len(self._op.cb_ports), "circular buffer")
                return CircularBufferIndex(self._op.cb_ports[index])
            case KernelArgKind.BUFFER_ADDRESS:
                self._check(index, self._num_buffers, "buffer")
                return AddressOfTensor(index)
            case KernelArgKind.SEMAPHORE:
                return SemaphoreAt(self._semaphores[index])
            case _:
                raise OpError(
                    self._op,
                    f"has a kernel with an argument {arg.kind.keyword}; files hold cb_port, "
                    "buffer_address and semaphore",
                )

    def _check(self, index: int, count: int, what: str) -> None:
        if index >= count:
            raise OpError(
                self._op,
                f"has a kernel with {what} {index} among its arguments, but the program has "
                f"{count}; they are numbered from 0",
            )


def _config(kernel: Kernel) -> HostKernelConfig:
    if isinstance(kernel, NocKernel):
        return ReaderConfig() if kernel.noc is NocIndex.NOC0 else WriterConfig()
    return ComputeConfig(
        math_fidelity=kernel.math_fidelity,
        fp32_dest_acc_en=kernel.fp32_dest_acc_en,
        dst_full_sync_en=kernel.dst_full_sync_en,
        math_approx_mode=kernel.math_approx_mode,
        unpack_to_dest_fp32=tuple(
            port
            for port, mode in enumerate(kernel.unpack_to_dest_modes)
            if mode is UnpackToDestMode.FP32
        ),
    )


def _core_range(op: Operation, kernel: Kernel) -> CoreRange:
    offset, size = kernel.cores.offset, kernel.cores.size
    if len(offset) != 2 or len(size) != 2 or min(size) < 1:
        raise OpError(op, f"runs kernel @{kernel.symbol} on no rectangle of cores")
    (y, x), (rows, columns) = offset, size
    return CoreRange((x, y), (x + columns - 1, y + rows - 1))


def _disjoint(areas: dict[CoreRange, None]) -> CoreRanges:
    """The rectangles without those that lie in others."""
    return tuple(
        each
        for each in areas
        if not any(
            other != each
            and other.start[0] <= each.start[0]
            and other.start[1] <= each.start[1]
            and each.end[0] <= other.end[0]
            and each.end[1] <= other.end[1]
            for other in areas
        )
    )


# --- Ttmetal --------------------------------------------------------------------------------------

_DIALECT = "ttmetal"


def ttmetal_to_flatbuffer(
    module: ModuleOp,
    *,
    mlir_source: str | None = None,
    golden: Golden | Sequence[Golden] | None = None,
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


@dataclass(frozen=True)
class MeshFile:
    """A program of several devices, for a file."""

    module: ModuleOp
    """What was divided, which stands in the file for people to read."""
    name: str
    inputs: Sequence[TensorType[Attribute]]
    outputs: Sequence[TensorType[Attribute]]
    mesh: Table
    """The `MeshProgram` table, whose functions are numbered as `parts` are."""
    system: SystemDesc
    parts: Sequence[ModuleOp]
    """What each device runs alone, of one function each; verified."""
    golden: Golden | None = None
    signature: Table | None = None


def mesh_to_flatbuffer(file: MeshFile, parts: Sequence[ModuleOp]) -> bytes:
    """Bytes of the `.ttm` file of a program of several devices, whose parts have become these."""
    functions: list[Table] = []
    for part in parts:
        symbols = Symbols(part)
        found = [op for op in part.walk() if isinstance(op, FuncOp) and not symbols.is_kernel(op)]
        kept = GoldenOfFunction.find(part, found, None, {})
        text = print_module(part, FILE_TEXT)
        writer = _ModuleWriter(part, text, symbols, kept)
        functions += [writer.program(op) for op in found]
    memories, values = MemoryTables(TTMETAL), count()
    inputs, outputs = (
        [{"global_id": next(values), **_host_ref(memories, type)} for type in types]
        for types in (file.inputs, file.outputs)
    )
    debug: Table = {"mlir": {"name": "ttir", "source": print_module(file.module, FILE_TEXT)}}
    if file.golden is not None:
        debug["golden_info"] = golden_info(file.golden)
    if file.signature is not None:
        debug["call_signature"] = file.signature
    program = {"name": file.name, "inputs": inputs, "outputs": outputs, "debug_info": debug}
    programs = [program | {"mesh": file.mesh}]
    return pack_file(file.module, TTMETAL, programs, functions, file.system)


def _host_ref(memories: MemoryTables, type: TensorType[Attribute]) -> Table:
    """All of the `TensorRef` of a tensor of the host but its number."""
    shape, element = type.get_shape(), element_of(type.element_type)
    memory = memories.memory(
        (math.prod(shape),), element, MemorySpace.SYSTEM, TensorMemoryLayout.NONE
    )
    return {"size": memory["size"], "desc": _desc(shape, row_major_strides(shape), element, memory)}


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

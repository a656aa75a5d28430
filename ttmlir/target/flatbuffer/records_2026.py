"""Operations of ttnn of 2026 as the records of their files.

A record is a table of the schema. Which one it is follows from the operation's name: it is the
enumerator of a table that several operations share, or the name of the table itself; so do most of
its fields, whose names and types say what fills them: operands, results and attributes by their
names, a `MemoryConfig` and a data type by the result's layout. What is called differently is in
`_NAMES` and `_SOURCES`, and what no rule gives in `_WRITTEN`.

An attribute that no field takes is refused, unless it says no more than its absence or how the
library is to compute.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    i1,
)
from xdsl.dialects.func import CallOp
from xdsl.ir import Attribute, Data, Operation, SSAValue

from ttmlir.dialects import ttcore, ttnn
from ttmlir.dialects.definition.ods import ODSOperation, ValueGroup
from ttmlir.dialects.quant import uniform_of
from ttmlir.dialects.tt import GridAttr, element_of
from ttmlir.dialects.ttnn.attrs import (
    CoreRangeSetAttr,
    DeviceComputeConfigAttr,
    MemoryConfigAttr,
    MeshOffsetAttr,
    MeshShapeAttr,
    ShapeAttr,
    ShardSpecAttr,
)
from ttmlir.dialects.ttnn.configs import CoreCoordAttr
from ttmlir.errors import ArgumentError
from ttmlir.layout.enums import DataType, KeywordEnum
from ttmlir.layout.late_machine import data_type_name
from ttmlir.mlir.reporting import OpError
from ttmlir.program import how_to_register
from ttmlir.schema.parser import Schema
from ttmlir.schema.types import (
    EnumType,
    Field,
    ScalarType,
    StringType,
    StructType,
    TableType,
    UnionType,
    VectorType,
    tag_field_name,
)
from ttmlir.target.flatbuffer.tensors import TTNN, Table, constant_bytes
from ttmlir.target.flatbuffer.tensors_2026 import (
    TensorTables2026,
    Values2026,
    element_name,
    shard_spec_table,
)

REFUSED = TTNN.refused

# --- Names ----------------------------------------------------------------------------------------

_NAMES = {
    "div": "Divide",
    "eq": "Equal",
    "ne": "NotEqual",
    "ge": "GreaterEqual",
    "gt": "GreaterThan",
    "le": "LessEqual",
    "lt": "LessThan",
    "clamp": "ClampScalar",
    "slice": "SliceStaticOp",
    "slice_dynamic": "SliceDynamicOp",
    "right_shift": "BitwiseRightShift",
    "where": "EltwiseTernaryWhereOp",
    "argmax": "ReductionArgMaxOp",
    "prod": "ReductionProdOp",
    "dealloc": "DeallocateOp",
    "sdpa_fw": "SDPAForwardOp",
    "sdpa_bw": "SDPABackwardOp",
    "while_loop": "WhileOp",
    "call": "FuncCallOp",
}
"""Names of operations that are called something else in files: an enumerator, or a table."""

_SOURCES: Mapping[str, Mapping[str, str]] = {
    "": {
        "in": "input",
        "in0": "input",
        "input_tensor": "input",
        "memcfg": "memory_config",
        "numeric_stable": "numericStable",
    },
    "AssignOp": {"output": "result"},
    "BatchNormTrainingOp": {"out": "result"},
    "EmbeddingBackwardOp": {"in_grad": "in_gradient"},
    "RowsGatherOp": {"input": "operand", "index": "indices"},
    "RowsScatterOp": {
        "input": "operand",
        "index": "indices",
        "source": "updates",
        "scatter_reduce_type": "reduce",
    },
    "SDPAForwardOp": {"out": "result"},
    "SplitQueryKeyValueAndSplitHeadsOp": {
        "in": "input_tensor",
        "kv_input": "kv_input_tensor",
        "q_out": "query",
        "k_out": "key",
        "v_out": "value",
    },
}
"""Names of operands, results and attributes by the fields for them; first those of all tables."""

_CALL_OF_HOST = "ttir.cpu_hoist_call"
_ABOUT_THE_RESULT = ("dtype", "output_dtype", "memory_config", "layout", "shape", "size")
"""Attributes that say what the type of the result says, too."""
_ABOUT_THE_LIBRARY = ("compute_config", "program_config", "use_multicore", "conv2d_slice_config")
"""Attributes on how the library computes, for which not every record has room."""
_REFERENCES = ("TensorRef", "GlobalSemaphoreRef")
"""Types of fields for values."""
_ALWAYS = ("activations", "input_tensor_a_activations", "input_tensor_b_activations")
"""Lists that are written also where they are empty."""


def _squeezed(name: str) -> str:
    return name.replace("_", "").lower()


@cache
def _tables_by_name(schema: Schema) -> Mapping[str, tuple[str, str | None]]:
    """Table and enumerator of each operation, by its squeezed name."""
    found: dict[str, tuple[str, str | None]] = {}
    program = schema.table_type("tt.target.ttnn.Operation")
    for table in cast("UnionType", program.by_name["type"].type).members:
        found[_squeezed(table.name)] = table.name, None
        kind = table.by_name.get("type")
        if kind is not None and isinstance(kind.type, EnumType):
            for name in kind.type.members:
                found.setdefault(_squeezed(name), (table.name, name))
    return found


def table_of(schema: Schema, mnemonic: str) -> tuple[str, str | None] | None:
    """Table and enumerator of an operation, None if the schema has no record for it."""
    known = _tables_by_name(schema)
    name = _squeezed(_NAMES.get(mnemonic, mnemonic))
    # An operation such as `ttnn.max` is an enumerator, one such as `ttnn.sort` a table.
    return known.get(name) or known.get(name + "op")


# --- Values ---------------------------------------------------------------------------------------


def _number(attr: Any) -> int | float | bool:
    value = attr.value.data
    return bool(value) if attr.type == i1 else value


def _compute_config(attr: DeviceComputeConfigAttr) -> dict[str, Any]:
    config = attr.data
    return {each.name: getattr(config, each.name) for each in fields(config)}


def _data(attr: Data[Any]) -> Any:
    content = attr.data
    if attr.name == "ttnn.placement":
        kind, dim = content
        number = 0 if dim is None else dim.value.data
        return {"type": ("replicate", "shard").index(kind), "dim": number}
    return content if isinstance(content, KeywordEnum | int | float) else dict(content)


_PLAIN: Sequence[tuple[type[Any] | tuple[type[Any], ...], Callable[[Any], Any]]] = (
    ((IntegerAttr, FloatAttr), _number),
    (StringAttr, lambda attr: attr.data),
    (UnitAttr, lambda attr: True),
    (ArrayAttr, lambda attr: [_plain(each) for each in attr.data]),
    (DenseArrayBase, lambda attr: [*attr.get_values()]),
    (ShapeAttr, lambda attr: [each.data for each in attr.shape.data]),
    (
        CoreRangeSetAttr,
        lambda attr: {"core_ranges": [(each.start, each.end) for each in attr.data]},
    ),
    (DeviceComputeConfigAttr, _compute_config),
    # The library takes all cores for what only convolutions of images with a depth say.
    (GridAttr, lambda attr: None),
    ((MeshShapeAttr, MeshOffsetAttr, CoreCoordAttr), lambda attr: attr.data),
    (Data, _data),
    (tuple, lambda value: [_plain(each) for each in value]),
)


def _plain(value: Any) -> Any:
    """A value that attributes hold, in Python: numbers, texts, lists, named values."""
    for kind, convert in _PLAIN:
        if isinstance(value, kind):
            return convert(value)
    return value


def _member(type: EnumType, value: Any) -> str:
    """The enumerator that a keyword stands for; ArgumentError if there is none."""
    if isinstance(value, DataType):
        return data_type_name(value)
    keyword = value.keyword if isinstance(value, KeywordEnum) else str(value)
    for name in type.members:
        if _squeezed(name) == _squeezed(keyword):
            return name
    raise ArgumentError(f"is {keyword}; files know {', '.join(type.members)}")


def encode(type: Any, value: Any) -> Any:
    """What a field of a type holds of an attribute; ArgumentError, after its name, if it cannot."""
    plain = _plain(value)
    match type:
        case EnumType():
            return _member(type, plain)
        case ScalarType():
            return _encode_number(type, plain)
        case VectorType(element=element):
            if not isinstance(plain, Sequence):
                raise ArgumentError("is no list")
            return [encode(element, each) for each in cast("Sequence[Any]", plain)]
        case TableType() if isinstance(plain, Mapping):
            return encode_table(type, cast("Mapping[str, Any]", plain))
        case StringType() | StructType():
            return plain
        case _:
            raise ArgumentError(f"has no room in a field of type {type.name}")


def _encode_number(type: ScalarType, value: Any) -> Any:
    number = int(value) if isinstance(value, KeywordEnum) else value
    if isinstance(number, bool) or not isinstance(number, int | float):
        if type.name == "bool" and isinstance(number, bool):
            return number
        number = int(number) if isinstance(number, bool) else None
    if number is None:
        raise ArgumentError("is no number")
    try:
        type.packer.pack(number)
    except (struct.error, OverflowError) as error:
        raise ArgumentError(
            f"is {number}, and the field of type {type.name} for it does not hold that"
        ) from error
    return number


def encode_table(type: TableType, values: Mapping[str, Any]) -> Table:
    """A table of named values, those that are absent left out."""
    table: Table = {}
    for name, value in values.items():
        field = type.by_name.get(name)
        if _plain(value) is None:
            continue
        if field is None:
            raise ArgumentError(f"says '{name}', for which files have no room")
        table[name] = encode(field.type, value)
    if "params" in type.by_name:
        # The numbers of a function of elements are a list also where there are none.
        table.setdefault("params", [])
    return table


def _encode_union(field: Field, attr: Attribute, table: Table) -> None:
    """A number, or the configuration of one kind, with the tag of its table."""
    member = _union_member(cast("UnionType", field.type), attr)
    if member is None:
        raise ArgumentError(f"is '{attr.name}', for which files have no room")
    is_described = isinstance(attr, Data)
    table[tag_field_name(field.name)] = member.name
    table[field.name] = encode_table(
        member, _plain(attr) if is_described else {member.fields[0].name: attr}
    )


def _union_member(union: UnionType, attr: Attribute) -> TableType | None:
    """The table for a configuration, by its name, or for a number or a list, by its field."""
    wanted = _squeezed(attr.name.partition(".")[2])
    for member in union.members:
        if _squeezed(member.name) == wanted:
            return member
        type = member.fields[0].type if len(member.fields) == 1 else None
        kind = FloatAttr if isinstance(type, ScalarType) and type.code == "f" else IntegerAttr
        if isinstance(type, ScalarType) and isinstance(attr, kind):
            return member
        if isinstance(type, VectorType) and isinstance(attr, DenseArrayBase):
            return member
    return None


# --- Records --------------------------------------------------------------------------------------

Called = Mapping[str, int]
"""The places in the file of the functions, by name."""


class RecordWriter:
    """Writes the operations of a function in the order of its text."""

    def __init__(
        self, schema: Schema, values: Values2026, tables: TensorTables2026, called: Called
    ) -> None:
        """Write tensors and devices to `values`, their types to `tables`."""
        self.schema = schema
        self.values = values
        self.tables = tables
        self.called = called
        self.calls: list[tuple[Operation, str]] = []
        """Functions that operations call, in the order of the text."""

    def write(self, op: Operation) -> tuple[str, Table]:
        """Name of the union member and its table; OpError for what no file can hold."""
        dialect, _, mnemonic = op.name.partition(".")
        written = _WRITTEN.get(op.name)
        if _CALL_OF_HOST in op.attributes:
            mnemonic, written = "cpu", _call_of_host
        is_known = dialect in ("ttnn", "ttcore") or isinstance(op, CallOp)
        found = table_of(self.schema, mnemonic) if is_known else None
        if found is None:
            raise OpError(op, f"{REFUSED}, {_remedy(op, is_known=is_known)}")
        name, kind = found
        type = self.schema.table_type(f"tt.target.ttnn.{name}")
        try:
            if written is not None:
                return name, written(self, op, type)
            return name, _Filler(self, cast("ODSOperation", op), type, kind).fill()
        except ArgumentError as error:
            raise OpError(op, f"{REFUSED}: {error}") from error

    def function(self, op: Operation, name: str) -> int:
        """The place of a function in the file."""
        place = self.called.get(name)
        if place is None:
            raise OpError(op, f"{REFUSED}: it calls @{name}, which is no function of the module")
        self.calls.append((op, name))
        return place

    def inputs(self, operands: Sequence[SSAValue]) -> list[Table]:
        """The tensors that operands are."""
        return [self.values.tensor(each) for each in operands]

    def outputs(self, op: Operation) -> list[Table]:
        """New tensors for all results; semaphores, which are numbered with them, have no type."""
        return [
            self.values.define(each, op, self.tables)
            if isinstance(each.type, TensorType)
            else self.values.add(each, {})
            for each in op.results
        ]


def _remedy(op: Operation, *, is_known: bool) -> str:
    if is_known:
        return "whose schema has no record for it; express it by operations of docs/versions.md"
    target = op.properties.get("call_target_name")
    if isinstance(target, StringAttr):
        return (
            f"and nothing says what '{target.data}' computes; before the program is lowered, "
            f"{how_to_register(target.data)}, or express it by operations of StableHLO"
        )
    return "which holds operations of ttnn, calls and loops only; lower the module to ttnn first"


class _Filler:
    """Fills the fields of one record by their names and types."""

    def __init__(
        self, writer: RecordWriter, op: ODSOperation, type: TableType, kind: str | None
    ) -> None:
        self.writer = writer
        self.op = op
        self.type = type
        self.kind = kind
        self.names = {**_SOURCES[""], **_SOURCES.get(type.name, {})}
        form = op.form()
        self.groups: dict[str, ValueGroup] = {each.name: each for each in form.operands}
        self.results = [each.name for each in form.results]
        self.left = {*op.properties} - {"operandSegmentSizes"}
        self.table: Table = {}
        self.outputs: list[Table] | None = None

    def fill(self) -> Table:
        """The record; ArgumentError for what it has no room for."""
        operands = self.operand_fields()
        tags = {
            tag_field_name(each.name)
            for each in self.type.fields
            if isinstance(each.type, UnionType)
        }
        for field in self.type.fields:
            if field.name == "type" and isinstance(field.type, EnumType):
                self.table["type"] = self.kind
            elif field.name in operands:
                self.table[field.name] = operands[field.name]
            elif field.name not in tags:
                self.fill_field(field)
        self.check_left()
        return {name: content for name, content in self.table.items() if content is not None}

    def source(self, field: Field) -> str:
        """What a field is called in the operation."""
        name = self.names.get(field.name, field.name)
        known = name in self.groups or name in self.op.properties or name in self.results
        return name if known else field.name

    def operand_fields(self) -> dict[str, Any]:
        """Operands by the fields for them; those without a name of their own come in order."""
        found: dict[str, Any] = {}
        left = [name for name in self.groups if name != "device"]
        unnamed: list[Field] = []
        for field in self.type.fields:
            name = self.source(field)
            is_list = isinstance(field.type, VectorType)
            element = field.type.element if isinstance(field.type, VectorType) else field.type
            if not isinstance(element, TableType) or element.name not in _REFERENCES:
                continue
            if name in left:
                left.remove(name)
                found[field.name] = self.operand(name, is_list=is_list)
            elif not self.is_output(field.name):
                unnamed.append(field)
        if "params" in self.type.by_name and left:
            params = self.operands_of_params(left)
            found.update(params)
            left = [] if params else left
        for name, field in zip(left, unnamed, strict=False):
            found[field.name] = self.operand(name, is_list=isinstance(field.type, VectorType))
        missing = left[len(unnamed) :]
        if any(self.op.group(name) for name in missing):
            raise ArgumentError(
                f"operand '{missing[0]}' has no field in a {self.type.name} record; leave it out"
            )
        return found

    def operands_of_params(self, names: Sequence[str]) -> Table:
        """Tensors that stand in a table of parameters."""
        union = self.type.by_name["params"].type
        if not isinstance(union, UnionType):
            return {}
        for member in union.members:
            if all(
                name in member.by_name and isinstance(member.by_name[name].type, TableType)
                for name in names
            ):
                params = {name: self.operand(name, is_list=False) for name in names}
                return {tag_field_name("params"): member.name, "params": params}
        return {}

    def operand(self, name: str, *, is_list: bool) -> Any:
        tensors = self.writer.inputs(self.op.group(name))
        if is_list:
            return tensors
        return tensors[0] if tensors else None

    def is_output(self, field: str) -> bool:
        """True for the fields of results."""
        return field in ("out", "output", "outputs") or self.names.get(field, field) in self.results

    def output(self, field: Field) -> Any:
        """The tensor of a result, or all of them."""
        if self.outputs is None:
            self.outputs = self.writer.outputs(self.op)
        if isinstance(field.type, VectorType):
            return self.outputs
        name = self.names.get(field.name, field.name)
        number = self.results.index(name) if name in self.results else 0
        return self.outputs[number] if number < len(self.outputs) else None

    def fill_field(self, field: Field) -> None:
        """A field that is no operand."""
        name, type = self.source(field), field.type
        attr = self.op.properties.get(name, self.op.attributes.get(f"ttcore.{field.name}"))
        element = type.element if isinstance(type, VectorType) else type
        if self.is_output(field.name) and element.name in _REFERENCES:
            self.table[field.name] = self.output(field)
        elif field.name == "device":
            self.table["device"] = self.device()
        elif isinstance(type, UnionType):
            self.fill_union(field, attr)
        elif type.name == "MemoryConfig" or (attr is None and type.name == "DataType"):
            self.fill_memory(field, attr)
        elif attr is None and type.name == "TensorLayout" and field.name == "layout":
            self.table[field.name] = self.writer.tables.tensor_layout(self.result_type())
        elif attr is not None:
            self.left.discard(name)
            try:
                self.table[field.name] = encode(type, attr)
            except ArgumentError as error:
                raise ArgumentError(f"attribute '{name}' {error}") from error
        elif field.name in _ALWAYS:
            self.table[field.name] = []
        elif field.name in ("shape", "size") and self.op.results:
            self.table[field.name] = [*_extents(self.result_type())]

    def fill_union(self, field: Field, attr: Attribute | None) -> None:
        """A number or a configuration, or a table of several attributes."""
        if field.name in self.table:
            return
        if attr is not None:
            self.left.discard(self.source(field))
            try:
                _encode_union(field, attr, self.table)
            except ArgumentError as error:
                raise ArgumentError(f"attribute '{self.source(field)}' {error}") from error
            return
        params = self.params(cast("UnionType", field.type))
        if params is not None:
            self.table[tag_field_name(field.name)], self.table[field.name] = params

    def params(self, union: UnionType) -> tuple[str, Table] | None:
        """The table of a union whose fields are attributes of the operation."""
        wanted = _squeezed(self.kind or "").removesuffix("op")
        for member in union.members:
            given = {name: self.op.properties.get(name) for name in member.by_name}
            table: Table = {}
            for name, attr in given.items():
                if attr is None:
                    continue
                self.left.discard(name)
                if isinstance(member.by_name[name].type, UnionType):
                    _encode_union(member.by_name[name], attr, table)
                else:
                    table[name] = encode(member.by_name[name].type, attr)
            is_named = not given and wanted and _squeezed(member.name).startswith(wanted)
            if table or is_named:
                return member.name, table
        return None

    def fill_memory(self, field: Field, attr: Attribute | None) -> None:
        """Memory and data type, which the type of the result says unless an attribute does."""
        if isinstance(attr, MemoryConfigAttr):
            self.left.discard(self.source(field))
            self.table[field.name] = {
                "buffer_type": attr.buffer_type.data.schema_name,
                "tensor_memory_layout": attr.tensor_memory_layout.data.schema_name,
            }
            if isinstance(attr.shard_spec, ShardSpecAttr):
                self.table[field.name]["shard_spec"] = shard_spec_table(attr.shard_spec)
            return
        tables = self.writer.tables
        if not self.op.results:
            return
        type = self.result_type()
        self.table[field.name] = (
            tables.memory_config(type)
            if field.type.name == "MemoryConfig"
            else tables.data_type(type)
        )

    def result_type(self) -> Attribute:
        """The type of the first result."""
        return self.op.results[0].type

    def device(self) -> Table | None:
        """The device that the operation is given."""
        given = self.op.group("device") if "device" in self.groups else ()
        return self.writer.values.device(given[0]) if given else None

    def check_left(self) -> None:
        """Refuse attributes that no field takes and that change what is computed."""
        for name in sorted(self.left):
            attr = self.op.properties[name]
            says_nothing = isinstance(attr, IntegerAttr) and _plain(attr) is False
            if not says_nothing and name not in (*_ABOUT_THE_RESULT, *_ABOUT_THE_LIBRARY):
                raise ArgumentError(
                    f"attribute '{name}' has no field in a {self.type.name} record; leave it out"
                )


def _extents(type: Attribute) -> Sequence[int]:
    return cast("TensorType[Attribute]", type).get_shape()


# --- Written out ----------------------------------------------------------------------------------
# Records that do more than list operands, attributes and results.


def _get_device(writer: RecordWriter, op: Operation, type: TableType) -> Table:
    device = writer.tables.device
    shape, offset = (op.properties.get(f"mesh_{name}") for name in ("shape", "offset"))
    rows, columns = (1, 1, *device.mesh_shape)[-2:]
    return {
        "mesh": shape.data if isinstance(shape, MeshShapeAttr) else (rows, columns),
        "offset": offset.data if isinstance(offset, MeshOffsetAttr) else (0, 0),
        "chip_ids": device.chip_ids,
        "out": writer.values.define_device(op.results[0], 0),
    }


def _to_layout(writer: RecordWriter, op: Operation, type: TableType) -> Table:
    tables = writer.tables
    source, target = (tables.data_type(each.type) for each in (op.operands[0], op.results[0]))
    return _without_nothing(
        {
            "in": writer.values.tensor(op.operands[0]),
            "layout": tables.tensor_layout(op.results[0].type),
            "dtype": None if source == target else target,
            "memcfg": tables.memory_config(op.results[0].type),
            "out": writer.outputs(op)[0],
        }
    )


def _constant(writer: RecordWriter, op: Operation, type: TableType) -> Table:
    tables, result = writer.tables, op.results[0]
    dtype = tables.data_type(result.type)
    value = cast("Any", op.properties["value"])
    data = constant_bytes(op, value, TTNN)
    return _without_nothing(
        {
            "device": writer.values.device(op.operands[0]) if op.operands else None,
            "input": data,
            "input_dtype": element_name(element_of(value.type.element_type)),
            "dtype": dtype,
            "layout": tables.tensor_layout(result.type),
            "memcfg": tables.memory_config(result.type),
            "out": writer.outputs(op)[0],
        }
    )


def _quantization(writer: RecordWriter, op: Operation, type: TableType) -> Table:
    """Scales and zero points: numbers where there is one of each, else tensors."""
    assert isinstance(op, ODSOperation)
    union = cast("UnionType", type.by_name["params"].type)
    names = [each.name for each in op.form().operands if each.name != "input"]
    member = next(each for each in union.members if names[0] in each.by_name)
    params: Table = {}
    for name in names:
        value = op.group(name)[0]
        one = _single_number(op, name, value)
        what = "scale" if name.endswith("scale") else "zero_point"
        tag = ("PerAxis" if one is None else "PerTensor") + _CAMEL[what]
        inner = cast("UnionType", member.by_name[name].type).by_name[tag].by_name[what]
        params[tag_field_name(name)] = tag
        params[name] = {
            what: writer.values.tensor(value) if one is None else encode(inner.type, one)
        }
    tables, result = writer.tables, op.results[0]
    table: Table = {
        "type": op.name.partition(".")[2].capitalize(),
        "in": writer.values.tensor(op.group("input")[0]),
        "output_dtype": tables.data_type(result.type),
        "memory_config": tables.memory_config(result.type),
        "out": writer.outputs(op)[0],
        "params_type": member.name,
        "params": params,
    }
    if "axis" in op.properties:
        table["axis"] = encode(type.by_name["axis"].type, op.properties["axis"])
    return _without_nothing(table)


_CAMEL = {"scale": "Scale", "zero_point": "ZeroPoint"}


def _single_number(op: ODSOperation, name: str, value: SSAValue) -> int | float | None:
    """A scale or a zero point of the whole tensor; None where there are several of them.

    The quantized type says it, or the constant that the operand is.
    """
    is_of_input = name.startswith("in_") or op.name == "ttnn.dequantize"
    types = (op.operands[0].type, op.results[0].type)
    element = cast("TensorType[Attribute]", types[0 if is_of_input else 1]).element_type
    uniform = uniform_of(element)
    if uniform is not None:
        numbers = uniform.scales if name.endswith("scale") else uniform.zeros
        return numbers[0] if uniform.axis is None else None
    extents = cast("TensorType[Attribute]", value.type).get_shape()
    if not isinstance(value.owner, Operation) or any(extent != 1 for extent in extents):
        return None
    properties = value.owner.properties
    found = properties.get("value", properties.get("fill_value"))
    if isinstance(found, DenseIntOrFPElementsAttr):
        return next(iter(cast("Any", found).get_values()))
    is_number = isinstance(found, IntegerAttr | FloatAttr)
    return _number(cast("Any", found)) if is_number else None


def _load_cached(writer: RecordWriter, op: Operation, type: TableType) -> Table:
    assert isinstance(op, ttcore.LoadCachedOp)
    place = writer.function(op, op.callee)
    return {
        "inputs": writer.inputs(op.operands),
        "callee_name": op.callee,
        "program_idx": place,
        "outputs": writer.outputs(op),
        "program_hash": writer.tables.function_hash(op.callee),
    }


def _call(writer: RecordWriter, op: Operation, type: TableType) -> Table:
    assert isinstance(op, CallOp)
    return {
        "program_id": writer.function(op, op.callee.root_reference.data),
        "inputs": writer.inputs(op.operands),
        "outputs": writer.outputs(op),
        "semaphore_inputs": [],
    }


def _call_of_host(writer: RecordWriter, op: Operation, type: TableType) -> Table:
    """A call of machine code, whose place a program with the function's name takes."""
    assert isinstance(op, CallOp)
    name = op.callee.root_reference.data
    if name not in writer.called:
        raise ArgumentError(
            f"@{name} is machine code of the host, which is not made here; leave functions of the "
            "host in ttir"
        )
    return {
        "ins": writer.inputs(op.operands),
        "outs": writer.outputs(op),
        "func_name": f"{name}_helper",
        "dylib_id": 0,
    }


def _launch(writer: RecordWriter, op: Operation, type: TableType) -> Table:
    """A recording: the programs that make its slots, record it, and run it."""
    assert isinstance(op, ODSOperation)
    table: Table = {
        f"{name}_program_id": writer.function(
            op, cast("SymbolRefAttr", op.properties[f"{name}_callee"]).root_reference.data
        )
        for name in ("capture", "execute", "allocate_slots")
    }
    return {
        "device": writer.values.device(op.group("device")[0]),
        **table,
        "inputs": writer.inputs(op.group("inputs")),
        "outputs": writer.outputs(op),
        "semaphore_inputs": writer.inputs(op.group("semaphores")),
    }


def _while_loop(writer: RecordWriter, op: Operation, type: TableType) -> Table:
    table: Table = {}
    for name in ("body_program", "condition_program"):
        symbol = op.properties.get(name)
        if symbol is not None:
            table[name] = writer.function(op, cast("Any", symbol).root_reference.data)
    bound_type = cast("TableType", type.by_name["limit"].type)
    for name in ("initial", "limit", "step"):
        bound = op.properties.get(name)
        if isinstance(bound, ttcore.LoopBoundAttr):
            number, operand = bound.data
            table[name] = encode_table(bound_type, {"value": number, "input": operand})
    for name in ("state_count", "output_indices"):
        table[name] = encode(type.by_name[name].type, op.properties[name])
    return table | {"inputs": writer.inputs(op.operands), "outputs": writer.outputs(op)}


def _case(writer: RecordWriter, op: Operation, type: TableType) -> Table:
    branches = cast("ArrayAttr[Any]", op.properties["branch_programs"]).data
    return {
        "branch_programs": [writer.function(op, each.root_reference.data) for each in branches],
        "index": writer.values.tensor(op.operands[0]),
        "inputs": writer.inputs(op.operands[1:]),
        "outputs": writer.outputs(op),
    }


def _while(writer: RecordWriter, op: Operation, type: TableType) -> Table:
    """A loop of the spelling of 2024: its first operands are the state, and all of it a result."""
    assert isinstance(op, ttnn.WhileOp)
    count = len(op.results)
    table: Table = {"body_program": writer.function(op, op.body)}
    if op.condition is not None:
        table["condition_program"] = writer.function(op, op.condition)
    else:
        table |= {"initial": {"value": 0}, "limit": {"value": op.trip_count}, "step": {"value": 1}}
    return table | {
        "state_count": count,
        "output_indices": [*range(count)],
        "inputs": writer.inputs(op.operands),
        "outputs": writer.outputs(op),
    }


def _branch(writer: RecordWriter, op: Operation, type: TableType) -> Table:
    """A branch of the spelling of 2024."""
    assert isinstance(op, ttnn.CaseOp)
    return {
        "branch_programs": [writer.function(op, name) for name in op.callees()],
        "index": writer.values.tensor(op.operands[0]),
        "inputs": writer.inputs(op.passed),
        "outputs": writer.outputs(op),
    }


def _without_nothing(table: Table) -> Table:
    return {name: content for name, content in table.items() if content is not None}


_WRITTEN: Mapping[str, Callable[[RecordWriter, Operation, TableType], Table]] = {
    "ttnn.get_device": _get_device,
    "ttnn.to_layout": _to_layout,
    "ttnn.constant": _constant,
    **dict.fromkeys(("ttnn.quantize", "ttnn.dequantize", "ttnn.requantize"), _quantization),
    "ttcore.load_cached": _load_cached,
    "ttnn.while": _while,
    "ttnn.case": _branch,
    "ttcore.while_loop": _while_loop,
    "ttcore.case": _case,
    "func.call": _call,
    "ttnn.capture_or_execute_trace": _launch,
}

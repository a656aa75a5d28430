"""Calls of the ttnn library for operations that make their results, as those of 2026.

`library_arguments.py` says which arguments there are, in C++ and in Python alike. Of operations
that it does not know C++ gets, in this order: each operand but the device, `std::nullopt` where an
optional one is absent; each parameter as a literal, in the order of the operation's form; the data
type of the result where the operation chooses it; the layout of a new tensor; the device; the
memory of the result. What is not said is left out at the end of the list.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
    TupleType,
    f32,
    i1,
    i32,
)
from xdsl.ir import Attribute, Data, Operation, SSAValue

from ttmlir.dialects import emitc, tt, ttnn
from ttmlir.dialects.definition.ods import SEGMENTS, ODSOperation
from ttmlir.dialects.definition.table_ops import TableOperation
from ttmlir.ir.rewriting import refuse_to_legalize
from ttmlir.ir.tensor_types import layout_of
from ttmlir.layout.data_format import ScalarType
from ttmlir.layout.enums import DataType, DeviceComputeConfig, KeywordEnum
from ttmlir.layout.tensor_layout import Grid, TensorLayout
from ttmlir.mlir.attributes import elements_of
from ttmlir.optable import late_forms
from ttmlir.passes.emitc.library_arguments import arguments_of

_CALLEES = {
    "ttnn.get_device": "ttnn::DeviceGetter::getInstance",
    "ttnn.div": "ttnn::divide",
    "ttnn.pow_scalar": "ttnn::pow",
    "ttnn.clamp_tensor": "ttnn::clamp",
    "ttnn.slice_dynamic": "ttnn::slice",
    "ttnn.load_tensor": "ttnn::loadTensor",
    "ttnn.right_shift": "ttnn::bitwise_right_shift",
    "ttnn.dealloc": "ttnn::deallocate",
}
"""Names of functions that are called otherwise than their operations."""
_DATA_TYPES = {
    DataType.F32: "FLOAT32",
    DataType.BF16: "BFLOAT16",
    DataType.BFP_BF8: "BFLOAT8_B",
    DataType.BFP_BF4: "BFLOAT4_B",
    DataType.U32: "UINT32",
    DataType.U16: "UINT16",
    DataType.U8: "UINT8",
    DataType.SI32: "INT32",
}
_SAID_BY_THE_RESULT = ("dtype", "output_dtype", "memory_config", "layout", SEGMENTS)


def library_type(
    type_: Attribute, tensor: Attribute, tensors: Attribute, device: Attribute
) -> Attribute:
    """A type of ttnn in another language; others stay as they are."""
    match type_:
        case TensorType():
            return tensor
        case TupleType():
            return tensors
        case tt.DeviceType() | ttnn.TTNNDeviceType():
            return device
        case _:
            return type_


def call_making_results(
    op: ttnn.TTNNOp, operands: Sequence[SSAValue], convert: Callable[[Attribute], Attribute]
) -> Operation:
    """The call of the library for an operation; `convert` gives the types of C++."""
    arguments = [value for _, value in arguments_in(op, CPP)]
    while arguments and arguments[-1] == _opaque(CPP.none):
        del arguments[-1]
    results = [convert(result.type) for result in op.results]
    args = arguments if len(operands) != len(arguments) else _unless_plain(arguments)
    return emitc.CallOpaqueOp.make(
        callee_of(op), operands, results, args=args, location=op.location
    )


def callee_of(op: Operation) -> str:
    """The name of the function that an operation is."""
    known = _CALLEES.get(op.name)
    if known is not None:
        return known
    if isinstance(op, TableOperation):
        return op.DEFINITION.callee
    return op.name.replace("ttnn.", "ttnn::", 1)


def _unless_plain(arguments: list[Attribute]) -> list[Attribute] | None:
    """None where the arguments are the operands in their order."""
    plain = [_operand(index) for index in range(len(arguments))]
    return None if arguments == plain else arguments


def arguments_in(op: ttnn.TTNNOp, language: Language) -> list[tuple[str, Attribute]]:
    """Names and values of the arguments: an index is the operand with that number.

    Arguments that are not given are `language.none`.
    """
    groups = _operand_groups(op)
    name = op.name.removeprefix("ttnn.")
    named = arguments_of(name, is_known=language.is_python and isinstance(op, TableOperation))
    if named is None:
        named = _own_arguments(op)
    used = {source for _, source in named}
    found: list[tuple[str, Attribute]] = []
    for keyword, source in named:
        if source == "*":
            rest = [value for group, value in groups.items() if group not in (*used, "device")]
            found += [
                ("", each) for indices in rest for each in indices or (_opaque(language.none),)
            ]
        elif source in groups:
            keys = keyword if language.is_python else ""
            found += [(keys, each) for each in groups[source] or (_opaque(language.none),)]
        elif source == "value" and isinstance(op, ttnn.ConstantOp):
            found.append((keyword, _elements(op.properties["value"], language)))
        else:
            found += [(keyword, each) for each in _values(op, source, language)]
    return found


def _operand_groups(op: ttnn.TTNNOp) -> dict[str, list[Attribute]]:
    """The numbers of the operands of each group."""
    number = 0
    found: dict[str, list[Attribute]] = {}
    for group in op.form().operands:
        count = len(op.group(group.name))
        found[group.name] = [_operand(number + index) for index in range(count)]
        number += count
    return found


def _own_arguments(op: ttnn.TTNNOp) -> Sequence[tuple[str, str]]:
    """Operands, parameters in the order of the form, what is said of the result, its memory."""
    layout = layout_of(op.results[0].type) if op.results else None
    groups = [group.name for group in op.form().operands]
    has_device = bool("device" in groups and op.group("device"))
    is_new = isinstance(op, ttnn.CreationOp) or (has_device and len(op.operands) == 1)
    of_result = ["dtype"] * (is_new or isinstance(op, ttnn.BinaryOp)) + ["layout"] * is_new
    words = [
        *_parameter_names(op),
        *(of_result if layout is not None else []),
        *(["device"] if has_device else []),
        *(["memory_config"] if layout is not None else []),
    ]
    return [("", "*"), *((word, word) for word in words)]


def _values(op: ttnn.TTNNOp, source: str, language: Language) -> Sequence[Attribute]:
    """What stands for a property, or for what is said of the first result."""
    layout = layout_of(op.results[0].type) if op.results else None
    if source == "true":
        return (_opaque(language.true),)
    attr = op.properties.get(source)
    if source == "shape" and attr is None and op.results:
        shape = cast("TensorType[Attribute]", op.results[0].type).get_shape()
        return (_shape(shape, language),)
    if source == "memory_config" and layout is not None:
        return (_memory(op, layout, language),)
    if source in ("dtype", "layout") and layout is not None:
        if source == "layout":
            return (_layout(layout, language),)
        is_same = op.name == "ttnn.to_layout"
        wanted = _data_type(layout, language)
        if language.is_python and wanted == _opaque(language.none):
            keyword = layout.element.data_type.keyword
            refuse_to_legalize(op, f"ttnn has no data type {keyword}; bf16 and f32 are two it has")
        return (_new_data_type(op, layout, language) if is_same else wanted,)
    if attr is None:
        return (_opaque(language.none),)
    if source == "padding" and op.name == "ttnn.conv_transpose2d" and language.is_python:
        return (_opaque(str(_sides_first([*cast("DenseArrayBase[Any]", attr).get_values()]))),)
    if source == "padding" and op.name == "ttnn.pad" and language.is_python:
        flat = [*cast("DenseArrayBase[Any]", attr).get_values()]
        pairs = ", ".join(
            f"({low}, {high})" for low, high in zip(flat[::2], flat[1::2], strict=True)
        )
        return (_opaque(f"[{pairs}]"),)
    return _literals(op, source, attr, language)


def _sides_first(padding: list[int]) -> list[int]:
    """Top, bottom, left, right, of top, left, bottom, right, as transposed convolutions have it."""
    return [padding[place] for place in (0, 2, 1, 3)] if len(padding) == 4 else padding


def _parameter_names(op: ttnn.TTNNOp) -> Sequence[str]:
    """Parameters in the order of the operation's form, then other properties."""
    late = late_forms.TTNN.get(op.name.removeprefix("ttnn."))
    parameters = late.parameters if late is not None else None
    if parameters is None and isinstance(op, TableOperation):
        parameters = op.PARAMETERS
    names = [each.name for each in parameters or ()]
    known = op.form().by_name
    more = (name for name in known if name not in (*names, *_SAID_BY_THE_RESULT))
    return [name for name in (*names, *more) if name in known]


# --- Literals -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Language:
    """How the values that arguments have are written."""

    is_python: bool
    none: str
    true: str
    false: str
    brackets: str

    def boolean(self, value: object) -> str:
        """A truth value."""
        return self.true if value else self.false

    def name(self, path: str) -> str:
        """A name of the library, by its path in C++; Python has most of them in one module."""
        if not self.is_python:
            return path
        return _NAMESPACES.sub("ttnn::", path).replace("::", ".")

    def listed(self, items: Iterable[str]) -> str:
        """A list."""
        return self.brackets[0] + ", ".join(items) + self.brackets[1]

    def made(self, kind: str, fields: Iterable[tuple[str, str]]) -> str:
        """A structure with named fields."""
        if not self.is_python:
            return f"{kind}{{{', '.join(f'.{name} = {value}' for name, value in fields)}}}"
        named = (f"{_FIELDS.get(name, name)}={value}" for name, value in fields)
        return f"{self.name(kind)}({', '.join(named)})"

    def number(self, value: float) -> str:
        """A number; infinities and NaN have no literal in Python."""
        if self.is_python and isinstance(value, float) and not math.isfinite(value):
            return f'float("{value}")'
        return repr(value) if self.is_python else str(value)


_NAMESPACES = re.compile(r"^ttnn::(operations::\w+|distributed)::")
CPP = Language(False, "std::nullopt", "true", "false", "{}")
PYTHON = Language(True, "None", "True", "False", "[]")
_FIELDS = {
    "per_core_m": "per_core_M",
    "per_core_n": "per_core_N",
    "t_out_block": "T_out_block",
    "w_out_block": "W_out_block",
    "h_out_block": "H_out_block",
    "c_out_block": "C_out_block",
    "c_in_block": "C_in_block",
}
"""Fields of configurations that Python spells otherwise."""


def _opaque(text: str) -> Attribute:
    return emitc.EmitC_OpaqueAttr(StringAttr(text))


def _operand(index: int) -> Attribute:
    return IntegerAttr.from_index_int_value(index)


def _library_data_type(layout: TensorLayout) -> DataType:
    if isinstance(layout.element, ScalarType) and layout.element.keyword in ("si32", "i32"):
        return DataType.SI32
    return layout.element.data_type


def _data_type(layout: TensorLayout, language: Language) -> Attribute:
    name = _DATA_TYPES.get(_library_data_type(layout))
    return _opaque(language.none if name is None else language.name(f"ttnn::DataType::{name}"))


def describe_tensor(type_: TensorType[Attribute]) -> str:
    """What a tensor is in words of the library in Python: `[33, 70] bfloat16 TILE DRAM`."""
    shape, layout = f"[{', '.join(map(str, type_.get_shape()))}]", layout_of(type_)
    if layout is None:
        return shape
    name = _DATA_TYPES.get(_library_data_type(layout))
    words = [shape, "?" if name is None else name.lower()]
    words.append("TILE" if layout.is_tiled else "ROW_MAJOR")
    if layout.memory_space.is_system:
        return " ".join((*words, "host"))
    words.append("DRAM" if layout.memory_space.keyword == "dram" else "L1")
    spread = layout.memory_layout
    return " ".join((*words, *([spread.keyword.upper()] if spread.is_sharded else [])))


def _new_data_type(op: ttnn.TTNNOp, layout: TensorLayout, language: Language) -> Attribute:
    """That of the result where the operand has another one."""
    before = layout_of(op.operands[0].type)
    wanted = _data_type(layout, language)
    is_same = before is None or _data_type(before, language) == wanted
    return _opaque(language.none) if is_same else wanted


def _layout(layout: TensorLayout, language: Language) -> Attribute:
    return _opaque(language.name(f"ttnn::Layout::{'TILE' if layout.is_tiled else 'ROW_MAJOR'}"))


def _shape(extents: Iterable[int], language: Language) -> Attribute:
    items = ", ".join(map(str, extents))
    inner = f"[{items}]" if language.is_python else f"{{{items}}}"
    return _opaque(f"{language.name('ttnn::Shape')}({inner})")


def _memory(op: ttnn.TTNNOp, layout: TensorLayout, language: Language) -> Attribute:
    if layout.memory_space.is_system:
        return _opaque(language.none)
    buffer = "DRAM" if layout.memory_space.keyword == "dram" else "L1"
    spread = layout.memory_layout
    name = spread.keyword.upper() if spread.is_sharded else "INTERLEAVED"
    parts = [f"ttnn::TensorMemoryLayout::{name}", f"ttnn::BufferType::{buffer}"]
    text = ", ".join(map(language.name, parts))
    if not language.is_python:
        return _opaque(f"ttnn::MemoryConfig{{{text}}}")
    return _opaque(f"ttnn.MemoryConfig({text}, {_shards(layout) if spread.is_sharded else None})")


def _shards(layout: TensorLayout) -> str:
    """The `ttnn.ShardSpec`, on cores that begin at the corner."""
    rows, columns = layout.grid.shape[-2:]
    shape = ", ".join(map(str, layout.scalar_shard[-2:]))
    cores = f"ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord({columns - 1}, {rows - 1}))"
    return (
        f"ttnn.ShardSpec(ttnn.CoreRangeSet({{{cores}}}), [{shape}], "
        "ttnn.ShardOrientation.ROW_MAJOR)"
    )


def _elements(attr: Attribute, language: Language) -> Attribute:
    """The numbers of a constant."""
    if not language.is_python:
        return attr
    numbers: Sequence[Any] = cast("Any", attr).get_values()
    return _opaque(language.listed(language.number(each) for each in numbers))


def _literals(op: ttnn.TTNNOp, name: str, attr: Attribute, language: Language) -> list[Attribute]:
    """What stands for a parameter."""
    match attr:
        case DenseIntOrFPElementsAttr():
            return [_elements(attr, language), _list(attr.get_shape())]
        case ttnn.ShapeAttr():
            return [_shape((each.data for each in attr.shape.data), language)]
        case DenseArrayBase():
            values = [*cast("DenseArrayBase[Any]", attr).get_values()]
            return [_opaque(str(values)) if language.is_python else _list(values)]
        case ArrayAttr():
            items = attr.data
            if all(isinstance(item, IntegerAttr) for item in items) and items:
                values = [cast("Any", item).value.data for item in items]
                return [_opaque(str(values)) if language.is_python else _list(values)]
            return [_opaque(language.listed(_text(op, name, item, language) for item in items))]
        case IntegerAttr() if attr.type == i1:
            return [_opaque(language.boolean(attr.value.data))]
        case IntegerAttr() | FloatAttr() if language.is_python:
            return [_opaque(language.number(attr.value.data))]
        case IntegerAttr():
            return [IntegerAttr(attr.value.data, i32)]
        case FloatAttr():
            return [FloatAttr(attr.value.data, f32)]
        case _:
            return [_opaque(_text(op, name, attr, language))]


def _list(values: Sequence[int]) -> Attribute:
    """Integers that C++ text shows as `{1, 2}`."""
    return elements_of(TensorType(i32, [len(values)]), values) if values else _opaque("{}")


_KINDS: Mapping[str, str] = {
    "ttnn.unary_with_param": "ttnn::operations::unary::UnaryWithParam",
    "ttnn.conv2d_config": "ttnn::Conv2dConfig",
    "ttnn.conv3d_config": "ttnn::Conv3dConfig",
    "ttnn.conv2d_slice_config": "ttnn::Conv2dSliceConfig",
    "ttnn.core_range_set": "ttnn::CoreRangeSet",
    "ttnn.mesh_mapper_config": "ttnn::distributed::MeshMapperConfig",
    "ttnn.mesh_composer_config": "ttnn::distributed::MeshComposerConfig",
    "ttnn.sdpa_program_config": "ttnn::operations::transformer::SDPAProgramConfig",
}
"""The types of configurations."""


def _text(op: ttnn.TTNNOp, name: str, attr: Any, language: Language) -> str:
    """A literal for an attribute of the dialects, or for a field of one."""
    match attr:
        case ttnn.DeviceComputeConfigAttr():
            return compute_config_text(attr.data, language)
        case DataType():
            known = _DATA_TYPES.get(attr)
            return language.none if known is None else language.name(f"ttnn::DataType::{known}")
        case bool():
            return language.boolean(attr)
        case int() | str():
            return str(attr)
        case StringAttr():
            return json.dumps(attr.data)
        case IntegerAttr() | FloatAttr():
            return language.number(cast("Any", attr).value.data)
        case KeywordEnum():
            return attr.keyword.upper()
        case Data():
            return _described(op, name, cast("Data[Any]", attr), language)
        case tuple():
            items = cast("tuple[Any, ...]", attr)
            return language.listed(_text(op, name, each, language) for each in items)
        case _:
            words = "Python" if language.is_python else "C++"
            refuse_to_legalize(
                cast("ODSOperation", op), f"attribute '{name}' has no form in {words}"
            )


def _described(op: ttnn.TTNNOp, name: str, attr: Data[Any], language: Language) -> str:
    content = attr.data
    if isinstance(content, DataType):
        return _text(op, name, content, language)
    if isinstance(content, KeywordEnum):
        if language.is_python and attr.name.endswith("reduce_type"):
            return _reduction(op, content.keyword, language)
        kind = "".join(part.capitalize() for part in attr.name.partition(".")[2].split("_"))
        return language.name(f"ttnn::{kind}::{content.keyword.upper()}")
    if attr.name == "ttnn.core_coord":
        return f"{language.name('ttnn::CoreCoord')}({content[0]}, {content[1]})"
    if isinstance(content, Grid) and language.is_python:
        rows, columns = content.shape
        return f"ttnn.CoreCoord({columns}, {rows})"
    if attr.name in _OWN_FORMS:
        return _OWN_FORMS[attr.name](content, language)
    if not isinstance(content, tuple):
        return str(content)
    pairs = cast("Sequence[tuple[str, Any]]", content)
    kind = _KINDS.get(attr.name)
    if kind is None:
        short = attr.name.partition(".")[2]
        kind = "ttnn::operations::matmul::" + "".join(
            part.upper() if part in ("1d", "dram") else part.capitalize()
            for part in short.split("_")
        )
    if attr.name == "ttnn.unary_with_param":
        return _activation(op, name, kind, pairs, language)
    fields = ((field, _text(op, name, value, language)) for field, value in pairs)
    return language.made(kind, fields)


def _reduction(op: ttnn.TTNNOp, keyword: str, language: Language) -> str:
    """How numbers are combined; those that are written over others are added or multiplied."""
    if keyword == "invalid":
        return language.none
    if "scatter" not in op.name:
        return f'"{keyword}"'
    if keyword not in _REDUCTIONS:
        refuse_to_legalize(
            op, f"ttnn.scatter adds or multiplies numbers of the same place, not '{keyword}'"
        )
    return f'"{_REDUCTIONS[keyword]}"'


_REDUCTIONS = {"sum": "add", "prod": "multiply"}


def _placement(content: Any, language: Language) -> str:
    kind, dim = content
    number = "" if dim is None else str(dim.value.data)
    if language.is_python:
        return f"ttnn.Placement{kind.capitalize()}({number})"
    return f"ttnn::distributed::MeshMapperConfig::{kind.capitalize()}{{{number}}}"


def _activation(
    op: ttnn.TTNNOp, name: str, kind: str, pairs: Sequence[tuple[str, Any]], language: Language
) -> str:
    first = language.name(f"ttnn::operations::unary::UnaryOpType::{str(pairs[0][1]).upper()}")
    more = [_text(op, name, value, language) for _, value in pairs[1:]]
    if not language.is_python:
        return f"{kind}{{{', '.join([first, *more])}}}"
    return f"{language.name(kind)}({', '.join([first, *(each[1:-1] for each in more)])})"


def _core_ranges(ranges: Any, language: Language) -> str:
    inner = "ttnn::CoreRange({{{}, {}}}, {{{}, {}}})"
    if language.is_python:
        inner = "ttnn.CoreRange(ttnn.CoreCoord({}, {}), ttnn.CoreCoord({}, {}))"
    found = ", ".join(inner.format(*each.start[:2], *each.end[:2]) for each in ranges)
    if language.is_python:
        return f"ttnn.CoreRangeSet([{found}])"
    return f"ttnn::CoreRangeSet{{{found}}}"


_OWN_FORMS: Mapping[str, Callable[[Any, Language], str]] = {
    "ttnn.core_range_set": _core_ranges,
    "ttnn.placement": _placement,
}
"""Attributes that are no structures with named fields."""


def compute_config_text(config: DeviceComputeConfig, language: Language) -> str:
    """`ttnn::WormholeComputeKernelConfig`, which Blackhole takes, too."""
    fidelity = language.name(f"MathFidelity::{config.math_fidelity.schema_name}")
    fields = [("math_fidelity", f"ttnn.{fidelity}" if language.is_python else fidelity)]
    flags = ("math_approx_mode", "fp32_dest_acc_en", "packer_l1_acc", "dst_full_sync_en")
    for flag in flags if language.is_python else ("fp32_dest_acc_en",):
        value = getattr(config, flag)
        if value is not None or not language.is_python:
            fields.append((flag, language.boolean(value)))
    return language.made("ttnn::WormholeComputeKernelConfig", fields)

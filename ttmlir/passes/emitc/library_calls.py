"""Calls of the ttnn library for operations that make their results, as those of 2026.

`library_arguments.py` says which functions and arguments there are, in C++ and in Python alike. Of
operations that it does not know both get, in this order: each operand but the device; each
parameter, in the order of the operation's form; the data type of the result where the operation
chooses it; the layout of a new tensor; the device; the memory of the result.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    BFloat16Type,
    DenseArrayBase,
    Float32Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    Signedness,
    StringAttr,
    TensorType,
    TupleType,
    bf16,
    f32,
    i1,
    i32,
)
from xdsl.ir import Attribute, Data

from ttmlir.dialects import emitc, tt, ttnn
from ttmlir.dialects.definition.ods import SEGMENTS, ODSOperation
from ttmlir.dialects.definition.table_ops import TableOperation
from ttmlir.dialects.ttnn.attrs import (
    CoreRangeSetAttr,
    MemoryConfigAttr,
    ShardSpecAttr,
    TTNNLayoutAttr,
)
from ttmlir.ir.constants import find_elements
from ttmlir.ir.rewriting import refuse_to_legalize
from ttmlir.ir.tensor_types import element_type, layout_of
from ttmlir.layout.data_format import ScalarType
from ttmlir.layout.enums import DataType, DeviceComputeConfig, KeywordEnum
from ttmlir.layout.tensor_layout import Grid, TensorLayout
from ttmlir.mlir.attributes import Elements, elements_attr, elements_of, raw_bytes, splat_bytes
from ttmlir.optable import late_forms
from ttmlir.passes.emitc.library_arguments import (
    CPP_NAMES,
    NAMES,
    Argument,
    arguments_of,
)

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


@dataclass(frozen=True)
class LibraryCall:
    """A call of the library."""

    function: str
    """Its path, as Python has it: `utils.x` are functions that stand beside the text."""
    arguments: Sequence[tuple[Argument, Attribute]]
    """Each argument with its value: an index is the operand with that number.

    Those that are not given are `language.none`.
    """
    template: Attribute | None = None
    """What C++ does not deduce."""


def call_of(op: ttnn.TTNNOp, language: Language) -> LibraryCall:
    """The call that an operation is."""
    name = op.name.removeprefix("ttnn.")
    arguments = _arguments_in(op, language)
    template = None
    if name == "embedding" and element_type(op.operands[1]) != bf16:
        name = "embedding_of_rows"
    known = NAMES.get(name)
    if not language.is_python:
        known = CPP_NAMES.get(name, known)
    if known is None:
        known = name
        if isinstance(op, TableOperation):
            known = op.DEFINITION.callee.removeprefix("ttnn::").replace("::", ".")
    if isinstance(op, ttnn.ConstantOp):
        element = cast("Any", find_elements(op).get_element_type())
        template = f32 if isinstance(element, AnyFloat) else _integer_type(element)
    elif name == "slice_dynamic":
        template = _opaque("uint32_t")
    function = known if known.startswith("utils.") else f"ttnn.{known}"
    return LibraryCall(function, arguments, None if language.is_python else template)


def _integer_type(type_: IntegerType | IndexType) -> Attribute:
    """What the host has for integers: those of 32 bits, with a sign or not."""
    unsigned = isinstance(type_, IntegerType) and type_.signedness.data is Signedness.UNSIGNED
    return _opaque("uint32_t" if unsigned else "int32_t")


def _arguments_in(op: ttnn.TTNNOp, language: Language) -> list[tuple[Argument, Attribute]]:
    groups = _operand_groups(op)
    name = op.name.removeprefix("ttnn.")
    named = arguments_of(name, is_known=isinstance(op, TableOperation))
    if named is None:
        named = _own_arguments(op)
    used = {each.source for each in named}
    found: list[tuple[Argument, Attribute]] = []
    for each in named:
        values: Sequence[Attribute]
        if each.source == "*":
            rest = [value for group, value in groups.items() if group not in (*used, "device")]
            values = [one for indices in rest for one in indices or (_opaque(language.none),)]
        elif each.source == "device" and _stays_on_host(op):
            values = (_opaque(language.none),)
        elif each.source in groups:
            values = groups[each.source] or (_opaque(language.none),)
        elif each.source == "value" and isinstance(op, ttnn.ConstantOp):
            values = (_elements(find_elements(op), language),)
        else:
            values = (_value(op, each, language),)
        if each.default and not language.is_python:
            values = [
                _opaque(each.default) if value == _opaque(language.none) else value
                for value in values
            ]
        found += [(each, value) for value in values]
    return found


def _stays_on_host(op: ttnn.TTNNOp) -> bool:
    """Whether a tensor is made that the library would move to the device that it is given."""
    if op.name not in ("ttnn.full", "ttnn.zeros", "ttnn.ones"):
        return False
    layout = layout_of(op.results[0].type)
    return layout is not None and layout.memory_space.is_system


def _operand_groups(op: ttnn.TTNNOp) -> dict[str, list[Attribute]]:
    """The numbers of the operands of each group."""
    number = 0
    found: dict[str, list[Attribute]] = {}
    for group in op.form().operands:
        count = len(op.group(group.name))
        found[group.name] = [_operand(number + index) for index in range(count)]
        number += count
    return found


def _own_arguments(op: ttnn.TTNNOp) -> Sequence[Argument]:
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
    return [Argument("", "*", "", ""), *(Argument(word, word, "", "") for word in words)]


def _value(op: ttnn.TTNNOp, argument: Argument, language: Language) -> Attribute:
    """What stands for a property, or for what is said of the first result."""
    source = argument.source
    layout = layout_of(op.results[0].type) if op.results else None
    if source == "true":
        return _opaque(language.true)
    attr = op.properties.get(source)
    if source == "shape" and attr is None and op.results:
        shape = cast("TensorType[Attribute]", op.results[0].type).get_shape()
        return _shape(shape, language)
    if source == "memory_config" and layout is not None:
        return _memory(op, layout, language)
    if source == "layout" and layout is not None:
        return _layout(layout, language)
    if source == "dtype" and layout is not None:
        wanted = _data_type(layout, language)
        if wanted == _opaque(language.none):
            keyword = layout.element.data_type.keyword
            refuse_to_legalize(op, f"ttnn has no data type {keyword}; bf16 and f32 are two it has")
        return _new_data_type(op, layout, language) if op.name == "ttnn.to_layout" else wanted
    if attr is None:
        return _opaque(language.none)
    if isinstance(attr, MemoryConfigAttr):
        return _opaque(_memory_config(attr, language))
    return _literal(op, argument, attr, language)


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
        named = [(_FIELDS.get(name, name), value) for name, value in fields]
        if not self.is_python:
            return f"{kind}{{{', '.join(f'.{name} = {value}' for name, value in named)}}}"
        return f"{self.name(kind)}({', '.join(f'{name}={value}' for name, value in named)})"

    def number(self, value: float) -> str:
        """A number; infinities and NaN have no literal in Python."""
        if self.is_python and isinstance(value, float) and not math.isfinite(value):
            return f'float("{value}")'
        return repr(value) if self.is_python else str(value)


_NAMESPACES = re.compile(
    r"^(ttnn::(operations::\w+|(experimental::)?prim)|tt::tt_(metal(::distributed)?|fabric))::"
)
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
"""Fields of configurations that the library spells otherwise."""


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
    encoding = getattr(op.results[0].type, "encoding", None)
    if isinstance(encoding, TTNNLayoutAttr) and isinstance(encoding.core_ranges, CoreRangeSetAttr):
        return _opaque(_memory_config(MemoryConfigAttr.of(encoding), language))
    buffer = "DRAM" if layout.memory_space.keyword == "dram" else "L1"
    spread = layout.memory_layout
    if not spread.is_sharded:
        return _opaque(_memory_text(buffer, "INTERLEAVED", None, language))
    # Layouts of 2025 are on cores that begin at the corner.
    rows, columns = layout.grid.shape[-2:]
    cores = _core_range((0, 0), (columns - 1, rows - 1), language)
    shards = _shards(_core_set([cores], language), layout.scalar_shard[-2:], language)
    return _opaque(_memory_text(buffer, spread.keyword.upper(), shards, language))


def _memory_config(config: MemoryConfigAttr, language: Language) -> str:
    """A `ttnn.MemoryConfig`, with the shards that it names."""
    buffer, spread = config.buffer_type.data, config.tensor_memory_layout.data
    spec, shards = config.shard_spec, None
    if isinstance(spec, ShardSpecAttr):
        cores = _core_ranges(spec.core_ranges.data, language)
        shards = _shards(cores, [extent.data for extent in spec.shape], language)
    return _memory_text(buffer.keyword.upper(), spread.keyword.upper(), shards, language)


def _memory_text(buffer: str, spread: str, shards: str | None, language: Language) -> str:
    parts = [f"ttnn::TensorMemoryLayout::{spread}", f"ttnn::BufferType::{buffer}"]
    last = ["None"] * language.is_python if shards is None else [shards]
    text = ", ".join([*map(language.name, parts), *last])
    return f"ttnn.MemoryConfig({text})" if language.is_python else f"ttnn::MemoryConfig{{{text}}}"


def _shards(cores: str, extents: Sequence[int], language: Language) -> str:
    """The `ttnn.ShardSpec` of shards of so many rows and columns on a set of cores."""
    orientation = language.name("tt::tt_metal::ShardOrientation::ROW_MAJOR")
    if language.is_python:
        shape = ", ".join(map(str, extents))
        return f"ttnn.ShardSpec({cores}, [{shape}], {orientation})"
    shape = _listed_numbers(extents, "array", language)
    return f"tt::tt_metal::ShardSpec({cores}, {shape}, {orientation})"


def _core_range(start: Sequence[int], end: Sequence[int], language: Language) -> str:
    corners = (f"{language.name('ttnn::CoreCoord')}({x}, {y})" for x, y in (start, end))
    return f"{language.name('ttnn::CoreRange')}({', '.join(corners)})"


def _elements(elements: Elements, language: Language) -> Attribute:
    """The numbers of a constant, those with fractions in 32 bits in C++."""
    if language.is_python:
        return _opaque(
            language.listed(language.number(each) for each in cast("Any", elements).get_values())
        )
    element = elements.get_element_type()
    if not isinstance(element, AnyFloat):
        return elements
    wide = TensorType(f32, elements.get_shape())
    data = splat_bytes(elements) or raw_bytes(elements)
    if isinstance(element, Float32Type):
        return elements_attr(wide, data)
    if isinstance(element, BFloat16Type):
        return elements_attr(wide, _with_zeros(data))
    return elements_of(wide, elements.get_values())


def _with_zeros(data: bytes | memoryview) -> bytes:
    """Floats of 16 bits as those of 32 bits that begin with the same bits."""
    data = bytes(data)
    wide = bytearray(2 * len(data))
    wide[2::4], wide[3::4] = data[::2], data[1::2]
    return bytes(wide)


def _literal(op: ttnn.TTNNOp, argument: Argument, attr: Attribute, language: Language) -> Attribute:
    """What stands for a parameter."""
    numbers = _numbers(attr)
    if isinstance(attr, ttnn.ShapeAttr):
        extents = [each.data for each in attr.shape.data]
        if language.is_python or not argument.kind:
            return _shape(extents, language)
        numbers = extents
    if numbers is not None:
        if argument.source == "padding" and op.name == "ttnn.conv_transpose2d":
            numbers = _sides_first(numbers)
        if argument.kind == "shape" and not language.is_python:
            # `ttnn::Shape` has no number that says that an extent follows from the others.
            numbers = cast("TensorType[Attribute]", op.results[0].type).get_shape()
        return _opaque(_listed_numbers(numbers, argument.kind, language))
    match attr:
        case ArrayAttr():
            items = [_text(op, argument.name, item, language) for item in attr.data]
            if not items and argument.default and not language.is_python:
                return _opaque(argument.default)
            kind = "" if language.is_python else _LISTS[argument.kind]
            return _opaque(kind + language.listed(items))
        case IntegerAttr() | FloatAttr():
            return _number(argument, attr, language)
        case _:
            return _opaque(_text(op, argument.name, attr, language))


def _number(
    argument: Argument, attr: IntegerAttr[Any] | FloatAttr[Any], language: Language
) -> Attribute:
    if isinstance(attr, FloatAttr):
        value = attr.value.data
        return _opaque(language.number(value)) if language.is_python else FloatAttr(value, f32)
    whole = attr.value.data
    if attr.type == i1:
        return _opaque(language.boolean(whole))
    if language.is_python:
        return _opaque(language.number(whole))
    is_filled = argument.source == "fill_value"
    return _opaque(_whole_number(whole)) if is_filled else IntegerAttr(whole, i32)


def _whole_number(value: int) -> str:
    """An `int` with the bits of a number."""
    if -(1 << 31) < value < 1 << 31:
        return str(value)
    return "INT32_MIN" if value == -(1 << 31) else f"static_cast<int32_t>({value})"


def _numbers(attr: Attribute) -> list[int] | None:
    """The integers of a list."""
    match attr:
        case DenseArrayBase():
            return [*cast("DenseArrayBase[Any]", attr).get_values()]
        case ArrayAttr():
            items = cast("Sequence[Any]", attr.data)
            if items and all(isinstance(item, IntegerAttr) for item in items):
                return [item.value.data for item in items]
            return None
        case _:
            return None


_LISTS = {
    "": "ttsl::SmallVector<int32_t>",
    "array": "std::array<uint32_t, {}>",
    "int_array": "std::array<int32_t, {}>",
    "ints": "ttsl::SmallVector<int32_t>",
    "longs": "ttsl::SmallVector<int64_t>",
    "numbers": "std::vector<int64_t>",
    "pairs": "ttsl::SmallVector<std::array<uint32_t, 2>>",
    "shape": "ttnn::Shape",
    "span": "std::vector<ttnn::operations::unary::EltwiseUnaryWithParam>",
    "unsigned": "ttsl::SmallVector<uint32_t>",
}
"""The types of lists in C++."""


def _listed_numbers(numbers: Sequence[int], kind: str, language: Language) -> str:
    items = [*map(str, numbers)]
    if kind == "pairs":
        pairs = zip(items[::2], items[1::2], strict=True)
        form = "({}, {})" if language.is_python else "{{{}, {}}}"
        items = [form.format(*pair) for pair in pairs]
    if language.is_python:
        return language.listed(items)
    inside = language.listed(items)
    if kind == "shape":
        return f"ttnn::Shape({inside})"
    return _LISTS[kind].format(len(items)) + inside


_KINDS: Mapping[str, str] = {
    "ttnn.unary_with_param": "ttnn::operations::unary::UnaryWithParam",
    "ttnn.conv2d_config": "ttnn::prim::Conv2dConfig",
    "ttnn.conv3d_config": "ttnn::experimental::prim::Conv3dConfig",
    "ttnn.conv2d_slice_config": "ttnn::operations::op_slicing::Op2DSliceConfig",
    "ttnn.core_range_set": "ttnn::CoreRangeSet",
    "ttnn.mesh_mapper_config": "tt::tt_metal::distributed::MeshMapperConfig",
    "ttnn.mesh_composer_config": "tt::tt_metal::distributed::MeshComposerConfig",
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
        case str():
            return _word(name, attr, language)
        case int():
            return language.boolean(attr) if isinstance(attr, bool) else str(attr)
        case StringAttr():
            return json.dumps(attr.data)
        case IntegerAttr() | FloatAttr():
            return language.number(cast("Any", attr).value.data)
        case KeywordEnum():
            return _text(op, name, attr.keyword.upper(), language)
        case Data():
            return _described(op, name, cast("Data[Any]", attr), language)
        case tuple():
            items = cast("tuple[Any, ...]", attr)
            return _listed(name, [_text(op, name, each, language) for each in items], language)
        case _:
            words = "Python" if language.is_python else "C++"
            refuse_to_legalize(
                cast("ODSOperation", op), f"attribute '{name}' has no form in {words}"
            )


def _word(name: str, word: str, language: Language) -> str:
    """An enumerator of a field; Python has some by names of their own."""
    if name == "slice_type" and language.is_python:
        return f"ttnn.{_SLICES[word]}"
    return language.name(f"{_WORDS[name]}::{word.upper()}") if name in _WORDS else word


def _listed(name: str, items: Sequence[str], language: Language) -> str:
    if name == "mesh_shape_override":
        return f"{language.name('ttnn::MeshShape')}({', '.join(items)})"
    return language.listed(items)


def _described(op: ttnn.TTNNOp, name: str, attr: Data[Any], language: Language) -> str:
    content = attr.data
    if isinstance(content, DataType):
        return _text(op, name, content, language)
    if isinstance(content, KeywordEnum):
        return _keyword(op, attr.name, content.keyword, language)
    if attr.name == "ttnn.core_coord":
        return f"{language.name('ttnn::CoreCoord')}({content[0]}, {content[1]})"
    if isinstance(content, Grid):
        rows, columns = content.shape
        return f"{language.name('ttnn::CoreCoord')}({columns}, {rows})"
    if attr.name in _OWN_FORMS:
        return _OWN_FORMS[attr.name](content, language)
    if not isinstance(content, tuple):
        return str(content)
    return _structure(op, name, attr, language)


def _keyword(op: ttnn.TTNNOp, kind: str, keyword: str, language: Language) -> str:
    """An enumerator of an attribute."""
    if kind.endswith("topology"):
        return language.name(f"tt::tt_fabric::Topology::{keyword.capitalize()}")
    if kind.endswith("reduce_type"):
        return _reduction(op, keyword, language)
    enumeration = "".join(part.capitalize() for part in kind.partition(".")[2].split("_"))
    return language.name(f"ttnn::{enumeration}::{keyword.upper()}")


def _structure(op: ttnn.TTNNOp, name: str, attr: Data[Any], language: Language) -> str:
    pairs = cast("Sequence[tuple[str, Any]]", attr.data)
    kind = _KINDS.get(attr.name)
    if kind is None:
        short = attr.name.partition(".")[2]
        kind = "ttnn::operations::matmul::" + "".join(
            part.upper() if part in ("1d", "dram") else part.capitalize()
            for part in short.split("_")
        )
    if attr.name == "ttnn.unary_with_param":
        return _activation(op, name, kind, pairs, language)
    given = {field: _text(op, field, value, language) for field, value in pairs}
    order = given if language.is_python else _ORDER.get(attr.name, "").split() or given
    return language.made(kind, ((field, given[field]) for field in order if field in given))


_WORDS = {
    "output_layout": "ttnn::Layout",
    "shard_layout": "ttnn::TensorMemoryLayout",
    "slice_type": "ttnn::operations::op_slicing::Op2DSliceConfig::SliceType",
}
"""The enumerations of fields."""
_SLICES = {
    "dram_height": "Conv2dDRAMSliceHeight",
    "dram_width": "Conv2dDRAMSliceWidth",
    "l1_full": "Conv2dL1Full",
}
_ORDER = {
    "ttnn.conv2d_config": (
        "weights_dtype activation deallocate_activation reallocate_halo_output "
        "config_tensors_in_dram act_block_h_override act_block_w_div reshard_if_not_optimal "
        "override_sharding_config shard_layout core_grid transpose_shards output_layout "
        "enable_act_double_buffer enable_weights_double_buffer enable_kernel_stride_folding"
    ),
}
"""The library's fields in C++, where it has others or others come first."""


def _reduction(op: ttnn.TTNNOp, keyword: str, language: Language) -> str:
    """How numbers are combined; those that are written over others are added or multiplied."""
    if keyword == "invalid":
        return language.none
    if "scatter" not in op.name:
        return f'"{keyword}"'
    if keyword in _REDUCTIONS:
        return f'"{_REDUCTIONS[keyword]}"'
    if language.is_python and op.name == "ttnn.rows_scatter" and keyword in EXTREMES:
        return f'"{keyword}"'
    refuse_to_legalize(
        op, f"ttnn.scatter adds or multiplies numbers of the same place, not '{keyword}'"
    )


_REDUCTIONS = {"sum": "add", "prod": "multiply"}
EXTREMES = ("max", "min")
"""How scripts of Python combine slices of the same place, too."""


def _placement(content: Any, language: Language) -> str:
    kind, dim = content
    number = str(dim.value.data) if kind == "shard" else ""
    if language.is_python:
        return f"ttnn.Placement{kind.capitalize()}({number})"
    return f"tt::tt_metal::distributed::MeshMapperConfig::{kind.capitalize()}{{{number}}}"


def _activation(
    op: ttnn.TTNNOp, name: str, kind: str, pairs: Sequence[tuple[str, Any]], language: Language
) -> str:
    first = language.name(f"ttnn::operations::unary::UnaryOpType::{str(pairs[0][1]).upper()}")
    more = [_text(op, name, value, language)[1:-1] for _, value in pairs[1:]]
    if language.is_python:
        return f"{language.name(kind)}({', '.join([first, *more])})"
    if name.endswith("activations"):
        kind = kind.replace("Unary", "EltwiseUnary")
    more = [f"{each}f" for each in more if each]
    return f"{kind}{{{', '.join([first, *more])}}}"


def _core_ranges(ranges: Any, language: Language) -> str:
    found = [_core_range(each.start[:2], each.end[:2], language) for each in ranges]
    return _core_set(found, language)


def _core_set(found: Sequence[str], language: Language) -> str:
    if language.is_python:
        return f"ttnn.CoreRangeSet([{', '.join(found)}])"
    if len(found) == 1:
        return f"ttnn::CoreRangeSet({found[0]})"
    listed = f"(std::vector<ttnn::CoreRange>{language.listed(found)})" if found else "{}"
    return f"ttnn::CoreRangeSet{listed}"


_OWN_FORMS: Mapping[str, Callable[[Any, Language], str]] = {
    "ttnn.core_range_set": _core_ranges,
    "ttnn.placement": _placement,
}
"""Attributes that are no structures with named fields."""


def compute_config_text(config: DeviceComputeConfig, language: Language) -> str:
    """`ttnn::WormholeComputeKernelConfig`, which Blackhole takes, too."""
    fidelity = language.name(f"tt::tt_metal::MathFidelity::{config.math_fidelity.schema_name}")
    fields = [("math_fidelity", fidelity)]
    for flag in ("math_approx_mode", "fp32_dest_acc_en", "packer_l1_acc", "dst_full_sync_en"):
        value = getattr(config, flag)
        if value is not None:
            fields.append((flag, language.boolean(value)))
    kind = "WormholeComputeKernelConfig" if language.is_python else "ComputeKernelConfig"
    return language.made(f"ttnn::{kind}", fields)

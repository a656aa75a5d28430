"""Calls of the ttnn library in C++ for operations that make their results, as those of 2026.

An argument is, in this order: each operand but the device, `std::nullopt` where an optional one is
absent; each parameter as a literal, in the order of the operation's form; the data type of the
result where the operation chooses it; the layout of a new tensor; the device; the memory of the
result. What is not said is left out at the end of the list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
    f32,
    i1,
    i32,
)
from xdsl.ir import Attribute, Data, Operation, SSAValue

from ttmlir.dialects import emitc, ttnn
from ttmlir.dialects.definition.ods import SEGMENTS, ODSOperation
from ttmlir.dialects.definition.table_ops import TableOperation
from ttmlir.ir.rewriting import refuse_to_legalize
from ttmlir.ir.tensor_types import layout_of
from ttmlir.layout.data_format import ScalarType
from ttmlir.layout.enums import DataType, DeviceComputeConfig, KeywordEnum
from ttmlir.layout.tensor_layout import TensorLayout
from ttmlir.mlir.attributes import elements_of
from ttmlir.optable import late_forms

_CALLEES = {
    "ttnn.get_device": "ttnn::DeviceGetter::getInstance",
    "ttnn.div": "ttnn::divide",
    "ttnn.pow_scalar": "ttnn::pow",
    "ttnn.clamp_tensor": "ttnn::clamp",
    "ttnn.slice_dynamic": "ttnn::slice",
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
_CHOOSES_DATA_TYPE = ("ttnn.typecast", "ttnn.bitcast_convert", "ttnn.to_layout")
_NULLOPT = "std::nullopt"


def call_making_results(
    op: ttnn.TTNNOp, operands: Sequence[SSAValue], convert: Callable[[Attribute], Attribute]
) -> Operation:
    """The call of the library for an operation; `convert` gives the types of C++."""
    arguments = _arguments(op)
    while arguments and arguments[-1] == _opaque(_NULLOPT):
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


def _arguments(op: ttnn.TTNNOp) -> list[Attribute]:
    form = op.form()
    number = 0
    arguments: list[Attribute] = []
    device: Attribute | None = None
    for group in form.operands:
        count = len(op.group(group.name))
        indices = [_operand(number + index) for index in range(count)]
        number += count
        if group.name == "device":
            device = indices[0] if indices else None
        else:
            arguments += indices or [_opaque(_NULLOPT)]
    for name in _parameter_names(op):
        arguments += _literals(op, name, op.properties.get(name))
    return arguments + _of_result(op, device)


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


def _of_result(op: ttnn.TTNNOp, device: Attribute | None) -> list[Attribute]:
    """Data type, layout, device and memory of the first result."""
    layout = layout_of(op.results[0].type) if op.results else None
    found = [] if device is None else [device]
    if layout is None or op.name == "ttnn.from_device":
        return found
    is_new = isinstance(op, ttnn.CreationOp) or (not op.operands[:-1] and device is not None)
    if op.name == "ttnn.to_layout":
        return [_layout(layout), _new_data_type(op, layout), _memory(layout), *found]
    before: list[Attribute] = []
    if is_new or op.name in _CHOOSES_DATA_TYPE or isinstance(op, ttnn.BinaryOp):
        before.append(_data_type(layout))
    if is_new:
        before.append(_layout(layout))
    return [*before, *found, _memory(layout)]


# --- Literals -------------------------------------------------------------------------------------


def _opaque(text: str) -> Attribute:
    return emitc.EmitC_OpaqueAttr(StringAttr(text))


def _operand(index: int) -> Attribute:
    return IntegerAttr.from_index_int_value(index)


def _data_type(layout: TensorLayout) -> Attribute:
    data_type = layout.element.data_type
    if isinstance(layout.element, ScalarType) and layout.element.keyword in ("si32", "i32"):
        data_type = DataType.SI32
    name = _DATA_TYPES.get(data_type)
    return _opaque(_NULLOPT if name is None else f"ttnn::DataType::{name}")


def _new_data_type(op: ttnn.TTNNOp, layout: TensorLayout) -> Attribute:
    """That of the result where the operand has another one."""
    before = layout_of(op.operands[0].type)
    is_same = before is None or _data_type(before) == _data_type(layout)
    return _opaque(_NULLOPT) if is_same else _data_type(layout)


def _layout(layout: TensorLayout) -> Attribute:
    return _opaque(f"ttnn::Layout::{'TILE' if layout.is_tiled else 'ROW_MAJOR'}")


def _memory(layout: TensorLayout) -> Attribute:
    if layout.memory_space.is_system:
        return _opaque(_NULLOPT)
    buffer = "DRAM" if layout.memory_space.keyword == "dram" else "L1"
    spread = layout.memory_layout
    name = spread.keyword.upper() if spread.is_sharded else "INTERLEAVED"
    return _opaque(
        f"ttnn::MemoryConfig{{ttnn::TensorMemoryLayout::{name}, ttnn::BufferType::{buffer}}}"
    )


def _literals(op: ttnn.TTNNOp, name: str, attr: Attribute | None) -> Sequence[Attribute]:
    """What stands for a parameter; elements are followed by their shape."""
    match attr:
        case None:
            return (_opaque(_NULLOPT),)
        case DenseIntOrFPElementsAttr():
            return (attr, _list(attr.get_shape()))
        case ttnn.ShapeAttr():
            extents = ", ".join(str(each.data) for each in attr.shape.data)
            return (_opaque(f"ttnn::Shape({{{extents}}})"),)
        case DenseArrayBase():
            return (_list([*cast("DenseArrayBase[Any]", attr).get_values()]),)
        case ArrayAttr():
            items = attr.data
            if all(isinstance(item, IntegerAttr) for item in items) and items:
                return (_list([cast("Any", item).value.data for item in items]),)
            return (_opaque("{" + ", ".join(_text(op, name, item) for item in items) + "}"),)
        case IntegerAttr() if attr.type != i1:
            return (IntegerAttr(attr.value.data, i32),)
        case FloatAttr():
            return (FloatAttr(attr.value.data, f32),)
        case IntegerAttr():
            return (_opaque("true" if attr.value.data else "false"),)
        case _:
            return (_opaque(_text(op, name, attr)),)


def _list(values: Sequence[int]) -> Attribute:
    """Integers that C++ text shows as `{1, 2}`."""
    return elements_of(TensorType(i32, [len(values)]), values) if values else _opaque("{}")


_KINDS: Mapping[str, str] = {
    "ttnn.unary_with_param": "ttnn::operations::unary::UnaryWithParam",
    "ttnn.conv2d_config": "ttnn::Conv2dConfig",
    "ttnn.conv3d_config": "ttnn::Conv3dConfig",
    "ttnn.conv2d_slice_config": "ttnn::Conv2dSliceConfig",
    "ttnn.core_range_set": "ttnn::CoreRangeSet",
    "ttnn.sdpa_program_config": "ttnn::operations::transformer::SDPAProgramConfig",
}
"""The types of configurations."""


def _text(op: ttnn.TTNNOp, name: str, attr: Any) -> str:
    """A literal of C++ for an attribute of the dialects, or for a field of one."""
    match attr:
        case ttnn.DeviceComputeConfigAttr():
            return compute_config_text(attr.data)
        case bool():
            return str(attr).lower()
        case int() | str():
            return str(attr)
        case StringAttr():
            return '"' + attr.data.replace("\\", "\\\\").replace('"', '\\"') + '"'
        case IntegerAttr() | FloatAttr():
            return str(cast("Any", attr).value.data)
        case DataType():
            return f"ttnn::DataType::{_DATA_TYPES[attr]}" if attr in _DATA_TYPES else _NULLOPT
        case KeywordEnum():
            return attr.keyword.upper()
        case Data():
            return _described(op, name, cast("Data[Any]", attr))
        case tuple():
            items = cast("tuple[Any, ...]", attr)
            return "{" + ", ".join(_text(op, name, each) for each in items) + "}"
        case _:
            refuse_to_legalize(cast("ODSOperation", op), f"attribute '{name}' has no form in C++")


def _described(op: ttnn.TTNNOp, name: str, attr: Data[Any]) -> str:
    content = attr.data
    if isinstance(content, DataType):
        return _text(op, name, content)
    if isinstance(content, KeywordEnum):
        kind = "".join(part.capitalize() for part in attr.name.partition(".")[2].split("_"))
        return f"ttnn::{kind}::{content.keyword.upper()}"
    if attr.name == "ttnn.core_coord":
        return f"ttnn::CoreCoord({content[0]}, {content[1]})"
    if attr.name == "ttnn.core_range_set":
        ranges = (
            f"ttnn::CoreRange({{{a.start[0]}, {a.start[1]}}}, {{{a.end[0]}, {a.end[1]}}})"
            for a in content
        )
        return f"{_KINDS[attr.name]}{{{', '.join(ranges)}}}"
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
        first = f"ttnn::operations::unary::UnaryOpType::{str(pairs[0][1]).upper()}"
        return f"{kind}{{{', '.join([first, *(_text(op, name, v) for _, v in pairs[1:])])}}}"
    fields = (f".{field} = {_text(op, name, value)}" for field, value in pairs)
    return f"{kind}{{{', '.join(fields)}}}"


def compute_config_text(config: DeviceComputeConfig) -> str:
    """`ttnn::WormholeComputeKernelConfig`, which Blackhole takes, too."""
    wide = str(bool(config.fp32_dest_acc_en)).lower()
    return (
        f"ttnn::WormholeComputeKernelConfig{{.math_fidelity = MathFidelity::"
        f"{config.math_fidelity.schema_name}, .fp32_dest_acc_en = {wide}}}"
    )

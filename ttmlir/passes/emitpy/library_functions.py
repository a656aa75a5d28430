"""What functions of the ttnn library in Python take and make, where operations say otherwise.

Types are named as in MLIR, functions as operations of ttnn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerType, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects import emitpy, ttnn
from ttmlir.ir.rewriting import refuse_to_legalize
from ttmlir.ir.tensor_types import element_type, layout_of
from ttmlir.layout.enums import DataType
from ttmlir.passes.emitc.library_calls import EXTREMES

_SMALL = {"ui8": "si32", "ui16": "si32"}
_COMPUTED_AS: Mapping[str, Mapping[str, str]] = {
    "avg_pool2d": {"f32": "bf16"},
    "bitwise_not": _SMALL,
    "concat": {"ui8": "si32"},
    "div": _SMALL,
    "gather": {"ui8": "si32"},
    "global_avg_pool2d": {"f32": "bf16"},
    "logical_right_shift": _SMALL,
    "maximum": _SMALL,
    "minimum": _SMALL,
    "remainder": _SMALL,
    "repeat": _SMALL,
    "reshape": _SMALL,
    "rows_gather": _SMALL,
    "rows_scatter": _SMALL,
    "slice": {"ui8": "si32"},
    "sort": {"ui8": "ui16"},
    "topk": _SMALL,
}
"""What elements are computed as where a function does not take their own type."""
_ONES = {"ui8": "255", "ui16": "65535"}
"""All bits, of integers that `bitwise_not` does not take."""
DATA_TYPES: Mapping[str, str] = {
    "ui8": "uint8",
    "ui16": "uint16",
    "ui32": "uint32",
    "si32": "int32",
    "i32": "int32",
    "f32": "float32",
    "bf16": "bfloat16",
}
"""Names of the library for element types."""
PAGES = 8
"""Rows of tables of pages are read in multiples of so many numbers."""


def _name(op: Operation) -> str:
    return op.name.removeprefix("ttnn.")


def _computed(op: Operation, value: SSAValue) -> str:
    element = str(element_type(value))
    return _COMPUTED_AS.get(_name(op), {}).get(element, element)


def taken_by(op: Operation, operand: SSAValue) -> str:
    """The element type that the library takes of a tensor."""
    # Parts that are joined are alike.
    return _computed(op, op.results[0] if _name(op) == "concat" else operand)


def made_by(op: Operation, number: int) -> str:
    """The element type that the library makes as a result."""
    name = _name(op)
    if name == "isfinite":
        return str(element_type(op.operands[0]))
    if name in ("sort", "topk") and number == 1:
        return "ui16" if str(element_type(op.operands[0])) == "bf16" else "ui32"
    return _computed(op, op.results[number])


def with_type(text: str, element: str) -> str:
    """The description of a tensor, of other elements."""
    shape, _, rest = text.partition("] ")
    return f"{shape}] {DATA_TYPES[element]} {rest.partition(' ')[2]}"


def data_type(element: str) -> Attribute:
    """The library's name of an element type."""
    return emitpy.opaque(f"ttnn.DataType.{DATA_TYPES[element].upper()}")


_Arguments = list[tuple[str, Attribute]]


def function_of(op: ttnn.TTNNOp, callee: str, arguments: _Arguments) -> tuple[str, _Arguments]:
    """The function of Python, and its arguments, where its own function is `callee`."""
    if _name(op) == "avg_pool2d" and _is_dilated(op):
        apart = emitpy.opaque(str([*cast("Any", op.properties["dilation"]).get_values()]))
        return "utils.average_dilated_windows", [*arguments, ("dilation", apart)]
    return _function_of(op, callee, arguments)


def _function_of(op: ttnn.TTNNOp, callee: str, arguments: _Arguments) -> tuple[str, _Arguments]:
    """The function by the types of what it takes."""
    name = _name(op)
    elements = [str(element_type(each)) for each in op.operands if _is_tensor(each)]
    first = elements[0] if elements else ""
    computed = _COMPUTED_AS.get(name, {}).get(first, first)
    few = [each for each in arguments if each[0] in ("", "memory_config")]
    if computed != first:
        dtype = data_type(computed)
        arguments = [(key, dtype if key == "dtype" else value) for key, value in arguments]
    _check(op, name)
    match name, computed:
        case "bitwise_not", "si32" if first in _ONES:
            return "ttnn.bitwise_xor", [few[0], ("", emitpy.opaque(_ONES[first])), *few[1:]]
        case "clamp", "ui32":
            return "utils.clamp_unsigned", arguments
        case "div", "ui32":
            return "utils.divide_unsigned", few
        case "div", "si32" | "i32":
            return "ttnn.div", [*arguments, ("rounding_mode", emitpy.opaque('"trunc"'))]
        case "reduce_bitwise_and" | "reduce_bitwise_or" | "reduce_bitwise_xor", _:
            operation = emitpy.opaque(repr(name.removeprefix("reduce_")))
            return "utils.reduce_bits", [*arguments, ("operation", operation)]
        case "sort" | "topk", "si32" | "i32" | "ui32":
            return f"utils.{name}_integers", arguments
        case "slice_dynamic", _:
            # The library would read the ends, too, which are known.
            extents = cast("TensorType[Attribute]", op.results[0].type).get_shape()
            kept = [each for each in arguments if each[0] != "ends"]
            sizes = emitpy.opaque(str([*extents]))
            return "utils.slice_at", [*kept[:2], ("sizes", sizes), *kept[2:]]
        case "remainder", _ if computed != "ui32":
            # `remainder` has the sign of the divisor.
            return "ttnn.fmod", few
        case _:
            is_extreme = name == "rows_scatter" and _reduction(arguments) in EXTREMES
            return "utils.rows_scatter_extremes" if is_extreme else callee, arguments


def _reduction(arguments: _Arguments) -> str:
    """How numbers of the same place are combined."""
    found = dict(arguments).get("reduce")
    return found.value.data.strip('"') if isinstance(found, emitpy.OpaqueAttr) else ""


FLOATS_ALONE = ("sign",)
"""Functions that the library computes wrongly of integers."""
_ACTIVATIONS = ("input_tensor_a_activations", "input_tensor_b_activations", "activations")


def activations_of(op: Operation) -> tuple[tuple[str, ...], ...]:
    """Functions that an operation of two tensors computes of each, and of its result.

    The library computes them of floats: here are those of integers, which are calls of their own.
    """
    found: list[tuple[str, ...]] = []
    if _ACTIVATIONS[0] not in op.properties:
        return ((), (), ())
    for value, words in zip((*op.operands[:2], *op.results[:1]), _ACTIVATIONS, strict=False):
        attr = op.properties.get(words)
        has_integers = _is_tensor(value) and isinstance(element_type(value), IntegerType)
        is_list = isinstance(attr, ArrayAttr) and has_integers
        found.append(tuple(map(_activation, cast("Any", attr).data)) if is_list else ())
    return tuple(found)


def _activation(attr: Any) -> str:
    """The function of an `unary_with_param`."""
    name = str(dict(attr.data)["op_type"])
    return {"logical_not_unary": "logical_not", "recip": "reciprocal"}.get(name, name)


def without_integers(op: Operation, arguments: _Arguments) -> _Arguments:
    """The arguments without functions that are calls of their own."""
    separate = {
        words for words, names in zip(_ACTIVATIONS, activations_of(op), strict=False) if names
    }
    none = emitpy.opaque("[]")
    return [(key, none if key in separate else value) for key, value in arguments]


def _check(op: ttnn.TTNNOp, name: str) -> None:
    """Refuse what the library would compute otherwise."""
    layout = layout_of(op.operands[0].type) if name in ("matmul", "linear") else None
    if layout is not None and layout.element.data_type in _INTEGERS:
        refuse_to_legalize(op, "the library multiplies no matrices of integers")


def _is_dilated(op: Operation) -> bool:
    """Whether windows of averages are, which the library has none of."""
    dilation = op.properties.get("dilation")
    if not isinstance(dilation, DenseArrayBase):
        return False
    if all(extent == 1 for extent in cast("DenseArrayBase[Any]", dilation).get_values()):
        return False
    padding = cast("DenseArrayBase[Any]", op.properties["padding"]).get_values()
    counts_margins = op.properties.get("count_include_pad")
    if any(padding) and not (counts_margins and cast("Any", counts_margins).value.data):
        refuse_to_legalize(
            op, "dilated windows of ttnn.avg_pool2d over margins take count_include_pad=true"
        )
    if "ceil_mode" in op.properties and cast("Any", op.properties["ceil_mode"]).value.data:
        refuse_to_legalize(op, "dilated windows of ttnn.avg_pool2d take ceil_mode=false")
    return True


_INTEGERS = (DataType.SI32, DataType.U32, DataType.U16, DataType.U8)


def _is_tensor(value: SSAValue) -> bool:
    return isinstance(value.type, TensorType)

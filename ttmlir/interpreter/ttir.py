"""The operations of ttir by the reference functions of their rows.

The runtime's faster kernels are not used, so that the two can be compared.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import cache
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects import ttir
from ttmlir.dialects.definition.row_ops import RowOperation
from ttmlir.interpreter import kernels, structure
from ttmlir.interpreter.execution import Execution, Function, constant_array, runtime_element
from ttmlir.interpreter.tensors import empty_tensor
from ttmlir.optable.row import Family, Row
from ttmlir.optable.window import image_parameters
from ttmlir.runtime.tensor import Array, ElementType, cast_rounding, convert


@cache
def _takes_shape(row: Row) -> bool:
    """True where the reference function needs the result's shape."""
    parameters = {parameter.name for parameter in row.ttir_signature}
    return "shape" in inspect.signature(row.reference).parameters and "shape" not in parameters


def _run_row(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    assert isinstance(op, RowOperation)
    row = op.ROW
    parameters: dict[str, Any] = op.parameters()
    if _takes_shape(row):
        parameters["shape"] = _shape(op.results[0])
    if row.takes_types:
        source, target = _element(op.operands[0]), _element(op.results[0])
        parameters |= {"source": source.host, "target": target.host}
    result = row.reference(np, *_inputs(op, operands), **parameters)
    if len(row.results) > 1:
        return tuple(map(np.asarray, result))
    return (_fit(op, row, np.asarray(result)),)


def _inputs(op: Operation, operands: Sequence[Any]) -> list[Any]:
    """The operands other than destinations; None for an absent optional one."""
    assert isinstance(op, RowOperation)
    destination = op.SIGNATURE.init
    inputs: list[Any] = []
    for value in op.SIGNATURE.operands:
        if value.name == destination:
            continue
        first, end = op.group_range(value.name)
        inputs += operands[first:end]
        if value.optional and first == end:
            inputs.append(None)
    return inputs


def _fit(op: Operation, row: Row, result: Array) -> Array:
    """The result in the shape of its type, where the operation leaves a choice."""
    type_ = cast("TensorType[Attribute]", op.results[0].type)
    if row.mnemonic == "typecast":
        result = _round(result, _element(op.results[0]))
    is_free = row.family is Family.WINDOW or result.shape == ()
    return result.reshape(type_.get_shape()) if is_free else result


def _round(result: Array, element: ElementType) -> Array:
    """What a cast makes of numbers: the program asks for the rounding."""
    rounding = cast_rounding(element)
    return result if rounding is None else rounding(convert(result, element.compute))


def _element(value: SSAValue) -> ElementType:
    element = runtime_element(cast("TensorType[Attribute]", value.type).element_type)
    assert element is not None, "tensors of the runtime have elements of its types"
    return element


def _shape(value: SSAValue) -> tuple[int, ...]:
    return tuple(cast("TensorType[Attribute]", value.type).get_shape())


# Windows: ttir says less than ttnn, since its images are not flattened.


def _conv2d(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    assert isinstance(op, RowOperation)
    parameters: dict[str, Any] = op.parameters()
    image, weight, bias = _inputs(op, operands)
    image = _pad(image.reshape(-1, *image.shape[-3:]), parameters, 0)
    batch, height, width, channels = image.shape
    result = op.ROW.reference(
        np,
        image,
        weight,
        bias,
        in_channels=channels,
        out_channels=_shape(op.results[0])[-1],
        batch_size=batch,
        input_height=height,
        input_width=width,
        kernel_height=weight.shape[-2],
        kernel_width=weight.shape[-1],
        padding_height=0,
        padding_width=0,
        **parameters,
    )
    return (_fit(op, op.ROW, result),)


def _max_pool2d(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    assert isinstance(op, RowOperation)
    parameters: dict[str, Any] = op.parameters()
    (image,) = _inputs(op, operands)
    height = parameters.pop("original_height", image.shape[-3])
    width = parameters.pop("original_width", image.shape[-2])
    image = image.reshape(-1, height, width, image.shape[-1])
    sides = {name: parameters.pop(f"padding_{name}") for name in _SIDES}
    is_even = sides["top"] == sides["bottom"] and sides["left"] == sides["right"]
    if not is_even:
        image = _pad(image, {f"padding_{k}": v for k, v in sides.items()}, _lowest(image))
        sides = dict.fromkeys(_SIDES, 0)
    batch, height, width, channels = image.shape
    result = op.ROW.reference(
        np,
        image,
        batch_size=batch,
        input_height=height,
        input_width=width,
        channels=channels,
        padding_height=sides["top"],
        padding_width=sides["left"],
        **parameters,
    )
    return (_fit(op, op.ROW, result),)


_SIDES = ("top", "bottom", "left", "right")


def _pad(image: Array, parameters: dict[str, Any], value: Any) -> Array:
    """The image with the margins of `padding_top` and so on, which are taken out of the dict."""
    top, bottom, left, right = (parameters.pop(f"padding_{side}") for side in _SIDES)
    margins = ((0, 0), (top, bottom), (left, right), (0, 0))
    if not any(count for margin in margins for count in margin):
        return image
    return np.pad(image, margins, constant_values=value)


def _lowest(image: Array) -> Any:
    return -np.inf if image.dtype.kind == "f" else np.iinfo(image.dtype).min


def _on_image(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    """A row whose parameters in ttnn repeat the extents of the image and the window."""
    assert isinstance(op, RowOperation)
    inputs = _inputs(op, operands)
    shapes = [array.shape for array in inputs if array is not None]
    values = image_parameters(op.parameters(), shapes, _shape(op.results[0]))
    parameters = {p.name: values[p.name] for p in op.ROW.parameters}
    return (_fit(op, op.ROW, op.ROW.reference(np, *inputs, **parameters)),)


# Structure.


def _constant(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    return (constant_array(op, op.properties["value"]),)


def _to_layout(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    return (operands[0],)


def _nothing(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    return ()


def _row_functions() -> dict[str, Function]:
    return {cls.name: _run_row for cls in ttir.TTIR.operations if issubclass(cls, RowOperation)}


FUNCTIONS: dict[str, Function] = {
    **_row_functions(),
    **kernels.FUNCTIONS,
    **structure.CONTROL,
    "ttir.alloc": empty_tensor,
    "ttir.avg_pool2d": _on_image,
    "ttir.constant": _constant,
    "ttir.conv2d": _conv2d,
    "ttir.conv_transpose2d": _on_image,
    "ttir.dealloc": _nothing,
    "ttir.max_pool2d": _max_pool2d,
    "ttir.to_layout": _to_layout,
}
"""Operations of ttir by name."""

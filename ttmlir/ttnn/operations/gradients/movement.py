"""Gradients of operations that move, take or multiply numbers along dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ttmlir.errors import ArgumentError
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.operation import (
    Operation,
    as_dimension,
    as_places,
    common_device,
    is_strict,
    require_tensor,
    store,
    table_of,
)
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.enums import DataType, Layout


def _require_four(*tensors: Tensor) -> None:
    """ArgumentError for other than four dimensions, which a card needs."""
    for each in tensors:
        if is_strict(each) and len(each.shape) != 4:
            raise ArgumentError(
                f"it takes tensors of four dimensions, not {each.shape}; use ttnn.unsqueeze_to_4D"
            )


def _concat(values: dict[str, Any]) -> list[Tensor | None]:
    """The parts of a gradient that belong to each of two tensors."""
    names = ("grad_tensor", "input_tensor_a", "input_tensor_b")
    grad, a, b = given = tuple(require_tensor(values[each], each) for each in names)
    device = common_device(*given)
    _require_four(*given)
    dim = as_dimension(values["dim"], len(grad.shape))
    shape = [*a.shape]
    shape[dim : dim + 1] = [a.shape[dim] + b.shape[dim]]
    if shape != [*grad.shape]:
        raise ArgumentError(
            f"tensors of {a.shape} and {b.shape} make {shape} along dimension {dim}, grad_tensor "
            f"has {grad.shape}"
        )
    parts = np.split(grad.array, [a.shape[dim]], dim)
    required = values["are_required_outputs"]
    outputs = (values["input_a_grad"], values["input_b_grad"])
    return [
        store(
            part,
            (grad,),
            device=device,
            memory_config=values["memory_config"],
            output_tensor=output,
            exact=True,
        )
        if wanted
        else None
        for part, output, wanted in zip(parts, outputs, required, strict=True)
    ]


def _repeat(values: dict[str, Any]) -> list[Tensor]:
    """The sum of a gradient over all copies of a tensor."""
    grad = require_tensor(values["grad_tensor"], "grad_tensor")
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    device = common_device(grad, tensor)
    _require_four(grad, tensor)
    counts = [int(count) for count in values["shape"]]
    if len(counts) != len(tensor.shape) or [
        count * extent for count, extent in zip(counts, tensor.shape, strict=True)
    ] != [*grad.shape]:
        raise ArgumentError(
            f"shape={counts} says how often each dimension of {tensor.shape} repeats; they do not "
            f"make {grad.shape} of grad_tensor"
        )
    pairs = [each for pair in zip(counts, tensor.shape, strict=True) for each in pair]
    total = grad.array.reshape(pairs).sum(axis=tuple(range(0, len(pairs), 2)))
    return [store(total, (grad,), device=device, memory_config=values["memory_config"])]


def _multiply_others(array: Array, dim: int) -> Array:
    """The products of all numbers along a dimension but each."""
    one = np.ones_like(np.take(array, [0], dim))
    last = array.shape[dim] - 1
    before = np.cumprod(np.concatenate([one, np.take(array, range(last), dim)], dim), dim)
    reverse = np.flip(array, dim)
    after = np.cumprod(np.concatenate([one, np.take(reverse, range(last), dim)], dim), dim)
    return before * np.flip(after, dim)


def _prod(values: dict[str, Any]) -> list[Tensor]:
    """The gradient of a product, times the product of all others."""
    grad = require_tensor(values["grad_tensor"], "grad_tensor")
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    device = common_device(grad, tensor)
    _require_four(tensor)
    wide, dim = tensor.array.astype(np.float64), values["dim"]
    try:
        scale = np.broadcast_to(grad.array, tensor.shape)
    except ValueError as error:
        raise ArgumentError(
            f"grad_tensor has {grad.shape}, which does not broadcast to {tensor.shape}; keep the "
            "dimension that was reduced with extent 1"
        ) from error
    with np.errstate(all="ignore"):
        if dim is None:
            others = _multiply_others(wide.reshape(-1), 0).reshape(wide.shape)
        else:
            others = _multiply_others(wide, as_dimension(dim, wide.ndim))
        result = scale * others
    return [store(result, (tensor,), device=device, memory_config=values["memory_config"])]


def _embedding(values: dict[str, Any]) -> Tensor:
    """For each row of a table, the sum of the gradients of the rows that were read from it."""
    names = ("input_tensor", "weight_tensor", "output_gradient_tensor")
    indices, weight, grad = given = tuple(require_tensor(values[each], each) for each in names)
    device = common_device(*given)
    if is_strict(grad):
        _check_embedding(indices, grad, values["dtype"])
    rows, width = weight.array.reshape(-1, weight.shape[-1]).shape
    numbers = as_places(indices.array)
    if numbers.size and not 0 <= numbers.min() <= numbers.max() < rows:
        raise ArgumentError(
            f"indices from {numbers.min()} to {numbers.max()} into a table of {rows} rows"
        )
    if grad.array.size != numbers.size * width:
        raise ArgumentError(
            f"output_gradient_tensor has {grad.shape}; {numbers.size} indices into rows of {width} "
            f"numbers take Shape([1, 1, {numbers.size}, {width}])"
        )
    total = np.zeros((rows, width), np.float64)
    np.add.at(total, numbers.reshape(-1), grad.array.reshape(-1, width))
    return store(
        total.reshape(1, 1, rows, width),
        (grad,),
        device=device,
        dtype=values["dtype"],
        memory_config=values["memory_config"],
        output_tensor=values["output_tensor"],
    )


def _check_embedding(indices: Tensor, grad: Tensor, dtype: DataType | None) -> None:
    """ArgumentError for what a card's kernel does not read."""
    if indices.layout is not Layout.ROW_MAJOR:
        raise ArgumentError(
            "indices are in rows; use ttnn.to_layout(indices, ttnn.ROW_MAJOR_LAYOUT)"
        )
    if indices.dtype not in (DataType.UINT32, DataType.BFLOAT16):
        raise ArgumentError(
            f"indices are uint32 or bfloat16, not {indices.dtype}; use ttnn.typecast(indices, "
            "ttnn.uint32)"
        )
    if grad.layout is not Layout.TILE or grad.dtype not in (DataType.BFLOAT16, DataType.BFLOAT8_B):
        raise ArgumentError(
            f"output_gradient_tensor is bfloat16 or bfloat8_b in tiles, not {grad.dtype} in "
            f"{grad.layout}; use ttnn.typecast and ttnn.to_layout"
        )
    if len(grad.shape) != 4 or list(grad.shape[:2]) != [1, 1]:
        raise ArgumentError(
            f"output_gradient_tensor has {grad.shape}; the first two of four extents must be 1"
        )
    if indices.shape[-1] % 32:
        raise ArgumentError(
            f"the last extent of the indices, {indices.shape[-1]}, is no multiple of 32; use "
            "ttnn.pad"
        )
    if dtype not in (None, grad.dtype):
        raise ArgumentError(f"dtype is that of output_gradient_tensor, {grad.dtype}, not {dtype}")


OPERATIONS: dict[str, Operation] = table_of(
    Operation(
        "concat_bw",
        _concat,
        "grad_tensor, input_tensor_a, input_tensor_b, dim=0, *, are_required_outputs=[True, True], "
        "memory_config=None, input_a_grad=None, input_b_grad=None",
    ),
    Operation("repeat_bw", _repeat, "grad_tensor, input_tensor, shape, *, memory_config=None"),
    Operation("prod_bw", _prod, "grad_tensor, input_tensor, *, dim=None, memory_config=None"),
    Operation(
        "embedding_bw",
        _embedding,
        "input_tensor, weight_tensor, output_gradient_tensor, *, dtype=None, memory_config=None, "
        "output_tensor=None",
    ),
)

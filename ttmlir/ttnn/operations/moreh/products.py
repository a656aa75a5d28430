"""Products of vectors and matrices and their gradients, as `ttnn.moreh_matmul`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ttmlir.errors import ArgumentError
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.arguments import (
    CONFIG,
    keep,
    keep_given,
    read_flags,
    take_tensors,
)
from ttmlir.ttnn.operations.elementwise.semantics import reference_of
from ttmlir.ttnn.operations.gradients.elementwise import sum_to
from ttmlir.ttnn.operations.operation import Operation, table_of
from ttmlir.ttnn.tensor.tensor import Tensor


def _multiply(a: Array, b: Array, names: str = "input and other") -> Array:
    """The product of matrices, whose other dimensions broadcast; ArgumentError for other shapes."""
    left, right = (each[None] if each.ndim == 1 else each for each in (a, b))
    if left.shape[-1] != right.shape[-2]:
        raise ArgumentError(
            f"{names} have {list(a.shape)} and {list(b.shape)}: the columns of the first are as "
            "many as the rows of the second"
        )
    try:
        np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    except ValueError as error:
        raise ArgumentError(
            f"{names} have {list(a.shape)} and {list(b.shape)}: the dimensions in front are the "
            "same, or 1"
        ) from error
    return reference_of("matmul")(np, left, right)


def _turn(array: Array) -> Array:
    return np.swapaxes(array, -1, -2)


def _add_bias(product: Array, bias: Tensor | None) -> Array:
    """The product plus a row, or one number; ArgumentError for other shapes."""
    if bias is None:
        return product
    if list(bias.shape) not in ([1, product.shape[-1]], [1, 1]):
        raise ArgumentError(
            f"bias has {bias.shape}; it is a row, Shape([1, {product.shape[-1]}]), or one number, "
            "Shape([1, 1]); use ttnn.reshape"
        )
    return product + bias.array


def _matmul(values: dict[str, Any]) -> Tensor:
    tensors = take_tensors(values, "input", "other", optional=("bias",))
    a, b = (each.array for each in tensors[:2])
    product = _multiply(
        _turn(a) if values["transpose_input"] else a, _turn(b) if values["transpose_other"] else b
    )
    return keep(_add_bias(product, values["bias"]), tensors[0], values)


def _bmm(values: dict[str, Any]) -> Tensor:
    a, b = take_tensors(values, "input", "mat2")
    return keep(_multiply(a.array, b.array, "input and mat2"), a, values)


def _linear(values: dict[str, Any]) -> Tensor:
    tensors = take_tensors(values, "input", "weight", optional=("bias",))
    product = _multiply(tensors[0].array, _turn(tensors[1].array), "input and weight.T")
    return keep(_add_bias(product, values["bias"]), tensors[0], values)


def _dot(values: dict[str, Any]) -> Tensor:
    a, b = take_tensors(values, "input_tensor_a", "input_tensor_b")
    _check_vectors(a, b)
    return keep(np.sum(a.array * b.array, axis=-1, keepdims=True), a, values)


def _check_vectors(*tensors: Tensor) -> None:
    first = tensors[0]
    if len(first.shape) != 4 or any(extent != 1 for extent in first.shape[:3]):
        raise ArgumentError(f"it takes vectors as Shape([1, 1, 1, n]), not {first.shape}")
    for each in tensors[1:]:
        if each.shape != first.shape:
            raise ArgumentError(f"vectors have one shape, not {first.shape} and {each.shape}")


def _dot_backward(values: dict[str, Any]) -> list[Tensor | None]:
    grad, a, b = take_tensors(values, "output_grad", "input", "other")
    _check_vectors(a, b)
    if grad.array.size != 1:
        raise ArgumentError(f"output_grad is one number, Shape([1, 1, 1, 1]), not {grad.shape}")
    return [
        keep_given(grad.array * other.array, own, values, output, wanted=False)
        for own, other, output in ((a, b, "input_grad"), (b, a, "other_grad"))
    ]


def _gradients(grad: Tensor, a: Tensor, b: Tensor) -> list[Array]:
    """Of the operands of a product of matrices; what was broadcast is summed."""
    expected = _multiply(a.array, b.array).shape
    if grad.array.shape != expected:
        raise ArgumentError(
            f"output_grad has {grad.shape}; the product has Shape({list(expected)})"
        )
    left, right = (each.array if each.array.ndim > 1 else each.array[None] for each in (a, b))
    return [
        sum_to(_multiply(grad.array, _turn(right)), left.shape).reshape(a.array.shape),
        sum_to(_multiply(_turn(left), grad.array), right.shape).reshape(b.array.shape),
    ]


def _store(
    found: Sequence[Array], models: Sequence[Tensor], values: dict[str, Any], outputs: Sequence[str]
) -> list[Tensor | None]:
    """Those gradients that are required, in the tensors that are given for them."""
    required = read_flags(values["are_required_outputs"], len(found))
    return [
        keep_given(gradient, model, values, output) if wanted else None
        for gradient, model, output, wanted in zip(found, models, outputs, required, strict=True)
    ]


def _matmul_backward(values: dict[str, Any]) -> list[Tensor | None]:
    grad, a, b = take_tensors(values, "output_grad", "input_a", "input_b")
    return _store(_gradients(grad, a, b), (a, b), values, ("input_a_grad", "input_b_grad"))


def _bmm_backward(values: dict[str, Any]) -> list[Tensor | None]:
    grad, a, b = take_tensors(values, "output_grad", "input", "mat2")
    return _store(_gradients(grad, a, b), (a, b), values, ("input_grad", "mat2_grad"))


def _linear_backward(values: dict[str, Any]) -> list[Tensor | None]:
    grad, tensor, weight, *bias = take_tensors(
        values, "output_grad", "input", "weight", optional=("bias",)
    )
    rows = tensor.array.reshape(-1, tensor.shape[-1])
    slopes = grad.array.reshape(-1, grad.shape[-1])
    if (len(rows), weight.shape[0]) != slopes.shape:
        raise ArgumentError(
            f"output_grad has {grad.shape}; of an input of {tensor.shape} and a weight of "
            f"{weight.shape} the result has {[*tensor.shape[:-1], weight.shape[0]]}"
        )
    found = [_multiply(grad.array, weight.array), _multiply(_turn(slopes), rows)]
    if not bias:
        values = {
            **values,
            "are_required_outputs": read_flags(values["are_required_outputs"], 3)[:2],
        }
        made = _store(found, (tensor, weight), values, ("input_grad", "weight_grad"))
        return [*made, None]
    total = slopes.sum(0, keepdims=True)
    if bias[0].array.size == 1:
        total = total.sum(keepdims=True)
    outputs = ("input_grad", "weight_grad", "bias_grad")
    return _store([*found, total], (tensor, weight, bias[0]), values, outputs)


_REQUIRED = "are_required_outputs=[True, True]"

OPERATIONS: dict[str, Operation] = table_of(
    Operation(
        "moreh_matmul",
        _matmul,
        "input, other, *, transpose_input=False, transpose_other=False, output=None, bias=None, "
        f"{CONFIG}",
    ),
    Operation("moreh_bmm", _bmm, f"input, mat2, *, output=None, {CONFIG}"),
    Operation("moreh_linear", _linear, f"input, weight, *, bias=None, output=None, {CONFIG}"),
    Operation(
        "moreh_dot",
        _dot,
        f"input_tensor_a, input_tensor_b, *, output=None, dtype=None, {CONFIG}",
    ),
    Operation(
        "moreh_dot_backward",
        _dot_backward,
        "output_grad, input, other, *, input_grad=None, other_grad=None, memory_config=None",
    ),
    Operation(
        "moreh_matmul_backward",
        _matmul_backward,
        f"output_grad, input_a, input_b, *, {_REQUIRED}, input_a_grad=None, input_b_grad=None, "
        f"{CONFIG}",
    ),
    Operation(
        "moreh_bmm_backward",
        _bmm_backward,
        f"output_grad, input, mat2, *, {_REQUIRED}, input_grad=None, mat2_grad=None, "
        "input_grad_memory_config=None, mat2_grad_memory_config=None, compute_kernel_config",
    ),
    Operation(
        "moreh_linear_backward",
        _linear_backward,
        "output_grad, input, weight, *, are_required_outputs=[True, True, True], bias=None, "
        "input_grad=None, weight_grad=None, bias_grad=None, input_grad_memory_config=None, "
        "weight_grad_memory_config=None, bias_grad_memory_config=None, compute_kernel_config",
    ),
)

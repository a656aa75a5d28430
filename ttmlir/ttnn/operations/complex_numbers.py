"""Operations on complex tensors, and their gradients."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ttmlir.errors import ArgumentError, ArgumentTypeError
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.operation import (
    Operation,
    common_device,
    require_floats,
    require_tensor,
    store,
    table_of,
)
from ttmlir.ttnn.operations.signature import spell_value
from ttmlir.ttnn.tensor.complex import ComplexTensor
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.enums import DataType

# --- Operands and results -------------------------------------------------------------------------


def complex_tensor(values: dict[str, Any]) -> ComplexTensor:
    """A pair of a real and an imaginary part."""
    return ComplexTensor(
        require_tensor(values["real"], "real"), require_tensor(values["imag"], "imag")
    )


def _require_complex(value: Any, name: str) -> ComplexTensor:
    """The value, with both parts on a device; errors for other values and shapes."""
    if not isinstance(value, ComplexTensor):
        raise ArgumentTypeError(
            f"{name} is a ComplexTensor, not {spell_value(value)}; use ttnn.complex_tensor"
        )
    common_device(value.real, value.imag)
    if value.real.shape != value.imag.shape:
        raise ArgumentError(
            f"{name} has a real part of {value.real.shape} and an imaginary part of "
            f"{value.imag.shape}; they have one shape"
        )
    return value


def _keep(array: Array, model: Tensor, values: dict[str, Any]) -> Tensor:
    return store(
        np.asarray(array),
        (model,),
        device=common_device(model),
        memory_config=values["memory_config"],
    )


def _keep_pair(numbers: Array, model: ComplexTensor, values: dict[str, Any]) -> ComplexTensor:
    return ComplexTensor(
        _keep(np.real(numbers), model.real, values), _keep(np.imag(numbers), model.imag, values)
    )


# --- Operations -----------------------------------------------------------------------------------


def _polar(numbers: Array) -> Array:
    """Of lengths, as real parts, and angles."""
    return np.real(numbers) * np.exp(1j * np.imag(numbers))


_REAL: dict[str, Callable[[Array], Array]] = {
    "abs": np.abs,
    "angle": np.angle,
    "imag": np.imag,
    "is_imag": lambda numbers: np.real(numbers) == 0,
    "is_real": lambda numbers: np.imag(numbers) == 0,
    "real": np.real,
}
"""Functions with real results."""
_COMPLEX: dict[str, Callable[[Array], Array]] = {
    "polar": _polar,
    "reciprocal": np.reciprocal,
}
"""Functions with complex results."""


def compute(values: dict[str, Any], name: str) -> Tensor | ComplexTensor:
    """A function of complex numbers, by the name of its operation."""
    given = _require_complex(values["input_tensor"], "input_tensor")
    if name in ("angle", "polar"):
        require_floats(given.real, given.imag)
    if name == "conj":
        # The real part is the same tensor.
        _require_signed(given.imag)
        return ComplexTensor(given.real, _keep(-given.imag.array, given.imag, values))
    with np.errstate(all="ignore"):
        if name in _REAL:
            return _keep(_REAL[name](given.numbers), given.real, values)
        return _keep_pair(_COMPLEX[name](given.numbers), given, values)


def _require_signed(tensor: Tensor) -> None:
    if not tensor.dtype.facts.is_float and tensor.dtype is not DataType.INT32:
        raise ArgumentError(f"{tensor.dtype} has no negative numbers; use ttnn.typecast")


# --- Gradients ------------------------------------------------------------------------------------


def _rotated(grad: Array, numbers: Array) -> Array:
    """Of the angle: a quarter turn from the number, divided by its length; 0 at 0."""
    return np.where(numbers == 0, 0, grad * 1j * numbers / np.square(np.abs(numbers)))


def _lengthened(grad: Array, numbers: Array) -> Array:
    """Of the length: the direction of the number; 0 at 0."""
    return np.where(numbers == 0, 0, grad * numbers / np.abs(numbers))


def _polar_gradient(grad: Array, numbers: Array) -> Array:
    direction = np.exp(1j * np.imag(numbers))
    length = np.real(grad * np.conj(direction))
    angle = np.real(grad * np.conj(1j * np.real(numbers) * direction))
    return length + 1j * angle


_GRADIENTS: dict[str, Callable[[Array, Array], Array]] = {
    "abs": _lengthened,
    "angle": _rotated,
    "polar": _polar_gradient,
    "reciprocal": lambda grad, numbers: grad * np.conj(-1 / np.square(numbers)),
}
"""Gradients by that of the result: its real part is with respect to real parts."""


def differentiate(values: dict[str, Any], name: str) -> list[ComplexTensor]:
    """The gradient of a function of complex numbers, by the name of its operation."""
    given = _require_complex(values["input_tensor"], "input_tensor")
    if name in _REAL:
        grad = require_tensor(values["grad_tensor"], "grad_tensor")
        common_device(grad, given.real)
        slope = grad.array.astype(np.float64)
    else:
        slope = _require_complex(values["grad_tensor"], "grad_tensor").numbers
    _require_one_shape(slope, given.numbers)
    if name in ("angle", "polar"):
        require_floats(given.real, given.imag)
    if name in ("imag", "real"):
        # A part is the gradient itself, the other 0.
        grad = values["grad_tensor"]
        zero = _keep(np.zeros_like(grad.array), grad, values)
        return [ComplexTensor(grad, zero) if name == "real" else ComplexTensor(zero, grad)]
    if name == "conj":
        grad = values["grad_tensor"]
        _require_signed(grad.imag)
        return [ComplexTensor(grad.real, _keep(-grad.imag.array, grad.imag, values))]
    with np.errstate(all="ignore"):
        return [_keep_pair(_GRADIENTS[name](slope, given.numbers), given, values)]


def _require_one_shape(grad: Array, *others: Array) -> None:
    for each in others:
        if each.shape != grad.shape:
            raise ArgumentError(
                f"grad_tensor has {list(grad.shape)}, an operand {list(each.shape)}; they have one "
                "shape"
            )


def differentiate_pair(
    values: dict[str, Any], name: str, operands: tuple[str, str], alpha: Any = 1.0
) -> list[ComplexTensor]:
    """Gradients of a sum, difference, product or quotient; `alpha` scales what is added."""
    grad = _require_complex(values["grad_tensor"], "grad_tensor")
    a, b = (_require_complex(values[each], each) for each in operands)
    slope, first, second = (each.numbers for each in (grad, a, b))
    _require_one_shape(slope, first, second)
    with np.errstate(all="ignore"):
        found = {
            "add": lambda: (slope, alpha * slope),
            "sub": lambda: (slope, -alpha * slope),
            "mul": lambda: (slope * np.conj(second), slope * np.conj(first)),
            "div": lambda: (
                slope * np.conj(1 / second),
                slope * np.conj(-first / np.square(second)),
            ),
        }[name]()
    return [_keep_pair(each, model, values) for each, model in zip(found, (a, b), strict=True)]


# --- Parts that are given one by one --------------------------------------------------------------


def _multiply_parts(values: dict[str, Any]) -> list[Tensor]:
    """The real and the imaginary part of a product."""
    a, b = (
        join_parts(values[f"{letter}_real"], values[f"{letter}_imag"], letter) for letter in "ab"
    )
    _require_one_shape(a.numbers, b.numbers)
    return parts_of(a.numbers * b.numbers, a.real)


def join_parts(real: Any, imag: Any, name: str) -> ComplexTensor:
    """Two operands as one; errors for what are no tensors of one shape."""
    pair = ComplexTensor(require_tensor(real, f"{name}_real"), require_tensor(imag, f"{name}_imag"))
    return _require_complex(pair, name)


def parts_of(numbers: Array, model: Tensor) -> list[Tensor]:
    """Real and imaginary parts, each as the model is kept."""
    return [
        _keep(each, model, {"memory_config": None}) for each in (np.real(numbers), np.imag(numbers))
    ]


_UNARY = "input_tensor, *, memory_config=None"

OPERATIONS: dict[str, Operation] = table_of(
    Operation("complex_tensor", complex_tensor, "real, imag"),
    (
        Operation(name, partial(compute, name=name), _UNARY)
        for name in ("angle", "conj", "imag", "is_imag", "is_real", "polar", "real")
    ),
    (
        Operation(f"{name}_bw", partial(differentiate, name=name), f"grad_tensor, {_UNARY}")
        for name in ("angle", "conj", "imag", "polar", "real")
    ),
    Operation("experimental.complex_mul", _multiply_parts, "a_real, a_imag, b_real, b_imag"),
)

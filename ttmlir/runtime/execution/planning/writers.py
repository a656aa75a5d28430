"""Elementwise operations as functions of NumPy that take the memory of their result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ttmlir.optable.shapes import broadcast_shape
from ttmlir.runtime.element import Array
from ttmlir.runtime.execution.planning.draft import mnemonic_of
from ttmlir.runtime.execution.planning.step import Step

Writer = Callable[..., Array]
"""Called with the operands, and, as `out`, the array to write the result into, or None."""

_NUMBERS, _FLOATS = "fiu", "f"

_FUNCTIONS: dict[str, tuple[np.ufunc, str]] = {
    "add": (np.add, _NUMBERS),
    "subtract": (np.subtract, _NUMBERS),
    "multiply": (np.multiply, _NUMBERS),
    "maximum": (np.maximum, _NUMBERS),
    "minimum": (np.minimum, _NUMBERS),
    "div": (np.divide, _FLOATS),
    "neg": (np.negative, _FLOATS),
    "abs": (np.absolute, _FLOATS),
    "sqrt": (np.sqrt, _FLOATS),
    "exp": (np.exp, _FLOATS),
    "tanh": (np.tanh, _FLOATS),
    "square": (np.square, _FLOATS),
}
"""By mnemonic, and the kinds of numbers for which they are what the row means."""


_FEW = 2048
"""Numbers up to which NumPy's `maximum` takes no longer than its `clip`, four times as fast."""


def _relu(dtype: np.dtype[Any]) -> Writer:
    zero, infinity = dtype.type(0), dtype.type(np.inf)

    def relu(x: Array, out: Array | None = None) -> Array:
        if x.size <= _FEW:
            return np.maximum(x, zero, out=out)
        return x.clip(zero, infinity, out=out)

    return relu


def _rsqrt(dtype: np.dtype[Any]) -> Writer:
    one = dtype.type(1)

    def rsqrt(x: Array, out: Array | None = None) -> Array:
        root = np.sqrt(x, out=out)
        return np.divide(one, root, out=root)

    return rsqrt


def _clamp(dtype: np.dtype[Any], *, min: float, max: float) -> Writer:
    low, high = dtype.type(min), dtype.type(max)

    def clamp(x: Array, out: Array | None = None) -> Array:
        return x.clip(low, high, out=out)

    return clamp


def _leaky_relu(dtype: np.dtype[Any], *, parameter: float) -> Writer | None:
    slope = dtype.type(parameter)
    if not 0 < slope <= 1:
        return None

    def leaky_relu(x: Array, out: Array | None = None) -> Array:
        return np.maximum(x, x * slope, out=out)

    return leaky_relu


_MAKERS: dict[str, Callable[..., Writer | None]] = {
    "relu": _relu,
    "rsqrt": _rsqrt,
    "clamp": _clamp,
    "leaky_relu": _leaky_relu,
}
"""What makes the function of floating point numbers for the parameters of a call."""


def writer_of(step: Step) -> Writer | None:
    """The function of an elementwise step; None if it has no fast one."""
    mnemonic = mnemonic_of(step)
    if mnemonic not in _FUNCTIONS and mnemonic not in _MAKERS:
        return None
    assert step.call is not None, "the step is a row"
    descs = [ref.desc for ref in step.call.operands if ref is not None]
    result = step.call.output.desc
    dtype = result.element.compute
    # NumPy returns numbers instead of arrays without dimensions.
    if not result.shape or any(desc.element.compute != dtype for desc in descs):
        return None
    if broadcast_shape(*(desc.shape for desc in descs)) != result.shape:
        return None
    if mnemonic in _MAKERS:
        parameters = step.call.parameters
        return _MAKERS[mnemonic](dtype, **parameters) if dtype.kind in _FLOATS else None
    function, kinds = _FUNCTIONS[mnemonic]
    return function if dtype.kind in kinds else None

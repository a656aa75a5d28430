"""What operations compute, as functions of torch, and how near results come to them.

A golden function takes torch tensors and the keywords of its operation, and swallows those that
change nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from inspect import signature
from typing import Any

import numpy as np

from ttmlir.ttnn.operations.elementwise.tables import Elementwise
from ttmlir.ttnn.operations.golden.layers import GOLDENS
from ttmlir.ttnn.operations.operation import Operation, operations_of
from ttmlir.ttnn.tensor.conversion import as_array, from_torch, to_torch
from ttmlir.ttnn.tensor.tensor import Tensor

Golden = Callable[..., Any]

_OTHER_NAMES = {
    "log_sigmoid": "logsigmoid",
    "sigmoid_accurate": "sigmoid",
    "swish": "silu",
    "floor_div": "floor_divide",
}
"""Operations that torch has under another name."""


def _kept(function: Golden, keywords: tuple[str, ...] = ()) -> Golden:
    """The function with those keywords that it takes."""

    def golden(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **{name: kwargs[name] for name in keywords if name in kwargs})

    return golden


def _torch() -> Any:
    return import_module("torch")


def _linear(a: Any, b: Any, *, bias: Any = None, activation: Any = None, **others: Any) -> Any:
    result = _product(a, b, **others)
    result = result if bias is None else result + bias
    return result if activation is None else getattr(_torch().nn.functional, activation)(result)


def _product(
    a: Any, b: Any, *, transpose_a: bool = False, transpose_b: bool = False, **_: Any
) -> Any:
    left = a.transpose(-1, -2) if transpose_a else a
    return left @ (b.transpose(-1, -2) if transpose_b else b)


def _layer_norm(
    x: Any,
    *,
    epsilon: float = 1e-12,
    weight: Any = None,
    bias: Any = None,
    residual_input_tensor: Any = None,
    **_: Any,
) -> Any:
    x = x if residual_input_tensor is None else x + residual_input_tensor
    parameters = (each if each is None else each.reshape(-1) for each in (weight, bias))
    return _torch().nn.functional.layer_norm(x, x.shape[-1:], *parameters, eps=epsilon)


def _rms_norm(
    x: Any, *, epsilon: float = 1e-12, weight: Any = None, bias: Any = None, **_: Any
) -> Any:
    result = x * _torch().rsqrt(x.pow(2).mean(-1, keepdim=True) + epsilon)
    result = result if weight is None else result * weight.reshape(-1)
    return result if bias is None else result + bias.reshape(-1)


_REDUCTIONS = "argmax max mean min prod std sum var"


def _add_product(
    added: Any, a: Any, b: Any, *, alpha: float = 1.0, beta: float = 1.0, **_: Any
) -> Any:
    return _torch().addmm(added, a, b, alpha=alpha, beta=beta)


def _reduction(name: str) -> Golden:
    def golden(
        x: Any, dim: Any = None, keepdim: bool = False, correction: bool = True, **_: Any
    ) -> Any:
        function = getattr(_torch(), name)
        own = {"correction": int(correction)} if name in ("var", "std") else {}
        return function(x, **own) if dim is None else function(x, dim, keepdim=keepdim, **own)

    return golden


def _scale_mask_softmax(x: Any, scale: Any = None, mask: Any = None, **_: Any) -> Any:
    x = x if scale is None else x * scale
    return _torch().softmax(x if mask is None else x + mask, -1)


def _pad(x: Any, padding: Any, value: float = 0.0, **_: Any) -> Any:
    sides = [int(side) for pair in reversed(list(padding)) for side in pair]
    return _torch().nn.functional.pad(x, sides, value=value)


def _softmax(x: Any, dim: int = -1, **_: Any) -> Any:
    return _torch().softmax(x, dim)


def _concat(tensors: Any, dim: int = 0, groups: int = 1, **_: Any) -> Any:
    parts = [each.chunk(groups, dim) for each in tensors]
    return _torch().cat([part for group in zip(*parts, strict=True) for part in group], dim)


def _split(x: Any, size: Any, dim: int = 0, **_: Any) -> Any:
    return _torch().split(x, size, dim)


def _squeeze(x: Any, dim: Any = None, **_: Any) -> Any:
    return x.squeeze() if dim is None else x.squeeze(dim)


def _logit(x: Any, eps: Any = None, **_: Any) -> Any:
    return _torch().logit(x, eps)


def _rdiv(x: Any, value: float, rounding_mode: Any = None, **_: Any) -> Any:
    return _torch().div(_torch().full_like(x, value), x, rounding_mode=rounding_mode)


_COMPOSITIONS: dict[str, Golden] = {
    **{name: _reduction(name) for name in _REDUCTIONS.split()},
    "addmm": _add_product,
    "concat": _concat,
    "layer_norm": _layer_norm,
    "linear": _linear,
    "logit": _logit,
    "matmul": _product,
    "pad": _pad,
    "rdiv": _rdiv,
    "rms_norm": _rms_norm,
    "scale_mask_softmax": _scale_mask_softmax,
    "softmax": _softmax,
    "split": _split,
    "squeeze": _squeeze,
}
"""Operations that are several of torch."""


def _of_one(torch: Any) -> dict[str, Callable[[Any], Any]]:
    """Functions of one operand."""
    return {
        "cbrt": lambda x: torch.sgn(x) * torch.pow(torch.abs(x), 1 / 3),
        "eqz": lambda x: torch.eq(x, 0),
        "gez": lambda x: torch.ge(x, 0),
        "gtz": lambda x: torch.gt(x, 0),
        "hardmish": lambda x: x * (x + 2).clamp(0, 2) / 2,
        "i1": lambda x: torch.special.i1(x),
        "identity": lambda x: x,
        "lez": lambda x: torch.le(x, 0),
        "ltz": lambda x: torch.lt(x, 0),
        "multigammaln": lambda x: torch.special.multigammaln(x, 4),
        "nez": lambda x: torch.ne(x, 0),
        "ones": lambda shape: torch.ones(tuple(shape)),
        "zeros": lambda shape: torch.zeros(tuple(shape)),
    }


def _of_two(torch: Any) -> dict[str, Callable[[Any, Any], Any]]:
    """Functions of two operands, or of one and a parameter."""
    return {
        "bias_gelu": lambda a, b: torch.nn.functional.gelu(a + b),
        "cumprod": lambda x, dim: torch.cumprod(x, dim),
        "cumsum": lambda x, dim: torch.cumsum(x, dim),
        "unsqueeze": lambda x, dim: torch.unsqueeze(x, dim),
        "expand": lambda x, shape: x.expand(*shape),
        "fill": lambda x, value: torch.full_like(x, value),
        "full": lambda shape, fill_value: torch.full(tuple(shape), fill_value),
        "heaviside": lambda x, value: torch.heaviside(x, torch.tensor(value, dtype=x.dtype)),
        "permute": lambda x, dims: x.permute(tuple(dims)),
        "prelu": lambda x, weight: torch.nn.functional.prelu(x, torch.as_tensor(weight)),
        "relu_max": lambda x, limit: x.clamp(0, limit),
        "relu_min": lambda x, limit: x.clamp(min=limit),
        "repeat": lambda x, counts: x.repeat(*counts),
        "reshape": lambda x, shape: x.reshape(tuple(shape)),
        "rpow": lambda x, exponent: torch.pow(exponent, x),
        "rsub": lambda a, b: b - a,
        "squared_difference": lambda a, b: torch.square(a - b),
        "typecast": lambda x, dtype: x,
    }


def _of_three(torch: Any) -> dict[str, Callable[[Any, Any, Any], Any]]:
    """Functions of three operands, or of one and two parameters."""
    return {
        "mac": lambda a, b, c: a * b + c,
        "repeat_interleave": lambda x, repeats, dim: x.repeat_interleave(repeats, dim),
        "transpose": lambda x, dim1, dim2: x.transpose(dim1, dim2),
    }


_MOVES = "to_layout to_memory_config to_device from_device clone reallocate from_torch to_torch"
"""Operations whose golden function gives its operand back."""


@cache
def _composed() -> dict[str, Golden]:
    """Functions that are not one of torch with the same arguments."""
    torch = _torch()
    found = {**_COMPOSITIONS, **GOLDENS}
    for table in (_of_one(torch), _of_two(torch), _of_three(torch)):
        for name, function in table.items():
            found[name] = _kept(function, tuple(signature(function).parameters))
    return {**found, **{name: found["identity"] for name in _MOVES.split()}}


def _in_torch(operation: Operation) -> Golden | None:
    """The function of torch of an operation on elements, which takes its parameters."""
    entry, torch = operation.entry, _torch()
    name = operation.name.removeprefix("experimental.").removesuffix("_")
    name = _OTHER_NAMES.get(name, name)
    for space in (torch, torch.nn.functional, torch.special):
        function = getattr(space, name, None)
        if callable(function):
            parameters = entry.parameters if isinstance(entry, Elementwise) else ()
            return _kept(function, tuple(own for _, own in parameters))
    return None


_attached: dict[str, Golden] = {}
"""Golden functions that programs attached."""


def get_golden_function(operation: Any) -> Golden:
    """The golden function of an operation; RuntimeError if it has none."""
    found: Golden | None = None
    if isinstance(operation, Operation):
        composed, name = _composed(), operation.name
        found = _attached.get(name) or composed.get(name) or composed.get(name.removesuffix("_"))
        found = found or _in_torch(operation)
    if found is None:
        raise RuntimeError(f"{operation!r} does not have a golden function")
    return found


def get_fallback_function(operation: Any) -> Golden:
    """The golden function for tensors of ttnn: they become torch's, its results tensors again."""
    golden = get_golden_function(operation)

    def fallback(*args: Any, **kwargs: Any) -> Any:
        given = [each for each in (*args, *kwargs.values()) if isinstance(each, Tensor)]
        if not given:
            raise RuntimeError("a fallback function takes at least one ttnn.Tensor")
        first = given[0]
        torch = _torch()

        def to_host(value: Any) -> Any:
            return to_torch(value) if isinstance(value, Tensor) else value

        def to_device(value: Any) -> Any:
            if isinstance(value, tuple | list):
                listed: list[Any] = [*value]
                return [to_device(each) for each in listed]
            if not torch.is_tensor(value):
                return value
            dtype = first.dtype if value.is_floating_point() else None
            return from_torch(value, dtype, layout=first.layout, device=first.device())

        keywords = {name: to_host(each) for name, each in kwargs.items()}
        return to_device(golden(*map(to_host, args), **keywords))

    return fallback


def attach_golden_function(
    operation: Operation, golden_function: Golden | None = None, **others: Any
) -> None:
    """Make a function the golden one of an operation."""
    if golden_function is not None:
        _attached[operation.name] = golden_function


def pearson_correlation_coefficient(
    expected_pytorch_result: Any, actual_pytorch_result: Any
) -> float:
    """The correlation of two arrays; 1 for equal ones, and for two that have no numbers but NaN."""
    expected, actual = (
        as_array(each).astype(np.float64).reshape(-1)
        for each in (expected_pytorch_result, actual_pytorch_result)
    )
    if np.array_equal(expected, actual, equal_nan=True):
        return 1.0
    nothing = [bool(np.isnan(each).all()) for each in (expected, actual)]
    if any(nothing):
        return 1.0 if all(nothing) else 0.0
    if bool(np.any(expected)) != bool(np.any(actual)):
        return 0.0
    expected, actual = (np.where(np.isfinite(each), each, 0.0) for each in (expected, actual))
    if np.array_equal(expected, actual):
        return 1.0
    with np.errstate(all="ignore"):
        return float(np.min(np.corrcoef(expected, actual)))


def comp_pcc(golden: Any, calculated: Any, pcc: float = 0.99) -> tuple[bool, float]:
    """Whether arrays correlate as they should, and how they do."""
    found = pearson_correlation_coefficient(golden, calculated)
    return found >= pcc, found


def comp_allclose(
    golden: Any, calculated: Any, rtol: float = 1e-5, atol: float = 1e-8
) -> tuple[bool, str]:
    """Whether all differences are at most atol + rtol * size, and the largest of each."""
    expected, actual = (as_array(each).astype(np.float64) for each in (golden, calculated))
    difference = np.abs(actual - expected)
    with np.errstate(all="ignore"):
        ratio = difference / np.abs(expected)
    text = f"Max ATOL Delta: {difference.max()}, Max RTOL Delta: {ratio.max()}"
    return bool(np.allclose(actual, expected, rtol, atol, equal_nan=True)), text


OPERATIONS: dict[str, Operation] = operations_of(
    get_fallback_function,
    *(get_golden_function, attach_golden_function, pearson_correlation_coefficient),
    *(comp_pcc, comp_allclose),
)

"""Quantized numbers: the operations of `quantized_decomposed`, which PT2E leaves, and ATen's.

Integers q stand for the numbers (q - zero point) * scale. Each function rounds as the one in
torch/ao/quantization/fx/_decomposed.py does.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from ttmlir.frontend.torch.elements import torch_package


def _quantize(x: Any, inverse: Any, zero: Any, low: Any, high: Any, dtype: Any) -> Any:
    torch = torch_package()
    return torch.clamp(torch.round(x.float() * inverse) + zero, low, high).to(dtype)


def _quantize_per_tensor(x: Any, scale: Any, zero: Any, low: Any, high: Any, dtype: Any) -> Any:
    inverse = 1.0 / scale
    if not isinstance(scale, float):
        # A tensor of one number, of f64; torch multiplies with it as with a number.
        inverse, zero, low, high = (_number(each) for each in (inverse, zero, low, high))
    return _quantize(x, inverse, zero, low, high, dtype)


def _number(value: Any) -> Any:
    """A tensor of one number, which does not change the type that it is computed with."""
    return value.reshape(()).float() if isinstance(value, torch_package().Tensor) else value


def _dequantize_per_tensor(
    x: Any,
    scale: Any,
    zero: Any,
    low: Any,
    high: Any,
    dtype: Any,
    *,
    out_dtype: Any = None,
) -> Any:
    del low, high, dtype
    out_dtype = out_dtype or torch_package().float32
    return ((x.to(out_dtype) - _number(zero)) * _number(scale)).to(out_dtype)


def _along(parameter: Any, axis: int, x: Any) -> Any:
    shape = [1] * x.dim()
    shape[axis] = -1
    return parameter.reshape(shape)


def _quantize_per_channel(
    x: Any, scales: Any, zeros: Any, axis: int, low: int, high: int, dtype: Any
) -> Any:
    inverse = 1.0 / _along(scales, axis, x)
    return _quantize(x, inverse, _along(zeros, axis, x), low, high, dtype)


def _dequantize_per_channel(
    x: Any,
    scales: Any,
    zeros: Any,
    axis: int,
    low: int,
    high: int,
    dtype: Any,
    *,
    out_dtype: Any = None,
) -> Any:
    del low, high, dtype
    shifted = x if zeros is None else x - _along(zeros, axis, x)
    return (shifted * _along(scales, axis, x)).to(out_dtype or torch_package().float32)


def _fake_quantize_per_channel(
    x: Any, scales: Any, zeros: Any, axis: int, low: int, high: int
) -> Any:
    torch = torch_package()
    scale, zero = _along(scales.float(), axis, x), _along(zeros.int(), axis, x)
    integer = torch.clamp(torch.round(x * (1.0 / scale)) + zero, low, high)
    return (integer - zero) * scale


def _quantize_per_group(
    x: Any, scales: Any, zeros: Any, low: int, high: int, dtype: Any, size: int
) -> Any:
    groups = x.reshape(-1, min(size, x.shape[-1]))
    scaled = groups.mul(1.0 / scales.reshape(-1, 1)).add(zeros.reshape(-1, 1))
    return scaled.round().clamp(low, high).to(dtype).reshape(x.shape)


def _dequantize_per_group(
    x: Any,
    scales: Any,
    zeros: Any,
    low: int,
    high: int,
    dtype: Any,
    size: int,
    output_dtype: Any,
) -> Any:
    del low, high, dtype
    groups = x.reshape(-1, min(size, x.shape[-1]))
    shifted = groups if zeros is None else groups - zeros.reshape(-1, 1)
    return (shifted * scales.reshape(-1, 1)).reshape(x.shape).to(output_dtype)


# -- scales and zero points from numbers ---------------------------------------------------------


def _as_parameters(scale: Any, zero: Any) -> tuple[Any, Any]:
    torch = torch_package()
    return scale.to(torch.float64), zero.to(torch.int64)


def _choose(x: Any, low: int, high: int, eps: float, dtype: Any) -> tuple[Any, Any]:
    """A scale and a zero point with which 0 is kept."""
    del dtype
    torch = torch_package()
    least, most = (each.reshape(1) for each in (x.amin().clamp(max=0.0), x.amax().clamp(min=0.0)))
    scale = torch.clamp(((most - least) / float(high - low)).float(), min=eps)
    zero = torch.clamp(low - torch.round(least / scale), low, high)
    return _as_parameters(scale, zero)


def _choose_symmetric(x: Any, low: int, high: int, eps: float, dtype: Any) -> tuple[Any, Any]:
    torch = torch_package()
    most = x.abs().amax().reshape(1)
    scale = torch.clamp((most / (float(high - low) / 2)).float(), min=eps)
    return _as_parameters(scale, torch.full((1,), 128 if dtype == torch.uint8 else 0))


# -- numbers rounded to those that few bits have, and kept in their type -----------------------


def _round_to_integers(x: Any, scale: Any, zero: Any, low: int, high: int) -> tuple[Any, Any]:
    """The nearest number that the integers from `low` to `high` stand for, and if it is inside."""
    torch = torch_package()
    inverse = 1.0 / scale
    integer = torch.round(x * inverse) + zero
    inside = torch.logical_and(integer >= low, integer <= high)
    return ((torch.clamp(integer, low, high) - zero) * scale).to(x.dtype), inside


def _by_switch(x: Any, scale: Any, zero: Any, enabled: Any, low: int, high: int) -> tuple[Any, Any]:
    """As above where a tensor of one number says so."""
    torch = torch_package()
    quantized, inside = _round_to_integers(x, scale, zero, low, high)
    is_on = enabled.reshape(-1)[0] != 0
    return torch.where(is_on, quantized, x), torch.logical_or(inside, torch.logical_not(is_on))


def _round_per_channel(
    x: Any, scale: Any, zero: Any, axis: int, low: int, high: int
) -> tuple[Any, Any]:
    return _round_to_integers(x, _along(scale, axis, x), _along(zero, axis, x), low, high)


def _convert(x: Any, dtype: Any) -> Any:
    return x.to(dtype)


def _as_in_torch(name: str) -> Callable[..., Any]:
    """torch's own function, which does not look at numbers."""

    def function(*args: Any, **keywords: Any) -> Any:
        home = import_module("torch.ao.quantization.fx._decomposed")
        return getattr(home, name)(*args, **keywords)

    return function


_OF_TORCH = (
    *("_choose_qparams_per_token_asymmetric_impl", "choose_qparams_per_token"),
    *("choose_qparams_per_token_asymmetric", "dequantize_per_token", "quantize_per_token"),
)


DECOMPOSITIONS: dict[str, Callable[..., Any]] = {
    **{f"quantized_decomposed.{name}": _as_in_torch(name) for name in _OF_TORCH},
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams": _by_switch,
    "fake_quantize_per_channel_affine_cachemask": _round_per_channel,
    "fake_quantize_per_tensor_affine_cachemask": _round_to_integers,
    "quantized_decomposed.choose_qparams": _choose,
    "quantized_decomposed.choose_qparams_symmetric": _choose_symmetric,
    "quantized_decomposed.convert_element_type": _convert,
    "quantized_decomposed.dequantize_per_channel": _dequantize_per_channel,
    "quantized_decomposed.dequantize_per_channel_group": _dequantize_per_group,
    "quantized_decomposed.dequantize_per_tensor": _dequantize_per_tensor,
    "quantized_decomposed.fake_quant_per_channel": _fake_quantize_per_channel,
    "quantized_decomposed.quantize_per_channel": _quantize_per_channel,
    "quantized_decomposed.quantize_per_channel_group": _quantize_per_group,
    "quantized_decomposed.quantize_per_tensor": _quantize_per_tensor,
}
"""Functions in torch by the names of operations."""

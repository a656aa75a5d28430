"""Quantized numbers: the operations of `quantized_decomposed`, which PT2E leaves, and ATen's.

Integers q stand for the numbers (q - zero point) * scale. Each function rounds as the one in
torch/ao/quantization/fx/_decomposed.py does.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from ttmlir.errors import NotSupportedError
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


_SMALLEST_SCALE = 6.1e-5
"""Below which ATen keeps no scale."""


def _choose_as_aten(least: Any, most: Any, low: int, high: int, symmetric: bool) -> tuple[Any, Any]:
    """Scales and zero points of ranges, as in ATen/native/quantized/cpu/QuantUtils.h."""
    torch = torch_package()
    if symmetric:
        below, above = (high - low) // 2 + 1, (high - low) // 2
        scale = torch.maximum((least / below).abs(), (most / above).abs())
        both = torch.logical_and(least < 0, most > 0)
        least, most = (
            torch.where(both, scale * -below, least),
            torch.where(both, scale * above, most),
        )
    least, most = torch.clamp(least, max=0.0), torch.clamp(most, min=0.0)
    scale = (most - least) / (high - low)
    scale = torch.where(torch.logical_or(scale == 0, torch.isinf(1 / scale)), 0.1, scale)
    factor = torch.clamp(_SMALLEST_SCALE / scale, min=1.0)
    least, most = least * factor, most * factor
    scale = torch.clamp(scale, min=_SMALLEST_SCALE)
    from_low, from_high = low - least / scale, high - most / scale
    is_low_better = abs(low) - (least / scale).abs() < abs(high) - (most / scale).abs()
    zero = torch.where(is_low_better, from_low, from_high)
    if symmetric:
        zero = torch.where(torch.logical_and(least < 0, most > 0), (low + high) / 2, zero)
    return scale, torch.round(torch.clamp(zero, low, high)).to(torch.int32)


def _observe(
    x: Any,
    observer_on: Any,
    enabled: Any,
    least: Any,
    most: Any,
    scale: Any,
    zero: Any,
    rate: float,
    low: int,
    high: int,
    axis: int,
    per_channel: bool = False,
    symmetric: bool = False,
) -> tuple[Any, ...]:
    """Rounds to numbers of few bits, in a range that follows those of all batches so far."""
    torch = torch_package()
    if least.numel() == 0:
        raise NotSupportedError(
            "observers of channels take their size from the first batch: call the model once "
            "before it is compiled"
        )
    rows = x.movedim(axis, 0).reshape(x.shape[axis], -1) if per_channel else x.reshape(1, -1)
    is_on = observer_on.reshape(-1)[0] != 0
    found: list[Any] = []
    for kept, new in ((least, rows.amin(1)), (most, rows.amax(1))):
        new = new.reshape(kept.shape)
        moved = torch.where(torch.isinf(kept), new, kept + rate * (new - kept))
        found.append(torch.where(is_on, moved, kept))
    ends = [each.reshape(scale.shape) for each in found]
    new_scale, new_zero = _choose_as_aten(ends[0], ends[1], low, high, symmetric)
    chosen = enabled.reshape(-1)[0] != 0
    scale = torch.where(chosen, new_scale, scale)
    zero = torch.where(chosen, new_zero.to(zero.dtype), zero)
    along = (_along(scale, axis, x), _along(zero, axis, x)) if per_channel else (scale, zero)
    rounded, inside = _by_switch(x, *along, enabled, low, high)
    return rounded, inside, *found, scale, zero


def _round_per_channel(
    x: Any, scale: Any, zero: Any, axis: int, low: int, high: int
) -> tuple[Any, Any]:
    return _round_to_integers(x, _along(scale, axis, x), _along(zero, axis, x), low, high)


def _learnable(x: Any, scale: Any, zero: Any, low: int, high: int, factor: float = 1.0) -> Any:
    del factor
    rounded = torch_package().clamp(torch_package().round(zero), low, high)
    return _round_to_integers(x, scale, rounded, low, high)[0]


def _learnable_per_channel(
    x: Any, scale: Any, zero: Any, axis: int, low: int, high: int, factor: float = 1.0
) -> Any:
    return _learnable(x, _along(scale, axis, x), _along(zero, axis, x), low, high, factor)


def _learnable_backward(
    grad: Any, x: Any, scale: Any, zero: Any, low: int, high: int, factor: float = 1.0
) -> tuple[Any, Any, Any]:
    """Gradients of the numbers, of their scale and of their zero point."""
    torch = torch_package()
    # That of a tensor is rounded in another way than in the value.
    shifted = torch.trunc(torch.clamp(zero + 0.5, low, high))
    return _learned_from(grad, x, scale, shifted, low, high, factor)


def _learned_from(
    grad: Any, x: Any, scale: Any, shifted: Any, low: int, high: int, factor: float
) -> tuple[Any, Any, Any]:
    torch = torch_package()
    inverse = 1.0 / scale
    integer = torch.round(x * inverse) + shifted
    below, above = integer < low, integer > high
    is_outside = torch.logical_or(below, above)
    error = ((integer - shifted) * scale - x) * inverse
    of_scale = torch.where(below, low - shifted, torch.where(above, high - shifted, error))
    of_zero = torch.where(is_outside, -scale, 0.0)
    sums = [
        (each * grad * factor).sum_to_size(scale.shape).reshape(-1) for each in (of_scale, of_zero)
    ]
    return torch.where(is_outside, 0.0, grad), *sums


def _learnable_per_channel_backward(
    grad: Any, x: Any, scale: Any, zero: Any, axis: int, low: int, high: int, factor: float = 1.0
) -> tuple[Any, Any, Any]:
    rounded = torch_package().clamp(torch_package().round(zero), low, high)
    along = _along(scale, axis, x), _along(rounded, axis, x)
    return _learned_from(grad, x, *along, low, high, factor)


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
    "_fake_quantize_learnable_per_channel_affine": _learnable_per_channel,
    "_fake_quantize_learnable_per_channel_affine_backward": _learnable_per_channel_backward,
    "_fake_quantize_learnable_per_tensor_affine": _learnable,
    "_fake_quantize_learnable_per_tensor_affine_backward": _learnable_backward,
    "_fused_moving_avg_obs_fq_helper_functional": _observe,
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

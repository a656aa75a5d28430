"""Numbers rounded to those that few bits have, and kept in their type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttmlir.frontend.torch.elements import torch_package


def _quantize(x: Any, scale: Any, zero: Any, low: int, high: int) -> tuple[Any, Any]:
    """The nearest number that the integers from `low` to `high` stand for, and if it is inside."""
    torch = torch_package()
    inverse = 1.0 / scale
    integer = torch.round(x * inverse) + zero
    inside = torch.logical_and(integer >= low, integer <= high)
    return ((torch.clamp(integer, low, high) - zero) * scale).to(x.dtype), inside


def _by_switch(x: Any, scale: Any, zero: Any, enabled: Any, low: int, high: int) -> tuple[Any, Any]:
    """As above where a tensor of one number says so."""
    torch = torch_package()
    quantized, inside = _quantize(x, scale, zero, low, high)
    is_on = enabled.reshape(-1)[0] != 0
    return torch.where(is_on, quantized, x), torch.logical_or(inside, torch.logical_not(is_on))


def _per_channel(x: Any, scale: Any, zero: Any, axis: int, low: int, high: int) -> tuple[Any, Any]:
    shape = [1] * x.dim()
    shape[axis] = x.shape[axis]
    return _quantize(x, scale.reshape(shape), zero.reshape(shape), low, high)


DECOMPOSITIONS: dict[str, Callable[..., Any]] = {
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams": _by_switch,
    "fake_quantize_per_channel_affine_cachemask": _per_channel,
    "fake_quantize_per_tensor_affine_cachemask": _quantize,
}
"""Functions in torch by the names of operations."""

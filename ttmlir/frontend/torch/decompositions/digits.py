"""Divisors of whole numbers, and the parts and neighbours of real ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ttmlir.frontend.torch.elements import torch_package


def _promoted(x: Any, other: Any) -> tuple[Any, Any]:
    torch = torch_package()
    dtype = torch.result_type(x, other)
    return torch.broadcast_tensors(x.to(dtype), other.to(dtype))


def _gcd(x: Any, other: Any) -> Any:
    """The greatest common divisor, by Euclid's algorithm."""
    torch = torch_package()
    a, b = (each.abs() for each in _promoted(x, other))
    # Neighbours in Fibonacci's sequence take longest: 1.44 steps for each bit.
    for _ in range(math.ceil(1.45 * torch.iinfo(a.dtype).bits)):
        is_done = b == 0
        rest = torch.where(is_done, 0, torch.remainder(a, torch.where(is_done, 1, b)))
        a, b = torch.where(is_done, a, b), rest
    return a


def _lcm(x: Any, other: Any) -> Any:
    """The least common multiple; 0 if one number is."""
    torch = torch_package()
    a, b = _promoted(x, other)
    divisor = _gcd(a, b)
    return (torch.div(a, torch.clamp(divisor, min=1), rounding_mode="trunc") * b).abs()


_MANTISSA, _HALF, _BIAS, _EXPONENT = 0x807FFFFF - (1 << 32), 0x3F000000, 126, 0xFF
"""Of the bits of a float32: sign and fraction, those of 0.5, and the exponent with its offset."""


def _frexp(x: Any) -> tuple[Any, Any]:
    """Each number as one of [0.5, 1) times a power of 2."""
    torch = torch_package()
    wide = x.to(torch.float32)
    # Numbers that are too small for a full fraction are made larger.
    is_small = wide.abs() < 2.0**-126
    scaled = torch.where(is_small, wide * 2.0**24, wide)
    bits = scaled.view(torch.int32)
    exponent = ((bits >> 23) & _EXPONENT) - _BIAS - torch.where(is_small, 24, 0)
    fraction = ((bits & _MANTISSA) | _HALF).view(torch.float32)
    is_plain = torch.logical_and(wide != 0, torch.isfinite(wide))
    found = torch.where(is_plain, fraction, wide).to(x.dtype)
    return found, torch.where(is_plain, exponent, 0).to(torch.int32)


def _nextafter(x: Any, other: Any) -> Any:
    """The next number of the type from one towards another."""
    torch = torch_package()
    x, other = _promoted(x, other)
    whole = {4: torch.int32, 8: torch.int64, 2: torch.int16}[x.dtype.itemsize]
    bits = x.view(whole)
    away = torch.where((x < other) == (x > 0), 1, -1).to(whole)
    least = torch.ones_like(bits).view(x.dtype)
    found = torch.where(x == 0, torch.where(other > 0, least, -least), (bits + away).view(x.dtype))
    found = torch.where(x == other, other, found)
    return torch.where(torch.logical_or(x.isnan(), other.isnan()), torch.nan, found)


def _angle(x: Any) -> Any:
    """The angle of a number in the plane of complex ones; of a real one 0 or pi."""
    torch = torch_package()
    if x.is_complex():
        return torch.atan2(x.imag, x.real)
    real = x if x.is_floating_point() else x.to(torch.get_default_dtype())
    found = torch.where(real < 0, math.pi, torch.zeros_like(real))
    return torch.where(real.isnan(), real, found)


def _dist(x: Any, other: Any, p: float = 2.0) -> Any:
    """The norm of a difference."""
    return torch_package().linalg.vector_norm(x - other, p)


DECOMPOSITIONS: dict[str, Callable[..., Any]] = {
    "angle": _angle,
    "dist": _dist,
    "frexp": _frexp,
    "gcd": _gcd,
    "lcm": _lcm,
    "nextafter": _nextafter,
}
"""Functions in torch by the names of operations."""

"""Divisors of whole numbers, parts and neighbours of real ones, and products of matrices."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
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


# -- signs and exponents -----------------------------------------------------------------------


_BITS = {1: "int8", 2: "int16", 4: "int32", 8: "int64"}


def _signbit(x: Any) -> Any:
    torch = torch_package()
    if not x.is_floating_point():
        return x < 0 if x.dtype != torch.bool else torch.zeros_like(x)
    return x.view(getattr(torch, _BITS[x.dtype.itemsize])) < 0


def _copysign(x: Any, other: Any) -> Any:
    """The size of one number with the sign of another, that of zeros and NaN included."""
    torch = torch_package()
    if not hasattr(other, "dim"):
        other = torch.full((), float(other))
    dtype = torch.result_type(x, other)
    if not dtype.is_floating_point:
        dtype = torch.get_default_dtype()
    size = x.to(dtype).abs()
    return torch.where(_signbit(other.to(dtype)), -size, size)


def _ldexp(x: Any, other: Any) -> Any:
    # In two factors: one alone may be too large, or too small, for the type.
    torch = torch_package()
    half = torch.div(other, 2, rounding_mode="floor")
    return x * torch.exp2(half.to(torch.float32)) * torch.exp2((other - half).to(torch.float32))


def _rrelu(
    x: Any,
    noise: Any,
    lower: float = 0.125,
    upper: float = 1 / 3,
    training: bool = False,
    generator: Any = None,
) -> Any:
    torch = torch_package()
    if training:
        # It is random, and stays an operation that draws from a seed.
        return NotImplemented
    return torch.nn.functional.leaky_relu(x, (lower + upper) / 2), noise


# -- products and distances of matrices and vectors --------------------------------------------


_FEW_ROWS = 25
"""torch takes the product of matrices for more rows than these."""


def _addbmm(x: Any, batch1: Any, batch2: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    total = torch_package().bmm(batch1, batch2).sum(0)
    total = total if alpha == 1 else total * alpha
    return (x if beta == 1 else x * beta) + total if beta else total.expand_as(total)


def _trilinear(
    a: Any,
    b: Any,
    c: Any,
    expand1: Sequence[int],
    expand2: Sequence[int],
    expand3: Sequence[int],
    sumdim: Sequence[int],
    unroll_dim: int = 1,
) -> Any:
    """The sum over some dimensions of the product of three tensors, given those they lack."""
    expanded: list[Any] = []
    for tensor, dims in ((a, expand1), (b, expand2), (c, expand3)):
        for dim in sorted(dims):
            tensor = tensor.unsqueeze(dim)
        expanded.append(tensor)
    return (expanded[0] * expanded[2] * expanded[1]).sum(list(sumdim))


def _cdist(a: Any, b: Any, p: float, compute_mode: int | None = None) -> Any:
    """The distances of all rows from all rows, in the norm `p`."""
    torch = torch_package()
    rows = max(a.shape[-2], b.shape[-2])
    if p == 2 and compute_mode != 2 and (compute_mode == 1 or rows > _FEW_ROWS):
        squares = a.square().sum(-1, keepdim=True) + b.square().sum(-1).unsqueeze(-2)
        return torch.clamp(squares - 2 * (a @ b.transpose(-1, -2)), min=0).sqrt()
    return _norm(a.unsqueeze(-2) - b.unsqueeze(-3), p)


def _norm(difference: Any, p: float) -> Any:
    size = difference.abs()
    if p == 0:
        return (size != 0).to(difference.dtype).sum(-1)
    if p == 1:
        return size.sum(-1)
    if p == 2:
        return difference.square().sum(-1).sqrt()
    if math.isinf(p):
        return size.amax(-1)
    return size.pow(p).sum(-1).pow(1 / p)


def _pdist(x: Any, p: float = 2) -> Any:
    """The distances of each row from those after it."""
    torch = torch_package()
    first, second = torch.triu_indices(x.shape[0], x.shape[0], 1).unbind()
    return _norm(x[first] - x[second], p)


def _cdist_backward(gradient: Any, a: Any, b: Any, p: float, distance: Any) -> Any:
    """The gradient of the first rows."""
    slope = _norm_slope(a.unsqueeze(-2) - b.unsqueeze(-3), distance.unsqueeze(-1), p)
    return (gradient.unsqueeze(-1) * slope).sum(-2)


def _pdist_backward(gradient: Any, x: Any, p: float, distance: Any) -> Any:
    torch = torch_package()
    first, second = torch.triu_indices(x.shape[0], x.shape[0], 1).unbind()
    slope = _norm_slope(x[first] - x[second], distance.unsqueeze(-1), p)
    part = gradient.unsqueeze(-1) * slope
    return torch.zeros_like(x).index_add(0, first, part).index_add(0, second, -part)


def _norm_slope(difference: Any, norm: Any, p: float) -> Any:
    """How the norm of the last dimension changes with its elements; not at all where it is 0."""
    torch = torch_package()
    if p == 0:
        return torch.zeros_like(difference)
    sign = difference.sign()
    if p == 1:
        return sign
    size = difference.abs()
    if math.isinf(p):
        return torch.where(size == norm, sign, 0)
    slope = difference / norm if p == 2 else sign * size.pow(p - 1) / norm.pow(p - 1)
    return torch.where(torch.logical_or(norm == 0, sign == 0), 0, slope)


def _conv_tbc(x: Any, weight: Any, bias: Any, pad: int = 0) -> Any:
    """A convolution of (time, batch, channels)."""
    conv = torch_package().nn.functional.conv1d
    return conv(x.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad).permute(2, 0, 1)


def _grouped_mm(
    x: Any, weight: Any, offs: Any = None, bias: Any = None, out_dtype: Any = None
) -> Any:
    """Groups of rows, each times a matrix of its own: those of group i end before `offs[i]`.

    All rows are multiplied with one tall matrix, in which the matrices stand below each other; a
    row has its numbers at the place of its own matrix, and 0 at all others. Where there are fewer
    rows than matrices, each row takes its own.
    """
    torch = torch_package()
    if x.dim() != 2 or weight.dim() != 3 or offs is None:
        raise NotImplementedError(
            "grouped products take a matrix, a batch of matrices and the ends of groups of rows; "
            "write others as torch.bmm"
        )
    groups, depth, width = weight.shape
    position = torch.arange(x.shape[0]).unsqueeze(1)
    ends = offs.unsqueeze(0).to(torch.int64)
    is_after = position >= ends
    if x.shape[0] <= groups:
        number = torch.clamp(is_after.to(torch.int64).sum(1), max=groups - 1)
        found = torch.bmm(x.unsqueeze(1), weight.index_select(0, number)).squeeze(1)
        found = torch.where(is_after.narrow(1, groups - 1, 1), 0, found)
    else:
        begins = torch.cat(
            [torch.zeros_like(ends.narrow(1, 0, 1)), ends.narrow(1, 0, groups - 1)], 1
        )
        member = torch.logical_and(position >= begins, torch.logical_not(is_after))
        wide = torch.where(member.unsqueeze(2), x.unsqueeze(1), 0)
        found = wide.reshape(-1, groups * depth) @ weight.reshape(groups * depth, width)
    found = found if bias is None else found + bias
    return found if out_dtype is None else found.to(out_dtype)


DECOMPOSITIONS: dict[str, Callable[..., Any]] = {
    "angle": _angle,
    "dist": _dist,
    "frexp": _frexp,
    "gcd": _gcd,
    "lcm": _lcm,
    "nextafter": _nextafter,
    "copysign": _copysign,
    "ldexp": _ldexp,
    "rrelu_with_noise_functional": _rrelu,
    "signbit": _signbit,
    "_cdist_backward": _cdist_backward,
    "_cdist_forward": _cdist,
    "_grouped_mm": _grouped_mm,
    "_pdist_backward": _pdist_backward,
    "_pdist_forward": _pdist,
    "_trilinear": _trilinear,
    "addbmm": _addbmm,
    "conv_tbc": _conv_tbc,
    "transformers.grouped_mm_fallback": _grouped_mm,
}
"""Functions in torch by the names of operations."""

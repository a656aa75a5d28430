"""Fourier transforms, whole and in passes, against torch."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
import torch
from oracles.ttnn_oracle import draw

from ttmlir import ttnn

SEEDS = count()


def reals(shape: tuple[int, ...], low: float, high: float) -> Any:
    """Random numbers, others in each call."""
    return draw(shape, low, high, next(SEEDS))


def rows(values: Any, device: Any) -> Any:
    """A tensor of float32 in rows."""
    return ttnn.from_torch(values, ttnn.float32, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)


def parts(shape: tuple[int, ...], device: Any) -> tuple[Any, list[Any]]:
    """Complex numbers, and the tensors of their parts."""
    real, imag = (reals(shape, -1, 1) for _ in range(2))
    return torch.complex(real, imag), [rows(real, device), rows(imag, device)]


def joined(found: list[Any]) -> Any:
    """The complex numbers of a result."""
    return torch.complex(*(ttnn.to_torch(each) for each in found))


def factors(numbers: Any, length: int, whole: int) -> Any:
    """exp(-2 pi i n k / whole) for each number n and k below the length, in 64 bits."""
    angles = numbers.double()[:, None] * torch.arange(length) / whole
    return torch.polar(torch.ones_like(angles), -2 * torch.pi * angles)


def test_any_length(device: Any) -> None:
    """Rows of a prime number, of which a card takes a power of 2."""
    whole, given = parts((4, 37), device)
    assert torch.allclose(
        joined(ttnn.experimental.bluestein_fft(*given, 37)), torch.fft.fft(whole), atol=1e-5
    )
    real = joined(ttnn.experimental.bluestein_fft(given[0], 37))
    assert torch.allclose(real, torch.fft.fft(whole.real), atol=1e-5)
    with pytest.raises(RuntimeError, match=r"\[4, 37\] does not end in N=36"):
        ttnn.experimental.bluestein_fft(*given, N=36)
    with pytest.raises(RuntimeError, match="3 rows are no power of 2"):
        ttnn.experimental.bluestein_fft(rows(reals((3, 37), 0, 1), device), 37)


def test_passes(device: Any) -> None:
    """Rows are transformed, multiplied by factors of their numbers, and by a number."""
    whole, given = parts((8, 16), device)
    expected = torch.fft.fft(whole.cdouble())
    found = ttnn.experimental.fft_radix_pass(given[0], 16, output_scale=0.5)
    assert torch.allclose(joined(found), (0.5 * torch.fft.fft(whole.real)), atol=1e-5)
    found = ttnn.experimental.fft_radix_pass(*given, 16, 4, 2)
    turned = expected * factors(torch.arange(8) // 2 % 4, 16, 64)
    assert torch.allclose(joined(found), turned.cfloat(), atol=1e-5)
    assert torch.allclose(
        joined(ttnn.experimental.fft_radix_pass(given[0], 16, 4, 2)),
        (torch.fft.fft(whole.real.double()) * factors(torch.arange(8) // 2 % 4, 16, 64)).cfloat(),
        atol=1e-5,
    )
    for bad, message in (
        ({"P": 8}, "does not end in P=8"),
        ({"P": 16, "twiddle_N2": 3}, "twiddle_N2=3 is no power of 2"),
        ({"P": 16, "twiddle_N2": 8, "stride": 2}, "twiddle_N2=8 does not divide 4 rows"),
    ):
        with pytest.raises(RuntimeError, match=message):
            ttnn.experimental.fft_radix_pass(*given, **bad)


def test_two_passes_are_a_transform(device: Any) -> None:
    """Columns, factors, rows: as Cooley and Tukey divide a transform of 64 numbers."""
    whole, _ = parts((64,), device)
    matrix = whole.reshape(16, 4).T.contiguous()
    first = ttnn.experimental.fft_radix_pass(
        rows(matrix.real, device), rows(matrix.imag, device), 16
    )
    turned = joined(ttnn.experimental.apply_twiddles(*first, 16, 4)).T.contiguous()
    second = ttnn.experimental.fft(rows(turned.real, device), rows(turned.imag, device))
    assert torch.allclose(joined(second).T.reshape(64), torch.fft.fft(whole), atol=1e-5)


def test_factors(device: Any) -> None:
    """Rows begin anew after so many."""
    whole, given = parts((2, 8, 16), device)
    found = joined(ttnn.experimental.apply_twiddles(*given, 16, 4))
    expected = whole * factors(torch.arange(8) % 4, 16, 64)
    assert torch.allclose(found, expected.cfloat(), atol=1e-5)
    found = joined(ttnn.experimental.apply_twiddles_xl(*given, P=16, big_modulus=8, full_N=1024))
    expected = whole * factors(torch.arange(8), 16, 1024)
    assert torch.allclose(found, expected.cfloat(), atol=1e-5)
    with pytest.raises(RuntimeError, match="16 rows are no multiple of 32"):
        ttnn.experimental.apply_twiddles(*given, 16, 32)


def test_three_passes(device: Any) -> None:
    """A row of two million numbers, which are given and returned in pieces."""
    length = 1 << 21
    # A constant and a wave: three numbers of the result are not 0.
    places = torch.arange(length, dtype=torch.float64)
    whole = (torch.cos(2 * torch.pi * 5 * places / length) + 1).float()
    found = ttnn.experimental.fft_three_pass(rows(whole.reshape(2048, 1024), device), length)
    assert found[0].shape == [1, 1024, 32, 64]
    real = ttnn.to_torch(found[0]).flatten()
    assert (real.abs() > 1e3).nonzero().flatten().tolist() == [0, 5, length - 5]
    assert real[5].item() == pytest.approx(length / 2, rel=1e-6)
    with pytest.raises(RuntimeError, match="does not end in N3=1024"):
        ttnn.experimental.fft_three_pass(rows(whole.reshape(4096, 512), device), length)

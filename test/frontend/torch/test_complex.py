"""Complex numbers and Fourier transforms of torch, against torch in 128 bits."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import ttmlir

torch: Any = import_module("torch")
fft: Any = torch.fft
Function = Callable[[Any], Any]

torch.manual_seed(0)
Z = torch.randn(3, 8, dtype=torch.complex64)
TOLERANCE = 2e-6


def check(function: Function, z: Any = Z, tolerance: float = TOLERANCE) -> None:
    """Compile and compare, in relation to the largest number."""
    found, expected = ttmlir.compile(function, z)(z), function(z)
    wide = function(z.to(torch.complex128))
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    scale = float(wide.abs().max()) if wide.dtype != torch.bool else 1.0
    difference = found.to(torch.complex128) - wide.to(torch.complex128)
    assert float(difference.abs().max()) <= tolerance * scale


def written(z: Any) -> Any:
    """Slices and parts that are written in place."""
    y = torch.zeros(3, 8, dtype=z.dtype)
    y[:, :4] = z[:, :4] * 2
    y.real[0] = 3
    y.imag.mul_(2)
    return y


FUNCTIONS: dict[str, Function] = {
    "arithmetic": lambda z: 2 * z - (z + 1j) * z / (z - 3) + 1 / z,
    "conjugates": lambda z: z.conj() * z.mH.mT.resolve_conj(),
    "lazy signs": lambda z: z.conj().imag * 2 + (-z).conj().real,
    "parts": lambda z: torch.complex(z.imag, z.real + 1),
    "polar": lambda z: torch.polar(z.abs(), z.angle() * 2),
    "views": lambda z: torch.view_as_complex(torch.view_as_real(z).flip(0) * 2),
    "sizes": lambda z: torch.view_as_real(z).sum(-1) + z.abs() + z.angle(),
    "powers": lambda z: z**2 + z**3 + z**0.5 + z**-1 + z ** (1 + 2j) + z**2.5,
    "exponentials": lambda z: z.exp() + z.log() + z.sqrt() + z.rsqrt() + z.log2() + z.log10(),
    "near zero": lambda z: torch.expm1(z / 99) + torch.log1p(z / 99) + z.sigmoid() + z.sgn(),
    "angles": lambda z: z.sin() + z.cos() + z.tan() + z.sinh() + z.cosh() + z.tanh(),
    "inverse angles": lambda z: z.asin() + z.acos() + z.atan() + z.asinh() + z.acosh() + z.atanh(),
    "products": lambda z: z @ z.mH + torch.einsum("ij,kj->ik", z, z.conj()),
    "linear": lambda z: torch.nn.functional.linear(z, z, z[:, 0]),
    "convolution": lambda z: torch.nn.functional.conv1d(z[None], z[:2, None, :3].repeat(1, 3, 1)),
    "sums": lambda z: z.sum(1) + z.mean() + z.prod(1) + torch.vdot(z[0], z[1]),
    "running": lambda z: z.cumsum(0) + z.cumprod(1),
    "norms": lambda z: torch.linalg.norm(z) + z.var(1, correction=0) + z.std(),
    "comparisons": lambda z: (z == z.flip(1).flip(1)) & (z != 0) & ~torch.isnan(z) & z.isfinite(),
    "truth": lambda z: torch.isclose(z, z + 1e-9) & z.bool() & ~z.isinf() & (z * 0 == 0).any(),
    "choices": lambda z: torch.where(z.real > 0, z, 1j * z).masked_fill(z.imag > 1, 2j),
    "moves": lambda z: torch.cat([z.roll(2, 1), z.mT.reshape(3, 8)]).tril(1)[:, [5, 0, 3]],
    "lookups": lambda z: torch.nn.functional.embedding(torch.tensor([[2, 0], [1, 1]]), z),
    "windows": lambda z: z.unfold(1, 3, 2) + torch.nn.functional.pad(z, (1, 2))[:, :3, None],
    "writing": written,
    "promotion": lambda z: (
        z.real * z + torch.arange(8) - torch.full((8,), 1j) + z.to(torch.float32)
    ),
}


@pytest.mark.sampled(every=2)
@pytest.mark.filterwarnings("ignore:Casting complex values to real")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    """What torch computes in 128 bits."""
    check(FUNCTIONS[name])


WINDOW = torch.hann_window(16)


def spectrogram(z: Any) -> Any:
    """Of 32 samples in each row."""
    samples = torch.cat([z.real] * 4, -1)
    window = WINDOW.to(samples.dtype)
    return torch.stft(samples, 16, hop_length=4, window=window, return_complex=True)


TRANSFORMS: dict[str, Function] = {
    "fft": lambda z: fft.fft(z) + fft.ifft(z, norm="forward") + fft.fft(z.real, dim=1),
    "orders": lambda z: fft.fft(z, 5, dim=0)[:3] + fft.ifft(z, 7, dim=0, norm="ortho")[:3],
    "rfft": lambda z: fft.rfft(z.real) + fft.ihfft(z.imag, norm="ortho"),
    "irfft": lambda z: fft.irfft(z, 9) + fft.hfft(z, 9, norm="forward"),
    "fft2": lambda z: fft.fft2(z) + fft.ifft2(z),
    "rfft2": lambda z: fft.irfft2(fft.rfft2(z.real, norm="ortho") * 2, s=(3, 8)),
    "fftn": lambda z: fft.fftn(z.reshape(2, 3, 2, 2)) + fft.ifftn(z.reshape(2, 3, 2, 2)),
    "rfftn": lambda z: fft.irfftn(fft.rfftn(z.real.reshape(2, 3, 4)), s=(2, 3, 5)),
    "shifts": lambda z: fft.fftshift(z) + fft.ifftshift(z, dim=1) * fft.fftfreq(8),
    "stft": spectrogram,
    "istft": lambda z: torch.istft(
        spectrogram(z), 16, hop_length=4, window=WINDOW.to(z.real.dtype)
    ),
}


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name: str) -> None:
    """All lengths and norms."""
    check(TRANSFORMS[name])


def test_long_transforms() -> None:
    """With factors, and of a prime length; of real numbers with half of the products."""
    check(lambda z: fft.rfft(z.real), torch.randn(2, 360, dtype=torch.complex64))
    check(lambda z: fft.irfft(z, 521), torch.randn(1, 261, dtype=torch.complex64))
    real = ttmlir.compile(lambda x: fft.fft(x), torch.randn(3, 8)).text("ttir")
    assert real.count("ttir.matmul") == 2


def test_arguments_results_and_numbers_of_128_bits() -> None:
    """In containers, conjugates by a bit alone, and wide numbers with a warning."""
    w = torch.randn(5, 3, dtype=torch.complex64)

    def mix(inputs: dict[str, Any], w: Any) -> dict[str, Any]:
        return {"a": w @ inputs["z"], "b": inputs["z"].abs() * inputs["x"], "c": w.conj()}

    inputs = {"x": torch.randn(8), "z": Z}
    compiled = ttmlir.compile(mix, inputs, w)
    for each in (w, w.conj().resolve_conj().conj(), torch.randn(3, 5, dtype=w.dtype).mH):
        torch.testing.assert_close(compiled(inputs, each), mix(inputs, each))
    wide = Z.to(torch.complex128) * (1 + 1e-12)
    with pytest.warns(UserWarning, match="kept as f32 on the device"):
        compiled = ttmlir.compile(lambda z: z * z, wide)
    torch.testing.assert_close(compiled(wide), wide * wide, rtol=1e-14, atol=0)


def spin(z: Any) -> Any:
    """A branch, and a loop over rows."""
    scan: Any = import_module("torch._higher_order_ops.scan").scan
    large = torch.cond(
        z.abs().sum() > 3,
        lambda z: fft.fft(z * 1j).exp() * z.sin() / z.cos() - z.tan() + z.tanh() * z.cosh(),
        lambda z: z * 1,
        (z,),
    )
    zero = torch.zeros(8, dtype=z.dtype)
    last, rows = scan(lambda c, x: (c * 0.5j + x, c + x.conj()), zero, z, dim=0)
    return large.sum() + last.sum() + rows


def test_branches_and_loops() -> None:
    """Complex values are carried and chosen."""
    check(spin)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda z: torch.linalg.svdvals(z[:, :3]), "matrices of complex numbers have no algorithm"),
        (lambda z: torch.linalg.ldl_factor(z[:, :3]), "LDL factors are those of real matrices"),
        (
            lambda z: z.scatter_reduce(0, torch.tensor([[1]]), z, "prod"),
            "on complex numbers; .*compute with z.real and z.imag instead",
        ),
        (lambda z: torch.nn.functional.pad(z, (1, 1), value=1j), "pad with 0 and add the number"),
    ],
)
def test_refusals(function: Function, message: str) -> None:
    """At the line of the user."""
    with pytest.raises(ttmlir.CompilationError, match=message) as caught:
        ttmlir.compile(function, Z)
    assert "test_complex.py:" in str(caught.value)

"""Models with complex numbers inside, as libraries write them, against torch."""

from __future__ import annotations

import copy
import math
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import ttmlir

torch: Any = import_module("torch")
nn, fft = torch.nn, torch.fft


class Rotary(nn.Module):
    """Queries and keys turned by complex factors, as in Llama's first release and DeepSeek-V2."""

    def __init__(self) -> None:
        """Make parameters and buffers."""
        super().__init__()
        angles = torch.outer(torch.arange(9), 1e4 ** -(torch.arange(0, 14, 2) / 14))
        self.register_buffer("factors", torch.polar(torch.ones_like(angles), angles))

    def forward(self, query: Any, key: Any) -> Any:
        """The results of the layer."""
        factors = self.factors[2 : 2 + query.shape[1]].view(1, query.shape[1], 1, -1)
        pairs = [x.float().reshape(*x.shape[:-1], -1, 2) for x in (query, key)]
        turned = [torch.view_as_complex(pair) * factors for pair in pairs]
        return [torch.view_as_real(x).flatten(3).type_as(query) for x in turned]


class DiagonalStateSpace(nn.Module):
    """S4D: a Vandermonde product gives the kernel, a convolution by transforms the result."""

    def __init__(self) -> None:
        """Make parameters and buffers."""
        super().__init__()
        self.log_step = nn.Parameter(torch.rand(5))
        self.c = nn.Parameter(torch.randn(5, 4, dtype=torch.cfloat))
        self.log_a = nn.Parameter(torch.log(torch.full((5, 4), 0.5)))
        self.a_imag = nn.Parameter(math.pi * torch.arange(4).float().repeat(5, 1))
        self.d = nn.Parameter(torch.randn(5))

    def forward(self, x: Any) -> Any:
        """The results of the layer."""
        length = x.size(-1)
        a = -torch.exp(self.log_a) + 1j * self.a_imag
        step = a * torch.exp(self.log_step).unsqueeze(-1)
        c = self.c * (torch.exp(step) - 1.0) / a
        powers = torch.exp(step.unsqueeze(-1) * torch.arange(length))
        kernel = 2 * torch.einsum("hn,hnl->hl", c, powers).real
        product = fft.rfft(x, n=2 * length) * fft.rfft(kernel, n=2 * length)
        return fft.irfft(product, n=2 * length)[..., :length] + x * self.d.unsqueeze(-1)


class SpectralConvolution(nn.Module):
    """A layer of a Fourier neural operator: complex weights for the low frequencies."""

    def __init__(self) -> None:
        """Make parameters and buffers."""
        super().__init__()
        self.low = nn.Parameter(torch.rand(3, 4, 3, 3, dtype=torch.cfloat))
        self.high = nn.Parameter(torch.rand(3, 4, 3, 3, dtype=torch.cfloat))
        self.local = nn.Conv2d(3, 4, 1)

    def forward(self, x: Any) -> Any:
        """The results of the layer."""
        spectrum, modes = fft.rfft2(x), 3
        shape = (x.shape[0], 4, x.size(-2), x.size(-1) // 2 + 1)
        out = torch.zeros(*shape, dtype=torch.cfloat)
        for rows, weight in ((slice(modes), self.low), (slice(-modes, None), self.high)):
            part = spectrum[:, :, rows, :modes]
            out[:, :, rows, :modes] = torch.einsum("bixy,ioxy->boxy", part, weight)
        return nn.functional.gelu(fft.irfft2(out, s=x.shape[-2:]) + self.local(x))


class GlobalFilter(nn.Module):
    """GFNet: weights that are pairs are seen as complex ones."""

    def __init__(self) -> None:
        """Make parameters and buffers."""
        super().__init__()
        self.weight = nn.Parameter(torch.randn(8, 5, 6, 2))

    def forward(self, x: Any) -> Any:
        """The results of the layer."""
        spectrum = fft.rfft2(x, dim=(1, 2), norm="ortho") * torch.view_as_complex(self.weight)
        return fft.irfft2(spectrum, s=(8, 8), dim=(1, 2), norm="ortho")


class AdaptiveFilter(nn.Module):
    """AFNO: a network of blocks on real and imaginary parts of the spectrum."""

    def __init__(self) -> None:
        """Make parameters and buffers."""
        super().__init__()
        self.weight = nn.Parameter(torch.randn(2, 2, 3, 3))
        self.bias = nn.Parameter(torch.randn(2, 2, 3))

    def forward(self, x: Any) -> Any:
        """The results of the layer."""
        count, height, width, depth = x.shape
        spectrum = fft.rfft2(x, dim=(1, 2), norm="ortho").reshape(count, height, -1, 2, 3)

        def multiply(part: Any, number: int) -> Any:
            return torch.einsum("...bi,bio->...bo", part, self.weight[number])

        real = multiply(spectrum.real, 0) - multiply(spectrum.imag, 1) + self.bias[0]
        imag = multiply(spectrum.imag, 0) + multiply(spectrum.real, 1) + self.bias[1]
        kept = nn.functional.softshrink(torch.stack([real, imag], -1), 0.01)
        spectrum = torch.view_as_complex(kept).reshape(count, height, -1, depth)
        return fft.irfft2(spectrum, s=(height, width), dim=(1, 2), norm="ortho") + x


class MelSpectrogram(nn.Module):
    """The front end of Whisper."""

    def __init__(self) -> None:
        """Make parameters and buffers."""
        super().__init__()
        self.register_buffer("filters", torch.rand(10, 33))
        self.register_buffer("window", torch.hann_window(64))

    def forward(self, audio: Any) -> Any:
        """The results of the layer."""
        found = torch.stft(audio, 64, 16, window=self.window, return_complex=True)
        power = self.filters @ found[..., :-1].abs() ** 2
        decades = torch.clamp(power, min=1e-10).log10()
        return (torch.maximum(decades, decades.max() - 8.0) + 4.0) / 4.0


class FourierMixing(nn.Module):
    """FNet."""

    def forward(self, x: Any) -> Any:
        """The results of the layer."""
        return nn.functional.layer_norm(x + fft.fftn(x, dim=(1, 2)).real, (12,))


class Recurrence(nn.Module):
    """A linear recurrent unit that keeps a complex state between calls."""

    def __init__(self) -> None:
        """Make parameters and buffers."""
        super().__init__()
        self.decay, self.angle = nn.Parameter(torch.rand(5)), nn.Parameter(torch.rand(5))
        self.b = nn.Parameter(torch.randn(5, 4, dtype=torch.cfloat))
        self.c = nn.Parameter(torch.randn(4, 5, dtype=torch.cfloat))
        self.register_buffer("state", torch.zeros(5, dtype=torch.cfloat))

    def forward(self, inputs: Any) -> Any:
        """The results of the layer."""
        factor = torch.exp(torch.complex(-torch.exp(self.decay), torch.exp(self.angle)))
        state, found = self.state, []
        for x in inputs:
            state = factor * state + self.b @ x.to(torch.cfloat)
            found.append((self.c @ state).real)
        self.state.copy_(state)
        return torch.stack(found)


SHAPES: dict[Any, list[tuple[int, ...]]] = {
    Rotary: [(2, 5, 3, 14), (2, 5, 3, 14)],
    DiagonalStateSpace: [(2, 5, 17)],
    SpectralConvolution: [(2, 3, 9, 10)],
    GlobalFilter: [(2, 8, 8, 6)],
    AdaptiveFilter: [(2, 7, 8, 6)],
    MelSpectrogram: [(2, 200)],
    FourierMixing: [(2, 7, 12)],
}


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("kind", SHAPES)
def test_models(kind: Any, tmp_path: Path) -> None:
    """Compiled with weights inside, and loaded with weights outside."""
    torch.manual_seed(0)
    model, inputs = kind(), [torch.randn(shape) for shape in SHAPES[kind]]
    expected = model(*inputs)
    torch.testing.assert_close(ttmlir.compile(model, *inputs)(*inputs), expected)
    compiled = ttmlir.compile(model, *inputs, weights="arguments")
    torch.testing.assert_close(compiled(*inputs), expected)
    path = compiled.save(tmp_path / "model.ttnn")
    loaded = ttmlir.load(path, framework="torch", weights=model.state_dict())
    torch.testing.assert_close(loaded(*inputs), expected)


def test_bisection() -> None:
    """What torch computes at nodes of real numbers, and at the end, is compared."""
    torch.manual_seed(0)
    model, x = SpectralConvolution(), torch.randn(2, 3, 9, 10)
    report = ttmlir.compile(model, x).bisect(x)
    assert report.agrees
    assert report.levels[-1].compared > 1


def test_state(tmp_path: Path) -> None:
    """A call leaves complex numbers for the next one, from a file, too."""
    torch.manual_seed(0)
    model, x = Recurrence(), torch.randn(6, 4)
    compiled = ttmlir.compile(model, x)
    path = compiled.save(tmp_path / "recurrence.ttnn")
    loaded = ttmlir.load(path, framework="torch", weights=model.state_dict())
    other = copy.deepcopy(model)
    for _ in range(2):
        expected = other(x)
        torch.testing.assert_close(compiled(x), expected)
        torch.testing.assert_close(loaded(x), expected)


OPTIMIZERS: dict[str, dict[str, Any]] = {
    "AdamW": {"amsgrad": True},
    "Adagrad": {"initial_accumulator_value": 0.5},
}


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training(name: str) -> None:
    """Optimizers take complex parameters for pairs; models take the values back."""
    torch.manual_seed(0)
    x, y = torch.randn(2, 3, 6, 6), torch.randn(2, 4, 6, 6)
    model, trained = SpectralConvolution(), SpectralConvolution()
    trained.load_state_dict(model.state_dict())
    kind, loss = getattr(torch.optim, name), nn.MSELoss()
    optimizer = kind(model.parameters(), lr=0.01, **OPTIMIZERS[name])
    other = kind(trained.parameters(), lr=0.01, **OPTIMIZERS[name])
    step = ttmlir.train_step(trained, loss, other, x, y, clip_grad_norm=1.0)
    for _ in range(3):
        optimizer.zero_grad()
        value = loss(model(x), y)
        value.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        torch.testing.assert_close(step(x, y), value.detach())
    torch.testing.assert_close(step.state_dict(), model.state_dict(), rtol=1e-5, atol=1e-6)
    step.load_into(trained, other)
    torch.testing.assert_close(trained.low, model.low, rtol=1e-5, atol=1e-6)
    kept = {key for key, slot in other.state[trained.low].items() if slot.is_complex()}
    for key in kept:
        of_torch, ours = (
            each[0].state[each[1].low] for each in ((optimizer, model), (other, trained))
        )
        torch.testing.assert_close(ours[key], of_torch[key], rtol=1e-4, atol=1e-6)


def test_gradients() -> None:
    """`torch.func.grad` of a real loss in complex weights."""

    def step(weights: Any, x: Any, y: Any) -> Any:
        def loss(weights: Any) -> Any:
            return (fft.irfft(fft.rfft(x) * weights, n=8) - y).square().mean()

        gradient, value = torch.func.grad_and_value(loss)(weights)
        return weights - 0.1 * gradient, value

    torch.manual_seed(0)
    arguments = torch.randn(5, dtype=torch.cfloat), torch.randn(3, 8), torch.randn(3, 8)
    torch.testing.assert_close(ttmlir.compile(step, *arguments)(*arguments), step(*arguments))

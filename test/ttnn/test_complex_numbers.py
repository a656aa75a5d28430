"""Complex tensors, their functions and gradients, against torch's complex numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from oracles.ttnn_gradient_oracles import differentiate
from oracles.ttnn_oracle import draw

from ttmlir import ttnn

SHAPE = (2, 3, 33, 40)


def numbers(seed: int) -> torch.Tensor:
    """Complex numbers of which none is near 0."""
    return torch.complex(draw(SHAPE, 0.5, 3, seed), draw(SHAPE, -3, 3, seed + 1))


def place(values: torch.Tensor, device: Any) -> Any:
    """Complex numbers on the device, in tiles of float32."""
    parts = (
        ttnn.from_torch(part.contiguous(), layout=ttnn.TILE_LAYOUT, device=device)
        for part in (values.real, values.imag)
    )
    return ttnn.complex_tensor(*parts)


def read(found: Any) -> torch.Tensor:
    """The numbers of a tensor, complex ones of a pair."""
    if isinstance(found, ttnn.Tensor):
        return ttnn.to_torch(found)
    return torch.complex(ttnn.to_torch(found.real), ttnn.to_torch(found.imag))


def polar(z: torch.Tensor) -> torch.Tensor:
    """Real parts are lengths, imaginary parts angles."""
    return z.real * torch.exp(1j * z.imag)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("abs", torch.abs),
        ("angle", torch.angle),
        ("conj", lambda z: torch.conj(z).resolve_conj()),
        ("imag", lambda z: z.imag),
        ("polar", polar),
        ("real", lambda z: z.real),
        ("reciprocal", torch.reciprocal),
    ],
)
def test_functions(
    name: str, function: Callable[[torch.Tensor], torch.Tensor], device: Any
) -> None:
    """Results, and gradients of complex operands, are torch's."""
    z = numbers(0)
    expected = function(z)
    found = getattr(ttnn, name)(place(z, device))
    assert torch.allclose(read(found), expected, atol=1e-5)
    grad = numbers(2) if expected.is_complex() else draw(SHAPE, -2, 2, 2)
    given = place(grad, device) if grad.is_complex() else read_only(grad, device)
    (gradient,) = getattr(ttnn, f"{name}_bw")(given, place(z, device))
    (wanted,) = differentiate(function, grad, z)
    assert torch.allclose(read(gradient), wanted.resolve_conj(), atol=1e-4)


def read_only(values: torch.Tensor, device: Any) -> Any:
    """Real numbers on the device."""
    return ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device)


PAIRS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "add": lambda a, b: a + 0.5 * b,
    "div": torch.div,
    "mul": torch.mul,
    "sub": lambda a, b: a - 0.5 * b,
}


@pytest.mark.parametrize("name", PAIRS)
def test_gradients_of_pairs(name: str, device: Any) -> None:
    """Of both operands; in sums and differences the second may be scaled."""
    a, b, grad = numbers(0), numbers(2), numbers(4)
    alpha = (0.5,) if name in ("add", "sub") else ()
    operation = getattr(ttnn, f"{name}_bw")
    found = operation(*(place(each, device) for each in (grad, a, b)), *alpha)
    for each, wanted in zip(found, differentiate(PAIRS[name], grad, a, b), strict=True):
        assert torch.allclose(read(each), wanted.resolve_conj(), atol=1e-4)


def test_parts(device: Any) -> None:
    """By name and number; which numbers are real or imaginary; memory of results."""
    z = torch.tensor([1 + 0j, 2j, 0j, 3 - 4j])
    pair = place(z, device)
    assert pair[0] is pair.real
    assert pair[1] is pair.imag
    assert ttnn.is_real(pair).to_list() == [1, 0, 1, 0]
    assert ttnn.is_imag(pair).to_list() == [0, 1, 1, 0]
    # At 0 a direction is 0, as on Tenstorrent's simulator.
    (gradient,) = ttnn.angle_bw(read_only(torch.ones(4), device), pair)
    assert torch.allclose(read(gradient), torch.tensor([1j, -0.5, 0, 0.16 + 0.12j]))
    found = ttnn.conj(pair, memory_config=ttnn.L1_MEMORY_CONFIG)
    assert found.imag.memory_config() == ttnn.L1_MEMORY_CONFIG
    with pytest.raises(IndexError, match="parts 0 and 1, not 2"):
        pair[2]
    pair.deallocate()
    assert not pair.real.is_allocated()


def test_refused(device: Any) -> None:
    """Real tensors, parts of different shapes, and operations without complex numbers."""
    x = read_only(torch.ones(2, 3), device)
    pair = ttnn.complex_tensor(x, x)
    with pytest.raises(TypeError, match=r"ComplexTensor, not ttmlir.*; use ttnn.complex_tensor"):
        ttnn.angle(x)
    with pytest.raises(RuntimeError, match=r"real part of Shape\(\[2, 3\]\) and an imaginary part"):
        ttnn.conj(ttnn.complex_tensor(x, ttnn.transpose(x, 0, 1)))
    with pytest.raises(RuntimeError, match=r"grad_tensor has \[3, 2\], an operand \[2, 3\]"):
        ttnn.angle_bw(ttnn.transpose(x, 0, 1), pair)
    with pytest.raises(TypeError, match=r"input_tensor is a ttnn\.Tensor; it takes no complex"):
        ttnn.exp_bw(x, pair)
    with pytest.raises(TypeError, match=r"input_tensor is a ttnn\.Tensor"):
        ttnn.exp(pair)

"""What gradients do at kinks, with numbers for operands, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from ttmlir import ttnn


def place(values: Any, device: Any, dtype: Any = None) -> Any:
    """A tensor on the device, in tiles of float32 unless something else is said."""
    array = np.asarray(values, np.float32)
    return ttnn.Tensor(array, dtype or ttnn.float32, device, ttnn.TILE_LAYOUT)


KINKS: dict[str, tuple[list[float], list[float], tuple[Any, ...]]] = {
    "abs": ([-1, 0, 1], [-1.5, 0, 1.5], ()),
    "relu": ([-1, 0, 1], [0, 0, 1.5], ()),
    "relu6": ([0, 3, 6], [0, 1.5, 0], ()),
    "hardtanh": ([-1, 0, 1], [0, 1.5, 0], ()),
    "clamp": ([-1, 0, 1, 1.5], [1.5, 1.5, 1.5, 0], (-1.0, 1.0)),
    "hardshrink": ([-0.5, 0.25, 0.5, 0.75], [0, 0, 0, 1.5], ()),
    "softshrink": ([-0.5, 0.25, 0.5, 0.75], [0, 0, 0, 1.5], ()),
    "threshold": ([0.25, 0.5, 0.75], [0, 0, 1.5], (0.5, 2.0)),
    "hardsigmoid": ([-3, 0, 3], [0, 0.25, 0], ()),
    "leaky_relu": ([-1, 0, 1], [0.015, 0.015, 1.5], ()),
}


@pytest.mark.parametrize("name", KINKS)
def test_kinks(name: str, device: Any) -> None:
    """As Tenstorrent's simulator computes with ttnn 0.81.1, and torch."""
    values, expected, args = KINKS[name]
    grad = place([1.5] * len(values), device)
    (result,) = getattr(ttnn, f"{name}_bw")(grad, place(values, device), *args)
    assert np.allclose(result.to_list(), expected, rtol=1e-6)


def test_equal_operands_of_a_maximum(device: Any) -> None:
    """Each has half of the gradient, as on a card and in torch."""
    a, b, grad = (place(each, device) for each in ([1, 2, 3], [1, 3, 2], [1.5, 1.5, 1.5]))
    assert [each.to_list() for each in ttnn.max_bw(grad, a, b)] == [[0.75, 0, 1.5], [0.75, 1.5, 0]]
    assert [each.to_list() for each in ttnn.min_bw(grad, a, b)] == [[0.75, 1.5, 0], [0.75, 0, 1.5]]


def test_numbers_in_place_of_tensors(device: Any) -> None:
    """The gradient of the tensor alone, by the keyword that ttnn has for the number, too."""
    x, grad = place([-3.5, 2.25, 5], device), place([1, 2, 3], device)
    for found, expected in (
        (ttnn.mul_bw(grad, x, 0.5), [0.5, 1, 1.5]),
        (ttnn.div_bw(grad, x, scalar=4.0), [0.25, 0.5, 0.75]),
        (ttnn.div_bw(grad, x, 4.0, "trunc"), [0, 0, 0]),
        (ttnn.sub_bw(grad, x, 1.5), [1, 2, 3]),
        (ttnn.fmod_bw(grad, x, scalar=2.0), [1, 2, 3]),
    ):
        assert [each.to_list() for each in found] == [expected]
    first, second = ttnn.lerp_bw(grad, x, x, scalar=0.25)
    assert (first.to_list(), second.to_list()) == ([0.75, 1.5, 2.25], [0.25, 0.5, 0.75])
    assert len(ttnn.bias_gelu_bw(grad, x, 1.0)) == 1


@pytest.mark.parametrize("call", [ttnn.gelu_bw, ttnn.bias_gelu_bw])
def test_gelu_by_tanh(call: Any, device: Any) -> None:
    """The variant `Tanh` is the gradient of torch's approximation."""
    x = torch.tensor([-2.5, -0.3, 0.0, 1.7], requires_grad=True)
    torch.nn.functional.gelu(x, approximate="tanh").sum().backward()
    given = [place(x.tolist(), device)] + ([place([0.0] * 4, device)] * (call is ttnn.bias_gelu_bw))
    result = call(place([1.0] * 4, device), *given, variant=ttnn.GeluVariant.Tanh)[0]
    assert torch.allclose(ttnn.to_torch(result), x.grad, atol=1e-6)
    assert not torch.allclose(ttnn.to_torch(call(place([1.0] * 4, device), *given)[0]), x.grad)


def test_broadcast_operands_of_mul(device: Any) -> None:
    """Gradients of what was broadcast are summed."""
    a = torch.arange(6.0).reshape(2, 3).requires_grad_()
    b = torch.tensor([[2.0, -1.0, 0.5]], requires_grad=True)
    grad = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    (a * b).backward(grad)
    found = ttnn.mul_bw(*(place(each.detach(), device) for each in (grad, a, b)))
    assert [ttnn.to_torch(each).tolist() for each in found] == [a.grad.tolist(), b.grad.tolist()]
    message = r"Shape\(\[1, 3\]\) was broadcast to \[2, 3\]: its gradient has no place for all"
    with pytest.raises(RuntimeError, match=message):
        ttnn.add_bw(*(place(each.detach(), device) for each in (grad, a, b)))


def test_required_outputs(device: Any) -> None:
    """What is not asked for is None; results are stored in tensors that are given."""
    x, grad = place([1, 2], device), place([3, 4], device)
    output = place([0, 0], device)
    first, second = ttnn.mul_bw(grad, x, x, are_required_outputs=[False, True], other_grad=output)
    assert first is None
    assert second is output
    assert output.to_list() == [3, 8]
    (copied,) = ttnn.assign_bw(grad, x)
    assert copied.to_list() == [3, 4]
    assert [each.to_list() for each in ttnn.assign_bw(grad, x, x)] == [[3, 4], [3, 4]]


def test_products_with_zeros(device: Any) -> None:
    """The gradient of a product is not a quotient: one factor may be 0."""
    x = torch.tensor([2.0, 0.0, 3.0, 5.0]).reshape(1, 1, 2, 2).requires_grad_()
    grad = torch.full((1, 1, 1, 1), 1.5)
    x.prod().reshape(1, 1, 1, 1).backward(grad)
    (result,) = ttnn.prod_bw(place(grad, device), place(x.detach(), device))
    assert torch.equal(ttnn.to_torch(result), x.grad)


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "clamp": (
        lambda x: ttnn.clamp_bw(x, x),
        "only one of 'min' and 'max' may be None",
    ),
    "polygamma": (lambda x: ttnn.polygamma_bw(x, x, 11), "order from 1 to 11, not 12"),
    "div": (lambda x: ttnn.div_bw(x, x, 2.0, "up"), "rounding_mode is None, 'trunc' or 'floor'"),
    "bias_gelu": (
        lambda x: ttnn.bias_gelu_bw(x, x, x, approximate="erf"),
        "approximate is 'none' or 'tanh', not 'erf'",
    ),
    "gelu": (lambda x: ttnn.gelu_bw(x, x, variant="tanh"), "variant is a ttnn.GeluVariant"),
    "pow": (lambda x: ttnn.pow_bw(x, x, x), "exponent is a number, not a ttnn.Tensor"),
    "outputs": (
        lambda x: ttnn.add_bw(x, x, x, are_required_outputs=[True]),
        "are_required_outputs has 2 truth values, got 1",
    ),
    "shapes": (
        lambda x: ttnn.exp_bw(x, ttnn.reshape(x, (1, 3, 2, 2))),
        r"Shape\(\[1, 2, 3, 2\]\), Shape\(\[1, 3, 2, 2\]\)",
    ),
    "types": (
        lambda x: ttnn.acos_bw(x, ttnn.typecast(x, ttnn.bfloat16)),
        "FLOAT32 and DataType.BFLOAT16 do not go together; use ttnn.typecast",
    ),
    "concat": (
        lambda x: ttnn.concat_bw(x, x, x, 1),
        r"make \[1, 4, 3, 2\] along dimension 1, grad_tensor has Shape\(\[1, 2, 3, 2\]\)",
    ),
    "concat of matrices": (
        lambda x: ttnn.concat_bw(*[ttnn.reshape(x, (3, 4))] * 3),
        r"four dimensions, not Shape\(\[3, 4\]\); use ttnn.unsqueeze_to_4D",
    ),
    "repeat": (
        lambda x: ttnn.repeat_bw(x, x, [2, 1, 1, 1]),
        r"shape=\[2, 1, 1, 1\] says how often each dimension of",
    ),
    "prod": (
        lambda x: ttnn.prod_bw(ttnn.reshape(x, (1, 3, 2, 2)), x, dim=2),
        "keep the dimension that was reduced with extent 1",
    ),
    "embedding": (
        lambda x: ttnn.embedding_bw(x, x, x),
        "indices are in rows; use ttnn.to_layout",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, device: Any) -> None:
    """Messages say what is wrong and what to do."""
    call, message = REFUSED[name]
    with pytest.raises((RuntimeError, TypeError), match=message):
        call(place(np.ones((1, 2, 3, 2)), device))

"""Golden functions of operations, and the correlation that results are judged by."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from ttmlir import ttnn


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    """Random numbers from 0.1 to 0.9."""
    numbers = np.random.default_rng(seed).uniform(0.1, 0.9, shape)
    return torch.as_tensor(numbers.astype(np.float32))


CALLS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    **{name: ((), {}) for name in ("exp", "gelu", "silu", "cbrt", "i1", "log_sigmoid", "softmax")},
    **{name: ((2,), {}) for name in ("pow", "add", "rsub", "rdiv")},
    "repeat_interleave": ((2, 1), {}),
    "leaky_relu": ((0.1,), {}),
    "clamp": ((), {"min": 0.3, "max": 0.6}),
    "div": ((3.0,), {"rounding_mode": "floor"}),
    "sum": ((1, True), {}),
    "mean": ((-1,), {}),
    "var": ((0,), {}),
    "std": ((1, True), {"correction": False}),
    "permute": (((1, 0),), {}),
    "reshape": (((5, 14),), {}),
    "transpose": ((0, 1), {}),
    "pad": (([(0, 1), (0, 3)], 2.0), {}),
    "layer_norm": ((), {"epsilon": 1e-5}),
    "rms_norm": ((), {"epsilon": 1e-5}),
    "cumsum": ((1,), {}),
    "full": ((3.0,), {}),
    "eqz": ((), {}),
}


@pytest.mark.parametrize("name", CALLS)
def test_results_are_golden(name: str, device: Any) -> None:
    """An operation and its golden function, called alike, agree."""
    args, kwargs = CALLS[name]
    operation = getattr(ttnn, name)
    values: Any = draw(7, 10)
    x = ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device)
    if name == "full":
        values, x = (3, 4), (3, 4)
        kwargs = {"dtype": ttnn.float32}
    golden = ttnn.get_golden_function(operation)(values, *args, **kwargs, memory_config=None)
    result = ttnn.to_torch(operation(x, *args, **kwargs))
    assert result.shape == golden.shape
    assert torch.allclose(result.double(), golden.double(), atol=1e-5)


def test_every_elementwise_golden_exists() -> None:
    """The functions that tests ask for most are there; others say that they are missing."""
    for name in ("matmul", "linear", "concat", "add_", "max", "hardswish", "where", "embedding"):
        assert callable(ttnn.get_golden_function(getattr(ttnn, name)))
    with pytest.raises(RuntimeError, match="does not have a golden function"):
        ttnn.get_golden_function(ttnn.tilize)
    ttnn.attach_golden_function(ttnn.tilize, lambda x, **_: x + 1)
    assert ttnn.get_golden_function(ttnn.tilize)(1) == 2


def test_correlation() -> None:
    """1 for equal tensors, 0 where one has nothing, torch's correlation otherwise."""
    a, b = draw(5, 7), draw(5, 7, seed=1)
    expected = float(torch.corrcoef(torch.stack([a.reshape(-1), b.reshape(-1)]))[0, 1])
    assert ttnn.pearson_correlation_coefficient(a, b) == pytest.approx(expected, abs=1e-6)
    assert ttnn.pearson_correlation_coefficient(a, a) == 1.0
    nothing = torch.full((5, 7), math.nan)
    assert ttnn.pearson_correlation_coefficient(nothing, nothing) == 1.0
    assert ttnn.pearson_correlation_coefficient(a, nothing) == 0.0
    assert ttnn.pearson_correlation_coefficient(a, torch.zeros(5, 7)) == 0.0
    assert ttnn.comp_pcc(a, a * 2 + 1) == (True, pytest.approx(1.0))
    assert not ttnn.comp_allclose(a, a + 1)[0]
    assert ttnn.comp_allclose(a, a.clone())[0]

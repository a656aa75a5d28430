"""Golden functions of layers against the operations, which other tests hold against torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from ttmlir import ttnn

_POOL = (2, 7, 9, 6, (3, 2), (2, 1), (1, 1))


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    """Random numbers."""
    numbers = np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)
    return torch.as_tensor(numbers)


IMAGE, FLAT, HEADS = draw(2, 7, 9, 6), draw(1, 1, 126, 6), draw(2, 4, 9, 8)

CASES: dict[str, tuple[Callable[[], Any], tuple[Any, ...], dict[str, Any]]] = {
    "avg_pool2d": (lambda: ttnn.avg_pool2d, (FLAT, *_POOL), {"count_include_pad": False}),
    "max_pool2d": (lambda: ttnn.max_pool2d, (FLAT, *_POOL), {"ceil_mode": True}),
    "max_pool2d of four sides": (
        lambda: ttnn.max_pool2d,
        (FLAT, *_POOL[:-1], (1, 0, 2, 1)),
        {},
    ),
    "global_avg_pool2d": (lambda: ttnn.global_avg_pool2d, (IMAGE,), {}),
    "upsample": (lambda: ttnn.upsample, (IMAGE, 2), {"mode": "bilinear"}),
    "grid_sample": (lambda: ttnn.grid_sample, (IMAGE, draw(2, 3, 4, 2)), {}),
    "batch_norm": (
        lambda: ttnn.batch_norm,
        (IMAGE,),
        {"running_mean": draw(1, 7, 1, 1), "running_var": draw(1, 7, 1, 1).abs()},
    ),
    "group_norm": (
        lambda: ttnn.group_norm,
        (FLAT,),
        {"num_groups": 3, "epsilon": 1e-5, "weight": draw(1, 1, 1, 6)},
    ),
    "topk": (lambda: ttnn.topk, (IMAGE, 3), {"dim": 2, "largest": False}),
    "sort": (lambda: ttnn.sort, (IMAGE,), {"descending": True}),
    "split heads": (
        lambda: ttnn.transformer.split_query_key_value_and_split_heads,
        (draw(2, 9, 64),),
        {"num_heads": 4, "num_kv_heads": 2},
    ),
    "create heads": (
        lambda: ttnn.experimental.nlp_create_qkv_heads,
        (draw(2, 1, 9, 64),),
        {"num_heads": 4, "num_kv_heads": 2, "transpose_k_heads": False},
    ),
    "concatenate_heads": (lambda: ttnn.transformer.concatenate_heads, (HEADS,), {}),
    "nlp_concat_heads": (lambda: ttnn.experimental.nlp_concat_heads, (HEADS,), {}),
    "attention_softmax": (
        lambda: ttnn.transformer.attention_softmax,
        (HEADS,),
        {"head_size": 8, "attention_mask": draw(1, 1, 9, 8)},
    ),
    "attention_softmax_": (lambda: ttnn.transformer.attention_softmax_, (HEADS,), {}),
    "attention": (
        lambda: ttnn.transformer.scaled_dot_product_attention,
        (HEADS, draw(2, 2, 9, 8, seed=1), draw(2, 2, 9, 8, seed=2)),
        {"scale": 0.5},
    ),
    "rotate_half": (lambda: ttnn.experimental.rotate_half, (HEADS,), {}),
    "rotary_embedding": (
        lambda: ttnn.experimental.rotary_embedding,
        (HEADS, draw(1, 1, 12, 8), draw(1, 1, 12, 8, seed=1), 3),
        {},
    ),
}


def listed(value: Any) -> list[Any]:
    """The results, one or several."""
    return [*value] if isinstance(value, tuple | list) else [value]


@pytest.mark.parametrize("case", list(CASES))
def test_goldens(case: str, device: Any) -> None:
    """The operation on the device gives what its golden function gives for torch tensors."""
    find, args, kwargs = CASES[case]

    def place(value: Any) -> Any:
        return ttnn.from_torch(value, device=device) if torch.is_tensor(value) else value

    operation = find()
    expected = listed(ttnn.get_golden_function(operation)(*args, **kwargs))
    placed = {name: place(each) for name, each in kwargs.items()}
    actual = listed(operation(*map(place, args), **placed))
    assert len(actual) == len(expected)
    for mine, golden in zip(actual, expected, strict=True):
        found = torch.as_tensor(ttnn.to_numpy(mine).astype(np.float64))
        assert found.shape == golden.shape
        assert torch.allclose(found, golden.double(), atol=1e-5)


def test_golden_of_convolutions(device: Any) -> None:
    """All arguments have names; those that say how to compute are swallowed."""
    arguments: dict[str, Any] = {
        "in_channels": 6,
        "out_channels": 4,
        "batch_size": 2,
        "input_height": 7,
        "input_width": 9,
        "kernel_size": (3, 2),
        "padding": (1, 0, 2, 1),
        "groups": 2,
        "conv_config": ttnn.Conv2dConfig(),
        "device": device,
    }
    weight, bias = draw(4, 3, 3, 2), draw(1, 1, 1, 4)
    golden = ttnn.get_golden_function(ttnn.conv2d)
    expected = golden(input_tensor=FLAT, weight_tensor=weight, bias_tensor=bias, **arguments)
    result = ttnn.conv2d(
        input_tensor=ttnn.from_torch(FLAT, device=device),
        weight_tensor=ttnn.from_torch(weight),
        bias_tensor=ttnn.from_torch(bias),
        **arguments,
    )
    assert torch.allclose(ttnn.to_torch(result), expected, atol=1e-5)

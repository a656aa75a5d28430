"""Golden functions of layers against the operations, which other tests hold against torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from ttmlir import ttnn


@pytest.fixture
def device(tolerant_device: Any) -> Any:
    """Numbers are compared in float32 and in rows, too, where a card takes others only."""
    return tolerant_device


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
        (FLAT, *_POOL[:-1], (1, 0, 0, 1)),
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
    "l1_loss": (lambda: ttnn.l1_loss, (IMAGE, draw(2, 7, 9, 6, seed=1)), {}),
    "mse_loss": (
        lambda: ttnn.mse_loss,
        (IMAGE, draw(2, 7, 9, 6, seed=1)),
        {"reduction": ttnn.LossReductionMode.SUM},
    ),
    "where": (lambda: ttnn.experimental.where, (IMAGE > 0, IMAGE, IMAGE * 2), {}),
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


def test_golden_of_convolutions_in_one_dimension(device: Any) -> None:
    """Rows of (N, length, channels), padded on both sides."""
    rows, weight = draw(2, 9, 6), draw(4, 3, 3)
    arguments: dict[str, Any] = {
        "in_channels": 6,
        "out_channels": 4,
        "batch_size": 2,
        "input_length": 9,
        "kernel_size": 3,
        "padding": (2, 1),
        "stride": 2,
        "groups": 2,
        "device": device,
    }
    expected = ttnn.get_golden_function(ttnn.conv1d)(
        input_tensor=rows, weight_tensor=weight, **arguments
    )
    padded = torch.nn.functional.pad(rows.mT, (2, 1))
    plain = torch.nn.functional.conv1d(padded, weight, stride=2, groups=2)
    assert torch.equal(expected, plain.mT.reshape(1, 1, -1, 4))
    result = ttnn.conv1d(
        input_tensor=ttnn.from_torch(rows, device=device),
        weight_tensor=ttnn.from_torch(weight),
        **arguments,
    )
    assert torch.allclose(ttnn.to_torch(result), expected, atol=1e-5)


@pytest.mark.parametrize("mirrored", [True, False])
def test_golden_of_transposed_convolutions(mirrored: bool, device: Any) -> None:
    """Padding takes away rows and columns of the result."""
    image, weight = draw(1, 1, 2 * 5 * 4, 6), draw(6, 2, 3, 2)
    arguments: dict[str, Any] = {
        "in_channels": 6,
        "out_channels": 4,
        "batch_size": 2,
        "input_height": 5,
        "input_width": 4,
        "kernel_size": (3, 2),
        "stride": (2, 1),
        "padding": (1, 0),
        "output_padding": (1, 0),
        "groups": 2,
        "mirror_kernel": mirrored,
        "device": device,
    }
    expected = ttnn.get_golden_function(ttnn.conv_transpose2d)(
        input_tensor=image, weight_tensor=weight, **arguments
    )
    first = image.reshape(2, 5, 4, 6).permute(0, 3, 1, 2)
    plain = torch.nn.functional.conv_transpose2d(
        first,
        weight if mirrored else weight.flip(2, 3),
        stride=(2, 1),
        padding=(1, 0),
        output_padding=(1, 0),
        groups=2,
    )
    assert torch.allclose(expected, plain.permute(0, 2, 3, 1).reshape(1, 1, -1, 4), atol=1e-6)
    result = ttnn.conv_transpose2d(
        input_tensor=ttnn.from_torch(image, device=device),
        weight_tensor=ttnn.from_torch(weight),
        **arguments,
    )
    assert torch.allclose(ttnn.to_torch(result), expected, atol=1e-5)


@pytest.mark.parametrize("name", ["adaptive_avg_pool2d", "adaptive_max_pool2d"])
def test_golden_of_adaptive_pools(name: str, device: Any) -> None:
    """Extents of the result, of images that may be flattened."""
    image = draw(1, 1, 2 * 5 * 7, 6)
    operation = getattr(ttnn, name)
    expected = ttnn.get_golden_function(operation)(image, 2, 5, 7, 6, (3, 2))
    first = image.reshape(2, 5, 7, 6).permute(0, 3, 1, 2)
    plain = getattr(torch.nn.functional, name)(first, (3, 2))
    assert torch.equal(expected, plain.permute(0, 2, 3, 1).reshape(1, 1, -1, 6))
    result = operation(ttnn.from_torch(image, device=device), 2, 5, 7, 6, (3, 2))
    assert torch.allclose(ttnn.to_torch(result), expected, atol=1e-5)

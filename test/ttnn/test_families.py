"""Reductions, movements, products, normalisations and look-ups against torch."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

from ttmlir import ttnn

TORCH = {"bfloat16": torch.bfloat16, "float32": torch.float32, "bfloat8_b": torch.float32}
LIMITS = {"bfloat16": 0.01, "float32": 1e-5, "bfloat8_b": 0.03}
LAYOUTS = {"bfloat16": "TILE_LAYOUT", "float32": "ROW_MAJOR_LAYOUT", "bfloat8_b": "TILE_LAYOUT"}


def draw(*shape: int, seed: int = 0, low: float = -2.0, high: float = 2.0) -> torch.Tensor:
    """Random numbers."""
    numbers = np.random.default_rng(seed).uniform(low, high, shape)
    return torch.as_tensor(numbers.astype(np.float32))


def place(values: torch.Tensor, device: Any, dtype: str = "float32", **others: Any) -> Any:
    """A tensor on the device, in tiles unless something else is said."""
    others.setdefault("layout", ttnn.TILE_LAYOUT)
    return ttnn.from_torch(values, getattr(ttnn, dtype), device=device, **others)


def check(actual: Any, expected: torch.Tensor, dtype: str = "float32") -> None:
    """Equal shapes, and errors within the type's relative to the largest number."""
    result = ttnn.to_torch(actual).double()
    expected = expected.double()
    assert result.shape == expected.shape
    largest = expected.abs().max() if expected.numel() else torch.tensor(1.0)
    assert bool(((result - expected).abs() <= LIMITS[dtype] * largest).all())


REDUCTIONS: dict[str, Callable[[torch.Tensor, Any, bool], torch.Tensor]] = {
    "sum": lambda x, dim, keep: x.sum(dim, keepdim=keep),
    "mean": lambda x, dim, keep: x.mean(dim, keepdim=keep),
    "max": lambda x, dim, keep: x.amax(dim, keepdim=keep),
    "min": lambda x, dim, keep: x.amin(dim, keepdim=keep),
    "var": lambda x, dim, keep: x.var(dim, keepdim=keep),
    "std": lambda x, dim, keep: x.std(dim, keepdim=keep),
}
DIMENSIONS = (-1, 0, 1, (0, 2), (-1, -2), (0, 1, 2))


@pytest.mark.parametrize(
    ("name", "dim", "keepdim", "dtype"),
    [
        (name, dim, bool(i % 2), list(TORCH)[i % 3])
        for i, (name, dim) in enumerate(product(REDUCTIONS, DIMENSIONS))
    ],
)
def test_reductions(name: str, dim: Any, keepdim: bool, dtype: str, device: Any) -> None:
    """Padding is no part of a reduction; results of rows are in rows for sum and mean alone."""
    layout = getattr(ttnn, LAYOUTS[dtype])
    x = place(draw(3, 33, 70), device, dtype, layout=layout, memory_config=ttnn.L1_MEMORY_CONFIG)
    result = getattr(ttnn, name)(x, dim, keepdim)
    kept = layout if name in ("sum", "mean") else ttnn.TILE_LAYOUT
    assert (result.dtype, result.layout) == (x.dtype, kept)
    assert result.memory_config() == ttnn.L1_MEMORY_CONFIG
    check(result, REDUCTIONS[name](ttnn.to_torch(x).double(), dim, keepdim), dtype)


def test_reductions_of_everything(device: Any) -> None:
    """Without dimensions all are reduced; results are scaled; var may divide by all."""
    values = draw(5, 7)
    x = place(values, device)
    assert ttnn.sum(x).shape == []
    check(ttnn.sum(x), values.sum())
    check(ttnn.mean(x, keepdim=True), values.mean().reshape(1, 1))
    check(ttnn.sum(x, dim=0, scalar=0.5), values.sum(0) * 0.5)
    check(ttnn.var(x, dim=1, correction=False), values.var(1, correction=0))
    check(ttnn.prod(x, dim=1), values.prod(1))
    check(ttnn.cumsum(x, 1), values.cumsum(1))
    check(ttnn.cumsum(x, 1, reverse_order=True), values.flip(1).cumsum(1).flip(1))
    check(ttnn.cumprod(x, 0), values.cumprod(0))
    largest = ttnn.argmax(x, dim=-1)
    assert (largest.dtype, largest.layout) == (ttnn.uint32, ttnn.ROW_MAJOR_LAYOUT)
    assert largest.to_list() == values.argmax(-1).tolist()
    rows = ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT)
    assert ttnn.argmax(rows).item() == values.argmax().item()
    with pytest.raises(RuntimeError, match="dim must be given for a tensor in tiles"):
        ttnn.argmax(x)


def test_reductions_of_nothing(device: Any) -> None:
    """The sum of no numbers is 0, their mean NaN; they have no largest."""
    x = ttnn.zeros((3, 0), ttnn.float32, ttnn.TILE_LAYOUT, device)
    assert ttnn.sum(x, 1).to_list() == [0.0] * 3
    assert np.isnan(ttnn.mean(x, 1).array).all()
    with pytest.raises(RuntimeError, match="max of no numbers"):
        ttnn.max(x, 1)
    with pytest.raises(RuntimeError, match="Reduction dimension 2 is out of range for rank 2"):
        ttnn.sum(x, 2)


MOVEMENTS: dict[str, tuple[Callable[[Any], Any], Callable[[torch.Tensor], torch.Tensor]]] = {
    "reshape": (lambda x: ttnn.reshape(x, (6, -1, 5)), lambda x: x.reshape(6, -1, 5)),
    "view": (lambda x: ttnn.view(x, [3, 1, 33, -1]), lambda x: x.reshape(3, 1, 33, 70)),
    "reshape_on_device": (
        lambda x: ttnn.reshape_on_device(x, 1, 3, 70, 33),
        lambda x: x.reshape(1, 3, 70, 33),
    ),
    "unsqueeze": (lambda x: ttnn.unsqueeze(x, -2), lambda x: x.unsqueeze(-2)),
    "squeeze": (lambda x: ttnn.squeeze(ttnn.unsqueeze(x, 0), 0), lambda x: x),
    "squeeze all": (lambda x: ttnn.squeeze(ttnn.unsqueeze(x, 1)), lambda x: x),
    "unsqueeze_to_4D": (ttnn.unsqueeze_to_4D, lambda x: x[None]),
    "permute": (lambda x: ttnn.permute(x, (2, 0, -2)), lambda x: x.permute(2, 0, 1)),
    "transpose": (lambda x: ttnn.transpose(x, -1, 0), lambda x: x.transpose(-1, 0)),
    "concat": (lambda x: ttnn.concat([x, x, x], -2), lambda x: torch.cat([x, x, x], -2)),
    "stack": (lambda x: ttnn.stack([x, x], 1), lambda x: torch.stack([x, x], 1)),
    "split": (lambda x: ttnn.split(x, 32, 1)[1], lambda x: x.split(32, 1)[1]),
    "split sizes": (lambda x: ttnn.split(x, [30, 40], 2)[1], lambda x: x.split([30, 40], 2)[1]),
    "chunk": (lambda x: ttnn.chunk(x, 4, 2)[3], lambda x: x.chunk(4, 2)[3]),
    "slice": (
        lambda x: ttnn.slice(x, [0, 1, -9], [2, 33, 70], [1, 2, 3]),
        lambda x: x[0:2, 1:33:2, -9::3],
    ),
    "repeat": (lambda x: ttnn.repeat(x, (2, 1, 3)), lambda x: x.repeat(2, 1, 3)),
    "repeat_interleave": (
        lambda x: ttnn.repeat_interleave(x, 2, 1),
        lambda x: x.repeat_interleave(2, 1),
    ),
    "expand": (
        lambda x: ttnn.expand(ttnn.unsqueeze(x, 0), (4, -1, -1, -1)),
        lambda x: x[None].expand(4, -1, -1, -1),
    ),
    "roll": (lambda x: ttnn.roll(x, (2, -3), (1, 2)), lambda x: x.roll((2, -3), (1, 2))),
    "pad": (
        lambda x: ttnn.pad(x, [(0, 1), (0, 0), (0, 5)], 3.0),
        lambda x: torch.nn.functional.pad(x, (0, 5, 0, 0, 0, 1), value=3.0),
    ),
    "pad to a shape": (
        lambda x: ttnn.pad(x, [3, 64, 96], [0, 0, 0], 0),
        lambda x: torch.nn.functional.pad(x, (0, 26, 0, 31)),
    ),
}


@pytest.mark.parametrize("name", MOVEMENTS)
@pytest.mark.parametrize("dtype", ["bfloat16", "int32"])
@pytest.mark.parametrize("layout", ["TILE_LAYOUT", "ROW_MAJOR_LAYOUT"])
def test_movements(name: str, dtype: str, layout: str, device: Any) -> None:
    """Numbers come out exactly, at torch's places."""
    ours, theirs = MOVEMENTS[name]
    values = (
        draw(3, 33, 70) if dtype == "bfloat16" else torch.arange(3 * 33 * 70).reshape(3, 33, 70)
    )
    values = values.to(torch.bfloat16 if dtype == "bfloat16" else torch.int32)
    result = ours(place(values, device, dtype, layout=getattr(ttnn, layout)))
    assert (result.dtype, result.layout) == (getattr(ttnn, dtype), getattr(ttnn, layout))
    assert torch.equal(ttnn.to_torch(result), theirs(values))


def test_movements_of_block_floats(device: Any) -> None:
    """Numbers that move to other blocks share the exponents there."""
    x = place(draw(64, 96), device, "bfloat8_b")
    turned = ttnn.transpose(x, 0, 1)
    again = ttnn.from_torch(ttnn.to_torch(x).T, ttnn.bfloat8_b)
    assert torch.equal(ttnn.to_torch(turned), ttnn.to_torch(again))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: ttnn.reshape(x, (4, 4)), r"6930 numbers cannot have the shape \[4, 4\]"),
        (lambda x: ttnn.permute(x, (0, 1)), "do not name each of 3 dimensions once"),
        (lambda x: ttnn.transpose(x, 0, 3), "dimension 3 is out of range"),
        (lambda x: ttnn.concat([], 0), "tensors is empty"),
        (lambda x: ttnn.concat([x, ttnn.transpose(x, 0, 1)], 0), "differ in other extents"),
        (lambda x: ttnn.slice(x, [0], [1]), "starts has 1 places, the tensor 3 dimensions"),
        (lambda x: ttnn.pad(x, [(0, 0), (1, 0), (0, 0)], 0), "cannot be padded in front"),
        (lambda x: ttnn.split(x, [1, 1], 2), r"parts of \[1, 1\] do not make the 70"),
    ],
)
def test_movements_that_cannot_be(call: Callable[[Any], Any], message: str, device: Any) -> None:
    """Shapes, dimensions and places that do not fit are refused."""
    with pytest.raises(RuntimeError, match=message):
        call(place(draw(3, 33, 70), device))


def test_concat_in_groups(device: Any) -> None:
    """The first group of each tensor, the second of each, and so on."""
    a, b = torch.arange(8.0).reshape(2, 4), 100 + torch.arange(12.0).reshape(2, 6)
    result = ttnn.to_torch(ttnn.concat([place(a, device), place(b, device)], -1, groups=2))
    expected = torch.cat([a[:, :2], b[:, :3], a[:, 2:], b[:, 3:]], -1)
    assert torch.equal(result, expected)
    assert torch.equal(ttnn.get_golden_function(ttnn.concat)([a, b], -1, groups=2), expected)
    with pytest.raises(RuntimeError, match="groups=3 do not divide dimension 1 of a tensor of"):
        ttnn.concat([place(a, device), place(b, device)], 1, groups=3)


def test_concat_goes_to_dram(device: Any) -> None:
    """The result of concat is in DRAM, whatever memory its operands are in."""
    x = place(draw(3, 5), device, memory_config=ttnn.L1_MEMORY_CONFIG)
    assert ttnn.concat([x, x]).memory_config() == ttnn.DRAM_MEMORY_CONFIG


MATMULS = (
    ((33, 70), (70, 5)),
    ((2, 3, 33, 70), (2, 3, 70, 40)),
    ((2, 3, 33, 70), (1, 1, 70, 40)),
    ((70,), (70, 5)),
    ((33, 70), (70,)),
)


@pytest.mark.parametrize("shapes", MATMULS)
@pytest.mark.parametrize("dtype", TORCH)
def test_matmul(shapes: tuple[Any, Any], dtype: str, device: Any) -> None:
    """Products are torch's; they are in DRAM unless another memory is asked for."""
    a = place(draw(*shapes[0]), device, dtype, memory_config=ttnn.L1_MEMORY_CONFIG)
    b = place(draw(*shapes[1], seed=1), device, dtype)
    result = ttnn.matmul(a, b)
    assert result.memory_config() == ttnn.DRAM_MEMORY_CONFIG
    check(result, ttnn.to_torch(a).double() @ ttnn.to_torch(b).double(), dtype)


def test_linear(device: Any) -> None:
    """Transposed operands, bias, activations, data type, memory, and plans with activations."""
    x, w, bias = draw(33, 70), draw(5, 70, seed=1), draw(1, 5, seed=2)
    a, b, c = (place(each, device) for each in (x, w, bias))
    expected = x @ w.T + bias
    result = ttnn.linear(
        a,
        b,
        bias=c,
        transpose_b=True,
        activation="relu",
        dtype=ttnn.bfloat16,
        memory_config=ttnn.L1_MEMORY_CONFIG,
        core_grid=ttnn.CoreGrid(y=2, x=2),
    )
    assert (result.dtype, result.memory_config()) == (ttnn.bfloat16, ttnn.L1_MEMORY_CONFIG)
    check(result, expected.relu(), "bfloat16")
    for member, function in ((ttnn.UnaryOpType.ABS, torch.abs), (ttnn.UnaryOpType.EXP, torch.exp)):
        check(ttnn.linear(a, b, transpose_b=True, activation=member), function(x @ w.T))
    for activation, function in (
        (ttnn.UnaryWithParam(ttnn.UnaryOpType.SILU), torch.nn.functional.silu),
        ((ttnn.UnaryOpType.GELU, True), torch.nn.functional.gelu),
    ):
        plan = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
            compute_with_storage_grid_size=(2, 2),
            in0_block_w=1,
            out_subblock_h=1,
            out_subblock_w=1,
            per_core_M=1,
            per_core_N=1,
            transpose_mcast=False,
            fused_activation=activation,
        )
        fused = ttnn.linear(a, b, bias=c, transpose_b=True, program_config=plan)
        check(fused, function(expected))
    added = place(bias.expand(33, 5).contiguous(), device)
    check(
        ttnn.addmm(added, a, place(w.T, device), alpha=2.0, beta=0.5), 0.5 * bias + 2.0 * (x @ w.T)
    )
    sharded = ttnn.matmul(a, b, transpose_b=True, memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG)
    assert sharded.is_sharded()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"in0_block_w": 2}, "in0_block_w=2 does not divide the 3 tiles"),
        ({"out_subblock_h": 2}, "out_subblock_h=2 does not divide per_core_M=3"),
        ({"out_subblock_w": 3, "out_subblock_h": 3, "per_core_N": 3}, "does not fit into the 8"),
    ],
)
def test_plans_that_contradict_themselves(
    changes: dict[str, int], message: str, device: Any
) -> None:
    """Sizes of a plan divide each other and the product, and subblocks fit into DST."""
    sizes = {"in0_block_w": 1, "out_subblock_h": 1, "out_subblock_w": 1}
    sizes |= {"per_core_M": 3, "per_core_N": 1} | changes
    plan = ttnn.MatmulMultiCoreReuseProgramConfig(compute_with_storage_grid_size=(1, 1), **sizes)
    x = place(draw(70, 70), device)
    with pytest.raises(RuntimeError, match=message):
        ttnn.matmul(x, x, program_config=plan)


def test_products_that_cannot_be(device: Any) -> None:
    """Inner extents agree, operands are in tiles."""
    x = place(draw(33, 70), device)
    with pytest.raises(RuntimeError, match=r"equal to the height .*: \[33, 70\] and \[33, 70\]"):
        ttnn.matmul(x, x)
    with pytest.raises(RuntimeError, match="input_tensor_b must be in TILE_LAYOUT"):
        ttnn.matmul(x, ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT), transpose_b=True)


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize("dim", [-1, 0, 1])
def test_softmax(dtype: str, dim: int, device: Any) -> None:
    """Softmax along any dimension, of large numbers too."""
    x = place(draw(3, 33, 70) * 50, device, dtype)
    check(ttnn.softmax(x, dim=dim), ttnn.to_torch(x).double().softmax(dim), dtype)


def test_masked_softmax(device: Any) -> None:
    """Scale, then mask, then softmax; in place, too."""
    values, mask = draw(2, 4, 33, 70), torch.where(draw(1, 1, 33, 70, seed=1) > 1, -1e9, 0.0)
    x, m = place(values, device), place(mask, device)
    expected = (values * 0.125 + mask).softmax(-1)
    check(ttnn.scale_mask_softmax(x, 0.125, m), expected)
    assert ttnn.scale_mask_softmax_in_place(x, 0.125, m) is x
    check(x, expected)
    check(ttnn.softmax_in_place(x), expected.softmax(-1))


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_normalizations(dtype: str, device: Any) -> None:
    """Layer and RMS norms with weights, biases and residuals, in both forms of parameters."""
    x, other = draw(2, 33, 64), draw(2, 33, 64, seed=1)
    weight, bias = draw(64, seed=2), draw(64, seed=3)
    a, b = place(x, device, dtype), place(other, device, dtype)
    w = place(weight.reshape(1, 1, 1, 64), device, dtype)
    c = place(bias.reshape(2, 32), device, dtype, layout=ttnn.ROW_MAJOR_LAYOUT)
    own = [ttnn.to_torch(each).double() for each in (a, b)]
    parameters = [ttnn.to_torch(each).double().reshape(64) for each in (w, c)]
    layer = torch.nn.functional.layer_norm(own[0] + own[1], (64,), *parameters, eps=1e-5)
    norm = ttnn.layer_norm(a, epsilon=1e-5, weight=w, bias=c, residual_input_tensor=b)
    check(norm, layer, dtype)
    rms = own[0] / (own[0].pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * parameters[0]
    check(ttnn.rms_norm(a, epsilon=1e-5, weight=w), rms, dtype)
    with pytest.raises(RuntimeError, match="33 parameters for a tensor of 64 columns"):
        ttnn.rms_norm(a, weight=place(draw(33), device))


def test_embedding(device: Any) -> None:
    """Rows of a table; the result has one dimension more than the indices."""
    table = draw(100, 64).bfloat16()
    numbers = np.random.default_rng(1).integers(0, 100, (2, 32))
    indices = place(torch.as_tensor(numbers), device, "uint32", layout=ttnn.ROW_MAJOR_LAYOUT)
    expected = table[torch.as_tensor(numbers)]
    for weight in (table, table[None, None]):
        placed = place(weight, device, "bfloat16", layout=ttnn.ROW_MAJOR_LAYOUT)
        rows = ttnn.embedding(indices, placed)
        assert rows.layout == ttnn.ROW_MAJOR_LAYOUT
        assert torch.equal(ttnn.to_torch(rows), expected)
    weight = place(table, device, "bfloat16")
    tiles = ttnn.embedding(indices, weight, layout=ttnn.TILE_LAYOUT, dtype=ttnn.float32)
    assert (tiles.layout, tiles.dtype) == (ttnn.TILE_LAYOUT, ttnn.float32)
    assert torch.equal(ttnn.to_torch(tiles), expected.float())
    with pytest.raises(RuntimeError, match="were looked up in a table of 10 rows"):
        ttnn.embedding(indices, place(table[:10], device, "bfloat16"))
    with pytest.raises(RuntimeError, match="weight is of bfloat16 or bfloat8_b, not"):
        ttnn.embedding(indices, place(table.float(), device))
    with pytest.raises(RuntimeError, match="indices are uint32 or bfloat16, not"):
        ttnn.embedding(ttnn.typecast(indices, ttnn.int32), weight)


def test_gather_and_scatter(device: Any) -> None:
    """By number along a dimension, as in torch."""
    layout = ttnn.ROW_MAJOR_LAYOUT
    values, source = draw(5, 7), draw(5, 7, seed=1)
    index = torch.as_tensor(np.random.default_rng(2).integers(0, 7, (5, 4)))
    x, s = (place(each, device, layout=layout) for each in (values, source))
    i = place(index, device, "uint32", layout=layout)
    assert torch.equal(ttnn.to_torch(ttnn.gather(x, 1, i)), values.gather(1, index))
    check(ttnn.scatter_add(x, 1, i, s), values.scatter_add(1, index, source))
    for name in ("amax", "amin"):
        expected = values.scatter_reduce(1, index, source[:, :4], name)
        check(ttnn.scatter(x, 1, i, s, reduce=name), expected)
    with pytest.raises(RuntimeError, match="indices from 0 to 6 along an extent of 5"):
        ttnn.gather(x, 0, i)
    with pytest.raises(RuntimeError, match=r"index is in Layout\.ROW_MAJOR and the tensor in"):
        ttnn.gather(place(values, device), 1, i)
    with pytest.raises(RuntimeError, match=r"in tiles it takes no DataType\.FLOAT32"):
        ttnn.scatter(place(values, device), 1, i, s)


def test_ternary(device: Any) -> None:
    """Choices, products and quotients added, interpolation."""
    p, a, b = draw(5, 7), draw(5, 7, seed=1), draw(5, 7, seed=2, low=0.5)
    condition, x, y = place((p > 0).float(), device), place(a, device), place(b, device)
    assert torch.equal(ttnn.to_torch(ttnn.where(condition, x, y)), torch.where(p > 0, a, b))
    assert torch.equal(
        ttnn.to_torch(ttnn.where(condition, 2.0, y)), torch.where(p > 0, torch.tensor(2.0), b)
    )
    check(ttnn.addcmul(condition, x, y, value=0.5), torch.addcmul((p > 0).float(), a, b, value=0.5))
    check(ttnn.addcdiv(condition, x, y, value=0.5), torch.addcdiv((p > 0).float(), a, b, value=0.5))
    check(ttnn.lerp(x, y, 0.25), torch.lerp(a, b, 0.25))
    check(ttnn.mac(x, y, condition), a * b + (p > 0).float())
    integers = ttnn.where(condition, ttnn.ones((5, 7), ttnn.int32, ttnn.TILE_LAYOUT, device), 3)
    assert integers.dtype == ttnn.int32

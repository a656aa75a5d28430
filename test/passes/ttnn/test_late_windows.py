"""Convolutions of lines and volumes, norms of a batch and collectives in the spelling of 2026."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import ttmlir

Floats = npt.NDArray[np.float32]


def compute(function: str, *arrays: Floats) -> list[Floats]:
    """What a function of ttir of 2026 computes, compiled for that spelling."""
    found = ttmlir.compile(f"module {{\n{function}\n}}", spelling="2026")(*arrays)
    return [np.asarray(each) for each in (found if isinstance(found, tuple) else (found,))]


def convolve(x: Floats, weight: Floats, stride: int, margin: int, groups: int) -> Floats:
    """A convolution along all dimensions between batch and channels, written out."""
    outputs, inner, *window = weight.shape
    each = outputs // groups
    padded = np.pad(x, ((0, 0), *((margin, margin),) * len(window), (0, 0)))
    inside = zip(padded.shape[1:-1], window, strict=True)
    extents = [(extent - size) // stride + 1 for extent, size in inside]
    result = np.zeros((len(x), *extents, outputs), np.float32)
    for place in np.ndindex(*extents):
        seen = [slice(p * stride, p * stride + size) for p, size in zip(place, window, strict=True)]
        for group in range(groups):
            channels = slice(group * inner, (group + 1) * inner)
            part = np.moveaxis(padded[(slice(None), *seen, channels)], -1, 1)
            own = slice(group * each, (group + 1) * each)
            taps = weight[own].reshape(each, -1)
            result[(slice(None), *place, own)] = part.reshape(len(x), -1) @ taps.T
    return result


@pytest.mark.parametrize(("stride", "margin", "groups"), [(1, 0, 1), (2, 2, 1), (1, 1, 2)])
def test_convolution_of_lines(stride: int, margin: int, groups: int) -> None:
    """Two lines of 33 elements and four channels."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (2, 33, 4)).astype(np.float32)
    weight = rng.uniform(-1, 1, (6, 4 // groups, 5)).astype(np.float32)
    expected = convolve(x, weight, stride, margin, groups)
    shape = "x".join(map(str, expected.shape))
    types = f"(tensor<2x33x4xf32>, tensor<6x{4 // groups}x5xf32>)"
    [found] = compute(
        f"func.func @main(%x: tensor<2x33x4xf32>, %w: tensor<6x{4 // groups}x5xf32>)"
        f" -> tensor<{shape}xf32> {{\n"
        '  %0 = "ttir.conv1d"(%x, %w) <{batch_dim = 0 : i64, channel_dim = 2 : i64,'
        f" dilation = 1 : i32, groups = {groups} : i32, length_dim = 1 : i64,"
        f" padding = array<i32: {margin}, {margin}>, stride = {stride} : i32}}>"
        f" : {types} -> tensor<{shape}xf32>\n  return %0 : tensor<{shape}xf32>\n}}",
        *(x, weight),
    )
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    ("channels", "kernel", "stride", "margin"),
    [(3, 3, 1, 1), (40, 2, 1, 0), (64, 3, 2, 0)],
)
def test_convolution_of_volumes(channels: int, kernel: int, stride: int, margin: int) -> None:
    """The library computes it in bfloat16."""
    rng = np.random.default_rng(0)
    # Few small integers: products and sums are exact.
    x = rng.integers(-1, 2, (1, 4, 5, 6, channels)).astype(np.float32)
    weight = rng.integers(-1, 2, (8, channels, *[kernel] * 3)).astype(np.float32)
    expected = convolve(x, weight, stride, margin, 1)
    types = [f"tensor<{'x'.join(map(str, each.shape))}xf32>" for each in (x, weight, expected)]
    three = [", ".join([str(number)] * 3) for number in (1, margin, stride)]
    [found] = compute(
        f"func.func @main(%x: {types[0]}, %w: {types[1]}) -> {types[2]} {{\n"
        '  %0 = "ttir.conv3d"(%x, %w) <{batch_dim = 0 : i64, channel_dim = 4 : i64,'
        f" depth_dim = 1 : i64, dilation = array<i32: {three[0]}>, groups = 1 : i32,"
        f" height_dim = 2 : i64, padding = array<i32: {three[1]}>,"
        f' padding_mode = "zeros", stride = array<i32: {three[2]}>, width_dim = 3 : i64}}>'
        f" : ({types[0]}, {types[1]}) -> {types[2]}\n  return %0 : {types[2]}\n}}",
        *(x, weight),
    )
    np.testing.assert_allclose(found, expected, rtol=1e-2, atol=0.5)


def test_norm_of_a_batch() -> None:
    """Each channel by its own mean and variance, which are results, too."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 3, (2, 5, 7, 9)).astype(np.float32)
    scale, offset = (rng.uniform(1, 2, 5).astype(np.float32) for _ in range(2))
    image, vector = "tensor<2x5x7x9xf32>", "tensor<5xf32>"
    normed, mean, variance = compute(
        f"func.func @main(%x: {image}, %s: {vector}, %o: {vector})"
        f" -> ({image}, {vector}, {vector}) {{\n"
        '  %0:3 = "ttir.batch_norm_training"(%x, %s, %o) <{dimension = 1 : i32,'
        " epsilon = 1.0e-5 : f32, momentum = 1.0 : f32,"
        " operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}>"
        f" : ({image}, {vector}, {vector}) -> ({image}, {vector}, {vector})\n"
        f"  return %0#0, %0#1, %0#2 : {image}, {vector}, {vector}\n}}",
        *(x, scale, offset),
    )
    dims = (0, 2, 3)
    np.testing.assert_allclose(mean, x.mean(dims), rtol=1e-3)
    np.testing.assert_allclose(variance, x.var(dims), rtol=1e-3)
    wide = [each[:, None, None] for each in (x.mean(dims), x.var(dims), scale, offset)]
    expected = (x - wide[0]) / np.sqrt(wide[1] + 1e-5) * wide[2] + wide[3]
    np.testing.assert_allclose(normed, expected, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize(
    "call",
    [
        '"ttir.all_to_all"(%x) <{concat_dim = 0 : si32, replica_groups = dense<0> :'
        " tensor<1x1xi64>, split_count = 1 : si32, split_dim = 1 : si32}>",
        '"ttir.collective_broadcast"(%x) <{replica_groups = dense<0> : tensor<1x1xi64>}>',
        '"ttir.collective_permute"(%x) <{source_target_pairs = dense<0> : tensor<1x2xi64>}>',
    ],
)
def test_one_device_keeps_its_tensor(call: str) -> None:
    """Collectives of a mesh of one device change nothing."""
    x = np.arange(64, dtype=np.float32).reshape(2, 32)
    type_ = "tensor<2x32xf32>"
    [found] = compute(
        f"func.func @main(%x: {type_}) -> {type_} {{\n"
        f"  %0 = {call} : ({type_}) -> {type_}\n  return %0 : {type_}\n}}",
        x,
    )
    np.testing.assert_array_equal(found, x)

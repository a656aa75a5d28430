"""Kernels and reference functions of convolutions and poolings, against torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from running.randomness import TestGenerator
from torch.nn import functional

from ttmlir.optable import DEFINITIONS
from ttmlir.runtime.execution import window_kernels
from ttmlir.runtime.execution.kernels import KERNELS

RNG = TestGenerator(__name__)


def normal(*shape: int) -> Any:
    """Numbers around 0."""
    return RNG.standard_normal(shape).astype(np.float32)


def both(op: str, inputs: list[Any], expected: torch.Tensor, **parameters: Any) -> None:
    """Compare the kernel and the reference function with an NCHW result of torch."""
    right = expected.permute(0, 2, 3, 1).numpy()
    for function in (KERNELS[op], DEFINITIONS[op].reference):
        result = function(np, *inputs, **parameters)
        np.testing.assert_allclose(result, right, rtol=1e-4, atol=1e-4)


def image_parameters(image: Any, channels: str, **pairs: tuple[int, int]) -> dict[str, Any]:
    """Extents of the image, and pairs of numbers for height and width."""
    batch, height, width, count = image.shape
    named = {
        f"{name}_{axis}": pair[i]
        for name, pair in pairs.items()
        for i, axis in enumerate(("height", "width"))
    }
    extents = {"batch_size": batch, "input_height": height, "input_width": width}
    return {**extents, channels: count, **named}


def nchw(image: Any) -> torch.Tensor:
    """An NHWC image as torch takes it."""
    return torch.from_numpy(image).permute(0, 3, 1, 2)


PAIRS = st.tuples(st.integers(1, 3), st.integers(1, 3))
MARGINS = st.tuples(st.integers(0, 1), st.integers(0, 1))
FEW = settings(max_examples=25, deadline=None)


@FEW
@given(PAIRS, PAIRS, PAIRS, MARGINS, st.sampled_from([1, 2, 6]), st.integers(1, 2))
def test_conv2d(
    kernel: Any, stride: Any, dilation: Any, padding: Any, groups: int, outputs: int
) -> None:
    """Depthwise convolutions, other groups and plain ones."""
    image, weight = normal(2, 7, 8, 6), normal(6 * outputs, 6 // groups, *kernel)
    bias = normal(1, 1, 1, 6 * outputs)
    options = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    weights = torch.from_numpy(weight)
    expected = functional.conv2d(nchw(image), weights, torch.from_numpy(bias.ravel()), **options)
    named = image_parameters(
        image, "in_channels", kernel=kernel, stride=stride, dilation=dilation, padding=padding
    )
    channels = {"out_channels": 6 * outputs, "groups": groups}
    both("conv2d", [image, weight, bias], expected, **named, **channels)
    packed = window_kernels.pack_conv2d({**named, **channels}, weight, bias)
    first, second = packed(image), packed(image)
    assert not np.may_share_memory(first, second)
    np.testing.assert_allclose(first, expected.permute(0, 2, 3, 1).numpy(), rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("often", [False, True])
@pytest.mark.parametrize("above", [1, 2])
@pytest.mark.parametrize(("stride", "dilation"), [((1, 1), (1, 1)), ((2, 1), (1, 2))])
def test_conv2d_of_one_pixel(often: bool, above: int, stride: Any, dilation: Any) -> None:
    """Most of the window lies beside the image; some positions meet nothing, also no infinity."""
    image, weight, bias = normal(3, 1, 1, 5), normal(7, 5, 2, 5), normal(1, 1, 1, 7)
    image[1, 0, 0, 2] = np.inf
    options: Any = {"stride": stride, "padding": (above, 4), "dilation": dilation}
    weights = torch.from_numpy(weight)
    expected = functional.conv2d(nchw(image), weights, torch.from_numpy(bias.ravel()), **options)
    named = image_parameters(image, "in_channels", kernel=(2, 5), **options)
    packed = window_kernels.pack_conv2d({**named, "groups": 1}, weight, bias, often=often)
    right = expected.permute(0, 2, 3, 1).numpy()
    with np.errstate(invalid="ignore"):
        found = packed(image)
    np.testing.assert_allclose(found, right, rtol=1e-4, atol=1e-4)


def test_conv2d_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The matrix of pixels is made of some images or some rows at a time."""
    image, weight = normal(5, 7, 8, 3), normal(4, 3, 3, 3)
    expected = functional.conv2d(nchw(image), torch.from_numpy(weight))
    ones = dict.fromkeys(("stride", "dilation"), (1, 1))
    named = image_parameters(image, "in_channels", kernel=(3, 3), padding=(0, 0), **ones)
    for block in (1, 2 * 6 * 27, 2 * 5 * 6 * 27):
        monkeypatch.setattr(window_kernels, "_BLOCK", block)
        both("conv2d", [image, weight], expected, **named, out_channels=4, groups=1)


@pytest.mark.parametrize("moved", [1, 3 * 16 * 12, 1 << 18])
@pytest.mark.parametrize("dilation", [(1, 1), (2, 1)])
def test_conv2d_of_planes(monkeypatch: pytest.MonkeyPatch, moved: int, dilation: Any) -> None:
    """Groups of few channels, of large images, some lines at a time."""
    monkeypatch.setattr(window_kernels, "_MANY_POSITIONS", 1)
    monkeypatch.setattr(window_kernels, "_MOVED", moved)
    image, weight = normal(2, 9, 10, 6), normal(9, 2, 2, 3)
    options: Any = {"dilation": dilation, "padding": (1, 2)}
    expected = functional.conv2d(nchw(image), torch.from_numpy(weight), groups=3, **options)
    named = image_parameters(image, "in_channels", kernel=(2, 3), stride=(1, 1), **options)
    both("conv2d", [image, weight], expected, **named, out_channels=9, groups=3)


@pytest.mark.parametrize("most", [1, 512])
def test_infinities_stay_in_their_group(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Groups that share a product do not see each other's numbers."""
    monkeypatch.setattr(window_kernels, "_MANY_POSITIONS", most)
    image, weight = normal(1, 5, 6, 8), normal(4, 2, 3, 3)
    image[0, 2, 3, 4] = np.inf
    expected = functional.conv2d(nchw(image), torch.from_numpy(weight), groups=4)
    pairs = {"kernel": (3, 3), "padding": (0, 0), "stride": (1, 1), "dilation": (1, 1)}
    named = image_parameters(image, "in_channels", **pairs)
    both("conv2d", [image, weight], expected, **named, out_channels=4, groups=4)


@FEW
@given(PAIRS, PAIRS, PAIRS, MARGINS, MARGINS, st.sampled_from([1, 2, 6]), st.sampled_from([2, 9]))
def test_conv_transpose2d(
    kernel: Any, stride: Any, dilation: Any, padding: Any, more: Any, groups: int, part: int
) -> None:
    """Strides beyond the kernel leave holes; output padding adds rows that nothing reaches."""
    outputs = part * groups
    more = tuple(min(m, max(s, d) - 1) for m, s, d in zip(more, stride, dilation, strict=True))
    reach = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
    padding = tuple(min(p, r) for p, r in zip(padding, reach, strict=True))
    image, weight, bias = normal(2, 4, 3, 6), normal(6, part, *kernel), normal(1, 1, 1, outputs)
    expected = functional.conv_transpose2d(
        nchw(image),
        torch.from_numpy(weight),
        torch.from_numpy(bias.ravel()),
        stride=stride,
        padding=padding,
        output_padding=more,
        groups=groups,
        dilation=dilation,
    )
    named = image_parameters(
        image, "in_channels", kernel=kernel, stride=stride, dilation=dilation, output_padding=more
    )
    sides = dict.fromkeys(("padding_top", "padding_bottom"), padding[0])
    sides |= dict.fromkeys(("padding_left", "padding_right"), padding[1])
    channels = {"out_channels": outputs, "groups": groups}
    both("conv_transpose2d", [image, weight, bias], expected, **named, **sides, **channels)
    packed = window_kernels.pack_conv_transpose2d({**named, **sides, **channels}, weight, bias)
    first, second = packed(image), packed(image)
    assert not np.may_share_memory(first, second)
    np.testing.assert_array_equal(first, second)


@FEW
@given(PAIRS, PAIRS, MARGINS, st.booleans(), st.booleans())
def test_avg_pool2d(kernel: Any, stride: Any, padding: Any, ceil: bool, include: bool) -> None:
    """What padding and the last, partly filled window count for."""
    padding = tuple(min(p, k // 2) for p, k in zip(padding, kernel, strict=True))
    image = normal(2, 7, 8, 3)
    expected = functional.avg_pool2d(nchw(image), kernel, stride, padding, ceil, include)
    named = image_parameters(image, "channels", kernel=kernel, stride=stride, dilation=(1, 1))
    sides = dict.fromkeys(("padding_top", "padding_bottom"), padding[0])
    sides |= dict.fromkeys(("padding_left", "padding_right"), padding[1])
    modes = {"ceil_mode": ceil, "count_include_pad": include}
    both("avg_pool2d", [image], expected, **named, **sides, **modes)

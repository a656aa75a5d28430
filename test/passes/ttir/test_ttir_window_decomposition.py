"""Operations on windows of images taken apart, against torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from running.pass_runner import TTNN_PIPELINE, executed, lowered
from samples.ttir_text import FunctionText, tensor
from torch.nn import functional

PASS = "ttir-window-decomposition"


def attributes(**values: int | bool) -> str:
    """Integers are si32, as ttir's windows have them."""
    return ", ".join(
        f"{name} = {str(value).lower()}" if isinstance(value, bool) else f"{name} = {value} : si32"
        for name, value in values.items()
    )


def window(kernel: tuple[int, int], stride: tuple[int, int], **more: int | bool) -> str:
    """The attributes of a pooling without dilation."""
    return attributes(
        kernel_height=kernel[0],
        kernel_width=kernel[1],
        stride_height=stride[0],
        stride_width=stride[1],
        dilation_height=1,
        dilation_width=1,
        **more,
    )


def ran(mnemonic: str, inputs: list[np.ndarray], shape: tuple[int, ...], text: str) -> np.ndarray:
    """The result of an operation in parts; no operation on windows is among them."""
    f = FunctionText([tensor(*array.shape) for array in inputs])
    source = f.returning(f.op(mnemonic, [*f.types], tensor(*shape), text))
    names = {op.name for op in lowered(source, PASS).walk()}
    assert f"ttir.{mnemonic}" not in names
    (result,) = executed(source, inputs, PASS, TTNN_PIPELINE)
    return result


def nhwc(image: torch.Tensor) -> np.ndarray:
    """An image of torch with its channels last."""
    return image.permute(0, 2, 3, 1).contiguous().numpy()


IMAGE = torch.randn(2, 5, 7, 9, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize("counts", [False, True])
def test_averages_divide_by_what_counts(ceil_mode: bool, counts: bool) -> None:
    """Padding counts or does not, and the last window may be cut off."""
    expected = nhwc(functional.avg_pool2d(IMAGE, (3, 2), (2, 2), (1, 1), ceil_mode, counts))
    text = window(
        (3, 2),
        (2, 2),
        padding_top=1,
        padding_bottom=1,
        padding_left=1,
        padding_right=1,
        ceil_mode=ceil_mode,
        count_include_pad=counts,
    )
    result = ran("avg_pool2d", [nhwc(IMAGE)], expected.shape, text)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("ceil_mode", [False, True])
def test_the_largest_of_a_window_is_none_of_the_padding(ceil_mode: bool) -> None:
    """All numbers are below 0, so that a padding of 0 would win."""
    image = -IMAGE.abs() - 1
    expected = nhwc(functional.max_pool2d(image, (2, 3), (2, 3), (1, 1), 1, ceil_mode))
    text = window(
        (2, 3),
        (2, 3),
        ceil_mode=ceil_mode,
        padding_top=1,
        padding_bottom=1,
        padding_left=1,
        padding_right=1,
    )
    result = ran("max_pool2d", [nhwc(image)], expected.shape, text)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    ("kernel", "stride", "padding", "groups", "outer"),
    [
        ((1, 1), (1, 1), (0, 0), 1, 3),
        ((2, 3), (2, 3), (0, 0), 1, 4),
        ((3, 2), (1, 2), (1, 0), 1, 4),
        ((3, 3), (1, 1), (1, 1), 5, 5),
        ((3, 3), (2, 1), (1, 1), 5, 10),
    ],
    ids=["point", "patches", "overlapping", "each-channel", "groups"],
)
def test_convolutions(
    kernel: tuple[int, int],
    stride: tuple[int, int],
    padding: tuple[int, int],
    groups: int,
    outer: int,
) -> None:
    """Each way to take one apart, with a bias."""
    generator = torch.Generator().manual_seed(1)
    weight = torch.randn(outer, 5 // groups, *kernel, generator=generator)
    bias = torch.randn(outer, generator=generator)
    expected = nhwc(functional.conv2d(IMAGE, weight, bias, stride, padding, 1, groups))
    text = attributes(
        stride_height=stride[0],
        stride_width=stride[1],
        dilation_height=1,
        dilation_width=1,
        groups=groups,
        padding_left=padding[1],
        padding_right=padding[1],
        padding_top=padding[0],
        padding_bottom=padding[0],
    )
    inputs = [nhwc(IMAGE), weight.numpy(), bias.numpy().reshape(1, 1, 1, -1)]
    result = ran("conv2d", inputs, expected.shape, text)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


def test_transposed_convolution() -> None:
    """Strides leave holes, padding cuts, output padding adds, groups stay apart."""
    generator = torch.Generator().manual_seed(2)
    image = torch.randn(2, 4, 3, 5, generator=generator)
    weight = torch.randn(4, 3, 3, 2, generator=generator)
    expected = nhwc(
        functional.conv_transpose2d(image, weight, None, (2, 3), (1, 0), (1, 0), 2, (1, 2))
    )
    text = attributes(
        stride_height=2,
        stride_width=3,
        dilation_height=1,
        dilation_width=2,
        groups=2,
        padding_left=0,
        padding_right=0,
        padding_top=1,
        padding_bottom=1,
        output_padding_height=1,
        output_padding_width=0,
    )
    result = ran("conv_transpose2d", [nhwc(image), weight.numpy()], expected.shape, text)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)

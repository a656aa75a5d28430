"""Convolutions, poolings and images of other sizes against torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from ttmlir import ttnn


@pytest.fixture
def device(tolerant_device: Any) -> Any:
    """Numbers are compared in float32 and in rows, too, where a card takes others only."""
    return tolerant_device


LIMITS = {"bfloat16": 0.02, "float32": 1e-5, "bfloat8_b": 0.04}
"""The largest error by data type, relative to the largest number."""


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    """Random numbers that bfloat16 has."""
    numbers = np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)
    return torch.as_tensor(numbers).bfloat16().float()


def place(image: torch.Tensor, device: Any, dtype: str = "float32", *, flat: bool = True) -> Any:
    """An image (N, C, H, W) on the device, channels last."""
    values = image.permute(0, 2, 3, 1)
    layout = ttnn.TILE_LAYOUT if dtype == "bfloat8_b" else ttnn.ROW_MAJOR_LAYOUT
    if flat:
        values = values.reshape(1, 1, -1, image.shape[1])
    return ttnn.from_torch(values, getattr(ttnn, dtype), layout=layout, device=device)


def check(actual: Any, expected: torch.Tensor, dtype: str = "float32") -> None:
    """The image (N, C, H, W), flattened with its channels last."""
    result = ttnn.to_torch(actual).double()
    expected = expected.permute(0, 2, 3, 1).reshape(1, 1, -1, expected.shape[1]).double()
    assert result.shape == expected.shape
    assert (result - expected).abs().max() <= LIMITS[dtype] * expected.abs().max()


def window(values: torch.Tensor, device: Any, **others: Any) -> dict[str, Any]:
    """Arguments of a convolution of an image (N, C, H, W)."""
    batch, channels, height, width = values.shape
    return {
        "device": device,
        "in_channels": channels,
        "batch_size": batch,
        "input_height": height,
        "input_width": width,
        **others,
    }


CONVOLUTIONS = [
    # Channels, outputs, kernel, stride, padding, dilation, groups.
    (3, 8, (3, 3), (1, 1), (1, 1), (1, 1), 1),
    (6, 4, (1, 3), (2, 1), (0, 2), (1, 2), 2),
    (5, 10, (2, 2), (1, 3), (1, 0), (2, 1), 5),
    (33, 40, (1, 1), (1, 1), (0, 0), (1, 1), 1),
]


@pytest.mark.parametrize("dtype", list(LIMITS))
@pytest.mark.parametrize("case", CONVOLUTIONS)
@pytest.mark.parametrize("has_bias", [True, False])
def test_conv2d(case: Any, dtype: str, has_bias: bool, device: Any) -> None:
    """As torch's, of images that are flattened or not; the weight comes back prepared."""
    channels, outputs, kernel, stride, padding, dilation, groups = case
    image, weight = draw(2, channels, 11, 14), draw(outputs, channels // groups, *kernel, seed=1)
    bias = draw(outputs, seed=2) if has_bias else None
    expected = functional.conv2d(image, weight, bias, stride, padding, dilation, groups)
    arguments = window(
        image,
        device,
        out_channels=outputs,
        kernel_size=kernel,
        stride=stride,
        padding=padding,
        dilation=dilation,
        groups=groups,
        conv_config=ttnn.Conv2dConfig(weights_dtype=ttnn.bfloat16),
    )
    given = None if bias is None else ttnn.from_torch(bias.reshape(1, 1, 1, -1))
    result, size, (prepared, prepared_bias) = ttnn.conv2d(
        input_tensor=place(image, device, dtype),
        weight_tensor=ttnn.from_torch(weight),
        bias_tensor=given,
        return_output_dim=True,
        return_weights_and_bias=True,
        **arguments,
    )
    assert size == tuple(expected.shape[2:])
    assert (result.dtype, result.layout) == (getattr(ttnn, dtype), ttnn.TILE_LAYOUT)
    check(result, expected, dtype)
    assert prepared.shape == [1, 1, weight[0].numel(), outputs]
    assert (prepared.device(), prepared.dtype) == (device, ttnn.bfloat16)
    again = ttnn.conv2d(
        input_tensor=place(image, device, dtype, flat=False),
        weight_tensor=prepared,
        bias_tensor=prepared_bias,
        dtype=ttnn.float32,
        **arguments,
    )
    assert again.dtype == ttnn.float32
    check(again, expected, dtype)


def test_conv2d_settings(device: Any) -> None:
    """Activations, other layouts and memories, and padding of four sides."""
    image, weight = draw(1, 4, 9, 7), draw(6, 4, 3, 2, seed=1)
    config = ttnn.Conv2dConfig(activation="relu", output_layout=ttnn.ROW_MAJOR_LAYOUT)
    config.deallocate_activation = True
    arguments = window(image, device, out_channels=6, kernel_size=(3, 2), padding=(1, 0, 2, 1))
    x = place(image, device)
    result = ttnn.conv2d(
        input_tensor=x,
        weight_tensor=ttnn.from_torch(weight),
        conv_config=config,
        memory_config=ttnn.L1_MEMORY_CONFIG,
        **arguments,
    )
    assert (result.layout, result.memory_config()) == (ttnn.ROW_MAJOR_LAYOUT, ttnn.L1_MEMORY_CONFIG)
    expected = functional.conv2d(functional.pad(image, (2, 1, 1, 0)), weight).relu()
    check(result, expected)
    assert not x.is_allocated()
    prepared = ttnn.prepare_conv_weights(
        weight_tensor=ttnn.from_torch(weight), weights_format="OIHW", has_bias=False, **arguments
    )
    result = ttnn.conv2d(input_tensor=place(image, device), weight_tensor=prepared, **arguments)
    check(result.cpu(), functional.conv2d(functional.pad(image, (2, 1, 1, 0)), weight))


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_prepared_parameters(dtype: str, device: Any) -> None:
    """Weights and biases may be prepared once; extents follow from those of the window."""
    image, weight, bias = draw(1, 4, 9, 7), draw(6, 4, 3, 2, seed=1), draw(1, 1, 1, 6, seed=2)
    arguments = window(image, device, out_channels=6, kernel_size=(3, 2), stride=(2, 1))
    own = [ttnn.from_torch(each, getattr(ttnn, dtype)) for each in (weight, bias)]
    matrix = ttnn.prepare_conv_weights(
        weight_tensor=own[0], weights_format="OIHW", has_bias=True, **arguments
    )
    added = ttnn.prepare_conv_bias(bias_tensor=own[1], **arguments)
    for each in (matrix, added):
        assert (each.dtype, each.device()) == (own[0].dtype, device)
        assert each.layout == ttnn.TILE_LAYOUT
    x = place(image, device, dtype)
    made = ttnn.conv2d(input_tensor=x, weight_tensor=matrix, bias_tensor=added, **arguments)
    weight, bias = (ttnn.to_torch(each).float() for each in own)
    held = image.to(ttnn.to_torch(own[0]).dtype).float()
    expected = functional.conv2d(held, weight, bias.reshape(-1), stride=(2, 1))
    check(made, expected, dtype)
    extents = [ttnn.get_conv_output_dim(9, 3, 2), ttnn.get_conv_output_dim(7, 2)]
    assert extents == list(expected.shape[2:])
    for stride, padding, dilation in ((1, 1, 1), (2, 0, 2), (3, 2, 1)):
        wanted = functional.conv1d(
            torch.zeros(1, 1, 17), torch.zeros(1, 1, 3), None, stride, padding, dilation
        )
        found = ttnn.get_conv_output_dim(17, 3, stride, padding, dilation)
        assert found == wanted.shape[-1]


def test_conv2d_refusals(device: Any) -> None:
    """What does not go together is said with all numbers."""
    image, weight = draw(1, 4, 9, 7), draw(6, 4, 3, 2, seed=1)
    given = {
        "input_tensor": place(image, device),
        "weight_tensor": ttnn.from_torch(weight),
        **window(image, device, out_channels=6, kernel_size=(3, 2)),
    }
    for changed, message in (
        (
            {"input_height": 8},
            "ttnn.conv2d: input_tensor has Shape([1, 1, 63, 4]); for these extents it must be "
            "[1, 1, 56, 4] or [1, 8, 7, 4]",
        ),
        (
            {"kernel_size": (3, 3)},
            "ttnn.conv2d: weight_tensor has Shape([6, 4, 3, 2]); for these channels and this "
            "kernel it must be [6, 4, 3, 3], or [1, 1, 36, 6] if it is prepared",
        ),
        (
            {"groups": 4},
            "ttnn.conv2d: 4 input and 6 output channels cannot be split into 4 groups",
        ),
        (
            {"dilation": (5, 1)},
            "ttnn.conv2d: the window reaches over 11 elements, more than the height 9 and its "
            "padding of 0 and 0",
        ),
        (
            {"padding": (1, 2, 3)},
            "ttnn.conv2d: padding has one number, two (height, width) or four (top, bottom, left, "
            "right), none negative; got [1, 2, 3]",
        ),
    ):
        with pytest.raises(RuntimeError) as error:
            ttnn.conv2d(**{**given, **changed})
        assert message in str(error.value)
    with pytest.raises(
        TypeError, match="unexpected keyword argument 'strides'; did you mean 'stri"
    ):
        ttnn.conv2d(strides=(1, 1), **given)
    with pytest.raises(ValueError, match="act_block_h_override=33 is not a multiple of 32"):
        ttnn.Conv2dConfig(act_block_h_override=33)


@pytest.mark.parametrize("padding", [1, (2, 0)])
def test_conv1d(padding: Any, device: Any) -> None:
    """A convolution along one extent."""
    rows, weight, bias = draw(2, 6, 19), draw(8, 3, 5, seed=1), draw(8, seed=2)
    result, length = ttnn.conv1d(
        input_tensor=ttnn.from_torch(rows.permute(0, 2, 1), device=device),
        weight_tensor=ttnn.from_torch(weight),
        bias_tensor=ttnn.from_torch(bias.reshape(1, 1, 1, -1)),
        device=device,
        in_channels=6,
        out_channels=8,
        batch_size=2,
        input_length=19,
        kernel_size=5,
        stride=2,
        padding=padding,
        groups=2,
        return_output_dim=True,
    )
    sides = (padding, padding) if isinstance(padding, int) else padding
    padded = functional.pad(rows, sides)
    expected = functional.conv1d(padded, weight, bias, stride=2, groups=2)
    assert length == expected.shape[-1]
    check(result, expected[..., None])


@pytest.mark.parametrize("mirrored", [True, False])
@pytest.mark.parametrize(
    ("stride", "padding", "added", "groups"),
    [((2, 2), (1, 1), (1, 1), 1), ((3, 1), (0, 2), (1, 0), 2), ((1, 1), (0, 0), (0, 0), 3)],
)
def test_conv_transpose2d(
    stride: Any, padding: Any, added: Any, groups: int, mirrored: bool, device: Any
) -> None:
    """As torch's; a weight that is turned already is turned back."""
    image, weight, bias = draw(2, 6, 5, 8), draw(6, 12 // groups, 3, 4, seed=1), draw(12, seed=2)
    expected = functional.conv_transpose2d(image, weight, bias, stride, padding, added, groups)
    given = weight if mirrored else weight.flip(2, 3)
    result, size = ttnn.conv_transpose2d(
        input_tensor=place(image, device),
        weight_tensor=ttnn.from_torch(given),
        bias_tensor=ttnn.from_torch(bias.reshape(1, 1, 1, -1)),
        **window(image, device, out_channels=12, kernel_size=(3, 4), stride=stride),
        padding=padding,
        output_padding=added,
        groups=groups,
        mirror_kernel=mirrored,
        return_output_dim=True,
    )
    assert size == tuple(expected.shape[2:])
    check(result, expected)


POOLS = [
    # Kernel, stride, padding, dilation, ceil mode.
    ((2, 2), (2, 2), (0, 0), (1, 1), False),
    ((3, 3), (2, 2), (1, 1), (1, 1), True),
    ((3, 2), (2, 1), (1, 0), (2, 1), False),
    ((2, 5), (3, 4), (1, 2), (1, 1), True),
]


@pytest.mark.parametrize("dtype", list(LIMITS))
@pytest.mark.parametrize("case", POOLS)
def test_max_pool2d(case: Any, dtype: str, device: Any) -> None:
    """As torch's, in rows; block floats become bfloat16."""
    kernel, stride, padding, dilation, ceil_mode = case
    image = draw(2, 5, 13, 10)
    x = place(image, device, dtype)
    held = ttnn.to_torch(x).float().reshape(2, 13, 10, 5).permute(0, 3, 1, 2)
    expected, places = functional.max_pool2d(
        held, kernel, stride, padding, dilation, ceil_mode, return_indices=True
    )
    arguments = (x, 2, 13, 10, 5, kernel, stride, padding, dilation, ceil_mode)
    result = ttnn.max_pool2d(*arguments)
    wanted = ttnn.bfloat16 if dtype == "bfloat8_b" else x.dtype
    assert (result.dtype, result.layout) == (wanted, ttnn.ROW_MAJOR_LAYOUT)
    check(result, expected)
    if dtype == "float32":
        result, indices = ttnn.max_pool2d(*arguments, return_indices=True)
        check(result, expected)
        assert indices.dtype == ttnn.uint16
        check(ttnn.from_torch(torch.as_tensor(ttnn.to_numpy(indices).astype(np.float32))), places)


def test_max_pool2d_of_four_sides(device: Any) -> None:
    """Padding of each side never wins; tiles on request."""
    image = draw(1, 3, 6, 7) - 5
    result = ttnn.max_pool2d(
        place(image, device),
        *(1, 6, 7, 3, (2, 3), (1, 2), (1, 0, 0, 1), (1, 1)),
        output_layout=ttnn.TILE_LAYOUT,
        dtype=ttnn.bfloat16,
    )
    padded = functional.pad(image, (0, 1, 1, 0), value=-torch.inf)
    assert (result.dtype, result.layout) == (ttnn.bfloat16, ttnn.TILE_LAYOUT)
    check(result, functional.max_pool2d(padded, (2, 3), (1, 2)), "bfloat16")


@pytest.mark.parametrize("dtype", list(LIMITS))
@pytest.mark.parametrize("case", [case for case in POOLS if case[3] == (1, 1)])
@pytest.mark.parametrize(("counted", "divisor"), [(True, None), (False, None), (True, 3)])
def test_avg_pool2d(case: Any, dtype: str, counted: bool, divisor: int | None, device: Any) -> None:
    """As torch's, with each way to count."""
    kernel, stride, padding, _, ceil_mode = case
    image = draw(2, 5, 13, 10)
    expected = functional.avg_pool2d(image, kernel, stride, padding, ceil_mode, counted, divisor)
    result = ttnn.avg_pool2d(
        place(image, device, dtype),
        *(2, 13, 10, 5, kernel, stride, padding),
        ceil_mode=ceil_mode,
        count_include_pad=counted,
        divisor_override=divisor,
    )
    check(result, expected, dtype)


def test_pools_of_parts(device: Any) -> None:
    """Means of whole images, and poolings to a size."""
    image = draw(2, 5, 13, 10)
    flat = place(image, device)
    result = ttnn.global_avg_pool2d(place(image, device, flat=False))
    expected = image.mean((2, 3)).reshape(2, 1, 1, 5)
    assert torch.allclose(ttnn.to_torch(result), expected, atol=1e-6)
    for size in ((1, 1), (3, 4), (13, 7)):
        check(
            ttnn.adaptive_avg_pool2d(flat, 2, 13, 10, 5, size),
            functional.adaptive_avg_pool2d(image, size),
        )
        check(
            ttnn.adaptive_max_pool2d(flat, 2, 13, 10, 5, size),
            functional.adaptive_max_pool2d(image, size),
        )


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize(("mode", "scale"), [("nearest", 2), ("nearest", (3, 1)), ("bilinear", 2)])
def test_upsample(mode: str, scale: Any, dtype: str, device: Any) -> None:
    """As torch's, channels last."""
    image = draw(2, 5, 6, 7)
    result = ttnn.upsample(place(image, device, dtype, flat=False), scale, mode=mode)
    expected = functional.interpolate(
        image, scale_factor=scale, mode=mode, align_corners=False if mode == "bilinear" else None
    )
    found = ttnn.to_torch(result).float()
    assert torch.allclose(found, expected.permute(0, 2, 3, 1), atol=LIMITS[dtype])
    with pytest.raises(RuntimeError, match="mode is 'nearest' or 'bilinear', not 'cubic'"):
        ttnn.upsample(place(image, device, flat=False), 2, mode="cubic")


@pytest.mark.parametrize("mode", ["nearest", "bilinear"])
@pytest.mark.parametrize("aligned", [True, False])
def test_grid_sample(mode: str, aligned: bool, device: Any) -> None:
    """As torch's; 0 outside the image."""
    image, grid = draw(2, 5, 6, 7), draw(2, 4, 3, 2, seed=1) * 1.3
    result = ttnn.grid_sample(
        place(image, device, flat=False),
        ttnn.from_torch(grid, device=device),
        mode=mode,
        align_corners=aligned,
    )
    expected = functional.grid_sample(image, grid, mode, "zeros", aligned)
    assert torch.allclose(ttnn.to_torch(result), expected.permute(0, 2, 3, 1), atol=1e-5)


def test_rotate(device: Any) -> None:
    """Counter-clockwise; what comes from outside is filled."""
    image = draw(2, 3, 8, 8)
    x = place(image, device, flat=False)
    for quarter in (1, 2, 3):
        expected = torch.rot90(image, quarter, (2, 3)).permute(0, 2, 3, 1)
        assert torch.equal(ttnn.to_torch(ttnn.rotate(x, 90 * quarter)), expected)
    angle = np.deg2rad(27)
    turn = torch.tensor([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0]])
    grid = functional.affine_grid(turn.expand(2, 2, 3).float(), [2, 3, 8, 8], align_corners=False)
    expected = functional.grid_sample(image, grid, "bilinear", "zeros", False)
    result = ttnn.rotate(x, 27, interpolation_mode="bilinear")
    assert torch.allclose(ttnn.to_torch(result), expected.permute(0, 2, 3, 1), atol=1e-4)
    corner = ttnn.to_torch(ttnn.rotate(x, 45, fill=9.0))[0, 0, 0]
    assert corner.tolist() == [9.0] * 3
    with pytest.raises(RuntimeError, match="expand=True is not supported; the result has the inpu"):
        ttnn.rotate(x, 45, expand=True)


@pytest.mark.parametrize("groups", [0, -1, 3])
def test_groups_of_convolutions(groups: int, device: Any) -> None:
    """Groups divide the channels, and there is at least one."""
    x, weight = place(draw(1, 4, 5, 5), device), ttnn.from_torch(draw(4, 4, 3, 3))
    with pytest.raises(RuntimeError, match=f"cannot be split into {groups} groups"):
        ttnn.conv2d(
            input_tensor=x,
            weight_tensor=weight,
            **{"in_channels": 4, "out_channels": 4, "batch_size": 1, "groups": groups},
            **{"input_height": 5, "input_width": 5, "kernel_size": (3, 3), "device": device},
        )

"""What operations refuse, with the words of the message."""

from __future__ import annotations

import os
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import pytest
import torch

from ttmlir import ttnn
from ttmlir.errors import Error

TILES = ttnn.TILE_LAYOUT
Call = Callable[[Any, Any], Any]


def tensor(device: Any, *shape: int, dtype: Any = ttnn.float32) -> Any:
    """Ones in tiles on a device."""
    return ttnn.ones(shape, dtype, TILES, device)


REFUSED: dict[str, tuple[Call, str]] = {
    "two unknown extents": (
        lambda d, x: ttnn.reshape(x, (-1, -1)),
        "one extent of a shape may be -1, got [-1, -1]",
    ),
    "an extent below -1": (
        lambda d, x: ttnn.reshape(x, (-2, 3)),
        "one extent of a shape may be -1, got [-2, 3]",
    ),
    "groups of concat": (
        lambda d, x: ttnn.concat([x], groups=2),
        "groups=2 do not divide dimension 0 of a tensor of Shape([3, 5])",
    ),
    "types of concat": (
        lambda d, x: ttnn.concat([x, tensor(d, 3, 5, dtype=ttnn.int32)]),
        "tensors have different data types; use ttnn.typecast first",
    ),
    "extents of concat": (
        lambda d, x: ttnn.concat([x, tensor(d, 3, 5, 1)]),
        "tensors differ in other extents than that of dimension 0: Shape([3, 5]), Shape([3, 5, 1])",
    ),
    "parts of no size": (lambda d, x: ttnn.split(x, 0), "split_size=0 makes no parts"),
    "no chunks": (lambda d, x: ttnn.chunk(x, 0), "chunks=0; there is at least one"),
    "steps of 0": (
        lambda d, x: ttnn.slice(x, [0, 0], [3, 5], [1, 0]),
        "steps are at least 1, got [1, 0]",
    ),
    "ends before starts": (
        lambda d, x: ttnn.slice(x, [2, 0], [1, 5]),
        "ends [1, 5] come before starts [2, 0]",
    ),
    "a pattern without an arrow": (
        lambda d, x: ttnn.rearrange(x, "a b"),
        "the pattern 'a b' has no '->' between two lists of axes",
    ),
    "a pattern of other dimensions": (
        lambda d, x: ttnn.rearrange(x, "a b c -> c b a"),
        "the pattern 'a b c -> c b a' is for tensors of rank 3, got [3, 5]",
    ),
    "an axis that is lost": (
        lambda d, x: ttnn.rearrange(x, "a b -> a"),
        "the pattern 'a b -> a' has b on one side only; rearrange neither repeats nor reduces",
    ),
    "an axis twice": (
        lambda d, x: ttnn.rearrange(x, "a a -> a"),
        "the pattern 'a a -> a' has a twice on one side",
    ),
    "an open parenthesis": (
        lambda d, x: ttnn.rearrange(x, "a b -> (a b"),
        "a parenthesis of the pattern 'a b -> (a b' is not closed",
    ),
    "something else in a pattern": (
        lambda d, x: ttnn.rearrange(x, "a b -> a . b"),
        "'.' in the pattern 'a b -> a . b' is neither an axis, 1 nor one of parentheses",
    ),
    "axes of unknown extents": (
        lambda d, x: ttnn.rearrange(x, "(a b) c -> a b c"),
        "the extents of a and b in the pattern '(a b) c -> a b c' are not known; give all but one, "
        "such as a=2",
    ),
    "extents that do not divide": (
        lambda d, x: ttnn.rearrange(x, "(a b) c -> a b c", a=2),
        "2 is no divisor of the dimension of 3 that is 'a b' in the pattern '(a b) c -> a b c'",
    ),
    "extents of no axis": (
        lambda d, x: ttnn.rearrange(x, "a b -> b a", c=2),
        "c is no axis on the left of the pattern 'a b -> b a'",
    ),
    "no ends": (lambda d, x: ttnn.slice(x, [0, 0]), "slice is missing argument 'ends'"),
    "no starts": (
        lambda d, x: ttnn.slice(x, ends=[0, 0]),
        "slice is missing argument 'starts'",
    ),
    "padding of other dimensions": (
        lambda d, x: ttnn.pad(x, [(0, 0), (0, 0), (0, 1)], 0.0),
        "padding has a pair of numbers for each of 2 dimensions, got [(0, 0), (0, 0), (0, 1)]",
    ),
    "floats beyond integers": (
        lambda d, x: ttnn.add(ttnn.typecast(x, ttnn.int32), 1e300),
        "input_tensor_b=1e+300 is no number of a tensor of DataType.INT32; use an integer",
    ),
    "padding below 0": (
        lambda d, x: ttnn.pad(x, [(0, -1)], 0.0),
        "padding has no numbers below 0, got [(0, 0), (0, -1)]; a slice cuts elements off: "
        "x[:2, 1:]",
    ),
    "repeated less than never": (
        lambda d, x: ttnn.repeat(x, (2, -1)),
        "a tensor is repeated at least 0 times, got [2, -1]",
    ),
    "another way to reduce": (
        lambda d, x: ttnn.scatter(i := tensor(d, 3, 5, dtype=ttnn.uint32), 1, i, i, reduce="mean"),
        "reduce is add, multiply, amax, amin or None, not 'mean'",
    ),
    "an index of other dimensions": (
        lambda d, x: ttnn.gather(x, 1, tensor(d, 5, dtype=ttnn.uint32)),
        "an index of Shape([5]) along dimension 1 of a tensor of Shape([3, 5])",
    ),
    "a dimension that is not there": (
        lambda d, x: ttnn.gather(x, 2, tensor(d, 3, 5, dtype=ttnn.uint32)),
        "dimension 2 is out of range for a tensor of rank 2",
    ),
    "another rounding": (
        lambda d, x: ttnn.div(x, x, rounding_mode="up"),
        "rounding_mode is None, 'trunc' or 'floor', not 'up'",
    ),
    "no limits": (lambda d, x: ttnn.clamp(x), "only one of 'min' and 'max' may be None"),
    "an odd number of halves": (
        lambda d, x: ttnn.glu(tensor(d, 1, 1, 3, 5), -1),
        "it takes four dimensions, the last a multiple of 64, not Shape([1, 1, 3, 5])",
    ),
    "an unknown activation": (
        lambda d, x: ttnn.add(x, x, activations=["no"]),
        "unknown activation 'no'; known are abs, abs_int32, acos, acosh, add_unary_sfpu, ",
    ),
    "a tensor that is none": (
        lambda d, x: ttnn.add(x, "no"),
        "input_tensor_b is a ttnn.Tensor or a number, not str",
    ),
    "a loss of another kind": (
        lambda d, x: ttnn.l1_loss(x, x, reduction="mean"),
        "reduction is a ttnn.LossReductionMode, not 'mean'",
    ),
    "a softmax along nothing": (
        lambda d, x: ttnn.softmax(x, dim=2),
        "dimension 2 is out of range for a tensor of rank 2",
    ),
    "a sum along nothing": (
        lambda d, x: ttnn.cumsum(x, 2),
        "dimension 2 is out of range",
    ),
    "an order along nothing": (lambda d, x: ttnn.sort(x, dim=2), "dimension 2 is out of range"),
    "an image of other rank": (
        lambda d, x: ttnn.upsample(x, 2),
        "input_tensor has Shape([3, 5]); it must be (N, H, W, C)",
    ),
    "a scale of 0": (
        lambda d, x: ttnn.upsample(tensor(d, 1, 2, 2, 3), (1, 0)),
        "scale_factor is at least 1, got [1, 0]",
    ),
    "three scales": (
        lambda d, x: ttnn.upsample(tensor(d, 1, 2, 2, 3), (1, 1, 1)),
        "scale_factor has one number or two, got [1, 1, 1]",
    ),
    "interpolation of a rotation": (
        lambda d, x: ttnn.rotate(tensor(d, 1, 2, 2, 3), 90, interpolation_mode="cubic"),
        "interpolation_mode is 'nearest' or 'bilinear', not 'cubic'",
    ),
    "interpolation of a grid": (
        lambda d, x: ttnn.grid_sample(tensor(d, 1, 2, 2, 3), tensor(d, 1, 2, 2, 2), mode="bicubic"),
        "mode is 'nearest' or 'bilinear', not 'bicubic'",
    ),
    "padding of a grid": (
        lambda d, x: ttnn.grid_sample(
            tensor(d, 1, 2, 2, 3), tensor(d, 1, 2, 2, 2), padding_mode="border"
        ),
        "padding_mode is 'zeros', not 'border'",
    ),
    "a grid of threes": (
        lambda d, x: ttnn.grid_sample(tensor(d, 1, 2, 2, 3), tensor(d, 1, 2, 2, 3)),
        "grid has Shape([1, 2, 2, 3]); it must be (1, h, w, 2)",
    ),
    "heads of another rank": (
        lambda d, x: ttnn.transformer.split_query_key_value_and_split_heads(x, num_heads=1),
        "input_tensor has Shape([3, 5]); it must be (B, S, columns)",
    ),
    "heads that do not divide": (
        lambda d, x: ttnn.transformer.split_query_key_value_and_split_heads(
            tensor(d, 1, 4, 9), num_heads=2
        ),
        "9 columns cannot be split into 2 heads of the query and 2 each of key and value",
    ),
    "heads to be joined": (
        lambda d, x: ttnn.transformer.concatenate_heads(x),
        "input_tensor has Shape([3, 5]); it must be (B, heads, S, d)",
    ),
    "a bias of other rows": (
        lambda d, x: ttnn.linear(tensor(d, 64, 3), x, bias=tensor(d, 32, 5)),
        "bias has Shape([32, 5]), the product Shape([64, 5]): each extent of a bias is 1 or that "
        "of the product; use ttnn.reshape or ttnn.repeat",
    ),
    "a bias of other columns": (
        lambda d, x: ttnn.linear(tensor(d, 64, 3), x, bias=tensor(d, 1, 4)),
        "bias has Shape([1, 4]), the product Shape([64, 5]): each",
    ),
    "a convolution without groups": (
        lambda d, x: ttnn.conv2d(
            input_tensor=tensor(d, 1, 1, 16, 3),
            weight_tensor=tensor(d, 4, 3, 1, 1),
            device=d,
            in_channels=3,
            out_channels=4,
            batch_size=1,
            input_height=4,
            input_width=4,
            kernel_size=(1, 1),
            groups=0,
        ),
        "3 input and 4 output channels cannot be split into 0 groups",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str, device: Any) -> None:
    """At the line of the call."""
    call, message = REFUSED[name]
    with pytest.raises(Error) as caught:
        call(device, tensor(device, 3, 5))
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{os.path.relpath(__file__)}:")


def test_tensors_of_two_devices() -> None:
    """Operands are on one."""
    first = ttnn.open_device(device_id=0, board="n300")
    second = ttnn.open_device(device_id=1, board="n300")
    try:
        with pytest.raises(RuntimeError, match="operands are on different devices; move one of"):
            ttnn.add(tensor(first, 2), tensor(second, 2))
    finally:
        ttnn.close_device(first)
        ttnn.close_device(second)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [((7, 3), 5), ((7, 3, 2), 3), ((8, 3, 2), 3), ((7, 3, 2, 1), 4), ((9, 3, 1, 0, 2), 5),
     ((10, 3, 3, 2, 2), 4), ((3, 3), 1)],
)  # fmt: skip
def test_output_extents_of_windows(arguments: tuple[int, ...], expected: int) -> None:
    """As torch's convolution has them."""
    assert ttnn.get_conv_output_dim(*arguments) == expected
    extent, window, *others = arguments
    stride, pad, dilation = (*others, *(1, 0, 1)[len(others) :])
    image, kernel = torch.ones(1, 1, extent), torch.ones(1, 1, window)
    found = torch.nn.functional.conv1d(image, kernel, None, stride, pad, dilation)
    assert found.shape[-1] == expected
    names = ("input", "window", "stride", "pad", "dilation")
    assert ttnn.get_conv_output_dim(**dict(zip(names, arguments, strict=False))) == expected


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("experimental.send_async_d2h", "is for a host that runs at the same time"),
        ("experimental.quasar", "is of another machine, the Quasar"),
        ("experimental.start_tensor_prefetcher", "feeds cores that compute from others"),
    ],
)
def test_reasons_of_missing_names(name: str, reason: str) -> None:
    """A name that will not be here for a reason says the reason."""
    with pytest.raises(AttributeError, match=rf"^(.*: )?ttnn\.{name} {reason}"):
        attrgetter(name)(ttnn)

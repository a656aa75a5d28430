"""Uses of the operations on windows, with oracles that go pixel by pixel."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from oracles.elementwise_oracles import positive
from samples.operation_cases import Case, Shape


def image_window(
    image: np.ndarray, y: int, x: int, n: int, span: Shape, dilation: int
) -> list[tuple[int, int, np.ndarray]]:
    """Pixels under a window that lie inside the image."""
    found = []
    for ky, kx in itertools.product(range(span[0]), range(span[1])):
        row, column = y + ky * dilation, x + kx * dilation
        if 0 <= row < image.shape[1] and 0 <= column < image.shape[2]:
            found.append((ky, kx, image[n, row, column]))
    return found


def convolved(
    stride: Shape, padding: Shape, dilation: int, out: Shape, groups: int = 1
) -> Callable[..., Any]:
    """Convolution pixel by pixel."""

    def oracle(image: np.ndarray, weight: np.ndarray, bias: np.ndarray | None = None) -> np.ndarray:
        result = np.zeros(out)
        part_in, part_out = image.shape[-1] // groups, out[-1] // groups
        for n, i, j, o in np.ndindex(out):
            first = o // part_out * part_in
            y, x = i * stride[0] - padding[0], j * stride[1] - padding[1]
            for ky, kx, pixel in image_window(image, y, x, n, weight.shape[2:], dilation):
                result[n, i, j, o] += pixel[first : first + part_in] @ weight[o, :, ky, kx]
        return result if bias is None else result + bias.ravel()

    return oracle


def pooled(span: Shape, stride: Shape, padding: Shape, out: Shape) -> Callable[..., Any]:
    """Maxima window by window."""

    def oracle(image: np.ndarray) -> np.ndarray:
        result = np.zeros(out)
        for n, i, j in np.ndindex(out[:3]):
            y, x = i * stride[0] - padding[0], j * stride[1] - padding[1]
            result[n, i, j] = np.max([p for *_, p in image_window(image, y, x, n, span, 1)], axis=0)
        return result

    return oracle


def window(**values: int) -> str:
    """Window attributes."""
    return ", ".join(f"{name} = {value} : si32" for name, value in values.items())


def padding(height: int, width: int) -> dict[str, int]:
    """The same padding on both sides."""
    sides = {"left": width, "right": width, "top": height, "bottom": height}
    return {f"padding_{side}": count for side, count in sides.items()}


def steps(stride: Shape, dilation: int = 1) -> dict[str, int]:
    """Strides and dilations."""
    return {
        "stride_height": stride[0],
        "stride_width": stride[1],
        "dilation_height": dilation,
        "dilation_width": dilation,
    }


def pooling(span: Shape, stride: Shape, margins: Shape) -> str:
    """Attributes of a pooling operation."""
    kernel = {"kernel_height": span[0], "kernel_width": span[1]}
    return f"{window(**kernel, **steps(stride), **padding(*margins))}, ceil_mode = false"


WINDOWS = [
    Case(
        "conv2d",
        convolved((1, 2), (1, 0), 1, (2, 6, 4, 6)),
        ((2, 6, 9, 4), (6, 4, 3, 2), (1, 1, 1, 6)),
        (2, 6, 4, 6),
        window(**steps((1, 2)), groups=1, **padding(1, 0)),
        terms=25,
        segments=False,
    ),
    Case(
        "conv2d",
        convolved((2, 1), (0, 1), 2, (1, 2, 8, 6), groups=2),
        ((1, 6, 8, 4), (6, 2, 2, 2)),
        (1, 2, 8, 6),
        window(**steps((2, 1), 2), groups=2, **padding(0, 1)),
        terms=8,
        segments=False,
        id="conv2d_groups",
    ),
    Case(
        "max_pool2d",
        pooled((2, 2), (2, 2), (0, 0), (2, 8, 5, 8)),
        ((2, 16, 10, 8),),
        (2, 8, 5, 8),
        pooling((2, 2), (2, 2), (0, 0)),
        segments=False,
    ),
    Case(
        "max_pool2d",
        pooled((3, 2), (2, 1), (1, 0), (1, 4, 7, 8)),
        ((1, 8, 8, 8),),
        (1, 4, 7, 8),
        pooling((3, 2), (2, 1), (1, 0)),
        sample=lambda rng, shape: -1 - rng.random(shape),
        segments=False,
        id="max_pool2d_padded",
    ),
]


def transposed(stride: Shape, out: Shape, groups: int, crop: Shape = (0, 0)) -> Callable[..., Any]:
    """Every pixel adds its multiple of the weight to the output."""

    def oracle(image: np.ndarray, weight: np.ndarray, bias: np.ndarray | None = None) -> np.ndarray:
        n, h, w, c = image.shape
        kh, kw = weight.shape[2:]
        wide = np.zeros((n, h * stride[0] + kh + 9, w * stride[1] + kw + 9, out[-1]))
        inner, outer = c // groups, out[-1] // groups
        for b, y, x, i in np.ndindex(image.shape):
            first = i // inner * outer
            stamp = wide[b, y * stride[0] :, x * stride[1] :, first : first + outer]
            stamp[:kh, :kw] += image[b, y, x, i] * weight[i].transpose(1, 2, 0)
        result = wide[:, crop[0] : crop[0] + out[1], crop[1] : crop[1] + out[2]]
        return result if bias is None else result + bias.ravel()

    return oracle


def averaged(
    span: Shape, stride: Shape, margins: Shape, out: Shape, include: bool
) -> Callable[..., Any]:
    """Averages window by window; the margins are above, below, left and right."""

    def oracle(image: np.ndarray) -> np.ndarray:
        result = np.zeros(out)
        top, bottom, left, right = margins
        for n, i, j in np.ndindex(out[:3]):
            y, x = i * stride[0] - top, j * stride[1] - left
            pixels = [p for *_, p in image_window(image, y, x, n, span, 1)]
            rows = sum(y + k < image.shape[1] + bottom for k in range(span[0]))
            columns = sum(x + k < image.shape[2] + right for k in range(span[1]))
            count = rows * columns if include else len(pixels)
            result[n, i, j] = np.sum(pixels, axis=0) / count
        return result

    return oracle


def averaging(span: Shape, stride: Shape, margins: Shape, ceil: bool, include: bool) -> str:
    """Attributes of an average."""
    kernel = {"kernel_height": span[0], "kernel_width": span[1]}
    sides = dict(zip(("top", "bottom", "left", "right"), margins, strict=True))
    named = {f"padding_{side}": count for side, count in sides.items()}
    modes = f"ceil_mode = {str(ceil).lower()}, count_include_pad = {str(include).lower()}"
    return f"{window(**kernel, **steps(stride), **named)}, {modes}"


WINDOWS += [
    Case(
        "conv_transpose2d",
        transposed((2, 3), (2, 9, 15, 6), 1),
        ((2, 4, 5, 3), (3, 6, 3, 2), (1, 1, 1, 6)),
        (2, 9, 15, 6),
        window(
            **steps((2, 3)),
            groups=1,
            **padding(0, 0),
            output_padding_height=0,
            output_padding_width=1,
        ),
        terms=12,
        segments=False,
    ),
    Case(
        "conv_transpose2d",
        transposed((2, 2), (1, 7, 7, 6), 2, (1, 2)),
        ((1, 4, 5, 4), (4, 3, 3, 3)),
        (1, 7, 7, 6),
        window(
            **steps((2, 2)),
            groups=2,
            **padding(1, 2),
            output_padding_height=0,
            output_padding_width=0,
        ),
        terms=18,
        segments=False,
        id="conv_transpose2d_groups",
    ),
    *(
        Case(
            "avg_pool2d",
            averaged((3, 2), (2, 2), margins, out, include),
            ((2, 8, 7, 5),),
            out,
            averaging((3, 2), (2, 2), margins, ceil, include),
            terms=6,
            segments=False,
            id=f"avg_pool2d_{'include' if include else 'exclude'}{'_ceil' if ceil else ''}",
        )
        for include in (True, False)
        for margins, ceil, out in (
            ((1, 0, 0, 1), False, (2, 4, 4, 5)),
            ((1, 1, 1, 1), True, (2, 5, 4, 5)),
        )
    ),
]


def normalized(
    x: np.ndarray, scale: np.ndarray, offset: np.ndarray, mean: np.ndarray, variance: np.ndarray
) -> np.ndarray:
    """Feature by feature, the features being dimension 1."""
    result = np.zeros(x.shape)
    for f in range(x.shape[1]):
        result[:, f] = (x[:, f] - mean[f]) / math.sqrt(variance[f] + 0.5) * scale[f] + offset[f]
    return result


NORMALIZATIONS = [
    Case(
        "batch_norm_inference",
        normalized,
        ((2, 33, 5), (33,), (33,), (33,), (33,)),
        (2, 33, 5),
        "dimension = 1 : si32, epsilon = 0.5 : f32",
        sample=positive,
        terms=4,
        segments=False,
    )
]

"""Convolutions: strides, padding, dilation, groups, layouts, transposed ones, their gradients."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax

from corpus.program import Family

FAMILY = Family()

NHWC = ("NHWC", "HWIO", "NHWC")
NCHW = ("NCHW", "OIHW", "NCHW")


def _convolve(
    layout: tuple[str, str, str] = NHWC, stride: int = 1, padding: Any = "SAME", **more: Any
) -> Any:
    def convolve(x: Array, w: Array) -> Array:
        strides = (stride,) * (x.ndim - 2)
        return lax.conv_general_dilated(x, w, strides, padding, dimension_numbers=layout, **more)

    return convolve


def _add() -> None:
    add = FAMILY.add
    for dtype in ("f32", "bf16"):
        add("convolution", _convolve(), f"{dtype} 1x16x16x8", f"{dtype} 3x3x8x16")
        add(
            "convolution",
            _convolve(NCHW),
            f"{dtype} 1x8x16x16",
            f"{dtype} 16x8x3x3",
            variant="nchw",
        )
    add("convolution", _convolve(), "f16 1x8x8x4", "f16 3x3x4x5")
    add("convolution", _convolve(), "i32 1x8x8x4", "i32 3x3x4x5")
    add("convolution", _convolve(stride=2), "bf16 2x31x33x3", "bf16 3x3x3x8", variant="stride_2")
    add("convolution", _convolve(padding="VALID"), "bf16 1x9x11x5", "bf16 3x2x5x7", variant="valid")
    add(
        "convolution",
        _convolve(padding=((1, 2), (0, 3))),
        "f32 1x9x11x5",
        "f32 3x3x5x7",
        variant="asymmetric",
    )
    add(
        "convolution",
        _convolve(rhs_dilation=(2, 2)),
        "bf16 1x16x16x8",
        "bf16 3x3x8x16",
        variant="dilation_2",
    )
    add(
        "convolution",
        _convolve(feature_group_count=2),
        "bf16 1x16x16x8",
        "bf16 3x3x4x16",
        variant="groups_2",
    )
    add(
        "convolution",
        _convolve(feature_group_count=8),
        "bf16 1x16x16x8",
        "bf16 3x3x1x8",
        variant="depthwise",
    )
    add(
        "convolution",
        _convolve(NCHW, feature_group_count=6),
        "f32 2x6x9x11",
        "f32 12x1x3x3",
        variant="depthwise_twice",
    )
    add(
        "convolution",
        _convolve(padding="VALID"),
        "bf16 1x14x14x32",
        "bf16 1x1x32x64",
        variant="pointwise",
    )
    add(
        "convolution",
        _convolve(stride=4, padding="VALID"),
        "f32 1x32x32x3",
        "f32 4x4x3x64",
        variant="patches",
    )
    add(
        "convolution",
        _convolve(stride=2, padding=((3, 3), (3, 3))),
        "bf16 1x64x64x3",
        "bf16 7x7x3x32",
        variant="stem",
    )
    add(
        "convolution",
        _convolve(batch_group_count=2),
        "f32 2x8x8x4",
        "f32 3x3x4x6",
        variant="batch_groups_2",
    )
    add(
        "convolution", _convolve(("NWC", "WIO", "NWC")), "f32 2x33x5", "f32 3x5x7", variant="rank_1"
    )
    add(
        "convolution",
        _convolve(("NCH", "OIH", "NCH"), stride=2, padding="VALID"),
        "bf16 1x8x70",
        "bf16 16x8x5",
        variant="rank_1_nch",
    )
    add(
        "convolution",
        _convolve(("NDHWC", "DHWIO", "NDHWC")),
        "f32 1x4x8x8x3",
        "f32 3x3x3x3x8",
        variant="rank_3",
    )
    add(
        "convolution",
        _convolve(("NHWC", "OHWI", "NHWC")),
        "f32 1x8x8x4",
        "f32 5x3x3x4",
        variant="ohwi",
    )
    add(
        "convolution",
        _convolve(("HWCN", "HWIO", "HWCN")),
        "f32 8x8x4x1",
        "f32 3x3x4x5",
        variant="hwcn",
    )
    add(
        "convolution_transpose",
        lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME", dimension_numbers=NHWC),
        "bf16 1x8x8x16",
        "bf16 3x3x16x8",
    )
    add(
        "convolution_transpose",
        lambda x, w: lax.conv_transpose(
            x, w, (2, 2), "VALID", dimension_numbers=NCHW, transpose_kernel=True
        ),
        "f32 1x8x7x9",
        "f32 8x4x2x2",
        variant="nchw",
    )
    add(
        "convolution",
        _convolve(lhs_dilation=(2, 2), padding=((1, 1), (1, 1))),
        "f32 1x5x7x4",
        "f32 3x3x4x6",
        variant="input_dilation",
    )
    add(
        "convolution_bias",
        lambda x, w, b: _convolve()(x, w) + b,
        "bf16 1x16x16x8",
        "bf16 3x3x8x16",
        "bf16 16",
    )
    add(
        "convolution_bias",
        lambda x, w, b: jax.nn.relu(_convolve()(x, w) + b),
        "bf16 1x16x16x8",
        "bf16 3x3x8x16",
        "bf16 16",
        variant="relu",
    )
    add(
        "convolution_bias",
        lambda x, w, b: _convolve(NCHW)(x, w) + b[None, :, None, None],
        "f32 1x8x16x16",
        "f32 16x8x3x3",
        "f32 16",
        variant="nchw",
    )
    for argument in (0, 1):
        add(
            "convolution_gradient",
            lambda x, w, n=argument: jax.grad(lambda *a: jnp.sum(_convolve(stride=2)(*a) ** 2), n)(
                x, w
            ),
            "f32 1x8x8x4",
            "f32 3x3x4x6",
            variant="by_weight" if argument else "by_image",
        )
    add(
        "convolution_patches",
        lambda x: lax.conv_general_dilated_patches(
            x, (3, 3), (1, 1), "SAME", dimension_numbers=NHWC
        ),
        "f32 1x5x7x4",
    )


_add()
PROGRAMS = FAMILY.programs

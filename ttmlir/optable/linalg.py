"""The named operations of linalg, by what they compute.

Dimensions of products are letters; those of convolutions are StableHLO's text without the image's
side of the weight, and windows are told by the order of the image's dimensions.
"""

from __future__ import annotations

from ttmlir.optable import named_in

ELEMENTWISE: dict[str, str] = {
    name.removeprefix("linalg."): definition.mnemonic
    for name, definition in named_in("linalg").items()
} | {"copy": ""}
"""Mnemonic of the definition of each elementwise operation; none for the one that computes
nothing."""

CONTRACTIONS: dict[str, tuple[str, str, str]] = {
    "batch_matmul": ("bmk", "bkn", "bmn"),
    "batch_matmul_transpose_a": ("bkm", "bkn", "bmn"),
    "batch_matmul_transpose_b": ("bmk", "bnk", "bmn"),
    "batch_matvec": ("bmk", "bk", "bm"),
    "batch_mmt4d": ("bmkij", "bnklj", "bmnil"),
    "batch_reduce_matmul": ("bmk", "bkn", "mn"),
    "batch_vecmat": ("bk", "bkn", "bn"),
    "dot": ("k", "k", ""),
    "matmul": ("mk", "kn", "mn"),
    "matmul_transpose_a": ("km", "kn", "mn"),
    "matmul_transpose_b": ("mk", "nk", "mn"),
    "matvec": ("mk", "k", "m"),
    "mmt4d": ("mkij", "nklj", "mnil"),
    "vecmat": ("k", "kn", "n"),
}
"""Letters of the dimensions of both operands and the result."""

CONVOLUTIONS: dict[str, tuple[str, str]] = {
    "conv_1d_ncw_fcw": ("bf0", "oi0"),
    "conv_1d_nwc_wcf": ("b0f", "0io"),
    "conv_2d_nchw_fchw": ("bf01", "oi01"),
    "conv_2d_nhwc_fhwc": ("b01f", "o01i"),
    "conv_2d_nhwc_hwcf": ("b01f", "01io"),
    "conv_3d_ncdhw_fcdhw": ("bf012", "oi012"),
    "conv_3d_ndhwc_dhwcf": ("b012f", "012io"),
}
"""Dimensions of image and weight: batch, features, input and output features, and the window's."""

DEPTHWISE: dict[str, tuple[str, str]] = {
    "depthwise_conv_1d_ncw_cw": ("bf0", "c0"),
    "depthwise_conv_1d_nwc_wc": ("b0f", "0c"),
    "depthwise_conv_1d_nwc_wcm": ("b0f", "0cm"),
    "depthwise_conv_2d_nchw_chw": ("bf01", "c01"),
    "depthwise_conv_2d_nhwc_hwc": ("b01f", "01c"),
    "depthwise_conv_2d_nhwc_hwcm": ("b01f", "01cm"),
    "depthwise_conv_3d_ncdhw_cdhw": ("bf012", "c012"),
    "depthwise_conv_3d_ndhwc_dhwc": ("b012f", "012c"),
    "depthwise_conv_3d_ndhwc_dhwcm": ("b012f", "012cm"),
}
"""The same where every channel c has filters of its own, m each."""

_IMAGES = {"nwc": "b0f", "ncw": "bf0", "nhwc": "b01f", "nchw": "bf01", "ndhwc": "b012f"}
POOLINGS: dict[str, tuple[str, str]] = {
    f"pooling_{name}_{method}": (dims, method)
    for name, dims in _IMAGES.items()
    for method in ("max", "min", "sum")
}
"""Dimensions of the image, and what is done with the elements of the window."""

NAMED = (*ELEMENTWISE, *CONTRACTIONS, *CONVOLUTIONS, *DEPTHWISE, *POOLINGS)
"""Every operation of the tables."""

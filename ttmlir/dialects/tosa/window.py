"""The convolutions, pools and resizing of tosa."""

from __future__ import annotations

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.ods import Property, Signature, ValueGroup
from ttmlir.dialects.tosa.forms import (
    NAN,
    NAN_MODE,
    NUMBERS,
    QUANTIZED,
    SHAPE,
    TYPE,
    dense_i64,
    op_classes,
    optional,
    rank,
    signature,
    values,
)


def _convolution(weight: str, rank_: int, *spatial: Property) -> tuple[Signature, Signature]:
    image, kernel, bias = rank(rank_), rank(rank_), rank(1)
    operands = (ValueGroup("input", image), ValueGroup(weight, kernel), ValueGroup("bias", bias))
    shared = (*spatial, optional("acc_type", TYPE), optional("local_bound", ods.BOOL))
    return (
        signature(operands, *shared, QUANTIZED, result=image),
        signature((*operands, *values(NUMBERS, "input_zp", "weight_zp")), *shared, result=image),
    )


def _image(rank_: int) -> tuple[Property, ...]:
    return (
        Property("pad", dense_i64(2 * rank_)),
        Property("stride", dense_i64(rank_)),
        Property("dilation", dense_i64(rank_)),
    )


_POOL = (
    Property("kernel", dense_i64(2)),
    Property("stride", dense_i64(2)),
    Property("pad", dense_i64(4)),
)
_IMAGE = rank(4)
_OUT_PAD = (Property("out_pad", dense_i64(4)), Property("stride", dense_i64(2)))

_FORMS: dict[str, tuple[Signature, ...]] = {
    "conv2d": _convolution("weight", 4, *_image(2)),
    "conv3d": _convolution("weight", 5, *_image(3)),
    "depthwise_conv2d": _convolution("weight", 4, *_image(2)),
    "transpose_conv2d": _convolution(
        "filter", 4, *_OUT_PAD, Property("out_shape", dense_i64(4), optional=True)
    ),
    "max_pool2d": (signature((ValueGroup("input", _IMAGE),), *_POOL, NAN, result=_IMAGE),),
    "avg_pool2d": (
        signature(
            (ValueGroup("input", _IMAGE),),
            *_POOL,
            Property("acc_type", TYPE),
            QUANTIZED,
            result=_IMAGE,
        ),
        signature(
            (ValueGroup("input", _IMAGE), *values(NUMBERS, "input_zp", "output_zp")),
            *_POOL,
            Property("acc_type", TYPE),
            result=_IMAGE,
        ),
    ),
    "resize": (
        signature(
            (ValueGroup("input", _IMAGE),),
            Property("scale", dense_i64(4)),
            Property("offset", dense_i64(2)),
            Property("border", dense_i64(2)),
            Property("mode", NAN_MODE),
            result=_IMAGE,
        ),
        signature(
            (ValueGroup("input", _IMAGE), *values(SHAPE, "scale", "offset", "border")),
            Property("mode", NAN_MODE),
            result=_IMAGE,
        ),
    ),
}

OPERATIONS = op_classes(_FORMS)
"""The operations of this module."""

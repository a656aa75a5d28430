"""The operations of tosa that move elements."""

from __future__ import annotations

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.ods import Property, Signature, ValueGroup
from ttmlir.dialects.tosa.forms import (
    AXIS,
    EXTENTS,
    NUMBERS,
    QUANTIZED,
    RANKED,
    SHAPE,
    op_classes,
    signature,
    values,
)

_INPUT = values(NUMBERS, "input1")

_FORMS: dict[str, tuple[Signature, ...]] = {
    "concat": (signature((ValueGroup("input1", NUMBERS, variadic=True),), AXIS),),
    "pad": (
        signature(
            (
                ValueGroup("input1", RANKED),
                ValueGroup("padding", EXTENTS),
                ValueGroup("pad_const", NUMBERS, optional=True),
            ),
            QUANTIZED,
        ),
    ),
    "reshape": (
        signature(_INPUT, Property("new_shape", ods.DENSE_I64), result=RANKED),
        signature((*_INPUT, ValueGroup("shape", SHAPE)), result=RANKED),
    ),
    "reverse": (signature(_INPUT, AXIS),),
    "slice": (
        signature(_INPUT, Property("start", ods.DENSE_I64), Property("size", ods.DENSE_I64)),
        signature((*_INPUT, *values(SHAPE, "start", "size"))),
    ),
    "tile": (
        signature(_INPUT, Property("multiples", ods.DENSE_I64)),
        signature((*_INPUT, ValueGroup("multiples", SHAPE))),
    ),
    "transpose": (
        signature((*_INPUT, ValueGroup("perms", EXTENTS))),
        signature(_INPUT, Property("perms", ods.DENSE_I32)),
    ),
}

OPERATIONS = op_classes(_FORMS)
"""The operations of this module."""

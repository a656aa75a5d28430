"""The products of matrices and Fourier transforms of tosa."""

from __future__ import annotations

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.ods import Property, Signature, ValueGroup
from ttmlir.dialects.tosa.forms import (
    NUMBERS,
    QUANTIZED,
    op_classes,
    optional,
    rank,
    signature,
    values,
)

_FORMS: dict[str, tuple[Signature, ...]] = {
    "matmul": (
        signature(values(rank(3), "a", "b"), QUANTIZED, result=rank(3)),
        signature((*values(rank(3), "a", "b"), *values(NUMBERS, "a_zp", "b_zp"))),
    ),
    "fully_connected": (
        signature(
            (*values(rank(2), "input", "weight"), ValueGroup("bias", rank(1))),
            QUANTIZED,
            result=rank(2),
        ),
    ),
    "fft2d": (
        signature(
            values(rank(3), "input_real", "input_imag"),
            Property("inverse", ods.BOOL),
            optional("local_bound", ods.BOOL),
            result=rank(3),
            results=2,
        ),
    ),
    "rfft2d": (
        signature(
            values(rank(3), "input"),
            optional("local_bound", ods.BOOL),
            result=rank(3),
            results=2,
        ),
    ),
}

OPERATIONS = op_classes(_FORMS)
"""The operations of this module."""

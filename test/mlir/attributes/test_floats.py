"""Float values against `struct`, ml_dtypes and themselves."""

from __future__ import annotations

import math
import struct

import ml_dtypes
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import AnyFloat, bf16, f8E4M3FN, f8E5M2, f16, f32, f64, f80

from ttmlir.mlir.attributes import (
    UnsupportedFloatError,
    bits_of,
    float_attr,
    format_float,
    pack_floats,
    value_of,
)

DTYPES = {
    "f16": (f16, numpy.dtype("f2")),
    "bf16": (bf16, numpy.dtype(ml_dtypes.bfloat16)),
    "f32": (f32, numpy.dtype("f4")),
    "f64": (f64, numpy.dtype("f8")),
    "f8E5M2": (f8E5M2, numpy.dtype(ml_dtypes.float8_e5m2)),
    "f8E4M3FN": (f8E4M3FN, numpy.dtype(ml_dtypes.float8_e4m3fn)),
}


@pytest.mark.parametrize("name", DTYPES)
@given(data=st.data())
def test_bits_and_values_are_inverse(name: str, data: st.DataObject) -> None:
    """Every bit pattern survives the way through a Python float."""
    type, dtype = DTYPES[name]
    bits = data.draw(st.integers(0, (1 << 8 * dtype.itemsize) - 1))
    assert bits_of(value_of(bits, type), type) == bits


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64"])
@given(value=st.floats(allow_nan=False))
def test_rounding_is_that_of_numpy(name: str, value: float) -> None:
    """Values round to nearest, ties to even; what is too large becomes infinite."""
    type, dtype = DTYPES[name]
    with numpy.errstate(over="ignore"):
        # NumPy's bfloat16 rounds twice, over float32; the exact neighbours tell which is right.
        expected = float(numpy.array(value).astype(dtype))
    ours = float_attr(value, type).value.data
    if name == "bf16" and ours != expected and math.isfinite(expected):
        assert abs(ours - value) <= abs(expected - value)
    else:
        assert ours == expected


@pytest.mark.parametrize(
    ("value", "type", "text"),
    [
        (1.5, f32, "1.500000e+00"),
        (0.1, f32, "1.000000e-01"),
        (0.1, f64, "1.000000e-01"),
        (1 / 3, f32, "0.333333343"),
        (1 / 3, f64, "0.33333333333333331"),
        (-0.0, f16, "-0.000000e+00"),
        (16777217.0, f64, "0x4170000010000000"),
        (123456789.0, f32, "0x4CEB79A3"),
        (math.inf, f32, "0x7F800000"),
        (-math.inf, bf16, "0xFF80"),
        (math.nan, f16, "0x7E00"),
        (1e-45, f32, "1.401300e-45"),
        (2.0**-126, f32, "1.17549435E-38"),
    ],
)
def test_printed_literal(value: float, type: AnyFloat, text: str) -> None:
    """Literals have six digits if those suffice, then all digits, then bits."""
    rounded = struct.unpack("<f", struct.pack("<f", value))[0] if type is f32 else value
    assert format_float(rounded, type) == text


def test_signalling_nans_stay_signalling() -> None:
    """Payloads of NaNs are not touched by packing."""
    nan = value_of(0x7F800001, f32)
    assert math.isnan(nan)
    assert pack_floats([nan, 1.0], f32) == struct.pack("<If", 0x7F800001, 1.0)


def test_wide_floats_are_refused_by_name() -> None:
    """Values of f80 and f128 are refused with what to use."""
    with pytest.raises(
        UnsupportedFloatError, match="values of type 'f80' are not supported; use f64"
    ):
        bits_of(1.0, f80)

"""Conversions between element types and rounding to storage formats."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttmlir.layout.enums import STORED_DATA_TYPES, DataType
from ttmlir.runtime.tensor import (
    ELEMENT_TYPES,
    Numerics,
    convert,
    element_of_data_type,
    storage_rounding,
)
from ttmlir.schema import load_schema

INTEGERS = [e.host for e in ELEMENT_TYPES.values() if e.host.kind in "iu"]


def test_every_element_type_of_the_schema_is_known() -> None:
    """Names are those of the schema's enumeration."""
    schema = load_schema("TTNN/binary.fbs")
    field = schema.root.by_name["programs"].type.element.by_name["inputs"].type.element
    enum = field.by_name["desc"].type.by_name["element_type"].type
    assert set(ELEMENT_TYPES) == set(enum.members) - {"None"}


def test_every_storage_type_stands_for_an_element_type() -> None:
    """Block floats stand for the 16-bit float with their exponent."""
    elements = {t.keyword: element_of_data_type(t).keyword for t in STORED_DATA_TYPES}
    assert elements["bfp_bf8"] == elements["bfp_bf2"] == "bf16"
    assert elements["bfp_f8"] == elements["bfp_f4"] == "f16"
    assert elements["u32"] == "ui32"
    assert elements["f32"] == "f32"


@pytest.mark.parametrize("dtype", INTEGERS)
@given(number=st.floats())
def test_float_to_integer_truncates_and_saturates(dtype: np.dtype, number: float) -> None:
    """As Python's exact integers say."""
    limits = np.iinfo(dtype)
    if np.isnan(number):
        expected = 0
    elif np.isinf(number):
        expected = limits.max if number > 0 else limits.min
    else:
        expected = min(max(int(number), limits.min), limits.max)
    assert int(convert(np.array([number]), dtype)[0]) == expected


@pytest.mark.parametrize("dtype", INTEGERS)
@given(number=st.integers(-(2**63), 2**63 - 1))
def test_integers_wrap(dtype: np.dtype, number: int) -> None:
    """The low bits stay."""
    bits = 8 * dtype.itemsize
    expected = number % 2**bits
    if dtype.kind == "i" and expected >= 2 ** (bits - 1):
        expected -= 2**bits
    assert int(convert(np.array([number]), dtype)[0]) == expected


def test_truth() -> None:
    """Anything but zero is true, NaN included."""
    numbers = np.array([0.0, -0.0, 0.5, -3.0, np.nan])
    assert convert(numbers, np.dtype(bool)).tolist() == [False, False, True, True, True]


def test_nothing_is_copied_without_need() -> None:
    """The same type gives the same array."""
    array = np.zeros(3, np.float32)
    assert convert(array, np.dtype(np.float32)) is array


def test_what_is_not_rounded() -> None:
    """Exact numerics round nothing; f32 and 32-bit integers are stored as they are."""
    for element in ELEMENT_TYPES.values():
        assert storage_rounding(element, element.storage, Numerics.EXACT) is None
    for name in ("Float32", "Int32", "UInt8", "Bool"):
        element = ELEMENT_TYPES[name]
        assert storage_rounding(element, element.storage, Numerics.DEVICE) is None


def test_f64_is_stored_as_f32() -> None:
    """A third has fewer digits on the device."""
    element = ELEMENT_TYPES["Float64"]
    rounding = storage_rounding(element, DataType.F32, Numerics.DEVICE)
    assert rounding is not None
    assert rounding(np.array([1 / 3])).tolist() == [float(np.float32(1 / 3))]

"""Numbers in the bytes of a device's memories, as NumPy writes and reads them."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from ttmlir.layout.enums import DataType
from ttmlir.runtime.tensor import ELEMENT_TYPES, decode_numbers, encode_numbers

WHOLE = [0, 1, 7, 100, 127]
FORMATS = [
    ("Float32", DataType.F32, "<f4", [0.0, -1.5, 1e30]),
    ("Float16", DataType.F16, "<f2", [0.0, -1.5, 1e-7]),
    ("BFloat16", DataType.BF16, ml_dtypes.bfloat16, [0.0, -1.5, 2.0**100]),
    ("UInt32", DataType.U32, "<u4", [*WHOLE, 2**32 - 1]),
    ("Int32", DataType.U32, "<i4", [*WHOLE, -1, -(2**31)]),
    ("UInt16", DataType.U16, "<u2", [*WHOLE, 2**16 - 1]),
    ("Int16", DataType.U16, "<i2", [*WHOLE, -1, -(2**15)]),
    ("UInt8", DataType.U8, "u1", [*WHOLE, 255]),
    ("Int8", DataType.U8, "i1", [*WHOLE, -1, -128]),
]


@pytest.mark.parametrize(("element", "data_type", "dtype", "numbers"), FORMATS)
def test_numbers_are_as_numpy_has_them(
    element: str, data_type: DataType, dtype: str, numbers: list[float]
) -> None:
    """Signed integers have the bits of the unsigned ones that store them."""
    data = np.array(numbers, dtype).tobytes()
    found = decode_numbers(data, ELEMENT_TYPES[element], data_type, 1)
    assert found.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(found, np.array(numbers, dtype))
    assert encode_numbers(np.array(numbers, ELEMENT_TYPES[element].compute), data_type, 1) == data

"""The built-in types of C++ as a core of 32 bits has them, and what arithmetic makes of two."""

from __future__ import annotations

import pytest

from ttmlir.cpp.types import (
    BFLOAT16,
    BOOL,
    CHAR,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    INT64,
    UINT8,
    UINT64,
    UNSIGNED,
    FloatType,
    IntType,
    find_common_type,
    find_integer_type,
    promote,
)

INT8, INT16, UINT16 = (find_integer_type(*each) for each in ((8, True), (16, True), (16, False)))


@pytest.mark.parametrize(
    ("type", "name", "bits", "signed"),
    [
        (BOOL, "bool", 1, False),
        (CHAR, "char", 8, False),
        (INT8, "int8_t", 8, True),
        (UINT8, "uint8_t", 8, False),
        (INT16, "int16_t", 16, True),
        (UINT16, "uint16_t", 16, False),
        (UNSIGNED, "uint32_t", 32, False),
        (INT64, "int64_t", 64, True),
        (UINT64, "uint64_t", 64, False),
    ],
)
def test_integers(type: IntType, name: str, bits: int, signed: bool) -> None:
    """RISC-V has an unsigned `char`."""
    assert (type.name, type.bits, type.signed) == (name, bits, signed)


@pytest.mark.parametrize(
    ("type", "name", "bits"),
    [
        (HALF, "_Float16", 16),
        (BFLOAT16, "__bf16", 16),
        (FLOAT, "float", 32),
        (DOUBLE, "double", 64),
    ],
)
def test_floats(type: FloatType, name: str, bits: int) -> None:
    """Names as in C++."""
    assert (type.name, type.bits) == (name, bits)


@pytest.mark.parametrize(
    ("type", "promoted"),
    [
        *((each, INT) for each in (BOOL, CHAR, INT8, UINT8, INT16, UINT16, INT)),
        *((each, each) for each in (UNSIGNED, INT64, UINT64)),
    ],
)
def test_promotions(type: IntType, promoted: IntType) -> None:
    """What is smaller than `int` becomes `int`, also without sign ([conv.prom])."""
    assert promote(type) == promoted


@pytest.mark.parametrize(
    ("one", "other", "common"),
    [
        (BOOL, BOOL, INT),
        (UINT8, INT16, INT),
        (UINT16, UINT16, INT),
        (INT, INT, INT),
        (INT, UNSIGNED, UNSIGNED),
        (CHAR, UNSIGNED, UNSIGNED),
        (INT, INT64, INT64),
        (UNSIGNED, INT64, INT64),
        (UINT8, UINT64, UINT64),
        (INT64, UINT64, UINT64),
        (UNSIGNED, UINT64, UINT64),
    ],
)
def test_usual_arithmetic_conversions(one: IntType, other: IntType, common: IntType) -> None:
    """The wider type; of two of one width, the one without sign ([expr.arith.conv])."""
    assert find_common_type(one, other) == common
    assert find_common_type(other, one) == common

"""Dense constants: storage, equality and access without expanding anything."""

from __future__ import annotations

import sys
import tracemalloc

import numpy
import pytest
from oracles.mlir_opt import FILE, ours
from xdsl.dialects.builtin import (
    ComplexType,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerType,
    TensorType,
    f16,
    f32,
    i1,
    i8,
    i32,
    i64,
)

from ttmlir.mlir.attributes import (
    element_count,
    elements_attr,
    elements_of,
    large_bytes,
    pack_bits,
    raw_bytes,
    splat_bytes,
    unpack_bits,
)
from ttmlir.mlir.context import make_context
from ttmlir.mlir.reader import parse_module


def read(text: str) -> DenseIntOrFPElementsAttr:
    """The constant that a text spells."""
    module = parse_module(
        f'"a.b"() {{x = {text}}} : () -> ()', FILE, make_context(allow_unregistered=True)
    )
    attr = next(iter(module.ops)).attributes["x"]
    assert isinstance(attr, DenseIntOrFPElementsAttr)
    return attr


def test_splat_allocates_nothing() -> None:
    """Reading and printing a splat takes as much memory as its text."""
    tracemalloc.start()
    text = ours('"a.b"() {x = dense<1.5> : tensor<100000x100000xf64>} : () -> ()')
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "dense<1.500000e+00> : tensor<100000x100000xf64>" in text
    assert peak < 5_000_000


def test_long_hex_string_makes_no_list() -> None:
    """A buffer of a megabyte moves as bytes."""
    data = bytes(range(256)) * 4096
    attr = read(f'dense<"0x{data.hex()}"> : tensor<1048576xui8>')
    assert raw_bytes(attr) == data
    large = large_bytes(attr)
    assert large is not None
    assert numpy.shares_memory(numpy.frombuffer(raw_bytes(attr), numpy.uint8), large.array)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("dense<[1, 1]> : tensor<2xi32>", "dense<1> : tensor<2xi32>"),
        ('dense<"0x0100000001000000"> : tensor<2xi32>', "dense<1> : tensor<2xi32>"),
        ("dense<255> : tensor<2xi8>", "dense<-1> : tensor<2xi8>"),
        ("dense<[true, true]> : tensor<2xi1>", "dense<1> : tensor<2xi1>"),
    ],
)
def test_equal_contents_are_equal(one: str, other: str) -> None:
    """Equal values are stored alike, however they were written."""
    assert read(one) == read(other)
    assert hash(read(one)) == hash(read(other))


def test_signed_zeros_differ() -> None:
    """0.0 and -0.0 are not one splat."""
    assert splat_bytes(read("dense<[0.0, -0.0]> : tensor<2xf32>")) is None


@pytest.mark.parametrize(
    ("literal", "type", "dtype"),
    [
        ("[[1, -2, 3], [4, 5, -6]]", "2x3xi32", "<i4"),
        ("[[1, 2, 3], [4, 5, 255]]", "2x3xui8", "<u1"),
        ("[[1.5, -2.0, 0.1], [3.0, 65504.0, 1.0e-7]]", "2x3xf16", "<f2"),
        ("[[1.5, -2.0, 0.1], [3.0, 1.0e30, 1.0e-7]]", "2x3xf32", "<f4"),
        ("[[true, false, true], [true, true, false]]", "2x3xi1", "?"),
    ],
)
def test_bytes_are_those_of_numpy(literal: str, type: str, dtype: str) -> None:
    """The buffer is what NumPy makes of the same nested list."""
    words = {"true": True, "false": False}
    expected = numpy.array(eval(literal, {}, words), dtype=dtype)
    attr = read(f"dense<{literal}> : tensor<{type}>")
    assert numpy.array_equal(numpy.frombuffer(raw_bytes(attr), dtype).reshape(2, 3), expected)
    assert list(attr.iter_values()) == expected.ravel().tolist() or dtype == "?"


def test_hex_strings_pack_bits_first_low() -> None:
    """Eight i1 elements share a byte, the first one in its lowest bit, as NumPy packs little."""
    values = bytes([1, 0, 1, 1, 0, 0, 0, 0, 1, 0, 1])
    packed = numpy.packbits(numpy.frombuffer(values, "u1"), bitorder="little").tobytes()
    assert pack_bits(values) == packed
    assert unpack_bits(packed, len(values)) == values


def test_accessors_of_a_splat_follow_the_type() -> None:
    """A splat has as many elements as its type says, for xDSL's own accessors too."""
    attr = elements_of(TensorType(i32, [2, 3]), [7])
    assert len(attr) == element_count(attr) == 6
    assert attr.get_values() == (7,) * 6
    assert attr.is_splat()
    assert [entry.value.data for entry in attr.get_attrs()] == [7] * 6
    assert DenseIntOrFPElementsAttr.from_list(TensorType(i32, [2, 3]), [7] * 6) == attr


@pytest.mark.parametrize(
    ("type", "values", "size"),
    [
        (IntegerType(24), [1, -2], 6),
        (IntegerType(128), [1, -1], 32),
        (IndexType(), [3, -1], 16),
        (ComplexType(f32), [(1.0, 2.0), (3.0, 4.0)], 16),
        (f16, [1.0, 2.0], 4),
    ],
)
def test_elements_of_every_size(type: object, values: list[object], size: int) -> None:
    """Elements take whole bytes, and come back as they went in."""
    attr = elements_of(TensorType(type, [2]), values)
    assert len(attr.data.data) == size
    assert list(attr.iter_values()) == values


@pytest.mark.parametrize(
    ("type", "data", "message"),
    [
        (TensorType(i64, [3]), b"\0" * 16, "16 bytes do not hold 3 elements of 8 bytes"),
        (TensorType(i8, [2]), b"", "0 bytes do not hold 2 elements of 1 bytes"),
    ],
)
def test_wrong_sizes_are_refused(type: TensorType, data: bytes, message: str) -> None:
    """A buffer holds one element or all of them."""
    with pytest.raises(ValueError, match=message):
        elements_attr(type, data)


def test_values_that_do_not_fit_are_refused() -> None:
    """Integers outside of their type are refused."""
    with pytest.raises(ValueError, match="integer value 256 does not fit in 8 bits"):
        elements_of(TensorType(i8, [1]), [256])
    assert splat_bytes(elements_of(TensorType(i1, [4]), [True])) == b"\x01"


def test_reading_constants_needs_no_numpy() -> None:
    """NumPy is not imported for reading and printing."""
    import subprocess

    program = (
        "import sys; import ttmlir.mlir.chunk_processing, ttmlir.mlir.printing; "
        "sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0

"""Numbers of torch as constants of the IR: every dtype, every edge of its range, bit by bit."""

from __future__ import annotations

import struct
from importlib import import_module
from typing import Any

import pytest
from xdsl.dialects.builtin import TensorType

from ttmlir.frontend.body import splat_of
from ttmlir.frontend.torch.elements import (
    SMALL_FLOATS,
    SUPPORTED_DTYPES,
    element_of,
    elements_of_tensor,
    is_boolean,
    is_floating,
    static_shape,
    tensor_type,
)
from ttmlir.mlir.attributes import raw_bytes

torch: Any = import_module("torch")

TYPES = {
    "float32": "f32",
    "bfloat16": "bf16",
    "float16": "f16",
    "float64": "f64",
    "complex64": "complex<f32>",
    "complex128": "complex<f64>",
    "bool": "i1",
    **{f"int{width}": f"i{width}" for width in (8, 16, 32, 64)},
    **{f"uint{width}": f"ui{width}" for width in (8, 16, 32, 64)},
}
INTEGERS = [name for name in TYPES if "int" in name]


def bytes_of(tensor: Any) -> bytes:
    """The numbers of a torch tensor as they lie in memory."""
    return tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def test_all_dtypes_are_listed() -> None:
    """In the order in which messages name them."""
    assert SUPPORTED_DTYPES.split(", ") == [*TYPES, *SMALL_FLOATS]


@pytest.mark.parametrize("name", SMALL_FLOATS)
def test_floats_of_few_bits(name: str) -> None:
    """bf16 holds every one of their numbers."""
    dtype = getattr(torch, name)
    tensor = torch.arange(256, dtype=torch.uint8).view(dtype)
    assert str(element_of(dtype)) == "bf16"
    held = torch.frombuffer(bytearray(raw_bytes(elements_of_tensor(tensor))), dtype=torch.bfloat16)
    torch.testing.assert_close(held.float(), tensor.float(), rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("name", TYPES)
def test_types_of_dtypes(name: str) -> None:
    """Each has an element type, which is one of real numbers, truth values or integers."""
    element = element_of(getattr(torch, name))
    assert element is not None
    assert str(element) == TYPES[name]
    assert is_floating(element) == ("float" in name or "complex" in name)
    assert is_boolean(element) == (name == "bool")
    tensor = torch.zeros(3, 5).to(getattr(torch, name))
    assert (static_shape(tensor), str(tensor_type(tensor))) == (
        (3, 5),
        f"tensor<3x5x{TYPES[name]}>",
    )


def test_other_dtypes_have_no_type() -> None:
    """Complex numbers of 16 bits, and two numbers in a byte."""
    assert element_of(torch.complex32) is None
    assert element_of(torch.float4_e2m1fn_x2) is None


@pytest.mark.parametrize("name", TYPES)
def test_constants_have_the_bits_of_torch(name: str) -> None:
    """Of a transposed tensor, too, in the order of its own rows."""
    values = torch.tensor([[0, 1, 2], [5, 100, 127]]).to(getattr(torch, name))
    if "float" in name:
        values = values * 1.5 - 1
    for tensor in (values, values.T, values[1:, ::2]):
        assert raw_bytes(elements_of_tensor(tensor)) == bytes_of(tensor)


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize(
    "value",
    [
        *(0, 1, 2, 3, 7, -1, -2, -127, -128, -129, 127, 128, 129, 255, 256, 257, -32769, 65535),
        *(65537, 2**31 - 1, 2**31, -(2**31) - 1, 2**32 + 1, 2**63 - 1, -(2**63)),
        *(2.9, -2.9, float("inf"), float("nan"), True),
    ],
)
def test_integers_wrap(name: str, value: float) -> None:
    """Fractions are cut off first, what is no number is 0; then the low bits are kept."""
    whole = 0 if value != value or abs(value) == float("inf") else int(value)
    width = int(name.strip("uint"))
    expected = (whole % 2**width).to_bytes(width // 8, "little")
    element = element_of(getattr(torch, name))
    assert element is not None
    attribute = splat_of(value, element, (2, 3))
    assert raw_bytes(attribute) == expected * 6
    assert attribute.type == TensorType(element, (2, 3))


@pytest.mark.parametrize("name", [name for name in TYPES if name not in INTEGERS])
@pytest.mark.parametrize("value", [0, 1, -1, 0.5, -2.25, 3, True, False, float("inf")])
def test_splats_of_other_types(name: str, value: float) -> None:
    """Truth values are all or no bits of a byte in memory; the others are torch's."""
    element = element_of(getattr(torch, name))
    assert element is not None
    data = raw_bytes(splat_of(value, element, (3,)))
    if name == "bool":
        assert [bool(each) for each in data] == [bool(value)] * 3
    else:
        assert data == bytes_of(torch.full((3,), value, dtype=getattr(torch, name)))
    if name == "float32":
        assert data == struct.pack("<f", value) * 3

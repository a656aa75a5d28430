"""Element types that the device stores in another width, end to end."""

from __future__ import annotations

import numpy as np
import pytest
from running.pass_runner import TTNN_PIPELINE, executed, lowered

from ttmlir.runtime import Tensor, open_device, read_binary, submit
from ttmlir.target.flatbuffer.ttnn import ttnn_to_flatbuffer

ANY = "#any_device = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>\n"


def added(element: str, array: np.ndarray, numerics: str) -> np.ndarray:
    """x + x, compiled."""
    type = f"tensor<{'x'.join(map(str, array.shape))}x{element}>"
    text = (
        f"{ANY}func.func @f(%x: {type}) -> {type} {{\n  %e = tensor.empty() : {type}\n"
        '  %r = "ttir.add"(%x, %x, %e) <{operandSegmentSizes = array<i32: 2, 1>, '
        "operand_constraints = [#any_device, #any_device, #any_device]}> : "
        f"({type}, {type}, {type}) -> {type}\n  return %r : {type}\n}}\n"
    )
    module = lowered(text, TTNN_PIPELINE)
    binary = read_binary(ttnn_to_flatbuffer(module, mlir_source="", cpp_source=""), "test.ttnn")
    device = open_device(numerics=numerics)
    (result,) = submit(device, binary, 0, [Tensor.from_numpy(array)])
    return result.to_numpy()


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
@pytest.mark.parametrize("numerics", ["exact", "device"])
def test_integers(dtype: type, numerics: str) -> None:
    """Sums wrap at the width of the type; the device keeps 32 bits of 64."""
    bits = 8 * np.dtype(dtype).itemsize
    top = 2 ** (bits - 1) - 1
    array = np.array([[1, -7, top, -top - 1, 0]], dtype)
    if numerics == "device":
        bits = min(bits, 32)
    wrapped = [(2 * int(n) + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1) for n in array[0]]
    result = added(f"i{8 * np.dtype(dtype).itemsize}", array, numerics)
    assert result.dtype == dtype
    assert result[0].tolist() == wrapped


def test_f64() -> None:
    """All digits in exact numerics, those of f32 on the device."""
    array = np.random.default_rng(0).standard_normal((5, 33))
    np.testing.assert_array_equal(added("f64", array, "exact"), array + array)
    narrow = array.astype(np.float32)
    np.testing.assert_array_equal(added("f64", array, "device"), (narrow + narrow).astype(float))


def test_f16() -> None:
    """Overflow to infinity happens where the result is stored."""
    array = np.array([[1.5, 40000.0, -0.1]], np.float16)
    for numerics in ("exact", "device"):
        result = added("f16", array, numerics)
        assert result.dtype == np.float16
        assert result.tolist() == [[3.0, np.inf, float(np.float16(-0.1) * 2)]]


@pytest.mark.parametrize("value", [0.1, -1e300, 2.5])
def test_f64_constant(value: float) -> None:
    """A constant that f32 does not hold keeps all its digits."""
    type = "tensor<3x5xf64>"
    text = (
        f"func.func @f() -> {type} {{\n"
        f'  %0 = "ttir.constant"() <{{value = dense<{value!r}> : {type}}}> : () -> {type}\n'
        f"  return %0 : {type}\n}}\n"
    ).replace("-1e+300", "-1.0e+300")
    (result,) = executed(text, [])
    np.testing.assert_array_equal(result, np.full((3, 5), value))

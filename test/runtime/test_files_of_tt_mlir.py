"""Files that tt-mlir itself wrote run with the right numbers."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from ttmlir.runtime import Tensor, load_binary, open_device, submit

GOLDEN = Path(__file__).parents[1] / "golden"


def run(name: str, *arrays: np.ndarray, program: int = 0, numerics: str = "exact") -> np.ndarray:
    """The only result of a program."""
    inputs = [Tensor.from_numpy(array) for array in arrays]
    device = open_device(numerics=numerics)
    (result,) = submit(device, load_binary(GOLDEN / name), program, inputs)
    return result.to_numpy()


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    """Random float32 numbers."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("numerics", ["exact", "device"])
def test_add(numerics: str) -> None:
    """f32 row-major tensors, to the device and back."""
    x, y = normal(64, 128), normal(64, 128, seed=1)
    np.testing.assert_array_equal(run("add.ttnn", x, y, numerics=numerics), x + y)


def test_two_functions() -> None:
    """relu(x + y), and a function that returns its argument."""
    x, y = normal(64, 128), normal(64, 128, seed=1)
    np.testing.assert_array_equal(run("two_functions.ttnn", x, y), np.where(x + y > 0, x + y, 0))
    z = normal(33, 70)
    np.testing.assert_array_equal(run("two_functions.ttnn", z, program=1), z)


def test_constant() -> None:
    """A splat, which never leaves the host."""
    result = run("constant_splat.ttnn")
    assert result.shape == (64, 128)
    assert (result == 3.5).all()


@pytest.mark.parametrize("numerics", ["exact", "device"])
def test_conv2d(numerics: str) -> None:
    """bf16, 3x3 with padding 1 and a bias; operands are still on the host."""
    bf16 = ml_dtypes.bfloat16
    image, weight = normal(1, 16, 20, 8).astype(bf16), normal(24, 8, 3, 3, seed=1).astype(bf16)
    bias = normal(1, 1, 1, 24, seed=2).astype(bf16)
    padded = np.zeros((18, 22, 8))
    padded[1:-1, 1:-1] = image[0]
    expected = np.zeros((16, 20, 24)) + bias.astype(np.float64).ravel()
    for y in range(3):
        for x in range(3):
            taps = weight[:, :, y, x].astype(np.float64)
            expected += padded[y : y + 16, x : x + 20] @ taps.T
    result = run("conv2d_bias.ttnn", image, weight, bias, numerics=numerics)
    np.testing.assert_allclose(result[0].astype(np.float64), expected, rtol=2**-8, atol=1e-5)

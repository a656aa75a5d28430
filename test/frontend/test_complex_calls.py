"""Models with complex arguments and results, which their programs take and return in pairs."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.typing import NDArray

import ttmlir
from ttmlir.runtime.errors import InputError

Z: NDArray[np.complex64] = np.array([[1 + 2j, -0.5j, 3], [0.25 - 1j, -2 + 0.5j, 1j]], np.complex64)


def mix(inputs: dict[str, Any], scale: Any) -> dict[str, Any]:
    """Complex and real arguments and results, one behind the other."""
    z = inputs["z"]
    return {"a": z * scale, "b": jnp.abs(z) + inputs["x"], "c": z.sum(0)}


ARGUMENTS = ({"x": np.arange(3, dtype=np.float32), "z": Z}, np.complex64(0.5 - 2j))
EXPECTED = {
    "a": Z * np.complex64(0.5 - 2j),
    "b": np.abs(Z) + np.arange(3, dtype=np.float32),
    "c": Z.sum(0),
}


def check(result: dict[str, Any]) -> None:
    """Compare with NumPy, element types included."""
    for name, expected in EXPECTED.items():
        assert result[name].dtype == expected.dtype
        np.testing.assert_allclose(result[name], expected, rtol=1e-6)


def test_calls_take_and_return_complex_arrays() -> None:
    """The program has two tensors for each."""
    compiled = ttmlir.compile(mix, *ARGUMENTS)
    check(compiled(*ARGUMENTS))
    check(compiled(ARGUMENTS[0], 0.5 - 2j))
    names = [name for name, _ in compiled.inputs]
    parts = ["inputs['z'].real", "inputs['z'].imag", "scale.real", "scale.imag"]
    assert names == ["inputs['x']", *parts]
    assert [desc.shape for desc in compiled.outputs] == [(2, 3), (2, 3), (2, 3), (3,), (3,)]


def test_pickles_and_files_are_called_alike(tmp_path: Path) -> None:
    """With what JAX computed, too."""
    compiled = ttmlir.compile(mix, *ARGUMENTS)
    check(pickle.loads(pickle.dumps(compiled))(*ARGUMENTS))
    compiled.save(tmp_path / "mix.ttnn", golden=True)
    for framework in ("", "jax"):
        loaded = ttmlir.load(tmp_path / "mix.ttnn", framework=framework)
        check(loaded(*ARGUMENTS))
        check(loaded(ARGUMENTS[0], 0.5 - 2j))
        assert loaded.golden is not None
        check(loaded.golden.result)
        np.testing.assert_array_equal(loaded.golden.args[0]["z"], Z)


def test_real_arrays_are_refused_where_complex_ones_are_taken(tmp_path: Path) -> None:
    """And the other way round."""
    compiled = ttmlir.compile(mix, *ARGUMENTS)
    compiled.save(tmp_path / "mix.ttnn")
    for model in (compiled, ttmlir.load(tmp_path / "mix.ttnn")):
        with pytest.raises(InputError, match=r"takes complex numbers as .*, not float32"):
            model({"x": ARGUMENTS[0]["x"], "z": Z.real}, 0.5)
        with pytest.raises(InputError, match=r"inputs\['x'\] is complex64\[3\] instead"):
            model({"x": Z[0], "z": Z}, 0.5)


def test_numbers_of_128_bits() -> None:
    """They are computed as they are, with the warning about f64."""
    with jax.enable_x64(True):
        z = Z.astype(np.complex128) * (1 + 1e-12)
        with pytest.warns(UserWarning, match="kept as f32 on the device"):
            compiled = ttmlir.compile(lambda z: z * z, z)
        np.testing.assert_allclose(compiled(z), z * z, rtol=1e-15)


def spin(z: Any) -> Any:
    """A counted loop, one that ends by data, and a branch."""

    def turn(number: Any, carried: Any) -> Any:
        value, size = carried
        return value * 1j + z, size + jnp.abs(value).sum()

    value, size = jax.lax.fori_loop(0, 200, turn, (z, 0.0))
    small = jax.lax.while_loop(
        lambda v: jnp.abs(v).max() > 0.5, lambda v: v * (0.5 + 0.1j), value + 5
    )
    chosen = jax.lax.cond(
        size > 1e9,
        lambda v: jnp.fft.fft(jnp.sin(v) * jnp.cos(v) / jnp.exp(v) + jnp.tanh(v)),
        lambda v: jnp.fft.ifft(v * 3),
        small,
    )
    return value, small, chosen


def test_loops_and_branches() -> None:
    """Complex values are carried and chosen."""
    compiled = ttmlir.compile(spin, Z)
    assert "ttir.while" in compiled.text("ttir")
    assert "ttir.case" in compiled.text("ttir")
    for found, expected in zip(compiled(Z), spin(Z), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def train(params: dict[str, Any], x: Any, y: Any) -> Any:
    """A step of a layer of a Fourier neural operator with complex weights."""

    def loss(params: dict[str, Any]) -> Any:
        spectrum = jnp.fft.rfft(x, axis=1)[:, :3]
        mixed = jnp.einsum("bkc,kcd->bkd", spectrum, params["weight"])
        return jnp.mean((jnp.fft.irfft(mixed, n=9, axis=1) * params["gain"] - y) ** 2)

    value, gradient = jax.value_and_grad(loss)(params)
    moved = jax.tree.map(lambda p, g: p - 0.1 * g.conj(), params, gradient)
    return moved, value


def test_training() -> None:
    """Gradients are JAX's, which are conjugated."""
    random = np.random.default_rng(3)
    x, y = random.standard_normal((2, 4, 9, 2)).astype(np.float32)
    parts = random.standard_normal((2, 3, 2, 2)).astype(np.float32)
    params = {"gain": np.float32(2), "weight": parts[0] + 1j * parts[1]}
    compiled = ttmlir.compile(train, params, x, y)
    for found, expected in zip(
        jax.tree.leaves(compiled(params, x, y)), jax.tree.leaves(train(params, x, y)), strict=True
    ):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-6)


def test_bisection_compares_parts() -> None:
    """At every level the program takes pairs."""
    report = ttmlir.compile(mix, *ARGUMENTS).bisect(*ARGUMENTS)
    assert report.agrees
    assert report.levels[-1].compared > 1


TEXT = """
func.func private @square(%z: tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>> {
  %0 = stablehlo.multiply %z, %z : tensor<2x3xcomplex<f32>>
  return %0 : tensor<2x3xcomplex<f32>>
}
func.func @main(%z: tensor<2x3xcomplex<f32>>, %k: tensor<2x3xf32>)
    -> (tensor<2x3xf32>, tensor<2x3xcomplex<f32>>) {
  %0 = call @square(%z) : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
  %1 = stablehlo.imag %0 : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
  %2 = stablehlo.add %1, %k : tensor<2x3xf32>
  return %2, %0 : tensor<2x3xf32>, tensor<2x3xcomplex<f32>>
}
"""


def test_text() -> None:
    """Functions take and return complex tensors; calls take NumPy's."""
    k = np.full((2, 3), 0.5, np.float32)
    compiled = ttmlir.compile(TEXT)
    with pytest.raises(InputError, match="'main' takes 2 arrays, got 1"):
        compiled(Z)
    real, square = compiled(Z, k)
    np.testing.assert_allclose(square, Z * Z, rtol=1e-6)
    np.testing.assert_allclose(real, (Z * Z).imag + k, rtol=1e-6)


def test_buckets_of_complex_arguments_are_refused() -> None:
    """Their sizes would have to be those of two arrays."""
    with pytest.raises(TypeError, match="buckets: 'z' is complex"):
        ttmlir.compile(lambda z: z * 2, Z, buckets={"z": {0: (2, 4)}})

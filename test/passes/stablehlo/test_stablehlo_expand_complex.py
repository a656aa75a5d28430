"""Complex numbers and Fourier transforms, as pairs of real numbers, against JAX and NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.typing import NDArray
from running.pass_runner import printed
from running.sampling import sampled

import ttmlir

Numbers = NDArray[Any]
PARTS = np.random.default_rng(0).standard_normal((2, 3, 6, 10)).astype(np.float32)


def split(value: Any) -> Any:
    """Real and imaginary part of a complex result."""
    return (value.real, value.imag) if jnp.iscomplexobj(value) else value


def check(function: Callable[..., Any], *parts: Numbers, tolerance: float = 1e-5) -> None:
    """Compile a function of a complex tensor, which is given as two, and compare."""

    def joined(real: Any, imag: Any) -> Any:
        return split(function(real + 1j * imag))

    results = jax.tree.leaves(ttmlir.compile(joined, *parts)(*parts))
    with jax.enable_x64(True):
        wide = parts[0].astype(np.float64) + 1j * parts[1].astype(np.float64)
        expected = jax.tree.leaves(split(function(jnp.asarray(wide))))
    for found, value in zip(results, expected, strict=True):
        scale = float(np.abs(value).max())
        np.testing.assert_allclose(found, value, rtol=tolerance, atol=tolerance * scale)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "exp": jnp.exp,
    "expm1": jnp.expm1,
    "log": jnp.log,
    "log1p": jnp.log1p,
    "sqrt": jnp.sqrt,
    "rsqrt": jax.lax.rsqrt,
    "sin": jnp.sin,
    "cos": jnp.cos,
    "tan": jnp.tan,
    "sinh": jnp.sinh,
    "cosh": jnp.cosh,
    "tanh": jnp.tanh,
    "sigmoid": jax.nn.sigmoid,
    "sign": jnp.sign,
    "abs": jnp.abs,
    "angle": jnp.angle,
    "conj": jnp.conj,
    "cube": lambda z: z**3,
    "power": lambda z: z ** (0.5 + 1j),
    "reciprocal": lambda z: 1 / z,
    "equal": lambda z: (z == z[:, :1]) | (z != z),
}


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    """Of every element."""
    check(FUNCTIONS[name], *PARTS)


MOVES: dict[str, Callable[[Any], Any]] = {
    "sum": lambda z: z.sum(1),
    "cumsum": lambda z: jnp.cumsum(z, 1),
    "product": lambda z: z @ z.transpose(0, 2, 1),
    "einsum": lambda z: jnp.einsum("bij,bkj->ki", z, z.conj()),
    "reverse": lambda z: z[:, ::-1],
    "pad": lambda z: jnp.pad(z, 1),
    "concatenate": lambda z: jnp.concatenate([z, 2j * z], 1),
    "where": lambda z: jnp.where(z.real > 0, z, 1j),
    "take": lambda z: z[:, jnp.array([2, 0])],
    "add at": lambda z: z.at[:, 1].add(2j),
    "multiply at": lambda z: z.at[:, 1:2].multiply(2j - z[:, :1]),
    "outer": lambda z: z[..., None] * z[:, :, None],
    "scan": lambda z: jax.lax.associative_scan(lambda a, b: a * b, z, axis=1),
    "counting": lambda z: z * jnp.arange(10, dtype=z.dtype),
    "constants": lambda z: z * jnp.exp(1j * jnp.linspace(0, 3, 10)),
}


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("name", MOVES)
def test_moves_and_sums(name: str) -> None:
    """What is done with both parts."""
    check(MOVES[name], *PARTS)


def test_numbers_are_sorted_by_both_parts() -> None:
    """Also beside other operands, and with NaN last."""
    z = (np.round(PARTS[0]) + 1j * np.round(2 * PARTS[1])).astype(np.complex64)
    z[0, 0, 1] = np.nan

    def function(z: Any) -> Any:
        keys = jax.lax.sort((z.imag, z, z.real > 0), num_keys=2)
        return jnp.sort(z, axis=1), jnp.argsort(z), keys, jnp.unique(z[1], size=7)

    compiled, expected = ttmlir.compile(function, z)(z), jax.jit(function)(z)
    for found, value in zip(jax.tree.leaves(compiled), jax.tree.leaves(expected), strict=True):
        np.testing.assert_array_equal(found, value)


def test_large_and_small_numbers() -> None:
    """Squares of parts leave the range of float32."""
    real = np.array([3e30, 3e-30, 0, 5, 1e38, 0], np.float32)
    imag = np.array([4e30, 4e-30, 0, 0, 0, -2e-38], np.float32)
    check(jnp.abs, real, imag)
    check(lambda z: (z * (1 + 2j)) / jnp.where(z == 0, 1, z), real[:4], imag[:4])


@pytest.mark.parametrize("n", sampled([1, 2, 3, 7, 64, 97, 130, 360, 521]))
def test_transforms(n: int) -> None:
    """Short ones, such with factors, and long primes; all four kinds."""
    real, imag = np.random.default_rng(n).standard_normal((2, 2, n)).astype(np.float32)
    half = n // 2 + 1

    def run(x: Any, y: Any) -> Any:
        z = x + 1j * y
        found = jnp.fft.fft(z), jnp.fft.ifft(z), jnp.fft.rfft(x)
        return *map(split, found), jnp.fft.irfft(z[:, :half], n=n)

    wide = real.astype(np.float64) + 1j * imag
    expected = np.fft.fft(wide), np.fft.ifft(wide), np.fft.rfft(wide.real)
    results = ttmlir.compile(run, real, imag)(real, imag)
    for (a, b), value in zip(results[:3], expected, strict=True):
        np.testing.assert_allclose(a + 1j * b, value, atol=2e-6 * np.abs(value).max())
    inverse = np.fft.irfft(wide[:, :half], n=n)
    np.testing.assert_allclose(results[3], inverse, atol=2e-6 * np.abs(inverse).max())


def test_transforms_of_several_dimensions() -> None:
    """Real and complex ones, of dimensions that are not the last ones, too."""
    check(lambda z: jnp.fft.fftn(z), *PARTS)
    check(lambda z: jnp.fft.fft(z, axis=1), *PARTS)
    check(lambda z: jnp.fft.rfft2(z.real), *PARTS)
    check(lambda z: jnp.fft.irfft2(jnp.fft.rfft2(z.real) * 2), *PARTS)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda z: z.max(), "of complex numbers there are only sums and products"),
        (
            lambda z: jax.lax.reduce_window(z, 1 + 0j, jax.lax.mul, (1, 2, 1), (1, 1, 1), "VALID"),
            "in windows there are only those of cumprod",
        ),
        (
            lambda z: z.at[jnp.array([0, 0])].multiply(2j),
            "scattered to different places alone, which unique_indices=True says of indices",
        ),
    ],
)
def test_refusals(function: Callable[[Any], Any], message: str) -> None:
    """At the line of the user."""
    with pytest.raises(ttmlir.CompilationError, match=message):
        ttmlir.compile(lambda a, b: split(function(a + 1j * b)), *PARTS)


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (
            "%r = stablehlo.cbrt %z : tensor<5xcomplex<f32>>",
            "'stablehlo.cbrt': with complex numbers there are only abs, acos, acosh, add, ",
        ),
        (
            """%r = "stablehlo.sort"(%z) <{dimension = 0 : i64}> ({
            ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
              %c = stablehlo.add %a, %b : tensor<complex<f32>>
              %x = stablehlo.real %c : (tensor<complex<f32>>) -> tensor<f32>
              %y = stablehlo.real %b : (tensor<complex<f32>>) -> tensor<f32>
              %t = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
              stablehlo.return %t : tensor<i1>
            }) : (tensor<5xcomplex<f32>>) -> tensor<5xcomplex<f32>>""",
            "complex numbers are put in order by their parts alone",
        ),
        (
            """%n = stablehlo.constant dense<-2.0> : tensor<f32>
            %r = "stablehlo.sort"(%z) <{dimension = 0 : i64}> ({
            ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
              %x = stablehlo.real %a : (tensor<complex<f32>>) -> tensor<f32>
              %y = stablehlo.multiply %x, %n : tensor<f32>
              %t = stablehlo.compare LT, %y, %n : (tensor<f32>, tensor<f32>) -> tensor<i1>
              stablehlo.return %t : tensor<i1>
            }) : (tensor<5xcomplex<f32>>) -> tensor<5xcomplex<f32>>""",
            "its comparator computes stablehlo.multiply, stablehlo.compare",
        ),
    ],
    ids=["operation", "order", "a value from outside"],
)
def test_text_that_is_refused(operation: str, message: str) -> None:
    """What JAX does not write."""
    type_ = "tensor<5xcomplex<f32>>"
    with pytest.raises(ttmlir.CompilationError, match=message):
        ttmlir.compile(
            f"func.func @main(%z: {type_}) -> {type_} {{ {operation} func.return %r : {type_} }}"
        )


def test_scattered_values_from_outside() -> None:
    """They are moved before; the pass alone refuses them."""
    text = """
    func.func @main(%x: tensor<5xcomplex<f32>>, %i: tensor<2x1xi32>, %u: tensor<2xcomplex<f32>>,
                    %w: tensor<complex<f32>>) -> tensor<5xcomplex<f32>> {
      %r = "stablehlo.scatter"(%x, %i, %u) <{unique_indices = true, scatter_dimension_numbers =
        #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
        index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
        stablehlo.return %w : tensor<complex<f32>>
      }) : (tensor<5xcomplex<f32>>, tensor<2x1xi32>, tensor<2xcomplex<f32>>)
        -> tensor<5xcomplex<f32>>
      return %r : tensor<5xcomplex<f32>>
    }"""
    x, index = (np.arange(5) + 1j).astype(np.complex64), np.array([[3], [1]], np.int32)
    found = ttmlir.compile(text)(x, index, x[:2], np.complex64(1 - 2j))
    np.testing.assert_array_equal(found, [1j, 1 - 2j, 2 + 1j, 1 - 2j, 4 + 1j])
    with pytest.raises(ttmlir.CompilationError, match="there are only sums and products"):
        printed(text, "stablehlo-expand-complex")


INVERSE = ("arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "sqrt")


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", INVERSE)
def test_inverse_functions(name: str) -> None:
    """Large and small numbers, and both sides of the branch cuts, which zeros with a sign tell."""
    real = (-2.5, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.5)
    cuts = [complex(a, b) for a in real for b in (0.0, -0.0, 2.0)]
    numbers = [(PARTS[0] + 1j * PARTS[1]).ravel() * scale for scale in (1e-3, 1, 30)]
    x = np.concatenate([*numbers, cuts]).astype(np.complex64)
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(x.astype(np.complex128))
    found = ttmlir.compile(getattr(jnp, name), x)(x)
    ends = np.isinf(expected)
    np.testing.assert_array_equal(np.isinf(found), ends)
    np.testing.assert_allclose(found[~ends], expected[~ends], rtol=3e-6)


PRODUCTS: dict[str, Callable[[Any], Any]] = {
    "of all": lambda z: z.prod(),
    "of two dimensions": lambda z: z.prod((0, 2)),
    "of none": lambda z: z[:, :0].prod(1),
    "running": lambda z: jnp.cumprod(z, 1),
    "running from behind": lambda z: jax.lax.cumprod(z, 2, reverse=True),
}


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_of_elements(name: str) -> None:
    """By halves, of extents that are even and odd."""
    check(PRODUCTS[name], *PARTS[:, :, :5, :7])


@pytest.mark.parametrize("is_constant", [False, True], ids=["argument", "constant"])
def test_truth_is_that_of_the_real_part(is_constant: bool) -> None:
    """As StableHLO specifies `convert`; the interpreter agrees."""
    numbers = np.array([1j, 1, 0, 2 + 1j], np.complex64)
    parameter = "" if is_constant else "%z: tensor<4xcomplex<f32>>"
    constant = (
        "%z = stablehlo.constant dense<[(0.0, 1.0), (1.0, 0.0), (0.0, 0.0), (2.0, 1.0)]>"
        " : tensor<4xcomplex<f32>>"
    )
    text = (
        f"func.func @main({parameter}) -> tensor<4xi1> {{\n{constant if is_constant else ''}\n"
        "%1 = stablehlo.convert %z : (tensor<4xcomplex<f32>>) -> tensor<4xi1>\n"
        "return %1 : tensor<4xi1>\n}"
    )
    compiled = ttmlir.compile(text)
    arguments = () if is_constant else (numbers,)
    np.testing.assert_array_equal(compiled(*arguments), [False, True, False, True])
    assert compiled.bisect(*arguments).first is None

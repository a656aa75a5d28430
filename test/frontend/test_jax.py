"""The frontend for JAX: how functions, trees, types and stages of JAX are taken."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="needs JAX")

import jax.numpy as jnp  # noqa: E402
from jax import export, lax  # noqa: E402

import ttmlir  # noqa: E402
from ttmlir.frontend import jax as jax_constants  # noqa: E402
from ttmlir.frontend.jax import TEXT_LIMIT  # noqa: E402
from ttmlir.runtime import InputError  # noqa: E402
from ttmlir.schema.versions import load  # noqa: E402

X = jnp.asarray(np.random.default_rng(1).standard_normal((3, 7)), jnp.float32)
Y = jnp.asarray(np.random.default_rng(2).standard_normal(7), jnp.float32)


def scaled(tree: Any, x: Any, *, shift: Any = 0.0) -> Any:
    """A tree in and a tree out."""
    return {"sum": x * tree["scale"] + shift, "parts": (jnp.tanh(x), [x.max()])}


def assert_same(actual: Any, expected: Any) -> None:
    """Trees of the same form, leaves of the same types and close numbers."""
    assert jax.tree.structure(actual) == jax.tree.structure(expected)
    for ours, theirs in zip(jax.tree.leaves(actual), jax.tree.leaves(expected), strict=True):
        assert isinstance(ours, jax.Array)
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        np.testing.assert_allclose(np.float64(ours), np.float64(theirs), rtol=1e-5, atol=1e-5)


def test_trees_go_in_and_out() -> None:
    """Arguments by position and by name; results are JAX's arrays; stages are texts."""
    compiled = ttmlir.compile(scaled, {"scale": Y}, X, example_kwargs={"shift": 1.5})
    assert_same(compiled({"scale": Y + 1}, X, shift=-2), scaled({"scale": Y + 1}, X, shift=-2.0))
    assert_same(compiled.reference({"scale": Y}, X, shift=1.0), scaled({"scale": Y}, X, shift=1.0))
    assert repr(compiled).startswith(
        "CompiledModel(scaled(tree['scale']: float32[7], x: float32[3,7], shift: float32[]) -> "
    )
    assert compiled.stages == ("stablehlo", "ttir", "ttnn", "cpp")
    assert "stablehlo.tanh" in compiled.text("stablehlo")
    assert '"ttir.tanh"' in compiled.text("ttir")
    assert "ttnn::tanh" in compiled.text("cpp")


def test_calls_that_do_not_fit_are_explained() -> None:
    """Structure, shape and type, with JAX's names of the arguments."""
    compiled = ttmlir.compile(scaled, {"scale": Y}, X)
    message = "'scaled' takes tree as a dictionary of 'scale'; got a dictionary of 'more', 'scale'"
    with pytest.raises(InputError, match=message):
        compiled({"scale": Y, "more": Y}, X)
    with pytest.raises(
        InputError, match=r"tree\['scale'\] is float32\[3,7\] instead of float32\[7\]; call"
    ):
        compiled({"scale": X}, X)
    with pytest.raises(InputError, match=r"x is int32\[3,7\] instead of float32\[3,7\]"):
        compiled({"scale": Y}, X.astype(jnp.int32))


@pytest.mark.parametrize(
    ("example", "number", "words"),
    [
        (3, 2**70, "'lambda': n is 1180591620717411303424, which int32 cannot hold"),
        (3, np.float64(2.5), r"n is float32\[\] instead of int32\[\]"),
        (True, 2, r"n is int32\[\] instead of bool\[\]"),
        (2.5, 10**400, r"n is 10*\.\.\.0*, which float32 cannot hold"),
    ],
    ids=["beyond", "fraction", "truth", "long"],
)
def test_numbers_that_a_type_cannot_hold_are_refused(example: Any, number: Any, words: str) -> None:
    """Integers beyond it, fractions for integers, and more than truth for truth values."""
    compiled = ttmlir.compile(lambda x, n: x * n, Y, example)
    assert_same(compiled(Y, type(example)(0)), Y * 0)
    with pytest.raises(InputError, match=words):
        compiled(Y, number)


def test_jitted_functions_keep_their_options() -> None:
    """Static arguments stay out of calls, arguments without effect may be any, as JAX has it."""

    @partial(jax.jit, static_argnums=1, static_argnames="flip", donate_argnums=0)
    def function(x: Any, count: int, unused: Any, *, flip: bool = False) -> Any:
        return (-x if flip else x) * count

    compiled = ttmlir.compile(function, X, 3, Y, example_kwargs={"flip": True})
    assert_same(compiled(X, Y), -3 * X)
    assert_same(compiled(np.asarray(X), Y), -3 * X)
    assert_same(ttmlir.compile(partial(scaled, {"scale": Y}), X)(X), scaled({"scale": Y}, X))


class Scaled:
    """Methods that are jitted, of an object that JAX knows nothing of."""

    def __init__(self, scale: float) -> None:
        """Hold a number of Python and an array."""
        self.scale, self.y = scale, Y

    @partial(jax.jit, static_argnames=("self", "is_raised"))
    def by_name(self, x: Any, *, is_raised: bool = False) -> Any:
        """A static argument besides the object."""
        return x * self.scale + (self.y if is_raised else 0)

    @partial(jax.jit, static_argnums=(0, 2))
    def by_number(self, x: Any, power: int) -> Any:
        """Numbers of static arguments count the object."""
        return (x * self.y) ** power


@jax.tree_util.register_pytree_node_class
class Tree(Scaled):
    """An object whose array is an argument of its method in JAX, and a constant of the program."""

    @jax.jit
    def bound(self, x: Any) -> Any:
        """The array times the argument."""
        return self.y * x

    def tree_flatten(self) -> tuple[list[Any], float]:
        """The array; the number is part of the structure."""
        return [self.y], self.scale

    @classmethod
    def tree_unflatten(cls, scale: float, leaves: list[Any]) -> Tree:
        """An object of what JAX traces."""
        made = cls(scale)
        (made.y,) = leaves
        return made


def test_jitted_methods_are_models() -> None:
    """The object is no argument of the program; static arguments are left out of calls."""
    model = Scaled(3.0)
    plain = ttmlir.compile(model.by_name, X)
    assert repr(plain).startswith("CompiledModel(by_name(x: float32[3,7]) -> ")
    assert_same(plain(X), X * 3)
    raised = ttmlir.compile(model.by_name, X, example_kwargs={"is_raised": True})
    assert_same(raised(X), X * 3 + Y)
    assert_same(ttmlir.compile(model.by_number, X, 2)(X), (X * Y) ** 2)
    assert_same(ttmlir.compile(Tree(2.0).bound, X)(X), Y * X)
    assert_same(ttmlir.compile(Tree.bound, Tree(2.0), X)(Tree(2.0), X), Y * X)


@pytest.mark.parametrize("stage", ["trace", "lower", "export", "shapes"])
def test_stages_of_jax_are_models_too(stage: str) -> None:
    """`jit(f).trace`, `jit(f).lower`, `export` and shapes instead of arrays."""
    shape = jax.ShapeDtypeStruct(X.shape, X.dtype)

    def function(x: Any, unused: Any) -> Any:
        return jnp.tanh(x) + Y

    jitted = jax.jit(function)
    makers: dict[str, Any] = {
        "trace": lambda: ttmlir.compile(jitted.trace(X, Y)),
        "lower": lambda: ttmlir.compile(jitted.lower(X, Y)),
        "export": lambda: ttmlir.compile(export.export(jitted)(shape, Y)),
        "shapes": lambda: ttmlir.compile(function, shape, shape),
    }
    compiled = makers[stage]()
    arguments = (X, X) if stage == "shapes" else (X, Y)
    assert_same(compiled(*arguments), jnp.tanh(X) + Y)
    assert_same(compiled.reference(*arguments), jnp.tanh(X) + Y)
    assert compiled.name == "function"


def test_exports_for_several_platforms_and_sizes() -> None:
    """The number of the platform is no argument of a call; sizes are given by examples."""

    def function(x: Any) -> Any:
        return lax.platform_dependent(x, tpu=jnp.sin, cpu=jnp.cos)

    exported = export.export(jax.jit(function), platforms=["tpu", "cpu"])(X)
    for model in (exported, export.deserialize(exported.serialize())):
        assert_same(ttmlir.compile(model)(X), jnp.cos(X))
    shape = jax.ShapeDtypeStruct(export.symbolic_shape("b, 7"), X.dtype)
    exported = export.export(jax.jit(function))(shape)
    with pytest.raises(TypeError) as caught:
        ttmlir.compile(exported)
    assert str(caught.value) == (
        "'function' takes arrays of any size (float32[b,7]); "
        "ttmlir.compile(exported.call, x) compiles it for the shapes of x"
    )
    assert_same(ttmlir.compile(exported.call, X)(X), jnp.cos(X))
    with pytest.raises(
        TypeError, match=r"machine code; ttmlir.compile takes the function, or what"
    ):
        ttmlir.compile(jax.jit(function).lower(X).compile())


def test_shapes_give_no_golden_results(tmp_path: Path) -> None:
    """They have no numbers to compute from; `golden=(x,)` has."""
    shape = jax.ShapeDtypeStruct(X.shape, X.dtype)
    compiled = ttmlir.compile(lambda x: jnp.tanh(x), shape)
    words = r"'lambda' was compiled without numbers in its examples; save\(path, golden=\(x, y\)\)"
    for suffix in ("ttnn", "py", "cpp"):
        with pytest.raises(InputError, match=words):
            compiled.save(tmp_path / f"model.{suffix}", golden=True)
    assert not list(tmp_path.iterdir())
    assert compiled.save(tmp_path / "model.py", golden=(X,)).exists()
    programs = ttmlir.compile_programs({"f": ttmlir.Example(jnp.tanh, shape)})
    with pytest.raises(
        InputError, match=r"program 'f' was .* in place of each jax.ShapeDtypeStruct"
    ):
        programs.save(tmp_path / "all.ttnn", golden=True)


def test_examples_with_a_stage_are_refused() -> None:
    """Its arguments are known."""
    with pytest.raises(TypeError, match="a Lowered object of JAX knows its arguments"):
        ttmlir.compile(jax.jit(jnp.tanh).lower(X), X)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "int32", "int8", "bool"])
def test_large_constants_arrive_by_another_way_than_text(dtype: str) -> None:
    """Their bytes are moved; small ones and ones of equal elements are in the text."""
    rng = np.random.default_rng(3)
    weights = jnp.asarray(rng.integers(0, 2 if dtype == "bool" else 9, (TEXT_LIMIT, 3)), dtype)
    small = weights[:3]

    @jax.jit
    def inner(x: Any) -> Any:
        return jnp.where(x > 0, weights, jnp.full_like(weights, 1)), small

    compiled = ttmlir.compile(inner, weights.astype(jnp.float32))
    x = jnp.asarray(rng.standard_normal(weights.shape), jnp.float32)
    assert_same(compiled(x), inner(x))
    assert "dense_resource" not in compiled.text("stablehlo")
    assert "dense_resource" in compiled.text("stablehlo", elide_above=TEXT_LIMIT)


def test_files_do_not_depend_on_the_run() -> None:
    """Compiling twice gives the same bytes."""
    files = [ttmlir.compile(scaled, {"scale": Y}, X).to_bytes() for _ in range(2)]
    assert files[0] == files[1]


def test_keys_of_random_numbers_are_arguments() -> None:
    """They travel as the numbers that they are made of."""
    key = jax.random.key(3)
    compiled = ttmlir.compile(lambda key, x: (key, x + 1), key, X)
    result, _ = compiled(key, X)
    assert result.dtype == key.dtype
    assert (jax.random.key_data(result) == jax.random.key_data(key)).all()


def test_64_bits_stay_what_they_are_in_exact_numerics() -> None:
    """With JAX's x64 mode, in a process of its own; the device has 32 bits."""
    script = """
import warnings, jax; jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp, numpy as np, ttmlir
x = jnp.linspace(0, 1, 12).reshape(3, 4)
with warnings.catch_warnings(record=True) as seen:
    compiled = ttmlir.compile(lambda x, i: (jnp.tanh(x) * 3, i + 1), x, jnp.arange(5))
assert "tensors of f64 are kept as f32 on the device" in str(seen[0].message), seen
assert compiled.warnings[0] in str(seen[0].message) and seen[0].filename == "<string>"
y, i = compiled(x, jnp.arange(5))
print(y.dtype, i.dtype, np.allclose(y, jnp.tanh(x) * 3, rtol=1e-6), i)
"""
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert result.stdout == "float64 int64 True [1 2 3 4 5]\n", result.stderr


def test_constant_integers_are_computed_as_others() -> None:
    """Conversions of integers keep the lower bits, remainders have the sign of the dividend."""

    def function() -> Any:
        numbers = [lax.full((3,), n, jnp.int16) for n in (-300, -7, 300)]
        types = (jnp.int8, jnp.uint8, jnp.uint16, jnp.uint32, jnp.bool_)
        casts = [lax.convert_element_type(n, each) for n in numbers for each in types]
        return casts, [lax.rem(a, b) for a in numbers for b in numbers], ~(numbers[0] > 0)

    assert_same(ttmlir.compile(function)(), jax.jit(function)())


def _normal(*shape: int) -> Any:
    return np.random.default_rng(3).standard_normal(shape).astype(np.float32)


def test_unsupported_operations_are_shown_in_the_users_source() -> None:
    """The innermost line that is not JAX's own, with a caret, and what is supported."""

    def factor(x: Any) -> Any:
        return jax.lax.linalg.tridiagonal(x @ x.T)[1]  # not supported

    with pytest.raises(ttmlir.CompilationError) as caught:
        ttmlir.compile(lambda x: factor(x * 2) + 1, X)
    place, line, caret = str(caught.value).splitlines()
    assert f"{Path(__file__).name}:" in place
    assert "the tridiagonal form of a matrix" in place
    assert line.strip() == "return jax.lax.linalg.tridiagonal(x @ x.T)[1]  # not supported"
    assert caret.index("^") == line.index("jax.lax")


_C = (_normal(4, 7, 5) + 1j * _normal(4, 7, 5)[::-1])[:, 1:, :3]
FACTORS: dict[str, tuple[Any, ...]] = {
    "reflections": (jnp.linalg.qr, _C[0]),
    "wide_reflections": (lambda a: jnp.linalg.qr(a)[1], _C[:2, :2]),
    "all_columns": (partial(jnp.linalg.qr, mode="complete"), _C[1]),
    "eigenvectors": (lambda a: _product_of(*jnp.linalg.eigh(a @ a.conj().mT)), _C[:2]),
    "upper_triangle": (lambda a: jnp.linalg.eigvalsh(a, UPLO="U"), _C[0, :3] + 9 * np.eye(3)),
    "equal_eigenvalues": (
        lambda a: _product_of(*jnp.linalg.eigh(jnp.eye(4) * a[0, 0].real + 0j)),
        _C[0],
    ),
    "wide_singular_vectors": (
        lambda a: _joined(*jnp.linalg.svd(a, full_matrices=False)),
        _C[:2, :2],
    ),
    "all_singular_vectors": (
        lambda a: _joined(*jnp.linalg.svd(a[:, :1] @ a[:1].conj())),
        _C[2],
    ),
    "singular_values": (lambda a: jnp.linalg.svd(a, compute_uv=False), _C[:3]),
    "tridiagonal_beside_others": (
        lambda a, d, u, b: (lax.linalg.tridiagonal_solve(a, d, u, b), jnp.linalg.cholesky(b @ b.T)),
        *(_normal(8), np.zeros(8, np.float32), _normal(8)[::-1], _normal(8, 9)),
    ),
    "tridiagonal_batch": (lax.linalg.tridiagonal_solve, *[_normal(3, 7)] * 3, _normal(3, 7, 2)),
}


def _product_of(values: Any, vectors: Any) -> Any:
    """What these are the eigenvectors of, and that they are orthogonal."""
    adjoint = vectors.conj().mT
    return (vectors * values[..., None, :]) @ adjoint, adjoint @ vectors, values


def _joined(left: Any, values: Any, right: Any) -> Any:
    count = values.shape[-1]
    product = (left[..., :count] * values[..., None, :]) @ right[..., :count, :]
    return product, left.conj().mT @ left, right @ right.conj().mT, values


_QUICK = ("eigenvectors", "reflections", "wide_singular_vectors", "tridiagonal_beside_others")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in _QUICK else pytest.mark.exhaustive)
        for name in FACTORS
    ],
)
def test_factors_of_complex_matrices_and_of_diagonals(name: str) -> None:
    """Signs of vectors, and the basis of equal values, are free; reflections are LAPACK's."""
    function, *arrays = FACTORS[name]
    found = jax.tree.leaves(ttmlir.compile(function, *arrays)(*arrays))
    wanted = jax.tree.leaves(function(*map(jnp.asarray, arrays)))
    for ours, theirs in zip(found, wanted, strict=True):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        scale = max(1.0, float(np.abs(theirs).max()))
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5 * scale)


@pytest.mark.filterwarnings("ignore:.*are kept as bf16 on the device")
@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda z: lax.linalg.tridiagonal(z)[1], "supported are Cholesky, LU and QR factors, lin"),
        (
            lambda z: jnp.linalg.eigvalsh(jnp.ones((257, 258, 258)) * z[0, 0]),
            "with 1 to 1024 rows and columns, and at most 256 of one of them; compute others on",
        ),
        (
            lambda z: lax.bitcast_convert_type(z.real.astype(jnp.float8_e5m2), jnp.uint8),
            "keeps numbers of f8E5M2 as bf16, and has no bits of theirs; convert them to bf16",
        ),
    ],
    ids=["routine", "size", "bits"],
)
def test_refusals_in_jitted_functions_of_jax_are_shown_where_those_are_called(
    function: Any, words: str
) -> None:
    """JAX gives what is inside of them no lines."""
    with pytest.raises(ttmlir.CompilationError, match=rf"^\S*{Path(__file__).name}:") as caught:
        ttmlir.compile(function, jnp.eye(3, dtype=jnp.complex64))
    assert words in str(caught.value)
    assert str(caught.value).splitlines()[1].strip().startswith(("(lambda z", "lambda z"))


def test_saved_files_hold_what_jax_computes(tmp_path: Path) -> None:
    """`ttrt run --golden` compares with it."""
    compiled = ttmlir.compile(scaled, {"scale": Y}, X)
    file = compiled.save(tmp_path / "scaled.ttnn", golden=True)
    command = [Path(sys.executable).with_name("ttrt"), "run", "--golden", file]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "output 2" in result.stdout + result.stderr
    other = compiled.save(tmp_path / "other.ttnn", golden=({"scale": Y * 2}, X))
    assert other.read_bytes() != file.read_bytes()
    with pytest.raises(InputError, match="tree"):
        compiled.save(tmp_path / "other.ttnn", golden=({"scale": X}, X))


LARGE = {
    "w": jnp.asarray(np.random.default_rng(3).standard_normal((7, 20_000)), jnp.float32),
    "half": jnp.asarray(np.random.default_rng(4).standard_normal((40_000, 1)), jnp.bfloat16),
    "same": jnp.full((7, 17_000), 2.5),
    "places": np.arange(70_000, dtype=np.int32)[::-1].copy(),
}


@jax.jit
def inner(x: Any) -> Any:
    """A function of its own."""
    return x @ LARGE["w"]


def closing(tree: Any, unused: Any, *, y: Any) -> Any:
    """Closes over arrays, also in a loop and in a function of its own."""

    def body(carry: Any, _: Any) -> Any:
        return jnp.tanh(carry + (carry @ LARGE["w"])[:, :7]), None

    total = jax.lax.scan(body, tree["x"], None, length=2)[0]
    places = jnp.asarray(LARGE["places"])[jnp.arange(3)]
    product = (jnp.tile(y, (1, 2)) @ LARGE["half"]).astype(jnp.float32)
    return {"sum": total + inner(tree["x"])[:, -7:], "more": (places, product, LARGE["same"][0])}


@pytest.mark.parametrize("is_jitted", [False, True])
def test_large_constants_are_not_copied(monkeypatch: pytest.MonkeyPatch, is_jitted: bool) -> None:
    """The program is the one that JAX writes with copies of them."""
    model = jax.jit(closing) if is_jitted else closing
    half = jnp.ones((3, 20_000), jnp.bfloat16)
    models: list[ttmlir.CompiledModel] = []
    for least in (jax_constants.WORTH_TRACING, 0):
        monkeypatch.setattr(jax_constants, "WORTH_TRACING", least)
        models.append(ttmlir.compile(model, {"x": X}, Y, example_kwargs={"y": half}))
    copied, compiled = models
    assert compiled.text("stablehlo") == copied.text("stablehlo")
    assert compiled.source.input_names == copied.source.input_names
    locations = [
        [str(op.location) for op in each.source.module.walk() if op.name != "stablehlo.constant"]
        for each in (compiled, copied)
    ]
    assert locations[0] == locations[1]
    actual, expected = compiled({"x": X}, Y, y=half), copied({"x": X}, Y, y=half)
    for ours, theirs in zip(jax.tree.leaves(actual), jax.tree.leaves(expected), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert_same(actual["sum"], closing({"x": X}, Y, y=half)["sum"])
    assert_same(actual["more"][::2], closing({"x": X}, Y, y=half)["more"][::2])


def test_jax_makes_no_constants_of_large_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """What JAX lowers takes them as arguments."""
    monkeypatch.setattr(jax_constants, "WORTH_TRACING", 0)
    traced = jax.jit(lambda x: x @ LARGE["w"]).trace(X)
    hoisted = jax_constants.hoist_constants(jax, traced, keep_unused=True)
    assert hoisted is not None
    [constant] = hoisted.constants
    assert np.shares_memory(constant, np.asarray(LARGE["w"]))
    assert "stablehlo.constant" not in hoisted.traced.lower().as_text()


WINDOWS: dict[str, tuple[Any, ...]] = {
    # The library writes one number where several windows have the same extreme.
    "overlapping_extremes": (
        jax.grad(
            lambda x: jnp.sum(
                lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 2, 1), (1, 2, 1, 1), "SAME") ** 2
            )
        ),
        _normal(2, 7, 5, 3),
    ),
    # What is between the elements of a maximum is no 0.
    "holes_of_a_maximum": (
        lambda x: lax.reduce_window(
            x, -jnp.inf, lax.max, (2, 3), (1, 2), "SAME", base_dilation=(1, 3)
        ),
        -np.abs(_normal(5, 4)),
    ),
    "start_of_a_maximum": (
        lambda x: lax.reduce_window(x, 0.3, lax.max, (1, 3, 2, 1), (1, 2, 2, 1), "VALID"),
        _normal(2, 7, 5, 3),
    ),
    "start_of_a_running_maximum": (
        lambda x: lax.reduce_window(x, 0.3, lax.max, (7,), (1,), [(6, 0)]),
        _normal(7),
    ),
    "window_of_four_dimensions": (
        lambda x: lax.reduce_window(x, jnp.inf, lax.min, (2, 3, 2, 2), (1, 2, 3, 1), "SAME"),
        _normal(3, 7, 5, 3),
    ),
    "strides_of_windows_of_one_element": (
        lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 3, 2, 1), (2, 1, 1, 1), "SAME"),
        _normal(3, 7, 5, 3),
    ),
    "groups_and_holes": (
        lambda x, w: lax.conv_general_dilated(
            x, w, (2, 1), ((1, 2), (-1, 3)), (1, 2), (2, 1), ("NHWC", "HWIO", "NHWC"), 2
        ),
        _normal(2, 7, 9, 6),
        _normal(3, 5, 3, 8),
    ),
    "groups_of_a_batch_of_lines": (
        lambda x, w: lax.conv_general_dilated(x, w, (2,), "SAME", batch_group_count=2),
        _normal(4, 3, 11),
        _normal(6, 3, 4),
    ),
    "holes_of_volumes_and_their_groups": (
        lambda x, w: jnp.stack(
            [
                lax.conv_general_dilated(
                    *(x, w[..., :in_each, :], (1, 1, 2), [(1, 1)] * 3, None, (1, 2, 2)),
                    *(("NDHWC", "DHWIO", "NDHWC"), 4 // in_each),
                )
                for in_each in (4, 2)
            ]
        ),
        _normal(2, 3, 5, 7, 4),
        _normal(2, 2, 3, 4, 6),
    ),
    "holes_of_lines": (
        lambda x, w: lax.conv_general_dilated(x, w, (1,), ((2, 1),), (3,)),
        _normal(4, 3, 5),
        _normal(6, 3, 4),
    ),
    "more_padding_than_reach": (
        lambda x, w: lax.conv_transpose(x, w, (2, 3), "VALID", (2, 1)),
        _normal(2, 9, 7, 4),
        _normal(3, 2, 4, 5),
    ),
}
"""Windows that have no operation of the library's own, which has a narrower meaning."""


@pytest.mark.parametrize("name", WINDOWS)
def test_windows_of_all_forms_are_right(name: str) -> None:
    """Gradients of overlapping pools, holes, starts, groups."""
    function, *arrays = WINDOWS[name]
    assert_same(jnp.asarray(ttmlir.compile(function, *arrays)(*arrays)), function(*arrays))


def test_parts_of_dimensions_without_an_index_are_gathered_and_scattered() -> None:
    """Slices that are shorter than a dimension that no index moves along, and indices in turn."""
    rng = np.random.default_rng(4)
    x, updates = _normal(4, 5, 6), _normal(2, 3, 2, 6)
    columns, pairs = rng.integers(0, 4, (2, 3, 1)), rng.integers(0, 4, (2, 3, 2))

    def moved(x: Any, columns: Any, pairs: Any, updates: Any) -> Any:
        rest = {"update_window_dims": (2, 3), "scatter_dims_to_operand_dims": (1,)}
        written = lax.ScatterDimensionNumbers(inserted_window_dims=(0,), **rest)
        part = lax.GatherDimensionNumbers((2, 3), (1,), (1,))
        turned = lax.GatherDimensionNumbers((0, 3), (1,), (2, 0))
        return (
            lax.scatter_add(x, columns, updates, written, mode="clip"),
            lax.gather(x, columns, part, (2, 1, 3)),
            lax.gather(x, pairs, turned, (2, 1, 3), mode="clip"),
        )

    arguments = x, columns.astype(np.int32), pairs.astype(np.int32), updates
    assert_same(ttmlir.compile(moved, *arguments)(*arguments), jax.jit(moved)(*arguments))


@pytest.mark.filterwarnings("ignore:.*f64.*:UserWarning")
@pytest.mark.parametrize("spelling", ["2024", "2026"])
def test_files_keep_numbers_of_64_bits(spelling: Any, tmp_path: Path) -> None:
    """A model and its file take and give them, also where it sorts, adds up and combines bits."""

    def function(x: Any, i: Any) -> Any:
        casts = x.astype(jnp.bool_), i.astype(jnp.int8)
        truths = (x > 0).any(1), (x < 2).all(0), jnp.bitwise_xor.reduce(i)
        return jnp.sort(i)[::-1] + 1, jnp.cumsum(x, 1), *truths, *casts

    x = np.array([[1.5, 0, -2.25], [0, 1e-12, 0]])
    i = np.array([2**40 + 1, -3, 7, 2**33])
    with jax.enable_x64(True):
        compiled = ttmlir.compile(function, x, i, spelling=spelling)
        expected = [np.asarray(each) for each in function(jnp.asarray(x), jnp.asarray(i))]
        own = compiled(x, i)
    path = tmp_path / "wide.ttnn"
    compiled.save(path)
    for results in (own, ttmlir.load(path)(x, i)):
        for result, correct in zip(results, expected, strict=True):
            assert result.dtype == correct.dtype
            np.testing.assert_array_equal(result, correct)


@pytest.mark.parametrize("spelling", ["2024", "2026"])
def test_loops_have_no_text_of_the_module(spelling: Any) -> None:
    """That of each would count again where a file is checked, and there may be a thousand."""

    def loop(x: Any) -> Any:
        return lax.while_loop(lambda x: x.sum() < 9, lambda x: x * 2, x)

    compiled = ttmlir.compile(loop, np.ones(3, np.float32), spelling=spelling)
    root = load(compiled.to_bytes(), "loop.ttnn").root
    loops = root.functions if spelling == "2024" else root.programs[1:]
    assert root.programs[0].debug_info.cpp
    assert [each.debug_info.cpp for each in loops] == [None] * len(loops) != []


def test_numbers_of_64_bits_stay_whole_outside_of_x64(tmp_path: Path) -> None:
    """What was exported or compiled with them gives them wherever it is called."""
    i = np.arange(3) * 2**35
    with jax.enable_x64(True):
        exported = export.export(jax.jit(lambda i: i // 3))(i)
        compiled = ttmlir.compile(lambda i: i // 3, i)
    loaded = ttmlir.load(compiled.save(tmp_path / "thirds.ttnn"), framework="jax")
    for model in (ttmlir.compile(exported), compiled, loaded):
        result = model(i)
        assert isinstance(result, jax.Array)
        np.testing.assert_array_equal(np.asarray(result), i // 3, strict=True)


BITS: dict[str, tuple[Any, ...]] = {
    "gaps_that_are_cut": (
        lambda x: lax.pad(x, np.float32(0), ((-2, -2, 2), (-1, 3, 2))),
        _normal(3, 4),
    ),
    "shifts_of_unsigned_numbers": (
        lambda a, b: (
            lax.shift_right_arithmetic(a, np.uint8(2)),
            lax.shift_right_arithmetic(b, np.uint32(40)),
        ),
        np.array([200, 7, 130, 1], np.uint8),
        np.array([2**31 + 5, 7, 2**32 - 1], np.uint32),
    ),
    "several_keys": (
        lambda a, b: (lax.sort((a, b), num_keys=2), jnp.lexsort((a, -b))),
        np.round(_normal(9)),
        _normal(9)[::-1],
    ),
    "large_integers": (
        lambda x: lax.conv_general_dilated(x, jnp.ones((1, 1, 2, 2), jnp.int32), (1, 1), "VALID"),
        np.array([[[[2**24 + 1, 3, -7], [5, 2**24 + 3, 1]]]], np.int32),
    ),
    "functions_of_one_name": (
        lambda x: (lax.top_k(x, 2), lax.top_k(-x, 3), lax.top_k(x + 1, 1)),
        np.arange(5, dtype=np.int32),
    ),
}


@pytest.mark.parametrize("name", BITS)
def test_results_have_the_bits(name: str) -> None:
    """What is moved, and what integers compute, is the same as JAX's."""
    function, *arrays = BITS[name]
    found = ttmlir.compile(function, *arrays)(*arrays)
    for ours, theirs in zip(
        jax.tree.leaves(found), jax.tree.leaves(jax.jit(function)(*arrays)), strict=True
    ):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        np.testing.assert_array_equal(ours, theirs)

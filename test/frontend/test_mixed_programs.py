"""`target="kernels"` of programs some operations of which have no kernels."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import ttmlir
from ttmlir.frontend.targets import KernelsTarget
from ttmlir.mlir.reporting import internal_error
from ttmlir.passes.d2m.frontend import ttir_to_d2m
from ttmlir.tools.ttrt import main

RANDOM = np.random.default_rng(17)
X, Y = RANDOM.standard_normal((2, 33, 70)).astype(np.float32)
W = RANDOM.standard_normal((70, 21)).astype(np.float32)
STRICT = "library-fallback=false"


@pytest.fixture(autouse=True)
def _no_sines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sines have no kernels here, whatever has some elsewhere."""
    rule_of = ttir_to_d2m._rule_of  # pyright: ignore[reportPrivateUsage]

    def refuse(conversion: Any, op: Any) -> Any:
        return ttir_to_d2m._refuse(conversion, op)  # pyright: ignore[reportPrivateUsage]

    def choose(op: Any) -> Any:
        return refuse if op.name == "ttir.sin" else rule_of(op)

    monkeypatch.setattr(ttir_to_d2m, "_rule_of", choose)


def wave(x: Any, w: Any) -> Any:
    """A sine between a product and a sum."""
    y: Any = jnp.sin(jnp.tanh(x @ w) * 2)
    return (y * 3).sum(-1)


def compile_mixed(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """The model, whose warning is expected."""
    with pytest.warns(UserWarning, match=r"ttnn library|loops or branches"):
        model: Any = ttmlir.compile(function, *args, target="kernels", **options)
    return model


def halves(x: Any, y: Any) -> Any:
    """Kernels that wait for two sines one after the other, and others that wait for none."""
    a = jnp.sin(x + y)
    b = jnp.exp(x - y)
    c = jnp.sin(a * b) - a
    return c, b.sum(0), jnp.where(c > 0, b, a)


def truths(x: Any, y: Any) -> Any:
    """Truth values go from kernels to the library's calls around a sine, and back."""
    positive = jnp.exp(x) > 1
    return jnp.where(jnp.sin(jnp.where(positive, x, y)) > 0, ~positive, x < y)


def counts(x: Any, y: Any) -> Any:
    """Integers, and moves that kernels leave to the library."""
    whole = (x * 9).astype(np.int32)
    odd = jnp.sin(whole.astype(np.float32)).reshape(-1)[3:80]
    return jnp.concatenate([odd * 2, y[1, 2:9]]).sum(), whole % 7


def decay(x: Any, y: Any) -> Any:
    """A loop that ends by data, with kernels inside."""
    less = jax.lax.while_loop(lambda z: jnp.abs(z).sum() > 5, lambda z: z * 0.3 + y * 0, x)
    return jnp.tanh(less)


def steps(x: Any, y: Any) -> Any:
    """A loop that fills a tensor."""

    def step(carry: Any, row: Any) -> tuple[Any, Any]:
        carry = jnp.tanh(carry + row)
        return carry, carry * 2

    return jax.lax.scan(step, y[0], x[:5])


@pytest.mark.parametrize("function", [halves, truths, counts, decay, steps])
def test_results_are_those_of_jax(function: Any) -> None:
    """In each number type that is passed between kernels and calls."""
    model = compile_mixed(function, X, Y, options="max-trip-count=1")
    assert (model.target, model.suffix) == ("kernels", ".ttnn")
    expected = jax.tree.leaves(function(X, Y))
    found = jax.tree.leaves(model(X, Y))
    for one, other in zip(found, expected, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16])
def test_device_numerics_round_in_all_parts(dtype: Any) -> None:
    """Kernels and calls of 16-bit numbers."""
    x, w = X.astype(dtype), W.astype(dtype)
    found = compile_mixed(wave, x, w)(x, w, numerics="device")
    expected = np.asarray(wave(X, W))
    assert found.dtype == dtype
    np.testing.assert_allclose(np.asarray(found).astype(np.float32), expected, atol=0.6)


def test_what_the_library_computes_is_said() -> None:
    """In a warning, in the summary and in the estimate, with the user's line; and once."""
    model = compile_mixed(wave, X, W)
    (text,) = model.warnings
    line = wave.__code__.co_firstlineno + 2
    assert text == (
        "1 operation without kernels is left to the ttnn library; "
        "options='library-fallback=false' refuses that: "
        f"ttir.sin (test_mixed_programs.py:{line}): there are no kernels for it"
    )
    assert "ttnn operations with 2 programs of kernels" in repr(model)
    assert text in str(model.summary())
    estimate = model.estimate("n150")
    assert str(estimate).count(text) == 1
    assert [each.name for each in estimate.operations if each.mid].count("ttnn.sin") == 1
    assert model.profile(X, W).cycles > 1000
    assert model.stages == ("stablehlo", "ttir", "ttnn", "cpp")
    assert "void kernel_main()" in model.text("cpp")
    with pytest.raises(ValueError, match=r"wave\.py: scripts are of kernels or of calls"):
        model.save("wave.py")
    again = pickle.loads(pickle.dumps(model))
    assert (again.warnings, again.suffix) == (model.warnings, ".ttnn")
    np.testing.assert_array_equal(again(X, W), model(X, W))


def test_programs_in_part_are_refused_where_that_is_asked_for() -> None:
    """With the message of old, at the user's line."""
    with pytest.raises(ttmlir.CompilationError, match=r"'ttir\.sin': there are no kernels for it"):
        ttmlir.compile(wave, X, W, target="kernels", options=STRICT)
    with pytest.raises(ValueError, match="library-fallback is true or false, not 'maybe'"):
        ttmlir.compile(wave, X, W, target="kernels", options="library-fallback=maybe")
    whole = ttmlir.compile(jnp.tanh, X, target="kernels", options=STRICT)
    assert whole.suffix == ".ttm"


def test_without_kernels_all_is_the_library_s() -> None:
    """A sine, and moves."""

    def move(x: Any) -> Any:
        return jnp.sin(x).T[3:]

    model = compile_mixed(move, X)
    assert model.warnings[0].startswith("no part of the program has kernels")
    assert "ttnn.generic" not in model.text("ttnn")
    np.testing.assert_allclose(model(X), np.sin(X).T[3:], atol=1e-6)


def test_files_run_as_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With golden results, by `ttrt run`, `ttrt perf` and `ttmlir.load`."""
    path = compile_mixed(wave, X, W).save(tmp_path / "wave.ttnn", golden=True)
    options = ["--artifact-dir", str(tmp_path / "artifacts")]
    assert main(["run", "--golden", *options, str(path)]) == 0
    printed = "".join(capsys.readouterr())
    assert "golden ok  output 0: pcc 1.000000" in printed
    assert "(part0_" in printed
    assert main(["perf", *options, str(path)]) == 0
    np.testing.assert_allclose(ttmlir.load(path)(X, W), wave(X, W), rtol=1e-5, atol=1e-5)


def test_programs_of_one_file_are_compiled_in_part_together() -> None:
    """One of which has kernels alone."""
    examples = {"wave": ttmlir.Example(wave, X, W), "sum": ttmlir.Example(jnp.add, X, Y)}
    with pytest.warns(UserWarning, match=r"ttir\.sin"):
        programs = ttmlir.compile_programs(examples, target="kernels")
    assert any("ttir.sin" in text for text in programs.warnings)
    np.testing.assert_allclose(programs.wave(X, W), wave(X, W), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(programs.sum(X, Y), X + Y, rtol=1e-6)


def test_bisection_runs_programs_in_part() -> None:
    """The file is the last level."""
    report = compile_mixed(wave, X, W).bisect(X, W)
    assert report.agrees
    assert report.levels[-1].level == "ttnn"


def test_what_changes_calls_of_the_library_takes_no_kernels() -> None:
    """Nothing of the program is tuned that is not in the file; numbers stand in a report."""
    model = compile_mixed(wave, X, W)
    with pytest.raises(ttmlir.InputError, match="is no ttnn program with its source"):
        ttmlir.tune(model)
    assert "What may help" not in str(ttmlir.report(model))


def test_padding_of_arguments_needs_no_mask() -> None:
    """The host fills it with zeros; what the library makes has any numbers there."""

    def product(x: Any, w: Any) -> Any:
        return jnp.sin((x @ w) * 2).T @ x.sum(1)

    text = compile_mixed(product, X, W).text("ttnn")
    first, second = text.split("ttnn.sin")
    assert "ttnn.constant" not in first.partition("func.func")[2]
    assert "ttnn.constant" in second


def test_boards_hold_for_all_parts() -> None:
    """Kernels are made for the cores of the chip."""
    model = compile_mixed(wave, X, W, board="p150")
    assert "blackhole" in model.text("ttnn")
    np.testing.assert_allclose(model(X, W), wave(X, W), rtol=1e-5, atol=1e-5)


def test_what_passes_refuse_later_is_left_to_the_library() -> None:
    """A product whose operands have no memory: its part has none, others have kernels."""
    options = "test-assume-l1-capacity=70000"
    with pytest.raises(ttmlir.CompilationError):
        ttmlir.compile(wave, X, W, target="kernels", options=f"{options} {STRICT}")
    model = compile_mixed(wave, X, W, options=options)
    np.testing.assert_allclose(model(X, W), wave(X, W), rtol=1e-5, atol=1e-5)


def lowest(x: Any) -> Any:
    """Where the least number of each column is."""
    return jnp.argmin(x, 0)


def mean(x: Any) -> Any:
    """The mean of all numbers."""
    return x.mean()


def test_mistakes_of_passes_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls of the library in place of kernels do not hide that making kernels broke off."""

    def fail(_: KernelsTarget, module: Any, options: str, *, until: str | None = None) -> None:
        raise internal_error(module.location, "in a pass", KeyError("ui8"))

    monkeypatch.setattr(KernelsTarget, "lower", fail)
    x = np.ones((3, 5), np.float32)
    with pytest.warns(UserWarning, match="internal error in a pass: KeyError: 'ui8'"):
        model = ttmlir.compile(mean, x, target="kernels")
    assert "KeyError" in model.warnings[0]


@pytest.mark.parametrize("dtype", [np.int8, np.int16])
def test_positions_in_integers_of_8_and_16_bits(dtype: Any) -> None:
    """They are compared with their signs, as integers of 32 bits."""
    x = np.array([[-3, 100, 7], [4, -128, 7], [-9, -128, 120]], dtype)
    options = "library-fallback=false"
    model = ttmlir.compile(lowest, x, target="kernels", options=options)
    np.testing.assert_array_equal(model(x), x.argmin(0))


def test_sums_of_integers_keep_the_range_of_float32() -> None:
    """Beside integers alone, float32 would reach the matrix unit as fp16, up to 131008."""
    x = np.array([[5, 2**31 + 7, 2**32 - 1, 2**24, 2**31 - 1, 3 * 2**30]], np.uint32)
    model = ttmlir.compile(mean, x, target="kernels")
    np.testing.assert_allclose(model(x, numerics="device"), x.mean(), rtol=2**-9)

"""What JAX reads and writes by number computes the same after conversion, against JAX itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax
from jax import numpy as jnp
from running.pass_runner import body, executed
from running.randomness import TestGenerator

from ttmlir.mlir.reporting import DiagnosticError

PIPELINE = "stablehlo-to-ttnn-pipeline"
_RNG = TestGenerator(__name__)
X = _RNG.standard_normal((5, 7, 3)).astype(np.float32)
U = _RNG.standard_normal((6, 7, 3)).astype(np.float32)
# Some count from the end, some are no numbers of elements at all.
NUMBERS = np.array([3, -1, 0, 4, 99, 3], np.int32)
M = np.array([[0, 6, 2], [1, 1, 5]], np.int32)


def text_of(function: Callable[..., Any], *arrays: Any) -> str:
    """The StableHLO of a function of JAX, in the generic form."""
    lowered: Any = jax.jit(function, keep_unused=True).lower(*arrays)
    return str(lowered.compiler_ir().operation.get_asm(print_generic_op_form=True))


def compare(function: Callable[..., Any], *arrays: Any) -> None:
    """Run a function compiled by JAX and by this project."""
    (result,) = executed(text_of(function, *arrays), arrays, PIPELINE)
    expected = np.asarray(jax.jit(function)(*arrays))
    assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


def operations(function: Callable[..., Any], *arrays: Any) -> list[str]:
    """The names of the ttir operations that a function becomes, constants left out."""
    lines = body(text_of(function, *arrays), "stablehlo-to-ttir-pipeline=spelling=2024")
    names = [line.partition('"ttir.')[2].partition('"')[0] for line in lines if '"ttir.' in line]
    return [name for name in names if name != "constant"]


READS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "rows": lambda x, i, m: x[i],
    "columns": lambda x, i, m: x[:, i],
    "last": lambda x, i, m: x[..., i % 3],
    "matrix of columns": lambda x, i, m: x[:, m],
    "clipped": lambda x, i, m: jnp.take(x, i, axis=1, mode="clip"),
    "filled": lambda x, i, m: jnp.take(x, i, axis=0, fill_value=-2),
    "one row": lambda x, i, m: x[i[0]],
    "one column": lambda x, i, m: x[:, i[0]],
    "points": lambda x, i, m: x[i[:3], m[0]],
    "points in planes": lambda x, i, m: x[i[:3], :, m[0] % 3],
    "points along": lambda x, i, m: jnp.take_along_axis(x[:2], m[:, :, None], 1, mode="clip"),
    "points along the last": lambda x, i, m: jnp.take_along_axis(x[0, :2], m % 3, 1),
    "a row of each": lambda x, i, m: jax.vmap(lambda a, j: a[j])(x, i[:5]),
    "a slice of each": lambda x, i, m: jax.vmap(lambda a, j: lax.dynamic_slice(a, (j, 0), (2, 3)))(
        x, i[:5]
    ),
    "many slices": lambda x, i, m: jax.vmap(lambda j: lax.dynamic_slice(x, (j, 1, 0), (2, 3, 2)))(
        i
    ),
    "slice": lambda x, i, m: lax.dynamic_slice(x, (i[1], i[0], 0), (2, 3, 3)),
    "slice beyond the end": lambda x, i, m: lax.dynamic_slice(x, (i[4], 0, i[0]), (2, 3, 2)),
    "known slice": lambda x, i, m: lax.dynamic_slice(x, (9, 2, -1), (2, 3, 2)),
    "narrow numbers": lambda x, i, m: x[i.astype(jnp.int8)],
    "unsigned numbers": lambda x, i, m: x[m[0].astype(jnp.uint32)],
    "truth": lambda x, i, m: (x > 0)[i],
    "integers": lambda x, i, m: i[m],
}

WRITES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add rows": lambda x, i, u: x.at[i].add(u),
    "set rows": lambda x, i, u: x.at[i[:3]].set(u[:3]),
    "larger rows": lambda x, i, u: x.at[i].max(u),
    "smaller rows": lambda x, i, u: x.at[i].min(u),
    "multiply rows": lambda x, i, u: x.at[i].multiply(u),
    "add columns": lambda x, i, u: x.at[:, i % 7].add(u[:5, :6]),
    "set a row": lambda x, i, u: x.at[i[0]].set(u[0]),
    "set no row": lambda x, i, u: x.at[i[4]].set(u[0]),
    "set a known row": lambda x, i, u: x.at[2].set(1.0),
    "add to known rows": lambda x, i, u: x.at[1:3].add(u[:2]),
    "set known rows": lambda x, i, u: x.at[1:3].set(u[:2]),
    "add to every other": lambda x, i, u: x.at[::2].add(1.0),
    "a part of a row": lambda x, i, u: x.at[i[0], 1:4].set(u[0, :3]),
    "a column of some": lambda x, i, u: x.at[:2, i[0]].set(u[0, :2]),
    "points": lambda x, i, u: x.at[i, i].add(u[:, 0]),
    "points in planes": lambda x, i, u: x.at[i, :, 1].add(u[:, :, 0]),
    "a row of each": lambda x, i, u: jax.vmap(lambda a, j, c: a.at[j].add(c))(x, i[:5], u[:5, 0]),
    "truth": lambda x, i, u: (x > 0).at[i].max(u > 0.5),
    "update": lambda x, i, u: lax.dynamic_update_slice(x, u[:2, :3], (i[1], i[0], 0)),
    "update at the end": lambda x, i, u: lax.dynamic_update_slice(x, u[:2], (i[4], 0, 0)),
    "known update": lambda x, i, u: lax.dynamic_update_slice(x, u[:2, :3], (0, 9, 0)),
    "update of all": lambda x, i, u: lax.dynamic_update_slice(x, u[:5], (i[0], 0, 0)),
    "gradient of rows": lambda x, i, u: jax.grad(lambda w: (w[i] * u).sum())(x),
    "gradient of a slice": lambda x, i, u: jax.grad(
        lambda w: (lax.dynamic_slice(w, (i[0], 1, 0), (2, 3, 2)) * u[:2, :3, :2]).sum()
    )(x),
}


@pytest.mark.parametrize("name", READS)
def test_read(name: str) -> None:
    """Elements and slices, one or many."""
    compare(READS[name], X, NUMBERS, M)


@pytest.mark.parametrize("name", WRITES)
def test_write(name: str) -> None:
    """Elements and slices that replace others or are combined with them."""
    compare(WRITES[name], X, NUMBERS, U)


@st.composite
def gathers(draw: st.DrawFn) -> tuple[lax.GatherDimensionNumbers, tuple[int, ...], tuple[int, ...]]:
    """Dimension numbers for `X`, slice sizes, and the shape of the indices."""
    rank = X.ndim
    mapped = draw(st.permutations(range(rank)))[: draw(st.integers(1, rank))]
    batching = [dim for dim in range(rank) if dim not in mapped and draw(st.booleans())]
    sizes = tuple(
        1 if dim in batching or draw(st.booleans()) else draw(st.integers(1, extent))
        for dim, extent in enumerate(X.shape)
    )
    collapsed = [
        dim
        for dim in range(rank)
        if sizes[dim] == 1 and dim not in batching and draw(st.booleans())
    ]
    extents = [X.shape[dim] for dim in batching]
    extents += draw(st.lists(st.sampled_from((1, 2, 4)), max_size=2))
    order = draw(st.permutations(range(len(extents))))
    windows = rank - len(collapsed) - len(batching)
    result = windows + len(extents)
    offsets = sorted(draw(st.permutations(range(result)))[:windows])
    numbers = lax.GatherDimensionNumbers(
        offset_dims=tuple(offsets),
        collapsed_slice_dims=tuple(collapsed),
        start_index_map=tuple(mapped),
        operand_batching_dims=tuple(batching),
        start_indices_batching_dims=tuple(order.index(i) for i in range(len(batching))),
    )
    return numbers, sizes, (*(extents[i] for i in order), len(mapped))


@settings(max_examples=25, deadline=None)
@given(gathers(), st.integers(0, 99))
def test_any_gather(
    gather: tuple[lax.GatherDimensionNumbers, tuple[int, ...], tuple[int, ...]], seed: int
) -> None:
    """Whatever the numbers of the dimensions are; slices that do not fit are moved inside."""
    numbers, sizes, shape = gather
    indices = np.random.default_rng(seed).integers(-1, 7, shape).astype(np.int32)
    compare(lambda x, i: lax.gather(x, i, numbers, sizes, mode="clip"), X, indices)


@settings(max_examples=25, deadline=None)
@given(gathers(), st.integers(0, 99))
def test_any_scatter(
    gather: tuple[lax.GatherDimensionNumbers, tuple[int, ...], tuple[int, ...]], seed: int
) -> None:
    """The same numbers the other way round; windows that do not fit change nothing."""
    numbers, sizes, shape = gather
    rng = np.random.default_rng(seed)
    indices = rng.integers(-1, 7, shape).astype(np.int32)
    result = jax.eval_shape(lambda x, i: lax.gather(x, i, numbers, sizes, mode="clip"), X, indices)
    updates = rng.standard_normal(result.shape).astype(np.float32)
    back = lax.ScatterDimensionNumbers(
        update_window_dims=numbers.offset_dims,
        inserted_window_dims=numbers.collapsed_slice_dims,
        scatter_dims_to_operand_dims=numbers.start_index_map,
        operand_batching_dims=numbers.operand_batching_dims,
        scatter_indices_batching_dims=numbers.start_indices_batching_dims,
    )
    compare(lambda x, i, u: lax.scatter_add(x, i, u, back, mode="drop"), X, indices, updates)


def test_forms() -> None:
    """Each access becomes the operation that says it best."""
    rows = operations(lambda x, i: jnp.take(x, i, axis=0, mode="clip"), X, NUMBERS)
    assert rows[-3:] == ["reshape", "embedding", "reshape"]
    assert "gather" in operations(lambda x, i: jnp.take(x, i, axis=1, mode="clip"), X, NUMBERS)
    assert "gather" in operations(READS["points along"], X, NUMBERS, M)
    assert operations(READS["known slice"], X, NUMBERS, M) == ["slice"]
    assert "slice_dynamic" in operations(READS["one row"], X, NUMBERS, M)
    assert "scatter_add" in operations(WRITES["add rows"], X, NUMBERS, U)
    assert operations(WRITES["set known rows"], X, NUMBERS, U)[-1] == "slice_write"
    assert "slice_write" not in operations(WRITES["update of all"], X, NUMBERS, U)


def test_cache_of_keys_and_values() -> None:
    """A step of a decoder writes one row and reads all, many times in a row."""

    def step(cache: Any, row: Any, position: Any) -> Any:
        cache = lax.dynamic_update_slice(cache, row[:, None], (0, position, 0))
        seen = jnp.arange(cache.shape[1]) <= position
        return cache, jnp.where(seen[None, :, None], cache, 0) * row[:, None]

    cache = np.zeros((2, 6, 4), np.float32)
    row = _RNG.standard_normal((2, 4)).astype(np.float32)
    text = text_of(step, cache, row, np.int32(0))
    expected: Any = cache
    for position in range(3):
        cache, product = executed(text, [cache, row, np.int32(position)], PIPELINE)
        expected, seen = step(expected, row, position)
        np.testing.assert_array_equal(cache, expected)
        np.testing.assert_allclose(product, seen)


def test_functions_of_scatters_are_applied_before() -> None:
    """The conversion alone says which pass does it."""
    with pytest.raises(DiagnosticError) as caught:
        body(
            text_of(lambda x, i: x.at[i].apply(jnp.sin), X, NUMBERS),
            "convert-stablehlo-to-ttir=spelling=2024",
        )
    assert "run stablehlo-expand-functions, which is part of" in str(caught.value)

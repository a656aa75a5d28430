"""Arguments of functions that stay in the compiled model: what JAX and torch compute with them."""

from __future__ import annotations

import copy
import inspect
import pickle
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import ttmlir

WEIGHT = np.random.default_rng(0).standard_normal((90, 24), np.float32)
TOKENS = jnp.array([3, 17], jnp.int32)


def write(weight: Any, tokens: Any, cache: Any, place: Any = 0) -> Any:
    """Attention of a token to those before, whose keys are in a cache, which counts its calls."""
    new = weight[tokens].reshape(2, 3, 1, 8)
    keys = jax.lax.dynamic_update_slice(cache["keys"], new, (0, 0, place, 0))
    scores = jnp.einsum("bhqd,bhkd->bhqk", new, keys)
    found = jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores), keys)
    return found, {"keys": keys, "calls": cache["calls"] + 1}


def empty() -> dict[str, Any]:
    """A cache of nothing."""
    return {"keys": jnp.zeros((2, 3, 64, 8)), "calls": 0}


def test_a_cache_stays_in_the_model(tmp_path: Path) -> None:
    """Calls pass and return the rest, by position or by name, and may begin again."""
    compiled = ttmlir.compile(
        write, WEIGHT, TOKENS, empty(), example_kwargs={"place": 5}, keep=["cache"], spelling="2026"
    )
    assert [name for name, _ in compiled.inputs] == ["weight", "tokens", "place"]
    assert '"ttnn.update_cache"(%arg1' in compiled.text("ttnn")
    cache = empty()
    for place in range(3):
        wanted, cache = write(WEIGHT, TOKENS + place, cache, place)
        found = compiled(WEIGHT, TOKENS + place, place=place)
        np.testing.assert_allclose(found, wanted, atol=1e-5)
    assert int(compiled.source.bound[0]) == 3
    path = compiled.save(tmp_path / "write.ttnn", golden=True)
    compiled.restart()
    np.testing.assert_allclose(
        compiled(WEIGHT, TOKENS), write(WEIGHT, TOKENS, empty())[0], atol=1e-5
    )
    given: dict[str, Any] = {"cache['calls']": np.int32(0), "cache['keys']": empty()["keys"]}
    with pytest.raises(
        ttmlir.InputError,
        match=r"first numbers of .* not in the file; .*, weights={'cache': cache}",
    ):
        ttmlir.load(path)
    for weights in (given, {"cache": empty()}):
        loaded: Any = ttmlir.load(path, weights=weights)
        np.testing.assert_allclose(
            loaded(WEIGHT, TOKENS, place=5), write(WEIGHT, TOKENS, empty(), 5)[0], atol=1e-5
        )
    with pytest.raises(ttmlir.InputError, match="'write' takes weight, tokens, place=; got 1"):
        compiled(TOKENS)


def test_places_of_each_prompt() -> None:
    """Rows scattered by an index for each, of which several constant parts are hoisted."""

    def scatter(cache: Any, new: Any, places: Any) -> Any:
        return cache.at[jnp.arange(3), :, places].set(new)

    cache, new, places = jnp.ones((3, 4, 64, 32)), jnp.zeros((3, 4, 32)), jnp.array([1, 63, 0])
    compiled = ttmlir.compile(scatter, cache, new, places, spelling="2026", resident=["cache"])
    np.testing.assert_array_equal(compiled(cache, new, places), scatter(cache, new, places))


def test_programs_share_what_they_keep() -> None:
    """Results may be tuples and dictionaries; complex numbers and keys stay, too."""

    def add(cache: Any, x: Any) -> Any:
        return {"sum": cache["z"].real.sum() + x, "cache": cache}

    def draw(x: Any, cache: Any) -> Any:
        key, used = jax.random.split(cache["key"])
        return jax.random.normal(used, (3,)), x + 1, {"z": cache["z"] * x, "key": key}

    first = {"z": jnp.full((2, 5), 1 + 2j, "complex64"), "key": jax.random.key(4)}
    programs = ttmlir.compile_programs(
        {"draw": ttmlir.Example(draw, 1.5, first), "add": ttmlir.Example(add, first, 1.0)},
        keep=["cache"],
    )
    cache = first
    for _ in range(2):
        wanted, more, cache = draw(2.0, cache)
        found = programs.draw(2.0)
        np.testing.assert_allclose(found[0], wanted, atol=1e-5)
        assert float(found[1]) == more
    assert float(programs.add(1.0)["sum"]) == add(cache, 1.0)["sum"] == 41
    programs.restart()
    assert float(programs.add(1.0)["sum"]) == 11
    for each in (programs, programs.draw):
        with pytest.raises(ttmlir.InputError, match=r"not pickled; save\(path\) writes them"):
            pickle.dumps(each)


def _step(x: Any, a: Any, b: Any) -> Any:
    """New values that are like the result and like each other."""
    return x * 10, a + b, b * 2 + x


@pytest.mark.parametrize(
    ("function", "kept"),
    [
        (_step, ("a", "b")),
        (_step, ("b", "a")),
        (lambda x, a: (jnp.tanh(a) * 100, a), "a"),
        (lambda x, a: [x * 2, x * 3, a - x], ("a",)),
        (lambda x, b, a: {"b": b + x, "out": x * 10, "a": a + b}, ("a", "b")),
        (lambda x, a: (None, a + x), ("a",)),
    ],
)
def test_new_values_are_the_last_results(function: Any, kept: Any) -> None:
    """In the order of the parameters, or by name: shapes do not say which they are."""
    x, first = jnp.arange(3.0), {"a": jnp.array([1.0, 5, 2]), "b": jnp.array([7.0, 0, 4])}
    state = {name: first[name] for name in kept}
    order = sorted(kept, key=[*inspect.signature(function).parameters].index)
    compiled = ttmlir.compile(function, x, example_kwargs=state, keep=kept)
    for _ in range(2):
        wanted = function(x, **state)
        if isinstance(wanted, dict):
            state = {name: wanted.pop(name) for name in kept}
        else:
            state = dict(zip(order, wanted[-len(kept) :], strict=True))
            others = wanted[: -len(kept)]
            wanted = others[0] if len(others) == 1 else tuple(others)
        jax.tree.map(np.testing.assert_allclose, compiled(x), wanted)


def _forget(x: Any, cache: Any) -> Any:
    return x, cache[:1]


@pytest.mark.parametrize(
    ("function", "arguments", "more", "message"),
    [
        (
            jnp.dot,
            (TOKENS, TOKENS),
            {},
            "no argument of 'dot' is named 'cache'; arguments are a, b",
        ),
        (
            _forget,
            (1.0, jnp.ones(3)),
            {},
            r"'_forget' returns \(float32\[1\]\) in place of 'cache', which is "
            r"\(float32\[3\]\); .*: return result, cache",
        ),
        (lambda cache, x: (cache, x), (jnp.ones(3), 1.0), {}, r"returns \(float32\[\]\) in place"),
        (lambda cache: cache + 1, (TOKENS,), {}, "returns what may be a result or a new value of"),
        (lambda cache: {"new": cache}, (TOKENS,), {}, "what may be a result or a new value of"),
        (lambda cache: cache.sum(), (TOKENS,), {}, "returns no new value of what is kept; the new"),
        (
            lambda cache, other: {"cache": cache},
            (TOKENS, TOKENS),
            {"keep": ["cache", "other"]},
            "returns nothing in place of 'other'.*: return result, cache, other",
        ),
        (_forget, (1.0, TOKENS), {"keep": ["cache['k']"]}, r"argument stays: keep=\['cache'\]"),
        (lambda *xs: xs, (TOKENS,), {"keep": ["xs"]}, r"name them: def step\(x, cache\)"),
        (
            jax.jit(_forget).trace(1.0, jnp.ones(3)),
            (),
            {},
            "keep: Traced objects have no names of arguments; give the function itself",
        ),
        (_forget, (1.0,), {}, "keep: '_forget': missing a required argument: 'cache'"),
        (_forget, (1.0, TOKENS), {"buckets": {"x": {0: (1, 2)}}}, "leave out buckets"),
        ("func.func @main() { return }", (), {}, "those of text are passed in each call"),
    ],
)
def test_what_cannot_be_kept(
    function: Any, arguments: tuple[Any, ...], more: dict[str, Any], message: str
) -> None:
    """Names that no argument has, functions that return nothing new, and models of others."""
    with pytest.raises(ttmlir.Error, match=message):
        ttmlir.compile(function, *arguments, **{"keep": ["cache"], **more})


def test_torch_has_buffers() -> None:
    """What a module changes stays without a word, and may begin again."""

    class Turning(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("phase", torch.tensor([1 + 1j, 2j]))

        def forward(self, x: Any) -> Any:
            self.phase.mul_(x)
            return self.phase.imag.sum()

    turning = ttmlir.compile(Turning(), torch.tensor(2.0))
    found = [float(turning(torch.tensor(2.0))) for _ in range(2)]
    turning.restart()
    assert [*found, float(turning(torch.tensor(3.0)))] == [6, 12, 9]


class _Attending(torch.nn.Module):
    """A token beside those before, in a cache of a list, one of which takes another's place."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = torch.nn.Linear(6, 6)
        self.register_buffer("calls", torch.zeros((), dtype=torch.int32))

    def forward(self, x: Any, cache: Any) -> Any:
        """The token goes to the end."""
        self.calls.add_(1)
        cache[0] = torch.cat([cache[0][1:], self.dense(x)[None]])
        return cache[0].softmax(0).sum(1) * self.calls, cache

    def clear(self, place: Any, *, cache: Any) -> Any:
        """Forget a token, by its place."""
        cache[0].index_fill_(0, place, 0)
        return self.calls + 0


def _swap(x: Any, a: Any, b: Any) -> Any:
    return a[:2], b, a + x


def _named(x: Any, a: Any, b: Any) -> Any:
    return {"b": b + x, "sum": a + b, "a": a * 2}


def _in_place(x: Any, b: Any, a: Any) -> Any:
    a[1:] += x
    b.mul_(2)
    return a.sum(), b + 1


def _in_place_and_returned(x: Any, a: Any, b: Any) -> Any:
    a.add_(x)
    b[0] = 7
    return a * b, a, b


@pytest.mark.parametrize(
    ("function", "shown"),
    [(_swap, 1), (_named, 1), (_in_place, 2), (_in_place_and_returned, 1)],
)
def test_functions_of_torch(function: Any, shown: int) -> None:
    """New values are written in place or returned; what is shown first may be a part of them."""
    first = {"a": torch.tensor([1.0, 5, 2]), "b": torch.tensor([7.0, 0, 4])}
    compiled = ttmlir.compile(function, torch.tensor(2.0), example_kwargs=first, keep=["a", "b"])
    assert [name for name, _ in compiled.inputs] == ["x"]
    state = {name: each.clone() for name, each in first.items()}
    for x in (2.0, -3.0):
        wanted = function(torch.tensor(x), **state)
        found = compiled(torch.tensor(x))
        if isinstance(wanted, dict):
            state = {name: wanted.pop(name) for name in "ab"}
        else:
            state = dict(zip("ab", wanted[1:], strict=True)) if function is _swap else state
            wanted = wanted[0] if shown == 1 else wanted
        torch.testing.assert_close(found, wanted)
    assert first["a"].tolist() == [1, 5, 2]
    compiled.restart()
    begun = {index: compiled.source.bound[index].tolist() for index in compiled.source.state}
    assert sorted(begun.values()) == [[1, 5, 2], [7, 0, 4]]


@pytest.mark.parametrize("weights", ["constants", "arguments"])
def test_a_module_of_torch_with_a_cache(weights: Any, tmp_path: Path) -> None:
    """Its own buffers change, too; the module and the example stay as they are."""
    torch.manual_seed(3)
    module, x = _Attending(), torch.randn(6)
    cache = [torch.randn(4, 6)]
    # Until the first call the model has the memory of the module's own buffers.
    own = copy.deepcopy(module)
    compiled = ttmlir.compile(own, x, [cache[0].clone()], keep="cache", weights=weights)
    assert {"calls", "cache[0]"} < {*compiled.source.signature.input_names}
    assert list(dict(own.named_buffers())) == ["calls"]
    path = compiled.save(tmp_path / "attending.ttnn")
    with torch.no_grad():
        for _ in range(2):
            wanted, cache = module(x, cache)
            torch.testing.assert_close(compiled(x), wanted)
        loaded = ttmlir.load(path, weights={**module.state_dict(), "cache[0]": cache[0]})
        torch.testing.assert_close(torch.as_tensor(loaded(x)), module(x, cache)[0])


def test_programs_of_torch_share_what_they_keep() -> None:
    """A module's method and a function have one cache, which begins with the numbers of one."""
    torch.manual_seed(3)
    module, x = _Attending(), torch.randn(6)
    first, place, own = torch.randn(4, 6), torch.tensor([3]), copy.deepcopy(module)
    programs = ttmlir.compile_programs(
        {
            "run": ttmlir.Example(own, x, [torch.empty(4, 6, device="meta")]),
            "clear": ttmlir.Example(own.clear, place, cache=[first.clone()]),
            "read": ttmlir.Example(lambda cache: cache[0].sum(0), [first.clone()]),
        },
        keep="cache",
    )
    cache = [first]
    with torch.no_grad():
        torch.testing.assert_close(programs.run(x), module(x, cache)[0])
        assert int(programs.clear(place)) == int(module.clear(place, cache=cache)) == 1
        torch.testing.assert_close(programs.read(), cache[0].sum(0))
    programs.restart()
    torch.testing.assert_close(programs.read(), first.sum(0))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x, cache: cache + x, "returns no new value of what is kept; the new values come"),
        (
            lambda x, cache: (x, torch.cat([cache, cache])),
            r"returns \(float32\[6\]\) in place of 'cache', which is \(float32\[3\]\); .*",
        ),
        (lambda x, other: x, "no argument of '<lambda>' is named 'cache'; arguments are x, other"),
    ],
)
def test_what_torch_cannot_keep(function: Any, message: str) -> None:
    """Functions that make no new value, or one of another shape."""
    with pytest.raises(ttmlir.Error, match=message):
        ttmlir.compile(function, torch.ones(3), torch.ones(3), keep=["cache"])


def test_programs_that_only_read() -> None:
    """State stays, and begins with the numbers of those examples that have them."""

    def read(cache: Any) -> Any:
        return cache.sum()

    def add(cache: Any, x: Any) -> Any:
        return None, cache + x

    shape = jax.ShapeDtypeStruct((2, 3), "float32")
    first = jnp.ones((2, 3))
    programs = ttmlir.compile_programs(
        {"read": ttmlir.Example(read, shape), "add": ttmlir.Example(add, first, 1.0)}, keep="cache"
    )
    assert float(programs.read()) == 6
    assert programs.add(2.0) is None
    assert [float(programs.read()), float(programs.read())] == [18, 18]


@pytest.mark.parametrize(
    ("second", "what"), [(jnp.ones(3), "shapes or types"), (jnp.zeros(2), "numbers")]
)
def test_examples_that_differ(second: Any, what: str) -> None:
    """Programs keep the same."""

    def grow(cache: Any) -> Any:
        return None, cache + 1

    examples = {"a": ttmlir.Example(grow, jnp.ones(2)), "b": ttmlir.Example(grow, second)}
    with pytest.raises(ttmlir.Error, match=f"program 'b' have other {what} than .* program 'a'"):
        ttmlir.compile_programs(examples, keep=["cache"])

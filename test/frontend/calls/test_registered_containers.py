"""Classes that JAX has been told of: modules and variables as in flax, sparse matrices.

Expected values and structures are those of `jax.jit`.
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.sparse import BCOO, BCSR

import ttmlir
from ttmlir.runtime.errors import InputError

X = jnp.array([[1.0, -2.0, 3.5], [0.25, 7.0, -1.0]])


@jax.tree_util.register_pytree_with_keys_class
class Variable:
    """Holds an array, and has its shape and type: as the variables of flax."""

    def __init__(self, value: Any, tag: str = "") -> None:
        """A value, and what is no array."""
        self.value, self.tag = value, tag

    @property
    def shape(self) -> Any:
        """That of the value."""
        return self.value.shape

    @property
    def dtype(self) -> Any:
        """That of the value."""
        return self.value.dtype

    def tree_flatten_with_keys(self) -> Any:
        """One array."""
        return [(jax.tree_util.GetAttrKey("value"), self.value)], self.tag

    @classmethod
    def tree_unflatten(cls, tag: Any, children: Any) -> Variable:
        """The same kind."""
        return cls(*children, tag)


@jax.tree_util.register_pytree_node_class
class Mark:
    """Holds no array, and equals nothing but itself: as the state of trace in flax."""

    def tree_flatten(self) -> Any:
        """Nothing."""
        return (), None

    @classmethod
    def tree_unflatten(cls, _: Any, __: Any) -> Mark:
        """Another one."""
        return cls()


@jax.tree_util.register_pytree_with_keys_class
class Dropout:
    """A module that counts what it has drawn from its key."""

    def __init__(self, key: Any, count: Any, rate: float, mark: Mark) -> None:
        """The parts."""
        self.mark, self.key, self.count, self.rate = mark, key, count, rate

    def __call__(self, x: Any) -> Any:
        """Other zeros in each call."""
        key = jax.random.fold_in(self.key.value, self.count.value)
        self.count = Variable(self.count.value + 1)
        return jnp.where(jax.random.bernoulli(key, 1 - self.rate, x.shape), x, 0)

    def tree_flatten_with_keys(self) -> Any:
        """The rate is no array, and is a part of the kind."""
        parts = {"mark": self.mark, "key": self.key, "count": self.count}
        return [(jax.tree_util.GetAttrKey(each), parts[each]) for each in parts], self.rate

    @classmethod
    def tree_unflatten(cls, rate: Any, children: Any) -> Dropout:
        """The same kind."""
        mark, key, count = children
        return cls(key, count, rate, mark)


def make_dropout(rate: float = 0.25) -> Dropout:
    """One that has drawn nothing."""
    return Dropout(Variable(jax.random.key(5)), Variable(jnp.uint32(0)), rate, Mark())


@jax.tree_util.register_pytree_with_keys_class
class State(Mapping[str, Any]):
    """A dictionary whose inner ones become its own kind when they are read, as in flax."""

    def __init__(self, parts: dict[str, Any]) -> None:
        """From plain dictionaries."""
        self.parts = parts

    def __getitem__(self, key: str) -> Any:
        """An array, or a state."""
        part = self.parts[key]
        return State(part) if isinstance(part, dict) else part

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return iter(self.parts)

    def __len__(self) -> int:
        """How many there are."""
        return len(self.parts)

    def tree_flatten_with_keys(self) -> Any:
        """Inner dictionaries as they are."""
        keys = sorted(self.parts)
        return [(jax.tree_util.DictKey(key), self.parts[key]) for key in keys], tuple(keys)

    @classmethod
    def tree_unflatten(cls, keys: Any, children: Any) -> State:
        """The same kind."""
        return cls(dict(zip(keys, children, strict=True)))


def test_modules_with_variables_and_keys(tmp_path: Path) -> None:
    """A module goes in and out, with what it has changed; the call takes the module it returned."""

    def apply(module: Dropout, x: Any) -> Any:
        return module(x), module

    compiled = ttmlir.compile(apply, make_dropout(), X)
    assert [name for name, _ in compiled.inputs] == [
        "module.key.value",
        "module.count.value",
        "x",
    ]
    mine = theirs = make_dropout()
    for _ in range(3):
        (got, mine), (wanted, theirs) = compiled(mine, X), jax.jit(apply)(theirs, X)
        np.testing.assert_array_equal(got, wanted)
    assert jax.tree.structure(mine) == jax.tree.structure(theirs)
    assert (int(mine.count.value), mine.key.dtype) == (3, theirs.key.dtype)
    loaded = ttmlir.load(compiled.save(tmp_path / "dropout.ttnn", golden=True))
    assert loaded.golden is not None


def test_modules_that_differ_in_what_is_no_array() -> None:
    """The message says that it is none of the arrays."""
    compiled = ttmlir.compile(lambda modules, x: modules[0](x), [make_dropout()], X)
    message = (
        r"'lambda' was compiled for another Dropout as modules\[0\]: one that differs in what is "
        "no array; call ttmlir.compile again with this value"
    )
    with pytest.raises(InputError, match=message):
        compiled([make_dropout(0.5)], X)


def test_dictionaries_with_rules_of_their_own() -> None:
    """Results have the structure that JAX gives them; inner dictionaries stay what they are."""

    def step(state: State, x: Any) -> State:
        return jax.tree.map(lambda part: part + x.sum(), state)

    state = State({"dense": {"w": X, "b": X[0]}, "norm": {"mean": {"value": X[1]}}})
    compiled = ttmlir.compile(step, state, X)
    got, wanted = compiled(compiled(state, X), X), jax.jit(step)(jax.jit(step)(state, X), X)
    assert jax.tree.structure(got) == jax.tree.structure(wanted)
    for mine, theirs in zip(jax.tree.leaves(got), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)
    with pytest.raises(InputError, match=r"takes state\['dense'\] as a dictionary of 'b', 'w'"):
        compiled(State({"dense": {"w": X}, "norm": {}}), X)


def test_ordered_dictionaries_are_not_sorted() -> None:
    """As in JAX; a call may give another order."""

    def function(tree: Any) -> Any:
        return OrderedDict(q=tree["b"] * 10, a=tree["a"], c={"z": tree["b"], "d": tree["a"]})

    tree = OrderedDict(b=X, a=X + 1)
    compiled, wanted = ttmlir.compile(function, tree), function(tree)
    for given in (tree, OrderedDict(a=X + 1, b=X)):
        got = compiled(given)
        assert jax.tree.structure(got) == jax.tree.structure(wanted)
        for mine, theirs in zip(jax.tree.leaves(got), jax.tree.leaves(wanted), strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("kind", [BCOO, BCSR])
def test_sparse_matrices(kind: Any) -> None:
    """Numbers and indices are inputs of the program, which calls no library of the CPU."""
    dense = jnp.array([[0.0, 2.0, 0.0], [-1.5, 0.0, 4.0]])
    sparse = kind.fromdense(dense)
    compiled = ttmlir.compile(lambda matrix, x: matrix @ x.T, sparse, X)
    np.testing.assert_allclose(compiled(sparse, X), dense @ X.T, rtol=1e-6)
    count = len(jax.tree.leaves(sparse))
    message = f"takes matrix as a {kind.__name__} of {count}; got an array"
    with pytest.raises(InputError, match=message):
        compiled(dense, X)


class OtherJit:
    """What a `jit` of another library returns: its stages are none of JAX."""

    def __init__(self, function: Any) -> None:
        """Around a function."""
        functools.update_wrapper(self, function)

    def __call__(self, module: Any, x: Any) -> Any:
        """What the function computes; the module is changed."""
        return self.__wrapped__(module, x)[0]  # type: ignore[attr-defined]

    def trace(self, *args: Any, **kwargs: Any) -> Any:
        """An object of another class than JAX's."""
        return object()

    lower = eval_shape = trace


def test_the_jit_of_another_library() -> None:
    """The function that it decorates is compiled, and returns what it changes."""

    @OtherJit
    def apply(module: Dropout, x: Any) -> Any:
        return module(x), module

    with pytest.raises(TypeError) as caught:
        ttmlir.compile(apply, make_dropout(), X)
    assert str(caught.value) == (
        f"ttmlir.compile cannot compile 'apply', an object of {__name__.partition('.')[0]} whose "
        "calls may change modules in place; it takes the function without this decorator, which "
        "the attribute __wrapped__ holds. Let the function return the modules that it changes, "
        "such as model, optimizer, loss, and pass those to the next call"
    )
    function: Any = apply.__wrapped__  # type: ignore[attr-defined]
    compiled = ttmlir.compile(function, make_dropout(), X)
    np.testing.assert_array_equal(compiled(make_dropout(), X)[0], apply(make_dropout(), X))

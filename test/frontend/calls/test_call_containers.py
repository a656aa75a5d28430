"""Calls: containers of any kind, arguments by their names, and what a call that does not fit says.

Expected values are what torch and JAX compute themselves.
"""

from __future__ import annotations

import dataclasses
import sys
from collections import OrderedDict
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ttmlir
from ttmlir.runtime.errors import InputError

torch: Any = import_module("torch")
nn: Any = import_module("torch.nn")

X = torch.tensor([[1.0, -2.0, 3.5], [0.25, 7.0, -1.0]])


@dataclasses.dataclass(frozen=True)
class Encoded:
    """A dataclass that no framework has been told of."""

    states: Any
    width: int


class Pair(NamedTuple):
    """A named tuple."""

    first: Any
    second: Any


@dataclasses.dataclass
class Output(OrderedDict[str, Any]):
    """A dictionary whose items are attributes, as the results of transformers are."""

    logits: Any = None
    cache: Any = None

    def __post_init__(self) -> None:
        """Only what is there is an item."""
        for field in dataclasses.fields(self):
            if getattr(self, field.name) is not None:
                self[field.name] = getattr(self, field.name)


class Layer:
    """Keys of one layer, in an object that is nothing but a class."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.keys: Any = None
        self.kind = "sliding"


class Cache:
    """Grows with each step, as the caches of transformers do."""

    def __init__(self, layers: int = 2) -> None:
        """Empty layers."""
        self.layers = [Layer() for _ in range(layers)]
        self.config = object()

    def extend(self, index: int, keys: Any) -> Any:
        """The keys of a layer with new ones."""
        layer = self.layers[index]
        layer.keys = keys if layer.keys is None else torch.cat([layer.keys, keys])
        return layer.keys


class Decoder(nn.Module):
    """Makes its cache itself in the first step."""

    def forward(self, tokens: Any, cache: Any = None, *, scale: float = 1.0) -> Any:
        """A running product with what is in the cache."""
        cache = Cache() if cache is None else cache
        for index in range(2):
            tokens = tokens * scale + cache.extend(index, tokens.tanh()).sum(0)
        return Output(logits=tokens, cache=cache)


def test_caches_go_out_and_in_again() -> None:
    """A first step makes the cache; a second one, compiled for it, extends it."""
    first = ttmlir.compile(Decoder(), X)
    got, wanted = first(X), Decoder()(X)
    assert (type(got), type(got.cache), list(got)) == (Output, Cache, ["logits", "cache"])
    assert got.cache.layers[1].kind == "sliding"
    second = ttmlir.compile(Decoder(), X[:1], got.cache)
    assert [name for name, _ in second.inputs] == [
        "tokens",
        "cache.layers[0].keys",
        "cache.layers[1].keys",
    ]
    got, wanted = second(X[:1], got.cache), Decoder()(X[:1], wanted.cache)
    torch.testing.assert_close(got.logits, wanted.logits)
    for mine, theirs in zip(got.cache.layers, wanted.cache.layers, strict=True):
        torch.testing.assert_close(mine.keys, theirs.keys)
    with pytest.raises(InputError, match=r"takes cache as a Cache of layers, config; got an array"):
        second(X[:1], X)
    other = Cache()
    other.layers = [*got.cache.layers, *got.cache.layers]
    with pytest.raises(InputError, match=r"takes cache\.layers as a list of 2; got a list of 4"):
        second(X[:1], other)


def test_files_hold_objects_as_dictionaries(tmp_path: Path) -> None:
    """A loaded model takes the attributes of an object, and returns them by their names."""
    cache = Decoder()(X).cache
    model = ttmlir.compile(Decoder(), X[:1], cache)
    loaded = ttmlir.load(model.save(tmp_path / "decoder.ttnn", golden=True), framework="torch")
    wanted = Decoder()(X[:1], Decoder()(X).cache)
    for given in (cache, {"layers": [{"keys": e.keys, "kind": e.kind} for e in cache.layers]}):
        got = loaded(X[:1], given)
        torch.testing.assert_close(got["logits"], wanted.logits)
        assert got["cache"]["layers"][0]["kind"] == "sliding"
        torch.testing.assert_close(got["cache"]["layers"][1]["keys"], wanted.cache.layers[1].keys)


def test_objects_that_hold_each_other() -> None:
    """Without arrays they are constants; with arrays they are refused, in one line."""

    class Node:
        def __init__(self) -> None:
            self.others: list[Any] = []

    nodes = [Node() for _ in range(30)]
    for node in nodes:
        node.others = nodes
    compiled = ttmlir.compile(lambda x, node: (x * 2, node), X, nodes[0])
    assert compiled(X, nodes[0])[1] is nodes[0]
    nodes[0].others = [*nodes, X]
    with pytest.raises(TypeError, match="containers of arrays are nested more than 64 deep"):
        ttmlir.compile(lambda x, node: x * 2, X, nodes[1])


def test_results_of_many_kinds() -> None:
    """Dataclasses, named tuples, torch's own named results, and what is no tensor."""

    def function(x: Any) -> Any:
        return Encoded(x * 2, 3), Pair(x + 1, None), torch.max(x, 1), {"kept": "word"}

    got, wanted = ttmlir.compile(function, X)(X), function(X)
    assert [type(each) for each in got] == [type(each) for each in wanted]
    torch.testing.assert_close(got[0].states, wanted[0].states)
    torch.testing.assert_close(got[1].first, wanted[1].first)
    assert torch.equal(got[2].indices, wanted[2].indices)
    assert (got[0].width, got[1].second, got[3]) == (3, None, {"kept": "word"})


def test_numbers_as_results() -> None:
    """`item` and `tolist` give numbers of Python, also after arithmetic with them."""

    def function(x: Any) -> Any:
        return x.sum().item() * 2, (x[0] * 2).tolist(), -x.int()[1, 1].item(), 3 - x.max().item()

    got, wanted = ttmlir.compile(function, X)(X + 1), function(X + 1)
    assert [type(each) for each in got] == [float, list, int, float]
    assert [got[0], *got[1], *got[2:]] == pytest.approx([wanted[0], *wanted[1], *wanted[2:]])


def test_a_number_that_cannot_be_computed() -> None:
    """The message names what can be."""
    message = r"'pow': of numbers that are computed .* supported are add, sub, mul, truediv, neg"
    with pytest.raises(ttmlir.CompilationError, match=message):
        ttmlir.compile(lambda x: x.sum().item() ** 2.5, X)


def test_arguments_bind_by_name() -> None:
    """An example by position may be given by name and the other way round; defaults count."""

    def classify(images: Any, mask: Any = None, *rest: Any, scale: float = 2.0) -> Any:
        images = images * scale if mask is None else images * mask
        return images + sum(rest)

    plain = ttmlir.compile(classify, X)
    wanted = classify(X)
    for got in (plain(images=X), plain(X, None), plain(X, scale=2.0), plain(mask=None, images=X)):
        torch.testing.assert_close(got, wanted)
    full = ttmlir.compile(classify, X, X, X, X, example_kwargs={"scale": 3.0})
    torch.testing.assert_close(full(X, X + 1, X, X, scale=3.0), classify(X, X + 1, X, X))
    named = ttmlir.compile(classify, example_kwargs={"mask": X, "images": X})
    torch.testing.assert_close(named(X, X + 2), X * (X + 2))


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((X, X), {}, "'lambda' takes images; got 2 by position"),
        ((), {"image": X}, "'lambda' takes images; got image="),
        ((), {}, "'lambda' takes images; got no arguments"),
        ((X,), {"mask": X}, "'lambda' takes images; got 1 by position, mask="),
        (([X],), {}, "'lambda' takes images as an array; got a list of 1"),
        ((None,), {}, "'lambda' takes images as an array; got None"),
    ],
)
def test_calls_that_do_not_fit(args: Any, kwargs: Any, message: str) -> None:
    """One line, in the names of the user's parameters, for torch and for JAX."""
    compiled = ttmlir.compile(lambda images, mask=None: images * 2, X)
    in_jax = ttmlir.compile(lambda images, mask=None: images * 2, jnp.asarray(X.numpy()))
    for model in (compiled, in_jax):
        with pytest.raises(InputError) as caught:
            model(*args, **kwargs)
        assert str(caught.value) == message


def test_constants_must_be_the_same() -> None:
    """What is no array is part of the program."""
    compiled = ttmlir.compile(lambda encoded: encoded.states * encoded.width, Encoded(X, 3))
    torch.testing.assert_close(compiled(Encoded(X + 1, 3)), (X + 1) * 3)
    with pytest.raises(InputError, match=r"compiled for encoded\.width = 3, not 4; call ttmlir"):
        compiled(Encoded(X, 4))
    with pytest.raises(InputError, match="takes encoded as an Encoded of states, width; got a Pai"):
        compiled(Pair(X, 3))


def test_arguments_that_are_changed_in_place(tmp_path: Path) -> None:
    """The caller's tensors and arrays have the new numbers then, as in torch."""

    def step(cache: Any, x: Any, position: Any) -> Any:
        cache["keys"].index_copy_(0, position, x)
        return cache["keys"].sum(0)

    position = torch.tensor([1])
    compiled = ttmlir.compile(step, {"keys": torch.zeros(4, 3)}, X[:1], position)
    mine, theirs = torch.ones(4, 3), torch.ones(4, 3)
    in_numpy = np.ones((4, 3), np.float32)
    wanted = step({"keys": theirs}, X[:1], position)
    for keys in (mine, in_numpy):
        torch.testing.assert_close(compiled({"keys": keys}, X[:1], position), wanted)
        np.testing.assert_array_equal(np.asarray(keys), theirs.numpy())
    path = compiled.save(tmp_path / "step.ttnn", golden=({"keys": mine}, X[1:], position))
    torch.testing.assert_close(mine, theirs)
    golden = ttmlir.load(path).golden
    assert golden is not None
    changed, result = ttmlir.load(path)(*golden.args)
    theirs[1] = X[1]
    np.testing.assert_array_equal(changed["cache['keys']"], theirs.numpy())
    np.testing.assert_allclose(result, golden.result[1])


def test_golden_results_are_those_of_the_graph() -> None:
    """Without gradients nn.TransformerEncoder gives zeros for padded rows; the graph does not."""
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=True).eval()
    x, padding = torch.randn(2, 5, 16), torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
    compiled = ttmlir.compile(encoder, x, example_kwargs={"src_key_padding_mask": padding})
    wanted = encoder(x, src_key_padding_mask=padding).detach()
    assert wanted[1, 3:].abs().min() > 0
    got = compiled.reference(x, src_key_padding_mask=padding)
    torch.testing.assert_close(got, wanted, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(compiled(x, src_key_padding_mask=padding), got, atol=1e-4, rtol=1e-4)


def test_hooks_of_a_module_are_a_part_of_it() -> None:
    """They see the arguments and the result that the module has, not those of the trace."""
    module = nn.Linear(3, 2)
    module.register_forward_pre_hook(lambda _, args: (args[0] + 1,))
    module.register_forward_hook(lambda _, args, result: result * 2 + args[0].sum())
    compiled = ttmlir.compile(module, X)
    torch.testing.assert_close(compiled(X), module(X).detach())
    assert "forward" not in vars(module)
    assert len(module._forward_hooks) == 1


def test_methods_of_modules() -> None:
    """A method is compiled with the weights of its module, under their names."""

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.dense = nn.Linear(3, 2)

        def encode(self, x: Any) -> Any:
            return self.dense(x).tanh()

    model = Model()
    compiled = ttmlir.compile(model.encode, X, weights="arguments")
    torch.testing.assert_close(compiled(X), model.encode(X).detach())
    assert compiled.source.signature.input_names == ("dense.weight", "dense.bias", "x")


@jax.tree_util.register_pytree_node_class
class Network:
    """An object that is called, holds arrays and functions, and cannot be hashed: as in equinox."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, weight: Any, activation: Any) -> None:
        """One layer."""
        self.weight, self.activation = weight, activation

    def __call__(self, x: Any) -> Any:
        """What it computes."""
        return self.activation(x @ self.weight)

    def tree_flatten(self) -> Any:
        """The function is a leaf, too."""
        return (self.weight, self.activation), None

    @classmethod
    def tree_unflatten(cls, _: Any, children: Any) -> Network:
        """The same kind."""
        return cls(*children)


@jax.tree_util.register_pytree_node_class
class Switched(Network):
    """A module with a truth value by which Python decides, as `inference` in equinox."""

    def __init__(self, weight: Any, activation: Any, inference: Any) -> None:
        """One layer."""
        super().__init__(weight, activation)
        self.inference = inference

    def __call__(self, x: Any) -> Any:
        """What it computes, or half of it."""
        return super().__call__(x) * (1 if self.inference else 0.5)

    def tree_flatten(self) -> Any:
        """The truth value is a leaf, too."""
        return (self.weight, self.activation, self.inference), None


def test_truth_values_of_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are constants, alone and in a container, and a call with others is refused."""
    monkeypatch.setitem(sys.modules, "equinox", SimpleNamespace(Module=Switched))
    x = jnp.asarray(X.numpy())
    on, off = (Switched(jnp.ones((3, 2)), jnp.tanh, value) for value in (True, False))

    def apply(models: Any, x: Any) -> Any:
        return models[0](x) + models[1](x) * 3

    compiled = ttmlir.compile(apply, [on, off], x)
    np.testing.assert_allclose(compiled([on, off], x), apply([on, off], x), atol=1e-5)
    with pytest.raises(InputError, match="compiled for another Switched"):
        compiled([on, on], x)


def test_objects_of_jax() -> None:
    """As the model and as an argument; dataclasses that JAX does not know go in and out."""
    x = jnp.asarray(X.numpy())
    network = Network(jnp.linspace(-1, 1, 6).reshape(3, 2), jnp.tanh)
    wanted = np.asarray(network(x))
    np.testing.assert_allclose(ttmlir.compile(network, x)(x), wanted, atol=1e-5)
    applied = ttmlir.compile(lambda model, x: Encoded(model(x), 1), network, x)
    np.testing.assert_allclose(applied(network, x).states, wanted, atol=1e-5)
    with pytest.raises(InputError, match=r"takes model as a Network of 2; got an array"):
        applied(x, x)
    half = ttmlir.compile(partial(lambda scale, x: x * scale, 0.5), x)
    np.testing.assert_allclose(half(x=x), x * 0.5)


def test_jitted_functions_bind_by_name() -> None:
    """Static arguments are left out of calls, then places are not named."""
    x = jnp.asarray(X.numpy())
    compiled = ttmlir.compile(jax.jit(lambda images, scale: images * scale), x, x)
    np.testing.assert_allclose(compiled(scale=x + 1, images=x), x * (x + 1))
    power = ttmlir.compile(jax.jit(lambda x, n, y: x**n + y, static_argnums=1), x, 2, x)
    np.testing.assert_allclose(power(x, x), x**2 + x, rtol=1e-6)
    with pytest.raises(InputError, match="takes argument 0, argument 1; got 1 by position"):
        power(x)

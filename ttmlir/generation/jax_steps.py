"""Steps of JAX functions that take a cache and return the next one.

    scores, cache = step(tokens, starts, cache)

`tokens` is prompts x tokens, `starts` the position of the first token of each prompt; scores are
prompts x tokens x vocabulary. The function writes keys and values of position `p` where it finds
them again, and attends from each position to earlier ones alone. A tree of arrays is the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from ttmlir.errors import ArgumentTypeError
from ttmlir.frontend.calls import OPENER, as_array, read_layout
from ttmlir.frontend.compiled import ImportedModel
from ttmlir.frontend.jax import import_model
from ttmlir.generation.stepping import CacheSize, Step, SteppingModel
from ttmlir.runtime.signature import LEAF, dict_of, tuple_of
from ttmlir.runtime.tensor import Array


def read_jax_model(
    function: Callable[..., Any], make_cache: Callable[[int], Any], steps: Sequence[Step]
) -> SteppingModel:
    """A function for the steps; `make_cache` returns the empty cache of a number of prompts."""
    name = getattr(function, "__name__", type(function).__name__)
    found: dict[Step, ImportedModel] = {}
    stores: dict[int, dict[int, Array]] = {}
    sizes: dict[int, CacheSize] = {}
    for step in steps:
        cache = make_cache(step.batch)
        leaves = read_layout(cache, OPENER)[1]
        if step.batch not in stores:
            arrays = [np.array(as_array(leaf, f"'{name}': the cache")) for leaf in leaves]
            stores[step.batch] = dict(enumerate(arrays))
            sizes[step.batch] = CacheSize(len(arrays), sum(each.nbytes for each in arrays))
        found[step] = _import(name, function, cache, step, stores[step.batch])
    return SteppingModel(name, found, sizes)


def _import(
    name: str, function: Callable[..., Any], cache: Any, step: Step, store: dict[int, Array]
) -> ImportedModel:
    jnp: Any = import_module("jax.numpy")
    jax: Any = import_module("jax")

    def describe(leaf: Any) -> str:
        return f"{leaf.dtype}{list(leaf.shape)}"

    def run(cache: Any, tokens: Any, starts: Any, *last: Any) -> tuple[Any, Any]:
        result: Any = function(tokens, starts, cache)
        try:
            scores, new = result
        except (TypeError, ValueError) as error:
            raise ArgumentTypeError(
                f"'{name}' returns scores and the next cache; it returned a {type(result).__name__}"
            ) from error
        wanted, found = (str(jax.tree.map(describe, tree)) for tree in (cache, new))
        if wanted != found:
            raise ArgumentTypeError(
                f"the cache that '{name}' returns is not as the one that it takes: {found}, and "
                f"not {wanted}"
            )
        shape = jnp.shape(scores)
        if len(shape) != 3 or shape[:2] != (step.batch, step.tokens):
            raise ArgumentTypeError(
                f"'{name}' returns scores of the shape {shape} for {step.batch} x {step.tokens} "
                "tokens; they are prompts x tokens x vocabulary"
            )
        if last:
            scores = scores[jnp.arange(step.batch), last[0]]
        return new, scores

    run.__name__ = name
    numbers = np.zeros(step.batch, np.int32)
    tokens = np.zeros((step.batch, step.tokens), np.int32)
    arguments = (tokens, numbers) if step.scores_all else (tokens, numbers, numbers)
    imported = import_model(run, (cache, *arguments), {})
    return _keep_state(imported, store, len(arguments))


def _keep_state(imported: ImportedModel, store: dict[int, Array], given: int) -> ImportedModel:
    """The model with its first inputs and results as state, which the calls do not pass."""
    count = len(store)
    names = imported.input_names[count:]

    def flatten(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        return [as_array(each, name) for each, name in zip(args, names, strict=True)]

    def unflatten(results: Sequence[Array]) -> Any:
        store.update(enumerate(results[:count]))
        return results[count]

    signature = replace(
        imported.signature,
        arguments=tuple_of(tuple_of(*[LEAF] * given), dict_of({})),
        results=LEAF,
        bound=tuple(range(count)),
        state=count,
    )
    return replace(
        imported,
        input_names=names,
        flatten=flatten,
        unflatten=unflatten,
        reference=None,
        trace=None,
        flatten_results=None,
        signature=signature,
        bound=store,
    )

"""Steps of JAX functions that take a cache and return the next one.

    scores, cache = step(tokens, starts, cache)

`tokens` is prompts x tokens, `starts` the position of the first token of each prompt; scores are
prompts x tokens x vocabulary. The function writes keys and values of position `p` where it finds
them again, and attends from each position to earlier ones alone. A tree of arrays is the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from ttmlir.errors import ArgumentTypeError
from ttmlir.frontend.compiled import ImportedModel
from ttmlir.frontend.jax_state import import_keeping
from ttmlir.generation.stepping import CacheSize, Step, SteppingModel, check_call


def read_jax_model(
    function: Callable[..., Any], make_cache: Callable[[int], Any], steps: Sequence[Step]
) -> SteppingModel:
    """A function for the steps; `make_cache` returns the empty cache of a number of prompts."""
    name = getattr(function, "__name__", type(function).__name__)
    check_call(name, function, "tokens", "starts", "cache")
    check_call("cache", make_cache, "prompts")
    found: dict[Step, ImportedModel] = {}
    sizes: dict[int, CacheSize] = {}
    for batch in {step.batch: None for step in steps}:
        cache, own = make_cache(batch), [step for step in steps if step.batch == batch]
        models = import_keeping([_call(name, function, cache, step) for step in own], ["cache"])
        found.update(zip(own, [imported for imported, _ in models], strict=True))
        arrays = found[own[0]].bound.values()
        sizes[batch] = CacheSize(len(arrays), sum(each.nbytes for each in arrays))
    return SteppingModel(name, {step: found[step] for step in steps}, sizes)


def _call(
    name: str, function: Callable[..., Any], cache: Any, step: Step
) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """A function of the cache and a step, with examples."""
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
        return scores, new

    run.__name__ = name
    numbers = np.zeros(step.batch, np.int32)
    tokens = np.zeros((step.batch, step.tokens), np.int32)
    arguments = (tokens, numbers) if step.scores_all else (tokens, numbers, numbers)
    return run, (cache, *arguments), {}

"""A small GPT in JAX learns the Zen of Python; compiled, it goes on writing with a KV cache."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
from adam import minimized
from report import agrees
from zen import LETTERS, decoded, encoded, pieces

import ttmlir

LAYERS, HEADS, WIDTH, CONTEXT, PROMPT = 2, 4, 48, 64, encoded("Beautiful is ")
EMPTY = jnp.zeros((LAYERS, 2, CONTEXT, HEADS, WIDTH // HEADS))


def initial(key):
    """Embeddings of letters and places, and the matrices of every block."""
    w = WIDTH
    block = {"qkv": (w, 3 * w), "out": (w, w), "up": (w, 4 * w), "down": (4 * w, w)}
    shapes = {"letters": (len(LETTERS), w), "places": (CONTEXT, w), "blocks": [block] * LAYERS}
    leaves, form = jax.tree.flatten(shapes, is_leaf=lambda leaf: isinstance(leaf, tuple))
    keys = jax.random.split(key, len(leaves))
    return form.unflatten(0.1 * jax.random.normal(*each) for each in zip(keys, leaves, strict=True))


def normalized(x):
    """Layer norm without scale and offset."""
    return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def gpt(weights, letters, start, cache):
    """Scores for the letters after `letters`, which begin at place `start`, and the new cache."""
    count, places = len(letters), start + jnp.arange(len(letters))
    x = weights["letters"][letters] + weights["places"][places]
    seen = jnp.arange(CONTEXT)[None, :] <= places[:, None]  # the letter and those before it
    for index, block in enumerate(weights["blocks"]):
        qkv = (normalized(x) @ block["qkv"]).reshape(count, 3, HEADS, WIDTH // HEADS)
        new = jnp.moveaxis(qkv[:, 1:], 1, 0)[None]
        cache = jax.lax.dynamic_update_slice(cache, new, (index, 0, start, 0, 0))
        scores = jnp.einsum("qhd,khd->hqk", qkv[:, 0], cache[index, 0]) / (WIDTH / HEADS) ** 0.5
        attention = jax.nn.softmax(jnp.where(seen, scores, -1e9))
        x += (
            jnp.einsum("hqk,khd->qhd", attention, cache[index, 1]).reshape(count, -1) @ block["out"]
        )
        x += jax.nn.gelu(normalized(x) @ block["up"]) @ block["down"]
    return normalized(x) @ weights["letters"].T, cache


def loss(weights, pieces):
    """How unlikely the letters of pieces of text are, each after those before it."""
    scores = jax.vmap(lambda piece: gpt(weights, piece, 0, EMPTY)[0])(pieces[:, :-1])
    return -jnp.take_along_axis(jax.nn.log_softmax(scores), pieces[:, 1:, None], -1).mean()


def written(prefill, step, letters):
    """The likeliest letters after the given ones, until the context is full."""
    scores, cache = prefill(letters, np.int32(0), EMPTY)
    while len(letters) < CONTEXT:
        letters = np.append(letters, np.argmax(scores[-1]))
        scores, cache = step(letters[-1:], np.int32(len(letters) - 1), cache)
    return decoded(letters)


def main() -> int:
    """Exit status 0 if the compiled model writes what JAX writes."""
    weights = minimized(loss, initial(jax.random.key(0)), pieces(250, 8, CONTEXT + 1), rate=5e-3)
    model = jax.jit(lambda letters, start, cache: gpt(weights, letters, start, cache))
    prefill = ttmlir.compile(model, PROMPT, np.int32(0), EMPTY)
    step = ttmlir.compile(model, PROMPT[:1], np.int32(0), EMPTY)
    good = agrees(prefill, PROMPT, 0, EMPTY) and agrees(step, PROMPT[:1], 0, EMPTY)
    ours, theirs = written(prefill, step, PROMPT), written(model, model, PROMPT)
    print(f"  compiled: {ours!r}\n  JAX:      {theirs!r}")
    return 0 if good and ours == theirs else 1


if __name__ == "__main__":
    sys.exit(main())

"""`jax.random` in compiled programs: JAX's own numbers, in both numerics."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import ttmlir

DRAWS = {
    "bits": lambda key: jax.random.bits(key, (5, 7)),
    "uniform": lambda key: jax.random.uniform(key, (33, 3), minval=-2.0),
    "normal": lambda key: jax.random.normal(key, (5, 7)),
    "randint": lambda key: jax.random.randint(key, (5, 7), -3, 100),
    "categorical": lambda key: jax.random.categorical(key, jnp.arange(12.0).reshape(3, 4)),
    "split": lambda key: jax.random.key_data(jax.random.split(key, 3)),
    "fold_in": lambda key: jax.random.key_data(jax.random.fold_in(key, 9)),
    "choice": lambda key: jax.random.choice(key, 4, (5,), p=jnp.array([0.1, 0.2, 0.3, 0.4])),
    "permutation": lambda key: jax.random.permutation(key, 11),
    "a key of its own": lambda key: jax.random.uniform(jax.random.key(3), (5,)),
}


def draw_all(data: Any) -> list[Any]:
    """One of each; each has a key of its own."""
    keys = jax.random.split(jax.random.wrap_key_data(data), len(DRAWS))
    return [draw(key) for draw, key in zip(DRAWS.values(), keys, strict=True)]


def test_draws() -> None:
    """Bits are equal; functions of them are rounded once more at most."""
    data = jax.random.key_data(jax.random.key(7))
    compiled = ttmlir.compile(draw_all, data)
    expected = draw_all(data)
    for numerics in ("exact", "device"):
        results = compiled(data, numerics=numerics)
        for name, ours, theirs in zip(DRAWS, results, expected, strict=True):
            assert ours.dtype == theirs.dtype, name
            mine, wanted = (np.asarray(each, np.float64) for each in (ours, theirs))
            np.testing.assert_allclose(mine, wanted, rtol=1e-5, atol=1e-6, err_msg=name)

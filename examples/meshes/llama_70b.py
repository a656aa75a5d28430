"""Llama 3 70B over the chips of a Galaxy, estimated from shapes: nothing of it is computed.

    python examples/meshes/llama_70b.py --mesh 4x8 --layers 80 --weights bfp_bf8

Rows of the mesh share users, columns the heads and the hidden features. Prints the time of a token
for all users, and of a prompt, and what each chip keeps in its memory.
"""

from __future__ import annotations

import argparse

import jax
import jax.numpy as jnp
from jax.sharding import AbstractMesh, AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import ttmlir

WIDTH, HIDDEN, HEADS, GROUPS, WORDS = 8192, 28672, 64, 8, 128256
SIZE = WIDTH // HEADS


def norm(x, scale):
    """Rows of mean square 1, scaled."""
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * scale


def attend(x, layer, keys, values):
    """All heads of some tokens, after those that are in the cache."""
    heads = (*x.shape[:2], GROUPS, -1, SIZE)
    q = (x @ layer["query"]).reshape(heads).transpose(0, 2, 3, 1, 4)
    k, v = ((x @ layer[name]).reshape(heads)[..., 0, :].swapaxes(1, 2) for name in ("key", "value"))
    keys, values = (jnp.concatenate(each, 2) for each in ((keys, k), (values, v)))
    # Heads of a group share its keys: they are rows of one product.
    rows = q.reshape(*q.shape[:2], -1, SIZE)
    weights = jax.nn.softmax(rows @ keys.swapaxes(2, 3) / SIZE**0.5, -1)
    return (weights @ values).reshape(q.shape).transpose(0, 3, 1, 2, 4).reshape(x.shape) @ layer[
        "out"
    ]


def llama(weights, tokens, cache):
    """Scores of the next token; new keys and values are left out, rotations, too."""
    x = weights["table"][tokens]
    for layer, (keys, values) in zip(weights["layers"], cache, strict=True):
        x = x + attend(norm(x, layer["before"]), layer, keys, values)
        y = norm(x, layer["between"])
        x = x + (jax.nn.silu(y @ layer["gate"]) * (y @ layer["up"])) @ layer["down"]
    return norm(x[:, -1], weights["norm"]) @ weights["head"]


def make_shapes(mesh, layers, users, tokens, known):
    """Weights, tokens, and a cache of `known` places."""

    def shape(extents, *spec, dtype=jnp.bfloat16):
        return jax.ShapeDtypeStruct(extents, dtype, sharding=NamedSharding(mesh, P(*spec)))

    def by_columns(*extents):
        return shape(extents, None, "model")

    layer = {
        **{name: by_columns(WIDTH, GROUPS * SIZE) for name in ("key", "value")},
        **{name: by_columns(WIDTH, HIDDEN) for name in ("gate", "up")},
        "query": by_columns(WIDTH, WIDTH),
        "out": shape((WIDTH, WIDTH), "model"),
        "down": shape((HIDDEN, WIDTH), "model"),
        **{name: shape((WIDTH,)) for name in ("before", "between")},
    }
    weights = {
        "table": by_columns(WORDS, WIDTH),
        "head": by_columns(WIDTH, WORDS),
        "norm": shape((WIDTH,)),
        "layers": [layer] * layers,
    }
    places = shape((users, GROUPS, known, SIZE), "data", "model")
    return weights, shape((users, tokens), "data", dtype=jnp.int32), [(places, places)] * layers


def main():
    """Estimate a token for all users, and a prompt of each row of the mesh."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mesh", default="4x8", help="rows x columns, such as 4x8")
    parser.add_argument("--layers", type=int, default=80)
    parser.add_argument("--weights", default="bfp_bf8", help="bf16, bfp_bf8 or bfp_bf4")
    parser.add_argument("--board", default="galaxy")
    options = parser.parse_args()
    rows, columns = map(int, options.mesh.split("x"))
    axis_types = (AxisType.Auto, AxisType.Auto)
    mesh = AbstractMesh((rows, columns), ("data", "model"), axis_types=axis_types)

    def estimate(layers, *sizes):
        return ttmlir.compile(
            llama,
            *make_shapes(mesh, layers, *sizes),
            board=options.board,
            resident=["weights", "cache"],
            options=f"experimental-weight-dtype={options.weights}",
        ).estimate()

    for what, users, tokens, known in (("token", 32, 1, 2048), ("prompt", rows, 2048, 0)):
        # Layers are alike: each one more takes what the second one does.
        one, two = (estimate(layers, users, tokens, known) for layers in (1, 2))

        def of_all(read, one=one, two=two):
            return read(one) + (options.layers - 1) * (read(two) - read(one))

        ms = of_all(lambda each: each.total.mid) / 1e6
        exchanges = of_all(lambda each: each.exchanges.mid) / 1e6
        print(f"{what}: {ms:,.1f} ms, {users * tokens / ms * 1e3:,.0f} tokens per second")
        busy = of_all(lambda each: sum(use.busy for use in each.links)) / 1e6
        print(f"  of it exchanges: {exchanges:,.1f} ms, for {busy:,.1f} of which links are busy")
        dram = two.memory.dram
        used = of_all(lambda each: each.memory.dram.resident)
        print(
            f"  weights and cache: {used * dram.banks / 1e9:,.2f} of "
            f"{dram.capacity * dram.banks / 1e9:,.1f} GB of each chip"
            + ("" if used < dram.capacity else ", which do not fit")
        )


if __name__ == "__main__":
    main()

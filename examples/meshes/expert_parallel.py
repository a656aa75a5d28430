"""A mixture of experts: each column of a mesh has some experts, and gets the tokens for them.

    python examples/meshes/expert_parallel.py --mesh 2x4

Tokens are divided over all devices. A router chooses an expert for each; `all_to_all` sends tokens
along the rows of the mesh to the experts, and what these make of them back.
"""

from __future__ import annotations

import numpy as np
from mesh_report import parse_mesh, report

import ttmlir

TOKENS, WIDTH, HIDDEN = 64, 96, 160
"""Tokens of each device, all of which an expert has room for."""


def main():
    """Compile, run, and compare with all experts on one device."""
    rows, columns = parse_mesh(__doc__)
    experts = 2 * columns
    import jax
    import jax.numpy as jnp
    from jax.sharding import AxisType
    from jax.sharding import PartitionSpec as P

    axes = (AxisType.Auto, AxisType.Auto)
    mesh = jax.make_mesh((rows, columns), ("data", "expert"), axis_types=axes)

    def choose(x, router):
        """For each token one expert, and how much of it."""
        chances = jax.nn.softmax(x @ router)
        return jax.nn.one_hot(chances.argmax(-1), experts) * chances.max(-1, keepdims=True)

    def run_experts(x, weights):
        """Of experts x tokens x features."""
        hidden = jax.nn.silu(jnp.einsum("etw,ewh->eth", x, weights["up"]))
        return jnp.einsum("eth,ehw->etw", hidden, weights["down"])

    def mixture(x, weights):
        """What a device does."""
        shares = choose(x, weights["router"])
        sent = jnp.einsum("te,tw->etw", shares > 0, x)
        # Experts x tokens of this device: parts of the first go to their columns.
        sent = jax.lax.all_to_all(sent, "expert", 0, 1, tiled=True)
        made = run_experts(sent, weights)
        made = jax.lax.all_to_all(made, "expert", 1, 0, tiled=True)
        return jnp.einsum("te,etw->tw", shares, made)

    of_experts = {"router": P(), "up": P("expert"), "down": P("expert")}
    tokens = P(("data", "expert"))
    divided = jax.shard_map(mixture, mesh=mesh, in_specs=(tokens, of_experts), out_specs=tokens)

    random = np.random.default_rng(0)
    shapes = {
        "router": (WIDTH, experts),
        "up": (experts, WIDTH, HIDDEN),
        "down": (experts, HIDDEN, WIDTH),
    }
    weights = {
        name: random.standard_normal(shape, np.float32) / shape[-2] ** 0.5
        for name, shape in shapes.items()
    }
    x = random.standard_normal((rows * columns * TOKENS, WIDTH), np.float32)
    shares = choose(x, weights["router"])
    expected = run_experts(jnp.broadcast_to(x, (experts, *x.shape)), weights)
    expected = jnp.einsum("te,etw->tw", shares, expected)

    compiled = ttmlir.compile(divided, x, weights)
    print(f"{rows * columns} devices with {experts // columns} of {experts} experts each")
    report(compiled, compiled(x, weights), expected)


if __name__ == "__main__":
    main()

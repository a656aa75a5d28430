"""Layers on other devices: a pipeline, whose stages give their results to the next one.

    python examples/meshes/pipeline.py --mesh 1x2

Each column of the mesh has the weights of a layer, each row its own batches, in parts that the
stages work at side by side (microbatches). `ppermute` sends what a stage has to the next column.
"""

from __future__ import annotations

import numpy as np
from mesh_report import parse_mesh, report

import ttmlir

PARTS, BATCH, WIDTH = 4, 8, 96


def main():
    """Compile, run, and compare with the layers on one device."""
    rows, stages = parse_mesh(__doc__)
    import jax
    import jax.numpy as jnp
    from jax.sharding import AxisType
    from jax.sharding import PartitionSpec as P

    axes = (AxisType.Auto, AxisType.Auto)
    mesh = jax.make_mesh((rows, stages), ("batch", "stage"), axis_types=axes)

    def layer(weight, x):
        return x + jax.nn.silu(x @ weight)

    def run_stage(weights, x):
        """What a device does: in each turn its layer, and a part of the batch to the next stage."""
        is_first = jax.lax.axis_index("stage") == 0
        is_last = jax.lax.axis_index("stage") == stages - 1
        to_next = [(stage, stage + 1) for stage in range(stages - 1)]
        given, results = jnp.zeros_like(x[0]), []
        for turn in range(PARTS + stages - 1):
            given = jnp.where(is_first, x[min(turn, PARTS - 1)], given)
            given = layer(weights[0], given)
            if turn >= stages - 1:
                results.append(jnp.where(is_last, given, 0))
            given = jax.lax.ppermute(given, "stage", to_next)
        # The last stage has the results, all others zeros.
        return jax.lax.psum(jnp.stack(results), "stage")

    specs = P("stage"), P(None, "batch")
    divided = jax.shard_map(run_stage, mesh=mesh, in_specs=specs, out_specs=P(None, "batch"))

    random = np.random.default_rng(0)
    weights = random.standard_normal((stages, WIDTH, WIDTH), np.float32) / WIDTH**0.5
    x = random.standard_normal((PARTS, BATCH, WIDTH), np.float32)
    expected = x
    for weight in weights:
        expected = layer(weight, expected)

    compiled = ttmlir.compile(divided, weights, x)
    turns = PARTS + stages - 1
    print(
        f"{stages} stages, {PARTS} parts of a batch: a device has work in {PARTS} of {turns} turns"
    )
    report(compiled, compiled(weights, x), expected)


if __name__ == "__main__":
    main()

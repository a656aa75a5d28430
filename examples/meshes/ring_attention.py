"""Attention of a sequence that is divided over the devices of a ring.

    python examples/meshes/ring_attention.py --mesh 2x4

Each row of a mesh has a part of the batch, each column a part of the sequence. Keys and values go
round the row; a device adds what it gets to its softmax, so that no device has all scores.
"""

from __future__ import annotations

import numpy as np
from mesh_report import parse_mesh, report

import ttmlir

BATCH, HEADS, TOKENS, WIDTH = 4, 2, 192, 32


def main():
    """Compile, run, and compare with attention on one device."""
    rows, columns = parse_mesh(__doc__)
    import jax
    import jax.numpy as jnp
    from jax.sharding import AxisType
    from jax.sharding import PartitionSpec as P

    axes = (AxisType.Auto, AxisType.Auto)
    mesh = jax.make_mesh((rows, columns), ("batch", "sequence"), axis_types=axes)
    to_next = [(place, (place + 1) % columns) for place in range(columns)]

    def attend(q, k, v):
        """On one device; later tokens are seen, too."""
        scores = q @ k.swapaxes(-1, -2) / WIDTH**0.5
        return jax.nn.softmax(scores, -1) @ v

    def attend_in_ring(q, k, v):
        """What a device does, with keys and values of each device in turn."""
        most = jnp.full((*q.shape[:-1], 1), -jnp.inf)
        total, result = jnp.zeros_like(most), jnp.zeros_like(q)
        for turn in range(columns):
            scores = q @ k.swapaxes(-1, -2) / WIDTH**0.5
            known, most = most, jnp.maximum(most, scores.max(-1, keepdims=True))
            # What was added before has the factor of a smaller maximum.
            weights, less = jnp.exp(scores - most), jnp.exp(known - most)
            total = total * less + weights.sum(-1, keepdims=True)
            result = result * less + weights @ v
            if turn < columns - 1:
                k, v = (jax.lax.ppermute(each, "sequence", to_next) for each in (k, v))
        return result / total

    part = P("batch", None, "sequence")
    divided = jax.shard_map(attend_in_ring, mesh=mesh, in_specs=(part,) * 3, out_specs=part)
    random = np.random.default_rng(0)
    q, k, v = (random.standard_normal((BATCH, HEADS, TOKENS, WIDTH), np.float32) for _ in range(3))

    compiled = ttmlir.compile(divided, q, k, v)
    print(f"{TOKENS // columns} of {TOKENS} tokens on each of {rows * columns} devices")
    report(compiled, compiled(q, k, v), attend(q, k, v))


if __name__ == "__main__":
    main()

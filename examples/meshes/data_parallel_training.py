"""A step of training whose batch is divided over all devices of a mesh.

    python examples/meshes/data_parallel_training.py --mesh 2x4

All devices have the weights. Each computes gradients of its rows; these are added over the mesh,
before every device changes its weights in the same way.
"""

from __future__ import annotations

import numpy as np
from mesh_report import parse_mesh, report

import ttmlir

BATCH, WIDTH, HIDDEN, CLASSES, RATE, STEPS = 48, 64, 160, 10, 0.1, 3


def main():
    """Compile the step, train, and compare with JAX on one device."""
    rows, columns = parse_mesh(__doc__)
    import jax
    import jax.numpy as jnp
    from jax.sharding import AxisType, NamedSharding, PartitionSpec

    def loss(weights, x, labels):
        scores = jnp.tanh(x @ weights["up"]) @ weights["down"]
        picked = (jax.nn.log_softmax(scores) * jax.nn.one_hot(labels, CLASSES)).sum(-1)
        return -picked.mean()

    def step(weights, x, labels):
        value, gradients = jax.value_and_grad(loss)(weights, x, labels)
        return value, jax.tree.map(lambda w, g: w - RATE * g, weights, gradients)

    axes = (AxisType.Auto, AxisType.Auto)
    mesh = jax.make_mesh((rows, columns), ("rows", "columns"), axis_types=axes)
    divided = NamedSharding(mesh, PartitionSpec(("rows", "columns")))
    whole = NamedSharding(mesh, PartitionSpec())
    random = np.random.default_rng(0)
    weights = {
        "up": random.standard_normal((WIDTH, HIDDEN), np.float32) / WIDTH**0.5,
        "down": random.standard_normal((HIDDEN, CLASSES), np.float32) / HIDDEN**0.5,
    }
    x = random.standard_normal((BATCH, WIDTH), np.float32)
    labels = random.integers(0, CLASSES, BATCH, np.int32)

    compiled = ttmlir.compile(
        step, jax.device_put(weights, whole), *jax.device_put((x, labels), divided)
    )
    found, expected = weights, weights
    for number in range(STEPS):
        value, found = compiled(found, x, labels)
        known, expected = jax.jit(step)(expected, x, labels)
        print(f"step {number}: loss {float(value):.6f}, on one device {float(known):.6f}")
    report(compiled, found["up"], expected["up"])


if __name__ == "__main__":
    main()

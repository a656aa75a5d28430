"""Training through the compiler: forward, backward and update of a network as one program."""

from __future__ import annotations

import sys

import jax
import jax.numpy as jnp
import numpy as np
from images import digits
from mlp import initial, network
from report import accuracy, agrees

import ttmlir

STEPS, BATCH, RATE = 60, 256, 0.2


def step(layers, images, targets):
    """The layers after one step, and the loss before it."""

    def loss(layers):
        return -(targets * jnp.log(network(layers, images))).sum(axis=-1).mean()

    value, slopes = jax.value_and_grad(loss)(layers)
    return jax.tree.map(lambda p, g: p - RATE * g, layers, slopes), value


def main() -> int:
    """Exit status 0 if the compiled step learns as JAX's does."""
    train, test = digits()
    targets = np.eye(10, dtype=np.float32)[train.labels]
    layers = ours = initial(jax.random.key(0))
    compiled = ttmlir.compile(step, layers, train.images[:BATCH], targets[:BATCH])
    good = agrees(compiled, layers, train.images[:BATCH], targets[:BATCH])
    rng, jitted = np.random.default_rng(0), jax.jit(step)
    for index in range(STEPS):
        rows = rng.choice(len(targets), BATCH, replace=False)
        layers, loss = jitted(layers, train.images[rows], targets[rows])
        ours, our_loss = compiled(ours, train.images[rows], targets[rows])
        good &= abs(loss - our_loss) < 1e-3
        if index % 10 == 9:
            print(f"  step {index + 1}: loss {our_loss:.5f}, with JAX {loss:.5f}")
    accuracies = [accuracy(network(each, test.images), test.labels) for each in (ours, layers)]
    print(f"  accuracy on held-out images: {accuracies[0]}, with JAX {accuracies[1]}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

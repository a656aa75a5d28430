"""A classifier of handwritten digits in JAX: trained here, compiled, and run beside JAX."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp
from adam import minimized
from images import digits
from report import accuracy, agrees, asked_target, count_images

import ttmlir

SIZES = (64, 48, 32, 10)


def initial(key):
    """Weights and biases of the layers."""
    keys = jax.random.split(key, len(SIZES) - 1)
    return [
        {"w": jax.random.normal(k, (a, b)) * (2 / a) ** 0.5, "b": jnp.zeros(b)}
        for k, a, b in zip(keys, SIZES, SIZES[1:], strict=False)
    ]


def network(layers, images):
    """The probabilities of the ten digits."""
    *hidden, last = layers
    for layer in hidden:
        images = jax.nn.relu(images @ layer["w"] + layer["b"])
    return jax.nn.softmax(images @ last["w"] + last["b"])


def loss(layers, images, labels):
    """How unlikely the labels are."""
    return -jnp.log(network(layers, images)[jnp.arange(len(labels)), labels]).mean()


def main() -> int:
    """Exit status 0 if the compiled model agrees with JAX."""
    target = asked_target()
    train, test = digits()
    images, labels = (each[: count_images(target)] for each in (test.images, test.labels))
    batches = [(train.images, train.labels)] * 150
    layers = minimized(loss, initial(jax.random.key(0)), batches, rate=1e-2)
    compiled = ttmlir.compile(lambda images: network(layers, images), images, target=target)
    good = agrees(compiled, images)
    print(f"  accuracy: JAX {accuracy(network(layers, images), labels)}", end=", ")
    print(f"compiled {accuracy(compiled(images), labels)}")
    with tempfile.TemporaryDirectory() as folder:
        file = compiled.save(Path(folder) / f"mlp{compiled.suffix}")
        print(f"  {file.name}: {file.stat().st_size:,} bytes")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

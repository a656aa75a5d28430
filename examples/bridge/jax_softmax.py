"""A fused softmax in C++ as an operation of JAX: jitted, differentiated, batched and compiled.

    python examples/bridge/jax_softmax.py

The kernel runs on the simulator wherever JAX calls it, and is part of the file that the model is
compiled to.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from softmax_program import build_softmax

import ttmlir
from ttmlir.bridge import JAXKernel

KERNEL = JAXKernel("softmax", build_softmax, grid=(8,))


@jax.custom_vjp
def softmax(x: jax.Array) -> jax.Array:
    """Softmax along the last dimension, by the kernel."""
    return KERNEL(x, out_shape=x)


def softmax_forward(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The result, which is all that the gradient needs."""
    y = softmax(x)
    return y, y


def softmax_backward(y: jax.Array, gradient: jax.Array) -> tuple[jax.Array]:
    """y * (gradient - sum of y * gradient)."""
    return (y * (gradient - (y * gradient).sum(-1, keepdims=True)),)


softmax.defvjp(softmax_forward, softmax_backward)


def attention(query: jax.Array, key: jax.Array, value: jax.Array) -> jax.Array:
    """The kernel between products of matrices."""
    return softmax(query @ key.T / np.sqrt(query.shape[-1])) @ value


def reference(query: jax.Array, key: jax.Array, value: jax.Array) -> jax.Array:
    """The same with JAX's softmax."""
    return jax.nn.softmax(query @ key.T / np.sqrt(query.shape[-1])) @ value


def report(what: str, result: jax.Array, expected: jax.Array) -> None:
    """Print how far results are apart; AssertionError if that is too far."""
    error = float(jnp.abs(result - expected).max())
    print(f"{what}: largest error {error:.1e}")
    assert error < 1e-2, what


def main() -> None:
    """Run the block in each way."""
    keys = jax.random.split(jax.random.key(0), 3)
    inputs = [jax.random.normal(key, (200, 64)) for key in keys]
    inputs[1:] = [jax.random.normal(key, (128, 64)) for key in keys[1:]]
    expected = reference(*inputs)
    report("jitted", jax.jit(attention)(*inputs), expected)
    run = KERNEL.last_run
    assert run is not None
    print(f"softmax of 200x128 on 7 cores: {run.cycles} cycles")

    gradient = jax.jit(jax.grad(lambda *x: (attention(*x) ** 2).sum()))
    wanted = jax.grad(lambda *x: (reference(*x) ** 2).sum())
    report("gradient", gradient(*inputs), wanted(*inputs))

    batch = jnp.stack([inputs[0], 2 * inputs[0]])
    mapped = jax.vmap(attention, in_axes=(0, None, None))(batch, *inputs[1:])
    report("batch of 2", mapped[0], expected)

    compiled = ttmlir.compile(attention, *inputs)
    report("compiled", compiled(*inputs), expected)
    compiled.save("jax_softmax.ttnn")
    print("saved jax_softmax.ttnn: ttrt run executes it")


if __name__ == "__main__":
    main()

"""A recurrent network in JAX over a long sequence: one loop in the file, however long it is."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from report import agrees

import ttmlir

WIDTH, INPUTS, BATCH = 32, 8, 4


def network(weights, sequence):
    """The states of a gated cell after each step of a sequence, and the last one."""

    def step(state, x):
        both = jnp.concatenate([state, x], axis=1)
        gate = jax.nn.sigmoid(both @ weights["gate"])
        new = jnp.tanh(both @ weights["new"] + weights["bias"])
        state = gate * state + (1 - gate) * new
        return state, state @ weights["out"]

    return jax.lax.scan(step, jnp.zeros((BATCH, WIDTH)), sequence)


def made_weights(rng):
    """Weights that keep what they have read for a while."""
    rows = WIDTH + INPUTS
    shapes = {"gate": (rows, WIDTH), "new": (rows, WIDTH), "bias": (WIDTH,), "out": (WIDTH, 1)}
    return {
        name: rng.normal(0, shape[0] ** -0.5, shape).astype(np.float32)
        for name, shape in shapes.items()
    }


def main() -> int:
    """Exit status 0 if the compiled network agrees with JAX."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=300, help="length of the sequence")
    steps = parser.parse_args().steps
    rng = np.random.default_rng(0)
    weights = made_weights(rng)
    sequence = rng.normal(size=(steps, BATCH, INPUTS)).astype(np.float32)
    compiled = ttmlir.compile(network, weights, sequence)
    good = agrees(compiled, weights, sequence)
    start = time.perf_counter()
    compiled(weights, sequence)
    seconds = time.perf_counter() - start
    print(f"  {steps:,} steps: compiled in {compiled.seconds:.2f} s, run in {seconds:.2f} s")
    with tempfile.TemporaryDirectory() as folder:
        file = compiled.save(Path(folder) / "scan_rnn.ttnn")
        print(f"  {file.name}: {file.stat().st_size:,} bytes")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

"""The same model gives the same file in every process."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
import hashlib
import jax
import jax.numpy as jnp
import torch
import ttmlir

def attention(w, x):
    scores = jax.nn.softmax(x @ w @ x.T / 6)
    return {"mixed": scores @ x, "largest": jnp.argmax(scores, axis=1)}

x = jnp.linspace(-1, 1, 7 * 36).reshape(7, 36)
model = torch.nn.Sequential(
    torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten(),
    torch.nn.Linear(4 * 3 * 5, 3),
)
torch.manual_seed(0)
for parameter in model.parameters():
    torch.nn.init.normal_(parameter)
for compiled in (
    ttmlir.compile(attention, jnp.ones((36, 36)), x),
    ttmlir.compile(model.eval(), torch.ones(2, 1, 5, 7)),
):
    print(hashlib.sha256(compiled.to_bytes()).hexdigest())
"""


def digests(seed: str) -> list[str]:
    """Digests of the files of both models, made in a process with its own order of hashes."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_two_processes_make_the_same_files() -> None:
    """Files of models of JAX and torch have the same bytes, whatever the order of hashes."""
    first = digests("1")
    assert len(first) == 2
    assert first == digests("2")

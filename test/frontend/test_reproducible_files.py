"""The same model gives the same file in every process, wherever the package is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from samples.framework_functions import build_exp

import ttmlir
from ttmlir.bridge import JAXKernel, TorchKernel

PACKAGE = Path(ttmlir.__file__).parent
X = np.linspace(-1, 1, 35, dtype=np.float32).reshape(5, 7)

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


def digests(seed: str, folder: Path) -> list[str]:
    """Digests of the files of both models, made in a process with its own order of hashes.

    `folder` holds the package.
    """
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(folder)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_two_processes_make_the_same_files(tmp_path: Path) -> None:
    """Whatever the order of hashes is, and whichever folder the package is in."""
    first = digests("1", PACKAGE.parent)
    assert len(first) == 2
    # With its bytecode, which is that of any folder: to compile it anew takes longer than the rest.
    shutil.copytree(PACKAGE, tmp_path / "elsewhere" / PACKAGE.name)
    assert first == digests("2", tmp_path / "elsewhere")


def test_locations_name_nothing_of_what_a_script_is_started_with(tmp_path: Path) -> None:
    """`python -m ttmlir` and `python -m` run scripts inside of functions of Python's own."""
    program = (
        "import jax.numpy as jnp, ttmlir\n"
        "ttmlir.compile(lambda x: jnp.tanh(x), jnp.ones((3, 5))).save('model.ttnn')\n"
    )
    (tmp_path / "model.py").write_text(program)
    subprocess.run(
        [sys.executable, "-m", "ttmlir", "model.py"],
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
        cwd=tmp_path,
        check=True,
    )
    data = (tmp_path / "model.ttnn").read_bytes()
    assert b"model.py" in data
    assert b"<frozen" not in data


JAX_EXP = JAXKernel("exp", build_exp, grid=(3,))
TORCH_EXP = TorchKernel("exp", build_exp, grid=(3,))


def normalize(x: Any) -> Any:
    """With a function that is called, and constants of no line of their own."""
    return jax.nn.softmax(x * 2, axis=1) + jnp.arange(7.0)


class Doubled(torch.nn.Module):
    """Lines of a user between those of torch."""

    def __init__(self) -> None:
        """One layer of torch's."""
        super().__init__()
        self.inner = torch.nn.Linear(7, 3)

    def forward(self, x: Any) -> Any:
        """Call torch's own module."""
        return self.inner(x) * 2


def exported() -> Any:
    """A program that torch exported, with lines of torch only."""
    layers = torch.nn.Sequential(torch.nn.Linear(7, 3), torch.nn.ReLU())
    return torch.export.export(layers, (torch.from_numpy(X),))


MODELS: dict[str, tuple[Callable[[], Any], str]] = {
    "jax": (lambda: ttmlir.compile(normalize, X), "normalize"),
    "jax_jitted": (lambda: ttmlir.compile(jax.jit(normalize), X), "normalize"),
    "jax_kernel": (lambda: ttmlir.compile(lambda x: JAX_EXP(x, out_shape=x), X), "lambda"),
    "torch": (lambda: ttmlir.compile(Doubled(), torch.from_numpy(X)), Path(__file__).name),
    "torch_kernel": (
        lambda: ttmlir.compile(lambda x: TORCH_EXP(x, out_shape=x), torch.from_numpy(X)),
        Path(__file__).name,
    ),
    "torch_exported": (lambda: ttmlir.compile(exported()), "linear"),
}


@pytest.mark.parametrize("name", MODELS)
def test_locations_name_no_file_of_the_package(name: str) -> None:
    """They name the user's lines; those of the package, and of torch, are nobody's."""
    compile_model, kept = MODELS[name]
    compiled = compile_model()
    locations = compiled.to_bytes().decode("latin-1")
    assert kept in locations
    for folder in (PACKAGE, Path(torch.__file__).parent):
        assert f"{folder}{os.sep}" not in locations
        assert all(f"{folder}{os.sep}" not in compiled.text(stage) for stage in compiled.stages)

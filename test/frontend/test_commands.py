"""Commands that guides and users type, as they stand."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running.warm_shell import WarmShell

jax = pytest.importorskip("jax", reason="needs JAX")

import jax.numpy as jnp  # noqa: E402

import ttmlir  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
MODEL = "test/models/resnet_block.mlir"
ONE_LINE = (
    'python -c "import jax, jax.numpy as jnp, ttmlir; print(ttmlir.compile(lambda x, w: '
    "jax.nn.relu(x @ w), jnp.ones((33, 70)), jnp.ones((70, 5)))(jnp.ones((33, 70)), "
    'jnp.ones((70, 5))))"'
)
TOOLS = (
    f"ttmlir-opt --stablehlo-to-ttir-pipeline=spelling=2024 {MODEL}"
    " | ttmlir-opt --ttir-to-ttnn-backend-pipeline"
    " | ttmlir-translate --ttnn-to-flatbuffer -o r.ttnn && ttrt run --golden r.ttnn"
)


def printed_by(command: str, folder: Path, shell: WarmShell) -> str:
    """What a command prints, in a folder from which the checkout's tests can be seen."""
    (folder / "test").symlink_to(ROOT / "test")
    result = shell.run(command, folder, os.environ, 600)
    assert result.returncode == 0, result.stdout
    return result.stdout


def test_a_function_is_compiled_and_run_in_one_line(tmp_path: Path, shell: WarmShell) -> None:
    """Sums of 70 products of ones."""
    lines = printed_by(ONE_LINE, tmp_path, shell).splitlines()
    assert lines[-1] == " [70. 70. 70. 70. 70.]]"
    assert len(lines) == 33


def test_text_that_jax_prints_becomes_a_binary_that_runs(tmp_path: Path, shell: WarmShell) -> None:
    """Every operation agrees with its reference."""
    printed = printed_by(TOOLS, tmp_path, shell)
    assert printed.count("golden ok") > 20
    assert "golden FAILED" not in printed
    assert "r.ttnn: program 0 'main': pass" in printed


def resnet_block(x: Any, first: Any, second: Any) -> Any:
    """What `test/models/resnet_block.mlir` was printed from."""

    def norm(x: Any) -> Any:
        scale, offset, mean, variance = jnp.array(
            [
                [1.0, 0.5, 1.5, 0.75],
                [0.1, -0.2, 0.3, 0],
                [0.2, -0.1, 0.05, 0.4],
                [0.9, 1.1, 0.6, 1.3],
            ]
        )
        return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + offset

    def convolution(x: Any, kernel: Any) -> Any:
        form = ("NHWC", "HWIO", "NHWC")
        return jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=form)

    inner = jax.nn.relu(norm(convolution(x, first)))
    return jax.nn.relu(x + norm(convolution(inner, second)))


def test_text_that_jax_prints_computes_what_jax_computes() -> None:
    """On random images and kernels."""
    rng = np.random.default_rng(5)
    shapes = ((2, 9, 7, 4), (3, 3, 4, 4), (3, 3, 4, 4))
    arguments = [rng.standard_normal(shape, np.float32) for shape in shapes]
    result = ttmlir.compile(ROOT / MODEL)(*arguments)
    np.testing.assert_allclose(result, resnet_block(*arguments), rtol=1e-4, atol=1e-4)

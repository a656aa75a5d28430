"""`JitFunction.save`: the kernels of a function as a script for cards."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from running.randomness import TestGenerator
from running.warm_shell import WarmShell

from ttmlir import ttnn, ttnn_jit
from ttmlir.errors import CompilationError

_GENERATOR = TestGenerator(__name__)


def _tensor(*shape: int) -> tuple[np.ndarray, ttnn.Tensor]:
    array = _GENERATOR.normal(size=shape).astype(np.float32)
    device = ttnn.open_device(device_id=0)
    tensor = ttnn.Tensor(array, ttnn.float32).to(ttnn.TILE_LAYOUT).to(device)
    return array, tensor


def test_script_computes_what_the_function_does(tmp_path: Path, shell: WarmShell) -> None:
    """On arrays of the host, with the names of the function."""

    @ttnn_jit.jit()
    def score(queries: ttnn.Tensor, keys: ttnn.Tensor) -> list[ttnn.Tensor]:
        product = ttnn.matmul(queries, keys)
        return [ttnn.exp(product), ttnn.sum(product, -1)]

    (a, queries), (b, keys) = _tensor(33, 20), _tensor(20, 70)
    script = score.save(tmp_path / "kernels.py", queries, keys)
    text = script.read_text(encoding="utf-8")
    assert "def forward(queries: Any, keys: Any, device: Any) -> Any:" in text
    assert "# test_scripts.py:" in text
    results = tmp_path / "results.npz"
    command = "python -m ttmlir kernels.py --check --save results.npz"
    done = shell.run(command, tmp_path, os.environ, 600)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count(", right") == 2
    with np.load(results) as found:
        np.testing.assert_allclose(found["arr_0"], np.exp(a @ b), rtol=0.05, atol=0.05)
        np.testing.assert_allclose(found["arr_1"].reshape(-1), (a @ b).sum(-1), atol=0.5)


def test_what_has_no_kernel_is_refused(tmp_path: Path) -> None:
    """With the line, and no file."""

    @ttnn_jit.jit()
    def sort(x: ttnn.Tensor) -> ttnn.Tensor:
        return ttnn.sort(x, -1)[0]

    with pytest.raises(CompilationError, match="sort"):
        sort.save(tmp_path / "kernels.py", _tensor(33, 70)[1])
    assert not list(tmp_path.iterdir())

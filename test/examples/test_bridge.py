"""The softmax kernel of the bridge's examples, and the examples themselves."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ttmlir.bridge import NumPyKernel

BRIDGE = Path(__file__).resolve().parents[2] / "examples" / "bridge"


@pytest.fixture(autouse=True)
def _examples_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BRIDGE))


@pytest.mark.parametrize("name", ["jax_softmax", "torch_softmax"])
def test_example_agrees_with_its_framework(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In each way to run it; the saved file runs alone.

    The frameworks take longer to load than the example to run, so they are not loaded anew.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [f"{name}.py"])
    runpy.run_path(str(BRIDGE / f"{name}.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert re.search(r"^softmax of \d+x\d+ on \d cores: \d{5} cycles$", printed, re.MULTILINE)
    assert "gradient: largest error" in printed
    ttrt = [str(Path(sys.executable).parent / "ttrt"), "run", f"{name}.ttnn"]
    subprocess.run(ttrt, cwd=tmp_path, check=True, capture_output=True)


@pytest.mark.parametrize("path", sorted(BRIDGE.glob("*.py")), ids=lambda path: path.name)
def test_example_is_short(path: Path) -> None:
    """An example is read in one go."""
    assert len(path.read_text().splitlines()) < 100


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 2**-8), (ml_dtypes.bfloat16, 2**-6)])
@pytest.mark.parametrize("shape", [(1, 32), (40, 96), (2, 3, 33, 160)])
@pytest.mark.parametrize("grid", [(1,), (2, 4)])
def test_softmax_agrees_with_numpy(
    dtype: Any, tolerance: float, shape: tuple[int, ...], grid: tuple[int, ...]
) -> None:
    """Large numbers of either sign included; each row has the sum 1.

    The matrix unit takes the upper 19 bits of float32: of 60, steps of 1/32.
    """
    kernel = NumPyKernel("softmax", import_module("softmax_program").build_softmax, grid=grid)
    x = (20 * np.random.default_rng(3).standard_normal(shape)).astype(dtype)
    wide = x.astype(np.float64)
    powers = np.exp(wide - wide.max(-1, keepdims=True))
    wanted = powers / powers.sum(-1, keepdims=True)
    result = kernel(x, out_shape=x).astype(np.float64)
    np.testing.assert_allclose(result, wanted, atol=4 * tolerance)
    np.testing.assert_allclose(result.sum(-1), 1, atol=4 * tolerance)


def test_softmax_of_rows_that_are_no_whole_tiles_is_refused() -> None:
    """The padding would count."""
    kernel = NumPyKernel("softmax", import_module("softmax_program").build_softmax)
    x = np.zeros((3, 40), np.float32)
    with pytest.raises(ValueError, match="rows of 40 numbers; softmax takes rows of whole tiles"):
        kernel(x, out_shape=x)

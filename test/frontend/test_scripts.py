"""`compiled.save("model.py")`: scripts that run by themselves, with the numbers of NumPy."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

import ttmlir
from ttmlir.errors import ArgumentError

_GENERATOR = np.random.default_rng(5)
_X = _GENERATOR.normal(size=(33, 70)).astype(np.float32)
_B = _GENERATOR.normal(size=(5,)).astype(np.float32)
_W = _GENERATOR.normal(size=(70, 5)).astype(np.float32)

_PRINT = """
import json, model, ttnn, utils
results = model._main(model.load_inputs_for__main())
host = [ttnn.from_device(each).to(ttnn.ROW_MAJOR_LAYOUT).to_list() for each in results]
utils.DeviceGetter.close()
print(json.dumps(host))
"""


def _model(x, b):
    y = x @ _W + b
    return jnp.tanh(y), y.sum(axis=1)


def _run(script: Path) -> str:
    """What a script prints, in a process of its own that runs elsewhere."""
    done = subprocess.run(
        [sys.executable, "-m", "ttmlir", str(script)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("spelling", ["2024", "2026"])
def test_script_has_numbers_of_numpy(spelling: str, tmp_path: Path) -> None:
    """Arguments and long constants are read from files beside the script."""
    compiled = ttmlir.compile(_model, _X, _B, spelling=spelling)
    assert compiled.save(tmp_path / "model.py") == tmp_path / "model.py"
    assert sorted(each.name for each in tmp_path.rglob("*.npy")) == [
        "arg0.npy",
        "arg1.npy",
        "constant0.npy",
    ]
    # Imported by another script; alone it prints nothing.
    (tmp_path / "show.py").write_text(_PRINT, encoding="utf-8")
    first, second = json.loads(_run(tmp_path / "show.py"))
    y = _X @ _W + _B
    np.testing.assert_allclose(first, np.tanh(y), atol=2e-5)
    np.testing.assert_allclose(np.reshape(second, -1), y.sum(axis=1), atol=2e-4)
    if spelling == "2026":
        assert _run(tmp_path / "model.py") == ""


def test_parameters_are_loaded_to_the_host(tmp_path: Path) -> None:
    """Where today's compiler keeps them; what follows from them is computed once."""
    text = """
        func.func @main(%x: tensor<33x70xf32>, %w: tensor<70x5xf32>
            {ttcore.argument_type = #ttcore.argument_type<parameter>}) -> tensor<33x5xf32> {
          %0 = "ttir.matmul"(%x, %w) : (tensor<33x70xf32>, tensor<70x5xf32>) -> tensor<33x5xf32>
          return %0 : tensor<33x5xf32>
        }
    """
    compiled = ttmlir.compile(text, spelling="2026")
    script = compiled.save(tmp_path / "model.py").read_text(encoding="utf-8")
    assert "compute_once" in script
    assert _run(tmp_path / "model.py") == ""


def test_what_the_library_lacks(tmp_path: Path) -> None:
    """A script that would stop is not written."""
    compiled = ttmlir.compile(lambda x: x[::-1], jnp.asarray(_X), spelling="2026")
    with pytest.raises(ttmlir.CompilationError, match=r"has no function 'ttnn\.rows_gather'"):
        compiled.save(tmp_path / "model.py")
    assert not [*tmp_path.iterdir()]


def test_cpp_is_text(tmp_path: Path) -> None:
    """Not a binary file under that name."""
    compiled = ttmlir.compile(_model, _X, _B)
    path = compiled.save(tmp_path / "model.cpp")
    assert path.read_text(encoding="utf-8") == compiled.text("cpp")


def test_refusals(tmp_path: Path) -> None:
    """What cannot be a script says so, and writes nothing."""
    compiled = ttmlir.compile(_model, _X, _B)
    with pytest.raises(ArgumentError, match="golden results are kept in files"):
        compiled.save(tmp_path / "model.py", golden=True)
    with pytest.raises(ArgumentError, match=r"'my-model\.py' is no name of a script"):
        compiled.save(tmp_path / "my-model.py")
    with pytest.raises(ArgumentError, match="has no option enable-grid-set"):
        ttmlir.compile(_model, _X, _B, options="enable-grid-set=false").save(tmp_path / "m.py")
    kernels = ttmlir.compile(lambda x: x + x, _X[:32, :32], target="kernels")
    with pytest.raises(ArgumentError, match="compile with target='ttnn'"):
        kernels.save(tmp_path / "m.py")
    compiled.save(tmp_path / "model.ttnn")
    with pytest.raises(ArgumentError, match="would be text"):
        ttmlir.load(tmp_path / "model.ttnn").save(tmp_path / "m.py")
    (tmp_path / "utils.py").write_text("mine = 1\n", encoding="utf-8")
    with pytest.raises(ArgumentError, match="is another file"):
        compiled.save(tmp_path / "model.py")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["model.ttnn", "utils.py"]

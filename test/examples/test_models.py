"""The example models train, compile, run, and agree with their frameworks."""

from __future__ import annotations

import runpy
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "models"
SCRIPTS = [path for path in sorted(FOLDER.glob("*.py")) if "__main__" in path.read_text("utf-8")]

pytestmark = pytest.mark.skipif(
    find_spec("sklearn") is None, reason="needs the data set that scikit-learn ships"
)


KERNELS = [FOLDER / "mlp.py", FOLDER / "vit_block.py"]
SMALLEST = {"train_letters": ("--steps", "2", "--layers", "1", "--batch", "2")}
"""Arguments of examples that take long else."""
FEW_STEPS = 20
"""Of training that says nothing of the compiled model; `make test-all` takes all."""
CASES = [
    *(pytest.param(script, SMALLEST.get(script.stem, ()), id=script.stem) for script in SCRIPTS),
    *(
        pytest.param(
            script,
            ("--target", "kernels"),
            id=f"{script.stem} as kernels",
            # A transformer's block is run as kernels by the tests of benchmarks each time, too.
            marks=pytest.mark.exhaustive if script.stem == "vit_block" else (),
        )
        for script in KERNELS
    ),
    pytest.param(
        FOLDER / "gpt_block.py", (), id="gpt_block that has learnt", marks=pytest.mark.exhaustive
    ),
]


def _pieces(pieces: Callable[..., Any], count: int, *rest: int) -> Any:
    return pieces(min(count, FEW_STEPS), *rest)


@pytest.mark.filterwarnings("default")  # as in a process of its own
@pytest.mark.parametrize(("script", "arguments"), CASES)
def test_model_agrees_with_its_framework(
    script: Path,
    arguments: tuple[str, ...],
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """From another folder; exit status 0 says that results agree.

    The frameworks take longer to load than to run a model, so they are not loaded anew each time.
    """
    source = script.read_text(encoding="utf-8")
    pytest.importorskip("torch" if "import torch" in source else "jax")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(script), *arguments])
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    if "that has learnt" not in request.node.name:
        zen = import_module("zen")
        monkeypatch.setattr(zen, "pieces", partial(_pieces, zen.pieces))
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(script), run_name="__main__")
    printed = capsys.readouterr().out
    assert not end.value.code, printed
    assert "correlation" in printed
    assert ("on the chip: " in printed) == ("kernels" in arguments)
    assert len(source.splitlines()) < 80, "an example is one page"


@pytest.mark.filterwarnings("default")
def test_a_model_is_estimated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without training and without running it."""
    pytest.importorskip("torch")
    script = FOLDER / "vit_block.py"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(script), "--estimate", "n150"])
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(script), run_name="__main__")
    printed = capsys.readouterr().out
    assert not end.value.code, printed
    assert printed.startswith("main on n150: ")
    assert "images per second (" in printed


def test_model_runs_as_a_user_calls_it(tmp_path: Path) -> None:
    """In a process of its own."""
    result = subprocess.run(
        [sys.executable, FOLDER / "mlp.py"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "correlation" in result.stdout

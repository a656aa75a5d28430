"""`python -m ttmlir doctor`: what is installed, and what fits."""

from __future__ import annotations

import tomllib
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from ttmlir import doctor
from ttmlir.__main__ import main
from ttmlir.version import TTNN_VERSION, VERSION

_PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    """It begins with this project, and says what is there."""
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"ttmlir {VERSION}, Python 3.")
    assert lines[2] == f"NumPy {np.__version__}"
    assert lines[1].startswith("ttnn ")


def test_command_of_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`ttmlir` is `python -m ttmlir`."""
    project = tomllib.loads(_PROJECT.read_text(encoding="utf-8"))["project"]
    module, _, function = project["scripts"]["ttmlir"].partition(":")
    monkeypatch.setattr("sys.argv", ["ttmlir", "doctor"])
    with pytest.raises(SystemExit) as ended:
        getattr(import_module(module), function)()
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"ttmlir {VERSION}, ")


def test_cards_and_driver(tmp_path: Path) -> None:
    """By the files of the driver."""
    devices, driver = tmp_path / "tenstorrent", tmp_path / "version"
    assert doctor.report(devices, driver).endswith(f"no card: {devices} does not exist or is empty")
    devices.mkdir()
    for name in ("1", "0"):
        (devices / name).touch()
    assert doctor.report(devices, driver).endswith("cards 0, 1; driver of unknown version")
    driver.write_text("2.5.0\n", encoding="utf-8")
    assert doctor.report(devices, driver).endswith("cards 0, 1; driver 2.5.0")


@pytest.mark.parametrize(
    ("installed", "expected"),
    [
        (None, f"ttnn is not installed; scripts run here, and on cards with ttnn {TTNN_VERSION}"),
        (TTNN_VERSION, f"ttnn {TTNN_VERSION}: the version that scripts are written for"),
        ("0.55.0", f"ttnn 0.55.0; scripts are written for {TTNN_VERSION}, and may call what it"),
    ],
)
def test_library(installed: str | None, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another version than that of the scripts is said to be one."""
    monkeypatch.setattr(doctor, "_version", {"ttnn": installed}.get)
    assert doctor.report().splitlines()[1].startswith(expected)

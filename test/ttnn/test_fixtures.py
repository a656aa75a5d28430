"""Tests of users, with the fixtures of tt-metal's own tests, on several boards."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import pytest
import ttnn

OPENED = []

def test_device(device):
    assert device.arch() == ttnn.Arch.WORMHOLE_B0 or device.compute_with_storage_grid_size().x > 8
    OPENED.append(device)
    assert ttnn.ones((1, 1), device=device, layout=ttnn.TILE_LAYOUT).is_allocated()

@pytest.mark.parametrize("device_params", [{"numerics": "exact"}], indirect=True)
@pytest.mark.parametrize("factor", [2, 3])
def test_parameters(device, factor):
    x = ttnn.full((1, 1), 3, ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    OPENED.append(device)
    assert abs((ttnn.reciprocal(x) * factor).array.item() - factor / 3) < 1e-6

@pytest.mark.parametrize("mesh_device", [2, (2, 4)], indirect=True)
def test_mesh(mesh_device):
    assert mesh_device.get_num_devices() in (2, 8)
    OPENED.append(mesh_device)

def test_all_chips(mesh_device):
    OPENED.append(mesh_device)

def test_all_are_closed():
    assert not [each for each in OPENED if each.is_open]
"""


def _run(folder: Path, *arguments: str) -> str:
    """What pytest prints about the tests."""
    (folder / "test_users.py").write_text(TESTS, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "-p", "no:xdist"]
    done = subprocess.run(
        [*command, "-p", "ttmlir.ttnn.fixtures", "-rs", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def test_boards(tmp_path: Path) -> None:
    """Each test runs on each board; one that asks for more chips than there are is skipped."""
    printed = _run(tmp_path, "--board", "p150", "--board", "t3000")
    found = dict(re.findall(r"::(\S+) (PASSED|SKIPPED|FAILED|ERROR)", printed))
    assert {name for name, end in found.items() if end == "SKIPPED"} == {
        "test_mesh[p150-2]",
        "test_mesh[p150-mesh_device1]",
    }
    assert "p150 has 1 chip, and the mesh 8 devices" in printed
    assert sum(end == "PASSED" for end in found.values()) == len(found) - 2 == 11


@pytest.mark.exhaustive
def test_the_board_without_asking_and_wrong_ones(tmp_path: Path) -> None:
    """One of Wormhole; other names are refused before tests run."""
    assert "test_device[n150] PASSED" in _run(tmp_path, "-k", "test_device")
    refused = _run(tmp_path, "--board", "n15")
    assert "argument --board: invalid choice: 'n15'" in refused

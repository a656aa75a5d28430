"""Reports in ttnn-visualizer and tt-perf-report as they are: `make viewers-test`.

Not collected with the other tests: each of both has a Python of its own, below `VIEWERS`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttmlir

_VIEWERS = Path(os.environ["VIEWERS"]).resolve()
_CLIENT = Path(__file__).with_name("visualizer_client.py")


@pytest.fixture(scope="module")
def perf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `ttrt perf --device` leaves for tanh(x) + x of 640x1024 numbers."""
    folder = tmp_path_factory.mktemp("perf")
    x = np.ones((640, 1024), np.float32)
    file = ttmlir.compile(_model, x, board="p150").save(folder / "model.ttnn")
    options = ["--device", "--board", "p150", "--artifact-dir", str(folder / "out")]
    subprocess.run([sys.executable, "-m", "ttrt", "perf", *options, str(file)], check=True)
    return folder / "out" / "model.ttnn" / "perf"


def _model(x: Any) -> Any:
    import jax.numpy as jnp

    return jnp.tanh(x) + x


def test_visualizer_shows_operations_tensors_and_buffers(perf: Path, tmp_path: Path) -> None:
    """With the shapes, the lines, and the memory of a p150."""
    routes = ("operations", "tensors", "buffers", "operation-buffers", "devices", "report-metadata")
    python = _VIEWERS / "visualizer" / "bin" / "python"
    data = {"APP_DATA_DIRECTORY": str(tmp_path), "REPORT_DATA_DIRECTORY": str(tmp_path)}
    done = subprocess.run(
        [str(python), str(_CLIENT), str(perf / "report_0_main"), *routes],
        capture_output=True, text=True, check=False, env={**os.environ, **data},
    )  # fmt: skip
    [line] = [each for each in done.stdout.splitlines() if each.startswith("answers:")]
    answers: dict[str, Any] = json.loads(line.removeprefix("answers:"))
    assert {each["status"] for each in answers.values()} == {200}
    found = {route: each["content"] for route, each in answers.items()}
    operations = {each["name"]: each for each in found["operations"]}
    assert {"ttnn.tanh", "ttnn.add"} <= set(operations)
    assert 'viewers.py", line' in operations["ttnn.tanh"]["stack_trace"]
    assert operations["ttnn.add"]["duration"] > 0
    shapes = {each["shape"] for each in found["tensors"]}
    assert shapes == {"Shape([640, 1024])"}
    [device] = found["devices"]
    assert (device["num_y_cores"], device["num_x_cores"]) == (10, 11)
    # Which buffers live during an operation is what its plot of memory shows.
    plotted = {each["name"]: each["buffers"] for each in found["operation-buffers"]}
    assert len(plotted["ttnn.add"]) >= 2
    assert all(each["size"] > 0 for each in plotted["ttnn.add"])
    live = [len(each["buffers"]) for each in found["operation-buffers"]]
    assert len(found["buffers"]) == sum(live)
    assert found["report-metadata"]["schema_version"] == "3.5"


def test_perf_report_reads_the_table(perf: Path) -> None:
    """With a row for each operation of the device."""
    tool = _VIEWERS / "perf" / "bin" / "tt-perf-report"
    done = subprocess.run(
        [str(tool), "--no-color", str(perf / "ops_perf_results.csv")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "UnaryDeviceOperation" in done.stdout
    assert "BinaryNgDeviceOperation" in done.stdout

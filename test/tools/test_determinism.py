"""The same input gives the same bytes, in every process and whatever the hash seed is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

MODELS = sorted((Path(__file__).resolve().parents[1] / "models").glob("*.mlir"))
TOOL = "import sys; from ttmlir.tools.{module} import main; sys.exit(main(sys.argv[1:]))"


def run(module: str, arguments: list[str], data: bytes, seed: str) -> bytes:
    """What a tool writes in a fresh process with this hash seed."""
    finished = subprocess.run(
        [sys.executable, "-c", TOOL.format(module=module), *arguments],
        input=data,
        capture_output=True,
        env={**os.environ, "PYTHONHASHSEED": seed},
        check=True,
    )
    return finished.stdout


def compiled(path: Path, seed: str) -> tuple[bytes, bytes, bytes]:
    """The TTNN module, the binary and the C++ of a model."""
    source = path.read_bytes()
    frontends = ("stablehlo", "tosa", "linalg")
    frontend = next((each for each in frontends if f"{each}.".encode() in source), None)
    road = "ttir-to-ttnn-backend" if frontend is None else f"{frontend}-to-ttnn"
    ttnn = run("ttmlir_opt", [f"--{road}-pipeline", "--canonicalize", "--cse"], source, seed)
    emitc = run("ttmlir_opt", ["--convert-ttnn-to-emitc"], ttnn, seed)
    return (
        ttnn,
        run("ttmlir_translate", ["--ttnn-to-flatbuffer"], ttnn, seed),
        run("ttmlir_translate", ["--mlir-to-cpp"], emitc, seed),
    )


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_two_processes_write_the_same_bytes(path: Path) -> None:
    """Nothing depends on the order of a set or on where an object lies in memory."""
    assert compiled(path, "1") == compiled(path, "2")

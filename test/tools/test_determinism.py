"""The same input gives the same bytes, in every process and whatever the hash seed is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

MODELS = sorted((Path(__file__).resolve().parents[1] / "models").glob("*.mlir"))
PROGRAM = """
import json, sys
from importlib import import_module
for tool, *arguments in json.load(sys.stdin):
    assert import_module(f"ttmlir.tools.{tool}").main(arguments) == 0, arguments
"""
"""Runs command lines of the tools one after another."""
SUFFIXES = (".mlir", ".ttnn", ".cpp")


def command_lines(path: Path) -> list[list[str]]:
    """How the TTNN module, the binary and the C++ of a model are made in the current folder."""
    source = path.read_text()
    frontends = ("stablehlo", "tosa", "linalg")
    frontend = next((each for each in frontends if f"{each}." in source), None)
    road = "ttir-to-ttnn-backend" if frontend is None else f"{frontend}-to-ttnn"
    ttnn, binary, cpp = (path.stem + suffix for suffix in SUFFIXES)
    emitc = f"{path.stem}.emitc"
    return [
        ["ttmlir_opt", f"--{road}-pipeline", "--canonicalize", "--cse", str(path), "-o", ttnn],
        ["ttmlir_opt", "--convert-ttnn-to-emitc", ttnn, "-o", emitc],
        ["ttmlir_translate", "--ttnn-to-flatbuffer", ttnn, "-o", binary],
        ["ttmlir_translate", "--mlir-to-cpp", emitc, "-o", cpp],
    ]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Folders that two processes wrote, with hash seeds and an order of models of their own."""
    folders = (tmp_path_factory.mktemp("forward"), tmp_path_factory.mktemp("backward"))
    for seed, folder, paths in zip("12", folders, (MODELS, MODELS[::-1]), strict=True):
        commands = [command for path in paths for command in command_lines(path)]
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            input=json.dumps(commands),
            text=True,
            cwd=folder,
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
        )
    return folders


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_two_processes_write_the_same_bytes(path: Path, outputs: tuple[Path, Path]) -> None:
    """Nothing depends on the order of a set, on where an object lies or on what came before."""
    for suffix in SUFFIXES:
        once, again = ((folder / f"{path.stem}{suffix}").read_bytes() for folder in outputs)
        assert once == again
        assert once

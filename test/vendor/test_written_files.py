"""Modules of Tenstorrent's compiler become the files that it makes of them, field by field.

A quick run takes every 24th program, `make test-all` all of them. What cannot be equal is the hash
of functions whose results are remembered: the compiler does not show what it is taken of.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from answers import Archive
from judging import as_in_files, assert_agrees, run_text
from stablehlo_programs import inputs

from ttmlir.dialects import DIALECTS
from ttmlir.mlir.context import make_context
from ttmlir.mlir.reader import parse_module
from ttmlir.runtime.loading import read_binary
from ttmlir.runtime.session import submit, to_host
from ttmlir.runtime.tensor import open_device
from ttmlir.runtime.ttrt.running import fit_inputs
from ttmlir.schema.versions import LATER_SCHEMAS, load
from ttmlir.target.flatbuffer.ttnn import ttnn_to_flatbuffer

ARCHIVES = {board: Archive(board) for board in ("p150", "n150")}
GROUPS = 48
"""So many tests share the programs of an archive."""
QUICK = 2
ROOT = Path(__file__).parents[2]
FLATC = shutil.which("flatc")
MACHINE_CODE = {"einsum-f32-5x33", "unary_einsum-f32-5x33"}
"""Programs with functions of the host as machine code, whose text is of another dialect."""


@cache
def _names(board: str) -> list[str]:
    archive = ARCHIVES[board]
    return [
        name
        for name in archive.names()
        if archive[name].binary is not None and name not in MACHINE_CODE
    ]


def _group(board: str, number: int) -> list[str]:
    return _names(board)[number::GROUPS]


def _written(board: str, name: str) -> bytes:
    text = ARCHIVES[board][name].ttnn_runtime
    assert text is not None
    return ttnn_to_flatbuffer(parse_module(text, f"{name}.mlir", make_context(DIALECTS)))


def _without_hashes(value: Any, hashes: list[str]) -> Any:
    """A table whose hashes of functions are in a list instead."""
    match value:
        case dict():
            table: dict[str, Any] = {**value}
            if "program_hash" in table:
                hashes.append(table.pop("program_hash"))
            return {key: _without_hashes(each, hashes) for key, each in table.items()}
        case list():
            vector: list[Any] = [*value]
            return [_without_hashes(each, hashes) for each in vector]
        case _:
            return value


def fields_of(data: bytes, hashes: list[str]) -> Any:
    """Every field that the file holds; hashes of functions go into a list."""
    return _without_hashes(load(data, "file.ttnn").root.as_dict(defaults=False), hashes)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("board", "number"),
    [
        (board, n) if n < QUICK else pytest.param(board, n, marks=pytest.mark.exhaustive)
        for board in ARCHIVES
        for n in range(GROUPS)
    ],
)
def test_every_field_is_the_same(board: str, number: int) -> None:
    """Those that are there, and no others; equal functions have equal hashes, others do not."""
    ours: list[str] = []
    theirs: list[str] = []
    for name in _group(board, number):
        data = ARCHIVES[board][name].binary
        assert data is not None
        assert fields_of(_written(board, name), ours) == fields_of(data, theirs), name
    pairs = {*zip(ours, theirs, strict=True)}
    assert len(pairs) == len({*ours}) == len({*theirs})


@pytest.mark.skipif(FLATC is None, reason="flatc is not installed")
def test_flatc_reads_the_same(tmp_path: Path) -> None:
    """The JSON that Google's compiler for flatbuffers makes of both.

    It has no vectors of unions; no program of the corpus has the only one.
    """
    shutil.copytree(ROOT / "schema", tmp_path / "schema")
    operations = tmp_path / "schema" / "2026" / "TTNN" / "operations.fbs"
    text = operations.read_text()
    plain = "additional_args_type: [ubyte]; additional_args: [ubyte];"
    operations.write_text(text.replace("additional_args: [ArgRef];", plain))
    names = _group("p150", 0)
    for name in names:
        (tmp_path / f"ours_{name}.ttnn").write_bytes(_written("p150", name))
        (tmp_path / f"theirs_{name}.ttnn").write_bytes(ARCHIVES["p150"][name].binary or b"")
    options = "--json --strict-json --raw-binary --size-prefixed --defaults-json".split()
    files = [str(path) for path in sorted(tmp_path.glob("*.ttnn"))]
    command = [str(FLATC), *options, "-o", str(tmp_path), f"schema/{LATER_SCHEMAS[-1].path}", "--"]
    subprocess.run([*command, *files], check=True, cwd=tmp_path)
    for name in names:
        ours, theirs = (
            re.sub(r'"program_hash": "\w+"', "", (tmp_path / f"{who}_{name}.json").read_text())
            for who in ("ours", "theirs")
        )
        assert ours == theirs, name
        assert '"operations": [' in ours


@pytest.mark.parametrize("name", ["mlp-f32-33x64", "while-f32-5x7", "fori-f32-33x70-dynamic"])
def test_what_is_written_runs(name: str) -> None:
    """With the results of JAX."""
    arrays = inputs(name)
    binary = read_binary(_written("p150", name), f"{name}.ttnn")
    given = fit_inputs(binary.programs[0], [np.asarray(as_in_files(each)) for each in arrays])
    got = [to_host(each).to_numpy() for each in submit(open_device(), binary, 0, given)]
    wanted = run_text(ARCHIVES["p150"][name].given, arrays)
    assert wanted is not None
    for ours, theirs in zip(got, wanted, strict=True):
        assert_agrees(ours, theirs)

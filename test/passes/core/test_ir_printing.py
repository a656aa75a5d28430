"""`--mlir-print-ir-tree-dir`: files named after what stands in the input."""

from __future__ import annotations

from pathlib import Path

import pytest

from ttmlir.tools.ttmlir_opt import main


@pytest.mark.parametrize(
    "name", ["../../../escaped", "/escaped", "\\00", "a/b", "..", "x" * 300, "\\0A"]
)
def test_names_of_operations_are_no_paths(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A module and a function of any name get folders inside of the one that was given."""
    monkeypatch.chdir(tmp_path)
    source, tree = tmp_path / "in.mlir", tmp_path / "1" / "2" / "tree"
    source.write_text(f'module @"{name}" {{ func.func @"{name}"() {{ return }} }}')
    arguments = ["--cse", "--mlir-print-ir-after-all", f"--mlir-print-ir-tree-dir={tree}"]
    assert main([str(source), *arguments, "-o", str(tmp_path / "out.mlir")]) == 0
    [dump] = [path for path in tmp_path.rglob("*.mlir") if path.parent != tmp_path]
    module, file = dump.relative_to(tree).parts
    assert module.startswith("builtin_module_")
    assert file == "0_cse.mlir"


def test_names_that_differ_have_different_folders(tmp_path: Path) -> None:
    """Modules whose names differ in what no file name holds do not share a folder."""
    source = tmp_path / "in.mlir"
    source.write_text('module @"a/b" {}\nmodule @"a:b" {}\nmodule @a_b {}\n')
    tree = tmp_path / "tree"
    pipeline = "--pass-pipeline=builtin.module(builtin.module(cse))"
    flags = [pipeline, "--mlir-print-ir-after-all", f"--mlir-print-ir-tree-dir={tree}"]
    assert main([str(source), *flags, "-o", str(tmp_path / "out.mlir")]) == 0
    assert len(list(tree.rglob("*.mlir"))) == 3

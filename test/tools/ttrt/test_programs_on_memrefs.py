"""`ttrt` on `.ttm` files of programs on memrefs."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
from samples.metal_examples import EXAMPLES

from ttmlir.compiler import transform, write_ttm
from ttmlir.mlir.module_printer import print_module
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.target.flatbuffer.tensors import Golden
from ttmlir.tools.ttmlir_translate import main as translate
from ttmlir.tools.ttrt import main

Capture = pytest.CaptureFixture[str]
INPUTS = EXAMPLES["streamed_add"]().inputs()


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a program that adds, written by the tool from the module's text."""
    folder = tmp_path_factory.mktemp("written")
    source, target = folder / "add.mlir", folder / "add.ttm"
    source.write_text(print_module(EXAMPLES["streamed_add"]().module))
    assert translate(["--ttmetal-to-flatbuffer", str(source), "-o", str(target)]) == 0
    return target.read_bytes()


@pytest.fixture(autouse=True)
def workspace(written: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test runs in an empty folder with the file `add.ttm` and its inputs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TTRT_LOGGER_LEVEL", raising=False)
    monkeypatch.delenv("LOGGER_LEVEL", raising=False)
    Path("add.ttm").write_bytes(written)
    np.savez("inputs.npz", input_0=INPUTS[0], input_1=INPUTS[1])
    return tmp_path


def test_run_compares_with_the_references_of_the_file(capsys: Capture) -> None:
    """Outputs are NumPy's, and the golden report names the operation."""
    options = ("--inputs", "inputs.npz", "--outputs", "z.npy", "--golden")
    assert main(["run", *options, "add.ttm"]) == 0
    # Sums of two multiples of 1/128 below 2 have at most 9 bits, of which bf16 holds 8.
    np.testing.assert_allclose(np.load("z.npy").astype(np.float32), sum(INPUTS), atol=2**-7)
    printed = capsys.readouterr()
    assert "golden ok  operation 8 ttir.add" in printed.out + printed.err


def test_a_wrong_result_fails_the_comparison(capsys: Capture) -> None:
    """A kernel that subtracts where the reference adds."""
    text = print_module(EXAMPLES["streamed_add"]().module)
    changed = text.replace("ttkernel.add_tiles", "ttkernel.sub_tiles")
    assert changed != text
    Path("sub.mlir").write_text(changed)
    assert translate(["--ttmetal-to-flatbuffer", "sub.mlir", "-o", "sub.ttm"]) == 0
    assert main(["run", "--inputs", "inputs.npz", "--golden", "sub.ttm"]) == 42
    printed = capsys.readouterr()
    assert "golden OFF operation 8 ttir.add" in printed.out + printed.err


def test_check_and_read(capsys: Capture) -> None:
    """The file fits the default system; its kernels and its module can be shown."""
    assert main(["query", "--save-artifacts"]) == 0
    assert main(["check", "add.ttm"]) == 0
    capsys.readouterr()
    assert main(["read", "--section", "cpp", "add.ttm"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("void kernel_main() {") == 3
    assert "add_tiles(" in shown
    assert main(["read", "--section", "inputs", "add.ttm"]) == 0
    (tensor, _) = json.loads(capsys.readouterr().out)["main"]
    assert tensor["desc"]["shape"] == [3, 50, 100]
    assert tensor["desc"]["layout"]["stride"] == [8192, 128, 1]


def test_perf_names_the_program(capsys: Capture) -> None:
    """One program of kernels on eight cores, with its fidelity."""
    assert main(["perf", "add.ttm"]) == 0
    (path,) = Path("ttrt-artifacts").rglob("ops_perf_results.csv")
    (row,) = csv.DictReader(path.read_text().splitlines())
    assert row["MATH FIDELITY"] == "HiFi4"
    assert row["CORE COUNT"] == "8"
    assert row["SHARE [%]"] == "100.00"
    # 3x2x4 tiles of 2048 bytes are read from each of two tensors and written to a third.
    assert row["DRAM BYTES"] == str(3 * 24 * 2048)
    printed = capsys.readouterr().out
    assert re.search(
        r"^main 8 add +[\d,]+ +100\.0% +147,456  \w+ +add\.mlir:\d+:\d+$", printed, re.M
    )


def test_results_of_a_framework_in_the_file(capsys: Capture) -> None:
    """Right ones pass, others are told apart, and those of other shapes are refused."""
    module, total = EXAMPLES["streamed_add"]().module, sum(INPUTS)
    transform(module, "ttir-load-system-desc")
    for name, expected in (("right", total), ("wrong", INPUTS[0])):
        golden = Golden(inputs=INPUTS, outputs=[expected])
        Path(f"{name}.ttm").write_bytes(write_ttm(module, golden=golden))
    assert main(["run", "--golden", "right.ttm"]) == 0
    assert "golden ok  output 0: pcc 1.000000" in "".join(capsys.readouterr())
    assert main(["run", "--golden", "wrong.ttm"]) == 42
    assert "golden OFF output 0: pcc 0.7" in "".join(capsys.readouterr())
    with pytest.raises(DiagnosticError, match=r"golden outputs have the shapes \[\(100, 50, 3\)\]"):
        write_ttm(module, golden=Golden(inputs=INPUTS, outputs=[total.T]))

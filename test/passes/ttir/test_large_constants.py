"""Constants pass from a text to results without lists and with few copies."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from large_constants import expected, measure, measure_framework, write_text

import ttmlir
from ttmlir.compiler import lower, parse, read_source, transform, write_ttnn
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.runtime import read_binary

MEBIBYTES = 32
BASE_MEBIBYTES = 130
"""What the programs take without constants, and some room."""
ROOM_OF_FRAMEWORKS = 200
"""What the frameworks load for compiling, and the compiler itself."""

linux = pytest.mark.skipif(sys.platform != "linux", reason="peaks are read from /proc")


@pytest.mark.sampled(every=2)
@linux
@pytest.mark.parametrize("form", ["hex", "resource", "splat"])
def test_memory(form: str, tmp_path: Path) -> None:
    """A process holds each constant at most three times, and numbers are right."""
    path = tmp_path / "constants.mlir"
    shape = write_text(path, MEBIBYTES, form)
    for step in ("compile", "run") if form != "hex" else ("in one",):
        peak, _ = measure(step, path, shape)
        assert peak <= 3 * MEBIBYTES + BASE_MEBIBYTES, (step, peak)
    result = np.load(f"{path}.npy")
    np.testing.assert_allclose(result, expected(shape, form), rtol=1e-5, atol=1e-5)


@pytest.mark.sampled(every=2)
@linux
@pytest.mark.parametrize(("framework", "copies"), [("torch", 1.5), ("JAX", 2.5)])
def test_memory_of_frameworks(framework: str, copies: float) -> None:
    """Weights of torch are copied once, into the file; those of JAX once more, by JAX."""
    added, _ = measure_framework(framework, 128)
    assert added <= copies * 128 + ROOM_OF_FRAMEWORKS, added


def test_files_do_not_repeat_constants(tmp_path: Path) -> None:
    """The text in a file leaves large constants out; small ones are there for people."""
    path = tmp_path / "constants.mlir"
    for form in ("hex", "resource"):
        write_text(path, 1, form)
        data = write_ttnn(lower(read_source(str(path))))
        assert len(data) < (1 << 20) + 50_000
        [program] = read_binary(data, "constants.ttnn").programs
        text = dict(program.debug_sources())["ttnn"]
        assert len(text) < 30_000
        assert "dense_resource<" in text


def test_read_shows_the_sizes_of_long_vectors(tmp_path: Path) -> None:
    """`ttrt read` prints no million numbers."""
    path = tmp_path / "constants.mlir"
    write_text(path, 1, "hex")
    (tmp_path / "a.ttnn").write_bytes(write_ttnn(lower(read_source(str(path)))))
    command = [sys.executable, "-m", "ttmlir.tools.ttrt", "read", "--section", "all", "a.ttnn"]
    shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert '"constant_data": "<262144 bytes>"' in shown.stdout


RESOURCE = """
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = stablehlo.constant dense_resource<r> : tensor<2x3xf32>
  %0 = stablehlo.subtract %x, %c : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
{-#
  dialect_resources: {
    builtin: {
      r: "0x04000000HEX"
    }
  }
#-}
"""
CODE = """
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = "ttir.constant"() <{value = dense_resource<r> : tensor<2x3xf32>}> : () -> tensor<2x3xf32>
  %0 = "ttir.subtract"(%x, %c) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
"""
WEIGHTS = np.array([[1, 2, -3], [0.5, 4, -5]], np.float32)


@pytest.mark.parametrize(
    "options",
    [{"spelling": "2024"}, {"spelling": "2026"}, {"target": "kernels"}],
    ids=lambda options: next(iter(options.values())),
)
def test_small_resources(options: dict[str, Any]) -> None:
    """They are constants as others are, in programs and in what people read of these."""
    compiled = ttmlir.compile(RESOURCE.replace("HEX", WEIGHTS.tobytes().hex()), **options)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(compiled(x), x - WEIGHTS)


@pytest.mark.parametrize("target", ["emitc", "emitpy"])
def test_resources_in_code(target: str) -> None:
    """Code has their elements; a resource of another size is refused at the constant."""
    _, tail = RESOURCE.split("{-#")
    text = CODE + "{-#" + tail
    module = parse(text.replace("HEX", WEIGHTS.tobytes().hex()))
    transform(module, f"ttir-to-{target}-pipeline")
    assert "-3.0" in str(module)
    damaged = parse(text.replace("HEX", WEIGHTS.tobytes().hex()[:-8]))
    with pytest.raises(DiagnosticError, match="the resource 'r' has 20 bytes instead of 24"):
        transform(damaged, f"ttir-to-{target}-pipeline")

"""From text to files in one call: messages name the text, the pipeline may be another one."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest

from ttmlir import compiler
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.runtime import read_binary

BROKEN = "func.func @forward(%x: tensor<33x70xf32>) {\n  return %y : tensor<33x70xf32>\n}"
CALLS = [compiler.parse, compiler.lower, compiler.compile_to_ttnn]
CALLS += [compiler.compile_to_ttm, compiler.compile_to_cpp]


@pytest.mark.parametrize("call", CALLS, ids=lambda each: each.__name__)
def test_messages_have_the_name_of_the_text(call: Callable[..., Any]) -> None:
    """The one that is given, or `<text>`; the garbage collector is on again."""
    for named, name in (({}, "<text>"), ({"file_name": "model.mlir"}, "model.mlir")):
        with pytest.raises(DiagnosticError) as caught:
            call(BROKEN, **named)
        assert str(caught.value).startswith(f"{name}:2:10: error: ")
        assert gc.isenabled()


def test_other_pipelines() -> None:
    """Passes by name, none at all, and names that there are not."""
    exp = """func.func @forward(%x: tensor<33x70xf32>) -> tensor<33x70xf32> {
      %0 = tensor.empty() : tensor<33x70xf32>
      %1 = stablehlo.exponential %x : tensor<33x70xf32>
      return %1 : tensor<33x70xf32>
    }"""
    untouched = compiler.lower(exp, "")
    assert [op.name for op in untouched.walk()].count("stablehlo.exponential") == 1
    lowered = compiler.lower(exp, "convert-stablehlo-to-ttir{spelling=2024}")
    assert [op.name for op in lowered.walk()].count("ttir.exp") == 1
    pipeline = f"stablehlo-to-ttir-pipeline{{spelling=2024}},{compiler.TTNN_PIPELINE}"
    binary = read_binary(compiler.compile_to_ttnn(exp, pipeline), "exp.ttnn")
    assert [program.name for program in binary.programs] == ["forward"]
    assert "ttnn::exp" in compiler.compile_to_cpp(exp, pipeline)
    assert compiler.TTNN_PIPELINE == "ttir-to-ttnn-backend-pipeline"
    assert compiler.TTMETAL_PIPELINE == "ttir-to-ttmetal-backend-pipeline"


def test_the_garbage_collector_stays_off_if_it_was() -> None:
    """As whoever calls has set it."""
    gc.disable()
    try:
        compiler.parse("module {}")
        assert not gc.isenabled()
    finally:
        gc.enable()

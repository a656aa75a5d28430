"""What compiling in one call says of a text: by the name of its file, and as the tools do."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ttmlir.collector import freed_afterwards, without_collections
from ttmlir.compiler import (
    TTMETAL_PIPELINE,
    compile_to_cpp,
    compile_to_ttm,
    compile_to_ttnn,
    lower,
    parse,
    read_source,
    transform,
    write_cpp,
    write_ttm,
    write_ttnn,
)
from ttmlir.errors import FileError
from ttmlir.mlir.reporting import DiagnosticError

CALLS: list[Callable[..., Any]] = [parse, lower, compile_to_ttnn, compile_to_ttm, compile_to_cpp]
NEG = """func.func @main(%a: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = tensor.empty() : tensor<3x5xf32>
  %1 = "ttir.neg"(%a, %0) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#c, #c]}>
    : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  return %1 : tensor<3x5xf32>
}
#c = #tt.operand_constraint<any_device_tile>
"""


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_errors_name_the_file_and_the_place(call: Callable[..., Any]) -> None:
    """The name that is given, or one that says that there is none."""
    text = "func.func @f() {\n  wrong\n}"
    for options, name in (({"file_name": "model.mlir"}, "model.mlir"), ({}, "<text>")):
        with pytest.raises(DiagnosticError) as error:
            call(text, **options)
        assert str(error.value).startswith(f"{name}:2:3: error: ")


@pytest.mark.parametrize("call", CALLS[1:], ids=lambda call: call.__name__)
def test_errors_of_passes_are_those_of_the_input(call: Callable[..., Any]) -> None:
    """A pass that refuses an operation says where it stands."""
    text = 'func.func @f() {\n  "ttir.dealloc"() : () -> ()\n return }'
    with pytest.raises(DiagnosticError, match=r"^m\.mlir:2:3: error: 'ttir.dealloc' op "):
        call(text, file_name="m.mlir")


def test_mistakes_of_passes_are_shown_with_their_reason() -> None:
    """From Python, too, a pass that crashes says why and at what."""
    with pytest.raises(
        DiagnosticError, match=r"in pass 'test-pass-crash' on 'builtin\.module': Zero"
    ) as e:
        transform(parse(NEG), "test-pass-crash")
    assert "this is a mistake in ttmlir" in str(e.value)


def test_one_call_is_the_calls_in_a_row() -> None:
    """Same bytes, by the default pipelines or by ones that are named."""
    lowered = lower(NEG)
    assert compile_to_ttnn(NEG) == write_ttnn(lowered)
    assert compile_to_cpp(NEG) == write_cpp(lowered)
    assert "ttnn::neg" in write_cpp(lowered)
    assert compile_to_ttm(NEG) == write_ttm(lower(NEG, TTMETAL_PIPELINE))
    module = parse(NEG)
    transform(module, "")
    assert [op.name for op in module.walk()].count("ttir.neg") == 1
    transform(module, "ttir-layout")
    assert "ttir.to_layout" in {op.name for op in module.walk()}


def test_collections_go_on_as_they_were() -> None:
    """Also after an error."""
    assert gc.isenabled()
    parse(NEG)
    assert gc.isenabled()
    with pytest.raises(DiagnosticError):
        parse("wrong")
    assert gc.isenabled()
    gc.disable()
    try:
        parse(NEG)
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_sources_are_read_from_files(tmp_path: Path) -> None:
    """One that is not there is told by its name."""
    path = tmp_path / "neg.mlir"
    path.write_text(NEG)
    assert compile_to_ttnn(read_source(str(path))) == compile_to_ttnn(NEG)
    with pytest.raises(FileError, match=r"none\.mlir"):
        read_source(str(tmp_path / "none.mlir"))


def test_what_work_leaves_is_freed() -> None:
    """What is used stays."""

    class Itself:
        def __init__(self) -> None:
            self.me = self

    with without_collections():
        with freed_afterwards():
            made = [Itself() for _ in range(110_000)]
            kept, lost = made[3], weakref.ref(made[4])
            del made
    assert (lost(), kept.me) == (None, kept)

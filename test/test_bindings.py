"""MLIR's Python classes, by the names that scripts of tt-mlir import."""

from pathlib import Path

import pytest

from ttmlir import ir
from ttmlir.bindings import (
    ArrayAttr,
    Attribute,
    Context,
    DenseArrayAttr,
    IntegerAttr,
    Location,
    MLIRError,
    Module,
    Operation,
    PassManager,
    RankedTensorType,
    StringAttr,
    Type,
    WalkOrder,
    WalkResult,
)
from ttmlir.passes import ttir_to_ttnn_backend_pipeline, ttnn_to_flatbuffer_file
from ttmlir.passmanager import PassManager as NamedByScripts

TEXT = """module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>} {
  func.func @main(%x: tensor<3x5xf32>) -> tensor<5x3xf32> {
    %0 = "ttir.permute"(%x) <{permutation = array<i64: 1, 0>}>
        : (tensor<3x5xf32>) -> tensor<5x3xf32>
    %1 = "ttir.softmax"(%0) <{dimension = 1 : si32, numericStable = true}> {note = "a"}
        : (tensor<5x3xf32>) -> tensor<5x3xf32>
    return %1 : tensor<5x3xf32>
  }
}
"""


def test_scripts_find_the_names() -> None:
    """Where MLIR has them."""
    assert ir.Module is Module
    assert NamedByScripts is PassManager
    names: dict[str, object] = {}
    exec("from ttmlir.ir import *", names)
    assert names["Context"] is Context


def test_a_program_is_read_and_walked() -> None:
    """Operations, values, types and attributes of a text."""
    with Context() as context, Location.unknown():
        module = Module.parse(TEXT, context)
        assert Context.current_or_new() is context
    names: list[str] = []
    module.operation.walk(lambda op: names.append(str(op.name)))
    assert names == ["ttir.permute", "ttir.softmax", "func.return", "func.func", "builtin.module"]
    function = module.body.operations[0]
    assert function.attributes["sym_name"] == StringAttr.get("main")
    (block,) = function.regions[0]
    permute, softmax, end = block
    permutation, dimension = permute.attributes["permutation"], softmax.attributes["dimension"]
    assert isinstance(permutation, DenseArrayAttr)
    assert [*permutation] == [1, 0]
    assert isinstance(dimension, IntegerAttr)
    assert dimension.value == 1
    assert softmax.attributes["numericStable"] == Attribute.parse("true")
    assert softmax.attributes["note"] == StringAttr.get("a")
    assert {*softmax.attributes} == {"dimension", "numericStable", "note"}
    assert softmax.operands[0] == permute.result
    assert softmax.operands[0].owner == permute
    assert [use.operand_number for use in softmax.result.uses] == [0]
    assert next(iter(softmax.result.uses)).owner == end
    assert block.arguments[0].get_name() == "%arg0"
    assert softmax.result.get_name() == "%1"
    type_ = softmax.result.type
    assert isinstance(type_, RankedTensorType)
    assert (type_.shape, str(type_.element_type), type_.encoding) == ([5, 3], "f32", None)
    assert str(softmax.location) == 'loc("-":5:10)'
    assert softmax.parent == function


def test_walks_begin_at_the_top_and_end_early() -> None:
    """As the function says."""
    names: list[str] = []

    def visit(op: Operation) -> WalkResult:
        names.append(str(op.name))
        return WalkResult.SKIP if op.name == "func.func" else WalkResult.ADVANCE

    Module.parse(TEXT).operation.walk(visit, WalkOrder.PRE_ORDER)
    assert names == ["builtin.module", "func.func"]
    names.clear()
    Module.parse(TEXT).operation.walk(lambda op: names.append(str(op.name)) or WalkResult.INTERRUPT)
    assert names == ["ttir.permute"]


def test_attributes_are_read_and_changed() -> None:
    """Texts of attributes and types; entries of operations."""
    assert str(Attribute.parse("#ttcore.reduce_type<sum>")) == "#ttcore.reduce_type<sum>"
    assert str(Type.parse("tensor<3x!ttcore.tile<32x32, bf16>>")) == (
        "tensor<3x!ttcore.tile<32x32, bf16>>"
    )
    numbers = Attribute.parse("[1 : i32, 2.5 : f32]")
    assert isinstance(numbers, ArrayAttr)
    assert [*map(str, numbers)] == ["1 : i32", "2.500000e+00 : f32"]
    with pytest.raises(MLIRError, match="unknown attribute `summ` in dialect `ttcore`"):
        Attribute.parse("#ttcore.summ<1>")
    module = Module.parse(TEXT)
    _, softmax, _ = module.body.operations[0].regions[0].blocks[0].operations
    softmax.attributes["note"] = StringAttr.get("b")
    softmax.attributes["dimension"] = Attribute.parse("0 : si32")
    assert '<{dimension = 0 : si32, numericStable = true}> {note = "b"}' in str(softmax)
    del softmax.attributes["note"]
    assert "note" not in softmax.attributes
    assert module.operation.verify()
    softmax.attributes["dimension"] = Attribute.parse("7 : si32")
    with pytest.raises(MLIRError, match="Dimension attribute must be within the bounds"):
        module.operation.verify()


def test_passes_run_and_files_are_written(tmp_path: Path) -> None:
    """By the pass manager, and by tt-mlir's functions."""
    module = Module.parse(TEXT)
    manager = PassManager.parse("builtin.module(canonicalize,ttir-implicit-broadcast-fold)")
    manager.add("cse")
    assert str(manager) == "builtin.module(canonicalize,ttir-implicit-broadcast-fold,cse)"
    manager.run(module.operation)
    ttir_to_ttnn_backend_pipeline(module, "system-desc-path=p150")
    assert '"ttnn.softmax"' in str(module)
    ttnn_to_flatbuffer_file(module, str(tmp_path / "main.ttnn"))
    assert (tmp_path / "main.ttnn").read_bytes()[8:12] == b"TTNN"


def test_mistakes_have_their_places() -> None:
    """Errors are MLIR's class, with the message of the tools."""
    with pytest.raises(MLIRError, match=r"-:1:1: error: .*'ttir.nothing'"):
        Module.parse('"ttir.nothing"() : () -> ()')
    with pytest.raises(ValueError, match="expected pass pipeline to be wrapped"):
        PassManager.parse("canonicalize")
    with pytest.raises(ValueError, match="no-pass"):
        PassManager.parse("builtin.module(no-pass)")

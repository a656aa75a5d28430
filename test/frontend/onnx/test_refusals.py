"""What is refused: operators, shapes and damaged or hostile files, each with one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

onnx: Any = pytest.importorskip("onnx", reason="needs onnx")

from samples.onnx_graphs import (  # noqa: E402
    FLOAT,
    INT64,
    classifier,
    helper,
    model,
    node,
    numbers,
    value,
)

import ttmlir  # noqa: E402
from ttmlir.mlir.reporting import LocatedError, name_location  # noqa: E402
from ttmlir.tools.ttmlir_translate import main as translate  # noqa: E402


def unary(*nodes: Any, opset: int = 21, **keywords: Any) -> Any:
    """A model of one input x and one result y, both of 3x5."""
    return model(list(nodes), [value("x", [3, 5])], [value("y", None)], opset=opset, **keywords)


def message_of(proto: Any, *inputs: Any) -> str:
    """The only line of the message."""
    with pytest.raises(ttmlir.CompilationError) as caught:
        ttmlir.compile(proto, *inputs)
    [line] = str(caught.value).splitlines()
    return line.partition("error: ")[2]


def recursive() -> Any:
    """A function that calls itself."""
    sets = [helper.make_opsetid("mine", 1)]
    inner = node("Round", "x", "y", domain="mine")
    function = helper.make_function("mine", "Round", ["x"], ["y"], [inner], sets)
    return unary(inner, functions=[function], domains=["mine"])


def with_tensor(**fields: Any) -> Any:
    """A model with an initializer that is made by hand."""
    proto = unary(node("Add", "x w", "y"))
    proto.graph.initializer.append(onnx.TensorProto(name="w", **fields))
    return proto


def with_weights_twice() -> Any:
    """A model of two initializers with one name."""
    proto = unary(node("Add", "x w", "y"), weights={"w": numbers(5)})
    proto.graph.initializer.append(proto.graph.initializer[0])
    return proto


def external(location: str, **entries: str) -> Any:
    """A model whose initializer of 3x5 is in a file."""
    proto = with_tensor(data_type=FLOAT, dims=[3, 5], data_location=onnx.TensorProto.EXTERNAL)
    for key, text in {"location": location, **entries}.items():
        proto.graph.initializer[0].external_data.add(key=key, value=text)
    return proto


def endless() -> Any:
    """A loop that does not end."""
    body = helper.make_graph(
        [node("Identity", "go", "more"), node("Identity", "v", "w")],
        "g",
        [value("i", [], INT64), value("go", [], onnx.TensorProto.BOOL), value("v", [3, 5])],
        [value("more", [], onnx.TensorProto.BOOL), value("w", [3, 5])],
    )
    return unary(node("Loop", "- - x", "y", body=body))


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "an operator that does not exist": (
        lambda: unary(node("Soft_max", "x", "y")),
        "node 'y' (Soft_max), which gives 'y': this operator is not supported; the nearest "
        "supported ones are Softmax, LogSoftmax",
    ),
    "a domain without functions": (
        lambda: unary(node("Fast", "x", "y", domain="theirs"), domains=["theirs"]),
        "node 'y' (theirs.Fast), which gives 'y': operators of the domain 'theirs' are not "
        "supported, unless the model has their bodies as functions; export with operators of the "
        "standard",
    ),
    "an input that nobody gives": (
        lambda: unary(node("Add", "x later", "y"), node("Neg", "y", "later")),
        "node 'y' (Add), which gives 'y': its input 'later' is none of the graph's inputs and "
        "initializers, and no node before this one gives it",
    ),
    "a result that nobody gives": (
        lambda: unary(node("Neg", "x", "z")),
        "no node gives the result 'y'",
    ),
    "a missing attribute": (
        lambda: unary(node("Cast", "x", "y")),
        "node 'y' (Cast), which gives 'y': the attribute 'to' is missing",
    ),
    "an attribute of another version": (
        lambda: unary(node("ReduceMean", "x", "y", axes=[1])),
        "node 'y' (ReduceMean), which gives 'y': there is no attribute 'axes' in version 18 of the "
        "operator; there are: keepdims, noop_with_empty_axes",
    ),
    "a result that two nodes give": (
        lambda: unary(node("Neg", "x", "y"), node("Abs", "x", "y")),
        "two nodes give the result 'y'",
    ),
    "a dimension that is not there": (
        lambda: unary(node("Softmax", "x", "y", axis=2)),
        "node 'y' (Softmax), which gives 'y': axis has 2; the tensor has 2 dimensions",
    ),
    "a shape that depends on data": (
        lambda: unary(node("NonZero", "x", "n"), node("EyeLike", "n", "y")),
        "node 'y' (EyeLike), which gives 'y': the input 'input' is INT64[2, 0 to 15]: its size is "
        "known only when the model runs, and the operator needs it; Where keeps the shape",
    ),
    "strings": (
        lambda: with_tensor(data_type=onnx.TensorProto.STRING, dims=[1], string_data=[b"a"]),
        "the initializer 'w': tensors of strings are not supported: devices compute with numbers",
    ),
    "complex numbers": (
        lambda: with_tensor(data_type=onnx.TensorProto.COMPLEX64, dims=[1], raw_data=b"12345678"),
        "the initializer 'w': tensors of COMPLEX64 are not supported; give real and imaginary "
        "parts as tensors",
    ),
    "random numbers": (
        lambda: unary(node("RandomNormalLike", "x", "y")),
        "node 'y' (RandomNormalLike), which gives 'y': random numbers are not supported; draw them "
        "outside, and give them to the model as an input",
    ),
    "a newer operator set": (
        lambda: unary(node("Neg", "x", "y"), opset=999),
        "it is for version 999 of the operator set; the installed package onnx "
        f"{onnx.__version__} knows versions up to {onnx.defs.onnx_opset_version()}: install a "
        "newer one",
    ),
    "huge extents": (
        lambda: with_tensor(data_type=FLOAT, dims=[1 << 40, 1 << 40], raw_data=b"1234"),
        "the initializer 'w': its numbers do not fit its shape 1099511627776x1099511627776 of "
        "FLOAT",
    ),
    "extents below 0": (
        lambda: with_tensor(data_type=FLOAT, dims=[-3, 5]),
        "the initializer 'w': its shape -3x5 has an extent below 0",
    ),
    "a huge result": (
        lambda: unary(
            node("ConstantOfShape", "shape", "c"),
            node("Add", "x c", "y"),
            weights={"shape": np.array([1 << 30, 3, 5])},
        ),
        "node 'c' (ConstantOfShape), which gives 'c': its result would have 16,106,127,360 "
        "elements of f32; at most 8 GiB are taken; the environment variable TTMLIR_MEMORY_GIB "
        "sets another limit",
    ),
    "functions that call themselves": (
        recursive,
        "graphs and functions are nested more than 32 deep",
    ),
    "loops without an end": (
        endless,
        "node 'y' (Loop), which gives 'y': it goes on after 4,096 iterations, and has no number of "
        "iterations",
    ),
    "attributes of other kinds": (
        lambda: unary(node("Softmax", "x", "y", axis=1.5)),
        "node 'y' (Softmax), which gives 'y': the attribute 'axis' is FLOAT; it has to be INT",
    ),
    "types that differ": (
        lambda: unary(node("Add", "x w", "y"), weights={"w": np.arange(5)}),
        "node 'y' (Add), which gives 'y': the input 'B' is INT64, and 'A' FLOAT; they have to be "
        "of one type: put a Cast in front of one of them",
    ),
    "types that an operator does not have": (
        lambda: unary(node("Not", "x", "y")),
        "node 'y' (Not), which gives 'y': the input 'X' is FLOAT; types that it may have are BOOL: "
        "put a Cast in front of it",
    ),
    "two inputs of a name": (
        lambda: model([node("Neg", "x", "y")], [value("x", [3])] * 2, [value("y", None)]),
        "two inputs have the name 'x'",
    ),
    "two initializers of a name": (
        with_weights_twice,
        "two initializers have the name 'w'",
    ),
    "an operator set before all": (
        lambda: unary(node("Neg", "x", "y"), opset=0),
        "node 'y' (Neg), which gives 'y': the version of the operator set that the model asks for "
        "does not have it",
    ),
    "matrices without a product": (
        lambda: unary(node("MatMul", "x w", "y"), weights={"w": numbers(4, 5)}),
        "node 'y' (MatMul), which gives 'y': there is no product of [3, 5] and [4, 5]: the "
        "matrices have 5 columns and 4 rows, which have to be equal",
    ),
    "constants without a value": (
        lambda: unary(node("Constant", "", "y")),
        "node 'y' (Constant), which gives 'y': it has no value",
    ),
    "names of two lines": (
        lambda: unary(node("Add\nx", "x x", "y")),
        "node 'y' (Add x), which gives 'y': this operator is not supported; the nearest supported "
        "ones are Add",
    ),
    "external data of a model without a file": (
        lambda: external("w.bin"),
        "the initializer 'w': its numbers are in the file 'w.bin', and the model is not given as "
        "a file; give its path, or load it by onnx.load, which reads them",
    ),
}


def test_long_names() -> None:
    """They do not fill the screen."""
    found = message_of(unary(node("Add" * 50000, "x x", "y")))
    assert len(found) < 2100
    assert found.startswith("node 'y' (AddAddAdd")


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    """The message says where, what and why."""
    make, message = REFUSED[name]
    found = message_of(make())
    assert found == message or found.startswith(message + ":")


@pytest.mark.parametrize(
    ("location", "entries", "reason"),
    [
        ("../../etc/passwd", {}, "this name is no relative path to a file in the same"),
        ("/etc/passwd", {}, "this name is no relative path to a file in the same"),
        ("none.bin", {}, "No such file or directory"),
        (
            "w.bin",
            {"length": "8"},
            "15 elements of FLOAT are 60",
        ),
        ("w.bin", {"offset": "8"}, "its 60 bytes from byte 8 on are not in the file 'w.bin'"),
        ("w.bin", {"offset": "-8"}, "the offset of its external data is no number: '-8'"),
    ],
)
def test_external_data(location: str, entries: dict[str, str], reason: str, tmp_path: Path) -> None:
    """Weights beside the model's file are read from below its folder alone, if they fit."""
    path = tmp_path / "big.onnx"
    (tmp_path / "w.bin").write_bytes(numbers(3, 5).tobytes())
    path.write_bytes(external(location, **entries).SerializeToString())
    found = message_of(path)
    assert found.startswith("the initializer 'w': ")
    assert reason in found


def test_external_data_that_fit(tmp_path: Path) -> None:
    """Beside a path, as onnx.save writes them."""
    proto, x = classifier(), numbers(2, 3, 9, 11)
    path = tmp_path / "big.onnx"
    expected = ttmlir.compile(proto, x)(x)
    onnx.save(proto, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    assert (tmp_path / "w.bin").stat().st_size > 800
    np.testing.assert_array_equal(ttmlir.compile(path, x)(x), expected)


def test_files_that_are_no_models(tmp_path: Path) -> None:
    """Damaged ones, and those that are not there."""
    path = tmp_path / "broken.onnx"
    data = classifier().SerializeToString()
    for broken in (b"", b"module {}", data[:-40], b"\xff" * 100):
        path.write_bytes(broken)
        with pytest.raises(ttmlir.CompilationError, match=r"no model of ONNX, or a damaged one"):
            ttmlir.compile(path)
    with pytest.raises(ttmlir.FileError, match="No such file"):
        ttmlir.compile(tmp_path / "none.onnx")


def test_examples_that_do_not_fit() -> None:
    """Sizes that the model says, and sizes by a name, which are one."""
    proto = classifier()
    assert message_of(proto, numbers(2, 4, 9, 11)) == (
        "dimension 1 of the input 'images' is 3, and 4 in its example"
    )
    assert message_of(proto) == (
        "the input 'images' is FLOAT[batch,3,9,11]: the size 'batch' is not known; give examples "
        "of the inputs to ttmlir.compile, or their shapes by --input-shapes to ttmlir-translate"
    )
    with pytest.raises(ttmlir.InputError, match="'pictures' is none of its inputs; they"):
        ttmlir.compile(proto, example_kwargs={"pictures": numbers(1)})


def test_results_of_other_shapes() -> None:
    """What a graph says of them is wrong in many files: the model is compiled, with a warning."""
    x = numbers(3, 5)
    proto = model([node("Neg", "x", "y")], [value("x", [3, 5])], [value("y", ["n", 3])])
    message = r"node 'y' \(Neg\): its result has the shape \[3, 5\], though .* is \[\?, 3\]"
    with pytest.warns(UserWarning, match=message):
        compiled = ttmlir.compile(proto)
    np.testing.assert_array_equal(compiled(x), -x)


def test_results_of_examples() -> None:
    """Where callers decide about the shapes, those that a file says may be of other ones."""
    proto = model([node("Neg", "x", "y")], [value("x", ["n", 5])], [value("y", [1, 5])])
    x = numbers(3, 5)
    np.testing.assert_array_equal(ttmlir.compile(proto, x)(x), -x)


def test_translate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command prints the module, which is verified, or one line, and then no file."""
    path, target = tmp_path / "digits.onnx", tmp_path / "digits.mlir"
    onnx.save(classifier(), path)
    line = ["--onnx-to-ttir", str(path), "-o", str(target)]
    assert translate(line) == 1
    assert not target.exists()
    assert capsys.readouterr().err == (
        f"{path}: error: the input 'images' is FLOAT[batch,3,9,11]: the size 'batch' is not "
        "known; give examples of the inputs to ttmlir.compile, or their shapes by --input-shapes "
        "to ttmlir-translate\n"
    )
    line = [*line, "--input-shapes=images=2x3x9x11"]
    with monkeypatch.context() as patch:
        refusal = LocatedError(name_location("conv"), "'ttir.add' op is wrong")
        patch.setattr("ttmlir.frontend.onnx.model.verify", Mock(side_effect=refusal))
        assert translate(line) == 1
        assert not target.exists()
        error = capsys.readouterr().err
        assert error == f"{path}: error: 'ttir.add' op is wrong (in the node 'conv')\n"
    assert translate(line) == 0
    assert "func.func @main(%arg0: tensor<2x3x9x11xf32>) -> tensor<2x5xf32>" in target.read_text()

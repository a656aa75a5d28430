"""Models of ONNX are compiled from paths, bytes and protobufs, and are called by their names."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx: Any = pytest.importorskip("onnx", reason="needs onnx")

from samples.onnx_graphs import INT64, classifier, model, node, numbers, value  # noqa: E402

import ttmlir  # noqa: E402

RUNTIME = pytest.importorskip("onnx.reference", reason="needs onnx").ReferenceEvaluator


def expected(proto: Any, *inputs: Any) -> list[Any]:
    """What ONNX's own implementation computes."""
    names = [each.name for each in proto.graph.input]
    return RUNTIME(proto).run(None, dict(zip(names, inputs, strict=True)))


@pytest.fixture(scope="module")
def images() -> Any:
    """The input of the classifier."""
    return numbers(2, 3, 9, 11, seed=7)


def test_paths_bytes_and_protobufs_are_the_same_model(images: Any, tmp_path: Path) -> None:
    """Sizes that the model leaves open are those of the example."""
    proto = classifier()
    path = tmp_path / "digits.onnx"
    onnx.save(proto, path)
    [logits] = expected(proto, images)
    for given in (path, str(path), path.read_bytes(), proto):
        compiled = ttmlir.compile(given, images)
        np.testing.assert_allclose(compiled(images), logits, rtol=1e-4, atol=1e-5)
    assert ttmlir.compile(path, images).name == "digits"
    assert repr(compiled).startswith(
        "CompiledModel(net(images: float32[2,3,9,11]) -> (float32[2,5]), "
    )
    np.testing.assert_allclose(compiled.reference(images), logits, rtol=1e-6)


def test_examples_and_arguments_may_be_named(images: Any) -> None:
    """A file that is compiled for names is called by them."""
    compiled = ttmlir.compile(classifier(), example_kwargs={"images": images})
    np.testing.assert_array_equal(compiled(images), compiled(images=images))
    loaded = ttmlir.load(compiled.save("named.ttnn"))
    np.testing.assert_array_equal(loaded(images=images), compiled(images))


def test_a_model_that_knows_its_shapes_needs_no_examples(images: Any) -> None:
    """Several results are a tuple, in the graph's order."""
    proto = classifier(2)
    proto.graph.output.append(value("flat", [2, 6]))
    compiled = ttmlir.compile(proto)
    found, wanted = compiled(images), expected(proto, images)
    assert isinstance(found, tuple)
    for got, right in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", ["int32", "float64", "bool"])
def test_examples_have_the_types_of_the_model(dtype: str, images: Any) -> None:
    """Nothing is converted, in calls neither: the message says what to give."""
    message = rf"images is FLOAT\[batch,3,9,11\], and takes float32, not {dtype}; give it \.astype"
    with pytest.raises(ttmlir.InputError, match=message):
        ttmlir.compile(classifier(), images.astype(dtype))
    compiled = ttmlir.compile(classifier(), images)
    with pytest.raises(ttmlir.InputError, match=message):
        compiled(images.astype(dtype))


def test_initializers_that_are_inputs() -> None:
    """A call passes those that an example has by name; others keep the numbers of the file."""
    x, first, other = numbers(3, 5), numbers(5, 2, seed=1), numbers(5, 2, seed=2)
    inputs = [value("x", [3, 5]), value("w", [5, 2])]
    proto = model([node("MatMul", "x w", "y")], inputs, [value("y", None)], {"w": first})
    np.testing.assert_allclose(ttmlir.compile(proto, x)(x), x @ first, rtol=1e-5, atol=1e-5)
    compiled = ttmlir.compile(proto, example_kwargs={"x": x, "w": first})
    np.testing.assert_allclose(compiled(x=x, w=other), x @ other, rtol=1e-5, atol=1e-5)


def test_indices_out_of_range_are_refused(tmp_path: Path) -> None:
    """As ONNX has it, which counts from the end; loaded and from a pickle they give NumPy's."""
    inputs = [value("x", [4, 5]), value("index", [2, 5], INT64)]
    proto = model([node("GatherElements", "x index", "y", axis=0)], inputs, [value("y", None)])
    x, index = numbers(4, 5), np.array([[3, 0, 1, -4, 2], [-1, 1, 0, 2, -2]])
    compiled = ttmlir.compile(proto, x, index)
    loaded = ttmlir.load(compiled.save(tmp_path / "picked.ttnn"))
    for call in (compiled, loaded, pickle.loads(pickle.dumps(compiled))):
        found = call(x, index)
        assert isinstance(found, np.ndarray)
        np.testing.assert_array_equal(found, np.take_along_axis(x, index, 0))
        for outside in (4, -5):
            with pytest.raises(ttmlir.Error, match=r"from a dimension of 4"):
                call(x, np.full((2, 5), outside))


def test_buckets() -> None:
    """A program for each of several sizes; calls between them are padded, and results cropped."""
    table, weights = numbers(20, 8), numbers(8, 5, seed=1)
    proto = model(
        [node("Gather", "table words", "rows"), node("MatMul", "rows weights", "y")],
        [value("words", ["batch", "length"], INT64)],
        [value("y", ["batch", "length", 5])],
        {"table": table, "weights": weights},
    )
    example = np.zeros((2, 4), np.int64)
    for arguments in ({"words": example}, {}):
        positions = [] if arguments else [example]
        compiled = ttmlir.compile(
            proto, *positions, example_kwargs=arguments, buckets={"words": {1: (4, 9)}}
        )
        for length in (3, 9):
            words = np.arange(2 * length).reshape(2, length)
            found = compiled(**{"words": words}) if arguments else compiled(words)
            np.testing.assert_allclose(found, table[words] @ weights, rtol=1e-5, atol=1e-5)
    sequence = onnx.helper.make_tensor_sequence_value_info("s", onnx.TensorProto.FLOAT, None)
    proto = model([node("ConcatFromSequence", "s", "y", axis=0)], [sequence], [value("y", None)])
    with pytest.raises(ttmlir.InputError, match="buckets are for tensors, and 's' is none"):
        ttmlir.compile(proto, [numbers(2)], buckets={"s": {0: (2, 4)}})

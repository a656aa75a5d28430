"""Models of ONNX are compiled from paths, bytes and protobufs, and are called by their names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx: Any = pytest.importorskip("onnx", reason="needs onnx")

from samples.onnx_graphs import classifier, numbers, value  # noqa: E402

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

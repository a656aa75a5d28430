"""Operators of classical machine learning on numbers, as NumPy computes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

onnx: Any = pytest.importorskip("onnx", reason="needs onnx")

from samples.onnx_graphs import INT64, helper, model, node, numbers, value  # noqa: E402

import ttmlir  # noqa: E402

X = numbers(7, 5)
LABELS = [3, 10, -4]
WEIGHTS, BIAS = numbers(3, 5, seed=1), numbers(3, seed=2)


def run(operator: str, *inputs: Any, outputs: str = "y", **attributes: Any) -> Any:
    """The results of one operator."""
    names = [f"x{number}" for number in range(len(inputs))]
    types = {"f": onnx.TensorProto.FLOAT, "i": INT64}
    proto = model(
        [node(operator, " ".join(names), outputs, domain="ai.onnx.ml", **attributes)],
        [
            value(name, each.shape, types[each.dtype.kind])
            for name, each in zip(names, inputs, strict=True)
        ],
        [value(name, None) for name in outputs.split()],
    )
    proto.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
    return ttmlir.compile(proto, *inputs)(*inputs)


def test_linear_models() -> None:
    """Scores of several results, and the label with the largest one."""
    scores = X @ WEIGHTS.T + BIAS
    coefficients = {"coefficients": WEIGHTS.ravel().tolist(), "intercepts": BIAS.tolist()}
    found = run("LinearRegressor", X, targets=3, **coefficients)
    np.testing.assert_allclose(found, scores, rtol=1e-5)
    labels, found = run(
        "LinearClassifier",
        X,
        outputs="label scores",
        classlabels_ints=LABELS,
        post_transform="SOFTMAX",
        **coefficients,
    )
    np.testing.assert_array_equal(labels, np.array(LABELS)[scores.argmax(1)])
    powers = np.exp(scores)
    np.testing.assert_allclose(found, powers / powers.sum(1, keepdims=True), rtol=1e-5)


def test_two_classes() -> None:
    """One score is that of the second one."""
    row = WEIGHTS[0]
    labels, found = run(
        "LinearClassifier",
        X,
        outputs="label scores",
        classlabels_ints=[5, 8],
        post_transform="LOGISTIC",
        coefficients=row.tolist(),
    )
    share = 1 / (1 + np.exp(-(X @ row)))
    np.testing.assert_array_equal(labels, np.where(share > 0.5, 8, 5))
    np.testing.assert_allclose(found, np.stack([1 - share, share], 1), rtol=1e-4)


def test_labels_that_are_strings() -> None:
    """They are refused."""
    with pytest.raises(ttmlir.CompilationError, match="labels that are strings are not supported"):
        run(
            "LinearClassifier",
            X,
            outputs="label scores",
            classlabels_strings=["a", "b", "c"],
            coefficients=WEIGHTS.ravel().tolist(),
        )


def test_strings_that_nobody_needs() -> None:
    """Initializers of labels are left out where the labels are no result."""
    proto = model([node("Neg", "x", "y")], [value("x", [7, 5])], [value("y", None)])
    labels = helper.make_tensor("labels", onnx.TensorProto.STRING, [2], ["a", "b"])
    proto.graph.initializer.append(labels)
    np.testing.assert_array_equal(ttmlir.compile(proto, X)(X), -X)


def test_preparations() -> None:
    """Features scaled, normalized, replaced, joined and chosen."""
    offset, scale = BIAS[0].item(), 0.5
    found = run("Scaler", X, offset=[offset] * 5, scale=[scale] * 5)
    np.testing.assert_allclose(found, (X - np.float32(offset)) * np.float32(scale), rtol=1e-6)
    for norm, size in (
        ("MAX", np.abs(X).max(1)),
        ("L1", np.abs(X).sum(1)),
        ("L2", np.sqrt((X * X).sum(1))),
    ):
        np.testing.assert_allclose(run("Normalizer", X, norm=norm), X / size[:, None], rtol=1e-5)
    holes = X.copy()
    holes[2, 3] = holes[6, 0] = np.nan
    means = np.nanmean(holes, 0)
    found = run("Imputer", holes, imputed_value_floats=means.tolist(), replaced_value_float=np.nan)
    np.testing.assert_array_equal(found, np.where(np.isnan(holes), means, holes))
    found = run("FeatureVectorizer", X, holes[:, :2], inputdimensions=[5, 2])
    np.testing.assert_array_equal(found, np.concatenate([X, holes[:, :2]], 1))
    # Neighbors that are missing are at -1, and what is found there is not used.
    found = run("ArrayFeatureExtractor", X, np.array([4, 1, -1, -5]))
    np.testing.assert_array_equal(found, X[:, [4, 1, -1, -5]])


def test_categories() -> None:
    """Numbers as places among categories, and as values of keys."""
    x = np.array([[4, 9, 2], [9, 4, 4]])
    found = run("OneHotEncoder", x, cats_int64s=[9, 4])
    np.testing.assert_array_equal(found, (x[:, :, None] == [9, 4]).astype(np.float32))
    found = run("LabelEncoder", x, keys_int64s=[4, 2], values_floats=[0.5, 3.0], default_float=-7.0)
    np.testing.assert_array_equal(found, np.select([x == 4, x == 2], [0.5, 3.0], -7.0))
    with pytest.raises(ttmlir.CompilationError, match="its keys have to be numbers"):
        run("LabelEncoder", x, keys_strings=["a"], values_int64s=[1])


def test_maps() -> None:
    """Scores stay a tensor, which a warning says, and what ONNX computes is one, too."""
    nodes = [
        node("Normalizer", "x", "scores", domain="ai.onnx.ml", norm="L1"),
        node("ZipMap", "scores", "y", domain="ai.onnx.ml", classlabels_strings=["a", "b", "c"]),
    ]
    proto = model(nodes, [value("x", [7, 3])], [value("y", None)])
    proto.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
    x = numbers(7, 3)
    with pytest.warns(UserWarning, match="gives scores, in columns for the classes a, b, c"):
        compiled = ttmlir.compile(proto, x)
    expected = x / np.abs(x).sum(1, keepdims=True)
    np.testing.assert_allclose(compiled(x), expected, rtol=1e-6)
    np.testing.assert_allclose(compiled.reference(x), expected, rtol=1e-6)
    with pytest.raises(ttmlir.CompilationError, match=r"shape \[7, 5\] have no 2 classes"):
        run("ZipMap", X, classlabels_int64s=[1, 2])


def test_sparse_softmax() -> None:
    """Scores of 0 stay 0, but for what all are divided by."""
    weights = np.diag(np.array([1, 0, 2], np.float32))
    x = numbers(7, 3)
    scores = x @ weights
    found = run(
        "LinearRegressor",
        x,
        targets=3,
        coefficients=weights.ravel().tolist(),
        post_transform="SOFTMAX_ZERO",
    )
    powers = np.where(scores == 0, 0, np.exp(scores))
    np.testing.assert_allclose(found, powers / powers.sum(1, keepdims=True), rtol=1e-5)

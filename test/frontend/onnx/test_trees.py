"""Ensembles of trees and support vector machines give what scikit-learn computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

onnx: Any = pytest.importorskip("onnx", reason="needs onnx")
ensemble: Any = pytest.importorskip("sklearn.ensemble", reason="needs scikit-learn")
svm: Any = pytest.importorskip("sklearn.svm", reason="needs scikit-learn")

from samples.onnx_graphs import helper, model, node, numbers, value  # noqa: E402

import ttmlir  # noqa: E402

X = numbers(90, 5)
LABELS = [4, 7, 9]
CLASSES = np.array(LABELS)[(X[:, :3] + numbers(90, 3, seed=1) / 2).argmax(1)]
ROWS = numbers(41, 5, seed=2)


def compile_operator(operator: str, count: int = 1, version: int = 3, **attributes: Any) -> Any:
    """One operator of the domain, compiled for the rows."""
    names = [f"y{number}" for number in range(count)]
    proto = model(
        [node(operator, "x", " ".join(names), domain="ai.onnx.ml", **attributes)],
        [value("x", ROWS.shape)],
        [value(name, None) for name in names],
    )
    proto.opset_import.append(helper.make_opsetid("ai.onnx.ml", version))
    return ttmlir.compile(proto, ROWS)


def describe(trees: Any, prefix: str, *, leaf: Any) -> dict[str, Any]:
    """The attributes of fitted trees; `leaf` gives targets and weights of a leaf's value."""
    nodes: list[tuple[Any, ...]] = []
    weights: list[tuple[Any, ...]] = []
    for number, each in enumerate(trees):
        tree = each.tree_
        for place in range(tree.node_count):
            left, right = int(tree.children_left[place]), int(tree.children_right[place])
            mode = "LEAF" if left < 0 else "BRANCH_LEQ"
            # Features are compared in f32: the next smaller number of it decides alike.
            split = np.float32(tree.threshold[place])
            if split > tree.threshold[place]:
                split = np.nextafter(split, np.float32(-np.inf))
            feature = max(int(tree.feature[place]), 0)
            ends = (left, right) if left >= 0 else (0, 0)
            nodes.append((number, place, mode, feature, float(split), *ends))
            if left < 0:
                weights += [(number, place, *pair) for pair in leaf(tree.value[place])]
    names = ("treeids", "nodeids", "modes", "featureids", "values", "truenodeids", "falsenodeids")
    found = {
        f"nodes_{name}": list(each)
        for name, each in zip(names, zip(*nodes, strict=True), strict=True)
    }
    names = ("treeids", "nodeids", "ids", "weights")
    pairs = zip(names, zip(*weights, strict=True), strict=True)
    return found | {f"{prefix}_{name}": list(each) for name, each in pairs}


def test_classifier() -> None:
    """A forest's label, and the shares of classes."""
    forest = ensemble.RandomForestClassifier(7, random_state=0).fit(X, CLASSES)

    def leaf(shares: Any) -> list[tuple[int, float]]:
        return [(place, float(each) / 7) for place, each in enumerate(shares[0])]

    compiled = compile_operator(
        "TreeEnsembleClassifier",
        2,
        classlabels_int64s=LABELS,
        **describe(forest.estimators_, "class", leaf=leaf),
    )
    label, shares = compiled(ROWS)
    np.testing.assert_array_equal(label, forest.predict(ROWS))
    np.testing.assert_allclose(shares, forest.predict_proba(ROWS), atol=1e-6)
    np.testing.assert_array_equal(compiled(ROWS, numerics="device")[0], label)


def test_regressor() -> None:
    """Sums of boosted trees, the mean of a forest, and what leaves of several trees give least."""
    target = X @ numbers(5, seed=3)
    boosted = ensemble.GradientBoostingRegressor(n_estimators=9).fit(X, target)
    found = compile_operator(
        "TreeEnsembleRegressor",
        n_targets=1,
        base_values=[float(target.mean())],
        **describe(
            boosted.estimators_[:, 0], "target", leaf=lambda each: [(0, 0.1 * float(each[0, 0]))]
        ),
    )(ROWS)
    np.testing.assert_allclose(found[:, 0], boosted.predict(ROWS), rtol=1e-4, atol=1e-5)
    forest = ensemble.RandomForestRegressor(6, random_state=0).fit(X, target)
    attributes = describe(forest.estimators_, "target", leaf=lambda each: [(0, float(each[0, 0]))])
    parts = np.stack([each.predict(ROWS) for each in forest.estimators_])
    for function, expected in (("AVERAGE", parts.mean(0)), ("MIN", parts.min(0))):
        found = compile_operator(
            "TreeEnsembleRegressor", n_targets=1, aggregate_function=function, **attributes
        )(ROWS)
        np.testing.assert_allclose(found[:, 0], expected, rtol=1e-5)


def test_damaged_trees() -> None:
    """Circles, and nodes that do not exist, are refused."""
    nodes = {
        "nodes_treeids": [0, 0],
        "nodes_nodeids": [0, 1],
        "nodes_modes": ["BRANCH_LEQ", "LEAF"],
        "nodes_featureids": [0, 0],
        "nodes_values": [0.5, 0.0],
        "nodes_falsenodeids": [1, 0],
        "target_treeids": [0],
        "target_nodeids": [1],
        "target_ids": [0],
        "target_weights": [2.0],
    }
    for change, message in (
        ({"nodes_truenodeids": [0, 0]}, "node 0 is in a tree twice"),
        ({"nodes_truenodeids": [5, 0]}, "tree 0 has no node 5"),
        ({"nodes_truenodeids": [1]}, "its lists have different lengths"),
        ({"nodes_truenodeids": [1, 0], "nodes_featureids": [8, 0]}, "look at feature 8"),
        ({"nodes_truenodeids": [1, 0], "nodes_featureids": [-1, 0]}, "look at feature -1; there"),
        ({"nodes_truenodeids": [1, 0], "n_targets": 10**12}, "for 1000000000000 targets; "),
    ):
        with pytest.raises(ttmlir.CompilationError, match=message):
            compile_operator("TreeEnsembleRegressor", **{"n_targets": 1, **nodes, **change})


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
def test_support_vectors(kernel: str) -> None:
    """The most votes of pairs of classes, whose scores are the decision function."""
    machine = svm.SVC(kernel=kernel, decision_function_shape="ovo").fit(X, CLASSES)
    gamma = machine._gamma
    label, scores = compile_operator(
        "SVMClassifier",
        2,
        classlabels_ints=LABELS,
        kernel_type=kernel.upper(),
        kernel_params=[gamma, 0.0, 3.0],
        vectors_per_class=[int(each) for each in machine.n_support_],
        support_vectors=machine.support_vectors_.ravel().tolist(),
        coefficients=machine.dual_coef_.ravel().tolist(),
        rho=machine.intercept_.tolist(),
    )(ROWS)
    np.testing.assert_array_equal(label, machine.predict(ROWS))
    np.testing.assert_allclose(scores, machine.decision_function(ROWS), rtol=1e-3, atol=1e-4)


def test_regression_by_support_vectors() -> None:
    """A sum of kernels, and on which side of it rows lie."""
    for machine, one_class in ((svm.SVR(), 0), (svm.OneClassSVM(), 1)):
        machine.fit(X, X[:, 0] * X[:, 1])
        found = compile_operator(
            "SVMRegressor",
            kernel_type="RBF",
            kernel_params=[machine._gamma, 0.0, 3.0],
            n_supports=len(machine.support_),
            support_vectors=machine.support_vectors_.ravel().tolist(),
            coefficients=machine.dual_coef_.ravel().tolist(),
            rho=machine.intercept_.tolist(),
            one_class=one_class,
        )(ROWS)
        np.testing.assert_allclose(found[:, 0], machine.predict(ROWS), rtol=1e-3, atol=1e-4)


def test_shares_of_classes() -> None:
    """Those of pairs are coupled: the differences between both sides of pairs are smallest."""
    machine = svm.SVC(kernel="linear", decision_function_shape="ovo").fit(X, CLASSES)
    slopes, offsets = np.array([-1.5, -2, -1]), np.array([0.1, 0, -0.2])
    _, found = compile_operator(
        "SVMClassifier",
        2,
        classlabels_ints=LABELS,
        vectors_per_class=[int(each) for each in machine.n_support_],
        support_vectors=machine.support_vectors_.ravel().tolist(),
        coefficients=machine.dual_coef_.ravel().tolist(),
        rho=machine.intercept_.tolist(),
        prob_a=slopes.tolist(),
        prob_b=offsets.tolist(),
    )(ROWS)
    powers = np.exp(machine.decision_function(ROWS) * slopes + offsets)
    for row, pairs in zip(found, 1 / (1 + powers), strict=True):
        shares = np.zeros((3, 3))
        for (i, j), share in zip(((0, 1), (0, 2), (1, 2)), pairs, strict=True):
            shares[i, j], shares[j, i] = share, 1 - share
        # The smallest sum of squares of p[i] * shares[j, i] - p[j] * shares[i, j], of sum 1.
        system = np.ones((4, 4))
        system[:3, :3] = -shares * shares.T + np.diag((shares**2).sum(0))
        system[3, 3] = 0
        expected = np.linalg.solve(system, [0, 0, 0, 1])[:3]
        np.testing.assert_allclose(row, expected, atol=0.005)
        assert abs(row.sum() - 1) < 1e-6

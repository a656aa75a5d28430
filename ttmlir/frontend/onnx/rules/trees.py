"""Ensembles of decision trees, as products of matrices.

All conditions of a tree are decided at once. A leaf is reached where the number of true conditions
above it less the number of false ones that should be false is as large as it can be: one product
with a matrix of 1 and -1 compares all leaves, and a second one adds up what the reached ones weigh.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttmlir.arrays.array import Array, concatenate
from ttmlir.arrays.carriers import array_of
from ttmlir.composites import indexing
from ttmlir.frontend.onnx.call import Call, Rule
from ttmlir.frontend.onnx.elements import Tensor, require_memory
from ttmlir.frontend.onnx.rules.classical import choose_label, transform_scores

MAX_DEPTH = 256
"""Conditions above a leaf: bf16 has all whole numbers up to here."""

_COMPARISONS: Mapping[str, Callable[[Array, Array], Array]] = {
    "LEQ": lambda x, y: x <= y,
    "LT": lambda x, y: x < y,
    "GTE": lambda x, y: x >= y,
    "GT": lambda x, y: x > y,
    "EQ": lambda x, y: x.eq(y),
    "NEQ": lambda x, y: x.ne(y),
}
"""By the modes of nodes, in the order of the numbers that `TreeEnsemble` has for them."""

_MOST_WEIGHTS = 1 << 27
"""Of nodes for targets, together."""
_Reference = tuple[bool, int]
"""Whether it is a leaf, and its number among leaves or conditions."""


@dataclass
class _Trees:
    """The conditions and the leaves of an ensemble."""

    features: Sequence[int]
    modes: Sequence[str]
    splits: NDArray[Any]
    track_missing: Sequence[int]
    branches: Sequence[tuple[_Reference, _Reference]]
    """What follows each condition where it is true, and where it is false."""
    roots: Sequence[_Reference]
    weights: NDArray[Any]
    """What each leaf adds to each target; NaN where it says nothing."""


def _paths(
    call: Call, trees: _Trees, root: _Reference
) -> tuple[list[int], list[tuple[int, dict[int, int]]]]:
    """The conditions of a tree, and its leaves with the signs of the conditions above them."""
    conditions: list[int] = []
    leaves: list[tuple[int, dict[int, int]]] = []
    pending: list[tuple[_Reference, dict[int, int]]] = [(root, {})]
    seen: set[int] = set()
    while pending:
        (is_leaf, number), above = pending.pop()
        if is_leaf:
            leaves.append((number, above))
            continue
        if number in seen or len(above) >= MAX_DEPTH:
            call.refuse(
                f"node {number} is in a tree twice, or the tree has more than {MAX_DEPTH} levels"
            )
        seen.add(number)
        place = len(conditions)
        conditions.append(number)
        for sign, branch in zip((1, -1), trees.branches[number], strict=True):
            pending.append((branch, {**above, place: sign}))
    return conditions, leaves


def _reach(call: Call, x: Array, trees: _Trees) -> tuple[Array, NDArray[Any]]:
    """Which leaf of each tree rows reach, (rows, trees, leaves), and the weights of the leaves."""
    found = [_paths(call, trees, root) for root in trees.roots]
    width = max(max(len(conditions) for conditions, _ in found), 1)
    count = max(len(leaves) for _, leaves in found)
    number, targets = len(found), trees.weights.shape[1]
    require_memory((number, width, count), "f32", "the matrices of its trees")
    nodes = np.zeros((number, width), np.int64)
    signs = np.zeros((number, width, count), np.float32)
    # Places of no leaf are reached by no row.
    needed = np.full((number, 1, count), 2.0 * MAX_DEPTH, np.float32)
    weights = np.zeros((number, count, targets), trees.weights.dtype)
    for tree, (conditions, leaves) in enumerate(found):
        nodes[tree, : len(conditions)] = conditions
        for place, (leaf, above) in enumerate(leaves):
            signs[tree, list(above), place] = list(above.values())
            needed[tree, 0, place] = sum(sign for sign in above.values() if sign > 0)
            weights[tree, place] = trees.weights[leaf]
    is_true = _decide(call, x, trees, nodes.ravel())
    is_true = is_true.cast("bf16").reshape((x.shape[0], number, width)).permute((1, 0, 2))
    sums = is_true @ array_of(signs).cast("bf16")
    reached = sums.eq(array_of(needed).cast("bf16"))
    return reached.permute((1, 0, 2)), weights


def _decide(call: Call, x: Array, trees: _Trees, nodes: NDArray[Any]) -> Array:
    """Whether conditions are true, (rows, conditions)."""
    if not trees.features:
        return x.cut(1, 0, 1).eq(0).broadcast((x.shape[0], len(nodes)))
    features = np.asarray(trees.features)[nodes]
    for feature in (int(features.min()), int(features.max())):
        if not 0 <= feature < x.shape[1]:
            call.refuse(f"its trees look at feature {feature}; there are {x.shape[1]}, from 0")
    values = indexing.take(x, 1, array_of(features))
    splits = array_of(trees.splits[nodes], x.dtype)
    modes = np.asarray(trees.modes)[nodes]
    found: Array | None = None
    for mode in dict.fromkeys(trees.modes):
        if mode not in _COMPARISONS:
            call.refuse(f"nodes of the mode {mode} are not supported; {', '.join(_COMPARISONS)}")
        is_true = _COMPARISONS[mode](values, splits)
        is_mine = array_of(modes == mode)
        found = is_true if found is None else is_mine.where(is_true, found)
    assert found is not None
    if any(trees.track_missing):
        is_tracked = array_of(np.asarray(trees.track_missing, bool)[nodes])
        found = found.logical_or(values.is_nan().logical_and(is_tracked))
    return found


def _aggregate(call: Call, x: Array, trees: _Trees, function: str) -> Array:
    """What the leaves that rows reach add up to, (rows, targets)."""
    reached, weights = _reach(call, x, trees)
    rows, number, count = reached.shape
    targets = weights.shape[2]
    if function in ("SUM", "AVERAGE"):
        flat = array_of(np.nan_to_num(weights).reshape((number * count, targets)), x.dtype)
        sums = reached.reshape((rows, number * count)).cast(x.dtype) @ flat
        return sums / number if function == "AVERAGE" else sums
    if function not in ("MIN", "MAX"):
        call.refuse(f"aggregate_function is '{function}'; SUM, AVERAGE, MIN and MAX are supported")
    largest = float(np.finfo(np.float32).max)
    neutral = largest if function == "MIN" else -largest
    known = np.where(np.isnan(weights), neutral, weights)
    parts: list[Array] = []
    for target in range(targets):
        chosen = reached.where(array_of(known[:, :, target], x.dtype), neutral)
        parts.append(
            chosen.min(1, 2, keep=False) if function == "MIN" else chosen.max(1, 2, keep=False)
        )
    return concatenate([each.unsqueeze(1) for each in parts], 1)


# -- what the operators' attributes say ----------------------------------------------------------


def _numbers(call: Call, name: str) -> NDArray[Any]:
    """An attribute of numbers, a list or a tensor."""
    tensor = call[f"{name}_as_tensor"] or call[name]
    if isinstance(tensor, Tensor):
        return np.asarray(tensor.array.value).reshape(-1)
    return np.asarray([] if tensor is None else tensor, np.float32)


def _same_length(call: Call, **lists: Sequence[Any] | NDArray[Any]) -> None:
    lengths = {name: len(each) for name, each in lists.items()}
    if len(set(lengths.values())) > 1:
        call.refuse(f"its lists have different lengths: {lengths}")


def _read_nodes(call: Call, weighed: str, count: int) -> _Trees:
    """The trees of an operator that names nodes by the numbers of trees and nodes."""
    lists = {
        name: list(call.required(f"nodes_{name}"))
        for name in ("treeids", "nodeids", "modes", "featureids", "truenodeids", "falsenodeids")
    }
    values = _numbers(call, "nodes_values")
    _same_length(call, **lists, values=values)
    missing = call["nodes_missing_value_tracks_true"] or [0] * len(values)
    _same_length(call, values=values, missing=missing)
    keys = list(zip(lists["treeids"], lists["nodeids"], strict=True))
    # Conditions have the numbers of nodes, and so do leaves.
    references: dict[Any, _Reference] = {
        key: (mode == "LEAF", number)
        for number, (key, mode) in enumerate(zip(keys, lists["modes"], strict=True))
    }

    def find(tree: int, name: int) -> _Reference:
        if (tree, name) not in references:
            call.refuse(f"tree {tree} has no node {name}")
        return references[tree, name]

    branches = [
        (references[key], references[key])
        if mode == "LEAF"
        else (find(key[0], yes), find(key[0], no))
        for key, mode, yes, no in zip(
            keys, lists["modes"], lists["truenodeids"], lists["falsenodeids"], strict=True
        )
    ]
    roots: dict[int, _Reference] = {}
    for key in keys:
        roots.setdefault(key[0], references[key])
    if not roots:
        call.refuse("it has no trees")
    return _Trees(
        lists["featureids"],
        [mode.removeprefix("BRANCH_") if mode != "LEAF" else "LEQ" for mode in lists["modes"]],
        values,
        missing,
        branches,
        list(roots.values()),
        _read_weights(call, references, weighed, count),
    )


def _read_weights(
    call: Call, references: Mapping[Any, _Reference], prefix: str, count: int
) -> NDArray[Any]:
    """What nodes add to each target."""
    kinds = [list(call.required(f"{prefix}_{name}")) for name in ("treeids", "nodeids", "ids")]
    given = _numbers(call, f"{prefix}_weights")
    _same_length(call, trees=kinds[0], nodes=kinds[1], targets=kinds[2], weights=given)
    weights = _no_weights(call, len(references), count, given.dtype)
    for tree, name, target, weight in zip(*kinds, given, strict=True):
        if (tree, name) not in references or not 0 <= target < count:
            call.refuse(f"there is no node {name} of tree {tree}, or no target {target}")
        place = references[tree, name][1], target
        weights[place] = weight + (0 if np.isnan(weights[place]) else weights[place])
    return weights


def _no_weights(call: Call, nodes: int, count: int, dtype: Any) -> NDArray[Any]:
    if not 0 < count <= _MOST_WEIGHTS // max(nodes, 1):
        call.refuse(f"{nodes} nodes have weights for {count} targets; {_MOST_WEIGHTS} is the limit")
    return np.full((nodes, count), np.nan, dtype)


def _with_base(call: Call, scores: Array) -> Array:
    base = _numbers(call, "base_values")
    return scores + array_of(base, scores.dtype) if base.size else scores


def _input(call: Call) -> Array:
    x = call.of_rank("X", 1, 2)
    x = x.unsqueeze(0) if x.rank == 1 else x
    return x if x.dtype == "f64" else x.cast("f32")


def _regress(call: Call) -> Array:
    trees = _read_nodes(call, "target", int(call.required("n_targets")))
    scores = _aggregate(call, _input(call), trees, str(call["aggregate_function"]))
    return transform_scores(call, _with_base(call, scores)).cast("f32")


def _classify(call: Call) -> tuple[Array, Array]:
    """The label with the largest score, and the scores; one score is of two classes."""
    labels = call["classlabels_int64s"]
    count = len(labels or call["classlabels_strings"] or ())
    ids = set(call.required("class_ids"))
    trees = _read_nodes(call, "class", max(count, max(ids, default=0) + 1))
    scores = _with_base_of_classes(call, _aggregate(call, _input(call), trees, "SUM"), ids)
    if len(ids) == 1 and count == 2:
        [own] = ids
        score = scores.cut(1, own, own + 1)
        is_share = np.nanmin(trees.weights) >= 0 and call["post_transform"] == "NONE"
        scores = concatenate([1 - score if is_share else -score, score], 1)
    elif scores.shape[1] != count:
        call.refuse(f"it has {scores.shape[1]} scores for {count} labels")
    return choose_label(call, scores, labels), transform_scores(call, scores).cast("f32")


def _with_base_of_classes(call: Call, scores: Array, ids: set[int]) -> Array:
    """One base value is that of the only class that trees weigh."""
    base = _numbers(call, "base_values")
    if base.size == 1 and len(ids) == 1:
        return scores + float(base[0])
    return _with_base(call, scores)


# -- the operator that names nodes by their places -----------------------------------------------

_FUNCTIONS = ("AVERAGE", "SUM", "MIN", "MAX")
_TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")


def _ensemble(call: Call) -> Array:
    x = call.of_rank("X", 2)
    names = ("featureids", "truenodeids", "falsenodeids", "trueleafs", "falseleafs")
    lists = {name: list(call.required(f"nodes_{name}")) for name in names}
    modes = _numbers(call, "nodes_modes").tolist()
    splits = _numbers(call, "nodes_splits").astype(np.float64)
    _same_length(call, **lists, modes=modes, splits=splits)
    missing = call["nodes_missing_value_tracks_true"] or [0] * len(modes)
    if any(mode > len(_COMPARISONS) for mode in modes):
        call.refuse(f"nodes have numbers of modes up to {len(_COMPARISONS)}")
    targets = [int(each) for each in call.required("leaf_targetids")]
    given = _numbers(call, "leaf_weights")
    count = int(call.required("n_targets"))
    _same_length(call, targets=targets, weights=given)
    if not all(0 <= each < count for each in targets):
        call.refuse(f"its leaves are of targets up to {max(targets)}; there are {count}")
    weights = _no_weights(call, len(given), count, given.dtype)
    weights[np.arange(len(given)), targets] = given

    def refer(node: int, is_leaf: int) -> _Reference:
        if not 0 <= node < len(given if is_leaf else modes):
            call.refuse(f"there is no {'leaf' if is_leaf else 'node'} {node}")
        return bool(is_leaf), node

    branches = [
        (refer(yes, yes_leaf), refer(no, no_leaf))
        for yes, no, yes_leaf, no_leaf in zip(*(lists[name] for name in names[1:]), strict=True)
    ]
    roots = [refer(int(each), 0) for each in call.required("tree_roots")]
    sets = _read_sets(call, modes)
    trees = _Trees(
        lists["featureids"],
        [(*_COMPARISONS, "MEMBER")[int(mode)] for mode in modes],
        splits,
        missing,
        branches,
        roots,
        weights,
    )
    if sets:
        trees = _without_sets(trees, sets)
    scores = _aggregate(call, x, trees, _FUNCTIONS[int(call["aggregate_function"]) % 4])
    kind = _TRANSFORMS[int(call["post_transform"]) % len(_TRANSFORMS)]
    return transform_scores(call, scores, kind).cast(x.dtype)


def _read_sets(call: Call, modes: Sequence[int]) -> list[list[float]]:
    """The members of sets, one list for each condition about one; NaN ends a list."""
    numbers = _numbers(call, "membership_values")
    wanted = sum(mode == len(_COMPARISONS) for mode in modes)
    ends = np.flatnonzero(np.isnan(numbers))
    if len(ends) != wanted:
        call.refuse(f"{wanted} of its nodes are about sets, and membership_values has {len(ends)}")
    parts = np.split(numbers, ends + 1)[:wanted]
    return [[float(each) for each in part if not math.isnan(each)] for part in parts]


def _without_sets(trees: _Trees, sets: Sequence[list[float]]) -> _Trees:
    """Conditions about sets as chains of conditions about one number each."""
    rest = iter(sets)
    features, modes, splits = list(trees.features), list(trees.modes), trees.splits.tolist()
    missing, branches = list(trees.track_missing), list(trees.branches)
    for node, mode in enumerate(trees.modes):
        if mode != "MEMBER":
            continue
        yes, no = trees.branches[node]
        members = next(rest) or [math.nan]
        place = node
        for number, member in enumerate(members):
            if number:
                following = len(features)
                branches[place] = yes, (False, following)
                place = following
                features.append(features[node])
                modes.append("EQ")
                splits.append(member)
                missing.append(missing[node])
                branches.append((yes, no))
            else:
                modes[node], splits[node] = "EQ", member
    return _Trees(
        features, modes, np.asarray(splits), missing, branches, trees.roots, trees.weights
    )


RULES: dict[str, Rule] = {
    "TreeEnsemble": _ensemble,
    "TreeEnsembleClassifier": _classify,
    "TreeEnsembleRegressor": _regress,
}
"""Rules by the names of operators of the domain `ai.onnx.ml`."""

"""Support vector machines: kernels between rows and support vectors, and sums of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttmlir.arrays.array import Array, concatenate
from ttmlir.arrays.carriers import array_of
from ttmlir.frontend.body import BodyBuilder
from ttmlir.frontend.onnx.call import Call, Rule
from ttmlir.frontend.onnx.elements import require_memory
from ttmlir.frontend.onnx.loops import run_loop
from ttmlir.frontend.onnx.rules.classical import as_rows, choose_label, transform_scores

_LEAST_SHARE = 1e-7
"""Of a class against another one."""
_MAX_ITERATIONS = 100
_ACCURACY = 0.005
"""Of shares of classes, times their number."""


def _numbers(call: Call, name: str) -> NDArray[Any]:
    return np.asarray(call[name] or (), np.float32)


def _find_kernels(call: Call, x: Array, vectors: NDArray[Any]) -> Array:
    """The kernel of each row and each support vector."""
    gamma, offset, degree = (*map(float, call["kernel_params"] or ()), 0.0, 0.0, 0.0)[:3]
    kind = call.choose("kernel_type", ("LINEAR", "POLY", "RBF", "SIGMOID"))
    if vectors.shape[1] != x.shape[1]:
        call.refuse(
            f"its vectors have {vectors.shape[1]} numbers, and rows have {x.shape[1]} features"
        )
    if kind == "RBF":
        require_memory((x.shape[0], *vectors.shape), "f32", "the distances to its vectors")
        distances = (x.unsqueeze(1) - array_of(vectors[None])).square().sum(2, keep=False)
        return (distances * -gamma).exp()
    products = x @ array_of(np.ascontiguousarray(vectors.T))
    if kind == "LINEAR":
        return products
    products = products * gamma + offset
    return products.tanh() if kind == "SIGMOID" else products.pow(degree)


def _read_vectors(call: Call, count: int) -> NDArray[Any]:
    numbers = _numbers(call, "support_vectors")
    if count < 1 or numbers.size % count:
        call.refuse(
            f"its {numbers.size} numbers are not those of {count} support vectors; models without "
            "them are supported as LinearClassifier and LinearRegressor"
        )
    return numbers.reshape((count, -1))


def _regress(call: Call) -> Array:
    x, coefficients = as_rows(call.array("X")), _numbers(call, "coefficients")
    count = int(call["n_supports"])
    if count:
        x = _find_kernels(call, x, _read_vectors(call, count))
    rho = _numbers(call, "rho")
    if coefficients.size != x.shape[1] or rho.size != 1:
        call.refuse(
            f"it has {coefficients.size} coefficients and {rho.size} numbers in rho; there have to "
            f"be {x.shape[1]} and 1"
        )
    sums = x @ array_of(coefficients.reshape((-1, 1))) + float(rho[0])
    if call["one_class"]:
        return (sums > 0).where(sums.fill(1), sums.fill(-1))
    return transform_scores(call, sums)


def _classify(call: Call) -> tuple[Array, Array]:
    """The class with the most votes in pairs, and shares of classes or the scores of pairs."""
    x, labels = as_rows(call.array("X")), call["classlabels_ints"]
    sizes = [int(each) for each in call["vectors_per_class"] or ()]
    classes, count = len(sizes), sum(sizes)
    pairs = list(combinations(range(classes), 2))
    vectors = _read_vectors(call, count)
    coefficients, rho = _numbers(call, "coefficients"), _numbers(call, "rho")
    named = len(labels or call["classlabels_strings"] or ())
    if classes < 2 or named != classes or coefficients.size != (classes - 1) * count:
        call.refuse(
            f"it has {classes} kinds of vectors, {named} labels and {coefficients.size} "
            f"coefficients; {count} vectors of {named} classes have {(named - 1) * count}"
        )
    if rho.size != len(pairs):
        call.refuse(f"rho has {rho.size} numbers; there are {len(pairs)} pairs of classes")
    weights = _weigh_pairs(coefficients.reshape((classes - 1, count)), sizes, pairs)
    scores = _find_kernels(call, x, vectors) @ array_of(weights) + array_of(rho)
    votes = concatenate([_count_votes(scores, own, pairs) for own in range(classes)], 1)
    label = choose_label(call, votes, labels)
    slopes, offsets = _numbers(call, "prob_a"), _numbers(call, "prob_b")
    if slopes.size:
        if slopes.size != len(pairs) or offsets.size != len(pairs):
            call.refuse(f"prob_a and prob_b have to have {len(pairs)} numbers each")
        shares = 1 - (scores * array_of(slopes) + array_of(offsets)).sigmoid()
        shares = shares.limit(_LEAST_SHARE, 1 - _LEAST_SHARE)
        return label, transform_scores(call, _couple(call, shares, classes, pairs))
    if classes == 2:
        scores = concatenate([-scores, scores], 1)
    return label, transform_scores(call, scores)


def _weigh_pairs(
    coefficients: NDArray[Any], sizes: Sequence[int], pairs: Sequence[tuple[int, int]]
) -> NDArray[Any]:
    """What each vector adds to the score of each pair of classes."""
    begins = np.cumsum([0, *sizes])
    found = np.zeros((coefficients.shape[1], len(pairs)), np.float32)
    for place, (i, j) in enumerate(pairs):
        for own, row in ((i, j - 1), (j, i)):
            vectors = slice(begins[own], begins[own + 1])
            found[vectors, place] = coefficients[row, vectors]
    return found


def _count_votes(scores: Array, own: int, pairs: Sequence[tuple[int, int]]) -> Array:
    """In how many pairs a class wins."""
    won = scores > 0
    signs = np.array([[(own == i) - (own == j)] for i, j in pairs], np.float32)
    lost = float(sum(own == j for _, j in pairs))
    return won.cast("f32") @ array_of(signs) + lost


def _couple(call: Call, shares: Array, classes: int, pairs: Sequence[tuple[int, int]]) -> Array:
    """Shares of all classes from those of pairs, as libsvm finds them: by coordinates, until they
    are accurate enough."""
    columns: dict[tuple[int, int], Array] = {}
    for place, (i, j) in enumerate(pairs):
        columns[i, j] = shares.cut(1, place, place + 1)
        columns[j, i] = 1 - columns[i, j]

    def entry(i: int, j: int) -> Array:
        if i != j:
            return -columns[j, i] * columns[i, j]
        return _add([columns[k, i].square() for k in range(classes) if k != i])

    flat = [entry(i, j) for i in range(classes) for j in range(classes)]

    def divide(given: Sequence[Array]) -> list[list[Array]]:
        return [list(given[row * classes : (row + 1) * classes]) for row in range(classes)]

    def measure(
        found: Sequence[Array], rows: Sequence[Sequence[Array]]
    ) -> tuple[list[Array], Array, Array]:
        products = [_add([a * b for a, b in zip(row, found, strict=True)]) for row in rows]
        total = _add([a * b for a, b in zip(found, products, strict=True)])
        error = (products[0] - total).abs()
        for each in products[1:]:
            error = error.maximum((each - total).abs())
        return products, total, error < _ACCURACY / classes

    def step(
        inner: BodyBuilder,
        number: Array,
        mine: Sequence[Array],
        own: Sequence[Array],
        given: Sequence[Array],
    ) -> tuple[list[Array], list[Array]]:
        del inner, number, own
        rows = divide(given)
        found = list(mine)
        products, total, is_done = measure(found, rows)
        for t in range(classes):
            change = (total - products[t]) / rows[t][t]
            whole = change + 1
            found[t] = found[t] + change
            total = (total + change * (change * rows[t][t] + products[t] * 2)) / whole.square()
            found = [each / whole for each in found]
            products = [
                (each + change * row) / whole for each, row in zip(products, rows[t], strict=True)
            ]
        return [is_done.where(a, b) for a, b in zip(mine, found, strict=True)], []

    def goes_on(number: Array, mine: Sequence[Array], given: Sequence[Array]) -> Array:
        is_done = measure(mine, divide(given))[2]
        return (number < _MAX_ITERATIONS) & is_done.logical_not().any(0, 1, keep=False)

    begin = [shares.cut(1, 0, 1).fill(1 / classes) for _ in range(classes)]
    found, _ = run_loop(call, step, begin, [], flat, count=None, goes_on=goes_on)
    return concatenate(found, 1)


def _add(arrays: Sequence[Array]) -> Array:
    return sum(arrays[1:], arrays[0])


RULES: dict[str, Rule] = {"SVMClassifier": _classify, "SVMRegressor": _regress}
"""Rules by the names of operators of the domain `ai.onnx.ml`."""

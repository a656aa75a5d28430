"""Operators of classical machine learning, as far as they are on numbers."""

from __future__ import annotations

import math

import numpy as np

from ttmlir.arrays.array import Array, concatenate
from ttmlir.arrays.carriers import array_of
from ttmlir.composites import indexing
from ttmlir.composites.normalization import softmax
from ttmlir.frontend.onnx.call import Call, Rule


def _numbers(call: Call, name: str) -> Array:
    """An attribute of numbers as f32."""
    return array_of(np.array(call.required(name), np.float32))


def _rows(x: Array) -> Array:
    x = x.cast("f32")
    return x.reshape((1, x.shape[0])) if x.rank == 1 else x


def _extract(call: Call) -> Array:
    x, places = call.array("X"), call.array("Y").cast("i64")
    return indexing.take(x, x.rank - 1, places.reshape((math.prod(places.shape),)))


def _binarize(call: Call) -> Array:
    x = call.array("X")
    return (x > float(call["threshold"])).cast(x.dtype)


def _scale(call: Call) -> Array:
    x = _rows(call.array("X"))
    offset = _numbers(call, "offset") if call["offset"] is not None else 0.0
    scale = _numbers(call, "scale") if call["scale"] is not None else 1.0
    return (x - offset) * scale


def _normalize(call: Call) -> Array:
    x = _rows(call.array("X"))
    last = x.rank - 1
    match call.choose("norm", ("MAX", "L1", "L2")):
        case "MAX":
            size = x.max(last)
        case "L1":
            size = x.abs().sum(last)
        case _:
            size = x.square().sum(last).sqrt()
    return x / size.eq(0).where(1.0, size)


def _impute(call: Call) -> Array:
    x = call.array("X")
    values, given = (
        ("imputed_value_floats", "replaced_value_float")
        if x.is_real
        else ("imputed_value_int64s", "replaced_value_int64")
    )
    numbers = call.required(values)
    new = array_of(np.array(numbers), x.dtype)
    old = call[given]
    missing = x.ne(x) if x.is_real and np.isnan(old) else x.eq(old)
    return missing.where(new if len(numbers) > 1 else new.reshape(()), x)


def _join_features(call: Call) -> Array:
    return concatenate([_rows(each) for each in call.arrays("X")], 1)


def _linear(call: Call, x: Array, coefficients: Array, targets: int) -> Array:
    features = x.shape[-1]
    if coefficients.shape[0] != targets * features:
        call.refuse(
            f"it has {coefficients.shape[0]} coefficients; {targets} results of {features} "
            f"features have {targets * features}"
        )
    return x @ coefficients.reshape((targets, features)).transpose()


def _regress(call: Call) -> Array:
    x = _rows(call.array("X"))
    found = _linear(call, x, _numbers(call, "coefficients"), int(call["targets"]))
    if call["intercepts"] is not None:
        found = found + _numbers(call, "intercepts")
    return _transformed(call, found)


def _transformed(call: Call, scores: Array) -> Array:
    match call.choose("post_transform", ("NONE", "LOGISTIC", "SOFTMAX")):
        case "LOGISTIC":
            return scores.sigmoid()
        case "SOFTMAX":
            return softmax(scores, 1)
        case _:
            return scores


def _classify(call: Call) -> tuple[Array, Array]:
    """The label with the largest score, and the scores; one score is of two classes."""
    x = _rows(call.array("X"))
    labels = call["classlabels_ints"]
    if not labels:
        call.refuse("labels that are strings are not supported: devices compute with numbers")
    coefficients = _numbers(call, "coefficients")
    scores = _linear(call, x, coefficients, coefficients.shape[0] // max(x.shape[-1], 1))
    if call["intercepts"] is not None:
        scores = scores + _numbers(call, "intercepts")
    if scores.shape[1] == 1 and len(labels) == 2:
        scores = concatenate([-scores, scores], 1)
    if scores.shape[1] != len(labels):
        call.refuse(f"it has {scores.shape[1]} scores for {len(labels)} labels")
    places = scores.argmax(1).reshape((scores.shape[0],))
    return indexing.take(array_of(np.array(labels)), 0, places), _transformed(call, scores)


RULES: dict[str, Rule] = {
    "ArrayFeatureExtractor": _extract,
    "Binarizer": _binarize,
    "FeatureVectorizer": _join_features,
    "Imputer": _impute,
    "LinearClassifier": _classify,
    "LinearRegressor": _regress,
    "Normalizer": _normalize,
    "Scaler": _scale,
}
"""Rules by the names of operators of the domain `ai.onnx.ml`."""

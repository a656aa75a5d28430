"""Operators of classical machine learning, as far as they are on numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttmlir.arrays.array import Array, concatenate
from ttmlir.arrays.carriers import array_of
from ttmlir.composites import indexing
from ttmlir.composites.normalization import softmax
from ttmlir.composites.special import ndtri
from ttmlir.frontend.onnx.call import Call, RefusedError, Rule
from ttmlir.frontend.onnx.elements import Tensor
from ttmlir.frontend.onnx.rules.indexing import indices_from_start


def _numbers(call: Call, name: str) -> Array:
    """An attribute of numbers as f32."""
    return array_of(np.array(call.required(name), np.float32))


def as_rows(x: Array) -> Array:
    """Features as rows of f32; a vector is one row."""
    if x.rank not in (1, 2):
        raise RefusedError(f"features are rows of numbers; the tensor has {x.rank} dimensions")
    x = x.cast("f32")
    return x.reshape((1, x.shape[0])) if x.rank == 1 else x


def _extract(call: Call) -> Array:
    x = call.array("X")
    x = x.unsqueeze(0) if x.rank == 1 else x
    places = indices_from_start(call, "Y", x.shape[-1])
    return indexing.take(x, x.rank - 1, places.reshape((math.prod(places.shape),)))


def _binarize(call: Call) -> Array:
    x = call.array("X")
    return (x > float(call["threshold"])).cast(x.dtype)


def _scale(call: Call) -> Array:
    x = as_rows(call.array("X"))
    offset = _numbers(call, "offset") if call["offset"] is not None else 0.0
    scale = _numbers(call, "scale") if call["scale"] is not None else 1.0
    return (x - offset) * scale


def _normalize(call: Call) -> Array:
    x = as_rows(call.array("X"))
    last = x.rank - 1
    match call.choose("norm", ("MAX", "L1", "L2")):
        case "MAX":
            size = x.abs().max(last)
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
    return concatenate([as_rows(each) for each in call.arrays("X")], 1)


def _linear(call: Call, x: Array, coefficients: Array, targets: int) -> Array:
    features = x.shape[-1]
    if coefficients.shape[0] != targets * features:
        call.refuse(
            f"it has {coefficients.shape[0]} coefficients; {targets} results of {features} "
            f"features have {targets * features}"
        )
    return x @ coefficients.reshape((targets, features)).transpose()


def _regress(call: Call) -> Array:
    x = as_rows(call.array("X"))
    found = _linear(call, x, _numbers(call, "coefficients"), int(call["targets"]))
    if call["intercepts"] is not None:
        found = found + _numbers(call, "intercepts")
    return transform_scores(call, found)


_TRANSFORMS = ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT")
_NEAR_ZERO = 1e-7


def transform_scores(call: Call, scores: Array, kind: str = "") -> Array:
    """Scores as the attribute `post_transform`, or a kind, says."""
    match kind or call.choose("post_transform", _TRANSFORMS):
        case "LOGISTIC":
            return scores.sigmoid()
        case "SOFTMAX":
            return softmax(scores, 1)
        case "SOFTMAX_ZERO":
            largest = scores.max(1)
            powers = (scores - largest).exp()
            powers = (scores.abs() > _NEAR_ZERO).where(powers, scores * (-largest).exp())
            sums = powers.sum(1)
            return sums.eq(0).where(0.5, powers / sums)
        case "PROBIT":
            return ndtri(scores)
        case _:
            return scores


def choose_label(call: Call, scores: Array, labels: Sequence[int] | None) -> Array:
    """The labels of the largest scores; those that are strings may exist if nobody uses them."""
    if not labels:
        if call.is_used(0):
            call.refuse(
                "labels that are strings are not supported: devices compute with numbers; export "
                "the model with labels that are integers, or leave the scores as its only result"
            )
        labels = range(scores.shape[1])
    places = scores.argmax(1).reshape((scores.shape[0],))
    return indexing.take(array_of(np.array(labels)), 0, places)


def _classify(call: Call) -> tuple[Array, Array]:
    """The label with the largest score, and the scores; one score is of two classes."""
    x = as_rows(call.array("X"))
    labels = call["classlabels_ints"]
    count = len(labels or call["classlabels_strings"] or ())
    coefficients = _numbers(call, "coefficients")
    scores = _linear(call, x, coefficients, coefficients.shape[0] // max(x.shape[-1], 1))
    if call["intercepts"] is not None:
        scores = scores + _numbers(call, "intercepts")
    if scores.shape[1] == 1 and count == 2:
        scores = concatenate([-scores, scores], 1)
    if scores.shape[1] != count:
        call.refuse(f"it has {scores.shape[1]} scores for {count} labels")
    return choose_label(call, scores, labels), transform_scores(call, scores)


# -- categories ----------------------------------------------------------------------------------


def _encode_one_hot(call: Call) -> Array:
    """1 at the place of each number among the categories; of others, which are an error without
    `zeros` that no device can raise, all zeros."""
    x, categories = call.array("X"), call["cats_int64s"]
    if not categories:
        call.refuse("categories that are strings are not supported: devices compute with numbers")
    x = x.cast("i64").unsqueeze(x.rank)
    return x.eq(array_of(np.array(categories, np.int64))).cast("f32")


def _encode_labels(call: Call) -> Array:
    """The values of keys, and the default for other numbers."""
    x = call.array("X")
    keys, values = _table(call, "keys"), _table(call, "values")
    kind = "f" if values.dtype.kind == "f" else "i"
    default = call["default_tensor"]
    if isinstance(default, Tensor):
        default = default.array.value.reshape(-1)[0]
    elif values.dtype == np.float64 or values.dtype.itemsize < 4:
        default = 0
    else:
        default = call["default_float" if kind == "f" else "default_int64"]
    if keys.shape != values.shape:
        call.refuse(f"it has {keys.size} keys and {values.size} values")
    # The first of equal keys counts.
    keys, places = np.unique(keys, return_index=True)
    values = np.append(values[places], np.asarray(default, values.dtype))
    wide = x.unsqueeze(x.rank)
    is_key = wide.eq(array_of(keys, x.dtype))
    if keys.dtype.kind == "f":
        is_key = is_key.logical_or(wide.is_nan().logical_and(array_of(np.isnan(keys))))
    position = array_of(np.arange(len(keys), dtype=np.int32))
    found = is_key.where(position, len(keys)).min(x.rank, keep=False)
    taken = indexing.take(array_of(values), 0, found.reshape((math.prod(x.shape),)))
    return taken.reshape(x.shape)


def _table(call: Call, name: str) -> NDArray[Any]:
    """The numbers of keys or values of an encoder."""
    if isinstance(tensor := call[f"{name}_tensor"], Tensor):
        return np.asarray(tensor.array.value).reshape(-1)
    for kind, dtype in (("int64s", np.int64), ("floats", np.float32)):
        if call[f"{name}_{kind}"]:
            return np.array(call[f"{name}_{kind}"], dtype)
    call.refuse(f"its {name} have to be numbers: strings are not supported on devices")


def _name_scores(call: Call) -> Tensor:
    """The scores of classes as they are: columns take the place of maps, which no program has."""
    labels: list[Any] = call["classlabels_int64s"] or call["classlabels_strings"] or []
    scores = call.tensor("X")
    if scores.array.rank not in (1, 2) or scores.array.shape[-1] != len(labels):
        call.refuse(f"scores of shape {list(scores.array.shape)} have no {len(labels)} classes")
    names = ", ".join(map(str, labels[:_SPELLED])) + (", ..." if len(labels) > _SPELLED else "")
    call.warnings.append(
        f"instead of the maps of ZipMap the model gives scores, in columns for the classes {names}"
    )
    return scores


_SPELLED = 20
"""Classes that a warning names."""

RULES: dict[str, Rule] = {
    "ArrayFeatureExtractor": _extract,
    "Binarizer": _binarize,
    "FeatureVectorizer": _join_features,
    "Imputer": _impute,
    "LabelEncoder": _encode_labels,
    "LinearClassifier": _classify,
    "LinearRegressor": _regress,
    "Normalizer": _normalize,
    "OneHotEncoder": _encode_one_hot,
    "Scaler": _scale,
    "ZipMap": _name_scores,
}
"""Rules by the names of operators of the domain `ai.onnx.ml`."""

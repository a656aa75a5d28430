"""Operators that look elements up, or write them, at places that are themselves tensors."""

from __future__ import annotations

import itertools
import math

import numpy as np

from ttmlir.arrays.array import Array, concatenate
from ttmlir.arrays.carriers import array_of
from ttmlir.composites import indexing
from ttmlir.frontend.onnx.call import Call, Rule

_COMBINE = {
    "add": indexing.Combine.ADD,
    "mul": indexing.Combine.MULTIPLY,
    "max": indexing.Combine.MAXIMUM,
    "min": indexing.Combine.MINIMUM,
}
"""What becomes of elements that meet, by ONNX's words."""


def _reduction(call: Call) -> str:
    """How elements are combined, in the words of `Array.scatter`."""
    if call["reduction"] in (None, "none"):
        return ""
    return _COMBINE[call.choose("reduction", ["none", *_COMBINE])].value


def indices_from_start(call: Call, name: str, extent: int) -> Array:
    """Indices counted from the start; those that are known are checked."""
    index = call.array(name)
    if index.carrier.holds_numbers:
        numbers = index.value
        if numbers.size and not -extent <= numbers.min() <= numbers.max() < extent:
            call.refuse(
                f"the input '{name}' has indices from {numbers.min()} to {numbers.max()}; the "
                f"dimension has {extent} elements"
            )
    return indexing.count_from_start(index.cast("i64"), extent)


def _gather(call: Call) -> Array:
    x = call.array("data")
    dim = call.dim(x.rank, default=0)
    return indexing.take(x, dim, indices_from_start(call, "indices", x.shape[dim]))


def _gather_elements(call: Call) -> Array:
    x = call.array("data")
    dim = call.dim(x.rank, default=0)
    index = indices_from_start(call, "indices", x.shape[dim])
    for other, count in enumerate(index.shape):
        if other != dim:
            x = x.cut(other, 0, count)
    return x.gather(dim, index)


def _components(index: Array) -> list[Array]:
    """The parts of a tensor along its last dimension, without it."""
    parts = [index.cut(index.rank - 1, i, i + 1) for i in range(index.shape[-1])]
    return [part.reshape(index.shape[:-1]) for part in parts]


def _gather_nd(call: Call) -> Array:
    x, index, batch = (
        call.array("data"),
        call.array("indices").cast("i64"),
        int(call["batch_dims"] or 0),
    )
    if index.rank < 1 or not 0 <= batch < min(x.rank, index.rank):
        call.refuse(f"batch_dims is {batch}; the tensors have {x.rank} and {index.rank} dimensions")
    if batch + index.shape[-1] > x.rank:
        call.refuse(
            f"indices of {index.shape[-1]} numbers do not fit a tensor of {x.rank} dimensions"
        )
    found = _components(index)
    rows = [
        array_of(np.arange(x.shape[dim]).reshape((-1, *(1,) * (index.rank - 2 - dim))))
        for dim in range(batch)
    ]
    if not found and not rows:
        return x.broadcast((*index.shape[:-1], *x.shape))
    return indexing.read_at(x, [*rows, *found])


def _scatter_nd(call: Call) -> Array:
    x, index, source = call.array("data"), call.array("indices").cast("i64"), call.array("updates")
    if index.rank < 1 or index.shape[-1] > x.rank:
        call.refuse(f"indices of the shape {list(index.shape)} do not fit {x.rank} dimensions")
    expected = (*index.shape[:-1], *x.shape[index.shape[-1] :])
    if source.shape != expected:
        call.refuse(f"updates has the shape {list(source.shape)}; it has to be {list(expected)}")
    return indexing.write_at(x, _components(index), source, _reduction(call))


def _scatter_elements(call: Call) -> Array:
    x, source = call.array("data"), call.array("updates")
    dim = call.dim(x.rank, default=0)
    places = indices_from_start(call, "indices", x.shape[dim])
    return indexing.scatter(x, dim, places, source, _reduction(call))


def _one_hot(call: Call) -> Array:
    index, values = call.array("indices"), call.array("values")
    depth = int(call.number("depth"))
    dim = call.dims(index.rank + 1, (call["axis"],), "axis")[0]
    call.check_size((*index.shape, max(depth, 0)), "i64")
    index = index.cast("i64")
    index = (index < 0).where(index + depth, index).unsqueeze(dim)
    shape = [depth if i == dim else 1 for i in range(index.rank)]
    off, on = (values.cut(0, i, i + 1).reshape(()) for i in (0, 1))
    return index.eq(array_of(np.arange(depth).reshape(shape))).where(on, off)


def _tensor_scatter(call: Call) -> Array:
    """A cache with new rows written from a place on, another one in each batch."""
    cache, update = call.array("past_cache"), call.array("update")
    dim, first = call.dim(cache.rank), None
    is_circular = call.choose("mode", ("linear", "circular")) == "circular"
    if call.has("write_indices"):
        first = call.array("write_indices").cast("i64")
        first = first.reshape((first.shape[0], *(1,) * (cache.rank - 1)))
    return write_rows(cache, update, dim, first, is_circular=is_circular)


def write_rows(
    cache: Array, update: Array, dim: int, first: Array | None, *, is_circular: bool = False
) -> Array:
    """A cache with rows written along a dimension from places on, which broadcast against it."""
    extent, count = cache.shape[dim], update.shape[dim]
    shape = [extent if i == dim else 1 for i in range(cache.rank)]
    offset = array_of(np.arange(extent).reshape(shape))
    if first is not None:
        offset = offset - first
    if is_circular:
        offset = (offset < 0).where(offset + extent, offset)
    is_new = (offset >= 0) & (offset < count)
    index = offset.limit(0, count - 1)
    whole = [extent if i == dim else n for i, n in enumerate(update.shape)]
    return is_new.where(update.gather(dim, index.broadcast(whole)), cache)


def _tfidf_vectorizer(call: Call) -> Array:
    """Counts of n-grams of whole numbers, weighted."""
    x = call.array("X")
    pool = call["pool_int64s"]
    if not pool:
        call.refuse("n-grams of strings are not supported: devices compute with numbers")
    mode = call.choose("mode", ("TF", "IDF", "TFIDF"))
    rows = x if x.rank == 2 else x.reshape((1, math.prod(x.shape)))
    starts = [*call.required("ngram_counts"), len(pool)]
    counts: list[Array] = []
    for length, (begin, end) in enumerate(itertools.pairwise(starts), start=1):
        for at in range(begin, end, length):
            counts.append(_count_of(call, rows, pool[at : at + length]))
    order = list(call.required("ngram_indexes"))
    found = concatenate(counts, 1)
    if mode != "TF":
        present = (found > 0).cast("f32") if mode == "IDF" else found
        weights = call["weights"] or [1.0] * len(order)
        found = present * array_of(np.array(weights, np.float32))
    columns = [found.cut(1, int(i), int(i) + 1) for i in np.argsort(order)]
    found = concatenate(columns, 1)
    return found if x.rank == 2 else found.reshape(found.shape[1:])


def _count_of(call: Call, rows: Array, gram: list[int]) -> Array:
    """How often numbers are found in each row, with up to so many others between them."""
    length = len(gram)
    total = rows.fill(0.0, (rows.shape[0], 1), "f32")
    if not call["min_gram_length"] <= length <= call["max_gram_length"]:
        return total
    for skip in range(1 if length == 1 else int(call["max_skip_count"]) + 1):
        width = rows.shape[1] - (length - 1) * (skip + 1)
        if width < 1:
            continue
        parts = [rows.cut(1, i * (skip + 1), i * (skip + 1) + width) for i in range(length)]
        hits = parts[0].eq(gram[0])
        for part, number in zip(parts[1:], gram[1:], strict=True):
            hits = hits & part.eq(number)
        total = total + hits.cast("f32").sum(1)
    return total


RULES: dict[str, Rule] = {
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "OneHot": _one_hot,
    "Scatter": _scatter_elements,
    "ScatterElements": _scatter_elements,
    "ScatterND": _scatter_nd,
    "TensorScatter": _tensor_scatter,
    "TfIdfVectorizer": _tfidf_vectorizer,
}
"""Rules by the names of operators."""

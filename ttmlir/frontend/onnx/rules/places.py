"""Where tensors are not 0: places whose number is known only when the model runs.

What exporters make of `masked_scatter` and of `x[mask] = 5` ends in tensors of known sizes again;
these rules follow the places until then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ttmlir.arrays.array import Array
from ttmlir.arrays.carriers import array_of
from ttmlir.composites import indexing
from ttmlir.frontend.onnx.call import Call, NumbersNeededError, Rule, Unsized
from ttmlir.frontend.onnx.elements import Tensor
from ttmlir.frontend.onnx.rules.indexing import indices_from_start


@dataclass(frozen=True)
class _OfMask(Unsized):
    """What has a size that depends on how often a mask is true."""

    mask: Array


@dataclass(frozen=True)
class Places(_OfMask):
    """The places where the mask is true, a column for each or, with `are_rows`, a row."""

    are_rows: bool = False


@dataclass(frozen=True)
class Shape(_OfMask):
    """A shape, a part of it or one extent of it; None for the number of places."""

    extents: tuple[int | None, ...]


@dataclass(frozen=True)
class First(_OfMask):
    """As many of the first elements of a vector as there are places."""

    values: Array


@dataclass(frozen=True)
class Repeated(Unsized):
    """One number for each place."""

    value: Array
    reason: NumbersNeededError
    """The numbers of arguments that are needed to know how often."""

    @property
    def error(self) -> Exception:
        """The reason."""
        return self.reason


def _find_places(call: Call) -> Array | Places:
    x = call.tensor("X").array
    if x.carrier.holds_numbers:
        return array_of(np.array(np.atleast_1d(x.value).nonzero(), np.int64))
    return Places(x if x.dtype == "i1" else x.ne(0))


def repeat_number(call: Call) -> Repeated | None:
    """The rule of `Expand` for one number and an unknown extent; None for others."""
    x, shape = call.array("input"), call.tensor("shape").array
    if shape.carrier.holds_numbers or shape.shape != (1,) or math.prod(x.shape) != 1:
        return None
    try:
        call.numbers("shape")
    except NumbersNeededError as error:
        reason = NumbersNeededError(f"of an Expand before it {error}", error.arguments)
        return Repeated(x.reshape(()), reason) if x.rank < 2 else None
    return None


def follow(call: Call) -> Any:
    """What an operator gives for inputs of which one is `Unsized`; None where that is not known."""
    rule = _FOLLOWING.get(call.operator)
    return None if rule is None else rule(call)


def _transpose(call: Call) -> Places | None:
    x = call.inputs["data"]
    if not isinstance(x, Places) or list(call["perm"] or (1, 0)) != [1, 0]:
        return None
    return Places(x.mask, not x.are_rows)


def _shape(call: Call) -> Shape | None:
    x = call.inputs["data"]
    if isinstance(x, Places):
        extents = (None, x.mask.rank) if x.are_rows else (x.mask.rank, None)
    elif isinstance(x, First):
        extents = (None,)
    else:
        return None
    return Shape(x.mask, extents[call["start"] or 0 : call["end"]])


def _choose(call: Call) -> Shape | Tensor | None:
    """Entries of a shape."""
    x = call.inputs["data"]
    if not isinstance(x, Shape):
        return None
    index = indices_from_start(call, "indices", len(x.extents))
    if not index.carrier.holds_numbers:
        return None
    places: list[int] = index.value.reshape(-1).tolist()
    chosen = tuple(x.extents[each] for each in places)
    if None not in chosen:
        return Tensor(array_of(np.array(chosen, np.int64).reshape(index.shape)), "INT64")
    return Shape(x.mask, chosen)


def _keep(call: Call) -> Shape | None:
    """An extent as it is: no rule depends on its shape or its type, which the operator changes."""
    x = next(iter(call.inputs.values()))
    return x if isinstance(x, Shape) and len(x.extents) == 1 else None


def _reshape(call: Call) -> Unsized | None:
    """A vector of what is one already."""
    x: Any = call.inputs["data"]
    is_vector = isinstance(x, First | Repeated) and call.integers("shape") == (-1,)
    return x if is_vector else _keep(call)


def _cut(call: Call) -> First | None:
    """The first elements of a vector."""
    end, starts = call.inputs["ends"], call.integers("starts")
    if not isinstance(end, Shape) or end.extents != (None,) or starts != (0,):
        return None
    x, axes = call.array("data"), call.integers("axes")
    steps = call.integers("steps")
    if x.rank != 1 or axes not in (None, (0,), (-1,)) or steps not in (None, (1,)):
        return None
    return First(end.mask, x)


def _scatter(call: Call) -> Array | None:
    """Elements at the places of a mask of the same shape, from a vector in its order."""
    places, source = call.inputs["indices"], call.inputs["updates"]
    if not isinstance(places, Places) or not places.are_rows:
        return None
    x, mask = call.array("data"), places.mask
    if mask.shape != x.shape or call["reduction"] not in (None, "none"):
        return None
    if isinstance(source, Repeated):
        return mask.where(source.value.cast(x.dtype), x)
    if not isinstance(source, First) or source.mask is not mask:
        return None
    count, room = math.prod(x.shape), source.values.shape[0]
    if not room:
        return x
    number = mask.reshape((count,)).cast("i64").cumsum(0) - 1
    taken = indexing.take(source.values, 0, number.limit(0, room - 1))
    return mask.where(taken.reshape(x.shape), x)


RULES: dict[str, Rule] = {"NonZero": _find_places}
"""Rules by the names of operators of the standard."""

_FOLLOWING: Mapping[str, Callable[[Call], Any]] = {
    "Cast": _keep,
    "Gather": _choose,
    "Reshape": _reshape,
    "ScatterND": _scatter,
    "Shape": _shape,
    "Slice": _cut,
    "Squeeze": _keep,
    "Transpose": _transpose,
    "Unsqueeze": _keep,
}

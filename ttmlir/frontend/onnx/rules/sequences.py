"""Operators on sequences and optional values, which exist while the model is compiled."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ttmlir.arrays.array import Array, concatenate
from ttmlir.arrays.carriers import array_of
from ttmlir.frontend.onnx.call import Call, Rule
from ttmlir.frontend.onnx.elements import Tensor, Value
from ttmlir.frontend.onnx.rules.movement import cut_up


def _construct(call: Call) -> list[Value]:
    found = call.inputs["inputs"]
    assert isinstance(found, list), "the schema says so"
    return found


def _position(call: Call, length: int, default: int | None = None) -> int:
    """A place in a sequence; those below 0 count from its end."""
    place = call.number("position", default)
    last = length if call.operator == "SequenceInsert" else length - 1
    if not -length <= place <= last:
        call.refuse(f"position is {place}; the sequence has {length} elements")
    return int(place) % max(length, 1) if place < 0 else int(place)


def _at(call: Call) -> Value:
    sequence = call.sequence("input_sequence")
    return sequence[_position(call, len(sequence))]


def _insert(call: Call) -> list[Value]:
    sequence = [*call.sequence("input_sequence")]
    value = cast("Value", call.inputs["tensor"])
    sequence.insert(_position(call, len(sequence), len(sequence)), value)
    return sequence


def _erase(call: Call) -> list[Value]:
    sequence = [*call.sequence("input_sequence")]
    if not sequence:
        call.refuse("the sequence is empty")
    del sequence[_position(call, len(sequence), len(sequence) - 1)]
    return sequence


def _length(call: Call) -> Array:
    return array_of(np.array(len(call.sequence("input_sequence")), np.int64))


def _concat(call: Call) -> Tensor:
    call.sequence("input_sequence")
    parts = call.arrays("input_sequence")
    if not parts:
        call.refuse("the sequence is empty")
    first = call.sequence("input_sequence")[0]
    assert isinstance(first, Tensor), "they are all tensors"
    if call["new_axis"]:
        dim = call.dim(parts[0].rank + 1)
        parts = [each.unsqueeze(dim) for each in parts]
    else:
        dim = call.dim(parts[0].rank)
    shapes = {(*each.shape[:dim], *each.shape[dim + 1 :]) for each in parts}
    if len(shapes) > 1:
        call.refuse(f"the tensors differ in other dimensions than {dim}")
    return Tensor(concatenate(parts, dim), first.type)


def _split(call: Call) -> list[Value]:
    given = call.tensor("input")
    x = call.use(given.array)
    dim = call.dim(x.rank)
    extent, squeezes = x.shape[dim], False
    if not call.has("split"):
        sizes, squeezes = [1] * extent, not call["keepdims"]
    elif call.numbers("split").ndim:
        sizes = list(call.integers("split") or ())
    else:
        size = int(call.number("split"))
        if size < 1:
            call.refuse(f"split is {size}; it has to be at least 1")
        sizes = [min(size, extent - begin) for begin in range(0, extent, size)]
    if sum(sizes) != extent or min(sizes, default=0) < 0:
        call.refuse(f"the parts {sizes} do not add up to the extent {extent}")
    parts = cut_up(x, dim, sizes)
    return [Tensor(each.squeeze(dim) if squeezes else each, given.type) for each in parts]


def _optional(call: Call) -> Value:
    return call.inputs.get("input")


def _get(call: Call) -> Value:
    value = call.inputs.get("input")
    if value is None:
        call.refuse("the optional value is empty")
    return value


def _has(call: Call) -> Array:
    return array_of(np.array(call.inputs.get("input") is not None))


def _empty(call: Call) -> Any:
    del call
    return list[Value]()


RULES: dict[str, Rule] = {
    "ConcatFromSequence": _concat,
    "Optional": _optional,
    "OptionalGetElement": _get,
    "OptionalHasElement": _has,
    "SequenceAt": _at,
    "SequenceConstruct": _construct,
    "SequenceEmpty": _empty,
    "SequenceErase": _erase,
    "SequenceInsert": _insert,
    "SequenceLength": _length,
    "SplitToSequence": _split,
}
"""Rules by the names of operators."""

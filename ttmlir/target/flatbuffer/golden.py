"""Inputs and expected outputs of a program, kept in its file so that others can check it.

They come from the framework that the program was written in: `ttrt run --golden` runs the program
on these inputs and compares.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ttmlir.layout.element_type import SCHEMA_NAMES, ScalarType
from ttmlir.target.flatbuffer.tensors import Table

_KEYWORDS = {
    "float32": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "float64": "f64",
    "bool": "i1",
    "uint8": "ui8",
    "uint16": "ui16",
    "uint32": "ui32",
    "uint64": "ui64",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
}


@dataclass(frozen=True, kw_only=True)
class Golden:
    """What a reference was given and what it computed, as NumPy arrays in the program's order."""

    inputs: Sequence[Any]
    outputs: Sequence[Any]
    function: str | None = None
    """The function that they belong to; None for the only one of the module."""


def golden_info(golden: Golden) -> Table:
    """The `GoldenInfo` table; ValueError for arrays that no tensor can hold."""
    return {"golden_map": [*_entries("input", golden.inputs), *_entries("output", golden.outputs)]}


def _entries(kind: str, arrays: Sequence[Any]) -> Iterator[Table]:
    for number, array in enumerate(arrays):
        name = f"{kind}_{number}"
        yield {"key": name, "value": _tensor(name, array)}


def _tensor(name: str, array: Any) -> Table:
    keyword = _KEYWORDS.get(array.dtype.name)
    if keyword is None:
        raise ValueError(
            f"{name} has element type {array.dtype}; supported are {', '.join(_KEYWORDS)}"
        )
    shape = tuple(int(extent) for extent in array.shape)
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.insert(0, strides[0] * extent)
    if sys.byteorder == "big":
        array = array.byteswap()
    return {
        "name": name,
        "shape": shape,
        "stride": strides if shape else (),
        "dtype": ScalarType(keyword).data_type.schema_name,
        "data": array.tobytes(),
        "element_type": SCHEMA_NAMES[keyword],
    }

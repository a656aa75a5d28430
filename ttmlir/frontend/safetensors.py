"""Files of arrays by name, in the format of safetensors.

Eight bytes with the length of a header, the header in JSON with each array's type, shape and place,
then the numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from ttmlir.files import write_file
from ttmlir.runtime.tensor import Array

_ALIGNMENT = 8


def write_safetensors(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write arrays, those of other types as what ttnn computes with."""
    header: dict[str, object] = {}
    begin = 0
    for name, array in arrays.items():
        kind = _kind(array)
        end = begin + array.size * {"BF16": 2, "BOOL": 1}.get(kind, 4)
        header[name] = {"dtype": kind, "shape": [*array.shape], "data_offsets": [begin, end]}
        begin = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    write_file(path, _chunks(text, arrays))


def _chunks(text: bytes, arrays: Mapping[str, Array]) -> Iterator[bytes]:
    yield len(text).to_bytes(8, "little")
    yield text
    for array in arrays.values():
        yield plain_array(array)[1].tobytes()


def _kind(array: Array) -> str:
    if array.dtype.name == "bfloat16":
        return "BF16"
    return {"i": "I32", "b": "BOOL", "u": "U32"}.get(array.dtype.kind, "F32")


def plain_array(array: Array) -> tuple[str, Array]:
    """What an array is stored as, and the numbers; those of bfloat16 as their 16 bits."""
    kind = _kind(array)
    if kind == "BF16":
        return kind, np.ascontiguousarray(array).view(np.dtype("<u2"))
    return kind, array.astype({"BOOL": "?", "I32": "<i4", "U32": "<u4", "F32": "<f4"}[kind])

"""Files of safetensors, and folders of several with an index."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn, cast

import ml_dtypes
import numpy as np

from ttmlir.errors import FileError
from ttmlir.files import path_below, read_file
from ttmlir.frontend.weights.sources import Entry, check_shape, open_bytes

INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"
MAX_HEADER = 100_000_000
"""Most bytes of a header, as the format has it."""
_TYPES: Mapping[str, Any] = {
    **{"BOOL": "?", "U8": "u1", "I8": "i1", "U16": "<u2", "I16": "<i2", "U32": "<u4", "I32": "<i4"},
    **{"U64": "<u8", "I64": "<i8", "F16": "<f2", "F32": "<f4", "F64": "<f8"},
    "BF16": ml_dtypes.bfloat16,
    "F8_E4M3": ml_dtypes.float8_e4m3fn,
    "F8_E5M2": ml_dtypes.float8_e5m2,
}


def read_safetensors(path: Path) -> dict[str, Entry]:
    """The tensors of a file by name, whose numbers are not read yet; FileError for damaged ones."""
    data = open_bytes(path)

    def refuse(reason: str) -> NoReturn:
        raise FileError(f"{path}: {reason}")

    length = int.from_bytes(data[:8].tobytes(), "little")
    if len(data) < 8 or length > min(len(data) - 8, MAX_HEADER):
        refuse(
            f"the file is no file of safetensors, cut off or damaged: its header would have "
            f"{length:,} bytes, and the file has {len(data):,}"
        )
    header = _parse(path, data[8 : 8 + length].tobytes())
    numbers = data[8 + length :]
    found: dict[str, Entry] = {}
    for name, said in header.items():
        if name == "__metadata__":
            continue
        kind, shape, (begin, end) = _read_entry(path, name, said)
        size = check_shape(path, name, shape) * np.dtype(_TYPES[kind]).itemsize
        if not 0 <= begin <= end <= len(numbers) or end - begin != size:
            refuse(
                f"the tensor {name!r} stands from byte {begin:,} to {end:,} of {len(numbers):,}; "
                f"{kind}{list(shape)} has {size:,} bytes"
            )
        part, dtype = numbers[begin:end], np.dtype(_TYPES[kind])
        found[name] = Entry(
            shape,
            kind,
            lambda part=part, dtype=dtype, shape=shape: np.array(part).view(dtype).reshape(shape),
        )
    return found


def _parse(path: Path, text: bytes) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileError(f"{path}: this is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise FileError(f"{path}: this is no object of JSON")
    return cast("dict[str, Any]", found)


def _are_counts(value: Any, length: int | None = None) -> bool:
    """Whether a value is a list of whole numbers from 0 on."""
    if not isinstance(value, list) or length not in (None, len(cast("list[Any]", value))):
        return False
    return all(type(each) is int and each >= 0 for each in cast("list[Any]", value))


def _read_entry(path: Path, name: str, said: Any) -> tuple[str, tuple[int, ...], tuple[int, int]]:
    """What a header says of a tensor."""
    parts = cast("dict[str, Any]", said) if isinstance(said, dict) else {}
    kind, shape, place = (cast("Any", parts.get(k)) for k in ("dtype", "shape", "data_offsets"))
    if not isinstance(kind, str) or not _are_counts(shape) or not _are_counts(place, 2):
        raise FileError(
            f"{path}: the tensor {name!r} has to have dtype, shape and data_offsets, of which "
            "shapes and offsets are whole numbers"
        )
    if kind not in _TYPES:
        raise FileError(
            f"{path}: the tensor {name!r} has the type {kind!r}; supported are {', '.join(_TYPES)}"
        )
    begin, end = place
    return kind, tuple(shape), (begin, end)


def read_json(path: Path) -> dict[str, Any]:
    """An object of JSON; FileError if the file has none."""
    try:
        return _parse(path, read_file(path))
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}") from error


def read_folder(folder: Path) -> dict[str, Entry]:
    """The tensors of a folder: those of one file, or of the files that its index names."""
    if (folder / INDEX).is_file():
        return read_index(folder / INDEX)
    if (folder / SINGLE).is_file():
        return read_safetensors(folder / SINGLE)
    raise FileError(f"{folder}: this folder has no {SINGLE}, no {INDEX} and no adapter_config.json")


def read_index(path: Path) -> dict[str, Entry]:
    """The tensors of the files that an index names."""
    places = read_json(path).get("weight_map")
    if not isinstance(places, dict):
        raise FileError(f"{path}: it has no 'weight_map'")
    files: dict[str, dict[str, Entry]] = {}
    found: dict[str, Entry] = {}
    for name, file in cast("dict[str, Any]", places).items():
        if not isinstance(file, str):
            raise FileError(f"{path}: the file of {name!r} is no name")
        if file not in files:
            try:
                files[file] = read_safetensors(Path(path_below(path.parent, file)))
            except OSError as error:
                raise FileError(f"{path}: {file!r}: {error.strerror or error}") from error
        if name not in files[file]:
            raise FileError(f"{path}: {name!r} is not in {file!r}")
        found[name] = files[file][name]
    return found

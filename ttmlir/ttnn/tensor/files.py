"""Tensors in files: a header of JSON, and the numbers row by row.

    8 bytes  b"ttmlirT1"
    4 bytes  the header's length, little endian
    header   {"dtype": "BFLOAT16", "layout": "TILE", "shape": [2, 3]}
    numbers  of the data type, little endian, without padding; block floats as float32

Nothing else may follow. It is a format of this project; files that ttnn itself writes are refused.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ttmlir.errors import UsageError
from ttmlir.files import write_file
from ttmlir.ttnn.operations.operation import Operation, operations_of, require_tensor
from ttmlir.ttnn.tensor.conversion import HOST_TYPES, from_torch, make_tensor, to_numpy
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.enums import DataType, Layout
from ttmlir.ttnn.types.memory import MemoryConfig

if TYPE_CHECKING:
    from ttmlir.ttnn.device.mesh import MeshDevice
    from ttmlir.ttnn.types.memory import MemoryConfig

EXTENSION = ".tensorbin"
_MAGIC = b"ttmlirT1"
_MOST_HEADER = 1 << 12
_MOST_DIMENSIONS = 8


def dump_tensor(file_name: str | os.PathLike[str], tensor: Tensor) -> None:
    """Write a tensor to a file; RuntimeError for another extension."""
    path = _path(file_name)
    array = np.ascontiguousarray(to_numpy(require_tensor(tensor, "tensor")))
    spec = tensor.spec
    facts = {"dtype": spec.dtype.name, "layout": spec.layout.name, "shape": [*spec.shape]}
    header = json.dumps(facts, sort_keys=True).encode()
    data = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
    write_file(path, _MAGIC + len(header).to_bytes(4, "little") + header + data)


def load_tensor(file_name: str | os.PathLike[str], *, device: MeshDevice | None = None) -> Tensor:
    """The tensor in a file, on a device if one is given; RuntimeError if the file is no tensor's.

    The sizes in the header are compared with the file's before memory is taken.
    """
    path = _path(file_name)
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            start = file.read(len(_MAGIC) + 4)
            if start[: len(_MAGIC)] != _MAGIC or len(start) < len(_MAGIC) + 4:
                raise UsageError(f"{path} was not written by dump_tensor of this package")
            length = int.from_bytes(start[len(_MAGIC) :], "little")
            if length > _MOST_HEADER:
                raise UsageError(f"{path}: a header of {length} bytes is too long")
            dtype, layout, shape = _read_header(path, file.read(length))
            stored = HOST_TYPES[dtype].newbyteorder("<")
            expected = len(start) + length + math.prod(shape) * stored.itemsize
            if size != expected:
                raise UsageError(f"{path} has {size} bytes, its header says {expected}")
            data = file.read()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    array = np.frombuffer(data, stored).reshape(shape).astype(HOST_TYPES[dtype])
    return make_tensor(array, dtype, layout=layout, device=device)


def _path(file_name: str | os.PathLike[str]) -> Path:
    path = Path(file_name)
    if path.suffix != EXTENSION:
        raise UsageError(f"{path}: names of files with tensors end in {EXTENSION}")
    return path


def _read_header(path: Path, text: bytes) -> tuple[DataType, Layout, tuple[int, ...]]:
    try:
        facts: Any = json.loads(text)
        dtype, layout = DataType[facts["dtype"]], Layout[facts["layout"]]
        shape = tuple(facts["shape"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UsageError(f"{path}: the header is none of a tensor") from None
    whole = all(type(extent) is int and 0 <= extent < 1 << 31 for extent in shape)
    if not whole or len(shape) > _MOST_DIMENSIONS:
        raise UsageError(f"{path}: the header's shape is none of a tensor")
    if dtype is DataType.INVALID or layout is Layout.INVALID:
        raise UsageError(f"{path}: the header is none of a tensor")
    return dtype, layout, shape


def _cached_name(cache_file_name: Any, dtype: DataType | None, layout: Layout | None) -> Path:
    """The file of a cache for a data type and a layout."""
    wanted = "NONE" if dtype is None else dtype.name
    kept = "NONE" if layout is None else layout.name
    return Path(f"{cache_file_name}_dtype_{wanted}_layout_{kept}{EXTENSION}")


def as_tensor(
    tensor: Any,
    dtype: DataType | None = None,
    *,
    layout: Layout | None = Layout.ROW_MAJOR,
    device: MeshDevice | None = None,
    memory_config: MemoryConfig | None = None,
    cache_file_name: Any = None,
    preprocess: Callable[[Any], Any] | None = None,
    mesh_mapper: Any = None,
) -> Tensor | None:
    """As `from_torch`, after `preprocess`; a device needs a memory configuration.

    With `cache_file_name` the tensor is read from a file if that is there, else written to it.
    """
    if device is not None and memory_config is None:
        raise UsageError("memory_config is needed where a device is given")
    if dtype is not None and dtype.facts.is_block:
        layout = Layout.TILE
    if cache_file_name is None:
        values = tensor if preprocess is None else preprocess(tensor)
        return from_torch(values, dtype, layout=layout, device=device, memory_config=memory_config)
    path = _cached_name(cache_file_name, dtype, layout)
    if path.exists():
        found = load_tensor(path)
    else:
        found = from_torch(
            tensor if preprocess is None else preprocess(tensor), dtype, layout=layout
        )
        if found is None:
            return None
        path.parent.mkdir(parents=True, exist_ok=True)
        dump_tensor(path, found)
    if device is None or memory_config is None:
        return found
    return Tensor.on(device, found.spec.replace(memory_config=memory_config), found.array)


OPERATIONS: dict[str, Operation] = operations_of(as_tensor, dump_tensor, load_tensor)

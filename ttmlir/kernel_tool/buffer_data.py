"""The numbers of a buffer: where a specification takes them from, and what they are as bytes."""

from __future__ import annotations

import io
import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttmlir.files import NO_ARRAY, path_below, read_text
from ttmlir.kernel_tool.spec_text import Table
from ttmlir.limits import MAX_RANK, memory_advice, memory_limit
from ttmlir.metalium.enums import DataFormat, tile_size
from ttmlir.metalium.tile_data import (
    ELEMENTS,
    pack_bfloat16,
    pack_tiles,
    unpack_bfloat16,
    unpack_tiles,
)

Array = NDArray[Any]

_TILE = 32
_MOST = float(np.finfo(np.float32).max)
_SOURCES = ("constant", "arange", "random")
_FORMATS = [each.name for each in DataFormat]


@dataclass(frozen=True, kw_only=True)
class TensorFormat:
    """How numbers of a shape lie in the pages of a buffer."""

    shape: tuple[int, ...]
    data_format: DataFormat
    is_tiled: bool
    page_size: int
    size: int

    @property
    def is_float(self) -> bool:
        """Whether the numbers are floating-point ones."""
        return not self.data_format.name.startswith("UInt")

    def encode(self, values: Array) -> bytes:
        """The bytes of numbers of the shape."""
        if self.is_tiled:
            return pack_tiles(values.reshape(-1, self.shape[-1]), self.data_format)
        if self.data_format == DataFormat.Float16_b:
            return pack_bfloat16(values).tobytes()
        return values.astype(ELEMENTS[self.data_format]).tobytes()

    def decode(self, data: bytes) -> Array:
        """The numbers of bytes, floating-point ones as float32."""
        if self.is_tiled:
            columns = self.shape[-1]
            rows = math.prod(self.shape) // columns
            return unpack_tiles(data, self.data_format, rows, columns).reshape(self.shape)
        if self.data_format == DataFormat.Float16_b:
            return unpack_bfloat16(np.frombuffer(data, np.uint16)).reshape(self.shape)
        values = np.frombuffer(data, ELEMENTS[self.data_format]).reshape(self.shape)
        return values.astype(np.float32) if self.is_float else values


def read_format(table: Table) -> DataFormat:
    """The format that a table names, bfloat16 by default."""
    return DataFormat[table.take_choice("format", _FORMATS, DataFormat.Float16_b.name)]


def read_formats(table: Table, count: int) -> list[DataFormat]:
    """The formats of so many things that share a table: one for all of them, or one for each."""
    if not isinstance(table.values.get("format"), list):
        return [read_format(table)] * count
    names = table.take_strings("format")
    if len(names) != count or not {*names} <= {*_FORMATS}:
        raise table.error(
            f"'format' is one of {', '.join(_FORMATS)}, or an array with one for each index",
            "format",
        )
    return [DataFormat[each] for each in names]


def read_tensor_format(table: Table) -> TensorFormat:
    """Shape and format of a buffer."""
    data_format = read_format(table)
    if table.has("pages") == table.has("shape"):
        raise table.error("a buffer has either 'shape', or 'pages' and 'page_size'")
    tiled = table.take_choice("layout", ("tile", "row_major"), "tile") == "tile"
    if not table.has("shape"):
        tiled = False
    if not tiled and data_format not in (*ELEMENTS, DataFormat.Float16_b):
        raise table.error(f"{data_format.name} is a format of tiles; give a 'shape' in tiles")
    element = 2 if data_format == DataFormat.Float16_b else 0
    element = element or (np.dtype(ELEMENTS[data_format]).itemsize if not tiled else 0)
    if not table.has("shape"):
        pages = table.take_integer("pages", 1, 1, 1 << 32)
        page_size = table.take_integer("page_size", 0, 1, 1 << 32)
        if page_size % element:
            message = f"a page of {page_size} bytes holds no whole numbers of {element} bytes"
            raise table.error(message, "page_size")
        shape = (pages, page_size // element)
        size = pages * page_size
    else:
        shape = _read_shape(table)
        if tiled and (len(shape) < 2 or shape[-1] % _TILE or shape[-2] % _TILE):
            raise table.error(
                "the last two extents of a buffer of tiles are multiples of 32; pad them, or write "
                'layout = "row_major"',
                "shape",
            )
        count = math.prod(shape)
        page_size = tile_size(data_format) if tiled else shape[-1] * element
        size = count // (_TILE * _TILE) * page_size if tiled else count * element
    # Numbers are float64 for a moment.
    if 8 * math.prod(shape) > memory_limit():
        raise table.error(f"a buffer of {size} bytes is too large: {memory_advice()}")
    return TensorFormat(
        shape=shape, data_format=data_format, is_tiled=tiled, page_size=page_size, size=size
    )


def _read_shape(table: Table) -> tuple[int, ...]:
    shape = list[int]()
    for extent in table.take_list("shape"):
        if not isinstance(extent, int) or isinstance(extent, bool) or not 0 < extent < 1 << 32:
            raise table.error("'shape' is an array of positive integers", "shape")
        shape.append(extent)
    if not 0 < len(shape) <= MAX_RANK:
        raise table.error(f"'shape' has 1 to {MAX_RANK} extents", "shape")
    return tuple(shape)


def read_values(table: Table, key: str, tensor: TensorFormat) -> Array:
    """The numbers that a key gives: a file, a constant, a range or random ones."""
    given = table.values[key]
    if isinstance(given, str):
        values = _read_file(table, key, given)
        if values.dtype.kind not in "fiub":
            raise table.error(f"{given} holds no numbers but {values.dtype}", key)
        if values.size != math.prod(tensor.shape):
            raise table.error(
                f"{given} has {values.size} numbers of shape {list(values.shape)}; the buffer has "
                f"the shape {list(tensor.shape)}",
                key,
            )
        values = values.reshape(tensor.shape)
    else:
        values = _make_values(table.take_table(key), key, tensor)
    if not tensor.is_float:
        bits = 8 * np.dtype(ELEMENTS[tensor.data_format]).itemsize
        fits = (np.rint(values) == values) & (values >= 0) & (values < 2.0**bits)
        if not fits.all():
            raise table.error(f"'{key}' has numbers that no {tensor.data_format.name} has", key)
    elif (np.isfinite(values) & (np.abs(values) > np.float64(_MOST))).any():
        raise table.error(f"'{key}' has numbers that no float32 has", key)
    return values


def _read_file(table: Table, key: str, name: str) -> Array:
    """The array of a file below the folder of the specification."""
    try:
        path = path_below(table.spec.folder, name)
        if not os.path.isfile(path):
            raise table.error(f"there is no file {name}", key)
        if name.endswith(".npy"):
            # A mapping is never longer than the file, whatever its header says.
            return np.load(path, mmap_mode="r", allow_pickle=False)
        if name.endswith(".csv"):
            text = read_text(path)
            if not text.strip():
                raise table.error(f"{name} is empty", key)
            return np.loadtxt(io.StringIO(text), delimiter=",", ndmin=2)
    except OSError as error:
        shown = name if name.isprintable() else "..."
        raise table.error(f"{shown}: {error.strerror or error}", key) from None
    except NO_ARRAY as error:
        reason = str(error).partition("\n")[0]
        raise table.error(f"{name} is no array of numbers: {reason}", key) from None
    raise table.error(f"{name} is neither a .npy nor a .csv file", key)


def _make_values(table: Table, key: str, tensor: TensorFormat) -> Array:
    """The numbers that `{ constant = 1.5 }`, `{ arange = 0 }` or `{ random = 7 }` stand for."""
    table.check_keys(_SOURCES, f"'{key}'")
    if len(table.values) != 1:
        raise table.error(f"'{key}' is the name of a file, or one of {', '.join(_SOURCES)}")
    (word,) = table.values
    number = table.values[word]
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise table.error(f"'{word}' is a number")
    if abs(number) > _MOST:
        raise table.error(f"'{word}' is a number that float32 has")
    if word == "constant":
        return np.full(tensor.shape, number, np.float64)
    if word == "arange":
        return (number + np.arange(math.prod(tensor.shape), dtype=np.float64)).reshape(tensor.shape)
    if not isinstance(number, int) or number < 0:
        raise table.error("'random' is a seed, an integer from 0 on")
    generator = np.random.default_rng(number)
    if tensor.is_float:
        return generator.uniform(-1, 1, tensor.shape)
    return generator.integers(0, 100, tensor.shape)

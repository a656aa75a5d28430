"""GGUF files of llama.cpp: metadata, and tensors of plain numbers or of blocks."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ttmlir.errors import FileError
from ttmlir.frontend.weights.blocks import TYPES, BlockType, Parts
from ttmlir.frontend.weights.sources import Entry, check_shape, open_bytes

_SCALARS: Mapping[int, str] = {
    **{0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?"},
    **{10: "<Q", 11: "<q", 12: "<d"},
}
"""Of values of metadata, by the numbers of their types."""
_STRING, _ARRAY = 8, 9
_VERSIONS = (2, 3)
_MAX_KEPT = 1 << 12
"""Longest text and list of metadata that are kept: vocabularies are not."""
_MAX_NESTING = 4
_ALIGNMENT = 32
_MAX_ALIGNMENT = 1 << 16
_CHUNK = 1 << 22
"""Blocks that are decoded at a time, in bytes."""


@dataclass(frozen=True)
class GgufFile:
    """What a file has, by name."""

    metadata: Mapping[str, Any]
    """Numbers, short texts, and short lists of them."""
    tensors: Mapping[str, Entry]


def read_gguf(path: Path) -> GgufFile:
    """The metadata of a file, and its tensors, whose numbers are not read yet.

    FileError for damaged files, and for types of elements that are not supported.
    """
    return _Reader(path).read()


class _Reader:
    """A place in the bytes of a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._data = open_bytes(path)
        self._at = 0

    def _refuse(self, reason: str) -> NoReturn:
        raise FileError(f"{self._path}: {reason}")

    def _take(self, size: int, what: str) -> NDArray[np.uint8]:
        if size > len(self._data) - self._at:
            self._refuse(
                f"the file is cut off or damaged: {what} at byte {self._at:,} has {size:,} bytes, "
                f"and the file {len(self._data):,}"
            )
        self._at += size
        return self._data[self._at - size : self._at]

    def _number(self, form: str, what: str) -> Any:
        [found] = struct.unpack(form, self._take(struct.calcsize(form), what).tobytes())
        return found

    def _count(self, what: str, least: int) -> int:
        """A number of things that take at least so many bytes each."""
        found = self._number("<Q", f"the number of {what}")
        if found > (len(self._data) - self._at) // least:
            self._refuse(f"the file is cut off or damaged: it cannot have {found:,} {what}")
        return found

    def _text(self, what: str) -> str:
        length = self._number("<Q", f"the length of {what}")
        return self._take(length, what).tobytes().decode("utf-8", "replace")

    def _value(self, kind: int, depth: int = 0) -> Any:
        """A value of metadata; None for one that is too long to be kept."""
        if kind in _SCALARS:
            return self._number(_SCALARS[kind], "a value")
        if kind == _STRING:
            found = self._text("a value")
            return found if len(found) <= _MAX_KEPT else None
        if kind != _ARRAY or depth > _MAX_NESTING:
            self._refuse(f"the file is damaged: a value has the type {kind}")
        kind = self._number("<I", "the type of a list")
        if kind in _SCALARS:
            size = struct.calcsize(_SCALARS[kind])
            count = self._count("values of a list", size)
            data = self._take(size * count, "a list")
            dtype = _SCALARS[kind]
            return data.view(dtype).tolist() if count <= _MAX_KEPT else None
        count = self._count("values of a list", 8 if kind == _STRING else 12)
        found = [self._value(kind, depth + 1) for _ in range(min(count, _MAX_KEPT))]
        for _ in range(count - len(found)):
            self._value(kind, depth + 1)
        return found if count <= _MAX_KEPT else None

    def read(self) -> GgufFile:
        """All that the file says of itself."""
        if self._data[:4].tobytes() != b"GGUF":
            self._refuse("this is no GGUF file: it does not begin with 'GGUF'")
        self._at = 4
        version = self._number("<I", "the version")
        if version not in _VERSIONS:
            reason = " (its bytes are in the other order)" if version & 0xFFFF == 0 else ""
            self._refuse(f"version {version}{reason} of GGUF is not supported; 2 and 3 are")
        count, pairs = self._count("tensors", 24), self._count("values", 13)
        metadata: dict[str, Any] = {}
        for _ in range(pairs):
            name = self._text("a name")
            metadata[name] = self._value(self._number("<I", "a type"))
        headers = [self._header() for _ in range(count)]
        alignment = metadata.get("general.alignment", _ALIGNMENT)
        if not isinstance(alignment, int) or not 1 <= alignment <= _MAX_ALIGNMENT:
            self._refuse(f"general.alignment is {alignment}, which is none")
        begin = -(-self._at // alignment) * alignment
        tensors: dict[str, Entry] = {}
        for name, shape, kind, offset in headers:
            tensors[name] = self._entry(name, shape, kind, begin + offset)
        return GgufFile(metadata, tensors)

    def _header(self) -> tuple[str, tuple[int, ...], BlockType, int]:
        name = self._text("the name of a tensor")
        rank = self._number("<I", "the rank of a tensor")
        extents = self._take(8 * rank, "the shape of a tensor").view("<u8").tolist()
        number = self._number("<I", "the type of a tensor")
        if number not in TYPES:
            names = ", ".join(each.name for each in TYPES.values())
            self._refuse(f"the tensor {name!r} has the type {number}; supported are {names}")
        # The fastest dimension comes first.
        return name, tuple(reversed(extents)), TYPES[number], self._number("<Q", "a place")

    def _entry(self, name: str, shape: tuple[int, ...], kind: BlockType, begin: int) -> Entry:
        count = check_shape(self._path, name, shape)
        if count and shape and shape[-1] % kind.elements:
            self._refuse(
                f"the tensor {name!r} has rows of {shape[-1]} elements; blocks of {kind.name} have "
                f"{kind.elements}"
            )
        size = -(-count // kind.elements) * kind.size
        if begin + size > len(self._data):
            self._refuse(
                f"the file is cut off or damaged: the tensor {name!r} has {size:,} bytes from byte "
                f"{begin:,} on, and the file {len(self._data):,}"
            )
        data = self._data[begin : begin + size]
        parts = None if kind.split is None or not count else lambda: _split(data, kind, shape)
        return Entry(shape, kind.name, lambda: _decode(data, kind).reshape(shape), parts)


def _decode(data: NDArray[np.uint8], kind: BlockType) -> NDArray[Any]:
    if kind.elements == 1:
        return kind.decode(np.array(data))
    blocks = data.reshape((-1, kind.size))
    found = np.empty((len(blocks), kind.elements), np.float32)
    step = max(1, _CHUNK // kind.size)
    with np.errstate(all="ignore"):
        for first in range(0, len(blocks), step):
            found[first : first + step] = kind.decode(np.array(blocks[first : first + step]))
    return found


def _split(data: NDArray[np.uint8], kind: BlockType, shape: tuple[int, ...]) -> Parts:
    """Parts (*rows, blocks, groups, ...) of a tensor."""
    assert kind.split is not None
    parts = kind.split(np.array(data.reshape((-1, kind.size))))
    return parts.change(lambda each: each.reshape((*shape[:-1], -1, *each.shape[1:])))

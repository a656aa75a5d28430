"""The bytes of a large constant, wherever they lie: those of a framework, a text, or a file.

A constant of `attributes.LARGE` bytes or more holds `LargeBytes` instead of `bytes`. Making one
copies nothing, nor does permuting its dimensions: the elements are put in order when they are
written. Once they stand in a file, the constant refers to those, so that the memory that it came
from is free again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_PIECE = 1 << 20
"""Bytes that are put in order at a time."""
_COLUMNS = 32
"""Columns that are permuted at a time: their lines stay in the caches."""
_SAMPLED = 64
"""Elements that tell constants apart before all are compared."""


class _Memory:
    """Where elements lie; they may move, but do not change."""

    __slots__ = ("array", "is_borrowed", "is_in_file")

    def __init__(self, array: Array, is_borrowed: bool) -> None:
        self.array = array
        self.is_borrowed = is_borrowed
        self.is_in_file = False


class LargeBytes:
    """Elements in row-major order; immutable, compared by their bytes."""

    __slots__ = ("_hash", "_memory", "_order", "_shape")

    def __init__(
        self, memory: _Memory, shape: tuple[int, ...] = (), order: tuple[int, ...] | None = None
    ) -> None:
        """The elements of `memory`, or of it under `shape` with its dimensions in another order."""
        self._memory = memory
        self._shape = shape
        self._order = order
        self._hash: int | None = None

    @classmethod
    def of(cls, data: bytes | memoryview, element_size: int) -> LargeBytes:
        """Elements that nobody changes; `data` stays alive as long as it is needed."""
        return cls(_Memory(np.frombuffer(data, _dtype(element_size)), is_borrowed=False))

    @classmethod
    def borrow(cls, array: Array) -> LargeBytes:
        """Elements of an array with any strides, which its owner may change after `own`."""
        view = array if array.dtype.kind == "u" else array.view(_dtype(array.itemsize))
        return cls(_Memory(view, is_borrowed=True))

    def __len__(self) -> int:
        """The number of bytes."""
        return self._memory.array.nbytes

    def __eq__(self, other: object) -> bool:
        """True for the same bytes."""
        if not isinstance(other, LargeBytes):
            return NotImplemented
        if self is other or self._is_same_view(other):
            return True
        if len(self) != len(other) or hash(self) != hash(other):
            return False
        return np.array_equal(_flat(self.contiguous()), _flat(other.contiguous()))

    def __hash__(self) -> int:
        """Hash of some of the bytes."""
        if self._hash is None:
            self._hash = hash((len(self), self._sample()))
        return self._hash

    def _is_same_view(self, other: LargeBytes) -> bool:
        same_order = (self._shape, self._order) == (other._shape, other._order)
        return self._memory is other._memory and same_order

    def _sample(self) -> bytes:
        """Bytes at places that depend on the number of bytes alone."""
        array, size = self.array, len(self)
        places = [i * (size - 1) // (_SAMPLED - 1) for i in range(_SAMPLED)]
        elements = np.unravel_index([place // array.itemsize for place in places], array.shape)
        found = np.ascontiguousarray(array[elements]).view(np.uint8).reshape(_SAMPLED, -1)
        return bytes(found[i, place % array.itemsize] for i, place in enumerate(places))

    @property
    def array(self) -> Array:
        """The elements as unsigned numbers, in any strides; in row-major order they are the bytes.

        Its shape is not that of the constant.
        """
        array = self._memory.array
        return array if self._order is None else array.reshape(self._shape).transpose(self._order)

    def contiguous(self) -> memoryview:
        """The bytes; a copy if the elements lie in another order."""
        array = self.array
        if array.flags.c_contiguous:
            return _view(array)
        made = np.empty(array.shape, array.dtype)
        _copy(array, made)
        return _view(made)

    def permuted(self, shape: Sequence[int], order: Sequence[int]) -> LargeBytes:
        """The elements of a tensor of `shape` with its dimensions in another order."""
        shape, order = tuple(shape), tuple(order)
        if self._order is None:
            return LargeBytes(self._memory, shape, order)
        if shape != tuple(self._shape[i] for i in self._order):
            data = LargeBytes.of(self.contiguous(), self._memory.array.itemsize)
            return LargeBytes(data._memory, shape, order)
        composed = tuple(self._order[i] for i in order)
        if composed == tuple(range(len(composed))):
            return LargeBytes(self._memory)
        return LargeBytes(self._memory, self._shape, composed)

    def pieces(self) -> Iterator[memoryview]:
        """The bytes, in several parts if they have to be put in order."""
        return _pieces(self.array)

    def copy_into(self, target: memoryview) -> None:
        """Write the bytes to memory of the same size."""
        array = self.array
        if array.flags.c_contiguous:
            target[:] = _view(array)
        else:
            _copy(array, np.frombuffer(target, array.dtype).reshape(array.shape))

    def move_to(self, source: memoryview | None) -> None:
        """Refer to the same bytes at another place from now on; nobody changes them there.

        None lets go of the bytes, until it is called again. Memory that nobody can write to is
        that of a file, where they stay.
        """
        if self._memory.is_in_file:
            return
        dtype = self._memory.array.dtype
        if source is None:
            self._memory.array = np.empty(0, dtype)
            return
        array = np.frombuffer(source, dtype)
        if self._order is not None:
            extents = [self._shape[i] for i in self._order]
            array = array.reshape(extents).transpose(np.argsort(self._order))
        self._memory.array = array
        self._memory.is_borrowed = False
        self._memory.is_in_file = source.readonly

    def own(self) -> None:
        """Copy the elements if somebody else may change them."""
        if self._memory.is_borrowed:
            self._memory.array = self._memory.array.copy()
            self._memory.is_borrowed = False


def _dtype(element_size: int) -> np.dtype[Any]:
    return np.dtype(f"u{element_size}" if element_size in (1, 2, 4, 8) else f"V{element_size}")


def _flat(data: memoryview) -> Array:
    return np.frombuffer(data, np.uint8)


def _view(array: Array) -> memoryview:
    return array.reshape(-1).view(np.uint8).data.toreadonly()


def _copy(source: Array, target: Array) -> None:
    for start in range(0, source.shape[-1], _COLUMNS):
        part = (..., slice(start, start + _COLUMNS))
        target[part] = source[part]


def _pieces(array: Array) -> Iterator[memoryview]:
    if array.flags.c_contiguous:
        yield _view(array)
    elif array.ndim == 1 or array.nbytes <= _PIECE:
        yield _view(np.ascontiguousarray(array))
    elif array[0].nbytes > _PIECE:
        for part in array:
            yield from _pieces(part)
    else:
        rows = _PIECE // array[0].nbytes
        for start in range(0, len(array), rows):
            yield _view(np.ascontiguousarray(array[start : start + rows]))

"""Frames between a host program and the simulator: a call in each, or its result.

A frame is the number of its bytes, in 8 of them, and these. A value in it is a letter for its kind
and what `read_value` reads; `headers/connection.hpp` has the other side. The program is the user's
own, but nothing is allocated that it has not sent.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ttmlir.errors import Error
from ttmlir.limits import memory_advice, memory_limit
from ttmlir.metalium.errors import MetaliumError

_PIECE = 1 << 20
_DEEPEST = 16
_NUMBERS = {b"b": "<?", b"i": "<q", b"u": "<Q", b"d": "<d"}


class WireError(Error):
    """Bytes that no program which was compiled with these headers sends."""


@dataclass(frozen=True)
class Call:
    """A call of the host API."""

    name: str
    file: str
    line: int
    """Where the program makes it."""
    num_arguments: int


Maker = Callable[..., object]


def receive_frame(peer: socket.socket) -> bytes | None:
    """The bytes of the next frame; None when the program has ended."""
    head = _receive(peer, 8)
    if head is None:
        return None
    (size,) = struct.unpack("<Q", head)
    if size > memory_limit():
        raise WireError(f"the host program sends {size} bytes at once; {memory_advice()}")
    return _receive(peer, size)


def _receive(peer: socket.socket, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        try:
            piece = peer.recv(min(size - len(data), _PIECE))
        except ConnectionError:
            return None
        if not piece:
            return None
        data += piece
    return bytes(data)


class Reader:
    """Reads the values of a frame."""

    def __init__(
        self, data: bytes, objects: Mapping[int, object], makers: Mapping[str, Maker]
    ) -> None:
        """A frame, the objects that the program knows, and what makes records and enumerators."""
        self._data = data
        self._place = 0
        self._objects = objects
        self._makers = makers

    def read_call(self) -> Call:
        """The call that the frame begins with; its arguments are the values that follow."""
        name, file = self._text(), self._text()
        line, count = self._numbers("<II")
        return Call(name, file, line, count)

    def read_value(self, depth: int = 0) -> object:
        """The next value."""
        if depth > _DEEPEST:
            raise WireError("values of the host program are nested too deeply")
        kind = self._bytes(1)
        if kind in _NUMBERS:
            return self._numbers(_NUMBERS[kind])[0]
        match kind:
            case b"n":
                return None
            case b"s":
                return self._text()
            case b"y":
                return self._bytes(self._numbers("<Q")[0])
            case b"o":
                (number,) = self._numbers("<I")
                return self._objects.get(number, number)
            case b"e":
                return self._enumerator(self._text(), self._numbers("<q")[0])
            case b"r":
                return self._record(depth)
            case _:
                return self._collection(kind, depth)

    def _collection(self, kind: bytes, depth: int) -> object:
        (count,) = self._numbers("<I")

        def read() -> object:
            return self.read_value(depth + 1)

        if kind == b"l":
            return [read() for _ in range(count)]
        if kind == b"m":
            return {read(): read() for _ in range(count)}
        raise WireError(f"the host program sends a value of the unknown kind {kind!r}")

    def _enumerator(self, name: str, number: int) -> object:
        try:
            return self._maker(name)(number)
        except ValueError:
            raise MetaliumError(f"{number} is none of {name} that is known here") from None

    def _record(self, depth: int) -> object:
        make = self._maker(self._text())
        (count,) = self._numbers("<I")
        listed = list[object]()
        named = dict[str, object]()
        for _ in range(count):
            name = self._text()
            value = self.read_value(depth + 1)
            if name:
                named[name] = value
            else:
                listed.append(value)
        return make(*listed, **named)

    def _maker(self, name: str) -> Maker:
        if name not in self._makers:
            raise WireError(f"the host program sends a value of the unknown class {name!r}")
        return self._makers[name]

    def _text(self) -> str:
        return self._bytes(self._numbers("<I")[0]).decode("utf-8", "replace")

    def _numbers(self, layout: str) -> tuple[Any, ...]:
        return struct.unpack(layout, self._bytes(struct.calcsize(layout)))

    def _bytes(self, size: int) -> bytes:
        if size > len(self._data) - self._place:
            raise WireError("a frame of the host program ends early")
        self._place += size
        return self._data[self._place - size : self._place]


def send_frame(peer: socket.socket, data: bytes) -> None:
    """Send a frame; a program that has ended gets none."""
    try:
        peer.sendall(struct.pack("<Q", len(data)))
        peer.sendall(data)
    except (BrokenPipeError, ConnectionResetError):
        return


def write_value(value: object, keep: Callable[[object], int]) -> bytes:
    """The bytes of a result; `keep` gives an object of the simulator its number."""
    match value:
        case None:
            return b"n"
        case bool():
            return b"b" + bytes([value])
        case int():
            return b"i" + struct.pack("<q", int(value))
        case float():
            return b"d" + struct.pack("<d", value)
        case str():
            data = value.encode()
            return b"s" + struct.pack("<I", len(data)) + data
        case bytes():
            return b"y" + struct.pack("<Q", len(value)) + value
        case np.ndarray():
            return write_value(cast("NDArray[Any]", value).tobytes(), keep)
        case list() | tuple():
            items = cast("Sequence[object]", value)
            parts = [write_value(each, keep) for each in items]
            return b"l" + struct.pack("<I", len(parts)) + b"".join(parts)
        case _:
            return b"o" + struct.pack("<I", keep(value))

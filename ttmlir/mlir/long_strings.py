"""Texts without the long hexadecimal strings of their constants, which are kept as bytes.

A constant of 100 MB is 200 MB of text. Before a text is read, each of these strings becomes a mark,
`"0x@0"`, `"0x@1"` and so on, and what it spells a `bytes` object. So nothing that looks at the text
copies it, no message quotes it, and it need not be in memory when the constants are:

    text = compact(source)              # or read_compact(file)
    text.contents[0]                    # the bytes of the string that became "0x@0"

What is printed is a `PrintedText`, in which constants are bytes until they are written in chunks.

Lines keep their numbers. A string of a text that was not compacted cannot be taken for a mark, as
`@` is no hexadecimal digit.
"""

from __future__ import annotations

import re
from binascii import Error, hexlify, unhexlify
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from ttmlir.files import too_large
from ttmlir.limits import MAX_TEXT_LENGTH, memory_advice, memory_limit

if TYPE_CHECKING:
    from ttmlir.mlir.large_bytes import LargeBytes

LongString: TypeAlias = "bytes | memoryview | LargeBytes"
"""Bytes that are printed as hexadecimal digits."""

LONG = 4096
"""Digits from which on a string is replaced."""

_CHUNK_BYTES = 1 << 20
# Blanks between the tokens in front of a string; more are found if they are in the same chunk.
_OVERLAP_BYTES = 64
_START = re.compile(rb'(?:dense<|:)\s*+"0x(?=[0-9A-Fa-f])')
_MARK = re.compile(rb'"0x@([0-9]+)"')
_PRINTED_MARK = re.compile(r"\0([0-9]+)\0")


class CompactText(str):
    """A text with marks, and what they stand for."""

    contents: Sequence[bytes]
    """The bytes of the string that became `"0x@N"`, by N."""

    def __new__(cls, text: str, contents: Sequence[bytes] = ()) -> CompactText:
        """A text whose marks number `contents`."""
        made = super().__new__(cls, text)
        made.contents = contents
        return made

    def part(self, text: str) -> CompactText:
        """A part of this text, with the same marks."""
        return CompactText(text, self.contents)

    def restored(self) -> str:
        """The text with its strings again."""
        data = self.encode("utf-8", "surrogatepass")
        return b"".join(_restore(data, self.contents)).decode("utf-8", "surrogatepass")


def compact(text: str) -> CompactText:
    """The text without long strings."""
    if isinstance(text, CompactText):
        return text
    if len(text) < LONG:
        return CompactText(text)
    steps = range(0, len(text), _CHUNK_BYTES)
    chunks = (text[at : at + _CHUNK_BYTES].encode("utf-8", "surrogatepass") for at in steps)
    data, contents = _compact(chunks)
    return CompactText(data.decode("utf-8", "surrogatepass") if contents else text, contents)


def read_compact(file: BinaryIO) -> tuple[bytes, Sequence[bytes]]:
    """What a file holds without long strings, and these.

    Raises OSError, also for a text that is longer than `MAX_TEXT_LENGTH` without its long strings,
    and for long strings that take more than the limit of memory.
    """
    compactor, most = _Compactor(), memory_limit()
    while chunk := file.read(_CHUNK_BYTES):
        compactor.feed(chunk)
        if compactor.text_size > MAX_TEXT_LENGTH:
            limit = f"{MAX_TEXT_LENGTH} bytes without long constants, the most that are read"
            raise too_large(f"its text has more than {limit}")
        if compactor.contents_size > most:
            raise too_large(f"its constants are too large: {memory_advice()}")
    return compactor.finish()


def marked(literal: str, contents: Sequence[bytes]) -> bytes | None:
    """What a string of a compacted text stands for, without its quotes; None if it is no mark."""
    if not literal.startswith("0x@"):
        return None
    number = literal[3:]
    is_known = number.isascii() and number.isdecimal() and int(number) < len(contents)
    return contents[int(number)] if is_known else None


def _restore(data: bytes, contents: Sequence[bytes]) -> Iterator[bytes]:
    position = 0
    for match in _MARK.finditer(data):
        number = int(match[1])
        if number < len(contents):
            yield data[position : match.start()]
            yield b'"0x%b"' % hexlify(contents[number]).upper()
            position = match.end()
    yield data[position:]


@dataclass(frozen=True)
class PrintedText:
    """A text to be written, in parts."""

    parts: tuple[str | LongString, ...]
    """Text, and bytes that stand for their hexadecimal digits."""

    @staticmethod
    def of(
        text: str, long_strings: Sequence[LongString], rest: Iterable[str | LongString] = ()
    ) -> PrintedText:
        """A text in which the mark `\\0N\\0` stands for the digits of a string; then `rest`."""
        if not long_strings:
            return PrintedText((text, *rest))
        pieces = _PRINTED_MARK.split(text)
        parts = [long_strings[int(p)] if i % 2 else p for i, p in enumerate(pieces)]
        return PrintedText((*parts, *rest))

    def __str__(self) -> str:
        """All of it."""
        digits = (p if isinstance(p, str) else hex_digits(p) for p in self.parts)
        return "".join(digits)

    def followed_by(self, text: str) -> PrintedText:
        """This text, then another."""
        return PrintedText((*self.parts, text))

    def removesuffix(self, text: str) -> PrintedText:
        """This text without another at its end, if the last part ends with that."""
        last = self.parts[-1]
        return (
            PrintedText((*self.parts[:-1], last.removesuffix(text)))
            if isinstance(last, str)
            else self
        )

    def chunks(self) -> Iterator[bytes]:
        """All of it in UTF-8; no chunk is as long as a large constant."""
        for part in self.parts:
            if isinstance(part, str):
                yield part.encode("utf-8")
                continue
            for data in _pieces(part):
                for start in range(0, len(data), _CHUNK_BYTES):
                    yield hexlify(data[start : start + _CHUNK_BYTES]).upper()


def _pieces(data: LongString) -> Iterable[memoryview]:
    return [memoryview(data)] if isinstance(data, bytes | memoryview) else data.pieces()


def hex_digits(data: LongString) -> str:
    """The hexadecimal digits of bytes."""
    return "".join(piece.hex().upper() for piece in _pieces(data))


def _compact(chunks: Iterable[bytes]) -> tuple[bytes, Sequence[bytes]]:
    compactor = _Compactor()
    for chunk in chunks:
        compactor.feed(chunk)
    return compactor.finish()


class _Compactor:
    """Takes a text in chunks. Either it looks for a string, or it is inside of one."""

    def __init__(self) -> None:
        self._text = BytesIO()
        self._contents: list[bytes] = []
        self._finished_size = 0
        """Bytes of all `_contents`."""
        self._pending = b""
        """The end of what was fed, in which a string may begin."""
        self._string: BytesIO | None = None
        """The bytes of the string that is being read."""
        self._digits = b""
        """Digits of the string that are not yet in its bytes: too few of them, or an odd one."""

    @property
    def text_size(self) -> int:
        """Bytes of the text so far, without long strings."""
        return self._text.tell()

    @property
    def contents_size(self) -> int:
        """Bytes of the long strings so far."""
        return self._finished_size + (self._string.tell() if self._string else 0)

    def feed(self, chunk: bytes) -> None:
        """Take the next part of the text."""
        data, position = self._pending + chunk, 0
        self._pending = b""
        while position < len(data):
            if self._string is not None:
                position = self._read_string(self._string, data, position)
                continue
            match = _START.search(data, position)
            if match is None:
                keep = max(position, len(data) - _OVERLAP_BYTES)
                self._text.write(memoryview(data)[position:keep])
                self._pending = data[keep:]
                return
            self._text.write(memoryview(data)[position : match.end()])
            self._string = BytesIO()
            position = match.end()

    def finish(self) -> tuple[bytes, Sequence[bytes]]:
        """The text with marks, and what they stand for."""
        if self._string is not None:
            self._write_back(self._string)
        self._text.write(self._pending)
        return self._text.getvalue(), tuple(self._contents)

    def _read_string(self, string: BytesIO, data: bytes, position: int) -> int:
        """Read on in a string; where what follows begins."""
        quote = data.find(b'"', position)
        end = len(data) if quote < 0 else quote
        self._digits += data[position:end]
        if string.tell() or len(self._digits) >= LONG:
            even = len(self._digits) & ~1
            try:
                string.write(unhexlify(self._digits[:even]))
            except Error:
                self._write_back(string)
                return end
            self._digits = self._digits[even:]
        if quote < 0:
            return end
        if self._digits or not string.tell():
            self._write_back(string)
            return end
        self._text.write(b"@%d" % len(self._contents))
        # BytesIO hands its buffer over without copying it.
        self._contents.append(string.getvalue())
        self._finished_size += string.tell()
        self._string = None
        return end

    def _write_back(self, string: BytesIO) -> None:
        """Leave a string in the text that is too short, or that the reader will refuse."""
        self._text.write(hexlify(string.getvalue()).upper())
        self._text.write(self._digits)
        self._string, self._digits = None, b""
